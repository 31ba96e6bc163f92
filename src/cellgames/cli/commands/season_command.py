"""`cellgames season`: leagues, divisions and playoffs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_specs import wrapped
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.teams import Team, TeamOptions, assign_agents, assign_divisions, generate_names, read_teams
from cellgames.cli import shared_options as shared
from cellgames.cli.console import counted, print_error, print_kept, print_next, stopped_games, warn
from cellgames.envs import registry
from cellgames.utils.errors import InputError, shown

if TYPE_CHECKING:
    from cellgames.arena.season.cup import CupUmpire
    from cellgames.arena.season.games import BotUmpire
    from cellgames.arena.season.season import Season

_TEXT = (
    "Play a season and its playoffs. Two leagues of two divisions play their days, then the four best of each\n"
    "league play for the championship. Teams with agents play any game for two. Teams without agents play the\n"
    "Toroidal Cup as the real one is played, with random arrangements of the patterns. The folder gets\n"
    "schedule, standings, playoffs and a record of every game. If a season is stopped, the same command\n"
    "continues it."
)
_EXAMPLES = (
    "toroidal-cup-v0 --teams 20 --seed 1",
    "torus-small-v0 --teams 12 --days 21 --agents random greedy rollout:64",
    "toroidal-cup-v0 --teams my_teams.csv --patterns randys donutpi",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = shared.add_command(commands, "season", "GAME ", _run, _TEXT, _EXAMPLES)
    shared.add_game(command)
    shared.add_options(command, TeamOptions.options())
    shared.add_options(command, SeasonOptions.options())
    shared.add_isolation(command)
    shared.add_spending(command)
    shared.add_store(command)
    shared.add_workers(command, "batches of games")
    shared.add_folder(command, "results/season/GAME-...", "show no progress and no standings")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.arena.season.season import play_season

    registry.spec(arguments.game)
    options = SeasonOptions.from_given(vars(arguments))
    asked = TeamOptions.from_given(vars(arguments))
    teams = assign_divisions(_teams(asked, options, arguments.wrapper), asked.league_sizes or None)
    umpire = _umpire(arguments, asked, teams)
    out = shared.folder_of(arguments, "season", _folder_words(asked, options))
    try:
        with shared.workers_of(arguments) as workers:
            say = None if arguments.quiet else print_error
            store = shared.store_of(arguments)
            _report(play_season(teams, umpire, options, out=out, store=store, workers=workers, say=say, warn=warn))
    except KeyboardInterrupt:
        return stopped_games(arguments, out, "batches")
    return 0


def _teams(asked: TeamOptions, options: SeasonOptions, wrapper: str) -> list[Team]:
    """Return the teams with their agents, those of a file in the processes that `wrapper` names."""
    if asked.teams.isdecimal():
        teams = [Team(name) for name in generate_names(int(asked.teams), options.seed)]
    else:
        teams = [
            replace(team, agent=wrapped(team.agent, wrapper)) if team.agent else team
            for team in read_teams(asked.teams)
        ]
    return assign_agents(teams, asked.agents)


def _umpire(arguments: argparse.Namespace, asked: TeamOptions, teams: Sequence[Team]) -> BotUmpire | CupUmpire:
    """Return the umpire of bots if there are any, else that of the Cup with random arrangements."""
    given = {name: value for name in ("opening_plies", "chunk") if (value := getattr(asked, name)) is not None}
    if any(team.agent for team in teams):
        from cellgames.arena.season.games import BotUmpire

        if asked.patterns:
            raise InputError("--patterns", cause="it is for teams without agents; bots take a parameter")
        game, limits = shared.make_game(arguments), TimeControl.parse(asked.clock, asked.move_time)
        return BotUmpire(game, teams, time_control=limits, **given)
    from cellgames.arena.season.cup import CUP, PARAMETERS, CupUmpire

    if arguments.game != CUP:
        expected = f"some, or a file of teams with agents; only {CUP} needs none"
        raise InputError("--agents", expected, where=arguments.game)
    if TimeControl.parse(asked.clock, asked.move_time) is not None:
        raise InputError("--clock and --move-time", cause="they are for bots; teams without agents do not think")
    if asked.opening_plies is not None:
        raise InputError("--opening-plies", cause="it is for bots; teams without agents get random arrangements")
    rules = shared.parameters(arguments)
    if unknown := [name for name in rules if name not in PARAMETERS]:
        raise InputError("--param", f"one of {', '.join(PARAMETERS)}, for teams without agents", shown(unknown[0]))
    return CupUmpire(asked.patterns or None, **rules, **given)


def _folder_words(asked: TeamOptions, options: SeasonOptions) -> list[str]:
    """Return the settings, but for most of those that are usual."""
    words = [f"teams={Path(asked.teams).stem}", f"days={options.days}", f"seed={options.seed}"]
    several = {"agents": asked.agents, "patterns": asked.patterns, "sizes": asked.league_sizes}
    words += [f"{name}={'+'.join(map(str, values))}" for name, values in several.items() if values]
    words += [f"within={options.within:g}"] if options.within != SeasonOptions.within else []
    plies = asked.opening_plies
    words += [f"plies={plies}"] if plies not in (None, MatchOptions.opening_plies) else []
    return [*words, *([f"chunk={asked.chunk}"] if asked.chunk is not None else [])]


def _report(finished: Season) -> None:
    """Print standings and playoffs, the files, and commands to type next."""
    from cellgames.arena.season import season as reports

    print(reports.table_text(finished), reports.bracket_text(finished), sep="\n\n")
    extra = finished.games - finished.schedule.games
    print(f"\n{counted(finished.games, finished.played)}, {extra} of them in the playoffs or played again.")
    for line in finished.notes:
        print(line)
    print_kept(finished.out, {"report.md": "standings, playoffs and schedule on one page"})
    run = shlex.quote(str(finished.out))
    print_next((f"replay {run}", "check every game"), (f"replay {run} --record {finished.games} --out final.gif", ""))
