"""Hex and Y against a slow reference, OpenSpiel, published facts, and drawn boards."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from math import dist
from typing import Any

import connection_reference as ref
import pytest
import torch
from refusals import refused

from cellgames.envs.connection import ConnectionGame, Hex, Y
from cellgames.envs.connection.rendering import sides, winning_path
from cellgames.envs.core import seeds
from cellgames.envs.core.drawing import Circle, Inset, Notes, Picture, Polygon, Polyline, Text

BOARDS: list[ConnectionGame] = [
    Hex(size=2, swap=False),
    Hex(size=5),
    Hex(size=2, tiling="octagons", swap=False),
    Hex(size=4, tiling="octagons"),
    Y(size=2),
    Y(size=6, swap=False),
    Y(size=2, tiling="octagons", swap=False),
    Y(size=5, tiling="octagons"),
]
every_board = pytest.mark.parametrize("game", BOARDS, ids=lambda game: f"{game.title}-{game.tiling}-{game.size}")


def start(game: ConnectionGame, games: int = 1) -> Any:
    return game.init(seeds(0, games))


@every_board
def test_games_go_as_in_the_slow_reference(game: ConnectionGame) -> None:
    """In random games, move by move: the cells, their order, who wins when, and the swap."""
    rng, cells = random.Random(game.size), ref.cells_of(game.shape, game.tiling, game.size)
    assert cells == list(game.layout.spots)
    goals, swap = ref.goals(game.shape, cells), len(cells)
    for _ in range(6):
        state, stones = start(game), (set[ref.Cell](), set[ref.Cell]())
        turn = 0
        while not bool(state.done):
            free = [number for number, cell in enumerate(cells) if cell not in stones[0] | stones[1]]
            legal = free + [swap] * (game.swap and turn == 1)
            assert game.legal_actions(state)[0].nonzero().flatten().tolist() == legal
            action, player = rng.choice(legal), turn % 2
            if swap in legal and rng.random() < 0.5:
                action = swap
            if action == swap:
                (kind, row, col) = stones[0].pop()
                stones[1].add((kind, row, col) if game.shape == "triangle" else (kind, col, row))
            else:
                stones[player].add(cells[action])
            state = game.step(state, torch.tensor([action]))
            turn += 1
            owners = [1 * (cell in stones[0]) + 2 * (cell in stones[1]) for cell in cells]
            assert game.board(state)[0].tolist() == owners
            won = ref.has_won(stones[player], goals[player], game.tiling)
            assert bool(state.terminated) == won
        assert game.outcome(state)[0].tolist() == [1 - 2 * player, 2 * player - 1]
        assert state.rewards[0].tolist() == game.outcome(state)[0].tolist()


@every_board
def test_full_boards_have_one_winner(game: ConnectionGame) -> None:
    """The fast judge of full boards says who: on boards of every majority."""
    cells = game.layout.cells
    goals = ref.goals(game.shape, list(game.layout.spots))
    rng = random.Random(1)
    for _ in range(12):
        share = rng.random()
        owners = [1 + (rng.random() > share) for _ in range(cells)]
        won = [
            ref.has_won(
                {c for c, o in zip(game.layout.spots, owners, strict=True) if o == seat + 1}, goals[seat], game.tiling
            )
            for seat in (0, 1)
        ]
        assert sum(won) == 1
        state = game.string_to_state(game.state_to_string(start(game)))
        full = state.replace(codes=torch.tensor([owners], dtype=torch.int32))
        assert game.random_outcome(full, torch.Generator())[0].tolist() == [2 * won[0] - 1, 2 * won[1] - 1]
        assert winning_path(game.layout, owners, won.index(True))
        with refused("winner"):
            winning_path(game.layout, owners, won.index(False))


@cache
def winner(game: ConnectionGame, position: str) -> bool:
    state = game.string_to_state(position)
    if bool(game.winning_actions(state).any()):
        return True
    actions = game.defending_actions(state)[0].nonzero().flatten()
    after = game.step(state[torch.zeros(len(actions), dtype=torch.int64)], actions)
    return any(not winner(game, game.state_to_string(after[row])) for row in range(len(actions)))


def winning_openings(game: ConnectionGame) -> list[str]:
    cells = torch.arange(game.layout.cells)
    after = game.step(start(game, len(cells)), cells)
    return [
        game.action_to_string(cell)
        for cell in cells.tolist()
        if bool(after.done[cell]) or not winner(game, game.state_to_string(after[cell]))
    ]


def test_winning_openings_of_small_boards_of_hex_are_as_published() -> None:
    """HexWiki, "Swap": a1, b1 and their likes lose on all sizes, but b1 wins on 2 x 2. The short diagonal wins."""
    assert winning_openings(Hex(size=2, swap=False)) == ["b1", "a2"]
    assert winning_openings(Hex(size=3, swap=False)) == ["c1", "a2", "b2", "c2", "a3"]


@pytest.mark.parametrize("game", [Hex(size=2), Y(size=2, tiling="octagons")])
def test_who_may_swap_wins_small_boards(game: ConnectionGame) -> None:
    """Without a swap the first player wins every board; with it the second does, who takes over what wins."""
    plain = type(game)(game.size, game.tiling, swap=False)
    assert winner(plain, plain.state_to_string(start(plain)))
    for cell in range(game.layout.cells):
        state = game.step(start(game), torch.tensor([cell]))
        assert winner(game, game.state_to_string(state))


@every_board
def test_symmetries_keep_the_game(game: ConnectionGame) -> None:
    """The same game, moved, is the same at every step: masks, winners, and what is seen."""
    generator, which = torch.Generator().manual_seed(2), torch.arange(game.symmetries)
    numbers = torch.arange(game.info.num_actions).expand(len(which), -1)
    state = start(game, len(which))
    # What stands at `action` after the move came from `source`: where a cell goes to is the inverse.
    goes = game.transform(game.observe(state, 0), numbers, which)[1].argsort(1)
    first = state[:1]
    while not bool(first.done):
        action = game.random_actions(first, generator)
        first, state = game.step(first, action), game.step(state, goes[:, int(action)])
        seen, mask = game.observe(first, 0).expand(len(which), -1, -1, -1), game.legal_actions(first)
        moved, masks = game.transform(seen, mask.expand(len(which), -1), which)
        assert torch.equal(moved, game.observe(state, 0))
        assert torch.equal(masks, game.legal_actions(state))
        assert (state.done == first.done).all()


def board_of(picture: Picture) -> Picture:
    (inset,) = (shape for shape in picture.shapes if isinstance(shape, Inset))
    if any(isinstance(shape, Inset) for shape in inset.picture.shapes):
        return board_of(inset.picture)
    return inset.picture


def words(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


@every_board
def test_cells_that_touch_share_an_edge_and_the_others_are_the_sides(game: ConnectionGame) -> None:
    """Each edge is drawn by both of its cells, or it is an outer one; sides go around the board in whole runs."""
    layout = game.layout
    edges: Counter[tuple[float, float]] = Counter()
    for cell in range(layout.cells):
        corners = layout.form.outline(cell)
        for place, near in enumerate(layout.rings[cell]):
            one, other = corners[place], corners[(place + 1) % len(corners)]
            middle = (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
            edges[round(middle[0], 6), round(middle[1], 6)] += 1
            if near is not None:
                assert dist(middle, layout.form.centre(cell)) == pytest.approx(
                    dist(layout.form.centre(cell), layout.form.centre(near)) - dist(middle, layout.form.centre(near))
                )
    outer = sides(layout)
    assert set(edges.values()) == {1, 2}
    assert sum(count == 1 for count in edges.values()) == len(outer)
    owners = {owner for _, _, owner in outer}
    assert owners == ({0} if game.shape == "triangle" else {1, 2})


def test_the_way_that_won_is_drawn() -> None:
    game = Hex(size=4, swap=False)
    won = game.string_to_state("..x./.x../.x../x..o w")
    lines = [s for s in board_of(game.draw(won)).shapes if isinstance(s, Polyline) and s.stroke == "#d55e00"]
    assert len(lines) == 3
    ends = {point for line in lines for point in line.points}
    names = {game.layout.name(cell) for cell in range(16) if game.layout.form.centre(cell) in ends}
    assert names == {"c1", "b2", "b3", "a4"}
    assert words(game.draw(won)) == ["Black wins, 5 turns"]


def test_an_analysis_is_drawn_on_the_cells_and_tells_of_the_swap() -> None:
    game = Hex(size=3)
    state = game.step(start(game), torch.tensor([game.string_to_action("c1")]))
    notes = Notes("White to move", {0: 0.5, 4: 0.1, 9: 0.4}, {0: "50", 9: "55"}, line=((0, 1), (9, 1), (4, 0)))
    picture = game.draw_annotated(state, notes)
    (inset,) = (shape for shape in picture.shapes if isinstance(shape, Inset))
    assert words(inset.picture) == ["White to move, swap-pieces 40 %"]
    board = board_of(picture)
    assert "50" in words(board)
    assert "55" not in words(board)
    fills = [shape.fill for shape in board.shapes if isinstance(shape, Polygon)]
    assert len({*fills}) == 4  # a stone, two shares, cells without
    assert sum(isinstance(shape, Circle) and shape.radius == 0.16 for shape in board.shapes) == 1
    with refused("notes", "some of [2]"):
        game.draw_annotated(state, Notes("", {2: 0.5}))
