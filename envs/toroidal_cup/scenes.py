"""Moments and animations of games of the Toroidal Cup, as `rendering` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from cellgames.envs.core.info import DRAW

from .notation import known
from .patterns.pattern import PATTERNS
from .rendering import RESULTS, Counts, View, draw, ending, life_frames
from .state import CupState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

    from .game import ToroidalCup


def view(game: ToroidalCup, state: CupState, player: int | None = None, *, counts: bool = True) -> View:
    """Return the first game of the batch, to a spectator or as a team may know it.

    Args:
        game: the rules.
        state: the games.
        player: the team that looks, which sees `notation.known` shapes and no drawn pattern; None for a spectator.
        counts: for pictures: play a finished game again for the lead over time, and add the quadrants' names.
    """
    done, generations = bool(state.done[0]), int(state.generations[0])
    queues = [[game.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
    words = {**RESULTS, DRAW: RESULTS[DRAW] if done else ""}
    placed = int(state.turn[0])
    stage = f"shape {placed + 1} of {placed + len(queues[0])}"
    pattern = seen_pattern(game, state, player)
    if player is not None:
        queues = known(queues, player)
    return View(
        board=state.board[0].numpy(force=True),
        names=game.info.players,
        headline=f"{_title(game, pattern)}: {ending(generations, bool(state.truncated[0])) if done else stage}",
        results=[words[value] for value in game.outcome(state)[0].tolist()],
        band=0 if done else game.lattice.band,
        queues=queues,
        counts=_counts(game, state.start[:1].cpu().numpy().tobytes()) if done and counts else None,
        last=generations,
        zones=PATTERNS[pattern].zones if counts and pattern is not None else (),
    )


def seen_pattern(game: ToroidalCup, state: CupState, player: int | None) -> str | None:
    """Return the first game's pattern; None for a team (see `view`) while it is drawn and tells shapes to come."""
    hidden = player is not None and len(game.patterns) > 1 and not bool(state.done[0])
    return None if hidden else game.patterns[int(state.pattern[0])]


def frames(game: ToroidalCup, before: CupState, after: CupState) -> Iterator[Picture]:
    """Yield a placement as one picture, and where Life has run up to `rendering.FRAMES` of its generations."""
    end = view(game, after)
    if end.counts is None or bool(before.done[0]):
        yield draw(end)
    else:
        title = _title(game, seen_pattern(game, after, None))
        yield from life_frames(end, title, lambda shown: game.life(after.start[:1], keep=shown))


def _title(game: ToroidalCup, pattern: str | None) -> str:
    return game.info.title if pattern is None else f"{game.info.title}, {PATTERNS[pattern].title}"


@lru_cache(maxsize=16)
def _counts(game: ToroidalCup, start: bytes) -> Counts:
    """Return the live cells of all teams from an arrangement (int8 cells, row by row) to the end: [G + 1, k]."""
    cells = torch.frombuffer(bytearray(start), dtype=torch.int8).view(1, game.rows, game.cols)
    trajectory = game.life(cells, trajectory=True).trajectory
    assert trajectory is not None  # asked for
    return trajectory[0].numpy()
