"""Single games of other libraries behind one protocol, from which `game.ForeignGame` makes batches.

A name is `pettingzoo:MODULE`, such as `pettingzoo:pettingzoo.classic.tictactoe_v3`, `openspiel:GAME`, such as
`openspiel:havannah(board_size=4)`, `pgx:GAME`, such as `pgx:tic_tac_toe`, or `FILE.py:FUNCTION` for a function of one's
own that returns an environment of PettingZoo. Nothing is imported before such a name is typed.

Letters: `P` players, `A` actions.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core import chance
from cellgames.utils.errors import InputError, check_one_of, shown
from cellgames.utils.extras import install

Array = npt.NDArray[Any]

_ENVIRONMENT = "an environment"
_DRAWN = ("ansi", "rgb_array")
"""Render modes of environments, the best one first."""

_PERFECT = ("tictactoe", "connect_four", "chess", "go")
"""Games of PettingZoo's classic ones in which nothing is hidden; the library itself does not say so."""


_PGX_OPEN = (
    *("animal_shogi", "chess", "connect_four", "gardner_chess", "go_9x9", "go_19x19", "hex", "othello", "shogi"),
    "tic_tac_toe",
)
"""Games of Pgx in which nothing is hidden and chance draws no more than who begins; the library does not say so."""


class Simulator(ABC):
    """One game, from its start on.

    Attributes:
        title: the game's name for people.
        players: names of the seats.
        actions: the number of actions, `A`.
        simultaneous: True if all players act at once.
        perfect: True if every player sees the whole position, and chance plays no part in steps.
        stochastic: True if chance plays a part.
        mover: seat of the player who acts next; 0 where all do.
        scores: the sum of the rewards of each player so far.
        ends: True if the game has been ended by its rules, and by a limit.
    """

    title: str
    players: tuple[str, ...]
    actions: int
    simultaneous: bool = False
    perfect: bool = False
    stochastic: bool = True
    mover: int = 0
    scores: Sequence[float]
    ends: tuple[bool, bool] = (False, False)

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Begin a new game."""

    @abstractmethod
    def step(self, actions: Sequence[int]) -> None:
        """Play a step: the mover's action, or those of all players."""

    @abstractmethod
    def legal(self, seat: int) -> npt.NDArray[np.bool_]:
        """Return the mask of a player's legal actions, bool [A]."""

    @abstractmethod
    def observe(self, seat: int) -> Array:
        """Return a player's observation; its shape is the same in all positions."""

    def text(self) -> str:
        """Return the position for people, "" where the game has no text."""
        return ""

    def picture(self) -> Array | None:
        """Return the position as uint8 [H, W, 3]; None where the game has no picture."""
        return None

    def copy(self) -> Simulator | None:
        """Return a game that goes on from here without this one; None where that takes longer than to play it again."""
        return None


def simulator(name: str, drawn: bool = False) -> Simulator:
    """Return a game by its name; a `ValueError` says what cannot be found or played.

    With `drawn` an environment of PettingZoo has texts or pictures of its positions, which take it time in each game.
    """
    library, _, rest = name.partition(":")
    if library in ("openspiel", "pgx"):
        return OpenSpielGame(rest) if library == "openspiel" else PgxGame(rest)
    made = _tried(name, _ENVIRONMENT, _factory(name, library, rest, drawn))
    if not hasattr(made, "possible_agents"):
        raise InputError(shown(name), "an environment of PettingZoo", type(made).__name__)
    return AECGame(made) if hasattr(made, "agent_iter") else ParallelGame(made)


@cache
def _factory(name: str, library: str, rest: str, drawn: bool) -> Callable[..., Any]:
    """Return the function that makes an environment, with texts or pictures if these are wanted and there are some."""
    if drawn:
        plain = _factory(name, library, rest, False)
        offered = getattr(_tried(name, _ENVIRONMENT, plain), "metadata", {}).get("render_modes") or ()
        for mode in _DRAWN:
            drawing = partial(plain, render_mode=mode)
            with suppress(InputError):  # a function without the argument
                if mode in offered and _tried(name, _ENVIRONMENT, drawing):
                    return drawing
        return plain
    if library == "pettingzoo":
        module = _tried(name, "a module that can be imported", importlib.import_module, rest)
        if not callable(found := getattr(module, "env", None) or getattr(module, "parallel_env", None)):
            raise InputError(shown(name), "a module with env or parallel_env", rest)
    else:
        spec = importlib.util.spec_from_file_location(Path(library).stem, library)
        if spec is None or spec.loader is None or not Path(library).is_file():
            raise InputError(shown(name), "a file", library)
        module = importlib.util.module_from_spec(spec)
        _tried(name, "a file that can be run", spec.loader.exec_module, module)
        if not callable(found := getattr(module, rest, None)):
            raise InputError(shown(name), f"a function of {library} that makes an environment", shown(rest))
    return cast(Callable[..., Any], found)


def _tried(name: str, expected: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function; an `InputError` says what was expected of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments)
    except (Exception, SystemExit) as error:  # whatever the function does
        raise InputError(shown(name), expected, f"{type(error).__name__}: {error}") from error


def _only_first(actions: int) -> npt.NDArray[np.bool_]:
    """Return the mask of players who have no choice: action 0."""
    mask = np.zeros(actions, np.bool_)
    mask[0] = True
    return mask


class _PettingZoo(Simulator):
    """What environments of PettingZoo in turns and with all at once have in common."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.title = str(getattr(env, "metadata", {}).get("name", type(env.unwrapped).__name__))
        self.perfect = self.title.split("_v")[0] in _PERFECT
        self.stochastic = not self.perfect
        agents = self.players = tuple(map(str, env.possible_agents))
        spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
        numbers = {int(space.n) for space in spaces.values() if hasattr(space, "n") and not space.shape}
        if any(not hasattr(space, "n") or space.shape for space in spaces.values()) or len(agents) < 1:
            raise InputError(self.title, "discrete actions of every player", str(next(iter(spaces.values()))))
        self.actions = max(numbers)
        self._own = {agent: int(spaces[agent].n) for agent in env.possible_agents}
        self.scores = [0.0] * len(agents)

    def _array(self, seen: Any) -> Array:
        """Return an observation as an array, without its mask."""
        if isinstance(seen, dict):
            seen = seen.get("observation", next((value for name, value in seen.items() if name != "action_mask"), 0))
        if isinstance(seen, dict | tuple | list):
            parts = seen.values() if isinstance(seen, dict) else seen
            seen = np.concatenate([np.ravel(self._array(part)) for part in parts])
        found: Array = np.asarray(seen)
        return found.astype(np.int8) if found.dtype == np.bool_ else found

    def _mask(self, agent: str, seen: Any, info: Any) -> npt.NDArray[np.bool_]:
        given = seen.get("action_mask") if isinstance(seen, dict) else None
        given = info.get("action_mask") if given is None and isinstance(info, dict) else given
        mask = np.zeros(self.actions, np.bool_)
        mask[: self._own[agent]] = True if given is None else np.asarray(given, bool)
        return mask if mask.any() else ~mask

    def _earned(self, rewards: dict[str, Any]) -> list[float]:
        """Return the scores after a step."""
        agents = zip(self.scores, self.env.possible_agents, strict=True)
        return [score + float(rewards.get(agent, 0.0)) for score, agent in agents]

    def _rendered(self) -> Any:
        with suppress(Exception), warnings.catch_warnings():  # many environments render only to a window
            warnings.simplefilter("ignore")
            return self.env.render()
        return None

    @override
    def text(self) -> str:
        found = self._rendered()
        return found if isinstance(found, str) else ""

    @override
    def picture(self) -> Array | None:
        found = self._rendered()
        rgb = isinstance(found, np.ndarray) and found.ndim == 3 and found.shape[2] == 3
        return found.astype(np.uint8) if rgb else None


class AECGame(_PettingZoo):
    """An environment of PettingZoo in which players act in turns."""

    @override
    def reset(self, seed: int) -> None:
        self.env.reset(seed=seed & 0x7FFFFFFF)
        self._last = self._array(self.env.observe(self.env.agent_selection))
        self.scores, self.ends = [0.0] * len(self.players), (False, False)
        self.mover = self.players.index(self.env.agent_selection)

    @override
    def step(self, actions: Sequence[int]) -> None:
        env = self.env
        env.step(int(actions[0]))
        self.scores = self._earned(env.rewards)
        while env.agents and (env.terminations.get(agent := env.agent_selection) or env.truncations.get(agent)):
            env.step(None)
        over, cut = not env.agents, any(env.truncations.values()) and not any(env.terminations.values())
        self.ends, self.mover = (over and not cut, over and cut), 0 if over else self.players.index(env.agent_selection)

    @override
    def legal(self, seat: int) -> npt.NDArray[np.bool_]:
        agent = self.env.possible_agents[seat]
        if agent not in self.env.agents:
            return _only_first(self.actions)
        return self._mask(agent, self.env.observe(agent), self.env.infos.get(agent))

    @override
    def observe(self, seat: int) -> Array:
        agent = self.env.possible_agents[seat]
        if agent in self.env.agents:
            self._last = self._array(self.env.observe(agent))
            return self._last
        return np.zeros_like(self._last)  # not every environment knows a view of players who are out


class ParallelGame(_PettingZoo):
    """An environment of PettingZoo in which all act at once; it does not hear action 0 of players who are out."""

    simultaneous = True

    @override
    def reset(self, seed: int) -> None:
        self._seen, self._infos = self.env.reset(seed=seed & 0x7FFFFFFF)
        self._first = dict(self._seen)
        self.scores, self.ends = [0.0] * len(self.players), (False, False)

    @override
    def step(self, actions: Sequence[int]) -> None:
        given = {a: int(actions[seat]) for seat, a in enumerate(self.env.possible_agents) if a in self.env.agents}
        self._seen, rewards, terminated, truncated, self._infos = self.env.step(given)
        self.scores = self._earned(rewards)
        over = not self.env.agents or all(terminated.get(a) or truncated.get(a) for a in given)
        cut = any(truncated.values()) and not any(terminated.values())
        self.ends = over and not cut, over and cut

    @override
    def legal(self, seat: int) -> npt.NDArray[np.bool_]:
        agent = self.env.possible_agents[seat]
        if agent not in self.env.agents:
            return _only_first(self.actions)
        return self._mask(agent, self._seen.get(agent), self._infos.get(agent))

    @override
    def observe(self, seat: int) -> Array:
        agent = self.env.possible_agents[seat]
        seen = self._array(self._seen[agent] if agent in self._seen else self._first[agent])
        return seen if agent in self._seen else np.zeros_like(seen)


class OpenSpielGame(Simulator):
    """A game of OpenSpiel, in turns or with all at once; its chance is drawn from the seed."""

    def __init__(self, name: str) -> None:
        try:
            import pyspiel
        except ImportError as error:
            raise ImportError(f"games of OpenSpiel need OpenSpiel: {install('openspiel')}") from error
        check_one_of("openspiel", name.partition("(")[0], pyspiel.registered_names())  # else C++ prints all of them
        try:
            self.rules = pyspiel.load_game(name)
        except Exception as error:
            raise InputError(f"openspiel:{name}", "a game of OpenSpiel", str(error).splitlines()[0]) from None
        kind = self.rules.get_type()
        self.title = kind.long_name
        self.players = tuple(f"player_{seat}" for seat in range(self.rules.num_players()))
        self.actions = self.rules.num_distinct_actions()
        if kind.dynamics == kind.Dynamics.MEAN_FIELD or self.actions < 1:
            raise InputError(f"openspiel:{name}", "a game of moves in turns or at once", str(kind.dynamics))
        self.simultaneous = kind.dynamics == kind.Dynamics.SIMULTANEOUS
        self.perfect = kind.information == kind.Information.PERFECT_INFORMATION
        self.perfect &= kind.chance_mode == kind.ChanceMode.DETERMINISTIC
        self.stochastic = kind.chance_mode != kind.ChanceMode.DETERMINISTIC
        self._seen = "observation" if kind.provides_observation_tensor else "information_state"
        if not (kind.provides_observation_tensor or kind.provides_information_state_tensor):
            self._seen = ""

    @override
    def copy(self) -> Simulator:
        twin = copy.copy(self)
        twin._state = self._state.clone()
        return twin

    @override
    def reset(self, seed: int) -> None:
        self._seed, self._draws, self._state = seed, 0, self.rules.new_initial_state()
        self._after_chance()

    def _after_chance(self) -> None:
        """Let chance act as long as it is its turn, and read the position."""
        while self._state.is_chance_node():
            actions, weights = zip(*self._state.chance_outcomes(), strict=True)
            lot = (chance.draw_one(self._seed, chance.USER, self._draws) >> 10) / float(1 << 53)
            place = int(np.searchsorted(np.cumsum(weights), lot * sum(weights), side="right"))
            self._state.apply_action(actions[min(place, len(actions) - 1)])
            self._draws += 1
        self.scores, self.ends = self._state.returns(), (self._state.is_terminal(), False)
        self.mover = 0 if self.simultaneous else max(0, self._state.current_player())

    @override
    def step(self, actions: Sequence[int]) -> None:
        if self._state.is_simultaneous_node():
            self._state.apply_actions([int(action) for action in actions])
        else:
            self._state.apply_action(int(actions[self._state.current_player() if self.simultaneous else 0]))
        self._after_chance()

    @override
    def legal(self, seat: int) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.actions, np.bool_)
        mask[self._state.legal_actions(seat)] = True
        return mask if mask.any() else _only_first(self.actions)

    @override
    def observe(self, seat: int) -> Array:
        if not self._seen:
            return np.zeros(1, np.float32)
        shape = getattr(self.rules, f"{self._seen}_tensor_shape")()
        return np.array(getattr(self._state, f"{self._seen}_tensor")(seat), np.float32).reshape(shape)

    @override
    def text(self) -> str:
        return str(self._state)


@cache
def _compiled(name: str) -> tuple[Any, ...]:
    """Return a game of Pgx, JAX's random numbers, and the game's functions to begin, to step and to observe."""
    try:
        import jax
        import pgx
    except ImportError as error:
        raise ImportError("games of Pgx need Pgx and JAX: pip install pgx") from error
    if name not in pgx.available_envs():
        raise InputError(f"pgx:{name}", f"a game of Pgx ({', '.join(pgx.available_envs())})", name)
    rules = pgx.make(name)
    return rules, jax.random, *map(jax.jit, (rules.init, rules.step, rules.observe))


class PgxGame(Simulator):
    """A game of Pgx; its chance is drawn from the seed."""

    def __init__(self, name: str) -> None:
        self._rules, self._random, self._init, self._step, self._observe = _compiled(name)
        self.title, self.actions = name.replace("_", " "), int(self._rules.num_actions)
        self.players = tuple(f"player_{seat}" for seat in range(self._rules.num_players))
        self.perfect = name in _PGX_OPEN

    @override
    def copy(self) -> Simulator:
        return copy.copy(self)  # positions are never changed

    @override
    def reset(self, seed: int) -> None:
        self._key = self._random.PRNGKey(seed & 0x7FFFFFFF)
        self.scores = [0.0] * len(self.players)
        self._read(self._init(self._key))

    def _read(self, state: Any) -> None:
        self._state, self.mover = state, int(state.current_player)
        self.ends = bool(state.terminated), bool(state.truncated) and not bool(state.terminated)

    @override
    def step(self, actions: Sequence[int]) -> None:
        self._key, key = self._random.split(self._key)
        state = self._step(self._state, int(actions[0]), key)
        self.scores = [score + float(reward) for score, reward in zip(self.scores, state.rewards, strict=True)]
        self._read(state)

    @override
    def legal(self, seat: int) -> npt.NDArray[np.bool_]:
        mine = seat == self.mover and not any(self.ends)
        return np.array(self._state.legal_action_mask) if mine else _only_first(self.actions)

    @override
    def observe(self, seat: int) -> Array:
        seen: Array = np.array(self._observe(self._state, seat))
        return seen.astype(np.int8) if seen.dtype == np.bool_ else seen
