"""Moments and animations of games of Cloth of Gold, as `rendering` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from cellgames.envs.core.drawing import frame_times

from . import rendering
from .solo import ClothSolo
from .state import ClothState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

    from .game import ClothOfGold

__all__ = ["FRAMES", "draw", "frames", "text"]

FRAMES = 42  # of a round in an animation


def draw(game: ClothOfGold, state: ClothState) -> Picture:
    """The first game of the batch."""
    return rendering.draw(**_scene(game, state[:1]))


def text(game: ClothOfGold, state: ClothState) -> str:
    """The first game of the batch for a terminal."""
    return rendering.text(**_scene(game, state[:1]))


def frames(game: ClothOfGold, before: ClothState, after: ClothState) -> Iterator[Picture]:
    """See `Game.frames`: a placement as one picture, the end of a round as some of its generations."""
    last = after[:1]
    if _round_ends(game, before[:1], last):
        yield from _generations(game, before[:1], last)
    yield rendering.draw(**_scene(game, last), last=_changed(game, before[:1], last))


def _round_ends(game: ClothOfGold, before: ClothState, after: ClothState) -> bool:
    ended = int(before.current_player) == 1 and not bool(before.done) and int(before.round) > 0
    return ended and (bool(after.done) or int(after.current_player) == 0)


def _generations(game: ClothOfGold, before: ClothState, after: ClothState) -> Iterator[Picture]:
    """A round's generations, but the last one."""
    scene, solo = _scene(game, after), ClothSolo(game, before)
    shown, number = set(frame_times(game.generations, FRAMES)), int(before.round)
    for generation in range(game.generations):
        if generation in shown:
            scene |= {
                "cells": solo.board(),
                "territory": solo.territories(),
                "title": f"Round {number}, generation {generation} of {game.generations}",
                "results": ("", ""),
                "scores": before.scores[0].int().tolist(),
            }
            yield rendering.draw(**scene)
        solo.generation()


def _changed(game: ClothOfGold, before: ClothState, after: ClothState) -> rendering.Place | None:
    """The cell on which a unit was placed or taken back, None at the end of a turn."""
    if int(after.acts) != int(before.acts) + 1:
        return None
    placed = (game.board(before) != game.board(after))[0].nonzero()
    row, col = placed[0].tolist()
    return row, col


def _scene(game: ClothOfGold, state: ClothState) -> dict[str, Any]:
    """What the drawing of a single game needs."""
    solo, names = ClothSolo(game, state), game.info.players
    results = ("", "")
    if done := bool(state.done):
        word: dict[int, Literal["wins", "loses"]] = {1: "wins", -1: "loses"}
        first, second = game.outcome(state)[0].tolist()
        results = (word[first], word[second])
    scored = done or int(state.round) > 1 - game.initial_placement
    return {
        "cells": solo.board(),
        "territory": solo.territories(),
        "title": _title(game, state),
        "names": names,
        "scores": state.scores[0].int().tolist() if scored else None,
        "results": results,
        "placed": None if done else solo.placed(),
    }


def _title(game: ClothOfGold, state: ClothState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"Cut off after {number} rounds" if bool(state.truncated) else f"Over after round {number}"
    turn = f"round {number} of {game.max_rounds}" if number else "initial placement"
    left = int(state.left)
    return f"{game.info.players[int(state.current_player)]} to place, {turn}, {left} unit{'s' * (left != 1)} left"
