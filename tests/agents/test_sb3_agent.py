"""Models of Stable-Baselines3 as agents: what they play, where, and what an archive cannot do."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from refusals import refused
from torch import Tensor, nn

import cellgames
from cellgames.agents import SB3Agent, load
from cellgames.agents.loading import digest, identity
from cellgames.agents.networks.sb3_agent import from_model_file
from cellgames.arena.records.record_lines import read_records
from cellgames.cli.main import main
from cellgames.envs import seeds
from cellgames.web.catalog import load_agent, offered
from cellgames.web.record_library import Library

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

from cellgames.envs.adapters import SeatVecEnv

GAME = cellgames.make("torus-v0", size=2)  # 8 cells
GRID = cellgames.make("grid-adaptation-small-v0", rounds=2, flip_rounds=(1,))  # several components
TINY: dict[str, Any] = {"net_arch": [16]}
SHORT: dict[str, Any] = {"n_steps": 8, "batch_size": 16, "n_epochs": 1}
RELU = {**TINY, "activation_fn": nn.ReLU, "optimizer_class": torch.optim.SGD}

MAKERS: dict[str, Callable[[], Any]] = {
    "ppo": lambda: PPO("MlpPolicy", SeatVecEnv(GAME, 4, seed=1), seed=0, policy_kwargs=RELU, **SHORT),
    "a2c": lambda: A2C("MlpPolicy", SeatVecEnv(GAME, 4, seed=1), seed=0, policy_kwargs=TINY),
    "dqn": lambda: DQN(
        "MlpPolicy", SeatVecEnv(GAME, 4, seed=1), seed=0, policy_kwargs=TINY, buffer_size=100, learning_starts=8
    ),
    "maskable": lambda: MaskablePPO("MlpPolicy", SeatVecEnv(GAME, 4, seed=1), seed=0, policy_kwargs=TINY, **SHORT),
    "grid": lambda: MaskablePPO("MlpPolicy", SeatVecEnv(GRID, 2, seed=1), seed=0, policy_kwargs=TINY, **SHORT),
}
FOR_GAME = [name for name in MAKERS if name != "grid"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Models that have learned a little, and `folder`, which has an archive of each."""
    folder = tmp_path_factory.mktemp("models")
    found: dict[str, Any] = {"folder": folder}
    for name, make in MAKERS.items():
        found[name] = make().learn(32)
        found[name].save(folder / f"{name}.zip")
    return found


@pytest.fixture
def folder(models: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with the archives."""
    monkeypatch.chdir(tmp_path)
    for name in MAKERS:
        (tmp_path / f"{name}.zip").write_bytes((models["folder"] / f"{name}.zip").read_bytes())
    return tmp_path


def positions(game: Any = GAME, count: int = 40) -> tuple[Tensor, Tensor, Tensor]:
    """Observations, masks and environments of games that differ; of player 0."""
    state, generator = game.init(seeds(3, count)), torch.Generator().manual_seed(0)
    for _ in range(1 if game is GRID else 2):
        state = game.step(state, game.random_actions(state, generator))
    players = state.current_player if game is GAME else torch.zeros(count, dtype=torch.int64)
    mask = game.legal_actions(state)
    return game.observe(state, players), mask if game is GAME else mask[:, 0], torch.arange(count)


@pytest.mark.parametrize("name", MAKERS)
def test_an_archive_plays_as_its_model_among_legal_actions(name: str, models: dict[str, Any], folder: Path) -> None:
    game = GRID if name == "grid" else GAME
    agent = from_model_file(Path(f"{name}.zip"), sample=False)
    seen, mask, env_ids = positions(game)
    agent.start(game, torch.zeros_like(env_ids), env_ids)
    before = torch.get_rng_state()
    chosen = agent.act(seen, mask, env_ids, torch.Generator())
    assert torch.equal(torch.get_rng_state(), before)
    model = models[name]
    if name in ("maskable", "grid"):
        expected, _ = model.predict(seen.numpy(), action_masks=mask.numpy(), deterministic=True)
    else:
        with torch.no_grad():
            values = (
                model.q_net(seen) if name == "dqn" else model.policy.get_distribution(seen.float()).distribution.logits
            )
        expected = values.masked_fill(~mask, -torch.inf).argmax(1).numpy()
        unmasked, _ = model.predict(seen.numpy(), deterministic=True)
        free = mask.gather(1, torch.as_tensor(unmasked)[:, None]).squeeze(1).numpy()
        assert (unmasked[free] == expected[free]).all()
    assert (chosen.numpy() == expected).all()
    assert len(chosen.unique(dim=0)) > 1


def test_samples_follow_the_distribution_and_the_generator(models: dict[str, Any], folder: Path) -> None:
    agent = load("maskable.zip:sample", GAME)
    seen, mask, _ = positions(count=1)
    seen, mask = seen.expand(4000, *seen.shape[1:]), mask.expand(4000, -1)
    env_ids = torch.arange(4000)
    agent.start(GAME, torch.zeros_like(env_ids), env_ids)

    def draw(seed: int) -> Tensor:
        return agent.act(seen, mask, env_ids, torch.Generator().manual_seed(seed))  # type: ignore[union-attr]  # as above

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    policy = models["maskable"].policy
    with torch.no_grad():
        chances = policy.get_distribution(seen[:1].float(), mask[:1].numpy()).distribution.probs[0]
    counted = torch.bincount(draw(1), minlength=GAME.info.num_actions) / 4000
    assert (counted - chances).abs().max() < 0.03
    with refused(":sample", "a DQN"):
        load("dqn.zip:sample", GAME)


def test_actions_are_drawn_where_all_act_at_once(models: dict[str, Any], folder: Path) -> None:
    seen, mask, env_ids = positions(GRID)
    for agent, draws in ((load("grid.zip", GRID), True), (SB3Agent(models["grid"], sample=False), False)):
        agent.start(GRID, torch.zeros_like(env_ids), env_ids)
        one, other = (agent.act(seen, mask, env_ids, torch.Generator().manual_seed(n)) for n in (1, 2))  # type: ignore[union-attr]
        assert torch.equal(one, other) != draws


def test_a_model_in_memory_is_an_agent(models: dict[str, Any], folder: Path) -> None:
    seen, mask, env_ids = positions()
    for model in (models["ppo"], models["ppo"].policy):
        agent, loaded = SB3Agent(model, "mine"), load("ppo.zip", GAME)
        for one in (agent, loaded):
            one.start(GAME, torch.zeros_like(env_ids), env_ids)
        assert agent.name == "mine"
        expected = loaded.act(seen, mask, env_ids, torch.Generator())  # type: ignore[union-attr]  # as above
        assert torch.equal(agent.act(seen, mask, env_ids, torch.Generator()), expected)
    assert identity(SB3Agent(models["ppo"])) == identity(SB3Agent(models["ppo"].policy))
    assert identity(SB3Agent(models["ppo"])) != identity(SB3Agent(models["a2c"]))
    with refused("model", "int"):
        SB3Agent(3)


def test_models_are_evaluated_and_rated_by_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = ["--size", "2", "--games", "4", "--quiet", "--no-store"]
    assert main(["evaluate", "torus-v0", "--agents", "ppo.zip", "dqn.zip", "a2c.zip:sample", *game]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("ppo.zip in torus-v0 with size=2")
    assert "dqn.zip" in shown
    assert "a2c.zip:sample" in shown
    agents = ["ppo.zip", "a2c.zip", "dqn.zip", "maskable.zip:sample", "random"]
    assert main(["round-robin", "torus-v0", "--agents", *agents, *game, "--out", "out", "--no-gif"]) == 0
    settings = json.loads(Path("out/run.json").read_text(encoding="utf-8"))
    assert settings["identities"]["ppo.zip"] == digest(Path("ppo.zip").read_bytes())
    assert settings["identities"]["maskable.zip:sample"] == digest(Path("maskable.zip").read_bytes())
    records = read_records(Path("out/games.jsonl")).records
    assert len(records) == 40
    assert not any(record.result.forfeit for record in records)


def test_the_page_offers_models_of_the_game(folder: Path) -> None:
    Path("other.zip").write_bytes(b"no archive")
    weights = {name: str(path) for name, path in Library(folder).weights().items()}
    name = f"{folder}/ppo.zip"
    assert {f"{folder}/{one}.zip" for one in MAKERS} < set(weights)
    specs = {offer["spec"] for offer in offered(GAME, weights)}
    assert specs >= {f"{folder}/{one}.zip" for one in FOR_GAME}
    assert not specs & {f"{folder}/grid.zip", f"{folder}/other.zip"}
    assert load_agent(name, GAME, weights).name == name


def archive(path: Path, source: Path, **data: Any) -> None:
    """Write a copy of an archive with other values in its JSON."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "data":
                content = json.dumps({**json.loads(content), **data}).encode()
            new.writestr(name, content)


class Trap:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("trapped",)


def pickled(value: Any) -> dict[str, str]:
    return {":type:": "anything", ":serialized:": base64.b64encode(pickle.dumps(value)).decode()}


@pytest.mark.parametrize(
    ("data", "parameter", "got"),
    [
        ({"policy_kwargs": pickled({"net_arch": Trap()})}, "policy_kwargs", f"{os.mkdir.__module__}.mkdir"),
        ({"policy_class": pickled(Trap())}, "policy_class", f"{os.mkdir.__module__}.mkdir"),
        ({"policy_class": pickled(os.system)}, "policy_class", f"{os.system.__module__}.system"),
        ({"policy_kwargs": pickled({"activation_fn": os.system})}, "policy_kwargs", f"{os.system.__module__}.system"),
        ({"policy_class": pickled(nn.ReLU)}, "bad.zip", repr(nn.ReLU)),
        ({"policy_class": {":serialized:": "AAAA"}}, "policy_class", None),
        ({"policy_class": {":serialized:": "Y3RvcmNoLm5uLm1vZHVsZXMuYWN0aXZhdGlvbgpFTFUKKVIu"}}, "policy_class", None),
        ({"policy_kwargs": {"net_arch": [7]}}, "policy", None),
    ],
)
def test_an_archive_runs_nothing(data: dict[str, Any], parameter: str, got: str | None, folder: Path) -> None:
    """Nor what else is pickled in it."""
    with zipfile.ZipFile("ppo.zip") as old, zipfile.ZipFile("worse.zip", "w") as new:
        space = json.loads(old.read("data"))["observation_space"] | pickled(Trap())
        new.writestr("data", old.read("data"))
        new.writestr("policy.pth", pickle.dumps(Trap()))
    with refused("policy", where="worse.zip"):
        load("worse.zip", GAME)
    archive(Path("bad.zip"), Path("ppo.zip"), clip_range=pickled(Trap()), observation_space=space, **data)
    with refused(parameter, got):
        load("bad.zip", GAME)
    assert not Path("trapped").exists()
    pickle.loads(base64.b64decode(pickled(Trap())[":serialized:"]))
    assert Path("trapped").exists()


def test_another_game_and_other_files_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three = cellgames.make("torus-v0", size=3)
    with refused("agent 'ppo.zip'", "[5, 2, 2] and [8]"):
        load("ppo.zip", three)
    with refused("agent 'grid.zip'"):
        load("grid.zip", GAME)
    with refused("agent 'PPO'", "[5, 2, 2] and [8]"):
        SB3Agent(PPO.load("ppo.zip")).check_game(three)
    Path("text.zip").write_text("no archive", encoding="utf-8")
    np.savez("arrays.zip", a=np.zeros(3))
    Path("arrays.zip.npz").rename("arrays.zip")
    for name in ("text", "arrays"):
        with refused(f"{name}.zip"):
            load(f"{name}.zip")
    archive(Path("box.zip"), Path("ppo.zip"), action_space={":type:": "<class 'Box'>", "_shape": [2]})
    with refused("box.zip"):
        load("box.zip")
    with refused("nowhere.zip", "none"):
        load("nowhere.zip", GAME)
    assert main(["evaluate", "--agents", "ppo.zip"]) == 2
    assert capsys.readouterr().err.endswith("; ppo.zip does not say what it plays\n")
