"""Matches: openings in both seats, games that depend on the settings alone, what is counted, and failures."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from arena_bots import First, Fragile, Last
from refusals import refused
from torch import Tensor
from toy_games import Race
from typing_extensions import override

import cellgames
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import Forfeit, RoundRobinOptions, round_robin
from cellgames.arena.play.evaluation import ratings_of
from cellgames.arena.play.match import GamePlayer, batch_of, both_seats, match, match_id
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Outcome, Pairing, Record, Result
from cellgames.arena.report.rating_tables import failure_headline, forfeit_notes
from cellgames.arena.stats.comparisons import comparisons
from cellgames.arena.stats.tables import Forfeits, distinct, make_tables, tally
from cellgames.cli.main import main
from cellgames.runs.seeds import derive

GAME = cellgames.make("torus-v0", size=3)


def test_each_opening_is_played_in_both_seats() -> None:
    records = match(
        GAME, RandomAgent("ann"), RandomAgent("bob"), MatchOptions(games=20, opening_plies=3, chunk=4)
    ).records
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
    records = match(
        Race(goal=3, limit=4), RandomAgent("ann"), RandomAgent("bob"), MatchOptions(games=80, opening_plies=4)
    ).records
    assert {record.opening for record in records} == {0, 1, 2, 3}
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.opening == other.opening < min(len(one.moves), len(other.moves))
        assert one.moves[: one.opening] == other.moves[: one.opening]


def test_all_matches_of_a_run_have_the_same_openings_and_seeds() -> None:
    names = ("ann", "bob", "cid")
    runs = [
        match(GAME, RandomAgent(a), RandomAgent(b), MatchOptions(games=8)) for a, b in itertools.combinations(names, 2)
    ]
    openings = [[(r.moves[:2], r.seed) for r in run.records] for run in runs]
    assert openings[0] == openings[1] == openings[2]
    assert len({tuple(r.moves for r in run.records) for run in runs}) == 3  # but they play differently


def test_the_seed_and_nothing_else_decides() -> None:
    first = match(GAME, RandomAgent("ann"), RandomAgent("bob"), MatchOptions(games=8, seed=1))
    assert match(GAME, RandomAgent("ann"), RandomAgent("bob"), MatchOptions(games=8, seed=1)) == first
    assert match(GAME, RandomAgent("ann"), RandomAgent("bob"), MatchOptions(games=8, seed=2)).records != first.records
    swapped = match(GAME, RandomAgent("bob"), RandomAgent("ann"), MatchOptions(games=8, seed=1))
    assert swapped.records == first.records
    assert swapped.agents == ("bob", "ann")
    assert swapped.score == pytest.approx(1 - first.score)


def test_a_chunk_is_the_same_alone_and_a_longer_match_begins_with_the_shorter_one() -> None:
    agents: dict[str, Any] = {"ann": RandomAgent("ann"), "bob": RandomAgent("bob")}
    ann, bob = agents.values()
    whole = match(GAME, ann, bob, MatchOptions(games=20, chunk=4)).records
    chunks = MatchOptions(games=20, chunk=4).chunks()
    assert chunks == [range(0, 4), range(4, 8), range(8, 10)]
    for openings in reversed(chunks):
        batch = batch_of(sorted(agents), both_seats("ann", "bob", openings))
        alone = GamePlayer(GAME, agents, MatchOptions(games=20, chunk=4)).play(batch)
        assert alone == list(whole[2 * openings.start : 2 * openings.stop])
    assert match(GAME, ann, bob, MatchOptions(games=16, chunk=4)).records == whole[:16]
    longer = match(GAME, ann, bob, MatchOptions(games=40, chunk=4)).records
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


def record(first: str, second: str, outcome: tuple[Outcome, Outcome], opening: int, moves: str = "") -> Record:
    ids = sorted((first, second))
    seats = (ids.index(first), ids.index(second))
    return Record(
        "torus-v0",
        "0",
        {},
        0,
        (first, second),
        0,
        tuple(moves or f"{first}{second}{opening}"),
        Result(outcome, (0.0, 0.0), 1, False),
        Pairing(match_id(first, second), opening, seats),
    )


GAMES = [
    record("a", "b", ("win", "loss"), 0, "xy"),
    record("b", "a", ("draw", "draw"), 0, "xy"),
    record("a", "b", ("win", "loss"), 1, "xz"),
    record("b", "a", ("loss", "win"), 1),
    record("a", "c", ("loss", "win"), 0),
    record("c", "a", ("loss", "loss"), 0),
    record("b", "c", ("win", "loss"), 0),
    record("c", "b", ("win", "loss"), 0),
]


def test_tables_of_drawn_up_games() -> None:
    tables = make_tables(GAMES, resamples=20)
    assert (tables.games, tables.distinct) == (8, 7)
    ab = tables.cross["a", "b"]
    assert (ab.games, ab.wins, ab.draws, ab.losses, ab.distinct) == (4, 3, 1, 0, 3)
    assert ab.score == 0.875
    ba = tables.cross["b", "a"]
    assert (ba.wins, ba.draws, ba.losses) == (0, 1, 3)
    assert (tables.cross["a", "c"].losses, tables.cross["c", "a"].losses) == (2, 1)  # one game both lost
    assert [(t.games, t.wins, t.draws, t.losses) for t in tables.seats] == [(8, 4, 1, 3), (8, 2, 1, 5)]
    assert tables.agent_seats["a", 0].wins == 2
    assert tables.agent_seats["a", 1] == tally([GAMES[1], GAMES[3], GAMES[5]], "a")
    assert set(tables.agents) == {"a", "b", "c"}
    assert [line.rank for line in tables.standings] == [1, 2, 3]
    elo = [line.elo for line in tables.standings]
    assert elo == sorted(elo, reverse=True)
    a = next(line for line in tables.standings if line.agent == "a")
    assert (a.tally.games, a.tally.wins, a.tally.draws, a.tally.losses) == (6, 3, 1, 2)
    assert a.low is not None
    assert a.high is not None
    assert a.low <= a.elo <= a.high


def test_outcomes_as_the_ratings_take_them() -> None:
    ends = Counter(result.outcome for game in GAMES for result in comparisons(game))
    assert ends == {"first": 4, "second": 2, "draw": 1, "both_lose": 1}
    assert [*comparisons(GAMES[2])] == [("a", "b", 1, "first")]
    with refused("records", "one of a, b without a pairing"):
        next(comparisons(Record("g", "0", {}, 0, ("a", "b"), 0, (), GAMES[0].result)))


def test_equal_agents_rank_by_name_and_the_anchor_is_zero() -> None:
    games = [record(x, y, ("win", "loss"), 0) for x, y in itertools.permutations("cab", 2)]
    assert make_tables(games, resamples=0).agents == ("a", "b", "c")
    assert make_tables(games, resamples=0).standings[0].low is None
    anchored = make_tables(GAMES, anchor="b", resamples=10)
    assert next(line for line in anchored.standings if line.agent == "b").elo == 0
    standings = make_tables(GAMES, anchor="b").standings
    assert ratings_of(GAME, GAMES, "b") == [(line.agent, line.elo, line.low, line.high) for line in standings]


class Broken(Fragile):
    @override
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        raise RuntimeError("broken")


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
    tables = round_robin(GAME, [Fragile(), "random"], options, out=tmp_path).tables
    own = tables.forfeits["fragile"]
    assert (own.games, own.sat, own.failures, own.kinds) == (4, 8, 4, {"invalid answer": 4})
    tally = next(line.tally for line in tables.standings if line.agent == "fragile")
    assert sum(own.others.values()) == 4
    assert (tally.wins, tally.games) == (own.others["win"], 4 if forfeits == "void" else 8)
    assert tally.losses == own.others.get("loss", 0) + (0 if forfeits == "void" else 4)
    assert "4 of its 8 games (4 invalid answers)" in failure_headline(tables.forfeits)
    assert failure_headline(tables.forfeits) in (tmp_path / "report.md").read_text(encoding="utf-8")
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


def test_an_evaluation_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["evaluate", "torus-v0", "--size", "3", "--agents", "random", "x=arena_bots:Fragile", "--games", "8"]
    found = {}
    for forfeits in ("loss", "void"):
        assert main([*words, "--in-process", "--no-store", "--out", forfeits, "--forfeits", forfeits, "--quiet"]) == 0
        assert "x failed in 4 of its 8 games (4 invalid answers)" in capsys.readouterr().out
        found[forfeits] = json.loads(Path(forfeits, "evaluation.json").read_text(encoding="utf-8"))["rows"][0]
    assert found["loss"]["wins"] == found["void"]["wins"] + 4
    assert found["loss"]["losses"] == found["void"]["losses"]
