"""Openings: alike up to symmetry, counted by hand, forced ones apart; what an opening is in each game."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from strategy_records import a_game

import cellgames
from cellgames.arena.analyse import life_readers as shapes
from cellgames.arena.analyse.life_readers import ClothReader, CupReader, GridReader
from cellgames.arena.analyse.openings import Branch, find_openings
from cellgames.arena.analyse.reader import make_reader
from cellgames.arena.records.record_lines import Outcome

TORUS = cellgames.make("torus-v0", size=3)
CLOTH = cellgames.make("cloth-of-gold-v0", height=16, width=16)
GRID = cellgames.make("grid-adaptation-small-v0")
CUP = cellgames.make("toroidal-cup-small-v0")


def turned(cell: int, size: int, down: int, right: int, half: bool) -> int:
    """A cell after a half turn around octagon a1, perhaps, and a translation; in half rows, as on paper."""
    kind, place = divmod(cell, size * size)
    y, x = 2 * (place // size) + kind, 2 * (place % size) + kind
    if half:
        y, x = -y, -x
    row, col = ((value + 2 * step) // 2 % size for value, step in ((y, down), (x, right)))
    return kind * size * size + row * size + col


def least(cells: Sequence[int], size: int) -> list[int]:
    """By trying all."""
    ways = itertools.product(range(size), range(size), (False, True))
    return min([turned(cell, size, *way) for cell in cells] for way in ways)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_openings_of_torus_are_alike_if_translations_and_half_turns_make_them_so(size: int) -> None:
    game = cellgames.make("torus-v0", size=size)
    reader, chance = make_reader(game), random.Random(size)
    for _ in range(60):
        cells = chance.sample(range(2 * size * size), 4)
        assert reader.canonical(cells) == least(cells, size)


def test_what_begins_a_canonical_opening_is_canonical() -> None:
    reader = make_reader(TORUS)
    for cells in itertools.islice(itertools.permutations(range(18), 3), 0, None, 37):
        whole = reader.canonical(cells)
        assert [reader.canonical(cells[:length]) for length in (1, 2)] == [whole[:1], whole[:2]]


GAMES = [
    a_game(TORUS, ("a1", "b1", "c3", "a2"), ("x", "y"), ("win", "loss")),
    a_game(TORUS, ("b2", "c2", "a1", "b3"), ("y", "x"), ("loss", "win")),  # the first one, one cell down and right
    a_game(TORUS, ("a1", "b2", "c3+", "a2"), ("x", "y"), ("win", "loss")),
    a_game(TORUS, ("c3+", "a1", "b1", "b2"), ("y", "x"), ("win", "loss")),
    a_game(TORUS, ("c3", "a3", "c2", "c1"), ("x", "y"), ("loss", "win"), opening=2),  # begins as the first one does
]


def branch(name: str, *, forced: bool = False) -> Branch:
    (found,) = (b for b in find_openings(TORUS, GAMES).branches if (b.name, b.forced) == (name, forced))
    return found


def test_openings_are_counted_with_the_score_of_who_made_the_last_step() -> None:
    first, answer = branch("a1"), branch("a1, b1")
    assert (first.seat, first.times) == (0, 3)
    assert first.score == pytest.approx(2 / 3)
    assert (answer.seat, answer.times, answer.score) == (1, 2, 0.5)
    assert first.agents == {"x": 2, "y": 1}
    assert (branch("a1+").times, branch("a1+").agents, branch("a1+").score) == (1, {"y": 1}, 1.0)
    # The same agents in the same seats: x won two of its three games as Black, y one of its two.
    assert first.usual == pytest.approx((2 * (2 / 3) + 1 / 2) / 3)


def test_forced_steps_are_counted_apart_and_chosen_by_nobody() -> None:
    forced = branch("a1, b1", forced=True)
    assert (forced.times, forced.score, forced.agents) == (1, 1.0, {})
    found = find_openings(TORUS, GAMES)
    assert (found.openings, found.forced) == (5, 1)
    assert [(b.name, b.times) for b in found.firsts if len(b.steps) == 1] == [("a1", 3), ("a1+", 1)]
    assert sorted(len(b.steps) for b in found.firsts) == [1, 1, 3]


def test_in_larger_games_the_score_is_the_share_of_seats_left_behind() -> None:
    outcome: list[Outcome] = ["win", "draw", "draw", "loss"]
    move = "r0c0,r0c1,r0c2 r4c4,r4c5,r4c6 r4c3,r5c3,r6c3 r8c8,r2c2,r5c5"
    record = a_game(GRID, [move], ("w", "x", "y", "z"), outcome, scores=(9, 4, 4, 1))
    branches = {b.name: b for b in find_openings(GRID, [record]).branches}
    assert branches["ooo"].times == 3
    assert branches["ooo"].score == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert branches["3 tiles apart"].score == 0


def test_shapes_are_the_same_however_they_are_turned_and_wherever_they_lie() -> None:
    glider = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    forms = {shapes.canonical(glider)}
    for turn in range(4):
        glider = [(col, -row) for row, col in glider]
        forms |= {shapes.canonical([(row + 7, col - 3) for row, col in glider])}
        forms |= {shapes.canonical([(row, -col) for row, col in glider])}
        assert shapes.named(glider) == "glider", turn
    assert len(forms) == 1
    assert shapes.named([(5, 5)]) == "cell"
    assert shapes.named([(0, 0), (2, 1)]) == "o../..o"
    assert shapes.shape_text(shapes.canonical([(0, 0), (1, 0), (2, 0)])) == "ooo"


def test_an_opening_of_cloth_of_gold_is_shapes_without_what_was_taken_back() -> None:
    first = ["r2c2", "r2c3", "r9c9", "r3c2", "r9c9", "r3c3", "end"]
    answer = ["r12c12", "r12c13", "r12c14", "r5c10", "end"]
    reader = ClothReader(CLOTH)
    record = a_game(CLOTH, [*first, *answer, "r4c4", "end"], ("x", "y"), ("win", "loss"))
    (opening,) = reader.openings(record)
    assert opening.steps == ("block", "blinker + cell")
    assert (opening.seats, opening.forced) == ((0, 1), 0)
    turns = list(reader.turns(record))
    assert [(turn.seat, turn.round, len(turn.cells)) for turn in turns] == [(0, 0, 4), (1, 0, 4), (0, 1, 1)]


def test_an_opening_of_grid_adaptation_is_the_shape_of_the_first_tiles_and_their_place() -> None:
    moves = ["r4c4,r4c5,r3c4 r0c0,r0c1 none r8c0,none,r7c0+r6c0/buy", "none none none r1c1"]
    record = a_game(GRID, moves, "wxyz", ("draw",) * 4)
    openings = list(GridReader(GRID).openings(record))
    assert [opening.steps for opening in openings] == [
        ("oo/o.", "in the middle"),
        ("oo", "at the edge"),
        ("nothing",),
        ("ooo", "at the edge"),
    ]
    assert [opening.seats[0] for opening in openings] == [0, 1, 2, 3]


def test_an_opening_of_the_cup_is_the_first_column_and_the_way_to_the_second_shape() -> None:
    record = a_game(CUP, ["r2c6/3 r6c2/0", "r22c10/1 r6c6/2", "r2c2/0 r2c2/0"], ("x", "y"), ("win", "loss"))
    first, second = CupReader(CUP).openings(record)
    assert first.steps == ("column 6/3", "-4 rows, +4 columns/1")  # rows wrap: 22 is 4 above 2 of 24
    assert second.steps == ("column 2/0", "+0 rows, +4 columns/2")
