"""`rollout:N` in Cloth of Gold: flat Monte Carlo over whole turns.

Letters: `L` games to move in, `C` candidate turns (arms), `X` playouts, `K` the most units of a turn.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.playouts.playouts import affordable, at_once, best_arm, play_out
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.utils.errors import check_at_least

from .greedy import ClothGreedy
from .turns import random_turns


class ClothRollout(ClothGreedy):
    """An agent that plays the turn that does best in games finished by random turns.

    `playouts` in all are spent on each turn, by sequential halving among random turns of shapes. Their number is the
    largest that can be tried in every round of it, `candidates` at most. A win counts 1, anything else 0.
    """

    def __init__(self, playouts: int, *, candidates: int = 64) -> None:
        check_at_least(1, playouts=playouts, candidates=candidates)
        super().__init__(f"rollout:{playouts}", candidates=affordable(playouts, candidates))
        self.playouts = playouts

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        game, rows = self.game, torch.arange(len(state), device=state.device)
        plans = random_turns(game, state, draw_seeds(len(state), generator, state.device), self.candidates, border=True)

        def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
            return self._try(state, plans[rows[:, None], arms], pulls, generator)

        count = torch.full_like(rows, self.candidates)
        return plans[rows, best_arm(count, self.candidates, self.playouts, attempt, generator)]

    def _try(self, state: ClothState, plans: Tensor, pulls: Tensor, generator: torch.Generator) -> Tensor:
        """Return the games won in `pulls` playouts of each turn, float32 [L, C], for plans int64 [L, C, K]."""
        game = self.game
        won = torch.zeros(pulls.numel(), device=state.device, dtype=torch.float32)
        arms = torch.arange(len(won), device=state.device).repeat_interleave(pulls.flatten())  # [X]
        for some in arms.split(at_once(game)):
            rows = some // pulls.shape[1]
            games = state[rows]
            if game.random_rounds:  # other dice in every playout
                games = games.replace(seed=draw_seeds(len(games), generator, games.device))
            after = game.play_turn(games, plans.flatten(0, 1)[some])
            outcome = finish_turns(game, after, generator).gather(1, state.current_player[rows, None]).squeeze(1)
            won.index_add_(0, some, (outcome > 0).to(won.dtype))
        return won.view_as(pulls)


def finish_turns(game: ClothOfGold, state: ClothState, generator: torch.Generator) -> Tensor:
    """Play `X` games to their end by random turns and return `Game.outcome`, int8 [X, 2]; the generator is consumed."""

    def turn(state: ClothState, places: Tensor) -> ClothState:
        seeds = draw_seeds(len(state), generator, state.device)
        return game.play_turn(state, random_turns(game, state, seeds, 1).squeeze(1))

    return play_out(game, state, turn)
