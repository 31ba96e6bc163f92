"""Checks that a game keeps what `Game` promises. Its rules need tests of their own.

Letters: `B` games, `A` actions, `P` players.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
import torch
from torch import Tensor

from cellgames.utils.errors import InputError

from .core import LOSS, WIN, Game, Space, State, seeds
from .core.chance import next_seed
from .core.solo import Solo
from .device_checks import DeviceCheck

_NUM_ENVS = 7
_MOST_ROWS = 4096  # steps that are played to know what a hint should be
_STATE = {
    **{"seed": torch.int64, "turn": torch.int32, "current_player": torch.int64},
    **{"rewards": torch.float32, "scores": torch.float32, "terminated": torch.bool, "truncated": torch.bool},
}
_IN_PLACE = "an operation in place, x[i] = y or x += y"
_CHANCE = "random numbers of torch's own generator: use cellgames.envs.core.chance.draw(state.seed, ...)"
_BESIDE = "other envs are used: env 0 for all, an operation without dim=, or the place or size of the batch"


class ContractError(InputError):
    """A promise that a game does not keep.

    Attributes:
        parameter: the function or field, and when it was asked.
        expected: requirement of the contract.
        got: behaviour of the game.
        cause: the likely mistake, or "".
        where: the game's id.
    """


class Batch(NamedTuple):
    """The arguments of a game's functions, by env: int64 [B, ...] and a state."""

    state: Any
    players: Tensor
    actions: Tensor
    bits: Tensor

    def rows(self, env_ids: Tensor) -> Self:
        """Return some envs, by an int64 or bool index."""
        return type(self)(*(part[env_ids] for part in self))


Function = Callable[[Game, Batch], Any]
"""A function of a game, which answers by a tensor [B, ...], several by name, a state, or None."""


def check_game(game: Game, *, seed: int = 0, max_steps: int = 10_000) -> None:
    """Play a game at random, seven at a time, and check all that agents, adapters and records rely on.

    In every position: shapes, dtypes and bounds as `game.info` declares them; masks that leave everyone who must act a
    choice; illegal actions refused; finished games that stay as they are; the same step again from the same state;
    actions and positions that come back from their text; states that come back from a file. In the end: an end within
    `max_turns`, outcomes and rewards that add up if the game is zero-sum.

    Then every function is asked about a mixed batch, of games at different plies with different players to move, some
    of them over. It must say of each env what it says of that game alone, also if the batch is permuted or joined with
    another; leave its arguments and torch's random state alone; keep to the state's device and to its dtypes; and take
    actions of every integer dtype. Hints for search are compared with play, single games outside a batch with the
    batch of one.

    Args:
        game: with parameters that make a whole game short.
        seed: seed of all chance.
        max_steps: number of steps after which a game that does not end fails, if `max_turns` is larger.

    Raises:
        ContractError: a `ValueError` with the function, the expected and the actual result, and the likely cause.
    """
    check = _Checker(game)
    check.names()
    history, played = check.games(seed, min(max_steps, game.info.max_turns))
    batch = _mixed(game, history, seed)
    for name, function in _views(game).items():
        check.function(name, function, batch)
    for turn, state in enumerate(history):
        check.rules(state, f"after {turn} steps")
    for name, function in _ACTS.items():
        check.function(name, function, batch)
    for turn, state in enumerate(history):
        check.texts(state, f"after {turn} steps")
        if turn < len(played):
            check.step(state, played[turn], history[turn + 1], f"in step {turn + 1}")
    check.ends(history)
    check.arguments(batch)
    check.hints(batch.state)
    check.playouts(batch.state)
    check.symmetries(batch)
    going = batch.rows(~batch.state.done)
    for row in torch.arange(len(going.players), device="cpu").split(1)[:4]:
        check.solo(going.rows(row))
    check.pictures(going.rows(torch.arange(len(going.players), device="cpu")[-2:]))


def _named(answer: Any) -> Mapping[str, Any]:
    """Return the tensors of an answer by name: a state's by its fields, one alone as ""."""
    if isinstance(answer, State):
        return {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    return {} if answer is None else answer if isinstance(answer, Mapping) else {"": answer}


def _of_going(done: Tensor, answer: Tensor) -> Tensor:
    """Return an answer that has no meaning for games that are over."""
    answer = answer.clone()
    answer[done] = 0
    return answer


def _transformed(game: Game, batch: Batch) -> dict[str, Tensor]:
    mask = game.legal_actions(batch.state)
    if game.info.simultaneous:
        mask = mask[torch.arange(len(mask), device=mask.device), batch.players]
    which = batch.bits.reshape(len(mask), -1)[:, 0] % game.symmetries
    seen, actions = game.transform(game.observe(batch.state, batch.players), mask, which)
    return {"observation": seen, "actions": actions}


_ACTS: dict[str, Function] = {
    "init(seeds)": lambda game, batch: game.init(batch.state.seed),
    "step(state, actions)": lambda game, batch: game.step(batch.state, batch.actions),
    "random_actions(state, bits)": lambda game, batch: _of_going(
        batch.state.done, game.random_actions(batch.state, batch.bits)
    ),
    "_restart(state, done)": lambda game, batch: game._restart(batch.state.clone(), batch.state.done),
}
"""All that begins and steps games, by what the call looks like."""


def _views(game: Game) -> dict[str, Function]:
    """Return all that a game says of positions, by what the call looks like."""
    found: dict[str, Function] = {
        "legal_actions(state)": lambda game, batch: game.legal_actions(batch.state),
        "observe(state, player)": lambda game, batch: game.observe(batch.state, batch.players),
        "board(state)": lambda game, batch: game.board(batch.state),
        "outcome(state)": lambda game, batch: game.outcome(batch.state),
        "is_last_turn(state)": lambda game, batch: game.is_last_turn(batch.state),
        "_legal_again(state, mask)": lambda game, batch: _of_going(
            batch.state.done, game._legal_again(batch.state, ~game._legal(batch.state))
        ),
    }
    for seat in range(game.info.num_players):
        found[f"observe(state, {seat})"] = partial(lambda seat, game, batch: game.observe(batch.state, seat), seat)
        found[f"infos(state, {seat})"] = partial(lambda seat, game, batch: game.infos(batch.state, seat), seat)
    if not game.info.simultaneous:
        found |= {
            "winning_actions(state)": lambda game, batch: game.winning_actions(batch.state),
            "winning_actions(state, player)": lambda game, batch: game.winning_actions(batch.state, batch.players),
            "defending_actions(state)": lambda game, batch: game.defending_actions(batch.state),
        }
    if game.symmetries > 1:
        found["transform(observation, actions, which)"] = _transformed
    return found


def _shown(game: Game) -> Iterator[tuple[str, Callable[[Any], Tensor], Space]]:
    """Yield all that a game shows of a position, with the space that it declares."""
    info, seats = game.info, (game.info.num_players,)
    for seat in range(info.num_players):
        yield f"observe(state, {seat})", partial(game.observe, player=seat), info.observation
    yield "board(state)", game.board, info.board
    legal = Space((*seats * info.simultaneous, info.num_actions), torch.bool, 0, 1)
    yield "legal_actions(state)", game.legal_actions, legal
    yield "outcome(state)", game.outcome, Space(seats, torch.int8, LOSS, WIN)
    yield "state.rewards", lambda state: state.rewards, Space(seats, torch.float32, *info.reward_range)


def _mixed(game: Game, history: list[Any], seed: int) -> Batch:
    """Return games of all plies, from beginnings to ends, two of each that was played."""
    generator = torch.Generator().manual_seed(seed + 1)
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


def _stuck(game: Game, state: Any) -> int | None:
    """Return a component of which somebody who must act has no legal choice; None if all have one."""
    going = game.legal_actions(state)[~state.done]
    parts = enumerate(going.split(list(game.info.action_nvec), dim=-1))
    return next((component for component, part in parts if not part.any(-1).all()), None)


def _first_difference(expected: Tensor, got: Tensor) -> tuple[int, ...]:
    """Return the index of the first difference of two tensors of one shape; () if they agree."""
    expected, got = torch.atleast_1d(expected), torch.atleast_1d(got)
    if expected.dtype.is_floating_point:
        differ = ~torch.isclose(expected, got.to(expected.dtype), rtol=1e-5, atol=1e-6, equal_nan=True)
    else:
        differ = expected != got
    return tuple(differ.nonzero()[0].tolist()) if differ.any() else ()


class _Checker:
    """The checks of one game; each raises a `ContractError`."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def fail(self, what: str, expected: str, got: str, cause: str = "") -> NoReturn:
        raise ContractError(what, expected, got, cause and f"likely {cause}", self.game.id)

    def demand(self, holds: Any, what: str, expected: str, got: str, cause: str = "") -> None:
        if not holds:
            self.fail(what, expected, got, cause)

    def kind(self, what: str, answer: Any, kind: type) -> Any:
        """Return an answer, which must be of a kind."""
        self.demand(isinstance(answer, kind), what, f"a {kind.__name__}", type(answer).__name__, "a missing return")
        return answer

    def refuses(self, what: str, attempt: Callable[[], Any]) -> None:
        """Check that an attempt is a `ValueError`."""
        try:
            attempt()
        except ValueError:
            return
        self.fail(what, "a ValueError", "an answer")

    def same(self, what: str, first: Any, second: Any, cause: str = "") -> None:
        """Check that the second of two answers is as the first, and name their first difference."""
        expected, got = _named(first), _named(second)
        self.demand(expected.keys() == got.keys(), what, f"the names {list(expected)}", f"{list(got)}", cause)
        for part, right in expected.items():
            wrong, name = got[part], f"{what}{part and f', {part}'}"
            kinds = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in (right, wrong)]
            self.demand(kinds[0] == kinds[1], name, kinds[0], kinds[1], cause)
            if where := _first_difference(right, wrong):
                values = [f"{tensor[where].item():g}" for tensor in map(torch.atleast_1d, (right, wrong))]
                at = f" at {list(where[1:])}" if len(where) > 1 else ""
                place = f"{what}, {part and f'{part} of '}env {where[0]}"
                self.fail(place, f"{values[0]}{at}", values[1], cause)

    def ask(self, what: str, function: Function, batch: Batch, game: Game | None = None) -> Mapping[str, Tensor]:
        """Return the answer of a function by name; any error is one of the game."""
        count = len(batch.players)
        try:
            answer = _named(function(game or self.game, batch))
        except Exception as error:
            self.fail(f"{what}, {count} games", "an answer", f"{type(error).__name__}: {error}")
        for part, tensor in answer.items():
            got = f"{list(tensor.shape)}" if isinstance(tensor, Tensor) else type(tensor).__name__
            row = isinstance(tensor, Tensor) and tensor.shape[:1] == (count,)
            self.demand(row, f"{what}{part and f', {part}'}", f"a tensor [{count}, ...], a row for each env", got)
        return answer

    def function(self, name: str, function: Function, batch: Batch) -> None:
        """Check that a function depends on its arguments alone, and on each env alone."""
        rows, before, random = (
            torch.arange(len(batch.players), device="cpu"),
            Batch(*(part.clone() for part in batch)),
            torch.get_rng_state(),
        )
        whole = self.ask(name, function, batch)
        again = self.ask(name, function, batch)
        kept = before.state.equal(batch.state) and all(map(torch.equal, before[1:], batch[1:]))
        self.demand(kept, name, "arguments that stay as they are", "changed ones", _IN_PLACE)
        drawn = not torch.equal(random, torch.get_rng_state())
        self.same(f"{name} asked twice", whole, again, _CHANCE if drawn else "memory of earlier calls")
        self.demand(not drawn, name, "torch's random state untouched", "another one", _CHANCE)
        if not whole:
            return
        single = [self.ask(name, function, batch.rows(row)) for row in rows.split(1)]
        alone = {part: torch.cat([answer[part] for answer in single if part in answer]) for part in single[0]}
        self.same(f"{name} of games at different plies", alone, whole, _BESIDE)
        order = torch.cat((rows.flip(0).roll(2), rows))
        several = self.ask(name, function, batch.rows(order))
        self.same(f"{name} of a permuted batch", {part: x[order] for part, x in alone.items()}, several, _BESIDE)
        with DeviceCheck() as device:  # of a fresh game, in which nothing is cached
            device.returned(self.ask(name, function, batch, type(self.game)(**self.game.parameters)))
        expected = f"all tensors on the state's device, {batch.state.device}"
        self.demand(device.fault is None, name, expected, str(device.fault), "it fails on CUDA")
        default = torch.get_default_dtype()
        try:
            torch.set_default_dtype(torch.float64)
            wide = self.ask(name, function, batch)
        finally:
            torch.set_default_dtype(default)
        self.same(f"{name} by another default dtype", whole, wide, "a tensor made without dtype=")
        self.same(f"{name} asked twice", whole, self.ask(name, function, batch), "memory of earlier calls")

    # --- actions and positions --------------------------------------------------------------------------------

    def names(self) -> None:
        """Check that equal games are equal, and that every action comes back from its name."""
        game, nvec = self.game, self.game.info.action_nvec
        again = type(game)(**game.parameters)
        self.demand(again == game and hash(again) == hash(game), "a game of its parameters", "an equal one", "another")
        count = nvec[0] if len(nvec) == 1 else 3
        names = [game.action_to_string(action) for action in range(count)]
        self.demand(len(set(names)) == count, "action_to_string(action)", "distinct names", "one name twice")
        back = [game.string_to_action(name) for name in names]
        self.demand(back == list(range(count)), "string_to_action(name)", f"{list(range(count))}", f"{back}")
        self.refuses("string_to_action of nonsense", lambda: game.string_to_action("no such action"))

    def games(self, seed: int, most: int) -> tuple[list[Any], list[Tensor]]:
        """Play games, if possible to their ends; return positions and actions.

        Only shapes, dtypes and bounds are checked here, so that a mistake in one function is found by asking that
        function.
        """
        game, generator = self.game, torch.Generator().manual_seed(seed)
        state: Any = self.kind("init(seeds)", game.init(seeds(seed, _NUM_ENVS)), State)
        history, played = [state], []
        for turn in range(most + 1):
            self.position(history[0], state, f"after {turn} steps")
            if turn == most or state.done.all() or _stuck(game, state) is not None:
                break
            actions, before, when = game.random_actions(state, generator), state.clone(), f"in step {turn + 1}"
            after = self.kind(f"step {when}", game.step(state, actions), State)
            self.demand(state.equal(before), f"step {when}", "a state that stays as it is", "a changed one", _IN_PLACE)
            self.same(f"the same step again {when}", after, game.step(state, actions), _CHANCE)
            history.append(state := after)
            played.append(actions)
        return history, played

    def position(self, first: Any, state: Any, when: str) -> None:
        """Check shapes, dtypes and bounds of a state's fields, and of all that a game says of a position."""
        info = self.game.info
        for name, tensor in _named(state).items():
            nan = tensor.dtype.is_floating_point and tensor.isnan().any()
            self.demand(not nan, f"state.{name} {when}", "numbers", "NaN", "0 / 0 or inf - inf")
            start = getattr(first, name)
            dtype, shape = _STATE.get(name, start.dtype), [_NUM_ENVS, *start.shape[1:]]
            shape = [_NUM_ENVS, info.num_players] if name in ("rewards", "scores") else shape
            kind = f"{tensor.dtype} {list(tensor.shape)}"
            self.demand(kind == f"{dtype} {shape}", f"state.{name} {when}", f"{dtype} {shape}", kind)
        memory = len({field.data_ptr() for field in state.tensors()}) == len(state.tensors())
        self.demand(memory, f"the state {when}", "fields of their own memory", "two that share it")
        most = 0 if info.simultaneous else info.num_players - 1
        low, high = int(state.current_player.min()), int(state.current_player.max())
        seats = f"seats from 0 to {most}"
        self.demand(0 <= low <= high <= most, f"state.current_player {when}", seats, f"{low} to {high}")
        for name, ask, space in _shown(self.game):
            before, answer = state.clone(), self.kind(f"{name} {when}", ask(state), Tensor)
            self.demand(state.equal(before), f"{name} {when}", "a state that stays", "a changed one", _IN_PLACE)
            kinds = [f"{x.dtype} {[_NUM_ENVS, *x.shape[skip:]]}" for x, skip in ((space, 0), (answer, 1))]
            self.demand(kinds[0] == kinds[1] and len(answer) == _NUM_ENVS, f"{name} {when}", kinds[0], kinds[1])
            lowest, highest = float(answer.min()), float(answer.max())
            bounds = [f"numbers from {a:g} to {b:g}" for a, b in ((space.low, space.high), (lowest, highest))]
            ends = [float(torch.tensor(bound, dtype=answer.dtype)) for bound in (space.low, space.high)]
            self.demand(ends[0] <= lowest and highest <= ends[1], f"{name} {when}", *bounds)

    def rules(self, state: Any, when: str) -> None:
        """Check outcomes, ends and masks of a position."""
        game, done = self.game, state.done
        self.demand(not game.outcome(state)[~done].any(), f"outcome(state) {when}", "0 of games that go on", "more")
        both = (state.terminated & state.truncated).any()
        self.demand(not both, f"state.truncated {when}", "False of terminated games", "True")
        over = game.legal_actions(state)[done]
        self.demand(not over.any(), f"legal_actions(state) {when}", "nothing legal after the end", "something")
        stuck = _stuck(game, state)
        choice = "a choice for all who must act"
        self.demand(stuck is None, f"legal_actions(state) {when}", choice, f"none of component {stuck}")

    def texts(self, state: Any, when: str) -> None:
        """Check that positions come back from their texts and from files."""
        game = self.game
        for env_id in range(len(state)):
            one = state[env_id]
            line = game.state_to_string(one)
            self.demand("\n" not in line, f"state_to_string(state) {when}", "one line", repr(line))
            back = game.string_to_state(line, seed=int(one.seed))
            agree = game.state_to_string(back) == line and torch.equal(back.done, one.done)
            shown = (name != "state.rewards" and not torch.equal(ask(back), ask(one)) for name, ask, _ in _shown(game))
            self.demand(agree and not any(shown), f"string_to_state(line) {when}", "the position", f"another: {line!r}")
            self.demand(game.text(one), f"text(state) {when}", "a text", "none")
        file = io.BytesIO()
        torch.save(state, file)
        file.seek(0)
        self.demand(torch.load(file).equal(state), f"torch.load of the state {when}", "the state", "another one")

    def step(self, before: Any, actions: Tensor, after: Any, when: str) -> None:
        """Check the step of finished games, the clock, and that illegal actions are refused."""
        game, nvec, done = self.game, self.game.info.action_nvec, before.done
        still = before.replace(rewards=torch.zeros_like(before.rewards))
        self.demand(after[done].equal(still[done]), f"step {when}", "finished games that stay", "changed ones")
        clock = torch.equal(after.turn[~done], before.turn[~done] + 1)
        self.demand(clock, f"state.turn {when}", "one step more", "another number")
        mask = game.legal_actions(before)
        illegal = (~mask & ~done.view(-1, *[1] * (mask.ndim - 1))).nonzero()
        if len(illegal):
            wrong, (*where, flat) = actions.clone(), illegal[-1].tolist()
            component = 0
            while flat >= nvec[component]:
                flat -= nvec[component]
                component += 1
            wrong[(*where, *[component] * (len(nvec) > 1))] = flat
            self.refuses(f"an illegal action {when}", lambda: game.step(before, wrong))

    def ends(self, history: list[Any]) -> None:
        """Check that games end within `max_turns`, and that zero-sum games add up."""
        game, state, steps = self.game, history[-1], len(history) - 1
        self.demand(state.done.all(), f"state.done after {steps} steps", "True, by info.max_turns", "False")
        if game.info.zero_sum:
            outcomes = (outcome := game.outcome(state)).sum(1)
            self.demand(not outcomes.any(), "outcome(state)", "sums of 0, by info.zero_sum", f"{outcomes.tolist()}")
            earned = torch.stack([state.rewards for state in history]).sum(0)
            sums, agree = earned.sum(1), (earned * outcome).sum(1)
            self.demand((sums.abs() < 1e-4).all(), "state.rewards", "sums of 0, by info.zero_sum", f"{sums.tolist()}")
            self.demand((agree >= 0).any(), "outcome(state)", "wins of those who earn rewards", "losses", "the sign")
        for env_id in range(_NUM_ENVS):
            summary = game.summary(state[env_id])
            self.demand(json.loads(json.dumps(summary)) == summary, "summary(state)", "what JSON gives back", "more")

    def arguments(self, batch: Batch) -> None:
        """Check that a step depends on its arguments, and not on dtypes, earlier rewards, or seeds without chance."""
        game, state, actions = self.game, batch.state, batch.actions
        after = game.step(state, actions)
        for dtype in (torch.uint8, torch.int32):
            if max(game.info.action_nvec) <= torch.iinfo(dtype).max:
                given = batch._replace(actions=actions.to(dtype))
                what = f"step(state, actions) with actions of {dtype}"
                self.same(what, after, self.ask(what, _ACTS["step(state, actions)"], given), "no actions.long()")
        told = game.step(state.replace(rewards=state.rewards + 1), actions)
        cause = "rewards are added up; they are those of the last step only"
        self.same("step(state, actions) after other rewards", after, told, cause)
        if not game.info.stochastic:
            cause, other = "info.stochastic should be True, as chance plays a part", next_seed(state.seed)
            one, two = (game.init(given).replace(seed=state.seed) for given in (state.seed, other))
            self.same("init(seeds) of other seeds", one, two, cause)
            moved = game.step(state.replace(seed=other), actions).replace(seed=state.seed)
            self.same("step(state, actions) with other seeds", after, moved, cause)
        self.refuses("step(state, actions) with too few actions", lambda: game.step(state, actions[1:]))
        self.refuses("step(state, actions) with actions that are floats", lambda: game.step(state, actions.double()))
        expected = state.put(state.done, game.init(next_seed(state.seed))[state.done])
        restarted, cause = game._restart(state.clone(), state.done), "a field of the new games is not that of `init`"
        self.same("_restart(state, done)", expected, restarted, cause)

    # --- hints, symmetries, single games, pictures ------------------------------------------------------------

    def hints(self, state: Any) -> None:
        """Check the hints for search against what playing every legal action leads to."""
        game = self.game
        if game.info.simultaneous or len(game.info.action_nvec) > 1:
            return
        legal, last = game.legal_actions(state), game.is_last_turn(state)
        env_ids, actions = legal.nonzero()[:_MOST_ROWS].unbind(1)

        def by_action(flags: Tensor) -> Tensor:
            mask = torch.zeros_like(legal)
            mask[env_ids, actions] = flags
            return mask

        after, movers = game.step(state[env_ids], actions), state.current_player[env_ids]
        tried, goes_on = by_action(torch.ones_like(after.done)), by_action(~after.done).any(1)
        wrong = last & (goes_on | state.done)
        self.demand(not wrong.any(), "is_last_turn(state)", "False where the game is over or may go on", "True")
        winning = game.winning_actions(state)
        if winning is None:
            return
        own = torch.arange(game.info.num_players, device="cpu") == movers[:, None]
        wins = by_action((game.outcome(after) == torch.where(own, WIN, LOSS)).all(1))
        cause = "playing the action shows it"
        self.same("winning_actions(state)", wins, winning & tried, cause)
        named = game.winning_actions(state, state.current_player)
        self.same("winning_actions(state, state.current_player)", winning, named)
        defending, next_wins = game.defending_actions(state), game.winning_actions(after)
        if defending is not None and next_wins is not None:
            matters = ~winning.any(1, keepdim=True)  # elsewhere the answer has no meaning
            holds = by_action(~next_wins.any(1)) & matters
            self.same("defending_actions(state)", holds, defending & tried & matters, cause)

    def playouts(self, state: Any) -> None:
        """Check random outcomes: numbers, sums, games that are over, and a generator that None leaves alone."""
        game, generator, what = self.game, torch.Generator().manual_seed(0), "random_outcome(state, generator)"
        before, result = generator.get_state(), game.random_outcome(state, generator)
        if result is None:
            self.demand(torch.equal(before, generator.get_state()), what, "a generator left alone", "one that moved on")
            return
        outcome = game.outcome(state)
        fits = result.dtype == torch.int8 and result.shape == outcome.shape and int(result.abs().max()) <= 1
        self.demand(fits, what, f"-1 to 1, int8 {list(outcome.shape)}", f"{result.dtype} {list(result.shape)}")
        self.same(f"{what} of games that are over", outcome[state.done], result[state.done])
        sums = not (game.info.zero_sum and result.sum(1).any())
        self.demand(sums, what, "outcomes that add up to 0", f"{result.tolist()}")

    def symmetries(self, batch: Batch) -> None:
        """Check that every symmetry moves each action to one place, and that the first moves nothing."""
        game = self.game
        seen = game.observe(batch.state, batch.players)[:1]
        numbers = torch.arange(game.info.num_actions, device="cpu")[None]
        for which in range(game.symmetries if game.symmetries > 1 else 0):
            moved, actions = game.transform(seen, numbers, torch.tensor([which], device="cpu"))
            what = f"transform(observation, actions, {which})"
            self.same(what, numbers, actions.sort(1).values, "two actions move to one place")
            kinds = [f"{x.dtype} {list(x.shape)}" for x in (seen, moved)]
            self.demand(kinds[0] == kinds[1], what, *kinds)
            if which == 0:
                same = {"observation": seen, "actions": numbers}, {"observation": moved, "actions": actions}
                self.same(what, *same, "0 moves something")

    def solo(self, one: Batch) -> None:
        """Check that a single game outside a batch says and does what the batch of one does."""
        game, state, solo = self.game, one.state, self.game.solo(one.state)
        if type(solo) is Solo:
            return
        for when in ("before a step", "after a step"):
            pairs: dict[str, tuple[Any, Any]] = {
                **{name: (getattr(state, name)[0].tolist(), getattr(solo, name)) for name in _STATE if name != "seed"},
                "legal_actions()": (game.legal_actions(state)[0].numpy(), solo.legal_actions()),
                "board()": (game.board(state)[0].numpy(), solo.board()),
            }
            for seat in range(game.info.num_players):
                pairs[f"observe({seat})"] = game.observe(state, seat)[0].numpy(), solo.observe(seat)
                infos = {name: value[0].tolist() for name, value in game.infos(state, seat).items()}
                pairs[f"infos({seat})"] = infos, solo.infos(seat)
            for name, (right, wrong) in pairs.items():
                agree = np.array_equal(right, wrong) if isinstance(right, np.ndarray) else right == wrong
                self.demand(agree, f"solo(state).{name} {when}", f"{right}, as the batch of one has", f"{wrong}")
            self.same(f"solo(state).state() {when}", state, solo.state())
            if when == "before a step":
                state, action = game.step(state, one.actions), one.actions[0].numpy()
                solo.step(int(action) if action.ndim == 0 else action)

    def pictures(self, last: Batch) -> None:
        """Check that pictures and texts show the first game, whatever stands behind it."""
        game, single = self.game, last.state[0]
        for name, draw in {"draw(state)": game.draw, "text(state)": game.text}.items():
            what, expected = f"{name} of {len(last.players)} games", "the first game as it is shown alone"
            try:
                agree = draw(last.state) == draw(single)
            except Exception as error:
                self.fail(what, expected, f"{type(error).__name__}: {error}", "a field is used without [0]")
            self.demand(agree, what, expected, "something else", "another game than the first is used")
        frames = list(game.frames(single, game.step(single, last.actions[:1])))
        sizes = {(picture.width, picture.height) for picture in frames}
        self.demand(len(sizes) == 1, "frames(before, after)", "pictures of one size", f"the sizes {sorted(sizes)}")
        game.draw_batch(last.state)
