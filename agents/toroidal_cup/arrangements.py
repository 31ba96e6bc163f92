"""Random placements of the Toroidal Cup, and the cells that they take.

Letters: `L` games, `K` placements, `P` teams, `A` actions, `N` cells.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import chance, sampling
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup.game import ToroidalCup


def random_placements(legal: Tensor, seeds: Tensor, purpose: int, count: int) -> Tensor:
    """Return random legal actions of all teams, int64 [L, count, P].

    Args:
        legal: bool [L, P, A].
        seeds: int64 [L], one for each game.
        purpose: purpose of the random numbers, see `chance.draw`.
        count: number of draws for each game.
    """
    games, teams = legal.shape[:2]
    words = sampling.pack(legal.flatten(0, 1)).view(games, 1, teams, -1).expand(-1, count, -1, -1).flatten(0, 2)
    bits = chance.draw(seeds[:, None], purpose, torch.arange(count * teams, device=seeds.device))
    return sampling.random_legal(words, bits.flatten() & 0x7FFFFFFF).view(games, count, teams)


def placed(game: ToroidalCup, stamp: Tensor, actions: Tensor, seats: Tensor) -> Tensor:
    """Return boards with one shape of a team, int8 [L, K, N]: 0 empty, else the team's number.

    Args:
        game: the rules.
        stamp: int64 [L], the kind of shape.
        actions: int64 [L, K].
        seats: int64 [L], who places it.
    """
    row, col = placement.footprint(game.lattice, game.stamps, stamp[:, None].expand_as(actions), actions)
    flat = row * game.cols + ((seats * game.lattice.band)[:, None, None] + col) % game.cols
    empty = torch.zeros((*actions.shape, game.rows * game.cols), dtype=torch.int8, device=actions.device)
    return empty.scatter(2, flat, (seats + 1).to(torch.int8)[:, None, None].expand_as(flat))
