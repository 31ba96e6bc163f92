"""The views of Grid Adaptation, without and with talk: cells are 0 without a tile, else its sequence + 1.

Sequences, reserves, garnets and points are secret: a seat that plays sees its own, and everybody's points where
`Game.observe` shows them. When the match is over the table is turned face up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.core.drawing import INK, PALE
from cellgames.envs.grid_adaptation import rendering as drawn
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, MOST_TILES, RESERVE, G, GridState
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.rendering import last_talk, said
from cellgames.envs.grid_adaptation_talk.state import TalkState
from cellgames.envs.toroidal_cup.rendering import COLOURS
from cellgames.utils.errors import InputError

from .view import SEATS, TILES, Action, Frame, View, clicked, column, curve, dark, player_names, results

_MARKS = {"placed": 1, "born": 2, "died": 4}
_GHOST = 3  # by how many bits the code of the tile that died is shifted in the marks

_SECRET = ("points", "sequence", "tokens", "garnets", "reserves")
"""What is one's own to know; the table shows these columns."""


class GridView(View, Generic[G]):
    """A view of Grid Adaptation; marks are the bits of `_MARKS`: tiles that were placed, were born and died."""

    game: GridAdaptation

    @override
    def layout(self) -> dict[str, Any]:
        palette = {
            "tiles": drawn.COLOURS,
            "digit": drawn.DIGIT,
            "dark": [drawn.light(colour) <= 0.3 for colour in drawn.COLOURS],
            "ring": drawn.RING,
            "rim": f"{drawn.RING}55",
            "cross": drawn.CROSS,
            "board": drawn.BOARD,
            "grid": PALE,
            "ink": INK,
        }
        sequences = [{"label": f"{number:03b}", "colour": colour} for number, colour in enumerate(drawn.COLOURS)]
        return {
            "kind": "cells",
            "paint": "tiles",
            "rows": self.game.size,
            "cols": self.game.size,
            "wrap": False,
            "marks": {**_MARKS, "ghost": 1 << _GHOST},
            "colours": list(COLOURS[: self.game.players]),
            "ground": drawn.BOARD,
            "palette": palette,
            "dark": dark(TILES, palette, SEATS[: self.game.players]),
            "legend": [
                {"label": "placed", "playing": "named by you", "code": 2, "marks": _MARKS["placed"]},
                {"label": "born", "playing": "new", "code": 2, "marks": _MARKS["born"]},
                {"label": "died", "code": 0, "marks": _MARKS["died"] | 2 << _GHOST},
            ],
            "columns": [column(name, kind="sequence" if name == "sequence" else "number") for name in _SECRET],
            "curves": [
                curve("points"),
                curve("earned", "points of a round by sequence", "sequence", lines=sequences),
                curve("tiles", "tiles by sequence", "sequence", lines=sequences),
            ],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        return self.game.spaces * self.game.rounds

    @override
    def frame(self, state: G, before: G | None, viewer: int | None, action: Action = None) -> Frame:
        # Who placed what is secret, so a seat is shown as placed the spaces that it has named itself. A tile there may
        # as well be a newborn on a space that others had named, too: the board does not tell, to the seat neither.
        board = self.game.tiles(state)[0].numpy(force=True)
        marks = np.zeros(board.shape, np.uint8)
        last: list[int] = []
        hidden = viewer is not None and not bool(state.done[0])
        plays = before is not None and bool(self.game.places_tiles(before)[0])
        if before is not None and plays and int(state.turn[0]) == int(before.turn[0]) + 1:
            old = self.game.tiles(before)[0].numpy(force=True)
            placed = self.game.grid.unpack(state.placed[:1].movedim(0, -1))[0].numpy(force=True)
            if viewer is not None:
                placed = np.zeros_like(placed)
                placed.reshape(-1)[_named(self.game, action)] = True
            marks = _marks(old, board, placed, (old >= 0) | (placed & (viewer is None)))
            last = [int(cell) for cell in np.flatnonzero(placed)]
        shown = before is not None and plays and viewer is None and int(state.turn[0]) > int(before.turn[0])
        fields: dict[str, Any] = {
            "status": self.status(state, after=shown),
            "last": last,
            "results": results(self.game, state),
            "infos": _infos(self.game, state, viewer if hidden else None, board),
            "text": [["tiles", int((board >= 0).sum())]],
        }
        if viewer is None and before is not None:
            fields["text"] += [[name, int((marks & bit > 0).sum())] for name, bit in _MARKS.items()]
        if bool(state.done[0]):
            fields["places"] = _places(state)
        return Frame((board + 1).astype(np.uint8).ravel(), marks.astype(np.uint8).ravel(), fields)

    @override
    def trial(self, state: G, seat: int, action: Action, most: int) -> Iterator[Frame]:
        # Each round has one generation. The others' tiles of this round and all that they hold stay unknown.
        number, last = int(state.round[0]), self.game.rounds
        if number > last:
            raise InputError(cause="all rounds are played: nothing is placed any more")
        board = self.game.tiles(state)[0].numpy(force=True)
        named = _named(self.game, action)
        if any(board.reshape(-1)[space] >= 0 for space in named):
            raise InputError("action", "spaces without a tile")
        if not named and (board < 0).all():
            raise InputError(cause="the board is empty: choose a space first")
        sequence = int(state.sequence[0, seat])
        if action is not None and bool(self.game.flips_now(state.round)[0]):
            sequence = rules.flipped(sequence, action[FLIP])
        points, placed = int(state.scores[0, seat]), np.zeros(board.shape, bool)
        placed.reshape(-1)[named] = True
        old, board = board, np.where(placed, sequence, board)
        for generation in range(min(most, last - number + 2)):
            if generation:
                old, board = board, _next_board(board)
                apart = board[board >= 0] ^ sequence
                points += 3 * len(apart) - sum(int((apart & value > 0).sum()) for value in rules.DIGITS)
            now = placed & (generation == 0)
            marks = _marks(old, board, now, old >= 0)
            infos = _infos(self.game, state, seat, board)
            infos["points"] = [points if other == seat else None for other in range(self.game.players)]
            after = f"after round {number + generation - 1} of {last}" if generation else f"before round {number}"
            fields = {
                "status": f"Trial run, {after}",
                "last": named if not generation else [],
                "results": [""] * self.game.players,
                "infos": infos,
                "text": [["tiles", int((board >= 0).sum())]],
                "life": True,
            }
            yield Frame((board + 1).astype(np.uint8).ravel(), marks.astype(np.uint8).ravel(), fields)

    @override
    def clicks(self, action: Sequence[int]) -> dict[str, Any]:
        return clicked(_named(self.game, action), "Submit")

    def status(self, state: G, *, after: bool) -> str:
        """Return a line on the next round or, with `after`, on the one just played."""
        game, number = self.game, int(state.round[0])
        if bool(state.done[0]):
            return _final(game, state)
        if number > game.rounds:
            return "The vote for the Elimination Candidate"
        if after:
            return f"After round {number - 1} of {game.rounds}"
        flips = ", a digit may be flipped" if bool(game.flips_now(state.round)[0]) else ""
        return f"Round {number} of {game.rounds}{flips}"

    @override
    def controls(self, state: G, seat: int) -> dict[str, Any]:
        number, rules_only = int(state.round[0]), self.game.base.info.num_actions
        voting, plays = number > self.game.rounds, bool(self.game.places_tiles(state)[0])
        votes = self.game.legal_actions(state)[0, seat, rules_only - self.game.players - 1 : rules_only]
        may_vote = voting and not bool(votes[-1])
        return {
            "round": min(number, self.game.rounds),
            "rounds": self.game.rounds,
            "sequence": f"{int(state.sequence[0, seat]):03b}",
            "reserves": int(state.reserves[0, seat]),
            "garnets": int(state.garnets[0, seat]),
            "points": int(state.scores[0, seat]),
            "price": int(rules.price(state.bought[0, seat])),
            "tiles": (self.game.first_tiles if number == 1 else 1) * plays,
            "flips": bool(self.game.flips_now(state.round)[0]) and plays,
            "public": state.public[0].tolist() if number > 1 else None,
            "voting": voting,
            "talking": False,
            "receivers": [],
            "votes": votes[:-1].nonzero().flatten().tolist() if may_vote else [],
            "totals": state.scores[0].long().tolist() if may_vote else None,  # voters see them
        }


class TalkView(GridView[TalkState]):
    """A view of Grid Adaptation with talk; the table has a column of words."""

    game: GridAdaptationTalk

    @override
    def layout(self) -> dict[str, Any]:
        layout = super().layout()
        layout["columns"].append(column("said", "says", "words"))
        return layout

    @override
    def frame(self, state: TalkState, before: TalkState | None, viewer: int | None, action: Action = None) -> Frame:
        frame = super().frame(state, before, viewer, action)
        frame.fields["infos"]["said"] = self._said(state, viewer)
        return frame

    def _said(self, state: TalkState, viewer: int | None) -> list[Any]:
        """Return the words of the last talk step that a viewer knows: for each seat pairs of a receiver and a word."""
        talk = last_talk(self.game, state, viewer)
        pairs: list[Any] = []
        for letters in talk.letters:
            known = [(to, said(letter)) for to, letter in enumerate(letters) if letter is not None]
            shown = [("" if talk.public or to == viewer else f"to {to}", word) for to, word in known if word != "?"]
            pairs.append(shown or None)
        return pairs or [None] * self.game.players

    @override
    def status(self, state: TalkState, *, after: bool) -> str:
        if not after and bool(self.game.talking(state)[0]):
            return f"Talk before round {int(state.round[0])} of {self.game.rounds}"
        return super().status(state, after=after)

    @override
    def controls(self, state: TalkState, seat: int) -> dict[str, Any]:
        others = [name for other, name in enumerate(player_names(self.game)) if other != seat]
        return super().controls(state, seat) | {
            "talking": bool(self.game.talking(state)[0]),
            "talk": f"{int(state.turn[0])}",  # a step of its own, where several belong to a round
            "words": self.game.words,
            "receivers": ["all"] if self.game.talk == "public" else others,
        }


def _marks(old: Any, board: Any, placed: Any, before: Any) -> Any:
    """Return the marks of a step, [H, W], between two boards; `before`: bool [H, W], where a tile was that may die."""
    born, died = (board >= 0) & (old < 0) & ~placed, before & (board < 0)
    marks = placed * np.uint8(_MARKS["placed"]) + born * np.uint8(_MARKS["born"])
    return marks + died * (_MARKS["died"] + ((old + 1).astype(np.uint8) << _GHOST))


def _named(game: GridAdaptation, action: Action) -> list[int]:
    """Return the spaces that an action names."""
    choices = [] if action is None else [*action[:MOST_TILES], action[RESERVE]]
    return sorted({choice for choice in choices if choice < game.spaces})


def _next_board(board: Any) -> Any:
    """Return the board one generation later, int8 [H, W]: -1 without a tile, else its sequence."""
    grid, tiles = PackedGrid(*board.shape), board >= 0
    cells = torch.from_numpy(np.stack([tiles, *(tiles & (board & value > 0) for value in rules.DIGITS)]))
    before, *digits = grid.pack(cells[None])
    after, digits = rules.generation(grid, before, digits)
    live, *ones = grid.unpack(torch.stack([after, *digits]))[0].numpy().astype(np.int8)
    sequences = sum(one * value for one, value in zip(ones, rules.DIGITS, strict=True))
    return np.where(live > 0, sequences, -1).astype(np.int8)


def _infos(game: GridAdaptation, state: GridState, viewer: int | None, board: Any) -> dict[str, Any]:
    counted = bool(state.done[0]) or int(state.round[0]) > game.rounds
    infos: dict[str, list[Any]] = {
        "points": state.scores[0].long().tolist(),
        **{name: getattr(state, name)[0].tolist() for name in ("sequence", "reserves", "garnets")},
        "tokens": state.tokens[0].tolist() if counted else [None] * game.players,
    }
    if viewer is not None:
        votes = bool(rules.voters(state.tied, state.tokens)[0, viewer])  # who votes sees everybody's points
        for name in _SECRET:
            shown = infos[name][viewer]
            if name != "points" or not votes:
                infos[name] = [shown if seat == viewer else None for seat in range(game.players)]
    public = {"earned": state.public[0].tolist(), "tiles": [int((board == number).sum()) for number in range(8)]}
    return infos | public


def _places(state: GridState) -> list[int]:
    """Return the places of the players of a finished match, from 1; players with equal points share the better one."""
    points = state.scores[0].tolist()
    return [1 + sum(other > own for other in points) for own in points]


def _final(game: GridAdaptation, state: GridState) -> str:
    """Return the winners of a finished match and the Elimination Candidate."""
    name, points, places = player_names(game), state.scores[0].long().tolist(), _places(state)
    first = [seat for seat, place in enumerate(places) if place == 1]
    who = " and ".join(name[seat] for seat in first)
    tokens = int(state.tokens[0].max())
    gain = f"{tokens} Tokens of Life" if tokens > 1 else f"a Token of Life{' each' * (len(first) > 1)}"
    wins = f"win{'s' * (len(first) == 1)} {gain}" if tokens else "share first place, too many for a Token of Life"
    doomed = int(state.candidate[0])
    return (
        f"{who} {wins} with {points[first[0]]} points; {name[doomed]}, last with {points[doomed]}, is the "
        "Elimination Candidate"
    )
