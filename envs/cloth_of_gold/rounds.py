"""The end of a turn and of a round, in many games at once: generations, scores, and who has won.

Letters: `B` games, `n` of them whose round ends, `S, N` stored rows and words in them (see `boards.bitboards`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.core.state import along_envs

from .simulation import simulate
from .state import ClothState
from .territory import territory

if TYPE_CHECKING:
    from .game import ClothOfGold

__all__ = ["end_turns", "tally"]


def end_turns(game: ClothOfGold, state: ClothState, ending: Tensor) -> ClothState:
    """End the mover's turn in some games (bool [B]); where it was player_b's, the round ends too."""
    player = torch.where(ending, 1 - state.current_player, state.current_player)
    closing = (ending & (player == 0)).nonzero().squeeze(1)
    after = state.replace(
        current_player=player,
        placed=state.placed.masked_fill(along_envs(ending, 3), 0),
        left=state.left.masked_fill(ending, game.max_units),
        acts=state.acts.masked_fill(ending, 0),
    )
    return after.put(closing, _closed(game, after[closing])) if len(closing) else after


def _closed(game: ClothOfGold, state: ClothState) -> ClothState:
    """Return the games after their generations, with scores and verdicts; the initial placement has none."""
    playing = (state.round > 0).nonzero().squeeze(1)
    if len(playing):
        state = state.put(playing, _lived(game, state[playing]))
    numbers = tally(game.grid, state)
    lead = state.live[:, 0] - state.live[:, 1]
    before = state.scores[:, 0].to(lead.dtype)
    terminated, truncated = game.ends(state.round, before, *state.live.unbind(1))
    done = terminated | truncated
    final = torch.where(done[:, None], outcomes(lead), 0).to(state.rewards.dtype)
    return state.replace(
        rewards=state.rewards + final,
        scores=torch.stack((lead, -lead), 1).to(state.scores.dtype),
        terminated=terminated,
        truncated=truncated,
        current_player=torch.where(done, 1 - state.current_player, state.current_player),
        round=state.round + (~done).int(),
        rounds=state.rounds.index_put((torch.arange(len(state), device=state.device), state.round.long()), numbers),
    )


def _lived(game: ClothOfGold, state: ClothState) -> ClothState:
    planes = torch.cat((state.units, state.neutral[:, None], state.killed[:, None]), 1).movedim(0, -1).contiguous()
    planes = simulate(game.grid, planes, game.generations, game.neutral_births)
    field = territory(game.grid, planes[:2], game.radius)
    units = planes[:2].movedim(-1, 0)
    return state.replace(
        units=units,
        neutral=planes[2].movedim(-1, 0),
        killed=planes[3].movedim(-1, 0),
        territory=field.movedim(-1, 0),
        live=count(planes[:2]).t().int(),
    )


def outcomes(lead: Tensor) -> Tensor:
    """Return the result for both players by a's lead, [..., 2]: 1 and -1, or both -1 where it is level."""
    return torch.stack((2 * (lead > 0).int() - 1, 2 * (lead < 0).int() - 1), -1)


def tally(grid: Grid, state: ClothState) -> Tensor:
    """Return a row of `ClothState.rounds` for the positions as they are: int32 [B, 6]."""
    fields = state.territory.unbind(1)
    planes = torch.stack((*fields, fields[0] & fields[1], state.killed)).movedim(1, -1)
    return torch.cat((state.live, count(planes).t().int()), 1)
