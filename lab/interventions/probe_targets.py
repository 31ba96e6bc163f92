"""The quantities that probes read: for each game, names of classes, and the class of a position for a player.

A target may look at what the player cannot see, and at what happens later in the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from cellgames.agents.connection import distance as connection_distance
from cellgames.agents.connection.potentials import CLOSED
from cellgames.agents.torus import distance as torus_distance
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game, State
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.torus.game import Torus

__all__ = ["Target", "targets_of"]

_FARTHEST = 5  # stones to win that are told apart
_MOST_EXTRA = 4
_AHEAD = 2  # rounds
_SEQUENCES = 8
_NEIGHBOURS = 3  # other players who differ in one digit, so many or more

Label = Callable[[Game, Sequence[State], int, int], int]


@dataclass(frozen=True)
class Target:
    """A quantity of a position.

    Attributes:
        name: In tables.
        classes: Names of its classes.
        label: Function of a game, the states of a record, the number of one of them and a seat to the class; -1 where
            there is none.
    """

    name: str
    classes: tuple[str, ...]
    label: Label


def targets_of(game: Game) -> tuple[Target, ...]:
    """Return the targets of a game; every game has its outcome."""
    outcome = Target("outcome", ("loss", "draw", "win"), _outcome)
    if isinstance(game, Torus):
        extra = (*map(str, range(_MOST_EXTRA)), f"{_MOST_EXTRA} or more")
        return Target("extra stones for a helix", extra, _winding), *_distances(torus_distance.stones_to_win), outcome
    if isinstance(game, ConnectionGame):
        return *_distances(partial(connection_distance.stones_to_win, game)), outcome
    if isinstance(game, ClothOfGold):
        ahead = Target(f"more territory in {_AHEAD} rounds", ("no", "yes"), _territory)
        return ahead, Target("more units now", ("no", "yes"), _units), outcome
    if isinstance(game, GridAdaptation):
        names = tuple(f"{number:03b}" for number in range(_SEQUENCES))
        near = (*map(str, range(_NEIGHBOURS)), f"{_NEIGHBOURS} or more")
        return (
            Target("digits in which the next player differs", names, _unlike),
            Target("others who differ in one digit", near, _neighbours),
            Target("own sequence", names, _own),
            outcome,
        )
    return (outcome,)


def _outcome(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    return int(game.outcome(states[-1])[0, seat]) + 1 if bool(states[-1].done) else -1


def _winding(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return how many stones more the mover's shortest helix needs than its shortest straight path."""
    costs = torus_distance.cycle_costs(game.observe(states[number], seat))[0][0]
    straight, helix = (int(part.min()) for part in costs.chunk(2))
    return -1 if straight >= CLOSED else min(max(helix - straight, 0), _MOST_EXTRA)


def _distances(stones_to_win: Callable[[Tensor], Tensor]) -> tuple[Target, Target]:
    """Return the stones that the player and the opponent still need, by a function of observations."""
    far = (*map(str, range(1, _FARTHEST)), f"{_FARTHEST} or more")

    def label(whose: int, game: Game, states: Sequence[State], number: int, seat: int) -> int:
        stones = int(stones_to_win(game.observe(states[number], seat))[0, whose])
        return min(max(stones, 1), _FARTHEST) - 1

    own, opponent = (partial(label, whose) for whose in range(2))
    return Target("own stones to win", far, own), Target("opponent's stones to win", far, opponent)


def _territory(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return the class after two more rounds; -1 where the record ends before."""
    now: Any = states[number]
    later: Any = next((state for state in states[number:] if int(state.round) >= int(now.round) + _AHEAD), None)  # type: ignore[attr-defined]
    if later is None:
        return -1
    assert isinstance(game, ClothOfGold)
    own, other = (int(game.territories(later)[0, side].sum()) for side in (seat, 1 - seat))
    return int(own > other)


def _units(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    return int(state.live[0, seat] > state.live[0, 1 - seat])


def _own(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    return int(state.sequence[0, seat])


def _unlike(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return the class of the next player; relative, since networks see digits by whether they match one's own."""
    return _own(game, states, number, (seat + 1) % game.info.num_players) ^ _own(game, states, number, seat)


def _neighbours(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    held: list[int] = state.sequence[0].tolist()
    unlike = [sequence ^ held[seat] for sequence in held]
    return min(sum(digits.bit_count() == 1 for digits in unlike), _NEIGHBOURS)
