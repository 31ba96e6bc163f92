"""Games of other libraries on the contract of the suite, so that agents, tournaments and replays take them.

A position is the seed and the actions since the start. The live games of the library are kept by positions; one that
is gone is played again from its start.

Letters: `B` games, `P` players, `A` actions, `T` the most steps.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.drawing import Bitmap, Picture, Rectangle, Text
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, LOSS, WIN, GameInfo, Space
from cellgames.envs.core.inputs import check_int
from cellgames.envs.core.state import State
from cellgames.utils.errors import InputError, shown

from .simulators import Simulator, simulator

_KEPT = 4096  # live games
_WIDEST, _MOST_LINES = 120, 60  # of a text that is drawn
_LONGEST = 480  # side of a picture
_SEED = 20_261_127  # of the games that are played once to see whether a seed decides them


@dataclass(frozen=True, eq=False)
class ForeignState(State):
    """The state of a batch of games of another library.

    Attributes:
        began: [B] int64, the seed that the library's game began with, which a position keeps; 0 without chance.
        key: [B] int64, a name of the position: that seed and actions so far.
        actions: [B, T] or, where all act at once, [B, T, P] int32, the actions so far, -1 for those to come.
    """

    began: Tensor
    key: Tensor
    actions: Tensor


@dataclass(frozen=True)
class ForeignGame(Game[ForeignState]):
    """A game of another library, see `simulators`; `registry.import_games` makes a class of each.

    Attributes:
        max_turns: steps after which a game is cut off.
        perfect_information: True if every player sees the whole position, so that searches may play it; None for what
            the library says.
    """

    max_turns: int = 1000
    perfect_information: bool | None = None

    id: ClassVar[str] = "foreign-v0"
    compiles: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_int(self, "max_turns", 1, 100_000)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.id, self.parameters)  # live games stay behind

    @cached_property
    def _first(self) -> Simulator:
        """A game that has just begun."""
        return self._begun(_SEED)

    def _begun(self, seed: int, drawn: bool = False) -> Simulator:
        """Return a new game of a seed; `drawn` is that of `simulator`."""
        game = simulator(self.id, drawn)
        game.reset(seed)
        return game

    @cached_property
    def _live(self) -> OrderedDict[int, Simulator]:
        return OrderedDict()

    @cached_property
    def repeats(self) -> bool:
        """True if seed and actions decide a game, so that its record replays: found by playing one twice."""
        one, other = self._begun(_SEED), self._begun(_SEED)
        rng = np.random.default_rng(_SEED)
        for _ in range(min(self.max_turns, 200)):
            seats = range(len(one.players)) if one.simultaneous else [one.mover]
            if any(one.ends) or one.mover != other.mover or not all(_same(one, other, seat) for seat in seats):
                break
            actions = [int(rng.choice(one.legal(seat).nonzero()[0])) for seat in seats]
            one.step(actions)
            other.step(actions)
        return one.mover == other.mover and all(_same(one, other, seat) for seat in range(len(one.players)))

    @cached_property
    @override
    def info(self) -> GameInfo:
        first = self._first
        seen = torch.from_numpy(np.ascontiguousarray(first.observe(first.mover)))
        space = Space(tuple(seen.shape), seen.dtype, *_bounds(seen.dtype))
        return GameInfo(
            id=self.id,
            title=first.title,
            credit=f"{first.title}, from {self.id.partition(':')[0]}",
            players=first.players,
            simultaneous=first.simultaneous,
            perfect_information=first.perfect if self.perfect_information is None else self.perfect_information,
            stochastic=first.stochastic,
            zero_sum=False,
            max_turns=self.max_turns,
            reward_range=(-float("inf"), float("inf")),
            action_nvec=(first.actions,),
            observation=space,
            board=space,
        )

    @override
    def _init(self, seeds: Tensor) -> ForeignState:
        first, batch = self._first, len(seeds)
        shape = (batch, self.max_turns, *(len(first.players),) * first.simultaneous)
        state = ForeignState.new(
            seeds,
            len(first.players),
            began=seeds * first.stochastic,
            key=torch.tensor(
                [_named(seed * first.stochastic) for seed in seeds.tolist()], dtype=torch.int64, device=seeds.device
            ),
            actions=torch.full(shape, -1, dtype=torch.int32, device=seeds.device),
        )
        movers = [self._at(state, row, key).mover for row, key in enumerate(state.key.tolist())]
        return state.replace(current_player=torch.tensor(movers, dtype=torch.int64, device=seeds.device))

    @override
    def _step(self, state: ForeignState, actions: Tensor) -> ForeignState:
        keys, movers, scores = state.key.tolist(), [0] * len(state), state.scores.tolist()
        ends = torch.stack((state.terminated, state.truncated), 1).tolist()
        given = actions.view(len(state), -1).tolist()
        for row, over in enumerate(ends):
            if any(over):
                continue
            game = self._at(state, row, keys[row])
            twin = game.copy()
            if twin is None:
                del self._live[keys[row]]
            game = game if twin is None else twin
            game.step(given[row])
            keys[row] = _named(keys[row], *given[row])
            self._keep(keys[row], game)
            scores[row], ends[row] = game.scores, game.ends
            movers[row] = 0 if any(game.ends) else game.mover
        device, turn, rows = state.device, state.turn + 1, torch.arange(len(state), device=state.device)
        played, after = state.actions.clone(), torch.tensor(scores, dtype=torch.float32, device=device)
        played[rows, state.turn.long().clamp(max=self.max_turns - 1)] = actions.int()
        terminated, cut = torch.tensor(ends, dtype=torch.bool, device=device).view(-1, 2).unbind(1)
        return state.replace(
            turn=turn,
            current_player=torch.tensor(movers, device=device),
            rewards=after - state.scores,
            scores=after.view_as(state.scores),
            terminated=terminated.clone(),
            truncated=cut | (~terminated & (turn >= self.max_turns)),
            key=torch.tensor(keys, device=device),
            actions=played,
        )

    def _at(self, state: ForeignState, row: int, key: int) -> Simulator:
        """Return the live game of a row, whose position is `key`; one that is not kept is played again."""
        game = self._live.get(key)
        if game is None:
            seed, played = self._course(state, row)
            game = self._begun(seed)
            for given in played:
                game.step(given)
            self._keep(key, game)
        return game

    @cached_property
    def _shown(self) -> list[Any]:
        """The seed, the actions and the game of the position that was drawn last; empty before."""
        return []

    def _drawn(self, state: ForeignState) -> Simulator:
        """Return a game that can be drawn at the first position; it goes on from the one before, as in films."""
        began, played = self._course(state, 0)
        seed, before, game = self._shown or (None, [], self._first)
        if seed != began or played[: len(before)] != before:
            game, before = self._begun(began, drawn=True), []
        for given in played[len(before) :]:
            game.step(given)
        self._shown[:] = began, played, game
        return game

    def _course(self, state: ForeignState, row: int) -> tuple[int, list[list[int]]]:
        """Return the seed of a game, and the actions of each step so far."""
        return int(state.began[row]), state.actions[row].view(self.max_turns, -1)[: int(state.turn[row])].tolist()

    def _keep(self, key: int, game: Simulator) -> None:
        self._live[key] = game
        while len(self._live) > _KEPT:
            self._live.popitem(last=False)

    @override
    def _legal(self, state: ForeignState) -> Tensor:
        first = self._first
        seats = range(len(first.players)) if first.simultaneous else [0]
        mask = np.ones((len(state), len(seats), first.actions), np.bool_)
        for row, (key, done) in enumerate(zip(state.key.tolist(), state.done.tolist(), strict=True)):
            if not done:
                game = self._at(state, row, key)
                for place in seats:
                    mask[row, place] = game.legal(place if first.simultaneous else game.mover)
        legal = torch.from_numpy(mask).to(state.device)
        return legal if first.simultaneous else legal[:, 0]

    @override
    def observe(self, state: ForeignState, player: Tensor | int) -> Tensor:
        """Return the library's own observations, without masks: [B, ...]."""
        seats = torch.as_tensor(player).expand(len(state)).tolist()
        space = self.info.observation
        seen = torch.zeros((len(state), *space.shape), dtype=space.dtype)
        for row, (key, seat) in enumerate(zip(state.key.tolist(), seats, strict=True)):
            seen[row] = torch.from_numpy(np.ascontiguousarray(self._at(state, row, key).observe(seat)))
        return seen.to(state.device)

    @override
    def board(self, state: ForeignState) -> Tensor:
        """Return the observations of the first player, since libraries know no others."""
        return self.observe(state, 0)

    @override
    def outcome(self, state: ForeignState) -> Tensor:
        """Return that the player with the most points has won; several who share them have a draw, the others lose."""
        best = state.scores == state.scores.amax(1, keepdim=True)
        shared = best.sum(1, keepdim=True) > 1
        result = torch.where(best, torch.where(shared, DRAW, WIN), LOSS)
        return torch.where(state.done[:, None], result, 0).to(torch.int8)

    @override
    def summary(self, state: ForeignState) -> dict[str, Any]:
        """Return that seed and actions do not decide the game, if it is so."""
        return {} if self.repeats else {"repeats": False}

    @override
    def state_to_string(self, state: ForeignState) -> str:
        """Return the seed and the actions since the start, as JSON."""
        played = state.actions[0, : int(state.turn[0])].tolist()
        return json.dumps([int(state.began[0]), *played], separators=(",", ":"))

    @override
    def string_to_state(self, text: str, seed: int = 0) -> ForeignState:
        """Return the position of a line by `state_to_string`, whose own seed decides."""
        try:
            first, *actions = json.loads(text)
            state = self.init(torch.tensor([first], dtype=torch.int64))
            for action in actions:
                state = self.step(state, torch.tensor([action]))
        except (ValueError, TypeError, RuntimeError):
            raise InputError(
                "position", "a seed and legal actions such as [0,3,1]", shown(text), where=self.id
            ) from None
        return state

    @override
    def text(self, state: ForeignState) -> str:
        """Return the library's own text of the first game, or its observation."""
        return self._drawn(state).text().rstrip() or super().text(state)

    @override
    def draw(self, state: ForeignState) -> Picture:
        """Return the library's own picture of the first game, or its text as a drawing."""
        if (pixels := self._drawn(state).picture()) is not None:
            (rows, cols), scale = pixels.shape[:2], min(1.0, _LONGEST / max(pixels.shape))
            image = Bitmap(0, 0, cols * scale, rows * scale, cols, rows, pixels.tobytes())
            return Picture(image.width, image.height, None, (image,), self.info.title)
        lines = [line[:_WIDEST] for line in self.text(state).splitlines()[:_MOST_LINES]]
        width, height = 16 + 9 * max(map(len, lines), default=1), 16 + 18 * len(lines)
        letters = (
            Text(12.5 + 9 * x, 22 + 18 * y, letter, 14, anchor="middle")
            for y, line in enumerate(lines)
            for x, letter in enumerate(line)
            if letter != " "
        )
        return Picture(width, height, "#ffffff", (Rectangle(0, 0, width, height, "#ffffff"), *letters), self.info.title)


def _named(key: int, *actions: int) -> int:
    """Return a name of the position after actions, a number below 2^62."""
    data = np.array([key, *actions], np.int64).tobytes()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") >> 2


def _same(one: Simulator, other: Simulator, seat: int) -> bool:
    seen = np.array_equal(one.observe(seat), other.observe(seat), equal_nan=False)
    return seen and bool((one.legal(seat) == other.legal(seat)).all())


def _bounds(dtype: torch.dtype) -> Sequence[float]:
    """Return the least and the largest number of a dtype."""
    if dtype.is_floating_point:
        return -float("inf"), float("inf")
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


@cache
def foreign_class(name: str) -> type[ForeignGame]:
    """Return the class of games with a name, by which records have it."""
    made = type("ForeignGame", (ForeignGame,), {"id": name, "__doc__": f"The game {name}."})
    return dataclass(frozen=True)(made)


def _unpickled(name: str, parameters: dict[str, Any]) -> ForeignGame:
    return foreign_class(name)(**parameters)
