"""`cellgames evaluate --scenarios`: an agent among background agents, and baselines in its place.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cellgames.agents.agent_names import by_name
from cellgames.arena.play.match_options import EvaluationOptions
from cellgames.arena.play.scenarios import SCENARIOS, choose_scenarios
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, ForfeitLog, traces_of
from cellgames.runs.run_folder import COMMITMENT, RunFolder, RunKind
from cellgames.runs.secret_seed import commitment, revealed_line, with_seed

from .console import UserError, print_next, print_table, print_text, recorded, warn
from .shared_options import parameters

if TYPE_CHECKING:
    from cellgames.arena.play.scenario_games import ScenarioScore
    from cellgames.arena.records.record_lines import Record

__all__ = ["EVALUATION", "add_scenarios", "evaluate_scenarios"]

EVALUATION = RunKind("evaluation", "evaluation.json")

BASELINES = ("random", "greedy")
"""Agents that play in the place of the measured one where no others are given."""


def add_scenarios(command: argparse.ArgumentParser) -> None:
    """Add the option."""
    command.add_argument(
        "--scenarios",
        metavar="SCENARIO",
        nargs="*",
        help="measure each of --agents among background agents instead: in these scenarios of the game, which "
        "`cellgames list` shows, or in all of them (default agents after the first: random greedy)",
    )


def evaluate_scenarios(
    arguments: argparse.Namespace, options: EvaluationOptions, game: str, files: Mapping[str, str]
) -> None:
    """Play the scenarios, show the table and write the files.

    Args:
        arguments: of `cellgames evaluate`.
        options: the same as a dataclass.
        game: id.
        files: names of all files, with what is in them.
    """
    from cellgames.agents.loading import load
    from cellgames.arena.play import scenario_games
    from cellgames.arena.records.checksums import finish
    from cellgames.arena.records.record_lines import RECORDS, to_lines
    from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
    from cellgames.arena.stats.tables import forfeits, thinking
    from cellgames.utils.report.files import write_report

    if parameters(arguments):
        raise UserError("--scenarios takes no --param and no --size: a scenario has its own parameters")
    scenarios = choose_scenarios(game, arguments.scenarios)
    measured, *others = arguments.agents
    given = by_name([measured, *(others or [spec for spec in BASELINES if spec != measured])])
    boards = {scenario.id: scenario_games.scenario_game(scenario) for scenario in scenarios}
    # Before the first game, so that an agent that cannot play is refused at once.
    loaded = {
        (id, name): load(str(spec), board, name=name) for id, board in boards.items() for name, spec in given.items()
    }
    out = arguments.out
    scores: list[ScenarioScore] = []
    games: list[Record] = []
    options = with_seed(options, out, EVALUATION, warn)
    with contextlib.nullcontext() if out is None else RunFolder(out, EVALUATION):
        if out is not None:
            (out / FORFEIT_LOG).unlink(missing_ok=True)  # of an evaluation before
        log = None if out is None else ForfeitLog(out)
        for scenario in scenarios:
            for name in given:
                agent = loaded[scenario.id, name]
                records = scenario_games.play_scenario(scenario, agent, options, progress=not arguments.quiet)
                scores.append(scenario_games.scenario_score(scenario, name, records))
                games += records
                if log is not None:
                    log.add(traces_of(records))
        names = list(given)
        print(f"{names[0]} in scenarios of {game}, {options.games} games each, with {' and '.join(names[1:])}:\n")
        print_table(scenario_games.scenario_table(scores, SCENARIOS))
        print_text(f"\n{scenario_games.NOTE}")
        for line in [*thinking_notes(thinking(games)), *forfeit_notes(forfeits(games), several=True)]:
            print_text(line)
        if options.secret_seed:
            warn(revealed_line(options.seed))
        if out is not None:
            report = scenario_games.scenario_report(recorded(arguments), scenarios, scores, given, options)
            if options.secret_seed:
                report = replace(report, data={**report.data, COMMITMENT: commitment(options.seed)})
            more = {RECORDS: to_lines(games)}
            report = replace(report, data=finish(report.data, more))
            write_report(
                out, replace(report, page_file="evaluation.md", data_file=EVALUATION.settings, more_files=more)
            )
            print(f"Written to {out}: {', '.join(files)}")
            print_next((f"replay {shlex.quote(str(out))}", "check every game"))
