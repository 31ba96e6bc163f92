"""What views of all games share: a moment as planes of bytes and a few infos.

Letters: `N` cells of a board, `P` players.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core import DRAW, LOSS, WIN, Game, State
from cellgames.envs.kernels.compiling import Compile

__all__ = ["Bytes", "Frame", "View", "changed", "controls", "encoded", "extra", "legal_bits", "results"]

Bytes: TypeAlias = npt.NDArray[np.uint8]

_WORDS = {WIN: "wins", LOSS: "loses", DRAW: "draw"}


def encoded(data: bytes) -> str:
    """Base64, as JSON carries bytes."""
    return base64.b64encode(data).decode("ascii")


@dataclass(frozen=True)
class Frame:
    """One picture of a game.

    cells: uint8 [N], a code for each cell; what codes mean is the game's.
    marks: uint8 [N], flags of each cell, the bits that `layout["marks"]` names; None where a game has none.
    fields:  what else there is to say, as JSON holds it.
    """

    cells: Bytes
    marks: Bytes | None
    fields: Mapping[str, Any]

    def planes(self) -> bytes:
        """Cells, then marks."""
        return self.cells.tobytes() + (b"" if self.marks is None else self.marks.tobytes())

    def to_data(self) -> dict[str, Any]:
        """As JSON holds it, the planes in base64."""
        layers = {} if self.marks is None else {"marks": encoded(self.marks.tobytes())}
        return {"cells": encoded(self.cells.tobytes()), "layers": layers, **self.fields}


class View(Protocol):
    """What a module of this package gives; states are batches of one."""

    def layout(self, game: Game) -> dict[str, Any]:
        """What stays the same in all frames of a game, without what `frames.layout` adds."""

    def work(self, game: Game, moves: Sequence[str] | None) -> int:
        """The cells times generations of Life that a game can take, of given moves or of any."""

    def frame(
        self, game: Game, state: Any, before: Any, viewer: int | None, action: Sequence[int] | None = None
    ) -> Frame:
        """A position.

        `before` is an earlier one or None, `viewer` the seat that looks, None for a spectator, `action` what that seat
        did in the step from `before`, where it is known: views show no more of it than the seat knows by itself.
        """

    def animated(self, game: Game, before: Any, after: Any) -> bool:
        """Whether much happens within the step from one position to the next, so that `between` has pictures."""

    def between(self, game: Game, before: Any, after: Any, most: int, compile: Compile) -> Iterator[Frame]:
        """Pictures of what happens within a step before `after` stands, at most `most`; `compile`: see `kernel`."""

    def extra(self, game: Game, states: Sequence[Any]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        """More infos by name, of each of a game's positions, for spectators: lists [states][P]."""

    def controls(self, game: Game, state: Any, seat: int) -> dict[str, Any]:
        """Return what the page needs beside board and mask to let a person at `seat` choose; nothing hidden."""


def legal_bits(game: Game, state: State, seat: int) -> str:
    """Return the mask of `seat` in the first game: base64 of [ceil(A / 8)] bytes, bits packed from the highest."""
    mask = game.legal_actions(state[0])[0]
    mask = mask[seat] if game.info.simultaneous else mask
    return encoded(np.packbits(mask.numpy()).tobytes())


def results(game: Game, state: Any) -> list[str]:
    """A word for every player of a finished game, "" for each while it goes on."""
    done = bool(state.done[0])
    return [_WORDS[value] if done else "" for value in game.outcome(state)[0].tolist()]


def changed(before: torch.Tensor, after: torch.Tensor) -> list[int]:
    """Which cells differ, of boards of any shape, as places in a row."""
    return [int(place) for place in (before != after).flatten().nonzero().flatten()]


def extra(game: Game, states: Sequence[Any]) -> Mapping[str, Sequence[Sequence[float | None]]]:
    """`View.extra` of a game with nothing more to tell."""
    return {}


def controls(game: Game, state: Any, seat: int) -> dict[str, Any]:
    """Return nothing: the mask is enough to choose an action."""
    return {}
