"""The plan of a league: the members of each round, and whom they meet in their training.

A plan follows from the options and from the results of earlier rounds, so a league that is continued makes the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cellgames.arena.stats.payoffs import Payoffs
from cellgames.training.selfplay.opponents import SELF

GLOBAL = "global"
PSRO, CANDIDATE = "psro", "candidate"
MAIN, MAIN_EXPLOITER, LEAGUE_EXPLOITER = "main", "main-exploiter", "league-exploiter"
EXPLOITERS = (MAIN_EXPLOITER, LEAGUE_EXPLOITER)
LEAGUE = (MAIN, *EXPLOITERS)
ROLES = (PSRO, CANDIDATE, *LEAGUE)
MEMBERS = "members"
"""The folder of the runs of training, in the league's."""

_CANDIDATE_SELF = 0.5  # of a candidate's games
_SELF, _ALL, _EXPLOITERS = 0.7, 0.1, 0.2  # of a main agent's games
_LEAST = 0.01  # share of an opponent; those below are left out


@dataclass(frozen=True)
class Planned:
    """A member to train.

    Attributes:
        name: its kind and the number of its round.
        mix: shares of its games by the name of the opponent, which is `self` or a member; or the share 1 of the
            mixture in a folder, for tables that are drawn as a whole.
        after: the member whose weights it starts from; "" to start anew.
    """

    name: str
    mix: Mapping[str, float]
    after: str = ""

    @property
    def role(self) -> str:
        """Return the kind of member."""
        return self.name.rpartition("-")[0]


def psro_round(number: int, weights: Mapping[str, float], *, warm_start: bool) -> list[Planned]:
    """Return the best response to a meta-strategy, the only new member of a round of PSRO.

    Args:
        number: number of the round, from 1.
        weights: weights of the members so far.
        warm_start: True to start from the best response before.
    """
    after = _name(PSRO, number - 1) if warm_start and number > 1 else ""
    return [Planned(_name(PSRO, number), _shares(weights), after)]


def global_round(
    number: int, weights: Mapping[str, float], after: str, candidates: int, chance: np.random.Generator
) -> list[Planned]:
    """Return the candidates of a round of Global PSRO (Wang and others 2026), of which the league keeps one.

    In half of its games a candidate meets itself; in the others the first one meets the meta-strategy, and each other
    one a mixture that is drawn evenly from all mixtures of the members kept so far. In the first round all learn by
    self-play alone.

    Args:
        number: number of the round, from 1.
        weights: the meta-strategy's of the members kept so far; empty before the first.
        after: the member that all start from; "" for new weights.
        candidates: number of them.
        chance: draws the mixtures.
    """
    found = []
    for place in range(candidates):
        shares = [*weights.values()] if place == 0 else chance.dirichlet([1.0] * len(weights)) if weights else []
        mix = {SELF: _CANDIDATE_SELF, **dict(zip(weights, (1 - _CANDIDATE_SELF) * np.array(shares), strict=True))}
        found.append(Planned(_name(CANDIDATE, (number - 1) * candidates + place + 1), _shares(mix), after))
    return found


def league_round(
    number: int, members: Sequence[str], table: Payoffs | None, *, warm_start: bool
) -> tuple[list[Planned], list[Planned]]:
    """Return the main agent of a round, and the exploiters that are trained once it is.

    A main agent learns on from the one before. It plays itself in 70 % of its games, former main exploiters in 20 %,
    and all members in 10 %, those most often that are hard to beat. The main exploiter plays this main agent only. The
    league exploiter learns on from the last one, and plays all members, those most often that the last one did not
    beat.

    Args:
        number: number of the round, from 1.
        members: so far, the first one before the first round.
        table: results between them; None before the first games.
        warm_start: True to start exploiters from the weights of the main agent.
    """
    main, before, last = _name(MAIN, number), _name(MAIN, number - 1), _name(LEAGUE_EXPLOITER, number - 1)
    mix = {SELF: 1.0}
    if table is not None:
        former = [name for name in members if name.startswith(f"{MAIN_EXPLOITER}-")]
        mix = {SELF: _SELF}
        for share, met in ((_ALL, members), (_EXPLOITERS, former)):
            for name, part in _hardest(table, before, met).items():
                mix[name] = mix.get(name, 0.0) + share * part
    everybody = [*members, main]
    others = dict.fromkeys(everybody, 1.0) if table is None else _hardest(table, last, everybody)
    start, on = (main if warm_start else ""), (last if number > 1 else main)
    return [Planned(main, _shares(mix), before if number > 1 else "")], [
        Planned(_name(MAIN_EXPLOITER, number), {main: 1.0}, start),
        Planned(_name(LEAGUE_EXPLOITER, number), _shares(others), on if warm_start else ""),
    ]


def response_score(table: Payoffs, name: str, mix: Mapping[str, float]) -> tuple[float, float, float] | None:
    """Return a member's score against the members that it was trained against, with a 95 % interval.

    It is the mean over the opponents' shares, without games against itself; None if there are no others.
    """
    place = table.agents.index(name)
    parts = [(table.agents.index(other), share) for other, share in mix.items() if other in table.agents]
    parts = [(other, share) for other, share in parts if table.games[place, other] > 0]
    total = sum(share for _, share in parts)
    if not total:
        return None
    score = sum(share * float(table.score[place, other]) for other, share in parts) / total
    middle = sum(share * float(table.middle[place, other]) for other, share in parts) / total
    error = sum((share * float(table.error[place, other])) ** 2 for other, share in parts) ** 0.5 / total
    return score, max(middle - 1.96 * error, 0.0), min(middle + 1.96 * error, 1.0)


def _hardest(table: Payoffs, learner: str, members: Sequence[str]) -> dict[str, float]:
    """Return shares of members by (1 - the learner's score)^2: prioritized fictitious self-play, f_hard.

    A member that it has not met counts as its equal.
    """
    row, met = table.agents.index(learner), {*table.agents} - {learner}
    scores = [float(table.score[row, table.agents.index(name)]) if name in met else 0.5 for name in members]
    hard = (1 - np.array(scores)) ** 2
    hard = hard if hard.sum() > 0 else np.ones(len(members))
    return {name: float(share) for name, share in zip(members, hard / hard.sum(), strict=True)}


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the shares without those that are too small to matter."""
    total = sum(weights.values())
    kept = {name: weight for name, weight in weights.items() if weight / total >= _LEAST}
    rest = sum(kept.values())
    return {name: round(weight / rest, 6) for name, weight in kept.items()}


def _name(role: str, number: int) -> str:
    return f"{role}-{number:03d}"
