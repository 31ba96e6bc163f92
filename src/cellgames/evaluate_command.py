"""What `cellgames evaluate` does.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellgames
from cellgames.agents.registry import GREEDY, WEIGHTS_SUFFIX

from .commands import UserError, make_game, parameters, program

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.arena.records import Record
    from cellgames.envs.core import Game

__all__ = ["DEFAULT_GAMES", "evaluate"]

DEFAULT_GAMES = 200

_FILES = {
    "evaluation.md": "the table",
    "evaluation.json": "the same for programs",
    "games.jsonl": "a record of every game",
}


def evaluate(arguments: argparse.Namespace) -> int:
    """An agent against others."""
    from cellgames.agents.registry import load
    from cellgames.arena.report_parts import plain_table

    if Path(arguments.agent).is_dir():
        arguments.agent = str(Path(arguments.agent) / f"agent{WEIGHTS_SUFFIX}")
    game = _game(arguments)
    usual = ["random", *(["greedy"] if game.id in GREEDY else [])]
    against = arguments.against or [spec for spec in usual if spec != arguments.agent]
    if arguments.agent in against:
        raise UserError(f"{arguments.agent} cannot be measured against itself; name others with --against")
    if arguments.games < 2 or arguments.games % 2:
        raise UserError(f"--games must be even and at least 2, since seats are exchanged, got {arguments.games}")
    agents = {spec: load(spec, game) for spec in (arguments.agent, *against)}
    rows, games = [], []
    for spec in against:
        records = list(_played(game, {name: agents[name] for name in (arguments.agent, spec)}, arguments))
        rows.append({"against": spec, **_measured(game, records, arguments.agent)})
        games += records
    settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    print(f"{arguments.agent} in {game.id} with {settings}, {arguments.games} games each, scores in %:\n")
    print(plain_table(_table(rows)))
    print(f"\n{_note(game)}")
    if arguments.out is not None:
        _write(arguments, game, rows, games)
    return 0


def _game(arguments: argparse.Namespace) -> Game[Any]:
    """The one of the command line, or the one that the file was made for."""
    if arguments.game is not None:
        return make_game(arguments)
    if not arguments.agent.endswith(WEIGHTS_SUFFIX):
        raise UserError(f"--game is needed, unless AGENT is a file of weights ({WEIGHTS_SUFFIX})")
    from cellgames.agents.saved import read_about

    about = read_about(Path(arguments.agent))
    return cellgames.make(about["game"], **{**about["parameters"], **parameters(arguments)})


def _played(game: Game[Any], agents: Mapping[str, AnyAgent], arguments: argparse.Namespace) -> Iterator[Record]:
    """The games of two agents: a match, or tables at which they take turns on all seats."""
    from cellgames.arena import free_for_all, match
    from cellgames.arena.progress import progress
    from cellgames.arena.records import Pairing

    label = " against ".join(agents)
    with progress(arguments.games, label=label, shown=not arguments.quiet) as finished:
        if game.info.num_players == 2:
            schedule = match.Schedule(arguments.games, arguments.seed, arguments.opening_plies)
            for openings in schedule.chunks():
                yield from match.play_chunk(game, dict(agents), schedule, openings, finished)
            return
        schedule = free_for_all.Schedule(arguments.games, arguments.seed, 0)
        tables = free_for_all.seatings(2, game.info.num_players, arguments.games, arguments.seed)
        for numbers in schedule.chunks():
            pairings = [Pairing(free_for_all.MATCH, number, tables[number]) for number in numbers]
            yield from match.play_games(game, dict(agents), schedule, pairings, finished)


# ---------------------------------------------------------------- measuring


def _measured(game: Game[Any], records: Sequence[Record], agent: str) -> dict[str, Any]:
    """A line of the table, by column."""
    return _for_two(game, records, agent) if game.info.num_players == 2 else _for_more(records, agent)


def _for_two(game: Game[Any], records: Sequence[Record], agent: str) -> dict[str, Any]:
    from cellgames.arena.tables import tally

    all_games = tally(records, agent)
    low, high = all_games.interval()
    both = sum(record.result.outcome == ("loss", "loss") for record in records)
    decided = all_games.wins + all_games.losses - both
    seats = {
        f"as {player}": tally([record for record in records if record.agents[seat] == agent], agent).score
        for seat, player in enumerate(game.info.players)
    }
    return {
        "score": all_games.score,
        "low": low,
        "high": high,
        "wins": all_games.wins,
        "draws": all_games.draws,
        "losses": all_games.losses - both,
        "both lose": both,
        "of decided": all_games.wins / decided if decided else math.nan,
        **seats,
        "distinct": all_games.distinct,
    }


def _for_more(records: Sequence[Record], agent: str) -> dict[str, Any]:
    from cellgames.arena.tables import distinct

    shares, own, others = [], [], []
    for record in records:
        here = [score for name, score in zip(record.agents, record.result.scores, strict=True) if name == agent]
        there = [score for name, score in zip(record.agents, record.result.scores, strict=True) if name != agent]
        shares.append(statistics.fmean((a > b) + (a == b) / 2 for a in here for b in there))
        own += here
        others += there
    mean = statistics.fmean(shares)
    margin = 1.959964 * statistics.stdev(shares) / math.sqrt(len(shares))  # games are independent, pairs are not
    return {
        "score": mean,
        "low": max(mean - margin, 0.0),
        "high": min(mean + margin, 1.0),
        "points": statistics.fmean(own),
        "their points": statistics.fmean(others),
        "distinct": distinct(records),
    }


_COUNTS = ("wins", "draws", "losses", "both lose", "distinct")
_POINTS = ("points", "their points")


def _table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """A header and a line each, for people."""

    def text(name: str, value: Any) -> str:
        if name in ("against", *_COUNTS):
            return str(value)
        return f"{value:.2f}" if name in _POINTS else "" if math.isnan(value) else f"{100 * value:.1f}"

    return [list(rows[0]), *([text(name, value) for name, value in row.items()] for row in rows)]


def _note(game: Game[Any]) -> str:
    """What the columns are."""
    if game.info.num_players == 2:
        return (
            "score: a win 1, a draw 1/2, with its 95 % interval from low to high; of decided: wins among the games "
            "with one winner;\ndistinct: how many games differ."
        )
    return (
        "score: pairs of seats in which the agent finished ahead, a tie half, with its 95 % interval from low to high "
        "(over games);\npoints: mean final score; distinct: how many games differ."
    )


# ---------------------------------------------------------------- files


def _write(
    arguments: argparse.Namespace, game: Game[Any], rows: Sequence[Mapping[str, Any]], games: Sequence[Record]
) -> None:
    """The files, each whole or not at all."""
    from cellgames.arena.records import plain
    from cellgames.arena.report_parts import markdown_table
    from cellgames.folders import write_atomic

    command = shlex.join(["cellgames", *arguments.command_line])
    data = {
        "command": command,
        "version": cellgames.__version__,
        "agent": arguments.agent,
        "game": game.id,
        "parameters": plain(game.parameters),
        "seed": arguments.seed,
        "games": arguments.games,
        "rows": [{name: None if value != value else value for name, value in row.items()} for row in rows],
    }
    page = [
        f"# {arguments.agent} in {game.id}",
        f"`{command}`, {arguments.games} games each, scores in %.",
        markdown_table(_table(rows), left=("against",)),
        _note(game),
    ]
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / "evaluation.json", json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    write_atomic(out / "evaluation.md", "\n\n".join(page) + "\n")
    write_atomic(out / "games.jsonl", "".join(record.to_json() + "\n" for record in games))
    print(f"Written to {out}:")
    for name, text in _FILES.items():
        print(f"  {name:16} {text}")
    print(f"Next:\n  {program()} replay {shlex.quote(str(out / 'games.jsonl'))}   check every game")
