"""Arrangements of one team in the Toroidal Cup, as designs to evolve.

A design names an action for each shape and kind of shape: number `slot * K + kind`. Rows wrap, so a design is as good
after a shift down by whole steps of the lattice; opponents come in all shifts. Designs play both seats.

Letters: `N` designs, `S` shapes of a team, `K` kinds of shapes, `M` matches, `A` actions.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import override

from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.toroidal_cup.bands import Band, band_of
from cellgames.envs.boards import life
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.core import chance
from cellgames.envs.toroidal_cup.dealing import PLACEABLE, deal, most_shapes
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ORIENTATIONS, ROWS, offsets
from cellgames.utils.errors import InputError

from .design_space import DesignSpace, Floats, Ints, Measure, Played

STARTS = "recorded_games.jsonl.gz"
"""The file of published games, as golly.life has them."""

Bools = npt.NDArray[np.bool_]

_SHORT = 4  # generations of a short game for each column of a band, as `greedy` looks ahead
_ALONE, _EARLY = 500, 100  # generations that a design lives alone for its measures

_MEASURES = (
    Measure("spread", "standard deviation of the shapes' columns, as a share of half the band"),
    Measure("seam", "mean distance of the shapes from the nearer edge of the band, as a share of half of it"),
    Measure("rows", "rows of the board that the arrangement leaves empty, as a share"),
    Measure("growth", "live cells after 500 generations alone, as a share of the board"),
    Measure("speed", "columns of the board that are reached after 100 generations alone, as a share"),
)


@dataclass(frozen=True)
class CupOpponents:
    """Opponents, each with the seat of the design and the shapes that it is dealt.

    Attributes:
        live: bool [M, rows, band], the opponent's cells in its own band.
        seat: int64 [M], of the design; the opponent has the other one.
        queue: int64 [M, S], kinds of the design's shapes.
    """

    live: Bools
    seat: Ints
    queue: Ints

    def __len__(self) -> int:
        return len(self.seat)


@dataclass(frozen=True)
class CupSpace(DesignSpace[CupOpponents]):
    """Arrangements of the shapes of one pattern, `count` of them a team.

    Attributes:
        game: with two teams and one pattern.
        count: `S`.
    """

    game: ToroidalCup
    count: int

    measures = _MEASURES
    opponents = CupOpponents
    alone_generations = _ALONE
    wrap = True
    meeting = "against arrangements that the agents made without seeing it"
    playing = "It plays the designs below, drawn by their weights, and varies what is left of them as the others place."

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the pattern, with the number of shapes where the pattern leaves it open."""
        return self.game.pattern if self.sharing == 1 else f"{self.game.pattern}-{self.count}"

    @property
    def sharing(self) -> int:  # type: ignore[override]
        """Return the count of numbers of shapes that the pattern deals, each of which is a family."""
        return len(_counts(self.game))

    @cached_property
    def kinds(self) -> int:
        """`K`."""
        return len(self.game.stamps)

    @property
    def size(self) -> int:  # type: ignore[override]
        """Return the numbers of a design."""
        return self.count * self.kinds

    @property
    def steps(self) -> int:
        """The shifts down the band that change nothing else: 1 if the rows of the lattice do not wrap evenly."""
        lattice = self.game.lattice
        return lattice.down if lattice.down * lattice.stride == lattice.rows else 1

    @property
    def versions(self) -> int:  # type: ignore[override]
        """Return the number of games between two designs: both seats, all shifts."""
        return 2 * self.steps

    @cached_property
    def band(self) -> Band:
        """The band and its tables."""
        return band_of(self.game.lattice, self.game.stamps)

    # --- designs --------------------------------------------------------------------------------------------------

    @override
    def random(self, count: int, generator: np.random.Generator) -> Ints:
        return self._legal(generator.integers(self.game.lattice.actions, size=(count, self.size)))

    def _legal(self, designs: Ints) -> Ints:
        """Return designs that are played as they are, in the order of the columns; several kinds depend on the deal."""
        if self.kinds > 1:
            return self._in_band(designs)
        _, played = self.band.place(designs, np.zeros_like(designs))
        _, row, col, _ = self._parts(played)
        order = np.lexsort((row, col), axis=1)
        return np.take_along_axis(played, order, 1)

    def _in_band(self, designs: Ints) -> Ints:
        """Return designs whose placements fit into the empty band."""
        plans = designs.reshape(-1, self.kinds)
        for kind in range(self.kinds):
            out = ~self.band.fits[kind, plans[:, kind]]
            if out.any():
                mask = np.broadcast_to(self.band.fits[kind], (int(out.sum()), self.game.lattice.actions))
                plans[out, kind] = self.band.nearest(plans[out, kind], mask)
        return plans.reshape(designs.shape)

    def _parts(self, actions: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return position, lattice row, lattice column and orientation of actions."""
        position, turn = np.divmod(actions, ORIENTATIONS)
        row, col = np.divmod(position, self.game.lattice.across)
        return position, row, col, turn

    def _joined(self, row: Ints, col: Ints, turn: Ints) -> Ints:
        lattice = self.game.lattice
        position = row % lattice.down * lattice.across + np.clip(col, 0, lattice.across - 1)
        return np.asarray(position * ORIENTATIONS + turn)

    @override
    def vary(self, parents: Ints, mates: Ints, generator: np.random.Generator) -> Ints:
        shape = (self.count, self.kinds)
        children = [
            self._varied(parent.reshape(shape), mate.reshape(shape), generator).ravel()
            for parent, mate in zip(parents, mates, strict=True)
        ]
        return self._legal(np.stack(children))

    def _varied(self, parent: Ints, mate: Ints, generator: np.random.Generator) -> Ints:
        """Return a child [S, K]: perhaps crossed over, then changed in one way."""
        child = parent.copy()
        way = generator.choice(len(_WAYS), p=_CHANCES)
        if generator.random() < _CROSSED and self.count > 1:
            cut = int(generator.integers(1, self.count))
            child[cut:] = mate[cut:]
            if generator.random() < 0.5:
                return child
        return _WAYS[way](self, child, generator)

    def _slots(self, generator: np.random.Generator) -> Ints:
        """Return one to three slots, and all kinds or one of them."""
        most = min(self.count, int(generator.choice((1, 1, 1, 2, 3))))
        return generator.choice(self.count, size=most, replace=False)

    def _touch(self, generator: np.random.Generator) -> tuple[Any, ...]:
        """Return an index of some numbers of a child."""
        kinds = np.arange(self.kinds)
        if self.kinds > 1 and generator.random() < 0.5:
            kinds = generator.choice(self.kinds, size=1)
        return np.ix_(self._slots(generator), kinds)

    def _move(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Move some shapes by a few steps."""
        touched = self._touch(generator)
        _, row, col, turn = self._parts(child[touched])
        down, right = generator.integers(-2, 3, size=(2, len(row), 1))
        child[touched] = self._joined(row + down, col + right, turn)
        return child

    def _turn(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Turn or mirror some shapes."""
        touched = self._touch(generator)
        _, row, col, turn = self._parts(child[touched])
        child[touched] = self._joined(row, col, generator.integers(ORIENTATIONS, size=turn.shape))
        return child

    def _replace(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Place some shapes anywhere."""
        touched = self._touch(generator)
        child[touched] = generator.integers(self.game.lattice.actions, size=child[touched].shape)
        return child

    def _swap(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Exchange two slots, which matters where shapes are of several kinds; else exchange their orientations."""
        if self.count < 2:
            return self._turn(child, generator)
        one, other = generator.choice(self.count, size=2, replace=False)
        if self.kinds > 1:
            child[[one, other]] = child[[other, one]]
            return child
        _, row, col, turn = self._parts(child[[one, other]])
        child[[one, other]] = self._joined(row, col, turn[::-1])
        return child

    def _mirror(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Mirror the arrangement left to right."""
        _, row, col, turn = self._parts(child)
        flipped, quarter = np.divmod(turn, 4)
        return self._joined(row, self.game.lattice.across - 1 - col, 4 * (1 - flipped) + -quarter % 4)

    def _shift(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Move the whole arrangement sideways."""
        _, row, col, turn = self._parts(child)
        return self._joined(row, col + int(generator.integers(-3, 4)), turn)

    def _copy(self, child: Ints, generator: np.random.Generator) -> Ints:
        """Repeat two neighbouring shapes elsewhere, in the places of two others."""
        if self.count < 4:
            return self._move(child, generator)
        _, row, col, turn = self._parts(child)
        first = int(generator.integers(self.count))
        far = (col - col[first]) ** 2 + (row - row[first]) ** 2
        pair = np.argsort(far[:, 0], kind="stable")[:2]
        others = generator.choice(np.setdiff1d(np.arange(self.count), pair), size=2, replace=False)
        down, right = generator.integers(self.game.lattice.down), generator.integers(-12, 13)
        child[others] = self._joined(row[pair] + down, col[pair] + right, turn[pair])
        return child

    @override
    def describe(self, designs: Ints) -> Floats:
        lattice = self.game.lattice
        live, played = self.band.place(*self._dealt_out(designs, self._reference))
        _, _, col, _ = self._parts(played)
        side = np.minimum(col, lattice.across - 1 - col) / max(1, (lattice.across - 1) / 2)
        boards = live.reshape(-1, lattice.rows, lattice.band)
        empty = ~boards.any(2)
        early, late = self._lived(boards, (_EARLY, _ALONE))
        reached = early.any(1)
        return np.stack(
            (
                col.std(1) / max(1, lattice.across / 2),
                side.mean(1),
                empty.mean(1),
                late.mean((1, 2)),
                reached.mean(1),
            ),
            1,
        )

    @override
    def alone(self, designs: Ints) -> Bools:
        live, _ = self.band.place(*self._dealt_out(designs, self._reference))
        boards = live.reshape(-1, self.game.lattice.rows, self.game.lattice.band)
        return self._lived(boards, (_ALONE,))[0]

    def _lived(self, bands: Bools, times: Sequence[int]) -> list[Bools]:
        """Return boards of the first team alone, bool [N, rows, cols], at some generations, ascending."""
        grid = Grid(self.game.rows, self.game.cols)
        start = np.zeros((len(bands), self.game.rows, self.game.cols), dtype=np.bool_)
        start[:, :, : self.game.lattice.band] = bands
        boards, now, found = grid.pack(torch.from_numpy(start)), 0, []
        for time in times:
            boards, now = life.advance(grid, boards, time - now), time
            found.append(np.asarray(grid.unpack(boards).numpy()))
        return found

    @cached_property
    def _reference(self) -> Ints:
        """The deal by which designs are described, int64 [S]: always the same one."""
        return np.asarray(self.deals(1, np.random.default_rng(0))[0, 0])

    def _dealt_out(self, designs: Ints, queue: Ints) -> tuple[Ints, Ints]:
        """Return the wanted actions of designs [N, G] for shapes [S] or [N, S], and the shapes: int64 [N, S] both."""
        kinds = np.broadcast_to(queue, (len(designs), self.count))
        plans = designs.reshape(len(designs), self.count, self.kinds)
        return np.take_along_axis(plans, kinds[..., None], 2)[..., 0], kinds

    # --- opponents ------------------------------------------------------------------------------------------------

    def _seeds(self, count: int, first: int) -> torch.Tensor:
        """Return seeds of games that deal `self.count` shapes, int64 [count]."""
        found: list[torch.Tensor] = []
        root = first
        while sum(map(len, found)) < count:
            seeds = chance.seeds(root, 4 * count + 16)
            _, queue = deal(seeds, self.game.patterns, self.game.teams, self.game.shapes)
            found.append(seeds[(queue[:, 0] >= 0).sum(1) == self.count])
            root += 1
        return torch.cat(found)[:count]

    def deals(self, count: int, generator: np.random.Generator) -> Ints:
        """Return the shapes that both teams are dealt in some games, int64 [count, 2, S]."""
        if self.kinds == 1:
            return np.zeros((count, 2, self.count), dtype=np.int64)
        seeds = self._seeds(count, int(generator.integers(1 << 40)))
        _, queue = deal(seeds, self.game.patterns, self.game.teams, self.game.shapes)
        return np.asarray(queue[:, :, : self.count].long().numpy())

    @override
    def pool(self, agent: str, count: int, seed: int) -> CupOpponents:
        """Return arrangements of games of an agent against itself, two a game."""
        games = -(-count // 2)
        seeds = self._seeds(games, seed)
        start, queue = _arranged(self.game, load(agent, self.game), seeds, seed)
        band = self.game.lattice.band
        live = np.stack([start[:, :, seat * band : (seat + 1) * band] == seat + 1 for seat in (1, 0)], 1)
        seats = np.broadcast_to(np.arange(2), (games, 2))
        shapes = queue[:, :, : self.count]
        return CupOpponents(
            live.reshape(-1, *live.shape[2:])[:count],
            seats.reshape(-1)[:count],
            shapes.reshape(-1, self.count)[:count],
        )

    @override
    def champion_pool(self, design: Ints, count: int, generator: np.random.Generator) -> CupOpponents:
        deals = self.deals(-(-count // 2), generator)
        seat = np.arange(count) % 2
        theirs, ours = deals[np.arange(count) // 2, 1 - seat], deals[np.arange(count) // 2, seat]
        live, _ = self.band.place(*self._dealt_out(np.broadcast_to(design, (count, self.size)), theirs))
        boards = live.reshape(count, self.game.lattice.rows, self.game.lattice.band)
        return CupOpponents(self._shifted(boards, np.arange(count) // 2 % self.steps), seat, ours)

    def _shifted(self, boards: Bools, steps: Ints) -> Bools:
        """Return boards [M, rows, band] shifted down by steps of the lattice [M]."""
        rows = (np.arange(self.game.rows) - steps[:, None] * self.game.stride) % self.game.rows
        return np.take_along_axis(boards, rows[:, :, None], 1)

    @override
    def draw(self, pool: CupOpponents, count: int, generator: np.random.Generator) -> CupOpponents:
        some = generator.integers(len(pool), size=count)
        steps = generator.integers(self.steps, size=count)
        # Shapes of one kind suit either seat; others were dealt for a seat, and go with it.
        seat = pool.seat[some] if self.kinds > 1 else np.arange(count) % 2
        return CupOpponents(self._shifted(pool.live[some], steps), seat, pool.queue[some])

    @override
    def joined(self, pools: Sequence[CupOpponents]) -> CupOpponents:
        parts = [(pool.live, pool.seat, pool.queue) for pool in pools]
        return CupOpponents(*(np.concatenate(field) for field in zip(*parts, strict=True)))

    # --- games ----------------------------------------------------------------------------------------------------

    @override
    def play_games(self, designs: Ints, opponents: CupOpponents, match: Ints, *, short: bool) -> Played:
        band, game, seat = self.game.lattice.band, self.game, opponents.seat[match]
        live = self._live(designs, opponents.queue[match])
        boards = np.zeros((len(match), game.rows, game.cols), dtype=np.int8)
        for place in (0, 1):
            here = np.flatnonzero(seat == place)
            own, other = slice(place * band, (place + 1) * band), slice((1 - place) * band, (2 - place) * band)
            boards[here, :, own] = (place + 1) * live[here]
            boards[here, :, other] = (2 - place) * opponents.live[match[here]]
        if short:
            game = dataclasses.replace(game, max_generations=min(game.max_generations, _SHORT * band))
        scores = game.life(torch.from_numpy(boards)).scores.numpy().astype(np.float64)
        mine, theirs = np.take_along_axis(scores, np.stack((seat, 1 - seat), 1), 1).T
        return Played((1 + np.sign(mine - theirs)) / 2, (mine - theirs) / np.maximum(mine + theirs, 1))

    def _live(self, designs: Ints, queues: Ints) -> Bools:
        """Return the cells of designs [B, G] with shapes [B, S], bool [B, rows, band]; equal ones are placed once."""
        given, back = np.unique(np.concatenate((designs, queues), 1), axis=0, return_inverse=True)
        live, _ = self.band.place(*self._dealt_out(given[:, : self.size], given[:, self.size :]))
        return live.reshape(-1, self.game.lattice.rows, self.game.lattice.band)[back.reshape(-1)]

    # --- what designs look like -----------------------------------------------------------------------------------

    @override
    def to_data(self, design: Ints) -> dict[str, Any]:
        """Return the pattern, the number of shapes, and a placement for each slot and stamp as the game writes it."""
        plans = design.reshape(self.count, self.kinds)
        placements = {
            stamp: " ".join(self.game.action_to_string(int(action)) for action in plans[:, kind])
            for kind, stamp in enumerate(self.game.stamps)
        }
        return {"pattern": self.game.pattern, "shapes": self.count, "placements": placements}

    @override
    def lines(self, design: Ints) -> list[str]:
        """Return the placements, a line for each stamp."""
        made = self.to_data(design)["placements"]
        return [f"{stamp} {words}" if len(made) > 1 else words for stamp, words in made.items()]

    @override
    def distance(self, designs: Ints, others: Ints) -> Floats:
        """Return 1 - the overlap of smoothed arrangements, in the best of all shifts down and mirror images."""
        one, other = self._fields(designs), self._fields(others)
        best = np.zeros((len(one), len(other)))
        for mirrored in (other, other[:, :, ::-1]):
            for step in range(self.steps):
                moved = np.roll(mirrored, step, 1).reshape(len(other), -1)
                best = np.maximum(best, one.reshape(len(one), -1) @ moved.T)
        return 1 - best

    def _fields(self, designs: Ints) -> Floats:
        """Return smoothed densities on the lattice with norm 1, float64 [N, down, across]."""
        lattice = self.game.lattice
        _, played = self.band.place(*self._dealt_out(designs, self._reference))
        _, row, col, _ = self._parts(played)
        down = np.arange(lattice.down)[None, None] - row[..., None]
        down = np.minimum(down % lattice.down, -down % lattice.down)
        right = np.arange(lattice.across)[None, None] - col[..., None]
        field = np.einsum("nsr,nsc->nrc", np.exp(-(down**2) / 2.0), np.exp(-(right**2) / 2.0))
        return np.asarray(field / np.linalg.norm(field, axis=(1, 2), keepdims=True))


_WAYS = (
    CupSpace._move,
    CupSpace._turn,
    CupSpace._replace,
    CupSpace._swap,
    CupSpace._mirror,
    CupSpace._shift,
    CupSpace._copy,
)
_CHANCES = np.array((0.3, 0.2, 0.2, 0.1, 0.02, 0.06, 0.12))
_CROSSED = 0.3  # share of the children that are crossed over


def cup_spaces(game: ToroidalCup) -> list[CupSpace]:
    """Return a search space for each pattern of the game and each number of shapes that it deals.

    Raises:
        ValueError: a game of more than two teams.
    """
    if game.teams != 2:
        raise InputError("teams", "two teams, for evolution", game.teams)
    spaces = []
    for pattern in game.patterns:
        alone = dataclasses.replace(game, pattern=pattern)
        spaces += [CupSpace(alone, count) for count in _counts(alone)]
    return spaces


def _counts(game: ToroidalCup) -> list[int]:
    """Return the numbers of shapes that the pattern of a game deals, ascending."""
    most = most_shapes(game.pattern, game.shapes)
    return sorted({min(count, most) for count in PLACEABLE[game.pattern].counts})


def _arranged(game: ToroidalCup, agent: AnyAgent, seeds: torch.Tensor, seed: int) -> tuple[Any, Ints]:
    """Return arrangements before Life, int8 [B, rows, cols], and the shapes, int64 [B, 2, S], of an agent's games."""
    generator = torch.Generator().manual_seed(seed)
    env_ids = torch.arange(len(seeds), device="cpu").repeat_interleave(2)
    seats = torch.arange(2, device="cpu").repeat(len(seeds))
    agent.start(game, seats, env_ids)
    # Life is cut off at once: only the arrangements are wanted.
    still = dataclasses.replace(game, max_generations=1)
    state = still.init(seeds)
    queue = state.queue.long().numpy()
    while not bool(state.done.all()):
        seen = torch.stack([game.observe(state, seat) for seat in (0, 1)], 1).flatten(0, 1)
        mask = game.legal_actions(state).flatten(0, 1)
        actions = agent.act(seen, mask, env_ids, generator)  # type: ignore[union-attr]  # no agent of states
        state = still.step(state, actions.view(-1, 2))
    return state.start.numpy(), queue


def read_starts(folder: Path, space: CupSpace) -> CupOpponents:
    """Return both teams' arrangements of published games of the same pattern and number of shapes.

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
        raise InputError(folder, f"a folder with {STARTS}, games as golly.life publishes them")
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
        raise InputError(path, "a line of JSON for each game, with pattern, team_1 and team_2") from None
    if not live:
        return nobody
    return CupOpponents(np.stack(live), np.array(seats), np.zeros((len(live), count), np.int64))
