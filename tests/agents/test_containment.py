"""Hostile agents forfeit, are named, and leave the process and all other games as they were."""

from __future__ import annotations

import gc
import locale
import os
import random
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest
import torch
from arena_runs import content
from hostile_bots import BOTS, AttackError, Hostile, attacks
from paths import ROOT
from torch import Tensor

import cellgames
from cellgames.agents.base import BaseAgent
from cellgames.agents.containment import AgentError, guarded
from cellgames.agents.play_loop import Played, play
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.arena.play.match import match
from cellgames.arena.play.match_options import MatchOptions, RoundRobinOptions
from cellgames.arena.play.round_robin import round_robin
from cellgames.cli.main import main
from cellgames.envs.core import seeds
from cellgames.utils import last_call
from cellgames.utils.reasons import MOST_REASON, MOST_TRACE

TORUS = cellgames.make("torus-small-v0", size=3)
OPTIONS = MatchOptions(games=4, opening_plies=0)


def permissions() -> int:
    """Return the mask of file permissions."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def state_of_process() -> dict[str, Any]:
    """Return the state of the process that hostile agents change."""
    return {
        "folder": os.getcwd(),
        "device": torch.get_default_device(),
        "dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "gradients": torch.is_grad_enabled(),
        "handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "filters": list(warnings.filters),
        "environment": (
            id(os.environ),
            {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        ),
        "exits": (os._exit, os.abort),
        "permissions": permissions(),
        "locale": locale.setlocale(locale.LC_ALL),
        "imports": list(sys.path),
        "digits": sys.get_int_max_str_digits(),
        "recursion": sys.getrecursionlimit(),
        "numpy": np.geterr(),
        "collector": gc.isenabled(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "random": (
            random.getstate(),
            torch.get_rng_state().tolist(),
            str(np.random.get_state()),  # noqa: NPY002
        ),
    }


@pytest.fixture
def unchanged() -> Iterator[None]:
    before = state_of_process()
    yield
    after = state_of_process()
    assert after == before


@pytest.mark.parametrize("name", [*attacks])
@pytest.mark.usefixtures("unchanged")
def test_a_hostile_agent_forfeits_and_changes_nothing(name: str) -> None:
    played = match(TORUS, Hostile(name, BOTS[name]), RandomAgent(), OPTIONS)
    for record in played.records:
        forfeit = record.result.forfeit
        assert forfeit is not None
        assert record.agents[forfeit.seat] == name
        assert 0 < len(forfeit.reason) <= MOST_REASON
        assert len(forfeit.trace) <= MOST_TRACE + MOST_REASON
        if attacks[name].__qualname__.startswith("then_raises"):
            assert forfeit.reason == "AttackError: did its worst"
            assert "hostile_bots.py" in forfeit.trace
            assert "did its worst" in forfeit.trace
            assert "containment.py" not in forfeit.trace


def test_a_call_that_would_end_the_process_is_a_forfeit_of_its_agent() -> None:
    played = match(TORUS, Hostile("mine", BOTS["os._exit"]), RandomAgent(), OPTIONS)
    forfeit = played.records[0].result.forfeit
    assert forfeit is not None
    assert forfeit.reason == "ProcessExitError: os._exit(0) would end the process"


ROUND_ROBIN = """
import sys
import cellgames
from cellgames.arena import RoundRobinOptions, round_robin
from hostile_bots import BOTS, Hostile
from cellgames.agents.playouts.random_agent import RandomAgent

sys.modules["matplotlib"] = None
game = cellgames.make("torus-small-v0", size=2)
hostile = [Hostile(name, BOTS[name]) for name in sys.argv[2:]]
options = RoundRobinOptions(games=2, opening_plies=0, gif=False)
done = round_robin(game, ["random", "greedy", *hostile], options, out=sys.argv[1])
print("done", len(done.records), *(path.name for path in done.files if path.suffix == ".log"))
print("also here", file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and descriptors")
def test_a_round_robin_with_all_of_them_plays_every_other_game_as_without_them(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "support")])
    bots = ["BaseException", "chdir", "default device", "stdout", "warnings", "a billion", "closes stdout"]
    bots += ["closes stderr", "closes descriptors", "forks", "forks and answers"]
    run = subprocess.run(
        [sys.executable, "-c", ROUND_ROBIN, "run", *bots],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    count = len(bots) + 2
    assert run.stdout.split() == [
        "done",
        str(count * (count - 1)),
        "forfeits.log",
    ]  # by one process, though two bots forked
    assert "also here" in run.stderr
    alone = round_robin(
        cellgames.make("torus-small-v0", size=2),
        ["random", "greedy"],
        RoundRobinOptions(games=2, opening_plies=0, gif=False),
        out=tmp_path / "alone",
    )
    lines = (tmp_path / "run" / "games.jsonl").read_bytes().splitlines()
    assert [record.to_json().encode() for record in alone.records] == [
        line for line in lines if b'"agents":["random","greedy"]' in line or b'"agents":["greedy","random"]' in line
    ]
    assert sum(b'"forfeit"' in line for line in lines) > count
    log = (tmp_path / "run" / "forfeits.log").read_text()
    assert "closes stdout\n  " in log
    assert "hostile_bots.py" in log
    assert not (tmp_path / "run" / last_call.FILE).exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_run_that_an_agent_ends_goes_on_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "support")])
    words = ["round-robin", "torus-small-v0", "--agents", "hostile_bots:Ends", "random", "--games", "4", "--chunk", "2"]
    words += ["--size", "2", "--no-gif", "--no-store", "--quiet"]

    def run(ends: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cellgames", *words, "--out", str(tmp_path / "run")],
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "ENDS": ends},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    first = run("exit")
    assert "ended while" not in first.stderr
    assert (tmp_path / "run" / last_call.FILE).exists()
    second = run("kill")
    assert second.returncode == -signal.SIGKILL
    told = f"the last run in {tmp_path / 'run'} ended while hostile_bots:Ends was asked for a move"
    assert f"{told} (hostile_bots:Ends vs random, openings 0 to 1)" in second.stderr
    assert "leave this agent out" not in second.stderr
    third = run("segfault")
    assert third.returncode == -signal.SIGSEGV
    assert "that makes 2 times: if nobody stopped them, leave this agent out" in third.stderr
    monkeypatch.delenv("ENDS", raising=False)
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert "that makes 3 times" in capsys.readouterr().err
    assert main([*words, "--out", str(tmp_path / "whole")]) == 0
    assert "ended while" not in capsys.readouterr().err
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_an_evaluation_that_an_agent_ends_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note of the process that ended, as it leaves it."""
    monkeypatch.delenv("ENDS", raising=False)
    words = ["evaluate", "torus-small-v0", "--agents", "hostile_bots:Ends", "random", "--games", "2", "--size", "2"]
    words += ["--no-store", "--quiet", "--out", str(tmp_path / "run")]
    notes: list[bytes] = []

    def act(*_: Any) -> None:
        notes.append((tmp_path / "run" / last_call.FILE).read_bytes())
        raise AttackError

    with monkeypatch.context() as patched:
        patched.setattr("hostile_bots.Ends.act", act)
        assert main(words) == 0
    assert "ended while" not in capsys.readouterr().err
    (tmp_path / "run" / last_call.FILE).write_bytes(notes[0])
    assert main(words) == 0
    assert f"the last run in {tmp_path / 'run'} ended while hostile_bots:Ends was asked for a move" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "run" / last_call.FILE).exists()


class Draws(BaseAgent):
    """Plays by all global random generators."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        number = random.random() + np.random.rand() + float(torch.rand(()))  # noqa: NPY002
        legal = [row.nonzero().squeeze(1) for row in action_mask]
        return torch.stack([row[int(number * 1000) % len(row)] for row in legal])


def two(first: Any, second: Any) -> Played:
    generators = [torch.Generator().manual_seed(number) for number in range(2)]
    return play(TORUS, [first, second], torch.tensor([[0, 1], [1, 0]]), seeds(0, 2), generators, forfeits=True)


def test_agents_that_draw_from_global_generators_play_the_same_in_every_process() -> None:
    one = two(Draws("a"), Draws("b"))
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    state = random.getstate()
    drawing = Hostile("c", lambda actions: (random.random(), torch.rand(3), actions)[-1])
    assert torch.equal(two(Draws("a"), Draws("b")).actions, one.actions)
    assert random.getstate() == state
    two(Draws("a"), drawing)
    assert random.getstate() == state


@pytest.fixture(autouse=True)
def _seeds() -> Iterator[None]:
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])


class Nameless(Hostile):
    """Its name cannot be read."""

    def __init__(self) -> None:
        self.attack = lambda actions: actions
        self.moves = 0

    @property
    def name(self) -> str:  # type: ignore[override]  # on purpose
        raise KeyError("no name")


def test_an_agent_whose_name_cannot_be_read_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got a Nameless, whose name raises KeyError: 'no name'"):
        round_robin(TORUS, [cast(Any, Nameless()), "random"], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert two(Nameless(), RandomAgent()).failures == {}


def test_an_agent_cannot_change_its_answer_any_more() -> None:
    class Later(Hostile):
        answers: ClassVar[list[Tensor]] = []

        def act(self, *arguments: Any) -> Any:
            for answer in self.answers:
                answer.fill_(99)
            self.answers.append(super().act(*arguments))
            return self.answers[-1]

    plain = two(Hostile("a", lambda actions: actions), RandomAgent())
    assert torch.equal(two(Later("a", lambda actions: actions), RandomAgent()).actions, plain.actions)


def test_threads_call_agents_at_the_same_time() -> None:
    before, barrier = os.getcwd(), threading.Barrier(2)

    def change(steps: Callable[[], None]) -> None:
        def call() -> None:
            barrier.wait(10)
            steps()

        guarded("agent", "a move", call, exceptions=True)

    others = threading.Thread(target=change, args=(lambda: os.chdir("/"),))
    others.start()
    change(lambda: torch.set_default_dtype(torch.float64))
    others.join()
    assert os.getcwd() == before
    assert torch.get_default_dtype() == torch.float32


def test_without_forfeits_the_error_names_the_agent() -> None:
    generators = [torch.Generator().manual_seed(number) for number in range(2)]
    with pytest.raises(AgentError, match=r"agent 'mine' failed: SystemExit: 3") as caught:
        play(
            TORUS,
            [Hostile("mine", BOTS["sys.exit"]), RandomAgent()],
            torch.tensor([[0, 1]]),
            seeds(0, 1),
            generators,
        )
    assert "hostile_bots.py" in caught.value.trace


def test_debug_shows_where_an_agent_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["round-robin", "torus-small-v0", "--agents", "arena_bots:Broken", "random", "--games", "2", "--quiet"]
    words += ["--no-gif", "--no-store", "--size", "2"]
    assert main([*words, "--out", str(tmp_path / "quiet")]) == 0
    assert "arena_bots.py" not in capsys.readouterr().err
    assert main([*words, "--out", str(tmp_path / "loud"), "--debug"]) == 0
    err = capsys.readouterr().err
    assert "a game was forfeited by arena_bots:Broken" in err
    assert 'raise ZeroDivisionError("the bot\'s own fault")' in err
    log = (tmp_path / "quiet" / "forfeits.log").read_text()
    assert log.startswith("arena_bots:Broken\n    File ")
    assert log.endswith("  ZeroDivisionError: the bot's own fault\n")
    assert log.count("ZeroDivisionError: ") == 1
    assert (tmp_path / "loud" / "forfeits.log").read_text() == log


@pytest.mark.parametrize(
    "words",
    ["play torus-small-v0 --watch --agents", "analyse torus-small-v0 --games 2 --quiet --agents"],
)
def test_commands_that_ask_agents_otherwise_name_the_one_that_would_end_them(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words.split(), "hostile_bots:Leaves", "random", "--size", "3"]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "agent 'hostile_bots:Leaves' failed: ProcessExitError: os._exit(0) would end the process" in error


def test_an_evaluation_logs_where_agents_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDS", "raise")
    monkeypatch.setenv("ENDS_AT", "2")
    words = ["evaluate", "torus-small-v0", "--agents", "hostile_bots:Ends", "random", "--games", "2", "--size", "2"]
    words += ["--no-store", "--quiet", "--out", str(tmp_path)]
    assert main(words) == 0
    assert 'hostile_bots.py", line' in (tmp_path / "forfeits.log").read_text()
    monkeypatch.delenv("ENDS")
    assert main(words) == 0
    assert not (tmp_path / "forfeits.log").exists()


@pytest.mark.parametrize("method", ["act_on_state", "act_on_views", "finish", "clock"])
def test_an_agent_that_attacks_whoever_looks_for_a_method_ends_nothing(method: str) -> None:
    class Touchy(Hostile):
        def __getattr__(self, name: str) -> Any:
            if name == method:
                raise SystemExit(f"who asks for {name}?")
            raise AttributeError(name)

    assert not two(Touchy("touchy", lambda actions: actions), RandomAgent()).failures
