"""Boards of Life as RLE, the format of Golly and LifeViewer: https://conwaylife.com/wiki/Run_Length_Encoded.

By default a file has two states, so that every program of Life reads it. With all states it keeps whose cells they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import game_of, replay
from cellgames.envs.boards.rle import board_to_string, string_to_board
from cellgames.envs.cloth_of_gold import ClothOfGold
from cellgames.envs.cloth_of_gold import notation as cloth_notation
from cellgames.envs.core import Game, State
from cellgames.envs.toroidal_cup import ToroidalCup
from cellgames.envs.toroidal_cup import notation as cup_notation
from cellgames.utils.errors import InputError, shown

_WIDTH = 70  # columns of a line, as the format asks
_MOST = 1024  # rows and columns of a file
_MOST_GENERATION = 100_000
_NEUTRAL = 3  # the state of cells of Cloth of Gold that nobody owns
_HEADER = re.compile(
    r"\s*x\s*=\s*([0-9]{1,5})\s*,\s*y\s*=\s*([0-9]{1,5})\s*(?:,\s*rule\s*=\s*([^\s:,]*).*|,.*)?", re.IGNORECASE
)
_LIFE = ("b3/s23", "s23/b3", "23/3", "life", "immigration")  # names of the rule, in small letters
_RUN = re.compile(r"[0-9]*[.A-Zbo$!]")


def board_to_rle(
    board: Sequence[Sequence[int]], *, wraps: bool = False, all_states: bool = False, comments: Sequence[str] = ()
) -> str:
    """Return rows of cells, 0 empty, else a state from 1 to 24, as the text of an RLE file.

    Args:
        board: the rows, of equal length.
        wraps: True if the board is a torus, False if it is a rectangle with dead cells around it.
        all_states: write every state, A for 1; otherwise all states but 0 are alive.
        comments: lines in front of the header.
    """
    rows, cols = len(board), len(board[0])
    body = board_to_string(board if all_states else [[int(cell > 0) for cell in row] for row in board])
    if not all_states:
        body = body.replace(".", "b").replace("A", "o")
    topology = f"{'T' if wraps else 'P'}{cols},{rows}"
    rule = f"{'Immigration' if all_states else 'B3/S23'}:{topology}"
    lines = [""]
    for run in _RUN.findall(body):
        if len(lines[-1]) + len(run) > _WIDTH:
            lines.append("")
        lines[-1] += run
    header = f"x = {cols}, y = {rows}, rule = {rule}"
    return "\n".join([*(f"#C {comment}" for comment in comments), header, *lines]) + "\n"


def rle_to_board(text: str) -> list[list[int]]:
    """Return the rows of an RLE file, 0 empty, else a state from 1 to 24.

    Raises:
        ValueError: no header, another rule than Life, or cells that do not fit the header.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    header = _HEADER.fullmatch(lines[0]) if lines else None
    if header is None:
        got = lines[0] if lines else ""
        raise InputError("header", "an RLE file with a header such as x = 3, y = 3, rule = B3/S23", shown(got))
    if header[3] and header[3].lower() not in _LIFE:
        raise InputError("rule", "Life, which is B3/S23", shown(header[3]))
    cols, rows = int(header[1]), int(header[2])
    if not (0 < rows <= _MOST and 0 < cols <= _MOST):
        raise InputError("size", f"1 to {_MOST} rows and columns", f"x = {cols}, y = {rows}")
    body = "".join("".join(lines[1:]).split()).partition("!")[0]
    board = string_to_board(body.replace("b", ".").replace("o", "A") + "!", rows, cols, 24)
    if board is None:
        raise InputError("body", f"runs of cells in {rows} rows of {cols}, such as bob$2bo$3o!", shown(body))
    return board


def record_to_rle(record: Record, *, turn: int | None = None, generation: int = 0, all_states: bool = False) -> str:
    """Return the world of a recorded game of Cloth of Gold or the Toroidal Cup as the text of an RLE file.

    Args:
        record: the game; it is played again.
        turn: moves played before; None for all of them. Life runs inside the Cup's last move, so that the last board
            is the end, and a generation of the Cup is counted from the arrangement before it.
        generation: number of the generation of Life after that position, without further moves.
        all_states: see `board_to_rle`.

    Raises:
        ValueError: another game, or no such turn or generation.
        ReplayError: the record does not reproduce.
    """
    game = game_of(record)
    if not isinstance(game, ClothOfGold | ToroidalCup):
        raise InputError("game", "one with boards of Life: Cloth of Gold or the Toroidal Cup", game.id)
    states = replay(record)
    if turn is not None and not 0 <= turn < len(states):
        raise InputError("turn", f"a turn from 0 to {len(states) - 1}", turn)
    if not 0 <= generation <= _MOST_GENERATION:
        raise InputError("generation", f"a generation from 0 to {_MOST_GENERATION}", generation)
    at = len(states) - 1 if turn is None else turn
    board = _board(game, states[at], generation)
    comments = [
        f"{game.info.title}, {' - '.join(record.agents)}, seed {record.seed}",
        f"after move {at} of {len(record.moves)}" + (f", generation {generation}" if generation else ""),
    ]
    return board_to_rle(board, wraps=isinstance(game, ToroidalCup), all_states=all_states, comments=comments)


def _board(game: ClothOfGold | ToroidalCup, state: State, generation: int) -> list[list[int]]:
    board: Any
    if not isinstance(game, ToroidalCup):
        worlds = game.worlds(state)  # type: ignore[arg-type]
        board = game.board(next(islice(worlds, generation, None)))[0]
    elif generation:
        start = state.start  # type: ignore[attr-defined]  # the game's own state
        board = game.life(start, keep=[generation]).boards[generation][0]
    else:
        board = game.board(state)[0]  # type: ignore[arg-type]
    return list(board.tolist())


def rle_to_position(game: Game, text: str, *, at: tuple[int, int] | None = None) -> str:
    """Return the position of a game whose board an RLE file holds, as a line that `game.string_to_state` reads.

    In Cloth of Gold the states are 1 and 2 for units, 3 for neutral and 4 for killed cells, and the first round begins;
    in a file of two states live cells are neutral. In the Toroidal Cup the line is an arrangement after which Life
    runs; in a file of two states a cell belongs to the team in whose band it is.

    Args:
        game: the rules.
        text: text of the file.
        at: row and column of the file's upper left corner; None puts it into the middle.

    Raises:
        ValueError: no RLE file, another game, or a board that is too large or impossible.
    """
    if not isinstance(game, ClothOfGold | ToroidalCup):
        raise InputError("game", "one with boards of Life: Cloth of Gold or the Toroidal Cup", game.id)
    pattern = rle_to_board(text)
    rows, cols = (game.rows, game.cols) if isinstance(game, ToroidalCup) else (game.height, game.width)
    top, left = ((rows - len(pattern)) // 2, (cols - len(pattern[0])) // 2) if at is None else at
    if top < 0 or left < 0 or top + len(pattern) > rows or left + len(pattern[0]) > cols:
        got = f"{len(pattern)} x {len(pattern[0])} at {top} {left}"
        raise InputError("pattern", f"one that fits {rows} x {cols}", got, where=game.id)
    board = [[0] * cols for _ in range(rows)]
    two = all(cell <= 1 for row in pattern for cell in row)
    for row, cells in enumerate(pattern, top):
        for col, cell in enumerate(cells, left):
            if cell and two:
                cell = _NEUTRAL
                if isinstance(game, ToroidalCup):
                    cell = min(col // game.lattice.band, game.teams - 1) + 1
            board[row][col] = cell
    if isinstance(game, ToroidalCup):
        queues: list[list[str]] = [[] for _ in range(game.teams)]
        line = cup_notation.position_to_string(cup_notation.Position(game.patterns[0], 0, board, queues))
    else:
        first = 1 - game.initial_placement
        line = cloth_notation.position_to_string(cloth_notation.Position(0, first, 0, 0, [], board))
    game.string_to_state(line)  # refuses what the game cannot hold
    return line
