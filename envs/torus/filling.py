"""The ends of random games of Torus, without playing them.

A full board fulfils exactly one side's goal, and a goal once reached stays reached. So a game that goes on at random
is won by the side whose goal the board fulfils when its free cells are filled at random, half of them by each side.
Groups are then found among octagons alone: a square only ties two octagons of its colour that lie across it.

Letters: `X` games, which stand innermost in memory; `n` the size, `N = 2 n^2` cells, `O = n^2` octagons. Tensors are
float32 where nothing else is said. All values are exact: whole numbers, or multiples of 2^-16 below 2^8.
"""

from __future__ import annotations

from math import isqrt

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads
from cellgames.envs.native.operators import table
from cellgames.envs.stones.joining import COLOUR
from cellgames.envs.stones.stone_tensors import filled

from . import rules
from .geometry import neighbours

_GAMES_A_THREAD = 128  # of native code: starting a thread takes as long as some dozens of games

_LINKS = 8  # of an octagon, to those that it touches and those across squares; the first half are all pairs once
_BROKEN = 1e9  # added to a label where there is no link
# A label is a cell that names the group, 1/2, and the offset of the way from there (see `rules`) in these units.
_OFFSET = 2.0**-16
_ROUNDS = 4  # of spreading labels between two looks at whether any has changed


@Operator
def winners(stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
    """Return the winners of random play from these positions: 1 Black, 2 White, int32 [X]; see `StoneGame._winners`."""
    board = filled(stones, player, lots).float().t().contiguous()
    links = _connected(board)
    labels = (torch.arange(len(board) // 2, device=board.device) + 0.5)[:, None].expand(-1, len(stones))
    before = torch.zeros_like(labels)
    while not torch.equal(labels, before):
        before = labels
        for _ in range(_ROUNDS):
            labels = _spread(links, labels)
    return _winner(board, links, labels)


@winners.native
def _native_winners(native: Library, stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
    """Return `winners`, by `sources/torus_filling.cpp`."""
    games, cells = stones.shape
    winner, numbers = player.new_empty(games, dtype=torch.int32), (isqrt(cells // 2), games)
    native.cellgames_torus_winners(*numbers, threads(games, _GAMES_A_THREAD), stones.int(), player, lots, winner)
    return winner


def _connected(board: Tensor) -> Tensor:
    """Return the change of a label along each link, `_BROKEN` between octagons that are not linked: [8, O, X]."""
    ends, between, turns = _links(isqrt(len(board) // 2), board.device)
    octagons = board[: len(board) // 2]
    shape = (_LINKS, *octagons.shape)
    same = (board[ends].view(shape) == octagons) & (board[between].view(shape) == octagons)
    return torch.where(same, turns, _BROKEN)


def _spread(links: Tensor, labels: Tensor) -> Tensor:
    """Return the labels after each octagon took over one that it is linked with, if that names an earlier cell."""
    ends = _links(isqrt(len(labels)), labels.device)[0]
    best = (labels[ends].view(links.shape) + links).amin(0)
    return torch.where(best < torch.floor(labels), best, labels)


def _winner(board: Tensor, links: Tensor, labels: Tensor) -> Tensor:
    """Return the winner, int32 [X], of full boards whose groups are labelled.

    Two ways from the first octagon of a group that meet with different offsets are a cycle, a simple one, since no
    octagon is on both but in their common beginning. Any two cycles of a board are parallel, unless one side has all.
    """
    half = links[: _LINKS // 2]
    ends = _links(isqrt(len(labels)), labels.device)[0].view(_LINKS, -1)[: _LINKS // 2].flatten()
    cycle = (labels[ends].view(half.shape) + half - labels).abs() * (4 / _OFFSET)
    seen = torch.where((half != _BROKEN) & (cycle != 0), cycle + board[: len(labels)], 0).flatten(0, 1)
    most, least = seen.amax(0).int(), torch.where(seen == 0, _BROKEN, seen).amin(0).int()
    owner = most & COLOUR
    won = rules.wins(most >> 2, least >> 2, owner, torch.where)
    return torch.where(won, owner, 3 - owner)


@table
def _links(size: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the links of all octagons: their other ends and what lies between, both int64 [8 O], and turns, [8, O, 1].

    Where two octagons touch, the other end stands for what lies between.
    """
    rings = neighbours(size)
    links = []
    for place in range(_LINKS):
        for ring in rings[: size * size]:
            end = edge = ring[place]
            if place % 2:
                end = rings[edge.cell][(place // 2 + 2) % 4]
            right, down = (edge.right + end.right, edge.down + end.down) if place % 2 else (edge.right, edge.down)
            links.append((end.cell, edge.cell, -(right + 256 * down)))
    ends, between, turns = torch.tensor(links, device=device).t().contiguous()
    return ends, between, turns.view(_LINKS, -1, 1) * _OFFSET
