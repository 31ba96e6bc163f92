"""`cellgames season`: leagues, divisions and playoffs.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_names import wrapped
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.teams import (
    Team,
    TeamOptions,
    assign_agents,
    assign_divisions,
    by_league,
    generate_names,
    read_teams,
)
from cellgames.cli.console import UserError, counted, print_files, program, stopped_games, warn
from cellgames.cli.shared_options import (
    add_command,
    add_folder,
    add_game,
    add_isolation,
    add_options,
    add_ray,
    add_spending,
    add_store,
    file_name,
    make_game,
    parameters,
    store_of,
    workers_of,
)
from cellgames.envs import registry
from cellgames.utils.foreign_text import shown

if TYPE_CHECKING:
    from cellgames.arena.season.games import Umpire
    from cellgames.arena.season.season import Season

__all__ = ["add"]

_TEXT = (
    "Play a season and its playoffs. Two leagues of two divisions play their days, then the four best of\n"
    "each league play for the championship. Teams with agents play any game for two. Teams without agents\n"
    "play the Toroidal Cup as the real one is played, with random arrangements of the patterns. The folder\n"
    "gets schedule, standings, bracket and a record of every game. If a season is stopped, the same command\n"
    "continues it."
)
_EXAMPLES = (
    "toroidal-cup-v0 --teams 20 --seed 1",
    "torus-small-v0 --teams 12 --days 21 --agents random greedy rollout:64",
    "toroidal-cup-v0 --teams my_teams.csv --patterns randys donutpi",
)


def add(commands: Any) -> None:
    """Add the command."""
    moved = {"--game": "GAME in front of the options"}
    command = add_command(commands, "season", "GAME ", _run, _TEXT, _EXAMPLES, moved)
    add_game(command)
    add_options(command, TeamOptions.options())
    add_options(command, SeasonOptions.options())
    add_isolation(command)
    add_spending(command)
    add_store(command)
    add_ray(command, "batches of games")
    add_folder(command, "results/season/GAME-...", "show no progress and no standings")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.arena.season.season import play_season

    registry.spec(arguments.game)
    options = SeasonOptions.from_given(vars(arguments))
    asked = TeamOptions.from_given(vars(arguments))
    teams = _teams(asked, options, arguments.wrapper)
    umpire = _umpire(arguments, asked, teams)
    out = arguments.out if arguments.out is not None else _default_out(arguments, asked, options)
    try:
        with workers_of(arguments) as workers:
            finished = play_season(
                teams,
                umpire,
                options,
                out=out,
                store=store_of(arguments),
                workers=workers,
                say=None if arguments.quiet else _say,
                warn=warn,
            )
    except KeyboardInterrupt:
        return stopped_games(arguments, out, "batches")
    _report(finished)
    return 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _teams(asked: TeamOptions, options: SeasonOptions, wrapper: str | None) -> tuple[Team, ...]:
    """Return the teams with leagues, divisions and agents, those of a file in the processes that `wrapper` names."""
    if asked.teams.isdecimal():
        teams = [Team(name) for name in generate_names(int(asked.teams), options.seed)]
    else:
        teams = [
            replace(team, agent=wrapped(team.agent, wrapper)) if wrapper and team.agent else team
            for team in read_teams(asked.teams)
        ]
    return assign_divisions(assign_agents(teams, asked.agents), asked.league_sizes or None)


def _umpire(arguments: argparse.Namespace, asked: TeamOptions, teams: tuple[Team, ...]) -> Umpire:
    """Return the umpire of bots if there are any, else that of the Cup with random arrangements."""
    given = {name: value for name in ("opening_plies", "chunk") if (value := getattr(asked, name)) is not None}
    if any(team.agent for team in teams):
        from cellgames.arena.season.bots import BotUmpire

        if asked.patterns:
            raise UserError("--patterns is for teams without agents; bots take a parameter, see `cellgames list`")
        return BotUmpire(make_game(arguments), teams, time_control=asked.time_control, **given)
    from cellgames.arena.season.cup import CUP, PARAMETERS, CupUmpire

    if arguments.game != CUP:
        raise UserError(f"{arguments.game}: expected --agents, or a file of teams with agents; only {CUP} needs none")
    if asked.time_control is not None:
        raise UserError("--clock and --move-time are for bots; teams without agents get random arrangements")
    if asked.opening_plies is not None:
        raise UserError("--opening-plies is for bots; teams without agents get random arrangements")
    rules = parameters(arguments)
    if unknown := [name for name in rules if name not in PARAMETERS]:
        raise UserError(f"unknown parameter {shown(unknown[0])}; teams without agents take {', '.join(PARAMETERS)}")
    return CupUmpire(asked.patterns or None, **rules, **given)


def _default_out(arguments: argparse.Namespace, asked: TeamOptions, options: SeasonOptions) -> Path:
    """Return a folder named by the settings."""
    words = [arguments.game, *sorted(f"{name}={value}" for name, value in parameters(arguments).items())]
    words += [f"teams={Path(asked.teams).stem}", f"days={options.days}"]
    words += ["seed=secret" if options.secret_seed else f"seed={options.seed}"]
    several = {"agents": asked.agents, "patterns": asked.patterns, "sizes": asked.league_sizes}
    words += [f"{name}={'+'.join(map(str, values))}" for name, values in several.items() if values]
    words += [f"within={options.within:g}"] if options.within != SeasonOptions.within else []
    plies = asked.opening_plies
    words += [f"plies={plies}"] if plies not in (None, MatchOptions.opening_plies) else []
    words += [f"chunk={asked.chunk}"] if asked.chunk is not None else []
    return Path("results") / "season" / file_name(words)


def _report(finished: Season) -> None:
    """Print standings and bracket, the files, and commands to type next."""
    from cellgames.arena.season import season_reports as reports

    print(reports.table_text(finished.teams, finished.table, by_league(finished.teams)))
    print()
    print(reports.bracket_text(finished.bracket))
    extra = finished.games - finished.schedule.games
    print(f"\n{counted(finished.games, finished.played)}, {extra} of them in the playoffs or played again.")
    for line in finished.notes:
        print(line)
    about = {
        "report.md": "standings, series and schedule on one page",
        "bracket.png": "the playoffs as a picture",
    }
    print_files(finished.out, finished.files, about)
    run = shlex.quote(str(finished.out))
    print("Next:")
    print(f"  {program()} replay {run}   check every game")
    print(f"  {program()} replay {run} --record {finished.games} --out final.gif")
