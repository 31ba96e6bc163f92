"""Scenarios: fixed tables, fair seats, the same games for everybody, and scores by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from cellgames.agents.loading import load
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.play.scenario_games import play_scenario, scenario_game, scenario_score, scenario_seats
from cellgames.arena.play.scenarios import SCENARIOS, Scenario, scenarios_of
from cellgames.arena.records.record_lines import Forfeit, Record, Result, read_records
from cellgames.cli.main import main

TINY = Scenario(
    "toroidal-cup-small-v0/tiny",
    2,
    ("random", "arena_bots:First"),
    {"rows": 12, "cols": 64, "teams": 4, "pattern": "randys", "shapes": 2, "max_generations": 5},
)
FEW = MatchOptions(games=8)


def record(agents: str, scores: tuple[float, ...], forfeit: Forfeit | None = None) -> Record:
    result = Result(tuple("draw" for _ in scores), scores, 1, False, forfeit=forfeit)
    names = {"f": "mine", "a": "background-random", "b": "background-arena_bots-First"}
    return Record(
        game="toroidal-cup-small-v0",
        version="1",
        parameters={},
        seed=0,
        agents=tuple(names[letter] for letter in agents),
        opening=0,
        moves=(),
        result=result,
    )


def test_every_table_has_the_seats_of_its_game_and_agents_that_can_play_it() -> None:
    for id, scenario in SCENARIOS.items():
        game = scenario_game(scenario)
        assert (scenario.id, scenario.seats) == (id, game.info.num_players)
        assert 0 < scenario.focal < scenario.seats
        for spec in dict.fromkeys(scenario.background):
            load(spec, game)
    assert [each.name for each in scenarios_of("grid-adaptation-v0")[:2]] == ["visitors-1", "visitors-2"]


def test_tables_are_those_that_were_published() -> None:
    # An id means the same table for ever: add another one instead.
    known = {id: (scenario.focal, Counter(scenario.background)) for id, scenario in SCENARIOS.items()}
    assert known["grid-adaptation-v0/visitors-3"] == (1, Counter({"trained": 4, "mcts:16": 3}))
    assert known["grid-adaptation-v0/residents-2"] == (6, Counter({"trained": 1, "rollout:16": 1}))
    assert known["grid-adaptation-small-v0/visitors-2"] == (1, Counter({"greedy": 1, "rollout:16": 1, "random": 1}))
    assert known["toroidal-cup-small-v0/residents-2"] == (3, Counter({"mcts:16": 1}))
    assert SCENARIOS["toroidal-cup-v0/visitors-1"].parameters == {"teams": 4}


def test_everybody_has_every_seat_once_in_a_block() -> None:
    seats = scenario_seats(TINY, 12, seed=3)
    for start in (0, 4, 8):
        for seat in range(4):
            assert sorted(table[seat] for table in seats[start : start + 4]) == [0, 1, 2, 3]
    assert scenario_seats(TINY, 5, seed=3) == seats[:5]
    assert scenario_seats(TINY, 12, seed=4) != seats


def test_all_agents_meet_the_same_background_in_the_same_games_and_seats() -> None:
    game = scenario_game(TINY)
    mine, other = (play_scenario(TINY, load(spec, game), FEW) for spec in ("arena_bots:Last", "random"))
    assert [record.seed for record in mine] == [record.seed for record in other]
    for one, two in zip(mine, other, strict=True):
        assert Counter(one.agents) == {
            "arena_bots:Last": 2,
            "background-random": 1,
            "background-arena_bots-First": 1,
        }
        assert two.agents == tuple("random" if name == "arena_bots:Last" else name for name in one.agents)
    assert play_scenario(TINY, load("arena_bots:Last", game), FEW) == mine


def test_scores_by_hand() -> None:
    games = [record("ffab", (4, 2, 2, 9)), record("abff", (1, 1, 3, 5)), record("fafb", (7, 0, 0, 1))]
    found = scenario_score(TINY, "mine", games)
    assert found.score == pytest.approx((3 + 4 + 3.5) / 3)
    assert found.others == pytest.approx((5.5 + 1 + 0.5) / 3)
    # Pairs of a focal and a background seat: 1 ahead, 1 level, 2 behind; 4 ahead; 2 ahead, 1 level, 1 behind.
    assert found.ahead == pytest.approx((1.5 / 4 + 1 + 2.5 / 4) / 3)
    assert found.low < found.score < found.high
    assert (found.games, found.forfeits) == (3, 0)
    failed = scenario_score(TINY, "mine", [record("ffab", (9, 9, 0, 0), Forfeit(1, "an error"))])
    assert failed.forfeits == 1
    assert failed.ahead == 0.25  # the seat that failed is behind both; the game stopped, so the other one is level


def test_the_command_writes_scores_of_the_agent_and_of_baselines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [
        "evaluate",
        "grid-adaptation-small-v0",
        "--in-process",
        "--agents",
        "mine=arena_bots:First",
        "random",
        "--games",
        "4",
    ]
    line += ["--scenarios", "visitors-1", "--quiet", "--out", str(tmp_path / "out")]
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert "mine in scenarios of grid-adaptation-small-v0, 4 games each, with random:" in shown
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    [found] = data["scenarios"]
    assert [score["agent"] for score in found["scores"]] == ["mine", "random"]
    assert found["id"] == "grid-adaptation-small-v0/visitors-1"
    assert set(found["identities"]) == {"mine", "random", "background-greedy"}
    records = read_records(tmp_path / "out" / "games.jsonl").records
    assert len(records) == 8
    own = scenario_score(SCENARIOS[found["id"]], "mine", [r for r in records if "mine" in r.agents])
    assert found["scores"][0]["score"] == own.score
    assert main(["replay", str(tmp_path / "out")]) == 0
    assert "| visitors-1 | mine | 1 of 4 |" in (tmp_path / "out" / "evaluation.md").read_text()


def test_list_shows_all_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(id in shown for id in SCENARIOS)
    assert main(["list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [scenario["id"] for scenario in data["scenarios"]] == list(SCENARIOS)
    assert data["scenarios"][0]["background"] == ["greedy"] * 7
