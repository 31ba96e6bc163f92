"""`cellgames evaluate`: an agent against several opponents, or in scenarios among background agents.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cellgames.agents.agent_names import by_name
from cellgames.agents.identity import identities
from cellgames.agents.loading import default_opponents
from cellgames.arena.play.match_options import EvaluationOptions
from cellgames.arena.play.scenarios import choose_scenarios
from cellgames.arena.records.record_lines import FORFEIT_LOG, log_forfeits, traces_of
from cellgames.arena.records.store.store import feeding
from cellgames.cli import shared_options as shared
from cellgames.cli.console import UserError, print_kept, print_next, print_table, recorded, warn
from cellgames.envs import registry
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.version import __version__

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.utils.report.model import Report

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
EVALUATION = RunKind("evaluation", "evaluation.json")

_BASELINES = ("random", "greedy")  # in the place of the measured agent in scenarios, where no others are given

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
    command.add_argument(
        "--scenarios",
        metavar="SCENARIO",
        nargs="*",
        help="measure each of --agents among background agents instead: in these scenarios of the game, which "
        "`cellgames list` shows, or in all of them (default agents after the first: random greedy)",
    )
    shared.add_options(command, EvaluationOptions.options(), without=["chunk"])
    shared.add_store(command)
    shared.add_out(command, "a folder for the table and a record of every game")
    shared.add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    """Play, show the table, write the files."""
    from cellgames.arena.report.rating_tables import failure_headline, forfeit_notes, thinking_notes
    from cellgames.arena.stats.tables import forfeits, thinking

    options, out = EvaluationOptions.from_given(vars(arguments)), arguments.out
    if not arguments.agents:
        agent = arguments.game if arguments.game not in (None, *registry.REGISTRY) else "trained"
        raise UserError(f"expected the agent to measure, and any opponents, after --agents, such as --agents {agent}")
    # Agents are loaded before the first game, so that one that cannot play is refused at once.
    play, known = (_among_opponents if arguments.scenarios is None else _in_scenarios)(arguments)
    games: list[Record] = []
    with ExitStack() as stack:
        if out is not None:
            stack.enter_context(RunFolder(out, EVALUATION))
            (out / FORFEIT_LOG).unlink(missing_ok=True)  # of an evaluation before
        keep: Callable[[Sequence[Record]], None] | None = None
        if known is not None:
            keep = stack.enter_context(feeding(shared.store_of(arguments), "evaluation", out or "", known, warn))

        def ended(records: Sequence[Record]) -> None:
            games.extend(records)
            if out is not None:
                log_forfeits(out, traces_of(records))

        heading, report = play(options, keep, ended)
        lost, several = forfeits(games), any(len(record.agents) > 2 for record in games)
        notes = [*thinking_notes(thinking(games)), *forfeit_notes(lost, several=several, void=options.void)]
        headline = list(filter(None, [failure_headline(lost)]))
        print(f"{heading}:", *headline, sep="\n", end="\n\n")
        print_table(report.tables[0])
        for line in [f"\n{report.parts[2]}", *notes]:
            print(line)
        if out is not None:
            _write(out, options, report, games, [*headline, *notes])
    return 0


_Play: TypeAlias = Callable[
    [EvaluationOptions, "Callable[[Sequence[Record]], None] | None", "Callable[[Sequence[Record]], None]"],
    "tuple[str, Report]",
]
"""Plays the games and returns a heading and a report: the command, the table, its explanation."""


def _among_opponents(arguments: argparse.Namespace) -> tuple[_Play, Mapping[str, str] | None]:
    """Return a function that plays the games against opponents, and the agents' identities for the store."""
    from cellgames.agents.loading import load
    from cellgames.arena.play import evaluation
    from cellgames.arena.records.checksums import plain
    from cellgames.utils.report.model import Report

    shared.take_game(arguments, arguments.agents[0])
    game = shared.make_game(arguments)
    agent, *against = arguments.agents
    against = against or [spec for spec in default_opponents(game) if spec != agent]
    if agent in against:
        raise UserError(f"{agent} cannot be measured against itself; name other opponents after it")
    given = by_name([agent, *against])
    agents = {name: load(str(spec), game, name=name) for name, spec in given.items()}
    known, (measured, *opponents) = identities(given, game), agents

    def play(options: EvaluationOptions, keep: Any, ended: Callable[[Sequence[Record]], None]) -> tuple[str, Report]:
        rows = []
        for spec in opponents:
            both = {name: agents[name] for name in (measured, spec)}
            records = evaluation.play_evaluation(game, both, options, progress=not arguments.quiet, keep=keep)
            rows.append({"against": spec, **evaluation.evaluate(game, records, measured, void=options.void)})
            ended(records)
        settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
        heading = f"{measured} in {game.id} with {settings}, {options.games} games each, scores in %"
        command = recorded(arguments)
        data = {
            **{"command": command, "version": __version__, "agent": measured, "game": game.id},
            **{"parameters": plain(game.parameters), "seed": options.seed, "games": options.games},
            "identities": dict(known),
            "rows": [{name: None if value != value else value for name, value in row.items()} for row in rows],
        }
        line = f"`{command}`, {options.games} games each, scores in %."
        parts = (line, evaluation.table(rows), evaluation.note(game))
        return heading, Report(f"{measured} in {game.id}", parts, data)

    return play, known


def _in_scenarios(arguments: argparse.Namespace) -> tuple[_Play, None]:
    """Return a function that plays the games of scenarios, which go into no store."""
    from cellgames.agents.loading import load
    from cellgames.arena.play import scenario_games

    if arguments.game is None:
        raise UserError("--scenarios needs GAME in front of the options; `cellgames list` shows which have scenarios")
    if shared.parameters(arguments):
        raise UserError("--scenarios takes no --param and no --size: a scenario has its own parameters")
    if arguments.forfeits == "void":
        raise UserError("--forfeits void is for games against opponents; in scenarios a failure is a loss")
    scenarios = choose_scenarios(arguments.game, arguments.scenarios)
    measured, *others = arguments.agents
    given = by_name([measured, *(others or [spec for spec in _BASELINES if spec != measured])])
    boards = {scenario.id: scenario_games.scenario_game(scenario) for scenario in scenarios}
    agents = {
        (id, name): load(str(spec), board, name=name) for id, board in boards.items() for name, spec in given.items()
    }

    def play(options: EvaluationOptions, keep: Any, ended: Callable[[Sequence[Record]], None]) -> tuple[str, Report]:
        scores = []
        for scenario in scenarios:
            for name in given:
                agent = agents[scenario.id, name]
                records = scenario_games.play_scenario(scenario, agent, options, progress=not arguments.quiet)
                scores.append(scenario_games.scenario_score(scenario, name, records))
                ended(records)
        first, *rest = given
        heading = f"{first} in scenarios of {arguments.game}, {options.games} games each, with {' and '.join(rest)}"
        return heading, scenario_games.scenario_report(recorded(arguments), scenarios, scores, given, options)

    return play, None


def _write(
    out: Path, options: EvaluationOptions, report: Report, games: Sequence[Record], notes: Sequence[str]
) -> None:
    """Write the files, each whole or not at all."""
    from cellgames.arena.records.checksums import finish
    from cellgames.arena.records.record_lines import RECORDS, to_lines
    from cellgames.arena.stats.tables import forfeits
    from cellgames.utils.report.files import write_report
    from cellgames.utils.report.text import escape

    files = {RECORDS: to_lines(games)}
    own = {"forfeits": {agent: forfeited.games for agent, forfeited in forfeits(games).items()}}
    whole = replace(
        report,
        parts=(*report.parts, *map(escape, notes)),
        data=finish({**report.data, **own}, files),
        page_file="evaluation.md",
        data_file=EVALUATION.settings,
        more_files=files,
    )
    write_report(out, whole)
    print_kept(out, {**_FILES, FORFEIT_LOG: "where agents failed"})
    print_next((f"replay {shlex.quote(str(out))}", "check every game"))
