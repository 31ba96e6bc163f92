"""The price of a question to a program: `python -m benchmarks.arena.bot_overhead`.

A program in C answers each question at once with its first legal action. Measured are the exchange of a question and
its answer, all that the agent does for it (text, JSON, exchange, checks), and whole games of a match less those of the
same games between agents that answer at once in the arena's process. A page goes to results/benchmarks/bots.md.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

import cellgames
from benchmarks.pages import head, write_page
from cellgames.agents import AnyAgent, BaseAgent
from cellgames.agents.play_loop import play
from cellgames.agents.programs import protocol
from cellgames.agents.programs.process import BotProcess, Limits
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.views import views_of
from cellgames.envs.core import seeds
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Part, Table

__all__ = ["main"]

OUT = Path("results/benchmarks/bots.md")
GAME, GAMES, QUESTIONS, ROUNDS = "torus-v0", 10, 2000, 5

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


class First(BaseAgent):
    """Plays the first legal action, in the arena's process."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions."""
        return action_mask.int().argmax(1)


def _program(folder: Path) -> str:
    """Return the command line of the program in C."""
    source, binary = folder / "bot.c", folder / "bot"
    source.write_text(SOURCE)
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


def _games(agent: AnyAgent) -> tuple[float, int]:
    """Return the seconds of some games against `First`, and how many moves the agent made."""
    game = cellgames.make(GAME)
    seats, chances = torch.tensor([[0, 1]] * GAMES), [torch.Generator().manual_seed(number) for number in (1, 2)]
    start = perf_counter()
    played = play(game, [agent, First("first")], seats, seeds(0, GAMES), chances, forfeits=True)
    took = perf_counter() - start
    assert not played.failures, played.failures
    return took, int(((played.turns + 1) // 2).sum())


def main() -> int:
    """Measure, and write the page."""
    if shutil.which("cc") is None:
        print("bot_overhead: expected a C compiler, found no program cc", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    found: dict[str, list[float]] = {"exchange": [], "answer": [], "move": []}
    with tempfile.TemporaryDirectory() as folder:
        command = _program(Path(folder))
        agent = ProgramAgent(command)
        _games(agent)
        for _ in range(ROUNDS):
            found["exchange"].append(_exchange(command))
            found["answer"].append(_answers(agent))
            (with_program, moves), (without, _) = _games(agent), _games(First("also first"))
            found["move"].append(1e6 * (with_program - without) / moves)
        agent.close()
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
    numbers = {
        **head("python -m benchmarks.arena.bot_overhead"),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "game": f"{GAME}, size 8, {GAMES} games at the same time",
    }
    parts: list[Part] = [
        "\n".join(f"- {key}: {text}" for key, text in numbers.items()),
        Table("", ("what", "median us", "least", "most"), rows, text=("what",)),
    ]
    write_page(OUT, "The price of a question to a program in C", parts, numbers | {"microseconds": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
