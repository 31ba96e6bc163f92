"""Games in turns with perfect information as `pyspiel.Game`, so that OpenSpiel's algorithms play and solve them.

It needs the extra `openspiel`. OpenSpiel steps one game at a time, in Python. That suits small boards.
"""

from __future__ import annotations

import dataclasses
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core.game import Game
from cellgames.envs.registry import REGISTRY, GameSpec, follow, make
from cellgames.utils.errors import InputError, shown

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ImportError as error:
    raise ImportError('games for OpenSpiel need OpenSpiel: pip install "cellgames[openspiel]"') from error

_OWN = ("seed", "position")  # parameters that every game has in OpenSpiel
_PLAIN = "/:+!$.* "  # characters of positions that OpenSpiel's text of a game can hold


def register() -> None:
    """Add the games of the registry that OpenSpiel can play to its games, and those whose classes are registered later.

    Games registered later by their import path are not imported for this; call the function again to add them.
    `torus-v0` is `cellgames_torus_v0` there: `pyspiel.load_game("cellgames_torus_v0(size=3)")`.
    """
    for id in REGISTRY:
        _register_id(id)
    follow(_register_class)


def _register_class(entry: GameSpec) -> None:
    """Register a game, unless it has to be imported first."""
    if not isinstance(entry.plugin.game, str):
        _register_id(entry.id)


def _register_id(id: str) -> None:
    game = make(id)
    if not game.info.search_obstacles:
        _register(game, _name(id))


def _name(id: str) -> str:
    return "cellgames_" + id.replace("-", "_")


def _register(game: Game, name: str) -> None:
    if name not in pyspiel.registered_names():
        pyspiel.register_game(_type(game, name), _Loader(game, name))


class _Loader:
    """The function by which OpenSpiel makes a game with other parameters than `game`'s."""

    def __init__(self, game: Game, name: str) -> None:
        self._game, self._name = game, name
        self._kept = self  # OpenSpiel drops its reference after the interpreter's end, when nothing may be freed

    def __call__(self, params: dict[str, Any]) -> OpenSpielGame:
        changed = {key: _value(self._game, key, value) for key, value in params.items() if key not in _OWN}
        own = {key: params[key] for key in _OWN if key in params}
        return OpenSpielGame(dataclasses.replace(self._game, **changed), name=self._name, **own)  # type: ignore[type-var]  # games are dataclasses


def _plain(game: Game) -> dict[str, Any]:
    """Return a game's parameters as OpenSpiel takes them: several whole numbers are text such as `3x1x1`."""
    return {key: "x".join(map(str, x)) if isinstance(x, tuple) else x for key, x in game.parameters.items()}


def _value(game: Game, key: str, value: Any) -> Any:
    """Return a parameter as the game takes it; the game refuses what is wrong."""
    several = isinstance(value, str) and isinstance(getattr(game, key, None), tuple)
    return tuple(int(x) if x.isdecimal() else x for x in value.split("x")) if several else value


def _type(game: Game, name: str) -> Any:
    info, kinds = game.info, pyspiel.GameType
    return kinds(
        short_name=name,
        long_name=info.title,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if info.zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=info.num_players,
        min_num_players=info.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={**_plain(game), "seed": 0, "position": ""},
    )


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel is untyped
    """A game for OpenSpiel's algorithms.

    A player's return is the outcome: 1 for a win, 0 for a draw, -1 for a loss. Rewards of single steps, such as
    shaping, are left out. There are no chance nodes: a game of chance is the one that its seed draws, so that an
    algorithm that looks ahead knows the draws.

    Args:
        game: the rules, or the id of a registered game with its default parameters.
        seed: seed of the game, of which its draws are a function.
        position: the start, as `game.state_to_string` writes it; "" is the game's usual start.
        name: the game's name in OpenSpiel; by default `cellgames_` and the id. An unknown name is registered.

    Raises:
        ValueError: the game has simultaneous moves, hidden information or several components of an action; or the
            position is wrong.
    """

    def __init__(self, game: Game | str, *, seed: int = 0, position: str = "", name: str = "") -> None:
        self.rules = game = make(game) if isinstance(game, str) else game
        if obstacles := game.info.search_obstacles:
            raise InputError("game", "one in turns with perfect information", cause=", ".join(obstacles), where=game.id)
        position = unquote(position)
        state = game.string_to_state(position, seed) if position else game.init(torch.tensor([seed], device="cpu"))
        if bool(state.done):
            raise InputError("position", "the position of a game that goes on", shown(position), where=game.id)
        self.start = game.solo(state)
        name = name or _name(game.id)
        _register(game, name)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.info.num_actions,
            max_chance_outcomes=0,
            num_players=game.info.num_players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if game.info.zero_sum else None,
            max_game_length=game.info.max_turns,
        )
        own = {"seed": seed, "position": quote(position, _PLAIN)}
        super().__init__(_type(game, name), info, {**_plain(game), **own})

    def new_initial_state(self, state: object = None) -> OpenSpielState:
        """Return the start of a game; OpenSpiel's descriptions of other states are not taken."""
        if state is not None:
            raise InputError("state", "None", state, "give the position to the game", self.rules.id)
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Return the observer that OpenSpiel asks for: of the position, or of the moves."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _Observer(self, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class OpenSpielState(pyspiel.State):  # type: ignore[misc]  # pyspiel is untyped
    """A position of an `OpenSpielGame` that its actions change.

    An illegal action raises `pyspiel.SpielError` and changes nothing.

    Attributes:
        solo: the game of the package, which is copied with the state.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self._rules, self.solo = game.rules, game.start.copy()

    def current_player(self) -> int:
        """Return the seat to move; OpenSpiel's own number after the end."""
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.solo.current_player

    def is_terminal(self) -> bool:
        """Return True if the game is over."""
        return self.solo.terminated or self.solo.truncated

    def returns(self) -> list[float]:
        """Return the outcome of a finished game for each seat, and zeros before."""
        if not self.is_terminal():
            return [0.0] * self._rules.info.num_players
        return self._rules.outcome(self.solo.state())[0].double().tolist()

    def __str__(self) -> str:
        """Return the position as one line."""
        return self._rules.state_to_string(self.solo.state())

    def _legal_actions(self, player: int) -> list[int]:
        return self.solo.legal_actions().nonzero()[0].tolist()

    def _apply_action(self, action: int) -> None:
        legal = self.solo.legal_actions()
        if not (0 <= action < len(legal) and legal[action]):
            seat = self.solo.current_player
            raise pyspiel.SpielError(str(self._rules.illegal_action(self.solo.state(), 0, seat, 0, action)))
        self.solo.step(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self._rules.action_to_string(action)


class _Observer:
    """A view of positions, as `Game.observe` shows them to the player."""

    def __init__(self, game: OpenSpielGame, params: object) -> None:
        if params:
            raise InputError("params", "no parameters of the observation", params, where=game.rules.id)
        shape = game.rules.info.observation.shape
        self.dict = {"observation": np.zeros(shape, dtype=np.float32)}
        self.tensor: npt.NDArray[np.float32] = self.dict["observation"].reshape(-1)

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Fill the tensor with what the player sees."""
        self.dict["observation"][:] = state.solo.observe(player)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """Return the position as one line."""
        return str(state)
