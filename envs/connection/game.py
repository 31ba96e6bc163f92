"""Hex and Y on the contract of the suite."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from operator import or_
from typing import TYPE_CHECKING, ClassVar, get_args

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.native import Library, Operator
from cellgames.envs.stones.joining import COLOUR, GROUP, MORE_SHIFT, frame, join, lone
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_state import StoneState
from cellgames.envs.stones.stone_tensors import (
    WORD,
    WORD_SHIFT,
    free_words,
    put_natively,
    relabelled,
    taken,
    threads_for,
    where,
)
from cellgames.envs.stones.stone_view import StoneView
from cellgames.utils.errors import InputError, shown

from . import board_tables, boards, filling
from .board_tables import Tables, native_board
from .boards import MOST_SIZE, Board, Shape, Tiling
from .rendering import Link, draw_sides, winning_path

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Notes, Picture


MIN_SIZE = 2
SWAP = "swap-pieces"
"""The name of the action by which the second player takes over the first stone; Hex programs call it so."""


@dataclass(frozen=True, eq=False)
class ConnectionState(StoneState):
    """The state of a batch of games of Hex or Y; the field `codes` has the sides that groups touch, too (`_sides`)."""


@dataclass(frozen=True)
class ConnectionGame(StoneGame[ConnectionState]):
    """A game in which stones that touch connect sides of a board: the base of `Hex` and `Y`.

    Attributes:
        size: cells a side; octagons a side where squares stand between them.
        tiling: "hexagons", or "octagons" (and squares).
        swap: True if the second player may take over the first stone in place of a move.
    """

    size: int
    tiling: Tiling = "hexagons"
    swap: bool = True

    compiles: ClassVar[bool] = False  # compiled steps are no faster than others
    shape: ClassVar[Shape]

    def __post_init__(self) -> None:
        check_choices(self, tiling=get_args(Tiling))
        check_int(self, "size", MIN_SIZE, MOST_SIZE[self.tiling])
        if not isinstance(self.swap, bool):
            raise InputError("swap", "True or False", shown(self.swap), where=self.id)

    @property
    def layout(self) -> Board:
        """The cells, their neighbours, and the sides."""
        return boards.board(self.shape, self.tiling, self.size)

    _native_step = StoneGame._native_step  # it knows these rules

    @override
    def _init(self, seeds: Tensor) -> ConnectionState:
        return self._new(ConnectionState, seeds)

    @override
    def _step(self, state: ConnectionState, actions: Tensor) -> ConnectionState:
        codes, free, cell, player = state.codes, state.free, actions.long(), state.current_player
        of_board, cells = self._of_board(state.device), codes.shape[1]
        if self.swap:
            swapping = cell == cells
            if swapping.any():
                # The board is cleared, and the mover's stone stands where the first one is mirrored to.
                mirrored = of_board.mirrored[state.last.long().clamp(min=0)]
                codes = torch.where(swapping[:, None], 0, codes)
                free = torch.where(swapping[:, None], free_words(len(state), cells, cells + 1, state.device), free)
                cell = torch.where(swapping, mirrored, cell)
        codes, won = _put_stones(codes, cell, player, self.layout)
        free = taken(free, cell)
        if self.swap:  # legal in turn 1 alone
            word, bit = cells >> WORD_SHIFT, 1 << (cells & (WORD - 1))
            first = (state.turn == 0).long() * bit
            words = [bits & ~bit | first if index == word else bits for index, bits in enumerate(free.unbind(1))]
            free = torch.stack(words).t()
        fields = {"turn": state.turn + 1, "current_player": 1 - player, "codes": codes, "free": free}
        return self._moved(state, player, won, **fields, last=cell.int())

    def _of_board(self, device: torch.device) -> Tables:
        return board_tables.board_tables(self.layout, device)

    @override
    def _legal(self, state: ConnectionState) -> Tensor:
        free = super()._legal(state)
        return torch.cat((free, (state.turn == 1)[:, None]), 1) if self.swap else free

    @override
    def winning_actions(self, state: ConnectionState, player: Tensor | None = None) -> Tensor:
        player = state.current_player if player is None else player
        winning = _winning_cells(state.codes, player, self.layout) & ~state.done[:, None]
        return torch.nn.functional.pad(winning, (0, 1)) if self.swap else winning

    @override
    def _winners(self, stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
        return filling.winners(stones, player, lots, self.layout)

    @override
    def _places(self, device: torch.device) -> Tensor | None:
        numbered = self.shape == "rhombus" and self.tiling == "hexagons"  # by their places
        return None if numbered else self._of_board(device).places

    @property
    @override
    def symmetries(self) -> int:
        """The number of turns and reflections that keep both goals, and the cell that a swap leads to."""
        return len(board_tables.symmetries(self.layout, self.swap, torch.device("cpu"))[0])

    @override
    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return the observation after symmetries; see `boards`."""
        device = observation.device
        sources = board_tables.symmetries(self.layout, self.swap, device)
        of_actions, of_places = (source[which] for source in sources)
        rows, kinds = len(which), self.layout.kinds
        cells = observation[:, : 3 * kinds].reshape(rows, 3, -1)
        moved = cells.gather(2, of_places[:, None].expand(-1, 3, -1)).view(rows, 3 * kinds, self.size, self.size)
        expanded = of_actions.view(rows, *(1,) * (actions.ndim - 2), -1).expand_as(actions)
        return torch.cat((moved, observation[:, 3 * kinds :]), 1), actions.gather(-1, expanded)

    @override
    def _why_illegal(self, state: ConnectionState, seat: int, component: int, action: int) -> str:
        if action == self.layout.cells:
            return "only the second player may swap, in place of the first move"
        return super()._why_illegal(state, seat, component, action)

    @override
    def action_to_string(self, action: int) -> str:
        """Return `c4` for the cell in column c, row 4, `c4+` for the square at its lower right corner; or `SWAP`."""
        if self.swap and action == self.layout.cells:
            return SWAP
        return self.layout.name(action)

    @override
    def string_to_action(self, text: str) -> int:
        """Return the action of a name by `action_to_string`; `swap` is read, too."""
        if text.strip().lower() in (SWAP, "swap"):
            if not self.swap:
                raise InputError("action", "a cell", shown(text), "the game was made with swap=False", self.id)
            return self.layout.cells
        return self.layout.cell(text)

    @override
    def position(self, cells: Sequence[int], player: int, turn: int, seed: int = 0) -> ConnectionState:
        """Return a batch of one with any stones; a stone alone is the last one, which a swap needs to know.

        Where a turn's number and the player do not fit, the second player has swapped, and it is one turn later.
        """
        if self.swap and turn > 0 and turn % 2 != player:
            turn += 1
        state = super().position(cells, player, turn, seed)
        placed = [cell for cell, colour in enumerate(cells) if colour]
        return state.replace(last=torch.full_like(state.last, placed[0])) if len(placed) == 1 else state

    @property
    @override
    def _widths(self) -> Sequence[Sequence[int]]:
        return [[len(row) for row in rows] for rows in self.layout.form.rows]

    @override
    def _native_rules(self, native: Library) -> tuple[Callable[..., object], ctypes.Structure]:
        return native.cellgames_connection_step, native_board(self.layout, swap=self.swap)

    @override
    def draw_annotated(self, state: ConnectionState, notes: Notes) -> Picture:
        swap = self.layout.cells  # no cell: its share stands in the title, and moves after it are of another position
        share = notes.shares.get(swap)
        cells = dataclasses.replace(
            notes,
            title=notes.title if share is None else f"{notes.title}, {SWAP} {100 * share:.0f} %",
            shares={action: value for action, value in notes.shares.items() if action != swap},
            numbers={action: value for action, value in notes.numbers.items() if action != swap},
            line=tuple(takewhile(lambda move: move[0] != swap, notes.line)),
        )
        return super().draw_annotated(state, cells)

    def after_swap(self, state: ConnectionState) -> bool:
        """Return True if the last move of the first game of a batch was a swap."""
        return self.swap and int(state.turn[0]) == 2 and int(state.codes[0].count_nonzero()) == 1

    @override
    def _way(self, cells: Sequence[int], winner: int) -> tuple[Sequence[Link], str]:
        return winning_path(self.layout, cells, winner), ""

    @override
    def _note(self, state: ConnectionState) -> str:
        return ", after a swap" * self.after_swap(state)

    @override
    def _view(self, cells: Sequence[int], last: int | None, path: Sequence[Link], title: str) -> StoneView:
        form, through = self.layout.form, {cell for link in path for cell in link}
        lines = [(form.centre(one), form.centre(other)) for one, other in path if one != other]
        return StoneView(cells, form, last, path, through, lines, title, tuple(draw_sides(self.layout)))


@dataclass(frozen=True)
class Hex(ConnectionGame):
    """Hex by Piet Hein and John Nash: connect two opposite sides of a rhombus.

    Two players, Black first, put one stone a turn on a free cell. Black wins by a group that connects the top and the
    bottom, White by one that connects left and right. A full board always has exactly one winner. Mark Steere shows
    in the rule sheet of Torus that octagons and squares carry the game, too.

    Attributes:
        size: cells a side, 2 to 22 on hexagons (usual are 11, 13, 14 and 19), 2 to 16 on octagons.
        tiling: "hexagons", or "octagons" with a square wherever four of them meet.
        swap: True if White may, in place of its first move, take over Black's first stone, mirrored so that it serves
            White's goal as it served Black's.
    """

    size: int = 11

    id: ClassVar[str] = "hex-v0"
    shape: ClassVar[Shape] = "rhombus"
    title: ClassVar[str] = "Hex"
    credit: ClassVar[str] = "Hex by Piet Hein (1942) and John Nash (1948)"


@dataclass(frozen=True)
class Y(ConnectionGame):
    """Y by Claude Shannon, and by Charles Titus and Craige Schensted: connect all three sides of a triangle.

    Two players, Black first, put one stone a turn on a free cell. Whoever has a group that touches all three sides
    wins; a cell in a corner belongs to two sides. A full board always has exactly one winner. Mark Steere shows in
    the rule sheet of Torus that octagons and squares carry the game, too.

    Attributes:
        size: cells a side, 2 to 22 on hexagons, 2 to 16 on octagons.
        tiling: "hexagons", or "octagons" with a square wherever four of them, or three at the slanted side, meet.
        swap: True if White may, in place of its first move, make Black's first stone its own.
    """

    size: int = 13

    id: ClassVar[str] = "y-v0"
    shape: ClassVar[Shape] = "triangle"
    title: ClassVar[str] = "Y"
    credit: ClassVar[str] = "Y by Claude Shannon (1950s), and by Charles Titus and Craige Schensted (1953)"


def _sides(code: Tensor) -> Tensor:
    """Return the masks of the sides that the groups of codes touch, which codes hold above the group."""
    return code >> MORE_SHIFT


@Operator
def _put_stones(codes: Tensor, cell: Tensor, player: Tensor, board: Board) -> tuple[Tensor, Tensor]:
    """Return codes after stones of `player` on `cell`, int64 [B] both, and who has won, bool [B]."""
    of_board = board_tables.board_tables(board, codes.device)
    colour, place = player.int() + 1, cell.int()
    # The envs stand innermost, so that what follows is done for many of them at once.
    around = codes.t().gather(0, of_board.near[:, cell])
    slots = zip(around[0::2].unbind(0), around[1::2].unbind(0), strict=True)
    frames = [frame(first, second, colour, where) for first, second in slots]
    stone = lone(place, colour) + (of_board.sides[cell] << MORE_SHIFT)
    code, groups, shifts = join(frames, stone, where)
    # Joining groups joins the sides that they touch, in the group that takes the others over, too.
    touched = reduce(or_, map(_sides, (*frames, stone)))
    grown = touched - _sides(code) << MORE_SHIFT
    shifts = [grown, *(where(shift != 0, shift + grown, 0) for shift in shifts)]
    goal = of_board.goals[player]
    won = touched & goal == goal
    return relabelled(codes, of_board.cells, place, code + grown, [code & GROUP, *groups], shifts), won


@_put_stones.native
def _native_put_stones(
    native: Library, codes: Tensor, cell: Tensor, player: Tensor, board: Board
) -> tuple[Tensor, Tensor]:
    """Return `_put_stones`, by `sources/connection.cpp`."""
    put, given = native.cellgames_connection_put_stones, ctypes.byref(native_board(board))
    codes, won = put_natively(put, given, (codes,), cell, player)
    return codes, won


@Operator
def _winning_cells(codes: Tensor, player: Tensor, board: Board) -> Tensor:
    """Return the free cells by which players, int64 [B], would win: bool [B, N]."""
    of_board = board_tables.board_tables(board, codes.device)
    own = codes & COLOUR == player.int()[:, None] + 1
    found, touched = of_board.sides, _sides(codes * own)
    for near in of_board.near[: len(board.rings[0])]:
        found = found | touched[:, near]
    goal = of_board.goals[player][:, None]
    return (found & goal == goal) & (codes == 0)


@_winning_cells.native
def _native_winning(native: Library, codes: Tensor, player: Tensor, board: Board) -> Tensor:
    """Return `_winning_cells`, by `sources/connection.cpp`."""
    given, won = native_board(board), codes.new_empty(codes.shape, dtype=torch.bool)
    native.cellgames_connection_winning(ctypes.byref(given), len(codes), threads_for(len(codes)), codes, player, won)
    return won
