"""Many games at once that start over by themselves, stepped in place.

The contract's `Game.step` gives a new state; this owns one state and overwrites it, so that a compiled step runs
through memory once. Large batches are compiled where a C++ compiler is found (on CUDA, always), small ones and
machines without a compiler run eagerly; the results are the same. Adapters and trainers stand on this.
"""

from __future__ import annotations

import dataclasses
import math
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic

import torch
from torch import Tensor

from cellgames.envs.kernels.compiling import ENDLESS, Compile, check_compile, compiler_found, is_compile_error, planned

from .chance import next_seed, seeds
from .sampling import random_bits
from .state import S, State, choose_envs

if TYPE_CHECKING:
    from .game import Game

__all__ = ["Transition", "Vector"]

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
AUTO_NUM_ENVS = 1024  # fewer envs are not worth seconds of compiling unless asked for


@dataclass(frozen=True)
class Transition:
    """The result of one step. The tensors are overwritten by the next step; clone what should last.

    Attributes:
        actions: int64, [B] (or [B, P], [B, P, K]), what was played.
        rewards: [B, P] float32.
        terminated: [B] bool, the game ended by the rules in this step, and a new one stands in the env.
        truncated: [B] bool, the same for limits.
    """

    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor


class Vector(Generic[S]):
    """A batch of games of one kind that is stepped in place.

    Args:
        game: the rules.
        num_envs: `B`, how many games.
        seed: from which the envs' seeds are spread; an env's next game takes `chance.next_seed` of the last.
        device: where the games live.
        compile: "auto" compiles from 1,024 envs on if a compiler is found and the game's step can be compiled
            (`Game.compilation`), "always" and "never" as they say.

    Attributes:
        compiled: whether steps run compiled.
    """

    def __init__(
        self,
        game: Game[S],
        num_envs: int,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        compile: Compile = "auto",
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"{game.id}: expected at least 1 env, got {num_envs}")
        check_compile(compile)
        if compile == "always" and game.compilation == "none":
            raise ValueError(
                f"{game.id}: expected compile='auto' or 'never', got 'always'; "
                "a step of this game depends on the data, so that it is no graph for the compiler"
            )
        self.game = game
        self.num_envs = num_envs
        self._state = game.init(seeds(seed, num_envs, device)).clone()
        self.compiled = compile == "always" or (
            compile == "auto"
            and game.compilation != "none"
            and num_envs >= AUTO_NUM_ENVS
            and compiler_found(self._state.device.type)
        )
        self._whole = self.compiled and game.compilation == "whole"  # else the kernels that the rules call, if at all
        eager = game.compilation == "stages" and not self.compiled
        self._plan: tuple[Compile, int] = ("never" if eager else compile, ENDLESS if self.compiled else 1)
        self._legal: Tensor | None = None  # a step compiled whole writes it, else it is made when asked for
        self._stale = False  # whether it is that of an earlier state

    @property
    def state(self) -> S:
        """The games in progress; none is over.

        Read it anew after every step: one read before may or may not have been overwritten. Clone what should last.
        """
        return self._state

    @property
    def legal_actions(self) -> Tensor:
        """The mask for `state`, bool [B, A] or [B, P, A]; read it anew after every step, as the state."""
        mask = self._legal
        if mask is None or self._stale:
            with planned(*self._plan):
                state = self._state
                mask = self.game._legal(state) if mask is None else self.game._legal_again(state, mask)
            self._legal = mask = mask.clone(memory_format=torch.contiguous_format) if self._whole else mask
            self._stale = False
        return mask

    def step(self, actions: Tensor, *, checked: bool = True) -> Transition:
        """Play one step in every env; games that end are replaced by new ones in the same call."""
        if checked:
            actions = self.game.check(self.state, actions, self.legal_actions)
        return self._run(False, actions.to(torch.int64, copy=True, memory_format=torch.contiguous_format))

    def step_random(self, generator: torch.Generator) -> Transition:
        """Play a step of uniformly random legal actions (`Game.random_actions`) in every env, as `step` does."""
        shape = (self.num_envs, *self.game.info.action_shape)
        with planned(*self._plan):
            bits = random_bits(math.prod(shape), generator, self.state.device)
        return self._run(True, bits.view(*shape[1:], self.num_envs).movedim(-1, 0))  # envs innermost, as the state's

    def _run(self, random: bool, given: Tensor) -> Transition:
        if not self._whole:
            with planned(*self._plan):
                self._state, transition = _by_parts(self.game, self.state, random, given)
            self._stale = True
            return transition
        function = _compiled(self.game, self.num_envs, self.state.device, random)
        try:
            actions, rewards, *ends = function(self.state.tensors(), self.legal_actions.view(torch.uint8), given)
            return Transition(actions, rewards, *(end.view(torch.bool) for end in ends))
        except Exception as error:
            if self._plan[0] != "auto" or not is_compile_error(error):
                raise
            warnings.warn(f"{self.game.id}: compiling failed, stepping eagerly: {error}", stacklevel=3)
            self.compiled = self._whole = False
            return self._run(random, given)

    def __repr__(self) -> str:
        how = "compiled" if self.compiled else "eager"
        return f"Vector({self.game!r}, {self.num_envs} envs on {self.state.device}, {how})"

    def _repr_html_(self) -> str:
        """Return the first games as SVG, for notebooks."""
        return self.game.draw_batch(self.state)._repr_html_()


def _actions(game: Game[S], state: S, random: bool, given: Tensor) -> Tensor:
    return game.random_actions(state, given) if random else given


def _by_parts(game: Game[S], state: S, random: bool, given: Tensor) -> tuple[S, Transition]:
    """Play a step by the contract's hooks; only the envs that ended start over."""
    actions = _actions(game, state, random, given)
    after = game._step(state, actions)
    done = after.done
    transition = Transition(actions, after.rewards, after.terminated, after.truncated)
    if done.any():
        # The state's fields are ours to overwrite, but not the transition's, nor what a game took over from it.
        ours = {field.untyped_storage().data_ptr() for field in after.tensors()}
        tensors = (getattr(transition, field.name) for field in dataclasses.fields(Transition))
        transition = Transition(*(x.clone() if x.untyped_storage().data_ptr() in ours else x for x in tensors))
        after = game._restart(after, done)
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
        actions = _actions(game, state, random, given)
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
