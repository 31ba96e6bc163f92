"""Random openings drawn in the very games that they open, for games of chance too.

Letters: `B` games.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cellgames.agents.random_agent import random_actions
from cellgames.envs.core import Game, State

__all__ = ["lengths", "openings"]


def openings(game: Game[Any], seeds: Tensor, plies: int, generator: torch.Generator) -> Tensor:
    """Uniformly random legal actions for the first turns of games; an opening stops before one that ends its game.

    Args:
        game: the rules.
        seeds: int64 [B], of the games.
        plies: turns of an opening, at most.
        generator: consumed.

    Returns:
        int64 [B, plies], or [B, plies, P] or [B, plies, P, K] in simultaneous games; -1 from where an opening stops.
        What `agents.play.play` takes as `opening`.
    """
    shape = (len(seeds), plies, *game.info.action_shape)
    drawn = torch.full(shape, -1, dtype=torch.int64)
    state: State = game.init(seeds)
    for ply in range(plies):
        mask = game.legal_actions(state)
        flat = random_actions(mask.reshape(-1, mask.shape[-1]), game.info.action_nvec, generator)
        chosen = flat.view(len(seeds), *game.info.action_shape)
        # A last turn may be all of Life, only to be thrown away.
        lanes = (~(state.over | game.is_last_turn(state))).nonzero().squeeze(1)
        if not len(lanes):
            break
        after = game.step(state[lanes], chosen[lanes], checked=False)
        state = state.put(lanes, after)
        going = lanes[~after.over]
        drawn[going, ply] = chosen[going]
    return drawn


def lengths(drawn: Tensor) -> list[int]:
    """How many turns each of the openings [B, plies, ...] has."""
    return (drawn[..., None].flatten(2) >= 0).all(2).sum(1).tolist()
