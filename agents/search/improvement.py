"""Searches that improve a network's policy: what AlphaZero plays by, and what its network learns from.

Letters: `L` rows, each a seat that is to move; `C` candidates; `A` actions (mask width); `K` components of an action.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import Network
from cellgames.envs.core import Game, State
from cellgames.envs.core.info import Space
from cellgames.envs.registry import plugin_of

from .gumbel import GumbelSearch
from .tree_search import NetworkEvaluator


@dataclass(frozen=True)
class Effort:
    """The effort of searches in training.

    Attributes:
        simulations: simulations of each search.
        considered: candidates of a player at the root, at most.
        scale: weight of results in a search, beside the policy.
        solver_nodes: nodes of the game's solver (`GamePlugin.search`) for a position, and for each move that it judges;
            0 asks no solver.
    """

    simulations: int
    considered: int
    scale: float = 1.0
    solver_nodes: int = 0


class Rows(NamedTuple):
    """Rows in which the learner is to move.

    Attributes:
        state: their games, of games with perfect information; else None, so that no search can see what is hidden.
        observation: [L, ...], observations of the seats.
        mask: bool [L, A], the legal actions.
        seats: int64 [L].
        env_ids: int64 [L], where the games are played.
    """

    state: State | None
    observation: Tensor
    mask: Tensor
    seats: Tensor
    env_ids: Tensor


@dataclass(frozen=True)
class Improved:
    """The results of searches, from which a network learns.

    Attributes:
        action: int64 [L] or [L, K], to be played.
        policy: float [L, C], the improved policy over candidates, which are all actions where `actions` is None.
        value: float [L], expected result of the seat, in units of the network.
        actions: int64 [L, C, K], the candidates.
        inputs: [L, ...], inputs of the network in place of the observation; see `Improver.inputs`.
        decides: bool [L], False where a seat goes on with what it decided before; nothing is learned there.
    """

    action: Tensor
    policy: Tensor
    value: Tensor
    actions: Tensor | None = None
    inputs: Tensor | None = None
    decides: Tensor | None = None


class Improver(ABC):
    """A search that improves the policy of a network, in many games at the same time.

    Args:
        game: game that is played.
        network: network with this policy; it may change between searches.
        effort: effort of each search.

    Attributes:
        candidates: `C`, in rows of `Improved.policy`.
        components: `K` of `Improved.actions`; 0 where the candidates are all actions.
    """

    kind: ClassVar[str] = Network.kind
    """Which of a game's networks learns; a key of `GamePlugin.networks`."""

    def __init__(self, game: Game, network: Network, effort: Effort) -> None:
        self.game, self.network, self.effort = game, network, effort
        self.candidates, self.components = game.info.num_actions, 0

    @property
    def inputs(self) -> Space:
        """Return the shape and type of what the network learns from: the observation, if no subclass changes it."""
        return self.game.info.observation

    @property
    def choices(self) -> int:
        """Return the width of the masks that the network learns with."""
        return self.game.info.num_actions

    @classmethod
    def obstacles(cls, game: Game) -> list[str]:
        """Return the reasons for which it cannot search a game; none if it can."""
        return []

    def start(self, seats: Tensor, env_ids: Tensor) -> None:  # noqa: B027  # most searches have no memory
        """Forget these games, because new ones begin; the arguments are those of `Agent.start`."""

    @abstractmethod
    def improve(self, rows: Rows, generator: torch.Generator) -> Improved:
        """Search; the generator is consumed."""

    def log_probs_and_value(self, inputs: Tensor, mask: Tensor, actions: Tensor | None) -> tuple[Tensor, Tensor]:
        """Evaluate candidates, as `improve` returned them, by the network, with gradients.

        Args:
            inputs: [X, ...], see `inputs`.
            mask: bool [X, A].
            actions: int64 [X, C, K], or None.

        Returns:
            The logarithms of the candidates' probabilities, float [X, C], and the value, float [X].
        """
        logits, value, _ = self.network(inputs)
        # Finite, so that what is not legal has neither loss nor gradient.
        return logits.float().masked_fill(~mask, -1e9).log_softmax(1), value

    def state_dict(self) -> dict[str, Any]:
        """Return the memory of the games in progress."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:  # noqa: B027  # as `start`
        """Restore the result of `state_dict`; a `ValueError` if it is of other games."""


class TreeImprover(Improver):
    """Gumbel search in positions, for games in turns with perfect information.

    Where the game's solver is asked and decides a position, the value is exact. In a won position, the solver judges
    the move of the search and the `considered` likeliest moves, too. The policy is that of the search among the moves
    that are proved to win.
    """

    def __init__(self, game: Game, network: Network, effort: Effort) -> None:
        super().__init__(game, network, effort)
        evaluator, considered = NetworkEvaluator(network), effort.considered
        self._search = GumbelSearch(
            game, evaluator, effort.simulations, considered=considered, noise=1.0, scale=effort.scale
        )
        self._solve: Any = plugin_of(game).hook("solve") if effort.solver_nodes else None

    @override
    @classmethod
    def obstacles(cls, game: Game) -> list[str]:
        return [*game.info.search_obstacles, *unlike_results(game)]

    @override
    def improve(self, rows: Rows, generator: torch.Generator) -> Improved:
        state = rows.state
        assert state is not None  # else there are obstacles
        if self.game.info.stochastic:  # nobody knows the dice to come
            state = state.replace(seed=draw_seeds(len(state), generator, state.device))
        found = self._search.run(state, generator)
        policy = found.dense(found.policy.float(), rows.mask.shape[1])
        improved = Improved(found.chosen, policy, found.value.gather(1, rows.seats[:, None]).squeeze(1).float())
        return improved if self._solve is None else self._solved(state, improved)

    def _solved(self, state: State, found: Improved) -> Improved:
        """Return the results of searches, corrected where the solver decides positions."""
        result, move = self._solve(self.game, state, self.effort.solver_nodes, large=True)
        won = (result == 1).nonzero().squeeze(1)
        sure = functional.one_hot(move[won], found.policy.shape[1]).float()
        winning = self._winning(state[won], found.policy[won], found.action[won])
        policy = found.policy[won] * torch.maximum(winning, sure)
        # The search may give no chance at all to the only moves that are proved to win.
        policy = torch.where(policy.sum(1, keepdim=True) > 0, policy, sure)
        best = policy.argmax(1)
        action = found.action[won]
        action = torch.where(policy.gather(1, action[:, None]).squeeze(1) > 0, action, best)
        return Improved(
            found.action.index_put((won,), action),
            found.policy.index_put((won,), policy / policy.sum(1, keepdim=True)),
            torch.where(result == 0, found.value, result.to(found.value.dtype)),
        )

    def _winning(self, state: State, policy: Tensor, chosen: Tensor) -> Tensor:
        """Return 1 for moves that are proved to win, of those chosen, [L], and the likeliest of a policy, [L, A]."""
        likely = policy.topk(min(self.effort.considered, policy.shape[1]), 1).indices
        judged = torch.zeros_like(policy).scatter(1, torch.cat((likely, chosen[:, None]), 1), 1.0)
        rows, actions = (judged * policy).nonzero().unbind(1)
        after = self.game.step(state[rows], actions, checked=False)
        won = self.game.outcome(after).gather(1, state.current_player[rows, None]).squeeze(1) > 0
        going = (~after.done).nonzero().squeeze(1)
        won[going] = self._solve(self.game, after[going], self.effort.solver_nodes, large=True)[0] == -1
        return torch.zeros_like(policy).index_put((rows, actions), won.to(policy.dtype))


def unlike_results(game: Game) -> list[str]:
    """Return the reasons why rewards are no results, which trees need as values; empty if they are results."""
    low, high = game.info.reward_range
    return [] if (low, high) == (-1.0, 1.0) else [f"rewards go from {low:g} to {high:g}"]
