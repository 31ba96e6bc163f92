"""Published games of the Toroidal Cup as opponents of designs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ROWS, offsets

from .cup_space import CupOpponents, CupSpace

__all__ = ["STARTS", "read_starts"]

STARTS = "recorded_games.jsonl.gz"


def read_starts(folder: Path, space: CupSpace) -> CupOpponents:
    """Return the arrangements of both teams of published games with as many shapes of the same pattern.

    Published teams may use the whole board. Only those are taken whose cells lie in one half of it. Patterns with
    several kinds of shapes are left out, since the published cells do not say which shapes they are.

    Raises:
        ValueError: no such file in the folder, or not one of recorded games.
    """
    path = folder / STARTS
    lattice, count = space.game.lattice, space.count
    size = (lattice.rows, lattice.band)
    nobody = CupOpponents(np.zeros((0, *size), np.bool_), np.zeros(0, np.int64), np.zeros((0, count), np.int64))
    if not path.is_file():
        raise ValueError(f"{folder}: expected a folder with {STARTS}, games as golly.life publishes them")
    if space.kinds > 1 or (space.game.rows, space.game.cols) != (ROWS, COLS):
        return nobody
    cells = count * len(offsets(space.game.stamps[0], 0)[0])
    live, seats = [], []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            games = [json.loads(line) for line in file]
        for game in games:
            if game["pattern"] != space.game.pattern:
                continue
            for team in (game["team_1"], game["team_2"]):
                row, col = np.divmod(np.array(team, dtype=np.int64), COLS)
                sides = np.unique(col // lattice.band)
                if len(team) != cells or len(sides) != 1:
                    continue
                board = np.zeros(size, np.bool_)
                board[row, col - sides[0] * lattice.band] = True
                live.append(board)
                seats.append(1 - int(sides[0]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError):
        raise ValueError(f"{path}: expected a line of JSON for each game, with pattern, team_1 and team_2") from None
    if not live:
        return nobody
    return CupOpponents(np.stack(live), np.array(seats), np.zeros((len(live), count), np.int64))
