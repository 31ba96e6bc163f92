"""Ladders: the rating of a newcomer, the climb, and mistakes by kind of position."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from arena_bots import First
from benchmarks.arena.ladder import fingerprint
from command import Command
from refusals import refused
from run_kinds import LADDER

import cellgames
from cellgames.agents.loading import load
from cellgames.arena import LadderOptions, MatchOptions, play_evaluation
from cellgames.arena.ladder.climb import BEYOND, FOLDER, THREAT, WIN, Ladder, Placing, climb, mistakes, points
from cellgames.envs import Game, registry

GAME = cellgames.make("torus-v0", size=3)


def test_the_rating_is_found_and_its_interval_contains_it_at_every_look() -> None:
    rng, rungs = np.random.default_rng(1), [100.0 * rung for rung in range(12)]
    errors, always = [], 0
    for _ in range(40):
        true, inside = rng.uniform(0, 1100), True
        placing = Placing(rungs, 0.3)
        for _ in range(10):
            best = placing.best()
            odds = 10 ** ((true - rungs[best]) / 400)
            weights = np.array([odds, 0.3 * math.sqrt(odds), 1.0])
            placing.games[best] += rng.multinomial(10, weights / weights.sum())
            low, high = placing.interval
            inside &= low <= true <= high
        errors.append(placing.elo - true)
        always += inside
    assert always >= 38
    assert float(np.std(errors)) < 50
    assert abs(float(np.mean(errors))) < 20


def test_opponents_are_near_the_rating_and_change() -> None:
    placing = Placing([0.0, 100.0, 200.0, 1000.0], 0.0)
    assert placing.interval == (-BEYOND, 1000 + BEYOND)
    chosen = []
    for _ in range(20):
        chosen.append(placing.best())
        placing.games[chosen[-1]] += [[3, 0, 1], [2, 0, 2], [1, 0, 3], [0, 0, 4]][chosen[-1]]
    assert {0, 1, 2} == {*chosen[4:]}


def test_a_climb_from_the_command_line(tmp_path: Path, command: Command) -> None:
    words = f"ladder torus-v0 --size 3 --agent me=mixed:0.2:greedy --rungs {LADDER} --games 24 --no-store --quiet --out"
    said = command(f"{words} {tmp_path}")
    found = json.loads((tmp_path / "report.json").read_text())
    assert f"me: {found['elo']:.0f} Elo" in said
    assert found["ladder"][-1]["agent"] == "random"
    assert {WIN, THREAT} <= {row["kind"] for row in found["mistakes"]}
    assert found["interval"][0] < found["elo"] < found["interval"][1]
    command(f"{words} {tmp_path} --within 400", code=2)  # it would ask for fewer games
    command(f"{words} {tmp_path / 'other'} --within 400")
    assert json.loads((tmp_path / "other" / "report.json").read_text())["games"] < found["games"]


def test_an_agent_beyond_all_rungs_ends_early_and_is_no_rung_of_its_own(tmp_path: Path) -> None:
    found = climb(GAME, ["greedy"], LadderOptions(rungs=str(LADDER), within=1.0), out=tmp_path / "above")
    assert len(found.records) < 400
    assert "at least" in found.place.sentence
    weak = climb(GAME, ["random"], LadderOptions(rungs=str(LADDER), within=1.0), out=tmp_path / "below")
    assert [rung.name for rung in weak.place.ladder.rungs] == ["weak", "greedy"]
    assert "at most" in weak.place.sentence


def test_games_of_many_seats_count_once(tmp_path: Path) -> None:
    grid = cellgames.make("grid-adaptation-v0", size=7, players=4, rounds=2, flip_rounds=())
    rungs = {"run": {"game": grid.id, "parameters": json.loads(json.dumps(grid.parameters)), "opening_plies": 0}}
    rows = [
        {"agent": name, "elo": elo, "elo_low": elo, "elo_high": elo} for name, elo in (("random", 0), ("greedy", 300))
    ]
    (tmp_path / "ratings.json").write_text(json.dumps({**rungs, "tie": 0.1, "agents": rows}))
    options = LadderOptions(rungs=str(tmp_path), games=8, chunk=2)
    found = climb(grid, ["mixed:0.5:greedy"], options, out=tmp_path / "run")
    assert found.place.placing.games.sum() == pytest.approx(8)
    for record in found.records:
        assert record.agents.count("mixed:0.5:greedy") == 2
        assert sum(points(record, "mixed:0.5:greedy")) == pytest.approx(1)


def test_what_is_no_ladder_is_refused(tmp_path: Path) -> None:
    with refused("game"):
        Ladder.of(GAME)
    with refused("rungs"):
        Ladder.of(cellgames.make("torus-v0", size=4), LADDER)
    with refused("rungs"):
        Ladder.of(GAME, tmp_path)
    with refused("agents"):
        climb(GAME, ["random", "greedy"], LadderOptions(rungs=str(LADDER)), out=tmp_path)


@pytest.mark.parametrize("game", [GAME, cellgames.make("hex-v0", size=3), cellgames.make("y-v0", size=4)], ids=str)
def test_perfect_makes_no_mistakes_and_others_do(game: Game) -> None:
    agents = {"perfect": load("perfect", game), "first": First("first")}
    records = play_evaluation(game, agents, MatchOptions(games=6))
    judged = mistakes(game, records, "perfect")
    assert judged
    assert all(found.errors == 0 for found in judged)
    assert sum(found.errors for found in mistakes(game, records, "first")) > 2


def test_games_without_quick_answers_have_none() -> None:
    assert mistakes(cellgames.make("grid-adaptation-small-v0"), [], "random") == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_rungs_play_as_they_did_when_they_were_rated(path: Path) -> None:
    """Agents whose play has changed are to be rated again: `python -m benchmarks.arena.ladder GAME`."""
    game, found = registry.make(path.stem), json.loads(path.read_text())
    names = [rung.name for rung in Ladder.of(game).rungs]
    assert fingerprint(game, names, found["run"]["opening_plies"]) == found["fingerprint"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_package_has_ladders_of_agents_as_they_were_rated(path: Path) -> None:
    game, said = registry.make(path.stem), list[str]()
    ladder = Ladder.of(game, warn=said.append)
    assert said == []
    elo = [rung.elo for rung in ladder.rungs]
    assert elo == sorted(elo)
    assert ladder.rungs[0].name == "random"
    found = json.loads(path.read_text())
    assert {*found["run"]["identities"]} == {row["agent"] for row in found["agents"]}
