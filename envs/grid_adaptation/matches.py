"""Matches of Grid Adaptation from their beginning to the end, in batches.

Letters: `B` matches, `P` players, `S` spaces, `N` words of a board.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core import chance
from cellgames.envs.native import Operator
from cellgames.envs.native.operators import table

from . import rules
from .state import BUY, FLIP, RESERVE, VOTE, G, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

_DEAL = chance.USER  # purpose of draws


def begin(game: GridAdaptation, seeds: Tensor) -> GridState:
    """Return new matches for seeds, int64 [B]."""

    def filled(value: int, *shape: int) -> Tensor:
        return torch.full((*shape, len(seeds)), value, device=seeds.device).movedim(-1, 0)  # matches innermost

    players, words = game.players, game.grid.words
    return GridState.new(
        seeds,
        players,
        planes=filled(0, 4, words),
        placed=filled(0, words),
        sequence=_dealt(game, seeds),
        reserves=filled(game.reserves, players),
        bought=filled(0, players),
        garnets=filled(game.starting_garnets, players),
        public=filled(0, 8),
        round=filled(1),
        tied=filled(0, players).bool(),
        tokens=filled(0, players),
        candidate=filled(-1),
    )


def _dealt(game: GridAdaptation, seeds: Tensor) -> Tensor:
    """Return sequences [B, P]: different for every player, each order as likely (bias below 2^-16)."""
    orders = orders_of(8, seeds.device)  # of the sequences
    lots = chance.draw(seeds, _DEAL, torch.zeros_like(seeds))
    return orders[chance.uniform_int(lots, len(orders)), : game.players].t().contiguous().t()  # matches innermost


@table
def orders_of(count: int, device: torch.device) -> Tensor:
    """Return the numbers below `count` in every order: int64 [count!, count]."""
    return torch.tensor(list(itertools.permutations(range(count))), device=device)


def may_pay(game: GridAdaptation, state: GridState) -> Tensor:
    """Return a mask of the players who can pay for the next extra tile: bool [B, P]."""
    return (state.garnets >= rules.price(state.bought)) & (state.round <= game.rounds)[:, None]


@Operator
def step(game: GridAdaptation, state: G, actions: Tensor) -> G:
    """Play a round, or the vote; actions are int64 [B, P, 7]."""
    actions = actions.long()
    after, spaces = _submitted(game, state, actions)
    after = _lived(game, after, spaces)
    return _judged(game, _scored(game, after), actions[..., VOTE])


def _submitted(game: GridAdaptation, state: G, actions: Tensor) -> tuple[G, Tensor]:
    """Return the matches after flips and purchases, and the spaces of four tiles, int64 [B, P, 4], `S` for "none"."""
    playing, none = (state.round <= game.rounds)[:, None], game.spaces
    flip = torch.where(game.flips_now(state.round)[:, None], actions[..., FLIP], 0)
    wanted = playing & (actions[..., RESERVE] < none)
    # Who has no reserve tile and wants to place one buys it.
    buys = may_pay(game, state) & ((wanted & (state.reserves == 0)) | (actions[..., BUY] > 0))
    held, cost = state.reserves + buys, rules.price(state.bought)
    used = wanted & (held > 0)
    early = (state.round == 1)[:, None]
    placing = [playing if slot == 0 else early & (slot < game.first_tiles) for slot in range(RESERVE)]
    slots = [*(flags.expand_as(used) for flags in placing), used]
    state = state.replace(
        sequence=rules.flipped(state.sequence, flip),
        reserves=held - used.long(),
        bought=state.bought + buys,
        garnets=state.garnets - buys * cost,
    )
    return state, torch.where(torch.stack(slots, 2), actions[..., : RESERVE + 1], none)


def _lived(game: GridAdaptation, state: G, spaces: Tensor) -> G:
    """Return the matches with the tiles that land and a generation later; in the voting step nothing moves."""
    named = torch.zeros(*spaces.shape[:2], game.spaces + 1, dtype=torch.bool, device=spaces.device)
    named = named.scatter_(2, spaces, True)[:, :, :-1]
    before = [plane.t() for plane in state.planes.unbind(1)]  # [N, B] each, tiles and digits
    free = ~game.grid.unpack(before[0]).flatten(1)
    own = named & (free & (named.sum(1) == 1))[:, None]  # the tiles of each player that land
    digits = [(own & (state.sequence & value != 0)[..., None]).any(1) for value in rules.DIGITS]
    new = game.grid.pack(torch.stack((own.any(1), *digits), 1).unflatten(2, (game.size, game.size)))
    laid = [plane | more for plane, more in zip(before, new, strict=True)]
    tiles, living = rules.generation(game.grid, laid[0], laid[1:])
    planes = torch.where(state.round <= game.rounds, torch.stack((tiles, *living)), torch.stack(before))
    return state.replace(planes=planes.movedim(-1, 0), placed=new[0].t())


def _scored(game: GridAdaptation, state: G) -> G:
    """Return the matches with the points of the round, and rewards for them; the vote gives neither."""
    tiles, *ones = game.grid.count(state.planes.movedim(0, -1)).unbind(0)
    playing = (state.round <= game.rounds)[:, None]
    earned = torch.stack(rules.bits_matched(tiles, ones), 1)
    points = torch.where(playing, earned.gather(1, state.sequence), 0).float()
    public = torch.where(playing, earned, state.public)
    if game.reward_scheme == "public":
        rewards = points - torch.where(playing, public.sum(1, keepdim=True), 0).float() / 8
    else:
        rewards = points - (points.sum(1, keepdim=True) - points) / (game.players - 1)
    return state.replace(scores=state.scores + points, rewards=rewards, public=public)


def _judged(game: GridAdaptation, state: G, votes: Tensor) -> G:
    """Return the matches after the last round, after the vote, int64 [B, P], or before the next round."""
    voting, last = state.round > game.rounds, (state.round == game.rounds)[:, None]
    tokens = torch.where(last, rules.tokens(state.scores), state.tokens)
    garnets = state.garnets + torch.where(last, rules.earned_garnets(state.scores), 0)
    fewest = state.scores == state.scores.amin(1, keepdim=True)
    alone = last & (fewest.sum(1, keepdim=True) == 1)
    tied = torch.where(last, fewest & ~alone, state.tied)
    to_vote = last[:, 0] & rules.voters(tied, tokens).any(1)
    done = voting | (last[:, 0] & ~to_vote)
    tied = tied & (voting | to_vote)[:, None]
    # Where the votes are level, or nobody may vote among several, chance decides.
    among = torch.where(voting[:, None], rules.most_voted(tied, votes, tokens, garnets), fewest)
    candidate = torch.where(done, rules.by_lot(among, state.seed), -1)
    rewards = state.rewards
    if game.reward_scheme == "outcome":
        lost = torch.arange(game.players, device=done.device) == candidate[:, None]
        worth = (tokens - lost.long()) + game.garnet_value * (garnets - game.starting_garnets).float()
        rewards = torch.where(done[:, None], worth, 0.0)
    return state.replace(
        turn=state.turn + 1,
        rewards=rewards,
        terminated=done,
        round=state.round + (~done).long(),
        garnets=garnets,
        tokens=tokens,
        tied=tied,
        candidate=candidate,
    )
