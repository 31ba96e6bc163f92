"""Runs of the lab, by the suite of all runs, and a league that real signals stop."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ROOT
from processes import environment
from run_suite import RunSuite, different_files

pytestmark = pytest.mark.skipif(find_spec("ribs") is None, reason="needs pyribs, which takes seconds to import")


class TestLabRuns(RunSuite):
    KINDS = "lab_run_kinds"


LEAGUE = [
    *("league", "torus-v0", "--size", "2", "--steps", "1200", "--rounds", "1", "--games", "4", "--num-envs", "8"),
    *("--num-steps", "8", "--channels", "4", "--layers", "1", "--eval-games", "2", "--checkpoint-every", "2"),
    *("--threads", "1", "--device", "cpu", "--quiet", "--no-store"),
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends other signals to processes")
def test_a_league_that_sigterm_stops_ends_with_equal_files(tmp_path: Path) -> None:
    def start(name: str) -> subprocess.Popen[bytes]:
        words, nowhere = [sys.executable, "-m", "cellgames", *LEAGUE, "--out", str(tmp_path / name)], subprocess.DEVNULL
        return subprocess.Popen(words, cwd=ROOT, env=environment(), stderr=nowhere, stdout=nowhere)

    assert start("whole").wait(300) == 0
    for name, wait_s in ("at once", 0.0), ("later", 0.3):
        with start(name) as process:
            while not (tmp_path / name / "members" / "psro-001" / "checkpoint.pt").exists():
                assert process.poll() is None
                time.sleep(0.01)
            time.sleep(wait_s)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) in (128 + signal.SIGINT, 128 + signal.SIGTERM)
        assert start(name).wait(300) == 0
        assert different_files(tmp_path / "whole", tmp_path / name) == []
