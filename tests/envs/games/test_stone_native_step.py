"""The native steps and observations of Torus, Hex and Y in a `Vector` against the rules in torch, in every bit."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import pytest
import torch
from every_game import generator
from native_code import native_library
from torch import Tensor

from cellgames.envs.connection.game import Hex, Y
from cellgames.envs.core import Transition, Vector, seeds
from cellgames.envs.native import without_native
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.torus.game import Torus

SIZE_5 = Torus(size=5)
GAMES: list[Any] = [
    *(Torus(size=size) for size in (2, 5, 8, 16)),
    *(Hex(size=size) for size in (2, 11, 22)),
    Hex(size=4, swap=False),
    Hex(size=6, tiling="octagons"),
    *(Y(size=size) for size in (2, 6, 13)),
    Y(size=5, tiling="octagons", swap=False),
    Y(size=16, tiling="octagons"),
]


@pytest.fixture(autouse=True)
def _built() -> None:
    native_library()


def both(game: StoneGame[Any], num_envs: int, **options: Any) -> tuple[Vector, Vector]:
    """Return two vectors of the same games: one steps by native code, one by torch code."""
    native = game.vector(num_envs, **options)
    with without_native():
        reference = game.vector(num_envs, compile="never", **options)
    assert (native.backend, reference.backend) == ("native", "eager")
    return native, reference


def differences(one: Any, two: Any) -> list[str]:
    """Return the fields of two states or transitions that differ in values, dtype, shape or layout."""
    assert type(one) is type(two)
    pairs = {field.name: (getattr(one, field.name), getattr(two, field.name)) for field in fields(one)}
    return [
        name for name, (a, b) in pairs.items() if a.dtype != b.dtype or layout(a) != layout(b) or not torch.equal(a, b)
    ]


def layout(tensor: Tensor) -> list[int]:
    return [stride for stride, length in zip(tensor.stride(), tensor.shape, strict=True) if length > 1]


def compare(native: Vector, reference: Vector, steps: int) -> int:
    """Play the same random games in both; return how many have ended."""
    lots, ended = (generator(3), generator(3)), 0
    for turn in range(steps):
        one, two = native.step_random(lots[0]), reference.step_random(lots[1])
        assert not differences(one, two), turn
        assert not differences(native.state, reference.state), turn
        assert torch.equal(native.legal_actions, reference.legal_actions), turn
        game: Any = native.game
        state = native.state
        opponent = 1 - state.current_player
        told = game.observe(state, opponent), game.winning_actions(state), game.winning_actions(state, opponent)
        with without_native():
            again = game.observe(state, opponent), game.winning_actions(state), game.winning_actions(state, opponent)
        assert all(map(torch.equal, told, again)), turn
        ended += int(one.done.sum())
    assert native.backend == "native"
    return ended


def late(game: StoneGame[Any], count: int) -> list[str]:
    """Return positions from which random games have ended three moves later."""
    vector, lots, states = game.vector(4 * count), generator(1), []
    found: list[str] = []
    while len(found) < count:
        states.append(vector.state)
        ended = vector.step_random(lots).done.nonzero().flatten().tolist()
        found += [game.state_to_string(states[-3][env_id]) for env_id in ended]
    return found[:count]


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_random_games_are_the_same(game: StoneGame[Any]) -> None:
    """From the start, where a swap may be, and from near the end."""
    cells = game.num_cells
    assert compare(*both(game, 40, seed=game.size), steps=min(cells, 40)) > 0 or cells > 32
    assert compare(*both(game, 40, seed=game.size, positions=late(game, 3)), steps=40) > 0


@pytest.mark.parametrize("num_envs", [1, 1023])
@pytest.mark.parametrize("reuse_buffers", [False, True])
def test_batches_of_any_size_are_the_same(num_envs: int, reuse_buffers: bool) -> None:
    assert compare(*both(SIZE_5, num_envs, reuse_buffers=reuse_buffers), steps=60) > 0


@pytest.mark.parametrize("game", [Torus(), Hex()], ids=repr)
@pytest.mark.parametrize("count", [1, 3])
def test_threads_change_nothing(game: StoneGame[Any], count: int) -> None:
    with threads(count):
        native, reference = both(game, 4097, positions=late(game, 5))
        assert compare(native, reference, steps=6) > 0


@pytest.mark.parametrize("game", [SIZE_5, Y(size=6)], ids=repr)
def test_given_actions_are_played_whatever_integers_they_are(game: StoneGame[Any]) -> None:
    native, reference = both(game, 70, seed=2)
    lots = generator(2)
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint64) * 9:
        actions = native.game.random_actions(native.state, lots)
        given = actions.to(dtype)
        apart = torch.zeros((70, 2), dtype=dtype)
        apart[:, 0] = given
        one, two = native.step(apart[:, 0]), reference.step(given)
        assert not differences(one, two)
        assert not differences(native.state, reference.state)
        assert torch.equal(one.actions, actions)
        assert torch.equal(native.legal_actions, reference.legal_actions)
    assert (native.state.seed != seeds(2, 70)).any(), "for the test's sake: games have ended"


@pytest.mark.parametrize("game", [SIZE_5, Hex(size=5)], ids=repr)
def test_an_unchecked_action_off_the_board_writes_nowhere_else(game: StoneGame[Any]) -> None:
    vector = game.vector(3)
    before = vector.state
    transition = vector.step(torch.tensor([1 << 40, 7, -(1 << 31)]), checked=False)
    assert int(transition.actions[1]) == 7
    alone = game.step(before, torch.tensor([0, 7, 0]))
    assert vector.state[1].equal(alone[1])
    assert vector.state.codes.count_nonzero() == 3


def kept(vector: Vector, steps: int) -> tuple[list[Tensor], list[Tensor]]:
    """Return all that a loop is given, and copies that were made at once."""
    given: list[Tensor] = []
    copies: list[Tensor] = []
    for _ in range(steps):
        lots = generator(6)
        step: Transition = vector.step_random(lots)
        some = [step.actions, step.rewards, step.terminated, step.truncated, step.done]
        if not vector.reuse_buffers:
            some += [*vector.state.tensors(), vector.legal_actions]
        given += some
        copies += [tensor.clone() for tensor in some]
    return given, copies


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_copies_play_the_same_games_on_their_own(how: str) -> None:
    vector = SIZE_5.vector(9, seed=3)
    kept(vector, 10)
    copied: Vector = copy.deepcopy(vector) if how == "deepcopy" else pickle.loads(pickle.dumps(vector))
    before = copied.state
    kept(vector, 3)
    assert copied.state.equal(before), "they share memory"
    kept(copied, 3)
    assert not differences(copied.state, vector.state)
    assert copied.backend == "native"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_plays_the_same_games() -> None:
    with threads(2):
        vector = Torus().vector(4096, seed=3, reuse_buffers=True)
        vector.step_random(generator(1))
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            status = 1
            try:
                vector.step_random(generator(2))
                torch.set_num_threads(1)  # torch's own threads do not survive a fork
                os.write(write, digest(vector))
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        vector.step_random(generator(2))
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        assert told == digest(vector)


def digest(vector: Vector) -> bytes:
    numbers = torch.arange(1, 1 + vector.state.codes.numel()).view_as(vector.state.codes)
    return str([int((vector.state.codes * numbers).sum()), vector.state.turn.sum().item()]).encode()


def test_the_backend_is_told() -> None:
    for compile in ("auto", "always", "never"):
        vector = SIZE_5.vector(2, compile=compile)
        assert vector.backend == "native"
        assert repr(vector) == "Vector(Torus(size=5), 2 envs on cpu, native)"
    with without_native():
        assert repr(SIZE_5.vector(2, compile="always")) == "Vector(Torus(size=5), 2 envs on cpu, compiled)"
        assert repr(SIZE_5.vector(2)) == "Vector(Torus(size=5), 2 envs on cpu, eager)"
