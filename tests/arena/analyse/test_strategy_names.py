"""Names that matplotlib could take for mathematics: plots show them as they are, and files too."""

from __future__ import annotations

import pytest

from cellgames.utils.report.files import png
from cellgames.utils.report.model import Plot

NAME = "a$x^$"  # fails as mathematics: nothing is raised


def test_ratings_and_payoffs_are_drawn_with_such_names() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from cellgames.utils.report.plots import heat_map, shorten

    assert shorten(NAME) == r"a\$x^\$"
    assert shorten("checkpoint", 6) == "…point"

    def draw(figure: Figure) -> None:
        heat_map(figure, [NAME, "$b$"], [[0.5, 1], [0, 0.5]], [["", ""], ["", ""]], "Score", "games")

    assert png(Plot("scores", "", draw)).startswith(b"\x89PNG")
