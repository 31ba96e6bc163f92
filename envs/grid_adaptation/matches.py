"""Matches of Grid Adaptation from their beginning to the next one, in batches: the `stages` in their order.

Letters: `P` players, `N` words of a board, `B` matches. Fields by name have the matches innermost, as stages take them.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core import chance
from cellgames.envs.core.state import innermost
from cellgames.envs.kernels.lookup_tables import table
from cellgames.envs.native import Operator

from . import ending, stages
from .state import VOTE, GridState, first_values

if TYPE_CHECKING:
    from .game import GridAdaptation

Fields = dict[str, Tensor]

_DEAL = chance.USER  # purpose of draws
_DTYPES = {int: torch.int64, float: torch.float32, bool: torch.bool}
_OF_PLAYERS = ("rewards", "scores", "reserves", "bought", "garnets", "tied", "tokens")


def begin(game: GridAdaptation, seeds: Tensor) -> GridState:
    """Return new matches for seeds, int64 [B]."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_OF_PLAYERS, (game.players,))
    shapes |= {"planes": (4, game.grid.words), "placed": (game.grid.words,), "public": (8,)}
    fields = {}
    for name, value in first_values(game).items():
        dtype = torch.int32 if name == "turn" else _DTYPES[type(value)]
        inner = torch.full((*shapes.get(name, ()), len(seeds)), value, dtype=dtype, device=seeds.device)
        fields[name] = inner.movedim(-1, 0)
    return GridState(seed=seeds, sequence=_dealt(game, seeds), **fields)


def _dealt(game: GridAdaptation, seeds: Tensor) -> Tensor:
    """Return sequences [B, P]: different for every player, each order as likely (bias below 2^-16)."""
    orders = _orders(seeds.device)
    lots = chance.draw(seeds, _DEAL, torch.zeros_like(seeds))
    return orders[chance.uniform_int(lots, len(orders)), : game.players].t().contiguous().t()  # matches innermost


@table
def _orders(device: torch.device) -> Tensor:
    """Return the eight sequences in every order: int64 [8!, 8]."""
    return torch.tensor(list(itertools.permutations(range(8))), device=device)


def restart(game: GridAdaptation, state: GridState, done: Tensor) -> GridState:
    """Begin new matches where bool [B] holds; see `Game._restart`."""
    env_ids = done.nonzero().squeeze(1)
    inner = _inner(state)
    fields = [inner[name] for name in first_values(game)]
    stages.run(game, stages.renewed, [done.long(), *fields], fields)
    seeds = chance.next_seed(inner["seed"][env_ids])
    inner["seed"] = inner["seed"].index_put((env_ids,), seeds)  # its memory is that of the state before the step, too
    inner["sequence"][:, env_ids] = _dealt(game, seeds).t()
    return _outer(state, inner)


@Operator
def step(game: GridAdaptation, state: GridState, actions: Tensor) -> GridState:
    """Play a round, or the vote; actions are int64 [B, P, 7]."""
    inner, choices = _inner(state), innermost(actions.long())
    round = inner["round"]
    holdings = ("sequence", "reserves", "bought", "garnets")
    after = {name: torch.empty_like(inner[name]) for name in (*holdings, "scores", "rewards", "public", "placed")}
    orders = torch.empty_like(inner["sequence"])
    purse = [inner[name] for name in holdings]
    stages.run(game, stages.submitted, [round, *purse, choices], [*(after[name] for name in holdings), orders])
    after["planes"] = _boards(game, inner, orders, after["placed"])
    counts, gained = (orders.new_empty(rows, len(state)) for rows in (4, game.players))
    stages.run(game, stages.counted, [after["planes"]], [counts])
    known = [counts, round, inner["public"], after["sequence"]]
    stages.run(game, stages.scored, known, [after["public"], gained])
    if game.reward_scheme == "public":
        earned = [inner["scores"], gained, round, after["public"]]
        stages.run(game, stages.rewarded_publicly, earned, [after["scores"], after["rewards"]])
    else:
        stages.run(game, stages.rewarded, [inner["scores"], gained], [after["scores"], after["rewards"]])
    now = inner | after
    now |= _verdict(game, now, choices[:, VOTE])
    if game.reward_scheme == "outcome":
        fields = [now[name] for name in ("terminated", "tokens", "garnets", "candidate")]
        stages.run(game, stages.settled, fields, [now["rewards"]])
    return _outer(state, now | {"turn": inner["turn"] + 1})


def _inner(state: GridState) -> Fields:
    return {field.name: innermost(getattr(state, field.name)) for field in dataclasses.fields(state)}


def _outer(state: GridState, fields: Fields) -> GridState:
    return state.replace(**{name: field.movedim(-1, 0) for name, field in fields.items()})


def _boards(game: GridAdaptation, before: Fields, orders: Tensor, placed: Tensor) -> Tensor:
    """Return planes [4, N, B] after a round; writes into `placed` where tiles have landed."""
    planes = before["planes"]
    named = planes.new_empty(game.players, *planes.shape[1:])
    laid, lived = torch.empty_like(planes), torch.empty_like(planes)
    stages.run(game, stages.named, [orders], [named])
    stages.run(game, stages.landing, [planes[0], named], [placed])
    stages.run(game, stages.laid, [planes, named, placed, orders], laid.unbind(0))
    stages.run(game, stages.lived, [before["round"], *laid.unbind(0)], lived.unbind(0))
    return lived


def _verdict(game: GridAdaptation, fields: Fields, votes: Tensor) -> Fields:
    """Return the fields that change when the last round or the votes, int64 [P, B], have been played.

    `fields` are those after the step, but for the round, which has just been played.
    """
    round = fields["round"]
    if not (round >= game.rounds).any():
        return {"terminated": fields["terminated"], "round": round + 1}
    names = ("round", "garnets", "tokens", "tied")
    after = {name: torch.empty_like(fields[name]) for name in (*names, "candidate", "terminated")}
    stages.run(game, stages.ended, [fields["scores"], *(fields[name] for name in names)], list(after.values()))
    env_ids = (after["terminated"] & (after["candidate"] < 0)).nonzero().squeeze(1)
    if len(env_ids):  # few, who have voted, or among whom chance decides
        garnets, tokens, tied = (after[name][:, env_ids] for name in names[1:])
        voted = ending.most_voted(tied, votes[:, env_ids], tokens, garnets)
        among = torch.where(round[env_ids] > game.rounds, voted, ending.fewest(fields["scores"][:, env_ids]))
        after["candidate"][env_ids] = ending.by_lot(among, fields["seed"][env_ids])
    return after
