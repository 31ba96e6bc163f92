"""Openings, up to symmetry, and their scores, and the section of a report on them.

Steps that were forced, as matches force their first moves at random, are counted apart from those that agents chose:
what follows a forced opening says how good the position is, whoever likes it; what agents choose says what they like.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Plot, Section, Table
from cellgames.utils.report.plots import Dot, Scale, dots, matrix
from cellgames.utils.statistics import wilson_interval

from .reader import agents_of, make_reader, read_all, scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 14  # of a plot
_AGENTS = 20  # of a plot, those who chose most often
_FEW = 10  # times; of openings made less often nothing is striking
_SAME = 1e-9  # difference of scores


@dataclass(frozen=True)
class Branch:
    """Openings that begin with the same steps.

    Attributes:
        steps: The common steps; the last one is the branch's own.
        seat: Seat that makes the last step, -1 if not always the same.
        forced: True if nobody chose the last step.
        times: Number of times that it was made.
        score: Mean score of those who made it (`reader.scores`).
        low: Lower end of the score's 95 % interval (Wilson), as if the times were independent.
        high: Its upper end.
        usual: Mean score of the same agents against the same opponents in the same seats, whatever they opened with; in
            games for more than two, of the same agents.
        agents: Number of times that each agent chose it; empty if it was forced.
    """

    steps: tuple[str, ...]
    seat: int
    forced: bool
    times: int
    score: float
    low: float
    high: float
    usual: float
    agents: Mapping[str, int]

    @property
    def name(self) -> str:
        """All steps."""
        return ", ".join(self.steps)


@dataclass(frozen=True)
class Openings:
    """All openings of some games.

    Attributes:
        branches: A tree in depth-first order, siblings by how often they were made; those of the same steps are two
            where they were forced in some games and chosen in others.
        firsts: The first step that was chosen, whatever was forced before it, by its steps.
        openings: Number of openings.
        forced: Number of openings that begin with forced steps.
    """

    branches: tuple[Branch, ...]
    firsts: tuple[Branch, ...]
    openings: int
    forced: int


@dataclass
class _Count:
    """A branch that is being counted."""

    seats: set[int] = field(default_factory=set)
    scores: list[float] = field(default_factory=list)
    usual: list[float] = field(default_factory=list)
    agents: Counter[str] = field(default_factory=Counter)


_Key = tuple[tuple[str, ...], bool]


def find_openings(game: Game, records: Sequence[Record]) -> Openings:
    """Count the openings of games.

    Args:
        game: The game with its parameters.
        records: The games; those that began from a position of their own have no opening.
    """
    reader = make_reader(game)
    own: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for record in records:
        for seat, score in enumerate(scores(record)):
            own[_who(record, seat)].append(score)
    usual = {who: math.fsum(values) / len(values) for who, values in own.items()}
    counts: dict[_Key, _Count] = defaultdict(_Count)
    firsts: set[_Key] = set()
    read = forced = 0
    for record, openings in zip(records, read_all(game, records, reader.openings), strict=True):
        fared = scores(record)
        for opening in openings:
            read, forced = read + 1, forced + (opening.forced > 0)
            for depth, seat in enumerate(opening.seats, 1):
                chosen = depth > opening.forced
                key = opening.steps[:depth], not chosen
                count = counts[key]
                count.seats.add(seat)
                count.scores.append(fared[seat])
                count.usual.append(usual[_who(record, seat)])
                if chosen:
                    count.agents[record.agents[seat]] += 1
                if depth == opening.forced + 1:
                    firsts.add(key)
    order = sorted(counts, key=lambda key: _place(key, counts))
    found = {key: _branch(key, counts[key]) for key in order}
    by_times = sorted((found[key] for key in order if key in firsts), key=lambda branch: -branch.times)
    return Openings(tuple(found.values()), tuple(by_times), read, forced)


def _who(record: Record, seat: int) -> tuple[str, ...]:
    """Return the key of a usual score: the agent, and in games for two the opponent and the seat."""
    agent = record.agents[seat]
    return (agent, record.agents[1 - seat], str(seat)) if len(record.agents) == 2 else (agent,)


def _place(key: _Key, counts: Mapping[_Key, _Count]) -> tuple[list[tuple[int, str]], bool]:
    """Return the sort key of a branch: after its parent, among its siblings by how often they were made."""
    steps, forced = key
    place = []
    for depth in range(1, len(steps) + 1):
        both = [counts.get((steps[:depth], by_force)) for by_force in (True, False)]
        place.append((-sum(len(count.scores) for count in both if count is not None), steps[depth - 1]))
    return place, not forced


def _branch(key: _Key, count: _Count) -> Branch:
    times, points = len(count.scores), math.fsum(count.scores)
    low, high = wilson_interval(points / times, times)
    seat = next(iter(count.seats)) if len(count.seats) == 1 else -1
    usual = math.fsum(count.usual) / times
    agents = dict(sorted(count.agents.items(), key=lambda item: (-item[1], item[0])))
    return Branch(key[0], seat, key[1], times, points / times, low, high, usual, agents)


# ---------------------------------------------------------------- the section


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the section on openings; the arguments are those of `find_openings`."""
    reader, found = make_reader(game), find_openings(game, records)
    players = game.info.players
    chosen = [branch for branch in found.firsts if len(branch.steps) == 1]
    answers = [branch for branch in found.firsts if len(branch.steps) > 1]
    begun = {branch.steps[:-1] for branch in found.firsts}  # what a choice follows
    forced = [branch for branch in found.branches if branch.forced and branch.steps in begun]
    lines = [reader.about, *_paragraphs(found, chosen, answers, forced)]
    tables = [
        Table(name, _COLUMNS, [_row(branch, players) for branch in branches], shown)
        for name, branches, shown in (
            ("openings", found.firsts, 12),
            ("openings_forced", sorted(forced, key=lambda branch: -branch.times), 12),
            ("openings_tree", found.branches, 0),
        )
        if branches
    ]
    plots: list[Plot] = []
    for name, title, branches in (
        ("openings_chosen", "Openings that agents chose", chosen),
        ("openings_forced", "Forced openings", forced),
    ):
        if branches:
            who = "those who were made to play the last step" if branches is forced else "those who chose them"
            caption = f"Score of {who}, with 95 % intervals; {_USUAL}"
            plots.append(Plot(name, caption, partial(_draw_dots, title=title, branches=branches)))
    if first := chosen or answers:
        shares, agents = _shares(first, agents_of(records))
        words = "Who opens with what" if chosen else "Who answers what to forced openings"
        many = [branch.name for branch in first[:_SHOWN]]
        caption = f"{words}: share of the agent's own first steps."
        scale = Scale(max(float(shares.max()), 0.01))
        draw = partial(matrix, title=words, rows=agents, columns=many, values=shares, scale=scale)
        plots.append(Plot("openings_by_agent", caption, draw))
    data = {
        "openings": found.openings,
        "with forced steps": found.forced,
        "branches": [_data(branch, players) for branch in found.branches],
    }
    return [Section("Openings", (*lines, *tables, *plots), data)]


_USUAL = "the upright marks are the same agents' usual scores. The number of times stands at the right."
_COLUMNS = ("opening", "depth", "last step", "by", "times", "score %", "low %", "high %", "usual %", "chosen by")


def _row(branch: Branch, players: Sequence[str]) -> tuple[Any, ...]:
    numbers = (round(100 * value, 1) for value in (branch.score, branch.low, branch.high, branch.usual))
    who, step = [*players, "all"][branch.seat], "forced" if branch.forced else "chosen"
    chosen = ", ".join(f"{agent} {times}" for agent, times in branch.agents.items())
    return branch.name, len(branch.steps), step, who, branch.times, *numbers, chosen


def _data(branch: Branch, players: Sequence[str]) -> dict[str, Any]:
    numbers = {name: round(getattr(branch, name), 6) for name in ("score", "low", "high", "usual")}
    return {
        "steps": list(branch.steps),
        "by": [*players, "all"][branch.seat],
        "forced": branch.forced,
        "times": branch.times,
        **numbers,
        "agents": dict(branch.agents),
    }


def _paragraphs(
    found: Openings, chosen: Sequence[Branch], answers: Sequence[Branch], forced: Sequence[Branch]
) -> list[str]:
    if not found.openings:
        return ["No game began at the usual start."]
    lines = []
    if chosen:
        total = sum(branch.times for branch in chosen)
        parts = [f"`{branch.name}` in {branch.times / total:.0%} ({_score(branch)})" for branch in chosen[:3]]
        words = f"{len(chosen)} different first steps" if len(chosen) > 1 else "always with the same first step"
        lines.append(f"{total} openings were chosen freely, {words}: {'; '.join(parts)}.")
        lines += _striking(chosen)
    if forced:
        total = sum(branch.times for branch in forced)
        lines.append(f"{total} openings began with forced steps, of {len(forced)} kinds. {_extremes(forced)}")
    if answers and not chosen:
        kinds = len({branch.steps[:-1] for branch in answers})
        once = sum(branch.times == 1 for branch in answers)
        lines.append(
            f"To {kinds} kinds of forced openings agents gave {len(answers)} different answers, {once} of them once; "
            f"the most frequent are {', '.join(f'`{branch.name}` ({branch.times})' for branch in answers[:3])}."
        )
    return lines


def _extremes(forced: Sequence[Branch]) -> str:
    """Return a sentence on the best and the worst forced openings, for those who made their last step."""
    best, worst = (pick(forced, key=_gain) for pick in (max, min))
    who = "the player who had to play the last forced step"
    if _gain(best) - _gain(worst) > _SAME:
        return (
            f"For {who}, `{best.name}` was the best ({_score(best)}) and `{worst.name}` the worst ({_score(worst)}); "
            "the best of many looks better than it is."
        )
    if abs(_gain(best)) > _SAME:
        return f"For {who}, all of them were as good as `{best.name}` ({_score(best)})."
    return f"For {who}, all of them scored as usual."


def _gain(branch: Branch) -> float:
    return branch.score - branch.usual


def _striking(branches: Sequence[Branch]) -> list[str]:
    """Return a sentence on openings whose interval leaves out the usual score, if they were made often enough."""
    branches = [branch for branch in branches if branch.times >= _FEW]
    better = [f"`{branch.name}` ({_score(branch)})" for branch in branches if branch.low > branch.usual]
    worse = [f"`{branch.name}` ({_score(branch)})" for branch in branches if branch.high < branch.usual]
    parts = [f"{word} after {', '.join(names[:3])}" for word, names in (("better", better), ("worse", worse)) if names]
    if not parts:
        return []
    tried = (
        f"{len(branches)} were examined, those made {_FEW} times or more, of which one in twenty stands out by chance"
    )
    return [f"The same agents do {'; '.join(parts)}, than usual. {tried}."]


def _score(branch: Branch) -> str:
    return (
        f"score {branch.score:.1%}, interval {branch.low:.1%} to {branch.high:.1%}, usually {branch.usual:.1%}, "
        f"{branch.times} times"
    )


def _draw_dots(figure: Figure, title: str, branches: Sequence[Branch]) -> None:
    most = sorted(branches, key=lambda branch: -branch.times)[:_SHOWN]
    rows = [Dot(branch.name, branch.score, branch.low, branch.high, branch.usual, str(branch.times)) for branch in most]
    dots(figure, title, rows, "score, and | the usual one", "times")


def _shares(branches: Sequence[Branch], agents: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the shares of each agent's choices, float [agents, branches], and the agents that chose at all."""
    totals: Counter[str] = Counter()
    for branch in branches:
        totals.update(branch.agents)
    chose = [agent for agent in agents if totals[agent]]
    chose = sorted(sorted(chose, key=lambda agent: -totals[agent])[:_AGENTS])
    rows = [[branch.agents.get(agent, 0) / totals[agent] for branch in branches[:_SHOWN]] for agent in chose]
    return np.array(rows, dtype=np.float64).reshape(len(chose), -1), chose
