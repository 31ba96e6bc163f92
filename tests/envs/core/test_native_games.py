"""Native code of every game against its rules in torch: steps, masks and views, in every bit."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import pytest
import torch
from every_game import GAMES, generator, seen
from learner_play import same
from native_code import native_library, threads
from torch import Tensor

import cellgames
from cellgames.envs.cloth_of_gold import ClothOfGold
from cellgames.envs.cloth_of_gold_wild import ClothOfGoldWild
from cellgames.envs.connection import Hex, Y
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.state import copied
from cellgames.envs.grid_adaptation import GridAdaptation
from cellgames.envs.grid_adaptation.native import Step
from cellgames.envs.grid_adaptation_talk import GridAdaptationTalk
from cellgames.envs.native import without_native
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.toroidal_cup import ToroidalCup
from cellgames.envs.torus import Torus

CLOTH: dict[str, Any] = {"height": 8, "width": 8, "generations": 3, "radius": 3, "max_units": 3, "max_rounds": 2}
VOTES: dict[str, Any] = {"size": 5, "players": 4, "rounds": 1, "flip_rounds": (1, 2)}
TALK: dict[str, Any] = {"talk": "private", "size": 5, "players": 3, "rounds": 2}
MANY: dict[str, Any] = {"size": 9, "players": 6, "rounds": 3, "words": 3, "talk_steps": 2, "starting_garnets": 10}
WORDS: dict[str, Any] = {"neutral_births": True, "initial_placement": False, "neutral_stance": "aggressive"}
WILD: dict[str, Any] = {
    **{"height": 12, "width": 16, "generations": 8, "max_rounds": 6, "max_units": 6},
    **{"perks": True, "territory": "hull", "wildlife": (2, 1, 1), "combinations": True},
}
WEATHER: dict[str, Any] = {"terrain": True, "weather": True, "max_rounds": 4}

# Every option; boards of one word, of a few and of sixteen; matches in which many are tied, vote or draw lots.
VARIANTS: list[Game] = [
    *(Torus(size=size) for size in (2, 5, 8, 16)),
    *(Hex(size=size) for size in (2, 11, 22)),
    Hex(size=4, swap=False),
    Hex(size=6, tiling="octagons"),
    *(Y(size=size) for size in (2, 6, 13)),
    Y(size=5, tiling="octagons", swap=False),
    Y(size=16, tiling="octagons"),
    ClothOfGold(**CLOTH),
    ClothOfGold(9, 63, 26, 4, 2, 4, neutral_density=0.1, **WORDS),
    ClothOfGold(12, 64, 25, 2, 2, win_rule="extinction"),
    ClothOfGold(8, 130, 2, 5, 2, 32),
    ClothOfGold(**CLOTH, shaping=0.37, first_verdict=1),
    ClothOfGold(**{**CLOTH, "max_rounds": 4}, win_rule="extinction", neutral_density=0.2),
    ClothOfGoldWild(**{**CLOTH, "max_rounds": 3}, territory="hull"),
    ClothOfGoldWild(**{**CLOTH, **WEATHER}),
    ClothOfGoldWild(height=10, width=70, generations=4, perks=True, radius=5, max_rounds=6),
    ClothOfGoldWild(**{**WEATHER, **WILD}),
    ToroidalCup(24, 48, pattern="randys", shapes=3, max_generations=100),
    ToroidalCup(40, 220, teams=3, shapes=4, max_generations=20),
    ToroidalCup(30, 260, stride=1, pattern="donutmethuselahs", max_generations=8),
    ToroidalCup(22, 62, stride=5, pattern="randys", shapes=1, survivors="keep", max_generations=100),
    GridAdaptation(),
    GridAdaptation(reward_scheme="outcome", garnet_value=0.3, starting_garnets=10, rounds=4),
    GridAdaptation(size=5, players=2, flip_rounds=(), reserves=0, starting_garnets=0),
    GridAdaptation(size=31, players=3, rounds=3, first_tiles=2, starting_garnets=10, flip_rounds=(2, 3, 8)),
    GridAdaptation(**VOTES, first_tiles=2, starting_garnets=3),
    GridAdaptation(size=5, rounds=2, reward_scheme="outcome", starting_garnets=6, first_tiles=1),
    GridAdaptation(size=8, players=5, rounds=14, reserves=8, starting_garnets=100, reward_scheme="public"),
    GridAdaptationTalk(**{**TALK, "talk_steps": 3, "words": 2}),
    GridAdaptationTalk(**{**TALK, "players": 2, "words": 1}, scramble=True, reward_sharing=0.25),
    GridAdaptationTalk(**{**TALK, "talk": "public", "players": 5}, scramble=True, reward_sharing=0.5, promises="ally"),
    GridAdaptationTalk(**{**TALK, "talk": "public", "size": 17, "words": 100}, mute=True),
    GridAdaptationTalk(**VOTES, talk="public", first_tiles=1),
    GridAdaptationTalk(**MANY, talk="private", scramble=True, reward_scheme="outcome"),
]
# With numbers of games that three threads share.
LARGE: list[tuple[Game, int]] = [
    (Torus(), 4097),
    (Hex(), 4097),
    (ClothOfGold(**CLOTH), 1025),
    (GridAdaptation(**VOTES), 1025),
    (ToroidalCup(24, 48, pattern="randys", shapes=2, max_generations=9), 257),
]
GAMES_AND_VARIANTS = [*(GAMES[id] for id in cellgames.games()), *VARIANTS]


@pytest.fixture(autouse=True)
def _built() -> None:
    native_library()


def hasty(game: Game, state: State, random: torch.Generator) -> Tensor:
    """Random legal actions; one in three is the last that is legal, which ends turns, if any does."""
    actions = game.random_actions(state, random)
    mask = game.legal_actions(state)
    ends = list(accumulate(game.info.action_nvec))
    parts = [mask[..., end - n : end].int() for n, end in zip(game.info.action_nvec, ends, strict=True)]
    last = torch.stack([part.shape[-1] - 1 - part.flip(-1).argmax(-1) for part in parts], -1).view_as(actions)
    return torch.where(torch.rand(actions.shape, generator=random) < 1 / 3, last, actions)


def told(game: Game, state: State) -> list[Any]:
    """All that a game says about a state, and what wins at once where it says that."""
    movers = (state.current_player, 1 - state.current_player) if isinstance(game, StoneGame) else ()
    return [*seen(game, state), *(game.winning_actions(state, player) for player in movers)]


@cache
def late(game: Game, count: int) -> Any:
    """Return positions from which random games have ended three moves later."""
    vector, random, states = game.vector(4 * count), generator(1), list[State]()
    found: list[State] = []
    while len(found) < count:
        states.append(vector.state)
        ended = vector.step(hasty(game, vector.state, random)).done.nonzero().flatten().tolist()
        found += [states[max(-3, -len(states))][env_id] for env_id in ended]
    return type(found[0]).cat(found[:count])


def played(game: Game, num_envs: int, steps: int, counts: Sequence[int] = (1,), **options: Any) -> Iterator[Any]:
    """Play the same games by native code in so many threads each and by torch code; yield what each step gives."""
    natives = [game.vector(num_envs, observe=torch.float32, **options) for _ in counts]
    lots = [generator(3) for _ in (0, *counts)]
    random = generator(4)
    with without_native():
        reference = game.vector(num_envs, compile="never", observe=game.info.observation.dtype, **options)
    for turn in range(steps):
        actions = hasty(game, reference.state, random) if turn % 3 else None
        with without_native():
            other = reference.step_random(lots[0]) if actions is None else reference.step(actions)
        for count, native, lot in zip(counts, natives, lots[1:], strict=True):
            with threads(count):
                one = native.step_random(lot) if actions is None else native.step(actions)
            assert same(one, other)
            assert same(native.state, reference.state)
            yield one, native, reference


@pytest.mark.parametrize("game", GAMES_AND_VARIANTS, ids=lambda game: game.id)
def test_steps_and_views_are_those_of_torch_code(game: Game) -> None:
    first = game.init(seeds(5, 5))
    state, random = type(first).cat([first, late(game, 3)]), generator()
    for turn in range(8):
        actions, views, before = hasty(game, state, random), told(game, state), state.clone()
        after = game.step(state, actions)
        with without_native():
            assert same(views, told(game, state))
            assert same(after, game.step(state, actions))
        assert state.equal(before)
        if turn == 0:  # fields may lie in memory as they like
            rows = state.map(torch.Tensor.contiguous)
            assert same(views, told(game, rows))
            assert same(after, game.step(rows, actions))
        state = after


@pytest.mark.parametrize("game", VARIANTS, ids=lambda game: game.id)
def test_vectors_play_the_same_games(game: Game) -> None:
    ended = 0
    for one, native, reference in played(game, 9, 8, positions=late(game, 3)):
        assert torch.equal(native.legal_actions, reference.legal_actions)
        with without_native():
            assert torch.equal(native.observation, reference.observation.float())
        ended += int(one.done.sum())
    assert ended


@pytest.mark.parametrize(("game", "num_envs"), LARGE, ids=[game.id for game, _ in LARGE])
def test_neither_threads_nor_the_size_of_a_batch_change_anything(game: Game, num_envs: int) -> None:
    positions = late(game, 5)
    for count in (1, num_envs):
        ended = [one.done.any() for one, *_ in played(game, count, 4, (1, 3), positions=positions)]
        assert any(ended) or count == 1


@pytest.mark.parametrize("most", [0, 2])
@pytest.mark.parametrize("game", [LARGE[2][0], LARGE[3][0]], ids=lambda game: game.id)
def test_each_instruction_set_plays_the_same(game: Game, most: int) -> None:
    native = native_library()
    try:
        native.cellgames_instruction_set(most)
        assert any(one.done.any() for one, *_ in played(game, 11, 4, positions=late(game, 5)))
    finally:
        native.cellgames_instruction_set(3)


@pytest.mark.parametrize("game", [game for game, _ in LARGE], ids=lambda game: game.id)
def test_an_unchecked_action_out_of_range_changes_no_other_game(game: Game) -> None:
    vector = game.vector(3)
    before = vector.state
    actions = game.random_actions(before, generator())
    alone = game.step(before[1], actions[[1]])
    actions[0], actions[2] = 1 << 40, -(1 << 31)
    vector.step(actions, checked=False)
    assert alone.done.any() or vector.state[1].equal(alone)


def test_a_step_in_place_writes_into_fields_that_lie_in_memory_as_they_like() -> None:
    game, batch = GridAdaptation(size=7), 11
    state = late(game, batch).map(copied)
    rows = state.map(lambda field: field.clone(memory_format=torch.contiguous_format))
    bits = torch.randint(1 << 31, (batch, *game.info.action_shape), generator=generator())
    one, other = (Step(game)(some, None, bits, True).actions for some in (rows, state))
    assert torch.equal(one, other)
    assert rows.equal(state)


def test_a_state_of_another_game_is_no_way_into_foreign_memory() -> None:
    state, large = late(GridAdaptation(size=5, players=2), 4), GridAdaptation(size=31)
    for foreign in (large._legal, lambda state: large._step(state, torch.zeros(4, *large.info.action_shape).long())):
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            foreign(state)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda vector: pickle.loads(pickle.dumps(vector))])
def test_copies_play_the_same_games_on_their_own(how: Any) -> None:
    vector = Torus(size=5).vector(9, seed=3)
    vector.step_random(generator(1))
    copied = how(vector)
    before = copied.state
    vector.step_random(generator(2))
    assert copied.state.equal(before), "they share memory"
    copied.step_random(generator(2))
    assert copied.state.equal(vector.state)
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
            said = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        assert said == digest(vector)


def digest(vector: Any) -> bytes:
    numbers = torch.arange(1, 1 + vector.state.codes.numel()).view_as(vector.state.codes)
    return str([int((vector.state.codes * numbers).sum()), vector.state.turn.sum().item()]).encode()
