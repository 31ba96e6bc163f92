"""First turns of Cloth of Gold, as designs to evolve.

A design has a number for each of its shapes: 0 for none, or `1 + form * cells + cell`, with the form among all turned
and mirrored shapes of the catalogue and the cell on which its first unit stands. `opening_turns` places it. In later
turns a design plays as `greedy` does, because a player has to place a unit wherever it can. Its opponents play whole
games as themselves, and so they answer what they see; former champions go on as `greedy`, too.

Letters: `N` designs, `S` shapes of a design, `W` units of a shape, `M` matches, `B` games, `K` units of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import ByGame
from cellgames.agents.cloth_of_gold.first_turns import BETWEEN, opening_turns, turned, ways
from cellgames.agents.cloth_of_gold.greedy import ClothGreedy
from cellgames.agents.cloth_of_gold.turns import SHAPES, TurnAgent, shape_forms
from cellgames.agents.loading import load
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.simulation import simulate, territory
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import chance
from cellgames.utils.errors import InputError

from .design_space import DesignSpace, Floats, Ints, Measure, Played

_ROUNDS = 2  # that a design lives alone for its measures
_VERSIONS = 32
_SMALLEST = 3  # units of the smallest shape

_MEASURES = (
    Measure("spread", "standard deviation of the units' places, as a share of the radius of territory"),
    Measure("units", "units that are placed, as a share of those allowed"),
    Measure(
        "edge", "mean distance of the units from the nearest edge of the world, as a share of half its shorter side"
    ),
    Measure("growth", "units after two rounds alone, as a share of the world"),
    Measure("speed", "territory after one round alone, as a share of the world"),
)


@dataclass(frozen=True)
class ClothOpponents:
    """Opponents, each with the seat of the design.

    Attributes:
        agent: text [M], spec of an agent that plays the whole game, or "" for a design that `greedy` plays on.
        design: int64 [M, S], zeros for an agent.
        seat: int64 [M], of the design that is evaluated; the opponent has the other one.
        seed: int64 [M], of the game.
    """

    agent: npt.NDArray[np.str_]
    design: Ints
    seat: Ints
    seed: Ints

    def __len__(self) -> int:
        return len(self.seat)


@cache
def _forms() -> Ints:
    """Return the units of all forms, from the first one, int64 [V, W, 2], and after the last one a large number."""
    forms = [form for name in SHAPES for form in shape_forms(name)]
    found = np.full((len(forms), max(map(len, forms)), 2), 1 << 20, dtype=np.int64)
    for number, form in enumerate(forms):
        found[number, : len(form)] = form
    return found


@dataclass(frozen=True)
class ClothSpace(DesignSpace[ClothOpponents]):
    """First turns of up to `S` shapes.

    Attributes:
        game: the rules.
    """

    game: ClothOfGold

    name = "opening"
    measures = _MEASURES
    versions = _VERSIONS
    opponents = ClothOpponents
    wrap = False
    meeting = "in whole games against the agents, which see it and answer"
    playing = (
        "It opens by the designs below, drawn by their weights, and plays as `greedy` from its second turn on. In the "
        "seat of player_b it turns and mirrors a design as suits the board best."
    )

    @property
    def size(self) -> int:  # type: ignore[override]
        """Return the most shapes of a design."""
        return max(1, self.game.max_units // _SMALLEST)

    @property
    def alone_generations(self) -> int:  # type: ignore[override]
        """Return two rounds."""
        return _ROUNDS * self.game.generations

    # --- designs --------------------------------------------------------------------------------------------------

    def cells(self, designs: Ints) -> Ints:
        """Return the cells of designs, -1 for none: int64 [N, S, W]."""
        form, cell = np.divmod(designs - 1, self.game.cells)
        places = _forms()[form % len(_forms())]
        row, col = cell // self.game.width, cell % self.game.width
        row, col = places[..., 0] + row[..., None], places[..., 1] + col[..., None]
        inside = (row >= 0) & (row < self.game.height) & (col >= 0) & (col < self.game.width)
        return np.where(inside & (designs > 0)[..., None], row * self.game.width + col, -1)

    def _legal(self, designs: Ints) -> Ints:
        """Return designs that are placed as they are on the empty board, shapes first and zeros last."""
        cells = self.cells(designs)
        sizes = (_forms()[(designs - 1) // self.game.cells % len(_forms()), :, 0] < 1 << 20).sum(-1)
        found = np.zeros_like(designs)
        for number, design in enumerate(designs):
            taken: set[int] = set()
            kept: list[int] = []
            first = -1
            for slot, gene in enumerate(design.tolist()):
                units = [cell for cell in cells[number, slot].tolist() if cell >= 0]
                if not gene or len(units) < sizes[number, slot] or len(taken) + len(units) > self.game.max_units:
                    continue
                start = first if kept else units[0]
                if taken.isdisjoint(units) and all(self._near(start, unit) for unit in units):
                    taken.update(units)
                    kept.append(gene)
                    first = start
            kept = kept or [self._gene(0, self.game.height // 2, self.game.width // 2)]  # a block
            found[number, : len(kept)] = kept
        return found

    def _near(self, one: int, other: int) -> bool:
        (row, col), (down, right) = divmod(one, self.game.width), divmod(other, self.game.width)
        return (row - down) ** 2 + (col - right) ** 2 < self.game.radius**2

    def _gene(self, form: int, row: int, col: int) -> int:
        """Return the number of a form whose first unit stands there; places off the board come to its edge."""
        row, col = min(max(row, 0), self.game.height - 1), min(max(col, 0), self.game.width - 1)
        return 1 + (form * self.game.height + row) * self.game.width + col

    def _parts(self, gene: int) -> tuple[int, int, int]:
        form, cell = divmod(gene - 1, self.game.cells)
        return form, *divmod(cell, self.game.width)

    @override
    def random(self, count: int, generator: np.random.Generator) -> Ints:
        designs = np.zeros((count, self.size), dtype=np.int64)
        for design in designs:
            row, col = int(generator.integers(self.game.height)), int(generator.integers(self.game.width))
            for slot in range(int(generator.integers(1, self.size + 1))):
                design[slot] = self._anywhere(row, col, generator) if slot else self._gene(_drawn(generator), row, col)
        return self._legal(designs)

    def _anywhere(self, row: int, col: int, generator: np.random.Generator) -> int:
        """Return any shape near a cell."""
        reach = self.game.radius
        down, right = (int(step) for step in generator.integers(1 - reach, reach, size=2))
        return self._gene(_drawn(generator), row + down, col + right)

    @override
    def vary(self, parents: Ints, mates: Ints, generator: np.random.Generator) -> Ints:
        pairs = zip(parents, mates, strict=True)
        return self._legal(np.stack([self._varied(parent.copy(), mate, generator) for parent, mate in pairs]))

    def _varied(self, child: Ints, mate: Ints, generator: np.random.Generator) -> Ints:
        """Return a child [S] with one shape moved, turned into another, added, left out or taken from the mate."""
        used = int((child > 0).sum())
        slot = int(generator.integers(used))
        form, row, col = self._parts(int(child[slot]))
        _, home, side = self._parts(int(child[0]))
        way = generator.choice(5, p=(0.4, 0.2, 0.15, 0.1, 0.15))
        if way == 0:  # one shape, or now and then the whole turn
            down, right = (int(step) for step in generator.integers(-2, 3, size=2))
            for moved in range(used) if generator.random() < 0.3 else (slot,):
                form, row, col = self._parts(int(child[moved]))
                child[moved] = self._gene(form, row + down, col + right)
        elif way == 1:
            child[slot] = self._gene(_drawn(generator), row, col)
        elif way == 2:
            child[min(used, self.size - 1)] = self._anywhere(home, side, generator)
        elif way == 3 and used > 1:
            child[slot] = 0
        else:  # a shape of the mate, as far from the first one as there
            other = int(generator.integers(int((mate > 0).sum())))
            form, row, col = self._parts(int(mate[other]))
            _, from_row, from_col = self._parts(int(mate[0]))
            child[min(used, self.size - 1)] = self._gene(form, home + row - from_row, side + col - from_col)
        return child

    def _boards(self, designs: Ints) -> npt.NDArray[np.bool_]:
        """Return the units of designs, bool [N, H, W]."""
        cells = self.cells(designs).reshape(len(designs), -1)
        boards = np.zeros((len(designs), self.game.cells + 1), dtype=np.bool_)
        np.put_along_axis(boards, np.where(cells < 0, self.game.cells, cells), True, 1)
        return boards[:, :-1].reshape(-1, self.game.height, self.game.width)

    def _lived(self, designs: Ints, rounds: int) -> Tensor:
        """Return bitboards of designs after some rounds alone, int64 [S, N, n]."""
        units = self.game.grid.pack(torch.from_numpy(self._boards(designs)))
        planes = torch.stack((units, *[torch.zeros_like(units)] * 3))
        return simulate(self.game.grid, planes, rounds * self.game.generations)[0]

    @override
    def describe(self, designs: Ints) -> Floats:
        game, boards = self.game, self._boards(designs)
        early = territory(game.grid, self._lived(designs, 1), game.radius)
        rows, cols = np.arange(game.height), np.arange(game.width)
        units = boards.sum((1, 2))
        mean_row, mean_col = (boards.sum(2) * rows).sum(1) / units, (boards.sum(1) * cols).sum(1) / units
        far = (rows[None, :, None] - mean_row[:, None, None]) ** 2 + (cols[None, None] - mean_col[:, None, None]) ** 2
        side = np.minimum(
            np.minimum(rows, game.height - 1 - rows)[:, None], np.minimum(cols, game.width - 1 - cols)[None]
        )
        half = max(1.0, (min(game.height, game.width) - 1) / 2)
        return np.stack(
            (
                np.sqrt((far * boards).sum((1, 2)) / units) / game.radius,
                units / game.max_units,
                (side * boards).sum((1, 2)) / units / half,
                self.alone(designs).mean((1, 2)),
                np.asarray(game.grid.unpack(early).numpy()).mean((1, 2)),
            ),
            1,
        )

    @override
    def alone(self, designs: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(self.game.grid.unpack(self._lived(designs, _ROUNDS)).numpy()).astype(np.bool_)

    # --- opponents ------------------------------------------------------------------------------------------------

    @cached_property
    def _agents(self) -> dict[str, TurnAgent]:
        """The agents that play, by spec; "" goes on from a design."""
        return {"": self._started("", ClothGreedy())}

    def _agent(self, spec: str) -> TurnAgent:
        if spec not in self._agents:
            agent = load(spec, self.game)
            self._agents[spec] = self._started(spec, agent.playing(self.game) if isinstance(agent, ByGame) else agent)
        return self._agents[spec]

    def _started(self, spec: str, agent: Any) -> TurnAgent:
        if not isinstance(agent, TurnAgent):
            raise InputError("agents", "agents that decide on whole turns, such as greedy", spec)
        agent.start(self.game, *torch.zeros((2, 1), dtype=torch.int64, device="cpu"))
        return agent

    @override
    def pool(self, agent: str, count: int, seed: int) -> ClothOpponents:
        """Return an agent in some games; it plays when they are played."""
        self._agent(agent)
        nothing = np.zeros((count, self.size), dtype=np.int64)
        return ClothOpponents(np.full(count, agent), nothing, np.arange(count) % 2, _seeds(seed, count))

    @override
    def champion_pool(self, design: Ints, count: int, generator: np.random.Generator) -> ClothOpponents:
        designs = np.broadcast_to(design, (count, self.size))
        seeds = _seeds(int(generator.integers(1 << 40)), count)
        return ClothOpponents(np.full(count, ""), designs, np.arange(count) % 2, seeds)

    @override
    def draw(self, pool: ClothOpponents, count: int, generator: np.random.Generator) -> ClothOpponents:
        some = generator.integers(len(pool), size=count)
        return ClothOpponents(pool.agent[some], pool.design[some], np.arange(count) % 2, pool.seed[some])

    @override
    def joined(self, pools: Sequence[ClothOpponents]) -> ClothOpponents:
        parts = [(pool.agent, pool.design, pool.seat, pool.seed) for pool in pools]
        return ClothOpponents(*(np.concatenate(field) for field in zip(*parts, strict=True)))

    # --- games ----------------------------------------------------------------------------------------------------

    @override
    def play_games(self, designs: Ints, opponents: ClothOpponents, match: Ints, *, short: bool) -> Played:
        game, seed = self.game, opponents.seed[match]
        state = game.init(torch.from_numpy(seed))
        seat = torch.from_numpy(opponents.seat[match])
        names = opponents.agent[match]
        own, other = (torch.from_numpy(self.cells(one)) for one in (designs, opponents.design[match]))
        generator = torch.Generator().manual_seed(int(seed.sum() % (1 << 62)))
        turn, last = 0, 2 * (1 + game.initial_placement)
        while not bool(state.done.all()) and not (short and turn == last):
            mover = seat == state.current_player
            plans = torch.full((len(state), game.max_units), -1)
            going = ~state.done.numpy()
            players = np.where(mover.numpy(), "", names)
            for name in np.unique(players).tolist():
                rows = torch.from_numpy(np.flatnonzero(going & (players == name)))
                if len(rows):
                    plans[rows] = self._agent(name).turns(state[rows], generator)
            if turn < 2:
                design = torch.where(mover[:, None, None], own, other)
                opened = opening_turns(game, state, design, state.seed)
                plans = torch.where(opened[:, :1] >= 0, opened, plans)
            state, turn = game.play_turn(state, plans), turn + 1
        return self._judged(state, seat)

    def _judged(self, state: ClothState, seat: Tensor) -> Played:
        live = state.live.double()
        own, other = live.gather(1, seat[:, None]), live.gather(1, 1 - seat[:, None])
        lead = ((own - other) / (own + other).clamp(min=1)).squeeze(1)
        result = self.game.outcome(state).gather(1, seat[:, None]).squeeze(1).double()
        points = torch.where(state.done, (1 + result) / 2, (1 + lead.sign()) / 2)
        return Played(np.asarray(points.numpy()), np.asarray(lead.numpy()))

    # --- what designs look like -----------------------------------------------------------------------------------

    @override
    def to_data(self, design: Ints) -> dict[str, Any]:
        """Return the units of each shape as the game writes them."""
        shapes = [[cell for cell in shape if cell >= 0] for shape in self.cells(design[None])[0].tolist()]
        words = [" ".join(map(self.game.action_to_string, shape)) for shape in shapes if shape]
        return {"turn": f" {BETWEEN} ".join(words)}

    @override
    def lines(self, design: Ints) -> list[str]:
        return [str(self.to_data(design)["turn"])]

    @override
    def distance(self, designs: Ints, others: Ints) -> Floats:
        """Return 1 - the overlap of smoothed units, in the best of all ways to turn and mirror the world."""
        one, count = self._fields(torch.from_numpy(self.cells(designs))), ways(self.game)
        cells = torch.from_numpy(self.cells(others))
        fields = [self._fields(turned(self.game, cells, torch.full((len(others),), way))) for way in range(count)]
        return np.asarray(1 - np.max([one @ field.T for field in fields], axis=0))

    def _fields(self, cells: Tensor) -> Floats:
        """Return smoothed densities with norm 1, float64 [N, H * W]."""
        units = cells.flatten(1).numpy()
        row, col = units // self.game.width, units % self.game.width
        down = np.exp(-((np.arange(self.game.height) - row[..., None]) ** 2) / 4.0) * (units >= 0)[..., None]
        right = np.exp(-((np.arange(self.game.width) - col[..., None]) ** 2) / 4.0)
        field = np.einsum("nkr,nkc->nrc", down, right).reshape(len(units), -1)
        return np.asarray(field / np.linalg.norm(field, axis=1, keepdims=True))


def _drawn(generator: np.random.Generator) -> int:
    """Return a form; all shapes have equal chances."""
    counts = [len(shape_forms(name)) for name in SHAPES]
    kind = int(generator.integers(len(counts)))
    return sum(counts[:kind]) + int(generator.integers(counts[kind]))


def _seeds(first: int, count: int) -> Ints:
    return np.asarray(chance.seeds(first, count).numpy())
