"""Round robins: stopped at any moment, continued, grown, and always the same files in the end."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_runs import block_plots, content, count_batches, split_options, unsigned
from toy_games import Race

import cellgames
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.arena.play.match_options import RoundRobinOptions
from cellgames.arena.play.round_robin import RoundRobin, round_robin, top_game
from cellgames.arena.records.checksums import RecordError
from cellgames.arena.records.record_lines import read_records, to_lines
from cellgames.arena.records.replays import verify
from cellgames.arena.report.run_report import ROUND_ROBIN_FILES
from cellgames.runs.run_folder import RunError

GAME = cellgames.make("torus-v0", size=3)
SPECS = ("random", "arena_bots:First", "arena_bots:Mortal")
CHUNKS = 3 * 3  # pairs, chunks a pair


def run(out: Path, *specs: str, games: int = 12, **options: Any) -> RoundRobin:
    asked, others = split_options(RoundRobinOptions, {"games": games, "chunk": 2, "gif": False, **options})
    return round_robin(GAME, specs or SPECS, asked, out=out, **others)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, with plots and a GIF."""
    folder = tmp_path_factory.mktemp("runs") / "complete"
    run(folder, gif=True)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, without pictures."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        block_plots(patch)
        run(folder)
    return folder


@pytest.fixture(autouse=True)
def no_plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests that use `complete` draw plots."""
    if "complete" not in request.fixturenames:
        block_plots(monkeypatch)


@pytest.fixture
def chunks_played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of games of each batch that is played from now on."""
    return count_batches(monkeypatch)


def test_a_run_leaves_its_files_and_games_that_replay(complete: Path) -> None:
    written = {"run.json", "games.jsonl", "top_game.gif", *ROUND_ROBIN_FILES}
    assert set(content(complete)) == written - {"cycles.png", "order.csv"}
    records, torn = read_records(complete / "games.jsonl")
    assert torn == ""
    assert len(records) == 36
    assert list(verify(records)) == []
    seats = [r.agents for r in records]
    for one in SPECS:
        assert sum(agents[0] == one for agents in seats) == sum(agents[1] == one for agents in seats) == 12
    settings = json.loads((complete / "run.json").read_text())
    assert settings["agents"] == sorted(SPECS)
    assert settings["parameters"] == {"size": 3}


def test_the_top_game_is_the_longest_of_the_two_best(whole: Path, tmp_path: Path) -> None:
    done = run(whole)
    assert done.played == 0
    game = top_game(done.tables, done.records)
    best = [r for r in done.records if set(r.agents) == set(done.tables.agents[:2])]
    assert len(best) == 12
    assert len(game.moves) == max(len(r.moves) for r in best)


@pytest.mark.parametrize(
    ("specs", "games", "again"),
    [
        (SPECS[:2], 12, 0),  # an agent joins
        (SPECS, 8, 0),  # more games, after whole chunks
        (SPECS, 6, 3),  # more games: the short chunk of each pair is played again
        (SPECS[1:], 4, 0),  # both
    ],
)
def test_a_grown_run_equals_a_bigger_one_played_at_once(
    specs: tuple[str, ...], games: int, again: int, tmp_path: Path, whole: Path, chunks_played: list[int]
) -> None:
    out = tmp_path / "run"
    run(out, *specs, games=games)
    small, before = content(out), len(chunks_played)
    assert small["ratings.csv"] != content(whole)["ratings.csv"]
    run(out)
    assert content(out) == content(whole)
    assert len(chunks_played) == CHUNKS + again
    assert len(chunks_played) > before


def test_a_run_of_a_game_of_chance_continues_with_openings_that_stopped_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block_plots(monkeypatch)
    game, agents = Race(goal=3, limit=4), [RandomAgent("ann"), RandomAgent("bob")]
    first = round_robin(game, agents, RoundRobinOptions(games=40, opening_plies=3, chunk=4, gif=False), out=tmp_path)
    assert len({record.opening for record in first.records}) > 1
    again = round_robin(game, agents, RoundRobinOptions(games=48, opening_plies=3, chunk=4, gif=False), out=tmp_path)
    assert again.played == 8
    assert again.records[:40] == first.records


FOREIGN = (
    ('"opening":2,', '"opening":3,', "opening: expected 2 at most, got 3"),
    ('"opening":0,', '"opening":77,', "which has no "),
    ('"agents":["arena_bots:First",', '"agents":["greedy",', "agents: expected arena_bots:First, "),
)


def test_games_that_cannot_be_of_this_run_are_refused(tmp_path: Path) -> None:
    """Those of a run without checksums, as of the first versions."""
    out = tmp_path / "run"
    run(out)
    games = unsigned(out / "games.jsonl").decode()
    for old, new, said in FOREIGN:
        (out / "games.jsonl").write_text(games.replace(old, new, 1))
        with pytest.raises(RunError, match=r"games\.jsonl, game 1: not of this run, " + re.escape(said)):
            run(out)


@pytest.mark.parametrize("checksums", [True, False])
def test_lines_that_have_changed_are_played_again(checksums: bool, tmp_path: Path, chunks_played: list[int]) -> None:
    out = tmp_path / "run"
    run(out)
    before, said = content(out), list[str]()
    written = before["games.jsonl"] if checksums else unsigned(out / "games.jsonl")
    lines = written.splitlines(keepends=True)
    changes = [written.replace(old.encode(), new.encode(), 1) for old, new, _ in FOREIGN] * checksums
    for games in (*changes, b"".join([lines[0], lines[1][:50] + b"\n", *lines[2:]])):
        (out / "games.jsonl").write_bytes(games)
        with pytest.raises(RecordError, match=r"games\.jsonl: the file has changed since the run was finished"):
            read_records(out / "games.jsonl")
        settings = json.loads(before["run.json"])
        (out / "run.json").write_text(json.dumps({name: settings[name] for name in [*settings][:-2]}))  # not finished
        with pytest.raises(RecordError, match=r"line \d+: "):
            read_records(out / "games.jsonl")
        chunks_played.clear()
        run(out, warn=said.append)
        assert chunks_played == [4]
        assert "dropped 1 lines that have changed since they were written, the first is line " in said[0]
        assert content(out) == before


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
