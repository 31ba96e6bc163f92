"""Simulations a second of tree searches, ours and OpenSpiel's: `python -m benchmarks.agents.search`.

Everyone searches from the empty board, with a new tree each time; a simulation goes down a tree, adds a node and
evaluates it. Ours search many games at the same time, OpenSpiel's one. OpenSpiel plays Hex on 11 x 11, the nearest that
it has to Torus of size 8, which has 128 cells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.core.random_play import HEX
from benchmarks.harness import Benchmark, Row, Work, timed

if TYPE_CHECKING:
    from cellgames.agents.search import Search
    from cellgames.envs.core import Game

GAMES = 256
SIMULATIONS = 200  # of a search with playouts
BY_NETWORK = 32  # of one with a network, which is slower
WARM_UP = 8  # simulations of the first search, in which kernels are compiled
EXPLORATION = 2.0  # of OpenSpiel's, as in its own examples


def ours(seconds: float, *, size: int, playouts: int = 0) -> Work:
    """Measure a search of Torus, all games together: UCT with some playouts each, or Gumbel by a network with none."""
    import torch

    import cellgames
    from cellgames.envs.core import seeds

    game, simulations = cellgames.make("torus-v0", size=size), SIMULATIONS if playouts else BY_NETWORK
    search, state = _search(game, simulations, playouts), game.init(seeds(0, GAMES))
    generator = torch.Generator().manual_seed(0)

    def play() -> int:
        done = int(search.run(state, generator).visits.sum())
        if done != GAMES * simulations:
            raise RuntimeError(f"expected {GAMES * simulations} simulations, got {done}")
        return done

    with torch.no_grad():
        _search(game, WARM_UP, playouts).run(state, generator)
        return timed(play, seconds)


def _search(game: Game, simulations: int, playouts: int) -> Search:
    """Return a search; the network is that of the package for the size, or a new one, which is as fast."""
    from cellgames.agents.networks.networks import make_network
    from cellgames.agents.networks.saved import search_network
    from cellgames.agents.search import GumbelSearch, NetworkEvaluator, PlayoutEvaluator, UCTSearch

    if playouts:
        return UCTSearch(game, simulations, evaluator=PlayoutEvaluator(playouts))
    try:
        network = search_network(game)
    except ValueError:  # none for the size
        network = make_network(game)
    return GumbelSearch(game, NetworkEvaluator(network), simulations)


def openspiel(seconds: float, rollouts: int = 1) -> Work:
    """Measure OpenSpiel's MCTSBot in C++, whole searches inside; one thread."""
    import pyspiel

    game = pyspiel.load_game(HEX)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 0)
    limits = {"uct_c": EXPLORATION, "max_simulations": SIMULATIONS, "max_memory_mb": 1000}
    bot = pyspiel.MCTSBot(game, evaluator, **limits, solve=True, seed=0, verbose=False)
    return _openspiel(lambda: bot.mcts_search(game.new_initial_state()), seconds)


def openspiel_python(seconds: float) -> Work:
    """Measure OpenSpiel's MCTSBot in Python, on its games in C++; one rollout a simulation, one thread."""
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game, random = pyspiel.load_game(HEX), np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    bot = mcts.MCTSBot(game, EXPLORATION, SIMULATIONS, evaluator, random_state=random)
    return _openspiel(lambda: bot.mcts_search(game.new_initial_state()), seconds)


def _openspiel(search: Callable[[], Any], seconds: float) -> Work:
    def play() -> int:
        if (done := search().explore_count) != SIMULATIONS:
            raise RuntimeError(f"expected {SIMULATIONS} simulations, got {done}")
        return SIMULATIONS

    play()
    return timed(play, seconds)


def openspiel_pair(seconds: float, rollouts: int = 1) -> Work:
    """Measure two processes of `openspiel` at once, their simulations together: what two cores make of it."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        works, times = zip(*pool.map(partial(openspiel, rollouts=rollouts), [seconds] * 2), strict=True)
    return sum(works), mean(times)


def _ours(name: str, size: int, playouts: int, rival: str = "") -> Row:
    kind = f"UCT, Torus n = {size}, {playouts} playout each" if playouts else f"Gumbel by a network, Torus n = {size}"
    about = f"{kind}, {SIMULATIONS if playouts else BY_NETWORK} simulations in each of {GAMES} games; all cores"
    return Row(name, about, partial(ours, size=size, playouts=playouts), "simulations", GAMES, rival)


def _theirs(name: str, about: str, measure: Callable[[float], Work], processes: int = 1) -> Row:
    about = f"OpenSpiel's MCTSBot, Hex 11x11, {SIMULATIONS} simulations; {about}"
    return Row(name, about, measure, "simulations", processes, packages=("open_spiel",))


_FOUR_ROLLOUTS = partial(openspiel_pair, rollouts=4)

SEARCH = Benchmark(
    "Tree search: simulations a second",
    "benchmarks.agents.search",
    Path("results/benchmarks/search.md"),
    (
        _ours("uct_torus8_1", 8, 1, "openspiel_mcts_1_pair"),
        _ours("uct_torus8_4", 8, 4, "openspiel_mcts_4_pair"),
        _ours("uct_torus5_1", 5, 1),
        _ours("gumbel_torus8", 8, 0),
        _ours("gumbel_torus5", 5, 0),
        _theirs("openspiel_mcts_1", "C++, 1 rollout each, one thread", openspiel),
        _theirs("openspiel_mcts_1_pair", "C++, 1 rollout each, two processes together", openspiel_pair, 2),
        _theirs("openspiel_mcts_4_pair", "C++, 4 rollouts each, two processes together", _FOUR_ROLLOUTS, 2),
        _theirs("openspiel_mcts_python", "Python, 1 rollout each, one thread", openspiel_python),
    ),
)

if __name__ == "__main__":
    sys.exit(SEARCH.main())
