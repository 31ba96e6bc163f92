"""torch's default dtype and device change no game, no agent and no run of training."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from paths import ROOT
from processes import environment
from torch_defaults import DEFAULTS, PARTS


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_defaults_of_torch_change_nothing(part: str) -> None:
    """Each in a process of its own: what is made once and kept would hide what other defaults make of it."""
    if part == "adapters":
        for library in ("gymnasium", "pettingzoo", "stable_baselines3", "torchrl"):
            pytest.importorskip(library)
    words = [sys.executable, "-W", "ignore", str(ROOT / "tests" / "support" / "torch_defaults.py")]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*words, name, part], env=environment(), **pipes) for name in DEFAULTS]
    texts = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(DEFAULTS), texts
    played = [out for out, _ in texts]
    assert played[0].count("\n") > 2
    assert played[1:] == played[:1] * (len(DEFAULTS) - 1)
