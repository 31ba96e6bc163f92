"""Evaluation: games of a learner against fixed agents.

Letters: `B` games, `P` seats.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, draw_seeds
from cellgames.agents.play_loop import play, random_openings
from cellgames.agents.playouts import has_compound_turns
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError

OPENING_PLIES = 2
"""Random moves before the agents take over, in games of perfect information without dice, so that games differ.

There are none in games whose turns are several actions, where random actions make no turns.
"""


@dataclass(frozen=True)
class Comparison:
    """Results of a learner against another agent.

    Attributes:
        ahead: share of the games for two in which the learner is ahead; in larger games, of the pairs of a seat of the
            learner and one of the other agent. Ties, and games that both lose, count half.
        decided: share of the games or pairs that are not ties.
        score: mean final score of the learner's seats, as the game counts.
        other_score: mean final score of the other agent's seats.
    """

    ahead: float
    decided: float
    score: float
    other_score: float


def compare(
    game: Game, learner: AnyAgent, other: AnyAgent, games: int, seed: int, device: torch.device | str = "cpu"
) -> Comparison:
    """Play pairs of games with the same opening and the same dice, but exchanged seats.

    The other agent forfeits games in which it fails; its seats that failed are then behind.

    Args:
        game: for any number of players; the learner has half of the seats.
        learner: one agent.
        other: the other agent.
        games: an even number.
        seed: seed of all randomness in the games.
        device: device of the games.

    Raises:
        ValueError: an odd number of games; an agent that cannot play the game.
        RuntimeError: the learner fails.
    """
    if games < 2 or games % 2:
        raise InputError("games", "an even number of games", games)
    chance, *generators = (torch.Generator().manual_seed(seed + number) for number in range(3))
    info, opening = game.info, None
    alike = info.perfect_information and not (info.simultaneous or info.stochastic)
    if alike and not has_compound_turns(game) and info.max_turns > OPENING_PLIES:
        opening = random_openings(game, games // 2, OPENING_PLIES, chance).repeat_interleave(2, 0)
    seeds = draw_seeds(games // 2, chance).repeat_interleave(2).to(device)
    seats = seatings(games, info.num_players, chance)
    played = play(game, [learner, other], seats.to(device), seeds, generators, opening=opening, forfeits=True)
    scores = played.state.scores.cpu().double()
    rank = game.outcome(played.state).cpu().double() if info.num_players == 2 else scores
    for env_id, failure in played.failures.items():
        if (seats[env_id, list(failure.seats)] == 0).any():
            raise RuntimeError(f"the learner failed in its evaluation: {failure.reason}\n{failure.trace}")
        rank[env_id] = 0.0
        rank[env_id, list(failure.seats)] = -1.0
    if played.failures:
        reason = next(iter(played.failures.values())).reason
        warnings.warn(
            f"{other.name!r} forfeited {len(played.failures)} of {games} games of an evaluation: {reason}",
            RuntimeWarning,
            stacklevel=2,
        )
    return _comparison(rank, scores, seats == 0)


def seatings(games: int, players: int, generator: torch.Generator) -> Tensor:
    """Return the agent of each seat, int64 [B, P]: 0 the learner, 1 the other. Games 2i and 2i + 1 exchange seats."""
    order = torch.rand((games // 2, players), generator=generator, dtype=torch.float32, device="cpu").argsort(1)
    first = (order >= players // 2).long()
    return torch.stack((first, 1 - first), 1).flatten(0, 1)


def _comparison(rank: Tensor, scores: Tensor, learner_mask: Tensor) -> Comparison:
    """Compare the learner's seats (`learner_mask`, bool [B, P]) with the others by `rank`, [B, P]."""
    pairs = learner_mask[:, :, None] & ~learner_mask[:, None]  # the learner's seats, and the other's
    gap = (rank[:, :, None] - rank[:, None])[pairs].sign()
    return Comparison(
        ahead=float((1 + gap).mean()) / 2,
        decided=float((gap != 0).double().mean()),
        score=float(scores[learner_mask].mean()),
        other_score=float(scores[~learner_mask].mean()),
    )
