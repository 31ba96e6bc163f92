"""Checks of a new game: whether it keeps what `Game` promises.

Letters: `B` games, `A` actions, `K` components of an action.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .core import Game, Space, seeds

__all__ = ["check_game"]

_NUM_ENVS = 7


def check_game(game: Game, *, seed: int = 0, max_steps: int = 10_000) -> None:
    """Play a game at random, seven at a time, and check all that agents, adapters and records rely on.

    Shapes, dtypes and bounds as `game.info` declares them; masks that leave everyone who must act a choice; illegal
    actions refused; finished games that stay as they are; a batch that equals its games played alone; nothing
    overwritten; the same game again from the same seed; an end within `max_turns`; outcomes and rewards that add up if
    the game is zero-sum; actions and positions that come back from their text; states that come back from a file. It
    does not know the rules: those need tests of their own.

    Args:
        game: with parameters that make a whole game short.
        seed: of all chance.
        max_steps: where to give up on a game that does not end, if `max_turns` is larger.

    Raises:
        ValueError: names the game and says what is wrong, and after how many steps.
    """
    generator = torch.Generator().manual_seed(seed)
    state: Any = game.init(seeds(seed, _NUM_ENVS))
    _demand(game, type(game)(**game.parameters) == game, "a game made from its parameters is another one")
    _demand(game, hash(type(game)(**game.parameters)) == hash(game), "equal games have different hashes")
    _check_actions(game)
    returns = torch.zeros(_NUM_ENVS, game.info.num_players)
    for turn in range(min(game.info.max_turns, max_steps) + 1):
        _check_position(game, state, f"after {turn} steps")
        if state.done.all():
            break
        actions = game.random_actions(state, generator)
        state = _check_step(game, state, actions, f"in step {turn + 1}")
        returns += state.rewards
    _demand(game, bool(state.done.all()), f"a game goes on after {turn} steps; info.max_turns is {game.info.max_turns}")
    outcome = game.outcome(state)
    if game.info.zero_sum:
        _demand(game, not outcome.sum(1).any(), f"outcomes of a zero-sum game add up to {outcome.sum(1).tolist()}")
        _demand(
            game, bool((returns.sum(1).abs() < 1e-4).all()), f"rewards of a zero-sum game add up to {returns.sum(1)}"
        )
    for env_id in range(_NUM_ENVS):
        summary = game.summary(state[env_id])
        _demand(game, json.loads(json.dumps(summary)) == summary, "summary(state) is not what JSON gives back")


def _demand(game: Game, holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{game.id}: {otherwise}")


def _check_actions(game: Game) -> None:
    """Check that every action comes back from its name; of actions with components the first few."""
    nvec = game.info.action_nvec
    count = nvec[0] if len(nvec) == 1 else 3
    names = [game.action_to_string(action) for action in range(count)]
    _demand(game, len(set(names)) == count, "two actions have the same name")
    back = [game.string_to_action(name) for name in names]
    _demand(game, back == list(range(count)), "string_to_action is no inverse of action_to_string")
    _refuses(game, "string_to_action takes nonsense", lambda: game.string_to_action("no such action"))


def _refuses(game: Game, otherwise: str, attempt: Any) -> None:
    try:
        attempt()
    except ValueError:
        return
    raise ValueError(f"{game.id}: {otherwise}; expected a ValueError")


def _check_position(game: Game, state: Any, when: str) -> None:
    info, done = game.info, state.done
    for name, tensor, space in _shown(game, state):
        _check_space(game, f"{name} {when}", tensor, space)
    _check_space(
        game, f"state.rewards {when}", state.rewards, Space((info.num_players,), torch.float32, *info.reward_range)
    )
    outcome = game.outcome(state)
    _check_space(game, f"outcome {when}", outcome, Space((info.num_players,), torch.int8, -1, 1))
    _demand(game, not outcome[~done].any(), f"outcome {when}: a game that goes on has one already")
    _demand(game, not (state.terminated & state.truncated).any(), f"a game is both terminated and truncated {when}")
    mask = game.legal_actions(state)
    seats = (info.num_players,) if info.simultaneous else ()
    _check_space(game, f"legal_actions {when}", mask, Space((*seats, info.num_actions), torch.bool, 0, 1))
    for component, part in enumerate(mask.split(list(info.action_nvec), dim=-1)):
        some = part.any(-1).view(len(state), -1)
        _demand(
            game, bool(some[~done].all()), f"nothing is legal for someone who must act {when}, component {component}"
        )
    fields = state.tensors()
    _demand(
        game, len({field.data_ptr() for field in fields}) == len(fields), f"fields of the state share memory {when}"
    )
    for env_id in range(len(state)):
        _check_text(game, state[env_id], when)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    _demand(game, torch.load(file).equal(state), f"a state is another one after torch.save and torch.load {when}")


def _shown(game: Game, state: Any) -> Iterator[tuple[str, Tensor, Space]]:
    """Yield what the game shows, with a name and the declared space."""
    info = game.info
    for seat, player in enumerate(info.players):
        yield f"observe(state, {seat}) of {player}", game.observe(state, seat), info.observation
    yield "board", game.board(state), info.board


def _check_space(game: Game, what: str, tensor: Tensor, space: Space) -> None:
    _demand(
        game,
        tuple(tensor.shape) == (_NUM_ENVS, *space.shape) and tensor.dtype == space.dtype,
        f"{what}: expected {space.dtype} {[_NUM_ENVS, *space.shape]}, got {tensor.dtype} {list(tensor.shape)}",
    )
    low, high = float(tensor.min()), float(tensor.max())
    _demand(
        game,
        space.low <= low and high <= space.high,
        f"{what}: expected numbers from {space.low:g} to {space.high:g}, got {low:g} to {high:g}",
    )


def _check_text(game: Game, single: Any, when: str) -> None:
    line = game.state_to_string(single)
    _demand(game, "\n" not in line, f"state_to_string gives more than one line {when}: {line!r}")
    back = game.string_to_state(line, seed=int(single.seed))
    same = game.state_to_string(back) == line and torch.equal(back.done, single.done)
    same = same and torch.equal(game.legal_actions(back), game.legal_actions(single))
    same = same and all(
        torch.equal(one, other)
        for (_, one, _), (_, other, _) in zip(_shown(game, back), _shown(game, single), strict=True)
    )
    _demand(game, same, f"string_to_state(state_to_string(state)) is another position {when}: {line!r}")
    _demand(game, bool(game.text(single)), f"text is empty {when}")


def _check_step(game: Game, state: Any, actions: Tensor, when: str) -> Any:
    """Check a step and return the position after it."""
    before, done = state.clone(), state.done
    mask = game.legal_actions(state)
    after = game.step(state, actions)
    _demand(game, state.equal(before), f"step changes the state that it is given {when}")
    _demand(game, after.equal(game.step(state, actions)), f"the same step from the same state differs {when}")
    still = before.replace(rewards=torch.zeros_like(before.rewards))
    _demand(game, after[done].equal(still[done]), f"a finished game changes {when}")
    _demand(game, torch.equal(after.turn[~done], before.turn[~done] + 1), f"state.turn does not count the steps {when}")
    for env_id in range(len(state)):
        alone = game.step(state[env_id], actions[env_id : env_id + 1])
        _demand(game, alone.equal(after[env_id]), f"env {env_id} is another game without the envs beside it {when}")
    illegal = (~mask & ~done.view(-1, *[1] * (mask.ndim - 1))).nonzero()
    if len(illegal):
        wrong, (*where, flat) = actions.clone(), illegal[-1].tolist()
        component = 0
        while flat >= game.info.action_nvec[component]:
            flat -= game.info.action_nvec[component]
            component += 1
        wrong[(*where, *[component] * (len(game.info.action_nvec) > 1))] = flat
        _refuses(game, f"an illegal action is taken {when}", lambda: game.step(state, wrong))
    return after
