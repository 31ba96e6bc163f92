"""A bare install, without extras or without the lab: nothing crashes, and what is left out is said once."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import printed, python

from cellgames.envs.core.drawing import Picture
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


@pytest.mark.parametrize(
    ("missing", "call", "extra"),
    [
        ("PIL", "cellgames.envs.core.raster.to_rgb", "render"),
        ("PIL", "cellgames.utils.animations.save_animation", "render"),
        *((name, "cellgames.envs.torus_v0.env", "human") for name in ("pygame", "PIL")),
        ("safetensors", "cellgames.agents.load", "trained"),
        ("sb3_contrib", "cellgames.training.maskable.sb3_import", "train"),
        ("stable_baselines3.common.vec_env", "cellgames.envs.adapters.sb3", "train"),
        ("torchrl.data", "cellgames.envs.adapters.torchrl", "torchrl"),
        ("pyspiel", "cellgames.envs.adapters.openspiel", "openspiel"),
    ],
)
def test_an_extra_that_is_missing_is_named(
    missing: str, call: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what needs it: a function, or a module as it is imported."""
    module, name = call.rsplit(".", 1)
    (tmp_path / "agent.safetensors").write_bytes(b"weights")
    given: dict[str, dict[str, Any]] = {
        "to_rgb": {"picture": Picture(2, 2, None, ())},
        "save_animation": {"frames": [np.zeros((2, 2, 3), np.uint8)], "path": tmp_path / "game.gif"},
        "env": {"render_mode": "human"},
        "load": {"spec": str(tmp_path)},
    }
    function = getattr(importlib.import_module(module), name, None) if name in given else None
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == missing or loaded == call]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf'pip install "cellgames\[{extra}\]"'):
        function(**given[name]) if function else importlib.import_module(call)


MAIN = """
import sys; sys.argv[0] = 'cellgames'
from cellgames.cli.main import main
for words in sys.stdin.read().splitlines():
    try: main(words.split())
    except SystemExit: pass
"""
HELP = (
    "--help --version list play play|--help train|--help evaluate|--help round-robin|--help season|--help replay|--help"
)


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "from cellgames.envs import torus_v0; env = torus_v0.env(size=3, render_mode='ansi')\n"
            "env.reset(seed=1); env.step(0); env.render(); env.close()",
            "torch._dynamo pyspiel pettingzoo.classic pygame PIL matplotlib",
        ),
        (MAIN, "torch numpy matplotlib PIL"),
    ],
    ids=["an environment", "help"],
)
def test_nothing_heavy_is_imported_unless_asked(code: str, heavy: str) -> None:
    found = f"\nimport sys; sys.exit({{*{heavy.split()}}} & sys.modules.keys() or None)"
    printed(code + found, input=HELP.replace(" ", "\n").replace("|", " "))


SCRIPT = """
import contextlib, importlib, io, pkgutil, sys

class Hidden:  # a finder of modules, without the lab: an editable installation has one of its own
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name == "cellgames.lab" else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hidden, sys.meta_path)
from cellgames.cli.main import main

def run(*words):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            assert main(list(words)) == 0, words
        except SystemExit as left:
            assert left.code in (0, None), words
    return said.getvalue()

listed = {line.split()[0] for line in run("--help").splitlines() if line.startswith("  ")}
assert {"round-robin", "analyse"} <= listed and not {"explain", "league"} & listed, listed
assert "torus-v0" in run("list")
"""

WORK = """
# Importing these takes seconds. What the modules that need them import of the lab, `test_imports_go_down` finds.
slow = "tensordict torchrl stable_baselines3 sb3_contrib pyspiel ray matplotlib"
sys.modules.update(dict.fromkeys(slow.split()))
import cellgames

def core(name):
    return not name.startswith("cellgames.lab") and not name.endswith("__main__")

modules = [found.name for found in pkgutil.walk_packages(cellgames.__path__, "cellgames.") if core(found.name)]
assert len(modules) > 150, len(modules)
for name in modules:
    try:
        importlib.import_module(name)
    except ImportError as error:
        assert not (error.name or "").startswith("cellgames"), name
assert not [name for name in sys.modules if name.startswith("cellgames.lab")]
folder = sys.argv[1]
run(*f"round-robin torus-v0 --size 3 --agents random greedy --games 4 --out {folder}/played --quiet".split())
run(*f"analyse --records {folder}/played --out {folder}/analysed".split())
sizes = "--total-steps 512 --num-envs 8 --num-steps 8 --eval-games 4 --threads 1"
run(*f"train torus-v0 --size 3 {sizes} --out {folder}/trained --quiet".split())
from pathlib import Path
from fastapi.testclient import TestClient
from cellgames.web import create_app
client = TestClient(create_app(Path(folder), hosts=None))
assert client.get("/").status_code == 200
assert client.get("/api/records").json()["files"]
assert client.get("/api/records/worth", params={"file": "played/games.jsonl", "number": 1}).status_code == 404
"""


@pytest.mark.parametrize(
    "script", [SCRIPT, pytest.param(SCRIPT + WORK, marks=pytest.mark.slow)], ids=["commands", "all"]
)
def test_the_core_runs_without_the_lab(tmp_path: Path, script: str) -> None:
    pytest.importorskip("fastapi")
    printed(script, str(tmp_path))
