"""What `check_game` sees: games that keep the contract pass, and each way to break it is named."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from every_game import GAMES
from torch import Tensor
from toy_games import TOYS, Race, RaceState

from cellgames.envs.checking import check_game
from cellgames.envs.core import Game


@pytest.mark.parametrize("game", [*TOYS, GAMES["grid-adaptation-v0"]], ids=lambda game: game.id)
def test_a_game_that_keeps_the_contract_passes(game: Game) -> None:
    check_game(game)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_game_passes(game: Game) -> None:
    check_game(game, seed=3)


def broken(**members: Any) -> Game:
    """The race with some methods replaced."""
    kind: Any = dataclass(frozen=True)(type("Race", (Race,), members))
    game: Game = kind()
    return game


def with_facts(**facts: Any) -> Game:
    return broken(info=property(lambda self: dataclasses.replace(Race(self.goal, self.limit).info, **facts)))


def peeks_at_neighbours(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(scores=after.scores + len(state))


def overwrites(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    state.chosen.zero_()
    return after


def draws(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(scores=torch.rand(after.scores.shape))


def shares(self: Race, seeds: Tensor) -> RaceState:
    state = Race._init(self, seeds)
    return state.replace(scores=state.rewards)


def forgets(self: Race, text: str, seed: int = 0) -> RaceState:
    state = Race.string_to_state(self, text, seed)
    return state.replace(chosen=torch.full_like(state.chosen, -1))


BROKEN: dict[str, tuple[Game, str]] = {
    "shape": (
        broken(board=lambda self, state: state.place[:, :1].short()),
        r"board after 0 steps: expected torch.int16",
    ),
    "dtype": (
        broken(observe=lambda self, state, player: Race.observe(self, state, player).double()),
        r"got torch.float64",
    ),
    "bounds": (with_facts(reward_range=(-1.0, 1.0)), r"state.rewards .* expected numbers from -1 to 1, got"),
    "mask": (
        broken(_legal=lambda self, state: torch.zeros_like(Race._legal(self, state))),
        r"nothing is legal for someone",
    ),
    "illegal": (
        broken(check=lambda self, state, actions, legal=None: None),
        r"an illegal action is taken in step 2; expected a ValueError",
    ),
    "envs": (broken(_step=peeks_at_neighbours), r"env 0 is another game without the envs beside it in step 1"),
    "overwritten": (broken(_step=overwrites), r"step changes the state that it is given in step 1"),
    "random": (broken(_step=draws), r"the same step from the same state differs in step 1"),
    "shared": (broken(_init=shares), r"fields of the state share memory after 0 steps"),
    "endless": (with_facts(max_turns=3), r"a game goes on after 3 steps; info.max_turns is 3"),
    "sum": (with_facts(zero_sum=True), r"of a zero-sum game add up to"),
    "turn": (
        broken(_step=lambda self, state, actions: Race._step(self, state, actions).replace(turn=state.turn + 2)),
        r"state.turn does not count the steps in step 1",
    ),
    "early": (
        broken(outcome=lambda self, state: torch.ones(len(state), 2, dtype=torch.int8)),
        r"outcome after 0 steps: a game that goes on has one already",
    ),
    "names": (broken(action_to_string=lambda self, action: "rest"), r"two actions have the same name"),
    "back": (broken(string_to_action=lambda self, text: 0), r"string_to_action is no inverse of action_to_string"),
    "nonsense": (
        broken(
            string_to_action=lambda self, text: max(("rest", "walk", "run").index(text), 0) if " " not in text else 0
        ),
        r"string_to_action takes nonsense; expected a ValueError",
    ),
    "position": (
        broken(string_to_state=forgets),
        r"string_to_state\(state_to_string\(state\)\) is another position after",
    ),
    "line": (broken(state_to_string=lambda self, state: "two\nlines"), r"state_to_string gives more than one line"),
    "text": (broken(text=lambda self, state: ""), r"text is empty"),
    "summary": (broken(summary=lambda self, state: {"pair": (1, 2)}), r"summary\(state\) is not what JSON gives back"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_named(name: str) -> None:
    game, message = BROKEN[name]
    with pytest.raises(ValueError, match=rf"^toy-race-v0: .*{message}"):
        check_game(game)
