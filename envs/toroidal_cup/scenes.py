"""Moments and animations of games of the Toroidal Cup, as `rendering` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from cellgames.envs.core.info import DRAW

from .patterns.pattern import PATTERNS
from .rendering import RESULTS, Counts, View, draw, ending, life_frames
from .state import CupState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

    from .game import ToroidalCup

__all__ = ["frames", "view"]


def view(game: ToroidalCup, state: CupState, *, counts: bool = True) -> View:
    """Return the first game of the batch.

    `counts` is for pictures: it plays a finished game again for the lead over time, and adds the quadrants' names.
    """
    done, generations = bool(state.done[0]), int(state.generations[0])
    queues = [[game.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
    words = {**RESULTS, DRAW: RESULTS[DRAW] if done else ""}
    placed = int(state.turn[0])
    stage = f"shape {placed + 1} of {placed + len(queues[0])}"
    return View(
        board=state.board[0].numpy(force=True),
        names=game.info.players,
        headline=f"{_title(game, state)}: {ending(generations, bool(state.truncated[0])) if done else stage}",
        results=[words[value] for value in game.outcome(state)[0].tolist()],
        band=0 if done else game.lattice.band,
        queues=queues,
        counts=_counts(game, state.start[:1].cpu().numpy().tobytes()) if done and counts else None,
        last=generations,
        zones=PATTERNS[game.patterns[int(state.pattern[0])]].zones if counts else (),
    )


def frames(game: ToroidalCup, before: CupState, after: CupState) -> Iterator[Picture]:
    """Yield a placement as one picture, and where Life has run up to `rendering.FRAMES` of its generations."""
    end = view(game, after)
    if end.counts is None or bool(before.done[0]):
        yield draw(end)
    else:
        yield from life_frames(end, _title(game, after), lambda shown: game.life(after.start[:1], keep=shown))


def _title(game: ToroidalCup, state: CupState) -> str:
    return f"{game.info.title}, {PATTERNS[game.patterns[int(state.pattern[0])]].title}"


@lru_cache(maxsize=16)
def _counts(game: ToroidalCup, start: bytes) -> Counts:
    """Return the live cells of all teams from an arrangement (int8 cells, row by row) to the end: [G + 1, k]."""
    cells = torch.frombuffer(bytearray(start), dtype=torch.int8).view(1, game.rows, game.cols)
    trajectory = game.life(cells, trajectory=True).trajectory
    assert trajectory is not None  # asked for
    return trajectory[0].numpy()
