"""`cellgames evaluate`: an agent against several opponents.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_names import by_name, split_name
from cellgames.agents.agent_specs import file_of
from cellgames.agents.identity import identities
from cellgames.agents.loading import default_opponents
from cellgames.agents.networks.file_names import WEIGHTS_SUFFIX
from cellgames.arena.play.match_options import EvaluationOptions
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, ForfeitLog, traces_of
from cellgames.arena.records.store.feed import feeding
from cellgames.cli.console import UserError, print_next, print_table, print_text, recorded, warn
from cellgames.cli.scenario_evaluation import EVALUATION, add_scenarios, evaluate_scenarios
from cellgames.cli.shared_options import (
    add_agents,
    add_command,
    add_game,
    add_options,
    add_out,
    add_quiet,
    add_spending,
    add_store,
    make_game,
    parameters,
    store_of,
)
from cellgames.envs import registry
from cellgames.runs.run_folder import COMMITMENT, RunFolder
from cellgames.runs.secret_seed import commitment, revealed_line, with_seed
from cellgames.utils.version import __version__

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.arena.records.record_lines import Record
    from cellgames.envs.core import Game

__all__ = ["add"]

_TEXT = (
    "Measure an agent against others. The first of --agents is measured against each of the others. Games for\n"
    "two start from random openings, each played in both seats; in larger games the agent and one opponent at a\n"
    "time take turns on all seats. Scores come with 95 % intervals. With --scenarios each agent in turn takes its\n"
    "seats at fixed tables of background agents; these games go into no store."
)
_EXAMPLES = (
    "torus-small-v0 --agents greedy random rollout:64 --games 400",
    "grid-adaptation-v0 --agents trained greedy --out results/grid",
    "--agents results/train/torus-small-v0-ppo-seed=0",
    "torus-small-v0 --agents model.zip trained",
    "grid-adaptation-v0 --agents trained --scenarios",
    "grid-adaptation-small-v0 --agents my_bots:MyBot random --scenarios visitors-1 residents-2",
)
_MOVED = {
    "--game": "GAME in front of the options",
    "--against": "--agents AGENT OPPONENT ...: the first one is measured against the others",
}

_FILES = {
    "evaluation.md": "the table",
    EVALUATION.settings: "the same for programs",
    "games.jsonl": "a record of every game",
}


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "evaluate", "[GAME] --agents AGENT [OPPONENT ...] ", _run, _TEXT, _EXAMPLES, _MOVED)
    add_game(command, otherwise="the game of the weights")
    add_agents(
        command,
        "the agent to measure: a spec that `cellgames list` shows, a file, or a run's folder; after it its "
        "opponents (default random, and greedy where there is one); NAME=SPEC gives a name",
        required=False,
    )
    add_spending(command)
    add_scenarios(command)
    add_options(command, EvaluationOptions.options(), without=["chunk"])
    add_store(command)
    add_out(command, "a folder for the table and a record of every game")
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.agents.loading import load

    options = EvaluationOptions.from_given(vars(arguments))
    if not arguments.agents:
        agent = arguments.game if arguments.game not in (None, *registry.REGISTRY) else "trained"
        raise UserError(f"expected the agent to measure, and any opponents, after --agents, such as --agents {agent}")
    if arguments.scenarios is not None:
        if arguments.game is None:
            raise UserError(
                "--scenarios needs GAME in front of the options; `cellgames list` shows which have scenarios"
            )
        evaluate_scenarios(arguments, options, arguments.game, _FILES)
        return 0
    game = _game(arguments)
    agent, *against = arguments.agents
    against = against or [spec for spec in default_opponents(game) if spec != agent]
    if agent in against:
        raise UserError(f"{agent} cannot be measured against itself; name other opponents after it")
    given = by_name([agent, *against])
    agents = {name: load(str(spec), game, name=name) for name, spec in given.items()}
    out = arguments.out
    known, place = identities(given, game), "" if out is None else out
    options = with_seed(options, out, EVALUATION, warn)
    with (
        contextlib.nullcontext() if out is None else RunFolder(out, EVALUATION),
        feeding(store_of(arguments), "evaluation", place, known, warn) as keep,
    ):
        _measure(arguments, options, game, agents, known, keep)
    return 0


def _measure(
    arguments: argparse.Namespace,
    options: EvaluationOptions,
    game: Game,
    agents: Mapping[str, AnyAgent],
    known: Mapping[str, str],
    keep: Callable[[Sequence[Record]], None],
) -> None:
    """Play, show the table, write the files."""
    from cellgames.arena.play import evaluation
    from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
    from cellgames.arena.stats.tables import forfeits, thinking

    rows, games = [], []
    measured, *opponents = agents
    log = None if arguments.out is None else ForfeitLog(arguments.out)
    if arguments.out is not None:
        (arguments.out / FORFEIT_LOG).unlink(missing_ok=True)  # of an evaluation before
    for spec in opponents:
        both = {name: agents[name] for name in (measured, spec)}
        records = evaluation.play_evaluation(game, both, options, progress=not arguments.quiet, keep=keep)
        rows.append({"against": spec, **evaluation.evaluate(game, records, measured)})
        games += records
        if log is not None:
            log.add(traces_of(records))
    settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    print(f"{measured} in {game.id} with {settings}, {options.games} games each, scores in %:\n")
    print_table(evaluation.table(rows))
    print_text(f"\n{evaluation.note(game)}")
    several = game.info.num_players > 2
    for line in [*thinking_notes(thinking(games)), *forfeit_notes(forfeits(games), several=several)]:
        print_text(line)
    if options.secret_seed:
        warn(revealed_line(options.seed))
    if arguments.out is not None:
        _write(arguments, options, game, rows, games, known)


def _game(arguments: argparse.Namespace) -> Game:
    """Return the game of the command line, or the one of the file of weights."""
    if arguments.game is not None:
        return make_game(arguments)
    file = file_of(split_name(arguments.agents[0])[1])
    if file is None or file.is_model or file.before:
        raise UserError(
            f"GAME is needed, unless AGENT is a file of weights ({WEIGHTS_SUFFIX}) or a run's folder; "
            f"{arguments.agents[0]} does not say what it plays"
        )
    from cellgames.agents.networks.saved import read_about

    about = read_about(file.path)
    return registry.make(about["game"], **{**about["parameters"], **parameters(arguments)})


# ---------------------------------------------------------------- files


def _write(
    arguments: argparse.Namespace,
    options: EvaluationOptions,
    game: Game,
    rows: Sequence[Mapping[str, Any]],
    games: Sequence[Record],
    known: Mapping[str, str],
) -> None:
    """Write the files, each whole or not at all."""
    from cellgames.arena.play import evaluation
    from cellgames.arena.records.checksums import finish
    from cellgames.arena.records.record_lines import RECORDS, plain, to_lines
    from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
    from cellgames.arena.stats.tables import forfeits, thinking
    from cellgames.utils.report.files import write_report
    from cellgames.utils.report.model import Part, Report
    from cellgames.utils.report.text import escape

    measured = split_name(arguments.agents[0])[0]
    command = recorded(arguments)
    data = {
        "command": command,
        "version": __version__,
        "agent": measured,
        "game": game.id,
        "parameters": plain(game.parameters),
        "seed": options.seed,
        **({COMMITMENT: commitment(options.seed)} if options.secret_seed else {}),
        "games": options.games,
        "identities": dict(known),
        "forfeits": {agent: own.games for agent, own in forfeits(games).items()},
        "rows": [{name: None if value != value else value for name, value in row.items()} for row in rows],
    }
    parts: tuple[Part, ...] = (
        f"`{command}`, {options.games} games each, scores in %.",
        evaluation.table(rows),
        evaluation.note(game),
        *map(escape, thinking_notes(thinking(games))),
        *map(escape, forfeit_notes(forfeits(games), several=game.info.num_players > 2)),
    )
    files = {RECORDS: to_lines(games)}
    out, data, title = arguments.out, finish(data, files), f"{measured} in {game.id}"
    write_report(
        out, Report(title, parts, data, page_file="evaluation.md", data_file=EVALUATION.settings, more_files=files)
    )
    print(f"Written to {out}:")
    for name, text in _FILES.items():
        print(f"  {name:16} {text}")
    if (out / FORFEIT_LOG).exists():
        print(f"  {FORFEIT_LOG:16} where agents failed")
    print_next((f"replay {shlex.quote(str(out))}", "check every game"))
