"""Cloth of Gold: cells 0 empty, 1 a's, 2 b's, 3 neutral, 4 killed; marks say whose territory, and what was placed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cellgames.envs.cloth_of_gold import rendering as drawn
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.solo import ClothSolo
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core.drawing import frame_times
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup.rendering import COLOURS

from .view import Frame, changed, extra, results

__all__ = ["animated", "between", "controls", "extra", "frame", "layout", "work"]

_MARKS = {"territory_0": 1, "territory_1": 2, "placed": 4}
_KILLED = 4
_NOBODYS = [{"label": "contested", "colour": COLOURS[2]}, {"label": "killed", "colour": drawn._DEAD}]


def layout(game: ClothOfGold) -> dict[str, Any]:
    """See `View`."""
    return {
        "kind": "cells",
        "paint": "cloth",
        "rows": game.height,
        "cols": game.width,
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
            *([{"label": "neutral", "code": 3, "marks": 0}] if _neutrals(game) else []),
        ],
        "end_turn": game.action_to_string(game.end_turn),
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


def _neutrals(game: ClothOfGold) -> bool:
    return game.neutral_births or game.neutral_density > 0


def work(game: ClothOfGold, moves: Sequence[str] | None) -> int:
    """See `View`; a round's generations follow every other end of a turn."""
    rounds = game.max_rounds
    if moves is not None:
        rounds = min(rounds, moves.count(game.action_to_string(game.end_turn)) // 2 + 1)
    return game.cells * game.generations * rounds


def frame(
    game: ClothOfGold,
    state: ClothState,
    before: ClothState | None,
    viewer: int | None,
    action: Sequence[int] | None = None,
) -> Frame:
    """See `View`; nothing is hidden."""
    solo, done = ClothSolo(game, state), bool(state.done[0])
    last: list[int] = []
    if before is not None and not _lived(before, state):
        last = changed(game.board(before)[0], game.board(state)[0])
    fields = {
        "status": _status(game, state),
        "last": last,
        "results": results(game, state),
        "left": 0 if done else int(state.left[0]),
        "round": int(state.round[0]),
    }
    scored = done or int(state.round[0]) > 1 - game.initial_placement
    lead: list[int | None] = state.scores[0].int().tolist() if scored else [None, None]
    return _frame(solo.board(), solo.territories(), None if done else solo.placed(), lead, fields)


def _frame(
    cells: npt.NDArray[np.integer[Any]],
    territory: npt.NDArray[np.bool_],
    placed: npt.NDArray[np.bool_] | None,
    lead: Sequence[int | None],
    fields: Mapping[str, Any],
) -> Frame:
    """A moment; arrays are [H, W], territory [2, H, W], as `rendering.draw` takes them."""
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
    """Whether generations have run between two positions."""
    if bool(before.done[0]):
        return False
    later = int(after.round[0]) > int(before.round[0]) or bool(after.done[0])
    return later and int(before.round[0]) > 0


def controls(game: ClothOfGold, state: ClothState, seat: int) -> dict[str, Any]:
    """Return how many units may still be placed, and the action that ends the turn."""
    return {"left": int(state.left[0]), "most": game.max_units, "end": game.end_turn}


def animated(game: ClothOfGold, before: ClothState, after: ClothState) -> bool:
    """See `View`; the ends of rounds are animations."""
    return _lived(before, after)


def between(game: ClothOfGold, before: ClothState, after: ClothState, most: int, compile: Compile) -> Iterator[Frame]:
    """See `View`; generations of the round that a step ends."""
    if not _lived(before, after) or most < 1:
        return
    solo, number = ClothSolo(game, before), int(before.round[0])
    shown = set(frame_times(game.generations, most))
    scored = number > 1 - game.initial_placement
    lead: list[int | None] = before.scores[0].int().tolist() if scored else [None, None]
    for generation in range(game.generations):
        if generation in shown:
            fields = {
                "status": f"Round {number}, generation {generation} of {game.generations}",
                "last": [],
                "results": ["", ""],
                "left": 0,
                "round": number,
                "life": True,
            }
            yield _frame(solo.board(), solo.territories(), None, lead, fields)
        solo.generation()


def _status(game: ClothOfGold, state: ClothState) -> str:
    number, left = int(state.round[0]), int(state.left[0])
    if bool(state.done[0]):
        ended = f"Cut off after {number} rounds" if bool(state.truncated[0]) else f"Over after round {number}"
        return f"{ended}: {_standing(game, state)}"
    turn = f"round {number} of {game.max_rounds}" if number else "initial placement"
    player = game.info.players[int(state.current_player[0])]
    return f"{player} to place, {turn}, {left} unit{'s' * (left != 1)} left"


def _standing(game: ClothOfGold, state: ClothState) -> str:
    """Who leads in a finished game and by how much, and the lead of the round before, as verdicts look at both."""
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
