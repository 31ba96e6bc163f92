"""What `check_game` sees: games that keep the contract pass, and each way to break it is named."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
from every_game import GAMES, smaller
from slow import slow_except
from torch import Tensor
from toy_games import Race, RaceState, Sealed, SealedState

from cellgames.envs.checking import ContractError, check_game
from cellgames.envs.connection import Hex
from cellgames.envs.core import Game
from cellgames.envs.core.solo import Solo

SLOW = ("cloth-of-gold-wild-small-v0", "cloth-of-gold-fair-small-v0", "grid-adaptation-talk-small-v0")
QUICK = [id for id in smaller(GAMES) if id not in SLOW]


@pytest.mark.parametrize("game", slow_except(QUICK, GAMES.values(), GAMES))
def test_every_game_keeps_the_contract(game: Game) -> None:
    check_game(game, seed=3)


def broken(kind: type[Game] = Race, **members: Any) -> Game:
    """A game with some members replaced."""
    made: Any = dataclass(frozen=True)(type(kind.__name__, (kind,), members))
    game: Game = made(size=3) if kind is Hex else made()
    return game


def with_facts(**facts: Any) -> Game:
    return broken(info=property(lambda self: dataclasses.replace(Race(self.goal, self.limit).info, **facts)))


def steps(change: Callable[[RaceState, RaceState], dict[str, Tensor]]) -> Game:
    """A race whose steps change fields, by the states before and after."""

    def step(self: Race, state: RaceState, actions: Tensor) -> RaceState:
        after = Race._step(self, state, actions)
        return after.replace(**change(state, after))

    return broken(_step=step)


def sees(change: Callable[[RaceState, Tensor], Tensor]) -> Game:
    """A race whose observations are changed, by the state and what it shows."""
    return broken(observe=lambda self, state, player: change(state, Race.observe(self, state, player)))


def overwrites(before: RaceState, after: RaceState) -> dict[str, Tensor]:
    before.chosen.zero_()
    return {}


def writes_into(self: Race, state: RaceState) -> Tensor:
    state.place[:, 0].clamp_(max=1)
    return Race.board(self, state)


def forgets(self: Race, text: str, seed: int = 0) -> RaceState:
    state = Race.string_to_state(self, text, seed)
    return state.replace(chosen=torch.full_like(state.chosen, -1))


def sees_for_first(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    return Race.observe(self, state, int(player[0]) if isinstance(player, Tensor) else player)


def masks_first(self: Race, state: RaceState) -> Tensor:
    return Race._legal(self, state.replace(current_player=state.current_player[:1].expand(len(state))))


def goes_on(self: Race, state: RaceState, actions: Tensor, *, checked: bool = True) -> RaceState:
    after = Game.step(self, state, actions, checked=checked)
    return after.replace(scores=after.scores + state.done[:, None])


def keeps_choices(self: Race, state: RaceState, done: Tensor) -> RaceState:
    return Game._restart(self, state.clone(), done).replace(chosen=state.chosen)


def merges(self: Race, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    return observation, torch.where((which == 1)[:, None], actions[:, :1], actions)


def swaps_for_all(self: Sealed, state: SealedState, player: int) -> dict[str, Tensor]:
    return {"score": state.scores[:1, player].expand(len(state))}


class Backwards(Solo):
    """A single game that shows each seat the other's view."""

    def observe(self, player: int) -> Any:
        return super().observe(1 - player)


def shows_backwards(self: Race, state: RaceState) -> Backwards:
    return Backwards(self, state)


class Remembers(Race):
    """A race that shows its board every other time."""

    calls: ClassVar[list[int]] = []

    def board(self, state: RaceState) -> Tensor:
        self.calls.append(len(state))
        return super().board(state) * (len(self.calls) % 2)


_PLIES = "of games at different plies"
_PLACES = torch.arange(100)

BROKEN: dict[str, tuple[Game, str, str]] = {  # with a pattern of what is named, and of what was got or is likely
    "shape": (broken(board=lambda self, state: state.place[:, :1].short()), r"board\(state\) after 0", "int16"),
    "dtype": (sees(lambda state, seen: seen.double()), r"observe\(state, 0\) after 0 steps", "float64"),
    "bounds": (with_facts(reward_range=(-1.0, 1.0)), r"state.rewards in|state.rewards after", "numbers from"),
    "mask": (broken(_legal=lambda self, state: torch.zeros_like(Race._legal(self, state))), "legal_actions", "none of"),
    "illegal": (broken(check=lambda self, state, actions, legal=None: actions), "an illegal action in step 2", ""),
    "envs": (
        steps(lambda old, new: {"scores": new.scores + len(old)}),
        rf"step\(state, actions\) {_PLIES}, scores of env 0",
        "size of the batch",
    ),
    "overwritten": (steps(overwrites), "step in step 1", "in place"),
    "random": (steps(lambda old, new: {"scores": torch.rand(new.scores.shape)}), "the same step again in step 1", ""),
    "shared": (
        broken(_init=lambda self, seeds: (new := Race._init(self, seeds)).replace(scores=new.rewards)),
        "the state after 0 steps",
        "share",
    ),
    "endless": (with_facts(max_turns=3), "state.done after 3 steps", "False"),
    "sum": (with_facts(zero_sum=True), r"outcome\(state\)|state.rewards", ""),
    "turn": (steps(lambda old, new: {"turn": old.turn + 2}), "state.turn in step 1", ""),
    "early": (
        broken(outcome=lambda self, state: torch.ones_like(state.rewards, dtype=torch.int8)),
        r"outcome\(state\) after 0 steps",
        "",
    ),
    "names": (broken(action_to_string=lambda self, action: "rest"), "action_to_string", "twice"),
    "back": (broken(string_to_action=lambda self, text: 0), "string_to_action", r"\[0, 0, 0\]"),
    "nonsense": (
        broken(string_to_action=lambda self, text: 0 if " " in text else ("rest", "walk", "run").index(text)),
        "string_to_action of nonsense",
        "an answer",
    ),
    "position": (broken(string_to_state=forgets), r"string_to_state\(line\) after", "another"),
    "line": (broken(state_to_string=lambda self, state: "two\nlines"), "state_to_string", "two"),
    "text": (broken(text=lambda self, state: ""), "text", "none"),
    "summary": (broken(summary=lambda self, state: {"pair": (1, 2)}), "summary", ""),
    "player of env 0": (broken(observe=sees_for_first), rf"observe\(state, player\) {_PLIES}, env", "env 0"),
    "mask of env 0": (broken(_legal=masks_first), rf"legal_actions\(state\) {_PLIES}, env", "env 0"),
    "reward of env 0": (
        steps(lambda old, new: {"rewards": new.rewards[:1].expand(len(old), 2).clone()}),
        rf"step\(state, actions\) {_PLIES}, rewards of env",
        "env 0",
    ),
    "reward of one seat": (
        steps(lambda old, new: {"rewards": new.rewards.gather(1, old.current_player[:, None])}),
        "state.rewards in step 1|state.rewards after 1 steps",
        r"torch.float32 \[7, 1\]",
    ),
    "rewards added up": (
        steps(lambda old, new: {"rewards": new.rewards / 16 + old.rewards / 16}),
        r"step\(state, actions\) after other rewards, rewards of env",
        "added up",
    ),
    "rewards of default dtype": (
        steps(lambda old, new: {"rewards": torch.where(new.rewards > 0, 0.5, -0.5)}),
        r"step\(state, actions\) by another default dtype, rewards",
        r"torch.float64 \[14, 2\].*without dtype=",
    ),
    "device": (
        sees(lambda state, seen: seen + torch.zeros(5)),
        r"observe\(state, player\)$",
        r"torch.zeros without device= in test_checking.py, line \d+.*fails on CUDA",
    ),
    "env beside": (sees(lambda state, seen: seen.roll(1, 0).minimum(seen)), rf"player\) {_PLIES}, env", "place"),
    "place in the batch": (
        steps(lambda old, new: {"scores": new.scores + _PLACES[: len(old), None]}),
        rf"step\(state, actions\) {_PLIES}, scores of env 1$",
        "place",
    ),
    "whole batch": (sees(lambda state, seen: seen / seen.max().clamp(min=1)), rf"player\) {_PLIES}, env", "dim="),
    "noise": (sees(lambda state, seen: seen * torch.rand_like(seen)), "asked twice, env", "own generator"),
    "memory": (Remembers(), r"board\(state\) asked twice, env", "memory of earlier calls"),
    "board in place": (broken(board=writes_into), r"board\(state\) after \d+ steps", "in place"),
    "end": (broken(step=goes_on), "step in step", "changed"),
    "legal after the end": (broken(legal_actions=Race._legal), r"legal_actions\(state\) after \d+ steps", "something"),
    "restart": (broken(_restart=keeps_choices), r"_restart\(state, done\), chosen of env \d+", "`init`"),
    "dtype of a field": (steps(lambda old, new: {"turn": old.turn.long() + 1}), "state.turn after 1 steps", "int64"),
    "player": (
        steps(lambda old, new: {"current_player": old.current_player + 1}),
        "state.current_player after 1 steps",
        "1 to 2",
    ),
    "chance": (with_facts(stochastic=False), r"init\(seeds\) of other seeds, current_player of env", "stochastic"),
    "single game": (broken(solo=shows_backwards), r"solo\(state\).observe\(0\) (before|after) a step", r"\["),
    "text of a batch": (
        broken(text=lambda self, state: f"turn {int(state.turn)}"),
        r"text\(state\) of 2 games",
        r"\[0\]",
    ),
    "last turn": (broken(is_last_turn=lambda self, state: ~state.done), r"is_last_turn\(state\)", "True"),
    "winning actions": (
        broken(winning_actions=lambda self, state, player=None: self.legal_actions(state)),
        r"winning_actions\(state\), env \d+",
        "playing the action",
    ),
    "symmetry": (
        broken(symmetries=property(lambda self: 2), transform=merges),
        r"transform\(observation, actions, 1\), env 0",
        "two actions move to",
    ),
    "nothing": (broken(board=lambda self, state: None), r"board\(state\) after 0 steps", "NoneType; likely a missing"),
    "no step": (broken(_step=lambda self, state, actions: None), "step in step 1", "NoneType"),
    "nan": (steps(lambda old, new: {"scores": new.scores / 0 * 0}), "state.scores after 1 steps", "NaN"),
    "sign": (broken(Hex, outcome=lambda self, state: -Hex.outcome(self, state)), r"outcome\(state\)", "the sign"),
    "infos": (broken(Sealed, infos=swaps_for_all), rf"infos\(state, 0\) {_PLIES}, score of env", "env 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_named(name: str) -> None:
    game, what, rest = BROKEN[name]
    with pytest.raises(ContractError) as caught:
        check_game(game)
    error = caught.value
    assert error.where == game.id
    assert re.search(what, error.parameter), error
    assert re.search(rest, f"{error.got}; {error.cause}"), error
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_tensors_that_are_moved_to_the_device_are_no_mistake() -> None:
    def observe(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
        zeros = torch.zeros(5, dtype=torch.float32).to(state.device)
        order = torch.arange(5)  # an index may lie on the CPU
        return (Race.observe(self, state, player) + zeros)[:, order] * torch.tensor(1)

    check_game(broken(observe=observe))
