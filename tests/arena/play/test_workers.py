"""Runs of games on workers: the files of one process, whatever fails or dies on the way."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from arena_runs import InLine, content
from processes import KILL, environment
from refusals import fails, refused
from season_coin import made_up
from slow import slow_except
from waits import runs, until

import cellgames
from cellgames import InputError
from cellgames.agents import Size, make_network, save_network
from cellgames.agents.agent_specs import by_name
from cellgames.agents.loading import identities
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import BotUmpire, CupUmpire, RoundRobinOptions, SeasonOptions, Store, play_season
from cellgames.arena.play.match import GamePlayer, load_agents
from cellgames.arena.play.rated_runs import RoundRobin, round_robin
from cellgames.cli.main import main
from cellgames.runs.run_folder import RunError
from cellgames.runs.workers import WorkerError, processes

GAME = cellgames.make("torus-v0", size=3)
BOTS = ("random", "arena_bots:First", "arena_bots:Broken")
OPTIONS = RoundRobinOptions(games=12, chunk=2, gif=False)
COMMANDS = {
    "round-robin": "torus-v0 --size 3 --games 4 --chunk 2",
    "free-for-all": "grid-adaptation-small-v0 --param rounds=2 --games 4 --chunk 2",
    "season": "torus-v0 --size 3 --teams 8 --days 3 --chunk 4",
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    with processes(2) as workers:
        yield workers


def run(out: Path, *agents: Any, workers: Executor | None = None) -> RoundRobin:
    """With a store beside the folder."""
    store = out.with_suffix(".sqlite")
    return round_robin(GAME, agents or BOTS, OPTIONS, out=out, store=store, workers=workers)


def assert_same(one: Path, other: Path) -> None:
    """Two runs have the same files, and their stores the same games."""
    assert content(one) == content(other)
    games = []
    for folder in (one, other):
        with Store(folder.with_suffix(".sqlite"), create=False) as store:
            games.append(sorted(game.to_json() for game in store.games()))
    assert games[0] == games[1]


@pytest.mark.parametrize("command", slow_except(["round-robin"], COMMANDS))
def test_a_command_on_workers_writes_the_bytes_of_one_process(
    command: str, workers: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellgames.runs.workers.processes", lambda count: nullcontext(workers))
    words = [command, *COMMANDS[command].split(), "--quiet", "--in-process"]
    words += ["--agents", "random", f"arena_bots:Traced:{tmp_path}"]
    for name, more in (("shared", ["--workers", "2"]), ("alone", ["--workers", "1"])):
        files = ["--store", str(tmp_path / f"{name}.sqlite"), "--out", str(tmp_path / name)]
        assert main([*words, *files, *more]) == 0
        if more[1] == "2":
            players = {int(path.stem) for path in tmp_path.glob("*.played")}
            # The playoffs of a season, whose games follow from each other, stay here.
            assert players - {os.getpid()}
            assert command == "season" or os.getpid() not in players
    assert_same(tmp_path / "alone", tmp_path / "shared")


@pytest.mark.parametrize("kind", ["bots", "cup"])
def test_a_season_on_workers_is_that_of_one_process(kind: str, tmp_path: Path) -> None:
    teams = made_up(8, "random", "arena_bots:Broken", "mine")
    umpire: Any = BotUmpire(GAME, teams, agents={"mine": RandomAgent("not mine")}, chunk=8)
    if kind == "cup":  # whose replays travel, too
        umpire = CupUmpire(["randys", "donutmultums"], max_generations=10)
    for name, those in (("alone", None), ("shared", InLine())):
        play_season(teams, umpire, SeasonOptions(days=3), out=tmp_path / name, workers=those)
    assert content(tmp_path / "alone") == content(tmp_path / "shared")


def test_a_piece_that_fails_stops_the_run_with_its_error_and_leaves_the_others(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError):
        run(tmp_path / "run", workers=InLine(4))
    assert (tmp_path / "run" / "games.jsonl").read_bytes().count(b"\n") == 32
    assert run(tmp_path / "run", workers=(again := InLine())).played == 4
    assert again.given == 1
    run(tmp_path / "alone")
    assert_same(tmp_path / "alone", tmp_path / "run")


def test_agents_travel_to_workers_that_were_started_elsewhere(
    workers: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights, a bot of this folder that reads a file beside it, an object; an error of loading is that of a worker."""
    run(tmp_path / "first", workers=workers)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    save_network(Path("bot.safetensors"), make_network(GAME, Size(4, 1)))
    Path("bot_of_this_folder.py").write_text(
        "import multiprocessing\nfrom arena_bots import Last\n\n"
        "class Bot(Last):\n    def __init__(self, path):\n        super().__init__()\n        open(path).close()\n\n"
        "class Homebody(Last):\n    def __init__(self):\n        super().__init__()\n"
        "        if multiprocessing.parent_process():\n            raise ValueError('nothing like home')\n"
    )
    Path("conf.txt").touch()
    agents = ("bot.safetensors", "bot_of_this_folder:Bot:conf.txt", RandomAgent("object"))
    for name, those in (("alone", None), ("shared", workers)):
        run(tmp_path / name, *agents, workers=those)
    assert_same(tmp_path / "alone", tmp_path / "shared")
    with pytest.raises(InputError):
        run(tmp_path / "run", "random", "bot_of_this_folder:Homebody", workers=workers)


def test_what_cannot_travel_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = RandomAgent("mine")
    stuck.lock = threading.Lock()  # type: ignore[attr-defined]  # what cannot be pickled
    with fails(WorkerError, expected="a run that can be sent to them"):
        run(tmp_path / "run", "random", stuck, workers=InLine())
    assert not [*(tmp_path / "run").iterdir()]
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "changing_bot.py").write_text("from arena_bots import Last as Bot\n")
    agents = by_name(["changing_bot:Bot", "random"])
    player = GamePlayer(GAME, load_agents(GAME, agents), OPTIONS, agents, identities(agents, GAME))
    sent = pickle.dumps(player)
    assert [*pickle.loads(sent).players] == [*agents]
    (tmp_path / "changing_bot.py").write_text("from arena_bots import First as Bot\n")
    with fails(RunError, parameter="identity of changing_bot:Bot"):
        pickle.loads(sent)
    with refused("count", "0"), processes(0):
        pass


@pytest.mark.parametrize("end", slow_except(["ctrl-c"], ["a worker", "ctrl-c", "the command"]))
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_dies_leaves_no_process_and_the_same_command_goes_on(end: str, tmp_path: Path) -> None:
    bells, out = tmp_path / "bells", tmp_path / "run"
    bells.mkdir()
    (bells / "hold").touch()
    words = "-m cellgames round-robin torus-v0 --size 3 --games 12 --chunk 2 --quiet --workers 2 --no-gif --in-process"
    agents = ("arena_bots:First", "arena_bots:Last", f"arena_bots:Patient:{bells}")
    files = ["--out", str(out), "--store", str(out.with_suffix(".sqlite"))]
    command = [*words.split(), *files, "--agents", *agents]
    with subprocess.Popen(
        [sys.executable, *command], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        until(lambda: len([*bells.glob("*.playing")]) == 2 and [*out.glob("games.jsonl")])  # there may be none yet
        until(lambda: (out / "games.jsonl").read_bytes().count(b"\n") == 12)
        found = [int(path.stem) for path in bells.glob("*.playing")]
        number, signals = (found[0], KILL) if end == "a worker" else (process.pid, KILL)
        os.kill(number, signal.SIGINT if end == "ctrl-c" else signals)
        _, said = process.communicate(timeout=60)  # the bots would play for as long as there is a file `hold`
    until(lambda: not any(map(runs, found)))
    assert process.returncode == {"a worker": 2, "ctrl-c": 130, "the command": -KILL}[end]
    assert {"a worker": "cellgames: a worker ended", "ctrl-c": f"kept in {out}", "the command": ""}[end] in said
    assert "Traceback" not in said
    (bells / "hold").unlink()
    assert main([*command[2:], "--workers", "1"]) == 0
    run(tmp_path / "alone", *agents)
    assert (out / "games.jsonl").read_bytes() == (tmp_path / "alone" / "games.jsonl").read_bytes()
