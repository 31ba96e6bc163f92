"""Regret matching as the search that AlphaZero learns from, and the choice of such a search for a game.

Letters: `L` rows, see `agents.search.improvement`.
"""

from __future__ import annotations

import torch
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import Network
from cellgames.agents.search import NetworkEvaluator
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows, TreeImprover, unlike_results
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve

from .joint_search import RegretMatching


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
            state = resolve(plugin_of(self.game).search["determinize"])(self.game, rows.observation, rows.seats)
        if self.game.info.stochastic:  # nobody knows the dice to come
            state = state.replace(seed=draw_seeds(len(state), generator, state.device))
        found = self._search.run(state, generator)
        own = torch.arange(len(state), device=rows.seats.device), rows.seats
        policy = found.dense(found.policy.float(), rows.mask.shape[1])
        return Improved(found.chosen[own], policy[own], found.value[own].float())


def improver_of(game: Game) -> type[Improver]:
    """Return the search that improves policies in a game: of its plugin, or the general one.

    Raises:
        ValueError: it cannot search the game.
    """
    general = JointImprover if game.info.simultaneous else TreeImprover
    found: type[Improver] = resolve(plugin_of(game).search.get("improver") or general)
    if obstacles := found.obstacles(game):
        raise ValueError(
            "alphazero learns games with plain actions and rewards from -1 to 1, in turns with perfect information or "
            "at once with a determinization, and games whose plugin names a search for it (GamePlugin.search); in "
            f"{game.id} {' and '.join(obstacles)}; ppo learns every game"
        )
    return found
