"""Random openings, for games of chance too.

Letters: `B` games.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.agents.play_loop import random_openings
from cellgames.envs.core import Game, State


def openings(game: Game, seeds: Tensor, plies: int, generator: torch.Generator) -> Tensor:
    """Draw uniformly random legal actions for the first turns of games, in these very games.

    An opening stops before an action that ends its game.

    Args:
        game: the rules.
        seeds: int64 [B], of the games.
        plies: turns of an opening, at most.
        generator: consumed.

    Returns:
        int64 [B, plies], or [B, plies, P] or [B, plies, P, K] in simultaneous games; -1 from where an opening stops.
        What `cellgames.agents.play` takes as `opening`.
    """
    shape = (len(seeds), plies, *game.info.action_shape)
    drawn = torch.full(shape, -1, dtype=torch.int64, device="cpu")
    state: State = game.init(seeds)
    for ply in range(plies):
        chosen = game.random_actions(state, generator)
        # A last turn may be all of Life, only to be thrown away.
        env_ids = (~(state.done | game.is_last_turn(state))).nonzero().squeeze(1)
        if not len(env_ids):
            break
        after = game.step(state[env_ids], chosen[env_ids], checked=False)
        state = state.put(env_ids, after)
        going = env_ids[~after.done]
        drawn[going, ply] = chosen[going]
    return drawn


def match_openings(game: Game, seeds: Tensor, plies: int, generator: torch.Generator) -> Tensor:
    """Draw the openings of a match, one a seed; arguments and result are those of `openings`.

    Without chance an opening fits every seed, so all are full and those that end the game are drawn again
    (`agents.random_openings`). With chance what is legal, and when a game ends, may depend on the seed.
    """
    if game.info.stochastic:
        return openings(game, seeds, plies, generator)
    return random_openings(game, len(seeds), plies, generator)


def lengths(drawn: Tensor) -> list[int]:
    """Return the number of turns of each of the openings [B, plies, ...]."""
    return (drawn[..., None].flatten(2) >= 0).all(2).sum(1).tolist()
