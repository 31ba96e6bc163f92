"""Workers of a Ray cluster: what they do, what they survive, and whom they refuse."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_clusters import Told, driver, patient

from cellgames.cluster import ray_workers
from cellgames.cluster.connection import (
    ClusterError,
    build,
    connected,
    is_address,
    module_folders,
    refuse_other_build,
)
from cellgames.cluster.ray_workers import RayWorkers, workers_at
from cellgames.cluster.workers import completed
from cellgames.training.runs.interrupts import Interrupts

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

NOBODY = "127.0.0.1:1"
SOON = 150
"""Seconds for a result; a machine may be busy with other tests."""


@pytest.fixture(scope="module")
def workers() -> Iterator[RayWorkers]:
    """Two, of a cluster of their own, whatever the environment says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", NOBODY)
        with RayWorkers(count=2) as workers:
            assert workers.count == 2  # connects
            patch.undo()
            yield workers


class Stuck(str):
    """A piece that cannot be pickled."""

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle this")


def started(folder: Path, piece: str) -> list[int]:
    """The processes that have started a piece."""
    return [int(path.suffix[1:]) for path in folder.glob(f"{piece}.*")]


# ---------------------------------------------------------------- pieces


def test_pieces_are_done_elsewhere_and_a_work_starts_once_in_each_process(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    pieces = [f"square {number}" for number in range(20)]
    assert dict(completed(workers, work, pieces)) == {f"square {n}": n * n for n in range(20)}
    processes, threads, variable = zip(*(workers.submit(work, "machine").result() for _ in range(3)), strict=True)
    assert os.getpid() not in processes
    assert {*threads} == {1}
    assert {*variable} == {"1"}
    doing = {process for piece in pieces for process in started(tmp_path, piece)}
    assert {int(path.stem) for path in tmp_path.glob("*.started")} == doing | {*processes}
    assert 1 <= len(doing) <= workers.count == 2


def test_a_piece_that_fails_is_named_and_all_that_is_under_way_arrives(workers: RayWorkers, tmp_path: Path) -> None:
    pieces = ["square 1", "raise the roof", "wait 0.3", *(f"square {number}" for number in range(2, 30))]
    done: list[str] = []

    def do() -> None:
        for piece, _ in completed(workers, Told(tmp_path), pieces):
            done.append(piece)
            patient(lambda: started(tmp_path, "raise the roof"))

    with pytest.raises(ClusterError, match=r"^raise the roof failed on \S+: RuntimeError: cannot do the roof$") as info:
        do()
    assert "wait 0.3" in done
    assert sum(len(started(tmp_path, piece)) for piece in pieces) == len(done) + 1 < len(pieces)
    assert "in do" in str(info.value.__cause__)  # where it failed, for --debug


def test_a_piece_may_not_end_its_worker(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    with pytest.raises(ClusterError, match=r"leave early failed on .*: SystemExit: left early"):
        workers.submit(work, "leave early").result()
    assert workers.submit(work, "square 3").result() == 9


def test_work_that_cannot_start_or_travel_is_an_error(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"square 3 failed on .*: OSError: no way to start"):
        workers.submit(Told(tmp_path, failing=True), "square 3").result()
    with pytest.raises(ClusterError, match=r"piece .* cannot be sent to workers: TypeError: cannot pickle"):
        workers.submit(Told(tmp_path), Stuck("square 3"))


def test_warnings_arrive_once(workers: RayWorkers, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(completed(workers, Told(tmp_path), ["warn dogs", "warn cats", "warn dogs", "square 2"]))
    assert sorted(str(one.message) for one in caught) == ["beware of cats", "beware of dogs"]
    assert {one.category for one in caught} == {UserWarning}
    with pytest.warns(UserWarning, match="of 1000 dogs") as caught_of_many:
        workers.submit(Told(tmp_path), "nag 1000 dogs").result(SOON)
    assert len(caught_of_many) == 20


# ---------------------------------------------------------------- death


def test_a_piece_outlives_its_worker(workers: RayWorkers, tmp_path: Path) -> None:
    pieces = ["once killed", *(f"square {number}" for number in range(5))]
    assert dict(completed(workers, Told(tmp_path), pieces))["once killed"] == "once killed"
    assert len(started(tmp_path, "once killed")) == 2


@pytest.mark.slow
def test_a_piece_that_kills_every_worker_is_given_up(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^die again: 4 workers died at it, one after the other; .*memory"):
        workers.submit(Told(tmp_path), "die again").result(SOON)
    assert len(started(tmp_path, "die again")) == 4


def test_what_is_cancelled_stops_in_the_middle(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    futures = [workers.submit(work, f"wait {600 + number}") for number in range(3)]
    patient(lambda: started(tmp_path, "wait 600") and started(tmp_path, "wait 601"))
    assert all(future.cancel() for future in futures)
    assert workers.submit(work, "square 4").result(SOON) == 16
    assert not started(tmp_path, "wait 602")


def test_whoever_stops_early_cancels_what_is_under_way(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    for _ in completed(workers, work, ["square 1", *(f"wait {600 + number}" for number in range(9))]):
        break
    assert workers.submit(work, "square 5").result(SOON) == 25


# ---------------------------------------------------------------- clusters


def test_no_more_pieces_at_a_time_than_were_asked_for(workers: RayWorkers, tmp_path: Path) -> None:
    with workers_at("local", 1) as one:  # within a process that is connected already
        assert one is not None
        assert (one.count, workers.count) == (1, 2)
        work = Told(tmp_path)
        futures = [one.submit(work, f"hold {number}") for number in (1, 2)]
        patient(lambda: started(tmp_path, "hold 1"))
        assert not started(tmp_path, "hold 2")
        (tmp_path / "released").touch()
        assert [future.result(SOON) for future in futures] == ["hold 1", "hold 2"]
        lasting = one.submit(work, "wait 600")
    assert lasting.cancelled()
    assert workers.submit(Told(tmp_path), "square 6").result(SOON) == 36  # the cluster is still there


class FakeRay:
    """Ray as far as it takes the handler of SIGTERM."""

    def is_initialized(self) -> bool:
        return False

    def init(self, *arguments: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))

    def shutdown(self) -> None:
        pass


def test_ray_does_not_keep_the_handler_of_sigterm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a run of training that uses Ray, or one after it, would end on SIGTERM without a checkpoint."""
    monkeypatch.setattr("cellgames.cluster.connection.load_ray", FakeRay)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with connected(), Interrupts(lambda number: None) as interrupts:
            signal.raise_signal(signal.SIGTERM)
        assert interrupts.received == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        with connected(), pytest.raises(SystemExit) as ended:  # so that Ray's processes are ended first
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 143
        with Interrupts(lambda number: None) as interrupts, connected():
            signal.raise_signal(signal.SIGTERM)
        assert interrupts.received == signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def test_without_an_address_there_are_no_workers() -> None:
    with workers_at(None, None) as workers:
        assert workers is None
    with pytest.raises(ValueError, match="at least 1 worker, got 0"):
        RayWorkers(count=0)
    with pytest.raises(RuntimeError, match="in a with statement"):
        RayWorkers().submit(Told(Path()), "square 1")


@pytest.mark.slow
def test_whoever_waits_for_others_is_told(workers: RayWorkers, tmp_path: Path) -> None:
    taken, said = [workers.submit(Told(tmp_path), f"wait {600 + number}") for number in range(2)], list[str]()
    patient(lambda: started(tmp_path, "wait 600") and started(tmp_path, "wait 601"))
    with connected() as ray, RayWorkers(ray.get_runtime_context().gcs_address, warn=said.append) as others:
        patient(lambda: ray.available_resources().get("CPU", 0) < 1)
        waiting = others.submit(Told(tmp_path), "square 7")
        assert [future.cancel() for future in taken] == [True, True]
        assert waiting.result(SOON) == 49
    assert [line.rpartition(" has ")[2] for line in said] == ["0 of 2 cores free; waiting"]


def test_a_lost_cluster_is_nobodys_fault(workers: RayWorkers) -> None:
    with connected() as ray:
        kinds = ray.exceptions
        lost = [
            kinds.LocalRayletDiedError(),
            kinds.NodeDiedError("gone"),
            kinds.ObjectLostError("00" * 28, None, "mine"),
            kinds.OwnerDiedError("00" * 28, None, "mine"),
        ]
    said = {str(ray_workers._why(kinds, "square 1", fault)).partition(";")[0] for fault in lost}
    assert said == {"the connection to the cluster was lost"}


NODES = """
import sys
from pathlib import Path
from ray.cluster_utils import Cluster
from cellgames.cluster import ray_workers
from ray_clusters import Told, patient
folder = Path(sys.argv[1])
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
def started():
    return len([*folder.glob("node 600.*")])
with ray_workers.RayWorkers(cluster.address, warn=lambda line: print(line, flush=True)) as workers:
    print(workers.count)
    future = workers.submit(Told(folder), "node 600")
    first = cluster.add_node(num_cpus=1)
    patient(started)
    cluster.remove_node(first, allow_graceful=False)
    cluster.add_node(num_cpus=1)
    print(future.result(100), started())
cluster.shutdown()
"""


@pytest.mark.slow
def test_a_piece_outlives_its_machine(tmp_path: Path) -> None:
    with driver(NODES, tmp_path) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    said = [
        line for line in out.splitlines() if line == "1" or "cores free" in line or line.startswith("node")
    ]  # not Ray
    assert [re.sub(r"at \S+", "there", line) for line in said] == [
        "the cluster there has 0 of 0 cores free; waiting",
        "1",
        "node 600 2",
    ], out


ADDRESSES = """
import json, sys, time
from cellgames.cluster.connection import connected
said = {}
def attempt(address):
    began = time.monotonic()
    try:
        with connected(address):
            return "joined"
    except (ValueError, ImportError) as error:
        return f"{type(error).__name__}: {error}" if time.monotonic() - began < 60 else "too late"
for address in ("127.0.0.1:1", "auto", "nonsense", "ray://127.0.0.1:10001", "no.such.host.invalid:6379"):
    said[address] = attempt(address)
import ray
version, ray.__version__ = ray.__version__, "1.2.3"
said["other Ray"] = attempt(sys.argv[1])
ray.__version__ = version
said["right"] = attempt(sys.argv[1]), attempt(sys.argv[1])
sys.modules["ray"] = None
said["no Ray"] = attempt("local")
print(json.dumps(said))
"""


@pytest.mark.slow
def test_clusters_that_cannot_be_joined_are_refused_in_time(workers: RayWorkers) -> None:
    with connected() as ray, driver(ADDRESSES, ray.get_runtime_context().gcs_address, RAY_ADDRESS=NOBODY) as process:
        out, err = process.communicate(timeout=120)
    said = json.loads(out)
    for address in (NOBODY, "auto"):
        assert f"ClusterError: no Ray cluster could be joined at '{address}': nobody answers" in said[address], err
    for address in ("nonsense", "ray://127.0.0.1:10001"):
        assert "expected `auto` or HOST:PORT" in said[address]
    assert "no.such.host.invalid" in said["no.such.host.invalid:6379"]
    assert "Version mismatch" in said["other Ray"]
    assert said["right"] == ["joined", "joined"]
    assert 'pip install "cellgames[ray]"' in said["no Ray"]


OTHER = """
import sys
from pathlib import Path
from cellgames.cluster.ray_workers import RayWorkers
from ray_clusters import Told
with RayWorkers(sys.argv[1]) as workers:
    try:
        print(workers.submit(Told(Path(sys.argv[2])), "square 3").result())
    except ValueError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_worker_with_another_version_is_refused(workers: RayWorkers, tmp_path: Path) -> None:
    about = tmp_path / "other" / "cellgames-99.dist-info" / "METADATA"  # another release in this process alone
    about.parent.mkdir(parents=True)
    about.write_text("Metadata-Version: 2.1\nName: cellgames\nVersion: 99\n")
    with connected() as ray:
        address = ray.get_runtime_context().gcs_address
    with driver(OTHER, address, tmp_path, before=str(tmp_path / "other")) as process:
        out, err = process.communicate(timeout=120)
    assert "has other versions than the process that asks it: cellgames: expected 99, got" in out, err
    assert not list(tmp_path.glob("*.started"))


def test_modules_are_looked_for_everywhere_but_in_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "src" / "app"  # such as /usr/src/app, where Python itself is in /usr
    own.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    installed = [Path(module.__file__ or "").parent for module in (os, pytest)]
    monkeypatch.setattr(sys, "path", [str(own), *map(str, installed), str(tmp_path / "missing"), "."])
    assert module_folders() == [str(own), os.getcwd()]


def test_addresses_have_a_form() -> None:
    good = ["local", "auto", "127.0.0.1:6379", "[::1]:6379", "node-1.cluster:1"]
    bad = ["", "torus-v0", "6379", ":6379", "::1:6379", "host:0", "host:65536", "host:x", "ray://host:10001", "a b:1"]
    assert [text for text in good + bad if is_address(text)] == good


def test_builds_are_compared() -> None:
    refuse_other_build(build())
    with pytest.raises(ClusterError, match=r"python: expected 2\.7, got 3"):
        refuse_other_build(type(build())(build().cellgames, build().torch, "2.7"))
