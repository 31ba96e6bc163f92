"""The evolution of the designs of one family, round by round: MAP-Elites against a growing set of champions.

Each round begins with an empty archive, in which the elites of the round before are tried first, since there is one
opponent more. At its end the best elites play many games against all opponents, and the one that beats all former
champions by most becomes the next of them (as in Digital Red Queen, arXiv 2601.03335).

All chance comes from the seed, the family's name, the round and the iteration, so that a run that was killed goes on
as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ribs.archives import ArchiveBase, GridArchive
from ribs.emitters import EmitterBase
from typing_extensions import override

from cellgames.runs.run_folder import derive_short
from cellgames.utils.errors import InputError, check_one_of

from .design_space import DesignSpace, Floats, Ints, Measure, Played
from .evolve_options import EvolveOptions

_PROMOTED = 0.125  # share of a batch that plays whole games
_CONTENDERS = 8  # elites that may become champion
_CLOSE = 0.03  # points by which a design of the mixture may be weaker than the best one
_FINAL = 8  # times as many games decide who is champion
_FIRST = 4  # times as many designs in the first batch
_SAMPLE = 256  # random designs that show how wide the archive has to be

Pools = Mapping[str, Any]


def chosen_measures(space: DesignSpace[Any], names: Sequence[str]) -> tuple[Measure, Measure]:
    """Return the measures of the archive; the space's first and last one if none are named.

    Raises:
        ValueError: an unknown name, or one twice.
    """
    known = {measure.name: measure for measure in space.measures}
    names = names or (space.measures[0].name, space.measures[-1].name)
    if unknown := [name for name in names if name not in known]:
        check_one_of("measures", unknown[0], known)
    if names[0] == names[1]:
        raise InputError("measures", "two different measures", f"{names[0]} twice")
    return known[names[0]], known[names[1]]


@dataclass
class Champion:
    """The best design of a round.

    Attributes:
        design: int64 [G].
        points: share of the points against each of the agents, by spec.
        games: played for each of these shares.
        against: points against each former champion, the first one first.
        measures: values of all measures of the space.
    """

    design: Ints
    points: dict[str, float]
    games: int
    against: list[float]
    measures: list[float]

    def to_data(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**vars(self), "design": self.design.tolist()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Champion:
        """Return the champion of `to_data`."""
        return cls(**{**data, "design": np.array(data["design"], dtype=np.int64)})


@dataclass
class FamilyRun:
    """The state of one family's evolution.

    Attributes:
        space: space of the designs.
        options: options of the run.
        pools: opponents of each agent, by spec.
        workers: play the games; None for this process.
        round: under way, from 0; `options.rounds` when it is over.
        iteration: done in this round; 0 before the elites of the round before are tried.
        champions: champions of the rounds that are over.
        history: a row for each iteration.
        games: played so far by the search, short ones included; not those by which the mixture is chosen.
        mixture: designs and weights of the champion agent, when it is over.
    """

    space: DesignSpace[Any]
    options: EvolveOptions
    pools: Pools
    workers: Executor | None = None
    round: int = 0
    iteration: int = 0
    champions: list[Champion] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    games: int = 0
    mixture: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.measures = chosen_measures(self.space, self.options.measures)
        self._columns = [list(self.space.measures).index(measure) for measure in self.measures]
        self.ranges = self._ranges()
        self._archive = self._empty()

    def _empty(self) -> Any:
        return make_archive(self.space.size, self.ranges, self.options.cells)

    def _ranges(self) -> list[tuple[float, float]]:
        """Return the bounds of the archive: those of random designs, and a quarter of their range on either side."""
        generator = np.random.default_rng(derive_short(self.space.name, "ranges"))
        values = self.space.describe(self.space.random(_SAMPLE, generator))[:, self._columns]
        low, high = values.min(0), values.max(0)
        apart = np.maximum(high - low, 1e-3) / 4
        return list(zip((low - apart).tolist(), (high + apart).tolist(), strict=True))

    def _generator(self, purpose: str) -> np.random.Generator:
        seed = derive_short(self.options.seed, self.space.name, purpose, self.round, self.iteration)
        return np.random.default_rng(seed)

    @property
    def iterations(self) -> int:
        """Return the iterations of a round: this family's share, at least one."""
        return max(1, self.options.iterations // self.space.sharing)

    @property
    def over(self) -> bool:
        """Return True if nothing is left to do."""
        return self.round >= self.options.rounds

    @property
    def elites(self) -> Mapping[str, Any]:
        """Return the elites of the archive as they stand, the best first."""
        return elites_of(self._archive)

    # --- on disk --------------------------------------------------------------------------------------------------

    def to_data(self) -> dict[str, Any]:
        """Return the state for JSON."""
        elites = self.elites
        return {
            "family": self.space.name,
            "round": self.round,
            "iteration": self.iteration,
            "games": self.games,
            "champions": [champion.to_data() for champion in self.champions],
            "mixture": self.mixture,
            "measures": [measure.name for measure in self.measures],
            "archive": {name: elites[name].tolist() for name in ("solution", "objective", "measures")},
            "history": self.history,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Go on from the state of `to_data`."""
        self.round, self.iteration, self.games = data["round"], data["iteration"], data["games"]
        self.champions = [Champion.from_data(champion) for champion in data["champions"]]
        self.mixture, self.history = data["mixture"], data["history"]
        self._archive = self._empty()
        archive = data["archive"]
        if archive["objective"]:
            self._archive.add(
                np.array(archive["solution"], np.int64), np.array(archive["objective"]), np.array(archive["measures"])
            )

    # --- the search -----------------------------------------------------------------------------------------------

    def run(self) -> Iterator[None]:
        """Evolve to the end; yields after every iteration, when the state may be kept."""
        while not self.over:
            if self.iteration == 0:
                before = self.elites
                self._archive = self._empty()
                if len(before["objective"]):
                    self._judge(before["solution"], before["measures"])
                else:
                    generator = self._generator("first")
                    self._consider(self.space.random(_FIRST * self.options.batch, generator), generator)
            else:
                generator = self._generator("ask")
                emitter = DesignEmitter(self._archive, self.space, self.options.batch)
                emitter.generator = generator
                self._consider(emitter.ask(), generator)
            self._note()
            self.iteration += 1
            if self.iteration > self.iterations:
                self.champions.append(self._elect())
                self.round, self.iteration = self.round + 1, 0
                if self.over:
                    counted = self.games  # that more rounds will forget again
                    self.mixture = self._mixed()
                    self.games = counted
            yield

    def _note(self) -> None:
        stats = self._archive.stats
        self.history.append(
            {
                "round": self.round,
                "iteration": self.iteration,
                "games": self.games,
                "best": float(stats.obj_max),
                "mean": float(stats.obj_mean),
                "filled": int(stats.num_elites),
                "qd_score": float(stats.qd_score),
            }
        )

    def _opponents(self, count: int, generator: np.random.Generator, *, agents_only: bool = False) -> Any:
        """Return opponents, equally many of each agent and, if there are any, of the former champions."""
        pools = list(self.pools.values())
        if self.champions and not agents_only:
            all_of_them = [
                self.space.champion_pool(champion.design, self.space.versions, generator) for champion in self.champions
            ]
            pools.append(self.space.joined(all_of_them))
        shares = [len(part) for part in np.array_split(np.arange(count), len(pools))]
        drawn = [self.space.draw(pool, share, generator) for pool, share in zip(pools, shares, strict=True)]
        return self.space.joined(drawn)

    def _fitness(self, designs: Ints, opponents: Any, *, short: bool = False) -> Floats:
        self.games += len(designs) * len(opponents)
        return np.asarray(self._play(designs, opponents, short=short).fitness.mean(1))

    def _play(self, designs: Ints, opponents: Any, *, short: bool = False) -> Played:
        return self.space.play(designs, opponents, short=short, workers=self.workers)

    def _consider(self, designs: Ints, generator: np.random.Generator) -> None:
        """Choose the better part of new designs by short games, and judge these."""
        designs = np.unique(designs, axis=0)
        keep = max(1, int(_PROMOTED * len(designs)))
        if self.options.screen and keep < len(designs):
            opponents = self._opponents(self.options.screen, generator)
            worth = self._fitness(designs, opponents, short=True)
            designs = designs[np.argsort(-worth, kind="stable")[:keep]]
        self._judge(designs, self.space.describe(designs)[:, self._columns])

    def _judge(self, designs: Ints, measures: Floats) -> None:
        """Play whole games, and offer the designs to the archive; whoever would take a place there plays again."""
        generator = self._generator("judge")
        worth = self._fitness(designs, self._opponents(self.options.matches, generator))
        taken, elites = self._archive.retrieve(measures)
        better = np.flatnonzero(~taken | (worth > np.where(taken, elites["objective"], -np.inf)))
        if len(better):
            again = self._fitness(designs[better], self._opponents(self.options.matches, generator))
            self._archive.add(designs[better], (worth[better] + again) / 2, measures[better])

    # --- champions ------------------------------------------------------------------------------------------------

    def _duels(self, designs: Ints, others: Sequence[Ints]) -> Floats:
        """Return points of designs against others, in all versions of the games, float64 [N, N']."""
        generator = self._generator("duels")
        found = []
        for other in others:
            pool = self.space.champion_pool(other, self.space.versions, generator)
            self.games += len(designs) * self.space.versions
            found.append(self._play(designs, pool).points.mean(1))
        return np.stack(found, 1) if found else np.zeros((len(designs), 0))

    def _measured(self, designs: Ints) -> tuple[dict[str, Floats], int]:
        """Return points [N] against each agent in many games, and how many games these are."""
        generator, games = self._generator("elect"), _FINAL * self.options.matches // len(self.pools)
        points = {}
        for agent, pool in self.pools.items():
            drawn = self.space.draw(pool, games, generator)
            self.games += len(designs) * games
            points[agent] = self._play(designs, drawn).points.mean(1)
        return points, games

    def _elect(self) -> Champion:
        """Return the champion of the round that ends."""
        designs = self.elites["solution"][:_CONTENDERS]
        points, games = self._measured(designs)
        duels = self._duels(designs, [champion.design for champion in self.champions])
        worth = np.mean([*points.values(), *([duels.mean(1)] if self.champions else [])], 0)
        beaten = (duels > 0.5).sum(1)
        best = int(np.lexsort((-worth, -beaten))[0])
        return Champion(
            designs[best],
            {agent: float(values[best]) for agent, values in points.items()},
            games,
            duels[best].tolist(),
            self.space.describe(designs[best : best + 1])[0].tolist(),
        )

    def _mixed(self) -> list[dict[str, Any]]:
        """Return designs that are about as good as the best one, with the weights of an equilibrium among them."""
        from cellgames.arena.stats.payoffs import equilibrium

        best = [champion.design for champion in self.champions[::-1]]
        designs = np.unique(np.stack([*best, *self.elites["solution"][:_CONTENDERS]]), axis=0)
        points, games = self._measured(designs)
        worth = np.mean(list(points.values()), 0)
        order = np.argsort(-worth, kind="stable")[: self.options.champions]
        order = order[worth[order] >= worth[order[0]] - _CLOSE]
        duels = self._duels(designs[order], list(designs[order]))
        weights = equilibrium((duels - duels.T) / 2)
        measures = self.space.describe(designs[order])
        return [
            {
                "design": designs[number].tolist(),
                "weight": round(float(weight), 4),
                "points": {agent: float(values[number]) for agent, values in points.items()},
                "games": games,
                "measures": described.tolist(),
            }
            for number, weight, described in zip(order.tolist(), weights, measures, strict=True)
            if weight >= 0.01
        ]


Keep = Callable[[FamilyRun], None]


_FROM_BEST = 0.5  # share of the parents that are drawn from the best tenth of the elites
_NEW = 0.05  # share of a batch that is random


def make_archive(size: int, ranges: Sequence[tuple[float, float]], cells: int) -> GridArchive:
    """Return an empty archive for designs of `size` numbers, with `cells` cells along each measure."""
    return GridArchive(
        solution_dim=size,
        dims=(cells,) * len(ranges),
        ranges=list(ranges),
        solution_dtype=np.int64,
        objective_dtype=np.float64,
        measures_dtype=np.float64,
        seed=0,
    )


def elites_of(archive: GridArchive) -> Mapping[str, Any]:
    """Return the fields of all elites, the best first; equal ones in the order of cells."""
    data = archive.data()
    order = np.lexsort((data["index"], -data["objective"]))
    return {name: values[order] for name, values in data.items()}


class DesignEmitter(EmitterBase):  # type: ignore[misc]  # pyribs is not typed throughout
    """An emitter that varies elites as the search space says; half of the parents are among the best.

    Attributes:
        generator: generator of the next `ask`; the caller sets it, so that a run can be continued.
    """

    def __init__(self, archive: ArchiveBase, space: DesignSpace[Any], batch: int) -> None:
        low, high = np.zeros(space.size, np.int64), np.full(space.size, np.iinfo(np.int64).max)
        super().__init__(archive, solution_dim=space.size, bounds=None, lower_bounds=low, upper_bounds=high)
        self._space, self._batch = space, batch
        self.generator = np.random.default_rng(0)

    @override
    def ask(self) -> Ints:
        """Return new designs, int64 [batch, G]."""
        elites, draw = elites_of(self.archive)["solution"], self.generator
        if not len(elites):
            return self._space.random(self._batch, draw)
        fresh = max(1, int(_NEW * self._batch))
        count = self._batch - fresh
        best = max(1, -(-len(elites) // 10))
        among = np.where(draw.random(count) < _FROM_BEST, best, len(elites))
        parents, mates = (elites[(draw.random(count) * most).astype(int)] for most in (among, len(elites)))
        varied = self._space.vary(parents, mates, draw)
        return np.concatenate((varied, self._space.random(fresh, draw)))
