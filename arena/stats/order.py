"""A test of whether the order of a ranking is certain, and the games that would tell more.

Two agents next to each other in a ranking by `ratings` are put to a test of equal strengths under the same model
(Bradley-Terry with ties). It is a generalized score test (Boos 1992, "On Generalized Score Tests", The American
Statistician 46): from the best fit in which both are equal, one Newton step along their difference, divided by its
standard error. The error counts whole clusters of games (two of an opening), so seats that differ in worth, or games
that repeat each other, do no harm; and because it is taken where both are equal, an agent that won every game is no
special case.

Who looks again and again after every few games would find a difference between equals sooner or later. So the bound
is one that holds at all times at once, the normal mixture of Robbins (1970, "Statistical Methods Related to the Law of
the Iterated Logarithm", Annals of Mathematical Statistics 41):

    z^2 >= (1 + rho / I) (log(1 + I / rho) + 2 log(1 / alpha))

where I is the information on the difference, 1 / error^2, and rho a positive number chosen beforehand: an eighth of
the information at the first look, about where the bound then is lowest. For estimates that behave as sums the bound is
valid asymptotically (Waudby-Smith and others 2021, "Time-uniform central limit theory and asymptotic confidence
sequences"). It begins at z = 3.0 for 95 % and is 3.5 with a hundred times the games.

Letters: `K` agents, `D = K + 1` parameters, log strengths and log nu.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cellgames.utils.statistics import FloatArray

from .ratings import ELO_PER_LOG, Likelihood, PairResult, maximise, tally_results

LEVEL = 0.95
"""Chance that two equal agents are never taken for different ones, however long one goes on."""

_FIRST_OVER_RHO = 8.0
_PRIOR = 1.0  # virtual games an agent, as in `ratings`


@dataclass(frozen=True)
class Adjacency:
    """Two agents next to each other in a ranking.

    Attributes:
        better: Name of the agent that leads.
        worse: Name of the other agent.
        elo: The lead in Elo points.
        games: Games that the two played against each other; others bear on their order too.
        z: The lead in standard errors, see the module.
        needed: The `z` at which the order is certain.
    """

    better: str
    worse: str
    elo: float
    games: int
    z: float
    needed: float

    @property
    def certain(self) -> bool:
        """True if the order of the two is certain."""
        return self.z >= self.needed


class Evidence:
    """The strengths that games show, and how surely two of them differ.

    Args:
        results: games, in any order, as `ratings.rate` takes them.
        agents: names of all who take part.
    """

    def __init__(self, results: Iterable[PairResult], agents: Iterable[str]) -> None:
        self.agents = tuple(sorted(agents))
        index = {name: k for k, name in enumerate(self.agents)}
        count, pairs = len(self.agents), sorted(tally_results(results).items())
        rows = [(index[a], index[b], *ends) for (a, b), clusters in pairs for _, ends in sorted(clusters.items())]
        table = np.array(rows, dtype=np.int64).reshape(-1, 6)
        total = np.zeros((count, count, 4), dtype=np.int64)
        np.add.at(total, (table[:, 0], table[:, 1]), table[:, 2:])
        self.played = (total + total.swapaxes(0, 1)).sum(axis=2)
        table = table[table[:, 2:5].any(axis=1)]  # games that both lost tell nothing
        self._i, self._j, self._counts = table[:, 0], table[:, 1], table[:, 2:5].astype(np.float64)  # [clusters, 3]
        won, lost, draws = np.moveaxis(total[..., :3].astype(np.float64), 2, 0)
        self._likelihood = Likelihood((won + lost.T)[None], (draws + draws.T)[None], np.full((1, count, 2), _PRIOR / 2))
        self._ties = bool(draws.any())
        self._free = count + self._ties  # parameters that are estimated
        self._best = maximise(self._likelihood)[0][0]

    @property
    def elo(self) -> FloatArray:
        """Strengths on the Elo scale, float64 [K]; only differences mean something."""
        return np.asarray(ELO_PER_LOG * self._best[:-1])

    def ranking(self) -> list[str]:
        """Return the agents, best first; equal ones by name."""
        order = sorted(range(len(self.agents)), key=lambda k: (-round(float(self.elo[k]), 6), self.agents[k]))
        return [self.agents[k] for k in order]

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """Return z of the score test of equal strengths, positive where `one` is better, and its information.

        Both are 0 where no game bears on it.
        """
        a, b = self.agents.index(one), self.agents.index(other)
        merged = np.delete(np.eye(len(self.agents) + 1)[:, : self._free], b, axis=1)
        merged[b] = merged[a]
        start = self._best.copy()
        start[[a, b]] = start[[a, b]].mean()
        at = maximise(self._likelihood, start[None], merged)[0][0]
        gradient, information = (part[0] for part in self._likelihood.derivatives(at[None]))  # [D] and [D, D]
        along = np.zeros(len(self.agents) + 1)
        along[a], along[b] = 1.0, -1.0
        used = slice(0, self._free)
        direction = np.linalg.solve(information[used, used], along[used])  # [free]
        deviations = self._scores(at)[:, used] @ direction  # [clusters]
        variance = float(deviations @ deviations)
        if variance < 1e-18:
            return 0.0, 0.0
        return float(direction @ gradient[used]) / math.sqrt(variance), 1.0 / variance

    def best_pair(self, one: str, other: str, games: int) -> tuple[str, str]:
        """Return the pair whose games would make the error of a difference smallest, by the model; equal ones by name.

        Adding `n` games of i and j to information with inverse V lowers the variance of the difference h by
        n w (h'V d)^2 / (1 + n w d'V d), with d = e_i - e_j and w the information of one game.
        """
        used = slice(0, self._free)
        inverse = np.linalg.inv(self._likelihood.derivatives(self._best[None])[1][0, used, used])
        inverse = inverse[: len(self.agents), : len(self.agents)]
        win, loss, draw = self._chances(self._best)
        weight = win * loss + draw * (win + loss) / 4
        a, b = self.agents.index(one), self.agents.index(other)
        i, j = np.triu_indices(len(self.agents), 1)
        n = games * weight[i, j]
        towards = inverse[a, i] - inverse[a, j] - inverse[b, i] + inverse[b, j]
        current = inverse[i, i] - 2 * inverse[i, j] + inverse[j, j]
        gain = n * towards**2 / (1 + n * current)
        best = np.flatnonzero(gain >= gain.max() * (1 - 1e-9))[0]  # rounding decides nothing
        return self.agents[i[best]], self.agents[j[best]]

    def _chances(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return P(win), P(loss), P(draw) of i against j, [K, K]."""
        win, loss, draw, _ = (chance[0, :-1, :-1] for chance in self._likelihood.probabilities(at[None]))
        return win, loss, draw

    def _scores(self, at: FloatArray) -> FloatArray:
        """Return the share of each cluster in the gradient, [clusters, D]."""
        win, loss, draw = (chance[self._i, self._j] for chance in self._chances(at))
        games = self._counts.sum(axis=1)
        lead = (self._counts[:, 0] - self._counts[:, 1] - games * (win - loss)) / 2
        scores = np.zeros((len(games), len(self.agents) + 1))
        rows = np.arange(len(games))
        scores[rows, self._i], scores[rows, self._j] = lead, -lead
        if self._ties:
            scores[:, -1] = self._counts[:, 2] - games * draw
        return scores


def adjacencies(evidence: Evidence, first: Evidence | None = None) -> list[Adjacency]:
    """Return every two agents next to each other in the ranking, from the top.

    Args:
        evidence: evidence of all games so far.
        first: evidence of the games at the first look; None if this is it.
    """
    elo, found = evidence.elo.tolist(), list[Adjacency]()
    for better, worse in pairwise(evidence.ranking()):
        a, b = evidence.agents.index(better), evidence.agents.index(worse)
        z, information = evidence.difference(better, worse)
        at_first = information if first is None else first.difference(better, worse)[1]
        needed = needed_z(information, at_first)
        found.append(Adjacency(better, worse, elo[a] - elo[b], int(evidence.played[a, b]), z, needed))
    return found


def needed_z(information: float, first: float) -> float:
    """Return the bound of the module for |z|, infinite without information; `first` is that of the first look."""
    if information <= 0 or first <= 0:
        return math.inf
    rho = first / _FIRST_OVER_RHO
    return math.sqrt((1 + rho / information) * (math.log1p(information / rho) - 2 * math.log(1 - LEVEL)))
