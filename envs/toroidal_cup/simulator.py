"""Games of the Toroidal Cup from their starts to the end: generations of coloured Life, and the rule that ends a game.

Rules: the Toroidal Cup rules on the Golly.Life wiki, and the published games where they leave a case open. "Game Play":
a newborn cell takes the majority colour of its three parents, a survivor that of its two or three live neighbours;
where colours tie, even row + column takes the lowest-numbered team, odd the highest. "Ending the Game": with v(g) the
leader's percentage of the live cells in generation g and A(g) its mean over the last 240 generations, a game is over at
the first g >= 243 at which the teams are not level and either A's relative change stayed below the tolerance in the
last two steps and none of the three averages is 50, or only one team has cells left.

Native code plays games on the CPU, torch code wherever that is missing. Both give the same results in every bit.

Letters: `B` games, `k` teams, `H, W` rows and columns, `S, N` stored rows and words (see `boards.bitboards`), `G` the
generations of the longest game, `K` kept generations. Boards are packed as planes int64 [k, S, N, B]: the live cells,
then those of each team but the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Literal, NamedTuple, SupportsIndex, TypeAlias, TypedDict, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import Unpack

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.boards.life import inherited
from cellgames.envs.native import Library, Operator
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ROWS
from cellgames.utils.errors import InputError, check_whole, shown

Survivors = Literal["recolour", "keep"]


def pack(grid: Grid, board: Tensor, teams: int) -> Tensor:
    """Return planes of boards [B, H, W] of team numbers."""
    numbers = torch.arange(1, teams, dtype=board.dtype, device=board.device)
    return grid.pack(torch.cat((board.ne(0).unsqueeze(1), board.unsqueeze(1) == numbers[:, None, None]), 1))


def unpack(grid: Grid, planes: Tensor) -> Tensor:
    """Return boards of team numbers, int8 [B, H, W]; the inverse of `pack`."""
    cells, teams = grid.unpack(planes).to(torch.int8), len(planes)
    board = cells[:, 0] * teams
    for number in range(1, teams):
        board -= cells[:, number] * (teams - number)
    return board


def generation(grid: Grid, planes: Tensor, survivors: Survivors) -> Tensor:
    """Return the planes of the next generation; "keep" leaves survivors their colour."""
    live, *colours = planes.unbind()
    after, inherit = inherited(grid, live, colours)
    if survivors == "keep":
        inherit = [colour | (new & ~live) for colour, new in zip(colours, inherit, strict=True)]
    return torch.stack((after, *(new & after for new in inherit)))


def live_cells(planes: Tensor) -> Tensor:
    """Return the live cells of each team, int64 [B, k]."""
    all_teams, *others = count(planes).unbind()
    return torch.stack((*others, all_teams - sum(others)), 1)


WINDOW = 240
FIRST_END = 243
HISTORY = WINDOW + 2  # shares of the last generations, of which the three averages are made


def leaders(counts: Tensor) -> Tensor:
    """Return the number, from 1, of the team with the most live cells, 0 where teams are level: int64 [...]."""
    most, team = counts.max(-1)
    level = counts.eq(most.unsqueeze(-1)).sum(-1) > 1
    return torch.where(level, 0, team + 1)


def shares(counts: Tensor) -> Tensor:
    """Return the victory percentage, the leader's share of the live cells, float64 [...]; 0 if none is live."""
    return counts.amax(-1).double() * 100 / counts.sum(-1).clamp(min=1)


def ended(counts: Tensor, history: Tensor, tolerance: float) -> Tensor:
    """Return a mask of the games that fulfil the rule, bool [B], in a generation from `FIRST_END` on.

    Counts are int64 [B, k], live cells of each team; `history`, float64 [HISTORY, B], has the shares up to now.
    """
    alone = (counts > 0).sum(-1) == 1
    change = (history[WINDOW:] - history[:-WINDOW]).abs() / WINDOW  # of the average, whose running sum would drift
    small = (change <= tolerance * 100).all(0)  # no average is more, so this is needed; and rare
    if small.any():
        averages = _averages(history)
        half = (averages - 50).abs() <= tolerance * 50
        small &= (change < tolerance * averages[:-1]).all(0) & ~half.any(0)
    return (leaders(counts) > 0) & (alone | small)


def _averages(history: Tensor) -> Tensor:
    """Return the means of all windows of shares, float64 [3, B]; the order of the sums is that of native code."""
    sums = history
    for apart in (1, 2, 4, 8):
        sums = sums[:-apart] + sums[apart:]  # of 2, 4, 8 and 16
    starts = len(history) - WINDOW + 1
    total = sums[:starts]
    for part in range(16, WINDOW, 16):
        total = total + sums[part : part + starts]
    return total / WINDOW


MAX_GENERATIONS = 10_000
TOLERANCE = 1e-12
MOST_TEAMS = 127  # an int8 holds their numbers
_MOST_NATIVE_TEAMS = 8  # those of the game; native code keeps their rows in registers and on the stack

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Result:
    """The ends of games.

    Attributes:
        scores: int64 [B, k], live cells.
        generations: int64 [B], at which the game ended.
        winner: int64 [B], the number of the winning team, from 1; 0 without a winner.
        truncated: bool [B], the game was stopped after the most generations allowed; the leader wins.
        board: int8 [B, H, W], the last generation: 0 empty, else the team's number.
        boards: boards int8 [B, H, W] of the generations asked for, by generation; games over by then show their last.
        trajectory: int32 [B, G + 1, k], if asked for: live cells in generations 0 to G, the end of the longest game;
            games over by then repeat their last counts.
    """

    scores: Tensor
    generations: Tensor
    winner: Tensor
    truncated: Tensor
    board: Tensor
    boards: dict[int, Tensor]
    trajectory: Tensor | None


class Options(TypedDict, total=False):
    """Options of how games are played from their starts.

    Attributes:
        max_generations: generation at which running games are truncated; `MAX_GENERATIONS` by default.
        survivors: "recolour" (the default) gives a surviving cell the majority colour of its live neighbours, as in
            the Cup; "keep" leaves it its own.
        tolerance: tolerance of the end rule, relative to the average; `TOLERANCE` by default.
        keep: generations whose boards to return, from 0 on; none by default.
        trajectory: True to return the live cells of every generation.
    """

    max_generations: int
    survivors: Survivors
    tolerance: float
    keep: Iterable[int]
    trajectory: bool


def simulate(
    starts: Sequence[Sequence[Iterable[int]]],
    rows: int = ROWS,
    cols: int = COLS,
    *,
    device: torch.device | str = "cpu",
    **options: Unpack[Options],
) -> Result:
    """Play games from lists of cells.

    Args:
        starts: games, each a list of teams (at least 2, the same number in each game), each its live cells as
            row * cols + col.
        rows: number of rows of the torus, at least 3.
        cols: number of columns of the torus, at least 3.
        device: device of the games.
        options: see `Options`.

    Raises:
        ValueError: a cell is not on the board, or two teams start on it; the message names it.
    """
    teams = len(starts[0]) if len(starts) else 2
    return run(boards(starts, rows, cols).to(device), teams, **options)


def boards(starts: Sequence[Sequence[Iterable[int]]], rows: int = ROWS, cols: int = COLS) -> Tensor:
    """Return boards of lists of cells as `simulate` takes them, int8 [B, H, W]: 0 empty, else the team's number."""
    grid = Grid(rows, cols)
    size, teams = grid.rows * grid.cols, len(starts[0]) if len(starts) else 2
    cells: list[list[Ints]] = [[] for _ in range(teams)]  # by team, then by game
    for game, start in enumerate(starts):
        if not isinstance(start, Sequence):
            raise InputError(f"game {game}", "a list of teams", shown(start), "did you pass one game?")
        if len(start) != teams or not 2 <= teams <= MOST_TEAMS:
            cause = f"game {game} has {len(start)}, the first {teams}"
            raise InputError("starts", f"a list of 2 to {MOST_TEAMS} teams, as many in every game", cause=cause)
        for number, team in enumerate(start):
            cells[number].append(_cells(team, game, number + 1))
    flat = np.zeros(len(starts) * size, np.int8)
    for number, games in enumerate(cells if len(starts) else [], 1):
        own = np.concatenate(games)
        first = np.repeat(np.arange(0, len(flat), size), list(map(len, games)))  # of each cell's board
        if (wrong := np.flatnonzero((own < 0) | (own >= size))).size:
            parameter = f"game {first[wrong[0]] // size}, team {number}"
            raise InputError(parameter, f"cells from 0 to {size - 1} (row * {cols} + col)", int(own[wrong[0]]))
        if (shared := np.flatnonzero(flat[first + own])).size:
            cell, board = own[shared[0]], first[shared[0]]
            got = f"teams {flat[board + cell]} and {number} on cell {cell} (row {cell // cols}, column {cell % cols})"
            raise InputError(f"game {board // size}", "one team on a cell", got)
        flat[first + own] = number
    return torch.from_numpy(flat).view(-1, grid.rows, grid.cols)


def _cells(team: Iterable[int], game: int, number: int) -> Ints:
    """Return a team's cells, int64 [n]."""
    cells = np.asarray(list(team) if isinstance(team, Iterable) else team)
    if cells.ndim != 1 or (cells.size and cells.dtype.kind not in "iu"):
        cause = "starts are a list of games, each a list of teams"
        raise InputError(f"game {game}, team {number}", "whole numbers, the team's live cells", shown(team), cause)
    return cells.astype(np.int64, copy=False)


@torch.no_grad()
def run(
    board: Tensor,
    teams: int,
    *,
    max_generations: int = MAX_GENERATIONS,
    survivors: Survivors = "recolour",
    tolerance: float = TOLERANCE,
    keep: Iterable[int] = (),
    trajectory: bool = False,
) -> Result:
    """Play games from boards, int8 [B, H, W] on any device: 0 empty, else a team's number from 1 to `teams`.

    The other arguments are `Options`.
    """
    rules = _Rules(teams, max_generations, survivors, tolerance)
    _check(board, *rules)
    times = _generations(keep)
    grid = Grid(*board.shape[1:])  # raises if the board is too small
    cells = board.to(torch.int8).view(-1, grid.rows, grid.cols)
    scores, generations, truncated, final, kept, counts = played(cells, rules, times, trajectory)
    boards = dict(zip(times, kept.unbind(), strict=True))
    return Result(scores, generations, leaders(scores), truncated, final, boards, counts if trajectory else None)


Played: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


class _Rules(NamedTuple):
    """Arguments of `run`."""

    teams: int
    max_generations: int
    survivors: Survivors
    tolerance: float


@Operator
def played(board: Tensor, rules: _Rules, keep: list[int], trajectory: bool) -> Played:
    """Play games from boards, int8 [B, H, W]; `keep` is in ascending order, the rest is as in `run`.

    Returns:
        The scores, generations and truncated of `Result`, its board, the boards of each generation kept, int8
        [K, B, H, W], and the trajectory; without one, int32 [B, 0, k].
    """
    grid, games, device = Grid(*board.shape[1:]), len(board), board.device
    teams, max_generations, survivors, tolerance = rules
    planes, playing = pack(grid, board, teams), torch.arange(games, device=device)
    counts = live_cells(planes)
    scores, ends = counts.clone(), torch.zeros(games, dtype=torch.int64, device=device)
    truncated = torch.zeros(games, dtype=torch.bool, device=device)
    final, kept = board.clone(), board.repeat(len(keep), 1, 1, 1)
    course = [counts.to(torch.int32)]
    history = torch.zeros(HISTORY, games, dtype=torch.float64, device=device)
    now = 0
    while len(playing):
        now += 1
        planes = generation(grid, planes, survivors)
        counts = live_cells(planes)
        history = torch.cat((history[1:], shares(counts).unsqueeze(0)))
        over = ended(counts, history, tolerance) if now >= FIRST_END else torch.zeros_like(playing, dtype=torch.bool)
        if trajectory:
            course.append(course[-1].index_copy(0, playing, counts.to(torch.int32)))
        if now in keep:
            kept[keep.index(now), playing] = unpack(grid, planes)
        if now == max_generations or over.any():
            stopped = over | (now == max_generations)
            at = playing[stopped]
            scores[at], ends[at], truncated[at] = counts[stopped], now, ~over[stopped]
            final[at] = unpack(grid, planes[..., stopped])
            playing, planes, history = playing[~stopped], planes[..., ~stopped], history[:, ~stopped]
    for time, boards in zip(keep, kept, strict=True):
        boards[ends < time] = final[ends < time]
    counts = torch.stack(course, 1) if trajectory else course[0].new_empty((games, 0, teams))
    return scores, ends, truncated, final, kept, counts


@played.native
def _native_played(native: Library, board: Tensor, rules: _Rules, keep: list[int], trajectory: bool) -> Played:
    """Return `played`, by `sources/toroidal_cup.cpp`."""
    teams, max_generations, survivors, tolerance = rules
    if teams > _MOST_NATIVE_TEAMS:
        return NotImplemented  # type: ignore[no-any-return]
    games, rows, cols = board.shape
    scores = torch.empty((games, teams), dtype=torch.int64, device=board.device)
    generations = torch.empty(games, dtype=torch.int64, device=board.device)
    truncated = torch.empty(games, dtype=torch.bool, device=board.device)
    final, kept = board.new_empty(board.shape), board.new_empty((len(keep), *board.shape))
    times = torch.tensor(keep, dtype=torch.int64, device=board.device)

    numbers = games, rows, cols, teams, survivors == "keep", max_generations, len(keep)

    def play(counts: Tensor | None) -> None:
        longest, threads = 0 if counts is None else counts.shape[1] - 1, torch.get_num_threads()
        results = scores, generations, truncated, final, kept, counts
        native.cellgames_toroidal_cup(*numbers, longest, threads, tolerance, times, board, *results)

    play(None)
    longest = int(generations.max()) if games else 0
    counts = torch.zeros((games, longest + 1 if trajectory else 0, teams), dtype=torch.int32, device=board.device)
    if trajectory:  # a second time: only now it is known how long the games are
        play(counts)
    return scores, generations, truncated, final, kept, counts


def _generations(keep: Iterable[int]) -> list[int]:
    found = set()
    for at in keep:
        if isinstance(at, bool) or not isinstance(at, SupportsIndex) or index(at) < 0:
            raise InputError("keep", "names of generations, whole numbers of at least 0", shown(at))
        found.add(index(at))
    return sorted(found)


def _check(board: Tensor, teams: int, max_generations: int, survivors: str, tolerance: float) -> None:
    if board.ndim != 3 or board.dtype.is_floating_point or board.dtype == torch.bool:
        raise InputError("board", "integers [B, H, W]", f"{board.dtype} {list(board.shape)}")
    check_whole("teams", teams, 2, MOST_TEAMS)
    if board.numel() and not 0 <= int(board.min()) <= int(board.max()) <= teams:
        raise InputError("cells", f"0 or a team's number up to {teams}", f"{int(board.min())} to {int(board.max())}")
    check_whole("max_generations", max_generations, 1)
    if survivors not in get_args(Survivors):
        raise InputError("survivors", f"one of {', '.join(map(repr, get_args(Survivors)))}", shown(survivors))
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not tolerance > 0:
        raise InputError("tolerance", "positive", shown(tolerance))
