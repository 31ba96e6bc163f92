"""The network for Hex and Y."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.blocks import Trunk, head, pooled
from cellgames.agents.networks.networks import Network, Relation, Size
from cellgames.envs.connection.board_tables import cell_places
from cellgames.envs.connection.boards import board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError

from .walks import walk_planes


class ConnectionNetwork(Network[ConnectionGame]):
    """A network of convolutions on the planes of the board, with zeros beyond its edges.

    In Hex it always plays for Black's goal: White's positions are mirrored, which exchanges the goals, and its answers
    are mirrored back. Knowledge learned in one colour serves in the other. The same weights serve every size, and those
    of the game with the swap serve without it.
    """

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        made = self.game
        self._of_board, self._swap = (made.shape, made.tiling), made.swap
        kinds = made.layout.kinds
        # Stones and free cells, costs of walks, whether a swap is legal.
        sides = made.layout.goals[0].bit_count()
        self.trunk = Trunk((3 + 2 * (sides + 2)) * kinds + 1, size, wrap=False)
        self.register_load_state_dict_pre_hook(_without_walks)  # type: ignore[no-untyped-call]
        self.policy = nn.Conv2d(size.channels, kinds, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        if made.swap:
            self.swap = head(2 * size.channels, size.channels, 1, 0.01)
        else:
            self.register_load_state_dict_pre_hook(_without_swap)  # type: ignore[no-untyped-call]
        self.value = head(2 * size.channels, 2 * size.channels, 1, 1.0)

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        if cast(ConnectionGame, game).swap and not self._swap:
            raise InputError("game", "one without the swap", game, "this network learned without it")

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        seen = observation.float()
        stones, black = seen[:, :-1], seen[:, -1:]
        mirrored = (black[:, :, :1, :1] == 0) & (self._of_board[0] == "rhombus")
        stones = torch.where(mirrored, stones.transpose(-1, -2), stones)
        kinds = stones.shape[1] // 3
        # The second player may swap where the first stone alone is on the board.
        alone = (stones[:, :kinds].sum((1, 2, 3)) == 0) & (stones[:, kinds : 2 * kinds].sum((1, 2, 3)) == 1)
        may_swap = (1 - black) * (alone.view(-1, 1, 1, 1) & self._swap)
        layout = board(*self._of_board, observation.shape[-1])
        walks = walk_planes(layout, stones[:, : 2 * kinds])
        hidden = self.trunk(torch.cat((stones, may_swap.expand_as(stones[:, :1]), walks), 1))
        planes = self.policy(hidden)
        planes = torch.where(mirrored, planes.transpose(-1, -2), planes)
        logits = planes.flatten(1)[:, cell_places(layout, observation.device)]
        summary = pooled(hidden)
        if self._swap:
            logits = torch.cat((logits, self.swap(summary)), 1)
        return logits, self.value(summary).squeeze(1), None


def _without_swap(module: nn.Module, weights: dict[str, Tensor], *rest: object) -> None:
    """Drop the weights of the swap from those that a network without it is to load."""
    for name in [name for name in weights if name.startswith("swap.")]:
        del weights[name]


def _without_walks(module: nn.Module, weights: dict[str, Tensor], *rest: object) -> None:
    """Give weights that were learned without the planes of walks zeros for these."""
    first, wanted = weights.get("trunk.first.weight"), module.get_parameter("trunk.first.weight")
    if first is not None and first.ndim == wanted.ndim:
        missing = wanted.shape[1] - first.shape[1]
        weights["trunk.first.weight"] = functional.pad(first, (0, 0, 0, 0, 0, max(0, missing)))
