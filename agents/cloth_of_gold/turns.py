"""Whole turns of Cloth of Gold: shapes drawn at random, and agents that decide turn by turn.

Names and shapes are as in the LifeWiki (conwaylife.com); Life and its first shapes are John Horton Conway's.

Letters: `L` games to move in, `C` candidate turns, `K` the most units of a turn, `V` forms of shapes, `T` tries.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds, reaching
from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.boards.rle import Cell, orientations, parse_cells
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.rules import ACTS_A_UNIT
from cellgames.envs.cloth_of_gold.simulation import territory
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game, chance
from cellgames.envs.core.state import innermost
from cellgames.envs.native import Library, Operator
from cellgames.envs.native.operators import table

SHAPES: dict[str, str] = {
    # Still lifes hold units and territory.
    "block": "oo/oo",
    "tub": ".o./o.o/.o.",
    "boat": "oo./o.o/.o.",
    "ship": "oo./o.o/.oo",
    "beehive": ".oo./o..o/.oo.",
    "loaf": ".oo./o..o/.o.o/..o.",
    "pond": ".oo./o..o/o..o/.oo.",
    "eater": "oo../o.o./..o./..oo",
    # Oscillators do too.
    "blinker": "ooo",
    "toad": ".ooo/ooo.",
    "beacon": "oo../oo../..oo/..oo",
    # Spaceships go to the other side.
    "glider": ".o./..o/ooo",
    "lightweight spaceship": ".o..o/o..../o...o/oooo.",
    # Seeds grow, for some time at least.
    "t-tetromino": "ooo/.o.",
    "r-pentomino": ".oo/oo./.o.",
    "pi-heptomino": "ooo/o.o/o.o",
    "b-heptomino": "o.oo/ooo./.o..",
    "acorn": ".o...../...o.../oo..ooo",
}
"""Live cells `o` of each row."""


@cache
def shape_forms(name: str) -> tuple[tuple[Cell, ...], ...]:
    """Return all different turned and mirrored forms of a shape, each as (row, column) from its first cell.

    The first cell lies near the middle, and every other one within a king's move or two of one before it.
    """
    return tuple(_from_the_middle(form) for form in sorted(set(orientations(parse_cells(SHAPES[name])))))


def _from_the_middle(form: tuple[Cell, ...]) -> tuple[Cell, ...]:
    middle = tuple(sum(values) / len(form) for values in zip(*form, strict=True))
    row, col = min(form, key=lambda cell: (cell[0] - middle[0]) ** 2 + (cell[1] - middle[1]) ** 2)
    return tuple(sorted(((r - row, c - col) for r, c in form), key=lambda cell: cell[0] ** 2 + cell[1] ** 2))


_TRIES = 4  # places tried for a shape
_NEAR = 5  # cells around the first shape, where the next ones of a player without units are tried
_BORDER = 3  # cells that count as the border of a territory
_SHAPES = 3  # of a turn at most
_TURN = chance.USER  # purpose of draws
_KIND, _FORM, _MORE, _FIRST_PLACE = range(4)  # of the draws for a shape
_DRAWS = _FIRST_PLACE + _TRIES


class TurnAgent(GameAgent[ClothOfGold]):
    """An agent that decides on a whole turn when it begins and then places unit by unit.

    A subclass implements `turns`. It plays Cloth of Gold from positions, never takes a unit back, and ends the turn
    when all it wanted is placed.

    Attributes:
        random_share: share of its turns that are random instead, for `mixed:SHARE:AGENT`.
    """

    plays = ClothOfGold
    random_share = 0.0

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        # Units still to be placed, [envs, K], -1 for none, and whether there is a plan.
        self._plans = torch.zeros((0, 0), dtype=torch.int64, device="cpu")
        self._planned = torch.zeros(0, dtype=torch.bool, device="cpu")

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        before = self._game
        super().start(game, players, env_ids)
        if before != game or self._plans.device != env_ids.device:
            self._plans = torch.zeros((0, self.game.most_units), dtype=torch.int64, device=env_ids.device)
            self._planned = torch.zeros(0, dtype=torch.bool, device=env_ids.device)
        self._reach(env_ids)
        self._planned[env_ids] = False

    def _reach(self, env_ids: Tensor) -> None:
        """Make room for the environments."""
        self._plans, self._planned = reaching(self._plans, env_ids, -1), reaching(self._planned, env_ids)

    def act_on_state(self, state: ClothState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Place the next unit of each game's turn, cast a bolt before the first one, or end the turn: int64 [L]."""
        game, bolts = self.game, torch.full_like(env_ids, -1)
        self._reach(env_ids)
        new = (~self._planned[env_ids]).nonzero().squeeze(1)
        if len(new) and game.end_turn > game.cells:
            bolts[new] = self.bolts(state[new], generator)
            new = new[bolts[new] < 0]
        if len(new):
            self._plans[env_ids[new]] = self._mixed(state[new], generator)
            self._planned[env_ids[new]] = True
        plans = self._plans[env_ids]
        wanted = plans >= 0
        unit = wanted.int().argmax(1, keepdim=True)
        cell = plans.gather(1, unit).squeeze(1)
        self._plans[env_ids] = plans.scatter(1, unit, -1)
        placing = wanted.any(1) & (bolts < 0)
        self._planned[env_ids] = placing
        return torch.where(bolts < 0, torch.where(placing, cell, game.end_turn), game.cells + bolts)

    def bolts(self, state: ClothState, generator: torch.Generator) -> Tensor:
        """Return cells of bolts to cast before the turn is decided, int64 [L], -1 for none, in games with perks."""
        return torch.full_like(state.current_player, -1)

    def _mixed(self, state: ClothState, generator: torch.Generator) -> Tensor:
        """Return turns as `turns` does, a share of them random."""
        if not self.random_share:
            return self.turns(state, generator)
        plans = random_turns(self.game, state, draw_seeds(len(state), generator, state.device), 1).squeeze(1)
        drawn = torch.rand(len(state), generator=generator, device=generator.device).to(state.device)
        if (own := drawn >= self.random_share).any():
            plans[own] = self.turns(state[own], generator)
        return plans

    @abstractmethod
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        """Return turns for games in which one begins, or goes on after units that others chose.

        Returns:
            int64 [L, K], cells that may be filled one after the other, -1 for none; at least one where a unit can be
            placed and none has been.
        """


class ClothRandom(TurnAgent):
    """An agent that places one to three random shapes of the catalogue where they may stand, and ends its turn.

    Shapes and their forms have equal chances; the shapes' first cells are drawn from all cells on which the player
    may build. Where no shape finds a place in a few tries, it is a single unit.
    """

    name = "random"

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        return random_turns(self.game, state, draw_seeds(len(state), generator, state.device), 1).squeeze(1)


@Operator
def random_turns(game: ClothOfGold, state: ClothState, seeds: Tensor, count: int, *, border: bool = False) -> Tensor:
    """Return random turns of one to three shapes each, `C` = `count` for each game; they may repeat.

    They are a function of `seeds`, int64 [L]. With `border` the place of the first shape is drawn, in every other turn,
    within a few cells of the edge of the player's territory, if there are such cells.

    Returns:
        int64 [L, C, K], cells in an order in which they may be filled, -1 for none. A turn has a unit wherever one
        may be placed.
    """
    draw = _Draw(game, state, seeds, count)
    anchors = draw.anywhere(draw.ground, 0)
    if border:
        edge = draw.ground & _outside(game, state)
        at_edge = (draw.number % 2 == 1) & edge.flatten(1).any(1)[draw.rows]
        anchors = torch.where(at_edge[:, None], draw.anywhere(edge, 0), anchors)
    draw.shape(anchors, 0)
    for number in range(1, _SHAPES):
        draw.shape(draw.nearby(number) if number % 2 else draw.anywhere(draw.ground, number), number)
    draw.single_units()
    return draw.plans.view(len(state), count, game.most_units)


@random_turns.native
def _native_turns(
    native: Library, game: ClothOfGold, state: ClothState, seeds: Tensor, count: int, *, border: bool = False
) -> Tensor:
    """Return the same by `sources/cloth_of_gold_shapes.cpp`."""
    homeless, foreign, room = limits(game, state)
    legal, grid = game.legal_cells(state), game.grid
    edge = innermost(legal & ~foreign & _outside(game, state)) if border else None
    cells, sizes, first, forms = _catalogue(state.device)
    plans = torch.empty((len(state), count, game.most_units), dtype=torch.int64, device=state.device)
    numbers = count, game.most_units, _TRIES, _NEAR, game.first_reach, _SHAPES, len(first), torch.get_num_threads()
    boards = innermost(legal), innermost(foreign), edge
    native.cellgames_cloth_of_gold_shapes(
        grid.rows, grid.cols, len(state), *numbers, *boards, homeless, room, seeds, cells, sizes, first, forms, plans
    )
    return plans


def limits(game: ClothOfGold, state: ClothState) -> tuple[Tensor, Tensor, Tensor]:
    """Return True for a mover without units, [L], the opponent's territory, [L, S, N], and the most units, [L]."""
    rows, player, whole = torch.arange(len(state), device=state.device), state.current_player, game.allowance(state)
    least = (state.left == whole).int()  # a turn without a unit may always place one
    room = torch.minimum(state.left, torch.maximum(ACTS_A_UNIT * whole - state.acts, least)).long()
    return state.live[rows, player] == 0, state.territory[rows, 1 - player], room


def _outside(game: ClothOfGold, state: ClothState) -> Tensor:
    """Return int64 [L, S, N], the cells near the edge of the mover's territory, or beyond it."""
    own = state.territory[torch.arange(len(state), device=state.device), state.current_player].movedim(0, -1)
    return territory(game.grid, game.grid.trim(~own), _BORDER + 1).movedim(-1, 0)


class _Draw:
    """Random turns in the making, `C` for each of `L` games, all in one row of `L * C`."""

    def __init__(self, game: ClothOfGold, state: ClothState, seeds: Tensor, count: int) -> None:
        self.game, self.count = game, count
        device, total = state.device, len(state) * count
        self.rows = torch.arange(len(state), device=device).repeat_interleave(count)
        self.number = torch.arange(count, device=device).repeat(len(state))
        homeless, foreign, room = limits(game, state)
        self.homeless, self.room = homeless[self.rows], room[self.rows]
        self.legal = game.legal_cells(state)
        self.ground = self.legal & ~foreign
        self.plans = torch.full((total, game.most_units), -1, dtype=torch.int64, device=device)
        self.used = torch.zeros(total, dtype=torch.int64, device=device)
        counter = self.number[:, None] + count * torch.arange(_SHAPES * _DRAWS, device=device)
        self.bits = chance.draw(seeds[self.rows][:, None], _TURN, counter).unflatten(1, (_SHAPES, _DRAWS))

    def anywhere(self, cells: Tensor, number: int) -> Tensor:
        """Return int64 [L * C, T], random cells of the bitboards, int64 [L, S, N]; -1 where no cell is left."""
        grid = self.game.grid
        in_row = popcount(cells).sum(2)
        ranks = in_row.cumsum(1)
        total = ranks[:, -1]
        wanted = chance.uniform_int(self.bits[:, number, _FIRST_PLACE:], total[self.rows][:, None])
        wanted = wanted.view(len(cells), self.count * _TRIES)
        row = torch.searchsorted(ranks, wanted, right=True).clamp(max=grid.rows - 1)
        before = (ranks - in_row).gather(1, row)
        words = cells[torch.arange(len(cells), device=row.device)[:, None], row]  # [L, C * T, N]
        bits = (words[..., None] >> torch.arange(grid.widths[0], device=row.device)) & 1
        col = (bits.flatten(-2).cumsum(-1) <= (wanted - before)[..., None]).sum(-1)
        return (row * grid.cols + col).view(len(self.rows), _TRIES).where((total > 0)[self.rows][:, None], -1)

    def nearby(self, number: int) -> Tensor:
        """Return int64 [L * C, T], cells around the first of the turn; -1 where no cell is left, or off the board."""
        game, first = self.game, self.plans[:, :1]
        bits = self.bits[:, number, _FIRST_PLACE:]
        row = first // game.width + chance.uniform_int(bits, 2 * _NEAR + 1) - _NEAR
        col = first % game.width + chance.uniform_int(bits >> 31, 2 * _NEAR + 1) - _NEAR
        inside = (first >= 0) & (row >= 0) & (row < game.height) & (col >= 0) & (col < game.width)
        return (row * game.width + col).where(inside, -1)

    def shape(self, anchors: Tensor, number: int) -> None:
        """Add a shape to the turns, its first cell on the first of `anchors`, [L * C, T], where it may stand.

        The second and the third are added to half of the turns each.
        """
        offsets, sizes, first, forms = _catalogue(anchors.device)
        bits = self.bits[:, number]
        kind = chance.uniform_int(bits[:, _KIND], len(first))
        form = first[kind] + chance.uniform_int(bits[:, _FORM], forms[kind])
        game, shape, size = self.game, offsets[form], sizes[form]  # [L * C, 9, 2], [L * C]
        row = (anchors // game.width)[:, :, None] + shape[:, None, :, 0]
        col = (anchors % game.width)[:, :, None] + shape[:, None, :, 1]
        inside = (row >= 0) & (row < game.height) & (col >= 0) & (col < game.width)
        cells = (row * game.width + col).where(inside, 0)  # [L * C, T, 9]
        width, at = game.grid.widths[0], col.where(inside, 0)
        words = self.ground[self.rows[:, None, None], row.where(inside, 0), at // width]
        free = inside & ((words >> at % width) & 1 == 1)
        free &= (cells[..., None] != self.plans[:, None, None, :]).all(-1)
        start = self.plans[:, :1, None]
        home = torch.where(start >= 0, start, cells[:, :, :1])
        near = (row - home // game.width) ** 2 + (col - home % game.width) ** 2 < game.first_reach
        free &= near | ~self.homeless[:, None, None]
        needed = torch.arange(shape.shape[1], device=size.device) < size[:, None]
        fits = (free | ~needed[:, None, :]).all(2) & (anchors >= 0) & (self.used + size <= self.room)[:, None]
        if number:
            fits &= bits[:, _MORE, None] & 1 == 1
        place = fits.int().argmax(1)
        chosen = cells[torch.arange(len(cells), device=place.device), place]
        chosen = chosen.where(needed & fits.any(1, keepdim=True), -1)
        self._append(chosen)

    def _append(self, cells: Tensor) -> None:
        """Add cells to the turns, int64 [L * C, n]; -1 adds none. None comes after one that does."""
        width = self.plans.shape[1]
        place = self.used[:, None] + torch.arange(cells.shape[1], device=cells.device)
        wide = torch.nn.functional.pad(self.plans, (0, cells.shape[1]), value=-1)
        self.plans = wide.scatter(1, place, cells)[:, :width]
        self.used += (cells >= 0).sum(1)

    def single_units(self) -> None:
        """Add one unit to turns that are empty, wherever it may be placed; contested ground or not."""
        needed = (self.used == 0) & (self.room > 0)
        if needed.any():
            cell = self.anywhere(self.legal, 0)[:, :1]
            self._append(cell.where(needed[:, None], -1))


@table
def _catalogue(device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the cells of all forms, int64 [V, 9, 2], and sizes [V]; of each shape the first form and their number."""
    forms = [shape_forms(name) for name in SHAPES]
    cells = [form for shape in forms for form in shape]
    widest = max(map(len, cells))
    padded = [[*form, *[(0, 0)] * (widest - len(form))] for form in cells]
    counts = list(map(len, forms))
    first = [sum(counts[:index]) for index in range(len(counts))]
    return tuple(torch.tensor(x, device=device) for x in (padded, list(map(len, cells)), first, counts))  # type: ignore[return-value]
