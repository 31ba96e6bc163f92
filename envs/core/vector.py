"""Many games at once that start over by themselves, and the positions from which games start.

The contract's `Game.step` gives a new state; `Vector` owns one state and overwrites it, so that a step runs through
memory once. Callers get copies. A game may have a step in native code, which runs wherever the library is built. Else
large batches are compiled where a C++ compiler is found (on CUDA, always), small ones and machines without a compiler
run eagerly. The results are the same.
"""

from __future__ import annotations

import dataclasses
import math
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, get_args

import torch
from torch import Tensor

from cellgames.envs.native.operators import Compile, compiler_found, is_compile_error
from cellgames.utils.errors import InputError, check_one_of, shown

from .chance import MANY, draw, envs_innermost, next_seed, random_bits, random_root, seeds, spread, uniform_int
from .state import S, State, choose_envs

if TYPE_CHECKING:
    from .game import Game

Backend = Literal["native", "compiled", "eager"]
"""The code that a `Vector` steps by: native code, compiled torch code, or torch code as it is."""

Given: TypeAlias = State | str | Sequence[str]
Sampler: TypeAlias = Callable[[int, torch.Generator], Given]
Positions: TypeAlias = Given | Sampler
"""Positions from which games start: a state, one or more lines as `game.state_to_string` writes them, or a sampler.

Each new game draws one of the given positions by its seed. A sampler is called with the number of games that start and
a generator on the CPU; it returns this number of positions.
"""

_CHOICE, _SAMPLER = 5, 6  # streams of a game's seed, below those of the games (`chance.USER`) and beside the adapters'

# For the compiled step. Indices come from tables and checked actions, and asserting them costs as much as the
# gathers. Without the second option, chains of small operations whose results are used twice take minutes to
# trace. A compiled step sees only the tensors that a `Vector` of its game, envs and device owns or makes, so the
# guards, a tenth of a step at a few thousand envs, have nothing to tell.
_OPTIONS: dict[str, Any] = {
    "assert_indirect_indexing": False,
    "realize_opcount_threshold": 20,
    "guard_filter_fn": lambda guards: [False] * len(guards),
}
_ENDS = ("terminated", "truncated")
MOST_ENVS = 1 << 30  # whose seeds alone fill 8 GiB
AUTO_NUM_ENVS = 1024  # fewer envs are not worth seconds of compiling unless asked for


@dataclass(frozen=True)
class Transition:
    """The result of one step.

    Attributes:
        actions: int64, [B] (or [B, P], [B, P, K]), the played actions.
        rewards: [B, P] float32.
        terminated: [B] bool, the game ended by the rules in this step, and a new one stands in the env.
        truncated: [B] bool, the same for limits.
    """

    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor

    @property
    def done(self) -> Tensor:
        """[B] bool, terminated or truncated: a new game stands in the env."""
        return self.terminated | self.truncated


NativeStep: TypeAlias = Callable[[S, Tensor | None, Tensor, bool], Transition]
"""A step in native code of a batch of games, none of which is over; those that end are replaced by new ones.

It takes the state and the mask of legal actions, both of which it overwrites, and int64 [B, ...]: actions, which it
returns; or bits for `Game.random_actions`, if the last argument is True. Instead of many bits it takes the number that
they are spread out of, int64 [1], if `Game._native_spreads`. The mask is None unless `Game._native_mask`. The results
equal those of `Game._step` and `Game._restart` in every bit, and share no memory with the state. One that has a method
`bound`, as `native_step.InPlace`, steps single games, too.
"""


class Starts(Generic[S]):
    """The games that start in the envs of a batch: as the rules say, or from given positions.

    Args:
        game: the rules.
        positions: positions from which games start; None for the start of the game.

    Attributes:
        generator: the sampler's, on the CPU.
    """

    def __init__(self, game: Game[S], positions: Positions | None = None) -> None:
        self.game = game
        self.generator = torch.Generator()
        self.set(positions)

    def set(self, positions: Positions | None) -> None:
        """Set the positions of games that start from now on.

        Raises:
            InputError: no position, one of another game, or one where the game is over.
        """
        self.positions: S | Sampler | None
        if positions is None or isinstance(positions, State | Sequence) or not callable(positions):
            self.positions = None if positions is None else to_positions(self.game, positions)
        else:
            self.positions = positions

    def seed(self, seeds: Tensor) -> None:
        """Seed the sampler's generator by the first of the envs' seeds, int64 [B]."""
        self.generator.manual_seed(int(draw(seeds[0], _SAMPLER, torch.zeros_like(seeds[0]))))

    def new(self, seeds: Tensor) -> S:
        """Return new games of these seeds, int64 [B]; they share no memory with anything."""
        state = self.game.init(seeds).clone()
        return self.place(state, torch.ones_like(state.done))

    def restart(self, state: S, done: Tensor) -> S:
        """Return the games with new ones, of the seeds that follow, where `done`, bool [B]; may overwrite `state`."""
        return self.place(self.game._restart(state, done), done)

    def place(self, state: S, fresh: Tensor) -> S:
        """Return the games with positions in those that have just started, bool [B]; `state` stays as it is."""
        if self.positions is None:
            return state
        env_ids = fresh.nonzero().squeeze(1)
        if isinstance(self.positions, State):
            seeds, positions = state.seed[env_ids], self.positions.to(state.device)
            self.positions = positions  # moved once
            drawn = positions[uniform_int(draw(seeds, _CHOICE, torch.zeros_like(seeds)), len(positions))]
        else:
            drawn = to_positions(self.game, self.positions(len(env_ids), self.generator))
            if len(drawn) != len(env_ids):
                raise InputError(
                    "positions", f"{len(env_ids)} positions of the sampler", len(drawn), where=self.game.id
                )
        return put_positions(state, env_ids, drawn)


def put_positions(state: S, env_ids: Tensor, positions: S) -> S:
    """Return `state` with positions in these envs, int64 [N]; its seeds, and the layout of its memory, stay."""
    games, before = positions.to(state.device), state[env_ids]
    return state.put(env_ids, games.replace(seed=before.seed, rewards=torch.zeros_like(before.rewards)))


def to_positions(game: Game[S], positions: Given) -> S:
    """Return positions as one batch of games that go on.

    Raises:
        InputError: no position, one of another game, or one where the game is over.
    """
    example = game.init(torch.zeros(1, dtype=torch.int64, device="cpu"))
    lines = [positions] if isinstance(positions, str) else positions
    if isinstance(lines, State):
        state = lines
        shapes = [[field.shape[1:] for field in one.tensors()] for one in (state, example)]
        if type(state) is not type(example) or shapes[0] != shapes[1]:
            raise InputError("positions", f"games of {game!r}", state, where=game.id)
    elif isinstance(lines, Sequence) and lines and all(isinstance(line, str) for line in lines):
        state = type(example).cat([game.string_to_state(line) for line in lines])
    else:
        expected = "a position as a line of text, as game.state_to_string writes it, several of them, or a state"
        raise InputError("position", expected, shown(positions), where=game.id)
    if len(over := state.done.nonzero()):
        line = game.state_to_string(state[int(over[0])])
        raise InputError("position", "a position to play on from", f"a game that is over: {line}", where=game.id)
    return state


def positions_by_env(game: Game[S], position: Any, num_envs: int) -> tuple[Tensor, S] | None:
    """Return the envs that a `reset` from positions is about, int64 [N], and their positions; None for no env.

    A position is a line as `game.state_to_string` writes it, for all envs; or for each env a line or None.

    Raises:
        InputError: as for `to_positions`, or another number of lines.
    """
    lines = [position] * num_envs if position is None or isinstance(position, str) else position
    if not isinstance(lines, Sequence) or len(lines) != num_envs:
        expected = f"a line of text, as game.state_to_string writes it, or one for each of {num_envs} envs"
        raise InputError("position", expected, shown(position), where=game.id)
    env_ids = [env_id for env_id, line in enumerate(lines) if line is not None]
    if not env_ids:
        return None
    given: list[Any] = [lines[env_id] for env_id in env_ids]
    distinct = list(dict.fromkeys(given)) if all(isinstance(line, str) for line in given) else given
    return torch.tensor(env_ids, device="cpu"), to_positions(game, distinct)[[distinct.index(line) for line in given]]


def check_num_envs(game: Game[Any], num_envs: object) -> None:
    """Raise an `InputError` unless `num_envs` is a whole number of games that a batch can have, 1 to `MOST_ENVS`."""
    whole = isinstance(num_envs, Integral) and not isinstance(num_envs, bool)
    if not whole or not 1 <= num_envs <= MOST_ENVS:  # type: ignore[operator]  # it is a number
        raise InputError("num_envs", f"from 1 to {MOST_ENVS:,}", shown(num_envs), where=game.id)


class Vector(Generic[S]):
    """A batch of games of one kind that start over by themselves.

    What a step returns, and the state and the mask after it, are the caller's for good: later steps do not change them.

    Args:
        game: the rules.
        num_envs: `B`, how many games.
        seed: seed of which the envs' seeds are made; an env's next game takes `chance.next_seed` of the last.
        device: device of the games.
        compile: when to compile torch code, in games and on devices without a step in native code. "auto" compiles
            from 1,024 envs on if a compiler is found and the game's step can be compiled (`Game.compiles`),
            "always" and "never" as they say.
        positions: positions from which all games start; None for the start of the game. See `Positions`.
        reuse_buffers: let the next step overwrite `state` and `legal_actions`, which saves copying them. Read both
            anew after every step, and clone what should last; so with `observation`.
        observe: True for `observation` in the dtype of the game's observations, or the dtype: that, or float32.

    Attributes:
        backend: "native", "compiled" or "eager", the code that steps run by (see `Backend`).
        reuse_buffers: True if the next step overwrites `state`, `legal_actions` and `observation`.
        observe: the dtype of `observation`, None without one.

    Raises:
        ValueError: observations of that dtype cannot be made.
    """

    def __init__(
        self,
        game: Game[S],
        num_envs: int,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        compile: Compile = "auto",
        positions: Positions | None = None,
        reuse_buffers: bool = False,
        observe: torch.dtype | bool | None = None,
    ) -> None:
        check_num_envs(game, num_envs)
        check_one_of("compile", compile, get_args(Compile))
        own = game.info.observation.dtype
        if observe not in (None, False, True, torch.float32, own):
            raise InputError("observe", f"True, {own}, torch.float32 or False", shown(observe), where=game.id)
        if compile == "always" and not game.compiles:
            cause = "a step of this game depends on the data, so that it is no graph for the compiler"
            raise InputError("compile", "'auto' or 'never'", "'always'", cause, where=game.id)
        self.game = game
        self.num_envs = num_envs
        self._action_shape = (num_envs, *game.info.action_shape)
        self.reuse_buffers = reuse_buffers
        self.observe = own if observe is True else observe or None
        self._seen: Tensor | None = None  # the observation, if it is that of the present state
        self._seen_before: Tensor | None = None  # memory for the next one
        self._see: tuple[S, int, Callable[[int], object] | None] | None = None  # writes it, on so many threads
        self._starts = Starts(game, positions)
        first = seeds(seed, num_envs, device)
        self._starts.seed(first)
        self._state = self._starts.new(first)
        self._copies: dict[str, Any] = {}  # of what the next step overwrites, once asked for
        self._compile: Compile = compile
        self._choose_backend(game._native_step(first.device) is not None)
        self._legal: Tensor | None = None  # a step in place writes it, else it is made when asked for
        self._stale = False  # whether it is that of an earlier state

    def _choose_backend(self, native: bool) -> None:
        pays = self.game.compiles and self.num_envs >= AUTO_NUM_ENVS and compiler_found(self._state.device.type)
        compiled = self._compile == "always" or (self._compile == "auto" and pays)
        self.backend: Backend = "native" if native else "compiled" if compiled else "eager"
        self._in_place = native or compiled
        self._writes_mask = self.game._native_mask if native else compiled

    @property
    def state(self) -> S:
        """The games in progress; none is over."""
        state: S = self._kept("state", self._state)
        return state

    @property
    def legal_actions(self) -> Tensor:
        """The mask for `state`, bool [B, A] or [B, P, A]."""
        mask: Tensor = self._kept("mask", self._mask()) if self._writes_mask else self._mask()
        return mask

    @property
    def observation(self) -> Tensor:
        """Observations of `state`: [B, ...] of the seat to move, or [B, P, ...] of all players in simultaneous games.

        Raises:
            ValueError: the batch was made without `observe`.
        """
        if self._seen is None:
            if self.observe is None:
                got = "one without observations"
                raise InputError("observe", "a Vector with observe=True", got, where=self.game.id)
            seen = self._seen_before
            if seen is None:
                info = self.game.info
                shape = (self.num_envs, *(info.num_players,) * info.simultaneous, *info.observation.shape)
                seen = torch.empty(shape, dtype=self.observe, device=self._state.device)
            if (see := self._observer()) is None:
                self.game._observe_into(self._state, seen)
            else:
                see(seen.data_ptr())
            self._seen = seen
            self._seen_before = seen if self.reuse_buffers else None
        return self._seen

    def _observer(self) -> Callable[[int], object] | None:
        """Return native code that writes observations of the state, if there is some: `Game._native_observer`."""
        if self.backend != "native":
            return None
        assert self.observe is not None
        state, info, threads = self._state, self.game.info, torch.get_num_threads()
        if self._see is None or self._see[0] is not state or self._see[1] != threads:
            players = torch.arange(info.num_players, device=state.device).repeat(self.num_envs, 1)
            seats = players if info.simultaneous else state.current_player[:, None]
            self._see = state, threads, self.game._native_observer(state, seats, self.observe)
        return self._see[2]

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what knows addresses of this process."""
        return {**vars(self), "_see": None}

    def _kept(self, name: str, value: Any) -> Any:
        """Return the value, or one copy of it for all who ask before the next step overwrites it."""
        if self.reuse_buffers or not self._in_place:
            return value
        if name not in self._copies:
            self._copies[name] = value.clone()
        return self._copies[name]

    def _mask(self) -> Tensor:
        mask = self._legal
        if mask is None or self._stale:
            if mask is not None and self.reuse_buffers:
                mask = self.game._legal_again(self._state, mask)
            else:
                mask = self.game._legal(self._state)
            self._legal = mask = mask.clone(memory_format=torch.contiguous_format) if self._writes_mask else mask
            self._stale = False
        return mask

    def set_positions(self, positions: Positions | None) -> None:
        """Set the positions of games that start from now on; None for the start of the game."""
        self._starts.set(positions)

    def put(self, games: S) -> None:
        """Put games in progress in all envs, such as an earlier `state`; steps go on from them as they would have.

        Raises:
            InputError: games of another kind, or of a number other than that of envs.
        """
        fields = list(zip(self._state.tensors(), games.tensors(), strict=False))
        alike = all(own.shape == new.shape and own.dtype == new.dtype for own, new in fields)
        if type(games) is not type(self._state) or not alike:
            raise InputError("games", f"{self.num_envs} games of {self.game!r}", games, where=self.game.id)
        self._state = self._state.clone()  # callers keep what they have seen
        for own, new in zip(self._state.tensors(), games.tensors(), strict=True):
            own.copy_(new)
        self._copies.clear()
        self._legal, self._stale, self._seen = None, False, None

    def step(self, actions: Tensor, *, checked: bool = True) -> Transition:
        """Play one step in every env; games that end are replaced by new ones in the same call."""
        if checked:
            actions = self.game.check(self._state, actions, self._mask())
        return self._run(False, actions.to(torch.int64, copy=True, memory_format=torch.contiguous_format))

    def step_random(self, generator: torch.Generator) -> Transition:
        """Play a step of uniformly random legal actions (`Game.random_actions`) in every env, as `step` does."""
        shape, device = self._action_shape, self._state.device
        count = math.prod(shape)
        if self.backend == "native" and self.game._native_spreads and count >= MANY:
            return self._run(True, random_root(generator, device))
        return self._run(True, envs_innermost(random_bits(count, generator, device), shape))

    def _run(self, random: bool, given: Tensor) -> Transition:
        self._seen = None
        native = self.game._native_step(self._state.device) if self.backend == "native" else None
        if self.backend == "native" and native is None:  # a copy, in a process without the library
            self._choose_backend(False)
        if native is None and given.shape != self._action_shape:
            given = envs_innermost(spread(given, math.prod(self._action_shape)), self._action_shape)
        if not self._in_place:
            self._state, transition = _by_parts(self.game, self._state, self._starts, random, given)
            self._stale = True
            return transition
        self._copies.clear()
        try:
            if native is not None:
                transition = native(self._state, self._mask() if self._writes_mask else None, given, random)
            else:
                function = _compiled(self.game, self.num_envs, self._state.device, random)
                actions, rewards, *ends = function(self._state.tensors(), self._mask().view(torch.uint8), given)
                transition = Transition(actions, rewards, *(end.view(torch.bool) for end in ends))
        except Exception as error:
            if native is not None or self._compile == "always" or not is_compile_error(error):
                raise
            warnings.warn(f"{self.game.id}: compiling failed, stepping eagerly: {error}", stacklevel=3)
            self._compile = "never"
            self._choose_backend(False)
            return self._run(random, given)
        self._stale = not self._writes_mask
        if self._starts.positions is not None and len(env_ids := transition.done.nonzero().squeeze(1)):
            self._state = self._starts.place(self._state, transition.done)
            if self._writes_mask:
                self._legal = self._mask().index_put((env_ids,), self.game._legal(self._state[env_ids]))
        return transition

    def __repr__(self) -> str:
        return f"Vector({self.game!r}, {self.num_envs} envs on {self._state.device}, {self.backend})"

    def _repr_html_(self) -> str:
        """Return the first games as SVG, for notebooks."""
        return self.game.draw_batch(self.state)._repr_html_()


def _by_parts(game: Game[S], state: S, starts: Starts[S], random: bool, given: Tensor) -> tuple[S, Transition]:
    """Play a step by the contract's hooks; only the envs that ended start over."""
    actions = game.random_actions(state, given) if random else given
    after = game._step(state, actions)
    done = after.done
    transition = Transition(actions, after.rewards, after.terminated, after.truncated)
    if done.any():
        # New games overwrite what the step has made, but not what callers may keep and the game took over.
        tensors = (*state.tensors(), actions, after.rewards, after.terminated, after.truncated)
        kept = {x.untyped_storage().data_ptr() for x in tensors}
        after = starts.restart(after.map(lambda x: x.clone() if x.untyped_storage().data_ptr() in kept else x), done)
    return after, transition


@lru_cache(maxsize=64)
def _compiled(
    game: Game, num_envs: int, device: torch.device, random: bool
) -> Callable[[tuple[Tensor, ...], Tensor, Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Return one graph that overwrites the state and the mask; cached, since every shape is compiled anew."""
    kind: type[State] = type(game.init(torch.zeros(1, dtype=torch.int64, device=device)))
    names = [field.name for field in dataclasses.fields(kind)]

    def advance(fields: tuple[Tensor, ...], mask: Tensor, given: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        # No game is over between two steps, so these two fields need no reading and no writing.
        never = torch.zeros(num_envs, dtype=torch.bool, device=device)
        state = kind(*(never if name in _ENDS else field for name, field in zip(names, fields, strict=True)))
        actions = game.random_actions(state, given) if random else given
        after = game._step(state, actions)
        done = after.done
        running = after.merge(game._init(next_seed(after.seed)), lambda now, new: choose_envs(done, new, now))
        mask.copy_(_flag_bytes(game._legal(running)))
        for name, field, value in zip(names, fields, running.tensors(), strict=True):
            if name not in _ENDS:
                field.copy_(value)
        return actions, after.rewards, _flag_bytes(after.terminated), _flag_bytes(after.truncated)

    # A code object of its own: the compiler's limit of recompilations counts by code object, and each game and
    # number of envs is a function of its own here.
    function = types.FunctionType(
        advance.__code__.replace(), advance.__globals__, advance.__name__, None, advance.__closure__
    )
    return torch.compile(function, fullgraph=True, dynamic=False, options=_OPTIONS)


def _flag_bytes(flags: Tensor) -> Tensor:
    """Return bool as bytes, 0 or 1; the compiler vectorizes neither storing bools nor narrowing from 64 bits."""
    return flags.to(torch.int32).to(torch.uint8)
