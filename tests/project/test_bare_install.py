"""A bare install: only what the package itself needs. Nothing crashes, and what is left out is said once."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import python

from cellgames.utils.extras import no_pictures

BLOCKED = (
    *("matplotlib", "PIL", "tqdm", "rich", "safetensors", "scipy", "pyarrow", "stable_baselines3", "sb3_contrib"),
    *("torch.utils.tensorboard", "tensorboard", "optuna", "fastapi", "uvicorn", "pygame", "imageio_ffmpeg"),
)

PROGRAM = f"""
import sys
sys.modules.update(dict.fromkeys({BLOCKED!r}))  # as if they were not installed
from cellgames.cli.main import main
for line in sys.stdin.read().splitlines():
    print("$", line, file=sys.stderr, flush=True)
    print("exit", main(line.split()), file=sys.stderr, flush=True)
"""

NO_PICTURES = 'cellgames: no plots and pictures, since matplotlib or Pillow is missing: pip install "cellgames[render]"'
GAMES = "torus-v0 --size 2 --agents random greedy --games 2 --quiet"

EXPECTED = {
    "list": [],
    f"round-robin {GAMES} --out run": [NO_PICTURES],  # plots and a GIF
    f"evaluate {GAMES} --out evaluation": [],
    "season torus-v0 --size 2 --agents random greedy --teams 8 --days 1 --quiet": [],
    "leaderboard --out tables": [NO_PICTURES],  # two pages with plots
    f"analyse {GAMES}": [NO_PICTURES],
    "replay run": [],
    "replay run --record 1 --out game.html": [],
    "replay run --record 1 --out game.png": ['cellgames: RGB pictures need Pillow: pip install "cellgames[render]"'],
    "replay run --record 1 --out game.gif": ['cellgames: a GIF needs Pillow: pip install "cellgames[render]"'],
    "replay run --record 1 --out game.mp4": [
        'cellgames: a video needs imageio-ffmpeg, which brings ffmpeg: pip install "cellgames[video]"'
    ],
    "play torus-small-v0 --agents trained": ['cellgames: weights need safetensors: pip install "cellgames[trained]"'],
    "train torus-v0 --size 2 --total-steps 9": [
        'cellgames: weights need safetensors: pip install "cellgames[trained]"'
    ],
    "serve": ['cellgames: the page needs uvicorn: pip install "cellgames[web]"'],
}
"""The lines of each command on standard error."""


@pytest.mark.slow
def test_every_command_says_once_what_is_missing(tmp_path: Path) -> None:
    store = {"CELLGAMES_STORE": str(tmp_path / "store.sqlite")}
    ended = python("-c", PROGRAM, input="\n".join(EXPECTED), cwd=tmp_path, variables=store)
    assert ended.returncode == 0, ended.stderr
    found = {}
    for part in ended.stderr.split("$ ")[1:]:
        command, *said, code = part.splitlines()
        found[command] = said
        refused = any("pip install" in line for line in said) and NO_PICTURES not in said
        assert code == ("exit 2" if refused else "exit 0"), part
    assert found.keys() == EXPECTED.keys()
    for command, lines in EXPECTED.items():
        assert len(found[command]) == len(lines), (command, found[command])
        assert all(line in said for line, said in zip(lines, found[command], strict=True)), (command, found[command])
    assert "![" not in (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert not [*tmp_path.rglob("*.png"), *tmp_path.rglob("*.gif"), *tmp_path.rglob("*.part")]


def test_a_package_that_is_there_but_broken_is_named() -> None:
    assert "since libfreetype is too old: pip install" in no_pictures(ImportError("libfreetype is too old"))
