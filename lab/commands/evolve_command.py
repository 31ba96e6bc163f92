"""`cellgames evolve`: search for designs by quality-diversity (MAP-Elites), against a growing set of champions.

Functions import torch and pyribs when they need them, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import print_kept, print_next, print_table, recorded, stopped, warn
from cellgames.cli.shared_options import (
    add_command,
    add_folder,
    add_game,
    add_options,
    add_workers,
    folder_of,
    make_game,
    typed_game,
    workers_of,
)
from cellgames.lab.evolution.evolve_options import EvolveOptions
from cellgames.runs.run_folder import RunOptions
from cellgames.utils.errors import InputError
from cellgames.utils.extras import install
from cellgames.utils.progress import StatusLine

if TYPE_CHECKING:
    from cellgames.lab.evolution.evolution import Evolution
    from cellgames.lab.evolution.family import FamilyRun

_TEXT = (
    "Search for designs: arrangements of a team of the Cup, or first turns of Cloth of Gold. An\n"
    "archive keeps the best design of each kind (MAP-Elites), designs are varied and play thousands of games\n"
    "against agents and against all former champions. The folder gets a champion, which is an agent:\n"
    "champion:FOLDER. If a run is stopped, the same command continues it; more --rounds let it grow."
)
_EXAMPLES = (
    "toroidal-cup-small-v0",
    "toroidal-cup-v0 --param pattern=randys --rounds 5 --workers 4",
    "cloth-of-gold-small-v0 --agents greedy --rounds 2",
    "toroidal-cup-small-v0 --agents random --measures spread seam --seed 3 --out results/evolution",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "evolve", "GAME ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_options(command, EvolveOptions.options())
    add_options(command, RunOptions.options())
    add_workers(command, "parts of a batch")
    add_folder(command, "results/evolve/GAME-...")


def _run(arguments: argparse.Namespace) -> int:
    """Evolve, or continue to do so."""
    options = EvolveOptions.from_given(vars(arguments))
    game = make_game(arguments)
    try:
        import ribs  # noqa: F401  # say at once that it is missing
    except ImportError as error:
        raise InputError(cause=f"evolution needs pyribs: {install('evolve')} ({error})") from error
    from cellgames.lab.evolution.evolution import SETTINGS, evolve

    out = folder_of(arguments, "evolve", [f"seed={options.seed}"])
    line, shown = StatusLine(not arguments.quiet), ""

    def report(family: FamilyRun, number: int, total: int) -> None:
        nonlocal shown
        line.show(_progress_text(family, number, total), news=family.space.name != shown)
        shown = family.space.name

    resume = RunOptions.from_given(vars(arguments)).resume
    try:
        with workers_of(arguments) as workers:
            found = evolve(
                game,
                options,
                out,
                resume=resume,
                command=recorded(arguments),
                report=report,
                warn=warn,
                workers=workers,
            )
    except KeyboardInterrupt:
        kept = f"All finished iterations are kept in {out}"
        return stopped(arguments, kept if (out / SETTINGS).exists() else "")
    finally:
        line.end()
    _report(found, arguments)
    return 0


def _progress_text(family: FamilyRun, number: int, total: int) -> str:
    row, options = family.history[-1], family.options
    done = f"round {row['round'] + 1} of {options.rounds}, iteration {row['iteration']} of {family.iterations}"
    return (
        f"{family.space.name} ({number} of {total}): {done}, best {row['best']:.3f}, {row['filled']} elites, "
        f"{family.games:,} games"
    )


def _report(found: Evolution, arguments: argparse.Namespace) -> None:
    """Print the results, the files, and what to do next."""
    from cellgames.arena.play.evaluation import table
    from cellgames.lab.evolution.evolution_report import families_table
    from cellgames.utils.report.model import Table

    whole = families_table(found.families, found.starts)
    space = next(iter(found.families.values())).space
    measures = {measure.name for measure in space.measures}
    columns = [place for place, name in enumerate(whole.columns) if name not in measures]
    brief = Table("", [whole.columns[p] for p in columns], [[row[p] for p in columns] for row in whole.rows])
    print(f"The best design of each family, points in % {space.meeting}:")
    print_table(brief)
    if found.results:
        print("\nThe champion in whole games, scores in %:")
        print_table(table(found.results))
    about = {
        "report.md": "all of it on one page",
        "champion.json": "the champion: an agent",
        "archives.png": "what the archives hold",
        "fitness.png": "fitness by round",
        "games.jsonl": "a record of every game of the champion",
    }
    print()
    print_kept(found.out, about)
    folder = shlex.quote(str(found.out))
    print_next(
        (f"replay {folder}", "check every game"),
        (f"evaluate {typed_game(arguments)} --opening-plies 0 --agents champion:{folder} greedy", ""),
        "the same command with more --rounds: evolves on",
    )
