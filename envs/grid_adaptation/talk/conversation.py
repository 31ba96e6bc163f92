"""Matches of Grid Adaptation with talk: before each round come steps in which all players say words, and nothing else.

All other steps are those of the base game, and run by its code. Letters: `B` matches, `P` players, `T` talk steps of a
match, `R` places of a sender's words (see `words`), `K` components of an action, of which the first `BASE` are the base
game's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core.state import along_envs, choose_envs
from cellgames.envs.grid_adaptation import legality, matches, native_rounds
from cellgames.envs.grid_adaptation.state import COMPONENTS, GridState

from . import words

if TYPE_CHECKING:
    from cellgames.envs.grid_adaptation.game import GridAdaptation

__all__ = [
    "BASE",
    "TalkState",
    "base_of",
    "begin",
    "free_spaces",
    "heard",
    "last_heard",
    "mask",
    "num_spectated",
    "observed",
    "random_actions",
    "reason",
    "restart",
    "spectated",
    "step",
    "talking",
    "with_base",
]

BASE = len(COMPONENTS)
"""The number of components of the base game's actions; those of words follow."""


@dataclass(frozen=True, eq=False)
class TalkState(GridState):
    """The state of a batch of Grid Adaptation matches with talk.

    Attributes:
        talks: [B] int64, talk steps played so far.
        said: [B, T, P, R] int8, the words of each talk step by sender, 0 for silence and -1 in those to come.
        heard: [B, T, P, R] int8, the same as they arrive. With neither `scramble` nor `mute` it has no elements,
            since nothing alters words.
    """

    talks: Tensor
    said: Tensor
    heard: Tensor


_WORDS = len(("talks", "said", "heard"))


def base_of(state: GridState) -> GridState:
    """Return the fields of the base game, which share memory with the state."""
    assert isinstance(state, TalkState)
    return GridState(*state.tensors()[:-_WORDS])


def with_base(state: TalkState, base: GridState) -> TalkState:
    """Return the state with the fields of the base game replaced."""
    return TalkState(*base.tensors(), *state.tensors()[-_WORDS:])


def begin(game: GridAdaptation, seeds: Tensor) -> TalkState:
    """Return new matches for seeds, int64 [B]."""
    shape = (len(seeds), game.talks, game.players, words.num_places(game))
    said = torch.full(shape, words.TO_COME, dtype=torch.int8, device=seeds.device)
    altered = said.clone() if game.scramble or game.mute else said.new_empty(len(seeds), 0, *shape[2:])
    fields = [*matches.begin(game.silent, seeds).tensors(), torch.zeros_like(seeds), said, altered]
    return TalkState(*fields)


def heard(state: TalkState) -> Tensor:
    """Return the words as they arrive, int8 [B, T, P, R]."""
    return state.heard if state.heard.shape[1] else state.said


def talking(game: GridAdaptation, state: TalkState) -> Tensor:
    """Return where the next step is a talk step, bool [B]; False after the end."""
    return state.talks < state.round.clamp(max=game.rounds) * game.talk_steps


# --- steps --------------------------------------------------------------------------------------------------------


def step(game: GridAdaptation, state: TalkState, actions: Tensor) -> TalkState:
    """Play a talk step, a round, or the vote; actions are int64 [B, P, K]."""
    now, base = talking(game, state), base_of(state)
    quiet = base.replace(
        turn=base.turn + 1, rewards=torch.zeros_like(base.rewards), placed=torch.zeros_like(base.placed)
    )
    if now.all():
        base = quiet
    else:
        played = native_rounds.step(game.silent, base, actions[..., :BASE])
        base = played if not now.any() else quiet.merge(played, lambda one, other: choose_envs(now, one, other))
    env_ids = now.nonzero().squeeze(1)
    after = with_base(state, base)
    if not len(env_ids):
        return after
    said, arrived = state.said.clone(), state.heard.clone()
    _say(game, state.replace(said=said, heard=arrived), env_ids, actions[env_ids])
    return after.replace(talks=state.talks + now, said=said, heard=arrived)


def _say(game: GridAdaptation, state: TalkState, env_ids: Tensor, actions: Tensor) -> None:
    """Write the words of actions, int64 [N, P, K], into the matches of a state."""
    said, number = actions[..., BASE:].to(torch.int8), state.talks[env_ids]
    place = env_ids * game.talks + number
    state.said.view(-1, *said.shape[1:])[place] = said
    if state.heard.shape[1]:
        arrived = words.delivered(game, state.seed[env_ids], number, said)
        state.heard.view(-1, *said.shape[1:])[place] = arrived


def restart(game: GridAdaptation, state: TalkState, done: Tensor) -> TalkState:
    """Begin new matches where bool [B] holds; see `Game._restart`."""
    after = with_base(state, matches.restart(game.silent, base_of(state), done))
    for field in (after.said, after.heard):
        field[done] = words.TO_COME
    after.talks[done] = 0
    return after


# --- what players say ---------------------------------------------------------------------------------------------


def _silence(game: GridAdaptation, like: Tensor) -> Tensor:
    """Return actions that do nothing, int64 of a shape [..., K], with the matches next to each other in memory."""
    nothing = torch.tensor([game.fallback(part, None) for part in range(like.shape[-1])], device=like.device)
    inner = like.movedim(0, -1)
    return nothing.to(torch.int64)[:, None].expand(inner.shape).contiguous().movedim(-1, 0)


def _random_words(game: GridAdaptation, bits: Tensor) -> Tensor:
    """Return words for random bits from 0 to 2^31 - 1, all with the same probability."""
    return (bits * (game.words + 1)) >> 31


def random_actions(game: GridAdaptation, state: TalkState, bits: Tensor) -> Tensor:
    """Return uniformly random legal actions, int64 [B, P, K], for bits of the same shape."""
    now = talking(game, state)
    played = legality.random_actions(game.silent, base_of(state), bits[..., :BASE])
    said = _random_words(game, bits[..., BASE:])
    quiet = _silence(game, bits)
    talks = torch.cat((quiet[..., :BASE], said), -1)
    return choose_envs(now, talks, torch.cat((played, quiet[..., BASE:]), -1))


def free_spaces(game: GridAdaptation, state: TalkState) -> Tensor:
    """Return spaces without a tile, bool [B, N]; none in a talk step and in the voting step."""
    base = base_of(state)
    closed = torch.where(
        talking(game, state), game.rounds + 1, base.round
    )  # nothing can be named as in the voting step
    return legality.free_spaces(game.silent, base.replace(round=closed))


def mask(game: GridAdaptation, state: TalkState, out: Tensor | None = None) -> Tensor:
    """Return the mask of every player, bool [B, P, A]; `out` is one of as many matches to write into."""
    now, base_width = talking(game, state), game.silent.info.num_actions
    if out is None:
        out = torch.empty((len(state), game.players, game.info.num_actions), dtype=torch.bool, device=state.device)
    out[..., :base_width] = native_rounds.mask(game.silent, base_of(state))
    nothing = torch.zeros(base_width, dtype=torch.bool, device=state.device)
    nvec = game.silent.info.action_nvec
    nothing[[sum(nvec[:part]) + game.fallback(part, None) for part in range(BASE)]] = True
    out[now, :, :base_width] = nothing
    said = out[..., base_width:].unflatten(2, (-1, game.words + 1))
    said[:] = along_envs(now, said.ndim)
    said[..., 0] = True
    return out


def reason(game: GridAdaptation, state: TalkState, seat: int, component: int, choice: int) -> str:
    """Return why a choice in the right range is illegal in the match of a batch of one."""
    if component >= BASE:
        return "words are said in talk steps only"
    if bool(talking(game, state)):
        return f"in a talk step there is no {COMPONENTS[component]}"
    return legality.reason(game.silent, base_of(state), seat, component, choice)


# --- what players hear --------------------------------------------------------------------------------------------


def observed(game: GridAdaptation, state: TalkState, seat: Tensor) -> Tensor:
    """Return the planes that talk adds to an observation of players, int64 [B], by seat: int16 [B, C, H, W]."""
    known = words.one_hot(game, words.history(game, state.said, heard(state), seat))
    now = talking(game, state).to(torch.int16)[:, None, None, None]
    return torch.cat((now.expand(-1, -1, game.size, game.size), known), 1)


def last_heard(game: GridAdaptation, state: TalkState, player: int) -> Tensor:
    """Return the words of the last talk step that have reached a player, by sender: int64 [B, P].

    It is -1 at the player's own seat, and everywhere before the first talk step.
    """
    seats = torch.full_like(state.talks, player)
    arrived = words.heard_by(game, heard(state), seats).long()
    last = (state.talks - 1).clamp(min=0)
    found = state.talks.new_full((len(state), game.players), words.TO_COME)
    found[:, [seat for seat in range(game.players) if seat != player]] = arrived[
        torch.arange(len(state), device=last.device), last
    ]
    return found


def spectated(game: GridAdaptation, state: TalkState) -> Tensor:
    """Return all words as spectators see them, int8 [B, C, H, W]: said, then as they arrive, row by row; -1 to come."""
    all_words = torch.cat((state.said.flatten(1), heard(state).flatten(1)), 1)
    planes = all_words.new_full((len(state), num_spectated(game) * game.spaces), words.TO_COME)
    planes[:, : all_words.shape[1]] = all_words
    return planes.view(len(planes), planes.shape[1] // game.spaces, game.size, game.size)


def num_spectated(game: GridAdaptation) -> int:
    """Return the number of planes of `spectated`."""
    return -(-2 * game.talks * game.players * words.num_places(game) // game.spaces)
