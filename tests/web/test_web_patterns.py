"""The patterns that the page offers are what their names say, by a simulator of the tests' own."""

from __future__ import annotations

import pytest
from life_reference import Cell, next_cells

import cellgames
from cellgames.web.views import view_of
from cellgames.web.views.patterns import GROUPS, patterns

OFFERED = {
    group["group"]: {one["name"]: {(row, col) for row, col in one["cells"]} for one in group["patterns"]}
    for group in patterns()
}
SIZE = 700


def lived(cells: set[Cell], generations: int) -> set[Cell]:
    """A pattern in the middle of an empty board, so many generations later; its own box began at (0, 0)."""
    now = {(row + SIZE // 2, col + SIZE // 2) for row, col in cells}
    for _ in range(generations):
        now = next_cells(now, SIZE, SIZE)
    return {(row - SIZE // 2, col - SIZE // 2) for row, col in now}


def test_all_groups_are_offered_from_their_corner() -> None:
    assert {group: tuple(found) for group, found in OFFERED.items()} == GROUPS
    for found in OFFERED.values():
        for cells in found.values():
            assert min(row for row, _ in cells) == min(col for _, col in cells) == 0


@pytest.mark.parametrize("name", OFFERED["Still lifes"])
def test_still_lifes_stay(name: str) -> None:
    cells = OFFERED["Still lifes"][name]
    assert lived(cells, 1) == cells


_OSCILLATORS = {
    "blinker": (2, 3),
    "toad": (2, 6),
    "beacon": (2, 6),
    "clock": (2, 6),
    "figure eight": (8, 12),
    "pentadecathlon": (15, 12),
    "pulsar": (3, 48),
}


@pytest.mark.parametrize(("name", "period", "fewest"), [(name, *told) for name, told in _OSCILLATORS.items()])
def test_oscillators_come_back(name: str, period: int, fewest: int) -> None:
    cells = OFFERED["Oscillators"][name]
    assert next(later for later in range(1, 61) if lived(cells, later) == cells) == period
    assert len(cells) == fewest


_SPACESHIPS = {
    "glider": 5,
    "lightweight spaceship": 9,
    "middleweight spaceship": 11,
    "heavyweight spaceship": 13,
}


@pytest.mark.parametrize(("name", "fewest"), _SPACESHIPS.items())
def test_spaceships_move(name: str, fewest: int) -> None:
    cells = OFFERED["Spaceships"][name]
    later = lived(cells, 4)
    top, left = (min(axis) for axis in zip(*later, strict=True))
    assert (top, left) != (0, 0)
    assert {(row - top, col - left) for row, col in later} == cells
    assert len(cells) == fewest


@pytest.mark.parametrize(
    ("name", "generations", "left"),
    [("die hard", 130, 0), ("B-heptomino", 148, 28), ("Pi-heptomino", 173, 55), ("R-pentomino", 1103, 116)],
)
def test_methuselahs_leave_as_many_cells_as_they_are_known_to(name: str, generations: int, left: int) -> None:
    assert len(lived(OFFERED["Methuselahs"][name], generations)) == left


def test_games_without_free_cells_offer_no_patterns() -> None:
    assert view_of(cellgames.make("cloth-of-gold-v0")).patterns() == patterns()
    for id in ("torus-v0", "toroidal-cup-v0", "grid-adaptation-v0"):
        assert view_of(cellgames.make(id)).patterns() == []
