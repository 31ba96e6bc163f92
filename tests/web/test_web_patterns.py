"""The patterns that the page offers are what their names say, by a simulator of the tests' own."""

from __future__ import annotations

import pytest
from life_reference import Cell, next_cells

from cellgames.web.views.patterns import patterns

OFFERED = {
    group["group"]: {one["name"]: {(row, col) for row, col in one["cells"]} for one in group["patterns"]}
    for group in patterns()
}
SIZE = 700
PERIODS = {
    **dict.fromkeys(OFFERED["Still lifes"], 1),
    **{"blinker": 2, "toad": 2, "beacon": 2, "clock": 2, "figure eight": 8, "pentadecathlon": 15, "pulsar": 3},
    **dict.fromkeys(OFFERED["Spaceships"], 4),
}
FEWEST = {"blinker": 3, "figure eight": 12, "pentadecathlon": 12, "pulsar": 48, "glider": 5}


def lived(cells: set[Cell], generations: int) -> set[Cell]:
    """A pattern in the middle of an empty board, so many generations later; its own box began at (0, 0)."""
    now = {(row + SIZE // 2, col + SIZE // 2) for row, col in cells}
    for _ in range(generations):
        now = next_cells(now, SIZE, SIZE)
    return {(row - SIZE // 2, col - SIZE // 2) for row, col in now}


@pytest.mark.parametrize("group", ["Still lifes", "Oscillators", "Spaceships"])
def test_patterns_come_back_after_their_periods(group: str) -> None:
    for name, cells in OFFERED[group].items():
        forms = []
        for generations in range(1, PERIODS[name] + 1):
            later = lived(cells, generations)
            top, left = (min(axis) for axis in zip(*later, strict=True))
            assert ((top, left) == (0, 0)) or generations < PERIODS[name] or group == "Spaceships"
            forms.append({(row - top, col - left) for row, col in later} == cells)
        assert forms.index(True) == PERIODS[name] - 1, name
        assert (lived(cells, 4) != cells) or group != "Spaceships"
        assert len(cells) == FEWEST.get(name, len(cells))


@pytest.mark.parametrize(("name", "generations", "left"), [("die hard", 130, 0), ("Pi-heptomino", 173, 55)])
def test_methuselahs_leave_as_many_cells_as_they_are_known_to(name: str, generations: int, left: int) -> None:
    assert len(lived(OFFERED["Methuselahs"][name], generations)) == left
