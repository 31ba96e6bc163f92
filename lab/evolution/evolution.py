"""`cellgames evolve`: designs of all families of a game, a champion made of the best ones, and a report.

The folder holds the settings, the state of every family after each iteration, the opponents' arrangements, and in the
end the champion, its games and the report. A run that is killed at any moment goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from cellgames.agents.networks.agent_files import CHAMPION_FILE, to_text
from cellgames.arena.play.evaluation import evaluate, play_evaluation
from cellgames.arena.play.match import load_two_player_agents
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Record, plain, to_lines
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.runs.run_folder import RunFolder, RunKind, derive_short, reading
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.report.model import write_report
from cellgames.utils.version import __version__

from .cloth_space import ClothSpace
from .cup_space import CupOpponents, CupSpace, cup_spaces
from .design_space import DesignSpace
from .evolve_options import EvolveOptions
from .family import FamilyRun, chosen_measures

SETTINGS, GAMES = "settings.json", "games.jsonl"
EVOLVED = "evolved"
"""The name of the champion in records."""

_FAMILIES, _OPPONENTS = "families", "opponents"
_EVOLUTION = RunKind(
    "evolution",
    SETTINGS,
    (_FAMILIES, _OPPONENTS, GAMES, CHAMPION_FILE),
    grows=("rounds",),
    free=("champions", "games", "starts"),
)


@dataclass(frozen=True)
class Evolution:
    """A run that is over.

    Attributes:
        out: its folder.
        families: by name.
        results: a row for each opponent of the champion, as `evaluation.evaluate` returns them, with its name.
        starts: points against published arrangements by family, and how many games these are.
        files: files that were written at the end.
    """

    out: Path
    families: Mapping[str, FamilyRun]
    results: Sequence[Mapping[str, Any]]
    starts: Mapping[str, tuple[float, int]]
    files: Sequence[Path]


def evolve(
    game: Game,
    options: EvolveOptions,
    out: PathLike,
    *,
    resume: bool = True,
    command: str = "",
    report: Callable[[FamilyRun, int, int], None] = lambda family, number, total: None,
    warn: Callable[[str], None] = lambda message: None,
    workers: Executor | None = None,
) -> Evolution:
    """Evolve designs for a game, or continue to do so.

    Args:
        game: the Toroidal Cup with two teams, or Cloth of Gold.
        options: options of the run; more rounds let a run grow.
        out: its folder.
        resume: False deletes the run in the folder first.
        command: the command line, for the report.
        report: called after each iteration with the family, its number and how many there are.
        warn: gets a line for each thing left out.
        workers: play the games of designs, such as `runs.workers.processes(8)`; None for this
            process. The files are the same.

    Raises:
        ValueError: a game that cannot be evolved, or options that make no sense.
        RunError: the folder holds something else, or a run with other options.
        WorkerError: a worker ended while it played; all iterations before are kept.
        ImportError: pyribs is missing.
    """
    spaces = _spaces(game)
    chosen_measures(spaces[0], options.measures)
    for agent in options.agents:
        load_two_player_agents(game, [f"one={agent}", "other=random"])  # or say at once what is wrong
    published = {} if options.starts is None else _published(Path(options.starts), spaces)
    settings = {
        "cellgames": __version__,
        "game": game.id,
        "parameters": plain(game.parameters),
        **{known.name: plain({"": getattr(options, known.name)})[""] for known in options.options()},
    }
    out = Path(out)
    with RunFolder(out, _EVOLUTION) as run:
        run.begin(settings, resume=resume)
        run.write(settings)
        for name in (_FAMILIES, _OPPONENTS):
            (out / name).mkdir(exist_ok=True)
        families = {}
        for number, space in enumerate(spaces, 1):
            family = FamilyRun(space, options, _pools(out, space, options), workers)
            for _ in _continued(out, family):
                report(family, number, len(spaces))
            families[space.name] = family
        return _finish(out, game, options, families, published, command, warn)


def _spaces(game: Game) -> Sequence[DesignSpace[Any]]:
    if isinstance(game, ToroidalCup):
        return cup_spaces(game)
    if isinstance(game, ClothOfGold):
        return [ClothSpace(game)]
    raise InputError("game", "the Toroidal Cup or Cloth of Gold, for evolution", game.id)


def _pools(out: Path, space: DesignSpace[Any], options: EvolveOptions) -> dict[str, Any]:
    """Return the opponents of each agent, from the folder if they are there."""
    pools = {}
    for number, agent in enumerate(options.agents):
        path = out / _OPPONENTS / f"{space.name}-{number}.npz"
        if path.exists():
            with reading(path), np.load(path) as saved:
                pools[agent] = space.opponents(**saved)
            continue
        pools[agent] = space.pool(agent, options.pool, derive_short(options.seed, space.name, agent))
        content = BytesIO()
        np.savez_compressed(content, **vars(pools[agent]))
        write_atomic(path, content.getvalue())
    return pools


def _continued(out: Path, family: FamilyRun) -> Iterator[None]:
    """Evolve a family from where its file has it to the end; the file is written after each iteration."""
    path = out / _FAMILIES / f"{family.space.name}.json"
    if path.exists():
        with reading(path):
            family.restore(json.loads(path.read_bytes()))
    for _ in family.run():
        write_atomic(path, json.dumps(family.to_data()))
        yield


def _finish(
    out: Path,
    game: Game,
    options: EvolveOptions,
    families: Mapping[str, FamilyRun],
    published: Mapping[str, CupOpponents],
    command: str,
    warn: Callable[[str], None],
) -> Evolution:
    """Write the champion, let it play, and write the report."""
    from .evolution_report import evolution_report

    designs = [
        {**family.space.to_data(np.array(one["design"])), "weight": one["weight"]}
        for family in families.values()
        for one in family.mixture
    ]
    write_atomic(out / CHAMPION_FILE, to_text(game.id, plain(game.parameters), designs))
    results, records = _measured(game, options, out / CHAMPION_FILE)
    write_atomic(out / GAMES, to_lines(records))
    against = {name: _against_starts(families[name], opponents) for name, opponents in published.items()}
    written = write_report(out, evolution_report(game, options, families, results, against, command), warn)
    return Evolution(out, families, results, against, [*written, out / CHAMPION_FILE, out / GAMES])


def _measured(game: Game, options: EvolveOptions, champion: Path) -> tuple[list[Mapping[str, Any]], list[Record]]:
    """Let the champion play whole games against each of the opponents."""
    results: list[Mapping[str, Any]] = []
    records: list[Record] = []
    if not options.games:
        return results, records
    match = MatchOptions(games=options.games, seed=options.seed, opening_plies=0)
    for agent in options.agents:
        both = load_two_player_agents(game, [f"{EVOLVED}=champion:{champion}", agent])
        played = play_evaluation(game, both, match)
        results.append({"against": agent, **evaluate(game, played, EVOLVED)})
        records += played
    return results, records


def _published(folder: Path, spaces: Sequence[DesignSpace[Any]]) -> dict[str, CupOpponents]:
    """Return published arrangements of the patterns, by family, from the file of recorded games in a folder."""
    from .cup_space import read_starts

    cups = [space for space in spaces if isinstance(space, CupSpace)]
    if not cups:
        raise InputError("starts", "nothing, for a game other than the Toroidal Cup", folder)
    found = {space.name: read_starts(folder, space) for space in cups}
    return {name: opponents for name, opponents in found.items() if len(opponents)}


def _against_starts(family: FamilyRun, opponents: CupOpponents) -> tuple[float, int]:
    """Return the points of a family's best design against published arrangements."""
    design = np.array([one["design"] for one in family.mixture][:1])
    return float(family.space.play(design, opponents).points.mean()), len(opponents)
