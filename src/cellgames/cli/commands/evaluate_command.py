"""`cellgames evaluate`: an agent against several opponents."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import by_name
from cellgames.agents.loading import default_opponents, identities
from cellgames.arena.play.match_options import EvaluationOptions
from cellgames.arena.records.record_lines import FORFEIT_LOG, RECORDS, Record, finish, log_forfeits, plain, to_lines
from cellgames.arena.records.store import feeding
from cellgames.cli import shared_options as shared
from cellgames.cli.console import print_kept, print_next, print_table, recorded, warn
from cellgames.envs import registry
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.errors import InputError
from cellgames.utils.report.model import Part, Report, escape, write_report
from cellgames.utils.version import __version__

_TEXT = (
    "Measure an agent against others. The first of --agents is measured against each of the others. Games for\n"
    "two start from random openings, each played in both seats; in larger games the agent and one opponent at a\n"
    "time take turns on all seats. Scores come with 95 % intervals."
)
_EXAMPLES = (
    "torus-small-v0 --agents greedy random rollout:64 --games 400",
    "grid-adaptation-v0 --agents trained greedy --out results/grid",
    "--agents results/train/torus-small-v0-ppo-seed=0",
    "torus-small-v0 --agents model.zip trained",
)
EVALUATION = RunKind("evaluation", "evaluation.json")

_FILES = {
    "evaluation.md": "the table",
    EVALUATION.settings: "the same for programs",
    "games.jsonl": "a record of every game",
}


def add(commands: Any) -> None:
    """Add the command."""
    command = shared.add_command(commands, "evaluate", "[GAME] --agents AGENT [OPPONENT ...] ", _run, _TEXT, _EXAMPLES)
    shared.add_game(command, otherwise="the game of the weights")
    shared.add_agents(
        command,
        "the agent to measure: a spec that `cellgames list` shows, a file, or a run's folder; after it its "
        "opponents (default random, and greedy where there is one); NAME=SPEC gives a name",
        required=False,
    )
    shared.add_spending(command)
    shared.add_options(command, EvaluationOptions.options(), without=["chunk"])
    shared.add_store(command)
    shared.add_out(command, "a folder for the table and a record of every game")
    shared.add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    """Play, show the table, write the files."""
    from cellgames.arena.play import evaluation
    from cellgames.arena.report.rating_tables import failure_headline, forfeit_notes, thinking_notes
    from cellgames.arena.stats.tables import forfeits, thinking

    options, out = EvaluationOptions.from_given(vars(arguments)), arguments.out
    if not arguments.agents:
        agent = arguments.game if arguments.game not in (None, *registry.REGISTRY) else "trained"
        raise InputError("--agents", f"the agent to measure, and any opponents, such as --agents {agent}", "none")
    shared.take_game(arguments, arguments.agents[0])
    game = shared.make_game(arguments)
    agent, *against = arguments.agents
    against = against or [spec for spec in default_opponents(game) if spec != agent]
    if agent in against:
        raise InputError("--agents", cause=f"{agent} cannot be measured against itself; name other opponents after it")
    given = by_name([agent, *against])
    # Agents are loaded before the first game, so that one that cannot play is refused at once.
    agents = shared.loaded_agents([agent, *against], game)
    known, (measured, *opponents) = identities(given, game), agents
    games: list[Record] = []
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        if out is not None:
            stack.enter_context(RunFolder(out, EVALUATION))
            (out / FORFEIT_LOG).unlink(missing_ok=True)  # of an evaluation before
        keep = stack.enter_context(feeding(shared.store_of(arguments), "evaluation", out or "", known, warn))
        for spec in opponents:
            both = {name: agents[name] for name in (measured, spec)}
            records = evaluation.play_evaluation(game, both, options, progress=not arguments.quiet, keep=keep)
            rows.append({"against": spec, **evaluation.evaluate(game, records, measured, void=options.void)})
            games.extend(records)
            if out is not None:
                log_forfeits(out, records)
        lost, several = forfeits(games), any(len(record.agents) > 2 for record in games)
        notes = [*thinking_notes(thinking(games)), *forfeit_notes(lost, several=several, void=options.void)]
        headline = list(filter(None, [failure_headline(lost)]))
        settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
        heading = f"{measured} in {game.id} with {settings}, {options.games} games each, scores in %:"
        print(heading, *headline, sep="\n", end="\n\n")
        print_table(evaluation.table(rows))
        for line in [f"\n{evaluation.note(game)}", *notes]:
            print(line)
        if out is not None:
            data = {
                **{"command": recorded(arguments), "version": __version__, "agent": measured, "game": game.id},
                **{"parameters": plain(game.parameters), "seed": options.seed, "games": options.games},
                "identities": dict(known),
                "rows": [{name: None if value != value else value for name, value in row.items()} for row in rows],
                "forfeits": {name: forfeited.games for name, forfeited in lost.items()},
            }
            line = f"`{data['command']}`, {options.games} games each, scores in %."
            parts: list[Part] = [line, evaluation.table(rows), evaluation.note(game), *map(escape, [*headline, *notes])]
            _write(out, f"{measured} in {game.id}", parts, data, games)
    return 0


def _write(out: Path, title: str, parts: Sequence[Part], data: dict[str, Any], games: Sequence[Record]) -> None:
    """Write the files, each whole or not at all."""
    files = {RECORDS: to_lines(games)}
    page, settings = "evaluation.md", EVALUATION.settings
    write_report(out, Report(title, parts, finish(data, files), page_file=page, data_file=settings, more_files=files))
    print_kept(out, {**_FILES, FORFEIT_LOG: "where agents failed"})
    print_next((f"replay {shlex.quote(str(out))}", "check every game"))
