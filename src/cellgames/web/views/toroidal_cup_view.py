"""The view of the Toroidal Cup: cells are 0 if empty, else the team's number; Life runs as an animation.

What a team will place later is secret, also from itself: a seat that plays sees the shape in its hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.drawing import INK, frame_times
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS
from cellgames.envs.toroidal_cup.patterns.stamps import grid, usual_name
from cellgames.envs.toroidal_cup.roster import FIRST_NAMES, LAST_NAMES, roster
from cellgames.envs.toroidal_cup.state import CupState
from cellgames.utils.errors import InputError

from .view import TEAMS, Action, Bytes, Frame, View, changed, clicked, column, curve, dark, player_names, results


class CupView(View):
    """A view of the Toroidal Cup; a seat sees the next shape in its hand, and no later one."""

    game: ToroidalCup

    @override
    def layout(self) -> dict[str, Any]:
        palette = {"cells": drawn.COLOURS, "board": drawn.BOARD, "line": drawn.LINE, "ink": INK, "pale": "#6f675b"}
        return {
            "kind": "cells",
            "paint": "colours",
            "rows": self.game.rows,
            "cols": self.game.cols,
            "wrap": True,
            "band": self.game.lattice.band,
            "colours": list(drawn.COLOURS[: self.game.teams]),
            "ground": drawn.BOARD,
            "palette": palette,
            "dark": dark(TEAMS, palette, TEAMS["cells"][: self.game.teams]),
            "roster": roster_data(self.game.info.players, self.game.rows, self.game.cols),
            "shapes": {name: grid(name).astype(int).tolist() for name in self.game.stamps},
            "columns": [column("cells", "live cells"), column("share", kind="percent")],
            "curves": [curve("cells", "live cells"), curve("share", "share of the live cells, %", most=100)],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        return self.game.rows * self.game.cols * self.game.max_generations

    @override
    def frame(self, state: CupState, before: CupState | None, viewer: int | None, action: Action = None) -> Frame:
        done, turn = bool(state.done[0]), int(state.turn[0])
        left = int((state.queue[0, 0] >= 0).sum())
        generation = int(state.generations[0])
        board = state.board[0].numpy(force=True)
        fields: dict[str, Any] = {
            "status": _ending(self.game, board, generation, bool(state.truncated[0]))
            if done
            else f"Shape {turn + 1} of {turn + left}",
            "last": [] if before is None or done else changed(before.board[0], state.board[0]),
            "results": results(self.game, state),
            "generation": generation,
            "bands": not done,
        }
        return _frame(self.game, board, fields, drawn.seen_pattern(self.game, state, viewer))

    @override
    def animated(self, before: CupState, after: CupState) -> bool:
        return bool(after.done[0]) and not bool(before.done[0])

    @override
    def step(self, before: CupState, after: CupState, viewer: int | None, action: Action, most: int) -> Iterator[Frame]:
        if self.animated(before, after) and most > 0:
            pattern = drawn.seen_pattern(self.game, after, None)
            yield from [*life(self.game, after.start[:1], int(after.generations[0]), most, pattern)][:-1]
        yield self.frame(after, before, viewer, action)

    @override
    def trial(self, state: CupState, seat: int, action: Action, most: int) -> Iterator[Frame]:
        game, start = self.game, state.start[:1].clone()
        if action is not None:
            if not bool(game.legal_actions(state[0])[0, seat, action[0]]):
                raise InputError("action", cause=game.why_illegal(state, seat, 0, action[0]))
            stamp = state.queue[0, seat, 0].long()
            row, col = placement.footprint(game.lattice, game.stamps, stamp, torch.tensor(action[0]))
            start[0, row, (seat * game.lattice.band + col) % game.cols] = seat + 1
        if not start.any():
            raise InputError(cause="the board is empty: choose a place for the shape first")
        last, pattern = int(game.life(start).generations[0]), drawn.seen_pattern(game, state, seat)
        for shown in life(game, start, last, most - 1, pattern):
            words = f"Trial run, generation {shown.fields['generation']} of {last}"
            yield replace(shown, fields={**shown.fields, "status": words, "results": [""] * game.teams})

    @override
    def clicks(self, action: Sequence[int]) -> dict[str, Any]:
        row, col, orientation = self.game.lattice.centre(action[0])
        return clicked([row * self.game.cols + col], *["Turn"] * orientation)

    @override
    def controls(self, state: CupState, seat: int) -> dict[str, Any]:
        # The shape in hand in its eight orientations, and the lattice of a band (`layout`).
        lattice, stamp = self.game.lattice, int(state.queue[0, seat, 0])
        around = placement.cells((self.game.stamps[stamp],), torch.device("cpu"))[0].tolist()  # [8][L][2]
        return {
            "shape": usual_name(self.game.stamps[stamp]),
            "around": [sorted(set(map(tuple, cells))) for cells in around],
            "left": int((state.queue[0, seat] >= 0).sum()),
            "first": lattice.stride // 2,
            "stride": lattice.stride,
            "down": lattice.down,
            "across": lattice.across,
        }


def roster_data(teams: Sequence[str], rows: int, cols: int) -> dict[str, Any]:
    """Return data by which a page names the player of a square: names, and a map from each team's squares to them.

    As `roster.Roster`: the square n of a team has the name `(step * n + start) % names`.
    """
    rosters = [roster(team, rows, cols) for team in teams]
    return {
        "first": FIRST_NAMES,
        "last": LAST_NAMES,
        "names": rosters[0].names,
        "teams": [{"team": one.team, "step": one.mapping[0], "start": one.mapping[1]} for one in rosters],
    }


def _frame(game: ToroidalCup, board: Any, fields: Mapping[str, Any], pattern: str | None) -> Frame:
    cells: Bytes = board.astype(np.uint8).ravel()
    live = _live(game, board)
    total = sum(live)
    share = [round(100 * count / total, 2) if total else None for count in live]
    more: dict[str, Any] = {"infos": {"cells": live, "share": share}, "text": []}
    if pattern is not None:
        more |= {"text": [["pattern", PATTERNS[pattern].title]], "zones": list(PATTERNS[pattern].zones)}
    return Frame(cells, None, {**fields, **more})


def life(game: ToroidalCup, start: torch.Tensor, last: int, most: int, pattern: str | None) -> Iterator[Frame]:
    """Yield Life from an arrangement, int8 [1, rows, cols], to its end at generation `last`.

    These are up to `most` generations, denser at the beginning, and the end; `pattern` is None where it is hidden.
    """
    *shown, _ = frame_times(last, most)
    result = game.life(start, keep=shown)
    winner = int(result.winner[0])
    for generation in [*shown, last]:
        done = generation == last
        words = ["wins" if seat == winner else "loses" if winner else "draw" for seat in range(1, game.teams + 1)]
        board = (result.board if done else result.boards[generation])[0].numpy(force=True)
        ended = done and _ending(game, board, last, bool(result.truncated[0]))
        fields = {
            "status": ended or f"Generation {generation} of {last}",
            "last": [],
            "results": words if done else [""] * game.teams,
            "generation": generation,
            "bands": False,
            "life": not done,
        }
        yield _frame(game, board, fields, pattern)


def _ending(game: ToroidalCup, board: Any, generation: int, truncated: bool) -> str:
    """Return the winner of a finished game, and the reason."""
    live = _live(game, board)
    most, total = max(live), sum(live)
    if live.count(most) > 1:
        return f"A draw: Life was cut off at generation {generation} with {most} live cells each"
    winner = player_names(game)[live.index(most)]
    if most == total:
        return f"{winner} wins after {generation} generations: nobody else has a live cell left"
    share = f"it holds {most} of {total} live cells ({100 * most / total:.1f} %)"
    if truncated:
        return f"{winner} wins: Life was cut off at generation {generation}, where {share}"
    return f"{winner} wins after {generation} generations: {share}, and that share has settled"


def _live(game: ToroidalCup, board: Any) -> list[int]:
    """Return the number of live cells of each team."""
    live: list[int] = np.bincount(board.astype(np.uint8).ravel(), minlength=game.teams + 1)[1 : game.teams + 1].tolist()
    return live
