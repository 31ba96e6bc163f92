"""The section of a report on openings: text, tables and plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.envs.core.raster import to_rgb
from cellgames.utils.report.model import Plot, Section, Table
from cellgames.utils.report.plots import Dot, Scale, dots, escape_math, matrix

from .heat_maps import boards
from .openings import Branch, Openings, find_openings
from .reader import Reader, make_reader
from .record_groups import agents_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["section"]

_SHOWN = 14  # of a plot
_DRAWN = 10  # boards
_AGENTS = 20  # of a plot, those who chose most often
_FEW = 10  # times; of openings made less often nothing is striking
_SAME = 1e-9  # difference of scores


def section(game: Game, records: Sequence[Record], reader: Reader | None = None) -> Section:
    """Return the section on openings; the arguments are those of `find_openings`."""
    reader = make_reader(game) if reader is None else reader
    found = find_openings(game, records, reader)
    players = game.info.players
    chosen = [branch for branch in found.firsts if len(branch.steps) == 1]
    answers = [branch for branch in found.firsts if len(branch.steps) > 1]
    forced = [branch for branch in found.branches if branch.forced and _is_whole(branch, found)]
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
            plots.append(Plot(name, _caption(branches is forced), partial(_draw_dots, title=title, branches=branches)))
    if first := chosen or answers:
        shares, agents = _shares(first, agents_of(records))
        words = "Who opens with what" if chosen else "Who answers what to forced openings"
        many = [branch.name for branch in first[:_SHOWN]]
        caption = f"{words}: share of the agent's own first steps."
        scale = Scale(max(float(shares.max()), 0.01))
        draw = partial(matrix, title=words, rows=agents, columns=many, values=shares, scale=scale)
        plots.append(Plot("openings_by_agent", caption, draw))
    for name, title, branches in (
        ("openings_drawn", "How games began, and the mover's score", _deepest(chosen, found)),
        ("openings_forced_drawn", "Forced openings, and the score of who made the last step", forced),
    ):
        if branches and reader.draw(branches[0].steps) is not None:
            most = sorted(branches, key=lambda branch: -branch.times)[:_DRAWN]
            plots.append(
                Plot(
                    name,
                    f"{title}; the number of times in brackets.",
                    partial(_draw_boards, title=title, reader=reader, branches=most),
                )
            )
    data = {
        "openings": found.openings,
        "with forced steps": found.forced,
        "branches": [_data(branch, players) for branch in found.branches],
    }
    return Section("Openings", (*lines, *tables, *plots), data)


_COLUMNS = ("opening", "depth", "last step", "by", "times", "score %", "low %", "high %", "usual %", "chosen by")


def _is_whole(branch: Branch, found: Openings) -> bool:
    """Return True if a choice follows a forced branch."""
    return any(other.steps[:-1] == branch.steps for other in found.firsts)


def _row(branch: Branch, players: Sequence[str]) -> tuple[Any, ...]:
    numbers = (round(100 * value, 1) for value in (branch.score, branch.low, branch.high, branch.usual))
    return (
        branch.name,
        len(branch.steps),
        "forced" if branch.forced else "chosen",
        _seat(branch, players),
        branch.times,
        *numbers,
        ", ".join(f"{agent} {times}" for agent, times in branch.agents.items()),
    )


def _data(branch: Branch, players: Sequence[str]) -> dict[str, Any]:
    numbers = {name: round(getattr(branch, name), 6) for name in ("score", "low", "high", "usual")}
    return {
        "steps": list(branch.steps),
        "by": _seat(branch, players),
        "forced": branch.forced,
        "times": branch.times,
        **numbers,
        "agents": dict(branch.agents),
    }


def _seat(branch: Branch, players: Sequence[str]) -> str:
    return players[branch.seat] if branch.seat >= 0 else "all"


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


def _deepest(chosen: Sequence[Branch], found: Openings) -> list[Branch]:
    """Return the answers to the first steps that agents chose."""
    firsts = {branch.steps for branch in chosen}
    return [branch for branch in found.branches if not branch.forced and branch.steps[:-1] in firsts]


def _score(branch: Branch) -> str:
    return (
        f"score {branch.score:.1%}, interval {branch.low:.1%} to {branch.high:.1%}, usually {branch.usual:.1%}, "
        f"{branch.times} times"
    )


def _caption(forced: bool) -> str:
    who = "those who were made to play the last step" if forced else "those who chose them"
    return (
        f"Score of {who}, with 95 % intervals; the upright marks are the same agents' usual scores. The number of "
        "times stands at the right."
    )


def _draw_dots(figure: Figure, title: str, branches: Sequence[Branch]) -> None:
    most = sorted(branches, key=lambda branch: -branch.times)[:_SHOWN]
    rows = [Dot(branch.name, branch.score, branch.low, branch.high, branch.usual, str(branch.times)) for branch in most]
    dots(figure, title, rows, "score, and | the usual one", "times")


def _draw_boards(figure: Figure, title: str, reader: Reader, branches: Sequence[Branch]) -> None:
    drawn = []
    for branch in branches:
        if (picture := reader.draw(branch.steps)) is not None:
            words = f"{escape_math(branch.name)}\n{branch.score:.0%} ({branch.times})"
            drawn.append((words, to_rgb(picture, 400 / picture.width)))
    boards(figure, title, drawn)


def _shares(branches: Sequence[Branch], agents: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the shares of each agent's choices, float [agents, branches], and the agents that chose at all."""
    totals: Counter[str] = Counter()
    for branch in branches:
        totals.update(branch.agents)
    chose = [agent for agent in agents if totals[agent]]
    chose = sorted(sorted(chose, key=lambda agent: -totals[agent])[:_AGENTS])
    rows = [[branch.agents.get(agent, 0) / totals[agent] for branch in branches[:_SHOWN]] for agent in chose]
    return np.array(rows, dtype=np.float64).reshape(len(chose), -1), chose
