"""`cellgames league`: populations trained against each other.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from cellgames.cli.commands.train_command import progress_text
from cellgames.cli.console import leaderboard_command, print_kept, print_next, stopped
from cellgames.cli.shared_options import add_command, add_game, folder_of, typed_game
from cellgames.lab.populations.league_options import LeagueOptions

from .trainings import add_trainings, run_trainings, settings_of

if TYPE_CHECKING:
    from cellgames.lab.populations.league import LeagueProgress
    from cellgames.lab.populations.league_report import League

_OF_THE_LEAGUE = ("opponents", "total_steps", "workers")

_TEXT = (
    "Train a population, round by round, against a mixture of its members. The folder gets the members, all games\n"
    "between them, the payoffs, the meta-strategy and its exploitability, and a report. The mixture is an agent for\n"
    "all other commands: league:FOLDER draws a member for each game. If a league is stopped, the same command\n"
    "continues it; more --rounds let it grow. All settings of `cellgames train` may be given, and hold for all\n"
    "members."
)
_EXAMPLES = (
    "torus-v0 --size 3 --steps 20000 --rounds 6",
    "grid-adaptation-small-v0 --steps 100000 --rounds 4 --meta-solver nash",
    "toroidal-cup-small-v0 --algo ppo --method league --steps 100000 --rounds 5 --workers 4",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "league", "GAME --steps N ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_trainings(
        command,
        steps="actions that each member learns from, at least",
        folder="results/league/GAME-...",
        options=LeagueOptions.options(),
        shared="members and chunks of games",
        without=_OF_THE_LEAGUE,
    )


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.lab.populations.league import train_league

    options = LeagueOptions.from_given(vars(arguments))
    if arguments.workers > 1 and arguments.threads is None:
        arguments.threads = 1  # members at the same time are fastest with a thread each
    base = settings_of(arguments)
    words = (options.method, arguments.algo, f"steps={arguments.steps}", f"seed={base.seed}")
    out = folder_of(arguments, "league", words)

    def text(at: LeagueProgress) -> tuple[str, bool]:
        words = f"round {at.round} of {at.rounds}, {at.work}"
        if at.training is None:
            return words, True
        return f"{words}: {progress_text(at.training)}", at.training.steps >= at.training.total

    try:
        found = run_trainings(arguments, train_league, base, out, options, text)
    except KeyboardInterrupt:
        return stopped(
            arguments, f"All finished members and games, and checkpoints of others, are kept in {out}" * out.is_dir()
        )
    _report(found, arguments)
    return 0


def _report(found: League, arguments: argparse.Namespace) -> None:
    """Print the meta-strategy, how exploitable it is, the files, and commands to type next."""
    last = found.rounds[-1]
    print(f"{len(found.plans)} members, {last.steps:,} steps in all, {found.games:,} games between them.")
    print(f"The meta-strategy ({found.solver}):")
    for name, weight in sorted(found.strategy.items(), key=lambda pair: -pair[1]):
        if weight >= 0.005:
            print(f"  {name:24} {weight:6.1%}")
    if last.exact is not None:
        print(f"Exact exploitability: a best response scores {0.5 + last.exact:.1%} against the mixture.")
    if last.response is not None:
        score, low, high = last.response
        print(
            f"The last exploiter, {last.exploiter}, scores {score:.1%} (95 %: {low:.1%} to {high:.1%}) against what it "
            "was trained against."
        )
    print(
        f"Diversity: effective dimension {last.dimension:.2f}, {last.effective_members:.2f} effective members, "
        f"behaviour distance {found.diversity:.1%}."
    )
    about = {
        "report.md": "all of it on one page",
        "payoffs.csv": "the payoff matrix with intervals",
        "rounds.csv": "a row for each round",
        "mixture.json": "who plays how often: the folder is an agent",
        "members": "the run of training of each member",
        "games": "the games between members, with records",
    }
    print_kept(found.out, about)
    mixture, game = shlex.quote(f"league:{found.out}"), typed_game(arguments)
    print_next(
        (f"evaluate {game} --agents {mixture}", "measure the mixture"),
        (f"exploit {game} {mixture} --steps {found.steps}", "look for a hole in it"),
        *leaderboard_command(arguments),
        "the same command with more --rounds goes on",
    )
