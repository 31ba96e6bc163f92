"""The solver that search agents ask at the root: games offer it, and the agents know nothing of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from every_game import generator
from native_code import native_library
from slow import slow_except
from torch import Tensor

import cellgames
from cellgames.agents import load, random_openings
from cellgames.agents.base import ByGame
from cellgames.agents.search import SearchResult
from cellgames.agents.search.search_agent import SearchAgent
from cellgames.agents.solving import proof_search
from cellgames.agents.torus.proof_search import LEAST_STONES
from cellgames.envs.core import Game, seeds
from cellgames.envs.native import without_native
from cellgames.envs.registry import plugin_of
from cellgames.envs.torus.game import Torus
from cellgames.plugins import resolve


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def positions(game: Game, count: int, stones: int) -> Any:
    """Return positions of random games that go on."""
    state: Any = game.init(seeds(0, 4 * count))
    for action in random_openings(game, 4 * count, stones, generator(1)).t():
        state = game.step(state, action)
    if isinstance(game, Torus):  # in which nobody can win at once
        state = state[~game.winning_actions(state).any(1) & game.defending_actions(state).any(1)]
    return state[~state.done][:count]


def solve(game: Game, state: Any, nodes: int) -> tuple[Tensor, Tensor]:
    found: tuple[Tensor, Tensor] = resolve(plugin_of(game).search["solve"])(game, state, nodes)
    return found


def searched(spec: str, game: Game, state: Any) -> SearchResult:
    loaded, env_ids = load(spec, game), torch.arange(len(state))
    agent = loaded.playing(game) if isinstance(loaded, ByGame) else loaded
    assert isinstance(agent, SearchAgent)
    agent.start(game, state.current_player, env_ids)
    return agent.search(state, env_ids, generator())


def own(value: Tensor, state: Any) -> Tensor:
    return value.gather(1, state.current_player[:, None]).squeeze(1)


_SMALL = [("hex-v0", 6, 6, "mcts:4"), ("y-v0", 6, 2, "mcts:4")]


@pytest.mark.parametrize(
    ("name", "size", "stones", "spec"),
    slow_except(_SMALL, [*_SMALL, ("torus-v0", 5, 16, "gumbel:16"), ("torus-v0", 5, 16, "mcts:40")]),
)
def test_won_positions_are_played_by_the_solver_and_lost_ones_are_known(
    name: str, size: int, stones: int, spec: str
) -> None:
    game: Any = cellgames.make(name, size=size)
    state = positions(game, 60, stones)
    truth = proof_search(game)
    values = truth.solve(state)
    found, _ = solve(game, state, 8 * int(spec.split(":")[1]))
    result = searched(spec, game, state)
    assert found.unique().tolist() == [-1, 0, 1]
    assert torch.equal(found[found != 0], values.long()[found != 0])
    assert (own(result.value, state)[found != 0] == found[found != 0]).all()
    after = game.step(state, result.chosen)[found == 1]
    assert (truth.solve(after[~after.done]) == -1).all()
    # What is open or lost is searched, what is won is not.
    assert (result.visits.sum(1)[found == 1] == 1).all()
    assert (result.visits.sum(1)[found == -1] > 1).all()
    assert [line[0] for line in result.lines] == result.chosen.tolist()


def test_what_is_too_early_or_too_large_is_left_open() -> None:
    for name, size, stones in (("torus-v0", 5, LEAST_STONES[5] - 1), ("torus-v0", 6, 30), ("hex-v0", 9, 60)):
        game = cellgames.make(name, size=size)
        value, move = solve(game, positions(game, 4, stones), 10_000)
        assert value.tolist() == [0] * len(value)
        assert move.tolist() == [-1] * len(move)
    for name, size, stones in (("torus-v0", 4, 12), ("hex-v0", 5, 4)):
        game = cellgames.make(name, size=size)
        state = positions(game, 8, stones)
        assert solve(game, state, 10_000)[0].all()
        with without_native():
            assert not solve(game, state, 10_000)[0].any()
