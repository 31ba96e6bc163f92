"""Random playouts from many positions at once, through the game's contract alone.

Letters: `X` playouts, `P` players, `A` actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds, refuse
from cellgames.envs.core import Game, State
from cellgames.envs.core.state import S
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve

from .random_agent import has_compound_turns

MAX_BATCH = 4096
"""The number of playouts to run at once: more would leave the cache, fewer are call overhead."""

_CELLS = 1 << 24  # of boards and masks together, which bounds the memory in games with large ones
_FINISHED_SHARE = 8  # finished games are dropped when they are one in so many


def at_once(game: Game) -> int:
    """Return the number of games to play at the same time: `MAX_BATCH`, or fewer where boards or masks are large."""
    info = game.info
    cells = math.prod(info.board.shape) + info.num_players * info.num_actions
    return min(MAX_BATCH, max(1, _CELLS // cells))


def finish(
    game: Game,
    state: State,
    generator: torch.Generator,
    on_actions: Callable[[Tensor, Tensor, Tensor], None] | None = None,
) -> Tensor:
    """Play all games to their end, uniformly at random; finished ones are dropped and cost nothing.

    Where a game knows how that ends without playing (`Game.random_outcome`), and nobody looks on, it is asked.

    Args:
        game: with actions of one component.
        state: `X` games, finished or not. In games of chance each gets dice of its own.
        generator: consumed.
        on_actions: for games in turns; called each turn with playouts int64 [R] (places in `state`), the players
            who act, [R], and their actions, [R].

    Returns:
        int8 [X, P], `Game.outcome`.
    """
    if on_actions is None and (known := game.random_outcome(state, generator)) is not None:
        return known
    if game.info.stochastic:
        state = state.replace(seed=draw_seeds(len(state), generator, state.device))

    def turn(state: State, places: Tensor) -> State:
        actions = game.random_actions(state, generator)
        if on_actions is not None:
            acting = (~state.done).nonzero().squeeze(1)
            on_actions(places[acting], state.current_player[acting], actions[acting])
        after: State = game.step(state, actions, checked=False)
        return after

    return play_out(game, state, turn)


def play_out(game: Game, state: S, turn: Callable[[S, Tensor], S]) -> Tensor:
    """Play all games to their end; finished ones are dropped and cost nothing.

    Args:
        game: the rules.
        state: `X` games, finished or not.
        turn: plays on in games, finished ones among them; it also gets their places in `state`, int64 [R].

    Returns:
        int8 [X, P], `Game.outcome`.
    """
    places = torch.arange(len(state), device=state.device)
    outcomes = torch.zeros((len(state), game.info.num_players), dtype=torch.int8, device=state.device)
    while True:
        done = state.done
        if int(done.sum()) * _FINISHED_SHARE >= len(state):
            ended, running = done.nonzero().squeeze(1), (~done).nonzero().squeeze(1)
            outcomes[places[ended]] = game.outcome(state[ended])
            if len(running) == 0:
                return outcomes
            state, places = state[running], places[running]
        state = turn(state, places)


def outcomes(game: Game, state: State, generator: torch.Generator) -> Tensor:
    """Return the outcomes of games that are played on at random, int8 [X, P], as `Game.outcome` has them.

    The playouts are those of the game's plugin (`GamePlugin.search`), or of `finish`.
    """
    found: Tensor = resolve(plugin_of(game).search.get("playout") or finish)(game, state, generator)
    return found


class PlayoutAgent(GameAgent):
    """The base class of agents that play out positions at random.

    They play games in turns with perfect information and plain actions; those that determinize, also simultaneous games
    with perfect information or a determinization.
    """

    determinizes: ClassVar[bool] = False
    """True if it can start from states that `GamePlugin.search` makes of observations."""

    def __init__(self, name: str, playouts: int) -> None:
        super().__init__(name)
        self.playouts = playouts

    @override
    def check_game(self, game: Game) -> None:
        obstacles = list(game.info.search_obstacles)
        known = game.info.perfect_information or plugin_of(game).search.get("determinize") is not None
        if self.determinizes and known:
            obstacles = ["an action has several components"] * (len(game.info.action_nvec) > 1)
        refuse(self, game, obstacles + ["random actions make no turns"] * has_compound_turns(game))
