"""How good a learner is by now: games against agents that stay what they are.

Letters: `B` games, `P` seats.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, draw_seeds
from cellgames.agents.play_loop import play, random_openings
from cellgames.agents.random_agent import has_compound_turns
from cellgames.envs.core import Game

__all__ = ["OPENING_PLIES", "Comparison", "compare", "seatings"]

OPENING_PLIES = 2
"""Random moves before the agents take over, where all is seen and no dice fall; elsewhere these make games differ.

None where turns are several actions: chance makes no turns there, and an action is only a part.
"""


@dataclass(frozen=True)
class Comparison:
    """Games of a learner against another agent.

    Attributes:
        ahead: its share of the games for two, or of the pairs of a seat of its own and one of the other's; those that
            are level, and games that both lose, count half.
        decided: share of the games or pairs that are not level.
        score: mean final score of its seats, as the game counts.
        other_score: of the other's.
    """

    ahead: float
    decided: float
    score: float
    other_score: float


def compare(
    game: Game,
    learner: AnyAgent,
    other: AnyAgent,
    games: int,
    seed: int,
    device: torch.device | str = "cpu",
) -> Comparison:
    """Play games in pairs: with the same opening and the same dice, seats exchanged.

    Args:
        game: for any number of players; the learner has half of the seats.
        learner: plays.
        other: plays.
        games: even.
        seed: all chance of the games follows from it.
        device: on which they are played.

    Raises:
        ValueError: an odd number of games; an agent that cannot play the game.
    """
    if games < 2 or games % 2:
        raise ValueError(f"expected an even number of games, got {games}")
    chance, *generators = (torch.Generator().manual_seed(seed + number) for number in range(3))
    info, opening = game.info, None
    alike = info.perfect_information and not (info.simultaneous or info.stochastic)
    if alike and not has_compound_turns(game) and info.max_turns > OPENING_PLIES:
        opening = random_openings(game, games // 2, OPENING_PLIES, chance).repeat_interleave(2, 0)
    seeds = draw_seeds(games // 2, chance).repeat_interleave(2).to(device)
    seats = seatings(games, info.num_players, chance)
    played = play(game, [learner, other], seats.to(device), seeds, generators, opening=opening)
    scores = played.state.scores.cpu().double()
    rank = game.outcome(played.state).cpu().double() if info.num_players == 2 else scores
    return _comparison(rank, scores, seats == 0)


def seatings(games: int, players: int, generator: torch.Generator) -> Tensor:
    """Who sits where: int64 [B, P], 0 the learner, 1 the other; of two games in a row one exchanges all seats."""
    order = torch.rand((games // 2, players), generator=generator).argsort(1)
    first = (order >= players // 2).long()
    return torch.stack((first, 1 - first), 1).flatten(0, 1)


def _comparison(rank: Tensor, scores: Tensor, learner_mask: Tensor) -> Comparison:
    """Out of what places are decided by, [B, P], final scores, and whose seats they are, bool [B, P]."""
    pairs = learner_mask[:, :, None] & ~learner_mask[:, None]  # the learner's seats, and the other's
    gap = (rank[:, :, None] - rank[:, None])[pairs].sign()
    return Comparison(
        ahead=float((1 + gap).mean()) / 2,
        decided=float((gap != 0).double().mean()),
        score=float(scores[learner_mask].mean()),
        other_score=float(scores[~learner_mask].mean()),
    )
