"""What every game promises, and what the core adds for all of them: states, errors, notation, pictures, `repr`s.

The games come from the registry, and toys.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import golden_playthroughs as golden
import pytest
import torch
from every_game import GAMES, every_game, finished, generator, midway, seen, smaller
from processes import printed
from refusals import fails, refused
from toy_games import Race, random_actions
from twins import NOT_TELLING, WAYS, telling_methods, told, twin

import cellgames
from cellgames import InputError
from cellgames.envs import check_game
from cellgames.envs.core import Game, IllegalActionError, State, seeds
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.native import without_native


@every_game
def test_a_batch_of_no_games_is_a_batch(game: Game) -> None:
    none = game.init(seeds(0, 0))
    for state in (none, game.step(none, game.random_actions(none, generator()))):
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
    assert printed(_LOAD, str(tmp_path), *cellgames.games()).splitlines() == lines


@every_game
def test_a_mangled_line_is_refused(game: Game) -> None:
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


@dataclass(frozen=True, repr=False)
class PlainRace(Race):
    """`Race` as the core writes and draws it."""

    id: ClassVar[str] = "toy-plain-race-v0"

    action_to_string = Game.action_to_string
    string_to_action = Game.string_to_action
    draw = Game.draw
    text = Game.text


PLAIN = PlainRace()


def test_a_game_without_notation_and_pictures_is_a_whole_game() -> None:
    check_game(PLAIN)


def test_actions_and_positions_have_names_without_a_notation() -> None:
    assert [PLAIN.action_to_string(action) for action in range(3)] == ["0", "1", "2"]
    assert PLAIN.string_to_action("2") == 2
    for text in ("3", "-1", "two", "²", ""):
        with refused("action", repr(text)):
            PLAIN.string_to_action(text)
    with refused("action", "3"):
        PLAIN.action_to_string(3)
    state = PLAIN.step(PLAIN.init(seeds(0, 1)), torch.tensor([2]))
    line = PLAIN.state_to_string(state)
    head = '{"turn":1,"current_player":1,"scores":[2.0,0.0],"terminated":false,"truncated":false'
    assert line == head + ',"place":[2,0],"chosen":[2,-1]}'
    assert PLAIN.string_to_state(line, seed=int(state.seed)).replace(rewards=state.rewards).equal(state)


def test_a_line_with_wrong_fields_is_refused() -> None:
    line = PLAIN.state_to_string(PLAIN.init(seeds(0, 1)))
    wrong = ["", "[]", "3", '{"turn":1}', '{"place":[1,2]}', line[:-1] + ',"more":1}']
    wrong += [line.replace('"turn":0', '"turn":"0"'), line.replace('"place":[0,0]', '"place":[0,0,0]')]
    for text in wrong:
        assert text != line
        with refused("position"):
            PLAIN.string_to_state(text)


def test_a_board_of_numbers_is_drawn_and_printed() -> None:
    state = PLAIN.step(PLAIN.init(seeds(0, 1)), torch.tensor([1]))
    assert PLAIN.text(state) == " ".join(map(str, state.place[0].tolist()))
    svg = PLAIN.draw(state)._repr_html_()
    assert "<title>Race</title>" in svg
    assert svg.count("<rect") == 1 + 2  # the ground and the cells


@every_game
def test_the_repr_of_a_state_says_how_many_games_are_done_and_what_its_fields_are(game: Game) -> None:
    state = type(finished(game, 2)).cat([finished(game, 2), game.init(seeds(0, 3))])
    head, *fields = str(state).splitlines()
    assert head == repr(state) == f"<{type(state).__name__}: 5 games, 2 done, on cpu>"
    assert [line.split(":")[0].strip() for line in fields][:2] == ["seed", "turn"]
    assert "  turn: int32 [5] = [" in str(state)
    assert max(map(len, str(state).splitlines())) < 250
    assert repr(state[4]).startswith(f"<{type(state).__name__}: 1 game, 0 done")


@every_game
def test_a_notebook_draws_games_and_vectors(game: Game) -> None:
    start = game.init(seeds(0, 1))
    assert game._repr_html_() == game.draw(start)._repr_html_()
    assert repr(game) == f"{type(game).__name__}({', '.join(f'{k}={v!r}' for k, v in game.parameters.items())})"
    vector = game.vector(3, compile="never")
    assert vector._repr_html_() == game.draw_batch(vector.state)._repr_html_()
    assert vector._repr_html_().count("<svg") > game.draw(start)._repr_html_().count("<svg")


@every_game
def test_all_moments_are_drawn_and_printed_in_one_size_and_stay_as_they_are(game: Game) -> None:
    sizes = set()
    for state in (game.init(seeds(1, 1)), midway(game, 1), finished(game, 1)):
        before, picture = state.clone(), game.draw(state)
        sizes.add((picture.width, picture.height))
        ElementTree.fromstring(to_svg(picture))
        assert game.draw(state) == picture
        assert game.text(state)
        assert state.equal(before)
    assert len(sizes) == 1


def test_a_batch_is_drawn_as_a_grid_of_a_few_games_as_wide_as_about_one() -> None:
    game = cellgames.make("torus-v0", size=3)
    state = midway(game, 12)
    one, four, all_twelve = game.draw(state[0]), game.draw_batch(state), game.draw_batch(state, most=12)
    assert game.draw_batch(state[:1]) == one
    assert [len(picture.shapes) for picture in (four, all_twelve)] == [4, 12]
    assert four.title == "Torus, 4 of 12 games"
    assert one.width <= four.width < 1.3 * one.width
    with refused("pictures", "0 and 1"):
        game.draw_batch(state[:0])


def test_an_illegal_action_is_an_error_with_fields_that_survives_pickling() -> None:
    game = cellgames.make("torus-v0", size=3)
    state = game.step(game.init(seeds(0, 2)), torch.tensor([0, 5]))
    with pytest.raises(IllegalActionError) as caught:
        game.step(state, torch.tensor([3, 5]))
    error = caught.value
    assert (error.where, error.env_id, error.player, error.action) == ("torus-v0", 1, "white", 5)
    assert (error.cause, error.component) == ("cell c2 is taken", None)
    assert str(error) == "torus-v0: illegal action 5 of player white in env 1: cell c2 is taken"
    assert error.brief == "illegal action 5 of player white: cell c2 is taken"
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ValueError)
    assert (str(again), vars(again)) == (str(error), vars(error))
