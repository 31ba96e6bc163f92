"""Checks of a game's layers: hints for search, symmetries, pictures, and single games outside a batch."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .batch_checks import Batch, check_same, fail
from .core import LOSS, WIN, Game, State
from .core.solo import BatchOfOne

__all__ = ["check_layers"]

_MOST_ROWS = 4096  # steps that are played to know what a hint should be


def check_layers(game: Game, batch: Batch) -> None:
    """Check hints, symmetries, pictures and single games of a mixed batch (see `batch_checks`).

    Raises:
        ValueError: names the function, what was expected and what it gives.
    """
    if not game.info.simultaneous and len(game.info.action_nvec) == 1:
        _check_hints(game, batch.state)
    _check_playouts(game, batch.state)
    if game.symmetries > 1:
        _check_symmetries(game, batch)
    unfinished = batch[~batch.state.done]
    for row in torch.arange(len(unfinished), device="cpu").split(1)[:4]:
        _check_solo(game, unfinished[row])
    _check_pictures(game, unfinished[torch.arange(len(unfinished), device="cpu")[-2:]])


def _check_hints(game: Game, state: Any) -> None:
    """Check the hints against what playing every legal action leads to."""
    legal = game.legal_actions(state)
    env_ids, actions = legal.nonzero()[:_MOST_ROWS].unbind(1)
    tried = torch.zeros_like(legal)
    tried[env_ids, actions] = True
    after, movers = game.step(state[env_ids], actions), state.current_player[env_ids]
    last = game.is_last_turn(state)
    if last[state.done].any():
        fail(game, "is_last_turn(state)", "False for games that are over", "True")
    for env_id in last.nonzero().flatten().tolist():
        if not after.done[env_ids == env_id].all():
            fail(game, f"is_last_turn(state) of env {env_id}", "False, as a step exists that does not end it", "True")
    winning = game.winning_actions(state)
    if winning is None:
        return
    outcome = game.outcome(after)
    own = torch.arange(game.info.num_players, device="cpu") == movers[:, None]
    wins = torch.zeros_like(legal)
    wins[env_ids, actions] = (outcome == torch.where(own, WIN, LOSS)).all(1)
    _check_mask(game, "winning_actions(state)", wins, winning & tried)
    named = game.winning_actions(state, state.current_player)
    answers = {"": winning}, None if named is None else {"": named}
    check_same(game, "winning_actions(state, state.current_player)", *answers)
    defending, next_wins = game.defending_actions(state), game.winning_actions(after)
    if defending is None or next_wins is None:
        return
    holds = torch.zeros_like(legal)
    holds[env_ids, actions] = ~next_wins.any(1)
    matters = ~winning.any(1, keepdim=True)  # elsewhere the answer has no meaning
    _check_mask(game, "defending_actions(state)", holds & matters, defending & tried & matters)


def _check_mask(game: Game, what: str, expected: Tensor, got: Tensor) -> None:
    if (differ := expected != got).any():
        env_id, action = differ.nonzero()[0].tolist()
        name = game.action_to_string(action)
        values = bool(expected[env_id, action]), bool(got[env_id, action])
        fail(game, f"{what} of env {env_id}", f"{values[0]} for action {name!r}, as playing it shows", f"{values[1]}")


def _check_playouts(game: Game, state: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    before, result = generator.get_state(), game.random_outcome(state, generator)
    if result is None:
        if not torch.equal(before, generator.get_state()):
            fail(game, "random_outcome(state, generator)", "a generator left alone by None", "one that has moved on")
        return
    outcome = game.outcome(state)
    if result.dtype != torch.int8 or result.shape != outcome.shape or int(result.abs().max()) > 1:
        got = f"{result.dtype} {list(result.shape)}"
        fail(game, "random_outcome(state, generator)", f"numbers from -1 to 1, int8 {list(outcome.shape)}", got)
    over = {"": outcome[state.done]}, {"": result[state.done]}
    check_same(game, "random_outcome(state, generator) of games that are over", *over)
    if game.info.zero_sum and result.sum(1).any():
        fail(game, "random_outcome(state, generator)", "outcomes that add up to 0", f"{result.tolist()}")


def _check_symmetries(game: Game, batch: Batch) -> None:
    """Check that every symmetry moves each action to one place, and that the first moves nothing."""
    seen = game.observe(batch.state, batch.players)[:1]
    numbers = torch.arange(game.info.num_actions, device="cpu")[None]
    for which in range(game.symmetries):
        moved, actions = game.transform(seen, numbers, torch.tensor([which], device="cpu"))
        what = f"transform(observation, actions, {which})"
        check_same(game, what, {"": numbers}, {"": actions.sort(1).values}, "two actions move to one place")
        if moved.shape != seen.shape or moved.dtype != seen.dtype:
            fail(game, what, f"{seen.dtype} {list(seen.shape)}", f"{moved.dtype} {list(moved.shape)}")
        if which == 0:
            same = {"observation": seen, "actions": numbers}, {"observation": moved, "actions": actions}
            check_same(game, what, *same, "0 moves something")


def _check_solo(game: Game, one: Batch) -> None:
    """Check that a single game outside a batch says and does what the batch of one does."""
    solo, state, info = game.solo(one.state), one.state, game.info
    if type(solo) is BatchOfOne:
        return
    for when in ("before", "after"):
        seats = range(info.num_players)
        expected = {
            **{"turn": int(state.turn), "current_player": int(state.current_player)},
            **{"rewards": state.rewards[0].tolist(), "scores": state.scores[0].tolist()},
            **{"terminated": bool(state.terminated), "truncated": bool(state.truncated)},
            "legal_actions()": game.legal_actions(state)[0].numpy(),
            "board()": game.board(state)[0].numpy(),
            **{f"observe({seat})": game.observe(state, seat)[0].numpy() for seat in seats},
            **{f"infos({s})": {name: value[0].tolist() for name, value in game.infos(state, s).items()} for s in seats},
        }
        for name, right in expected.items():
            wrong = _of_solo(solo, name)
            same = np.array_equal(right, wrong) if isinstance(right, np.ndarray) else right == wrong
            if not same:
                fail(game, f"solo(state).{name} {when} a step", f"{right}, as the batch of one has", f"{wrong}")
        check_same(game, f"solo(state).state() {when} a step", _fields(state), _fields(solo.state()))
        if when == "before":
            state = game.step(state, one.actions)
            action = one.actions[0].numpy()
            solo.step(int(action) if action.ndim == 0 else action)


def _fields(state: State) -> dict[str, Tensor]:
    return {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}


def _of_solo(solo: Any, name: str) -> Any:
    """Return an attribute of a single game, or what a method without or with a seat returns."""
    method, called, rest = name.partition("(")
    found = getattr(solo, method)
    return found if not called else found(*map(int, filter(None, [rest[:-1]])))


def _check_pictures(game: Game, last: Batch) -> None:
    """Check that pictures and texts show the first game, whatever stands behind it."""
    several, single = last.state, last.state[0]
    for name, draw in {"draw(state)": game.draw, "text(state)": game.text}.items():
        what, expected = f"{name} of {len(several)} games", "the first game as it is shown alone"
        try:
            same = draw(several) == draw(single)
        except Exception as error:
            fail(game, what, expected, f"{type(error).__name__}: {error}", "a field is used without [0]")
        if not same:
            fail(game, what, expected, "something else", "another game than the first is used")
    pictures = list(game.frames(single, game.step(single, last.actions[:1])))
    sizes = {(picture.width, picture.height) for picture in pictures}
    if len(sizes) != 1:
        fail(game, "frames(before, after)", "at least one picture, all of one size", f"the sizes {sorted(sizes)}")
    game.draw_batch(several)
