"""`amaf:N`: Monte Carlo that values an action by all playouts in which it occurs ("all moves as first").

Letters: `L` games to move in, `N` playouts a game, `A` actions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.utils.errors import check_at_least

from .halving import lots
from .playouts import MAX_BATCH, PlayoutAgent, finish


class AmafAgent(PlayoutAgent):
    """An agent that plays the action that matters most: the mover does better where it, not another, plays it.

    From each position `playouts` random games are played. An action's value is the mover's mean result in
    those in which the mover plays it at any time, less that in those in which somebody else does (Bruegmann,
    "Monte Carlo Go", 1993; Bouzy and Helmstetter, "Monte-Carlo Go developments", 2003). So one playout says
    something about every cell, which suits games in which a cell is worth much the same whenever it is taken,
    connection games above all. Ties are broken by the generator.
    """

    def __init__(self, playouts: int, *, name: str | None = None) -> None:
        check_at_least(1, playouts=playouts)
        super().__init__(name if name is not None else f"amaf:{playouts}", playouts)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        game = self.game
        mask = game.legal_actions(state)
        # [2, L * A] for the mover's own playouts and the others'.
        value, seen = torch.zeros((2, 2, mask.numel()), device=state.device, dtype=torch.float32)
        rows = torch.arange(len(state), device=state.device).repeat_interleave(self.playouts)
        for some in torch.split(rows, MAX_BATCH):
            self._sample(game, state, some, mask.shape[1], value, seen, generator)
        # One win in two is taken for granted, so that an action never seen has the value 1/2.
        own, others = ((value + 0.5) / (seen + 1)).view(2, *mask.shape)
        worth = (own - others).masked_fill(~mask, -2)
        return lots(mask, generator).masked_fill(worth < worth.amax(1, keepdim=True), -1).argmax(1)

    @staticmethod
    def _sample(
        game: Game,
        state: State,
        rows: Tensor,
        width: int,
        value: Tensor,
        seen: Tensor,
        generator: torch.Generator,
    ) -> None:
        """Run one playout from each game of `rows` [X], added to value and seen [2, L * A]."""
        games = state[rows]
        mover = games.current_player
        played = torch.zeros((2, len(rows), width), dtype=torch.bool, device=state.device)

        def record(places: Tensor, players: Tensor, actions: Tensor) -> None:
            played[(players != mover[places]).long(), places, actions] = True

        outcome = finish(game, games, generator, record).gather(1, mover[:, None])
        result = (outcome + 1).float() / 2
        # Exact in float32, whatever the order of the sums: halves of whole numbers.
        for side, marks in enumerate(played.float()):
            seen[side].view(-1, width).index_add_(0, rows, marks)
            value[side].view(-1, width).index_add_(0, rows, marks * result)
