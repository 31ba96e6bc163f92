"""The learner's seat, the protocol of opponents, and the opponent that plays at random.

Letters: `B` games (envs), `L` seats that act, `K` components of an action.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.envs.core import Game, chance
from cellgames.plugins import resolve
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent

_PLAY = 1  # a stream of a game's seed, below those of the games (`chance.USER`)
_BITS = 0x7FFFFFFF  # as many as `Game.random_actions` takes
_OF_AGENT = "cellgames.agents.agent_opponent:as_opponent"  # imported with the first agent: agents import adapters


@runtime_checkable
class Opponent(Protocol):
    """A player of seats that are not the learner's; in many envs, perhaps on several seats of one."""

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Begin new games, and forget the earlier games of these envs.

        Args:
            game: the rules.
            players: int64 [L], the opponent's seat in each of the envs.
            env_ids: int64 [L], ascending; an env comes once for each seat.
        """

    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        """Choose legal actions; nobody checks them.

        Args:
            game: the rules.
            state: all `B` games; not to be changed, nor kept beyond the call.
            env_ids: int64 [L], ascending, the games to act in.
            players: int64 [L], the seats to act.
            generator: consumed.

        Returns:
            int64 [L], or [L, K] if an action has K > 1 components, on the state's device.
        """


class Uniform:
    """Any legal action with equal chance, each component for itself.

    Its choices are functions of the game's seed and turn, so that an env's games do not depend on the others'.
    """

    name = "uniform"

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `Opponent`."""

    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        """See `Opponent`."""
        shape, at_once = game.info.action_shape, game.info.simultaneous
        if not at_once and len(env_ids) < len(state):
            state = state[env_ids]
        numbers = math.prod(shape)
        counter = state.turn.long()[:, None] * numbers + torch.arange(numbers, device=state.device)
        bits = chance.draw(state.seed[:, None], _PLAY, counter) & _BITS
        actions = game.random_actions(state, bits.view(-1, *shape))
        return actions[env_ids, players] if at_once else actions

    def choose(self, seed: int, turn: int, mask: npt.NDArray[np.bool_]) -> int:
        """Return the choice of `pick` in one game in turns, by its mask, bool [A]."""
        legal = mask.nonzero()[0]
        return int(legal[(chance.draw_one(seed, _PLAY, turn) & _BITS) * len(legal) >> 31])


UNIFORM = Uniform()
"""The opponent that plays any legal action with equal chance."""


Opponents: TypeAlias = "Opponent | AnyAgent | PathLike | Sequence[Opponent | AnyAgent | PathLike | None] | None"
"""One opponent, or several of which games draw: each an agent, its name or path as `cellgames.agents.load` takes it,
or anything with the methods of `Opponent`; None is `UNIFORM`."""


def as_pool(game: Game, opponents: Opponents) -> list[Opponent]:
    """Return the opponents as a list.

    Raises:
        ValueError: something is no opponent; a name is unknown, or its agent cannot play the game.
    """
    several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
    if several and not opponents:
        raise InputError("opponents", "at least one opponent", opponents, where=game.id)
    return [_as_opponent(game, one) for one in (opponents if several else [opponents])]  # type: ignore[union-attr]


def _as_opponent(game: Game, given: Any) -> Opponent:
    if given is None:
        return UNIFORM
    if isinstance(given, Opponent):
        return given
    if isinstance(given, str) or any(hasattr(given, method) for method in ("act", "act_on_state", "__fspath__")):
        return resolve(_OF_AGENT)(given, game)  # type: ignore[no-any-return]  # an `Opponent`
    expected = "an agent, its name such as 'greedy', an opponent with start and pick, or a list of them"
    raise InputError("opponents", expected, shown(given), where=game.id)


def as_bounds(game: Game, count: int, weights: Sequence[float] | None) -> Tensor:
    """float64 [count], rising to 1: which of the opponents a number from 0 to 1 means."""
    given = [1.0] * count if weights is None else list(weights)
    parts = torch.tensor(given, dtype=torch.float64, device="cpu")
    if parts.shape != (count,) or not parts.isfinite().all() or parts.min() < 0 or parts.sum() <= 0:
        expected = f"{count} weights, one for each opponent, none negative and not all 0"
        raise InputError("weights", expected, weights, where=game.id)
    upto = parts.cumsum(0)
    return upto / upto[-1]


def as_seat(game: Game, seat: int | str) -> int:
    """A seat by number or name; -1 for "random"."""
    players = game.info.players
    expected = f"a seat from 0 to {len(players) - 1}, one of {', '.join(players)}, or 'random'"
    return -1 if seat == "random" else seat_number(game, seat, "seat", expected)


def seat_number(game: Game, seat: int | str, parameter: str, expected: str) -> int:
    """Return the number of a seat given by number or name; raise an `InputError` about the parameter for others."""
    players = game.info.players
    if isinstance(seat, str) and seat in players:
        return players.index(seat)
    if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < len(players):
        return seat
    raise InputError(parameter, expected, shown(seat), where=game.id)
