"""Matches and round robins: openings in both seats, games that depend on the settings alone, failures, files."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from arena_bots import Broken, First, Fragile, Last
from arena_runs import content
from command import Command
from refusals import refused
from store_games import game
from toy_games import Race

import cellgames
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import Forfeit, RoundRobin, RoundRobinOptions, round_robin, verify
from cellgames.arena.play.match import GamePlayer, batch_of, both_seats, match, match_id
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.play.rated_runs import top_game
from cellgames.arena.records.record_lines import read_records, to_lines
from cellgames.arena.report.rating_tables import REPORT_FILES, failure_headline, forfeit_notes
from cellgames.arena.stats.ratings import comparisons
from cellgames.arena.stats.tables import Forfeits, distinct, make_tables
from cellgames.runs.run_folder import derive

GAME = cellgames.make("torus-v0", size=3)
ANN, BOB = RandomAgent("ann"), RandomAgent("bob")


def test_each_opening_is_played_in_both_seats() -> None:
    records = match(GAME, ANN, BOB, MatchOptions(games=20, opening_plies=3, chunk=4)).records
    assert len(records) == 20
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.agents == ("ann", "bob")
        assert other.agents == ("bob", "ann")
        assert one.pairing is not None
        assert other.pairing is not None
        assert one.pairing.opening == other.pairing.opening
        assert (one.pairing.seats, other.pairing.seats) == ((0, 1), (1, 0))
        assert one.opening == other.opening == 3
        assert one.moves[:3] == other.moves[:3]
        assert one.seed == other.seed
    assert [r.pairing and r.pairing.opening for r in records] == [n // 2 for n in range(20)]
    assert len({r.moves[:3] for r in records}) > 5


def test_an_opening_that_would_end_its_game_is_shorter_and_the_record_says_so() -> None:
    records = match(Race(goal=3, limit=4), ANN, BOB, MatchOptions(games=80, opening_plies=4)).records
    assert {record.opening for record in records} == {0, 1, 2, 3}
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.opening == other.opening < min(len(one.moves), len(other.moves))
        assert one.moves[: one.opening] == other.moves[: one.opening]


def test_all_matches_of_a_run_have_the_same_openings_and_seeds() -> None:
    pairs = itertools.combinations((ANN, BOB, RandomAgent("cid")), 2)
    runs = [match(GAME, *pair, MatchOptions(games=8)) for pair in pairs]
    openings = [[(r.moves[:2], r.seed) for r in run.records] for run in runs]
    assert openings[0] == openings[1] == openings[2]
    assert len({tuple(r.moves for r in run.records) for run in runs}) == 3  # but they play differently


def test_the_seed_and_nothing_else_decides() -> None:
    first = match(GAME, ANN, BOB, MatchOptions(games=8, seed=1))
    assert match(GAME, ANN, BOB, MatchOptions(games=8, seed=1)) == first
    assert match(GAME, ANN, BOB, MatchOptions(games=8, seed=2)).records != first.records
    swapped = match(GAME, BOB, ANN, MatchOptions(games=8, seed=1))
    assert swapped.records == first.records
    assert swapped.agents == ("bob", "ann")
    assert swapped.score == pytest.approx(1 - first.score)


def test_a_chunk_is_the_same_alone_and_a_longer_match_begins_with_the_shorter_one() -> None:
    whole = match(GAME, ANN, BOB, MatchOptions(games=20, chunk=4)).records
    chunks = MatchOptions(games=20, chunk=4).chunks()
    assert chunks == [range(0, 4), range(4, 8), range(8, 10)]
    for openings in reversed(chunks):
        batch = batch_of(["ann", "bob"], both_seats("ann", "bob", openings))
        alone = GamePlayer(GAME, {"ann": ANN, "bob": BOB}, MatchOptions(games=20, chunk=4)).play(batch)
        assert alone == list(whole[2 * openings.start : 2 * openings.stop])
    assert match(GAME, ANN, BOB, MatchOptions(games=16, chunk=4)).records == whole[:16]
    longer = match(GAME, ANN, BOB, MatchOptions(games=40, chunk=4)).records
    assert longer[:16] == whole[:16]
    assert [r.moves[:2] for r in longer[:20]] == [r.moves[:2] for r in whole]  # also of the unfinished chunk


def test_deterministic_agents_play_few_different_games() -> None:
    repeated = match(GAME, First("first"), Last("last"), MatchOptions(games=20, opening_plies=0))
    assert repeated.tally.distinct == distinct(repeated.records) == 2
    varied = match(GAME, First("first"), Last("last"), MatchOptions(games=20, opening_plies=2))
    assert 2 < varied.tally.distinct <= 20
    # Equal agents play the same moves from either seat.
    twins = match(GAME, First("first"), First("again"), MatchOptions(games=20, opening_plies=2))
    openings = {r.moves[:2] for r in twins.records}
    assert twins.tally.distinct == len(openings) <= 10
    assert twins.score == 0.5


def test_derived_seeds_do_not_collide_or_change() -> None:
    parts = itertools.product((0, 1, -1, 1 << 70), ("openings", "agent"), ("a", "a vs b"), range(50))
    seeds = [derive(*part) for part in parts]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    assert derive("a", "b") != derive("a b") != derive("ab")
    assert derive(0, "game", 0) == 3370869020239909680  # records on disk depend on it
    assert match_id("b", "a") == match_id("a", "b") == "a vs b"


GAMES = [
    game(0, ("a", "b"), ("win", "loss")),
    game(1, ("b", "a"), ("draw", "draw")),
    game(2, ("a", "c"), ("loss", "win")),
    game(3, ("c", "b"), ("loss", "loss")),
]


def test_outcomes_as_the_ratings_take_them() -> None:
    ends = [result for one in GAMES for result in comparisons(one)]
    assert ends == [("a", "b", 0, "first"), ("b", "a", 0, "draw"), ("a", "c", 1, "second"), ("c", "b", 1, "both_lose")]
    with refused("records", "one of a, b without a pairing"):
        next(comparisons(replace(GAMES[0], pairing=None)))


def test_equal_agents_rank_by_name_and_the_anchor_is_zero() -> None:
    games = [game(0, pair, ("win", "loss")) for pair in itertools.permutations("cab", 2)]
    assert make_tables(games, resamples=0).agents == ("a", "b", "c")
    assert make_tables(games, resamples=0).standings[0].low is None
    anchored = make_tables(GAMES, anchor="b", resamples=10)
    assert next(line for line in anchored.standings if line.agent == "b").elo == 0


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("resigned", "resignation"),
        ("ran out of time: thinking took 2.00 s, and 1 s a move are allowed", "loss on time"),
        ("it did not answer within 60 s", "missing answer"),
        ("illegal action 4: the cell is taken", "invalid answer"),
        ("it answered 'genmove b' by '? invalid'", "invalid answer"),
        ("expected a move, got 'pass'", "invalid answer"),
        ("it ended with exit code 3", "crash"),
        ("ZeroDivisionError: division by zero", "crash"),
    ],
)
def test_reasons_have_kinds(reason: str, kind: str) -> None:
    assert Forfeit(0, reason).kind == kind


@pytest.mark.parametrize("forfeits", ["loss", "void"])
def test_games_without_a_failure_are_told_apart(forfeits: Literal["loss", "void"], tmp_path: Path) -> None:
    options = RoundRobinOptions(games=8, gif=False, forfeits=forfeits)
    played = round_robin(GAME, [Fragile(), "random"], options, out=tmp_path)
    assert list(verify(played.records)) == []
    tables = played.tables
    own = tables.forfeits["fragile"]
    assert (own.games, own.sat, own.failures, own.kinds) == (4, 8, 4, {"invalid answer": 4})
    tally = next(line.tally for line in tables.standings if line.agent == "fragile")
    assert sum(own.others.values()) == 4
    assert (tally.wins, tally.games) == (own.others["win"], 4 if forfeits == "void" else 8)
    assert tally.losses == own.others.get("loss", 0) + (0 if forfeits == "void" else 4)
    assert "4 of its 8 games (4 invalid answers)" in failure_headline(tables.forfeits)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert failure_headline(tables.forfeits) in page
    assert "fragile forfeited 4 games of 8: illegal action -1: expected a number from 0 to 17" in page
    assert ("A forfeited game is a loss, in the ratings too." in page) == (forfeits == "loss")
    data = json.loads((tmp_path / "ratings.json").read_text(encoding="utf-8"))
    assert {line["agent"]: line["forfeits"] for line in data["agents"]} == {"fragile": 4, "random": 0}


def test_resignations_and_losses_on_time_are_no_failures() -> None:
    kinds = {"resignation": 3, "loss on time": 1, "crash": 2}
    own = Forfeits(6, "resigned", kinds, sat=20, others={"loss": 14})
    assert own.failures == 2
    assert failure_headline({"engine": own}) == ""  # a tenth of its games
    assert "(3 resignations, 2 crashes, 1 loss on time)" in forfeit_notes({"engine": own})[0]
    assert forfeit_notes({"engine": Forfeits(3, "resigned", {"resignation": 3}, 9)})[0] == "engine resigned 3 games."


def test_only_games_that_somebody_played_are_rated(tmp_path: Path) -> None:
    options = RoundRobinOptions(games=2, gif=False, forfeits="void")
    with refused("records"):
        round_robin(GAME, [Broken(), "random"], options, out=tmp_path)
    assert len((tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    again = round_robin(GAME, [Broken(), "random"], RoundRobinOptions(games=2, gif=False), out=tmp_path)
    assert (again.played, again.tables.games) == (0, 2)
    with refused("forfeits", "'void'"):
        RoundRobinOptions(until_certain=True, forfeits="void")


def test_an_evaluation_leaves_them_out(tmp_path: Path, command: Command) -> None:
    words = "evaluate torus-v0 --size 3 --agents random x=arena_bots:Fragile --games 8 --in-process --no-store --quiet"
    found = {}
    for forfeits in ("loss", "void"):
        said = command(f"{words} --out {tmp_path / forfeits} --forfeits {forfeits}")
        assert "x failed in 4 of its 8 games (4 invalid answers)" in said
        found[forfeits] = json.loads((tmp_path / forfeits / "evaluation.json").read_text(encoding="utf-8"))["rows"][0]
    assert found["loss"]["wins"] == found["void"]["wins"] + 4
    assert found["loss"]["losses"] == found["void"]["losses"]


SPECS = ("random", "arena_bots:First", "arena_bots:Last")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> RoundRobin:
    """A run that nothing disturbed, with plots and a GIF."""
    return round_robin(GAME, SPECS, RoundRobinOptions(games=12, chunk=2), out=tmp_path_factory.mktemp("runs") / "run")


def test_a_run_leaves_its_files_and_games_that_replay(complete: RoundRobin) -> None:
    written = {"run.json", "games.jsonl", "top_game.gif", *REPORT_FILES}
    assert set(content(complete.out)) == written - {"order.csv"}
    records, torn = read_records(complete.out / "games.jsonl")
    assert (tuple(records), torn) == (complete.records, "")
    assert list(verify(records)) == []
    seats = [r.agents for r in records]
    for one in SPECS:
        assert sum(agents[0] == one for agents in seats) == sum(agents[1] == one for agents in seats) == 12
    settings = json.loads((complete.out / "run.json").read_text())
    assert (settings["agents"], settings["parameters"]) == (sorted(SPECS), {"size": 3})


def test_the_top_game_is_of_middle_length_of_the_two_best(complete: RoundRobin) -> None:
    game = top_game(complete.tables, complete.records)
    best = [r for r in complete.records if set(r.agents) == set(complete.tables.agents[:2])]
    assert len(best) == 12
    assert len(game.moves) == sorted(len(r.moves) for r in best)[6]


def test_a_run_that_goes_on_believes_no_game_that_does_not_replay(tmp_path: Path) -> None:
    game, options = cellgames.make("torus-small-v0", size=2), RoundRobinOptions(games=8, chunk=2, gif=False)
    whole = round_robin(game, ["random", "greedy"], options, out=tmp_path / "whole")
    forged = round_robin(game, ["random", "greedy"], options, out=tmp_path / "forged")
    path = tmp_path / "forged" / "games.jsonl"
    records = list(forged.records)
    other = replace(records[1].result, outcome=records[1].result.outcome[::-1])
    path.write_bytes(to_lines([records[0], replace(records[1], result=other), *records[2:]]))  # with new checksums
    said: list[str] = []
    again = round_robin(game, ["random", "greedy"], options, out=tmp_path / "forged", warn=said.append)
    assert any("1 games do not replay (the result differs: outcome recorded" in line for line in said)
    assert again.played == 4
    assert again.records == whole.records
    assert content(tmp_path / "forged") == content(tmp_path / "whole")
