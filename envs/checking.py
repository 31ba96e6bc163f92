"""Checks of a new game: whether it keeps what `Game` promises.

Letters: `B` games, `A` actions, `K` components of an action.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .batch_checks import Answer, Batch, Function, check_function, check_same, fail
from .core import Game, Space, State, seeds
from .core.chance import next_seed
from .kernels.compiling import planned
from .layer_checks import check_layers

__all__ = ["check_game"]

_NUM_ENVS = 7
_STATE = {
    **{"seed": torch.int64, "turn": torch.int32, "current_player": torch.int64},
    **{"rewards": torch.float32, "scores": torch.float32, "terminated": torch.bool, "truncated": torch.bool},
}


def check_game(game: Game, *, seed: int = 0, max_steps: int = 10_000) -> None:
    """Play a game at random, seven at a time, and check all that agents, adapters and records rely on.

    In every position: shapes, dtypes and bounds as `game.info` declares them; masks that leave everyone who must act a
    choice; illegal actions refused; finished games that stay as they are; a step that equals its games played alone;
    the same step again from the same state; actions and positions that come back from their text; states that come
    back from a file. In the end: an end within `max_turns`, outcomes and rewards that add up if the game is zero-sum.

    Then every function is asked about a mixed batch, of games at different plies with different players to move, some
    of them over. It must say of each env what it says of that game alone, also if the batch is permuted, split or
    joined with another; leave its arguments and torch's random state alone; keep to the state's device and to its
    dtypes; and take actions of every integer dtype. Hints for search are compared with play, single games outside a
    batch with the batch of one. It does not know the rules: those need tests of their own.

    Args:
        game: with parameters that make a whole game short.
        seed: of all chance.
        max_steps: where to give up on a game that does not end, if `max_turns` is larger.

    Raises:
        ValueError: names the game and the function, and says what was expected and what it got, in which env, after
            how many steps, and the likely cause.
    """
    with planned("never", 1):  # compiling takes longer than these steps
        _demand(game, type(game)(**game.parameters) == game, "a game made from its parameters is another one")
        _demand(game, hash(type(game)(**game.parameters)) == hash(game), "equal games have different hashes")
        _check_actions(game)
        history, played, batch = _play(game, seed, max_steps)
        for name, function in _views(game).items():
            check_function(game, name, function, batch)
        for turn, state in enumerate(history):
            _check_rules(game, state, f"after {turn} steps")
        for name, function in _acts(game).items():
            check_function(game, name, function, batch)
        _check_history(game, history, played)
        _check_arguments(game, batch)
        _check_restart(game, batch.state)
        check_layers(game, batch)


def _play(game: Game, seed: int, max_steps: int) -> tuple[list[Any], list[Tensor], Batch]:
    """Play games, if possible to their ends; return positions, actions, and a batch of games of all plies.

    Only shapes, dtypes and bounds are checked here, so that a mistake in one function is found by asking that function.
    """
    generator = torch.Generator().manual_seed(seed)
    state: Any = game.init(seeds(seed, _NUM_ENVS))
    history, played = [state], []
    most = min(game.info.max_turns, max_steps)
    for turn in range(most + 1):
        when = f"after {turn} steps"
        _check_fields(game, history[0], state, when)
        _check_position(game, state, when)
        if turn == most or state.done.all() or _stuck(game, state) is not None:
            break
        actions, before = game.random_actions(state, generator), state.clone()
        after = game.step(state, actions)
        when = f"in step {turn + 1}"
        _check_fields(game, before, after, when)
        _demand(game, state.equal(before), f"step changes the state that it is given {when}")
        _demand(game, after.equal(game.step(state, actions)), f"the same step from the same state differs {when}")
        history.append(state := after)
        played.append(actions)
    return history, played, _mixed(game, history, generator)


def _check_history(game: Game, history: list[Any], played: list[Tensor]) -> None:
    """Check what the rules of the core say of games from beginning to end."""
    for turn, state in enumerate(history):
        _check_texts(game, state, f"after {turn} steps")
        if turn < len(played):
            _check_step(game, state, played[turn], history[turn + 1], f"in step {turn + 1}")
    state, steps = history[-1], len(played)
    _demand(
        game, bool(state.done.all()), f"a game goes on after {steps} steps; info.max_turns is {game.info.max_turns}"
    )
    if game.info.zero_sum:
        outcome, returns = game.outcome(state), torch.stack([state.rewards for state in history]).sum(0)
        _demand(game, not outcome.sum(1).any(), f"outcomes of a zero-sum game add up to {outcome.sum(1).tolist()}")
        _demand(
            game, bool((returns.sum(1).abs() < 1e-4).all()), f"rewards of a zero-sum game add up to {returns.sum(1)}"
        )
    for env_id in range(_NUM_ENVS):
        summary = game.summary(state[env_id])
        _demand(game, json.loads(json.dumps(summary)) == summary, "summary(state) is not what JSON gives back")


def _mixed(game: Game, history: list[Any], generator: torch.Generator) -> Batch:
    """Return games of all plies, from beginnings to ends, two of each that was played."""
    games, last = [], len(history) - 1
    for env_id in range(_NUM_ENVS):
        end = next((ply for ply, state in enumerate(history) if state.done[env_id]), last)
        ply = round(end * env_id / (_NUM_ENVS - 1))
        games += [history[ply][env_id], history[min(ply + 1, end)][env_id]]
    state = type(history[0]).cat(games)
    bits = torch.randint(1 << 31, (len(state), *game.info.action_shape), generator=generator, device="cpu")
    actions = game.random_actions(state, bits)
    actions[state.done] = -1  # what finished games are given does not matter
    players = torch.arange(len(state), device="cpu") % game.info.num_players
    return Batch(state, players[torch.randperm(len(state), generator=generator, device="cpu")], actions, bits)


def _acts(game: Game) -> dict[str, Function]:
    """Return all that begins and steps games, by what the call looks like."""
    return {
        "init(seeds)": lambda game, batch: _fields(game.init(batch.state.seed)),
        "step(state, actions)": lambda game, batch: _fields(game.step(batch.state, batch.actions)),
        "random_actions(state, bits)": _actions_of_unfinished,
        "_restart(state, done)": lambda game, batch: _fields(game._restart(batch.state.clone(), batch.state.done)),
    }


def _views(game: Game) -> dict[str, Function]:
    """Return all that a game says of positions, by what the call looks like."""
    found: dict[str, Function] = {
        "legal_actions(state)": lambda game, batch: {"": game.legal_actions(batch.state)},
        "observe(state, player)": lambda game, batch: {"": game.observe(batch.state, batch.players)},
        "board(state)": lambda game, batch: {"": game.board(batch.state)},
        "outcome(state)": lambda game, batch: {"": game.outcome(batch.state)},
        "is_last_turn(state)": lambda game, batch: {"": game.is_last_turn(batch.state)},
        "_legal_again(state, mask)": _legal_again,
    }
    for seat in range(game.info.num_players):
        found[f"observe(state, {seat})"] = partial(_observed, seat)
        found[f"infos(state, {seat})"] = partial(_infos, seat)
    if not game.info.simultaneous:
        found |= {
            "winning_actions(state)": lambda game, batch: _or_none(game.winning_actions(batch.state)),
            "winning_actions(state, player)": lambda g, batch: _or_none(g.winning_actions(batch.state, batch.players)),
            "defending_actions(state)": lambda game, batch: _or_none(game.defending_actions(batch.state)),
        }
    if game.symmetries > 1:
        found["transform(observation, actions, which)"] = _transformed
    return found


def _fields(state: State) -> Answer:
    return {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}


def _observed(seat: int, game: Game, batch: Batch) -> Answer:
    return {"": game.observe(batch.state, seat)}


def _infos(seat: int, game: Game, batch: Batch) -> Answer:
    return game.infos(batch.state, seat)


def _or_none(answer: Tensor | None) -> Answer | None:
    return None if answer is None else {"": answer}


def _actions_of_unfinished(game: Game, batch: Batch) -> Answer:
    actions = game.random_actions(batch.state, batch.bits).clone()
    actions[batch.state.done] = 0  # what is drawn has no meaning
    return {"": actions}


def _legal_again(game: Game, batch: Batch) -> Answer:
    mask = game._legal_again(batch.state, ~game._legal(batch.state)).clone()
    mask[batch.state.done] = False
    return {"": mask}


def _transformed(game: Game, batch: Batch) -> Answer:
    mask = game.legal_actions(batch.state)
    if game.info.simultaneous:
        mask = mask[torch.arange(len(batch), device=mask.device), batch.players]
    which = batch.bits.flatten(1)[:, 0] % game.symmetries if batch.bits.ndim > 1 else batch.bits % game.symmetries
    seen, actions = game.transform(game.observe(batch.state, batch.players), mask, which)
    return {"observation": seen, "actions": actions}


def _check_fields(game: Game, first: Any, state: Any, when: str) -> None:
    """Check that the fields of a state have their dtypes and shapes, and that a player of the game is to move."""
    for name, tensor in _fields(state).items():
        start = getattr(first, name)
        dtype, shape = _STATE.get(name, start.dtype), [_NUM_ENVS, *start.shape[1:]]
        if tensor.dtype != dtype or list(tensor.shape) != shape:
            fail(game, f"state.{name} {when}", f"{dtype} {shape}", f"{tensor.dtype} {list(tensor.shape)}")
    low, high = int(state.current_player.min()), int(state.current_player.max())
    most = 0 if game.info.simultaneous else game.info.num_players - 1
    if not 0 <= low <= high <= most:
        fail(game, f"state.current_player {when}", f"seats from 0 to {most}", f"{low} to {high}")


def _check_arguments(game: Game, batch: Batch) -> None:
    """Check that a step depends on what it should, and on nothing else: dtype of actions, earlier rewards, seeds."""
    state, after = batch.state, _fields(game.step(batch.state, batch.actions))
    for dtype in (torch.uint8, torch.int32):
        if max(game.info.action_nvec) <= torch.iinfo(dtype).max:
            what = f"step(state, actions) with actions of {dtype}"
            try:
                stepped = _fields(game.step(state, batch.actions.to(dtype)))
            except Exception as error:
                fail(game, what, "the step of torch.int64", f"{type(error).__name__}: {error}", "add actions.long()")
            check_same(game, what, after, stepped, "arithmetic in the dtype of the actions: add actions.long()", batch)
    told = state.replace(rewards=state.rewards + 1)
    cause = "rewards are added up; they are those of the last step only"
    check_same(game, "step(state, actions) after other rewards", after, _fields(game.step(told, batch.actions)), cause)
    if not game.info.stochastic:
        cause = "info.stochastic should be True, as chance plays a part"
        other = state.replace(seed=next_seed(state.seed))
        one, two = (_fields(game.init(given.seed).replace(seed=state.seed)) for given in (state, other))
        check_same(game, "init(seeds) of other seeds", one, two, cause, batch)
        stepped = _fields(game.step(other, batch.actions).replace(seed=state.seed))
        check_same(game, "step(state, actions) with other seeds", after, stepped, cause, batch)
    for given, text in {
        "too few actions": batch.actions[1:],
        "actions of another dtype": batch.actions.double(),
    }.items():
        _refuses(game, f"step(state, actions) takes {given}", lambda text=text: game.step(state, text))


def _check_restart(game: Game, state: Any) -> None:
    """Check that a `Vector` begins new games where games are over, and leaves the others alone."""
    done = state.done
    expected, fresh = _fields(state.clone()), _fields(game.init(next_seed(state.seed)))
    for name, tensor in expected.items():
        tensor[done] = fresh[name][done]
    restarted = _fields(game._restart(state.clone(), done))
    check_same(game, "_restart(state, done)", expected, restarted, "a field of the new games is not that of `init`")


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
    """Check shapes, dtypes and bounds of all that a game says of a position."""
    info = game.info
    for name, ask, space in _shown(game, state):
        _check_space(game, f"{name} {when}", _asked(game, f"{name} {when}", state, ask), space)
    _check_space(
        game, f"state.rewards {when}", state.rewards, Space((info.num_players,), torch.float32, *info.reward_range)
    )
    outcome = _asked(game, f"outcome {when}", state, lambda: game.outcome(state))
    _check_space(game, f"outcome {when}", outcome, Space((info.num_players,), torch.int8, -1, 1))
    mask = _asked(game, f"legal_actions {when}", state, lambda: game.legal_actions(state))
    seats = (info.num_players,) if info.simultaneous else ()
    _check_space(game, f"legal_actions {when}", mask, Space((*seats, info.num_actions), torch.bool, 0, 1))
    fields = state.tensors()
    _demand(
        game, len({field.data_ptr() for field in fields}) == len(fields), f"fields of the state share memory {when}"
    )


def _stuck(game: Game, state: Any) -> int | None:
    """Return a component of which somebody who must act has no legal choice; None if there is none."""
    going = game.legal_actions(state)[~state.done]
    parts = enumerate(going.split(list(game.info.action_nvec), dim=-1))
    return next((component for component, part in parts if not part.any(-1).all()), None)


def _check_rules(game: Game, state: Any, when: str) -> None:
    """Check outcomes, ends and masks of a position."""
    done = state.done
    _demand(game, not game.outcome(state)[~done].any(), f"outcome {when}: a game that goes on has one already")
    _demand(game, not (state.terminated & state.truncated).any(), f"a game is both terminated and truncated {when}")
    legal = game.legal_actions(state)[done]
    _demand(game, not legal.any(), f"legal_actions {when}: something is legal in a game that is over")
    stuck = _stuck(game, state)
    _demand(game, stuck is None, f"nothing is legal for someone who must act {when}, component {stuck}")


def _asked(game: Game, what: str, state: Any, ask: Callable[[], Tensor]) -> Tensor:
    """Return an answer of the game; the state must stay as it is."""
    before, answer = state.clone(), ask()
    if not state.equal(before):
        fail(game, what, "a state that stays as it is", "a changed one", "an operation in place, x[i] = y or x += y")
    return answer


def _check_texts(game: Game, state: Any, when: str) -> None:
    """Check that positions come back from their texts and from files."""
    for env_id in range(len(state)):
        _check_text(game, state[env_id], when)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    _demand(game, torch.load(file).equal(state), f"a state is another one after torch.save and torch.load {when}")


def _shown(game: Game, state: Any) -> Iterator[tuple[str, Callable[[], Tensor], Space]]:
    """Yield what the game shows when it is asked, with a name and the declared space."""
    info = game.info
    for seat, player in enumerate(info.players):
        yield f"observe(state, {seat}) of {player}", partial(game.observe, state, seat), info.observation
    yield "board", partial(game.board, state), info.board


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
        torch.equal(one(), other())
        for (_, one, _), (_, other, _) in zip(_shown(game, back), _shown(game, single), strict=True)
    )
    _demand(game, same, f"string_to_state(state_to_string(state)) is another position {when}: {line!r}")
    _demand(game, bool(game.text(single)), f"text is empty {when}")


def _check_step(game: Game, before: Any, actions: Tensor, after: Any, when: str) -> None:
    """Check a step: of finished games, of each game alone, and that illegal actions are refused."""
    done, mask = before.done, game.legal_actions(before)
    still = before.replace(rewards=torch.zeros_like(before.rewards))
    _demand(game, after[done].equal(still[done]), f"a finished game changes {when}")
    _demand(game, torch.equal(after.turn[~done], before.turn[~done] + 1), f"state.turn does not count the steps {when}")
    illegal = (~mask & ~done.view(-1, *[1] * (mask.ndim - 1))).nonzero()
    if len(illegal):
        wrong, (*where, flat) = actions.clone(), illegal[-1].tolist()
        component = 0
        while flat >= game.info.action_nvec[component]:
            flat -= game.info.action_nvec[component]
            component += 1
        wrong[(*where, *[component] * (len(game.info.action_nvec) > 1))] = flat
        _refuses(game, f"an illegal action is taken {when}", lambda: game.step(before, wrong))
