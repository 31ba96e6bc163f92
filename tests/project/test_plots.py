"""Plots read by themselves: lines differ without colours, names do not overlap, shades show differences."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from types import SimpleNamespace as Fake
from typing import Any

import pytest

import cellgames
from cellgames.envs.titles import board_title, setting_title
from cellgames.lab.populations import exploit_report, league_report
from cellgames.training.runs.logs import draw_learning_curve
from cellgames.utils.report.files import png, write_report
from cellgames.utils.report.model import Plot, Report
from cellgames.utils.report.plots import COLOURS, Curve, curves, draw_subject, line_style, prepare

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


def test_the_game_stands_above_every_plot_of_a_report(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    plots = [Plot("curves", "", lambda figure: curves(figure, "Title", (0, 1), [("part", [])], "steps"))]
    plots.append(Plot("fitted", "", lambda figure: prepare(figure, "Title", 4.0, 3.0)))
    write_report(tmp_path, Report("A page", plots, subject="Torus, size 5"))
    for plot in plots:
        below, above = (image.open(io.BytesIO(png(plot, subject))).size for subject in ("", "Torus, size 5"))
        assert above == (below[0], below[1] + 36)  # a quarter of an inch, which the plot does not need
        assert image.open(tmp_path / f"{plot.name}.png").size == above
    figure = figures.Figure()
    assert draw_subject(figure, "Torus of $") > 0
    assert figure.texts[0].get_text() == r"Torus of \$"


def test_a_learning_curve_has_intervals_and_names_at_its_ends() -> None:
    figure = figures.Figure()
    history = [{"steps": steps, "random": share, "greedy": share / 2} for steps, share in ((0, 0.5), (1000, 1.0))]
    draw_learning_curve("ppo in Torus, size 5, seed 1", ["random", "greedy"], 100, history, figure)
    (axes,) = figure.axes
    assert axes.get_title("left") == "ppo in Torus, size 5, seed 1"
    assert {text.get_text() for text in axes.texts} == {"against random", "against greedy"}
    assert "95 %" in axes.get_ylabel()
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert 0 < min(band) < 0.45
    assert max(band) == 1.0


def _league() -> Any:
    """What the plots of a league read of it, after two rounds."""
    rounds = [
        Fake(number=n, steps=1000 * n, weights={"first": 1 / n, "second": 1 - 1 / n}, exact=0.5 / n, response=None)
        for n in (1, 2)
    ]
    return Fake(strategy={"first": 0.5, "second": 0.5}, rounds=rounds, solver="nash")


def _exploit() -> Any:
    """What the plot of an exploiter reads of it."""
    curve = [Fake(steps=1000 * n, score=0.4, low=0.3, high=0.5) for n in range(3)]
    return Fake(target="trained", curve=curve, score=0.55, low=0.52, high=0.58, steps=2000)


@pytest.mark.parametrize(
    ("draw", "title"),
    [
        (lambda figure: league_report._draw_strategy(_league(), figure), "Weights of the members by round"),
        (lambda figure: league_report._draw_exploitability(_league(), figure), "What a best response scores"),
        (lambda figure: exploit_report._draw(_exploit(), figure), "What the exploiter scores against trained"),
    ],
)
def test_plots_of_training_have_titles_and_axes(draw: Any, title: str) -> None:
    figure = figures.Figure()
    draw(figure)
    figure.draw_without_rendering()
    assert figure.get_suptitle() == title
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert figure.axes[0].get_ylabel()
