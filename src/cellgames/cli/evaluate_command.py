"""What `cellgames evaluate` does.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellgames.agents.identity import identities
from cellgames.agents.loading import default_opponents, weights_path
from cellgames.agents.networks.file_names import WEIGHTS_SUFFIX
from cellgames.arena.records.store.feed import feeding
from cellgames.envs import registry
from cellgames.utils.run_folders import opened, refuse_foreign, write_atomic
from cellgames.utils.version import __version__

from .commands import UserError, make_game, parameters, program, store_of, warn

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.arena.records.record_lines import Record
    from cellgames.envs.core import Game

__all__ = ["DEFAULT_GAMES", "evaluate"]

DEFAULT_GAMES = 200

_DATA = "evaluation.json"

_FILES = {
    "evaluation.md": "the table",
    _DATA: "the same for programs",
    "games.jsonl": "a record of every game",
}


def evaluate(arguments: argparse.Namespace) -> int:
    """An agent against others."""
    from cellgames.agents.loading import load

    game = _game(arguments)
    usual = default_opponents(game)
    against = arguments.against or [spec for spec in usual if spec != arguments.agent]
    if arguments.agent in against:
        raise UserError(f"{arguments.agent} cannot be measured against itself; name others with --against")
    if arguments.games < 2 or arguments.games % 2:
        raise UserError(f"--games must be even and at least 2, since seats are exchanged, got {arguments.games}")
    agents = {spec: load(spec, game) for spec in (arguments.agent, *against)}
    out = arguments.out
    known, place = identities(agents, game), "" if out is None else out
    with (
        contextlib.nullcontext() if out is None else opened(out, _FILES),
        feeding(store_of(arguments), "evaluation", place, known, warn) as keep,
    ):
        if out is not None:
            refuse_foreign(out, _DATA)
        _measure(arguments, game, agents, known, keep)
    return 0


def _measure(
    arguments: argparse.Namespace,
    game: Game,
    agents: Mapping[str, AnyAgent],
    known: Mapping[str, str],
    keep: Callable[[Sequence[Record]], None],
) -> None:
    """Play, show the table, write the files."""
    from cellgames.arena.play import evaluation
    from cellgames.arena.report.report_parts import forfeited, plain_table
    from cellgames.arena.stats.tables import forfeits

    rows, games = [], []
    for spec in list(agents)[1:]:
        records = evaluation.meet(
            game,
            {name: agents[name] for name in (arguments.agent, spec)},
            arguments.games,
            seed=arguments.seed,
            opening_plies=arguments.opening_plies,
            shown=not arguments.quiet,
            keep=keep,
        )
        rows.append({"against": spec, **evaluation.measure(game, records, arguments.agent)})
        games += records
    settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    print(f"{arguments.agent} in {game.id} with {settings}, {arguments.games} games each, scores in %:\n")
    print(plain_table(evaluation.table(rows)))
    print(f"\n{evaluation.note(game)}")
    for line in forfeited(forfeits(games), several=game.info.num_players > 2):
        print(line)
    if arguments.out is not None:
        _write(arguments, game, rows, games, known)


def _game(arguments: argparse.Namespace) -> Game:
    """The one of the command line, or the one that the file was made for."""
    if arguments.game is not None:
        return make_game(arguments)
    path = weights_path(arguments.agent)
    if path is None:
        raise UserError(f"--game is needed, unless AGENT is a file of weights ({WEIGHTS_SUFFIX}) or a run's folder")
    from cellgames.agents.networks.saved import read_about

    about = read_about(path)
    return registry.make(about["game"], **{**about["parameters"], **parameters(arguments)})


# ---------------------------------------------------------------- files


def _write(
    arguments: argparse.Namespace,
    game: Game,
    rows: Sequence[Mapping[str, Any]],
    games: Sequence[Record],
    known: Mapping[str, str],
) -> None:
    """The files, each whole or not at all."""
    from cellgames.arena.play import evaluation
    from cellgames.arena.records.record_lines import plain
    from cellgames.arena.report.report_parts import escape, forfeited, markdown_table
    from cellgames.arena.stats.tables import forfeits

    command = shlex.join(["cellgames", *arguments.command_line])
    data = {
        "command": command,
        "version": __version__,
        "agent": arguments.agent,
        "game": game.id,
        "parameters": plain(game.parameters),
        "seed": arguments.seed,
        "games": arguments.games,
        "identities": dict(known),
        "forfeits": {agent: own.games for agent, own in forfeits(games).items()},
        "rows": [{name: None if value != value else value for name, value in row.items()} for row in rows],
    }
    page = [
        f"# {arguments.agent} in {game.id}",
        f"`{command}`, {arguments.games} games each, scores in %.",
        markdown_table(evaluation.table(rows), left=("against",)),
        evaluation.note(game),
        *map(escape, forfeited(forfeits(games), several=game.info.num_players > 2)),
    ]
    out = arguments.out
    write_atomic(out / _DATA, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    write_atomic(out / "evaluation.md", "\n\n".join(page) + "\n")
    write_atomic(out / "games.jsonl", "".join(record.to_json() + "\n" for record in games))
    print(f"Written to {out}:")
    for name, text in _FILES.items():
        print(f"  {name:16} {text}")
    print(f"Next:\n  {program()} replay {shlex.quote(str(out / 'games.jsonl'))}   check every game")
