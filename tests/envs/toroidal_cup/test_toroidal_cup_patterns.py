"""The 16 patterns of the Toroidal Cup: a thousand starts of each, and the published ones, against the rule sheet.

`toroidal_cup_starts` reads a start back from its cells; `CHANCES` says what may be read, and how likely it is. What
the published games show must be allowed as well, so the table is that of the real Cup.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from itertools import combinations, product
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import CUP_DATA
from refusals import refused
from slow import slow_except
from toroidal_cup_shapes import ALL, FLIPS, Start, forms
from toroidal_cup_starts import METHUSELAHS, OSCILLATORS, READERS, formulas

from cellgames.envs.toroidal_cup.patterns import pattern as module
from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS, arrange
from cellgames.envs.toroidal_cup.patterns.stamped import deal
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ORIENTATIONS, ROWS, STAMPS, lay, orient

DATA = CUP_DATA
SEEDS = range(1000)

Chances = dict[str, dict[Any, float]]


def even(values: Iterable[Hashable]) -> dict[Any, float]:
    found = list(values)
    return {value: 1 / len(found) for value in found}


def about(reach: int) -> dict[Any, float]:
    return even(range(-reach, reach + 1))


def looks(stamp: str, orientations: tuple[int, ...]) -> dict[Any, float]:
    return {form.orientation: form.weight / len(orientations) for form in forms(stamp, orientations)}


def rows_chances(stamp: str, reach: int, jitter: int) -> Chances:
    return {"x": even(range(reach + 1)), "y": about(jitter), "orientation": looks(stamp, FLIPS)}


def fifths_chances(stamp: str) -> Chances:
    return {"x": about(8), "y": about(8), "orientation": looks(stamp, ALL), "team 1": even(combinations(range(4), 2))}


def quadrants_chances(stamps: Sequence[str]) -> Chances:
    counts = {(a, b): 1 / 9 if a == b else 2 / 9 for a in (2, 4, 6) for b in (2, 4, 6) if a <= b}
    chances = {"counts": counts, "pair": even(combinations(range(4), 2)), "y": about(3), "stamp": even(stamps)}
    return {
        **chances,
        **{f"x of {m}": about(13 - m) for m in (2, 4, 6)},
        **{stamp: looks(stamp, ALL) for stamp in stamps},
    }


def time_bomb_chances(oscillators: Sequence[str]) -> Chances:
    teams = {three: 0.5 / comb(6, 3) for three in combinations(range(6), 3)}
    for unshuffled in ((0, 1, 2), (3, 4, 5)):
        teams[unshuffled] += 0.25
    bombs = {f"bomb at {x}": even(product((0, 1), (False, True))) for x in (124, 248)}
    return {
        "team 1": teams,
        "team 1's bomb": even(((0,), (1,))),
        "x": about(1),
        "y": about(1),
        "stamp": even(oscillators),
        **bombs,
    }


def segments_chances(across: Sequence[int], down: Sequence[int], x: int) -> Chances:
    share = 1 / len(across) / len(down)
    same_row = 2 / 121  # the first and second of three lines, or the second and third
    lines: dict[Any, float] = {(a, d): share * (1 - same_row if a == 3 else 1) for a in across for d in down}
    lines |= {("two in a row", d): share * same_row for d in down}
    return {"lines": lines, "x": about(x), "y": about(5), "gap": even(range(4))}


STEPS: dict[Any, float] = {}
for _base, _jitter in product((10, 11, 12), range(-4, 5)):
    STEPS[_base + _jitter] = STEPS.get(_base + _jitter, 0.0) + 1 / 27

# Of two neighbours among the multums, 17 columns apart, for each of six pairs: same column, row, flip and team.
SAME_PLACE = 6 * (4 / 21**2) * (1 / 17) * (0.75**2 + 0.25**2) * (3 / 7)

CHANCES: dict[str, Chances] = {
    "crabdonuts": fifths_chances("crabstretcher"),
    "quadjustyna": fifths_chances("justyna"),
    "randys": rows_chances("rpentomino", 7, 12),
    "donutpi": rows_chances("piheptomino", 5, 10),
    "donutmethuselahs": quadrants_chances(METHUSELAHS),
    "donutcore": quadrants_chances(("switchengine",)),
    "donutmultums": {
        "shapes": {8: 1 - SAME_PLACE, 7: SAME_PLACE},
        "x": about(10),
        "y": about(8),
        "orientation": {0: 0.75, 6: 0.25},
        "team 1": even(combinations(range(8), 4)),
    },
    "donuttimebomb": time_bomb_chances(("quadrupleburloaferimeter",)),
    "donuttimebombredux": time_bomb_chances(OSCILLATORS),
    "doublegaussian": {"left team": even((1, 2)), "density": even(range(8))},
    "donutrandom": {"more above": even((False, True)), "more left": even((False, True))},
    "donutrandompartition": {"blocks": even(product((8, 10, 12, 14, 16), (1, 2, 4))), "density": even(range(5))},
    "bigsegment": segments_chances((1, 3), (1, 3, 5, 7, 9), 8),
    "randomsegment": segments_chances((1, 2, 3), range(1, 8), 5),
    "porchlights": {
        "thickness": even((1, 2, 3)),
        "upper team": even((1, 2)),
        "y": about(4),
        "above": even((2, 3)),
        "below": even((2, 3)),
        "side": even(("above", "below")),
        "first": even(range(4, 13)),
        "step": STEPS,
    },
    "donutmath": {"formula": {name: chance for name, chance, _ in formulas().values()}},
}


@cache
def published() -> dict[str, list[Start]]:
    starts = defaultdict(list)
    with gzip.open(DATA / "recorded_games.jsonl.gz", "rt") as lines:
        for game in map(json.loads, lines):
            starts[game["pattern"]].append((np.array(game["team_1"]), np.array(game["team_2"])))
    return starts


@cache
def drawn(pattern: str) -> list[Start]:
    """A start from each of `SEEDS`, before shared cells are taken away."""
    starts = (PATTERNS[pattern].draw(np.random.default_rng(seed), 2) for seed in SEEDS)
    return [(one, two) for one, two in starts]


def tally(pattern: str, starts: Iterable[Start]) -> dict[str, Counter[Any]]:
    seen: dict[str, Counter[Any]] = defaultdict(Counter)
    for start in starts:
        for what, value in READERS[pattern](start):
            seen[what][value] += 1
    return seen


def check(seen: dict[str, Counter[Any]], chances: Chances) -> None:
    """Only allowed values, each about as often as is likely: within 5 standard deviations, and 3 for small numbers."""
    for what, counts in seen.items():
        total = counts.total()
        assert set(counts) <= set(chances[what]), f"{what}: not allowed"
        for value, chance in chances[what].items():
            expected = total * chance
            slack = 5 * sqrt(expected * (1 - chance)) + 3
            assert abs(counts[value] - expected) <= slack, f"{what} {value}: {counts[value]}, expected {expected:.1f}"
            assert counts[value] or expected < 20, f"{what} {value} never drawn"


some_patterns = pytest.mark.parametrize(
    "pattern", slow_except(["crabdonuts", "randys", "bigsegment", "donutmath"], PATTERNS)
)


@some_patterns
def test_a_thousand_starts_obey_the_rule_of_their_pattern(pattern: str) -> None:
    seen = tally(pattern, drawn(pattern))
    assert set(seen) == set(CHANCES[pattern])
    check(seen, CHANCES[pattern])


@pytest.mark.skipif(not DATA.exists(), reason="the Cup's data is not here")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_published_starts_obey_the_same_rule(pattern: str) -> None:
    starts = published()[pattern]
    assert starts
    check(tally(pattern, starts), CHANCES[pattern])


@some_patterns
def test_a_start_holds_what_was_drawn_less_what_both_teams_claim(pattern: str) -> None:
    starts = set()
    for seed, (one, two) in zip(SEEDS, drawn(pattern), strict=True):
        first, second = arrange(pattern, np.random.default_rng(seed))
        mine, theirs = set(one.tolist()), set(two.tolist())
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


def test_blocks_of_a_partition_fill_evenly() -> None:
    """In the pattern of the whole board's height and 8 blocks, pooled by block and by column."""
    starts = [
        start for start in drawn("donutrandompartition") if ("blocks", (8, 1)) in READERS["donutrandompartition"](start)
    ]
    for team in (0, 1):
        cols = np.concatenate([start[team] for start in starts]) % COLS
        counts = np.bincount(cols, minlength=COLS).reshape(8, 35)
        assert (counts[1 - team :: 2] == 0).all()
        mean = counts[team::2].mean()
        assert abs(counts[team::2] - mean).max() < 5 * sqrt(mean)


@pytest.mark.parametrize("where", ["drawn", "published"])
def test_points_of_a_cloud_are_rounded_toward_zero(where: str) -> None:
    """So the top row takes what lies up to one cell above it too, and has more cells than the next ones."""
    if where == "published" and not DATA.exists():
        pytest.skip("the Cup's data is not here")
    starts = drawn("doublegaussian") if where == "drawn" else published()["doublegaussian"]
    rows = np.bincount(np.concatenate([cells for start in starts for cells in start]) // COLS, minlength=ROWS)
    assert rows[0] > 1.2 * rows[1]
    assert rows[0] > 1.2 * rows[-1]


def test_clouds_are_as_wide_as_the_rule_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def note(_: np.random.Generator, count: int, centre: int, spread_x: int, spread_y: int) -> NDArray[np.int64]:
        asked.append((count, centre, spread_x, spread_y))
        return np.arange(count)

    monkeypatch.setattr(module, "_cloud", note)
    generator = np.random.default_rng(0)
    for _ in SEEDS:
        module.gaussian(generator, 2)
    left, right = asked[::2], asked[1::2]
    assert {(a[1], b[1]) for a, b in zip(left, right, strict=True)} == {(93, 186)}
    assert [(a[0], *a[2:]) for a in left] == [(b[0], *b[2:]) for b in right]
    wide, high = Counter(28 * 10 // n for n in range(10, 17)), Counter(40 // n for n in range(3, 9))
    seen = {"x": Counter(std for _, _, std, _ in left), "y": Counter(std for *_, std in left)}
    check(seen, {"x": {n: k / 7 for n, k in wide.items()}, "y": {n: k / 6 for n, k in high.items()}})


def test_a_cloud_is_normal() -> None:
    """Few points at a time, so that hardly any are drawn twice; the middle is half a cell low by the rounding."""
    generator = np.random.default_rng(0)
    cells = np.concatenate([module._cloud(generator, 10, 93, 20, 6) for _ in SEEDS])
    for values, centre, std in ((cells % COLS, 93, 20), (cells // COLS, 20, 6)):
        assert abs(values.mean() + 0.5 - centre) < 5 * std / sqrt(len(cells))
        assert abs(values.std() / std - 1) < 5 / sqrt(2 * len(cells)) + 0.005


def test_dealing_shuffles_then_sorts_then_goes_1_2_2_1() -> None:
    generator = np.random.default_rng(0)
    sizes = np.array([3, 9, 5, 7, 5, 2])
    teams = {tuple(deal(generator, sizes, 2).tolist()) for _ in range(100)}
    assert teams == {(0, 0, 1, 1, 0, 1), (0, 0, 0, 1, 1, 1)}  # 9 7 5 5 3 2: the fives differ in who is first


@pytest.mark.parametrize("pattern", PATTERNS)
def test_more_than_two_teams_get_alike(pattern: str) -> None:
    """Every team has cells of its own in every start, and as many as the others on average."""
    teams = 8
    generator = np.random.default_rng(1)
    starts = [arrange(pattern, generator, teams) for _ in range(40)]
    for start in starts:
        assert len(start) == teams
        assert all(start)
        assert len(set().union(*start)) == sum(map(len, start)), "a cell of several teams"
    mean = [sum(len(start[team]) for start in starts) / len(starts) for team in range(teams)]
    assert max(mean) < 1.2 * min(mean)
    assert arrange(pattern, np.random.default_rng(2), teams) == arrange(pattern, np.random.default_rng(2), teams)


@pytest.mark.parametrize("pattern", ["randys", "donutpi"])
def test_more_than_two_teams_have_their_shapes_in_their_own_bands(pattern: str) -> None:
    for seed in SEEDS[:10]:
        start = arrange(pattern, np.random.default_rng(seed), 4)
        columns = [{(cell % COLS + 3) % COLS // (COLS // 4) for cell in cells} for cells in start]
        assert columns == [{0}, {1}, {2}, {3}]


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
