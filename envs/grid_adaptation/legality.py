"""Legal actions of players of Grid Adaptation, by component.

Letters: `B` matches, `P` players, `N` spaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core.state import innermost
from cellgames.envs.native import Operator

from . import ending, rules, stages
from .state import BUY, COMPONENTS, FLIP, MOST_TILES, RESERVE, SLOTS, VOTE, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation


@Operator
def free_spaces(game: GridAdaptation, state: GridState) -> Tensor:
    """Return spaces without a tile: bool [B, N]; none in the voting step."""
    free = torch.empty((game.spaces, len(state)), dtype=torch.bool, device=state.device)
    stages.run(game, stages.shown, [innermost(state.planes[:, 0]), state.round.contiguous()], [free])
    return free.t()


@Operator
def mask(game: GridAdaptation, state: GridState, out: Tensor | None = None) -> Tensor:
    """Return the mask, bool [B, P, A], the components one after the other; each has a legal choice.

    Args:
        game: the rules.
        state: the matches.
        out: mask of the same number of matches to write into; fresh memory for many takes longer than the mask.
    """
    parts = dict(zip(("slots", "reserve", "flip", "buy", "vote"), _parts(game), strict=True))
    free = free_spaces(game, state).contiguous()
    pays = stages.may_pay(game, state.round[:, None], state.bought, state.garnets)
    # Players' masks differ in little: two rows a match, without and with a reserve tile, serve as patterns.
    rows = free.new_zeros(len(state), 2, game.info.num_actions)
    slots = rows[:, :, parts["slots"]].unflatten(2, (MOST_TILES, -1))
    slots[:, :, 0, :-1], slots[:, :, 0, -1] = free[:, None], _full(game, state)[:, None]
    slots[:, :, 1:, -1] = True
    early = (state.round == 1).nonzero().squeeze(1)
    for slot in range(1, game.first_tiles):
        slots[early, :, slot] = slots[early, :, 0]
    reserve, flip = rows[:, :, parts["reserve"]], rows[:, :, parts["flip"]]
    reserve[:, 1, :-1], reserve[:, :, -1] = free, True
    flip[:, :, 0], flip[:, :, 1:] = True, game.flips_now(state.round)[:, None, None]
    rows[:, :, parts["buy"].start], rows[:, :, -1] = True, True
    env_ids = torch.arange(len(state), device=state.device)[:, None]
    pattern = (2 * env_ids + ((state.reserves > 0) | pays).long()).flatten()
    out = rows.new_empty(len(pattern), rows.shape[2]) if out is None else out.view(len(pattern), rows.shape[2])
    torch.index_select(rows.flatten(0, 1), 0, pattern, out=out)
    players = out.view(*state.reserves.shape, rows.shape[2])
    players[:, :, parts["buy"].stop - 1] = pays
    if len(voting := (state.round > game.rounds).nonzero().squeeze(1)):
        vote = torch.zeros(len(voting), game.players, game.players + 1, dtype=torch.bool, device=state.device)
        votes, allowed = _votes(state.tied[voting], state.tokens[voting])
        vote[:, :, :-1], vote[:, :, -1] = allowed & votes[:, :, None], ~votes
        players[voting, :, parts["vote"]] = vote
    return players


def _full(game: GridAdaptation, state: GridState) -> Tensor:
    """Return a mask of the matches in which no space can be named: bool [B]."""
    tiles = innermost(state.planes[:, 0])
    return (tiles == game.grid.cells(tiles.device)).all(0) | (state.round > game.rounds)


def _parts(game: GridAdaptation) -> Iterator[slice]:
    """Yield the parts of a mask: the tiles of a round, the reserve tile, the flip, the purchase, and the vote."""
    start = 0
    spaces, *others = game.info.action_nvec[MOST_TILES - 1 :]
    for width in (MOST_TILES * spaces, *others):
        yield slice(start, start + width)
        start += width


def random_actions(game: GridAdaptation, state: GridState, bits: Tensor) -> Tensor:
    """Return uniformly random legal actions, int64 [B, P, 7], for bits of the same shape; without the masks."""
    tiles, lots = innermost(state.planes[:, 0]), innermost(bits)
    round, *purse = map(innermost, (state.round, state.reserves, state.bought, state.garnets))
    free, counts, actions = torch.empty_like(tiles), torch.empty_like(tiles), torch.empty_like(lots)
    stages.run(game, stages.vacant, [tiles, round], [free, counts])
    reserve, found = torch.empty_like(purse[0]), [torch.empty_like(actions[:, SLOTS]) for _ in range(2)]
    outputs = [reserve, actions[:, FLIP], actions[:, BUY]]
    stages.run(game, stages.offered, [counts, round, *purse, lots], outputs)
    stages.run(game, stages.drawn, [free, counts, round, reserve, lots], found)
    stages.run(game, stages.located, found, [actions[:, SLOTS]])
    actions[:, VOTE] = game.players
    voting = (state.round > game.rounds).nonzero().squeeze(1)
    if len(voting):
        tied, tokens = (field[voting].t() for field in (state.tied, state.tokens))
        actions[:, VOTE, voting] = _random_votes(tied, tokens, lots[:, VOTE, voting])
    return actions.movedim(-1, 0)


def _random_votes(tied: Tensor, tokens: Tensor, bits: Tensor) -> Tensor:
    """Return random votes of matches in the voting step, int64 [P, B], for bits [P, B]."""
    allowed = ending.ballot(tied)
    place = (bits * allowed.sum(1)) >> 31
    vote = (allowed.cumsum(1) <= place[:, None]).sum(1)
    return vote.where(ending.voters(tied, tokens), len(tied))


def _votes(tied: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return masks of the voters, bool [B, P], and of each one's votes, bool [B, P, P]; arguments are [B, P]."""
    return ending.voters(tied.t(), tokens.t()).t(), ending.ballot(tied.t()).movedim(2, 0)


def reason(game: GridAdaptation, state: GridState, seat: int, component: int, choice: int) -> str:
    """Return why a choice in the right range is illegal in the match of a batch of one."""
    number, name = int(state.round), COMPONENTS[component]
    if component == VOTE:
        return _why_not_vote(game, state, seat, choice)
    if number > game.rounds:
        return f"in the voting step there is no {name}"
    if component == FLIP:
        rounds = ", ".join(str(flips) for flips in game.flip_rounds if flips <= game.rounds)
        return (
            f"a digit may be flipped in rounds {rounds} only, this is {number}"
            if rounds
            else "no digit is ever flipped"
        )
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
    if not bool(_votes(state.tied, state.tokens)[0][0, seat]):
        return "only who won a Token votes"
    if choice == game.players:
        return "who won a Token must vote"
    tied = [player for player, flag in zip(game.info.players, state.tied[0].tolist(), strict=True) if flag]
    return f"the vote is among {', '.join(tied)}, and not for oneself unless nobody else is tied"
