"""Simulations a second of tree searches, ours and OpenSpiel's: `python -m benchmarks.agents.search`."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from benchmarks.agents.search_cases import GAMES, JUDGED, MODULE, SIMULATIONS
from benchmarks.contestants import Benchmark, Contestant

__all__ = ["SEARCH"]

_OURS = f"{SIMULATIONS} simulations in each of {GAMES} games; all cores"
_JUDGED = f"{JUDGED} simulations in each of {GAMES} games; all cores"
_HEX = f"OpenSpiel's MCTSBot, Hex 11x11, {SIMULATIONS} simulations; "

_CPU = (
    Contestant("uct_torus8_1", MODULE, f"UCT, Torus n = 8, 1 playout each, {_OURS}", "openspiel_mcts_1_pair"),
    Contestant("uct_torus8_4", MODULE, f"UCT, Torus n = 8, 4 playouts each, {_OURS}", "openspiel_mcts_4_pair"),
    Contestant("uct_torus5_1", MODULE, f"UCT, Torus n = 5, 1 playout each, {_OURS}"),
    Contestant("gumbel_torus8", MODULE, f"Gumbel by a network, Torus n = 8, {_JUDGED}"),
    Contestant("gumbel_torus5", MODULE, f"Gumbel by a network, Torus n = 5, {_JUDGED}"),
    Contestant("openspiel_mcts_1", MODULE, f"{_HEX}C++, 1 rollout each, one thread"),
    Contestant("openspiel_mcts_1_pair", MODULE, f"{_HEX}C++, 1 rollout each, two processes together"),
    Contestant("openspiel_mcts_4_pair", MODULE, f"{_HEX}C++, 4 rollouts each, two processes together"),
    Contestant("openspiel_mcts_python", MODULE, f"{_HEX}Python, 1 rollout each, one thread"),
)
_GPU = (
    Contestant("uct_torus8_1_cuda", MODULE, f"UCT, Torus n = 8, 1 playout each, {_OURS} and the GPU"),
    Contestant("gumbel_torus8_cuda", MODULE, f"Gumbel by a network, Torus n = 8, {_JUDGED} and the GPU"),
)

SEARCH = Benchmark(
    "Tree search: simulations a second",
    "benchmarks.agents.search",
    Path("results/benchmarks/search.md"),
    _CPU + _GPU * torch.cuda.is_available(),
)

if __name__ == "__main__":
    sys.exit(SEARCH.main())
