"""Secret seeds: shown as a hash at the start and as themselves at the end, and kept for a run that goes on."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content
from season_coin import Coin

import cellgames
from cellgames.arena.play import match
from cellgames.arena.play.match_options import FreeForAllOptions, RoundRobinOptions
from cellgames.arena.play.rated_runs import free_for_all, round_robin
from cellgames.arena.records.record_lines import read_records
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.season import play_season
from cellgames.arena.season.teams import Team, assign_divisions, generate_names
from cellgames.cli.main import main
from cellgames.runs.run_folder import RunError
from cellgames.runs.secret_seed import SECRET_FILE, commitment

TORUS = cellgames.make("torus-small-v0", size=2)
AGENTS = ("random", "greedy")
TEAMS = assign_divisions([Team(name) for name in generate_names(12, 0)])
SECRET: dict[str, Any] = {"secret_seed": True}


Run = Callable[[Path, Callable[[str], None], dict[str, Any]], object]
RUNS: dict[str, tuple[Run, str]] = {
    "round robin": (
        lambda out, warn, options: round_robin(
            TORUS, AGENTS, RoundRobinOptions(games=8, chunk=2, gif=False, **options), out=out, warn=warn
        ),
        "run.json",
    ),
    "free-for-all": (
        lambda out, warn, options: free_for_all(
            TORUS, AGENTS, FreeForAllOptions(games=4, chunk=2, **options), out=out, warn=warn
        ),
        "run.json",
    ),
    "season": (
        lambda out, warn, options: play_season(TEAMS, Coin(), SeasonOptions(days=1, **options), out=out, warn=warn),
        "season.json",
    ),
}


@pytest.mark.parametrize("kind", [*RUNS])
def test_a_seed_is_committed_first_and_revealed_in_the_end(kind: str, tmp_path: Path) -> None:
    run, settings = RUNS[kind]
    said: list[str] = []
    file = tmp_path / "run" / settings

    def warn(line: str) -> None:
        if not said and file.exists():
            assert json.loads(file.read_text())["seed"] is None
        said.append(line)

    run(tmp_path / "run", warn, SECRET)
    found = json.loads(file.read_text())
    seed, digest = found["seed"], found["seed_sha256"]
    assert digest == hashlib.sha256(str(seed).encode()).hexdigest() == commitment(seed)
    assert f"the SHA-256 of the secret seed is {digest}" in said[0]
    assert str(seed) not in said[0]
    assert any(f"the secret seed was {seed}" in line for line in said[1:])
    if sys.platform != "win32":
        assert (tmp_path / "run" / SECRET_FILE).stat().st_mode & 0o777 == 0o600
    before = content(tmp_path / "run")
    run(tmp_path / "run", warn, SECRET)
    assert content(tmp_path / "run") == before
    run(tmp_path / "again", lambda line: None, {"seed": seed})
    assert (tmp_path / "again" / "games.jsonl").read_bytes() == before["games.jsonl"]
    run(tmp_path / "other", lambda line: None, SECRET)
    assert json.loads((tmp_path / "other" / settings).read_text())["seed"] != seed


def test_a_run_that_was_stopped_keeps_its_seed_and_shows_it_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, settings = RUNS["round robin"]
    played, said = match.GamePlayer.play, list[str]()

    def stop(*arguments: Any) -> Any:
        stops.append(None)
        if len(stops) == 2:
            raise KeyboardInterrupt
        return played(*arguments)

    stops: list[None] = []
    with monkeypatch.context() as patched:
        patched.setattr(match.GamePlayer, "play", stop)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "run", said.append, SECRET)
    seed = (tmp_path / "run" / SECRET_FILE).read_text()
    [first] = read_records(tmp_path / "run" / "games.jsonl").records[:1]
    for path in (tmp_path / "run").iterdir():
        assert path.name == SECRET_FILE or seed.encode() not in path.read_bytes()
    assert all(seed not in line for line in said)
    run(tmp_path / "run", said.append, SECRET)
    assert json.loads((tmp_path / "run" / settings).read_text())["seed"] == int(seed)
    assert read_records(tmp_path / "run" / "games.jsonl").records[0] == first
    run(tmp_path / "whole", said.append, {"seed": int(seed)})
    assert (tmp_path / "whole" / "games.jsonl").read_bytes() == (tmp_path / "run" / "games.jsonl").read_bytes()


def test_a_run_that_starts_over_has_a_new_seed_and_one_that_grows_says_that_its_seed_is_known(tmp_path: Path) -> None:
    def play(**options: Any) -> int:
        said.clear()
        given = RoundRobinOptions(gif=False, chunk=1, secret_seed=True, **options)
        round_robin(TORUS, AGENTS, given, out=tmp_path, warn=said.append)
        return int(json.loads((tmp_path / "run.json").read_text())["seed"])

    said: list[str] = []
    seed = play(games=2)
    assert play(games=4) == seed
    assert any("so it is no secret in the games that are added now" in line for line in said)
    (tmp_path / SECRET_FILE).unlink()  # as in a copy
    assert play(games=4) == seed
    assert not any("no secret" in line for line in said)
    assert play(games=4, resume=False) != seed


@pytest.mark.parametrize(
    ("prepare", "options", "message"),
    [
        (
            lambda out: None,
            {"seed": 3},
            r"a secret seed is drawn, so none can be given: leave out seed \(--seed\), got 3",
        ),
        (lambda out: RUNS["round robin"][0](out, print, {}), {}, "holds a run without a secret seed"),
        (lambda out: (out / SECRET_FILE).write_text("12x"), {}, "expected the digits of a seed, got '12x'"),
        (lambda out: (out / "mine.txt").write_text(""), {}, "is not empty and holds no run.json"),
    ],
)
def test_what_has_another_seed_is_refused(
    prepare: Callable[[Path], Any], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    prepare(tmp_path)
    before = content(tmp_path)
    with pytest.raises((RunError, ValueError), match=message):
        RUNS["round robin"][0](tmp_path, print, {**SECRET, **options})
    assert content(tmp_path) == before


def evaluated(out: Path | None, *words: str) -> Sequence[str]:
    folder = [] if out is None else ["--out", str(out)]
    return [
        *["evaluate", "torus-small-v0", "--size", "2", "--games", "4", "--no-store", "--agents"],
        *AGENTS,
        *folder,
        *words,
    ]


def test_evaluations_and_folders_have_secret_seeds_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*evaluated(tmp_path / "one"), "--quiet", "--secret-seed"]) == 0
    found = json.loads((tmp_path / "one" / "evaluation.json").read_text())
    first, last = capsys.readouterr().err.splitlines()
    assert found["seed_sha256"] == commitment(found["seed"])
    assert found["seed_sha256"] in first
    assert f"the secret seed was {found['seed']}" in last
    assert main([*evaluated(tmp_path / "two"), "--quiet", "--seed", str(found["seed"])]) == 0
    assert len({(tmp_path / name / "games.jsonl").read_bytes() for name in ("one", "two")}) == 1
    assert main([*evaluated(tmp_path / "one"), "--quiet", "--secret-seed"]) == 0  # it is over, so this is another one
    assert json.loads((tmp_path / "one" / "evaluation.json").read_text())["seed"] != found["seed"]
    capsys.readouterr()
    assert main([*evaluated(None), "--quiet", "--secret-seed"]) == 0
    assert re.search(r"SHA-256 of the secret seed is [0-9a-f]{64}\n", capsys.readouterr().err)
    words = ["--size", "2", "--games", "2", "--no-store", "--quiet", "--secret-seed"]
    assert main(["round-robin", "torus-small-v0", "--agents", *AGENTS, "--no-gif", *words]) == 0
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["torus-small-v0-size=2-seed=secret"]
