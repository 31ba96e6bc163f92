"""`mcts:800` beside OpenSpiel's MCTS in C++, at as many random games from each new node.

OpenSpiel has no Torus. Its Hex on 8 x 16 has as many cells, and in both games a random game fills a good part of the
board until a path connects. Torus has more paths to look for; Hex needs no look at immediate wins.
"""

from __future__ import annotations

from functools import partial

import torch

import cellgames
from cellgames.agents.search.search_agent import mcts
from cellgames.agents.search.uct import PLAYOUTS
from cellgames.envs.core import seeds

from .measuring import Row

HEX = "hex(num_rows=8,num_cols=16)"
SIMULATIONS = 800
TIMES = 5.0  # as fast as OpenSpiel
EXPLORATION = 2.0  # of OpenSpiel's, as in its own examples


def moves(games: int) -> Row:
    """Return the row of the first moves of some games, each by a search with a new tree; it needs OpenSpiel."""
    import pyspiel

    game, agent = cellgames.make("torus-v0", size=8), mcts(SIMULATIONS)
    state, env_ids = game.init(seeds(0, games)), torch.arange(games)
    generator = torch.Generator().manual_seed(0)
    hex_game = pyspiel.load_game(HEX)
    limits = {"uct_c": EXPLORATION, "max_simulations": SIMULATIONS, "max_memory_mb": 1000}
    bot = pyspiel.MCTSBot(
        hex_game, pyspiel.RandomRolloutEvaluator(PLAYOUTS, 0), **limits, solve=True, seed=0, verbose=False
    )
    board = hex_game.new_initial_state()
    if (done := bot.mcts_search(board).explore_count) != SIMULATIONS:
        raise RuntimeError(f"mcts: expected {SIMULATIONS} simulations of OpenSpiel, got {done}")

    def ours() -> None:
        agent.start(game, state.current_player, env_ids)  # forgets its trees
        with torch.no_grad():
            agent.act_on_state(state, env_ids, generator)

    def theirs(_: int) -> None:
        for _ in range(games):
            bot.step(board)

    what = f"mcts:{SIMULATIONS}, {PLAYOUTS} random games a node, the first move of "
    what += "one game" if games == 1 else f"{games} games at once"
    return Row(f"mcts_{games}", what, "moves", games, ours, theirs, bar=TIMES, rival="OpenSpiel")


MOVES = {f"mcts_{games}": partial(moves, games) for games in (1, 16)}
"""Rows by name."""
