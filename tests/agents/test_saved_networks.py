"""Networks as files, and agents out of them: what is saved comes back, and what does not fit is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from every_game import GAMES, generator, midway
from refusals import fails, refused
from slow import slow_except
from torch import Tensor
from training_runs import SMALL, network_for

import cellgames
from cellgames import InputError
from cellgames.agents import acting, load, play
from cellgames.agents.networks import saved
from cellgames.agents.networks.networks import FlatNetwork, Network, Size, make_network
from cellgames.agents.networks.saved import FORMAT, load_network, read_about, save_network
from cellgames.envs.core import Game, seeds
from cellgames.envs.registry import plugin_of
from cellgames.training.selfplay.learner import start_weights

TORUS = cellgames.make("torus-v0", size=3)
SUITE = {id: game for id, game in GAMES.items() if id in cellgames.games()}
NETWORKS = {
    f"{id}-{kind}": (game, kind)
    for id, game in SUITE.items()
    for kind in {FlatNetwork.kind: None, **plugin_of(game).networks}
}


def judged(network: Network, game: Game) -> tuple[Tensor, ...]:
    """Logits and values in some positions."""
    seen = game.observe(midway(game), 0)
    with torch.no_grad():
        logits, value, _ = network.forward(seen)
    return logits, value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agent.safetensors"
    save_network(path, network_for(TORUS), made={"steps": 7})
    return path


@pytest.mark.parametrize(
    ("game", "kind"), slow_except([name for name in NETWORKS if "-small-" in name], NETWORKS.values(), NETWORKS)
)
def test_what_is_saved_comes_back_and_plays_its_game_by_its_path(game: Game, kind: str, tmp_path: Path) -> None:
    network = network_for(game, kind=kind)
    path = tmp_path / "w.safetensors"
    save_network(path, network, sample=True, made={"seed": 3})
    torch.manual_seed(5)
    before = torch.get_rng_state()
    back, about = load_network(path)
    assert torch.equal(torch.get_rng_state(), before)
    assert back.game == game
    assert back.kind == kind
    assert back.size == SMALL
    assert (about["sample"], about["made"], about["game"]) == (True, {"seed": 3}, game.id)
    for one, other in zip(judged(back, game), judged(network, game), strict=True):
        assert torch.equal(one, other)
    assert [child.name for child in tmp_path.iterdir()] == ["w.safetensors"]
    agent = load(path, game)
    assert agent.name == acting(agent, game).name == str(path)
    seats = torch.tensor([[0] * game.info.num_players, [1, *[0] * (game.info.num_players - 1)]])
    played = play(game, [agent, load("random", game)], seats, seeds(0, 2), [generator(0), generator(1)])
    assert played.state.done.all()


def test_weights_of_one_size_serve_another_where_the_network_does(file: Path) -> None:
    bigger = cellgames.make("torus-v0", size=5)
    network, about = load_network(file, bigger)
    assert network.game == bigger
    assert about["parameters"] == {"size": 3}
    agent = load(file, bigger)
    played = play(bigger, [agent], torch.zeros((3, 2), dtype=torch.int64), seeds(1, 3), [generator()])
    assert played.state.done.all()


def about_changed(path: Path, **changes: Any) -> None:
    weights, about = safetensors.torch.load_file(path), {**read_about(path), **changes}
    safetensors.torch.save_file(weights, path, metadata={"about": json.dumps(about)})


def test_weights_for_another_game_are_refused(file: Path, tmp_path: Path) -> None:
    cup = cellgames.make("toroidal-cup-small-v0")
    with refused("game"):
        load(file, cup)
    flat = tmp_path / "flat.safetensors"
    save_network(flat, FlatNetwork(TORUS, SMALL))
    about_changed(flat)
    with refused(str(flat), "others"):
        load(flat, TORUS)


def test_files_that_hold_no_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    with refused(str(path), "none"):
        load(path)
    safetensors.torch.save_file({"a": torch.zeros(1)}, path)
    with refused(str(path), "none", cause="were they saved by cellgames?"):
        load(path)
    about = {"format": FORMAT + 1, "cellgames": "9.9"}
    safetensors.torch.save_file({"a": torch.zeros(1)}, path, metadata={"about": json.dumps(about)})
    with refused(str(path), f"{FORMAT + 1} of cellgames 9.9"):
        load(path)


def test_a_digest_tells_weights_that_changed_and_old_files_have_none(file: Path) -> None:
    with safetensors.safe_open(file, "pt") as opened:
        written = json.loads(opened.metadata()["about"])
    digest = written.pop("sha256")
    assert written == read_about(file)
    about_changed(file)
    assert load_network(file).about == written
    about_changed(file, sha256=digest)
    assert load_network(file).about == written
    about_changed(file, sha256=digest, sample=True)
    with refused(str(file), "others"):
        read_about(file)
    save_network(file, network_for(TORUS), made={"steps": 12})
    about_changed(file, sha257=digest)
    with refused(str(file), "'sha257'"):
        load(file)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"game": 7}, {"expected": "game beside the weights, a str", "got": "7"}),
        ({"game": "tours-v0"}, {"parameter": "game", "got": "'tours-v0'"}),
        ({"parameters": {"size": "3"}}, {"parameter": "size", "got": "'3'"}),
        ({"size": {"channels": 4, "layers": 1, "heads": 2}}, {"parameter": ""}),
        ({"size": {"channels": 0, "layers": 1}}, {"parameter": "channels", "got": "0"}),
        ({"kind": "oracle"}, {"expected": "a game with a network of kind 'oracle'"}),
    ],
)
def test_files_for_what_there_is_not_are_refused_by_name(
    changes: dict[str, Any], fields: dict[str, str], file: Path
) -> None:
    about_changed(file, **changes)
    with fails(InputError, **fields) as caught:
        load_network(file)
    assert str(caught.value).startswith(str(file))


def test_the_folder_of_a_run_is_its_agent_unless_it_has_the_name_of_one(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = load(file.parent, TORUS)
    assert agent.name == str(file.parent)
    assert isinstance(agent, saved.WeightsAgent)
    monkeypatch.chdir(tmp_path)
    Path("random").mkdir()
    save_network(Path("random/agent.safetensors"), network_for(TORUS))
    assert not isinstance(load("random"), saved.WeightsAgent)
    assert isinstance(load("./random"), saved.WeightsAgent)
    Path("empty").mkdir()
    with refused("empty/agent.safetensors", "none"):
        load("empty")


def test_layers_that_are_new_change_little_at_first(file: Path) -> None:
    deeper = make_network(TORUS, Size(4, 3))
    start_weights(deeper, file)
    for found, expected in zip(judged(deeper, TORUS), judged(network_for(TORUS), TORUS), strict=True):
        assert torch.allclose(found, expected, atol=0.02)
    new = [
        value
        for name, value in deeper.state_dict().items()
        if name.startswith(("trunk.layers.1.w", "trunk.layers.2.w"))
    ]
    assert len(new) == 2
    assert all(value.any() for value in new)  # so that they learn


def test_a_learner_starts_only_from_weights_of_its_own_kind_and_size(file: Path) -> None:
    network = network_for(TORUS, seed=1)
    start_weights(network, file)
    assert torch.equal(judged(network, TORUS)[0], judged(network_for(TORUS), TORUS)[0])
    with refused(str(file), "4 and 1"):
        start_weights(make_network(TORUS, Size(3, 1)), file)
    save_network(file, make_network(TORUS, Size(4, 2)))
    with refused(str(file), "4 and 2"):
        start_weights(network, file)
    cloth = SUITE["cloth-of-gold-v0"]
    save_network(file, network_for(cloth, kind="turns"))
    with refused(str(file), "'turns'"):
        start_weights(network_for(cloth), file)


def test_trained_takes_the_weights_that_learned_the_game_or_else_some_that_serve_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "WEIGHTS", tmp_path)
    for size in (5, 3):
        save_network(tmp_path / f"torus-{size}.safetensors", network_for(cellgames.make("torus-v0", size=size)))
    cup = cellgames.make("toroidal-cup-small-v0")
    save_network(tmp_path / "a-cup.safetensors", network_for(cup))
    assert saved.shipped(TORUS).name == "torus-3.safetensors"
    assert saved.shipped(cellgames.make("torus-small-v0")).name == "torus-5.safetensors"
    assert saved.shipped(cellgames.make("torus-v0", size=4)).name == "torus-5.safetensors"  # the larger of two
    assert saved.shipped(cup).name == "a-cup.safetensors"
