"""Moments and animations of matches of Grid Adaptation, as `rendering` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from . import ending, rendering
from .notation import HIDDEN
from .rendering import Row, View
from .state import GridState
from .talk.bubbles import last_talk
from .talk.conversation import TalkState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

    from .game import GridAdaptation

__all__ = ["frames", "view"]


def frames(game: GridAdaptation, before: GridState, after: GridState) -> Iterator[Picture]:
    """Yield a step as one picture, with the tiles placed and the births and deaths of its generation."""
    shown = view(game, after)
    plays = int(before.round[0]) <= game.rounds and not bool(game.talking(before[:1]))
    if int(after.turn[0]) > int(before.turn[0]) and plays:
        placed = game.grid.unpack(after.placed[:1].movedim(0, -1))[0].numpy(force=True)
        shown = replace(shown, before=game.tiles(before[:1])[0].numpy(force=True), placed=placed)
    yield rendering.draw(shown)


def view(game: GridAdaptation, state: GridState, player: int | None = None) -> View:
    """Return the first match of the batch; only what `player` may know, if one is given."""
    state = state[:1]
    counted, candidate = bool(state.done) or int(state.round) > game.rounds, int(state.candidate)
    table = [
        Row(
            player,
            int(state.sequence[0, seat]),
            int(state.scores[0, seat]),
            int(state.garnets[0, seat]),
            int(state.reserves[0, seat]),
            int(state.tokens[0, seat]) if counted else None,
            candidate == seat,
        )
        for seat, player in enumerate(game.info.players)
    ]
    if player is not None and not bool(state.done):
        votes = bool(ending.voters(state.tied.t(), state.tokens.t())[player, 0])
        table = [row if seat == player else row.hidden(points=not votes) for seat, row in enumerate(table)]
        table[player] = table[player]._replace(tokens=HIDDEN if counted else None)
        counted = False  # the order would tell the standing
    return View(
        game.tiles(state)[0].numpy(force=True),
        _title(game, state),
        public=state.public[0].tolist() if int(state.turn) else None,
        table=sorted(table, key=lambda row: -int(row.points)) if counted else table,
        talk=last_talk(game, state, player) if isinstance(state, TalkState) else None,
    )


def _title(game: GridAdaptation, state: GridState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"After round {game.rounds}: {game.info.players[int(state.candidate)]} is the Elimination Candidate"
    if number > game.rounds:
        return "The vote for the Elimination Candidate"
    return f"{'Talk before round' if bool(game.talking(state)) else 'Round'} {number} of {game.rounds}"
