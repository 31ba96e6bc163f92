"""The search of Cloth of Gold that AlphaZero learns from: `gumbel:N` over whole turns.

Letters: `L` rows, `C` candidate turns, see `agents.search.improvement`; `X` rows to learn from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.networks.networks import Network
from cellgames.agents.search.gumbel import GumbelSearch
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows, unlike_results
from cellgames.agents.search.tree_search import Search
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game
from cellgames.envs.core.info import Space
from cellgames.envs.registry import make
from cellgames.utils.errors import InputError, shown

from .network import ClothEvaluator, ClothValues
from .turn_search import CHOICES, WEIGHT, TurnGame, TurnGumbel, TurnValues

_DRAWN = 4  # turns that are drawn for each candidate
_ENDED = 2  # numbers that say what came of a turn: 1 if the game has ended, and the result


class TurnImprover(Improver):
    """A search over whole turns, when one begins; its units are then placed one after the other.

    The network evaluates positions after turns, so it learns from these: a softmax of their values is to be like the
    policy of the search, and the value of the one that was played is to be like what came of it.
    """

    kind: ClassVar[str] = ClothValues.kind

    def __init__(self, game: Game, network: Network, effort: Effort) -> None:
        super().__init__(game, network, effort)
        assert isinstance(game, ClothOfGold)  # whose plugin names this class
        assert isinstance(network, ClothValues)  # of that kind
        self.candidates = min(effort.considered, CHOICES)
        self._turns = _Turns(network, effort, self.candidates)

    @property
    @override
    def inputs(self) -> Space:
        boards, numbers = self._turns.shapes(self.game)
        return Space((self.candidates, boards.numel() + numbers.numel() + _ENDED), torch.int64, -(2**63), 2**63 - 1)

    @property
    @override
    def choices(self) -> int:
        return 0  # every candidate is legal

    @override
    @classmethod
    def obstacles(cls, game: Game) -> list[str]:
        return unlike_results(game)

    @override
    def start(self, seats: Tensor, env_ids: Tensor) -> None:
        self._turns.start(self.game, seats, env_ids)

    @override
    @torch.no_grad()
    def improve(self, rows: Rows, generator: torch.Generator) -> Improved:
        assert isinstance(rows.state, ClothState)  # information is perfect
        begins = self._turns.begins(rows.env_ids)
        action = self._turns.act_on_state(rows.state, rows.env_ids, generator)
        policy = torch.zeros((len(action), self.candidates), dtype=torch.float32, device=action.device)
        value = policy.new_zeros(len(action))
        inputs = torch.zeros((len(action), *self.inputs.shape), dtype=torch.int64, device=action.device)
        if begins.any():
            policy[begins], value[begins], inputs[begins] = self._turns.found
        return Improved(action, policy, value, inputs=inputs, decides=begins)

    @override
    def log_probs_and_value(self, inputs: Tensor, mask: Tensor, actions: Tensor | None) -> tuple[Tensor, Tensor]:
        network = self.network
        assert isinstance(network, ClothValues)
        boards, _ = self._turns.shapes(self.game)
        flat = inputs.flatten(0, 1)
        seen = flat[:, : boards.numel()].view(-1, *boards.shape), flat[:, boards.numel() : -_ENDED]
        ended, result = flat[:, -_ENDED:].unbind(1)
        worth = torch.where(ended > 0, result.float(), network.worth(*seen).float())
        logits = WEIGHT * torch.where(ended > 0, 2 * worth, worth)
        return logits.view(len(inputs), -1).log_softmax(1), worth.view(len(inputs), -1)[:, 0]

    @override
    def state_dict(self) -> dict[str, Any]:
        return self._turns.memory()

    @override
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._turns.remember(state)


class _Turns(TurnGumbel):
    """An agent that keeps the policies, [L, C], values and inputs of its last searches, the chosen turn first."""

    def __init__(self, network: ClothValues, effort: Effort, candidates: int) -> None:
        super().__init__(effort.simulations)
        self._network, self._effort, self._candidates = network, effort, candidates
        self._ranking = ClothEvaluator(network, candidates=_DRAWN * candidates, considered=candidates)

    @staticmethod
    def shapes(game: Game) -> tuple[Tensor, Tensor]:
        """Return the boards and numbers of one position as `ClothOfGold.packed_observation` has them, without data."""
        assert isinstance(game, ClothOfGold)
        state = game.init(torch.zeros(1, dtype=torch.int64, device="cpu"))
        boards, numbers = game.packed_observation(state, 0)
        return boards[0], numbers[0]

    @override
    def _made(self, game: TurnGame) -> Search:
        self._ranking.start(make(game.id, **game.parameters), *torch.zeros((2, 1), dtype=torch.int64, device="cpu"))
        evaluator, effort = TurnValues(self._network), self._effort
        considered, scale = effort.considered, effort.scale
        return GumbelSearch(game, evaluator, self.simulations, considered=considered, noise=1.0, scale=scale)

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        root, found = self._searched(state, generator)
        mover, rows, after = state.current_player, torch.arange(len(state), device=state.device), self._after
        policy = found.dense(found.policy.float(), CHOICES)[:, : self._candidates]
        chosen = torch.zeros_like(policy).scatter(1, found.chosen[:, None], 1.0)
        first, movers = chosen.argsort(dim=1, descending=True, stable=True), mover.repeat_interleave(self._candidates)
        boards, numbers = self.game.packed_observation(after, movers)
        result = self.game.outcome(after).gather(1, movers[:, None])
        ended = torch.stack((after.done.long(), torch.where(after.done, result.squeeze(1).long(), 0)), 1)
        inputs = torch.cat((boards.flatten(1), numbers.long(), ended), 1).unflatten(0, (len(state), -1))
        value = found.value.gather(1, mover[:, None]).squeeze(1).float()
        self.found = policy.gather(1, first), value, inputs[rows[:, None], first]
        return root.plans[rows, found.chosen]

    def begins(self, env_ids: Tensor) -> Tensor:
        """Return True where a turn begins, bool [L]."""
        self._reach(env_ids)
        return ~self._planned[env_ids]

    def memory(self) -> dict[str, Any]:
        """Return the turns in progress."""
        return {"plans": self._plans.clone(), "planned": self._planned.clone()}

    def remember(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `memory`; a `ValueError` if it is of other games."""
        plans, planned = state["plans"], state["planned"]
        if plans.shape[1:] != self._plans.shape[1:] or len(planned) != len(plans):
            raise InputError("plans", f"turns of {self._plans.shape[1]} units", shown(plans))
        self._plans, self._planned = plans.to(self._plans), planned.to(self._planned)
