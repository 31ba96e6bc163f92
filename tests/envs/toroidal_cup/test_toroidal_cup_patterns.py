"""The 16 patterns of the Toroidal Cup: a thousand starts of each, and the published ones, beside a slow reference.

`toroidal_cup_patterns_reference` draws from the same rules by other code. Starts look alike if the means of all their
`numbers` are the same.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import CUP_DATA
from refusals import refused
from slow import slow_except
from toroidal_cup_patterns_reference import alike, boards, drawn, numbers

from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS, arrange
from cellgames.envs.toroidal_cup.patterns.stamped import deal
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ORIENTATIONS, ROWS, STAMPS, lay, orient

DATA = CUP_DATA
SEEDS = range(1000)

Start = tuple[NDArray[np.int64], NDArray[np.int64]]


@cache
def published() -> dict[str, list[Start]]:
    starts = defaultdict(list)
    with gzip.open(DATA / "recorded_games.jsonl.gz", "rt") as lines:
        for game in map(json.loads, lines):
            starts[game["pattern"]].append((np.array(game["team_1"]), np.array(game["team_2"])))
    return starts


@cache
def expected(pattern: str) -> NDArray[np.float64]:
    return numbers(drawn(pattern, len(SEEDS)))


some_patterns = pytest.mark.parametrize("pattern", slow_except(["randys", "bigsegment"], PATTERNS))


@some_patterns
def test_a_thousand_starts_look_like_those_of_the_reference(pattern: str) -> None:
    starts = (arrange(pattern, np.random.default_rng(seed)) for seed in SEEDS)
    assert alike(expected(pattern), numbers(boards([[*map(np.array, start)] for start in starts]))).all()


@pytest.mark.skipif(not DATA.exists(), reason="the Cup's data is not here")
@some_patterns
def test_the_published_starts_look_like_those_of_the_reference(pattern: str) -> None:
    """So do their single numbers: of 1,000 random draws with these, one may be the least or the largest."""
    ours, theirs = expected(pattern), numbers(boards(published()[pattern]))
    assert alike(ours, theirs).all()
    assert ((theirs < ours.min(0) - 1e-6) | (theirs > ours.max(0) + 1e-6)).mean() < 0.01


@some_patterns
def test_a_start_holds_what_was_drawn_less_what_both_teams_claim(pattern: str) -> None:
    starts = set()
    for seed in SEEDS:
        first, second = arrange(pattern, np.random.default_rng(seed))
        mine, theirs = (set(cells.tolist()) for cells in PATTERNS[pattern].draw(np.random.default_rng(seed)))
        assert first == sorted(mine - theirs)  # ascending, each cell once
        assert second == sorted(theirs - mine)
        assert all(type(cells[0]) is int and cells[0] >= 0 and cells[-1] < ROWS * COLS for cells in (first, second))
        starts.add((tuple(first), tuple(second)))
    assert len(starts) == len(SEEDS), "different seeds, the same start"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_generator_is_consumed_and_its_state_decides(pattern: str) -> None:
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    first = arrange(pattern, one)
    assert first == arrange(pattern, other)
    assert one.bit_generator.state == other.bit_generator.state
    assert first != arrange(pattern, one)


def test_dealing_shuffles_then_sorts_then_goes_1_2_2_1() -> None:
    generator = np.random.default_rng(0)
    sizes = np.array([3, 9, 5, 7, 5, 2])
    teams = {tuple(deal(generator, sizes).tolist()) for _ in range(100)}
    assert teams == {(0, 0, 1, 1, 0, 1), (0, 0, 0, 1, 1, 1)}  # 9 7 5 5 3 2: the fives differ in who is first


@pytest.mark.skipif(not DATA.exists(), reason="the Cup's data is not here")
def test_names_zones_and_stamps_are_those_of_the_cup() -> None:
    maps = json.loads((DATA / "maps.json").read_text())
    assert {name: list(rows) for name, rows in STAMPS.items()} == maps["stamps"]
    facts = [(p.name, p.title, *p.zones) for p in PATTERNS.values()]
    keys = ("patternName", "mapName", *(f"mapZone{zone}Name" for zone in range(1, 5)))
    assert facts == [tuple(entry[key] for key in keys) for entry in maps["maps"]]
    assert maps["grid"] == {"rows": ROWS, "cols": COLS}
    assert all(
        p.description and p.description not in {m["mapDescription"] for m in maps["maps"]} for p in PATTERNS.values()
    )


def test_orientations_are_turned_clockwise_and_mirrored_first() -> None:
    drawings = [
        ["oo.", "..o"],
        [".o", ".o", "o."],
        ["o..", ".oo"],
        [".o", "o.", "o."],
        [".oo", "o.."],
        ["o.", ".o", ".o"],
        ["..o", "oo."],
        ["o.", "o.", ".o"],
    ]
    boards = [np.array([[cell == "o" for cell in row] for row in drawing]) for drawing in drawings]
    assert len(boards) == ORIENTATIONS
    for orientation, expected in enumerate(boards):
        assert np.array_equal(orient(boards[0], orientation), expected)
    with refused("orientation", "8"):
        orient(boards[0], 8)


def test_stamps_wrap_around_the_torus() -> None:
    row, col, stamp = lay(["rpentomino", "piheptomino"], np.array([0, 0]), np.array([0, 100]), np.array([0, 39]))
    places = list(zip(stamp.tolist(), row.tolist(), col.tolist(), strict=True))
    assert places[:5] == [(0, 39, 0), (0, 39, 1), (0, 0, 279), (0, 0, 0), (0, 1, 0)]
    assert places[5:] == [(1, 38, 99), (1, 38, 100), (1, 38, 101), (1, 39, 99), (1, 39, 101), (1, 0, 99), (1, 0, 101)]
