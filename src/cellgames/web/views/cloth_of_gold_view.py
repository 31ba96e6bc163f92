"""The view of Cloth of Gold: cells are 0 empty, 1 a's, 2 b's, 3 neutral, 4 killed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.cloth_of_gold import rendering as drawn
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.solo import ClothSolo
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core.drawing import frame_times
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup.rendering import COLOURS

from .view import Frame, View, changed, results

__all__ = ["ClothView"]

_MARKS = {"territory_0": 1, "territory_1": 2, "placed": 4}
_KILLED = 4
_NOBODYS = [{"label": "contested", "colour": COLOURS[2]}, {"label": "killed", "colour": drawn._DEAD}]


class ClothView(View):
    """A view of Cloth of Gold; marks are the bits of `_MARKS`: territories and what was placed."""

    game: ClothOfGold

    @override
    def layout(self) -> dict[str, Any]:
        return {
            "kind": "cells",
            "paint": "cloth",
            "rows": self.game.height,
            "cols": self.game.width,
            "wrap": False,
            "marks": _MARKS,
            "colours": list(drawn.UNITS),
            "ground": drawn._WORLD,
            "palette": {
                "units": drawn.UNITS,
                "ground": drawn._GROUND,
                "edge": drawn._EDGE,
                "hatch": drawn._HATCH,
                "killed": drawn._DEAD,
                "neutral": drawn._STONE,
                "ring": drawn._RING,
                "world": drawn._WORLD,
                "grid": drawn._PALE,
            },
            "legend": [
                {"label": "killed", "code": _KILLED, "marks": 0},
                {"label": "contested", "code": 0, "marks": 3},
                *([{"label": "neutral", "code": 3, "marks": 0}] if _neutrals(self.game) else []),
            ],
            "end_turn": self.game.action_to_string(self.game.end_turn),
            "columns": [
                {"name": "units", "label": "units", "kind": "number"},
                {"name": "territory", "label": "territory", "kind": "number"},
                {"name": "lead", "label": "score", "kind": "signed"},
            ],
            "curves": [
                {"name": "units", "label": "units", "per": "player"},
                {"name": "territory", "label": "territory", "per": "player"},
                {"name": "nobodys", "label": "cells", "per": "kind", "lines": _NOBODYS},
            ],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        rounds = self.game.max_rounds
        if moves is not None:
            rounds = min(rounds, moves.count(self.game.action_to_string(self.game.end_turn)) // 2 + 1)
        return self.game.cells * self.game.generations * rounds

    @override
    def frame(
        self,
        state: ClothState,
        before: ClothState | None,
        viewer: int | None,
        action: Sequence[int] | None = None,
    ) -> Frame:
        solo, done = ClothSolo(self.game, state), bool(state.done[0])
        last: list[int] = []
        if before is not None and not _lived(before, state):
            last = changed(self.game.board(before)[0], self.game.board(state)[0])
        fields = {
            "status": _status(self.game, state),
            "last": last,
            "results": results(self.game, state),
            "left": 0 if done else int(state.left[0]),
            "round": int(state.round[0]),
        }
        scored = done or int(state.round[0]) > 1 - self.game.initial_placement
        lead: list[int | None] = state.scores[0].int().tolist() if scored else [None, None]
        return _frame(solo.board(), solo.territories(), None if done else solo.placed(), lead, fields)

    @override
    def animated(self, before: ClothState, after: ClothState) -> bool:
        return _lived(before, after)

    @override
    def between(self, before: ClothState, after: ClothState, most: int, compile: Compile) -> Iterator[Frame]:
        if not _lived(before, after) or most < 1:
            return
        solo, number = ClothSolo(self.game, before), int(before.round[0])
        shown = set(frame_times(self.game.generations, most))
        scored = number > 1 - self.game.initial_placement
        lead: list[int | None] = before.scores[0].int().tolist() if scored else [None, None]
        for generation in range(self.game.generations):
            if generation in shown:
                fields = {
                    "status": f"Round {number}, generation {generation} of {self.game.generations}",
                    "last": [],
                    "results": ["", ""],
                    "left": 0,
                    "round": number,
                    "life": True,
                }
                yield _frame(solo.board(), solo.territories(), None, lead, fields)
            solo.generation()

    @override
    def controls(self, state: ClothState, seat: int) -> dict[str, Any]:
        return {"left": int(state.left[0]), "most": self.game.max_units, "end": self.game.end_turn}


def _neutrals(game: ClothOfGold) -> bool:
    return game.neutral_births or game.neutral_density > 0


def _frame(
    cells: npt.NDArray[np.integer[Any]],
    territory: npt.NDArray[np.bool_],
    placed: npt.NDArray[np.bool_] | None,
    lead: Sequence[int | None],
    fields: Mapping[str, Any],
) -> Frame:
    """Return the frame of a position; arrays are [H, W], territory [2, H, W], as `rendering.draw` takes them."""
    marks = territory[0] * np.uint8(_MARKS["territory_0"]) + territory[1] * np.uint8(_MARKS["territory_1"])
    if placed is not None:
        marks = marks + placed * np.uint8(_MARKS["placed"])
    nobodys = [int(territory.all(0).sum()), int((cells == _KILLED).sum())]
    infos = {
        "units": [int((cells == side).sum()) for side in (1, 2)],
        "territory": [int(field.sum()) for field in territory],
        "lead": list(lead),
        "nobodys": nobodys,
    }
    text = [["contested", nobodys[0]], ["killed", nobodys[1]]]
    flat = cells.astype(np.uint8).ravel()
    return Frame(flat, marks.astype(np.uint8).ravel(), {**fields, "infos": infos, "text": text})


def _lived(before: ClothState, after: ClothState) -> bool:
    """Return True if generations have run between two positions."""
    if bool(before.done[0]):
        return False
    later = int(after.round[0]) > int(before.round[0]) or bool(after.done[0])
    return later and int(before.round[0]) > 0


def _status(game: ClothOfGold, state: ClothState) -> str:
    number, left = int(state.round[0]), int(state.left[0])
    if bool(state.done[0]):
        ended = f"Cut off after {number} rounds" if bool(state.truncated[0]) else f"Over after round {number}"
        return f"{ended}: {_standing(game, state)}"
    turn = f"round {number} of {game.max_rounds}" if number else "initial placement"
    player = game.info.players[int(state.current_player[0])]
    return f"{player} to place, {turn}, {left} unit{'s' * (left != 1)} left"


def _standing(game: ClothOfGold, state: ClothState) -> str:
    """Return who leads in a finished game, by how much, and by how much the round before: verdicts depend on both."""
    lead, number = int(state.scores[0, 0]), int(state.round[0])
    units = state.live[0].tolist()
    if not lead:
        return f"level at {units[0]} : {units[1]} units"
    side = int(lead < 0)
    words = f"{game.info.players[side]} leads by {abs(lead)}, {units[0]} : {units[1]} units"
    if number <= 1 - game.initial_placement:
        return words
    before = int(state.rounds[0, number - 1, 0] - state.rounds[0, number - 1, 1])
    return f"{words}; the round before by {abs(before)}" if before * lead > 0 else words
