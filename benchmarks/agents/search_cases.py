"""Tree search, ours and OpenSpiel's, one contestant a process: `python -m benchmarks.agents.search_cases NAME`.

Everyone searches from the empty board, with a new tree each time; a simulation goes down a tree, adds a node and
evaluates it. Ours search many games at the same time, OpenSpiel's one. OpenSpiel plays Hex on 11 x 11, the nearest that
it has to Torus of size 8, which has 128 cells.

The packages are imported by the functions that measure them: a missing one raises ModuleNotFoundError there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.core.peers import HEX
from benchmarks.measurement import Measurement, serve, timed

if TYPE_CHECKING:
    from cellgames.agents.search import Search
    from cellgames.envs.core import Game

__all__ = ["MODULE", "SEARCHES", "openspiel_mcts", "openspiel_mcts_python"]

MODULE = "benchmarks.agents.search_cases"
GAMES = 256
SIMULATIONS = 200  # of a search with playouts
JUDGED = 32  # of one with a network, which is slower
WARM_UP = 8  # of the first search, in which kernels are compiled
EXPLORATION = 2.0  # of OpenSpiel's, as in its own examples


def ours(
    seconds: float,
    make: Callable[[Game, int], Search],
    *,
    name: str,
    size: int,
    simulations: int,
    device: str = "cpu",
) -> Measurement:
    """Simulations a second of a search of Torus, all games together.

    Args:
        seconds: to be measured.
        make: makes the search of a game with so many simulations.
        name: of the contestant.
        size: of the board.
        simulations: of each search.
        device: where it runs.
    """
    import torch

    import cellgames
    from cellgames.envs.core import seeds
    from cellgames.envs.kernels.compiling import ENDLESS, planned

    game = cellgames.make("torus-v0", size=size)
    search, state = make(game, simulations), game.init(seeds(0, GAMES, device))
    generator = torch.Generator().manual_seed(0)

    def play() -> int:
        done = int(search.run(state, generator).visits.sum())  # comes from the device, so all is done
        if done != GAMES * simulations:
            raise RuntimeError(f"expected {GAMES * simulations} simulations, got {done}")
        return done

    with torch.no_grad(), planned("auto", ENDLESS):
        make(game, WARM_UP).run(state, generator)
        done, elapsed = timed(play, seconds)
    how = f"{cellgames.__version__} (torch {torch.__version__})"
    return Measurement(name, "cellgames", how, GAMES, "simulations", done, elapsed)


def _uct(game: Game, simulations: int, playouts: int) -> Search:
    from cellgames.agents.search import PlayoutEvaluator, UCTSearch

    return UCTSearch(game, simulations, evaluator=PlayoutEvaluator(playouts))


def _gumbel(game: Game, simulations: int) -> Search:
    """By the network that comes with the package for the size, or by one that has learned nothing: they are as fast."""
    from cellgames.agents.networks.networks import make_network
    from cellgames.agents.networks.trained import search_network
    from cellgames.agents.search import GumbelSearch, NetworkEvaluator

    try:
        network = search_network(game)
    except ValueError:  # none for the size
        network = make_network(game)
    return GumbelSearch(game, NetworkEvaluator(network), simulations)


def openspiel_mcts(seconds: float, rollouts: int = 1, seed: int = 0) -> Measurement:
    """OpenSpiel's MCTSBot in C++, whole searches inside; one thread."""
    import pyspiel

    game = pyspiel.load_game(HEX)
    bot = pyspiel.MCTSBot(
        game,
        pyspiel.RandomRolloutEvaluator(rollouts, seed),
        uct_c=EXPLORATION,
        max_simulations=SIMULATIONS,
        max_memory_mb=1000,
        solve=True,
        seed=seed,
        verbose=False,
    )
    name = f"openspiel_mcts_{rollouts}"
    return _openspiel(name, lambda: bot.mcts_search(game.new_initial_state()), seconds)


def openspiel_mcts_python(seconds: float, seed: int = 0) -> Measurement:
    """OpenSpiel's MCTSBot in Python, on its games in C++; one rollout a simulation, one thread."""
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game, random = pyspiel.load_game(HEX), np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    bot = mcts.MCTSBot(game, EXPLORATION, SIMULATIONS, evaluator, random_state=random)
    return _openspiel("openspiel_mcts_python", lambda: bot.mcts_search(game.new_initial_state()), seconds)


def _openspiel(name: str, search: Callable[[], Any], seconds: float) -> Measurement:
    def play() -> int:
        if (done := search().explore_count) != SIMULATIONS:
            raise RuntimeError(f"expected {SIMULATIONS} simulations, got {done}")
        return SIMULATIONS

    play()
    done, elapsed = timed(play, seconds)
    return Measurement(name, "open_spiel", version("open_spiel"), 1, "simulations", done, elapsed)


def openspiel_mcts_pair(seconds: float, rollouts: int = 1) -> Measurement:
    """Two processes of `openspiel_mcts` at once, their simulations together: what two cores make of it."""
    import pyspiel  # noqa: F401  # a missing one is told here, not by the processes

    name = f"openspiel_mcts_{rollouts}"
    command = [sys.executable, "-m", MODULE, name, "--seconds", str(seconds), "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines = [process.communicate()[0].strip().splitlines() for process in both]
    if failed := [process.returncode for process in both if process.returncode != 0]:
        raise RuntimeError(f"{' '.join(command)} ended with status {failed[0]}")
    found = [Measurement.from_json(line[-1]) for line in lines]
    done, elapsed = sum(each.moves for each in found), mean(each.seconds for each in found)
    return Measurement(f"{name}_pair", "open_spiel", found[0].version, 2, "simulations", done, elapsed)


def _by_playouts(name: str, size: int, playouts: int, device: str = "cpu") -> Callable[[float], Measurement]:
    make = partial(_uct, playouts=playouts)
    return partial(ours, make=make, name=name, size=size, simulations=SIMULATIONS, device=device)


def _by_network(name: str, size: int, device: str = "cpu") -> Callable[[float], Measurement]:
    return partial(ours, make=_gumbel, name=name, size=size, simulations=JUDGED, device=device)


SEARCHES: dict[str, Callable[[float], Measurement]] = {
    "uct_torus8_1": _by_playouts("uct_torus8_1", 8, 1),
    "uct_torus8_4": _by_playouts("uct_torus8_4", 8, 4),
    "uct_torus5_1": _by_playouts("uct_torus5_1", 5, 1),
    "gumbel_torus8": _by_network("gumbel_torus8", 8),
    "gumbel_torus5": _by_network("gumbel_torus5", 5),
    "uct_torus8_1_cuda": _by_playouts("uct_torus8_1_cuda", 8, 1, "cuda"),
    "gumbel_torus8_cuda": _by_network("gumbel_torus8_cuda", 8, "cuda"),
    "openspiel_mcts_1": openspiel_mcts,
    "openspiel_mcts_4": partial(openspiel_mcts, rollouts=4),
    "openspiel_mcts_1_pair": openspiel_mcts_pair,
    "openspiel_mcts_4_pair": partial(openspiel_mcts_pair, rollouts=4),
    "openspiel_mcts_python": openspiel_mcts_python,
}

if __name__ == "__main__":
    sys.exit(serve(SEARCHES))
