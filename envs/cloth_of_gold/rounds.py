"""The end of a turn and of a round, in many games at once: generations, scores, and who has won.

Letters: `B` games, `n` of them whose round ends, `S, N` stored rows and words in them (see `boards.bitboards`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.core.state import copied
from cellgames.envs.native import Library, Operator, pointer

from .simulation import simulate, territory
from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold


def end_turns(game: ClothOfGold, state: ClothState, ending: Tensor) -> ClothState:
    """End the mover's turn in some games (bool [B]); where it was the round's second, the round ends too.

    Units, territory and `live` of the games, which come from `placement.play`, may be overwritten.
    """
    closing = (ending & (state.current_player != state.first)).nonzero().squeeze(1)
    state = state.replace(current_player=torch.where(ending, 1 - state.current_player, state.current_player))
    return _closed(game, state, closing) if len(closing) else state


def _closed(game: ClothOfGold, state: ClothState, env_ids: Tensor) -> ClothState:
    """Return the games, some after their generations, with scores and verdicts; the initial placement has none."""
    playing = env_ids[state.round[env_ids] > 0]
    if len(playing):
        state = game._lived(state, playing)
    live, before, number = state.live[env_ids], state.scores[env_ids, 0].to(state.live.dtype), state.round[env_ids]
    lead = live[:, 0] - live[:, 1]
    terminated, truncated = game.ends(number, before, *live.unbind(1))
    done = terminated | truncated
    player, following = state.current_player[env_ids], number + (~done).int()
    first = torch.where(done, state.first[env_ids], game.places_first(state.seed[env_ids], following))
    final = torch.where(done[:, None], outcomes(lead), 0).to(state.rewards.dtype)
    new = {
        "rewards": state.rewards[env_ids] + final,
        "scores": torch.stack((lead, -lead), 1).to(state.scores.dtype),
        "terminated": terminated,
        "truncated": truncated,
        "current_player": torch.where(done, 1 - player, first),
        "first": first,
        "round": following,
    }
    changed = {name: getattr(state, name).index_put((env_ids,), value) for name, value in new.items()}
    row = torch.cat((live, counted(game.grid, state, env_ids)), 1)
    numbers = state.rounds.index_put((env_ids, number.long()), row)
    return game._next_round(state.replace(**changed, rounds=numbers), env_ids)


def lived(game: ClothOfGold, state: ClothState, env_ids: Tensor) -> ClothState:
    """Return the games after the generations of a round in some of them, int64 [n]; `state` may be overwritten."""
    state = state.replace(neutral=copied(state.neutral), killed=copied(state.killed))
    units, neutral, killed, field, grid = state.units, state.neutral, state.killed, state.territory, game.grid
    planes = torch.cat((units[env_ids], neutral[env_ids, None], killed[env_ids, None]), 1)
    planes = simulate(grid, planes.movedim(0, -1).contiguous(), game.generations, game.neutral_rules)
    units[env_ids] = planes[:2].movedim(-1, 0)
    neutral[env_ids] = planes[2].movedim(-1, 0)
    killed[env_ids] = planes[3].movedim(-1, 0)
    field[env_ids] = territory(grid, planes[:2], game.radius).movedim(-1, 0)
    state.live[env_ids] = count(planes[:2]).t().int()
    return state


def outcomes(lead: Tensor) -> Tensor:
    """Return the result for both players by a's lead, [..., 2]: 1 and -1, or both -1 where it is level."""
    return torch.stack((2 * (lead > 0).int() - 1, 2 * (lead < 0).int() - 1), -1)


@Operator
def counted(grid: Grid, state: ClothState, env_ids: Tensor) -> Tensor:
    """Return both players' territory, contested and killed cells in some games as they are: int32 [n, 4]."""
    fields = state.territory[env_ids].unbind(1)
    planes = torch.stack((*fields, fields[0] & fields[1], state.killed[env_ids])).movedim(1, -1)
    return count(planes).t().int()


@counted.native
def _native_counted(native: Library, grid: Grid, state: ClothState, env_ids: Tensor) -> Tensor:
    field, killed = state.territory.movedim(0, -1), state.killed.movedim(0, -1)
    if not (field.is_contiguous() and killed.is_contiguous()):
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    out = torch.empty((len(env_ids), 4), dtype=torch.int32, device=env_ids.device)
    env_ids = env_ids.contiguous()  # kept until the end of the call
    native_tally(native, grid, field, killed, env_ids, out)()
    return out


def native_tally(
    native: Library, grid: Grid, field: Tensor, killed: Tensor, env_ids: Tensor, out: Tensor
) -> Callable[[], object]:
    """Return the call that writes `counted` of this memory, whose games are innermost, into `out`, int32 [n, 4]."""
    sizes = grid.rows, grid.cols, killed.shape[-1], len(env_ids), torch.get_num_threads()
    words = (pointer(x, torch.int64) for x in (field, killed, env_ids))
    return partial(native.cellgames_cloth_of_gold_tally, *sizes, *words, pointer(out, torch.int32))
