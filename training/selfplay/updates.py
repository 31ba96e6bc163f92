"""Parts of an update that the learners share: learning rate, minibatches, and metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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

    Args:
        rows: number of rows.
        size: number of rows of a minibatch, about.
        epochs: number of times that all rows are used.
        generator: on the CPU; consumed.
        device: device of the row numbers.
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
