"""What `check_game` sees: games that keep the contract pass, and each way to break it is named."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
from every_game import GAMES
from torch import Tensor
from toy_games import TOYS, Race, RaceState, Sealed, SealedState

from cellgames.envs.checking import check_game
from cellgames.envs.core import Game
from cellgames.envs.core.base_game import BaseGame
from cellgames.envs.core.solo import BatchOfOne


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
        broken(check=lambda self, state, actions, legal=None: actions),
        r"an illegal action is taken in step 2; expected a ValueError",
    ),
    "envs": (
        broken(_step=peeks_at_neighbours),
        r"step\(state, actions\) of a batch of games at different plies, scores of env 0 \(turn 0, .*\): "
        r"expected \d+ at \[0\], got \d+; likely something of the whole batch is used, such as its size",
    ),
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
        broken(outcome=lambda self, state: torch.ones_like(state.rewards, dtype=torch.int8)),
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


def broken_sealed(**members: Any) -> Game:
    """The game in which all act at once, with some methods replaced."""
    kind: Any = dataclass(frozen=True)(type("Sealed", (Sealed,), members))
    game: Game = kind()
    return game


def sees_for_first(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    return Race.observe(self, state, int(player[0]) if isinstance(player, Tensor) else player)


def masks_first(self: Race, state: RaceState) -> Tensor:
    first = state.current_player[:1].expand(len(state))
    return Race._legal(self, state.replace(current_player=first))


def pays_first(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(rewards=after.rewards[:1].expand(len(state), 2).clone())


def pays_one_seat(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(rewards=after.rewards.gather(1, state.current_player[:, None]))


def adds_rewards(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(rewards=(after.rewards / 16 + state.rewards / 16))


def pays_by_default_dtype(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(rewards=torch.where(after.rewards > 0, 0.5, -0.5))


def forgets_the_device(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    return Race.observe(self, state, player) + torch.zeros(5)


def looks_beside(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    seen = Race.observe(self, state, player)
    return seen.roll(1, 0).minimum(seen)


def counts_by_place(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    after = Race._step(self, state, actions)
    return after.replace(scores=after.scores + torch.arange(len(state), device=state.device)[:, None])


def scales_by_batch(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    seen = Race.observe(self, state, player)
    return seen / seen.max().clamp(min=1)


def sees_noise(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    seen = Race.observe(self, state, player)
    return seen * torch.rand_like(seen)


def writes_into(self: Race, state: RaceState) -> Tensor:
    state.place[:, 0].clamp_(max=1)
    return Race.board(self, state)


def goes_on(self: Race, state: RaceState, actions: Tensor, *, checked: bool = True) -> RaceState:
    after = BaseGame.step(self, state, actions, checked=checked)
    return after.replace(scores=after.scores + state.done[:, None])


def keeps_choices(self: Race, state: RaceState, done: Tensor) -> RaceState:
    return BaseGame._restart(self, state.clone(), done).replace(chosen=state.chosen)


def wide_turn(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    return Race._step(self, state, actions).replace(turn=state.turn.long() + 1)


def third_player(self: Race, state: RaceState, actions: Tensor) -> RaceState:
    return Race._step(self, state, actions).replace(current_player=state.current_player + 1)


class Backwards(BatchOfOne):
    """A single game that shows each seat the other's view."""

    def observe(self, player: int) -> Any:
        return super().observe(1 - player)


class Remembers(Race):
    """A race that shows its board every other time."""

    calls: ClassVar[list[int]] = []

    def board(self, state: RaceState) -> Tensor:
        self.calls.append(len(state))
        return super().board(state) * (len(self.calls) % 2)


def shows_backwards(self: Race, state: RaceState) -> Backwards:
    return Backwards(self, state)


def merges(self: Race, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    return observation, torch.where((which == 1)[:, None], actions[:, :1], actions)


def swaps_for_all(self: Sealed, state: SealedState, player: int) -> dict[str, Tensor]:
    return {"score": state.scores[:1, player].expand(len(state))}


_MIXED = r"of a batch of games at different plies, "

BROKEN |= {
    "player of env 0": (
        broken(observe=sees_for_first),
        rf"observe\(state, player\) {_MIXED}env \d+ \(.*, player (hare|tortoise)\): expected \S+ at \[\d\], got \S+; "
        "likely player of env 0 is used for all envs",
    ),
    "mask of env 0": (
        broken(_legal=masks_first),
        rf"legal_actions\(state\) {_MIXED}env .*: expected . at .*; likely state.current_player of env 0 is used",
    ),
    "reward of env 0": (
        broken(_step=pays_first),
        rf"step\(state, actions\) {_MIXED}rewards of env .*; likely the answer for env 0 is given for all envs",
    ),
    "reward of one seat": (
        broken(_step=pays_one_seat),
        r"state.rewards in step 1: expected torch.float32 \[7, 2\], got torch.float32 \[7, 1\]",
    ),
    "rewards added up": (
        broken(_step=adds_rewards),
        r"step\(state, actions\) after other rewards, rewards of env .*; likely rewards are added up; they are those",
    ),
    "rewards of default dtype": (
        broken(_step=pays_by_default_dtype),
        r"step\(state, actions\) with torch.set_default_dtype\(torch.float64\), rewards: expected torch.float32 "
        r"\[14, 2\], got torch.float64 \[14, 2\]; likely a tensor made without dtype=",
    ),
    "device": (
        broken(observe=forgets_the_device),
        r"observe\(state, player\): expected all tensors on the state's device, cpu, got torch.zeros without device= "
        r"in test_checking.py, line \d+; likely it fails on CUDA",
    ),
    "env beside": (
        broken(observe=looks_beside),
        rf"observe\(state, player\) {_MIXED}env .*; likely an env's place in the batch is used, or the env next to it",
    ),
    "place in the batch": (
        broken(_step=counts_by_place),
        rf"step\(state, actions\) {_MIXED}scores of env 1 .* at \[0\], got .*; likely an env's place in the batch",
    ),
    "whole batch": (
        broken(observe=scales_by_batch),
        rf"observe\(state, player\) {_MIXED}env .*; likely something of the whole batch is used, such as its size",
    ),
    "noise": (
        broken(observe=sees_noise),
        r"observe\(state, player\) asked twice about one batch, env .*; likely random numbers of torch's own generator",
    ),
    "memory": (Remembers(), r"board\(state\) asked twice about one batch, env .*; likely memory of earlier calls"),
    "board in place": (
        broken(board=writes_into),
        r"board after \d+ steps: expected a state that stays as it is, got a changed one; likely an operation in place",
    ),
    "end": (broken(step=goes_on), r"a finished game changes in step"),
    "legal after the end": (
        broken(legal_actions=Race._legal),
        r"legal_actions after \d+ steps: something is legal in a game that is over",
    ),
    "restart": (
        broken(_restart=keeps_choices),
        r"_restart\(state, done\), chosen of env \d+: expected -1 at \[\d\], got \d; likely a field of the new games",
    ),
    "dtype of a field": (
        broken(_step=wide_turn),
        r"state.turn in step 1: expected torch.int32 \[7\], got torch.int64 \[7\]",
    ),
    "player": (
        broken(_step=third_player),
        r"state.current_player in step 1: expected seats from 0 to 1, got 1 to 2",
    ),
    "chance": (
        with_facts(stochastic=False),
        r"init\(seeds\) of other seeds, current_player of env .*; likely info.stochastic should be True",
    ),
    "single game": (
        broken(solo=shows_backwards),
        r"solo\(state\).observe\(0\) (before|after) a step: expected \[.*\], as the batch of one has, got \[",
    ),
    "text of a batch": (
        broken(text=lambda self, state: f"turn {int(state.turn)}"),
        r"text\(state\) of 2 games: expected the first game as it is shown alone, got \w+: .*; likely a field is",
    ),
    "last turn": (
        broken(is_last_turn=lambda self, state: ~state.done),
        r"is_last_turn\(state\) of env \d+: expected False, as a step exists that does not end it, got True",
    ),
    "winning actions": (
        broken(winning_actions=lambda self, state, player=None: self.legal_actions(state)),
        r"winning_actions\(state\) of env \d+: expected False for action '(rest|walk|run)', as playing it shows",
    ),
    "symmetry": (
        broken(symmetries=property(lambda self: 2), transform=merges),
        r"transform\(observation, actions, 1\), env 0: expected 1 at \[1\], got 0; likely two actions move to",
    ),
    "infos": (
        broken_sealed(infos=swaps_for_all),
        rf"infos\(state, 0\) {_MIXED}score of env .*; likely state.scores of env 0 is used for all envs",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_named(name: str) -> None:
    game, message = BROKEN[name]
    with pytest.raises(ValueError, match=rf"^{game.id}: .*{message}"):
        check_game(game)


def moves_what_it_makes(self: Race, state: RaceState, player: Tensor | int) -> Tensor:
    zeros = torch.zeros(5, dtype=torch.float32).to(state.device)
    order = torch.arange(5)  # an index may lie on the CPU
    return (Race.observe(self, state, player) + zeros)[:, order] * torch.tensor(1)


def test_tensors_that_are_moved_to_the_device_are_no_mistake() -> None:
    check_game(broken(observe=moves_what_it_makes))
