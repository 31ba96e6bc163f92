"""Checks that what a game says of one env depends on that env alone, whatever stands beside it and in what order.

`check_function` asks one function of a game about a mixed batch: games at different plies, with different players to
move, some of them over. Letters: `B` games.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import torch
from torch import Tensor

from .core import Game
from .device_checks import DeviceCheck

__all__ = ["Answer", "Batch", "Function", "check_function", "check_same", "fail"]

Answer = Mapping[str, Tensor]
"""The answers of a function by name, each [B, ...]: one tensor named "", or several, such as a state's fields."""


@dataclass(frozen=True)
class Batch:
    """The arguments of a game's functions, by env.

    Attributes:
        state: `B` games.
        players: int64 [B], a seat in each.
        actions: int64 [B, ...], legal where the game goes on.
        bits: int64 [B, ...], random numbers for `random_actions`.
    """

    state: Any
    players: Tensor
    actions: Tensor
    bits: Tensor

    def __len__(self) -> int:
        return len(self.players)

    def __getitem__(self, rows: Tensor) -> Self:
        """Return the envs of an index, int64 or bool."""
        return self.map(lambda part: part[rows])

    def map(self, change: Callable[[Any], Any]) -> Self:
        """Return a batch with all parts changed."""
        return type(self)(*(change(getattr(self, field.name)) for field in dataclasses.fields(self)))

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors by name."""
        fields = {f"state.{field.name}": getattr(self.state, field.name) for field in dataclasses.fields(self.state)}
        return {**fields, "player": self.players, "actions": self.actions, "bits": self.bits}

    def replaced(self, name: str, tensor: Tensor) -> Self:
        """Return a batch with one of `tensors` replaced."""
        if name.startswith("state."):
            return dataclasses.replace(self, state=self.state.replace(**{name.removeprefix("state."): tensor}))
        return dataclasses.replace(self, **{"players" if name == "player" else name: tensor})

    def clone(self) -> Self:
        """Return a copy that shares no memory."""
        return self.map(lambda part: part.clone())


Function = Callable[[Game, Batch], Answer | None]
"""A function of a game, asked about a batch; None if the game has no answer."""


def fail(game: Game, what: str, expected: str, got: str, cause: str = "") -> NoReturn:
    """Raise the `ValueError` that names a mistake.

    Args:
        game: names itself.
        what: the function and when it was asked.
        expected: what the contract says.
        got: what the game does.
        cause: the likely mistake.
    """
    raise ValueError(f"{game.id}: {what}: expected {expected}, got {got}" + (f"; likely {cause}" if cause else ""))


def check_function(game: Game, name: str, function: Function, batch: Batch) -> Answer | None:
    """Check one function on a mixed batch, and return its answer.

    Raises:
        ValueError: names function and env, says what was expected and what it got, and guesses the mistake.
    """
    before, random = batch.clone(), torch.get_rng_state()
    whole = _ask(game, name, function, batch)
    again = _ask(game, name, function, batch)
    drawn = not torch.equal(random, torch.get_rng_state())
    chance = "random numbers of torch's own generator: use cellgames.envs.core.chance.draw(state.seed, ...)"
    for old, (field, new) in zip(before.tensors().values(), batch.tensors().items(), strict=True):
        if row := _first_difference(old, new):
            got = f"another {field} in env {row[0]}"
            fail(game, name, "arguments that stay as they are", got, "an operation in place, x[i] = y or x += y")
    what = f"{name} asked twice about one batch"
    check_same(game, what, whole, again, chance if drawn else "memory of earlier calls", batch)
    if drawn:
        fail(game, name, "torch's random state untouched", "another one", chance)
    if whole is None:
        return None

    rows = torch.arange(len(batch), device="cpu").split(1)
    alone = _joined([_ask(game, f"{name} of env {int(row)} alone", function, batch[row]) for row in rows])
    if (part := _first_part(alone, whole)) is not None:
        cause = _cause(game, function, batch, alone, whole, part)
        check_same(game, f"{name} of a batch of games at different plies", alone, whole, cause, batch)
    order = torch.arange(len(batch), device="cpu").flip(0).roll(2)
    middle = len(batch) // 2
    for change, parts in {
        "a permuted batch": [order],
        "a batch in two parts": [order[:middle], order[middle:]],
        "two batches joined": [torch.cat((order, order))],
    }.items():
        rows = torch.cat(parts)
        answers = _joined([_ask(game, f"{name} of {change}", function, batch[part]) for part in parts])
        expected = {part: tensor[rows] for part, tensor in whole.items()}
        check_same(game, f"{name} of {change}", expected, answers, "the place or the size is used", batch[rows])
    again = _ask(game, name, function, batch)
    check_same(game, what, whole, again, "memory of earlier calls", batch)
    _check_surroundings(game, name, function, batch, whole)
    return whole


def _check_surroundings(game: Game, name: str, function: Function, batch: Batch, whole: Answer) -> None:
    """Check that default dtype and device do not matter."""
    fresh = type(game)(**game.parameters)  # nothing is cached in it
    with DeviceCheck() as check:
        check.returned(_ask(fresh, name, function, batch))
    if check.fault is not None:
        fail(game, name, f"all tensors on the state's device, {batch.state.device}", check.fault, "it fails on CUDA")
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        what = f"{name} with torch.set_default_dtype(torch.float64)"
        wide = _ask(game, what, function, batch)
    finally:
        torch.set_default_dtype(default)
    check_same(game, what, whole, wide, "a tensor made without dtype=", batch)
    if torch.cuda.is_available():
        there = batch.map(lambda part: part.to("cuda"))
        answer = _ask(game, f"{name} on CUDA", function, there) or {}
        if any(tensor.device.type != "cuda" for tensor in answer.values()):
            fail(game, f"{name} on CUDA", "an answer there", "one on another device")
        here = {part: tensor.cpu() for part, tensor in answer.items()}
        check_same(game, f"{name} on CUDA", whole, here, "", batch)


def check_same(
    game: Game, what: str, expected: Answer | None, got: Answer | None, cause: str = "", batch: Batch | None = None
) -> None:
    """Raise a `ValueError` that names the first difference of two answers.

    Args:
        game: the rules.
        what: the function and when it was asked.
        expected: the answer that is right.
        got: the other one.
        cause: the likely mistake.
        batch: of which the answers are, to describe the env.
    """
    if expected is None or got is None or expected.keys() != got.keys():
        if (expected is None) != (got is None) or (expected and got and expected.keys() != got.keys()):
            names = [None if answer is None else list(answer) for answer in (expected, got)]
            fail(game, what, f"the names {names[0]}", f"{names[1]}", cause)
        return
    for part, right in expected.items():
        wrong = got[part]
        if right.dtype != wrong.dtype or right.shape != wrong.shape:
            kinds = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in (right, wrong)]
            fail(game, f"{what}{part and f', {part}'}", kinds[0], kinds[1], cause)
        if where := _first_difference(right, wrong):
            env = f"env {where[0]}" if batch is None else _described(game, batch, where[0])
            at = f" at {list(where[1:])}" if len(where) > 1 else ""
            values = [f"{tensor[where].item():g}" for tensor in (right, wrong)]
            fail(game, f"{what}, {part and f'{part} of '}{env}", f"{values[0]}{at}", values[1], cause)


def _described(game: Game, batch: Batch, row: int) -> str:
    state = batch.state[row]
    if bool(state.done):
        return f"env {row} (over after {int(state.turn)} steps)"
    players = game.info.players
    mover = "" if game.info.simultaneous else f", {players[int(state.current_player)]} to move"
    return f"env {row} (turn {int(state.turn)}{mover}, player {players[int(batch.players[row])]})"


def _ask(game: Game, what: str, function: Function, batch: Batch) -> Answer | None:
    """Return the answer; any error is one of the game."""
    try:
        answer = function(game, batch)
    except Exception as error:
        fail(game, f"{what}, {len(batch)} games", "an answer", f"{type(error).__name__}: {error}")
    for part, tensor in (answer or {}).items():
        if not isinstance(tensor, Tensor) or tensor.shape[:1] != (len(batch),):
            got = f"{list(tensor.shape)}" if isinstance(tensor, Tensor) else type(tensor).__name__
            fail(game, f"{what}{part and f', {part}'}", f"a tensor [{len(batch)}, ...], a row for each env", got)
    return answer


def _joined(answers: Sequence[Answer | None]) -> Answer | None:
    if any(answer is None for answer in answers):
        return None
    known = [answer for answer in answers if answer is not None]
    return {part: torch.cat([answer[part] for answer in known]) for part in known[0]}


def _first_difference(expected: Tensor, got: Tensor) -> tuple[int, ...]:
    """Return where two tensors of one shape differ first; () if they agree."""
    expected, got = torch.atleast_1d(expected), torch.atleast_1d(got)
    if expected.dtype.is_floating_point:
        differ = ~torch.isclose(expected, got.to(expected.dtype), rtol=1e-5, atol=1e-6, equal_nan=True)
    else:
        differ = expected != got
    return tuple(differ.nonzero()[0].tolist()) if differ.any() else ()


def _first_part(expected: Answer | None, got: Answer) -> str | None:
    """Return the first part in which two answers differ; None if there is none."""
    if expected is None or expected.keys() != got.keys():
        return ""
    for part, right in expected.items():
        wrong = got[part]
        if right.dtype != wrong.dtype or right.shape != wrong.shape or _first_difference(right, wrong):
            return part
    return None


def _cause(game: Game, function: Function, batch: Batch, alone: Answer | None, whole: Answer, part: str) -> str:
    """Guess why a batch is not its games alone: try out what the answer would be with parts of env 0 for all envs."""
    if alone is None or alone.keys() != whole.keys():
        return "the size of the batch is used"
    if alone[part].shape != whole[part].shape:
        return "the size of the batch is used"
    right, wrong = alone[part], whole[part]
    rows = torch.tensor([bool(_first_difference(right[row], wrong[row])) for row in range(len(batch))], device="cpu")
    for name, tensor in batch.tensors().items():
        try:
            variant = batch.replaced(name, tensor[:1].expand_as(tensor).clone())
            guess = _joined([function(game, variant[row]) for row in torch.arange(len(batch), device="cpu").split(1)])
            if guess is not None and not _first_difference(guess[part][rows], wrong[rows]):
                return f"{name} of env 0 is used for all envs"
        except Exception:  # a position that cannot be
            continue
    if not _first_difference(right[:1].expand_as(right)[rows], wrong[rows]):
        return "the answer for env 0 is given for all envs"
    order = torch.arange(len(batch), device="cpu").flip(0)
    permuted = function(game, batch[order])
    if permuted is not None and _first_difference(whole[part][order], permuted[part]):
        return "an env's place in the batch is used, or the env next to it"
    return "something of the whole batch is used, such as its size, a sum or a maximum over envs"
