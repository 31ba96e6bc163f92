"""Evaluators of the positions at which a search tree grows.

Letters: `X` positions, `A` actions, `P` players.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from cellgames.agents.networks.networks import Network
from cellgames.agents.playouts.playouts import outcomes
from cellgames.envs.core import Game, State
from cellgames.utils.errors import check_at_least


class Evaluation(NamedTuple):
    """The evaluation of `X` positions.

    Attributes:
        logits: float [X, A], of a prior over actions; illegal ones count for nothing. Where all players act at once,
            those of each player, float [X, P, A].
        value: float [X, P], what each player can expect, from -1 to 1.
    """

    logits: Tensor
    value: Tensor


class Evaluator(Protocol):
    """An evaluator of positions."""

    def evaluate(self, game: Game, state: Any, generator: torch.Generator) -> Evaluation:
        """Evaluate `X` unfinished games; the generator is consumed."""


class PlayoutEvaluator:
    """An evaluator by the mean of random playouts, which prefers no action.

    Args:
        playouts: from each position.
    """

    def __init__(self, playouts: int = 1) -> None:
        check_at_least(1, playouts=playouts)
        self.playouts = playouts

    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        """Evaluate positions, as `Evaluator` does."""
        rows = torch.arange(len(state), device=state.device).repeat_interleave(self.playouts)
        many = state if self.playouts == 1 else state[rows]
        value = outcomes(game, many, generator).float().unflatten(0, (len(state), self.playouts)).mean(1)
        players = (game.info.num_players,) * game.info.simultaneous
        return Evaluation(value.new_zeros((len(state), *players, game.info.num_actions)), value)


class NetworkEvaluator:
    """An evaluator by a network, which goes to the device of the positions.

    Args:
        network: the game's. In zero-sum games for two in turns its value is the mover's, and the opponent's is the
            opposite; in others each player's own view is evaluated.
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    @torch.no_grad()
    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        """Evaluate positions, as `Evaluator` does."""
        info, mover = game.info, state.current_player
        if self.network.training:  # asking is quicker than setting every layer
            self.network.eval()
        if info.zero_sum and info.num_players == 2 and not info.simultaneous:
            logits, own = self._ask(game, state, mover)
            other = -own
            value = torch.stack((torch.where(mover == 0, own, other), torch.where(mover == 0, other, own)), 1)
            return Evaluation(logits, value)
        views = [self._ask(game, state, torch.full_like(mover, seat)) for seat in range(info.num_players)]
        logits, value = (torch.stack(parts, 1) for parts in zip(*views, strict=True))
        if not info.simultaneous:
            logits = logits[torch.arange(len(mover), device=mover.device), mover]
        return Evaluation(logits, value)

    def _ask(self, game: Game, state: State, seat: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [X, A] and the seat's value [X]."""
        if next(self.network.parameters()).device != state.device:
            self.network.to(state.device)
        logits, value, _ = self.network(game.observe(state, seat))
        return logits.float(), value.float().clamp(-1.0, 1.0)
