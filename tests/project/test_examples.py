"""The examples that train with other libraries: what they learn from, that they learn, and their command lines."""

from __future__ import annotations

import csv
import dataclasses
import re
import runpy
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from examples import ppo as one_file
from paths import ROOT
from refusals import fails, refused
from torch import Tensor, nn

import cellgames
from cellgames.agents import load
from cellgames.arena import MatchOptions, evaluate, play_evaluation
from cellgames.envs import Game, sample_actions
from cellgames.training import PPOArguments
from cellgames.training.selfplay.updates import estimate

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("optuna", "torchrl", "tianshou")), reason="the extras of the examples"
)


@cache
def example(name: str) -> Any:
    """Return an example, imported by the tests that need it, since its library takes seconds."""
    with pytest.MonkeyPatch.context() as patch:  # compiling would take longer than these tests
        patch.setattr("numba.config.DISABLE_JIT", True)
        return import_module(f"examples.{name}")


sweep, tianshou_dqn, torchrl_ppo = (partial(example, name) for name in ("sweep", "tianshou_dqn", "torchrl_ppo"))
EXAMPLES = ROOT / "examples"
GAME = cellgames.make("torus-v0", size=2)  # 8 cells

Train = Callable[[int, int], tuple[nn.Module, Any]]


def ppo(steps: int, seed: int) -> tuple[nn.Module, Any]:
    actor = torchrl_ppo().train(GAME, steps, seed, num_envs=16, num_steps=16, minibatch_size=64, learning_rate=3e-3)
    return actor, torchrl_ppo().Learned(actor)


def dqn(steps: int, seed: int) -> tuple[nn.Module, Any]:
    network = tianshou_dqn().train(GAME, steps, seed, num_envs=8, batch=64)
    return network, tianshou_dqn().Learned(network)


both = pytest.mark.parametrize("train", [ppo, dqn])


def check_weights(first: dict[str, Tensor], again: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    """Finite numbers, those of equal seeds equal, and those of different seeds different."""
    assert first.keys() == again.keys()
    assert all(weights.isfinite().all() for weights in first.values())
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@both
def test_training_follows_from_the_seed(train: Train, capsys: pytest.CaptureFixture[str]) -> None:
    check_weights(*(train(256, seed)[0].state_dict() for seed in (3, 3, 4)))
    assert "steps" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("train", "steps"), [(ppo, 4000), (dqn, 2400)])
def test_it_learns_to_beat_random(train: Train, steps: int) -> None:
    _, agent = train(steps, 1)
    records = play_evaluation(GAME, {"learned": agent, "random": load("random", GAME)}, MatchOptions(games=200, seed=1))
    assert evaluate(GAME, records, "learned")["low"] > 0.6


@pytest.mark.parametrize("name", ["torchrl_ppo", "tianshou_dqn"])
def test_as_a_script(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> None:
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
        monkeypatch.setattr("numba.config.DISABLE_JIT", True)
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    run("--game", "torus-v0", "--size", "2", "--total-steps", "200", "--games", "4", "--against", "random")
    assert re.search(r"^against random: [01]\.\d{3} \(.*\), [0-4] of 4 won$", capsys.readouterr().out, re.MULTILINE)
    for words, said in (
        (["--game", "torus-v9"], "torus-v0"),
        (["--against", "nobody"], "nobody"),
        (["--games", "3"], "even"),
        (["--total-steps", "0"], "at least 1 step"),
        *([(["--device", "gpu"], "expected auto, cpu, cuda or cuda:N")] if name == "torchrl_ppo" else []),
    ):
        with fails(SystemExit, code=2):
            run(*words)
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["torchrl_ppo", "tianshou_dqn"])
@pytest.mark.parametrize("id", ["toroidal-cup-small-v0", "cloth-of-gold-small-v0"])
def test_games_that_it_would_get_wrong_are_refused(name: str, id: str) -> None:
    with pytest.raises(ValueError, match="zero-sum game for two, in turns"):
        example(name).train(cellgames.make(id), 10)


SMALL = ("torus", "hex", "y", "cloth-of-gold", "grid-adaptation", "toroidal-cup")
SHORT = {"num_envs": 4, "num_steps": 16, "num_epochs": 1, "minibatch_size": 64, "channels": 4, "layers": 1}


def one_file_agent(game: Game, seed: int = 0, **changed: Any) -> one_file.Learned:
    *_, (_, agent) = one_file.train(game, dataclasses.replace(one_file.settings_of(game.info.id), **changed), seed)
    return agent


def test_one_file_learns_in_every_small_preset() -> None:
    """The same from the same seed; in Cloth of Gold by whole turns, in Grid Adaptation by plans."""
    for name in SMALL:
        game, player = one_file.game_to_learn(f"{name}-small-v0")
        seeds = (3, 3, 4) if name in ("cloth-of-gold", "grid-adaptation") else (3,)
        agents = [one_file_agent(game, seed, **SHORT, total_steps=64) for seed in seeds]
        if len(seeds) > 1:
            check_weights(*(agent.network.state_dict() for agent in agents))
        assert 0 <= one_file.score(cellgames.make(f"{name}-small-v0"), player(agents[0]), "random", 2)["score"] <= 1


def test_one_file_rates_actions_as_they_are_drawn() -> None:
    game = cellgames.make("grid-adaptation-small-v0")
    state = game.init(torch.arange(3))
    mask = game.legal_actions(state).flatten(0, 1)
    logits, nvec = torch.randn(mask.shape, generator=torch.Generator().manual_seed(0)), game.info.action_nvec
    actions, log_prob = sample_actions(logits, mask, torch.Generator().manual_seed(1), nvec=nvec)
    rated, entropy = one_file.rate(logits, mask, actions, nvec)
    torch.testing.assert_close(rated, log_prob, atol=1e-4, rtol=1e-4)
    assert (entropy > 0).all()


def test_one_file_estimates_advantages_as_the_package_does() -> None:
    generator = torch.Generator().manual_seed(0)
    value, reward = torch.randn(20, 5, generator=generator), torch.randn(20, 5, 2, generator=generator)
    player = torch.randint(2, (20, 5), generator=generator)
    done = torch.rand(20, 5, generator=generator) < 0.2
    expected = estimate(value, reward, player, done, gamma=0.9, gae_lambda=0.8)
    advantage, known = one_file.advantages(value, reward, player, done, 0.9, 0.8)
    assert torch.equal(known, expected.known)
    torch.testing.assert_close(advantage[known], expected.advantage[known])


def test_one_file_beats_random() -> None:
    agent = one_file_agent(GAME, total_steps=8000, num_envs=32, minibatch_size=256, channels=8)
    assert one_file.score(GAME, agent, "random", 200)["low"] > 0.6


SPACE = ("learning_rate=1e-4..1e-1", "layers=1..2", "ent_coef=0,0.1", "opponents=self|self=0.5,pool=0.5")
TINY = {"num_envs": 8, "num_steps": 8, "num_epochs": 1, "minibatch_size": 32, "channels": 2, "layers": 1}


def base(**given: Any) -> PPOArguments:
    more = {"eval_games": 2, "eval_opponents": ("random",), "device": "cpu", "threads": 1}
    return PPOArguments.fitted(GAME, total_steps=576, **TINY, **more, **given)


def test_a_space_is_read_as_the_settings_are() -> None:
    space = dict(sweep().parse_values(text, PPOArguments) for text in (*SPACE, "sample=yes,no"))
    rate, layers, entropy, opponents, sample = space.values()
    assert (rate.low, rate.high, rate.log) == (1e-4, 0.1, True)
    assert type(layers).__name__ == "IntDistribution"
    assert (layers.low, layers.high, layers.log) == (1, 2, False)
    assert entropy.choices == (0.0, 0.1)
    assert opponents.choices == ("self", "self=0.5,pool=0.5")
    assert sample.choices == (True, False)
    for text in ("learning_rate", "speed=1,2", "learning_rate=quick"):
        with pytest.raises(ValueError):  # noqa: PT011  # of float, too
            sweep().parse_values(text, PPOArguments)


def test_trials_are_runs_of_training_that_the_study_scores_and_stops(tmp_path: Path) -> None:
    space = dict(sweep().parse_values(text, PPOArguments) for text in SPACE)
    sweep().run_trial(tmp_path, base(), space, "random", 0)
    study = sweep().open_study(tmp_path, base().total_steps)
    with (tmp_path / "trials" / "0" / "progress.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    scores = {int(row["steps"]): float(row["random"]) for row in rows}
    assert study.trials[0].intermediate_values == pytest.approx(scores, abs=1e-3)
    assert study.trials[0].value == pytest.approx(float(rows[-1]["random"]), abs=1e-3)
    assert len([step for step in scores if step < base().total_steps / 3]) >= 2  # in time for the pruner, twice
    rungs = dict.fromkeys(("completed_rung_0", "completed_rung_1"), 2.0)
    better = {"value": 2.0, "intermediate_values": dict.fromkeys(scores, 2.0), "system_attrs": rungs}
    for _ in range(3):  # trials that no other can match
        study.add_trial(
            import_module("optuna").create_trial(params=study.trials[0].params, distributions=space, **better)
        )
    sweep().run_trial(tmp_path, base(), space, "random", 0)
    assert study.trials[-1].state.name == "PRUNED"
    wrong = dict([sweep().parse_values("start_from=nobody", PPOArguments)])
    with refused("nobody", "none"):
        sweep().run_trial(tmp_path, base(), wrong, "random", 0)
    assert study.trials[-1].state.name == "FAIL"


@pytest.mark.slow
def test_a_search_as_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fixed = [f"{name}={value}" for name, value in TINY.items() if name != "layers"]
    words = ["--game", "torus-small-v0", "--total-steps", "128", "--trials", "2", "--jobs", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["sweep.py", *words, "--vary", *SPACE, *fixed, "eval_games=2"])
    sweep().main()
    assert f"best: {tmp_path}" in capfd.readouterr().out
    assert [trial.state.name for trial in sweep().open_study(tmp_path, 128).trials] == ["COMPLETE"] * 2
    assert {path.name for path in tmp_path.iterdir()} >= {"plot_slice.png", "plot_intermediate_values.png", "study.log"}
    for wrong in (["--vary", "speed=1"], ["--vary", "gamma=1", "--target", "nobody"]):
        monkeypatch.setattr(sys, "argv", ["sweep.py", *words, *wrong])
        with fails(SystemExit, code=2):
            sweep().main()


class Known(nn.Module):
    """Values of the player to act, as the observation itself says."""

    def forward(self, observation: Tensor) -> Tensor:
        return observation


def test_advantages_of_a_game_of_three_moves() -> None:
    """The first player wins with the third move; each player's advantage is one of its own."""
    from tensordict import TensorDict
    from torchrl.modules import ValueOperator
    from torchrl.objectives.value import GAE

    seen = torch.tensor([0.2, -0.1, 0.5])[None, :, None]  # what the players to act expect
    done = torch.tensor([False, False, True])[None, :, None]
    after = {
        "observation": torch.tensor([-0.1, 0.5, 9.0])[None, :, None],  # the last one is worth nothing
        "current_player": torch.tensor([[1, 0, 1]]),
        "reward": torch.tensor([[[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]]]),
        **dict.fromkeys(("done", "terminated"), done),
    }
    batch = TensorDict({"observation": seen, "current_player": torch.tensor([[0, 1, 0]]), "next": after}, [1, 3])
    critic = ValueOperator(torchrl_ppo().FirstSeatValue(Known()), in_keys=["observation", "current_player"])
    torchrl_ppo().add_advantages(batch, GAE(gamma=1.0, lmbda=0.5, value_network=critic))
    # Surprises, as the first player sees them: 0.2 -> 0.1 -> 0.5 -> 1.
    first, second, third = 0.1 - 0.2, 0.5 - 0.1, 1 - 0.5
    expected = torch.tensor([first + 0.5 * second + 0.25 * third, -(second + 0.5 * third), third])
    torch.testing.assert_close(batch["advantage"].flatten(), expected)
    torch.testing.assert_close(batch["value_target"][0, 2, 0], torch.tensor(1.0))


def test_two_steps_are_a_move_and_the_answer() -> None:
    """Black closes a ring with the third move: what each move is worth, and illegal actions never are."""
    from tianshou.data import Batch, VectorReplayBuffer

    env = tianshou_dqn().make_env(GAME)
    algorithm = tianshou_dqn().make_algorithm(GAME, n_step=2)
    network = tianshou_dqn().policy_of(algorithm).model
    torch.manual_seed(0)
    for weights in network.parameters():
        nn.init.normal_(weights, std=0.3)
    game_moves = [0, 5, 2]  # octagons (0, 0) and (1, 0), which meet across both edges
    with torch.no_grad():
        network.layers[-1].bias[game_moves[:2]] += 50.0  # what has been played looks best
    algorithm.get_algorithm("black")._update_lagged_network_weights()
    buffer = VectorReplayBuffer(10, 1)
    seen, _ = env.reset()
    last = None
    for move in game_moves:
        after, rewards, terminated, truncated, info = env.step(move)
        step = {"obs": seen, "act": move, "rew": list(rewards), "terminated": terminated, "truncated": truncated}
        step |= {"obs_next": after, "info": info}
        buffer.add(Batch({name: [value] for name, value in step.items()}), buffer_ids=[0])
        seen, last = after, (seen, rewards, terminated)
    assert last is not None
    assert last[1:] == ([1.0, -1.0], True)
    batch, indices = buffer.sample(0)
    returns = algorithm._preprocess_batch(batch, buffer, indices)
    with torch.no_grad():
        values, _ = network(last[0]["obs"][None])
    legal = torch.tensor(last[0]["mask"])
    best = values[0][legal].max()
    assert values.max() > best
    black, white = returns["black"].returns.flatten(), returns["white"].returns.flatten()
    torch.testing.assert_close(black, torch.tensor([0.99**2 * best, 1.0]))
    torch.testing.assert_close(white, torch.tensor([-0.99]))  # it lost with the answer
