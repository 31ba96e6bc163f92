"""What a person at a seat needs in order to choose an action: facts out of the rules, as JSON, and nothing hidden.

Letters: `A` actions (mask width).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cellgames.envs.core import Game, State
from cellgames.web.views.view import encoded

__all__ = ["controls", "legal_bits"]


def legal_bits(game: Game, state: State, seat: int) -> str:
    """The mask of `seat` in the first game, base64 of bits packed from the highest, [ceil(A / 8)] bytes."""
    mask = game.legal_actions(state[0])[0]
    mask = mask[seat] if game.info.simultaneous else mask
    return encoded(np.packbits(mask.numpy()).tobytes())


def controls(game: Game, state: State, seat: int) -> dict[str, Any]:
    """What the page tells and draws for the person at `seat` whose move it is, beside the board and the mask."""
    find = _BY_GAME.get(game.id)
    return {} if find is None else find(game, state, seat)


def _cloth(game: Any, state: Any, seat: int) -> dict[str, Any]:
    """Units that may still be placed, and the action that ends the turn."""
    return {"left": int(state.left[0]), "most": game.max_units, "end": game.end_turn}


def _cup(game: Any, state: Any, seat: int) -> dict[str, Any]:
    """The shape in hand in its eight orientations, and the lattice of the seat's band."""
    from cellgames.envs.toroidal_cup import placement

    lattice, stamp = game.lattice, int(state.queue[0, seat, 0])
    around = placement.cells((game.stamps[stamp],), torch.device("cpu"))[0].tolist()  # [8][L][2]
    return {
        "shape": game.stamps[stamp],
        "around": [sorted(set(map(tuple, cells))) for cells in around],
        "left": int((state.queue[0, seat] >= 0).sum()),
        "first": lattice.stride // 2,
        "stride": lattice.stride,
        "down": lattice.down,
        "across": lattice.across,
        "band": lattice.band,
        "rows": game.rows,
        "cols": game.cols,
    }


def _grid(game: Any, state: Any, seat: int) -> dict[str, Any]:
    """What the player holds, and which parts of an action it has to choose."""
    from cellgames.envs.grid_adaptation import rules

    number = int(state.round[0])
    voting = number > game.rounds
    votes = game.legal_actions(state)[0, seat, -game.players - 1 :]
    may_vote = voting and not bool(votes[-1])
    return {
        "round": min(number, game.rounds),
        "rounds": game.rounds,
        "sequence": f"{int(state.sequence[0, seat]):03b}",
        "reserves": int(state.reserves[0, seat]),
        "garnets": int(state.garnets[0, seat]),
        "points": int(state.scores[0, seat]),
        "price": int(rules.price(state.bought[0, seat])),
        "tiles": 0 if voting else game.first_tiles if number == 1 else 1,
        "flips": bool(game.flips_now(state.round)[0]) and not voting,
        "public": state.public[0].tolist() if number > 1 else None,
        "voting": voting,
        "votes": votes[:-1].nonzero().flatten().tolist() if may_vote else [],
        "totals": state.scores[0].long().tolist() if may_vote else None,  # voters see them
        "spaces": game.spaces,
        "players": game.players,
    }


_BY_GAME: dict[str, Callable[[Any, Any, int], dict[str, Any]]] = {
    "cloth-of-gold-v0": _cloth,
    "toroidal-cup-v0": _cup,
    "grid-adaptation-v0": _grid,
}
