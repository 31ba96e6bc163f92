"""Games until the order is certain: the test behind it, false alarms, and runs that are stopped and go on."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_bots import First
from arena_runs import content, csv_rows
from drawn_results import draw, tournament
from store_games import game

import cellgames
from cellgames.arena import RoundRobin, RoundRobinOptions, rate, round_robin
from cellgames.arena.play import match
from cellgames.arena.play.tournament import Batch
from cellgames.arena.records.record_lines import Outcome, Pairing, Record
from cellgames.arena.report.rating_tables import order_text
from cellgames.arena.stats.order import Evidence, adjacencies
from cellgames.arena.stats.ratings import PairResult, comparisons
from cellgames.runs.run_folder import derive

GAME = cellgames.make("torus-v0", size=3)
NAMES = ("a", "b", "c", "d")


def results_of(strength: Mapping[str, float], openings: int, seed: int, tie: float = 0.0) -> list[PairResult]:
    return tournament(np.random.default_rng(seed), strength, openings, tie=tie)


@pytest.mark.parametrize("tie", [0.0, 0.4])
def test_strengths_are_those_of_the_ratings(tie: float) -> None:
    results = results_of({"a": 0.0, "b": 0.4, "c": 2.0, "d": 2.5}, 12, 1, tie)
    results += [PairResult("a", "d", 50, "both_lose"), PairResult("a", "e", 0, "first")]
    found = Evidence(results, [*NAMES, "e"])
    expected = rate(results, resamples=0)
    assert found.agents == expected.agents
    assert np.allclose(found.elo - found.elo.mean(), expected.elo, atol=1e-6)
    assert found.ranking() == sorted(expected.agents, key=lambda name: -expected.elo[expected.agents.index(name)])
    assert found.played[0, 3] == 25


def test_a_difference_has_a_sign_and_grows_with_the_games() -> None:
    few, many = (Evidence(results_of({"a": 0.0, "b": 1.0, "c": 1.0}, n, 3), ["a", "b", "c"]) for n in (20, 80))
    z, information = few.difference("b", "a")
    assert few.difference("a", "b") == pytest.approx((-z, information))
    assert z > 2
    more, told = many.difference("b", "a")
    assert 1.5 < more / z < 2.7  # about the root of four
    assert 3 < told / information < 5


def test_who_won_every_game_is_no_special_case() -> None:
    for openings in (2, 9, 25):
        results = [PairResult("a", "b", opening, "first") for opening in range(openings)]
        results += [PairResult("b", "a", opening, "second") for opening in range(openings)]
        z, _ = Evidence(results, ["a", "b"]).difference("a", "b")
        assert z == pytest.approx(math.sqrt(openings), rel=0.01)  # that many clusters, all on one side


def test_seats_that_decide_everything_are_no_evidence() -> None:
    results = [PairResult(*pair, k, "first") for k in range(50) for pair in (("a", "b"), ("b", "a"))]
    pair = adjacencies(Evidence(results, ["a", "b"]))[0]
    assert (pair.z, pair.certain) == (0.0, False)


def test_the_bound_holds_at_all_looks() -> None:
    first = Evidence(results_of({"a": 0.0, "b": 0.0}, 20, 4), ["a", "b"])
    later = Evidence(results_of({"a": 0.0, "b": 0.0}, 2000, 4), ["a", "b"])
    assert adjacencies(first)[0].needed == pytest.approx(math.sqrt(9 / 8 * (math.log(9) + 2 * math.log(20))))
    assert 3.4 < adjacencies(later, first)[0].needed < 3.7


@pytest.mark.slow
def test_equal_agents_are_seldom_taken_for_different_ones() -> None:
    """Looking after every few games, as a run does: at 95 % in one of twenty runs at most."""
    rng, false, runs = np.random.default_rng(5), 0, 60
    for _ in range(runs):
        equal = {"a": 0.0, "b": 0.0}
        results = draw(rng, equal, "ab", range(10), 0.3)
        first = Evidence(results, equal)
        for look in range(12):
            pair = adjacencies(Evidence(results, equal), first)[0]
            if pair.certain:
                false += 1
                break
            results += draw(rng, equal, "ab", range(10 + 5 * look, 15 + 5 * look), 0.3)
    assert false <= 8  # of 60: a rate of 5 % gives more in one of 500 tests


def test_games_go_where_they_tell_most() -> None:
    level = {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}
    evidence = Evidence(results_of(level, 10, 6), NAMES)
    assert set(evidence.best_pair("b", "c", 50)) == {"b", "c"}
    # Two who have met thousands of times, and a third that hardly met one of them.
    rng = np.random.default_rng(7)
    results = draw(rng, level, "ab", range(2000)) + draw(rng, level, "bc", range(2000))
    assert set(Evidence(results + draw(rng, level, "cd", range(3)), NAMES).best_pair("d", "c", 50)) == {"c", "d"}


def made_up(strength: Mapping[str, float]) -> Callable[..., list[Record]]:
    """`GamePlayer.play` by known strengths."""

    def play(player: match.GamePlayer, batch: Batch[Pairing], finished: Any = None) -> list[Record]:
        options, names, records = player.options, batch.agents, []
        for pairing in batch.games:
            seated = tuple(names[seat] for seat in pairing.seats)
            rng = np.random.default_rng(derive(options.seed, pairing.match, pairing.opening, *pairing.seats))
            first = rng.random() < 1 / (1 + math.exp(strength[seated[1]] - strength[seated[0]]))
            outcome: tuple[Outcome, ...] = ("win", "loss") if first else ("loss", "win")
            seed = derive(options.seed, "game", pairing.opening)
            made = game(2 * pairing.opening, seated, outcome, seed=seed, version=cellgames.__version__, size=3)
            records.append(replace(made, opening=0, pairing=pairing))
        if finished is not None:
            finished(len(records))
        return records

    return play


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., RoundRobin]:
    def run(out: Path, strength: Sequence[float], **options: Any) -> RoundRobin:
        monkeypatch.setattr(match.GamePlayer, "play", made_up(dict(zip(NAMES, strength, strict=True))))
        monkeypatch.setattr(match, "verify", lambda *arguments, **named: iter(()))  # made-up games do not replay
        given = {"chunk": 5, "games": 20, "until_certain": True, "gif": False, **options}
        return round_robin(GAME, [First(name) for name in NAMES], RoundRobinOptions(**given), out=out)

    return run


CLOSE = (0.0, 1.2, 1.6, 3.5)
EQUAL = (0.0, 2.0, 2.0, 4.0)


def test_a_run_ends_when_all_neighbours_are_certain(play: Callable[..., RoundRobin], tmp_path: Path) -> None:
    run = play(tmp_path / "run", CLOSE, budget=10_000)
    assert [pair.better for pair in run.order] == ["d", "c", "b"]
    assert run.undecided == ()
    assert 120 < len(run.records) < 5000
    # What was added serves the two that are close.
    games = Counter(frozenset(record.agents) for record in run.records)
    assert games[frozenset("bc")] == max(games.values()) > 20
    assert games[frozenset("ad")] == 20
    page = (tmp_path / "run" / "report.md").read_text()
    assert page.count("## Is the order certain?") == 1
    assert "certain at 95 %" in page
    lines = [(line["better"], line["worse"], line["certain"]) for line in csv_rows(tmp_path / "run" / "order.csv")]
    assert lines == [(pair.better, pair.worse, "1") for pair in run.order]


def test_a_spent_budget_is_spent_on_whole_openings_and_names_who_is_undecided(
    play: Callable[..., RoundRobin], tmp_path: Path
) -> None:
    run = play(tmp_path / "run", EQUAL, budget=405)
    assert [{pair.better, pair.worse} for pair in run.undecided] == [{"b", "c"}]
    assert 395 < len(run.records) <= 405
    start = Evidence((result for record in run.records[:120] for result in comparisons(record)), NAMES)
    whole = Evidence((result for record in run.records for result in comparisons(record)), NAMES)
    assert run.order == tuple(adjacencies(whole, start)) != tuple(adjacencies(whole)), "the bound is of the first look"
    text = order_text(run.order, len(run.records))
    assert text.startswith(f"After {len(run.records)} games the order is undecided between ")
    assert "b and c" in text or "c and b" in text
    assert text in (tmp_path / "run" / "report.md").read_text()
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (settings["until_certain"], settings["budget"]) == (True, 405)
    seats = Counter((frozenset(r.agents), r.pairing.opening) for r in run.records if r.pairing is not None)
    assert set(seats.values()) == {2}
    assert len({(r.agents, r.seed) for r in run.records}) == len(run.records)
    first = Counter(record.agents[0] for record in run.records)
    second = Counter(record.agents[1] for record in run.records)
    assert first == second


def test_a_plain_run_may_go_on_until_it_is_certain(play: Callable[..., RoundRobin], tmp_path: Path) -> None:
    plain_first, at_once = tmp_path / "plain", tmp_path / "once"
    play(plain_first, EQUAL, until_certain=False)
    assert "until_certain" not in json.loads((plain_first / "run.json").read_text())
    play(plain_first, EQUAL, budget=180)
    play(at_once, EQUAL, budget=180)
    assert content(plain_first) == content(at_once)
