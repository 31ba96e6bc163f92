"""What `cellgames season` does.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cellgames.arena.defaults import OPENING_PLIES
from cellgames.arena.season.schedule import WITHIN
from cellgames.arena.season.teams import Team, assign_agents, by_league, generate_names, place, read_teams
from cellgames.envs import registry

from .commands import (
    UserError,
    counted,
    file_name,
    make_game,
    parameters,
    print_files,
    program,
    stopped,
    store_of,
    warn,
    workers_of,
)

if TYPE_CHECKING:
    from cellgames.arena.season.games import Umpire
    from cellgames.arena.season.season import Season

__all__ = ["season"]


def season(arguments: argparse.Namespace) -> int:
    """A season and its playoffs."""
    from cellgames.arena.season.season import play_season

    registry.spec(arguments.game)
    teams = _teams(arguments)
    umpire = _umpire(arguments, teams)
    out = arguments.out if arguments.out is not None else _default_out(arguments, umpire)
    try:
        with workers_of(arguments) as workers:
            finale = play_season(
                teams,
                umpire,
                out=out,
                days=arguments.days,
                within=arguments.within,
                seed=arguments.seed,
                resume=not arguments.fresh,
                store=store_of(arguments),
                workers=workers,
                progress=not arguments.quiet,
                say=(lambda message: None) if arguments.quiet else _say,
                warn=warn,
            )
    except KeyboardInterrupt:
        return stopped(arguments, f"All whole batches of games are kept in {out}")
    _report(finale)
    return 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _teams(arguments: argparse.Namespace) -> tuple[Team, ...]:
    """With leagues, divisions and agents."""
    given: str = arguments.teams
    if given.isdecimal():
        teams = [Team(name) for name in generate_names(int(given), arguments.seed)]
    else:
        teams = read_teams(given)
    return place(assign_agents(teams, arguments.agents), arguments.league_sizes)


def _umpire(arguments: argparse.Namespace, teams: tuple[Team, ...]) -> Umpire:
    """Bots play if there are any; else it is the Cup with random arrangements."""
    chunk = {} if arguments.chunk is None else {"chunk": arguments.chunk}
    if any(team.agent for team in teams):
        from cellgames.arena.season.bots import BotUmpire

        if arguments.patterns is not None:
            raise UserError("--patterns is for teams without agents; bots take a parameter, see `cellgames list`")
        plies = OPENING_PLIES if arguments.opening_plies is None else arguments.opening_plies
        return BotUmpire(make_game(arguments), teams, opening_plies=plies, **chunk)
    from cellgames.arena.season.cup import CUP, PARAMETERS, CupUmpire

    if arguments.game != CUP:
        raise UserError(f"{arguments.game}: expected --agents, or a file of teams with agents; only {CUP} needs none")
    if arguments.opening_plies is not None:
        raise UserError("--opening-plies is for bots; teams without agents get random arrangements")
    given = parameters(arguments)
    if unknown := [name for name in given if name not in PARAMETERS]:
        raise UserError(f"unknown parameter {unknown[0]!r}; teams without agents take {', '.join(PARAMETERS)}")
    return CupUmpire(arguments.patterns, **given, **chunk)


def _default_out(arguments: argparse.Namespace, umpire: Umpire) -> Path:
    """A folder named by what was asked for."""
    words = [arguments.game, *sorted(f"{name}={value}" for name, value in parameters(arguments).items())]
    words += [f"teams={Path(arguments.teams).stem}", f"days={arguments.days}", f"seed={arguments.seed}"]
    several = {"agents": arguments.agents, "patterns": arguments.patterns, "sizes": arguments.league_sizes}
    words += [f"{name}={'+'.join(map(str, values))}" for name, values in several.items() if values]
    words += [f"within={arguments.within:g}"] if arguments.within != WITHIN else []
    words += [f"plies={arguments.opening_plies}"] if arguments.opening_plies not in (None, OPENING_PLIES) else []
    words += [f"chunk={umpire.chunk}"] if arguments.chunk is not None else []
    return Path("results") / "season" / file_name(words)


def _report(finale: Season) -> None:
    """What came out, what to open, and what to do next."""
    from cellgames.arena.season import season_reports as reports

    print(reports.table_text(finale.teams, finale.table, by_league(finale.teams)))
    print()
    print(reports.bracket_text(finale.bracket))
    extra = finale.games - finale.schedule.games
    print(f"\n{counted(finale.games, finale.played)}, {extra} of them in the playoffs or played again.")
    about = {
        "report.md": "standings, series and schedule on one page",
        "bracket.png": "the playoffs as a picture",
    }
    print_files(finale.out, finale.files, about)
    file = shlex.quote(str(finale.out / "games.jsonl"))
    print("Next:")
    print(f"  {program()} replay {file}   check every game")
    print(f"  {program()} replay {file} --game {finale.games} --gif final.gif")
