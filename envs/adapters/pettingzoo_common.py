"""The base of PettingZoo's two kinds of environments: spaces, seeds, options, pictures, copies.

Letters: `P` players, `A` actions (the sum over the action's components), `K` components.
"""

from __future__ import annotations

import copy
import secrets
import warnings
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from typing_extensions import override

from cellgames.envs.core import chance
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import Space
from cellgames.envs.core.inputs import ActionsError, from_numbers
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import State
from cellgames.envs.core.vector import positions_by_env, put_positions
from cellgames.utils.errors import InputError, shown

from .window import Rendered, RenderMode

Observation = dict[str, Any]


class PettingZooGame(Rendered):
    """A game in progress as PettingZoo sees it, whether players act in turn or all at once.

    A copy (`copy.deepcopy`, `pickle`) is the same game in the same position with the same seeds to come; from
    then on the two play independently. A copy has no window until `reset` or `render` is called on it.

    Args:
        game: the rules.
        render_mode: what `render` gives: "human" a window, which steps keep up to date, "rgb_array" uint8
            [H, W, 3], "ansi" text.

    Attributes:
        game: the rules.
        metadata: as PettingZoo asks; "render_fps" bounds the speed of "human".
        state_space: space of `state`.

    Raises:
        ValueError: an unknown render mode, or a game of the other kind.
        ImportError: "human" without pygame-ce or Pillow.
    """

    PARALLELIZABLE: ClassVar[bool] = False
    _GAMES: ClassVar[tuple[str, str]]
    """The games that the class takes, and advice about others."""

    metadata: dict[str, Any]
    agents: list[str]
    possible_agents: list[str]
    observation_spaces: dict[str, spaces.Space[Any]]
    action_spaces: dict[str, spaces.Space[Any]]
    render_mode: str | None

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        self.game, info = game, game.info
        if info.simultaneous != self.PARALLELIZABLE:
            raise InputError("game", self._GAMES[0], cause=self._GAMES[1], where=game.id)
        self._set_render_mode(render_mode)
        self.metadata = {
            "name": game.id.replace("-", "_"),
            "render_modes": list(get_args(RenderMode)),
            "is_parallelizable": self.PARALLELIZABLE,
            "render_fps": 5,
        }
        self.possible_agents = list(info.players)
        self.state_space = box_of(info.board)
        self.observation_spaces = {agent: observation_space_of(game) for agent in info.players}
        self.action_spaces = {agent: action_space_of(game) for agent in info.players}
        self._seats = {agent: seat for seat, agent in enumerate(info.players)}
        self._next_seed: int | None = None
        self._solo: Solo
        self._legal: npt.NDArray[np.bool_]  # the mask of `_solo`

    if not TYPE_CHECKING:  # it would hide misspelt names

        def __getattr__(self, name: str) -> Any:
            """Raise an `AttributeError` that says what exists only after `reset`."""
            raise AttributeError(f"{type(self).__name__} has no {name!r}; did you forget to call reset()?")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return a Dict of "observation" and "action_mask"."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return a Discrete space, or a MultiDiscrete one where an action has several components."""
        return self.action_spaces[agent]

    def state(self) -> npt.NDArray[Any]:
        """Return the position as all-seeing spectators draw it, in `state_space`."""
        return self._solo.board()

    @override
    def core_state(self) -> State:
        state: State = self._solo.state()
        return state

    def _start(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Start a new game, from the seed or the one that follows the last game's.

        Envs of the core's `Vector` follow the same seeds: games after `reset(seed=s)` are those of an env
        that starts with s.
        """
        if seed is None:
            seed = secrets.randbits(63) if self._next_seed is None else self._next_seed
        else:
            seed = checked_seed(self.game, seed)
        options = options or {}
        if unknown := ", ".join(repr(name) for name in options if name != "position"):
            # PettingZoo's own api_test passes an option that no game knows, so this must not be an error.
            text = f"{self.game.id}: reset ignores the unknown option {unknown}; known: position"
            warnings.warn(text, stacklevel=3)
        state = self.game.init(torch.tensor([seed], device="cpu"))
        if (given := positions_by_env(self.game, options.get("position"), 1)) is not None:
            state = put_positions(state, *given)
        self._solo, self._next_seed = self.game.solo(state), chance.next_seed(seed)
        self._legal = self._solo.legal_actions()
        self.agents = self.possible_agents[:]
        if self.render_mode == "human":
            self.render()

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._solo.infos(seat) for agent, seat in self._seats.items()}

    def _repr_html_(self) -> str | None:
        """Return the position as SVG, for notebooks; None before `reset`."""
        return super()._repr_html_() if "_solo" in self.__dict__ else None

    def __repr__(self) -> str:
        name = f"{type(self).__name__}({self.game!r}"
        if "_solo" not in self.__dict__:
            return f"{name}, not yet reset)"
        solo = self._solo
        if solo.terminated or solo.truncated:
            return f"{name}, over after {solo.turn} steps)"
        mover = "" if self.game.info.simultaneous else f", {self.possible_agents[solo.current_player]} to act"
        return f"{name}, {solo.turn} steps played{mover})"

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the window."""
        return {**self.__dict__, "_window": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy as `copy.deepcopy` would, but share what never changes."""
        twin = type(self).__new__(type(self))
        memo |= {id(self): twin, id(self.game): self.game}
        twin.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
        return twin

    def _whole_numbers(self, agent: str, action: Any) -> list[int]:
        """Return the components of an agent's action; raise an `InputError` unless they are whole numbers."""
        count = len(self.game.info.action_nvec)
        if type(action) is np.ndarray or isinstance(action, np.generic):  # what spaces sample; other things take longer
            shape = (count,) if count > 1 else ()
            if action.dtype.kind in "iu" and action.shape == shape:
                return action.reshape(-1).tolist()
        try:
            numbers: list[int] = from_numbers(action, (count,) if count > 1 else ()).reshape(-1).tolist()
        except ActionsError:
            kind = "a whole number" if count == 1 else f"{count} whole numbers"
            raise InputError(f"action of player {agent}", kind, shown(action), where=self.game.id) from None
        return numbers


def checked_seed(game: Game, seed: Any) -> int:
    """Return a game's seed as a plain integer.

    Raises:
        ValueError: it is no whole number from 0 to 2**63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 63:
        raise InputError("seed", "a whole number from 0 to 2**63 - 1, or None", shown(seed), where=game.id)
    return int(seed)


def box_of(space: Space) -> spaces.Box:
    """Return the space as Gymnasium has it."""
    dtype = torch.empty((), dtype=space.dtype, device="cpu").numpy().dtype
    return spaces.Box(space.low, space.high, space.shape, dtype.type)


def observation_space_of(game: Game) -> spaces.Dict:
    """Return the space of an observation with its mask, a mask for each component of an action."""
    masks = [spaces.Box(0, 1, (choices,), np.int8) for choices in game.info.action_nvec]
    mask = masks[0] if len(masks) == 1 else spaces.Tuple(masks)
    return spaces.Dict({"observation": box_of(game.info.observation), "action_mask": mask})


def action_space_of(game: Game) -> spaces.Space[Any]:
    """Return a `Discrete` space, or a `MultiDiscrete` one where an action has several components."""
    nvec = game.info.action_nvec
    return spaces.Discrete(nvec[0]) if len(nvec) == 1 else spaces.MultiDiscrete(list(nvec))


def masks_by_component(game: Game, mask: npt.NDArray[np.bool_]) -> Any:
    """Return bool [..., A] as `space.sample(mask)` takes it: int8, in a tuple if an action has several components."""
    whole, nvec = mask.astype(np.int8), game.info.action_nvec
    if len(nvec) == 1:
        return whole
    return tuple([whole[..., end - choices : end] for choices, end in zip(nvec, accumulate(nvec), strict=True)])
