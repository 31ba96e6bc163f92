"""The 16 patterns of the Toroidal Cup: 400 starts of each, and the published ones, beside a slow reference.

`toroidal_cup_patterns_reference` draws from the same rules by other code. Starts look alike if the means of all their
`numbers` are the same.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from life_reference import board_of, live_cells
from numpy.typing import NDArray
from paths import CUP_DATA as DATA
from slow import slow_except
from toroidal_cup_patterns_reference import alike, boards, drawn, numbers

from cellgames.envs.core.drawing import Text
from cellgames.envs.toroidal_cup import PATTERNS, Roster, arrange, rendering, simulate
from cellgames.envs.toroidal_cup.patterns.stamped import deal
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ORIENTATIONS, ROWS, STAMPS, lay, orient
from cellgames.envs.toroidal_cup.roster import FIRST_NAMES, LAST_NAMES, held_by_quadrant
from cellgames.envs.toroidal_cup.simulator import boards as packed

SEEDS = range(400)

needs_published = pytest.mark.skipif(not DATA.exists(), reason="the Cup's data is not here")


@cache
def published() -> list[dict[str, Any]]:
    """The recorded games."""
    with gzip.open(DATA / "recorded_games.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def expected(pattern: str) -> NDArray[np.float64]:
    return numbers(drawn(pattern, len(SEEDS)))


some_patterns = pytest.mark.parametrize("pattern", slow_except(["randys", "bigsegment"], PATTERNS))


@some_patterns
def test_hundreds_of_starts_look_like_those_of_the_reference(pattern: str) -> None:
    starts = (arrange(pattern, np.random.default_rng(seed)) for seed in SEEDS)
    assert alike(expected(pattern), numbers(boards([[*map(np.array, start)] for start in starts]))).all()


@needs_published
@some_patterns
def test_the_published_starts_look_like_those_of_the_reference(pattern: str) -> None:
    """So do their single numbers: of 400 random draws with these, one may be the least or the largest."""
    starts = [
        [np.array(game[team]) for team in ("team_1", "team_2")] for game in published() if game["pattern"] == pattern
    ]
    ours, theirs = expected(pattern), numbers(boards(starts))
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


@needs_published
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


def test_stamps_wrap_around_the_torus() -> None:
    row, col, stamp = lay(["rpentomino", "piheptomino"], np.array([0, 0]), np.array([0, 100]), np.array([0, 39]))
    places = list(zip(stamp.tolist(), row.tolist(), col.tolist(), strict=True))
    assert places[:5] == [(0, 39, 0), (0, 39, 1), (0, 0, 279), (0, 0, 0), (0, 1, 0)]
    assert places[5:] == [(1, 38, 99), (1, 38, 100), (1, 38, 101), (1, 39, 99), (1, 39, 101), (1, 0, 99), (1, 0, 101)]


@pytest.mark.parametrize(("rows", "cols"), [(ROWS, COLS), (160, 170)])
def test_every_square_has_a_player_of_its_own(rows: int, cols: int) -> None:
    """27,200 squares are more than there are names without a numeral."""
    owls, kites = Roster("Owls", rows, cols), Roster("Kites", rows, cols)
    names = [owls.player(row, col) for row in range(rows) for col in range(cols)]
    assert len(set(names)) == rows * cols
    assert owls.player(rows + 1, -1) == owls.player(1, cols - 1)
    assert sum(owls.player(0, col) == kites.player(0, col) for col in range(cols)) < 5
    assert owls.names >= rows * cols
    assert len(set(FIRST_NAMES)) * len(set(LAST_NAMES)) == len(FIRST_NAMES) * len(LAST_NAMES) == 26_624


def test_quadrants_go_clockwise_from_the_upper_left() -> None:
    zones = PATTERNS["donutrandom"].zones
    assert [zone.split()[0] for zone in zones] == ["northwest", "northeast", "southeast", "southwest"]
    board = packed([arrange("donutrandom", np.random.default_rng(0))], ROWS, COLS)[0].numpy()
    counted = [[0] * 2 for _ in range(4)]
    for row, col in np.argwhere(board).tolist():
        counted[(0, 1, 3, 2)[2 * (2 * row >= ROWS) + (2 * col >= COLS)]][board[row, col] - 1] += 1
    assert held_by_quadrant(board, 2) == counted
    assert sum(map(sum, counted)) == 1344


def test_pictures_and_texts_show_quadrants_and_players() -> None:
    board = np.zeros((8, 12), np.int8)
    board[5, 9], board[7, 1] = 1, 1
    zones = ("cha-cha", "scuffle", "kerfuffle", "tussle")
    plain = rendering.View(board, ("Owls", "Kites"), "a game", ("", ""), queues=((), ()))
    view = rendering.View(**{**vars(plain), "zones": zones})
    player = Roster("Owls", 8, 12).player(5, 9)
    lines = [
        "quadrants: cha-cha 0:0, scuffle 0:0, kerfuffle 1:0, tussle 1:0",
        f"topmost players: 1 {player} in r5c9, 2 nobody",
    ]
    assert view.lines() == [*plain.lines(), *lines]
    assert view.text().splitlines()[-2:] == lines
    assert [shape.text for shape in view.draw().shapes if isinstance(shape, Text)][3:5] == lines


@needs_published
@pytest.mark.parametrize("some", [pytest.param(False, marks=pytest.mark.slow), True], ids=["all", "some"])
def test_published_games_end_as_they_did(some: bool) -> None:
    games = sorted(published(), key=lambda game: int(game["generations"]))
    assert len(games) == 332
    if some:  # of the shorter half, since eagerly a long game takes a second
        games = games[: len(games) // 2 : 7]
    result = simulate([[game["team_1"], game["team_2"]] for game in games])
    assert result.scores.tolist() == [[game["score_1"], game["score_2"]] for game in games]
    assert result.generations.tolist() == [game["generations"] for game in games]
    assert not result.truncated.any()
    assert result.winner.tolist() == [1 if game["score_1"] > game["score_2"] else 2 for game in games]


def cases(name: str) -> list[Any]:
    """One parameter a case of a file; none where it is absent."""
    path = DATA / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [pytest.param(case, id=case["name"]) for case in found]


@needs_published
@pytest.mark.parametrize("case", cases("random_starts") + cases("crafted_edge_cases"))
def test_published_trajectories_are_reproduced(case: dict[str, Any]) -> None:
    asked = sorted({int(at) for at in (*case["cells"], *case["counts"])})
    result = simulate(
        [case["init"]],
        case["rows"],
        case["cols"],
        max_generations=case["max_generations_run"],
        keep=asked,
        trajectory=True,
    )
    assert result.truncated.tolist() == [not case["stopped"]]
    assert result.generations.tolist() == [case["last_generation"]]
    assert result.scores.tolist() == [case["final_counts"]]
    if case["stopped"]:
        assert result.winner.tolist() == [case["winner"]]
        assert case["stop_generation"] == case["last_generation"]
    assert live_cells(result.board[0]) == board_of(case["final_cells"], case["cols"])
    for at, cells in case["cells"].items():
        assert live_cells(result.boards[int(at)][0]) == board_of(cells, case["cols"]), at
    assert result.trajectory is not None
    trajectory = result.trajectory[0].tolist()
    for at, counts in case["counts"].items():
        assert trajectory[int(at)] == counts, at
    if "count_trajectory" in case:
        assert trajectory == case["count_trajectory"]
