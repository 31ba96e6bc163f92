"""Searches of Cloth of Gold by whole turns."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from every_game import generator
from refusals import refused
from training_runs import network_for

import cellgames
from cellgames.agents import acting, draw_seeds, load, play, save_network
from cellgames.agents.cloth_of_gold.greedy import forecast, proposals, worth
from cellgames.agents.cloth_of_gold.network import CANDIDATES
from cellgames.agents.cloth_of_gold.turn_search import CHOICES, TurnGame
from cellgames.agents.cloth_of_gold.turns import TurnAgent, random_turns
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.core import seeds

GAME = ClothOfGold(height=24, width=24, generations=12, max_units=6, max_rounds=4)
TURNS = TurnGame(**GAME.parameters)


def late(turns: int = 5, games: int = 24) -> ClothState:
    """Return games of greedy players; after five turns player_b ends the first round that can decide."""
    state = GAME.init(seeds(2, games))
    for turn in range(turns):
        state = GAME.play_turn(state, proposals(GAME, state, seeds(turn, games), 6, 1)[0].squeeze(1))
    return state


def test_turns_to_choose_from_are_the_best_of_those_drawn() -> None:
    state = late(3)
    plans, value = proposals(GAME, state, seeds(9, len(state)), 20, 5)
    drawn = random_turns(GAME, state, seeds(9, len(state)), 20, border=True)
    every = worth(GAME, state, forecast(GAME, state, drawn))
    assert torch.equal(value, every.topk(5, dim=1).values)
    assert torch.equal(value, worth(GAME, state, forecast(GAME, state, plans)))
    offered = TURNS.proposing(state.replace(seed=seeds(9, len(state))), 20, 5)
    assert torch.equal(offered.plans[:, :5], plans)
    assert torch.equal(TURNS.legal_actions(offered), (torch.arange(CHOICES) < 5).expand(len(state), -1))
    assert (offered.logits[:, :4] > offered.logits[:, 1:5]).all()


def test_an_action_is_a_whole_turn() -> None:
    state = late(4)
    root = TURNS.proposing(state, 8, 3)
    actions = torch.arange(len(state)) % 3
    after = TURNS.step(root, actions)
    alone = GAME.play_turn(state, root.plans[torch.arange(len(state)), actions])
    for name in ("units", "territory", "current_player", "round", "turn", "scores", "terminated"):
        assert torch.equal(getattr(after, name), getattr(alone, name)), name
    assert TURNS.legal_actions(after).any(1).logical_xor(after.done).all()


@pytest.mark.parametrize("spec", ["mcts:16", "gumbel:4"])
def test_a_turn_that_wins_is_played(spec: str, tmp_path: Path) -> None:
    state = late()
    going = state[(~state.done & (state.current_player == 1)).nonzero().squeeze(1)]
    if spec.startswith("gumbel"):
        save_network(tmp_path / "agent.safetensors", network_for(GAME, kind="turns"))
        spec = f"{spec}:{tmp_path}"
    agent = acting(load(spec, GAME), GAME)
    assert isinstance(agent, TurnAgent)
    agent.start(GAME, torch.ones(len(going), dtype=torch.int64), torch.arange(len(going)))
    turns = agent.turns(going, generator(1))
    assert torch.equal(turns, agent.turns(going, generator(1)))
    chance = generator(1)
    drawn = [draw_seeds(len(going), chance) for _ in range(2)][spec.startswith("gumbel")]
    _, value = proposals(GAME, going, drawn, CANDIDATES, 1)
    wins = value[:, 0] > GAME.cells  # more than any lead
    assert 0 < wins.sum() < len(going)
    assert torch.equal(GAME.outcome(GAME.play_turn(going, turns))[:, 1] > 0, wins)


def test_searches_play_whole_games_and_need_a_network_of_turns(tmp_path: Path) -> None:
    game = ClothOfGold(height=12, width=12, generations=4, max_units=3, max_rounds=2)
    agents = [load("mcts:6", game), load("random", game)]
    played = play(game, agents, torch.tensor([[0, 1], [1, 0]]), seeds(0, 2), [generator(1), generator(2)])
    assert played.state.done.all()
    save_network(tmp_path / "agent.safetensors", network_for(game))
    with pytest.raises(ValueError, match="expected a network of kind 'turns' for a search, got 'policy'"):
        load(f"gumbel:4:{tmp_path}", game)
    with refused("agent 'mcts:6'", "torus-v0"):
        agents[0].playing(game).start(cellgames.make("torus-v0"), torch.tensor([0]), torch.tensor([0]))  # type: ignore[union-attr]  # ByGame
