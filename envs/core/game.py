"""The contract that every game of the suite fulfils, and what the core does for all games.

Letters: `B` games (envs), `P` players, `A` actions (the sum over the action's components), `K` components of an
action.
"""

from __future__ import annotations

import dataclasses
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic

import torch
from torch import Tensor

from cellgames.envs.native.operators import Compile
from cellgames.utils.errors import InputError, shown

from . import chance
from .chance import next_seed, seeds
from .drawing import BoardView, Notes, Picture, draw_board, grid, headed, to_svg
from .info import GameInfo
from .inputs import IllegalActionError, as_actions
from .solo import NativeSolo, Solo
from .state import S, State, along_envs, choose_envs
from .vector import NativeStep, Positions, Vector

_FASTER = {
    "_init": ("_native_step",),
    "_step": ("_native_step", "solo"),
    "_legal": ("_native_step", "_legal_again", "_random_actions", "solo"),
    "observe": ("_native_observer", "_observe_into", "solo"),
}
"""Methods that do the same as others in faster ways."""


class Game(ABC, Generic[S]):
    """The rules of a game, without state: pure functions on batches of games.

    A game is a frozen dataclass whose fields are its parameters. It must have eight members: its `id`, its `info`, the
    hooks `_init`, `_step` and `_legal`, and `observe`, `board` and `outcome`. The hooks need no thought for finished
    games, illegal actions and wrong shapes. All else has a default.

    `Game` without a parameter is a game with a state of any type. Where a subclass of a game overrides a hook or
    `observe`, faster ways that it inherits give way to the defaults.
    """

    id: ClassVar[str]

    compiles: ClassVar[bool] = True
    """True if a `Vector` can compile the step as one graph, whose operations do not depend on the data."""

    wraps: ClassVar[bool] = False
    """True if rows and columns of the observation, its last two axes, go on beyond the edges as on a torus."""

    added_parameters: ClassVar[frozenset[str]] = frozenset()
    """Parameters that were added to a game that has records: `parameters` omits them at their defaults.

    So records, ratings and weights of games without the addition stay as they are.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).keys()
        for name in {faster for slow in _FASTER.keys() & own for faster in _FASTER[slow]} - own:
            setattr(cls, name, getattr(Game, name))

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
        """Play one step in every game: `actions` is int64 [B], [B, P] if all act at once; with components [..., K].

        The core throws away what this returns for finished games, and replaces their actions by 0. The fields of the
        result share no memory with each other, and none is an expanded view.
        """

    @abstractmethod
    def _legal(self, state: S) -> Tensor:
        """Return the mask of legal actions; anything is allowed for finished games."""

    @abstractmethod
    def observe(self, state: S, player: Tensor | int) -> Tensor:
        """Return the observations of a player, [B, ...] as `info.observation` says.

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
            raise InputError("seeds", "int64 [B]", got, "core.seeds(seed, B) makes them", where=self.id)
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
            state: the games; the actions of finished ones have no meaning.
            source: a generator, which is consumed, alike for finished games and others; or random bits, int64
                [B, ...], 0 to 2^31 - 1, one for each number of the actions.
        """
        if isinstance(source, torch.Generator):
            shape = (len(state), *self.info.action_shape)
            source = chance.random_bits(math.prod(shape), source, state.device).view(shape)
        return self._random_actions(state, source)

    def _random_actions(self, state: S, bits: Tensor) -> Tensor:
        """Return `random_actions` of bits; a game may override it if it knows a faster way than by its masks."""
        info = self.info
        if not info.simultaneous and len(info.action_nvec) == 1:
            return chance.random_legal(self._legal(state), bits)
        mask, lots = self._legal(state).reshape(-1, info.num_actions), bits.reshape(-1, len(info.action_nvec))
        return chance.random_parts(mask, info.action_nvec, lots).view(bits.shape)

    def infos(self, state: S, player: int) -> dict[str, Tensor]:
        """Return the `infos` of PettingZoo and other interfaces, which go with the observation, each [B, ...].

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
        if components == 1 and not info.simultaneous and _legal_numbers(actions, legal):  # as nearly always
            return actions
        axes = f"shape [B{', P' * info.simultaneous}{', K' * (components > 1)}] = "
        hint = "did you pass one game's actions to a batch, or one player's to all?"
        actions = as_actions(actions, (len(state), *info.action_shape), None, axes, hint, self.id)
        if actions.device != state.device:
            raise InputError("actions", f"actions on {state.device}", str(actions.device), where=self.id)
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
        """Return the choice that interfaces play instead of an illegal one: the component's last legal choice.

        Args:
            component: index of a component of the action.
            legal: bool [choices], the component's mask, a tensor or an array.
        """
        return max(choice for choice, flag in enumerate(legal.tolist()) if flag)

    # --- hooks of `Vector` ------------------------------------------------------------------------------------

    _native_spreads: ClassVar[bool] = False
    """True if `_native_step` spreads random bits itself, out of the number by `chance.random_root`."""

    _native_mask: ClassVar[bool] = True
    """True if `_native_step` writes the mask too; large ones are made when asked for."""

    def _native_step(self, device: torch.device) -> NativeStep[S] | None:
        """Return the native code for a whole step of a `Vector` on `device`; None if the game has no such code."""
        return None

    def _native_observer(self, state: S, seats: Tensor, dtype: torch.dtype) -> Callable[[int], object] | None:
        """Return native code that writes what seats see to an address, or None.

        Args:
            state: the games, in memory that changes between calls.
            seats: int64 [B, k], the observing players of each game, which change too.
            dtype: that of the observations, or float32.
        """
        return None

    def _observe_into(self, state: S, out: Tensor) -> None:
        """Write what the seat to move sees, or each player of a simultaneous game, as `Vector.observation` has it.

        Args:
            state: the games.
            out: contiguous, [B, ...] or [B, P, ...] as `info.observation` says; of its dtype, or float32.
        """
        if self.info.simultaneous:
            for seat in range(self.info.num_players):
                out[:, seat] = self.observe(state, seat)
        else:
            out.copy_(self.observe(state, state.current_player))

    def _legal_again(self, state: S, mask: Tensor) -> Tensor:
        """Return `_legal`; may write into `mask`, an unused earlier mask for the same number of games."""
        return self._legal(state)

    def _restart(self, state: S, done: Tensor) -> S:
        """Return the games with new ones, of the seeds that follow, where `done`, bool [B]; may overwrite `state`."""
        env_ids = done.nonzero().squeeze(1)
        fresh = self.init(next_seed(state.seed[env_ids]))
        for field, new in zip(state.tensors(), fresh.tensors(), strict=True):
            field[env_ids] = new
        return state

    # --- actions and positions as text ----------------------------------------------------------------------------

    def action_to_string(self, action: int) -> str:
        """Return the action as records and people write it.

        Args:
            action: a number; of an action with components its place among all combinations, in which the last
                component varies fastest.
        """
        most = math.prod(self.info.action_nvec)
        if not 0 <= action < most:
            raise InputError("action", f"an action from 0 to {most - 1}", action, where=self.id)
        return str(action)

    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`; a `ValueError` says what was expected."""
        most = math.prod(self.info.action_nvec)
        if not (text.isdecimal() and text.isascii() and int(text) < most):
            raise InputError("action", f"an action from 0 to {most - 1}", shown(text), where=self.id)
        return int(text)

    def action_in_words(self, state: S, player: int, action: int) -> str:
        """Return an action as lists for people show it: its name, and what the position says of it.

        Args:
            state: the position before the action, a batch of one.
            player: seat of the action's player.
            action: as in `action_to_string`, whose text is the default.
        """
        return self.action_to_string(action)

    def choice_to_string(self, component: int, choice: int) -> str:
        """Return one component's choice as people write it; the action's name if there is only one component."""
        return self.action_to_string(choice) if len(self.info.action_nvec) == 1 else str(choice)

    def state_to_string(self, state: S) -> str:
        """Return the position of a batch of one as one line of text."""
        return json.dumps({name: field[0].tolist() for name, field in _position(state).items()}, separators=(",", ":"))

    def view_to_string(self, state: S, player: int) -> str:
        """Return a player's view of the position of a batch of one, as one line of text.

        It tells no more than `observe` does. The default is the line by `state_to_string` in games with perfect
        information, and the observation as JSON in others.
        """
        if self.info.perfect_information:
            return self.state_to_string(state)
        return json.dumps(self.observe(state, player)[0].tolist(), separators=(",", ":"))

    def string_to_state(self, text: str, seed: int = 0) -> S:
        """Return a batch of one with the position of a line by `state_to_string`; a `ValueError` says what is wrong.

        The default checks names and shapes. It does not check that play can lead to the position.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        expected = _position(state)
        try:
            given = json.loads(text)
            fields = {
                name: torch.tensor([given.pop(name)], dtype=field.dtype, device="cpu")
                for name, field in expected.items()
            }
            same = not given and all(fields[name].shape == field.shape for name, field in expected.items())
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            same = False
        if not same:
            example = shown(self.state_to_string(state), 150)
            raise InputError("position", f"a position such as {example}", shown(text), where=self.id) from None
        return state.replace(**fields)

    # --- pictures, and text for a terminal ------------------------------------------------------------------------

    def view(self, state: S, player: int | None = None) -> BoardView | None:
        """Return the first game of the batch as pictures and texts show it to a player, by default to spectators.

        None if they show rows of numbers.
        """
        return None

    def draw(self, state: S) -> Picture:
        """Return the first game of the batch as a drawing (`core.drawing` turns it into SVG, pixels or HTML)."""
        view = self.view(state)
        return draw_board(self.board(state)[0].numpy(force=True), self.info.title) if view is None else view.draw()

    def draw_for(self, state: S, player: int) -> Picture:
        """Return the first game of the batch as one player may know it; in games with secrets, the observation."""
        if self.info.perfect_information:
            return self.draw(state)
        view, seen = self.view(state, player), self.observe(state, player)[0]
        return draw_board(seen.numpy(force=True), self.info.title) if view is None else view.draw()

    def draw_batch(self, state: S, most: int = 4) -> Picture:
        """Return one drawing of the first games of the batch, at most `most`, in a grid that is nearly square."""
        pictures = [self.draw(state[env_id]) for env_id in range(min(most, len(state)))]
        if len(pictures) == 1:
            return pictures[0]
        title = f"{self.info.title}, {len(pictures)} of {len(state)} games"
        columns = math.isqrt(max(len(pictures) - 1, 0)) + 1
        return grid(pictures, columns, title=title, scale=1 / columns)

    def frames(self, before: S, after: S) -> Iterator[Picture]:
        """Yield the step from one position to the next as pictures of one size; the last one is that of `after`.

        Only the first games of both batches are drawn. A step gives one picture, unless much happens within it.
        """
        yield self.draw(after)

    def draw_annotated(self, state: S, notes: Notes) -> Picture:
        """Return the first game of the batch, unfinished, with an analysis drawn on its board.

        By default the picture stands below the title of the notes, and the rest is not drawn.
        """
        return headed(self.draw(state), notes.title)

    def text(self, state: S) -> str:
        """Return the first game of the batch for a terminal."""
        view = self.view(state)
        return _rows(self.board(state)[0]) if view is None else view.text()

    def text_for(self, state: S, player: int) -> str:
        """Return the content of `draw_for` as text for a terminal."""
        if self.info.perfect_information:
            return self.text(state)
        view = self.view(state, player)
        return _rows(self.observe(state, player)[0]) if view is None else view.text()

    def _repr_html_(self) -> str:
        """Return the start of a game as SVG, for notebooks."""
        return to_svg(self.draw(self.init(seeds(0, 1))))

    # --- symmetries of the board, for learning --------------------------------------------------------------------

    @property
    def symmetries(self) -> int:
        """The number of ways of moving the board that keep the game, with seats exchanged or not; 0 moves nothing."""
        return 1

    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return observations of a seat, and numbers by action, as they are on a board moved by symmetries.

        Args:
            observation: [L, ...], of `L` positions, as `observe` shows them.
            actions: [L, ..., A], such as masks and policies, of any dtype.
            which: int64 [L], each from 0 to `symmetries` - 1.
        """
        return observation, actions

    # --- what a search can ask instead of playing -----------------------------------------------------------------

    def is_last_turn(self, state: S) -> Tensor:
        """Return a mask of games that surely end in the next step, bool [B]; False if unknown and after the end."""
        return torch.zeros_like(state.done)

    def winning_actions(self, state: S, player: Tensor | None = None) -> Tensor | None:
        """Return the legal actions that win at once for the mover, while all others lose: bool [B, A].

        For games in turns. None if the game has no quick way to tell. Nothing wins after the end.

        Args:
            state: the games.
            player: int64 [B], the player taken to be the mover; None for the player whose turn it is.
        """
        return None

    def defending_actions(self, state: S) -> Tensor | None:
        """Return the legal actions after which the opponent cannot win at once: bool [B, A].

        For games of two players in turns. None if the game has no quick way to tell. The answer has no meaning where
        the mover can win at once. Where a game is over nothing is legal.
        """
        return None

    def random_outcome(self, state: S, generator: torch.Generator) -> Tensor | None:
        """Return `outcome` after one random playout of each game, each independent of the others: int8 [B, P].

        None, with the generator left alone, if playouts have to be played.
        """
        return None

    # --- one game outside a batch, and many that start over -------------------------------------------------------

    def solo(self, state: S) -> Solo:
        """Return one game outside a batch, for interfaces that play a single game; `state` has one env."""
        native = hasattr(self._native_step(torch.device("cpu")), "bound")
        return NativeSolo(self, state) if native else Solo(self, state)

    def vector(
        self,
        num_envs: int,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        compile: Compile = "auto",
        positions: Positions | None = None,
        reuse_buffers: bool = False,
        observe: torch.dtype | bool | None = None,
    ) -> Vector[S]:
        """Return games that start over by themselves: the fast way to play at random or train. See `Vector`."""
        return Vector(
            self,
            num_envs,
            seed=seed,
            device=device,
            compile=compile,
            positions=positions,
            reuse_buffers=reuse_buffers,
            observe=observe,
        )


def _legal_numbers(actions: Any, legal: Tensor | None) -> bool:
    """Return True if these are surely an int64 action of one component for each game, and all legal, bool [B, A]."""
    if legal is None or legal.ndim != 2 or not isinstance(actions, Tensor) or actions.shape != legal.shape[:1]:
        return False
    if actions.dtype != torch.int64 or actions.device.type != "cpu" or legal.device.type != "cpu" or not len(actions):
        return False
    low, high = torch.aminmax(actions)
    return 0 <= int(low) <= int(high) < legal.shape[1] and bool(legal.gather(1, actions[:, None]).all())


def _none(flags: Tensor) -> bool:
    """Return True if it is known that no flag is set; only looks where looking is cheap."""
    return not torch.compiler.is_compiling() and flags.device.type == "cpu" and not flags.any()


def _position(state: State) -> dict[str, Tensor]:
    """Return the fields that make up a position: all but the seed and the rewards of the last step."""
    names = [field.name for field in dataclasses.fields(state) if field.name not in ("seed", "rewards")]
    return {name: getattr(state, name) for name in names}


def _rows(board: Tensor) -> str:
    """Return an array of numbers as lines of text."""
    return "\n".join(" ".join(map(str, row)) for row in board.reshape(-1, board.shape[-1]).tolist())
