"""The price of a question to a program: `python -m benchmarks.arena.bot_overhead`.

A program in C answers each question at once with its first legal action. Measured are the exchange of a question and
its answer, all that the agent does for it (text, JSON, exchange, checks), and whole games of a match less those of the
same games between agents that answer at once in the arena's process. Then come moves a second through GTP: of an engine
in C as an agent, and of our agents as engines; and the time of isolated agents beside that of the same agents in the
arena's process. A page goes to results/benchmarks/bots.md.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from typing_extensions import override

import cellgames
from benchmarks.pages import head, write_page
from cellgames.agents import AnyAgent, BaseAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.agents.programs import protocol
from cellgames.agents.programs.gtp_agent import GtpAgent
from cellgames.agents.programs.isolation import isolated
from cellgames.agents.programs.process import BotProcess, Limits
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.selection import select
from cellgames.agents.views import views_of
from cellgames.envs.core import Game, seeds
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Part, Table

__all__ = ["main"]

OUT = Path("results/benchmarks/bots.md")
GAME, GAMES, QUESTIONS, ROUNDS = "torus-v0", 10, 2000, 5
GTP_GAMES = 20
ISOLATED, BATCHES = ("torus-v0", "grid-adaptation-v0"), (1, 64, 1024)

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) puts("{\"type\":\"ready\",\"protocol\":1}");
        else if (strstr(line, "\"type\":\"act\""))
            printf("{\"type\":\"action\",\"id\":%ld,\"action\":%ld}\n", strtol(strstr(line, "\"id\":") + 5, NULL, 10),
                   strtol(strstr(line, "\"legal\":[[") + 10, NULL, 10));
        fflush(stdout);
    }
    return 0;
}
"""


ENGINE = r"""
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char taken[2][32][32];
static int size = 8;
int main(void) {
    static char line[4096], word[64], one[64], two[64];
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%63s %63s %63s", word, one, two) < 1) continue;
        if (!strcmp(word, "quit")) return 0;
        if (!strcmp(word, "protocol_version")) puts("= 2\n");
        else if (!strcmp(word, "genmove")) {
            int at = 0;
            while (taken[at / (size * size)][at / size % size][at % size]) at++;
            taken[at / (size * size)][at / size % size][at % size] = 1;
            printf("= %c%d%s\n\n", 'a' + at % size, at / size % size + 1, at < size * size ? "" : "+");
        } else {
            if (!strcmp(word, "boardsize")) size = atoi(one);
            if (!strcmp(word, "clear_board")) memset(taken, 0, sizeof taken);
            if (!strcmp(word, "play")) taken[!!strchr(two, '+')][atoi(two + 1) - 1][tolower(two[0]) - 'a'] = 1;
            puts("=\n");
        }
        fflush(stdout);
    }
    return 0;
}
"""


class First(BaseAgent):
    """Plays the first legal choice of each component, in the arena's process."""

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._nvec = list(game.info.action_nvec)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions."""
        return torch.stack([part.int().argmax(1) for part in action_mask.split(self._nvec, 1)], 1).squeeze(1)


def _program(folder: Path, text: str, name: str) -> str:
    """Return the command line of a program in C."""
    source, binary = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["cc", "-O2", "-o", str(binary), str(source)], check=True)
    return shlex.quote(str(binary))


def _exchange(command: str) -> float:
    """Return the microseconds of an exchange, without making the question."""
    game = cellgames.make(GAME)
    state = game.init(seeds(0, 1))
    view = views_of(game, state, state.current_player, game.legal_actions(state))[0]
    question = protocol.encoded(protocol.act(view, id=1, game=0, seed=1, ready=protocol.Ready()))
    process = BotProcess([command], Limits())
    process.exchange(protocol.encoded(protocol.hello(game, Limits())), 10.0)
    start = perf_counter()
    for _ in range(QUESTIONS):
        process.exchange(question, 10.0)
    took = perf_counter() - start
    process.close()
    return 1e6 * took / QUESTIONS


def _answers(agent: ProgramAgent) -> float:
    """Return the microseconds of an answer of the agent: text, JSON, exchange and checks."""
    game = cellgames.make(GAME)
    state, chance = game.init(seeds(0, GAMES)), torch.Generator().manual_seed(0)
    env_ids = torch.arange(GAMES)
    agent.start(game, torch.zeros(GAMES, dtype=torch.int64), env_ids)
    start = perf_counter()
    for _ in range(QUESTIONS // GAMES):
        agent.act_on_views(views_of(game, state, state.current_player, game.legal_actions(state)), env_ids, chance)
    return 1e6 * (perf_counter() - start) / QUESTIONS


def _games(agents: Sequence[AnyAgent], games: int = GAMES) -> tuple[float, int]:
    """Return the seconds of some games between two agents, and how many moves they made."""
    game = cellgames.make(GAME)
    seats, chances = torch.tensor([[0, 1]] * games), [torch.Generator().manual_seed(number) for number in (1, 2)]
    start = perf_counter()
    played = play(game, agents, seats, seeds(0, games), chances, forfeits=True)
    took = perf_counter() - start
    assert not played.failures, played.failures
    return took, int(played.turns.sum())


def _engine_games(agent: str, games: int) -> float:
    """Return the moves a second of one of our agents as a GTP engine, which plays both sides."""
    words = [sys.executable, "-m", "cellgames", "bot", agent, "--protocol", "gtp", "--game", GAME]
    process, moves = BotProcess(words, Limits(start=60.0)), 0

    def say(command: str) -> bytes:
        return process.exchange_all(command.encode() + b"\n", 1, 60.0, end=b"\n\n")[0][0]

    say("genmove b")
    start = perf_counter()
    for _ in range(games):
        say("clear_board")
        turn = 0
        while say(f"genmove {'bw'[turn % 2]}") not in (b"= resign", b"= pass"):
            turn += 1
        moves += turn
    took = perf_counter() - start
    process.close(b"quit\n")
    return moves / took


def _asked(agent: AnyAgent, id: str, games: int) -> float:
    """Return the milliseconds of one question about some games."""
    game, chance, env_ids = cellgames.make(id), torch.Generator().manual_seed(0), torch.arange(games)
    state, players = game.init(seeds(0, games)), torch.zeros(games, dtype=torch.int64)
    for _ in range(2):
        state = game.step(state, game.random_actions(state, chance))
    agent.start(game, players, env_ids)
    times = []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        select(agent, game, state, env_ids, chance, players)
        times.append(perf_counter() - start)
    return 1e3 * median(times[1:])


def _through_gtp(folder: Path) -> dict[str, float]:
    """Return moves a second through GTP, by what plays."""
    found = {}
    command = _program(folder, ENGINE, "engine")
    engines = [GtpAgent(command), GtpAgent(command)]
    _games(engines, 1)
    for games in (1, GTP_GAMES):
        took, moves = _games(engines, games)
        found[f"two engines in C as agents, {games} game{'s' * (games > 1)} at a time"] = moves / took
    for engine in engines:
        engine.close()
    for name in ("random", "greedy"):
        found[f"{name} as an engine, through two pipes"] = _engine_games(name, 5)
    return found


def _isolation() -> list[tuple[str, str, int, float, float]]:
    """Return game, agent, number of games, and milliseconds of a question in the arena's process and isolated."""
    found = []
    for id in ISOLATED:
        for spec in ("benchmarks.arena.bot_overhead:First", "greedy"):
            inside, apart = load(spec, cellgames.make(id)), isolated(spec)
            for games in BATCHES:
                found.append((id, spec.split(":")[-1], games, _asked(inside, id, games), _asked(apart, id, games)))
                print(*found[-1])
            apart.close()
    return found


def _real_time() -> bool:
    """Return True if other processes wait for this one."""
    return sys.platform == "linux" and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def main() -> int:
    """Measure, and write the page."""
    if shutil.which("cc") is None:
        print("bot_overhead: expected a C compiler, found no program cc", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    found: dict[str, list[float]] = {"exchange": [], "answer": [], "move": []}
    with tempfile.TemporaryDirectory() as folder:
        command = _program(Path(folder), SOURCE, "bot")
        agent = ProgramAgent(command)
        first, also_first = First("first"), First("also first")
        _games([agent, first])
        for _ in range(ROUNDS):
            found["exchange"].append(_exchange(command))
            found["answer"].append(_answers(agent))
            (with_program, moves), (without, _) = _games([agent, first]), _games([also_first, first])
            found["move"].append(2e6 * (with_program - without) / moves)  # the program makes half of the moves
        agent.close()
        moves_a_second = _through_gtp(Path(folder))
    isolation = _isolation()
    what = {
        "exchange": "a question and its answer, through two pipes",
        "answer": "text of the position, JSON, exchange and checks",
        "move": "a move in a match, less one of an agent in the arena's process",
    }
    rows = [
        (what[name], f"{median(times):.0f}", f"{min(times):.0f}", f"{max(times):.0f}") for name, times in found.items()
    ]
    for row in rows:
        print(f"{row[0]}: {row[1]} us")
    for name, speed in moves_a_second.items():
        print(f"{name}: {speed:.0f} moves/s")
    numbers = {
        **head("python -m benchmarks.arena.bot_overhead"),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "machine": f"load {load:.0f} on {os.cpu_count()} cores at the start{', at real-time priority' * _real_time()}",
        "game": f"{GAME}, size 8, {GAMES} games at the same time",
    }
    parts: list[Part] = [
        "\n".join(f"- {key}: {text}" for key, text in numbers.items()),
        Table("", ("what", "median us", "least", "most"), rows, text=("what",)),
        "## GTP\n\nMoves a second, on both sides of a pipe and with all that the arena does in a match.",
        Table("", ("what", "moves/s"), [(n, f"{m:,.0f}") for n, m in moves_a_second.items()], text=("what",)),
        "## Isolated agents\n\nMilliseconds of one question about several games, of an agent in the arena's process "
        "and of the same agent as `isolated:`. `First` plays the first legal action.",
        Table(
            "",
            ("game", "agent", "games", "in the process", "isolated"),
            [(id, agent, f"{games:,}", f"{a:.1f}", f"{b:.1f}") for id, agent, games, a, b in isolation],
            text=("game", "agent"),
        ),
    ]
    numbers |= {"microseconds": found, "gtp_moves_per_second": moves_a_second, "isolation_ms": isolation}
    write_page(OUT, "The price of a question to a program", parts, numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
