"""Parts of an update that the learners share: advantages, learning rate, minibatches, and metrics.

Generalized advantage estimation serves games whose players take turns, or act at once.

Letters: `T` steps of a rollout, `R` rows (a game in turns, or one seat of a simultaneous game), `S` seats that share a
row (the players in turns, else 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .rollouts import Ended


def anneal(optimizer: torch.optim.Optimizer, learning_rate: float, progress: float) -> None:
    """Set the learning rate, which falls linearly to a tenth while the progress of the run goes from 0 to 1."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate * (1 - 0.9 * progress)


def descend(optimizer: torch.optim.Optimizer, network: nn.Module, loss: Tensor, max_grad_norm: float) -> float:
    """Take one step down the gradient of a loss; return the gradient's norm before it is cut."""
    optimizer.zero_grad()
    loss.backward()
    grad_norm = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    optimizer.step()
    return float(grad_norm)


def minibatches(
    rows: int, size: int, epochs: int, generator: torch.Generator, device: torch.device
) -> Iterator[Tensor]:
    """Yield row numbers in random order, int64; each row once in an epoch, in minibatches of nearly the same size.

    The generator, on the CPU, is consumed.
    """
    parts = max(1, round(rows / size))
    for _ in range(epochs if rows else 0):
        yield from torch.randperm(rows, generator=generator, device="cpu").to(device).tensor_split(parts)


def explained_variance(error: Tensor, target: Tensor) -> float:
    """Return the share of the variance of targets that the values explain; NaN if the targets do not vary."""
    if len(target) < 2:
        return math.nan
    left, variance = float(error.var()), float(target.var())
    return 1 - left / variance if variance > 0 else math.nan


def score_against_others(ended: Ended) -> float:
    """Return the score in games against others than the learner itself, a win 1 and a draw 1/2; NaN without games."""
    results = [result for number, result in ended.results.items() if number >= 0]
    games = sum(count for _, count in results)
    return sum(won for won, _ in results) / games if games else math.nan


def mean(values: list[float]) -> float:
    """Return the mean; NaN without values."""
    return sum(values) / len(values) if values else math.nan


def means(rows: Sequence[Sequence[float]], columns: int) -> list[float]:
    """Return the mean of each column, in float32; NaN without rows."""
    return torch.tensor(rows, dtype=torch.float32, device="cpu").mean(0).tolist() if rows else [math.nan] * columns


class Estimates(NamedTuple):
    """Advantages and value targets of a rollout.

    Attributes:
        advantage: float [T, R], of the action over the value that its seat expected.
        target: float [T, R], the target of the value.
        known: bool [T, R], False for the last action of a seat in a game that goes on. Such an action has no
            advantage: its value stands in for what follows the actions before it.
    """

    advantage: Tensor
    target: Tensor
    known: Tensor


def estimate(
    value: Tensor, reward: Tensor, player: Tensor, done: Tensor, *, gamma: float, gae_lambda: float
) -> Estimates:
    """Return generalized advantage estimates, with a chain of actions for each seat.

    All that happens between two actions of a seat is one step of its chain: its reward for an action is all that it is
    paid until it acts again or the game ends, and the value that follows is that of its own next action, never the
    opponent's. So rewards need not add up to zero, seats may act in any order, and a player may act several times in a
    row. (Schulman et al., "High-dimensional continuous control using generalized advantage estimation", 2016)

        value: float [T, R], of the seat to act, before the action.
        reward: float [T, R, S], of all seats, after it.
        player: int64 [T, R], the seat to act.
        done: bool [T, R], the game ended with the action, also by a limit, since games that are cut off have a result.
        gamma: discount for each action of the same seat.
        gae_lambda: weight of later estimates (lambda).
    """
    steps, rows, seats = reward.shape
    pending, ahead, gain = (value.new_zeros((rows, seats)) for _ in range(3))
    seen = torch.zeros((rows, seats), dtype=torch.bool, device=value.device)
    advantage, known = torch.zeros_like(value), torch.zeros_like(done)
    for t in range(steps - 1, -1, -1):
        end, mover = done[t][:, None], player[t][:, None]
        pending, ahead, gain = (x.masked_fill(end, 0.0) for x in (pending, ahead, gain))
        seen = seen | end
        pending = pending + reward[t]
        surprise = pending.gather(1, mover) + gamma * ahead.gather(1, mover) - value[t][:, None]
        known[t] = seen.gather(1, mover).squeeze(1)
        now = torch.where(seen.gather(1, mover), surprise + gamma * gae_lambda * gain.gather(1, mover), 0.0)
        advantage[t] = now.squeeze(1)
        gain = gain.scatter(1, mover, now)
        ahead = ahead.scatter(1, mover, value[t][:, None])
        pending = pending.scatter(1, mover, 0.0)
        seen = seen.scatter(1, mover, True)
    return Estimates(advantage, advantage + value, known)
