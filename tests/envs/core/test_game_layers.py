"""A game of eight members, and what the core adds: notation, drawing, `repr`s and errors with fields."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from xml.etree import ElementTree

import pytest
import torch
from every_game import every_game, finished, midway
from refusals import refused
from torch import Tensor
from typing_extensions import override

import cellgames
from cellgames.envs import DRAW, LOSS, WIN, Game, GameInfo, IllegalActionError, Space, State, check_game, seeds
from cellgames.envs.core.drawing import to_svg


@dataclass(frozen=True, eq=False)
class NimState(State):
    """left: [B] int64, matches on the table."""

    left: Tensor


@dataclass(frozen=True)
class Nim(Game[NimState]):
    """Players take one, two or three matches in turn; who takes the last one wins."""

    matches: int = 8

    id: ClassVar[str] = "nim-v0"

    @cached_property
    @override
    def info(self) -> GameInfo:
        return GameInfo(
            id=self.id,
            title="Nim",
            credit="made for tests",
            players=("first", "second"),
            simultaneous=False,
            perfect_information=True,
            stochastic=False,
            zero_sum=True,
            max_turns=self.matches,
            reward_range=(-1.0, 1.0),
            action_nvec=(3,),
            observation=Space((1,), torch.int64, 0, self.matches),
            board=Space((self.matches,), torch.int8, 0, 1),
        )

    @override
    def _init(self, seeds: Tensor) -> NimState:
        return NimState.new(seeds, 2, left=torch.full_like(seeds, self.matches))

    @override
    def _step(self, state: NimState, actions: Tensor) -> NimState:
        left = state.left - actions - 1
        mover = torch.arange(2, device=state.device) == state.current_player[:, None]
        scores = (mover & (left == 0)[:, None]).float()
        return state.replace(
            turn=state.turn + 1,
            current_player=1 - state.current_player,
            rewards=scores - scores.flip(1),
            scores=scores,
            terminated=left == 0,
            left=left,
        )

    @override
    def _legal(self, state: NimState) -> Tensor:
        return torch.arange(3, device=state.device) < state.left[:, None]

    @override
    def observe(self, state: NimState, player: Tensor | int) -> Tensor:
        return state.left[:, None]

    @override
    def board(self, state: NimState) -> Tensor:
        return (torch.arange(self.matches, device=state.device) < state.left[:, None]).to(torch.int8)

    @override
    def outcome(self, state: NimState) -> Tensor:
        result = torch.where(state.scores > 0, WIN, LOSS)
        return torch.where(state.done[:, None], result, DRAW).to(torch.int8)


def test_a_game_of_eight_members_is_a_whole_game() -> None:
    members = {name for name in vars(Nim) if not name.startswith(("__", "_abc"))} - {"matches"}
    assert members == {"id", "info", "_init", "_step", "_legal", "observe", "board", "outcome"}
    check_game(Nim())


def test_actions_and_positions_have_names_without_a_notation() -> None:
    game = Nim()
    assert [game.action_to_string(action) for action in range(3)] == ["0", "1", "2"]
    assert game.string_to_action("2") == 2
    for text in ("3", "-1", "two", "²", ""):
        with refused("action", repr(text)):
            game.string_to_action(text)
    with refused("action", "3"):
        game.action_to_string(3)
    state = game.step(game.init(seeds(0, 1)), torch.tensor([2]))
    line = game.state_to_string(state)
    assert line == '{"turn":1,"current_player":1,"scores":[0.0,0.0],"terminated":false,"truncated":false,"left":5}'
    assert game.string_to_state(line, seed=int(state.seed)).equal(state)


@pytest.mark.parametrize(
    "text", ["", "[]", "3", '{"turn":1}', '{"left":[1,2]}', "LINE with more", "LEFT as text", "LEFT too long"]
)
def test_a_line_that_is_no_position_is_refused(text: str) -> None:
    game = Nim()
    line = game.state_to_string(game.init(seeds(0, 1)))
    text = text.replace("LINE with more", line[:-1] + ',"more":1}')
    text = text.replace("LEFT as text", line.replace('"left":8', '"left":"8"'))
    text = text.replace("LEFT too long", line.replace('"left":8', '"left":[8]'))
    with refused("position"):
        game.string_to_state(text)


def test_a_board_of_numbers_is_drawn_and_printed() -> None:
    game = Nim(4)
    state = game.step(game.init(seeds(0, 1)), torch.tensor([0]))
    assert game.text(state) == "1 1 1 0"
    svg = game.draw(state)._repr_html_()
    assert "<title>Nim</title>" in svg
    assert svg.count("<rect") == 1 + 4  # the ground and the cells


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
