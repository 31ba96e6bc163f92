"""A solver of the positions that a search agent is asked about: `GamePlugin.search`.

It searches each position by itself, with a bound of nodes and an empty table. So the result does not depend on other
positions, on earlier ones or on time.

Letters: `L` positions.
"""

from __future__ import annotations

from functools import cache
from threading import Lock

import torch
from torch import Tensor

from cellgames.envs.native import library
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState

from .proof_search import ProofSearch

LEAST_STONES = {3: 0, 4: 0, 5: 12}
"""The sizes that are solved, and the least number of stones. With fewer, some hundred nodes decide next to nothing."""

_TABLE = 1 << 18  # bytes for up to 4,096 nodes; emptying it takes some microseconds
_NODES = 1 << 12
_LOCK = Lock()


def solve(game: Torus, state: TorusState, nodes: int) -> tuple[Tensor, Tensor]:
    """Return the winners of positions and winning moves: see `GamePlugin.search`.

    Nothing is solved on other boards than those of `LEAST_STONES`, or without the native library.
    """
    value, move = torch.zeros(len(state), dtype=torch.int64, device="cpu"), torch.full((len(state),), -1, device="cpu")
    least = LEAST_STONES.get(game.size)
    if least is not None and library(torch.device("cpu")) is not None:
        rows = ((state.codes != 0).sum(1) >= least).nonzero().squeeze(1)
        if len(rows):
            with _LOCK:
                found, where = _search(game.size, -(-nodes // _NODES)).solve_each(state[rows], nodes)
            value[rows.cpu()], move[rows.cpu()] = found, where
    return value.to(state.device), move.to(state.device)


@cache
def _search(size: int, tables: int) -> ProofSearch:
    return ProofSearch(size, memory=tables * _TABLE)
