"""Agents that are another one in each game, and which ones `greedy`, `random` and `rollout:N` are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from every_game import GAMES, generator
from refusals import refused
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, load, select
from cellgames.agents.agent_specs import AgentSpec, wrapped
from cellgames.agents.base import acting, takes_states
from cellgames.agents.loading import identity
from cellgames.agents.playouts import RandomAgent
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.registry import REGISTRY

CLOTH, TORUS = GAMES["cloth-of-gold-v0"], GAMES["torus-v0"]
CUP = cellgames.make("toroidal-cup-small-v0", max_generations=10)


class First(BaseAgent):
    """Plays the first legal action by the mask, and keeps what it was told."""

    def __init__(self, name: str = "first") -> None:
        super().__init__(name)
        self.started: list[tuple[list[int], list[int]]] = []

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.started.append((players.tolist(), env_ids.tolist()))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return action_mask.int().argmax(1)


class Last(First):
    """Plays the last legal action of a position; plays Torus only."""

    def check_game(self, game: Game) -> None:
        if game.id != TORUS.id:
            raise ValueError(f"last plays {TORUS.id}, got {game.id}")

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        mask = TORUS.legal_actions(state)
        return mask.shape[1] - 1 - mask.flip(1).int().argmax(1)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the plugins of the games above list agents named "mine"."""
    ids = {"cloth": CLOTH.id, "torus": TORUS.id, "cup": CUP.id}

    def listed(**kinds: str) -> None:
        for name, kind in kinds.items():
            spec = REGISTRY[ids[name]]
            plugin = replace(spec.plugin, agents={"mine": f"{__name__}:{kind}"})
            monkeypatch.setitem(REGISTRY, ids[name], replace(spec, plugin=plugin))

    return listed


def test_it_is_the_agent_of_the_table_until_another_game_is_asked_for(listed: Callable[..., None]) -> None:
    listed(torus="Last", cup="First")
    agent: Any = AgentSpec("mine", "", by_game=True).make(None)
    torus = agent.playing(TORUS)
    assert type(torus).__name__ == "Last"
    assert agent.playing(cellgames.make("torus-v0", **TORUS.parameters)) is torus
    cup = agent.playing(CUP)
    assert type(cup).__name__ == "First"
    assert torus.name == cup.name == "mine"
    assert agent.playing(TORUS) is not torus, "its memory was of other games"
    smaller = agent.playing(cellgames.make("torus-v0", size=3))
    assert smaller is not torus
    assert type(smaller).__name__ == "Last"


def test_games_without_an_entry_get_the_default_or_are_refused(listed: Callable[..., None]) -> None:
    listed(torus="Last")
    agent: Any = AgentSpec("mine", "", f"{__name__}:First", by_game=True).make(None)
    assert type(agent.playing(CUP)) is First
    assert agent.playing(CUP).name == "mine"
    listed(torus="Last", cloth="First")
    strict: Any = AgentSpec("mine", "", by_game=True).make(None)
    for ask in (strict.playing, strict.check_game, lambda game: takes_states(strict, game)):
        with refused("agent 'mine'", CUP.id):
            ask(CUP)


def test_it_is_asked_as_its_agent_is(listed: Callable[..., None]) -> None:
    """By states where that one gets them, and in other games by observations."""
    listed(torus="Last", cup="First", cloth="First")
    agent: Any = AgentSpec("mine", "", by_game=True).make(None)
    assert takes_states(agent, TORUS)
    assert not takes_states(agent, CUP)
    assert not takes_states(agent, CLOTH)
    assert acting(agent, TORUS) is agent.playing(TORUS)
    plain = RandomAgent()
    assert acting(plain, TORUS) is plain
    state = TORUS.init(seeds(0, 3))
    assert select(agent, TORUS, state, torch.tensor([0, 2]), generator()).tolist() == [TORUS.info.num_actions - 1] * 2
    state = CLOTH.init(seeds(0, 3))
    assert select(agent, CLOTH, state, torch.tensor([1]), generator()).tolist() == [0]


def test_a_mixture_plays_its_share_at_random_and_asks_for_the_rest() -> None:
    rows = torch.arange(1000)
    for share in (0.25, 0.75):
        for agent in (f"mixed:{share}:arena_bots:First", f"mixed:{share}:perfect"):
            game = cellgames.make("torus-v0", size=2) if "perfect" in agent else TORUS
            state, made = game.init(seeds(0, 1000)), acting(load(agent, game), game)
            made.start(game, state.current_player, rows)
            mask = game.legal_actions(state)
            if takes_states(made, game):
                chosen = made.act_on_state(state, rows, generator(1))  # type: ignore[union-attr]
                assert mask.gather(1, chosen[:, None]).all()
            else:
                chosen = made.act(game.observe(state, 0), mask, rows, generator(1))  # type: ignore[union-attr]
                first = 1 - share + share / mask.shape[1]
                assert abs(float((chosen == 0).float().mean()) - first) < 0.04


def test_mixtures_have_names_and_identities_and_refuse_what_they_cannot_mix() -> None:
    assert load("mixed:0.3:greedy", TORUS).name == "mixed:0.3:greedy"
    assert identity("mixed:0.3:arena_bots:First") == identity("arena_bots:First")
    assert wrapped("mixed:.3:arena_bots:First", "isolated") == "isolated:mixed:.3:arena_bots:First"
    assert wrapped("mixed:.3:greedy", "isolated") == "mixed:.3:greedy"
    for text in ("mixed:greedy", "mixed:2:greedy", "mixed:0.3:", "mixed"):
        with refused("mixed:SHARE:AGENT"):
            load(text, TORUS)
    with refused("mixed:SHARE:AGENT", "First"):
        load("mixed:0.3:arena_bots:First", CLOTH)
