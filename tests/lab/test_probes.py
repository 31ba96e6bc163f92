"""Linear probes: what they find where it was planted, what they do not find, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from strategy_records import played
from torch import Tensor
from training_runs import SMALL, network_for

import cellgames
from cellgames.agents.networks.networks import FlatNetwork, make_network
from cellgames.agents.networks.saved import save_network
from cellgames.arena.records.record_lines import append
from cellgames.arena.records.replays import replay
from cellgames.cli.main import main
from cellgames.lab import Probing, fit_probe, probe_networks
from cellgames.lab.interventions.probing import layers_of, targets_of

TORUS = cellgames.make("torus-v0", size=3)
GRID = cellgames.make("grid-adaptation-small-v0", rounds=2)
CLOTH = cellgames.make("cloth-of-gold-v0", height=16, width=16, generations=2, max_rounds=3)
RECORDS = played(TORUS, ["random"], 90)


def test_a_probe_finds_what_is_linear_and_nothing_in_noise() -> None:
    chance = np.random.default_rng(0)
    features, groups = chance.normal(size=(900, 6)), np.arange(900)
    labels = (2 * features[:, 1] - features[:, 4] > 0).astype(np.int64)
    train = groups < 600
    probe = fit_probe(features[train], labels[train], groups[train], 2)
    assert (probe.classes(features[~train]) == labels[~train]).mean() > 0.95
    noise = chance.integers(0, 2, 900)
    probe = fit_probe(features[train], noise[train], groups[train], 2)
    assert 0.4 < (probe.classes(features[~train]) == noise[~train]).mean() < 0.6


def test_layers_end_in_what_the_heads_see() -> None:
    """The last layer of the trunk is what its network computes, and each one before is the same network cut short."""
    network: Any = network_for(TORUS, 1, "policy")
    state: Any = replay(RECORDS[0])[4]
    seen = TORUS.observe(state, 0)
    layers = layers_of(network, seen)
    assert list(layers) == ["observation", *(f"layer {number}" for number in range(1, SMALL.layers + 2))]
    kept: list[Tensor] = []
    handle = network.trunk.register_forward_hook(lambda _, __, output: kept.append(output))
    with torch.no_grad():
        network.forward(seen)
    handle.remove()
    pooled = torch.cat((kept[0].mean((2, 3)), kept[0].amax((2, 3))), 1)
    assert layers[f"layer {SMALL.layers + 1}"] == pytest.approx(pooled.numpy(), abs=1e-6)
    flat = layers_of(FlatNetwork(TORUS, SMALL), seen)
    assert list(flat) == ["observation", "layer 1", "layer 2"]
    assert flat["layer 1"].shape == (1, 4 * SMALL.channels)


def test_targets_are_what_the_record_says() -> None:
    for record in RECORDS[:5]:
        states: Any = replay(record)
        names = {target.name: target for target in targets_of(TORUS)}
        winner = record.result.outcome.index("win")
        empty = names["extra stones for a helix"].label(TORUS, states, 0, 0)
        assert empty == 3, "on the empty board a straight path needs 3 stones, a helix 6"
        assert names["outcome"].label(TORUS, states, 2, winner) == 2
        last = len(states) - 2
        assert names["own stones to win"].label(TORUS, states, last, winner) == 0, "one stone is needed"
    (record,) = played(GRID, ["random"], 1)
    state: Any = replay(record)[0]
    following, near, own, _ = targets_of(GRID)
    held = state.sequence[0, : GRID.players]
    held.copy_(torch.tensor([0b000, 0b101, 0b100, 0b001]))
    assert [own.label(GRID, [state], 0, seat) for seat in range(4)] == held.tolist()
    assert [following.label(GRID, [state], 0, seat) for seat in range(4)] == [0b101, 0b001, 0b101, 0b001]
    assert [near.label(GRID, [state], 0, seat) for seat in range(4)] == [2, 2, 2, 2]
    held[3] = 0b111
    assert [near.label(GRID, [state], 0, seat) for seat in range(4)] == [1, 2, 2, 1]


def test_territory_is_that_of_two_rounds_ahead() -> None:
    (record,) = played(CLOTH, ["random"], 1)
    states: Any = replay(record)
    ahead = targets_of(CLOTH)[0]
    if int(states[-1].round) >= 2:
        later = next(state for state in states if int(state.round) >= 2)
        own, other = CLOTH.territories(later)[0].sum((1, 2)).tolist()
        assert ahead.label(CLOTH, states, 0, 0) == int(own > other)
    assert ahead.label(CLOTH, states, len(states) - 1, 0) == -1, "the record ends before"


@pytest.fixture(scope="module")
def probing() -> Probing:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        networks = {name: make_network(TORUS, SMALL) for name in ("first", "second")}
    return probe_networks(TORUS, networks, RECORDS, positions=180)


def test_every_network_layer_and_quantity_has_a_result(probing: Probing) -> None:
    assert len(probing.results) == 2 * 3 * 4
    for result in probing.results:
        assert 0 <= result.low <= result.accuracy <= result.high <= 1
    observation = [probing.result(name, "observation", "outcome") for name in probing.networks]
    assert observation[0].accuracy == observation[1].accuracy == observation[0].untrained
    near = probing.result("first", "layer 2", "own stones to win")
    assert near.accuracy > near.shuffled, "how many stones there are tells much of how many are needed"


@pytest.mark.slow
def test_the_command_probes_all_snapshots_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = tmp_path / "run" / "pool"
    pool.mkdir(parents=True)
    for steps in (0, 100):
        network = network_for(TORUS, steps, "policy")
        save_network(pool / f"{steps:012d}.safetensors", network, made={"steps": steps})
    append(tmp_path / "games.jsonl", RECORDS)
    assert main(["probe", "run", "--records", "games.jsonl", "--positions", "180", "--quiet"]) == 0
    assert "own stones to win" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "results" / "probe" / "run").iterdir()}
    assert names == {"report.md", "report.json", "probes.csv"} | {
        f"probes_by_{of}.{kind}" for of in ("layer", "step") for kind in ("png", "svg")
    }
    for words, expected in (
        (["nothing"], "expected a folder of `cellgames train`"),
        (["run", "--games", "0"], "--games: expected at least 1"),
        (["run", "--games", "4", "--records", "games.jsonl"], "--games: it says how many to play"),
        (["run", "--games", "4", "--quiet"], "expected positions of at least 60 games"),
    ):
        assert main(["probe", *words]) == 2
        assert expected in capsys.readouterr().err
