"""Games, opponents and learners for tests of adapters, and what a learner gets by the core's single steps."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from every_game import QUICK, play, smaller
from slow import slow_except
from torch import Tensor
from toy_games import TOYS

import cellgames
from cellgames.envs.adapters.seats import SeatVector
from cellgames.envs.core import Game, State, chance, seeds

_CUP: dict[str, Any] = {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 2, "max_generations": 12, "teams": 3}
_BRIEF: dict[str, dict[str, Any]] = {**QUICK, "torus-small-v0": {"size": 2}, "toroidal-cup-small-v0": _CUP}
REGISTERED: dict[str, Game] = {id: cellgames.make(id, **_BRIEF.get(id, {})) for id in smaller(cellgames.games())}
GAMES: dict[str, Game] = {**REGISTERED, **{toy.id: toy for toy in TOYS}}
"""A small one of each registered game, short enough to play many of them, and the toys, by their ids."""

_DIFFERENT = ("torus-small-v0", "cloth-of-gold-small-v0", "grid-adaptation-small-v0", "toroidal-cup-small-v0")


def differs(id: str) -> bool:
    """Return True if the game has turns, secrets or actions unlike those of the games before it."""
    return id in _DIFFERENT or id.startswith("toy-")


def of_each(games: dict[str, Game]) -> pytest.MarkDecorator:
    """Return the mark of a test of each game; adapters see little of rules, so those that are like others are slow."""
    return pytest.mark.parametrize("game", slow_except(list(filter(differs, games)), games.values(), games))


every_game = of_each(GAMES)


def same(one: Any, two: Any) -> bool:
    """Return True if nested containers, states, records, arrays and tensors agree in content and dtype."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(two) and all(same(getattr(one, name), getattr(two, name)) for name in names)
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == two.shape and same(list(one), list(two))
        return bool(one.dtype == two.dtype) and np.array_equal(one, two)
    return bool(one == two)


def shown(game: Game, state: State) -> list[str]:
    """Return the line of each game."""
    return [game.state_to_string(state[env_id]) for env_id in range(len(state))]


def lines_of(game: Game) -> list[str]:
    """Return positions in the middle of games that go on, at least one."""
    state = play(game, game.init(seeds(1, 6)), max(1, game.info.max_turns // 3))
    return shown(game, state[~state.done])


def nth_legal(game: Game, mask: Tensor, number: int) -> Tensor:
    """A legal action of one player, int64 [] or [K], out of its mask, bool [A]."""
    chosen = []
    for component, part in enumerate(mask.split(list(game.info.action_nvec))):
        can = part.nonzero().flatten()
        chosen.append(can[(number * 31 + component * 7) % len(can)])
    return chosen[0] if len(chosen) == 1 else torch.stack(chosen)


def legal_of(game: Game, state: Any, env_id: int, player: int) -> Tensor:
    """Bool [A]."""
    mask = game.legal_actions(state)[env_id]
    return mask[player] if game.info.simultaneous else mask


class Habit:
    """Plays by how often it has been asked in this game; watches that it is asked about its own games only.

    A memory of another env, or of an env's last game, would make it play something else.
    """

    def __init__(self, salt: int = 0) -> None:
        self.salt = salt
        self.asked: dict[tuple[int, int], int] = {}  # env and seat, of the games in progress
        self.started = 0

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        assert env_ids.tolist() == sorted(env_ids.tolist())
        for env_id in set(env_ids.tolist()):
            for player in range(game.info.num_players):
                self.asked.pop((env_id, player), None)
        self.asked |= dict.fromkeys(zip(env_ids.tolist(), players.tolist(), strict=True), 0)
        self.started += len(set(env_ids.tolist()))

    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        assert env_ids.tolist() == sorted(env_ids.tolist())
        rows = []
        for env_id, player in zip(env_ids.tolist(), players.tolist(), strict=True):
            assert not state.done[env_id]
            assert game.info.simultaneous or player == state.current_player[env_id]
            number = self.number(player, self.asked[env_id, player])
            rows.append(nth_legal(game, legal_of(game, state, env_id, player), number))
            self.asked[env_id, player] += 1
        return torch.stack(rows)

    def number(self, player: int, asked: int) -> int:
        return self.salt + 5 * player + asked * asked


class Learner:
    """Acts in every env by how often it has acted in this game."""

    def __init__(self, num_envs: int) -> None:
        self.acted = [0] * num_envs

    def choose(self, game: Game, masks: Any) -> Tensor:
        """Actions [B] or [B, K] by masks [B, A]."""
        pairs = zip(torch.as_tensor(masks), self.acted, strict=True)
        return torch.stack([nth_legal(game, mask, self.number(acted)) for mask, acted in pairs])

    def number(self, acted: int) -> int:
        return 3 + 2 * acted

    def note(self, done: Any) -> None:
        """Which games ended, bool [B]."""
        self.acted = [0 if ended else acted + 1 for acted, ended in zip(self.acted, done.tolist(), strict=True)]


def by_hand(game: Game, seed: int, player: int, habit: Habit, steps: int) -> list[tuple[float, bool, bool, Any]]:
    """What a learner on that seat gets for its first actions: rewards, ends, and the final states of games.

    One game after the other, a step at a time; `habit` plays all other seats.
    """
    told: list[tuple[float, bool, bool, Any]] = []
    learner, seed_of_game = Learner(1), torch.tensor([seed])
    while len(told) < steps:
        state = game.init(seed_of_game)
        asked = [0] * game.info.num_players
        earned: list[float] = []  # for each action of the learner's
        early = 0.0  # before its first one
        while not state.done:
            movers = range(game.info.num_players) if game.info.simultaneous else [int(state.current_player)]
            actions = []
            for mover in movers:
                number = learner.number(asked[mover]) if mover == player else habit.number(mover, asked[mover])
                actions.append(nth_legal(game, legal_of(game, state, 0, mover), number))
                asked[mover] += 1
            if player in movers:
                earned.append(early)
                early = 0.0
            state = game.step(state, torch.stack(actions)[None] if game.info.simultaneous else actions[0][None])
            reward = float(state.rewards[0, player])
            if earned:
                earned[-1] += reward
            else:
                early += reward
        for place, reward in enumerate(earned):
            last = place == len(earned) - 1
            told.append(
                (reward, last and bool(state.terminated), last and bool(state.truncated), state if last else None)
            )
        seed_of_game = chance.next_seed(state.seed)
    return told[:steps]


def random_learner(vector: SeatVector, generator: torch.Generator) -> Tensor:
    """Any legal actions."""
    nvec = vector.game.info.action_nvec
    weights = torch.rand(vector.action_mask.shape, generator=generator) * vector.action_mask
    parts = [part.argmax(1) for part in weights.split(list(nvec), 1)]
    return parts[0] if len(parts) == 1 else torch.stack(parts, 1)
