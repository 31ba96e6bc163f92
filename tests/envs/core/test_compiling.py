"""Compiled steps where the compiler fails, and games that leave it alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

from cellgames.envs.kernels.compiling import compiler_found


@pytest.mark.slow
@pytest.mark.skipif(not compiler_found("cpu"), reason="no compiler")
def test_games_step_eagerly_where_the_compiler_has_no_room(tmp_path: Path) -> None:
    """A cache below a file cannot be made, as in a folder that is read-only; root may write into those."""
    (tmp_path / "file").touch()
    program = (
        "import torch, cellgames; from cellgames.envs.core.vector import Vector\n"
        "games = [Vector(cellgames.make('torus-v0', size=3), 1024, compile=how) for how in ('auto', 'never')]\n"
        "for game in games: game.step_random(torch.Generator().manual_seed(1))\n"
        "assert games[0].state.equal(games[1].state) and games[0].backend == 'eager'\n"
    )
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "file" / "cache"), "PYTHONPATH": str(ROOT / "src")}
    cache["CELLGAMES_NATIVE"] = "0"  # else nothing is compiled
    words = [sys.executable, "-c", program]
    ended = subprocess.run(words, env={**os.environ, **cache}, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "compiling failed, stepping eagerly" in ended.stderr
