"""The view of wild Cloth of Gold: the base game's, with land, wards, animals, and words on weather and perks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.cloth_of_gold.rounds import World
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild import notation
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.cloth_of_gold_wild.rendering import LAND, WARDS, wild_view
from cellgames.envs.cloth_of_gold_wild.state import wild

from .cloth_of_gold_view import ClothView
from .view import Frame, player_names

_LAND = ("", "water", "forest", "rock", "burnt", "burning")
_SIGNS = ("", "#00000055", "#4d7a2a", "#00000055", "", "#a31d0a")  # on land


class WildClothView(ClothView):
    """A view of wild Cloth of Gold; the marks of ground are three bits, a place in `_LAND`."""

    game: ClothOfGoldWild
    marks: ClassVar[Mapping[str, int]] = {**ClothView.marks, "ground": 8, "ward_0": 64, "ward_1": 128}

    @override
    def more_colours(self) -> dict[str, Any]:
        return {"land": ["", *(LAND[name] for name in _LAND[1:])], "signs": _SIGNS, "wards": WARDS}

    @override
    def more_marks(self) -> list[tuple[str, int]]:
        lands = _LAND[1:] if self.game.weather else _LAND[1:4] if self.game.terrain else ()
        sides = player_names(self.game) if self.game.perks else []
        wards = [(f"wards of {side}", self.marks[f"ward_{seat}"]) for seat, side in enumerate(sides)]
        return [*((name, self.marks["ground"] * _LAND.index(name)) for name in lands), *wards]

    @override
    def base_line(self, text: str) -> str:
        return notation.split_line(text)[0]

    @override
    def _framed(
        self, world: World, placed: npt.NDArray[np.bool_] | None, lead: Sequence[int | None], fields: Mapping[str, Any]
    ) -> Frame:
        frame = super()._framed(world, placed, lead, fields)
        seen = wild_view(self.game, wild(world.state()), player_names(self.game))
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
