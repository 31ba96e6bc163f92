"""Agents of Hex, Y and Torus: what connections and rings cost against slow searches, and the moves of agents."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
import torus_reference as ref
from every_game import after_openings, ask, generator
from torch import Tensor

from cellgames.agents.connection import ConnectionGreedy
from cellgames.agents.connection.greedy import stones_to_win
from cellgames.agents.connection.walks import CLOSED, walk_planes
from cellgames.agents.networks.saved import load_network, shipped
from cellgames.agents.search import UCTSearch
from cellgames.agents.solving import proof_search
from cellgames.agents.solving.perfect import AdvisedAgent
from cellgames.agents.torus.greedy import TorusGreedy
from cellgames.agents.torus.greedy import stones_to_win as torus_stones_to_win
from cellgames.envs.connection import ConnectionGame, Hex, Y
from cellgames.envs.connection.board_tables import cell_places
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native

BOARDS: list[ConnectionGame] = [Hex(size=4), Y(size=5), Hex(size=3, tiling="octagons"), Y(size=4, tiling="octagons")]
every_board = pytest.mark.parametrize("game", BOARDS, ids=lambda game: f"{game.title}-{game.tiling}")


def walks(game: ConnectionGame, stones: list[int], player: int, side: int, bridges: bool = False) -> list[float]:
    """Free cells of the cheapest walk from a side to each cell, both ends counted, by Dijkstra's search."""
    layout, near = game.layout, game.layout.neighbours
    price = {cell: int(owner == 0) for cell, owner in enumerate(stones) if owner != 2 - player}

    def two_free(cells: set[int]) -> bool:
        return bridges and sum(price.get(cell) == 1 for cell in cells) > 1

    def begins(cell: int) -> bool:
        return bool(layout.sides[cell] & side) or two_free(
            {other for other in near[cell] if layout.sides[other] & side}
        )

    cost = {cell: price[cell] for cell in price if begins(cell)}
    queue = sorted((total, cell) for cell, total in cost.items())
    while queue:
        total, cell = heapq.heappop(queue)
        for other in price:
            leads_on = other in near[cell] or two_free({*near[cell]} & {*near[other]})
            if leads_on and total + price[other] < cost.get(other, CLOSED):
                cost[other] = total + price[other]
                heapq.heappush(queue, (cost[other], other))
    return [cost.get(cell, CLOSED) for cell in range(layout.cells)]


def fewest(game: ConnectionGame, stones: list[int], player: int) -> float:
    """The fewest stones with which a player wins: walks from all sides of its goal that end in one cell."""
    goal = game.layout.goals[player]
    ways = [walks(game, stones, player, side) for side in (1, 2, 4, 8) if goal & side]
    once = [(len(ways) - 1) * (owner == 0) for owner in stones]  # a free cell in which they meet
    ends = [sum(way[cell] for way in ways) - once[cell] for cell in range(len(stones))]
    return min(end for end, owner in zip(ends, stones, strict=True) if owner != 2 - player)


def random_boards(cells: int, count: int, most_free: int, seed: int = 0) -> list[list[int]]:
    """Boards of every density and majority that are not full."""
    rng = random.Random(seed)
    boards: list[list[int]] = []
    while len(boards) < count:
        free, black = rng.random(), rng.random()
        board = [0 if rng.random() < free else 1 + (rng.random() > black) for _ in range(cells)]
        if 0 < board.count(0) <= most_free:
            boards.append(board)
    return boards


@every_board
def test_stones_to_win_are_those_of_a_slow_search(game: ConnectionGame) -> None:
    lines, expected = [], []
    for stones in random_boards(game.layout.cells, 60, game.layout.cells):
        codes = torch.tensor([stones], dtype=torch.int32)
        state = game.init(seeds(0, 1)).replace(codes=codes)
        for player in (0, 1):
            lines.append(game.observe(state, player))
            expected.append([min(fewest(game, stones, seat), CLOSED) for seat in (player, 1 - player)])
    assert stones_to_win(game, torch.cat(lines)).tolist() == expected


@every_board
def test_planes_of_walks_are_those_of_a_slow_search(game: ConnectionGame) -> None:
    layout, expected, planes = game.layout, list[Tensor](), list[Tensor]()
    for stones in random_boards(layout.cells, 12, layout.cells):
        numbers = list[list[float]]()
        for player in (0, 1):
            goal = [side for side in (1, 2, 4, 8) if layout.goals[player] & side]
            ways = [walks(game, stones, player, side, bridges=True) for side in goal]
            price = [CLOSED if owner == 2 - player else int(owner == 0) for owner in stones]
            meet = [sum(costs) - (len(goal) - 1) * once for *costs, once in zip(*ways, price, strict=True)]
            numbers += [[cost / 2 for cost in way] for way in ways]
            numbers += [[cost - min(meet) for cost in meet], [min(meet) / 2] * layout.cells]
        expected.append(torch.exp2(-torch.tensor(numbers)))
        state = game.init(seeds(0, 1)).replace(codes=torch.tensor([stones], dtype=torch.int32))
        planes.append(game.observe(state, 0)[:, : 2 * layout.kinds])
    found = walk_planes(layout, torch.cat(planes))
    with without_native():
        assert torch.equal(walk_planes(layout, torch.cat(planes)), found)
    cells = found.unflatten(1, (-1, layout.kinds)).flatten(2)[:, :, cell_places(layout, torch.device("cpu"))]
    assert torch.allclose(cells, torch.stack(expected))


def chosen(game: ConnectionGame, position: str, times: int = 1) -> set[str]:
    """The moves of greedy."""
    state = game.string_to_state(position)[torch.zeros(times, dtype=torch.int64)]
    return {game.action_to_string(action) for action in ask(ConnectionGreedy(), game, state).tolist()}


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
    state, rows = after_openings(game, 40, 9)[0], torch.arange(40)
    search = proof_search(game)
    won = search.solve(state) == 1
    assert 0 < won.sum() < 40, "for the test's sake"
    agent: Any = load_network(shipped(game), game).network.agent("network", sample=False)
    actions = ask(AdvisedAgent(agent), game, state)
    after = game.step(state, actions)
    kept = after.done.clone()
    kept[~after.done] = search.solve(after[~after.done]) == -1
    assert kept[won].all()
    seen, legal = game.observe(state, state.current_player), game.legal_actions(state)
    assert torch.equal(actions[~won], agent.act(seen[~won], legal[~won], rows[~won], generator()))


def observe(boards: Sequence[list[int]], size: int, player: int) -> Tensor:
    """What `player` sees of boards of any stones, int8 [L, 5, n, n]."""
    stones = torch.tensor(boards).view(-1, 2, size, size)
    colour = torch.full_like(stones[:, :1], player == 0)
    return torch.cat((stones == player + 1, stones == 2 - player, colour), dim=1).to(torch.int8)


def cheapest_walk(board: list[int], size: int, player: int, most_windings: int = 4) -> int:
    """Free cells of the cheapest winning closed walk, by Dijkstra's search on the unrolled board."""
    price = {
        ref.cell_of(i, size): 0 if stone == player + 1 else 1 for i, stone in enumerate(board) if stone != 2 - player
    }
    best = CLOSED
    for start in price:
        if start.kind == "square" or (start.row, start.col)[player] != 0:
            continue
        cost = {(start, 0, 0): 0}
        queue = [(0, (start, 0, 0))]
        while queue:
            total, here = heapq.heappop(queue)
            cell, x, y = here
            if total > cost[here] or total >= best:
                continue
            if cell == start and (x, y) != (0, 0) and ref.owner_of_class(x, y) == player:
                best = total
            for other, dx, dy in ref.neighbours(cell, size):
                there = (other, x + dx, y + dy)
                if other not in price or max(abs(there[1]), abs(there[2])) > most_windings:
                    continue
                if total + price[other] < cost.get(there, CLOSED):
                    cost[there] = total + price[other]
                    heapq.heappush(queue, (cost[there], there))
    return best


@pytest.mark.parametrize(("size", "count", "most_free"), [(2, 400, 8), (3, 150, 11)])
def test_stones_to_win_of_torus_is_the_true_number_on_small_boards(size: int, count: int, most_free: int) -> None:
    boards = random_boards(2 * size * size, count, most_free)
    truth = [[ref.min_stones_to_win(board, player, size) for player in (0, 1)] for board in boards]
    expected = torch.tensor([[CLOSED if stones is None else stones for stones in pair] for pair in truth])
    for player in (0, 1):
        found = torus_stones_to_win(observe(boards, size, player)).int().clamp(max=CLOSED)
        assert torch.equal(found, expected.flip(1) if player else expected)


@pytest.mark.parametrize("size", [4, 5, 6])
def test_stones_to_win_of_torus_is_the_cheapest_walk_on_larger_boards(size: int) -> None:
    boards = random_boards(2 * size * size, 12, 2 * size * size, size)
    found = torus_stones_to_win(observe(boards, size, 0)).int().clamp(max=CLOSED).tolist()
    assert found == [[cheapest_walk(board, size, player) for player in (0, 1)] for board in boards]


# Black has the ring of column b but for one octagon; White has nothing near.
RING = """
. B . .
 . . W .
. B . .
 . . . .
. . . W
 W . . .
. B . .
 . . . .
"""


def choose(board: list[int], size: int, player: int, times: int = 1) -> set[int]:
    observation = observe([board] * times, size, player)
    mask = torch.tensor([board] * times) == 0
    return set(TorusGreedy().act(observation, mask, torch.arange(times), generator()).tolist())


@pytest.mark.parametrize("player", [0, 1])
def test_greedy_torus_wins_at_once_and_blocks_at_once(player: int) -> None:
    board, size = ref.board_from_text(RING)
    if player:  # the same for White: a bracelet
        board = ref.move_board(board, lambda cell: ref.rotate90(cell, size), swap_colours=True)
    assert torus_stones_to_win(observe([board], size, player))[0, 0] == 1
    win = choose(board, size, player, times=20)
    assert len(win) == 1
    board[win.pop()] = player + 1
    assert ref.winner(board, size) == player
    board, _ = ref.board_from_text(RING)
    gap = 2 * size + 1
    assert choose(board, size, 1, times=20) == {gap}


def test_in_torus_winning_comes_before_blocking() -> None:
    board, size = ref.board_from_text("""
    . B W .
     . . . .
    . B W .
     . . . .
    . . . .
     . . . .
    W B W W
     . . . .
    """)
    assert choose(board, size, 0) == {2 * size + 1}
    board[3 * size + 1] = 0  # now White is one from a bracelet, Black two from the ring
    assert choose(board, size, 0) == {3 * size + 1}
    assert choose(board, size, 1) == {3 * size + 1}
