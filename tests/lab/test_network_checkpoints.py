"""The networks that a run of training has kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from refusals import fails
from training_runs import network_for

import cellgames
from cellgames.agents.networks.saved import save_network
from cellgames.envs.core import Game
from cellgames.lab.interventions import network_checkpoints as kept
from cellgames.utils.errors import InputError

TORUS: Game = cellgames.make("torus-v0", size=3)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose network changed from step 0 to 100, then no more; the last one is kept twice, as runs do."""
    folder = tmp_path / "run"
    (folder / "pool").mkdir(parents=True)
    for steps, seed in ((0, 1), (100, 2), (200, 2)):
        save_network(folder / "pool" / f"{steps:012d}.safetensors", network_for(TORUS, seed), made={"steps": steps})
    save_network(folder / "agent.safetensors", network_for(TORUS, 2), made={"steps": 200, "seed": 0})
    return folder


def test_checkpoints_are_found_in_the_order_of_their_steps_and_once(run: Path) -> None:
    found = kept.checkpoints(run)
    assert [(checkpoint.steps, checkpoint.name) for checkpoint in found] == [
        (0, "step 0"),
        (100, "step 100"),
        (200, "step 200"),
    ]
    assert found[-1].path.name == "agent.safetensors"
    assert kept.game_of_run(found) == TORUS


@pytest.mark.parametrize(
    ("spoil", "got"),
    [
        (lambda folder: folder / "nowhere", "none"),
        (lambda folder: folder / "pool", "0"),
        (lambda folder: _with(folder, TORUS, {}), "None"),
    ],
)
def test_what_is_no_run_is_refused(run: Path, spoil: Any, got: str) -> None:
    with fails(InputError, got=got):
        kept.checkpoints(spoil(run))


def _with(folder: Path, game: Game, made: dict[str, Any]) -> Path:
    save_network(folder / "pool" / "000000000300.safetensors", network_for(game), made=made)
    return folder
