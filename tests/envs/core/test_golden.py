"""The golden playthroughs; see `golden_playthroughs.py` for how to write them anew."""

from __future__ import annotations

import golden_playthroughs as golden
import pytest

from cellgames.envs.registry import REGISTRY, make


def test_every_game_has_one() -> None:
    assert {make(id).id for id in REGISTRY} == set(golden.PARAMETERS)


@pytest.mark.parametrize("id", golden.PARAMETERS)
def test_playthrough(id: str) -> None:
    assert golden.playthrough(id) == golden.path(id).read_text(encoding="utf-8")
