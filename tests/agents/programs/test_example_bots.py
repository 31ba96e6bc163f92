"""The example bots in four languages, each where its compiler or interpreter is present."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from paths import ROOT

import cellgames
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.programs.program_check import check_program
from cellgames.arena import MatchOptions, match

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as agents need POSIX")

FOLDER = ROOT / "examples" / "bots"
BOTS = {
    "bot.py": (sys.executable, []),
    "bot.js": ("node", []),
    "bot.c": ("cc", ["-O2", "-Wall", "-Wextra", "-Werror", "-std=c11"]),
    "bot.rs": ("rustc", ["-O", "-D", "warnings"]),
}
GAME = cellgames.make("torus-v0", size=3)


@pytest.fixture(scope="module", params=BOTS)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command line of an example, compiled if need be."""
    name = request.param
    tool, options = BOTS[name]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is missing")
    if not options:
        return shlex.join([tool, str(FOLDER / name)])
    binary = str(tmp_path_factory.mktemp(name) / "bot")
    done = subprocess.run(
        [tool, *options, "-o", binary, str(FOLDER / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return shlex.quote(binary)


def test_an_example_plays_legally_and_better_than_random(command: str) -> None:
    assert all(finding.passed for finding in check_program(command, GAME, games=2)), list(check_program(command, GAME))
    agent = ProgramAgent(command)
    assert match(GAME, agent, "random", MatchOptions(games=20)).score >= 0.8
    agent.close()


def test_an_example_refuses_another_game(command: str) -> None:
    (finding,) = check_program(command, cellgames.make("toroidal-cup-small-v0"))
    assert not finding.passed
    assert finding.detail == "the program says: 'this bot plays torus-v0'"


def test_every_file_is_an_example_that_is_tested_and_short() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == {*BOTS}
    assert all(len((FOLDER / name).read_text().splitlines()) <= 130 for name in BOTS)
