"""Rounds, masks and free spaces in native code, by `envs/native/sources/grid_adaptation.cpp`, and single matches.

Their reference is the torch code of `matches` and `legality`, which runs on other devices and without the library.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.solo import NativeSolo
from cellgames.envs.core.state import copied, innermost
from cellgames.envs.core.vector import Transition
from cellgames.envs.native import Library, library, pointer
from cellgames.envs.native.native_library import threads
from cellgames.utils.errors import InputError

from . import legality, matches, rules
from .state import BOARDS, COMPONENTS, LARGEST, G, GridState, num_planes

if TYPE_CHECKING:
    from .game import GridAdaptation

_MATCHES_A_THREAD = 256  # starting a thread takes as long as some dozens of matches
_FIELDS = tuple(GridState.__dataclass_fields__)
_WEIGHTS = np.array((1, *rules.DIGITS), np.int8)  # of the boards, less 1


@matches.step.native
def _native_step(native: Library, game: GridAdaptation, state: G, actions: Tensor) -> G:
    """Return `matches.step`."""
    if not known(game, state) or actions.shape != (*state.rewards.shape, len(COMPONENTS)):
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    after = state.replace(**{name: copied(getattr(state, name)) for name in _FIELDS})
    play(game, after, actions, False, False)
    return after


@dataclass(frozen=True)
class Step:
    """The step of a `Vector`: a round or the vote, and new matches where one ends. It makes no masks."""

    game: GridAdaptation

    def __call__(self, state: GridState, mask: Tensor | None, given: Tensor, random: bool) -> Transition:
        """Play a step; see `NativeStep`."""
        return play(self.game, state, given, random, True)

    def bound(
        self, state: GridState, mask: Tensor, given: Tensor, results: Sequence[Tensor], talk: Sequence[Tensor] = ()
    ) -> Callable[[], object]:
        """Return the call of a step and of the mask after it in the memory of a single match; it is not renewed."""
        native, function = _function(state, talk)
        head, memory = call(self.game, 1), addresses(fields(state))
        rewards, flags = results[1].data_ptr(), torch.empty(2, dtype=torch.bool, device="cpu")  # no end has to be told
        moves = (given.data_ptr(), given.numel(), 1, None, rewards, flags.data_ptr(), flags.data_ptr() + 1)
        step = partial(function, *head, False, memory, *moves, *(x.data_ptr() for x in talk))
        legal = partial(native.cellgames_grid_adaptation_legal, *head, memory, mask.data_ptr(), None)
        return lambda: (step(), legal(), flags, talk)


@legality.mask.native
def _native_mask(native: Library, game: GridAdaptation, state: GridState, out: Tensor | None = None) -> Tensor:
    """Return `legality.mask`."""
    if not known(game, state) or (out is not None and not out.is_contiguous()):
        return NotImplemented  # type: ignore[no-any-return]
    if out is None:
        out = torch.empty((len(state), game.players, game.info.num_actions), dtype=torch.bool, device=state.device)
    inner = [x if len(x) == 1 and x.is_contiguous() else innermost(x) for x in fields(state)]
    arguments = call(game, len(out))
    native.cellgames_grid_adaptation_legal(*arguments, addresses(inner), pointer(out, torch.bool), None)
    return out


@legality.free_spaces.native
def _native_free_spaces(native: Library, game: GridAdaptation, state: GridState) -> Tensor:
    """Return `legality.free_spaces`."""
    if not known(game, state):
        return NotImplemented  # type: ignore[no-any-return]
    inner = list(map(innermost, fields(state)))
    free = torch.empty((len(state), game.spaces), dtype=torch.bool, device=state.device)
    arguments = (addresses(inner), None, pointer(free, torch.bool))
    native.cellgames_grid_adaptation_legal(*call(game, len(free)), *arguments)
    return free


def _function(state: GridState, talk: Sequence[Tensor]) -> tuple[Library, Callable[..., object]]:
    """Return the library and its function for a step, with talk or without."""
    native = library(state.device)
    assert native is not None
    return native, native.cellgames_grid_adaptation_talk_step if talk else native.cellgames_grid_adaptation_step


def play(
    game: GridAdaptation, state: GridState, given: Tensor, random: bool, renew: bool, talk: Sequence[Tensor] = ()
) -> Transition:
    """Play a step in native code; the results share no memory with the state, which is overwritten.

    Given are actions or, if `random`, bits of which they are drawn, int64 [B, P, K], or the number that bits are spread
    out of, int64 [1]. With `renew` new matches begin where one ends. A game with talk gives what its step takes more in
    `talk`, and the step overwrites it. Actions of another shape raise a `ValueError`.
    """
    batch, (_, function) = len(state), _function(state, talk)
    shape, spread = (batch, *game.info.action_shape), random and given.shape == (1,)
    if given.shape != shape and not spread:
        raise InputError("actions", f"actions or random bits {list(shape)}", list(given.shape), where=game.id)
    actions = given.new_empty((*shape[1:], batch)).movedim(-1, 0) if random else given
    rewards, terminated, truncated = map(copied, (state.rewards, state.terminated, state.truncated))
    inner, words = list(map(innermost, fields(state))), [field.contiguous() for field in talk]
    rows = given if spread else given.long().flatten(1)
    function(
        *call(game, batch),
        renew,
        addresses(inner),
        rows.data_ptr(),
        *((0, 0) if spread else rows.stride()),
        pointer(actions.movedim(0, -1), torch.int64) if random else None,
        pointer(rewards.t(), torch.float32),
        pointer(terminated, torch.bool),
        pointer(truncated, torch.bool),
        *(field.data_ptr() for field in words),
    )
    written = [*(field.movedim(-1, 0) for field in inner), *words]
    for field, new in zip([*fields(state), *talk], written, strict=True):
        if field.data_ptr() != new.data_ptr():
            field.copy_(new)
    return Transition(actions, rewards, terminated, truncated)


def call(game: GridAdaptation, batch: int) -> tuple[object, int, int, int]:
    """Return the first arguments of native functions: the rules, the length of that list, matches and threads."""
    given = _for_native(game)
    return given, len(given), batch, threads(batch, _MATCHES_A_THREAD)


@lru_cache
def _for_native(game: GridAdaptation) -> ctypes.Array[ctypes.c_int64]:
    flips = sorted({number for number in game.flip_rounds if number <= game.rounds})
    scheme = ("score", "outcome", "public").index(game.reward_scheme)
    kinds = (game.size, game.players, game.rounds, game.first_tiles, game.starting_garnets, game.reserves, scheme)
    value = torch.tensor(game.garnet_value, dtype=torch.float32, device="cpu")
    numbers = (*kinds, int(value.view(torch.int32)), *flips)
    return (ctypes.c_int64 * len(numbers))(*numbers)


@lru_cache
def _kinds(game: GridAdaptation) -> list[tuple[tuple[int, ...], torch.dtype]]:
    """Return shapes, without the batch, and dtypes of the fields."""
    state = game.init(torch.zeros(1, dtype=torch.int64, device="cpu"))
    return [(tuple(field.shape[1:]), field.dtype) for field in fields(state)]


def known(game: GridAdaptation, state: GridState) -> bool:
    """Return True if the fields are those of such a game; else the torch code says what is wrong."""
    batch = len(state)
    return all(
        field.shape == (batch, *shape) and field.dtype == dtype
        for field, (shape, dtype) in zip(fields(state), _kinds(game), strict=True)
    )


def fields(state: GridState) -> list[Tensor]:
    """Return the fields that native code takes; a state may have more behind them."""
    return [getattr(state, name) for name in _FIELDS]


def addresses(inner: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of fields whose matches lie next to each other, on the CPU."""
    return (ctypes.c_void_p * len(inner))(*(field.data_ptr() for field in inner))


def numbers_seen(game: GridAdaptation, own: dict[str, Any], over: npt.NDArray[np.bool_]) -> npt.NDArray[np.int16]:
    """Return the numbers that each player knows, [B, P, M], in the order of planes behind the boards.

    Args:
        game: the rules.
        own: the fields of a `GridState` as arrays.
        over: bool [B], the matches that have ended.
    """
    number, scores = own["round"], own["scores"]
    rows = np.zeros((*scores.shape, num_planes(game.players) - BOARDS), np.int64)
    told = over | (number > game.rounds)
    voting = told ^ over
    rows[..., :3] = own["sequence"][..., None] & _WEIGHTS[1:] != 0
    for place, held in enumerate((own["reserves"], own["garnets"], rules.price(own["bought"]), scores), 3):
        rows[..., place] = held
    flips = sum(number == flip for flip in game.flip_rounds) * ~told
    for place, known in enumerate((number, flips, voting), 7):
        rows[..., place] = known[:, None]
    rows[..., 10:18] = own["public"][:, None]
    if told.any():
        knows = (voting[:, None] & (own["tokens"] > 0) & own["tied"].any(1)[:, None]) | over[:, None]
        rows[..., 18:] = knows[..., None] * np.concatenate((scores, own["tied"]), 1)[:, None]
    return np.minimum(rows, LARGEST).astype(np.int16)


class GridSolo(NativeSolo):
    """One match of Grid Adaptation; the planes that all players see are made when one is asked for."""

    _game: GridAdaptation

    @override
    def _share(self) -> None:
        super()._share()
        self._own: dict[str, Any] = dict(zip(vars(self._state), self._fields, strict=True))
        self._seen = np.empty(self._game.base.info.observation.shape, np.int16)

    @override
    def _look(self) -> None:
        super()._look()
        self._over, self._fresh = self.terminated or self.truncated, False

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        if not self._fresh:
            self._fresh = True
            self._count()
            self._seen[:BOARDS] = self._cells()
            self._seen[BOARDS:] = self._rows[0, :, None, None]
        seen: npt.NDArray[np.int16] = self._seen.copy()
        for part in (slice(7), slice(18, None))[: 1 + self._told]:  # what not all know
            seen[BOARDS:][part] = self._rows[player, part, None, None]
        return seen

    def _count(self) -> None:
        """Write the numbers that each player knows: `numbers_seen` of one match, in half the time."""
        own, number = self._own, int(self._own["round"][0])
        rows = np.zeros((self._game.players, len(self._seen) - BOARDS), np.int64)
        voting, flips = number > self._game.rounds, number in self._game.flip_rounds
        rows[:, :3] = own["sequence"][0, :, None] & _WEIGHTS[1:] != 0
        rows[:, 3:7] = np.concatenate((own["reserves"], own["garnets"], rules.price(own["bought"]), own["scores"])).T
        rows[:, 7:10] = number, flips and not voting and not self._over, voting and not self._over
        rows[:, 10:18] = own["public"]
        self._told = voting or self._over
        if self._told:
            knows = (own["tokens"][0] > 0) & own["tied"].any() | self._over
            rows[:, 18:] = knows[:, None] * np.concatenate((own["scores"], own["tied"]), 1)
        self._rows: npt.NDArray[np.int16] = np.minimum(rows, LARGEST).astype(np.int16)

    def _cells(self) -> npt.NDArray[np.uint8]:
        """Return the boards as cells [4, H, W], 0 or 1."""
        grid, planes = self._game.grid, self._own["planes"][0]
        bits = np.unpackbits(planes.view(np.uint8), bitorder="little").reshape(*planes.shape, -1)
        used = bits[..., : grid.rows_a_word * grid.stride]
        return used.reshape(len(planes), -1, grid.stride)[:, : grid.rows, : grid.cols]

    @override
    def board(self) -> np.ndarray:
        return np.asarray((self._cells().view(np.int8) * _WEIGHTS[:, None, None]).sum(0, np.int8) - np.int8(1))

    @override
    def infos(self, player: int) -> dict[str, Any]:
        own, unknown = self._own, [-1] * self._game.players
        ends = {"points": list(map(int, self.scores)), "tokens": own["tokens"][0], "final_garnets": own["garnets"][0]}
        return {
            "score": self.scores[player],
            **{name: int(own[name][0, player]) for name in ("sequence", "reserves", "garnets")},
            **{name: list(map(int, value)) if self._over else unknown[:] for name, value in ends.items()},
            "candidate": int(own["candidate"][0]) if self._over else -1,
        }
