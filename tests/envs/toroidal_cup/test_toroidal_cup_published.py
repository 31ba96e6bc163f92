"""The published games of the Toroidal Cup, and starts that its published simulator played, to the cell."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from life_reference import board_of, live_cells
from paths import CUP_DATA

from cellgames.envs.toroidal_cup import simulate

DATA = CUP_DATA

published = pytest.mark.skipif(not DATA.exists(), reason="the published games are not here")


def recorded_games() -> list[dict[str, Any]]:
    with gzip.open(DATA / "recorded_games.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def check_recorded(games: list[dict[str, Any]], **arguments: Any) -> None:
    result = simulate([[game["team_1"], game["team_2"]] for game in games], **arguments)
    assert result.scores.tolist() == [[game["score_1"], game["score_2"]] for game in games]
    assert result.generations.tolist() == [game["generations"] for game in games]
    assert not result.truncated.any()
    assert result.winner.tolist() == [1 if game["score_1"] > game["score_2"] else 2 for game in games]


@published
def test_some_published_games_end_as_they_did() -> None:
    """Of the shorter half, since eagerly a long game takes a second."""
    games = sorted(recorded_games(), key=lambda game: int(game["generations"]))
    check_recorded(games[: len(games) // 2 : 7])


@published
@pytest.mark.slow
def test_all_published_games_end_as_they_did() -> None:
    games = recorded_games()
    assert len(games) == 332
    check_recorded(games)


def cases(name: str) -> list[Any]:
    """One parameter a case of a file; none where it is absent."""
    path = DATA / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [pytest.param(case, id=case["name"]) for case in found]


@published
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
