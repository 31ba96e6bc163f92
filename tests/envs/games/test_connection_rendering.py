"""Pictures of Hex and Y: cells, sides, the way that won, an analysis, and text."""

from __future__ import annotations

from collections import Counter
from math import dist

import pytest
import torch
from refusals import refused

from cellgames.envs.connection import ConnectionGame, ConnectionState, Hex, Y
from cellgames.envs.connection.rendering import sides
from cellgames.envs.core import seeds
from cellgames.envs.core.drawing import Circle, Inset, Notes, Picture, Polygon, Polyline, Text

BOARDS: list[ConnectionGame] = [Hex(size=4), Hex(size=3, tiling="octagons"), Y(size=4), Y(size=4, tiling="octagons")]
every_board = pytest.mark.parametrize("game", BOARDS, ids=lambda game: f"{game.title}-{game.tiling}")


def board_of(picture: Picture) -> Picture:
    (inset,) = (shape for shape in picture.shapes if isinstance(shape, Inset))
    if any(isinstance(shape, Inset) for shape in inset.picture.shapes):
        return board_of(inset.picture)
    return inset.picture


def played(game: ConnectionGame, *names: str) -> ConnectionState:
    state = game.init(seeds(0, 1))
    for name in names:
        state = game.step(state, torch.tensor([game.string_to_action(name)]))
    return state


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
    state = played(game, "c1")
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
