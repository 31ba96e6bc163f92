"""Games of many seats: who sits where, who is how good, and folders that a killed run leaves ready to go on."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_bots import First, Last
from arena_runs import content, split_options
from PIL import Image
from refusals import fails, refused
from torch import Tensor
from toy_games import Sealed

import cellgames
from cellgames.agents.base import AnyAgent, BaseAgent
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import FreeForAll, FreeForAllOptions, free_for_all, verify
from cellgames.arena.play.match import seatings
from cellgames.arena.records.record_lines import Outcome, Pairing, Record, Result, read_records
from cellgames.arena.report.rating_tables import AHEAD
from cellgames.arena.report.run_report import REPORT_FILES
from cellgames.arena.stats.comparisons import comparisons, places
from cellgames.arena.stats.tables import make_tables
from cellgames.cli.main import main
from cellgames.runs.run_folder import RunError

CUP = {"rows": 12, "cols": 64, "teams": 4, "pattern": "randys", "shapes": 2, "max_generations": 5}
GAME = cellgames.make("toroidal-cup-v0", **CUP)
SPECS = ("random", "arena_bots:First", "arena_bots:Last")


class Idle(BaseAgent):
    """In `Sealed`: bids nothing, guesses nothing, scores nothing."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return torch.tensor([4, 2]).expand(len(action_mask), 2)


class High(BaseAgent):
    """In `Sealed`: bids the highest card left."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        bid = 3 - action_mask[:, :4].flip(1).int().argmax(1)
        return torch.stack([bid, torch.full_like(bid, 2)], dim=1)


def run(out: Path, *specs: str, games: int = 11, **options: Any) -> FreeForAll:
    asked, others = split_options(FreeForAllOptions, {"games": games, "chunk": 3, **options})
    return free_for_all(GAME, specs or SPECS, asked, out=out, **others)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, with plots."""
    folder = tmp_path_factory.mktemp("runs") / "complete"
    run(folder)
    return folder


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


def test_equal_scores_share_the_mean_of_their_places() -> None:
    assert places((3.0, 1.0, 2.0)) == (1, 3, 2)
    assert places((5.0, 2.0, 5.0, 0.0)) == (1.5, 3, 1.5, 4)
    assert places((0.0, 1.0, 0.0, 0.0)) == (3, 1, 3, 3)
    assert places((7.0,) * 8) == (4.5,) * 8


def record(number: int, agents: str, *scores: float) -> Record:
    """A game of agents with one letter each; the outcome is left without meaning."""
    names = sorted(set(agents))
    pairing = Pairing("free-for-all", number, tuple(names.index(agent) for agent in agents))
    outcome: tuple[Outcome, ...] = tuple("loss" for _ in scores)
    result = Result(outcome, scores, 1, False)
    return Record("toy", "0", {}, 0, tuple(agents), 0, (f"{number}",), result, pairing)


GAMES = [
    record(0, "abc", 5, 3, 1),
    record(1, "bca", 2, 2, 0),
    record(2, "aba", 4, 4, 1),  # two seats of a
    record(3, "cab", 0, 0, 0),
]


def test_pairs_of_seats_follow_the_scores_and_copies_are_left_out() -> None:
    assert list(comparisons(GAMES[0])) == [("a", "b", 0, "first"), ("a", "c", 0, "first"), ("b", "c", 0, "first")]
    assert list(comparisons(GAMES[1])) == [("b", "c", 1, "draw"), ("b", "a", 1, "first"), ("c", "a", 1, "first")]
    assert list(comparisons(GAMES[2])) == [("a", "b", 2, "draw"), ("b", "a", 2, "first")]
    assert {result.outcome for result in comparisons(GAMES[3])} == {"draw"}
    with refused("records", "one of a, b, c without a pairing"):
        list(comparisons(replace(GAMES[0], pairing=None)))


def test_tables_of_drawn_up_games() -> None:
    tables = make_tables(GAMES, resamples=20)
    a, b = tables.finishes["a"], tables.finishes["b"]
    assert (a.seats, a.first, a.alone) == (5, 3, 1)
    assert a.place == pytest.approx((1 + 3 + 1.5 + 3 + 2) / 5)
    assert a.score == pytest.approx((5 + 0 + 4 + 1 + 0) / 5)
    assert (b.seats, b.first, b.alone) == (4, 3, 0)
    ab, ba = tables.cross["a", "b"], tables.cross["b", "a"]
    assert (ab.games, ab.wins, ab.draws, ab.losses, ab.distinct) == (5, 1, 2, 2, 4)
    assert (ba.wins, ba.draws, ba.losses) == (2, 2, 1)
    assert tables.cross["c", "a"].distinct == 3
    assert ("a", "a") not in tables.cross
    assert [seat.finish.first for seat in tables.seats] == [4, 3, 1]
    assert sum(seat.finish.place for seat in tables.seats) == pytest.approx(6)
    assert tables.agent_seats["a", 0].finish.score == 4.5
    assert ("c", 0) in tables.agent_seats
    assert [line.agent for line in tables.standings] == list(tables.agents)
    assert {line.agent: line.tally.games for line in tables.standings} == {"a": 8, "b": 8, "c": 6}
    assert (tables.games, tables.distinct) == (4, 4)
    again = make_tables(GAMES[::-1], resamples=20)
    assert (again.standings, again.agent_seats, again.seats) == (tables.standings, tables.agent_seats, tables.seats)


def test_a_run_leaves_its_files_and_games_that_replay(complete: Path) -> None:
    assert set(content(complete)) == {"run.json", "games.jsonl", *REPORT_FILES} - {"pairs.csv", "order.csv"}
    records, torn = read_records(complete / "games.jsonl")
    assert torn == ""
    assert len(records) == 11
    assert list(verify(records)) == []
    assert len({r.seed for r in records}) == 11
    tables = seatings(3, 4, 11, seed=0)
    names = sorted(SPECS)
    for number, (game, seats) in enumerate(zip(records, tables, strict=True)):
        assert game.pairing == Pairing("free-for-all", number, seats)
        assert game.agents == tuple(names[seat] for seat in seats)
    settings = json.loads((complete / "run.json").read_text())
    assert (settings["agents"], settings["games"], settings["opening_plies"]) == (names, 11, 0)
    for name in ("ratings.png", "cross_table.png"):
        with Image.open(complete / name) as image:
            assert min(image.size) > 300


def test_files_hold_the_numbers(complete: Path) -> None:
    tables = run(complete).tables
    with (complete / "ratings.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["agent"] for line in lines] == list(tables.agents)
    assert sum(int(line["seats"]) for line in lines) == 11 * 4
    assert sum(int(line["seats"]) * float(line["mean_place"]) for line in lines) == pytest.approx(11 * 10, abs=0.01)
    for line in lines:
        assert float(line["elo_low"]) <= float(line["elo"]) <= float(line["elo_high"])
        assert float(line["mean_score"]) == pytest.approx(tables.finishes[line["agent"]].score, abs=1e-4)
    with (complete / "seats.csv").open() as file:
        seats = list(csv.DictReader(file))
    assert Counter(line["agent"] for line in seats)["all"] == 4
    assert sum(int(line["seats"]) for line in seats if line["agent"] != "all") == 44
    data = json.loads((complete / "ratings.json").read_text())
    assert [entry["agent"] for entry in data["agents"]] == list(tables.agents)
    assert sum(pair["ahead"] - pair["behind"] for pair in data["pairs"]) == 0
    page = (complete / "report.md").read_text()
    assert "The mean over all seats is 2.5." in page


def test_better_play_is_rated_better_whatever_the_number_of_agents(tmp_path: Path) -> None:
    """A game of three seats with two components, for two, three and five agents."""
    bots: list[AnyAgent] = [High("high"), Idle("idle"), RandomAgent("ann"), RandomAgent("bob"), RandomAgent("cid")]
    for count in (2, 3, 5):
        done = free_for_all(Sealed(), bots[:count], FreeForAllOptions(games=60), out=tmp_path / str(count))
        assert (done.tables.agents[0], done.tables.agents[-1]) == ("high", "idle")
        assert {finish.seats for finish in done.tables.finishes.values()} == {180 // count}
        assert {tally.finish.seats for tally in done.tables.agent_seats.values()} == {60 // count}
        best, worst = (done.tables.ratings.agents.index(name) for name in ("high", "idle"))
        assert done.tables.ratings.low[best] > done.tables.ratings.high[worst]


def test_games_of_two_are_played_from_both_seats_after_openings(tmp_path: Path) -> None:
    game = cellgames.make("torus-v0", size=3)
    done = free_for_all(
        game,
        [First("one"), Last("two"), "random"],
        FreeForAllOptions(games=9, opening_plies=2, anchor="random"),
        out=tmp_path,
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
    game, other = (cellgames.make("grid-adaptation-small-v0", flip_rounds=(2, last), rounds=4) for last in (4, 3))
    assert [
        free_for_all(game, bots, FreeForAllOptions(games=games, chunk=2), out=tmp_path).played for games in (2, 6)
    ] == [2, 4]
    with fails(RunError, fields=("parameters.flip_rounds",)):
        free_for_all(other, bots, FreeForAllOptions(games=6, chunk=2), out=tmp_path)


WORDS = (
    *("free-for-all", "toroidal-cup-v0", *(f"--param={name}={value}" for name, value in CUP.items())),
    *("--games", "6", "--chunk", "2"),
)


def test_the_command_writes_everything_and_says_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*WORDS, "--in-process", "--agents", "random", "arena_bots:First"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    (folder,) = (tmp_path / "results" / "free-for-all").iterdir()
    assert folder.name.endswith("-seed=0-chunk=2-agents=arena_bots_First_random")
    assert re.search(r"^ +1 +(random|arena_bots:First) +\+\d+ ", out, re.MULTILINE)
    assert AHEAD in out
    assert "toroidal-cup-v0: 6 of 6 games, " in err
    assert main(["replay", str(folder / "games.jsonl")]) == 0
