"""Torus: cells by index, 0 free, 1 Black, 2 White; the path that won; how many stones each side still needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cellgames.agents.torus.distance import CLOSED, stones_to_win
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.torus import rendering as drawn
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import cell_to_name, num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.winning_path import winning_class, winning_path

from .view import Frame, changed, controls, results

__all__ = ["animated", "between", "controls", "extra", "frame", "layout", "work"]

_KINDS = {"ring": "a ring", "bracelet": "a bracelet", "r-helix": "an r-helix", "l-helix": "an l-helix"}


def layout(game: Torus) -> dict[str, Any]:
    """See `View`."""
    colours = [drawn.colour(0, owner, game.size) for owner in (1, 2)]
    return {
        "kind": "torus",
        "size": game.size,
        "wrap": True,
        "names": [cell_to_name(cell, game.size) for cell in range(num_cells(game.size))],
        "colours": colours,
        "ground": drawn.colour(0, 0, game.size),
        "palette": {
            "fill": [drawn.colour(0, owner, game.size) for owner in range(3)],
            "square": drawn.colour(num_cells(game.size) - 1, 0, game.size),
            "edge": drawn._EDGE,
            "path": drawn._PATH,
            "mark": drawn._MARK,
            "paper": drawn._PAPER,
            "ink": drawn._INK,
            "faded": drawn._FADED,
        },
        "strip": drawn._STRIP,
        "columns": [{"name": "needed", "label": "stones needed", "kind": "number"}],
        "curves": [{"name": "needed", "label": "stones still needed to win", "per": "player"}],
    }


def work(game: Torus, moves: Sequence[str] | None) -> int:
    """See `View`; no cell lives."""
    return 0


def frame(
    game: Torus, state: TorusState, before: TorusState | None, viewer: int | None, action: Sequence[int] | None = None
) -> Frame:
    """See `View`; nothing is hidden."""
    board = game.board(state)[0]
    cells = board.numpy(force=True).astype(np.uint8)
    last = int(state.last[0])
    marked = [last] if last >= 0 else []
    if before is not None:
        marked = changed(game.board(before)[0], board)
    fields: dict[str, Any] = {"last": marked}
    name = [player.capitalize() for player in game.info.players]
    turn = int(state.turn[0])
    if bool(state.terminated[0]):
        winner = int(state.scores[0].argmax())
        path = winning_path(cells.tolist(), size=game.size, winner=winner)
        fields["path"] = [list(step) for step in path]
        fields["status"] = f"{name[winner]} wins by {_KINDS[winning_class(path)]} after {turn} turns"
    else:
        fields["status"] = f"{name[int(state.current_player[0])]} to move, turn {turn + 1}"
    return Frame(cells, None, {**fields, "results": results(game, state), "text": [["stones", turn]], "infos": {}})


def animated(game: Torus, before: TorusState, after: TorusState) -> bool:
    """See `View`; a move is one picture."""
    return False


def between(game: Torus, before: TorusState, after: TorusState, most: int, compile: Compile) -> Iterator[Frame]:
    """See `View`; a move is one picture."""
    return iter(())


_CHUNK = 256  # positions at a time
_WORK = 12_000_000  # positions times the fourth power of the size, some seconds of searching


def extra(game: Torus, states: Sequence[TorusState]) -> Mapping[str, Sequence[Sequence[float | None]]]:
    """`needed`: stones that Black and White still need for a path that wins, None where there can be none.

    Nothing for long games on the largest boards, where it takes too long.
    """
    if len(states) * game.size**4 > _WORK:
        return {}
    needed: list[list[float | None]] = []
    for start in range(0, len(states), _CHUNK):
        batch = TorusState.cat(states[start : start + _CHUNK])
        stones = stones_to_win(game.observe(batch, torch.zeros(len(batch), dtype=torch.int64))).tolist()
        needed += [[None if number >= CLOSED else number for number in pair] for pair in stones]
    return {"needed": needed}
