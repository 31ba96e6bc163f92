"""`mcts:N` and `gumbel:N` in Cloth of Gold, from which AlphaZero learns: tree searches whose moves are whole turns.

The searched game is the same, but its actions are a few turns that are drawn and ranked, so that each position has few
(sampled actions: Hubert et al., "Learning and planning in complex action spaces", ICML 2021).

Letters: `B` games, `L` games to move in, `X` positions or rows to learn from, `C` turns to choose from, `K` the most
units of a turn.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds, must_start
from cellgames.agents.choices import ChoiceGame, as_kind
from cellgames.agents.networks.networks import Network
from cellgames.agents.networks.saved import search_network
from cellgames.agents.search.gumbel import GumbelSearch
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows, unlike_results
from cellgames.agents.search.tree_search import Evaluation, Search, SearchResult
from cellgames.agents.search.uct import UCTSearch
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.cloth_of_gold_wild.state import WildState
from cellgames.envs.core import Game, chance
from cellgames.envs.core.info import GameInfo, Space
from cellgames.envs.registry import make
from cellgames.utils.errors import InputError, check_at_least, shown

from .greedy import proposals
from .network import ClothEvaluator, ClothValues
from .turns import TurnAgent

CHOICES = 32
"""Turns that a position has room for."""

_ROOT = 128  # turns drawn at the root, of which the best are tried
_DRAWN, _KEPT = 32, 8  # turns drawn in a position, and the best of them, which may be played
_NONE = -1e9  # the logit of no turn
_STEP = 0.1  # of the logits, from one turn to the next


@dataclass(frozen=True, eq=False)
class TurnState(ClothState):
    """The state of games of Cloth of Gold, with turns to choose from.

    Attributes:
        plans: int64 [B, C, K], the turns, as `random_turns` returns them.
        logits: float32 [B, C], of a prior over them.
    """

    plans: Tensor
    logits: Tensor


@dataclass(frozen=True, eq=False)
class WildTurnState(WildState, TurnState):
    """The same for games with wild options."""


Root: TypeAlias = tuple[TurnState, Tensor | None]
"""Positions with the turns to search, and a network's values of the turns, float [L, C]."""


@dataclass(frozen=True)
class TurnGame(ChoiceGame, ClothOfGold):
    """Cloth of Gold for tree searches: an action is the number of one of the turns of the state."""

    @cached_property
    @override
    def info(self) -> GameInfo:
        turns = 2 * (self.max_rounds + self.initial_placement)
        return dataclasses.replace(super().info, action_nvec=(CHOICES,), max_turns=turns)

    def offering(self, state: ClothState, plans: Tensor, logits: Tensor) -> TurnState:
        """Return games with turns to choose from, of which there may be fewer than `CHOICES`; see `TurnState`."""
        room = CHOICES - plans.shape[1]
        plans = torch.nn.functional.pad(plans, (0, 0, 0, room), value=-1)
        logits = torch.nn.functional.pad(logits.float(), (0, room), value=_NONE)
        kind = WildTurnState if isinstance(self, ClothOfGoldWild) else TurnState
        return as_kind(state, kind, plans=plans, logits=logits)

    def proposing(self, state: ClothState, drawn: int = _DRAWN, kept: int = _KEPT) -> TurnState:
        """Return games with the `kept` of `drawn` turns that would be worth most now, which follow from their seeds."""
        plans = torch.full((len(state), kept, self.most_units), -1, dtype=torch.int64, device=state.device)
        going = (~state.done).nonzero().squeeze(1)
        if len(going):
            plans[going] = proposals(self, state[going], state.seed[going], drawn, kept)[0]
        ranks = torch.arange(kept, device=state.device).expand(len(state), -1)
        return self.offering(state, plans, -_STEP * ranks)

    @override
    def _step(self, state: ClothState, actions: Tensor) -> TurnState:
        assert isinstance(state, TurnState)
        after = self.play_turn(state, state.plans[torch.arange(len(state), device=state.device), actions])
        return self.proposing(after.replace(seed=chance.next_seed(state.seed)))

    @override
    def _legal(self, state: ClothState) -> Tensor:
        assert isinstance(state, TurnState)
        return state.logits > _NONE


@dataclass(frozen=True)
class WildTurnGame(TurnGame, ClothOfGoldWild):
    """The same for games with wild options."""


WEIGHT = 12.5
"""The weight of the network's value of a turn in the logits of the root."""

_SIMULATIONS = 8  # of UCT for each turn that it tries
_LEAST = 4  # turns that UCT tries, if there are so many


class TurnValues:
    """An evaluator of the positions of a `TurnGame`, by a network for positions after turns.

    What the player whose turn has ended can expect, the other one cannot: both lose too seldom to count.
    """

    def __init__(self, network: ClothValues) -> None:
        self.network = network

    def evaluate(self, game: Game, state: TurnState, generator: torch.Generator) -> Evaluation:
        """Evaluate positions, as `Evaluator` does."""
        assert isinstance(game, TurnGame)
        mover = state.current_player
        other = torch.where(state.turn > 0, self.network.value_of(game, state, 1 - mover), 0.0)
        value = torch.stack((other, -other), 1)
        return Evaluation(state.logits, torch.where(mover[:, None] == 1, value, value.flip(1)))


class TurnSearch(TurnAgent):
    """An agent that searches when its turn begins, in trees of their own for every turn."""

    def __init__(self, name: str, simulations: int) -> None:
        super().__init__(name)
        check_at_least(1, simulations=simulations)
        self.simulations = simulations
        self._search: Search | None = None

    @abstractmethod
    def _made(self, game: TurnGame) -> Search:
        """Return the search for a game."""

    @abstractmethod
    def _root(self, game: TurnGame, state: ClothState, generator: torch.Generator) -> Root:
        """Return the positions with turns to search."""

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        if self._search is None or game.parameters != self._search.game.parameters:
            kind = WildTurnGame if isinstance(game, ClothOfGoldWild) else TurnGame
            self._search = self._made(kind(**game.parameters))

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        root, found = self._searched(state, generator)
        return root.plans[torch.arange(len(state), device=state.device), found.chosen]

    def search(self, state: ClothState, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        """Return the search's results for positions; an edge is the first action of a turn, a line the best turn."""
        root, found = self._searched(state, generator)
        _, edge = self._edges(root.plans)
        totals = torch.zeros_like(found.values).scatter_add(1, edge, (found.values * found.visits).nan_to_num())
        merged = self._merged(root.plans, found)
        return replace(merged, values=totals / merged.visits)  # each turn counts by its visits

    def evaluate_root(self, state: ClothState, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        """Return the result of a search before its first simulation: the turns that it would try, with no visits.

        An edge has the network's value of the best turn that begins with it, NaN in a search without a network. The
        arguments are those of `search`.
        """
        search, root, worth = self._rooted(state, generator)
        legal, prior, best = search.game.legal_actions(root), root.logits.softmax(1), root.logits.argmax(1)
        known = torch.full_like(prior, torch.nan)
        if worth is not None:
            known = torch.nn.functional.pad(worth.float().clamp(-1, 1), (0, CHOICES - worth.shape[1]), value=-1.0)
        _, edge = self._edges(root.plans)
        own = known.gather(1, best[:, None])
        found = SearchResult(
            actions=torch.where(legal, torch.arange(CHOICES, device=state.device), -1),
            visits=torch.zeros_like(legal, dtype=torch.int64),
            values=torch.full_like(known, torch.nan).scatter_reduce(1, edge, known, "amax", include_self=False),
            policy=prior,
            value=torch.where(state.current_player[:, None] == torch.arange(2, device=state.device), own, -own),
            chosen=best,
            lines=[],
        )
        return self._merged(root.plans, found)

    def _edges(self, plans: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first action of each turn and its edge, the place of the first such turn: int64 [L, C] each."""
        first = torch.where(plans[:, :, 0] < 0, self.game.end_turn, plans[:, :, 0])
        return first, (first[:, :, None] == first[:, None, :]).int().argmax(2)

    def _merged(self, plans: Tensor, found: SearchResult) -> SearchResult:
        """Return a result of turns as one of first actions, with the values that it has."""
        first, edge = self._edges(plans)
        best = plans[torch.arange(len(plans), device=plans.device), found.chosen].tolist()
        own = edge == torch.arange(CHOICES, device=plans.device)
        return replace(
            found,
            actions=torch.where(own & (found.actions >= 0), first, -1),
            visits=torch.zeros_like(found.visits).scatter_add(1, edge, found.visits),
            policy=torch.zeros_like(found.policy).scatter_add(1, edge, found.policy),
            chosen=first.gather(1, found.chosen[:, None]).squeeze(1),
            lines=[[*(cell for cell in turn if cell >= 0), self.game.end_turn] for turn in best],
        )

    def _searched(self, state: ClothState, generator: torch.Generator) -> tuple[TurnState, SearchResult]:
        search, root, _ = self._rooted(state, generator)
        parts = torch.arange(len(state), device=state.device).split(search.together(root))
        return root, SearchResult.cat([search.run(root[part], generator) for part in parts])

    def _rooted(self, state: ClothState, generator: torch.Generator) -> tuple[Search, TurnState, Tensor | None]:
        """Return the search, and what `_root` does, of positions with dice of the search's own."""
        search = self._search
        if search is None or not isinstance(search.game, TurnGame):
            raise must_start(self)
        state = state.replace(seed=draw_seeds(len(state), generator, state.device))
        return search, *self._root(search.game, state, generator)


class TurnUCT(TurnSearch):
    """`mcts:N` over whole turns: UCT whose simulations end in playouts of random turns."""

    def __init__(self, simulations: int) -> None:
        super().__init__(f"mcts:{simulations}", simulations)

    @override
    def _made(self, game: TurnGame) -> Search:
        return UCTSearch(game, self.simulations)

    @override
    def _root(self, game: TurnGame, state: ClothState, generator: torch.Generator) -> Root:
        kept = min(CHOICES, max(_LEAST, self.simulations // _SIMULATIONS))
        return game.proposing(state, _ROOT, kept), None


class TurnGumbel(TurnSearch):
    """`gumbel:N`: Gumbel search among the turns that a network ranks first, by default a shipped one."""

    def __init__(self, simulations: int, path: Path | None = None) -> None:
        super().__init__(f"gumbel:{simulations}", simulations)
        self.path = path

    @override
    def _made(self, game: TurnGame) -> Search:
        plain = make(game.id, **game.parameters)
        network = search_network(plain, self.path, kind=ClothValues.kind)
        assert isinstance(network, ClothValues)  # of that kind
        self._ranking = ClothEvaluator(network, candidates=_ROOT, considered=CHOICES)
        self._ranking.start(plain, *torch.zeros((2, 1), dtype=torch.int64, device="cpu"))
        return GumbelSearch(game, TurnValues(network), self.simulations, considered=CHOICES)

    @override
    def _root(self, game: TurnGame, state: ClothState, generator: torch.Generator) -> Root:
        plans, worth, self._after = self._ranking.evaluate(state, generator)
        return game.offering(state, plans, WEIGHT * worth), worth


_TURNS_A_CANDIDATE = 4  # turns that are drawn for each candidate
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
        # The boards and the numbers of one position that the network reads.
        parts = game.packed_observation(game.init(torch.zeros(1, dtype=torch.int64, device="cpu")), 0)
        self._boards, self._numbers = (part.shape[1:] for part in parts)

    @property
    @override
    def inputs(self) -> Space:
        width = self._boards.numel() + self._numbers.numel() + _ENDED
        return Space((self.candidates, width), torch.int64, -(2**63), 2**63 - 1)

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
        flat, boards = inputs.flatten(0, 1), self._boards.numel()
        seen = flat[:, :boards].view(-1, *self._boards), flat[:, boards:-_ENDED]
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
        self._ranking = ClothEvaluator(network, candidates=_TURNS_A_CANDIDATE * candidates, considered=candidates)

    @override
    def _made(self, game: TurnGame) -> Search:
        self._ranking.start(make(game.id, **game.parameters), *torch.zeros((2, 1), dtype=torch.int64, device="cpu"))
        evaluator, considered, scale = TurnValues(self._network), self._effort.considered, self._effort.scale
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
