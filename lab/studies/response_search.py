"""A study: how much of the exact gap a search finds. `python -m cellgames.lab.studies.response_search`.

Networks on small boards, untrained and after some steps of PPO, have an exact best response (`exploitability`). A
search that asks them for their answers plays against each from both seats. Its score less one half, as a share of the
best response's, is the share of the gap that it finds. A page and its numbers go to results/studies/response_search/.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from benchmarks.pages import head, parser_of, typed_command, write_page

import cellgames
from cellgames.agents.networks.networks import NetworkAgent, Size, make_network
from cellgames.agents.networks.saved import load_network
from cellgames.arena.play.match import match
from cellgames.arena.play.match_options import MatchOptions
from cellgames.envs.core import Game
from cellgames.lab.populations.exploitability import exploitability
from cellgames.lab.populations.response import respond
from cellgames.training.arguments import PPOArguments
from cellgames.training.runs.run import train
from cellgames.utils.report.model import Table
from cellgames.utils.report.text import markdown_table, percent

OUT = Path("results/studies/response_search")
BOARDS = (("torus-v0", 2, True), ("torus-v0", 3, False), ("hex-v0", 3, True), ("hex-v0", 4, False), ("y-v0", 3, True))
"""Boards, by the id of the game and the size, and whether the agents may draw their moves there."""

STEPS = (0, 4_000, 16_000)
_COLUMNS = ("game", "size", "steps", "moves are drawn", "best response", "search", "share of the gap")


def agents(game: Game, seed: int, *, drawn: bool) -> Iterator[tuple[int, NetworkAgent]]:
    """Yield networks after each number of `STEPS`, as agents that draw their moves or take the likeliest."""
    small = Size(8, 1)
    for steps in STEPS:
        with torch.random.fork_rng(), tempfile.TemporaryDirectory() as folder:
            torch.manual_seed(seed)
            network = make_network(game, small)
            if steps:
                settings = {"channels": small.channels, "layers": small.layers, "eval_games": 2, "device": "cpu"}
                asked = PPOArguments.fitted(game, total_steps=steps, seed=seed, eval_opponents=("random",), **settings)
                network = load_network(train(asked, folder).agent, game).network
        agent = network.eval().agent(f"after-{steps}", sample=drawn)
        assert isinstance(agent, NetworkAgent)
        yield steps, agent


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = parser_of("cellgames.lab.studies.response_search", __doc__, OUT, seed=True)
    parser.add_argument("--simulations", type=int, default=128, help="simulations a move")
    parser.add_argument("--games", type=int, default=100, help="games against each agent, half of them from each seat")
    parser.add_argument("--boards", type=int, default=len(BOARDS), help="the first boards only")
    options = parser.parse_args(arguments)
    plan = MatchOptions(games=options.games, opening_plies=0, seed=options.seed)
    rows = []
    for id, size, both in BOARDS[: options.boards]:
        game = cellgames.make(id, size=size)
        for drawn in (False, True) if both else (False,):
            for steps, agent in agents(game, options.seed, drawn=drawn):
                exact = exploitability(game, [agent]).score
                found = match(game, respond(agent, options.simulations), agent, plan).score
                share = (found - 0.5) / (exact - 0.5) if exact > 0.5 else 1.0
                rows.append((id, size, steps, "yes" if drawn else "no", exact, found, share))
                print(*rows[-1], file=sys.stderr)
    numbers = [tuple(percent(cell) if isinstance(cell, float) else cell for cell in row) for row in rows]
    table = Table("", _COLUMNS, numbers, text=("game", "moves are drawn"))
    mean = sum(row[-1] for row in rows) / len(rows)
    command = typed_command("cellgames.lab.studies.response_search", arguments)
    text = (
        f"`{command}`: scores in %, {options.games} games from the empty board, {options.simulations} simulations a "
        f"move. Over all {len(rows)} agents the search finds {percent(mean)} % of the gap."
    )
    data = {**head(command), "rows": [dict(zip(_COLUMNS, row, strict=True)) for row in rows], "mean share": mean}
    write_page(options.out / "report.md", "How much of the exact gap a search finds", (text, table), data)
    print(markdown_table(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
