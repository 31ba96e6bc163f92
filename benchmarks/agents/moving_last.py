"""A study: what does moving last give in Cloth of Gold? `python -m benchmarks.agents.moving_last`.

player_b places after player_a, and then the generations run. Agents of one kind sit in both seats, so that the seats
are all that differs, in the full world and in the small one. Then the options of the rules change one at a time: does
one of them take the advantage away? At last a better agent takes the first seat.
A page, its numbers and its plot go to results/studies/cloth_moving_last/. Every row is kept when it is done, so that
the same command goes on after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

import cellgames
from benchmarks.commands import check_least, typed_command
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.arena.play.match import derive, generator
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import WIN, seeds
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Plot, Report, Section, Table
from cellgames.utils.report.plots import prepare
from cellgames.utils.report.text import percent
from cellgames.utils.run_folders import write_atomic
from cellgames.utils.statistics import wilson_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PLAN", "Match", "main", "measured"]

WORLDS = {"small": "cloth-of-gold-small-v0", "full": "cloth-of-gold-v0"}
OUT = Path("results/studies/cloth_moving_last")

_GENERATIONS = {"small": 24, "full": 168}
_DATA = "report.json"
_TOGETHER = 50  # games at the same time
_EVEN = 0.6  # a share of the last seat whose interval ends below this counts as mended
_COLOURS = {"small": "#0072b2", "full": "#d55e00"}  # blue and vermillion of Okabe and Ito


@dataclass(frozen=True)
class Match:
    """Games of two agents with fixed seats.

    Attributes:
        part: Question that it answers: "seats", "options" or "agents".
        world: "small" or "full".
        first: Agent that is player_a.
        last: Agent that is player_b.
        games: How many.
        options: Options of the rules that differ from those of the world.
    """

    part: str
    world: str
    first: str
    last: str
    games: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Text that tells the match from all others."""
        return json.dumps(asdict(self), sort_keys=True)


_CHANGES: tuple[Mapping[str, Any], ...] = (
    {"first_verdict": 4},
    {"win_rule": "extinction"},
    {"initial_placement": False},
    {"max_units": 3},
    {"generations": -4},
    {"generations": 2},
    {"first_verdict": 8},
    {"neutral_births": True},
    {"neutral_density": 0.1},
    {"max_units": 1},
    {"max_units": 5},
)
"""Changes of the rules, one at a time; generations are those of the world times a number, or divided by it."""


_NEAREST = {"max_units": 3}  # 40 and 160 games left open whether it mends
_MORE = 480  # games for it


def _changed(world: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that differ in a world."""
    if "generations" not in changes:
        return dict(changes)
    own, times = _GENERATIONS[world], changes["generations"]
    return {"generations": own * times if times > 0 else own // -times}


PLAN = (
    *(
        Match("seats", world, agent, agent, games)
        for agent, small, full in (("random", 400, 400), ("greedy", 200, 200), ("trained", 200, 40))
        for world, games in (("small", small), ("full", full))
    ),
    *(Match("agents", world, *pair, 40) for pair in (("trained", "greedy"), ("greedy", "trained")) for world in WORLDS),
    *(
        Match("options", world, "greedy", "greedy", _MORE if changes == _NEAREST else 40, _changed(world, changes))
        for changes in _CHANGES
        for world in WORLDS
    ),
    *(Match("agents", world, "greedy", "random", 40, options) for options in ({}, _NEAREST) for world in WORLDS),
    *(Match("seats", world, "rollout:16", "rollout:16", 16) for world in WORLDS),
)
"""All matches, in the order in which they are played."""


def measured(match: Match, seed: int, games: int | None = None) -> dict[str, Any]:
    """Play a match and return its row: the share of decided games that player_b wins, its lead, and the rounds.

    Args:
        match: of the plan.
        seed: of all chance.
        games: how many; None for those of the match.
    """
    game = cellgames.make(WORLDS[match.world], **match.options)
    assert isinstance(game, ClothOfGold)
    count = match.games if games is None else games
    agents = [load(match.first, game), load(match.last, game)]
    outcomes: list[list[int]] = []
    leads: list[float] = []
    rounds: list[int] = []
    for start in range(0, count, _TOGETHER):
        some = min(_TOGETHER, count - start)
        chances = [generator(seed, "moving last", match.key, start, seat) for seat in range(2)]
        starts = seeds(derive(seed, "games", match.world, start), some)
        state = play(game, agents, torch.tensor([[0, 1]] * some), starts, chances).state
        assert isinstance(state, ClothState)
        outcomes += (game.outcome(state) == WIN).long().tolist()
        leads += state.scores[:, 1].tolist()
        rounds += state.round.tolist()
    first, last = map(sum, zip(*outcomes, strict=True))
    decided = first + last
    share = last / decided if decided else None
    low, high = (0.0, 1.0) if share is None else wilson_interval(share, decided)
    return {
        "games": count,
        "first wins": first,
        "last wins": last,
        "neither wins": count - decided,
        "share": share,
        "low": low,
        "high": high,
        "median lead": statistics.median(leads),
        "median rounds": statistics.median(rounds),
        "first verdict ends": sum(number == max(game.first_verdict, 1) for number in rounds) / count,
    }


# ---------------------------------------------------------------- the page


def _draw(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the share of the last seat for agents of one kind, and with each option."""
    found = [row for row in rows if row["first"] == row["last"] and row["share"] is not None]
    names = list(dict.fromkeys(_label(row) for row in found))
    prepare(figure, "Cloth of Gold: games that player_b, who moves last, wins", 7.6, 1.5 + 0.3 * len(names))
    axes = figure.subplots()
    axes.axvline(50, color="#b8b8b8", linewidth=1)
    for world, shift in (("small", -0.12), ("full", 0.12)):
        lines = [row for row in found if row["world"] == world]
        places = [len(names) - 1 - names.index(_label(row)) - shift for row in lines]
        shares = [100 * row["share"] for row in lines]
        spans = [
            [100 * (row["share"] - row["low"]) for row in lines],
            [100 * (row["high"] - row["share"]) for row in lines],
        ]
        axes.errorbar(shares, places, xerr=spans, fmt="o", color=_COLOURS[world], label=f"{world} world", linewidth=1.2)
    axes.set_yticks(range(len(names)), names[::-1])
    axes.set_xlim(0, 102)
    axes.set_xlabel("decided games that player_b wins, %")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="lower left", fontsize=9)


def _label(row: Mapping[str, Any]) -> str:
    """Return the agent of a row with the options that differ."""
    changed = ", ".join(f"{name}={value}" for name, value in row["options"].items())
    return f"{row['first']}, {changed}" if changed else str(row["first"])


def _interval(row: Mapping[str, Any]) -> str:
    if row["share"] is None:
        return "none decided"
    return f"{percent(row['share'])} ({percent(row['low'])} to {percent(row['high'])})"


def _cells(row: Mapping[str, Any], *heads: Cell) -> tuple[Cell, ...]:
    ends = f"{row['first wins']} - {row['last wins']} - {row['neither wins']}"
    lead = f"{row['median lead']:+.0f}"
    return (*heads, row["games"], ends, _interval(row), lead, f"{row['median rounds']:g}")


_COLUMNS = ("games", "a wins - b wins - neither", "b's share %", "b's median lead", "median rounds")


def _verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the measured options come to, a sentence or two."""
    agents = [row for row in rows if row["part"] == "options" and row["first"] == "greedy"]
    by_option: dict[str, list[Mapping[str, Any]]] = {}
    for row in agents:
        for name, value in row["options"].items():
            share = value / _GENERATIONS[row["world"]] if name == "generations" else None
            change = f"{name}={value}" if share is None else f"{share:g} times the generations"
            by_option.setdefault(change, []).append(row)
    both = {name: own for name, own in by_option.items() if len(own) > 1}
    mended = [name for name, own in both.items() if all(row["high"] < _EVEN for row in own)]
    if mended:
        return f"With {' or '.join(f'`{name}`' for name in mended)} the share of the last seat stays below 60 %."
    nearest, own = min(both.items(), key=lambda item: max(row["high"] for row in item[1]))
    shares = " and ".join(f"{_interval(row)} % in the {row['world']} world" for row in own)
    return (
        "**The better the agent, the more the last seat gives, and no option mends it**: none brings the intervals of "
        f"both worlds below 60 %. `{nearest}` comes nearest: `greedy` then wins {shares} as player_b."
    )


def _report(command: str, rows: Sequence[Mapping[str, Any]], data: Mapping[str, Any]) -> Report:
    """Return the report of all rows."""
    seats = [row for row in rows if row["part"] == "seats"]
    changed = [row for row in rows if row["part"] == "options"]
    agents = [row for row in rows if row["part"] == "agents"]
    base = {(row["world"], row["first"]): row for row in seats}
    told = "; ".join(
        f"{agent} {_interval(base['full', agent])} % in the full world and {_interval(base['small', agent])} % in the "
        "small one"
        for agent in ("random", "greedy", "trained")
        if {("full", agent), ("small", agent)} <= set(base)
    )
    plain = [
        _cells(row, row["world"], row["first"], f"{percent(row['first verdict ends'])}")
        for row in sorted(seats, key=lambda row: (row["world"], row["share"] or 0))
    ]
    table = []
    for row in changed:
        before = base.get((row["world"], row["first"]))
        gap = (
            ""
            if before is None or None in (row["share"], before["share"])
            else f"{100 * (row['share'] - before['share']):+.0f}"
        )
        table.append(_cells(row, row["world"], _label(row), gap))
    pairs = [_cells(row, row["world"], _label(row), row["last"]) for row in agents]
    parts = (
        f"`{command}`; cellgames {cellgames.__version__}, torch {torch.__version__.split('+')[0]}. Game by Adam "
        "Murray.",
        Section(
            "The question",
            (
                "player_a places its units, player_b places its units, and the generations run. player_b sees "
                "everything that will happen, and player_a does not. What is that worth between equal agents, does it "
                "grow with their strength, and which option of the rules takes it away?",
                "The baseline is `random`, which makes nothing of what it sees: whatever share its last seat has is "
                "not foresight. A share of 50 % says that the seats are equal. An option counts as a mend if the "
                "interval of player_b's share ends below 60 % in both worlds.",
            ),
        ),
        Section("The answer", (f"Shares of the decided games that player_b wins: {told}. {_verdict(rows)}",)),
        Section(
            "Equal agents",
            (
                "One agent in both seats, no forced moves; shares with Wilson's 95 % intervals. The lead is in units, "
                "at the end. `at once %`: games that end by the first verdict, after round 2.",
                Table("", ("world", "agent", "at once %", *_COLUMNS), plain, text=("world", "agent")),
                Plot("moving_last", "", partial(_draw, rows=rows), "player_b's share by agent and option"),
            ),
        ),
        Section(
            "Options of the rules",
            (
                "One option differs at a time; `against` is the change of player_b's share in points. In a world of "
                "other generations the agent is the same program. "
                f"`max_units={_NEAREST['max_units']}` came nearest in runs of 40 and of 160 games, so it was played "
                f"anew with {_MORE}. With `max_units=1` all units die, and nobody wins.",
                Table(
                    "", ("world", "agent and option", "against", *_COLUMNS), table, text=("world", "agent and option")
                ),
            ),
        ),
        Section(
            "A better agent in the first seat",
            (
                "`trained` beats `greedy` in both seats taken together. Here the seats are fixed: the seat is worth "
                "more than the better agent where `greedy` wins as player_b. `greedy` against `random` says if an "
                "option leaves the better agent its wins.",
                Table(
                    "",
                    ("world", "player_a, option", "player_b", *_COLUMNS),
                    pairs,
                    text=("world", "player_a, option", "player_b"),
                ),
            ),
        ),
        Section(
            "Proposals that are not built",
            (
                "- **Alternate the order**: who placed last in a round places first in the next one, and the verdict "
                "of a round counts only after both orders. player_a then foresees every other round.\n"
                "- **Hidden turns**: both place at the same time, by what was on the board; placements that touch "
                "are both taken away. Nobody foresees the round, and agents would play as in the Toroidal Cup.\n"
                "- **A bid**: players bid units for the last seat. It needs no change of the rounds, and the bid of a "
                "strong agent would measure the advantage in the game's own currency.",
            ),
        ),
        Section(
            "Limits and what would change this answer",
            (
                "An agent against itself tells of the seat and of the agent's blind spots together. All agents choose "
                "among tens of drawn turns: a player_a that prepares for the answer could do better. An agent that "
                "wins 45 % or more as player_a against itself, and beats `trained`, would show that foresight is worth "
                "less than it seems; `trained` is the strongest agent here, and `gumbel:N` was left out for time. "
                "16 games of `rollout:16` say little; among 100 of `rollout:32` player_b wins 76 % in the full world "
                "([how games end](../../cloth_of_gold/endings.md)). Of options, `greedy` alone tells. "
                "Options were measured one at a time; a pair of them may do what none does alone.",
            ),
        ),
    )
    return Report("What moving last gives in Cloth of Gold", parts, data, data_file=_DATA)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is missing and write the page; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents.moving_last", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, metavar="N", help="of every match, at most (default: 16 to 400, by match)")
    parser.add_argument("--threads", type=int, metavar="N", help="threads of torch (default: its own)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, games=1)
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    command = typed_command("benchmarks.agents.moving_last", given)
    rows = _kept(options.out, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    for match in PLAN:
        count = min(match.games, options.games or match.games)
        if rows.get(match.key, {}).get("games") == count:
            continue
        rows[match.key] = {**asdict(match), **measured(match, options.seed, count)}
        print(f"{match.world}, {_label(rows[match.key])}: b wins {_interval(rows[match.key])} %", file=sys.stderr)
        write_atomic(options.out / _DATA, json.dumps(_data(command, options.seed, rows), indent=1) + "\n")
    ordered = [rows[match.key] for match in PLAN]
    write_report(options.out, _report(command, ordered, _data(command, options.seed, rows)))
    print(f"Written to {options.out}")
    return 0


def _kept(out: Path, seed: int) -> dict[str, dict[str, Any]]:
    """Return the rows that are done, by match; none of another seed or version."""
    path = out / _DATA
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    same = (data["seed"], data["version"]) == (seed, cellgames.__version__)
    known = {match.key: match for match in PLAN} if same else {}
    return {key: row for row in data["rows"] if (key := _key(row)) in known}


def _key(row: Mapping[str, Any]) -> str:
    """Return the key of the match that a row is of."""
    names = ("part", "world", "first", "last", "options")
    return Match(games=row["planned"], **{name: row[name] for name in names}).key


def _data(command: str, seed: int, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    planned = {match.key: match.games for match in PLAN}
    return {
        "command": command,
        "version": cellgames.__version__,
        "seed": seed,
        "rows": [{**row, "planned": planned[key]} for key, row in rows.items()],
    }


if __name__ == "__main__":
    sys.exit(main())
