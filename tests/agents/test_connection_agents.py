"""Agents of Hex and Y: what connections cost against a slow search, the moves of greedy, and the network."""

from __future__ import annotations

import heapq
import random
from typing import Any

import pytest
import torch
from every_game import generator
from torch import Tensor

from cellgames.agents import random_openings
from cellgames.agents.connection import ConnectionGreedy, ConnectionNetwork
from cellgames.agents.connection.greedy import CLOSED, stones_to_win
from cellgames.agents.networks.networks import Size
from cellgames.agents.networks.saved import load_network, shipped
from cellgames.agents.search import UCTSearch
from cellgames.agents.solving import proof_search
from cellgames.agents.solving.perfect import AdvisedAgent
from cellgames.envs.connection import ConnectionGame, Hex, Y
from cellgames.envs.core import seeds

BOARDS: list[ConnectionGame] = [Hex(size=4), Y(size=5), Hex(size=3, tiling="octagons"), Y(size=4, tiling="octagons")]
every_board = pytest.mark.parametrize("game", BOARDS, ids=lambda game: f"{game.title}-{game.tiling}")


def walks(game: ConnectionGame, stones: list[int], player: int, side: int) -> list[float]:
    """Free cells of the cheapest walk from a side to each cell, both ends counted, by Dijkstra's search."""
    layout = game.layout
    price = {cell: int(owner == 0) for cell, owner in enumerate(stones) if owner != 2 - player}
    cost = {cell: price[cell] for cell in price if layout.sides[cell] & side}
    queue = [(total, cell) for cell, total in cost.items()]
    heapq.heapify(queue)
    while queue:
        total, cell = heapq.heappop(queue)
        for near in layout.neighbours[cell]:
            if near in price and total + price[near] < cost.get(near, CLOSED):
                cost[near] = total + price[near]
                heapq.heappush(queue, (cost[near], near))
    return [cost.get(cell, CLOSED) for cell in range(layout.cells)]


def fewest(game: ConnectionGame, stones: list[int], player: int) -> float:
    """The fewest stones with which a player wins: walks from all sides of its goal that end in one cell."""
    goal = game.layout.goals[player]
    ways = [walks(game, stones, player, side) for side in (1, 2, 4, 8) if goal & side]
    once = [(len(ways) - 1) * (owner == 0) for owner in stones]  # a free cell in which they meet
    ends = [sum(way[cell] for way in ways) - once[cell] for cell in range(len(stones))]
    return min(end for end, owner in zip(ends, stones, strict=True) if owner != 2 - player)


@every_board
def test_stones_to_win_are_those_of_a_slow_search(game: ConnectionGame) -> None:
    rng, lines, expected = random.Random(0), [], []
    for _ in range(60):
        free, black = rng.random(), rng.random()
        stones = [0 if rng.random() < free else 1 + (rng.random() > black) for _ in range(game.layout.cells)]
        if stones.count(0) == 0:
            continue
        codes = torch.tensor([stones], dtype=torch.int32)
        state = game.init(seeds(0, 1)).replace(codes=codes)
        for player in (0, 1):
            lines.append(game.observe(state, player))
            expected.append([min(fewest(game, stones, seat), CLOSED) for seat in (player, 1 - player)])
    assert stones_to_win(game, torch.cat(lines)).tolist() == expected


def chosen(game: ConnectionGame, position: str, times: int = 1) -> set[str]:
    """The moves of greedy."""
    agent = ConnectionGreedy()
    state = game.string_to_state(position)[torch.zeros(times, dtype=torch.int64)]
    player, envs = state.current_player, torch.arange(times)
    agent.start(game, player, envs)
    actions = agent.act(game.observe(state, player), game.legal_actions(state), envs, generator())
    return {game.action_to_string(action) for action in actions.tolist()}


def test_greedy_wins_at_once_or_stops_who_would() -> None:
    game = Hex(size=4, swap=False)
    assert chosen(game, "..x./.x../o.../.x.. b", 20) == {"b3"}
    assert chosen(game, "..x./.x../.x../o... w", 20) == {"b4"}
    assert chosen(game, "..x./.x../.x../.... w", 20) <= {"a4", "b4"}
    assert chosen(Y(size=3, swap=False), "xx./../. b", 20) <= {"c1", "b2"}


def test_greedy_takes_over_good_first_stones_and_begins_with_none() -> None:
    game = Hex(size=7)
    for cell, taken in (("d4", True), ("a1", False), ("g7", False), ("c5", True)):
        state = game.step(game.init(seeds(0, 1)), torch.tensor([game.string_to_action(cell)]))
        assert (chosen(game, game.state_to_string(state)) == {"swap-pieces"}) == taken
    first = chosen(game, game.state_to_string(game.init(seeds(0, 1))), 20)
    assert first
    assert not first & {"a1", "d4", "g7"}


def answers(game: ConnectionGame, seen: Tensor) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    network = ConnectionNetwork(game, Size(channels=8, layers=2))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    with torch.no_grad():
        logits, value, _ = network.forward(seen)
    return logits, value


def test_the_network_plays_both_colours_of_hex_alike() -> None:
    """A position with colours exchanged and mirrored has the same value and mirrored logits."""
    game = Hex(size=5)
    state = game.string_to_state("..x../.o.../..o../...x./..... b")
    other = game.string_to_state("...../.x.../o.x../...o./..... w")
    logits, value = answers(game, game.observe(state, 0))
    mirrored, same = answers(game, game.observe(other, 1))
    order = [*game.layout.mirrored, game.layout.cells]
    assert torch.allclose(mirrored[:, order], logits, atol=1e-5)
    assert torch.allclose(same, value, atol=1e-5)


def test_search_finds_the_winning_openings_of_a_small_board() -> None:
    """Known from all games (`test_connection_rules.py`), and with the swap the best first move is one that loses."""
    opening = UCTSearch(Hex(size=3, swap=False), 2000).run(Hex(size=3, swap=False).init(seeds(0, 1)), generator())
    assert Hex(size=3).action_to_string(int(opening.chosen)) in ("c1", "a2", "b2", "c2", "a3")
    game = Hex(size=3)
    for cell, taken in (("b2", True), ("a1", False)):
        state = game.step(game.init(seeds(0, 1)), torch.tensor([game.string_to_action(cell)]))
        chosen = int(UCTSearch(game, 2000).run(state, generator()).chosen)
        assert (chosen == 9) == taken


@pytest.mark.parametrize("game", [Hex(size=5), Y(size=6)], ids=lambda game: game.title)
def test_trained_keeps_what_the_solver_wins_and_else_plays_by_its_network(game: ConnectionGame) -> None:
    state, rows = game.init(seeds(0, 40)), torch.arange(40)
    for action in random_openings(game, 40, 9, generator(1)).t():
        state = game.step(state, action)
    search = proof_search(game)
    won = search.solve(state) == 1
    assert 0 < won.sum() < 40, "for the test's sake"
    agent: Any = load_network(shipped(game), game).network.agent("network", sample=False)
    advised = AdvisedAgent(agent)
    advised.start(game, state.current_player, rows)
    actions = advised.act_on_state(state, rows, generator())
    after = game.step(state, actions)
    kept = after.done.clone()
    kept[~after.done] = search.solve(after[~after.done]) == -1
    assert kept[won].all()
    seen, legal = game.observe(state, state.current_player), game.legal_actions(state)
    assert torch.equal(actions[~won], agent.act(seen[~won], legal[~won], rows[~won], generator()))
