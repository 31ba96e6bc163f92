"""The contract that every game of the suite fulfils."""

from __future__ import annotations

import torch

from cellgames.envs.kernels.compiling import Compile

from .layers import Drawing, Notation, SearchHints, SingleGame, Symmetries
from .state import S
from .vector import Positions, Vector

__all__ = ["Game"]


class Game(Notation[S], Drawing[S], Symmetries[S], SearchHints[S], SingleGame[S]):
    """The rules of a game, without state: pure functions on batches of games.

    A game is a frozen dataclass whose fields are its parameters. It must have eight members (see `BaseGame`): its
    `id`, its `info`, the hooks `_init`, `_step` and `_legal`, and `observe`, `board` and `outcome`. The hooks need no
    thought for finished games, illegal actions and wrong shapes. All else has a default, in layers:

        Notation     actions and positions as text
        Drawing      positions as pictures, and as text for a terminal
        Symmetries   ways of moving the board that keep the game, for learning
        SearchHints  what a search can ask instead of playing
        SingleGame   one game outside a batch, which may run on plain integers

    `Game` without a parameter is a game with a state of any type.
    """

    def vector(
        self,
        num_envs: int,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        compile: Compile = "auto",
        positions: Positions | None = None,
        reuse_buffers: bool = False,
    ) -> Vector[S]:
        """Return games that start over by themselves: the fast way to play at random or train. See `Vector`."""
        return Vector(
            self,
            num_envs,
            seed=seed,
            device=device,
            compile=compile,
            positions=positions,
            reuse_buffers=reuse_buffers,
        )
