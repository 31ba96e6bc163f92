"""The views of Cloth of Gold and of its wild form: cells are 0 empty, 1 a's, 2 b's, 3 neutral, 4 killed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from cellgames.envs.boards.rle import parse_cells
from cellgames.envs.cloth_of_gold import notation
from cellgames.envs.cloth_of_gold import rendering as drawn
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild import notation as wild_notation
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.cloth_of_gold_wild.rendering import LAND, WARDS, wild_view
from cellgames.envs.cloth_of_gold_wild.state import wild
from cellgames.envs.core import chance
from cellgames.envs.core.drawing import INK, PALE, frame_times, mix
from cellgames.envs.core.info import WIN
from cellgames.envs.toroidal_cup.patterns.stamps import STAMPS, usual_name
from cellgames.envs.toroidal_cup.rendering import COLOURS
from cellgames.utils.errors import InputError, shown

from .view import CLOTH, Action, Frame, View, changed, clicked, column, curve, dark, player_names, results

_KILLED = 4
_NOBODYS = [{"label": "contested", "colour": COLOURS[2]}, {"label": "killed", "colour": drawn.DEAD}]

_LAND = ("", "water", "forest", "rock", "burnt", "burning")
_SIGNS = ("", "#00000055", "#4d7a2a", "#00000055", "", "#a31d0a")  # on land


class ClothView(View):
    """A view of Cloth of Gold; marks are the bits of `marks`: territories and what was placed."""

    game: ClothOfGold
    marks: ClassVar[Mapping[str, int]] = {"territory_0": 1, "territory_1": 2, "placed": 4}

    @override
    def layout(self) -> dict[str, Any]:
        palette = {
            "units": drawn.UNITS,
            "ground": (*drawn.GROUND[:2], drawn.GROUND[1]),
            "edge": drawn.EDGE,
            "hatch": mix(drawn.UNITS[0], drawn.WORLD, 0.62),
            "killed": drawn.DEAD,
            "neutral": drawn.STONE,
            "ring": drawn.RING,
            "world": drawn.WORLD,
            "grid": PALE,
            "ink": INK,
        }
        return {
            "kind": "cells",
            "paint": "cloth",
            "rows": self.game.height,
            "cols": self.game.width,
            "wrap": False,
            "marks": dict(self.marks),
            "colours": list(drawn.UNITS),
            "ground": drawn.WORLD,
            "palette": palette,
            "dark": dark(CLOTH, palette, CLOTH["units"]),
            "legend": [
                {"label": "killed", "code": _KILLED, "marks": 0},
                {"label": "contested", "code": 0, "marks": 3},
                *([{"label": "neutral", "code": 3, "marks": 0}] if _neutrals(self.game) else []),
            ],
            "columns": [column("units"), column("territory"), column("lead", "score", "signed")],
            "curves": [curve("units"), curve("territory"), curve("nobodys", "cells", "kind", lines=_NOBODYS)],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        rounds = self.game.max_rounds
        if moves is not None:
            rounds = min(rounds, moves.count(self.game.action_to_string(self.game.end_turn)) // 2 + 1)
        return self.game.cells * self.game.generations * rounds

    @override
    def frame(self, state: ClothState, before: ClothState | None, viewer: int | None, action: Action = None) -> Frame:
        done = bool(state.done[0])
        last: list[int] = []
        if before is not None and not drawn.round_ends(before, state):
            last = changed(self.game.board(before)[0], self.game.board(state)[0])
        status = _verdict(self.game, state) if done else drawn.whose_turn(self.game, state, player_names(self.game))
        fields = {"status": status, "last": last, "results": results(self.game, state)}
        return self._framed(state, not done, self._lead(state), fields)

    @override
    def codes(self) -> list[tuple[int, str]]:
        units = [(seat + 1, f"unit of {player}") for seat, player in enumerate(player_names(self.game))]
        return [*units, *([(3, "neutral")] if _neutrals(self.game) else []), (0, "empty")]

    @override
    def edited(self, state: ClothState, put: Mapping[int, int], mover: int) -> str:
        """Return the position at the start of the mover's turn in this round, with other units on some cells."""
        text = self.game.state_to_string(state)
        line, _ = wild_notation.split_line(text)  # without the fields of wild games
        position = notation.string_to_position(line, self.game.height, self.game.width)
        if position is None or position.stage != "move":
            raise InputError("position", "one in which the game goes on", shown(line))
        board = [list(row) for row in position.board]
        for cell, code in put.items():
            board[cell // self.game.width][cell % self.game.width] = code
        turns = 2 * (position.round - 1 + self.game.initial_placement) + (mover ^ position.first)
        start = position._replace(player=mover, acts=0, placed=[], turn=turns, board=board)  # an action each
        return notation.position_to_string(start) + text[len(line) :]

    @override
    def animated(self, before: ClothState, after: ClothState) -> bool:
        return drawn.round_ends(before, after)

    @override
    def step(
        self, before: ClothState, after: ClothState, viewer: int | None, action: Action, most: int
    ) -> Iterator[Frame]:
        if drawn.round_ends(before, after) and most > 0:
            *shown, _ = frame_times(self.game.generations, most)
            yield from self._life(before, shown, f"Round {int(before.round[0])}")
        yield self.frame(after, before, viewer, action)

    def _life(self, before: ClothState, shown: Sequence[int], words: str) -> Iterator[Frame]:
        """Yield some generations of the round that begins now, in their order."""
        last, wanted = self.game.generations, {*shown}
        fields: dict[str, Any] = {"last": [], "results": ["", ""], "life": True}
        for generation, now in zip(range(max(wanted) + 1), self.game.worlds(before), strict=False):
            if generation in wanted:
                status = f"{words}, generation {generation} of {last}"
                yield self._framed(now, False, self._lead(before), {"status": status, **fields})

    def _lead(self, state: ClothState) -> list[int | None]:
        """Return the lead of each side at the last verdict, None before the first one."""
        scored = bool(state.done[0]) or int(state.round[0]) > 1 - self.game.initial_placement
        return state.scores[0].int().tolist() if scored else [None, None]

    @override
    def trial(self, state: ClothState, seat: int, action: Action, most: int) -> Iterator[Frame]:
        if action is not None:
            raise InputError("action", "none: the units of this turn lie on the board already", list(action))
        if not self.game.board(state).any():
            raise InputError(cause="the world is empty: place a unit first")
        tried = state.replace(seed=chance.next_seed(state.seed)) if self.game.random_rounds else state
        yield from self._life(tried, frame_times(self.game.generations, most - 1), "Trial run")

    @override
    def patterns(self) -> list[dict[str, Any]]:
        return [
            {"group": group, "patterns": [{"name": name, "cells": parse_cells(text)} for name, text in texts.items()]}
            for group, texts in GROUPS.items()
        ]

    @override
    def clicks(self, action: Sequence[int]) -> dict[str, Any]:
        return clicked([], "End the turn") if action[0] == self.game.end_turn else clicked(action[:1])

    @override
    def controls(self, state: ClothState, seat: int) -> dict[str, Any]:
        most = int(self.game.allowance(state))
        return {"left": int(state.left[0]), "most": most, "end": self.game.end_turn}

    def _framed(self, state: ClothState, placed: bool, lead: Sequence[int | None], fields: Mapping[str, Any]) -> Frame:
        """Return the frame of a batch of one; `placed`: mark the units of this turn."""
        cells = self.game.board(state)[0].numpy(force=True)
        territory = self.game.territories(self.game.with_territory(state))[0].numpy(force=True)
        marks = territory[0] * np.uint8(self.marks["territory_0"]) + territory[1] * np.uint8(self.marks["territory_1"])
        if placed:
            marks = marks + self.game.placed(state)[0].numpy(force=True) * np.uint8(self.marks["placed"])
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


class WildClothView(ClothView):
    """A view of wild Cloth of Gold; the marks of ground are three bits, a place in `_LAND`."""

    game: ClothOfGoldWild
    marks: ClassVar[Mapping[str, int]] = {**ClothView.marks, "ground": 8, "ward_0": 64, "ward_1": 128}

    @override
    def layout(self) -> dict[str, Any]:
        layout, land = super().layout(), ["", *(LAND[name] for name in _LAND[1:])]
        palette = layout["palette"] | {"land": land, "signs": _SIGNS, "wards": WARDS}
        lands = _LAND[1:] if self.game.weather else _LAND[1:4] if self.game.terrain else ()
        sides = player_names(self.game) if self.game.perks else []
        wards = [(f"wards of {side}", self.marks[f"ward_{seat}"]) for seat, side in enumerate(sides)]
        marks = [*((name, self.marks["ground"] * _LAND.index(name)) for name in lands), *wards]
        legend = [*layout["legend"], *({"label": label, "code": 0, "marks": mark} for label, mark in marks)]
        return layout | {"palette": palette, "dark": dark(CLOTH, palette, CLOTH["units"]), "legend": legend}

    @override
    def _framed(self, state: ClothState, placed: bool, lead: Sequence[int | None], fields: Mapping[str, Any]) -> Frame:
        frame = super()._framed(state, placed, lead, fields)
        seen = wild_view(self.game, wild(state), player_names(self.game))
        marks = np.zeros((self.game.height, self.game.width), np.uint8)
        for name, mask in seen.ground.items():
            marks = np.where(mask, np.uint8(self.marks["ground"] * _LAND.index(name)), marks)
        for seat, mask in enumerate(() if seen.wards is None else seen.wards):
            marks = marks + mask * np.uint8(self.marks[f"ward_{seat}"])
        animals = [[kind, row * self.game.width + col] for kind, row, col in seen.animals or ()]
        words = [line.split(": ", 1) for line in (seen.weather, *seen.earned) if line]
        assert frame.marks is not None
        more = {"animals": animals, "text": [*frame.fields["text"], *words]}
        return Frame(frame.cells, frame.marks + marks.astype(np.uint8).ravel(), {**frame.fields, **more})

    @override
    def controls(self, state: ClothState, seat: int) -> dict[str, Any]:
        bolts = {"bolts": int(wild(state).spells[0, seat]), "cells": self.game.cells} if self.game.perks else {}
        return super().controls(state, seat) | bolts


def _neutrals(game: ClothOfGold) -> bool:
    return game.neutral_births or game.neutral_density > 0


def _verdict(game: ClothOfGold, state: ClothState) -> str:
    """Return the winner of a finished game, and the reason."""
    number, lead, units = int(state.round[0]), int(state.scores[0, 0]), state.live[0].tolist()
    name, rounds = player_names(game), f"{number} round{'s' * (number != 1)}"
    won = (game.outcome(state)[0] == WIN).tolist()
    winner = won.index(True) if any(won) else None
    cut = bool(state.truncated[0])
    if winner is None:
        left = f"each has {units[0]} units" if any(units) else "nobody has a unit left"
        return f"Both lose after {rounds}: {left}"
    if game.win_rule == "extinction" and not cut:
        return f"{name[winner]} wins after {rounds}: {name[1 - winner]} has no unit left"
    more = f"{units[winner]} to {units[1 - winner]} units"
    if cut:
        return f"{name[winner]} wins: it leads by {abs(lead)} ({more}) after {rounds}, which is the last one"
    before = state.rounds[0, number - 1].tolist()  # units; none where the board was set up since
    then = f"it led by {abs(before[0] - before[1])} a round ago and by {abs(lead)} now, so " if any(before) else ""
    return f"{name[winner]} wins after {rounds}: {then}its lead has not grown ({more})"


_LIVE_LONG = (  # stamps of the Cup
    *("rpentomino", "piheptomino", "bheptomino", "cheptomino", "eheptomino"),
    *("rabbit", "multuminparvo", "switchengine"),
)

GROUPS = {
    "Still lifes": {
        "block": "oo/oo",
        "beehive": ".o/o.o/o.o/.o",
        "loaf": ".oo/o..o/.o.o/..o",
        "boat": ".oo/o.o/.o",
        "tub": ".o/o.o/.o",
        "ship": "oo/o.o/.oo",
        "pond": ".oo/o..o/o..o/.oo",
        "eater 1": "oo/.o/.o.o/..oo",
    },
    "Oscillators": {
        "blinker": "o/o/o",
        "toad": "o/oo/oo/.o",
        "beacon": "oo/o/...o/..oo",
        "clock": "..o/oo/..oo/.o",
        "figure eight": "....oo/..o.oo/.o/....o/oo.o/oo",
        "pentadecathlon": ".o/.o/o.o/.o/.o/.o/.o/o.o/.o/.o",
        "pulsar": "..ooo...ooo//o....o.o....o/o....o.o....o/o....o.o....o/..ooo...ooo/"
        "/..ooo...ooo/o....o.o....o/o....o.o....o/o....o.o....o//..ooo...ooo",
    },
    "Spaceships": {
        "glider": "ooo/..o/.o",
        "lightweight spaceship": "o.o/...o/...o/o..o/.ooo",
        "middleweight spaceship": "ooooo/o....o/o/.o...o/...o",
        "heavyweight spaceship": "oooooo/o.....o/o/.o....o/...oo",
    },
    "Methuselahs": {
        **{usual_name(stamp): "/".join(STAMPS[stamp]) for stamp in _LIVE_LONG},
        "acorn": ".o/...o/oo..ooo",
        "die hard": "......o/oo/.o...ooo",
    },
}
"""Patterns by kind and name, in the order in which the page offers them."""
