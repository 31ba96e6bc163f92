"""What every game promises, and the core for all of them; the games come from the registry, and toys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden_playthroughs as golden
import pytest
import torch
from every_game import GAMES, every_game, generator, midway, seen, smaller
from refusals import fails, refused
from toy_games import random_actions
from twins import NOT_TELLING, WAYS, telling_methods, told, twin

import cellgames
from cellgames import InputError
from cellgames.envs.core import Game, IllegalActionError, State, seeds
from cellgames.envs.native import without_native


@every_game
def test_a_batch_of_no_games_is_a_batch(game: Game) -> None:
    none = game.init(seeds(0, 0))
    for state in (none, game.step(none, random_actions(game, none, generator()))):
        assert len(state) == 0
        for nothing, something in zip(seen(game, state), seen(game, game.init(seeds(0, 2))), strict=True):
            assert tuple(nothing.shape) == (0, *something.shape[1:])
            assert nothing.dtype == something.dtype
    with without_native():
        outcome = game.random_outcome(none, generator())
    assert outcome is None or outcome.shape == (0, game.info.num_players)


@every_game
def test_an_illegal_action_names_env_player_action_and_reason_and_harms_nothing(game: Game) -> None:
    """Choices that are not legal now, and numbers that never are."""
    state, info = midway(game, 4), game.info
    nvec, several, before = info.action_nvec, len(info.action_nvec) > 1, state.clone()
    legal = game.legal_actions(state)
    *where, choice = (~legal & ~state.done.view(-1, *[1] * (legal.ndim - 1))).nonzero()[-1].tolist()
    component = 0
    while choice >= nvec[component]:
        choice -= nvec[component]
        component += 1
    seat = where[1] if info.simultaneous else int(state.current_player[where[0]])
    place = {"env_id": where[0], "player": info.players[seat], "component": component if several else None}
    for action in (choice, nvec[component], nvec[component] + 10**9, -1, -(10**9)):
        actions = random_actions(game, state, generator())
        actions[(*where, *[component] * several)] = action
        with fails(IllegalActionError, where=game.id, action=action, **place) as caught:
            game.step(state, actions)
        reason = f"expected a number from 0 to {nvec[component] - 1}"
        assert (caught.value.cause == reason) == (action != choice)
    assert state.equal(before)


@pytest.mark.parametrize(
    "wrong", [7, [1, 2], torch.zeros(3), torch.zeros(2, 2, dtype=torch.int64), torch.zeros(3, dtype=torch.int32)]
)
def test_seeds_of_a_wrong_kind_are_refused(wrong: Any) -> None:
    with refused("seeds"):
        GAMES["torus-v0"].init(wrong)


@every_game
def test_a_state_is_indexed_like_a_tensor_of_games(game: Game) -> None:
    state = midway(game, 5)
    fields = state.tensors()

    def same(part: State, index: Any) -> bool:
        return all(torch.equal(a, b[index]) for a, b in zip(part.tensors(), fields, strict=True))

    assert len(state) == 5
    mask = torch.tensor([True, False, True, False, False])
    for env_ids in (slice(1, 4), slice(None, None, 2), [3, 0, 3], torch.tensor([4, 1]), mask, mask.tolist()):
        assert same(state[env_ids], env_ids)
    assert same(state[2], [2])
    assert same(state[-1], [4])
    assert len(state[1]) == 1
    assert len(state[mask]) == 2
    assert len(state[[]]) == 0
    for env_id in (5, -6):
        with pytest.raises(IndexError):
            state[env_id]


@every_game
def test_put_and_cat_move_whole_games(game: Game) -> None:
    state, other = midway(game, 5), midway(game, 2, seed=9)
    for env_ids in (torch.tensor([3, 0]), torch.tensor([True, False, False, True, False])):
        after = state.put(env_ids, other)
        places = env_ids if env_ids.dtype != torch.bool else env_ids.nonzero().squeeze(1)
        assert after[places].equal(other)
        rest = [env_id for env_id in range(5) if env_id not in places.tolist()]
        assert after[rest].equal(state[rest])
    joined = type(state).cat([state, other, state])
    assert len(joined) == 12
    assert joined[5:7].equal(other)
    assert joined[7:].equal(state)
    with refused("states", "none"):
        type(state).cat([])


@every_game
def test_equality_compares_type_dtype_shape_and_values(game: Game) -> None:
    state = midway(game, 3)
    assert state.equal(state.clone())
    assert not state.equal(state[:2])
    assert not state.equal(state.replace(turn=state.turn.long()))
    assert not state.equal(state.replace(scores=state.scores + 1))
    assert not state.equal(None)


@every_game
def test_a_state_moves_to_a_device_with_all_its_fields(game: Game) -> None:
    state = midway(game, 3)
    assert state.to("cpu").equal(state)
    moved = state.to("meta")
    assert moved.device.type == "meta"
    assert all(field.device.type == "meta" for field in moved.tensors())


_LOAD = """
import json, sys, cellgames
for id in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{id}.json") as file:
        game = cellgames.make(id, **json.load(file))
    import torch
    state = torch.load(f"{sys.argv[1]}/{id}.pt")
    print(game.state_to_string(state))
"""


@pytest.mark.slow
def test_a_saved_state_is_loaded_where_only_its_game_was_made(tmp_path: Path) -> None:
    lines = []
    for id in cellgames.games():
        state = midway(GAMES[id], 1)
        torch.save(state, tmp_path / f"{id}.pt")
        (tmp_path / f"{id}.json").write_text(json.dumps(GAMES[id].parameters))
        lines.append(GAMES[id].state_to_string(state))
    command = [sys.executable, "-c", _LOAD, str(tmp_path), *cellgames.games()]
    environment = {**os.environ, "PYTHONPATH": str(Path(cellgames.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == lines


@every_game
def test_a_line_that_is_no_position_is_refused(game: Game) -> None:
    good = game.state_to_string(midway(game, 1))
    for wrong in ("", "nonsense", good + good, good[1:]):
        with pytest.raises(InputError):
            game.string_to_state(wrong)


@pytest.mark.parametrize(
    "id", [id for id in cellgames.games() if id in smaller(GAMES) or not GAMES[id].info.perfect_information]
)
def test_positions_that_differ_in_secrets_alone_look_alike(id: str) -> None:
    game, chance = GAMES[id], generator()
    state = game.init(seeds(3, 1))
    for _ in range(2):
        for player in (0, game.info.num_players - 1):
            other = twin(game, state, player)
            if not game.info.perfect_information and id != "toroidal-cup-small-v0":  # all its shapes are alike
                assert game.state_to_string(other) != game.state_to_string(state)
            for name in WAYS:
                assert told(name, game, state, player) == told(name, game, other, player), name
        state = game.step(state, game.random_actions(state, chance))


@pytest.mark.parametrize("id", GAMES)
def test_every_method_that_tells_a_seat_something_is_in_the_list(id: str) -> None:
    assert telling_methods(GAMES[id]) <= set(WAYS) | NOT_TELLING


@pytest.mark.parametrize("id", sorted({cellgames.make(id).id for id in cellgames.games()} | golden.PARAMETERS.keys()))
def test_the_golden_playthrough_is_played_again(id: str) -> None:
    assert golden.playthrough(id) == golden.path(id).read_text(encoding="utf-8")
