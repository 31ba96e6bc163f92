"""The members that every game must have, and the checks that the core makes for all games.

Letters: `B` games (envs), `P` players, `A` actions (the sum over the action's components), `K` components of an
action.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import torch
from torch import Tensor

from cellgames.envs.kernels.actions import ActionsError, as_actions

from . import sampling
from .chance import next_seed
from .errors import IllegalActionError
from .info import Compilation, GameInfo
from .state import S, along_envs, choose_envs

if TYPE_CHECKING:
    from .vector import NativeStep

__all__ = ["BaseGame"]


class BaseGame(ABC, Generic[S]):
    """The members that a game must have, and those that follow from them. Games derive from `Game`."""

    id: ClassVar[str]

    compilation: ClassVar[Compilation] = "whole"
    """How much of a step a `Vector` can compile: see `Compilation`."""

    wraps: ClassVar[bool] = False
    """True if rows and columns of the observation, its last two axes, go on beyond the edges as on a torus."""

    added_parameters: ClassVar[frozenset[str]] = frozenset()
    """Parameters that were added to a game that has records: `parameters` omits them at their defaults.

    So records, ratings and weights of games without the addition stay as they are.
    """

    # --- what a game must have --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def info(self) -> GameInfo:
        """The properties of the game that are the same in all positions."""

    @abstractmethod
    def _init(self, seeds: Tensor) -> S:
        """Return new games for seeds, int64 [B]. `State.new` fills in what all games have."""

    @abstractmethod
    def _step(self, state: S, actions: Tensor) -> S:
        """Play one step in every game.

        The core throws away what this returns for finished games, and replaces their actions by 0. The fields of the
        result share no memory with each other, and none is an expanded view.
        """

    @abstractmethod
    def _legal(self, state: S) -> Tensor:
        """Return the mask of legal actions; anything is allowed for finished games."""

    @abstractmethod
    def observe(self, state: S, player: Tensor | int) -> Tensor:
        """Return what a player may know, [B, ...] as `info.observation` says.

        Args:
            state: the games.
            player: int64 [B], or one seat for all games.
        """

    @abstractmethod
    def board(self, state: S) -> Tensor:
        """Return the positions as all-seeing spectators draw them, [B, ...] as `info.board` says."""

    @abstractmethod
    def outcome(self, state: S) -> Tensor:
        """Return WIN, DRAW or LOSS of finished games (all players may lose) and 0 of the others, int8 [B, P]."""

    # --- playing ----------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The value of every parameter by name; `cellgames.make(game.id, **game.parameters)` makes an equal game.

        Those of `added_parameters` are left out at their defaults.
        """
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        values = {field.name: getattr(self, field.name) for field in fields}
        usual = {field.name: field.default for field in fields if field.name in self.added_parameters}
        return {name: value for name, value in values.items() if name not in usual or value != usual[name]}

    def __repr__(self) -> str:
        """Return the class with the parameters; dataclasses with `added_parameters` take it by `repr=False`."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    def init(self, seeds: Tensor) -> S:
        """Return new games.

        Args:
            seeds: int64 [B], one per env (`cellgames.envs.core.seeds` makes them from one); the games live on their
                device.
        """
        if not isinstance(seeds, Tensor) or seeds.dtype != torch.int64 or seeds.ndim != 1:
            got = f"{seeds.dtype} {list(seeds.shape)}" if isinstance(seeds, Tensor) else type(seeds).__name__
            raise ValueError(f"{self.id}: seeds must be int64 [B], got {got}; core.seeds(seed, B) makes them")
        return self._init(seeds)

    def step(self, state: S, actions: Tensor, *, checked: bool = True) -> S:
        """Play one step in every game. Finished games stay as they are, with zero reward.

        Args:
            state: the games; not changed.
            actions: integers, [B] for games in turns, [B, P] for simultaneous ones, with another axis [K] if an action
                has several components. Those of finished games are ignored, whatever they are.
            checked: check shapes and legality. Without it the caller vouches for both, and what an illegal action
                leads to is undefined.

        Raises:
            IllegalActionError: an action is illegal.
            ValueError: the actions have another shape, dtype or device.
        """
        if checked:
            actions = self.check(state, actions)
        done = state.done
        if _none(done):
            return self._step(state, actions)
        after = self._step(state, choose_envs(done, torch.zeros_like(actions), actions))
        before = state.replace(rewards=torch.zeros_like(state.rewards))
        return after.merge(before, lambda new, old: choose_envs(done, old, new))

    def legal_actions(self, state: S) -> Tensor:
        """Return the mask of legal actions, bool [B, A], or [B, P, A] in simultaneous games.

        The components of an action follow one after the other. In a finished game nothing is legal; in others
        everyone who must act has a legal action.
        """
        mask = self._legal(state)
        if _none(state.done):
            return mask
        return mask & along_envs(~state.done, mask.ndim)

    def random_actions(self, state: S, source: torch.Generator | Tensor) -> Tensor:
        """Return uniformly random legal actions, int64, as `step` takes them; each component is drawn for itself.

        Args:
            state: the games; what is drawn for finished ones has no meaning.
            source: a generator, which is consumed, alike for finished games and others; or random bits, int64
                [B, ...], 0 to 2^31 - 1, one for each number of the actions.
        """
        if isinstance(source, torch.Generator):
            shape = (len(state), *self.info.action_shape)
            source = sampling.random_bits(math.prod(shape), source, state.device).view(shape)
        return self._random_actions(state, source)

    def _random_actions(self, state: S, bits: Tensor) -> Tensor:
        """Return `random_actions` of bits; a game may override it if it knows a faster way than by its masks."""
        info = self.info
        if not info.simultaneous and len(info.action_nvec) == 1:
            return sampling.random_legal(self.packed_legal_actions(state), bits)
        mask, lots = self._legal(state).reshape(-1, info.num_actions), bits.reshape(-1, len(info.action_nvec))
        return sampling.random_parts(mask, info.action_nvec, lots).view(bits.shape)

    def packed_legal_actions(self, state: S) -> Tensor:
        """Return the mask of a game in turns as bits, int64 [B, W] (see `sampling`); finished games are not masked."""
        return sampling.pack(self._legal(state))

    def infos(self, state: S, player: int) -> dict[str, Tensor]:
        """Return what `infos` of PettingZoo and others hold beside the observation, each [B, ...].

        The names are the same in every position. The numbers are known to `player` and no part of what it observes.
        """
        return {"score": state.scores[:, player]}

    def summary(self, state: S) -> dict[str, Any]:
        """Return numbers of the finished game of a batch of one that its result does not hold, as JSON has them.

        Records keep them, and a replay compares them. So they are lists, not tuples, and all names are strings.
        """
        return {}

    # --- checks -----------------------------------------------------------------------------------------------

    def check(self, state: S, actions: Tensor, legal: Tensor | None = None) -> Tensor:
        """Return the actions as int64 if they are a legal step of every unfinished game, else raise an error.

        Args:
            state: the games.
            actions: as `step` takes them.
            legal: the mask, if it is at hand.

        Raises:
            IllegalActionError: an action is illegal.
            ValueError: the actions have another shape, dtype or device.
        """
        info, components = self.info, len(self.info.action_nvec)
        letters = ["B"] + ["P"] * info.simultaneous + ["K"] * (components > 1)
        hint = "; did you pass one game's actions to a batch, or one player's to all?"
        actions = self.check_integers(actions, (len(state), *info.action_shape), letters, hint=hint)
        if actions.device != state.device:
            raise ValueError(f"{self.id}: actions are on {actions.device}, the games on {state.device}")
        seats = info.num_players if info.simultaneous else 1
        chosen = actions.reshape(-1, seats, components)
        mask = (self._legal(state) if legal is None else legal).reshape(-1, seats, info.num_actions)
        wrong = ~info.admits(mask, chosen) & ~state.done[:, None, None]
        if wrong.any():
            env_id, seat, component = wrong.nonzero()[0].tolist()
            action = int(chosen[env_id, seat, component])
            seat = seat if info.simultaneous else int(state.current_player[env_id])
            raise self.illegal_action(state, env_id, seat, component, action)
        return actions

    def check_integers(
        self,
        actions: Any,
        shape: tuple[int, ...],
        letters: list[str],
        *,
        device: torch.device | None = None,
        about: str = "",
        hint: str = "",
    ) -> Tensor:
        """Return actions as int64 if they are integers of a shape, else raise a `ValueError`.

        Args:
            actions: anything.
            shape: the one expected.
            letters: of its axes, for the message.
            device: that they are moved to; None leaves them where they are.
            about: what the message says of the shape.
            hint: what it ends with.
        """
        try:
            return as_actions(actions, shape, device)
        except ActionsError as error:
            if error.fault != "shape":
                raise ValueError(f"{self.id}: actions {error}") from None
            expected = f"[{', '.join(letters)}] = {list(shape)}"
            raise ValueError(f"{self.id}: actions must have shape {expected}{about}, got {error.got}{hint}") from None

    def illegal_action(self, state: S, env_id: int, seat: int, component: int, action: int) -> IllegalActionError:
        """Return the error of an illegal choice of a component by the player on `seat` in one game of the batch."""
        info = self.info
        reason = self.why_illegal(state[env_id], seat, component, action)
        part = component if len(info.action_nvec) > 1 else None
        return IllegalActionError(self.id, env_id, info.players[seat], action, reason, part)

    def why_illegal(self, state: S, seat: int, component: int, action: int) -> str:
        """Return why a number is illegal as a component of `seat`'s action in the game of a batch of one."""
        choices = self.info.action_nvec[component]
        if not 0 <= action < choices:
            return f"expected a number from 0 to {choices - 1}"
        return self._why_illegal(state, seat, component, action)

    def _why_illegal(self, state: S, seat: int, component: int, action: int) -> str:
        """Return why a number in the right range is illegal in the game of a batch of one."""
        return "it is not legal in this position"

    def fallback(self, component: int, legal: Any) -> int:
        """Return what interfaces play instead of an illegal choice of a component: its last legal choice.

        Args:
            component: of the action.
            legal: bool [choices], the component's mask, a tensor or an array.
        """
        return max(choice for choice, flag in enumerate(legal.tolist()) if flag)

    # --- hooks of `Vector` ------------------------------------------------------------------------------------

    _native_spreads: ClassVar[bool] = False
    """True if `_native_step` spreads random bits itself, out of the number by `sampling.random_root`."""

    def _native_step(self, device: torch.device) -> NativeStep[S] | None:
        """Return the native code for a whole step of a `Vector` on `device`; None where there is none."""
        return None

    def _legal_again(self, state: S, mask: Tensor) -> Tensor:
        """Return `_legal`; may write into `mask`, an earlier one of as many games that nobody needs any more."""
        return self._legal(state)

    def _restart(self, state: S, done: Tensor) -> S:
        """Return the games with new ones, of the seeds that follow, where `done`, bool [B]; may overwrite `state`."""
        env_ids = done.nonzero().squeeze(1)
        fresh = self.init(next_seed(state.seed[env_ids]))
        for field, new in zip(state.tensors(), fresh.tensors(), strict=True):
            field[env_ids] = new
        return state


def _none(flags: Tensor) -> bool:
    """Return True if it is known that no flag is set; only looks where looking is cheap."""
    return not torch.compiler.is_compiling() and flags.device.type == "cpu" and not flags.any()
