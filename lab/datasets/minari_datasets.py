"""Recorded games as a dataset of Minari, for offline learning: `pip install "cellgames[minari]"`."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cellgames.arena.records.record_lines import Record
from cellgames.envs.adapters.pettingzoo_common import action_space_of, observation_space_of
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike

from .decision_tables import POLICY, Decisions, Written, decisions, finished

_ID = re.compile(r"[A-Za-z0-9_-]+-v[0-9]+")


def check_minari_folder(folder: PathLike) -> None:
    """Raise a `ValueError` unless a dataset can be written there, an `ImportError` without Minari."""
    _minari()
    path = Path(folder)
    if _ID.fullmatch(path.name) is None:
        raise InputError("path", "a folder named as Minari names datasets, such as torus-v0", shown(path.name))
    if path.exists():
        raise InputError(path, cause="it is there already; name another folder, such as one with the next version")


def export_minari(
    records: Sequence[Record], folder: PathLike, *, played: Callable[[int], None] = lambda games: None
) -> Written:
    """Write recorded games as a Minari dataset, which appears whole or not at all.

    Each seat that decides in a game has an episode. Its observations are those of the PettingZoo environment, with
    `observation` and `action_mask`; the last one is of the end. `infos` have `turn` and `forced`, and `policy` if a
    record has policies. The metadata of an episode has `game`, `player`, `agent` and `result`. Forfeited games are left
    out.

    Args:
        records: records of one game with the same parameters; they are played again.
        folder: its name is the dataset's, such as `torus-v0`. `minari.load_dataset` finds it if the environment
            variable `MINARI_DATASETS_PATH` names the folder above.
        played: called with the number of games just written.

    Raises:
        ValueError: no games that came to their end, or different ones; a folder that is there already, or has no name
            for a dataset.
        ReplayError: a record does not reproduce.
        ImportError: Minari is missing.
    """
    check_minari_folder(folder)
    buffer, storage_of, version = _minari()
    folder, (game, numbers) = Path(folder).resolve(), finished(records)  # Minari joins relative paths twice
    agents = sorted({agent for number in numbers for agent in records[number].agents})
    rows, about = 0, list[dict[str, Any]]()
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        spaces = {"observation_space": observation_space_of(game), "action_space": action_space_of(game)}
        (part / "data").mkdir()
        storage = storage_of.new(part / "data", **spaces, data_format="hdf5", jpeg_encoding=False)
        storage.update_metadata(
            {
                "dataset_id": folder.name,
                "minari_version": version,
                "algorithm_name": ", ".join(agents),
                "description": f"{len(numbers)} games of {game.info.title} ({game.id}) by cellgames "
                f"{records[0].version}, parameters {dict(game.parameters)}, an episode for each seat",
            }
        )
        for found in decisions(game, records, numbers):
            rows += len(found.columns["game"])
            storage.update_episodes(buffer(**episode) for episode in _episodes(game, records, found, about))
            played(len({*found.columns["game"].tolist()}))
        storage.update_episode_metadata(about)
        part.chmod(0o755)  # `mkdtemp` makes it for its owner alone
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return Written(len(numbers), rows, len(records) - len(numbers))


def _minari() -> tuple[Any, Any, str]:
    """Return Minari's episodes and storage, and its version; the `ImportError` names the extra."""
    try:
        import h5py  # noqa: F401
        import minari
        from minari.data_collector import EpisodeBuffer
        from minari.dataset.minari_storage import MinariStorage
    except ImportError as error:
        raise ImportError(f'Minari is missing ({error}): pip install "cellgames[minari]"') from None
    return EpisodeBuffer, MinariStorage, minari.__version__


def _episodes(
    game: Game, records: Sequence[Record], found: Decisions, about: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the episodes of some games, and add what is known of each to `about`."""
    columns, shape = found.columns, game.info.observation.shape
    for number, seat in sorted({*zip(columns["game"].tolist(), columns["seat"].tolist(), strict=True)}):
        rows = ((columns["game"] == number) & (columns["seat"] == seat)).nonzero()[0]
        record = records[number]
        seen = columns["observation"][rows].reshape(-1, *shape)
        masks = np.pad(columns["mask"][rows].view(np.int8), ((0, 1), (0, 0)))
        parts = np.split(masks, np.cumsum(game.info.action_nvec)[:-1], axis=1)
        actions = columns["action"][rows].astype(np.int64)
        infos: dict[str, Any] = {
            "turn": np.append(columns["turn"][rows], np.int32(len(record.moves))),
            "forced": np.append(columns["forced"][rows], False),
        }
        if POLICY in columns:
            infos[POLICY] = np.pad(columns[POLICY][rows], ((0, 1), (0, 0)))
        last = columns["last"][rows]
        about.append(
            {
                "game": number,
                "player": game.info.players[seat],
                "agent": record.agents[seat],
                "result": int(columns["result"][rows[0]]),
            }
        )
        yield {
            "seed": record.seed,
            "observations": {
                "observation": np.concatenate((seen, found.finals[number][seat][None])),
                "action_mask": parts[0] if len(parts) == 1 else tuple(parts),
            },
            "actions": actions[:, 0] if actions.shape[1] == 1 else actions,
            "rewards": columns["reward"][rows],
            "terminations": last & (not record.result.truncated),
            "truncations": last & record.result.truncated,
            "infos": infos,
        }
