"""Interventions in a recorded game, and their effects: the change of the result by the removal of a part.

Letters: `N` replays, `P` players.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.core import Game, State
from cellgames.utils.report.model import Cell, Table

Numbers: TypeAlias = npt.NDArray[np.float64]

TABLES = {"empty": "empty_cells"}
"""Names of tables that are not the kind's own with an s."""


@dataclass(frozen=True)
class Options:
    """Options of an explanation.

    Attributes:
        at: The moment at which cells and objects are removed: a generation in the Toroidal Cup (half of the game by
            default), a round in Cloth of Gold (the middle one), a ply in Torus, Hex and Y (the end of the
            game). None for the default.
        moves: Other places tried for each placement, or other moves for each move, at most.
        agent: The agent whose search values positions of Torus, Hex and Y that are not solved.
        seed: Seed of everything that is drawn.
        most_pairs: Interventions of a kind whose pairs are tried, at most; those with the largest effect come first.
    """

    at: int | None = None
    moves: int = 32
    agent: str = ""
    seed: int = 0
    most_pairs: int = 48


@dataclass(frozen=True)
class Intervention:
    """One thing that is changed before a game is played again.

    Attributes:
        kind: Its kind, one of the world's.
        name: A name for tables.
        player: The seat whose it is; -1 for nobody's alone.
        turn: Moves of the record that had been played when it was made, from 0.
        cells: Its cells on the board, by rows.
        edit: change that the game's own code makes.
        seen: The first and the last number of moves played at which it is shown on the board; (-1, -1) for the moment
            after `turn`.
        adds: True if it puts something there that the game did not have; its worth is then the gain of having it.
    """

    kind: str
    name: str
    player: int
    turn: int
    cells: tuple[int, ...]
    edit: Any = field(default=None, repr=False, compare=False)
    seen: tuple[int, int] = (-1, -1)
    adds: bool = False


class Replays(NamedTuple):
    """The ends of games that were played again.

    Attributes:
        standing: float64 [N, P], the measure by which interventions are compared.
        outcome: int64 [N, P], WIN, DRAW or LOSS.
        scores: float64 [N, P], in the game's own measure.
        left_out: int64 [N], recorded moves that could not be kept.
        against: float64 [N, P], the standing that each is compared with.
        outcome_against: int64 [N, P], the outcome that each is compared with.
    """

    standing: Numbers
    outcome: npt.NDArray[np.int64]
    scores: Numbers
    left_out: npt.NDArray[np.int64]
    against: Numbers
    outcome_against: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, base: Replays | None, standing: Numbers, outcome: npt.NDArray[np.int64], scores: Numbers, left_out: Any = 0
    ) -> Replays:
        """Return replays that are compared with the first one of `base`; None stands for these replays themselves."""
        base_standing, base_outcome = (standing, outcome) if base is None else (base.standing, base.outcome)
        many = len(standing)
        left_out = left_out + np.zeros(many, dtype=np.int64)
        against = base_standing[:1].repeat(many, 0), base_outcome[:1].repeat(many, 0)
        return cls(standing, outcome, scores, left_out, *against)

    @staticmethod
    def cat(parts: Sequence[Replays]) -> Replays:
        """Return the replays of several batches as one."""
        return Replays(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class World(Protocol):
    """A recorded game that can be changed and played again."""

    @property
    def game(self) -> Game:
        """The game with its parameters."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of interventions that there are, the most usual first."""

    @property
    def usual(self) -> tuple[str, ...]:
        """The kinds that are tried unless the caller names others."""

    @property
    def measure(self) -> str:
        """A phrase for `Replays.standing`."""

    @property
    def kept(self) -> str:
        """Sentences that say which later moves stay, and what happens where one becomes illegal."""

    def interventions(self, kind: str) -> list[Intervention]:
        """Return all interventions of a kind."""

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """Play the game again with each set of interventions of one kind, one set or more.

        An empty set changes nothing. The results are compared with the game in which nothing is changed.
        """

    def scene(self, kind: str) -> State:
        """Return the position on whose board effects of a kind are drawn, a batch of one."""


@dataclass(frozen=True)
class Effect:
    """The effect of an intervention.

    Attributes:
        kind: As in `Intervention`, and so are `name`, `player`, `turn` and `cells`.
        name: See there.
        player: See there; the effect of what is nobody's alone is measured for seat 0.
        turn: See there.
        cells: See there.
        worth: The player's standing with the thing minus that without it. One of the two is the recorded game's.
        result: The same of its outcome: 2 if it turned a loss into a win, 1 for half of that, 0 if nothing changed.
        scores: All players' scores in the game that was changed.
        left_out: Recorded moves that could not be kept.
        seen: The first and the last number of moves played at which it is shown on the board.
    """

    kind: str
    name: str
    player: int
    turn: int
    cells: tuple[int, ...]
    worth: float
    result: int
    scores: tuple[float, ...]
    left_out: int
    seen: tuple[int, int]


@dataclass(frozen=True)
class PairEffect:
    """The effect of two interventions at the same time, for the player of the first.

    Attributes:
        kind: Of both.
        first: Name of the first.
        second: Name of the second.
        player: The seat for which the numbers are.
        worth: Of both together.
        alone: Of the first alone and the second alone.
        interaction: `worth` minus the sum of `alone`: above 0 if they are worth more than the sum, as where one can
            stand in for the other; below 0 where each is worth something only because of the other.
        result: The change of the outcome.
    """

    kind: str
    first: str
    second: str
    player: int
    worth: float
    alone: tuple[float, float]
    interaction: float
    result: int


@dataclass(frozen=True)
class Explanation:
    """The effects of interventions in one game.

    Attributes:
        game: The game with its parameters.
        agents: Names by seat.
        measure: What `worth` counts.
        kept: Which later moves stay, and what happens where one becomes illegal.
        scores: Of the recorded game.
        outcome: Of the recorded game, WIN, DRAW or LOSS.
        effects: Those of a kind next to each other, the largest worth first.
        pairs: The largest interaction first.
        replays: Games that were played again.
        scenes: By kind, the position on whose board effects are drawn.
    """

    game: Game
    agents: tuple[str, ...]
    measure: str
    kept: str
    scores: tuple[float, ...]
    outcome: tuple[int, ...]
    effects: tuple[Effect, ...]
    pairs: tuple[PairEffect, ...]
    replays: int
    scenes: Mapping[str, State] = field(repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of interventions, in their order."""
        return tuple(dict.fromkeys(effect.kind for effect in self.effects))

    def of_kind(self, kind: str) -> list[Effect]:
        """Return the effects of a kind."""
        return [effect for effect in self.effects if effect.kind == kind]

    def map(self, kinds: Sequence[str]) -> Numbers:
        """Return the worth of each cell of the board, its player's, float64 [cells]; NaN where nothing was changed.

        A cell that several effects of the kinds hold has their sum, and of other places for the same thing the mean.
        """
        count = math.prod(self.game.info.board.shape[-2:])
        total, number = np.zeros(count), np.zeros(count)
        for effect in self.effects:
            if effect.kind in kinds:
                total[list(effect.cells)] += effect.worth
                number[list(effect.cells)] += 1
        each = np.where("move" in kinds, np.maximum(number, 1), 1)
        found: Numbers = np.where(number > 0, total / each, np.nan)
        return found

    def table(self, kind: str) -> Table:
        """Return the effects of a kind as a table, the largest worth first."""
        players = self.game.info.players
        scores = [f"{player} score" for player in players] if len(players) <= 8 else []
        rows: list[tuple[Cell, ...]] = [
            (
                effect.name,
                players[effect.player] if effect.player >= 0 else "all",
                effect.turn,
                len(effect.cells),
                round(effect.worth, 4),
                effect.result,
                effect.left_out,
                *[round(score, 4) for score in effect.scores[: len(scores)]],
            )
            for effect in self.of_kind(kind)
        ]
        titles = ("what", "player", "turn", "cells", "worth", "result", "moves left out", *scores)
        return Table(TABLES.get(kind, f"{kind}s"), titles, rows, 12)

    def pair_table(self) -> Table:
        """Return the pairs as a table."""
        rows = [
            (
                pair.first,
                pair.second,
                self.game.info.players[max(pair.player, 0)],
                round(pair.worth, 4),
                round(pair.alone[0], 4),
                round(pair.alone[1], 4),
                round(pair.interaction, 4),
                pair.result,
            )
            for pair in self.pairs
        ]
        titles = ("first", "second", "for", "worth of both", "first alone", "second alone", "interaction", "result")
        return Table("pairs", titles, rows, 12)
