"""Moments and animations of games of Cloth of Gold, as `rendering` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cellgames.envs.core.drawing import frame_times
from cellgames.envs.core.info import LOSS, WIN

from . import rendering
from .rendering import View
from .state import ClothState
from .wild.wild_rendering import WildView
from .wild.wild_scenes import wild_view
from .wild.wild_world import WildWorld

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

    from .game import ClothOfGold
    from .solo import ClothSolo

__all__ = ["FRAMES", "frames", "view"]

FRAMES = 42  # of a round in an animation
_RESULTS = {WIN: "wins", LOSS: "loses"}


def frames(game: ClothOfGold, before: ClothState, after: ClothState) -> Iterator[Picture]:
    """Yield a placement as one picture, the end of a round as some of its generations."""
    before, after = before[:1], after[:1]
    last = view(game, after)
    if _round_ends(before, after):
        yield from _generations(game, before, last)
    yield rendering.draw(replace(last, last=_changed(game, before, after)))


def _round_ends(before: ClothState, after: ClothState) -> bool:
    ended = int(before.current_player) == 1 and not bool(before.done) and int(before.round) > 0
    return ended and (bool(after.done) or int(after.current_player) == 0)


def _generations(game: ClothOfGold, before: ClothState, last: View) -> Iterator[Picture]:
    """Yield some of a round's generations, but not the last one."""
    world, shown = game.world(before), set(frame_times(game.generations, FRAMES))
    for generation in range(game.generations):
        if generation in shown:
            now = replace(
                last,
                cells=world.board(),
                territory=world.territories(),
                title=f"Round {int(before.round)}, generation {generation} of {game.generations}",
                results=("", ""),
                scores=before.scores[0].int().tolist(),
                wild=_wild(game, world),
            )
            yield rendering.draw(now)
        world.generation()


def _changed(game: ClothOfGold, before: ClothState, after: ClothState) -> rendering.Place | None:
    """Return the cell on which a unit was placed or taken back, None at the end of a turn."""
    if int(after.acts) != int(before.acts) + 1:
        return None
    placed = (game.board(before) != game.board(after))[0].nonzero()
    if len(placed) == 0:  # a bolt that hit nothing
        return None
    row, col = placed[len(placed) // 2].tolist()
    return row, col


def view(game: ClothOfGold, state: ClothState) -> View:
    """Return the first game of the batch."""
    state = state[:1]
    world, done = game.world(state), bool(state.done)
    results = [_RESULTS[value] for value in game.outcome(state)[0].tolist()] if done else ["", ""]
    scored = done or int(state.round) > 1 - game.initial_placement
    return View(
        cells=world.board(),
        territory=world.territories(),
        title=_title(game, state),
        names=game.info.players,
        scores=state.scores[0].int().tolist() if scored else None,
        results=results,
        placed=None if done else world.placed(),
        wild=_wild(game, world),
    )


def _wild(game: ClothOfGold, world: ClothSolo | WildWorld) -> WildView | None:
    """Return what wild options add to the picture, None without."""
    return wild_view(game, world.state()) if isinstance(world, WildWorld) else None


def _title(game: ClothOfGold, state: ClothState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"Cut off after {number} rounds" if bool(state.truncated) else f"Over after round {number}"
    turn = f"round {number} of {game.max_rounds}" if number else "initial placement"
    left = int(state.left)
    return f"{game.info.players[int(state.current_player)]} to place, {turn}, {left} unit{'s' * (left != 1)} left"
