"""Round robins and free-for-all games on workers: the files of one process, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content, split_options
from processes import KILL
from ray_clusters import alive, driver, family, patient
from slow import slow_except

import cellgames
from cellgames.agents.agent_names import by_name
from cellgames.agents.networks.networks import Size, make_network
from cellgames.agents.networks.saved import save_network
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.arena.play.match_options import RoundRobinOptions
from cellgames.arena.play.rated_runs import RoundRobin, round_robin
from cellgames.arena.play.work_units import Parcel
from cellgames.arena.records.record_lines import read_records
from cellgames.arena.records.store.store import Store
from cellgames.arena.report.leaderboard import leaderboards
from cellgames.cli.main import main
from cellgames.cluster import workers as cluster_workers
from cellgames.cluster.connection import ClusterError
from cellgames.cluster.workers import RayWorkers, Workers
from cellgames.lab.evolution import design_space
from cellgames.lab.evolution.evolution import evolve
from cellgames.lab.evolution.evolve_options import EvolveOptions
from cellgames.runs.comparing import different_files

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

GAME = cellgames.make("torus-v0", size=3)
BOTS = ("random", "arena_bots:First", "arena_bots:Broken")


@pytest.fixture(scope="module")
def workers() -> Iterator[RayWorkers]:
    with RayWorkers(count=2) as workers:
        assert workers.count == 2  # connects
        yield workers


def run(out: Path, *agents: Any, games: int = 12, workers: Workers | None = None, **options: Any) -> RoundRobin:
    """With a store beside the folder."""
    store = out.with_suffix(".sqlite")
    asked, others = split_options(RoundRobinOptions, {"games": games, "chunk": 2, "gif": False, **options})
    return round_robin(GAME, agents or BOTS, asked, out=out, store=store, workers=workers, **others)


def stored(path: Path) -> tuple[int, list[str], list[Any]]:
    """How many games a store has, their records, and its leaderboards."""
    with Store(path, create=False) as store:
        boards = [board.to_data() for board in leaderboards(store)]
        return len(store), sorted(game.to_json() for game in store.games()), boards


def assert_same(one: Path, other: Path) -> None:
    """Two runs have the same files, and their stores the same games."""
    assert content(one) == content(other)
    assert stored(one.with_suffix(".sqlite")) == stored(other.with_suffix(".sqlite"))


COMMANDS = {
    "round-robin": "torus-v0 --size 3 --games 4 --chunk 2",
    "free-for-all": "grid-adaptation-small-v0 --param rounds=2 --games 4 --chunk 2",
    "season": "torus-v0 --size 3 --teams 8 --days 3 --chunk 4",
}


@pytest.mark.parametrize("command", slow_except(["round-robin"], COMMANDS))
def test_commands_hand_their_games_to_workers(
    command: str, workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And need no cluster for what is finished, or refused."""
    words = [
        command,
        *COMMANDS[command].split(),
        "--quiet",
        "--in-process",
        "--agents",
        "random",
        f"ray_bots:Traced:{tmp_path}",
    ]
    files = ["--store", str(tmp_path / "shared.sqlite"), "--out", str(tmp_path / "shared"), "--ray"]
    assert main([*words, *files]) == 0
    players = {int(path.stem) for path in tmp_path.glob("*.played")}
    # The playoffs of a season, whose games follow from each other, stay here.
    assert (players - {os.getpid()}) if command == "season" else (players and os.getpid() not in players)
    assert main([*words, "--store", str(tmp_path / "alone.sqlite"), "--out", str(tmp_path / "alone")]) == 0
    assert_same(tmp_path / "alone", tmp_path / "shared")

    def none(*_: object) -> None:
        raise AssertionError("a cluster is asked for")

    monkeypatch.setattr(cluster_workers, "connected", none)
    assert main([*words, *files]) == 0
    assert main([*words, "gredy", *files, "--no-resume"]) == 2


def test_what_ray_is_not_asked_properly_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["round-robin", "torus-v0", "--agents", "random", "greedy", "--ray-workers", "2"]) == 2
    assert "--ray-workers is for a Ray cluster; add --ray" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main(["round-robin", "--ray", "torus-v0", "--agents", "random", "greedy"])
    assert end.value.code == 2
    assert "HOST:PORT after it, or nothing, got 'torus-v0'" in capsys.readouterr().err


@pytest.mark.slow
def test_designs_evolve_on_workers_as_in_one_process(
    workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ribs")
    monkeypatch.setattr(design_space, "_TOGETHER", 24)
    small = cellgames.make("cloth-of-gold-small-v0", max_rounds=2)
    options = EvolveOptions(
        rounds=1, iterations=1, batch=8, screen=4, matches=4, agents=("random",), pool=4, cells=3, games=0
    )
    played: list[str] = []

    def completed(work: Any, items: Any) -> Iterator[Any]:
        for item, found in RayWorkers.completed(workers, work, items):
            played.append(str(item))
            yield item, found

    evolve(small, options, tmp_path / "alone")
    with monkeypatch.context() as patch:
        patch.setattr(workers, "completed", completed)
        evolve(small, options, tmp_path / "shared", workers=workers)
    assert len(played) > 6
    assert different_files(tmp_path / "alone", tmp_path / "shared") == []


def test_agents_travel(workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, a bot of this folder that reads a file beside it, an object, a class that only we know."""
    monkeypatch.chdir(tmp_path)
    save_network(Path("bot.safetensors"), make_network(GAME, Size(4, 1)))
    Path("bot_of_this_folder.py").write_text(
        "from arena_bots import Last\n\n"
        "class Bot(Last):\n    def __init__(self, path):\n        super().__init__()\n        open(path).close()\n"
    )
    Path("conf.txt").touch()

    class Typed(RandomAgent):
        pass

    agents = ("bot.safetensors", "bot_of_this_folder:Bot:conf.txt", RandomAgent("object"), Typed("typed"))
    for name, those in (("alone", None), ("shared", workers)):
        run(tmp_path / name, *agents, games=4, workers=those)
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_a_worker_is_killed_while_it_plays(workers: RayWorkers, tmp_path: Path) -> None:
    bells = tmp_path / "bells"
    bells.mkdir()
    agents = ("random", "arena_bots:First", f"ray_bots:Patient:{bells}")
    (bells / "hold").touch()
    killed = []

    def kill() -> None:
        (number,) = patient(lambda: [int(path.stem) for path in bells.glob("*.playing")][:1])
        killed.append(number)
        os.kill(number, KILL)
        patient(lambda: len([*bells.glob("*.playing")]) > 1)  # somebody else has it, or another chunk
        (bells / "hold").unlink()

    thread = threading.Thread(target=kill)
    thread.start()
    run(tmp_path / "shared", *agents, workers=workers)
    thread.join()
    assert killed
    assert killed[0] != os.getpid()
    run(tmp_path / "alone", *agents)
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_an_agent_that_workers_cannot_load_is_named(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^random vs ray_bots:Homebody.* failed on \S+: .* nothing like home$"):
        run(tmp_path / "run", "random", f"ray_bots:Homebody:{os.getpid()}", workers=workers)


def test_a_bot_that_has_another_source_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source, weights = tmp_path / "changing_bot.py", tmp_path / "bot.safetensors"
    source.write_text("from arena_bots import Last as Bot\n")
    save_network(weights, make_network(GAME, Size(4, 1)))
    parcel = Parcel.pack(GAME, by_name(["changing_bot:Bot", str(weights)]))
    weights.unlink()  # travels with the parcel
    game, agents = parcel.unpack()
    assert game == GAME
    assert [agent.name for agent in agents.values()] == list(agents) == ["changing_bot:Bot", str(weights)]
    source.write_text("from arena_bots import First as Bot\n")
    with pytest.raises(
        ClusterError, match=r"another agent 'changing_bot:Bot': expected identity \w+, got \w+; its source"
    ):
        parcel.unpack()
    with pytest.raises(ValueError, match=r"bot\.safetensors.* cannot be read: No such file"):
        Parcel.pack(GAME, by_name([str(weights)]))


def test_a_game_that_workers_do_not_know_is_refused(workers: RayWorkers, tmp_path: Path) -> None:
    from toy_games import Race

    from cellgames.envs import registry

    with pytest.raises(ValueError, match=r"workers make games by their ids.*CELLGAMES_GAMES"):
        round_robin(
            Race(),
            ["random", "arena_bots:First"],
            RoundRobinOptions(games=4, gif=False),
            out=tmp_path / "one",
            workers=workers,
        )
    cellgames.register(Race)
    try:
        with pytest.raises(ClusterError, match=r"cannot make the game 'toy-race-v0'.*CELLGAMES_GAMES"):
            round_robin(
                *(cellgames.make(Race.id), ["random", "arena_bots:First"], RoundRobinOptions(games=4)),
                out=tmp_path / "two",
                workers=workers,
            )
    finally:
        del registry.REGISTRY[Race.id]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, list[str], Path]]:
    """Bells of a patient bot that is made to wait, agents of which two are done before, and the folder of a run."""
    bells = tmp_path / "bells"
    bells.mkdir()
    (bells / "hold").touch()
    yield bells, ["arena_bots:First", "arena_bots:Last", f"ray_bots:Patient:{bells}"], tmp_path / "run"
    (bells / "hold").unlink(missing_ok=True)


def waits(bells: Path, out: Path) -> bool:
    """Whether all chunks without the patient bot are kept, and it is asked in others."""
    path = out / "games.jsonl"
    return path.exists() and path.read_bytes().count(b"\n") == 12 and len([*bells.glob("*.playing")]) == 1


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_behind_and_says_how_to_go_on(held: tuple[Path, list[str], Path]) -> None:
    bells, agents, out = held
    words = ["round-robin", "torus-v0", "--size", "3", "--games", "12", "--chunk", "2", "--quiet"]
    words += [
        "--ray",
        "--ray-workers",
        "1",
        "--out",
        str(out),
        "--store",
        str(out.with_suffix(".sqlite")),
        "--agents",
        *agents,
    ]
    with driver("-m cellgames", *words) as process:
        patient(lambda: waits(bells, out) or process.poll() is not None)
        ray = family(process.pid)
        assert "raylet" in ray.values(), process.communicate()[1]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)  # its bot would play for as long as there is a file `hold`
    assert process.returncode == 130
    assert "Traceback" not in err
    assert f"kept in {out}" in err
    assert "--ray" in err.splitlines()[-1]
    patient(lambda: not alive(ray), what="Ray's processes are still there")
    assert len(read_records(out / "games.jsonl").records) == 12
