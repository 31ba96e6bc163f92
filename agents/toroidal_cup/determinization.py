"""Determinization of the Toroidal Cup: positions that look like what a team sees.

Letters: `L` games, `P` teams.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.state import CupState


def determinize(game: ToroidalCup, observation: Tensor, seats: Tensor) -> CupState:
    """Return states consistent with the observations of the teams in `seats`.

    The function guesses the hidden shapes: all shapes to come, one's own and the others', are like the one to place.
    This is true in every pattern but donutmethuselahs, whose shapes are at least much the same. Turn and pattern are
    those of a new game; the rest of the game does not depend on them.

    Args:
        game: the rules.
        observation: int8 [L, P + 2, rows, cols], of games that go on.
        seats: int64 [L].
    """
    teams = torch.arange(game.teams, device=observation.device)
    number = ((seats[:, None] + teams) % game.teams + 1).to(torch.int8)  # of the team on each plane, [L, P]
    rolled = (observation[:, : game.teams] * number[..., None, None]).sum(1, dtype=torch.int8)
    col = torch.arange(game.cols, device=observation.device) - seats[:, None] * game.lattice.band
    start = rolled.gather(2, (col % game.cols)[:, None].expand(-1, game.rows, -1))
    new = game.init(seats.new_zeros(len(seats)))
    left = observation[:, game.teams + 1, 0, 0, None, None]
    to_come = torch.arange(new.queue.shape[2], device=observation.device) < left  # [L, 1, S]
    queue = torch.where(to_come, game.stamp_seen(observation)[:, None, None], -1).to(torch.int8)
    live = start.flatten(1)[:, None] == (teams + 1)[:, None]
    return new.replace(
        queue=queue.expand_as(new.queue).contiguous(),
        start=start,
        board=start.clone(),
        scores=live.sum(2).to(new.scores.dtype),
    )
