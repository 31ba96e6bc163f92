"""Programs as agents: those that play, and those that hang, crash, flood, lie or leave processes behind."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from refusals import refused
from slow import slow_except
from waits import runs, until

import cellgames
from cellgames.agents import Played, ProgramAgent, load, play
from cellgames.agents.agent_specs import wrapped
from cellgames.agents.loading import identity
from cellgames.agents.programs.process import BotProcess, Limits, ProgramError, namespaces
from cellgames.agents.time_control import TimeControl
from cellgames.arena import MatchOptions, match
from cellgames.cli.main import main
from cellgames.cli.terminal import Table
from cellgames.envs.core import seeds
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.web.live_game import Session

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as agents need POSIX")

GAME = cellgames.make("torus-v0", size=2)

BOT = """
import json, random, sys
def say(**message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        say(type="ready", protocol=1, name="a bot")
    elif asked["type"] == "act":
        action = [random.Random(asked["seed"]).choice(legal) for legal in asked["legal"]]
        answer = dict(id=asked["id"], action=action[0] if len(action) == 1 else action)
        {trick}
        if answer:
            say(type="action", **answer)
    elif asked["type"] == "quit":
        break
"""


@pytest.fixture
def bots(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a bot with a trick of its own, and returns its command."""

    def write(trick: str = "pass") -> str:
        path = tmp_path / f"bot_{abs(hash(trick))}.py"
        path.write_text(BOT.format(trick=textwrap.indent(textwrap.dedent(trick), " " * 8).strip()))
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


def playing(agent: ProgramAgent, games: int = 1) -> Played:
    """Play some games against random play, the program on the first seat."""
    chances = [torch.Generator().manual_seed(number) for number in (1, 2)]
    return play(GAME, [agent, load("random")], torch.tensor([[0, 1]] * games), seeds(3, games), chances, forfeits=True)


def played(command: str, games: int = 4, limits: Limits | None = None) -> Played:
    """Play some games with a program that is ended then."""
    agent = ProgramAgent(command, limits)
    try:
        return playing(agent, games)
    finally:
        agent.close()


def test_a_program_is_named_like_any_agent(
    bots: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = bots("sys.stderr.write('thinking\\n')")
    out = tmp_path / "run"
    words = ["round-robin", "torus-v0", "--size", "2", "--games", "4", "--no-store", "--no-gif", "--out", str(out)]
    assert main([*words, "--agents", f"mine=exec:{command}", "random", "greedy"]) == 0
    assert "mine" in capsys.readouterr().out
    assert (out / "logs" / "mine.log").read_text().startswith("thinking")
    record = json.loads((out / "games.jsonl").read_text().splitlines()[0])
    assert "mine" in record["agents"]
    settings = json.loads((out / "run.json").read_text())
    assert settings["identities"]["mine"] == identity(f"exec:{command}")


def test_the_identity_follows_the_files_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text("1")
    first = identity(f"exec:{sys.executable} {path}")
    assert first == identity(f"mine=exec:{sys.executable} {path}")
    path.write_text("2")
    assert identity(f"exec:{sys.executable} {path}") not in (first, "")
    assert identity(f"exec:{sys.executable} {path} --strong") != identity(f"exec:{sys.executable} {path}")
    assert identity("exec:/no/such/program") == ""


@pytest.mark.slow
def test_our_agents_are_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    """`cellgames bot` plays the games that the agent itself plays."""
    command = f"{shlex.quote(sys.executable)} -m cellgames bot greedy"
    options = MatchOptions(games=4, seed=1)
    through = match(cellgames.make("torus-v0", size=3), f"it=exec:{command}", "random", options)
    itself = match(cellgames.make("torus-v0", size=3), "it=greedy", "random", options)
    assert through.score == itself.score == 1.0
    assert main(["check-bot", "torus-v0", "--size", "3", "--agent", f"exec:{command}"]) == 0
    said = capsys.readouterr().out
    assert said.count("ok ") == 4
    assert "name: greedy" in said


def test_results_are_told(bots: Callable[..., str], tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    command = bots()
    path = Path(shlex.split(command)[1])
    source = BOT.format(trick="pass")
    path.write_text(source + f'    elif asked["type"] == "result":\n        open({str(heard)!r}, "a").write(line)\n')
    games = played(command)
    told = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [message["outcome"] for message in told] == GAME.outcome(games.state)[:, 0].tolist()


WRONG = {
    "1 / 0": "ZeroDivisionError",
    "import os; os.kill(os.getpid(), 9)": "it ended with signal SIGKILL",
    "import os, time; os.close(1); time.sleep(60)": "it closed its output",
    "print('hello', flush=True)": "expected a JSON object on one line",
    "sys.stdout.buffer.write(b'\\xff\\xfe\\n')": "expected a line in UTF-8",
    "answer['action'] = 'z9'": "expected the name of an action",
    "answer['id'] += 1": "expected the answer to question",
    "say(type='error', message='no idea'); answer.clear()": "the program says: 'no idea'",
    "pass": "",
}


def test_what_a_program_does_wrong_costs_its_game_only(bots: Callable[..., str]) -> None:
    """It does something else wrong in each game but the last; there it plays on, in new processes."""
    games = played(bots(f"if asked['turn'] >= 2:\n    exec({list(WRONG)!r}[asked['game']])"), len(WRONG))
    assert list(games.failures) == list(range(len(WRONG) - 1))
    for failure, expected in zip(games.failures.values(), WRONG.values(), strict=False):
        assert failure.seats == (0,)
        assert expected in failure.reason
    assert GAME.outcome(games.state).ne(0).any(1).tolist() == [False] * (len(WRONG) - 1) + [True]


def test_one_that_does_not_read_cannot_block(tmp_path: Path) -> None:
    process = BotProcess([sys.executable, "-c", "import time; time.sleep(100)"], Limits())
    with pytest.raises(ProgramError):
        process.exchange_all(b"x" * 10_000_000 + b"\n", 1, 0.3)
    assert not process.alive


def test_what_it_prints_on_standard_error_is_bounded(bots: Callable[..., str], tmp_path: Path) -> None:
    command = bots("sys.stderr.write('e' * 3_000_000)")
    with RunFolder(tmp_path / "run", RunKind("run", "run.json")):
        assert not played(command, games=1).failures
    (log,) = (tmp_path / "run" / "logs").iterdir()
    assert log.stat().st_size == 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
@pytest.mark.parametrize("count", [1, 9])
def test_all_that_it_has_started_ends_with_it(bots: Callable[..., str], count: int) -> None:
    """Also daemons in sessions of their own, without an environment."""
    mark = secrets.token_hex(8)
    children = f"import subprocess\nfor _ in range({count}):\n    "
    children += f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)', {mark!r}], **apart)"
    games = played(bots(f"apart = dict(start_new_session=True, env={{}})\n{children}"), 1, Limits(processes=5000))
    assert not games.failures
    until(lambda: not living(mark), 30.0)


def living(mark: str) -> list[str]:
    """Return the processes that have a mark in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes() and runs(int(path.parent.name)):
                found.append(path.parent.name)
    return found


ARENA = """
import sys, time, torch, cellgames
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.views import Views
from cellgames.envs.core import seeds
game = cellgames.make("torus-v0", size=2)
agent = ProgramAgent(sys.argv[1])
agent.check_game(game)
print("started", flush=True)
if sys.argv[2] == "thinks":
    state = game.init(seeds(0, 1))
    agent.start(game, torch.tensor([0]), torch.tensor([0]))
    agent.act_on_views(Views(game, state, torch.tensor([0]), game.legal_actions(state)), torch.tensor([0]),
                       torch.Generator())
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
@pytest.mark.parametrize("phase", slow_except(["sleeps"], ["sleeps", "thinks"]))
@pytest.mark.parametrize("end", slow_except([signal.SIGKILL], [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
@pytest.mark.parametrize("namespace", slow_except([True], [True, False]))
def test_programs_end_with_the_arena(bots: Callable[..., str], phase: str, end: int, namespace: bool) -> None:
    """However it ends, and whether the program is stopped or thinks, which this one does for ever."""
    mark = secrets.token_hex(8)
    without = "" if namespace else "from cellgames.agents.programs import process\nprocess.namespaces = lambda: ()\n"
    command = f"{bots('__import__(chr(116) + chr(105) + chr(109) + chr(101)).sleep(99)')} {mark}"
    words = [sys.executable, "-c", without + ARENA, command, phase]
    arena = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert arena.stdout is not None
    assert arena.stdout.readline() == b"started\n"
    time.sleep(0.5)
    assert len(living(mark)) > 1
    arena.send_signal(end)
    arena.wait(30)
    until(lambda: not living(mark), 30.0)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_a_program_that_nobody_knows_any_more_is_ended(bots: Callable[..., str]) -> None:
    agent = ProgramAgent(bots())
    agent.check_game(GAME)
    assert agent._process is not None
    pid = agent._process.pid
    assert runs(pid)
    del agent
    gc.collect()
    until(lambda: not runs(pid))


@pytest.mark.parametrize(
    ("trick", "expected"),
    [
        ("answer['action'] = 10_000", "illegal action 10000: expected a number from 0 to"),
        ("sys.exit(1)", "it ended with exit code 1"),
    ],
)
def test_the_check_says_what_is_wrong_and_where(
    bots: Callable[..., str], trick: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-bot", "torus-small-v0", "--agent", f"exec:{bots(trick)}"]) == 1
    said = capsys.readouterr().out
    assert "WRONG  it plays 4 games" in said
    assert expected in said


SPY = """
import contextlib, sys
from pathlib import Path

class Spy:
    name = "spy"
    def start(self, game, players, env_ids):
        pass
    def act(self, observation, action_mask, env_ids, generator):
        with contextlib.suppress(OSError):
            Path("written").write_text("by the spy")
        print("sees", len(list(Path("results").glob("*"))), "results", file=sys.stderr)
        print("asked about", len(env_ids), file=sys.stderr)
        return action_mask.int().argmax(1)
"""


@pytest.fixture
def spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with an agent that looks around, and with a result."""
    (tmp_path / "spybot.py").write_text(SPY)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "games.sqlite").write_text("the store")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_isolated_agent_is_the_agent_that_it_is_inside_and_a_sandboxed_one_sees_less(spy: Path) -> None:
    """They are asked about all games at once."""
    words = ["round-robin", "torus-v0", "--size", "3", "--games", "4", "--no-store", "--no-gif", "--quiet"]
    ways = {"plain": "--in-process", "apart": "", "box": "--sandbox"}
    for out, option in list(ways.items())[: 3 if shutil.which("bwrap") and namespaces() else 2]:
        (spy / "written").unlink(missing_ok=True)
        assert main([*words, "--out", out, "--agents", "spybot:Spy", "random", *option.split()]) == 0
        assert (spy / "written").exists() == (out != "box")
        settings, plain = (json.loads((spy / name / "run.json").read_text()) for name in (out, "plain"))
        assert settings["identities"] == plain["identities"]
        assert settings["agents"] == plain["agents"] == ["random", "spybot:Spy"]
        assert (spy / out / "games.jsonl").read_bytes() == (spy / "plain" / "games.jsonl").read_bytes()
        if out != "plain":
            (log,) = (spy / out / "logs").iterdir()
            said = log.read_text()
            assert f"sees {int(out == 'apart')} results" in said
            assert max(map(int, re.findall(r"^asked about (\d+)$", said, re.MULTILINE))) > 1


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing")
def test_a_sandboxed_program_starts_when_the_folder_of_the_run_is_known(
    bots: Callable[..., str], tmp_path: Path
) -> None:
    agent = load(f"sandboxed:exec:{bots()}", GAME)
    assert isinstance(agent, ProgramAgent)
    assert agent._process is None
    with refused("agent 'exec:/no/such/bot'", "exec:/no/such/bot"):
        load("sandboxed:exec:/no/such/bot", GAME)
    started: list[int] = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        with RunFolder(tmp_path / str(number), RunKind("run", "run.json")):
            assert not playing(agent).failures
        assert agent._process is not None
        started.append(agent._process.pid)
        assert str(tmp_path / str(number)) in agent.words()
    assert started[0] != started[1], "one that has seen the folder of another run plays on"
    agent.close()


def test_without_bubblewrap_a_sandbox_is_refused(spy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cellgames.agents.programs import isolation

    isolation._check_bubblewrap.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with refused("sandboxed", "none"):
        load("sandboxed:spybot:Spy")


@pytest.mark.parametrize(
    ("name", "way", "expected"),
    [
        ("random", "isolated", "random"),
        ("mcts:8", "isolated", "mcts:8"),
        ("results/agent.safetensors", "isolated", "results/agent.safetensors"),
        ("exec:./bot", "isolated", "exec:./bot"),
        ("exec:./bot", "sandboxed", "sandboxed:exec:./bot"),
        ("me=my_bots:Bot", "isolated", "me=isolated:my_bots:Bot"),
        ("my_bots:Bot", "sandboxed", "sandboxed:my_bots:Bot"),
    ],
)
def test_foreign_agents_are_wrapped_and_keep_their_names(name: str, way: str, expected: str) -> None:
    assert wrapped(name, way) == expected


BUSY = """
if "busy" not in globals():
    import threading
    busy = threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True)
    busy.start()
"""


def wait_for_sleep(agent: ProgramAgent) -> None:
    """Wait until the program of an agent is stopped."""
    assert agent._process is not None
    pid = agent._process.pid
    until(lambda: "T" in subprocess.getoutput(f"ps -o state= -p {pid}"))


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
@pytest.mark.parametrize("clock", [None, TimeControl(60.0)])
def test_a_program_sleeps_while_a_person_thinks(bots: Callable[..., str], clock: TimeControl | None) -> None:
    """At the terminal and on the page, with clocks and without them; its thread would use a processor."""
    agent, prompts = ProgramAgent(bots(BUSY)), 0

    def ask(prompt: str) -> str:
        nonlocal prompts
        prompts += 1
        if prompts > 1:
            wait_for_sleep(agent)
        return "quit" if prompts > 2 else ["a1", "a2", "b1", "b2"][prompts - 1]

    quiet: list[str] = []
    Table(GAME, [None, agent], ["you", "bot"], ask=ask, show=quiet.append).run()
    assert prompts >= 2
    agent.close()
    session = Session(GAME, [None, "bot"], lambda spec: agent, time_control=clock)
    session.move([0], 0)
    until(lambda: not session.thinking)
    assert session.view()["turn"] == 2
    wait_for_sleep(agent)
    agent.close()


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_a_program_that_sleeps_is_woken_by_more_than_a_pipe_holds(bots: Callable[..., str]) -> None:
    agent = ProgramAgent(bots())
    playing(agent)
    wait_for_sleep(agent)
    process = agent._process
    assert process is not None
    start = time.monotonic()
    for number in range(2000):
        process.tell(json.dumps({"type": "start", "game": number, "player": "black"}).encode() + b"\n")
    assert time.monotonic() - start < process.limits.start, "nobody has waited in vain"
    agent.close()
