"""Grid Adaptation: cells 0 without a tile, else its sequence + 1; marks say what was placed, born, and what died.

Sequences, reserves, garnets and points are secret: a seat that plays sees its own, and everybody's points where
`Game.observe` shows them. When the match is over the table is turned face up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from cellgames.envs.grid_adaptation import ending, rules
from cellgames.envs.grid_adaptation import rendering as drawn
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import COMPONENTS, MOST_TILES, RESERVE, GridState
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup.rendering import COLOURS as SEATS

from .view import Frame, extra, results

__all__ = ["animated", "between", "controls", "extra", "frame", "layout", "work"]

_MARKS = {"placed": 1, "born": 2, "died": 4}
_GHOST = 3  # by how many bits the code of the tile that died is shifted in the marks

_SECRET = ("points", "sequence", "reserves", "garnets", "tokens")


def layout(game: GridAdaptation) -> dict[str, Any]:
    """See `View`."""
    sequences = [{"label": drawn.bits(number), "colour": colour} for number, colour in enumerate(drawn.COLOURS)]
    return {
        "kind": "cells",
        "paint": "tiles",
        "rows": game.size,
        "cols": game.size,
        "wrap": False,
        "marks": {**_MARKS, "ghost": 1 << _GHOST},
        "colours": list(SEATS[: game.players]),
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
        "components": _components(game),
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


def _components(game: GridAdaptation) -> list[dict[str, Any]]:
    """Name and number of choices of every component of an action; the names of choices that are no spaces."""
    parts: list[dict[str, Any]] = []
    for place, (name, choices) in enumerate(zip(COMPONENTS, game.info.action_nvec, strict=True)):
        part: dict[str, Any] = {"name": name, "choices": choices}
        if place < MOST_TILES or place == RESERVE:
            part |= {"kind": "space", "none": choices - 1}
        else:
            part |= {"kind": "choice", "labels": [game.choice_to_string(place, choice) for choice in range(choices)]}
        parts.append(part)
    return parts


def work(game: GridAdaptation, moves: Sequence[str] | None) -> int:
    """See `View`; a generation a round."""
    return game.spaces * game.rounds


def frame(
    game: GridAdaptation,
    state: GridState,
    before: GridState | None,
    viewer: int | None,
    action: Sequence[int] | None = None,
) -> Frame:
    """See `View`; what the viewer's seat may not know is None.

    Who placed what is secret, so a seat is shown as placed the spaces that it has named itself. A tile there may as
    well be a newborn on a space that others had named, too: the board does not tell, to the seat neither.
    """
    board = game.board(state)[0].numpy(force=True)
    marks = np.zeros(board.shape, np.uint8)
    last: list[int] = []
    hidden = viewer is not None and not bool(state.done[0])
    if before is not None and int(state.turn[0]) == int(before.turn[0]) + 1 and int(before.round[0]) <= game.rounds:
        old = game.board(before)[0].numpy(force=True)
        placed = game.grid.unpack(state.placed[:1].movedim(0, -1))[0].numpy(force=True)
        if viewer is not None:
            placed = np.zeros_like(placed)
            placed.reshape(-1)[_named(game, action)] = True
        born = (board >= 0) & (old < 0) & ~placed
        died = ((old >= 0) | (placed & (viewer is None))) & (board < 0)
        marks = placed * np.uint8(_MARKS["placed"]) + born * np.uint8(_MARKS["born"])
        marks = marks + died * (_MARKS["died"] + ((old + 1).astype(np.uint8) << _GHOST))
        last = [int(cell) for cell in np.flatnonzero(placed)]
    shown = before is not None and viewer is None and int(state.turn[0]) > int(before.turn[0])
    fields: dict[str, Any] = {
        "status": _status(game, state, after=shown),
        "last": last,
        "results": results(game, state),
        "infos": _infos(game, state, viewer if hidden else None, board),
        "text": _text(game, state, board, marks, known=viewer is None and before is not None),
        "round": int(state.round[0]),
    }
    if viewer is None or not hidden or _votes(state, viewer):
        fields["tied"] = [int(seat) for seat in state.tied[0].nonzero().flatten()]
    if hidden:
        fields["scores"] = fields["infos"]["points"]
    return Frame((board + 1).astype(np.uint8).ravel(), marks.astype(np.uint8).ravel(), fields)


def _named(game: GridAdaptation, action: Sequence[int] | None) -> list[int]:
    """The spaces that an action names."""
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
    """Whether a seat has a vote now, and so sees everybody's points."""
    return bool(ending.voters(state.tied.t(), state.tokens.t())[seat, 0])


def _text(game: GridAdaptation, state: GridState, board: Any, marks: Any, known: bool) -> list[list[Any]]:
    text: list[list[Any]] = [["tiles", int((board >= 0).sum())]]
    if known:
        text += [[name, int((marks & bit > 0).sum())] for name, bit in _MARKS.items()]
    return text


def _status(game: GridAdaptation, state: GridState, *, after: bool) -> str:
    """Of what is to come, or of the step that has been played."""
    number = int(state.round[0])
    if bool(state.done[0]):
        doomed = game.info.players[int(state.candidate[0])]
        return f"Over after round {game.rounds}: {doomed} is the Elimination Candidate"
    if number > game.rounds:
        return "The vote for the Elimination Candidate"
    if after:
        return f"After round {number - 1} of {game.rounds}"
    flips = ", a digit may be flipped" if bool(game.flips_now(torch.tensor([number]))[0]) else ""
    return f"Round {number} of {game.rounds}{flips}"


def controls(game: GridAdaptation, state: GridState, seat: int) -> dict[str, Any]:
    """Return what the player holds, and which parts of an action it has to choose."""
    number = int(state.round[0])
    voting = number > game.rounds
    votes = game.legal_actions(state)[0, seat, -game.players - 1 :]
    may_vote = voting and not bool(votes[-1])
    return {
        "round": min(number, game.rounds),
        "rounds": game.rounds,
        "sequence": f"{int(state.sequence[0, seat]):03b}",
        "reserves": int(state.reserves[0, seat]),
        "garnets": int(state.garnets[0, seat]),
        "points": int(state.scores[0, seat]),
        "price": int(rules.price(state.bought[0, seat])),
        "tiles": 0 if voting else game.first_tiles if number == 1 else 1,
        "flips": bool(game.flips_now(state.round)[0]) and not voting,
        "public": state.public[0].tolist() if number > 1 else None,
        "voting": voting,
        "votes": votes[:-1].nonzero().flatten().tolist() if may_vote else [],
        "totals": state.scores[0].long().tolist() if may_vote else None,  # voters see them
        "spaces": game.spaces,
        "players": game.players,
    }


def animated(game: GridAdaptation, before: GridState, after: GridState) -> bool:
    """See `View`; one picture shows a round."""
    return False


def between(game: GridAdaptation, before: GridState, after: GridState, most: int, compile: Compile) -> Iterator[Frame]:
    """See `View`; one picture shows what was placed, born and died in a round."""
    return iter(())
