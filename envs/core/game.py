"""The contract that every game of the suite fulfils, and what all games share.

Letters: `B` games (envs), `P` players, `A` actions (the sum over the action's components, if it has several),
`K` components of an action.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import torch
from torch import Tensor

from . import sampling
from .chance import next_seed
from .state import S, along_envs, choose_envs

if TYPE_CHECKING:
    from cellgames.envs.kernels.compiling import Compile

    from .drawing import Picture
    from .notes import Notes
    from .solo import Solo
    from .vector import Vector

__all__ = ["DRAW", "LOSS", "WIN", "Compilation", "Game", "GameInfo", "Space"]

Compilation = Literal["whole", "stages", "none"]
"""A step as one graph; as `compiling.kernel`s for the shapes of the batch; or nothing, where its work depends on the
data, as Life's end does, and what is repeated is compiled by itself."""

WIN = 1
"""A value of `Game.outcome`: the player has won."""
DRAW = 0
"""A value of `Game.outcome`: nobody has won; also that of games that go on."""
LOSS = -1
"""A value of `Game.outcome`: the player has lost. A game that all players lose has it for each of them."""


@dataclass(frozen=True)
class Space:
    """Shape, dtype and bounds of a tensor that a game shows, without the batch."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    low: float
    high: float


@dataclass(frozen=True)
class GameInfo:
    """Facts about a game with its parameters; agents, adapters and docs ask these and never the game's name."""

    id: str
    title: str
    credit: str
    players: tuple[str, ...]
    """PettingZoo's agent ids, by seat."""
    simultaneous: bool
    """All players act in every step (actions [B, P] or [B, P, K]), or one in turn (actions [B])."""
    perfect_information: bool
    stochastic: bool
    zero_sum: bool
    max_turns: int
    """The most steps a game can take."""
    reward_range: tuple[float, float]
    """Of one player in one step."""
    action_nvec: tuple[int, ...]
    """Choices of each component of an action; a single one for a plain integer action."""
    observation: Space
    board: Space

    @property
    def num_players(self) -> int:
        """`P`."""
        return len(self.players)

    @property
    def num_actions(self) -> int:
        """`A`, the width of a mask."""
        return sum(self.action_nvec)

    @property
    def action_shape(self) -> tuple[int, ...]:
        """Of one step's actions in one game: (), (P,), (K,) or (P, K)."""
        components = len(self.action_nvec)
        return (self.num_players,) * self.simultaneous + (components,) * (components > 1)

    def admits(self, mask: Tensor, chosen: Tensor) -> Tensor:
        """Bool [..., K]: which components of `chosen`, integers [..., K], are legal by `mask`, bool [..., A]."""
        choices = torch.tensor(self.action_nvec, device=chosen.device)
        inside = (chosen >= 0) & (chosen < choices)
        places = chosen.clamp(min=0).minimum(choices - 1) + choices.cumsum(0) - choices
        return inside & mask.gather(-1, places.long())


class Game(ABC, Generic[S]):
    """Rules and facts, no state: pure functions on batches of games.

    A game is a frozen dataclass whose fields are its parameters. It implements the facts, what is seen, the names of
    actions and positions, and the three hooks `_init`, `_step` and `_legal`, which need no thought for finished
    games, illegal actions and wrong shapes.
    """

    id: ClassVar[str]

    compilation: ClassVar[Compilation] = "whole"
    """What of a step a `Vector` can have compiled: see `Compilation`."""

    @property
    @abstractmethod
    def info(self) -> GameInfo:
        """The facts."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Name and value of every parameter; `cellgames.make(game.id, **game.parameters)` is an equal game."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses

    # --- the game ---------------------------------------------------------------------------------------------

    def init(self, seeds: Tensor) -> S:
        """New games.

        Args:
            seeds: int64 [B], one per env (`cellgames.envs.core.seeds` makes them from one); the games live on
                their device.
        """
        if not isinstance(seeds, Tensor) or seeds.dtype != torch.int64 or seeds.ndim != 1:
            got = f"{seeds.dtype} {list(seeds.shape)}" if isinstance(seeds, Tensor) else type(seeds).__name__
            raise ValueError(f"{self.id}: seeds must be int64 [B], got {got}; core.seeds(seed, B) makes them")
        return self._init(seeds)

    def step(self, state: S, actions: Tensor, *, checked: bool = True) -> S:
        """Play one step in every game. Finished games stay as they are, with zero reward.

        Args:
            state: the games; not changed.
            actions: integers, [B] for games in turns, [B, P] or [B, P, K] for simultaneous ones. Those of
                finished games are ignored, whatever they are.
            checked: raise a `ValueError` that names game, env, player, action and reason if an action is
                illegal. Without it the caller vouches for shapes and legality, and what an illegal action
                leads to is undefined.
        """
        if checked:
            self.check(state, actions)
        done = state.done
        if _none(done):
            return self._step(state, actions)
        after = self._step(state, choose_envs(done, torch.zeros_like(actions), actions))
        before = state.replace(rewards=torch.zeros_like(state.rewards))
        return after.merge(before, lambda new, old: choose_envs(done, old, new))

    def legal_actions(self, state: S) -> Tensor:
        """Bool [B, A], or [B, P, A] in simultaneous games; components of an action one after the other.

        Where a game is over nothing is legal; else everyone who must act has a legal action.
        """
        mask = self._legal(state)
        if _none(state.done):
            return mask
        return mask & along_envs(~state.done, mask.ndim)

    def is_last_turn(self, state: S) -> Tensor:
        """Bool [B]: whether the next step surely ends the game; false where that is not known, and after the end."""
        return torch.zeros_like(state.done)

    def winning_actions(self, state: S, player: Tensor | None = None) -> Tensor | None:
        """Bool [B, A]: legal actions of a game in turns that win at once for the mover, while all others lose.

        None where the game has no quick way to tell, as by default. Nothing wins after the end. With a player, int64
        [B], as if it were the one to move.
        """
        return None

    def defending_actions(self, state: S) -> Tensor | None:
        """Bool [B, A]: legal actions of a game for two, in turns, after which the opponent cannot win at once.

        What it says where the mover can win at once has no meaning. None where the game has no quick way to tell, as
        by default. Where a game is over nothing is legal.
        """
        return None

    def random_outcome(self, state: S, generator: torch.Generator) -> Tensor | None:
        """int8 [B, P], `outcome` after one random playout of each game, each independent of the others.

        None, and the generator is left alone, where playouts have to be played, as by default.
        """
        return None

    def random_actions(self, state: S, bits: Tensor) -> Tensor:
        """Uniformly random legal actions of all who act, each component for itself, as `step` takes them: int64.

        Args:
            state: the games; what is drawn for finished ones has no meaning.
            bits: int64 [B, ...], one for each number of the actions, from `sampling.random_bits`.
        """
        info = self.info
        if not info.simultaneous and len(info.action_nvec) == 1:
            return sampling.random_legal(self.packed_legal_actions(state), bits)
        mask, lots = self._legal(state).reshape(-1, info.num_actions), bits.reshape(-1, len(info.action_nvec))
        return sampling.random_parts(mask, info.action_nvec, lots).view(bits.shape)

    def packed_legal_actions(self, state: S) -> Tensor:
        """The mask of a game in turns as bits, int64 [B, W] (see `sampling`); finished games are not masked."""
        return sampling.pack(self._legal(state))

    @abstractmethod
    def observe(self, state: S, player: Tensor | int) -> Tensor:
        """What `player` may know, [B, ...] as `info.observation` says.

        Args:
            state: the games.
            player: int64 [B], or one seat for all.
        """

    @abstractmethod
    def board(self, state: S) -> Tensor:
        """The position as all-seeing spectators draw it, [B, ...] as `info.board` says."""

    @abstractmethod
    def outcome(self, state: S) -> Tensor:
        """int8 [B, P]: WIN, DRAW or LOSS of finished games (all players may lose); 0 in games that go on."""

    def infos(self, state: S, player: int) -> dict[str, Tensor]:
        """What `infos` of PettingZoo and others tell of the games beside the observation, batch first.

        The same names in every position; numbers that `player` may know, and no part of what it observes.
        """
        return {"score": state.scores[:, player]}

    def summary(self, state: S) -> dict[str, Any]:
        """Numbers of the finished game of a batch of one that its result does not tell, as JSON holds them.

        Records keep them, and a replay compares them; lists, not tuples, and names that are strings.
        """
        return {}

    # --- symmetries -------------------------------------------------------------------------------------------

    @property
    def symmetries(self) -> int:
        """How many ways of moving the board keep the game, with seats exchanged or not; number 0 moves nothing."""
        return 1

    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """What a seat sees, and numbers by action, as they would be on a board moved by symmetries.

        Args:
            observation: [L, ...], of `L` positions, as `observe` shows them.
            actions: [L, ..., A], such as masks and policies, of any dtype.
            which: int64 [L], each from 0 to `symmetries` - 1.
        """
        return observation, actions

    # --- text and pictures ------------------------------------------------------------------------------------

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """The action as records and people write it."""

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """The inverse of `action_to_string`; a `ValueError` says what was expected."""

    @abstractmethod
    def state_to_string(self, state: S) -> str:
        """The position of a single game (a batch of one) as one line of text."""

    @abstractmethod
    def string_to_state(self, text: str, seed: int = 0) -> S:
        """A batch of one with the position of `state_to_string`; a `ValueError` says what was expected."""

    @abstractmethod
    def draw(self, state: S) -> Picture:
        """The first game of the batch as a drawing (`core.drawing` turns it into SVG, pixels or HTML)."""

    def frames(self, before: S, after: S) -> Iterator[Picture]:
        """The step from one position to the next as pictures of one size, the last one that of `after`.

        Of the first games of both batches. One picture, unless much happens within a step.
        """
        yield self.draw(after)

    def draw_annotated(self, state: S, notes: Notes) -> Picture:
        """The first game of the batch, unfinished, with an analysis drawn on its board.

        Here the plain picture below the title of the notes, for games that cannot draw the rest.
        """
        from .notes import headed

        return headed(self.draw(state), notes.title)

    @abstractmethod
    def text(self, state: S) -> str:
        """The first game of the batch for a terminal."""

    # --- other ways to play -----------------------------------------------------------------------------------

    def vector(
        self, num_envs: int, *, seed: int = 0, device: torch.device | str = "cpu", compile: Compile = "auto"
    ) -> Vector[S]:
        """Many games that start over by themselves, stepped in place: the fast way to play at random or train."""
        from .vector import Vector

        return Vector(self, num_envs, seed=seed, device=device, compile=compile)

    def solo(self, state: S) -> Solo:
        """One game outside a batch, for interfaces that play a single game; `state` has one env."""
        from .solo import BatchOfOne

        return BatchOfOne(self, state)

    # --- hooks: their states' fields share no memory with each other, and none is an expanded view ---------------

    @abstractmethod
    def _init(self, seeds: Tensor) -> S: ...

    @abstractmethod
    def _step(self, state: S, actions: Tensor) -> S:
        """All envs are played; the core throws away what this gives for finished ones (their action is 0)."""

    @abstractmethod
    def _legal(self, state: S) -> Tensor:
        """The mask; whatever is convenient where a game is over."""

    def _legal_again(self, state: S, mask: Tensor) -> Tensor:
        """`_legal`; may be written into `mask`, an earlier one of as many envs that nobody needs any more."""
        return self._legal(state)

    def _restart(self, state: S, done: Tensor) -> S:
        """With new games, of the seeds that follow, in the envs of bool [B] `done`; may overwrite `state`."""
        env_ids = done.nonzero().squeeze(1)
        fresh = self.init(next_seed(state.seed[env_ids]))
        for field, new in zip(state.tensors(), fresh.tensors(), strict=True):
            field[env_ids] = new
        return state

    # --- checks -----------------------------------------------------------------------------------------------

    def check(self, state: S, actions: Tensor, legal: Tensor | None = None) -> None:
        """Raise a `ValueError` unless `actions` is a legal step of every unfinished game.

        Args:
            state: the games.
            actions: as `step` takes them.
            legal: the mask, if it is at hand.
        """
        info, components = self.info, len(self.info.action_nvec)
        letters = ["B"] + ["P"] * info.simultaneous + ["K"] * (components > 1)
        shape = (len(state), *info.action_shape)
        if not isinstance(actions, Tensor):
            raise ValueError(f"{self.id}: actions must be a tensor, got {type(actions).__name__}")
        if actions.dtype.is_floating_point or actions.dtype.is_complex or actions.dtype == torch.bool:
            raise ValueError(f"{self.id}: actions must be integers, got {actions.dtype}")
        if tuple(actions.shape) != shape:
            raise ValueError(
                f"{self.id}: actions must have shape [{', '.join(letters)}] = {list(shape)}, got "
                f"{list(actions.shape)}; did you pass one game's actions to a batch, or one player's to all?"
            )
        if actions.device != state.device:
            raise ValueError(f"{self.id}: actions are on {actions.device}, the games on {state.device}")
        seats = info.num_players if info.simultaneous else 1
        chosen = actions.reshape(-1, seats, components)
        mask = (self._legal(state) if legal is None else legal).reshape(-1, seats, info.num_actions)
        wrong = ~info.admits(mask, chosen) & ~state.done[:, None, None]
        if wrong.any():
            env_id, seat, component = wrong.nonzero()[0].tolist()
            action = int(chosen[env_id, seat, component])
            reason = self.why_illegal(state[env_id], seat, component, action)
            seat = seat if info.simultaneous else int(state.current_player[env_id])
            part = f", component {component}" if components > 1 else ""
            raise ValueError(
                f"{self.id}: illegal action {action} of player {info.players[seat]} in env {env_id}{part}: {reason}"
            )

    def why_illegal(self, state: S, seat: int, component: int, action: int) -> str:
        """Why a number is illegal as a component of `seat`'s action in the game of a batch of one."""
        choices = self.info.action_nvec[component]
        if not 0 <= action < choices:
            return f"expected a number from 0 to {choices - 1}"
        return self._why_illegal(state, seat, component, action)

    def forfeit(self, component: int) -> int | None:
        """What interfaces play for an illegal choice of a component, legal by the mask or not; None: its last legal."""
        return None

    def choice_to_string(self, component: int, choice: int) -> str:
        """One component's choice as people write it; the action's name where there is only one component."""
        return self.action_to_string(choice) if len(self.info.action_nvec) == 1 else str(choice)

    def _why_illegal(self, state: S, seat: int, component: int, action: int) -> str:
        """Why a number in the right range is illegal in the game of a batch of one."""
        return "it is not legal in this position"


def _none(flags: Tensor) -> bool:
    """Whether it is known that no flag is set; only looked at where looking is cheap."""
    return not torch.compiler.is_compiling() and flags.device.type == "cpu" and not flags.any()
