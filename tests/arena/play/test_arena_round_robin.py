"""Round robins: stopped at any moment, continued, grown, and always the same files in the end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content, split_options

import cellgames
from cellgames.arena import RoundRobinOptions, verify
from cellgames.arena.play.rated_runs import RoundRobin, round_robin, top_game
from cellgames.arena.records.record_lines import read_records, to_lines
from cellgames.arena.report.run_report import REPORT_FILES

GAME = cellgames.make("torus-v0", size=3)
SPECS = ("random", "arena_bots:First", "arena_bots:Last")


def run(out: Path, *specs: str, games: int = 12, **options: Any) -> RoundRobin:
    asked, others = split_options(RoundRobinOptions, {"games": games, "chunk": 2, "gif": False, **options})
    return round_robin(GAME, specs or SPECS, asked, out=out, **others)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed, with plots and a GIF."""
    folder = tmp_path_factory.mktemp("runs") / "complete"
    run(folder, gif=True)
    return folder


def test_a_run_leaves_its_files_and_games_that_replay(complete: Path) -> None:
    written = {"run.json", "games.jsonl", "top_game.gif", *REPORT_FILES}
    assert set(content(complete)) == written - {"order.csv"}
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


def test_the_top_game_is_of_middle_length_of_the_two_best(complete: Path) -> None:
    done = run(complete, gif=True)
    assert done.played == 0
    game = top_game(done.tables, done.records)
    best = [r for r in done.records if set(r.agents) == set(done.tables.agents[:2])]
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
