"""The solver that search agents ask at the root: Torus offers it, and the agents know nothing of Torus."""

from __future__ import annotations

import pytest
import torch
from every_game import generator
from native_code import native_library
from slow import slow_except
from torch import Tensor

from cellgames.agents.base import ByGame
from cellgames.agents.loading import load
from cellgames.agents.play_loop import random_openings
from cellgames.agents.search import SearchResult
from cellgames.agents.search.search_agent import SearchAgent
from cellgames.agents.torus.proof_search import LEAST_STONES, ProofSearch, solve
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def positions(size: int, count: int, stones: int) -> TorusState:
    """Return positions of random games in which nobody can win at once."""
    game = Torus(size)
    state = game.init(seeds(0, 4 * count))
    for action in random_openings(game, 4 * count, stones, generator(1)).t():
        state = game.step(state, action)
    quiet = ~game.winning_actions(state).any(1) & game.defending_actions(state).any(1)
    return state[quiet][:count]


def searched(spec: str, state: TorusState, size: int) -> SearchResult:
    loaded, env_ids = load(spec, Torus(size)), torch.arange(len(state))
    agent = loaded.playing(Torus(size)) if isinstance(loaded, ByGame) else loaded
    assert isinstance(agent, SearchAgent)
    agent.start(Torus(size), state.current_player, env_ids)
    return agent.search(state, env_ids, generator())


def own(value: Tensor, state: TorusState) -> Tensor:
    return value.gather(1, state.current_player[:, None]).squeeze(1)


@pytest.mark.slow
@pytest.mark.parametrize("spec", slow_except(["mcts:40"], ["gumbel:16", "mcts:40"]))
def test_won_positions_are_played_by_the_solver_and_lost_ones_are_known(spec: str) -> None:
    size = 5
    state = positions(size, 60, 16)
    values = ProofSearch(size).solve(state)
    found, _ = solve(Torus(size), state, 8 * int(spec.split(":")[1]))
    result = searched(spec, state, size)
    assert (found == 1).sum() > 5
    assert (found == -1).sum() > 2
    assert (found == 0).any()
    assert torch.equal(found[found != 0], values.long()[found != 0])
    assert (own(result.value, state)[found != 0] == found[found != 0]).all()
    game = Torus(size)
    after = game.step(state, result.chosen)
    assert (ProofSearch(size).solve(after)[found == 1] == -1).all()
    # What is open or lost is searched, what is won is not.
    assert (result.visits.sum(1)[found == 1] == 1).all()
    assert (result.visits.sum(1)[found == -1] > 1).all()
    assert [line[0] for line in result.lines] == result.chosen.tolist()


def test_what_is_too_early_or_too_large_is_left_open() -> None:
    for size, stones in ((5, LEAST_STONES[5] - 1), (6, 30)):
        value, move = solve(Torus(size), positions(size, 4, stones), 10_000)
        assert value.tolist() == [0] * len(value)
        assert move.tolist() == [-1] * len(move)
    state = positions(4, 8, 12)
    assert solve(Torus(4), state, 10_000)[0].all()
    with without_native():
        assert not solve(Torus(4), state, 10_000)[0].any()
