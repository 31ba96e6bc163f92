"""The view of Grid Adaptation: cells are 0 without a tile, else its sequence + 1.

Sequences, reserves, garnets and points are secret: a seat that plays sees its own, and everybody's points where
`Game.observe` shows them. When the match is over the table is turned face up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.grid_adaptation import ending, rules
from cellgames.envs.grid_adaptation import rendering as drawn
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import COMPONENTS, MOST_TILES, RESERVE, GridState
from cellgames.envs.toroidal_cup.rendering import COLOURS as SEATS

from .view import Frame, View, results

__all__ = ["GridView"]

_MARKS = {"placed": 1, "born": 2, "died": 4}
_GHOST = 3  # by how many bits the code of the tile that died is shifted in the marks

_SECRET = ("points", "sequence", "reserves", "garnets", "tokens")


class GridView(View):
    """A view of Grid Adaptation; marks are the bits of `_MARKS`: what was placed, what was born and what died."""

    game: GridAdaptation

    @override
    def layout(self) -> dict[str, Any]:
        sequences = [{"label": drawn.bits(number), "colour": colour} for number, colour in enumerate(drawn.COLOURS)]
        return {
            "kind": "cells",
            "paint": "tiles",
            "rows": self.game.size,
            "cols": self.game.size,
            "wrap": False,
            "marks": {**_MARKS, "ghost": 1 << _GHOST},
            "colours": list(SEATS[: self.game.players]),
            "ground": drawn._BOARD,
            "palette": {
                "tiles": drawn.COLOURS,
                "digit": drawn._DIGIT,
                "dark": [drawn._light(colour) <= 0.3 for colour in drawn.COLOURS],
                "ring": drawn._RING,
                "cross": drawn._CROSS,
                "board": drawn._BOARD,
                "grid": drawn._PALE,
            },
            "components": _components(self.game),
            "legend": [
                {"label": "placed", "playing": "named by you", "code": 2, "marks": _MARKS["placed"]},
                {"label": "born", "playing": "new", "code": 2, "marks": _MARKS["born"]},
                {"label": "died", "code": 0, "marks": _MARKS["died"] | 2 << _GHOST},
            ],
            "columns": [
                {"name": "points", "label": "points", "kind": "number"},
                {"name": "sequence", "label": "sequence", "kind": "sequence"},
                {"name": "tokens", "label": "tokens", "kind": "number"},
                {"name": "garnets", "label": "garnets", "kind": "number"},
                {"name": "reserves", "label": "reserves", "kind": "number"},
            ],
            "curves": [
                {"name": "points", "label": "points", "per": "player"},
                {"name": "earned", "label": "points of a round by sequence", "per": "sequence", "lines": sequences},
                {"name": "tiles", "label": "tiles by sequence", "per": "sequence", "lines": sequences},
            ],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        return self.game.spaces * self.game.rounds

    @override
    def frame(
        self,
        state: GridState,
        before: GridState | None,
        viewer: int | None,
        action: Sequence[int] | None = None,
    ) -> Frame:
        # Who placed what is secret, so a seat is shown as placed the spaces that it has named itself. A tile there may
        # as well be a newborn on a space that others had named, too: the board does not tell, to the seat neither.
        board = self.game.board(state)[0].numpy(force=True)
        marks = np.zeros(board.shape, np.uint8)
        last: list[int] = []
        hidden = viewer is not None and not bool(state.done[0])
        if (
            before is not None
            and int(state.turn[0]) == int(before.turn[0]) + 1
            and int(before.round[0]) <= self.game.rounds
        ):
            old = self.game.board(before)[0].numpy(force=True)
            placed = self.game.grid.unpack(state.placed[:1].movedim(0, -1))[0].numpy(force=True)
            if viewer is not None:
                placed = np.zeros_like(placed)
                placed.reshape(-1)[_named(self.game, action)] = True
            born = (board >= 0) & (old < 0) & ~placed
            died = ((old >= 0) | (placed & (viewer is None))) & (board < 0)
            marks = placed * np.uint8(_MARKS["placed"]) + born * np.uint8(_MARKS["born"])
            marks = marks + died * (_MARKS["died"] + ((old + 1).astype(np.uint8) << _GHOST))
            last = [int(cell) for cell in np.flatnonzero(placed)]
        shown = before is not None and viewer is None and int(state.turn[0]) > int(before.turn[0])
        fields: dict[str, Any] = {
            "status": _status(self.game, state, after=shown),
            "last": last,
            "results": results(self.game, state),
            "infos": _infos(self.game, state, viewer if hidden else None, board),
            "text": _text(self.game, state, board, marks, known=viewer is None and before is not None),
            "round": int(state.round[0]),
        }
        if viewer is None or not hidden or _votes(state, viewer):
            fields["tied"] = [int(seat) for seat in state.tied[0].nonzero().flatten()]
        if hidden:
            fields["scores"] = fields["infos"]["points"]
        return Frame((board + 1).astype(np.uint8).ravel(), marks.astype(np.uint8).ravel(), fields)

    @override
    def controls(self, state: GridState, seat: int) -> dict[str, Any]:
        number = int(state.round[0])
        voting = number > self.game.rounds
        votes = self.game.legal_actions(state)[0, seat, -self.game.players - 1 :]
        may_vote = voting and not bool(votes[-1])
        return {
            "round": min(number, self.game.rounds),
            "rounds": self.game.rounds,
            "sequence": f"{int(state.sequence[0, seat]):03b}",
            "reserves": int(state.reserves[0, seat]),
            "garnets": int(state.garnets[0, seat]),
            "points": int(state.scores[0, seat]),
            "price": int(rules.price(state.bought[0, seat])),
            "tiles": 0 if voting else self.game.first_tiles if number == 1 else 1,
            "flips": bool(self.game.flips_now(state.round)[0]) and not voting,
            "public": state.public[0].tolist() if number > 1 else None,
            "voting": voting,
            "votes": votes[:-1].nonzero().flatten().tolist() if may_vote else [],
            "totals": state.scores[0].long().tolist() if may_vote else None,  # voters see them
            "spaces": self.game.spaces,
            "players": self.game.players,
        }


def _components(game: GridAdaptation) -> list[dict[str, Any]]:
    """Return name and number of choices of every component of an action, and the names of choices but spaces."""
    parts: list[dict[str, Any]] = []
    for place, (name, choices) in enumerate(zip(COMPONENTS, game.info.action_nvec, strict=True)):
        part: dict[str, Any] = {"name": name, "choices": choices}
        if place < MOST_TILES or place == RESERVE:
            part |= {"kind": "space", "none": choices - 1}
        else:
            part |= {"kind": "choice", "labels": [game.choice_to_string(place, choice) for choice in range(choices)]}
        parts.append(part)
    return parts


def _named(game: GridAdaptation, action: Sequence[int] | None) -> list[int]:
    """Return the spaces that an action names."""
    choices = [] if action is None else [*action[:MOST_TILES], action[RESERVE]]
    return sorted({choice for choice in choices if choice < game.spaces})


def _infos(game: GridAdaptation, state: GridState, viewer: int | None, board: Any) -> dict[str, Any]:
    counted = bool(state.done[0]) or int(state.round[0]) > game.rounds
    infos: dict[str, list[Any]] = {
        "points": state.scores[0].long().tolist(),
        **{name: getattr(state, name)[0].tolist() for name in ("sequence", "reserves", "garnets")},
        "tokens": state.tokens[0].tolist() if counted else [None] * game.players,
    }
    if viewer is not None:
        votes = _votes(state, viewer)
        for name in _SECRET:
            shown = infos[name][viewer]
            if name != "points" or not votes:
                infos[name] = [shown if seat == viewer else None for seat in range(game.players)]
    public = {"earned": state.public[0].tolist(), "tiles": [int((board == number).sum()) for number in range(8)]}
    return infos | public


def _votes(state: GridState, seat: int) -> bool:
    """Return True if a seat has a vote now, and so sees everybody's points."""
    return bool(ending.voters(state.tied.t(), state.tokens.t())[seat, 0])


def _text(game: GridAdaptation, state: GridState, board: Any, marks: Any, known: bool) -> list[list[Any]]:
    text: list[list[Any]] = [["tiles", int((board >= 0).sum())]]
    if known:
        text += [[name, int((marks & bit > 0).sum())] for name, bit in _MARKS.items()]
    return text


def _status(game: GridAdaptation, state: GridState, *, after: bool) -> str:
    """Return a line on the next round or, with `after`, on the one just played."""
    number = int(state.round[0])
    if bool(state.done[0]):
        doomed = game.info.players[int(state.candidate[0])]
        return f"Over after round {game.rounds}: {doomed} is the Elimination Candidate"
    if number > game.rounds:
        return "The vote for the Elimination Candidate"
    if after:
        return f"After round {number - 1} of {game.rounds}"
    flips = ", a digit may be flipped" if bool(game.flips_now(torch.tensor([number], device="cpu"))[0]) else ""
    return f"Round {number} of {game.rounds}{flips}"
