"""Share of positions in which agents keep the win on a solved board: `python -m benchmarks.agents.truth`.

Torus of size 3 is solved (`cellgames.agents.torus.solver`). Every agent is asked for its move in the same positions, in
each of which some moves win and some lose, and the moves that win are counted. A page and its numbers go to
results/strength/torus-n3.md and torus-n3.json.

Letters: `L` positions, `N` cells.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import cellgames
from benchmarks.pages import head, write_page
from cellgames.agents.base import draw_seeds
from cellgames.agents.loading import load
from cellgames.agents.selection import select
from cellgames.agents.torus.solver import solver
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.utils.report.model import Table
from cellgames.utils.report.text import markdown_table, percent
from cellgames.utils.statistics import wilson_interval

__all__ = ["AGENTS", "answers", "main", "sample"]

SIZE = 3
AGENTS = (
    "random",
    "greedy",
    "trained",
    "rollout:64",
    "mcts:100",
    "mcts:800",
    "gumbel:16",
    "gumbel:64",
    "perfect",
)
OUT = Path("results/strength")
NAME = f"torus-n{SIZE}"
MOST = 100_000  # positions; there are several million

_GAMES = 4096  # random games that are cut off at once


def sample(count: int, seed: int) -> TorusState:
    """Distinct positions in which some moves win and some lose, `count` of them.

    They come from uniformly random play that is cut off after any number of turns with equal chance; games that end
    before count for nothing.
    """
    game, generator = Torus(SIZE), torch.Generator().manual_seed(seed)
    digits = 3 ** torch.arange(num_cells(SIZE))
    found = game.init(torch.zeros(0, dtype=torch.int64))
    while len(found) < count:
        found = TorusState.cat((found, _undecided(game, generator)))
        _, same = (game.board(found) * digits).sum(1).unique(return_inverse=True)
        place = torch.arange(len(found))
        first = torch.full_like(place, len(found)).scatter_reduce(0, same, place, "amin")
        found = found[first[first < len(found)].sort().values]
    return found[:count]


def _undecided(game: Torus, generator: torch.Generator) -> TorusState:
    """What some random games give for `sample`, in random order."""
    state = game.init(draw_seeds(_GAMES, generator))
    end = torch.randint(num_cells(SIZE), (_GAMES,), generator=generator)
    env_ids, parts = torch.arange(_GAMES), []
    for turn in range(num_cells(SIZE)):
        parts.append((env_ids[(end == turn) & ~state.done], state[(end == turn) & ~state.done]))
        state = game.step(state, game.random_actions(state, generator), checked=False)
    states = TorusState.cat([part for _, part in parts])[torch.cat([env_ids for env_ids, _ in parts]).argsort()]
    winning = solver(SIZE).winning_moves(states)
    return states[winning.any(1) & (game.legal_actions(states) & ~winning).any(1)]


def answers(state: TorusState, spec: str, seed: int) -> Tensor:
    """Whether an agent, asked for all positions at once, moves so that it still wins: bool [L]."""
    game, env_ids = Torus(SIZE), torch.arange(len(state))
    agent = load(spec, game)
    agent.start(game, state.current_player, env_ids)
    chosen = select(agent, game, state, env_ids, torch.Generator().manual_seed(seed))
    return solver(SIZE).winning_moves(state).gather(1, chosen[:, None]).squeeze(1)


def _row(spec: str, right: Tensor, stones: Tensor) -> dict[str, Any]:
    """An agent's numbers, in all positions and by how many stones they have."""
    count = int(right.sum())
    low, high = wilson_interval(count / len(right), len(right))
    by_stones = {number: right[stones == number].double().mean().item() for number in stones.unique().tolist()}
    return {
        "agent": spec,
        "right": count,
        "share": count / len(right),
        "low": low,
        "high": high,
        "by stones": by_stones,
    }


def _tables(state: TorusState, rows: Sequence[dict[str, Any]]) -> tuple[Table, Table]:
    """Return the shares of all agents, and those by stones."""
    shares = [(row["agent"], percent(row["share"]), f"{percent(row['low'])} to {percent(row['high'])}") for row in rows]
    legal = Torus(SIZE).legal_actions(state)
    chance = solver(SIZE).winning_moves(state).sum(1).double() / legal.sum(1)
    by_stones = []
    for number in state.turn.unique().tolist():
        same = state.turn == number
        each = (percent(row["by stones"][number]) for row in rows)
        by_stones.append((number, int(same.sum()), percent(chance[same].mean().item()), *each))
    return (
        Table("", ("agent", "moves that keep the win", "95 % interval"), shares, text=("agent",)),
        Table("", ("stones", "positions", "of all moves", *(row["agent"] for row in rows)), by_stones, text=()),
    )


def _write(options: argparse.Namespace, state: TorusState, rows: Sequence[dict[str, Any]]) -> str:
    """Write the page and its numbers; return the table of all agents."""
    shares, by_stones = _tables(state, rows)
    page = (
        f"`{options.command}`: {len(state)} positions out of random games, all different, seed {options.seed}; "
        f"cellgames {cellgames.__version__}. In each some moves win and some lose with best play, as the solver says; "
        "every agent was asked once in each.",
        shares,
        "In %. By the stones on the board, with the share of winning moves among the legal ones:",
        by_stones,
    )
    title = f"Torus of size {SIZE}: how often agents keep a won position"
    numbers = {"size": SIZE, "seed": options.seed, "positions": len(state), "rows": rows}
    write_page(options.out / f"{NAME}.md", title, page, {**head(options.command), **numbers})
    return markdown_table(shares)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents.truth", description=__doc__.split("\n")[0])
    parser.add_argument("--agents", nargs="+", metavar="SPEC", default=AGENTS, help=f"(default {' '.join(AGENTS)})")
    parser.add_argument("--positions", type=int, default=1000, metavar="N", help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if not 1 <= options.positions <= MOST:
        parser.error(f"--positions must be from 1 to {MOST}, got {options.positions}")
    try:
        for spec in options.agents:
            load(spec, Torus(SIZE))
    except ValueError as error:
        parser.error(str(error))
    options.command = shlex.join(["python", "-m", "benchmarks.agents.truth", *given])
    state, rows = sample(options.positions, options.seed), []
    for spec in options.agents:
        began = time.perf_counter()
        rows.append(_row(spec, answers(state, spec, options.seed), state.turn))
        print(f"{spec}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    print(_write(options, state, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
