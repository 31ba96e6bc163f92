"""Words of Grid Adaptation with talk: to whom they go, how they are altered on their way, and who has heard which.

Words are stored by their senders. In public each word has one place. In private each player has a place for each of the
others, in the order of seats. Letters: `B` matches, `P` players, `T` talk steps of a match, `R` places of a sender,
`S` places of a player's history: the others' words to it, then its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation.matches import orders_of
from cellgames.envs.native.operators import table

if TYPE_CHECKING:
    from .game import GridAdaptationTalk
    from .state import TalkState

TO_COME = -1
"""The word of a talk step that has not been played."""

_ORDER = chance.USER + 2  # purpose of draws


@table
def _others(players: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the others of each seat, and the place of the seat among the others of each of them: int64 [P, P - 1]."""
    seat, place = torch.arange(players, device=device)[:, None], torch.arange(players - 1, device=device)
    other = place + (place >= seat).long()
    return other, seat - (seat > other).long()


def _by_receiver(words: Tensor) -> Tensor:
    """Return private words by receiver and the place of the sender among its others, [N, P, P - 1]; or back."""
    other, back = _others(words.shape[-2], words.device)
    return words[..., other, back]


def delivered(game: GridAdaptationTalk, seeds: Tensor, step: Tensor, said: Tensor) -> Tensor:
    """Return the words of one talk step as they arrive, by the sender from whom they seem to come: int8 [N, P, R].

    With `mute` they are silence. With `scramble` the words to one receiver, in public those to all, are dealt out anew
    among their senders, in each order with the same probability, by the match's seed and the number of the talk step,
    from 0, int64 [N] both.
    """
    if game.mute:
        return torch.zeros_like(said)
    if not game.scramble:
        return said
    players = game.players
    if game.talk == "public":
        orders = orders_of(players, said.device)
        lots = chance.draw(seeds, _ORDER, step * players)
        return said.gather(1, orders[chance.uniform_int(lots, math.factorial(players))][:, :, None])
    orders = orders_of(players - 1, said.device)
    lots = chance.draw(seeds[:, None], _ORDER, step[:, None] * players + torch.arange(players, device=said.device))
    order = orders[chance.uniform_int(lots, math.factorial(players - 1))]
    return _by_receiver(_by_receiver(said).gather(2, order))


def heard_by(game: GridAdaptationTalk, heard: Tensor, seats: Tensor) -> Tensor:
    """Return the words that have reached players, int64 [B, k], from each other seat: int8 [B, k, T, P - 1].

    Words are int8 [B, T, P, R], as they arrive, by sender.
    """
    env_ids = torch.arange(len(heard), device=heard.device)[:, None, None]
    other, back = _others(game.players, heard.device)
    place = back[seats] if game.talk == "private" else torch.zeros_like(back[seats])
    return heard[env_ids, :, other[seats], place].movedim(2, 3)


def promised(game: GridAdaptationTalk, state: TalkState) -> Tensor:
    """Return each player's public word of the last talk step before a round, int64 [B, P]; 0 before the first."""
    last = state.talks // game.talk_steps * game.talk_steps - 1
    said = state.said[torch.arange(len(last), device=last.device), last.clamp(min=0), :, 0].long()
    return said.where((last >= 0)[:, None], 0)


def history(game: GridAdaptationTalk, said: Tensor, heard: Tensor, seats: Tensor) -> Tensor:
    """Return the words of players, int64 [B, k], in all talk steps: from each other seat, then own, int8 [B, k, T, S].

    Words are int8 [B, T, P, R], as they were said and as they arrive, by sender.
    """
    env_ids = torch.arange(len(said), device=said.device)[:, None]
    return torch.cat((heard_by(game, heard, seats), said[env_ids, :, seats]), 3)


def num_planes(game: GridAdaptationTalk) -> int:
    """Return the number of planes that words add to an observation; the first says whether this is a talk step."""
    bits = game.talks * (game.players - 1 + game.places) * (game.words + 1)
    return 1 + -(-bits // game.spaces)


def one_hot(game: GridAdaptationTalk, words: Tensor) -> Tensor:
    """Return words, [..., T, S], one-hot on planes filled row by row, int16 [..., planes, H, W]; 0 to come."""
    bits = (words[..., None] == torch.arange(game.words + 1, dtype=words.dtype, device=words.device)).to(torch.int16)
    return on_planes(game, bits.flatten(-3), 0)


def on_planes(game: GridAdaptationTalk, numbers: Tensor, fill: int) -> Tensor:
    """Return numbers, [..., n], on planes, [..., planes, H, W], that they fill row by row, with `fill` behind them."""
    padded: Tensor = functional.pad(numbers, (0, -numbers.shape[-1] % game.spaces), value=fill)
    return padded.view(*numbers.shape[:-1], padded.shape[-1] // game.spaces, game.size, game.size)
