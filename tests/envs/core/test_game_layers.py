"""What the core adds to a game that only has rules: notation, drawing, `repr`s and errors with fields."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import ClassVar
from xml.etree import ElementTree

import pytest
import torch
from every_game import every_game, finished, midway
from refusals import refused
from toy_games import Race

import cellgames
from cellgames.envs import Game, IllegalActionError, check_game, seeds
from cellgames.envs.core.drawing import to_svg


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


def test_a_line_that_is_no_position_is_refused() -> None:
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
