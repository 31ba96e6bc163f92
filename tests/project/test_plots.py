"""Plots say which board they are about."""

from __future__ import annotations

import pytest

import cellgames
from cellgames.envs.titles import board_title, setting_title


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
