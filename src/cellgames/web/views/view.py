"""Views of games: positions as planes of bytes and details, colours on a dark page, and the view of any other game.

Letters: `N` cells of a board, `P` players.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import override

from cellgames.envs.core import DRAW, LOSS, WIN, Game, State
from cellgames.envs.core.drawing import Picture, mix, to_svg
from cellgames.envs.registry import plugin_of
from cellgames.envs.toroidal_cup.rendering import COLOURS
from cellgames.utils.errors import InputError

Bytes: TypeAlias = npt.NDArray[np.uint8]
Action: TypeAlias = Sequence[int] | None
"""A number for each component of an action; None for no action, or for one that is not known."""

_WORDS = {WIN: "wins", LOSS: "loses", DRAW: "draw"}


def player_names(game: Game) -> list[str]:
    """Return the names of the players for people, by seat, such as Black or Player 3."""
    page = plugin_of(game).page
    return (page.by_seat("people", game.info.num_players) if page else []) or list(game.info.players)


def player_goals(game: Game) -> list[str]:
    """Return the goal of each player in a sentence, by seat; none if the game states none."""
    page = plugin_of(game).page
    return page.by_seat("goals", game.info.num_players) if page else []


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
        """Return the constant data of all frames, without the additions of `frames.layout`."""

    @abstractmethod
    def frame(self, state: Any, before: Any, viewer: int | None, action: Action = None) -> Frame:
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
        """Return True if the step from one position to the next has frames within it."""
        return False

    def step(self, before: Any, after: Any, viewer: int | None, action: Action, most: int) -> Iterator[Frame]:
        """Yield the frames of a step: those within it, at most `most`, then the one of `after`; see `frame`."""
        yield self.frame(after, before, viewer, action)

    def trial(self, state: Any, seat: int, action: Action, most: int) -> Iterator[Frame]:
        """Yield the future of the board by Life without further placements, at most `most` generations.

        Chance has dice of its own, and no frame depends on facts that `seat` may not know.

        Args:
            state: The position, in which `seat` decides.
            seat: The seat that tries.
            action: Placement that the seat would make now, added to the board; None for no placement.
            most: Largest number of frames.

        Raises:
            ValueError: There is nothing to try, or it cannot be placed; the message says why.
        """
        raise InputError(cause=f"{self.game.info.title} has no trial runs: nothing lives in it by itself")

    def patterns(self) -> list[dict[str, Any]]:
        """Return the patterns that a person may place cell by cell, by group; none in most games.

        A group has `group` and `patterns`, each with `name` and `cells`, pairs of row and column from 0 on.
        """
        return []

    def extra(self, states: Sequence[Any]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        """Return more infos by name, for spectators: lists [states][P]."""
        return {}

    def controls(self, state: Any, seat: int) -> dict[str, Any]:
        """Return the data by which a person at `seat` chooses an action, beside board and mask; nothing hidden."""
        return {}

    def clicks(self, action: Sequence[int]) -> dict[str, Any]:
        """Return the clicks for an action of the first player: `cells`, and `press`, the first words of buttons."""
        return clicked(action[:1])

    def codes(self) -> list[tuple[int, str]]:
        """Return the contents that a cell can get when a position is set up: codes in `Frame.cells`, and names."""
        return []

    def edited(self, state: Any, put: Mapping[int, int], mover: int) -> str:
        """Return a changed position as the game writes positions.

        Args:
            state: The position to change.
            put: One of `codes` for each cell that changes.
            mover: The seat to move.

        Raises:
            ValueError: A game without positions that can be set up, or a position that cannot be changed.
        """
        raise InputError("game", "one whose positions can be set up", self.game.id)


def clicked(cells: Sequence[int], *press: str) -> dict[str, Any]:
    """Return clicks as `View.clicks` does."""
    return {"cells": sorted(cells), "press": list(press)}


def column(name: str, label: str = "", kind: str = "number") -> dict[str, str]:
    """Return a column of a layout's table of players: an info, its label, and the kind of its values."""
    return {"name": name, "label": label or name, "kind": kind}


def curve(name: str, label: str = "", per: str = "player", **more: Any) -> dict[str, Any]:
    """Return a curve of a layout: an info that is drawn over time, one line for each player or other kind of thing."""
    return {"name": name, "label": label or name, "per": per, **more}


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


# ---------------------------------------------------------------- colours on a dark page

SEATS = ("#466ce1", "#f25c00", "#44d58d", "#c15e9e", "#b5e8ff", "#f5c23e", "#b6b14d", "#cfd7cc")
"""Colours of teams and players by seat, as far apart in all colour vision as can be at 3.5 : 1 on `GROUND`."""

GROUND = "#1f1c19"
"""The colour of empty cells."""

_INK, _PALE = "#ece6da", "#8f8678"
_UNITS = ("#6db3f2", "#f5a13c")  # a's and b's

STONES: dict[str, Any] = {
    "fill": ("#7d6a48", "#131417", "#f4f1ea"),
    "square": "#735f3f",
    "edge": ("#4d4029", "#8b919b", "#3d382f"),
    "side": ("#a3906c", "#131417", "#f4f1ea"),
    "path": "#ff8c33",
    "paper": "#1b1916",
    "ink": "#d8cfc0",
    "faded": "#26221d",
}
"""Colours of Torus, Hex and Y: darker wood, with stones as they are."""

CLOTH: dict[str, Any] = {
    "units": _UNITS,
    "ground": ("#1d3550", "#46330f", "#46330f"),
    "edge": (mix(_UNITS[0], GROUND, 0.25), mix(_UNITS[1], GROUND, 0.15)),
    "hatch": mix(_UNITS[0], GROUND, 0.5),
    "killed": "#f4efe6",
    "neutral": "#a5a5a5",
    "ring": "#ff6fa8",
    "world": GROUND,
    "grid": _PALE,
    "ink": _INK,
    "wards": ("#a9d5ff", "#ffb454"),
    "land": ("", "#17455f", "#2f4a1c", "#54504a", "#5c3d2e", "#ffd23f"),
    "signs": ("", "#6fb0d6", "#8fbf5f", "#a39a8e", "", "#a31d0a"),
}
"""Palette of Cloth of Gold; lands in the order of the view."""

TILES: dict[str, Any] = {
    "board": GROUND,
    "grid": _PALE,
    "ink": _INK,
    "ring": "#fffdf8",
    "rim": "#ffffff73",
    "cross": "#b9b0a2",
}
"""Palette of Grid Adaptation; tiles keep the colours that their sequences mix, and get a light rim."""

TEAMS: dict[str, Any] = {"cells": SEATS, "board": GROUND, "line": "#4a443c", "ink": _INK, "pale": "#b3a998"}
"""Palette of the Toroidal Cup."""


def dark(
    palette: dict[str, Any], light: dict[str, Any], colours: Sequence[str], ground: str = GROUND
) -> dict[str, Any]:
    """Return a layout's `dark`: the part of a palette whose names the light one has, colours of seats, the ground."""
    return {
        "palette": {name: colour for name, colour in palette.items() if name in light},
        "colours": list(colours),
        "ground": ground,
    }


# ---------------------------------------------------------------- games without a page


class PictureView(View):
    """A view of games without a page (`GamePlugin.page`): their own pictures (`Game.draw`), watched but not played."""

    @override
    def layout(self) -> dict[str, Any]:
        return {
            "kind": "picture",
            "wrap": False,
            "colours": [COLOURS[seat % len(COLOURS)] for seat in range(self.game.info.num_players)],
            "ground": "#ffffff",
            "dark": dark({}, {}, [SEATS[seat % len(SEATS)] for seat in range(self.game.info.num_players)]),
            "columns": [column("score")],
            "curves": [curve("score")],
        }

    @override
    def frame(self, state: Any, before: Any, viewer: int | None, action: Action = None) -> Frame:
        *_, last = [self.game.draw(state)] if before is None else self.game.frames(before, state)
        return self._frame(state, last, viewer)

    @override
    def animated(self, before: Any, after: Any) -> bool:
        return True  # it is not known, and each step may be

    @override
    def step(self, before: Any, after: Any, viewer: int | None, action: Action, most: int) -> Iterator[Frame]:
        *pictures, last = self.game.frames(before, after)
        for picture in pictures[:most]:
            shown = self._frame(before, picture, viewer)
            yield replace(shown, fields={**shown.fields, "status": f"Turn {int(after.turn[0])}", "life": True})
        yield self._frame(after, last, viewer)

    def _frame(self, state: Any, picture: Picture, viewer: int | None) -> Frame:
        turn, done, info = int(state.turn[0]), bool(state.done[0]), self.game.info
        if viewer is not None and not info.perfect_information:
            raise InputError("viewer", "None: pictures show what players may not know", viewer, where=self.game.id)
        mover = "" if done or info.simultaneous else f", {info.players[int(state.current_player[0])]} to move"
        fields = {
            "svg": to_svg(picture),
            "status": f"Over after turn {turn}" if done else f"Turn {turn + 1}{mover}",
            "last": [],
            "results": results(self.game, state),
            "infos": {"score": [round(score, 4) for score in state.scores[0].tolist()]},
            "text": [],
        }
        return Frame(np.zeros(0, np.uint8), None, fields)
