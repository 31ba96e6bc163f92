"""`response:N:AGENT`: a best response to a frozen agent by search, N simulations a move.

What the others do is never taken from a model: the agent is asked, in positions that agree with what was seen.

Letters: `L` games to move in, `X` positions to value, `D` nodes, `G` guesses, `M` guesses of a match, `P` players, `K`
the most units of a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.agent_specs import AGENTS, inner_spec
from cellgames.agents.base import AnyAgent, ByGame
from cellgames.agents.cloth_of_gold.turn_search import TurnGame, TurnState, TurnUCT
from cellgames.agents.grid_adaptation.decoding import Seen
from cellgames.agents.grid_adaptation.rollout import GridRollout
from cellgames.agents.loading import load
from cellgames.agents.search.search_agent import SearchAgent
from cellgames.agents.search.tree import OPEN, Tree
from cellgames.agents.search.tree_search import DENSE, PlayoutEvaluator, Search
from cellgames.agents.search.uct import PLAYOUTS
from cellgames.agents.selection import select
from cellgames.agents.toroidal_cup.greedy import CupSearch, placed
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game, State
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.envs.registry import make
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.state import CupState
from cellgames.utils.errors import InputError, shown

from .tree_response import OwnPlay, Response

_OFFERED = 8  # turns that the search proposes; answers of the agent follow


def response(text: str) -> ByGame:
    """Return the agent of `response:TEXT`; the text is the simulations, a colon and the spec of the frozen agent.

    Raises:
        ValueError: no number of simulations, or no agent after it.
    """
    simulations, _, spec = text.partition(":")
    if re.fullmatch(r"[1-9]\d{0,6}", simulations) is None or not spec:
        raise InputError("response:N:AGENT", "simulations a move and an agent, such as 64:greedy", shown(text))
    name, _, options = inner_spec(spec).partition(":")
    searches = name in AGENTS and ":N" in AGENTS[name].usage

    def made(game: Game) -> AnyAgent:
        agent, values = load(spec, game), None if searches else spec
        if name == "gumbel":  # its network plays positions out
            values = options.partition(":")[2] or "trained"
        return _response(agent, int(simulations), None if values is None else load(values, game), game)

    return ByGame(f"response:{text}", made)


def respond(agent: AnyAgent, simulations: int, *, random: bool = False) -> ByGame:
    """Return an agent that searches for best responses to a frozen agent.

    It plays the Toroidal Cup, Grid Adaptation without talk, Cloth of Gold without wild options, and games for two in
    turns with perfect information, no dice and 512 actions at most; others are refused by a `ValueError`.

    Args:
        agent: asked anew in each position, so what it remembers of a game is not used.
        simulations: simulations a move.
        random: True to value positions in turns by random playouts, for agents that take long; else the agent plays
            them out. Life in simultaneous games needs no such value.
    """
    values = None if random else agent
    return ByGame(f"response:{simulations}:{agent.name}", partial(_response, agent, simulations, values))


def _response(agent: AnyAgent, simulations: int, values: AnyAgent | None, game: Game) -> AnyAgent:
    if (kind := _LIFE.get(type(game))) is not None:
        return kind(simulations, agent)
    evaluator = PlayoutEvaluator(PLAYOUTS) if values is None else OwnPlay(values)

    def search(game: Game) -> Response:
        if game.info.num_players != 2 or game.info.num_actions > DENSE:
            raise InputError("response:N:AGENT", f"a game for two players with {DENSE} actions at most", game.id)
        return Response(game, simulations, evaluator, agent)

    return SearchAgent(f"response:{simulations}:{agent.name}", search, solve=False)


def _actions(agent: AnyAgent, game: Game, state: State, seat: int, generator: torch.Generator) -> Tensor:
    """Return an agent's actions at a seat where all act at once, int64 [L], or [L, 7]; it begins anew in each game."""
    env_ids = torch.arange(len(state), device=state.device)
    players = torch.full_like(env_ids, seat)
    agent.start(game, players, env_ids)
    return select(agent, game, state, env_ids, generator, players)


class CupResponse(CupSearch):
    """`mcts:N` of the Toroidal Cup whose guesses of the others' placements are answers of an agent."""

    def __init__(self, simulations: int, agent: AnyAgent) -> None:
        super().__init__(simulations, answered=0)
        self._agent = agent

    @override
    def _met(
        self, game: ToroidalCup, state: CupState, seats: Tensor, boards: Tensor, seeds: Tensor, count: int
    ) -> Tensor:
        generator = torch.Generator().manual_seed(int(seeds[0]))
        each = state[torch.arange(len(state), device=state.device).repeat_interleave(count)]
        guesses = state.start.flatten(1)[:, None].expand(-1, count, -1)
        for team in range(game.teams):
            actions = _actions(self._agent, self.game, each, team, generator).view(-1, count)
            theirs = placed(game, state.queue[:, team, 0].long(), actions, torch.full_like(seats, team))
            guesses = guesses.maximum(theirs.masked_fill((seats == team)[:, None, None], 0))
        return guesses


class GridResponse(GridRollout):
    """`rollout:N` of Grid Adaptation in which the others' actions of this round are answers of an agent."""

    def __init__(self, playouts: int, agent: AnyAgent) -> None:
        super().__init__(playouts)
        self._agent = agent

    @override
    def _joint(self, view: Seen, state: GridState, seeds: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(int(seeds[0]))
        seats = range(self.game.players)
        return torch.stack([_actions(self._agent, self.game, state, seat, generator) for seat in seats], 1)


class ClothResponse(TurnUCT):
    """`mcts:N` of Cloth of Gold in which the other player's turns are those of an agent."""

    def __init__(self, simulations: int, agent: AnyAgent) -> None:
        super().__init__(simulations)
        self._agent = agent

    @override
    def _made(self, game: TurnGame) -> Search:
        return _TurnResponse(game, self.simulations, PlayoutEvaluator(PLAYOUTS), self._agent)

    @override
    def _root(self, game: TurnGame, state: ClothState, generator: torch.Generator) -> tuple[TurnState, None]:
        return game.proposing(state, kept=_OFFERED), None


def _turns(agent: AnyAgent, game: TurnGame, state: ClothState, generator: torch.Generator) -> Tensor:
    """Return an agent's turns in games that go on, int64 [L, K], -1 for no unit; it begins anew in each."""
    plain = make(game.id, **game.parameters)
    assert isinstance(plain, ClothOfGold)
    fields = {name: getattr(state, name) for name in ClothState.__dataclass_fields__}
    state, rows = ClothState(**fields).clone(), torch.arange(len(state), device=state.device)
    turns = torch.full((len(state), game.most_units), -1, dtype=torch.int64, device=state.device)
    agent.start(plain, state.current_player, rows)
    while len(rows):
        actions = select(agent, plain, state, rows, generator)
        rows, actions = rows[actions != plain.end_turn], actions[actions != plain.end_turn]
        back = turns[rows] == actions[:, None]  # a unit of this turn that it takes back
        place = torch.where(back.any(1), back.int().argmax(1), (turns[rows] < 0).int().argmax(1))
        turns[rows, place] = torch.where(back.any(1), -1, actions)
        after = plain.step(state[rows], actions, checked=False)
        for mine, new in zip(state.tensors(), after.tensors(), strict=True):
            mine[rows] = new
    return turns


class _TurnResponse(Response):
    """UCT over turns: those of the search, and in the places after them answers of the agent."""

    @override
    def _asked(self, tree: Tree, nodes: Tensor) -> Tensor:
        turns = _turns(self._agent, self.game, tree.state[nodes], self._generator)  # type: ignore[arg-type]
        known = (tree.state.plans[nodes, _OFFERED:] == turns[:, None]).all(2)
        free = (tree.state.plans[nodes, _OFFERED:] < 0).all(2).int().argmax(1)
        edges = _OFFERED + torch.where(known.any(1), known.int().argmax(1), free)
        tree.state.plans[nodes, edges] = turns
        tree.status[nodes, edges] = OPEN
        return edges


_LIFE: dict[type[Game], Callable[[int, AnyAgent], AnyAgent]] = {
    ToroidalCup: CupResponse,
    GridAdaptation: GridResponse,
    ClothOfGold: ClothResponse,
}
