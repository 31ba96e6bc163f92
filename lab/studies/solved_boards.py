"""A study: what best play of Torus looks like on solved boards. `python -m cellgames.lab.studies.solved_boards`.

By the board's symmetries there are two first moves, an octagon and a square. For sizes 2 to 5 the study says who wins
after each, by which replies, and how a game of `perfect` against itself goes on. At size 5 the replies to a square take
hours; those that are not judged in the time given are named. With `--table FILE` the same command goes on later with
all that it knew, also after it was killed.
A page and its numbers go to results/studies/torus_solved/.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from benchmarks.commands import typed_command
from benchmarks.pages import head, write_page

from cellgames.agents.loading import load
from cellgames.agents.selection import select
from cellgames.agents.torus.perfect import PERFECT_SIZES
from cellgames.agents.torus.proof_search import ProofSearch
from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.utils.report.model import Table
from cellgames.utils.report.text import markdown_table

FIRST_MOVES = ("octagon", "square")
OUT = Path("results/studies/torus_solved")

_MEMORY = {2: 1 << 16, 3: 1 << 22, 4: 1 << 26, 5: 1 << 29}
_NODES = 20_000  # of each reply in the first round; twice as many in the next


def opened(size: int, kind: str) -> TorusState:
    """Return the position after a first move, a1 or a1+."""
    game = Torus(size)
    return game.step(game.init(seeds(0, 1)), torch.tensor([size * size * FIRST_MOVES.index(kind)]))


def replies(
    size: int, kind: str, seconds: float, solved: Path | None = None, table: Path | None = None
) -> dict[str, Any]:
    """Return the replies to a first move that win, those that lose, and those that are still open.

    Args:
        size: size of the board.
        kind: kind of the first move.
        seconds: no new round of the search begins after them.
        solved: positions of size 5 that are solved already.
        table: file of the search's table at size 5.
    """
    game, state, began = Torus(size), opened(size, kind), time.monotonic()
    legal = game.legal_actions(state)[0]
    search = ProofSearch(size, _MEMORY[size], table=table if size == 5 else None)
    budget = _NODES
    if solved is not None and size == 5:
        search.load(solved)
    while True:
        values = search.move_values(state, nodes=budget)[0]
        left = int(((values == 0) & legal).sum())
        print(f"size {size}, {kind}: {left} replies open after {search.nodes:,} nodes", file=sys.stderr)
        if not left or time.monotonic() - began > seconds:
            break
        budget *= 2
    nodes = search.nodes
    names = {
        result: [game.action_to_string(cell) for cell in ((values == value) & legal).nonzero().squeeze(1).tolist()]
        for result, value in (("win", 1), ("lose", -1), ("open", 0))
    }
    return {"size": size, "first move": kind, **names, "nodes": nodes, "seconds": round(time.monotonic() - began, 1)}


def line(size: int, kind: str, seed: int) -> list[str]:
    """Return a game from a first move: `perfect` against itself."""
    game, state, moves = Torus(size), opened(size, kind), [("a1", "a1+")[FIRST_MOVES.index(kind)]]
    agent, env_ids, generator = load("perfect", game), torch.zeros(1, dtype=torch.int64), torch.Generator()
    generator.manual_seed(seed)
    agent.start(game, torch.zeros(1, dtype=torch.int64), env_ids)
    while not bool(state.done):
        move = select(agent, game, state, env_ids, generator)
        moves.append(game.action_to_string(int(move)))
        state = game.step(state, move)
    return moves


def _shown(names: Sequence[str], size: int) -> str:
    if not names:
        return "none"
    return "all" if len(names) == num_cells(size) - 1 else " ".join(names)


def main(arguments: Sequence[str] | None = None) -> int:
    """Study the boards; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m cellgames.lab.studies.solved_boards", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--sizes", type=int, nargs="+", choices=PERFECT_SIZES, default=PERFECT_SIZES, metavar="N")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="for a first move (default 60)")
    parser.add_argument("--solved", type=Path, metavar="FILE", help="solved positions of size 5, of `cellgames solve`")
    parser.add_argument("--table", type=Path, metavar="FILE", help="keep the table of size 5 there, to go on later")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the games (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    command = typed_command("cellgames.lab.studies.solved_boards", given)
    rows, games = [], []
    for size in options.sizes:
        for kind in FIRST_MOVES:
            found = replies(size, kind, options.seconds, options.solved, options.table)
            winner = "White" if found["win"] else "Black" if not found["open"] else "open"
            rows.append({**found, "winner": winner})
            games.append({"size": size, "first move": kind, "line": line(size, kind, options.seed)})
    judged = Table(
        "",
        ("size", "first move", "winner", "replies that win", "replies that lose", "not judged"),
        [
            (
                row["size"],
                row["first move"],
                row["winner"],
                _shown(row["win"], row["size"]),
                _shown(row["lose"], row["size"]),
                _shown(row["open"], row["size"]),
            )
            for row in rows
        ],
        text=("first move", "winner", "replies that win", "replies that lose", "not judged"),
    )
    lines = Table(
        "",
        ("size", "first move", "moves", "game"),
        [(game["size"], game["first move"], len(game["line"]), " ".join(game["line"])) for game in games],
        text=("first move", "game"),
    )
    page = (
        f"`{command}`. Game by Mark Steere. The first stone lies on a1 or a1+; symmetries bring it anywhere else.",
        "Black wins by beginning on an octagon, and loses by beginning on a square, on all of these boards. Proofs of "
        "sizes 4 and 5 are in results/proofs/, and `cellgames solve --verify` checks them.",
        judged,
        "Games of `perfect` against itself. The winner makes no mistake. At size 4 it cannot win sooner, and the loser "
        "cannot resist longer. At size 5 that holds from the middle of the game on; before, the loser plays as "
        "`greedy` does. At sizes 2 and 3 the loser plays at random.",
        lines,
    )
    numbers = {**head(command), "seed": options.seed, "first moves": rows, "games": games}
    write_page(options.out / "report.md", "Torus on solved boards", page, numbers)
    print(markdown_table(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
