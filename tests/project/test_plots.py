"""Plots read by themselves: lines differ without colours, names do not overlap, shades show differences."""

from __future__ import annotations

import itertools

import pytest

import cellgames
from cellgames.envs.titles import board_title, setting_title
from cellgames.utils.report.plots import Curve, curves

figures = pytest.importorskip("matplotlib.figure")


def test_names_of_curves_stand_beside_their_ends_and_do_not_overlap() -> None:
    ends = (1.0, 1.01, 1.02, 3.0, 1.0, float("nan"))
    lines = [Curve(f"line {n}", (end - 0.5, end), (end - 1, end), (end, end)) for n, end in enumerate(ends)]
    figure = figures.Figure()
    curves(figure, "Title", (0, 10), [("part", lines)], "steps")
    figure.draw_without_rendering()
    names = {text.get_text(): text for text in figure.axes[0].texts}
    assert set(names) == {f"line {n}" for n in range(5)}  # the last one has no points
    heights = sorted(text.get_position()[1] for text in names.values())
    inches = figure.axes[0].get_window_extent().height / figure.dpi
    assert all(above - below > 8 / 72 / inches for below, above in itertools.pairwise(heights))  # of size 8
    assert names["line 3"].get_position()[1] == heights[-1]


@pytest.mark.parametrize(
    ("id", "parameters", "title"),
    [
        ("torus-v0", {"size": 4}, "Torus, size 4"),
        ("toroidal-cup-small-v0", {}, "Toroidal Cup, 24 x 48"),
        ("cloth-of-gold-small-v0", {}, "Cloth of Gold, 32 x 32"),
        ("grid-adaptation-small-v0", {}, "Grid Adaptation, size 9, 4 players"),
        ("grid-adaptation-talk-small-v0", {"players": 3}, "Grid Adaptation, size 9, 3 players"),
    ],
)
def test_titles_say_how_large_the_board_is(id: str, parameters: dict[str, int], title: str) -> None:
    assert board_title(cellgames.make(id, **parameters)) == title
    assert setting_title(id, parameters) == title


def test_a_game_that_is_not_installed_is_named_by_its_id() -> None:
    assert setting_title("nobodys-v7", {"size": 4}) == "nobodys-v7"
    assert setting_title("torus-v0", {"colour": 4}) == "torus-v0"
