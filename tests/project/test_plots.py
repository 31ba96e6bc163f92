"""Plots read by themselves: lines differ without colours, names do not overlap, shades show differences."""

from __future__ import annotations

import itertools

import pytest

from cellgames.envs.stones.annotated import _depth
from cellgames.utils.report.plots import COLOURS, Curve, curves, line_style, prepare

figures = pytest.importorskip("matplotlib.figure")


def test_eight_lines_differ_in_more_than_their_colours() -> None:
    styles = [line_style(place) for place in range(len(COLOURS))]
    assert len({(str(style["linestyle"]), style["marker"]) for style in styles}) == len(COLOURS)


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


def test_a_prepared_figure_has_its_title() -> None:
    figure = figures.Figure()
    prepare(figure, "Torus, size 5", 4.0, 3.0)
    assert figure.get_suptitle() == "Torus, size 5"
    assert tuple(figure.get_size_inches()) == (4.0, 3.0)


def test_shades_of_shares_spread_from_the_least_one_on() -> None:
    assert _depth(0.04, 0.0, 0.16) == pytest.approx(0.5)  # by square roots, so that small shares can be seen
    assert [_depth(share, 0.5, 0.6) for share in (0.4, 0.5, 0.55, 0.6, 0.7)] == pytest.approx([0, 0, 0.5, 1, 1])
    assert _depth(0.5, 0.5, 0.5) == 0.0
