"""Round robins and free-for-all games on workers: the files of one process, whatever dies on the way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arena_runs import block_plots, content
from ray_clusters import alive, driver, end, family, patient, work

import cellgames
from cellgames.agents.networks import Size, make_network
from cellgames.agents.random_agent import RandomAgent
from cellgames.agents.saved import save_network
from cellgames.arena.free_for_all import free_for_all
from cellgames.arena.leaderboard import leaderboards
from cellgames.arena.parcels import Parcel
from cellgames.arena.records import read
from cellgames.arena.round_robin import RoundRobin, round_robin
from cellgames.arena.store import Store
from cellgames.cluster import ClusterError, connected
from cellgames.ray_workers import RayWorkers
from cellgames.workers import Workers

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

GAME = cellgames.make("torus-v0", size=3)
BOTS = ("random", "arena_bots:First", "arena_bots:Broken")


@pytest.fixture(scope="module")
def workers() -> Iterator[RayWorkers]:
    with RayWorkers(count=2) as workers:
        yield workers


@pytest.fixture(autouse=True)
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    block_plots(monkeypatch)


def run(out: Path, *agents: Any, games: int = 12, workers: Workers | None = None, **options: Any) -> RoundRobin:
    """With a store beside the folder."""
    store = out.with_suffix(".sqlite")
    return round_robin(GAME, agents or BOTS, games, out=out, chunk=2, store=store, workers=workers, **options)


def stored(path: Path) -> tuple[int, list[str], list[Any]]:
    """How many games a store has, their records, and its leaderboards."""
    with Store(path, create=False) as store:
        boards = [board.to_data() for board in leaderboards(store)]
        return len(store), sorted(game.to_json() for game in store.games()), boards


def assert_same(one: Path, other: Path) -> None:
    """Two runs have the same files, and their stores the same games."""
    assert content(one) == content(other)
    assert stored(one.with_suffix(".sqlite")) == stored(other.with_suffix(".sqlite"))


# ---------------------------------------------------------------- the same files


def test_a_round_robin_on_workers_is_that_of_one_process(workers: RayWorkers, tmp_path: Path) -> None:
    alone, shared = run(tmp_path / "alone"), run(tmp_path / "shared", workers=workers)
    assert_same(tmp_path / "alone", tmp_path / "shared")
    assert alone.records == shared.records
    assert alone.tables.forfeits["arena_bots:Broken"].games == 24
    grown = run(tmp_path / "shared", *BOTS, "greedy", workers=workers)
    assert grown.played == 3 * 12
    run(tmp_path / "alone", *BOTS, "greedy")
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_games_for_many_are_the_same_too(workers: RayWorkers, tmp_path: Path) -> None:
    game = cellgames.make("grid-adaptation-small-v0", rounds=4)
    for name, those in (("alone", None), ("shared", workers)):
        store = tmp_path / f"{name}.sqlite"
        free_for_all(game, ["random", "greedy"], 10, out=tmp_path / name, chunk=3, seed=5, store=store, workers=those)
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_until_the_order_is_certain_the_same_games_are_added(workers: RayWorkers, tmp_path: Path) -> None:
    agents = ("greedy", "random", "arena_bots:Last")
    for name, those in (("alone", None), ("shared", workers)):
        done = run(tmp_path / name, *agents, games=8, until_certain=True, budget=64, workers=those)
    assert 24 < len(done.records) <= 64
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_agents_travel(workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights whose path means nothing to workers, a bot of this folder, an object, a class that only we know."""
    monkeypatch.chdir(tmp_path)
    save_network(Path("bot.safetensors"), make_network(GAME, Size(4, 1)))
    Path("bot_of_this_folder.py").write_text("from arena_bots import Last as Bot\n")

    class Typed(RandomAgent):
        pass

    agents = ("bot.safetensors", "bot_of_this_folder:Bot", RandomAgent("object"), Typed("typed"))
    for name, those in (("alone", None), ("shared", workers)):
        run(tmp_path / name, *agents, games=4, workers=those)
    assert_same(tmp_path / "alone", tmp_path / "shared")


def test_warnings_of_bots_reach_this_process_once(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="mind the gap") as caught:
        run(tmp_path / "run", "random", "ray_bots:Cautious", workers=workers)
    assert len([one for one in caught if "mind the gap" in str(one.message)]) == 1


def test_tables_of_a_store_do_not_depend_on_the_order_of_its_games(tmp_path: Path) -> None:
    records = list(run(tmp_path / "run", "greedy", *BOTS, "arena_bots:Last", games=8).records)
    random.Random(1).shuffle(records)
    with Store(tmp_path / "mixed.sqlite") as store:
        store.add(records, source=("round robin", tmp_path / "run"))
    boards = [stored(tmp_path / f"{name}.sqlite")[2] for name in ("run", "mixed")]
    for board in boards:  # where they come from is known of one of them only
        board[0].pop("identities", None)
    assert boards[0] == boards[1]


# ---------------------------------------------------------------- what goes wrong


def test_a_worker_is_killed_while_it_plays(workers: RayWorkers, tmp_path: Path) -> None:
    bells = tmp_path / "bells"
    bells.mkdir()
    agents = ("random", "arena_bots:First", f"ray_bots:Patient:{bells}")
    (bells / "hold").touch()
    killed = []

    def kill() -> None:
        (number,) = patient(lambda: [int(path.stem) for path in bells.glob("*.playing")][:1])
        killed.append(number)
        os.kill(number, signal.SIGKILL)
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


def test_a_chunk_that_fails_ends_the_run_and_all_others_stay(workers: RayWorkers, tmp_path: Path) -> None:
    message = r"^arena_bots:\w+ vs ray_bots:Hungry, openings \d to \d failed on \S+: MemoryError: all of it"
    with pytest.raises(ClusterError, match=message):
        run(tmp_path / "run", "arena_bots:First", "ray_bots:Hungry", "arena_bots:Broken", games=4, workers=workers)
    kept = read(tmp_path / "run" / "games.jsonl").records
    assert [sorted(record.agents) for record in kept] == [["arena_bots:Broken", "arena_bots:First"]] * 4
    assert stored(tmp_path / "run.sqlite")[0] == 4


def test_an_agent_that_workers_cannot_load_is_named(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^random vs ray_bots:Homebody.* failed on \S+: nothing like home$"):
        run(tmp_path / "run", "random", f"ray_bots:Homebody:{os.getpid()}", workers=workers)


def test_what_cannot_travel_is_refused_before_a_game(workers: RayWorkers, tmp_path: Path) -> None:
    stuck = RandomAgent("stuck")
    stuck.frame = sys._getframe()  # type: ignore[attr-defined]  # on purpose
    with pytest.raises(ValueError, match=r"agent 'stuck' cannot be sent to workers .*give its spec instead"):
        run(tmp_path / "run", "random", stuck, workers=workers)


def test_a_bot_that_has_another_source_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source, weights = tmp_path / "changing_bot.py", tmp_path / "bot.safetensors"
    source.write_text("from arena_bots import Last as Bot\n")
    save_network(weights, make_network(GAME, Size(4, 1)))
    parcel = Parcel.pack(GAME, ["changing_bot:Bot", str(weights)])
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
        Parcel.pack(GAME, [str(weights)])


def test_a_game_that_workers_do_not_know_is_refused(workers: RayWorkers, tmp_path: Path) -> None:
    from toy_games import Race

    from cellgames.envs import registry

    with pytest.raises(ValueError, match=r"workers make games by their ids.*CELLGAMES_GAMES"):
        round_robin(Race(), ["random", "arena_bots:First"], 4, out=tmp_path / "one", workers=workers)
    cellgames.register(Race)
    try:
        with pytest.raises(ClusterError, match=r"cannot make the game 'toy-race-v0'.*CELLGAMES_GAMES"):
            round_robin(
                *(cellgames.make(Race.id), ["random", "arena_bots:First"], 4), out=tmp_path / "two", workers=workers
            )
    finally:
        del registry.REGISTRY[Race.id]


# ---------------------------------------------------------------- drivers

DRIVER = """
import sys
sys.modules["matplotlib"] = None  # no plots
import cellgames
from cellgames.arena.round_robin import round_robin
from cellgames.ray_workers import RayWorkers
address, out, store, seeds, *agents = sys.argv[1:]
with RayWorkers(address, 1) as workers:
    game = cellgames.make("torus-v0", size=3)
    for seed in seeds.split(","):
        options = {"store": store, "chunk": 2, "seed": int(seed or 0), "workers": workers}
        print(round_robin(game, agents, 12, out=out + seed, **options).played)
"""


def test_drivers_share_a_store_and_no_game_counts_twice(workers: RayWorkers, tmp_path: Path) -> None:
    """Two at once, which play the same games at first, and then others."""
    with connected() as ray:
        address = ray.get_runtime_context().gcs_address
    store = tmp_path / "store.sqlite"
    with (
        driver(DRIVER, address, tmp_path / "a", store, "1,2", *BOTS) as a,
        driver(DRIVER, address, tmp_path / "b", store, "1,3", *BOTS) as b,
    ):
        for process in (a, b):
            out, err = process.communicate(timeout=180)
            assert out.split() == ["36", "36"], err
    files = {name: (tmp_path / name / "games.jsonl").read_text() for name in ("a1", "a2", "b1", "b3")}
    assert files["a1"] == files["b1"]
    run(tmp_path / "alone", seed=3)
    assert files["b3"] == (tmp_path / "alone" / "games.jsonl").read_text()
    number, games, _ = stored(store)
    assert number == 3 * 36
    assert games == sorted(line for name in ("a1", "a2", "b3") for line in files[name].splitlines())


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


def test_a_killed_driver_goes_on_anywhere(
    held: tuple[Path, list[str], Path], workers: RayWorkers, tmp_path: Path
) -> None:
    bells, agents, out = held
    with driver(DRIVER, "local", out, out.with_suffix(".sqlite"), "", *agents) as process:
        patient(lambda: waits(bells, out) or process.poll() is not None)
        ray = family(process.pid)
        assert "raylet" in ray.values(), process.communicate()[1]
        process.kill()
        process.wait()
    patient(lambda: not work(alive(ray)), what="Ray's processes are still there")
    end(ray)
    (bells / "hold").unlink()
    assert len(read(out / "games.jsonl").records) == stored(out.with_suffix(".sqlite"))[0] == 12
    for name in ("here", "there"):
        shutil.copytree(out, tmp_path / name)
        for path in tmp_path.glob("run.sqlite*"):
            shutil.copy(path, tmp_path / path.name.replace("run", name))
    run(tmp_path / "alone", *agents)
    assert run(tmp_path / "here", *agents).played == 24
    assert run(tmp_path / "there", *agents, workers=workers).played == 24
    assert_same(tmp_path / "alone", tmp_path / "here")
    assert_same(tmp_path / "alone", tmp_path / "there")


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
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert f"kept in {out}" in err
    assert "--ray" in err.splitlines()[-1]
    patient(lambda: not alive(ray), what="Ray's processes are still there")
    assert time.monotonic() - began < 30
    assert len(read(out / "games.jsonl").records) == 12
