"""The price of a process of its own: `python -m benchmarks.arena.bot_overhead`.

Measured are the exchange of a question and its answer with a program in C that answers at once, all that the agent does
for it (text, JSON, exchange, checks), and whole games of agents as `isolated:`, beside those of the same agents in the
arena's process: 64 games side by side, alternating. A page goes to results/benchmarks/bots.md.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

import cellgames
from benchmarks.pages import listed, machine_head, write_page
from cellgames.agents import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.agents.programs import protocol
from cellgames.agents.programs.isolation import Isolated
from cellgames.agents.programs.process import BotProcess, Limits
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.views import Views
from cellgames.envs.core import Game, seeds
from cellgames.utils.report.model import Part, Table

OUT = Path("results/benchmarks/bots.md")
TORUS, QUESTIONS, ROUNDS = cellgames.make("torus-v0"), 2000, 5
GAMES, SIDE_BY_SIDE = (cellgames.make("torus-v0", size=5), cellgames.make("cloth-of-gold-small-v0")), 64
AGENTS = ("random", "greedy", "trained")

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


def _program(folder: Path) -> str:
    """Return the command line of a program in C."""
    source, binary = folder / "bot.c", folder / "bot"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O2", "-o", str(binary), str(source)], check=True)
    return shlex.quote(str(binary))


def _exchange(command: str) -> float:
    """Return the microseconds of an exchange, without making the question."""
    state = TORUS.init(seeds(0, 1))
    view = Views(TORUS, state, state.current_player, TORUS.legal_actions(state))[0]
    question = protocol.encoded(protocol.act(view, id=1, game=0, seed=1, ready=protocol.Ready()))
    process = BotProcess([command], Limits())
    process.exchange_all(protocol.encoded(protocol.hello(TORUS, Limits())), 1, 10.0)
    start = perf_counter()
    for _ in range(QUESTIONS):
        process.exchange_all(question, 1, 10.0)
    took = perf_counter() - start
    process.close()
    return 1e6 * took / QUESTIONS


def _answer(command: str) -> float:
    """Return the microseconds of an answer of the agent: text, JSON, exchange and checks."""
    agent, games = ProgramAgent(command), 10
    state, chance, env_ids = TORUS.init(seeds(0, games)), torch.Generator().manual_seed(0), torch.arange(games)
    agent.start(TORUS, torch.zeros(games, dtype=torch.int64), env_ids)
    start = perf_counter()
    for _ in range(QUESTIONS // games):
        agent.act_on_views(Views(TORUS, state, state.current_player, TORUS.legal_actions(state)), env_ids, chance)
    took = perf_counter() - start
    agent.close()
    return 1e6 * took / QUESTIONS


def _moves_per_second(agent: AnyAgent, game: Game) -> float:
    """Return the moves a second of games in which the agent has all seats."""
    seats = torch.zeros((SIDE_BY_SIDE, game.info.num_players), dtype=torch.int64)
    start = perf_counter()
    played = play(game, [agent], seats, seeds(0, SIDE_BY_SIDE), [torch.Generator().manual_seed(1)], forfeits=True)
    took = perf_counter() - start
    assert not played.failures, played.failures
    return int(played.turns.sum()) / took


def _isolation() -> list[tuple[str, str, float, float, float]]:
    """Return game, agent, moves a second in the arena's process and isolated, and the median of their ratios."""
    found = []
    for game in GAMES:
        for spec in AGENTS:
            inside, apart = load(spec, game), Isolated(spec)
            pairs = [[_moves_per_second(agent, game) for agent in (inside, apart)] for _ in range(ROUNDS + 1)][1:]
            apart.close()
            speeds = [median(speeds) for speeds in zip(*pairs, strict=True)]
            found.append((game.id, spec, *speeds, median(two / one for one, two in pairs)))
            print(*found[-1])
    return found


def main() -> int:
    """Measure, and write the page."""
    if shutil.which("cc") is None:
        print("bot_overhead: expected a C compiler, found no program cc", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    numbers = machine_head("python -m benchmarks.arena.bot_overhead", "torch")
    with tempfile.TemporaryDirectory() as folder:
        command = _program(Path(folder))
        found = {
            "a question and its answer, through two pipes": [_exchange(command) for _ in range(ROUNDS)],
            "text of the position, JSON, exchange and checks": [_answer(command) for _ in range(ROUNDS)],
        }
    isolation = _isolation()
    parts: list[Part] = [
        f"{listed(numbers)}\n\nQuestions about one game of Torus of size 8:",
        Table(
            "",
            ("what", "median us", "least", "most"),
            [(what, f"{median(us):.0f}", f"{min(us):.0f}", f"{max(us):.0f}") for what, us in found.items()],
            text=("what",),
        ),
        f"## Isolated agents\n\nMoves a second of {SIDE_BY_SIDE} games side by side, between copies of an agent in the "
        f"arena's process and as `isolated:`, which alternate: medians of {ROUNDS} rounds.",
        Table(
            "",
            ("game", "agent", "in the process", "isolated", "ratio"),
            [(id, agent, f"{a:,.0f}", f"{b:,.0f}", f"{ratio:.2f}") for id, agent, a, b, ratio in isolation],
            text=("game", "agent"),
        ),
    ]
    write_page(
        OUT, "The price of a process of its own", parts, {**numbers, "microseconds": found, "isolation": isolation}
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
