"""Games of many seats: who sits where, who is how good, and folders that a killed run leaves ready to go on."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from arena_bots import First, Last
from arena_runs import content, csv_rows
from command import Command
from PIL import Image
from refusals import fails
from store_games import game

import cellgames
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import FreeForAll, FreeForAllOptions, free_for_all, verify
from cellgames.arena.play.match import seatings
from cellgames.arena.records.record_lines import Outcome, Pairing, Record, read_records
from cellgames.arena.report.rating_tables import AHEAD, REPORT_FILES
from cellgames.arena.stats.tables import make_tables
from cellgames.runs.run_folder import RunError

CUP = {"rows": 12, "cols": 64, "teams": 4, "pattern": "randys", "shapes": 2, "max_generations": 5}
GAME = cellgames.make("toroidal-cup-v0", **CUP)
SPECS = ("random", "arena_bots:First", "arena_bots:Last")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> FreeForAll:
    """A run that nothing disturbed, with plots."""
    return free_for_all(GAME, SPECS, FreeForAllOptions(games=11, chunk=3), out=tmp_path_factory.mktemp("runs") / "run")


@pytest.mark.parametrize(("agents", "seats"), [(2, 2), (3, 2), (2, 3), (3, 8), (8, 8), (11, 8), (4, 8), (1, 4)])
def test_in_a_block_every_agent_has_every_seat_once_and_its_share_of_every_game(agents: int, seats: int) -> None:
    tables = seatings(agents, seats, 5 * agents, seed=3)
    assert len(tables) == 5 * agents
    for table in tables:
        counts = Counter(table)
        assert {counts[agent] for agent in range(agents)} <= {seats // agents, -(-seats // agents)}
    for block in range(5):
        games = tables[block * agents : (block + 1) * agents]
        for column in zip(*games, strict=True):
            assert sorted(column) == list(range(agents))


def test_seatings_are_drawn_and_a_longer_run_begins_with_the_shorter_one() -> None:
    tables = seatings(6, 3, 600, seed=0)
    assert seatings(6, 3, 7, seed=0) == tables[:7]
    assert seatings(6, 3, 600, seed=1) != tables
    # All 20 sets of three meet, and no neighbours in the list of agents are favoured: 600 * 3 / 15 = 120 a pair.
    assert len({frozenset(table) for table in tables}) == 20
    met = Counter(frozenset(pair) for table in tables for pair in itertools.combinations(table, 2))
    assert len(met) == 15
    assert all(80 < count < 160 for count in met.values())
    # In a block the agents move on in an order of their own.
    assert len({tuple((b - a) % 6 for a, b in zip(*tables[6 * n : 6 * n + 2], strict=True)) for n in range(100)}) > 50


def record(number: int, agents: str, *scores: float) -> Record:
    """A game of agents with one letter each; the outcome is left without meaning."""
    outcome: tuple[Outcome, ...] = tuple("loss" for _ in scores)
    return game(2 * number, agents, outcome, scores=scores)


GAMES = [
    record(0, "abc", 5, 3, 1),
    record(1, "bca", 2, 2, 0),
    record(2, "aba", 4, 4, 1),  # two seats of a
    record(3, "cab", 0, 0, 0),
]


def test_tables_of_drawn_up_games() -> None:
    tables = make_tables(GAMES, resamples=20)
    a, b = (next(line.tally for line in tables.standings if line.agent == name) for name in "ab")
    assert (a.seats, a.first, a.alone) == (5, 3, 1)
    assert a.place == pytest.approx((1 + 3 + 1.5 + 3 + 2) / 5)
    assert a.points == pytest.approx((5 + 0 + 4 + 1 + 0) / 5)
    assert (b.seats, b.first, b.alone) == (4, 3, 0)
    ab, ba = tables.cross["a", "b"], tables.cross["b", "a"]
    assert (ab.games, ab.wins, ab.draws, ab.losses, ab.distinct) == (5, 1, 2, 2, 4)
    assert (ba.wins, ba.draws, ba.losses) == (2, 2, 1)
    assert tables.cross["c", "a"].distinct == 3
    assert ("a", "a") not in tables.cross
    assert [seat.first for seat in tables.seats] == [4, 3, 1]
    assert sum(seat.place for seat in tables.seats) == pytest.approx(6)
    assert tables.agent_seats["a", 0].points == 4.5
    assert ("c", 0) in tables.agent_seats
    assert [line.agent for line in tables.standings] == list(tables.agents)
    assert {line.agent: line.tally.games for line in tables.standings} == {"a": 8, "b": 8, "c": 6}
    assert (tables.games, tables.distinct) == (4, 4)
    again = make_tables(GAMES[::-1], resamples=20)
    assert (again.standings, again.agent_seats, again.seats) == (tables.standings, tables.agent_seats, tables.seats)


def test_a_run_leaves_its_files_and_games_that_replay(complete: FreeForAll) -> None:
    assert set(content(complete.out)) == {"run.json", "games.jsonl", *REPORT_FILES} - {"pairs.csv", "order.csv"}
    records, torn = read_records(complete.out / "games.jsonl")
    assert torn == ""
    assert list(verify(records)) == []
    assert len({r.seed for r in records}) == 11
    names = sorted(SPECS)
    for number, (played, seats) in enumerate(zip(records, seatings(3, 4, 11, seed=0), strict=True)):
        assert played.pairing == Pairing("free-for-all", number, seats)
        assert played.agents == tuple(names[seat] for seat in seats)
    settings = json.loads((complete.out / "run.json").read_text())
    assert (settings["agents"], settings["games"], settings["opening_plies"]) == (names, 11, 0)
    for name in ("ratings.png", "cross_table.png"):
        with Image.open(complete.out / name) as image:
            assert min(image.size) > 300


def test_files_hold_the_numbers(complete: FreeForAll) -> None:
    tables, out = complete.tables, complete.out
    lines = csv_rows(out / "ratings.csv")
    assert [line["agent"] for line in lines] == list(tables.agents)
    assert sum(int(line["seats"]) for line in lines) == 11 * 4
    assert sum(int(line["seats"]) * float(line["mean_place"]) for line in lines) == pytest.approx(11 * 10, abs=0.01)
    for line, standing in zip(lines, tables.standings, strict=True):
        assert float(line["mean_score"]) == pytest.approx(standing.tally.points, abs=1e-4)
    assert [line["seats"] for line in csv_rows(out / "seats.csv") if line["agent"] == "all"] == ["11"] * 4
    data = json.loads((out / "ratings.json").read_text())
    assert sum(pair["ahead"] - pair["behind"] for pair in data["pairs"]) == 0
    assert "The mean over all seats is 2.5." in (out / "report.md").read_text()


def test_games_of_two_are_played_from_both_seats_after_openings(tmp_path: Path) -> None:
    options = FreeForAllOptions(games=9, opening_plies=2, anchor="random")
    done = free_for_all(
        cellgames.make("torus-v0", size=3), [First("one"), Last("two"), "random"], options, out=tmp_path
    )
    assert {record.opening for record in done.records} == {2}
    assert {len(set(record.agents)) for record in done.records} == {2}
    assert set(done.tables.agent_seats) == {(name, seat) for name in ("one", "two", "random") for seat in (0, 1)}
    assert done.tables.ratings.elo[done.tables.ratings.agents.index("random")] == 0
    assert list(verify(done.records)) == []
    assert "each after a random opening of 2 plies" in (tmp_path / "report.md").read_text()


def test_a_run_with_a_parameter_that_is_a_tuple_grows(tmp_path: Path) -> None:
    """Files hold it as a list."""
    bots = [RandomAgent("one"), RandomAgent("two")]
    grid, other = (cellgames.make("grid-adaptation-small-v0", flip_rounds=(2, last), rounds=4) for last in (4, 3))
    assert [
        free_for_all(grid, bots, FreeForAllOptions(games=games, chunk=2), out=tmp_path).played for games in (2, 6)
    ] == [2, 4]
    with fails(RunError, fields=("parameters.flip_rounds",)):
        free_for_all(other, bots, FreeForAllOptions(games=6, chunk=2), out=tmp_path)


def test_the_command_writes_everything_and_says_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "free-for-all toroidal-cup-small-v0 --param teams=3 --param max_generations=5 --games 6 --chunk 2"
    out, err = command.both(f"{words} --in-process --agents random arena_bots:First")
    (folder,) = (tmp_path / "results" / "free-for-all").iterdir()
    assert folder.name.endswith("-seed=0-chunk=2-agents=arena_bots_First_random")
    assert re.search(r"^ +1 +(random|arena_bots:First) +\+\d+ ", out, re.MULTILINE)
    assert AHEAD in out
    assert ", 3 players: 6 of 6 games, " in err
    command(["replay", folder])
