"""PPO's step of the optimizer and its schedule, against formulas written once more."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from every_game import generator
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.training.ppo.ppo import PPO, Hyperparameters
from cellgames.training.selfplay.opponents import SELF, Opponents, Pool
from cellgames.training.selfplay.rollouts import SelfPlay

GAME = cellgames.make("torus-v0", size=2)
LANES, HORIZON = 8, 12
METRICS = ("policy", "value", "entropy", "approx_kl", "clip_fraction", "grad_norm")


def learner(folder: Path, **changes: Any) -> PPO:
    settings: dict[str, Any] = {
        **{"num_steps": HORIZON, "num_epochs": 3, "minibatch_size": 20},
        **{"learning_rate": 0.01, "gamma": 1.0, "gae_lambda": 0.9},
        **{"clip_range": 0.2, "ent_coef": 0.3, "vf_coef": 0.7, "max_grad_norm": 100.0},
    }
    network, device = network_for(GAME), torch.device("cpu")
    play = SelfPlay(GAME, network, Opponents(GAME, {SELF: 1.0}, Pool(folder), device), LANES, device)
    play.restart(3)
    return PPO(network, play, Hyperparameters(**{**settings, **changes}))


def batch(ppo: PPO) -> list[Tensor]:
    """What `_learn` takes, of a rollout whose chances have moved since: some by more than `clip`, either way."""
    rollout, chance = ppo.play.collect(HORIZON), generator(7)
    parts = (rollout.observation, rollout.mask, rollout.action, rollout.log_prob)
    observation, mask, action, log_prob = (part.flatten(0, 1) for part in parts)
    moved = 0.4 * torch.randn(len(log_prob), generator=chance)
    advantage, target = (torch.randn(len(log_prob), generator=chance) for _ in range(2))
    return [observation, mask, action, log_prob + moved, advantage * 3 + 1, target]


def policy_of(network: Any, rows: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Ratio of chances, value and entropy, position by position; only legal actions have a chance."""
    observation, mask, action, before = rows[:4]
    logits, value, _ = network.forward(observation)
    ratios, entropies = [], []
    for i in range(len(action)):
        weights = {a: logits[i, a].exp() for a in range(mask.shape[1]) if mask[i, a]}
        chances = {a: weight / sum(weights.values()) for a, weight in weights.items()}
        ratios.append(chances[int(action[i])] / before[i].exp())
        entropies.append(-sum(chance * chance.log() for chance in chances.values()))
    return torch.stack(ratios), value, torch.stack(entropies)


def by_hand(ppo: PPO, rows: list[Tensor]) -> tuple[list[Tensor], list[Tensor], dict[str, float]]:
    """Gradients of PPO's equation 9, parameters after Adam's first step by them, and what is metrics."""
    h, network = ppo.h, copy.deepcopy(ppo.network)
    advantage, target = rows[4:]
    advantage = (advantage - advantage.mean()) / advantage.std(correction=0)
    ratio, value, entropy = policy_of(network, rows)
    # No gain for going further than the clip where the advantage points; all of the loss for the wrong way.
    gains = torch.where(advantage > 0, ratio.clamp(max=1 + h.clip_range), ratio.clamp(min=1 - h.clip_range)) * advantage
    policy, error = -gains.mean(), ((value - target) ** 2).mean()
    parameters = list(network.parameters())
    loss = policy + h.vf_coef * error - h.ent_coef * entropy.mean()
    gradients = torch.autograd.grad(loss, parameters)
    grad_norm = float(torch.cat([g.flatten() for g in gradients]).square().sum().sqrt())
    cut = [g * min(1.0, h.max_grad_norm / grad_norm) for g in gradients]
    with torch.no_grad():
        after = [p - h.learning_rate * g / (g.abs() + 1e-5) for p, g in zip(parameters, cut, strict=True)]
        approx_kl = (ratio - 1 - ratio.log()).mean()
        clip_fraction = ((ratio < 1 - h.clip_range) | (ratio > 1 + h.clip_range)).float().mean()
        metrics = [float(x) for x in (policy, error, entropy.mean(), approx_kl, clip_fraction, grad_norm)]
    return cut, after, dict(zip(METRICS, metrics, strict=True))


@pytest.mark.parametrize("max_grad_norm", [100.0, 0.05])
def test_a_step_is_the_one_of_the_formula(max_grad_norm: float, tmp_path: Path) -> None:
    ppo = learner(tmp_path, max_grad_norm=max_grad_norm)
    rows = batch(ppo)
    gradients, after, figures = by_hand(ppo, rows)
    assert 0.2 < figures["clip_fraction"] < 0.8
    assert 0.05 < figures["grad_norm"] < 100
    ppo.network.train()
    metrics = ppo._learn(*rows)
    assert dict(zip(METRICS, metrics.tolist(), strict=True)) == pytest.approx(figures, rel=1e-3)
    for (name, found), gradient, moved in zip(ppo.network.named_parameters(), gradients, after, strict=True):
        assert found.grad is not None
        assert torch.allclose(found.grad, gradient, rtol=1e-3, atol=1e-6), name
        assert torch.allclose(found, moved, rtol=1e-3, atol=1e-4), name


@pytest.mark.parametrize(("progress", "share"), [(0.0, 1.0), (0.5, 0.55), (1.0, 0.1)])
def test_the_learning_rate_falls_along_a_line_to_a_tenth(progress: float, share: float, tmp_path: Path) -> None:
    ppo = learner(tmp_path)
    ppo.iterate(progress)
    assert [group["lr"] for group in ppo.optimizer.param_groups] == pytest.approx([0.01 * share])


def test_every_action_is_learned_from_once_an_epoch_in_minibatches_of_one_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ppo, sizes, targets = learner(tmp_path), list[int](), list[Tensor]()
    learn = ppo._learn

    def noted(*rows: Tensor) -> Tensor:
        sizes.append(len(rows[0]))
        targets.append(rows[5])
        return learn(*rows)

    monkeypatch.setattr(ppo, "_learn", noted)
    steps = ppo.iterate(0.0)[2]
    assert sum(sizes) == 3 * steps > 100
    assert max(sizes) - min(sizes) <= 1
    assert abs(max(sizes) - 20) < 5
    epochs = torch.cat(targets).view(3, steps)
    assert torch.equal(epochs.sort(1).values[0], epochs.sort(1).values[2])
    assert not torch.equal(epochs[0], epochs[2])
