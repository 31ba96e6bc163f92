"""What players of Grid Adaptation may do, by component.

Letters: `B` matches, `P` players, `N` spaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core.bitboards import popcount

from . import ending, rules
from .state import GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

__all__ = ["free_spaces", "mask", "random_actions", "reason"]


def free_spaces(game: GridAdaptation, state: GridState) -> Tensor:
    """Bool [B, N], spaces without a tile; none in the voting step."""
    free = ~game.grid.unpack(state.planes[:, 0].movedim(0, -1)).flatten(1)
    return free & (state.round <= game.rounds)[:, None]


def mask(game: GridAdaptation, state: GridState) -> Tensor:
    """Bool [B, P, A], the components one after the other; each has a legal choice."""
    shape = (len(state), game.players)
    free = free_spaces(game, state)
    one = torch.ones_like(free[:, :1])
    must = torch.cat((free, ~free.any(1, keepdim=True)), 1)  # "none" where nothing is left
    nothing = torch.cat((torch.zeros_like(free), one), 1)
    first = (state.round == 1)[:, None]
    slots = [must, *(torch.where(first, must, nothing) for _ in range(1, game.first_tiles))]
    slots += [nothing] * (3 - game.first_tiles)
    playing = (state.round <= game.rounds)[:, None]
    pays = (state.garnets >= rules.price(state.bought)) & playing
    reserve = free[:, None] & ((state.reserves > 0) | pays)[:, :, None]
    always = torch.ones(*shape, 1, dtype=torch.bool, device=state.device)
    flip = game.flips_now(state.round)[:, None, None].expand(*shape, 3)
    voting = ~playing & ending.voters(state.tied, state.tokens)
    vote = ending.ballot(state.tied) & voting[:, :, None]
    parts = [slot[:, None].expand(*shape, -1) for slot in slots]
    parts += [torch.cat((reserve, always), 2), torch.cat((always, flip), 2), torch.stack((always[..., 0], pays), 2)]
    return torch.cat((*parts, vote, ~voting[:, :, None]), 2)


def random_actions(game: GridAdaptation, state: GridState, bits: Tensor) -> Tensor:
    """Uniformly random legal actions, int64 [B, P, 7], for bits of the same shape; without the masks."""
    playing = (state.round <= game.rounds)[:, None]
    rows = game.grid.trim(~state.planes[:, 0].movedim(0, -1))[: game.size, 0]  # [H, B], free spaces
    counts = popcount(rows)
    upto = counts.cumsum(0)
    total = torch.where(playing[:, 0], upto[-1], 0)[:, None]
    pays = (state.garnets >= rules.price(state.bought)) & playing
    reserve = torch.where((state.reserves > 0) | pays, total, 0)
    spaces = torch.cat((total[:, :, None].expand(-1, game.players, 3), reserve[:, :, None]), 2)
    tiles = torch.arange(4, device=bits.device)
    rank = (bits[:, :, :4] * (spaces + (tiles == 3))) >> 31  # with a reserve tile the last choice is "none"
    first = (state.round == 1)[:, None, None]
    used = (tiles == 0) | (tiles == 3) | (first & (tiles < game.first_tiles))
    none = ~used | (rank >= spaces)
    space = torch.where(none, game.spaces, _space_of_rank(game.size, rows, counts, upto, rank))
    flip = torch.where(game.flips_now(state.round)[:, None], (bits[:, :, 4] * 4) >> 31, 0)
    buy = torch.where(pays, (bits[:, :, 5] * 2) >> 31, 0)
    voting = ~playing & ending.voters(state.tied, state.tokens)
    allowed = ending.ballot(state.tied).long()
    place = (bits[:, :, 6] * allowed.sum(2)) >> 31
    vote = ((allowed.cumsum(2) <= place[:, :, None]).sum(2)).where(voting, game.players)
    return torch.cat((space, torch.stack((flip, buy, vote), 2)), 2)


def _space_of_rank(size: int, rows: Tensor, counts: Tensor, upto: Tensor, rank: Tensor) -> Tensor:
    """The free space with `rank` free ones before it, int64 [B, P, K], of rows [H, B]; any where there is none."""
    row = torch.zeros_like(rank)
    for index in range(size - 1):
        row = row + (upto[index, :, None, None] <= rank).long()
    flat = row.flatten(1).t()  # [P * K, B]
    word = rows.gather(0, flat).t().view_as(rank)
    left = rank - (upto - counts).gather(0, flat).t().view_as(rank)
    shift = torch.zeros_like(rank)
    for width in (16, 8, 4, 2, 1):  # is it in the lower half of what is left of the word?
        part = (word >> shift) & ((1 << width) - 1)
        lower = _bits_set(part, width)
        later = (left >= lower).long()
        left = left - later * lower
        shift = shift + later * width
    return row * size + shift


def _bits_set(part: Tensor, width: int) -> Tensor:
    """How many of the lowest `width` bits are set, of numbers that have no other ones."""
    if width == 1:
        return part
    part = part - ((part >> 1) & 0x5555)
    if width > 2:
        part = (part & 0x3333) + ((part >> 2) & 0x3333)
    if width > 4:
        part = (part + (part >> 4)) & 0x0F0F
    return (part + (part >> 8)) & 0x1F if width > 8 else part


def reason(game: GridAdaptation, state: GridState, seat: int, component: int, choice: int) -> str:
    """Why a choice in the right range is illegal in the match of a batch of one."""
    from .game import BUY, COMPONENTS, FLIP, RESERVE, VOTE

    number, name = int(state.round), COMPONENTS[component]
    if component == VOTE:
        return _why_not_vote(game, state, seat, choice)
    if number > game.rounds:
        return f"in the voting step there is no {name}"
    if component == FLIP:
        return f"a digit may be flipped in rounds {', '.join(map(str, game.flip_rounds))} only, this is {number}"
    cost = int(rules.price(state.bought[0, seat]))
    if component == BUY:
        return f"an extra tile costs {cost} garnets, the player has {int(state.garnets[0, seat])}"
    if component not in (0, RESERVE) and not (number == 1 and component < game.first_tiles):
        return f"the {name} is not placed in round {number}"
    if choice == game.spaces:
        return "a tile must be placed while a space is free"
    row, col = divmod(choice, game.size)
    if not bool(free_spaces(game, state)[0, choice]):
        return f"there is a tile in row {row}, column {col}"
    return f"no reserve tile is left, and the next one costs {cost} garnets, of {int(state.garnets[0, seat])}"


def _why_not_vote(game: GridAdaptation, state: GridState, seat: int, choice: int) -> str:
    if int(state.round) <= game.rounds:
        return "nobody votes before the rounds are over"
    if not bool(ending.voters(state.tied, state.tokens)[0, seat]):
        return "only who won a Token votes"
    if choice == game.players:
        return "who won a Token must vote"
    tied = [player for player, flag in zip(game.info.players, state.tied[0].tolist(), strict=True) if flag]
    return f"the vote is among {', '.join(tied)}, and not for oneself unless nobody else is tied"
