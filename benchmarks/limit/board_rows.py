"""Life, the Toroidal Cup and Cloth of Gold, by the package and by C++."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import cellgames
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.life import Life
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.placement import legal_cells
from cellgames.envs.cloth_of_gold.simulation import advance, territory
from cellgames.envs.core import seeds
from cellgames.envs.core.vector import Vector
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, arrange, placement, simulate
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.simulator import WINDOW, boards, run

from .measuring import Row
from .programs import call, difference, room

LIFE_BOARDS, LIFE_SIZE, LIFE_GENERATIONS = 4096, 64, 24
CUP_GAMES = 1000
CUP_LOOPS, CUP_STEPS = 64, 39

WORLDS, SIZE, CLOTH_GENERATIONS = 1024, 100, 168
CLOTH_LOOPS, CLOTH_STEPS, CLOTH_CHECKED = 512, 50, 600
DENSITY = 0.15  # of each side's units at the start


def random_worlds() -> Tensor:
    """Return random worlds, int64 [4, S, N, n]."""
    lots = torch.rand(WORLDS, SIZE, SIZE, generator=torch.Generator().manual_seed(0))
    bounds = torch.tensor([DENSITY, 2 * DENSITY])
    kind = torch.bucketize(lots, bounds, right=True)
    grid = Grid(SIZE, SIZE, wrap=False)
    return torch.stack([grid.pack(kind == side) for side in (0, 1)] + 2 * [grid.pack(torch.zeros_like(kind))])


def ground_work() -> tuple[Tensor, Callable[[], tuple[Tensor, list[Tensor]]]]:
    """Return the units of both players in positions with some dozen, [2, S, N, n], and what finds their ground.

    That returns the territory of both players as bitboards [2, S, N, n], and the legal cells of each, as bitboards
    [n, S, N].
    """
    game = cellgames.make("cloth-of-gold-v0")
    assert isinstance(game, ClothOfGold)
    units = (worlds := random_worlds()[:2]) & worlds.roll(7, -1) & worlds.roll(31, -1)
    units[1] &= ~units[0]
    new = game.init(seeds(0, WORLDS))
    state = new.replace(
        units=units.movedim(-1, 0),
        territory=territory(game.grid, units, game.radius).movedim(-1, 0),
        live=torch.full_like(new.live, 1),
    )
    turns = [state.replace(current_player=torch.full_like(state.current_player, seat)) for seat in (0, 1)]

    def work() -> tuple[Tensor, list[Tensor]]:
        field = territory(game.grid, units, game.radius)
        return field, [legal_cells(game.grid, turn) for turn in turns]

    return units, work


def life() -> Row:
    """Return the row of Life on tori of 64 x 64."""
    cells = torch.rand((LIFE_BOARDS, LIFE_SIZE, LIFE_SIZE), generator=torch.Generator().manual_seed(0)) < 0.35
    ours = Life(LIFE_SIZE, LIFE_SIZE, LIFE_BOARDS)
    ours.load(cells)
    grid, lanes = Grid(LIFE_SIZE, LIFE_SIZE), call("limit_lanes")

    def tiles(cells: Tensor) -> Tensor:
        return grid.pack(cells).view(LIFE_SIZE, -1, lanes).transpose(0, 1).contiguous()

    theirs = room((LIFE_BOARDS // lanes, LIFE_SIZE, lanes)).copy_(tiles(cells))
    for generations in (1, LIFE_GENERATIONS):
        ours.advance(generations)
        call("limit_life", LIFE_BOARDS, generations, 2, theirs)
        difference("life", tiles(ours.cells()), theirs)
    return Row(
        "life",
        f"Life, {LIFE_BOARDS:,} tori of 64 x 64, {LIFE_GENERATIONS} generations a call",
        "cells",
        LIFE_BOARDS * LIFE_SIZE * LIFE_SIZE * LIFE_GENERATIONS,
        lambda: ours.advance(LIFE_GENERATIONS),
        lambda threads: call("limit_life", LIFE_BOARDS, LIFE_GENERATIONS, threads, theirs),
    )


def cup() -> Row:
    """Return the row of generations of the Toroidal Cup, with the live cells of both teams counted."""
    generator = torch.Generator().manual_seed(0)
    board = torch.randint(0, 3, (1024, ROWS, COLS), generator=generator, dtype=torch.int8)
    board[torch.rand(board.shape, generator=generator) < 0.8] = 0  # a seventh of the cells is live
    games, lanes = len(board), call("limit_lanes")
    tiles, counts = room((games // lanes, call("limit_cup_tile"))), room((games // lanes, WINDOW, 2, lanes))
    call("limit_cup_put", games, tiles, board)
    call("limit_cup_advance", games, WINDOW, 2, tiles, counts)
    ended, expected = torch.empty_like(board), run(board, 2, max_generations=WINDOW, trajectory=True)
    call("limit_cup_get", games, tiles, ended)
    difference("cup", expected.board, ended)
    live, first = counts.movedim(2, 0).movedim(-1, 2).flatten(1, 2).unbind()  # [games, WINDOW] each
    assert expected.trajectory is not None
    difference("cup", expected.trajectory[:, 1:].long(), torch.stack((first, live - first), -1))
    what = f"Toroidal Cup, {WINDOW} generations of {games:,} boards of 40 x 280, the live cells of both teams counted"
    return Row(
        "cup",
        what,
        "cells",
        board.numel() * WINDOW,
        lambda: run(board, 2, max_generations=WINDOW),
        lambda threads: call("limit_cup_advance", games, WINDOW, threads, tiles, counts),
    )


def cup_games() -> Row:
    """Return the row of whole games of the Toroidal Cup; the package's begin as lists of cells, C++'s as boards."""
    generator, patterns = np.random.default_rng(0), list(PATTERNS)
    starts = [arrange(patterns[game % len(patterns)], generator) for game in range(CUP_GAMES)]
    given, final = boards(starts).contiguous(), room((CUP_GAMES, ROWS, COLS), torch.int8)
    results = room((CUP_GAMES, 5), torch.int32)
    call("limit_cup_games", CUP_GAMES, 2, given, results, final)
    expected = simulate(starts)
    known = (expected.generations, expected.winner, *expected.scores.unbind(1), expected.truncated)
    difference("cup_games", torch.stack([column.long() for column in known], 1), results)
    difference("cup_games", expected.board, final)
    return Row(
        "cup_games",
        f"Toroidal Cup, {CUP_GAMES:,} whole games from their patterns to the end",
        "games",
        CUP_GAMES,
        lambda: simulate(starts),
        lambda threads: call("limit_cup_games", CUP_GAMES, threads, given, results, final),
        target=1500.0,
    )


class _Shapes(ctypes.Structure):
    """`LimitShapes` of sources/cup.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("cells", "queue", "queues")),
        *((name, ctypes.c_void_p) for name in ("footprints", "sizes", "fits", "dealt")),
    )


class CupPlay:
    """Games of the Toroidal Cup that a C++ program plays at random, with queues of the package.

    Args:
        game: by default.
        games: how many.

    Attributes:
        actions, rewards, ended, masks, seen: of the last step; the rewards are the first team's.
    """

    def __init__(self, game: ToroidalCup, games: int) -> None:
        cpu = torch.device("cpu")
        self.queues = game.init(seeds(0, CUP_GAMES)).queue.contiguous()
        tables = (placement.cells(game.stamps, cpu), placement.sizes(game.stamps, cpu))
        self._tables = (*tables, placement.fits(game.lattice, game.stamps, cpu), self.queues)
        addresses = [table.contiguous().data_ptr() for table in self._tables]
        self._shapes = _Shapes(tables[0].shape[2], self.queues.shape[2], CUP_GAMES, *addresses)
        self._state, self._seed = room((games, call("limit_cup_game") // 8)), room((1,))
        self.games, self.actions, self.rewards = games, room((games, 2)), room((games,), torch.float32)
        self.ended, self.masks = room((games,), torch.bool), room((games, 2, game.info.num_actions), torch.bool)
        self.seen = room((games, 2, *game.info.observation.shape), torch.int8)
        call("limit_cup_begin", self._shapes, games, 1, self._state, self.masks, self.seen)

    def step(self, threads: int) -> None:
        """Play a step of all games; those that end begin anew."""
        arrays = (self.actions, self.rewards, self.ended, self.masks, self.seen)
        call("limit_cup_step", self._shapes, self.games, threads, self._seed, self._state, *arrays)

    def queue(self) -> Tensor:
        """Return the shapes of the games from their first on, int8 [games, 2, S]."""
        at = call("limit_cup_dealt") // 8
        return self.queues[self._state[:, at] // self.queues[0].numel()]


def _loops(vector: Vector, step: Callable[[int], None], steps: int) -> tuple[Callable[[], None], Callable[[int], None]]:
    """Return random steps with masks and observations, by the package and by `step` of a program."""
    generator = torch.Generator().manual_seed(0)

    def ours() -> None:
        for _ in range(steps):
            vector.step_random(generator)
            vector.legal_actions, vector.observation  # noqa: B018  # made when asked for

    def limit(threads: int) -> None:
        for _ in range(steps):
            step(threads)

    return ours, limit


def cup_observed() -> Row:
    """Return the row of random steps of the Toroidal Cup, with masks and observations of both teams."""
    game = ToroidalCup()
    play = CupPlay(game, 12)
    state = game.init(seeds(0, 12)).replace(queue=play.queue())
    for number in range(2 * game.info.max_turns):
        seen = torch.stack([game.observe(state, seat) for seat in (0, 1)], 1)
        difference("cup, seen", seen, play.seen)
        difference("cup, masks", game.legal_actions(state), play.masks)
        play.step(1 + number % 2)
        state = game.step(state, play.actions)
        difference("cup, rewards", state.rewards[:, 0], play.rewards)
        difference("cup, ends", state.done, play.ended)
        new = game.init(seeds(0, 12)).replace(queue=play.queue())
        state = state.put(state.done, new[state.done])
    vector = game.vector(CUP_LOOPS, reuse_buffers=True, observe=torch.int8)
    ours, limit = _loops(vector, CupPlay(game, CUP_LOOPS).step, CUP_STEPS)

    what = f"Toroidal Cup, random steps of {CUP_LOOPS} games to their ends, with masks and observations of both teams"
    return Row("cup_observed", what, "steps", CUP_LOOPS * CUP_STEPS, ours, limit)


def cloth() -> Row:
    """Return the row of generations of Cloth of Gold."""
    planes = random_worlds()
    worlds, grid = planes.shape[-1], Grid(100, 100, wrap=False)
    out = room(planes.shape)
    for generations in (1, CLOTH_GENERATIONS):
        call("limit_cloth", worlds, generations, 2, planes, out)
        difference("cloth", advance(grid, planes, generations), out)
    return Row(
        "cloth",
        f"Cloth of Gold, {CLOTH_GENERATIONS} generations of {worlds:,} worlds of 100 x 100",
        "cells",
        CLOTH_GENERATIONS * worlds * 100 * 100,
        lambda: advance(grid, planes, CLOTH_GENERATIONS),
        lambda threads: call("limit_cloth", worlds, CLOTH_GENERATIONS, threads, planes, out),
        bar=0.8,
    )


class ClothPlay:
    """Games of small Cloth of Gold that a C++ program plays at random.

    Attributes:
        actions, rewards, ended, mask, seen: of the last step, as `Vector` gives them.
    """

    def __init__(self, game: ClothOfGold, games: int) -> None:
        self._games, self._state, self._seed = games, room((games, call("limit_cloth_game") // 8 + 1)), room((1,))
        self.actions, self.rewards = room((games,)), room((games, 2), torch.float32)
        self.ended, self.mask = room((games,), torch.bool), room((games, game.info.num_actions), torch.bool)
        self.seen = room((games, *game.info.observation.shape), torch.int16)
        call("limit_cloth_begin", games, self._state, self.mask, self.seen)

    def step(self, threads: int) -> None:
        """Play a step of all games; those that end begin anew."""
        arrays = (self.actions, self.rewards, self.ended, self.mask, self.seen)
        call("limit_cloth_step", self._games, threads, self._seed, self._state, *arrays)


def cloth_observed() -> Row:
    """Return the row of random steps of small Cloth of Gold, with masks and observations of the player to move."""
    game = cellgames.make("cloth-of-gold-small-v0")
    assert isinstance(game, ClothOfGold)
    play, checked = ClothPlay(game, 24), game.vector(24, compile="never", observe=torch.int16)
    for number in range(CLOTH_CHECKED):
        play.step(1 + number % 2)
        result = checked.step(play.actions)
        difference("cloth, rewards", result.rewards, play.rewards)
        difference("cloth, ends", result.terminated | result.truncated, play.ended)
        difference("cloth, masks", checked.legal_actions, play.mask)
        difference("cloth, seen", checked.observation, play.seen)
    vector = game.vector(CLOTH_LOOPS, reuse_buffers=True, observe=torch.int16)
    ours, limit = _loops(vector, ClothPlay(game, CLOTH_LOOPS).step, CLOTH_STEPS)

    for _ in range(8):  # so that the games are in all stages
        ours()
        limit(1)
    what = f"Cloth of Gold, random steps of {CLOTH_LOOPS} games on 32 x 32, with masks and observations"
    return Row("cloth_observed", what, "actions", CLOTH_LOOPS * CLOTH_STEPS, ours, limit)


def ground() -> Row:
    """Return the row of the territory and the legal cells of both players."""
    units, work = ground_work()
    worlds = units.shape[-1]
    territory, legal, homeless = room(units.shape), room(units.shape), room((2, worlds))
    call("limit_ground", worlds, 2, units, homeless, territory, legal)
    ours, cells = work()
    difference("ground", ours, territory)
    difference("ground", torch.stack(cells).movedim(1, -1), legal)
    return Row(
        "ground",
        f"Cloth of Gold, territory and legal cells of both players of {worlds:,} worlds",
        "worlds",
        worlds,
        work,
        lambda threads: call("limit_ground", worlds, threads, units, homeless, territory, legal),
    )
