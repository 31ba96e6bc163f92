"""Shapes and whole turns of Cloth of Gold: what is drawn may be played, and agents keep their plans env by env."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from every_game import generator
from refusals import refused
from torch import Tensor
from toy_games import random_actions
from training_runs import network_for

import cellgames
from cellgames.agents import acting, draw_seeds, load, play, save_network
from cellgames.agents.cloth_of_gold.greedy import forecast, proposals, worth
from cellgames.agents.cloth_of_gold.network import CANDIDATES
from cellgames.agents.cloth_of_gold.turn_search import CHOICES, TurnGame
from cellgames.agents.cloth_of_gold.turns import SHAPES, ClothRandom, TurnAgent, random_turns, shape_forms
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.core import seeds

every_shape = pytest.mark.parametrize("name", SHAPES)


def normal(form: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The cells, counted from the upper left corner."""
    top, left = (min(values) for values in zip(*form, strict=True))
    return frozenset((row - top, col - left) for row, col in form)


@every_shape
def test_a_shape_has_each_of_its_turned_and_mirrored_forms_once(name: str) -> None:
    cells = [(r, c) for r, row in enumerate(SHAPES[name].split("/")) for c, sign in enumerate(row) if sign == "o"]
    expected = set()
    for _ in range(4):
        cells = [(col, -row) for row, col in cells]
        expected |= {normal(cells), normal([(row, -col) for row, col in cells])}
    assert {normal(form) for form in shape_forms(name)} == expected
    assert len(shape_forms(name)) == len(expected)


GAMES: dict[str, dict[str, Any]] = {
    "small": {"height": 8, "width": 8, "generations": 2, "radius": 3, "max_units": 10, "max_rounds": 8},
    "one unit": {"height": 8, "width": 9, "generations": 1, "radius": 3, "max_units": 1, "max_rounds": 4},
    "three units, radius 1": {
        **{"height": 8, "width": 8, "generations": 1, "radius": 1, "max_units": 3, "max_rounds": 4},
        **{"neutral_density": 0.3, "win_rule": "extinction"},
    },
    "radius 2": {
        **{"height": 9, "width": 12, "generations": 3, "radius": 2, "max_units": 10, "max_rounds": 4},
        **{"initial_placement": False, "shaping": 0.5},
    },
    "contested": {
        **{"height": 12, "width": 10, "generations": 5, "radius": 8, "max_units": 6, "max_rounds": 4},
        **{"win_rule": "extinction"},
    },
    "thirty units": {
        **{"height": 16, "width": 20, "generations": 4, "radius": 5, "max_units": 30, "max_rounds": 2},
        **{"neutral_density": 0.1, "neutral_births": True, "shaping": 1.0},
    },
    "two words": {"height": 8, "width": 127, "generations": 2, "radius": 3, "max_units": 10, "max_rounds": 2},
}
every_game = pytest.mark.parametrize("name", GAMES)


def walk(game: ClothOfGold, num_envs: int, steps: int, seed: int) -> Iterator[ClothState]:
    """Positions on the way of games whose turns are made of random actions and random turns of shapes in turn.

    So there are positions in the middle of a turn, also after units that were taken back.
    """
    state, source = game.init(seeds(seed, num_envs)), generator(seed)
    for step in range(steps):
        state = state[~state.done]
        if len(state) == 0:
            return
        yield state
        if step % 5 == 4:
            state = game.play_turn(state, random_turns(game, state, seeds(step, len(state)), 1)[:, 0])
        else:
            state = game.step(state, random_actions(game, state, source))


def placeable(game: ClothOfGold, state: ClothState) -> Tensor:
    """Bool [B, H * W], where one more unit may be placed."""
    placed = game.grid.unpack(state.placed.movedim(0, -1)).flatten(1)
    return game.legal_actions(state)[:, :-1] & ~placed


def unit_by_unit(game: ClothOfGold, state: ClothState, cells: Tensor) -> tuple[ClothState, Tensor]:
    """The position after the actions of turns int64 [B, K], with checks, and the sums of their rewards, [B, 2]."""
    rewards = torch.zeros(len(state), 2)
    before = state
    for unit in cells.t():
        some = (unit >= 0).nonzero().squeeze(1)
        after = game.step(state[some], unit[some])
        rewards[some] += after.rewards
        state = state.put(some, after)
    env_ids = torch.arange(len(state))
    mine = state.live - before.live
    assert torch.equal(mine[env_ids, before.current_player], (cells >= 0).sum(1).int()), "no unit is taken back"
    state = game.step(state, torch.full_like(env_ids, game.end_turn))
    return state, rewards + state.rewards


@every_game
def test_turns_of_chance_are_legal_and_place_a_unit_wherever_one_can_be(name: str) -> None:
    game, count = ClothOfGold(**GAMES[name]), 3
    sizes = Counter[int]()
    for step, state in enumerate(walk(game, 3, 16, seed=1)):
        turns = random_turns(game, state, seeds(step, len(state)), count, border=step % 2 == 1)
        assert turns.shape == (len(state), count, game.max_units)
        env_ids, turns = torch.arange(len(state)).repeat_interleave(count), turns.flatten(0, 1)
        used = turns >= 0
        assert torch.equal(used.int().cummin(1).values.bool(), used), "what is none comes last"
        assert torch.equal(used.any(1), placeable(game, state).any(1)[env_ids])
        after, rewards = unit_by_unit(game, state[env_ids], turns)
        at_once = game.play_turn(state[env_ids], turns)
        torch.testing.assert_close(at_once.rewards, rewards)
        assert at_once.replace(rewards=after.rewards).equal(after)
        sizes.update(used.sum(1).tolist())
    assert max(sizes) > 3 or game.max_units == 1 or game.radius == 1  # where a shape does not fit


@pytest.mark.parametrize("max_units", [1, 3])
@pytest.mark.parametrize("acts_left", [0, 1, 5])
def test_turns_of_chance_fit_into_the_actions_that_are_left(max_units: int, acts_left: int) -> None:
    """After units that were placed and taken back again and again, with one of them on the board or none."""
    game = ClothOfGold(height=16, width=20, max_units=max_units, radius=6)
    acts, num_envs = max(0, 2 * max_units - acts_left), 60
    state = game.init(seeds(0, num_envs))
    for _ in range(acts):
        state = game.step(state, torch.full((num_envs,), 7 * 20 + 9))
    turns = random_turns(game, state, seeds(1, num_envs), 1)[:, 0]
    unit_by_unit(game, state, turns)
    sizes = (turns >= 0).sum(1)
    must = acts % 2 == 0
    assert sizes.min() >= must
    assert sizes.max() <= max(int(must), min(acts_left, max_units - acts % 2))


OPEN = ClothOfGold(height=12, width=12, radius=32, max_units=3)


class Planner(TurnAgent):
    """Plans the first free cells of the board, and keeps who asked for plans."""

    def __init__(self, units: int = 2) -> None:
        super().__init__("planner")
        self.units = units
        self.planned: list[list[int]] = []  # by call: first cells of the plans

    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        cells = torch.full((len(state), self.game.max_units), -1)
        for env_id, free in enumerate(placeable(self.game, state)):
            found = free.nonzero().flatten()[: min(self.units, int(state.left[env_id]))]
            cells[env_id, : len(found)] = found
        self.planned.append(cells[:, 0].tolist())
        return cells


def begun(agent: TurnAgent, game: ClothOfGold, env_ids: list[int], player: int = 0) -> None:
    agent.start(game, torch.full((len(env_ids),), player), torch.tensor(env_ids))


def asked(agent: TurnAgent, state: ClothState, env_ids: list[int]) -> list[int]:
    return agent.act_on_state(state, torch.tensor(env_ids), generator()).tolist()


def test_a_turn_is_planned_once_and_placed_unit_by_unit() -> None:
    agent, state = Planner(), OPEN.init(seeds(0, 2))
    begun(agent, OPEN, [0, 1])
    for expected in ([0, 0], [1, 1], [OPEN.end_turn] * 2):
        assert len(agent.planned) == 1 or expected == [0, 0]
        actions = asked(agent, state, [0, 1])
        assert actions == expected
        state = OPEN.step(state, torch.tensor(actions))
    assert agent.planned == [[0, 0]]
    assert asked(agent, state, [0, 1]) == [3, 3]  # the next turn: cell 2 is next to a's unit
    assert len(agent.planned) == 2


def test_an_env_that_starts_again_forgets_its_plan_and_others_do_not() -> None:
    agent, state = Planner(), OPEN.init(seeds(0, 3))
    begun(agent, OPEN, [0, 1, 2])
    state = OPEN.step(state, torch.tensor(asked(agent, state, [0, 1, 2])))
    begun(agent, OPEN, [1])
    state = state.put(torch.tensor([1]), OPEN.init(seeds(1, 1)))
    assert asked(agent, state, [0, 1, 2]) == [1, 0, 1]
    assert agent.planned == [[0, 0, 0], [0]]
    begun(agent, OPEN, [9])
    assert asked(agent, OPEN.init(seeds(0, 1)), [9]) == [0]
    # In another game all of them begin.
    other = ClothOfGold(height=12, width=12, radius=32, max_units=5)
    begun(agent, other, [0])
    assert asked(agent, other.init(seeds(0, 3)), [0, 1, 2]) == [0, 0, 0]


def test_a_turn_without_a_unit_is_ended() -> None:
    full = ClothOfGold(height=8, width=8, radius=32, max_units=64)
    state = full.play_turn(full.init(seeds(0, 1)), torch.arange(64)[None])
    for agent in (Planner(), ClothRandom()):
        begun(agent, full, [0], player=1)
        assert asked(agent, state, [0]) == [full.end_turn]
        state_after = full.play_turn(state, torch.full((1, 1), -1))
        assert asked(agent, state_after, [0]) == [full.end_turn]


GAME = ClothOfGold(height=24, width=24, generations=12, max_units=6, max_rounds=4)
TURNS = TurnGame(**GAME.parameters)
SMALL = ClothOfGold(height=12, width=12, generations=4, max_units=3, max_rounds=2)


def late(turns: int = 5, games: int = 12) -> ClothState:
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
    agents = [load("mcts:6", SMALL), load("random", SMALL)]
    played = play(SMALL, agents, torch.tensor([[0, 1], [1, 0]]), seeds(0, 2), [generator(1), generator(2)])
    assert played.state.done.all()
    save_network(tmp_path / "agent.safetensors", network_for(SMALL))
    with refused(str(tmp_path / "agent.safetensors"), "'policy'"):
        load(f"gumbel:4:{tmp_path}", SMALL)
    with refused("agent 'mcts:6'", "torus-v0"):
        agents[0].playing(SMALL).start(cellgames.make("torus-v0"), torch.tensor([0]), torch.tensor([0]))  # type: ignore[union-attr]  # ByGame
