"""The core without the lab: it imports, lists its commands, plays a round robin, trains, and serves its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import python

SCRIPT = """
import contextlib, importlib, io, pkgutil, sys

class Hidden:  # a finder of modules, without the lab: an editable installation has one of its own
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name == "cellgames.lab" else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hidden, sys.meta_path)
import cellgames
from cellgames.cli.main import main

def core(name):
    return not name.startswith("cellgames.lab") and not name.endswith("__main__")

def run(*words):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            assert main(list(words)) == 0, words
        except SystemExit as left:
            assert left.code in (0, None), words
    return said.getvalue()

modules = [found.name for found in pkgutil.walk_packages(cellgames.__path__, "cellgames.") if core(found.name)]
assert len(modules) > 150, len(modules)
for name in modules:
    try:
        importlib.import_module(name)
    except ImportError as error:
        assert not (error.name or "").startswith("cellgames"), name
assert not [name for name in sys.modules if name.startswith("cellgames.lab")]
listed = {line.split()[0] for line in run("--help").splitlines() if line.startswith("  ")}
assert {"round-robin", "analyse"} <= listed and not {"explain", "league"} & listed, listed
"""

WORK = """
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
    "script", [SCRIPT, pytest.param(SCRIPT + WORK, marks=pytest.mark.slow)], ids=["imports", "runs"]
)
def test_the_core_runs_without_the_lab(tmp_path: Path, script: str) -> None:
    pytest.importorskip("fastapi")
    done = python("-c", script, str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
