"""MaskablePPO: masks reach the policy, opponents are those asked for, and what is killed goes on as if it had not been.

Letters: `L` rows, `A` actions (mask width).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learner_play import same
from torch import Tensor, nn

import cellgames
from cellgames.agents import load, load_network, save_network
from cellgames.agents.networks.networks import FlatNetwork, Network, Relation, Size
from cellgames.envs.core import Game
from cellgames.training.maskable import BoardPolicy, LearnerVecEnv, SelfPlayCallback
from cellgames.training.selfplay.eval_opponents import compare
from cellgames.training.selfplay.opponents import Member, Pool

pytest.importorskip("sb3_contrib", reason="the extra 'train'")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import make_masked_proba_distribution
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

TORUS = cellgames.make("torus-v0", size=3)
GRID = cellgames.make("grid-adaptation-small-v0")
SIZE = Size(8, 1)


def new_model(env: Any, **given: Any) -> MaskablePPO:
    game = env.unwrapped.game
    settings = {"n_steps": 8, "batch_size": 64, "n_epochs": 2, "learning_rate": 3e-3, "gamma": 1.0, "seed": 0} | given
    return MaskablePPO(BoardPolicy, env, policy_kwargs={"game": game, "size": SIZE}, device="cpu", **settings)


def new_policy(game: Game) -> tuple[BoardPolicy, LearnerVecEnv]:
    env = LearnerVecEnv(game, 16, seed=3)
    policy = new_model(env).policy
    assert isinstance(policy, BoardPolicy)
    return policy, env


class Reckless(Network):
    """Wants nothing but what is not legal."""

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        taken = observation[:, :4].flatten(2)  # of either player: octagons, squares
        return 50.0 * (taken[:, :2] + taken[:, 2:]).flatten(1), taken.new_zeros(len(taken)).float(), None


@pytest.mark.parametrize("game", [TORUS, GRID], ids=lambda game: game.id)
def test_an_illegal_action_has_probability_zero(game: Game) -> None:
    torch.manual_seed(0)
    policy, env = new_policy(game)
    if game is TORUS:
        policy.network = Reckless(game, SIZE)
    nvec = game.info.action_nvec
    observation: Any = env.reset()
    for _ in range(5):
        masks = env.action_masks()
        assert not masks.all()
        seen = torch.as_tensor(observation)
        actions, _, log_prob = policy(seen, action_masks=masks)
        parts = torch.as_tensor(masks).split(list(nvec), 1)
        chosen = actions.view(len(masks), -1)
        assert all(part.gather(1, chosen[:, k : k + 1]).all() for k, part in enumerate(parts))
        assert (log_prob > -50).all()
        for k, part in enumerate(parts):
            if len(rows := (~part).any(1).nonzero().flatten()):
                wrong = chosen.clone()
                wrong[rows, k] = (~part[rows]).int().argmax(1)
                found = policy.evaluate_actions(seen, wrong.view(actions.shape), torch.as_tensor(masks).float())[1]
                assert (found[rows].exp() == 0).all()
        observation, *_ = env.step(actions.numpy())


@pytest.mark.parametrize("game", [TORUS, GRID], ids=lambda game: game.id)
def test_distributions_are_those_of_sb3_contrib(game: Game) -> None:
    policy, env = new_policy(game)
    policy.network = flat = FlatNetwork(game, SIZE)  # its components are independent, as sb3-contrib has them
    nn.init.normal_(flat.policy.bias)
    seen, masks = torch.as_tensor(env.reset()), env.action_masks()
    theirs = make_masked_proba_distribution(env.action_space)
    logits = policy.network(seen)[0].detach()
    theirs.proba_distribution(action_logits=logits)
    theirs.apply_masking(masks)
    actions = theirs.sample()
    _, log_prob, entropy = policy.evaluate_actions(seen, actions, torch.as_tensor(masks))
    torch.testing.assert_close(log_prob.detach(), theirs.log_prob(actions))
    torch.testing.assert_close(entropy.detach(), theirs.entropy())
    ours = policy.get_distribution(seen, masks)
    assert torch.equal(ours.mode(), theirs.mode())
    torch.testing.assert_close(ours.entropy(), entropy)


def test_rewards_are_in_the_units_of_the_network_and_limits_are_ends() -> None:
    env = LearnerVecEnv(GRID, 8, seed=0)
    env.reset()
    earned, games = np.zeros(8), 0
    for _ in range(20):
        actions = [
            GRID.random_actions(env.vector.state, torch.randint(1 << 31, (8, 4, 7)))[env_id, seat].tolist()
            for env_id, seat in enumerate(env.vector.player.tolist())
        ]
        _, rewards, dones, infos = env.step(np.array(actions))
        earned += rewards
        for env_id in dones.nonzero()[0]:
            assert infos[env_id]["episode"]["r"] == pytest.approx(30 * earned[env_id], abs=1e-3)
            assert infos[env_id]["TimeLimit.truncated"] is False
            earned[env_id], games = 0, games + 1
        assert (env.ended is not None) == dones.any()
    assert games >= 8
    assert env.unit == 30


class Recorded(Pool):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "uniform")
        self.scores: list[float] = []

    def record(self, member: Member, score: float, games: int) -> None:
        assert any(member is one for one in self.members)
        self.scores += [score] * games


def test_results_are_booked_for_whom_the_learner_met(tmp_path: Path) -> None:
    model, pool = new_model(VecMonitor(LearnerVecEnv(TORUS, 16, seed=0)), n_steps=32), Recorded(tmp_path)
    kept: list[tuple[dict[str, list[float]], list[float], list[int]]] = []

    class Keep(BaseCallback):
        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            kept.append((self_play.results, self_play.returns, self_play.turns))

    self_play = SelfPlayCallback(pool, "self=0.2,pool=0.5,random=0.3", snapshot_every=1)
    model.learn(16 * 32 * 3, [self_play, Keep()])
    assert [member.steps for member in pool.members] == [0, 512, 1024]
    results = {
        name: [score for results, _, _ in kept for score in results[name]] for name in ("self", "pool", "random")
    }
    count = sum(map(len, results.values()))
    assert results["pool"] == pool.scores
    shares = [len(results[name]) / count for name in ("self", "pool", "random")]
    assert shares == pytest.approx([0.2, 0.5, 0.3], abs=0.12)
    for results, returns, turns in kept:  # in a game for two without draws a win pays 1 and a loss -1
        assert sorted(score for scores in results.values() for score in scores) == sorted((r + 1) / 2 for r in returns)
        assert all(5 <= turn <= 18 for turn in turns)


def test_in_a_game_of_four_every_other_seat_is_met(tmp_path: Path) -> None:
    model = new_model(env := LearnerVecEnv(GRID, 16, seed=0), n_steps=16)
    self_play = SelfPlayCallback(Pool(tmp_path), "self=0.5,greedy=0.5")
    found: list[float] = []

    class Checker(BaseCallback):
        """Compares points seat by seat."""

        def _on_step(self) -> bool:
            if env.ended is not None:
                for player, scores in zip(env.ended.player.tolist(), env.ended.state.scores.tolist(), strict=True):
                    others = [score for seat, score in enumerate(scores) if seat != player]
                    found.extend(0.5 if scores[player] == other else float(scores[player] > other) for other in others)
            return True

    model.learn(16 * 16, [self_play, Checker()])
    assert len(found) == 3 * len(self_play.turns) >= 48
    assert sorted(found) == sorted(self_play.results["self"] + self_play.results["greedy"])
    assert min(len(scores) for scores in self_play.results.values()) > 10
    assert self_play.turns == [episode["l"] for episode in model.ep_info_buffer or ()]  # all act in every turn


def test_it_learns_to_beat_random_and_its_file_plays(tmp_path: Path) -> None:
    game = cellgames.make("torus-v0", size=2)
    model = new_model(LearnerVecEnv(game, 64, seed=1), batch_size=128, n_epochs=4)
    assert isinstance(model.policy, BoardPolicy)
    learner, other = model.policy.network.agent("learner", sample=True), load("random", game)
    assert compare(game, learner, other, 100, 5).ahead < 0.6
    model.learn(64 * 8 * 6, SelfPlayCallback(Pool(tmp_path / "pool"), seed=1))
    assert compare(game, learner, other, 100, 6).ahead > 0.7

    save_network(tmp_path / "agent.safetensors", model.policy.network, sample=True)
    saved = load_network(tmp_path / "agent.safetensors").network
    assert same(dict(saved.state_dict()), dict(model.policy.network.state_dict()))
    agent = load(tmp_path / "agent.safetensors", game)
    assert compare(game, agent, other, 100, 7).ahead > 0.65
