"""A linear probe: the class of a position by a weighted sum of numbers, fitted by ridge regression.

Letters: `L` positions, `F` features, `K` classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Probe", "fit_probe"]

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

PENALTIES = (1e-2, 1.0, 1e2)
"""Weights of the penalty that are tried on a part of the training games."""

_FOLDS = 4


@dataclass(frozen=True)
class Probe:
    """A fitted probe.

    Attributes:
        mean: float64 [F], of the features.
        scale: float64 [F], their standard deviation.
        weights: float64 [F + 1, K]; the last row is the bias.
    """

    mean: Numbers
    scale: Numbers
    weights: Numbers

    def classes(self, features: Numbers) -> Ints:
        """Return the class with the largest sum for each position, int64 [L]."""
        found: Ints = (_with_bias((features - self.mean) / self.scale) @ self.weights).argmax(1)
        return found


def fit_probe(features: Numbers, labels: Ints, groups: Ints, count: int) -> Probe:
    """Return a probe; its penalty is the one that does best on games left out of the fit.

    Args:
        features: float64 [L, F].
        labels: int64 [L], from 0 to `count` - 1.
        groups: int64 [L], the game of each position: no game is on both sides of a split.
        count: `K`.
    """
    mean, scale = features.mean(0), features.std(0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    inputs = _with_bias((features - mean) / scale)
    targets = np.eye(count)[labels]
    fold = groups % _FOLDS
    right = [0.0] * len(PENALTIES)
    for part in range(_FOLDS):
        train = fold != part
        if train.all() or not train.any():
            continue
        for place, weights in enumerate(_ridge(inputs[train], targets[train])):
            right[place] += float(((inputs[~train] @ weights).argmax(1) == labels[~train]).sum())
    best = max(range(len(PENALTIES)), key=lambda place: (right[place], place))
    return Probe(mean, scale, _ridge(inputs, targets)[best])


def _with_bias(inputs: Numbers) -> Numbers:
    return np.concatenate((inputs, np.ones((len(inputs), 1))), 1)


def _ridge(inputs: Numbers, targets: Numbers) -> list[Numbers]:
    """Return the weights for each of `PENALTIES`."""
    values, vectors = np.linalg.eigh(inputs.T @ inputs)
    projected = vectors.T @ (inputs.T @ targets)
    return [vectors @ (projected / (np.maximum(values, 0)[:, None] + penalty)) for penalty in PENALTIES]
