"""The networks that a training run has kept.

A run keeps snapshots in `pool/`, evenly spread over its steps, and its last network in `agent.safetensors`, as
`agents.saved` writes them (`cellgames train --snapshot-every` and `--pool-limit` say how many).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cellgames.agents.networks.agent_files import WEIGHTS_FILE, WEIGHTS_SUFFIX
from cellgames.agents.networks.saved import read_about
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, shown

POOL = "pool"


@dataclass(frozen=True)
class Checkpoint:
    """A network that a run has kept.

    Attributes:
        steps: Number of steps that it had learned from.
        path: File of its weights.
    """

    steps: int
    path: Path

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"step {self.steps:,}"


def checkpoints(folder: Path) -> list[Checkpoint]:
    """Return the networks that a run has kept, the oldest first.

    Raises:
        ValueError: No run's folder, or fewer than two networks in it, or weights that cannot be read.
    """
    if not folder.is_dir():
        raise InputError(folder, "the folder of a run of `cellgames train`", "none")
    paths = sorted((folder / POOL).glob(f"*{WEIGHTS_SUFFIX}"))
    paths += [folder / WEIGHTS_FILE] if (folder / WEIGHTS_FILE).is_file() else []
    found: dict[int, Checkpoint] = {}
    for path in paths:
        steps = read_about(path)["made"].get("steps")
        if not isinstance(steps, int):
            raise InputError(path, "weights that say after how many steps they were kept", shown(steps))
        found[steps] = Checkpoint(steps, path)  # the last network is also the last snapshot
    if len(found) < 2:
        expected = f"the networks of a run of `cellgames train` at two moments or more, in {POOL}/ and {WEIGHTS_FILE}"
        raise InputError(folder, expected, len(found))
    return [found[steps] for steps in sorted(found)]


def game_of_run(found: Sequence[Checkpoint]) -> Game:
    """Return the game that the networks learned.

    Raises:
        ValueError: Not the same for all.
    """
    abouts = [read_about(checkpoint.path) for checkpoint in found]
    games = [registry.make(about["game"], **about["parameters"]) for about in abouts]
    if any(game != games[0] for game in games):
        raise InputError("folder", "networks of one game", f"{games[0]} and others in {found[0].path.parent}")
    return games[0]
