"""The likelihood of strengths under the model of Bradley and Terry with ties, and its maximum.

Model (Davidson 1970, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
JASA 65). Agent i has a strength p_i > 0, and all share one tie parameter nu >= 0:

    P(i beats j) = p_i / Z,   P(draw) = nu sqrt(p_i p_j) / Z,   Z = p_i + p_j + nu sqrt(p_i p_j)

Divided by sqrt(p_i p_j), the three weights are exp(d/2), exp(-d/2) and nu, with d = log p_i - log p_j. So it is a
multinomial logit: its log-likelihood is concave in (log p, log nu), and Newton's method climbs it.

Prior: every agent plays virtual games, half won and half lost, against one virtual opponent in the middle of the field
(where that opponent scores exactly one half). That is symmetric, does not depend on the scale, and keeps all strengths
finite: of an agent that won every game, of groups that never met, and nu where every game was drawn.

Letters: `R` data sets fitted at once, `K` agents.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

_MAX_NEWTON_STEPS = 100
_MAX_HALVINGS = 40
# A longer step is shortened: far from the maximum, curvature tells nothing of what lies beyond.
_LONGEST_STEP = 4.0
# A step is the last when its decrement (about twice what the log-likelihood still lacks) is this small;
# rounding doubles that for this many games. Without a prior such a step may still be long: then the maximum
# lies at infinity, on the way to which steps stay near 1 for ever.
_SMALL_DECREMENT, _GAMES_OF_ROUNDING, _FINITE_STEP = 1e-12, 1e4, 1e-3


def outcome_probabilities(d: FloatArray, nu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return P(win), P(loss), P(draw) and log Z of the weights exp(d/2), exp(-d/2), nu; shapes broadcast."""
    m = np.abs(d) / 2
    win, loss, draw = np.exp(d / 2 - m), np.exp(-d / 2 - m), nu * np.exp(-m)
    z = win + loss + draw
    return win / z, loss / z, draw / z, m + np.log(z)


class Likelihood:
    """The log-likelihood of R tables of results, and its derivatives.

    Parameters are [R, K + 1]: K log strengths, then log nu, which has no effect in a row without draws. The
    virtual opponent is agent K of tables one larger; its log strength stays 0 and is no parameter.

    Args:
        wins: [R, K, K], games that the row's agent won against the column's.
        draws: [R, K, K], symmetric.
        virtual: [R, K, 2], virtual games that each agent won and lost.
    """

    def __init__(self, wins: FloatArray, draws: FloatArray, virtual: FloatArray) -> None:
        k = self.agents = wins.shape[1]
        pad = ((0, 0), (0, 1), (0, 1))
        won, drawn = np.pad(wins, pad), np.pad(draws, pad)
        won[:, :k, k], won[:, k, :k] = virtual[:, :, 0], virtual[:, :, 1]
        self.games = won + won.swapaxes(1, 2) + drawn  # [R, K + 1, K + 1], diagonal 0
        self.decided, self.drawn = won.sum(axis=(1, 2)), drawn.sum(axis=(1, 2)) / 2  # [R]
        # The log-likelihood is linear . params - (sum over pairs of games * log Z).
        balance = (won.sum(axis=2) - won.sum(axis=1))[:, :k] / 2
        self.linear = np.concatenate([balance, self.drawn[:, None]], axis=1)
        self.prior = float(virtual.min())

    def start(self) -> FloatArray:
        """Return parameters of equal strengths, with the nu that they would need for this share of draws."""
        params = np.zeros_like(self.linear)
        params[:, -1] = np.log(np.where(self.drawn > 0, 2 * self.drawn / np.maximum(self.decided, 0.5), 1.0))
        return params

    def tie(self, params: FloatArray) -> FloatArray:
        """Return nu, [R]; 0 in a row without draws."""
        return np.where(self.drawn > 0, np.exp(params[:, -1]), 0.0)

    def value(self, params: FloatArray) -> FloatArray:
        """Return the log-likelihood, [R]."""
        log_z = self.probabilities(params)[3]
        return np.asarray((self.linear * params).sum(axis=1) - (self.games * log_z).sum(axis=(1, 2)) / 2)

    def derivatives(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient, [R, K + 1], and minus the Hessian, [R, K + 1, K + 1]: covariances of the outcomes."""
        k, games = self.agents, self.games
        win, loss, draw, _ = self.probabilities(params)
        lead = (win - loss) / 2
        gradient = self.linear.copy()
        gradient[:, :k] -= (games * lead).sum(axis=2)[:, :k]
        gradient[:, k] -= (games * draw).sum(axis=(1, 2)) / 2
        edges = games * (win * loss + draw * (win + loss) / 4)  # the variance of lead, without cancellation
        curvature = np.empty((len(games), k + 1, k + 1))
        # Without a prior a common shift of all strengths changes nothing; the 1 keeps the equations regular.
        curvature[:, :k, :k] = float(self.prior == 0) - edges[:, :k, :k]
        curvature[:, range(k), range(k)] += edges.sum(axis=2)[:, :k]
        curvature[:, :k, k] = curvature[:, k, :k] = -(games * lead * draw).sum(axis=2)[:, :k]
        curvature[:, k, k] = np.where(self.drawn > 0, (games * draw * (win + loss)).sum(axis=(1, 2)) / 2, 1.0)
        diagonal = np.einsum("rii->ri", curvature)
        diagonal += 1e-15 * diagonal.max(axis=1, keepdims=True)  # below rounding, but never singular
        return gradient, curvature

    def probabilities(self, params: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return P(win), P(loss), P(draw) of the row and log Z, [R, K + 1, K + 1] each."""
        theta = np.pad(params[:, :-1], ((0, 0), (0, 1)))
        return outcome_probabilities(theta[:, :, None] - theta[:, None, :], self.tie(params)[:, None, None])


def maximise(
    likelihood: Likelihood, start: FloatArray | None = None, free: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Find the maximum by Newton's method with backtracking.

    Every row has its own steps and stops by itself, so that a batch equals its tables alone.

    Args:
        likelihood: the tables.
        start: parameters to begin with, [R, K + 1]; None for equal strengths.
        free: directions, [K + 1, D]; only parameters `start + free x` are looked at. None for all.

    Returns:
        Parameters [R, K + 1] (see `Likelihood`), and whether each row converged [R].
    """
    params = likelihood.start() if start is None else start
    value = likelihood.value(params)
    games = likelihood.games.sum(axis=(1, 2)) / 2
    small = _SMALL_DECREMENT * (1 + games / _GAMES_OF_ROUNDING)
    active, converged = np.ones(len(params), dtype=np.bool_), np.zeros(len(params), dtype=np.bool_)
    for _ in range(_MAX_NEWTON_STEPS):
        gradient, curvature = likelihood.derivatives(params)
        if free is None:
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        else:
            step = np.linalg.solve(free.T @ curvature @ free, (gradient @ free)[:, :, None])[:, :, 0] @ free.T
        step *= active[:, None]
        size, decrement = np.abs(step).max(axis=1), (step * gradient).sum(axis=1)
        last = active & (decrement <= small)
        converged |= last if likelihood.prior > 0 else last & (size < _FINITE_STEP)
        length = _LONGEST_STEP / np.maximum(size, _LONGEST_STEP)
        for _ in range(_MAX_HALVINGS):
            trial = params + length[:, None] * step
            trial_value = likelihood.value(trial)
            # 1e-4 is Armijo's share of the predicted gain; the last term allows for rounding.
            good = trial_value >= value + 1e-4 * length * decrement - 1e-14 * games
            length = np.where(good | last | ~active, length, length / 2)
            if (good | last | ~active).all():
                break
        params, value = trial, trial_value
        active &= ~last
        if not active.any():
            break
    return params, converged
