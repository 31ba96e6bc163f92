"""Workers of a Ray cluster: what they do, what they survive, and whom they refuse."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ray_clusters import Told, patient

from cellgames.cluster.connection import ClusterError, build, connected, is_address, load_ray
from cellgames.cluster.workers import RayWorkers, Work
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
    def __reduce__(self) -> str:
        raise TypeError("cannot pickle this")


def one(workers: RayWorkers, work: Work[str, Any], piece: str) -> Any:
    ((_, result),) = workers.completed(work, [piece])
    return result


def started(folder: Path, piece: str) -> list[int]:
    return [int(path.suffix[1:]) for path in folder.glob(f"{piece}.*")]


@pytest.mark.slow
def test_pieces_are_done_elsewhere_and_a_work_starts_once_in_each_process(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    pieces = [f"square {number}" for number in range(20)]
    assert dict(workers.completed(work, pieces)) == {f"square {n}": n * n for n in range(20)}
    processes, threads, variable = zip(*(one(workers, work, "machine") for _ in range(3)), strict=True)
    assert os.getpid() not in processes
    assert {*threads} == {1}
    assert {*variable} == {"1"}
    doing = {process for piece in pieces for process in started(tmp_path, piece)}
    assert {int(path.stem) for path in tmp_path.glob("*.started")} == doing | {*processes}
    assert 1 <= len(doing) <= workers.count == 2


def test_a_piece_that_fails_is_named_and_all_that_is_under_way_arrives(workers: RayWorkers, tmp_path: Path) -> None:
    pieces = ["wait 0.3", "raise the roof", *(f"square {number}" for number in range(1, 30))]
    done: list[str] = []

    def do() -> None:
        for piece, _ in workers.completed(Told(tmp_path), pieces):
            done.append(piece)
            patient(lambda: started(tmp_path, "raise the roof"))

    with pytest.raises(ClusterError, match=r"^raise the roof failed on \S+: RuntimeError: cannot do the roof$") as info:
        do()
    assert "wait 0.3" in done
    assert sum(len(started(tmp_path, piece)) for piece in pieces) == len(done) + 1 < len(pieces)
    assert "in do" in str(info.value.__cause__)  # where it failed, for --debug


def test_work_that_cannot_start_or_travel_is_an_error(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"square 3 failed on .*: OSError: no way to start"):
        one(workers, Told(tmp_path, failing=True), "square 3")
    with pytest.raises(ClusterError, match=r"leave early failed on .*: SystemExit: left early"):
        one(workers, Told(tmp_path), "leave early")
    with pytest.raises(ClusterError, match=r"piece .* cannot be sent to workers: TypeError: cannot pickle"):
        one(workers, Told(tmp_path), Stuck("square 3"))


def test_a_piece_outlives_its_worker(workers: RayWorkers, tmp_path: Path) -> None:
    pieces = ["once killed", *(f"square {number}" for number in range(5))]
    assert dict(workers.completed(Told(tmp_path), pieces))["once killed"] == "once killed"
    assert len(started(tmp_path, "once killed")) == 2


@pytest.mark.slow
def test_a_piece_that_kills_every_worker_is_given_up(workers: RayWorkers, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^die again could not be done: 4 workers died at it"):
        one(workers, Told(tmp_path), "die again")
    assert len(started(tmp_path, "die again")) == 4


def test_whoever_stops_early_cancels_what_is_under_way(workers: RayWorkers, tmp_path: Path) -> None:
    work = Told(tmp_path)
    for _ in workers.completed(work, ["square 1", *(f"wait {600 + number}" for number in range(9))]):
        break
    assert one(workers, work, "square 5") == 25


def test_no_more_pieces_at_a_time_than_were_asked_for(workers: RayWorkers, tmp_path: Path) -> None:
    with RayWorkers(count=1) as single, ThreadPoolExecutor(1) as threads:  # in a process that is connected already
        assert (single.count, workers.count) == (1, 2)
        pieces = ["hold 1", "hold 2"]
        done = threads.submit(lambda: [piece for piece, _ in single.completed(Told(tmp_path), pieces)])
        patient(lambda: started(tmp_path, "hold 1"))
        assert not started(tmp_path, "hold 2")
        (tmp_path / "released").touch()
        assert done.result(SOON) == pieces
    assert one(workers, Told(tmp_path), "square 6") == 36  # the cluster is still there


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


def test_what_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellgames.cluster.connection.load_ray", FakeRay)
    for address, message in {NOBODY: "nobody answers", "nonsense": "expected `auto` or HOST:PORT"}.items():
        with pytest.raises(ClusterError, match=f"joined at '{address}': {message}"), connected(address):
            pass
    with pytest.raises(ValueError, match="at least 1 worker, got 0"):
        RayWorkers(count=0)
    with pytest.raises(RuntimeError, match="in a with statement"):
        one(RayWorkers(), Told(Path()), "square 1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'pip install "cellgames\[ray\]"'):
        load_ray()


def test_a_worker_with_another_version_is_refused(
    workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellgames.cluster.connection.build", lambda: {**build(), "cellgames": "99"})
    with pytest.raises(ClusterError, match=r"has other versions .*: cellgames: expected 99, got"):
        one(workers, Told(tmp_path), "square 3")
    assert not list(tmp_path.glob("*.started"))


def test_addresses_have_a_form() -> None:
    good = ["local", "auto", "127.0.0.1:6379", "[::1]:6379", "node-1.cluster:1"]
    bad = ["", "torus-v0", "6379", ":6379", "::1:6379", "host:0", "host:65536", "host:x", "ray://host:10001", "a b:1"]
    assert [text for text in good + bad if is_address(text)] == good
