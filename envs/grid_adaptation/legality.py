"""Legal actions of players of Grid Adaptation, by component.

Letters: `B` matches, `P` players, `S` spaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.native import Operator

from . import rules
from .matches import may_pay
from .state import BUY, COMPONENTS, FLIP, MOST_TILES, RESERVE, VOTE, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation


@Operator
def free_spaces(game: GridAdaptation, state: GridState) -> Tensor:
    """Return spaces without a tile: bool [B, S]; none in the voting step."""
    tiles = game.grid.unpack(state.planes[:, 0].t()).flatten(1)
    return ~tiles & (state.round <= game.rounds)[:, None]


@Operator
def mask(game: GridAdaptation, state: GridState, out: Tensor | None = None) -> Tensor:
    """Return the mask, bool [B, P, A], the components one after the other; each has a legal choice.

    It is written into `out`, a mask of the same number of matches: fresh memory for many takes longer than the mask.
    """
    free, pays, placed = free_spaces(game, state), may_pay(game, state), _placed(game, state)
    none = torch.zeros(len(state), game.spaces + 1, dtype=torch.bool, device=state.device)
    none[:, -1] = True
    first, has = torch.cat((free, ~free.any(1, keepdim=True)), 1), (state.reserves > 0) | pays
    parts = [torch.where(slot < placed, first, none)[:, None].expand(-1, game.players, -1) for slot in range(RESERVE)]
    parts.append((has[..., None] & torch.cat((free, none[:, -1:]), 1)[:, None]) | none[:, None])
    yes, flips = torch.ones_like(pays), game.flips_now(state.round)[:, None].expand_as(pays)
    votes = _voters(game, state)[..., None]
    parts += torch.stack((yes, flips, flips, flips), 2), torch.stack((yes, pays), 2)
    mask = torch.cat((*parts, rules.ballot(state.tied) & votes, ~votes), 2)
    return mask if out is None else out.copy_(mask)


def _placed(game: GridAdaptation, state: GridState) -> Tensor:
    """Return the number of tiles that each player places, but for the reserve tile: int64 [B, 1]."""
    return torch.where(state.round == 1, game.first_tiles, 1)[:, None]


def _voters(game: GridAdaptation, state: GridState) -> Tensor:
    """Return a mask of those who vote now, bool [B, P]."""
    return rules.voters(state.tied, state.tokens) & (state.round > game.rounds)[:, None]


def random_actions(game: GridAdaptation, state: GridState, bits: Tensor) -> Tensor:
    """Return uniformly random legal actions, int64 [B, P, 7], for bits of the same shape; without the masks."""
    free, pays, placed = free_spaces(game, state), may_pay(game, state), _placed(game, state)
    spaces, total = free.int().argsort(dim=1, descending=True, stable=True), free.sum(1)[:, None]
    has = (state.reserves > 0) | pays
    actions = []
    for slot, number in enumerate((*(total * (slot < placed) for slot in range(MOST_TILES)), total * has)):
        rank = (bits[..., slot] * (number + (slot == RESERVE))) >> 31  # a reserve tile may stay in hand, too
        space = spaces.gather(1, rank.clamp(max=game.spaces - 1))
        actions.append(torch.where(rank < number, space, game.spaces))
    actions.append(torch.where(game.flips_now(state.round)[:, None], (bits[..., FLIP] * 4) >> 31, 0))
    actions.append(torch.where(pays, (bits[..., BUY] * 2) >> 31, 0))
    allowed = rules.ballot(state.tied)
    place = (bits[..., VOTE] * allowed.sum(2)) >> 31
    vote = (allowed.cumsum(2) <= place[..., None]).sum(2)
    actions.append(torch.where(_voters(game, state), vote, game.players))
    return torch.stack(actions, 2)


def reason(game: GridAdaptation, state: GridState, seat: int, component: int, choice: int) -> str:
    """Return why a choice in the right range is illegal in the match of a batch of one."""
    number, name = int(state.round), COMPONENTS[component]
    if component == VOTE:
        return _why_not_vote(game, state, seat, choice)
    if number > game.rounds:
        return f"in the voting step there is no {name}"
    if component == FLIP:
        rounds = ", ".join(str(flips) for flips in game.flip_rounds if flips <= game.rounds)
        if not rounds:
            return "no digit is ever flipped"
        return f"a digit may be flipped in rounds {rounds} only, this is {number}"
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
    if not bool(_voters(game, state)[0, seat]):
        return "only who won a Token votes"
    if choice == game.players:
        return "who won a Token must vote"
    tied = [player for player, flag in zip(game.info.players, state.tied[0].tolist(), strict=True) if flag]
    return f"the vote is among {', '.join(tied)}, and not for oneself unless nobody else is tied"
