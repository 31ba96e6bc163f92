"""The ends of random games of Torus, without playing them.

A full board fulfils exactly one side's goal, and a goal once reached stays reached. So a game that goes on at random
is won by the side whose goal the board fulfils when its free cells are filled at random, half of them by each side.
Groups are then found among octagons alone: a square only ties two octagons of its colour that lie across it.

Letters: `X` games, which stand innermost in memory; `n` the size, `N = 2 n^2` cells, `O = n^2` octagons. Tensors are
float32 where nothing else is said: where a processor lacks masked loads, compiled code loads integers several times as
slowly. All values are exact: whole numbers, or multiples of 2^-16 below 2^8.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import torch
from torch import Tensor

from cellgames.envs.kernels.compiling import kernel
from cellgames.envs.kernels.lookup_tables import table
from cellgames.envs.native import Library, operator, pointer
from cellgames.envs.stones.stone_tensors import LOTS, filled

from . import rules
from .geometry import neighbours

__all__ = ["LOTS", "winners"]

_WIDTHS = (64, 256)  # games evaluated together on CPU: few sizes, so that few graphs are compiled, and all in the cache
_GAMES_A_THREAD = 128  # of native code: starting a thread takes as long as some dozens of games

_LINKS = 8  # of an octagon, to those that it touches and those across squares; the first half are all pairs once
_BROKEN = 1e9  # added to a label where there is no link
# A label is a cell that names the group, 1/2, and the offset of the way from there (see `rules`) in these units.
_OFFSET = 2.0**-16
_ROUNDS = 4  # of spreading labels between two looks at whether any has changed


@operator(
    "torus_winners(Tensor stones, Tensor player, Tensor lots) -> Tensor",
    fake=lambda stones, player, lots: player.new_empty(len(player), dtype=torch.int32),
)
def winners(stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
    """Return who wins if play goes on at random from here: 1 Black, 2 White, int32 [X].

    Args:
        stones: integers [X, N], 0 free, 1 Black, 2 White.
        player: int64 [X], who moves next.
        lots: int32 [X, N], random numbers below `LOTS`.
    """
    board = filled(stones, player, lots).float()
    games = len(board)
    widest = _WIDTHS[-1] if stones.device.type == "cpu" else max(_WIDTHS[-1], 1 << (games - 1).bit_length())
    results = [player.new_zeros(0, dtype=torch.int32)]
    for some in board.split(widest):
        width = next((width for width in _WIDTHS if width >= len(some)), widest)
        padded = torch.zeros((board.shape[1], width), device=board.device, dtype=torch.float32)
        padded[:, : len(some)] = some.t()
        results.append(_winners(padded)[: len(some)])
    return torch.cat(results)


@winners.native
def _native_winners(native: Library, stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
    """Return `winners`, by `sources/torus_filling.cpp`."""
    games, cells = stones.shape
    board, player, lots = stones.int().contiguous(), player.contiguous(), lots.contiguous()
    winner = player.new_empty(games, dtype=torch.int32)
    threads = min(torch.get_num_threads(), 1 + games // _GAMES_A_THREAD)
    native.cellgames_torus_winners(
        isqrt(cells // 2),
        games,
        threads,
        pointer(board, torch.int32),
        pointer(player, torch.int64),
        pointer(lots, torch.int32),
        pointer(winner, torch.int32),
    )
    return winner


def _winners(board: Tensor) -> Tensor:
    """Return `winners` of full boards, [N, X]."""
    cells, games = board.shape
    links, labels = board.new_empty((_LINKS, cells // 2, games)), board.new_empty((cells // 2, games))
    _run(_connect, board, links, labels)
    before = torch.zeros_like(labels)
    propagate = kernel(_propagate, [links, labels, before], fused=False)
    while not torch.equal(labels, before):
        for _ in range(_ROUNDS // 2):
            propagate([links, labels, before])
            propagate([links, before, labels])
    winner = board.new_empty(games, dtype=torch.int32)
    _run(_find_winner, board, links, labels, winner)
    return winner


def _run(function: Callable[..., None], *arguments: Tensor) -> None:
    kernel(function, list(arguments), fused=False)(list(arguments))


def _connect(board: Tensor, links: Tensor, labels: Tensor) -> None:
    """Write what links add to a label from the other end, and a label of its own for each octagon."""
    ends, between, turns = _links(isqrt(len(labels)), board.device)
    colours = board[: len(labels)]
    same = (board[ends].view(links.shape) == colours) & (board[between].view(links.shape) == colours)
    links.copy_(torch.where(same, turns, _BROKEN))
    labels.copy_((torch.arange(len(labels), device=board.device) + 0.5)[:, None].expand_as(labels))


def _propagate(links: Tensor, labels: Tensor, after: Tensor) -> None:
    """Let each octagon take over a label that it is linked with, if that names an earlier cell than its own."""
    best = (labels[_links(isqrt(len(labels)), labels.device)[0]].view(links.shape) + links).amin(0)
    after.copy_(torch.where(best < torch.floor(labels), best, labels))


def _find_winner(board: Tensor, links: Tensor, labels: Tensor, winner: Tensor) -> None:
    """Write the winner, int32 [X], of a full board whose groups are labelled.

    Two ways from the first octagon of a group that meet with different offsets are a cycle, a simple one, since no
    octagon is on both but in their common beginning. Any two cycles of a board are parallel, unless one side has all.
    """
    half = links[: _LINKS // 2]
    ends = _links(isqrt(len(labels)), labels.device)[0].view(_LINKS, -1)[: _LINKS // 2].flatten()
    cycle = (labels[ends].view(half.shape) + half - labels).abs() * (4 / _OFFSET)
    seen = torch.where((half != _BROKEN) & (cycle != 0), cycle + board[: len(labels)], 0).flatten(0, 1)
    most, least = seen.amax(0).int(), torch.where(seen == 0, _BROKEN, seen).amin(0).int()
    owner = most & rules.COLOUR
    won = rules.wins(most >> 2, least >> 2, owner, torch.where)
    winner.copy_(torch.where(won, owner, 3 - owner))


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
