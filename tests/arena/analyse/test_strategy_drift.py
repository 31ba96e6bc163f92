"""From checkpoint to checkpoint: what a run keeps, and how its play changed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from strategy_records import played
from training_runs import network_for

import cellgames
from cellgames.agents import load as load_agent
from cellgames.agents.networks.saved import save_network
from cellgames.arena.analyse import network_checkpoints as kept
from cellgames.arena.analyse.drift import drift_section
from cellgames.envs.core import Game
from cellgames.utils.report.files import png

TORUS: Game = cellgames.make("torus-v0", size=3)
CLOTH = cellgames.make("cloth-of-gold-v0", height=16, width=16, generations=2, max_rounds=2)
GRID = cellgames.make("grid-adaptation-small-v0", rounds=2)
CUP = cellgames.make("toroidal-cup-small-v0", max_generations=5)


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


def test_a_run_of_training_keeps_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from functools import partial

    from training_runs import block_extras, tiny

    from cellgames.training import train

    block_extras(partial(monkeypatch.setitem, sys.modules))
    train(tiny(), tmp_path / "run")
    found = kept.checkpoints(tmp_path / "run")
    assert len(found) > 2
    assert found[0].steps == 0
    section = drift_section(kept.game_of_run(found), found, {}, positions=10)
    assert f"{len(found)} networks of the run, from step 0 to {found[-1].steps}" in section.text


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: folder / "nowhere", "expected the folder of a run of `cellgames train`, found none"),
        (lambda folder: folder / "pool", "at two moments or more, in pool/ and agent.safetensors, found 0"),
        (
            lambda folder: _with(folder, TORUS, {}),
            "expected weights that say after how many steps they were kept, got None",
        ),
    ],
)
def test_what_is_no_run_is_refused(run: Path, spoil: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kept.checkpoints(spoil(run))


def _with(folder: Path, game: Game, made: dict[str, Any]) -> Path:
    save_network(folder / "pool" / "000000000300.safetensors", network_for(game), made=made)
    return folder


def test_distance_is_nothing_where_the_network_did_not_change(run: Path) -> None:
    found = kept.checkpoints(run)
    records = played(TORUS, ["random"], 6)
    section = drift_section(TORUS, found, {"greedy": load_agent("greedy", TORUS)}, records, positions=40)
    rows = section.data["rows"]
    assert [row["from the one before %"] for row in rows][::2] == [None, 0.0]
    assert rows[1]["from the one before %"] > 1
    assert rows[0]["from the last %"] == rows[1]["from the first %"] == rows[2]["from the first %"]
    assert rows[1]["entropy, nats"] == rows[2]["entropy, nats"]
    assert 0 < rows[0]["from greedy %"] <= 100
    assert section.data["positions"] == 40
    assert all(sum(begun.values()) == 256 for begun in section.data["openings"])
    assert section.data["openings"][1] == section.data["openings"][2] != section.data["openings"][0]
    assert "Play changed most from step 0 to 100" in section.text


@pytest.mark.parametrize(
    ("game", "each"), [(TORUS, 1), (CLOTH, 1), (GRID, 4), (CUP, 2)], ids=lambda value: getattr(value, "id", "")
)
def test_first_steps_of_every_game_are_named(game: Game, each: int) -> None:
    found = kept.first_steps(game, load_agent("random", game), 8, 0)
    assert found.total() == 8 * each
    assert all(name for name in found)
    assert found == kept.first_steps(game, load_agent("random", game), 8, 0)


def test_first_steps_of_torus_are_up_to_symmetry() -> None:
    found = kept.first_steps(TORUS, load_agent("random", TORUS), 200, 0)
    assert {name.partition(",")[0] for name in found} == {"a1", "a1+"}
    half = sum(times for name, times in found.items() if name.startswith("a1,")) / 200
    assert abs(half - 0.5) < 4 * math.sqrt(0.25 / 200)


def test_the_plots_can_be_drawn(run: Path) -> None:
    pytest.importorskip("matplotlib")
    section = drift_section(TORUS, kept.checkpoints(run), {}, positions=12)
    assert [png(plot)[:4] for plot in section.plots] == [b"\x89PNG"] * 3


@pytest.mark.parametrize(
    ("game", "kind"),
    [(GRID, "policy"), (CUP, "policy"), (CLOTH, "policy"), (CLOTH, "turns")],
    ids=lambda value: getattr(value, "id", value),
)
def test_runs_of_every_game_are_looked_at(
    game: Game, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellgames.arena.analyse.drift._STARTS", 8)
    (tmp_path / "pool").mkdir()
    for steps in (0, 10):
        path = tmp_path / "pool" / f"{steps:012d}.safetensors"
        save_network(path, network_for(game, steps, kind), made={"steps": steps})
    records = played(game, ["random"], 2)
    section = drift_section(game, kept.checkpoints(tmp_path), {}, records, positions=6, draws=2)
    assert section.data["steps"] == [0, 10]
    assert len(section.tables[0].rows) == 2
