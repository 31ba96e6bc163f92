"""The base class of views: a game's positions as planes of bytes and details.

Letters: `N` cells of a board, `P` players.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core import DRAW, LOSS, WIN, Game, State
from cellgames.envs.kernels.compiling import Compile

__all__ = ["Bytes", "Frame", "View", "changed", "encoded", "legal_bits", "results"]

Bytes: TypeAlias = npt.NDArray[np.uint8]

_WORDS = {WIN: "wins", LOSS: "loses", DRAW: "draw"}


def encoded(data: bytes) -> str:
    """Return the bytes in base64, for JSON."""
    return base64.b64encode(data).decode("ascii")


@dataclass(frozen=True)
class Frame:
    """A picture of a game as data.

    Attributes:
        cells: uint8 [N], a code for each cell; its meaning depends on the game.
        marks: uint8 [N], flags of each cell, the bits that `layout["marks"]` names; None if a game has none.
        fields: Further details, as JSON holds them.
    """

    cells: Bytes
    marks: Bytes | None
    fields: Mapping[str, Any]

    def planes(self) -> bytes:
        """Return the bytes of the cells, then of the marks."""
        return self.cells.tobytes() + (b"" if self.marks is None else self.marks.tobytes())

    def to_data(self) -> dict[str, Any]:
        """Return the frame as JSON holds it, the planes in base64."""
        layers = {} if self.marks is None else {"marks": encoded(self.marks.tobytes())}
        return {"cells": encoded(self.cells.tobytes()), "layers": layers, **self.fields}


class View(ABC):
    """The way in which the page shows a game. States are batches of one.

    Args:
        game: The game to show.
    """

    def __init__(self, game: Game) -> None:
        self.game: Any = game

    @abstractmethod
    def layout(self) -> dict[str, Any]:
        """Return what stays the same in all frames, without what `frames.layout` adds."""

    @abstractmethod
    def frame(self, state: Any, before: Any, viewer: int | None, action: Sequence[int] | None = None) -> Frame:
        """Return a position as a frame.

        Args:
            state: The position.
            before: An earlier one, to mark what has changed, or None.
            viewer: The seat that looks; None for a spectator.
            action: The viewer's own action in the step from `before`, if it is known. A view shows no more of the step
                than the seat knows by itself.
        """

    def work(self, moves: Sequence[str] | None) -> int:
        """Return the most cells times generations of Life in a game, with these moves or with any."""
        return 0

    def animated(self, before: Any, after: Any) -> bool:
        """Return True if `between` has frames of the step from one position to the next."""
        return False

    def between(self, before: Any, after: Any, most: int, compile: Compile) -> Iterator[Frame]:
        """Yield frames within a step, at most `most`, without the one of `after`; `compile`: see `kernel`."""
        return iter(())

    def step(
        self, before: Any, after: Any, viewer: int | None, action: Sequence[int] | None, most: int, compile: Compile
    ) -> Iterator[Frame]:
        """Yield the frames of a step: those of `between`, then the one of `after`; arguments as in both."""
        yield from self.between(before, after, most, compile)
        yield self.frame(after, before, viewer, action)

    def extra(self, states: Sequence[Any]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        """Return more infos by name, for spectators: lists [states][P]."""
        return {}

    def controls(self, state: Any, seat: int) -> dict[str, Any]:
        """Return what a person at `seat` needs to choose an action, beside board and mask; nothing hidden."""
        return {}


def legal_bits(game: Game, state: State, seat: int) -> str:
    """Return the mask of `seat` in the first game: base64 of [ceil(A / 8)] bytes, bits packed from the highest."""
    mask = game.legal_actions(state[0])[0]
    mask = mask[seat] if game.info.simultaneous else mask
    return encoded(np.packbits(mask.numpy()).tobytes())


def results(game: Game, state: Any) -> list[str]:
    """Return a word for every player of a finished game, "" for each while it goes on."""
    done = bool(state.done[0])
    return [_WORDS[value] if done else "" for value in game.outcome(state)[0].tolist()]


def changed(before: torch.Tensor, after: torch.Tensor) -> list[int]:
    """Return the cells that differ between two boards of any shape, as indices of the flat board."""
    return [int(place) for place in (before != after).flatten().nonzero().flatten()]
