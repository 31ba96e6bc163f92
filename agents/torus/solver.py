"""Torus solved on the boards of size 2 and 3: the winner with best play, and the moves that win.

Letters: `L` positions, `N = 2 n^2` cells, `G = 2 n^2` symmetries, `X` sets of cells, `C` classes of Black's sets,
`R` sets of White's, `K` cells that Black leaves free, `V` positions in the table.

A set of cells is a number; bit i is cell i.

**The table.** Before ply t, counted from 0, Black has (t + 1) // 2 stones and White has t // 2. Black's sets of one
count fall into classes of the translations by whole octagons and the half turn, which keep both sides' goals; a class
is named by its least set. White's stones are then some of the K cells left: squeezed together, these are the bits 0 to
K - 1, and White's set is known by its rank among the sets with the same number of bits. So every ply has a table
[C, R]; all tables have about 1 / G of the number of positions as entries. An entry says whether the player to move
wins. The tables are filled from the full board backwards: a player wins who has a move after which the other does not.
A player whose opponent has a winning path has lost. In the table of the full board nobody wins: somebody has a winning
path there, and if the game has gone on until then, it is White, by the last move.

**Winning paths** are those that the game's own step finds: stones of one colour are played until it has examined all
2^N sets of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import comb
from threading import Lock

import torch
from torch import Tensor

from cellgames.envs.native import library
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.symmetry import sources
from cellgames.utils.errors import InputError

from .proof_search import ProofSearch

SOLVED_SIZES = (2, 3)

_ROWS = 512  # of a table that are filled at once, so that what is in between stays in the cache


@dataclass(frozen=True, eq=False)
class _Sets:
    """Lookup tables by a set of cells.

    Attributes:
        image: [G, N] int64, the cell to which a symmetry brings each cell.
        count: [2^N] int32, cells of a set.
        rank: [2^N] int32, sets of the same count with a lower number.
        turn: [2^N] int32, the symmetry that makes a set the least of its class.
        least: [2^N] int32, the least set of its class.
        kind: [2^N] int32, classes of the same count whose least set has a lower number than this one's.
    """

    image: Tensor
    count: Tensor
    rank: Tensor
    turn: Tensor
    least: Tensor
    kind: Tensor

    def of_count(self, count: int, cells: int) -> Tensor:
        """Return all sets of `count` of the first `cells` cells, int64 [X], ascending."""
        return (self.count[: 1 << cells] == count).nonzero().squeeze(1)

    def places(self, black: Tensor) -> Tensor:
        """Return the bits that White's stone on each cell adds to the squeezed set, int64 [X, N]; 0 on Black's cells.

        Args:
            black: int64 [X], Black's sets.
        """
        image = self.image[self.turn[black]]
        before = self.count[self.least[black][:, None] & ((1 << image) - 1)]
        return (1 << (image - before)) * (1 - _bits(black, image.shape[1]))


@dataclass(frozen=True, eq=False)
class TorusSolver:
    """The winner of every position of alternating play on a small board; `solver` makes it.

    Positions are given by the sets of both sides' stones, int64 [L], on the CPU. All methods raise a
    `ValueError` for a position that is won already, or whose numbers of stones do not come from turns taken
    alternately, Black first: the table has no such position.

    Attributes:
        size: the board's.
        values: [V] bool, the tables of all plies one after the other.
        start: [N + 1] int64, where a ply's table begins.
        width: [N + 1] int64, R of each ply.
        holds: [2, 2^N] bool, whether a set has a winning path of Black's, of White's.
        sets: lookup tables by a set.
    """

    size: int
    values: Tensor
    start: Tensor
    width: Tensor
    holds: Tensor
    sets: _Sets

    def wins(self, black: Tensor, white: Tensor, player: Tensor) -> Tensor:
        """Return True where the player to move wins with best play, bool [L].

        Args:
            black: int64 [L], the set of Black's stones.
            white: int64 [L], White's.
            player: int64 [L], who moves: 0 for Black, 1 for White.
        """
        self._check(black, white, player)
        return self._look_up(black, white)

    def winning_moves(self, state: TorusState) -> Tensor:
        """Return the legal moves that win at once or with best play, bool [L, N]; none in a lost position."""
        stones, player = self._stones(state)
        row, cell = Torus(self.size).legal_actions(state).nonzero().unbind(1)
        after = [side[row] | ((player[row] == seat) * (1 << cell)) for seat, side in enumerate(stones)]
        return _marked(row, cell, ~self._look_up(*after), (len(state), num_cells(self.size)))

    def _stones(self, state: TorusState) -> tuple[Tensor, Tensor]:
        """Return both sides' sets, int64 [2, L], and the player to move, int64 [L], checked."""
        cells = num_cells(self.size)
        if state.codes.shape[1] != cells:
            parameter = "state"
            raise InputError(parameter, f"{cells} cells", state.codes.shape[1], "solver(game.size) is the game's")
        board, bit = Torus(self.size).board(state), 1 << torch.arange(cells, device=state.device)
        stones = torch.stack([(board == colour).long().mul(bit).sum(1) for colour in (1, 2)])
        self._check(stones[0], stones[1], state.current_player)
        return stones, state.current_player

    def _look_up(self, black: Tensor, white: Tensor) -> Tensor:
        """Return the table's entries of positions, bool [L]; False where the player not to move has won."""
        sets = self.sets
        ply = sets.count[black] + sets.count[white]
        squeezed = (sets.places(black) * _bits(white, num_cells(self.size))).sum(1)
        return self.values[self.start[ply] + sets.kind[black] * self.width[ply] + sets.rank[squeezed]]

    def _check(self, black: Tensor, white: Tensor, player: Tensor) -> None:
        """Raise a `ValueError` unless the table has the positions."""
        cells = num_cells(self.size)
        if (wrong := (black & white != 0) | ((black | white) >> cells != 0)).any():
            place = int(wrong.int().argmax())
            got = f"{int(black[place])} and {int(white[place])}"
            raise InputError(f"position {place}", f"disjoint sets of {cells} cells", got, "bit i stands for cell i")
        count = [self.sets.count[side] for side in (black, white)]
        if (wrong := (count[0] - count[1] != player) | (player < 0) | (player > 1)).any():
            place = int(wrong.int().argmax())
            raise InputError(
                f"position {place}",
                "equally many stones with Black (0) to move, or one more of Black's with White (1) to move",
                f"{int(count[0][place])} and {int(count[1][place])} with {int(player[place])} to move",
                "positions that alternating turns do not lead to are not solved",
            )
        if (wrong := self.holds[0, black] | self.holds[1, white]).any():
            place = int(wrong.int().argmax())
            side = "Black" if self.holds[0, black[place]] else "White"
            raise ValueError(f"expected positions of games that go on, but {side} has won position {place}")


@cache
def solver(size: int) -> TorusSolver:
    """Return the solver of a board, made at its first use: at size 3 in one to two seconds, with tables of 11 MB.

    Raises:
        ValueError: another size than 2 or 3.
    """
    if size not in SOLVED_SIZES:
        known = " and ".join(map(str, SOLVED_SIZES))
        raise InputError("size", f"a size that is solved, {known}", size, "larger ones have too many positions")
    sets, holds, cells = _sets(size), _holds(size), num_cells(size)
    tables: list[Tensor] = []
    for ply in reversed(range(cells + 1)):
        black = sets.of_count((ply + 1) // 2, cells)
        black = black[sets.least[black] == black]  # a class each
        if tables:
            tables.append(torch.cat([_filled(sets, holds, ply, part, tables[-1]) for part in black.split(_ROWS)]))
        else:  # on the full board nobody moves
            tables.append(torch.zeros((len(black), 1), dtype=torch.bool, device="cpu"))
    tables.reverse()
    length, width = (
        torch.tensor(numbers, device="cpu") for numbers in zip(*((t.numel(), t.shape[1]) for t in tables), strict=True)
    )
    values = torch.cat([table.flatten() for table in tables])
    return TorusSolver(size, values, length.cumsum(0) - length, width, holds, sets)


def _filled(sets: _Sets, holds: Tensor, ply: int, black: Tensor, later: Tensor) -> Tensor:
    """Return rows of a ply's table, bool [C, R], for some least sets of Black, int64 [C]; `later` is the next ply's."""
    cells = sets.image.shape[1]
    left = cells - (ply + 1) // 2  # K
    white = sets.of_count(ply // 2, left)  # [R], squeezed
    taken = _bits(white, left).t()  # [K, R]
    free = (_bits(black, cells) == 0).nonzero()[:, 1].view(len(black), left)  # [C, K], in the order of squeezed cells
    wins = torch.zeros((len(black), len(white)), dtype=torch.bool, device="cpu")
    for k in range(left):
        column = (taken[k] == 0).nonzero().squeeze(1)  # where the cell is free
        if ply % 2:
            lost = ~later[sets.kind[black]][:, sets.rank[white[column] | 1 << k]]
        else:
            joined = black | 1 << free[:, k]
            rank = sets.rank[_sums(sets.places(joined).gather(1, free), taken[:, column])]
            lost = ~later[sets.kind[joined][:, None], rank]
        wins[:, column] |= lost
    beaten = holds[0, black][:, None] if ply % 2 else holds[1, _sums(1 << free, taken)]
    return wins & ~beaten


def _sums(weights: Tensor, chosen: Tensor) -> Tensor:
    """Return the product of int64 [C, K] and int64 [K, R] of zeros and ones; sums below 2^24 are exact in floats."""
    return (weights.float() @ chosen.float()).long()


def _bits(sets: Tensor, cells: int) -> Tensor:
    """Return the bits of sets, int64 [X] to [X, cells]."""
    return sets[:, None] >> torch.arange(cells, device=sets.device) & 1


def _marked(row: Tensor, cell: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a bool tensor with values in some of its places, else False."""
    return torch.zeros(shape, dtype=torch.bool, device=values.device).index_put((row, cell), values)


def _holds(size: int) -> Tensor:
    """Return `TorusSolver.holds`, made in four parts by the last two cells, so that no batch of games is large."""
    game, cells = Torus(size), num_cells(size)
    last, first = range(cells - 2, cells), range(cells - 2)
    won = []
    for player in range(2):
        parts = _placed(game, game.init(torch.zeros(1, dtype=torch.int64, device="cpu")), player, last)
        won += [_placed(game, parts[part], player, first).terminated for part in range(len(parts))]
    return torch.cat(won).view(2, -1)


def _placed(game: Torus, state: TorusState, player: int, cells: Iterable[int]) -> TorusState:
    """Return the games with a player's stones on each set of some cells: first without a cell, then with it."""
    for cell in cells:
        mover = torch.full_like(state.current_player, player)
        more = game.step(state.replace(current_player=mover), torch.full_like(mover, cell), checked=False)
        state = TorusState.cat((state, more))
    return state


def _sets(size: int) -> _Sets:
    """Return the tables of a board."""
    # The quarter turns 0 and 2 keep the goals; a symmetry's sources are the inverse of its images.
    image = sources(size, torch.device("cpu")).view(4, size * size, -1)[::2].flatten(0, 1).argsort(1)
    cells, turns = image.shape[1], len(image)
    best = torch.full((1 << cells,), torch.iinfo(torch.int32).max, dtype=torch.int32, device="cpu")
    for turn, to in enumerate(image):
        best = torch.minimum(best, _united(1 << to.int()) * turns + turn)  # sets are compared first
    count, least = _united(torch.ones(cells, dtype=torch.int32, device="cpu")), best // turns
    rank = torch.zeros(1, dtype=torch.int32, device="cpu")
    for cell in range(cells):  # a set's greatest cell stands behind all sets of as many lower cells
        below = torch.tensor([comb(cell, number) for number in range(1, cells + 1)], dtype=torch.int32, device="cpu")
        rank = torch.cat((rank, rank + below[count[: 1 << cell]]))
    kind = torch.empty_like(count)
    named = (least == torch.arange(1 << cells, device="cpu")).nonzero().squeeze(1)
    for number in range(cells + 1):
        same = named[count[named] == number]
        kind[same] = torch.arange(len(same), dtype=torch.int32, device="cpu")
    return _Sets(image, count, rank, best % turns, least, kind[least])


def _united(parts: Tensor) -> Tensor:
    """Return the sum of `parts`, int32 [N], over the cells of each set: int32 [2^N]."""
    sums = parts.new_zeros(1)
    for part in parts:
        sums = torch.cat((sums, sums + part))
    return sums


LEAST_STONES = {3: 0, 4: 0, 5: 12}
"""The sizes that are solved, and the least number of stones. With fewer, some hundred nodes decide next to nothing."""

_TABLE = 1 << 18  # bytes for up to 4,096 nodes; emptying it takes some microseconds
_NODES = 1 << 12
_LOCK = Lock()


def solve(game: Torus, state: TorusState, nodes: int) -> tuple[Tensor, Tensor]:
    """Return the winners of positions and winning moves: see `GamePlugin.search`.

    Nothing is solved on other boards than those of `LEAST_STONES`, or without the native library.
    """
    value, move = torch.zeros(len(state), dtype=torch.int64, device="cpu"), torch.full((len(state),), -1, device="cpu")
    least = LEAST_STONES.get(game.size)
    if least is not None and library(torch.device("cpu")) is not None:
        rows = ((state.codes != 0).sum(1) >= least).nonzero().squeeze(1)
        if len(rows):
            with _LOCK:
                found, where = _search(game.size, -(-nodes // _NODES)).solve_each(state[rows], nodes)
            value[rows.cpu()], move[rows.cpu()] = found, where
    return value.to(state.device), move.to(state.device)


@cache
def _search(size: int, tables: int) -> ProofSearch:
    return ProofSearch(size, memory=tables * _TABLE)
