"""Regret matching where all players act at once: `mcts:N`, and the search that AlphaZero learns from.

Letters: `L` rows to move in, `P` players; see `agents.search.improvement`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds, must_start
from cellgames.agents.networks.networks import Network
from cellgames.agents.search import NetworkEvaluator
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows, TreeImprover, unlike_results
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import InputError

from .joint_search import JointResult, RegretMatching

_BYTES = 1 << 29  # of trees that grow at the same time, about


class JointSearchAgent(GameAgent):
    """An agent that searches from positions like the one it sees, and draws its action from the mixed strategy.

    In games with perfect information these are the positions themselves. In others they come from observations
    (`GamePlugin.search`), so the agent does not see hidden information. It never sees the actions that others
    choose in this step. In games of chance the search has draws of its own.

    Args:
        name: as in `Agent`.
        make: makes the search for a game.
    """

    def __init__(self, name: str, make: Callable[[Game], RegretMatching]) -> None:
        super().__init__(name)
        self._make = make
        self._search: RegretMatching | None = None

    @override
    def check_game(self, game: Game) -> None:
        if not game.info.perfect_information and plugin_of(game).search.get("determinize") is None:
            wanted = "perfect information, or a function that guesses positions from observations (GamePlugin.search)"
            raise InputError(f"agent {self.name!r}", wanted, game.id)
        if self._search is None or game != self._search.game:
            self._search = self._make(game)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        game, seats = self.game, self.seats.of(env_ids)
        state = plugin_of(game).hook("determinize")(game, observation, seats)
        return self.act_on_state(state, env_ids, generator)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        chosen = self.search(state, generator).chosen
        return chosen.gather(1, self.seats.of(env_ids)[:, None]).squeeze(1)

    def search(self, state: State, generator: torch.Generator) -> JointResult:
        """Return the search's results for positions; all players' strategies are in it."""
        if (search := self._search) is None:
            raise must_start(self)
        if search.game.info.stochastic:
            state = state.replace(seed=draw_seeds(len(state), generator, state.device))
        node = sum(field.element_size() * math.prod(field.shape[1:]) for field in state.tensors())
        node += 24 * search.players * search.width
        together = max(1, _BYTES // ((search.simulations + 1) * node))
        rows = torch.arange(len(state), device=state.device).split(together)
        return JointResult.cat([search.run(state[some], generator) for some in rows])


def mcts(simulations: int) -> JointSearchAgent:
    """Return the agent `mcts:N` for games in which all act at once: N simulations with regret matching."""
    return JointSearchAgent(f"mcts:{simulations}", lambda game: RegretMatching(game, simulations))


class JointImprover(Improver):
    """Regret matching where all act at once: each seat searches the position, or a guess of it.

    Hidden information is guessed from the observation (`GamePlugin.search`). The policy is the seat's own mixed
    strategy.
    """

    def __init__(self, game: Game, network: Network, effort: Effort) -> None:
        super().__init__(game, network, effort)
        self._search = RegretMatching(
            game, effort.simulations, evaluator=NetworkEvaluator(network), width=effort.considered
        )

    @override
    @classmethod
    def obstacles(cls, game: Game) -> list[str]:
        seen = game.info.perfect_information or plugin_of(game).search.get("determinize") is not None
        obstacles = [reason for reason in game.info.search_obstacles if not seen or "components" in reason]
        return [*obstacles, *unlike_results(game)]

    @override
    def improve(self, rows: Rows, generator: torch.Generator) -> Improved:
        state = rows.state
        if state is None:
            state = plugin_of(self.game).hook("determinize")(self.game, rows.observation, rows.seats)
        if self.game.info.stochastic:  # nobody knows the dice to come
            state = state.replace(seed=draw_seeds(len(state), generator, state.device))
        found = self._search.run(state, generator)
        own = torch.arange(len(state), device=rows.seats.device), rows.seats
        policy = found.dense(found.policy.float(), rows.mask.shape[1])
        return Improved(found.chosen[own], policy[own], found.value[own].float())


def improver_of(game: Game) -> type[Improver]:
    """Return the search that improves policies in a game, of its plugin or a general one, or raise a `ValueError`."""
    general = JointImprover if game.info.simultaneous else TreeImprover
    found: type[Improver] = plugin_of(game).hook("improver") or general
    if obstacles := found.obstacles(game):
        expected = (
            "plain actions and rewards from -1 to 1, in turns with perfect information or at once with a "
            "determinization, or a plugin that names a search for alphazero (GamePlugin.search)"
        )
        raise InputError("game", expected, cause=f"{' and '.join(obstacles)}; ppo learns every game", where=game.id)
    return found
