"""The common base of Torus, Hex and Y as games of the suite: one stone a turn, a winner on every full board."""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, LOSS, WIN, GameInfo, Space
from cellgames.envs.core.native_step import InPlace
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library, library

from . import row_notation
from .joining import COLOUR
from .stone_state import StoneS
from .stone_tensors import LOTS, free_words, native_writer, planes

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Notes, Picture

    from .stone_view import StoneView

INNERMOST = frozenset({"rewards", "scores", "free"})
"""Fields of states whose games lie next to each other in memory."""


class StoneGame(Game[StoneS]):
    """A game for two in which each turn puts a stone on a free cell, and a full board has exactly one winner.

    Actions are cells by index; a game may have one more action after those, the swap. A game adds its hooks `_init`
    and `_step`, and those below.

    Attributes:
        size: size of the board.
        swap: True if there is a swap.
        title: the game's name for people.
        credit: its designers.
        shows_free: True if free cells have planes in observations.
    """

    size: int
    swap: bool = False
    title: ClassVar[str]
    credit: ClassVar[str]
    shows_free: ClassVar[bool] = True

    # --- what a game adds

    @abstractmethod
    def _way(self, cells: Sequence[int], winner: int) -> tuple[Sequence[Any], str]:
        """Return the path of the stones that have won, as the view draws it, and what a title says of it."""

    @abstractmethod
    def _view(self, cells: Sequence[int], last: int | None, path: Sequence[Any], title: str) -> StoneView:
        """Return a board as it is drawn."""

    def _note(self, state: StoneS) -> str:
        """Return a remark for the title on the first game of a batch, which is not over."""
        return ""

    @property
    @abstractmethod
    def _widths(self) -> Sequence[Sequence[int]]:
        """For each kind of cells the lengths of its rows, in the order of the cells."""

    @abstractmethod
    def _winners(self, stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
        """Return the winner after the free cells are filled at random: 1 Black, 2 White, int32 [X].

        Args:
            stones: int32 [X, N], 0 free, 1 Black, 2 White.
            player: int64 [X], the player to move.
            lots: int32 [X, N], random numbers below `LOTS`.
        """

    @override
    @abstractmethod
    def winning_actions(self, state: StoneS, player: Tensor | None = None) -> Tensor: ...

    @abstractmethod
    def _native_rules(self, native: Library) -> tuple[Callable[..., object], ctypes.Structure | ctypes.c_int64]:
        """Return the native step of a `Vector` and the board that it takes (see `core.native_step`)."""

    def _places(self, device: torch.device) -> Tensor | None:
        """Return the cell at each place of the planes (see `stone_tensors.planes`)."""
        return None

    # --- what follows

    @cached_property
    @override
    def info(self) -> GameInfo:
        n, cells = self.size, sum(map(sum, self._widths))
        planes = (3 if self.shows_free else 2) * len(self._widths) + 1
        return GameInfo(
            id=self.id,
            title=self.title,
            credit=self.credit,
            players=("black", "white"),
            max_turns=cells + self.swap,
            action_nvec=(cells + self.swap,),
            observation=Space((planes, n, n), torch.int8, 0, 1),
            board=Space((cells,), torch.int8, 0, 2),
        )

    def _new(self, kind: type[StoneS], seeds: Tensor, **fields: Tensor) -> StoneS:
        """Return new games for seeds, int64 [B], as states of a kind with fields of its own."""
        batch, cells, device = len(seeds), self.num_cells, seeds.device
        fields["codes"] = torch.zeros((batch, cells), dtype=torch.int32, device=device)
        fields["free"] = free_words(batch, cells, self.info.num_actions, device)
        return kind.new(seeds, 2, last=torch.full((batch,), -1, dtype=torch.int32, device=device), **fields)

    @override
    def observe(self, state: StoneS, player: Tensor | int) -> Tensor:
        """Return own stones, the opponent's, free cells, and 1 everywhere for Black: int8 [B, C, n, n].

        Each kind of cells has planes of its own; a square lies in the place of the octagon at its upper left. A place
        that is no cell is 0 in all planes but the last.
        """
        seat = torch.as_tensor(player, dtype=torch.int64, device=state.device).expand(len(state))
        return planes(state.codes, seat, self._places(state.device), self.size, self.shows_free)

    @override
    def _native_observer(self, state: StoneS, seats: Tensor, dtype: torch.dtype) -> Callable[[int], object] | None:
        if (native := library(state.device)) is None:
            return None
        places = self._places(state.device)
        return native_writer(native, state.codes, seats, places, self.size, self.shows_free, dtype)

    @override
    def _native_step(self, device: torch.device) -> NativeStep[StoneS] | None:
        native = library(device)
        return None if native is None else InPlace(*self._native_rules(native), INNERMOST)

    def _moved(self, state: StoneS, player: Tensor, won: Tensor, **fields: Tensor) -> StoneS:
        """Return the games, with new fields, after players, int64 [B], have moved, and won where `won`, bool [B]."""
        scores = (won & (torch.arange(2, device=state.device)[:, None] == player)).float()
        return state.replace(
            rewards=(2 * scores - won.float()).t(),
            scores=torch.maximum(state.scores, scores.t()),
            terminated=state.terminated | won,
            **fields,
        )

    @property
    def num_cells(self) -> int:
        """The number of cells."""
        return self.info.board.shape[0]

    @override
    def _legal(self, state: StoneS) -> Tensor:
        return ~state.codes.bool()  # without a compiler three times as fast as `== 0`

    @override
    def defending_actions(self, state: StoneS) -> Tensor:
        """Return the actions that keep the opponent from winning; a winning cell stays one until it is taken.

        What is no cell takes the opponent's only stone, so it always does.
        """
        cells = self.winning_actions(state, 1 - state.current_player)
        count = cells.sum(1, keepdim=True)
        keeping = (count == 0) | (cells & (count == 1))
        keeping[:, self.num_cells :] = True
        return self.legal_actions(state) & keeping

    @override
    def random_outcome(self, state: StoneS, generator: torch.Generator) -> Tensor:
        """Fill the board at random and see who has won, in a fraction of the time of playouts."""
        shape, device = state.codes.shape, generator.device
        lots = torch.randint(LOTS, shape, generator=generator, device=device, dtype=torch.int32)
        winner = self._winners(state.codes & COLOUR, state.current_player, lots.to(state.device))
        return torch.stack([3 - 2 * winner, 2 * winner - 3], 1).to(torch.int8)

    @override
    def board(self, state: StoneS) -> Tensor:
        """Return the cells, int8 [B, N]: 0 free, 1 Black, 2 White."""
        return (state.codes & COLOUR).to(torch.int8)

    @override
    def outcome(self, state: StoneS) -> Tensor:
        """Return the players' outcomes, int8 [B, 2], never a draw at the end."""
        result = torch.where(state.scores > 0, WIN, LOSS)
        return torch.where(state.done[:, None], result, DRAW).to(torch.int8)

    @override
    def _why_illegal(self, state: StoneS, seat: int, component: int, action: int) -> str:
        return f"cell {self.action_to_string(action)} is taken"

    # --- as text

    @override
    def state_to_string(self, state: StoneS) -> str:
        """Return the rows of each kind of cells, and who moves: `x.o/.../..x b`."""
        return row_notation.position_to_string(self.board(state)[0].tolist(), int(state.current_player), self._widths)

    @override
    def string_to_state(self, text: str, seed: int = 0) -> StoneS:
        """Return the state of a line by `state_to_string`; a side that has won has won."""
        cells, player = row_notation.string_to_position(text, self._widths, self.size)
        return self.position(cells, player, sum(map(bool, cells)), seed)

    def position(self, cells: Sequence[int], player: int, turn: int, seed: int = 0) -> StoneS:
        """Return a batch of one with any stones, of which none is known to be the last; a side that has won has won.

        Args:
            cells: 0 free, 1 Black, 2 White, by cell index.
            player: the player to move.
            turn: turns played.
            seed: seed of the game.
        """
        state = self.init(torch.tensor([seed], device="cpu"))

        def full(field: Tensor, value: int) -> Tensor:
            return torch.full_like(field, value)

        for cell, colour in enumerate(cells):
            if colour:
                mover, before = full(state.current_player, colour - 1), full(state.turn, turn - 1)
                state = self._step(state.replace(current_player=mover, turn=before), torch.tensor([cell], device="cpu"))
        last = {"turn": full(state.turn, turn), "last": full(state.last, -1), "rewards": full(state.rewards, 0)}
        return state.replace(current_player=full(state.current_player, player), **last)

    # --- as pictures

    @override
    def view(self, state: StoneS, player: int | None = None) -> StoneView:
        """Return the first game of a batch as it is drawn: its title, the last move and the stones that won."""
        cells, last, turn = self.board(state)[0].tolist(), int(state.last[0]), int(state.turn[0])
        names = [name.capitalize() for name in self.info.players]
        path: Sequence[Any] = []
        if state.terminated[0]:
            winner = int(state.scores[0].argmax())
            path, how = self._way(cells, winner)
            title = f"{names[winner]} wins{how}, {turn} turns"
        else:
            title = f"{names[int(state.current_player[0])]} to move, turn {turn + 1}{self._note(state)}"
        return self._view(cells, None if last < 0 else last, path, title)

    @override
    def draw_annotated(self, state: StoneS, notes: Notes) -> Picture:
        from .annotated import draw_annotated

        return draw_annotated(self.view(state), notes)
