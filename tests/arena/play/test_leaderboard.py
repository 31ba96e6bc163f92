"""Leaderboards: every table from the store alone, one scale for all days, and the command."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from refusals import refused
from store_games import game

import cellgames
from cellgames import InputError
from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena import FreeForAllOptions, RoundRobinOptions, free_for_all, rate, round_robin
from cellgames.arena.records.record_lines import Forfeit, Outcome, Record
from cellgames.arena.records.store import Setting, Store
from cellgames.arena.report import leaderboard
from cellgames.arena.report.leaderboard import leaderboards, matching
from cellgames.arena.stats.ratings import comparisons
from cellgames.arena.stats.tables import Games, make_tables

TORUS = cellgames.make("torus-v0", size=3)
FILE = ("file", "somewhere")
WIN: tuple[Outcome, Outcome] = ("win", "loss")
LOSS: tuple[Outcome, Outcome] = ("loss", "win")
RESULTS: tuple[tuple[Outcome, Outcome], ...] = (WIN, LOSS, ("draw", "draw"), ("loss", "loss"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store.sqlite")


def match(
    one: str, other: str, share: float, openings: int, *, seed: int = 0, version: str = "0.1.0", size: int = 5
) -> list[Record]:
    """Games of two agents, of which the first wins a share; each opening twice, with seats exchanged."""
    rng = np.random.default_rng([seed, openings, *map(ord, one + other)])
    found = []
    for number, won in enumerate(rng.random(2 * openings) < share):
        agents, outcome = (one, other), WIN if won else LOSS
        if number % 2:
            agents, outcome = agents[::-1], outcome[::-1]
        start, moves = 10_000 * seed + number // 2, [f"{seed}", f"{number}"]
        found.append(game(number, agents, outcome, seed=start, version=version, size=size, moves=moves))
    return found


def test_one_run_gives_the_tables_of_the_run(store: Store, tmp_path: Path) -> None:
    options = RoundRobinOptions(games=12, gif=False)
    run = round_robin(TORUS, ["random", "greedy", "rollout:2"], options, out=tmp_path / "run", store=store)
    [board] = leaderboards(store)
    expected = make_tables(run.records, anchor="random")
    assert board.standings == expected.standings
    assert (board.tables.cross, board.tables.seats) == (expected.cross, expected.seats)
    assert (board.game, board.parameters, board.players) == ("torus-v0", {"size": 3}, ("seat 1", "seat 2"))
    assert np.array_equal(board.payoffs.score, run.tables.payoffs.score, equal_nan=True)


def test_openings_of_two_runs_are_not_taken_for_the_same_ones(store: Store) -> None:
    """Both runs number openings from 0; in one the first agent wins both games of each, in the other none."""
    records = match("a", "b", 1.0, 20, seed=1) + match("a", "b", 0.0, 20, seed=2)
    store.add(records, source=FILE)
    [board] = leaderboards(store)
    apart = [result for r in records for result in comparisons(r, cluster=r.seed)]
    right = rate(apart, resamples=1000, seed=0)  # 40 clusters that are all one-sided
    together = [result for r in records for result in comparisons(r)]
    wrong = rate(together, resamples=1000, seed=0)  # 20 clusters, each half and half
    line = board.standings[0]
    assert wrong.high[0] - wrong.low[0] < 0.2 * (right.high[0] - right.low[0])
    assert [line.high, line.low] == pytest.approx([right.high[0], right.low[0]])
    assert line.high is not None
    assert line.high > 20


def test_openings_that_two_runs_share_are_one_cluster(store: Store) -> None:
    """The same seed and opening, whatever the agents' names were counted from."""
    store.add(match("a", "b", 0.5, 5), source=FILE, identities={"a": "1"})
    store.add(match("a", "b", 0.5, 5, version="0.2.0"), source=FILE, identities={"a": "1"})
    starts = [start for start, *_ in store.numbers("torus-v0", {"size": 5})[0]]
    assert len(starts) == 20
    assert len(set(starts)) == 5
    forced = replace(match("a", "b", 0.5, 1)[0], moves=("z9", "b2"))  # another opening from the same seed
    store.add([forced], source=FILE)
    assert len({start for start, *_ in store.numbers("torus-v0", {"size": 5})[0]}) == 6


def test_an_agent_whose_weights_changed_is_two_agents(store: Store) -> None:
    weights = "runs/agent.safetensors"
    old, new = {weights: "1a2b3c4d5e6f7788"}, {weights: "ffff3c4d5e6f7788"}
    store.add(match(weights, "random", 0.5, 20), source=FILE, identities=old)
    assert set(leaderboards(store)[0].tables.agents) == {weights, "random"}
    store.add(match(weights, "random", 0.9, 30, seed=2), source=FILE, identities=new)
    [board] = leaderboards(store)
    assert board.tables.agents == (f"{weights}@ffff3c", f"{weights}@1a2b3c", "random")
    [part] = leaderboards(store, agents=["random", f"{weights}@1a2b3c"])
    assert (part.tables.games, set(part.tables.agents)) == (40, {f"{weights}@1a2b3c", "random"})
    assert leaderboards(store, agents=["random", weights])[0].tables.games == 100
    [anchored] = leaderboards(store, anchor=weights)
    assert anchored.tables.ratings.anchor == f"{weights}@ffff3c"  # has played more
    assert "several identities" in anchored.notes[0]
    assert leaderboards(store, anchor=f"{weights}@1a2b3c")[0].tables.ratings.anchor == f"{weights}@1a2b3c"


def test_versions_count_together_unless_one_is_asked_for(store: Store) -> None:
    known = {"a": "x", "b": "y"}
    store.add(match("a", "b", 0.7, 10), source=FILE, identities=known)
    store.add(match("a", "b", 0.7, 20, seed=2, version="0.2.0"), source=FILE, identities=known)
    [board] = leaderboards(store)
    assert board.versions == ("0.1.0", "0.2.0")
    assert board.tables.games == 60
    assert "Games of several versions of cellgames count here: 0.1.0, 0.2.0." in board.notes
    [one] = leaderboards(store, version="0.2.0")
    assert (one.tables.games, one.versions) == (40, ("0.2.0",))
    assert not any("several versions" in note for note in one.notes)
    assert leaderboards(store, version="9") == []


def test_the_mean_is_zero_without_an_anchor(store: Store) -> None:
    store.add(match("a", "b", 0.7, 20), source=FILE)
    store.add(match("random", "b", 0.3, 20, size=8), source=FILE)
    by_size = {board.parameters["size"]: board for board in leaderboards(store)}
    assert by_size[5].tables.ratings.anchor is None
    assert sum(line.elo for line in by_size[5].standings) == pytest.approx(0)
    assert (by_size[8].tables.ratings.anchor, by_size[8].standings[1].elo) == ("random", 0)
    asked = {board.parameters["size"]: board for board in leaderboards(store, anchor="a")}
    assert (asked[5].tables.ratings.anchor, asked[5].standings[0].elo) == ("a", 0)
    assert asked[5].standings[1].elo == pytest.approx(2 * by_size[5].standings[1].elo)
    assert asked[8].notes[0].startswith("a has not played here")
    with refused("anchor", "'nobody'"):
        leaderboards(store, anchor="nobody")


def test_data_is_json_and_does_without_optional_libraries(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(match("a", "<b>", 0.7, 20), source=FILE)
    pytest.importorskip("scipy")
    data = json.loads(json.dumps(leaderboards(store)[0].to_data(), allow_nan=False))
    assert [agent["agent"] for agent in data["agents"]] == ["a", "<b>"]
    assert (data["agents"][0]["nash"], data["agents"][1]["nash"]) == (1.0, 0.0)
    assert {"elo", "elo_low", "elo_high", "games", "wins", "score", "forfeits"} <= data["agents"][0].keys()
    assert data["pairs"][0]["games"] == 40
    store.add(match("<b>", "c", 0.8, 20, seed=2) + match("c", "a", 0.8, 20, seed=3), source=FILE)  # a ring
    assert leaderboards(store)[0].to_data()["agents"][0]["nash"] > 0
    for module in ("scipy", "scipy.optimize"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    without = leaderboards(store)[0].to_data()
    assert "nash" not in without["agents"][0]
    assert len(without["agents"]) == 3


def test_games_of_more_than_two_have_their_own_tables(store: Store, tmp_path: Path) -> None:
    cup = cellgames.make("toroidal-cup-small-v0", teams=3, max_generations=10)
    free_for_all(cup, ["random", "greedy"], FreeForAllOptions(games=6), out=tmp_path / "many", store=store)
    [board] = leaderboards(store, "toroidal-cup-small-v0")
    assert board.title == "toroidal-cup-small-v0 max_generations=10 teams=3"
    data = board.to_data()
    assert set(data["seats"]) == {"seat 1", "seat 2", "seat 3"}
    assert {agent["agent"] for agent in data["agents"]} == {"random", "greedy"}
    assert sum(agent["seats"] for agent in data["agents"]) == 18
    assert "mean_place" in data["agents"][0]
    assert leaderboard.folder_name(board) == "toroidal-cup-small-v0-max_generations=10-teams=3"


def test_games_among_copies_of_one_agent_rate_nobody(store: Store) -> None:
    store.add([game(0, ("a", "a"))], source=FILE)
    assert leaderboards(store) == []


def test_a_game_of_a_hostile_name_stays_below_the_folder(store: Store, tmp_path: Path) -> None:
    store.add([replace(one, game="..", parameters={}) for one in match("=1+1", "b", 0.5, 2)], source=("file", "x"))
    out = tmp_path / "deep" / "board"
    boards = leaderboards(store, resamples=10)
    files = leaderboard.write_leaderboards(out, boards)
    assert all(out.resolve() in file.resolve().parents for file in files)
    assert [*out.parent.iterdir()] == [out]
    (ratings,) = out.rglob("ratings.csv")
    assert ",'=1+1," in ratings.read_text()  # no formula
    assert leaderboard.write_leaderboards(out, boards) == files
    (out / "leaderboard.json").unlink()
    with pytest.raises(InputError):  # now it may be somebody's own
        leaderboard.write_leaderboards(out, boards)


def _setting(game: str, **parameters: Any) -> Setting:
    return Setting(game, parameters, 1, (), ())


def test_a_preset_is_its_game_with_parameters() -> None:
    settings = [_setting("torus-v0", size=5), _setting("torus-v0", size=8), _setting("other-v0", size=5)]
    assert matching(settings, None, None) == settings
    assert matching(settings, "torus-v0", None) == settings[:2]
    assert matching(settings, "torus-v0", {"size": 8}) == [settings[1]]
    assert matching(settings, "torus-small-v0", None) == [settings[0]]
    assert matching(settings, "torus-v0", {"height": 8}) == []
    cup = cellgames.make("toroidal-cup-small-v0", teams=3).parameters
    named = [
        _setting("toroidal-cup-v0", **cup),
        _setting("toroidal-cup-v0", **cellgames.make("toroidal-cup-v0", teams=3).parameters),
    ]
    assert matching(named, "toroidal-cup-small-v0", None) == named[:1]
    assert matching(named, "toroidal-cup-small-v0", {"teams": 2}) == []
    assert matching(named, "toroidal-cup-v0", {"teams": 3}) == named


def test_from_games_to_the_leaderboard(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole command line: runs add to the store that they are told, and to none."""
    file, default = tmp_path / "games.sqlite", tmp_path / "default.sqlite"
    monkeypatch.setenv("CELLGAMES_STORE", str(default))
    rules, run = "torus-v0 --size 3", tmp_path / "a"
    play = f"round-robin {rules} --agents random greedy --games 4 --no-gif --quiet --out {run}"
    command(f"{play} --no-store")
    assert not default.exists()
    assert "leaderboard torus-v0 --store" in command(f"{play} --store {file}")  # plays nothing, adds all
    evaluate = f"evaluate {rules} --agents greedy random --games 6 --seed 1 --quiet"
    command(f"{evaluate} --store {file}")
    command(evaluate)
    said = command(f"leaderboard {rules} --store {file} --out {tmp_path / 'out'}")
    assert "torus-v0 size=3: 10 games" in said
    assert "leaderboard.md, torus-v0-size=3/report.md" in said
    assert f"{run}: 0 new games" in command(f"leaderboard --store {file} --add {run}")
    data = json.loads(command(f"leaderboard {rules} --store {file} --anchor greedy --json"))
    assert data["leaderboards"][0]["anchor"] == "greedy"
    assert [(source["kind"], source["games"]) for source in data["sources"]] == [("round robin", 4), ("evaluation", 6)]
    assert f"{default}: 6 games" in command("leaderboard")
    (tmp_path / "notes.txt").write_text("no store")
    for words in ("leaderboard", play):
        said = command.refused(f"{words} --store {tmp_path / 'notes.txt'}")
        assert "notes.txt: expected a store of games, got file is not a database" in said


def _random_games(rng: np.random.Generator, first: int, number: int) -> Iterator[Record]:
    """Yield games that share openings, courses, pairs and copies of agents, some of them forfeited."""
    names = [*"abcd", "random"]
    for one in range(first, first + number):
        agents = [names[k] for k in rng.integers(len(names), size=2)]
        outcome = RESULTS[rng.integers(len(RESULTS))]
        seed, version = 1000 + int(rng.integers(number // 5)), f"0.{rng.integers(2)}.0"
        moves, scores = [f"m{rng.integers(20)}"], (float(rng.integers(3)) / 3, 0.1)
        played = game(one, agents, outcome, seed=seed, version=version, moves=moves, scores=scores)
        if rng.random() < 0.1:
            failed = Forfeit(int(rng.integers(2)), f"{OUT_OF_TIME} {rng.integers(2)}" if one % 2 else "it failed")
            played = replace(played, result=replace(played.result, outcome=failed.outcome(2), forfeit=failed))
        yield replace(played, parameters={"size": 5, "one": one % 2}, position="" if one % 3 else "x")


def _one_by_one(numbers: Iterable[Any], kinds: Mapping[Any, Record]) -> Games:
    """Return the games with a record each."""
    games = [game for game in numbers if game[2] in kinds]
    return Games([kinds[game[2]] for game in games], [(*game[:2], k) for k, game in enumerate(games)])


def _compare(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the tables from counts with those from all games, also of some of the games."""
    some: list[dict[str, Any]] = [{}, {"agents": ["a", "b", "d"], "version": "0.1.0"}]
    for options in some:
        found = leaderboards(store, resamples=5, **options)
        with monkeypatch.context() as patch:
            patch.setattr(leaderboard, "alike", _one_by_one)
            expected = leaderboards(store, resamples=5, **options)
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected, strict=True):
            assert one.to_data() == other.to_data()
            for name in ("games", "distinct", "standings", "cross", "seats", "agent_seats", "forfeits"):
                assert getattr(one.tables, name) == getattr(other.tables, name), name
            assert np.array_equal(one.tables.payoffs.error, other.tables.payoffs.error, equal_nan=True)


def test_a_leaderboard_reads_each_game_once_and_needs_no_torch(store: Store) -> None:
    """About ten steps of SQLite a game to count its kind, and as many to read its row."""
    steps = []
    for number in range(2):
        store.add(match("a", "random", 0.6, 100, seed=number), source=FILE)
        leaderboards(store)
        count = itertools.count()
        with Store(store.path) as again:
            again._db.set_progress_handler(lambda: next(count) * 0, 1)  # noqa: B023
            again.settings()
            leaderboards(again)
        steps.append(next(count))
    assert steps[1] - steps[0] < 30 * 200
    code = (
        "import sys; from cellgames.cli.main import main; "
        f"main(['leaderboard', '--store', {str(store.path)!r}]); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_counts_give_the_tables_of_all_games(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However games come: added one by one, and known by identity later."""
    rng = np.random.default_rng(0)
    store.add(_random_games(rng, 0, 200), source=("file", "one"))
    _compare(store, monkeypatch)
    more = list(_random_games(rng, 300, 60))
    store.add(more[:30], source=("file", "two"))
    _compare(store, monkeypatch)
    store.add(more, source=("file", "two"), identities={"a": "1a2b3c4d", "b": "2b3c4d5e"})
    with Store(store.path) as again:
        _compare(again, monkeypatch)
    _compare(store, monkeypatch)
