"""The protocol of agents, base classes for them, and the choice between observations and states.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action, `P` seats.

An agent is batched: it is asked once a turn for all games that wait for it. The arguments of its methods hold
observations and masks and nothing else, so an agent that looks at its arguments only learns nothing that is hidden.
That is no wall against a hostile program: the agents run in this process and could search its memory or its files.
Search agents need positions to play on from; they get them only in games with perfect information.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from torch import Tensor
from typing_extensions import TypeVar, override

from cellgames.envs.core import Game, chance
from cellgames.envs.core.inputs import ActionsError, from_numbers
from cellgames.utils.errors import InputError, shown

from .views import ViewAgent

G_co = TypeVar("G_co", bound=Game, default=Game, covariant=True)


PolicyLog: TypeAlias = dict[tuple[int, int], dict[int, float]]
"""The policies of searches: by environment and turn, the probability of each action that has some.

An agent that searches has an attribute `policy_log`, None unless somebody wants its policies.
"""


class AnswerError(ValueError):
    """An answer that is no tensor of actions; the message begins with "must" and does not name the agent."""


class PartialAnswerError(AnswerError):
    """An answer for some of the games; the agent failed in the others.

    Attributes:
        actions: int64 [L], or [L, K]; anything for games in which it failed.
        failures: by row, why, in one line.
    """

    def __init__(self, actions: Tensor, failures: Mapping[int, str]) -> None:
        super().__init__(f"failed: {next(iter(failures.values()))}")
        self.actions = actions
        self.failures = dict(failures)


@runtime_checkable
class Agent(Protocol):
    """A player that sees observations.

    Attributes:
        name: name in tables and errors.

    Randomness comes from the generator of each call, so an agent with the same memory, observations and generator
    gives the same actions.
    """

    name: str

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Forget these games: new ones begin in their places. Memory that an agent keeps is kept per environment.

        Args:
            game: the rules; the same in all environments.
            players: int64 [L], the agent's seat in each of the environments.
            env_ids: int64 [L], the environments' numbers. One in which the agent has two seats comes twice.
        """

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Args:
            observation: [L, ...], observations of the seats to act; `game.info.observation` has shape and dtype.
            action_mask: bool [L, A], True is legal.
            env_ids: int64 [L], ascending. In simultaneous games an environment comes once for each seat the agent has
                in it, seats ascending.
            generator: consumed.

        Returns:
            int64 [L], or [L, K] if an action has K > 1 components.
        """


@runtime_checkable
class StateAgent(Protocol):
    """A player that searches: it gets positions, in games with perfect information only."""

    name: str

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Forget these games, as in `Agent.start`."""

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Args:
            state: `L` unfinished games, all of them waiting for this agent. In games of chance their seeds
                are not the true ones, so that nobody knows the dice to come.
            env_ids: int64 [L], ascending, where those games are played. In simultaneous games an environment comes
                once for each seat the agent has in it, seats ascending (`Seats` tells them).
            generator: consumed.

        Returns:
            int64 [L].
        """


AnyAgent: TypeAlias = Agent | StateAgent | ViewAgent
"""An agent of one of the protocols."""


class BaseAgent:
    """A name (by default the class's) and a `start` that does nothing, for agents without memory."""

    spec: str | None = None
    """The spec by which it was loaded, None for an agent that was made otherwise."""

    memoryless: ClassVar[bool] = False
    """True if an agent of this class plays a game in progress, once `start` has told it its seat, as if it had played
    it from the beginning. Each class says so itself (`is_memoryless`), since a subclass may add a memory."""

    name: str = ""
    """The name in tables and errors; a class may state a default, otherwise it is that of the class."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name if name is not None else self.name or type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({getattr(self, 'name', None)!r})"

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Start new games, as in `Agent.start`."""


class GameAgent(BaseAgent, Generic[G_co]):
    """A base class of agents that keep the game that they play, and their seats where all act at once."""

    plays: ClassVar[type[Game]] = Game  # type: ignore[type-abstract]  # for isinstance
    """The class of games that it plays."""

    _game: G_co | None = None

    @property
    def game(self) -> G_co:
        """Return the game that is played; a `ValueError` before `start`."""
        if self._game is None:
            raise must_start(self)
        return self._game

    @cached_property
    def seats(self) -> Seats:
        """The agent's seats in the games that were started; empty in games in turns."""
        return Seats()

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the agent can play the game."""
        if not isinstance(game, self.plays):
            raise InputError(f"agent {self.name!r}", f"a game of {self.plays.id}", game.id)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)
        self._game = game  # type: ignore[assignment]  # checked
        if game.info.simultaneous:
            self.seats.start(game, players, env_ids)


class AskingAgent(GameAgent[G_co]):
    """A base class of agents that ask another one, which has their name, and plays this game or one like it."""

    def __init__(self, agent: AnyAgent) -> None:
        super().__init__(agent.name)
        self._agent: Any = agent

    def asked_game(self) -> Game:
        """Return the game that the other agent plays."""
        return self.game

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self._agent.start(self.asked_game(), players, env_ids)


class PolicyAgent(GameAgent):
    """An agent that asks a function about one game after the other, so it is as slow as the function times the games.

    Args:
        policy: gets `{"observation": array, "action_mask": array}` as the PettingZoo environment of the game
            gives it (the mask int8, 1 is legal; a tuple of masks if an action has several components) and
            returns a whole number (or one for each component). It owns the arrays. Its randomness is its own:
            the generator of the game loop does not reach it.
        name: as in `Agent`; defaults to the function's.
    """

    def __init__(self, policy: Callable[[dict[str, Any]], Any], name: str | None = None) -> None:
        super().__init__(name if name is not None else getattr(policy, "__name__", type(policy).__name__))
        self._policy = policy

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Raises:
            PartialAnswerError: the policy failed in some games.
        """
        observations = np.array(observation.numpy(force=True))
        masks = action_mask.numpy(force=True).astype(np.int8)
        nvec = self.game.info.action_nvec
        shape = (len(nvec),) if len(nvec) > 1 else ()
        chosen: list[Tensor] = []
        failures, cause = dict[int, str](), None
        for row, (seen, mask) in enumerate(zip(observations, masks, strict=True)):
            given = tuple(np.split(mask, np.cumsum(nvec)[:-1])) if shape else mask
            try:
                chosen.append(self._number(self._policy({"observation": seen, "action_mask": given}), shape))
            except Exception as error:
                failures[row] = str(error) if isinstance(error, AnswerError) else f"{type(error).__name__}: {error}"
                cause = cause or error
                chosen.append(torch.full(shape, -1))
        actions = torch.stack(chosen).to(action_mask.device)
        if failures:
            raise PartialAnswerError(actions, failures) from cause
        return actions

    @staticmethod
    def _number(answer: Any, shape: tuple[int, ...]) -> Tensor:
        try:
            # Not only numbers: arrays and tensors with a single one count as it.
            return from_numbers(answer if shape else operator.index(answer), shape)
        except (ActionsError, TypeError, ValueError, RuntimeError):
            wanted = "one whole number for each component" if shape else "a whole number"
            raise AnswerError(f"must give {wanted} as its action, got {shown(answer)}") from None


class ByGame(BaseAgent):
    """An agent that is another agent in each game, such as `greedy`.

    Args:
        name: as in `Agent`; the other agents get it, too.
        make: makes the agent for a game; raises a `ValueError` if the game has no such agent.
    """

    def __init__(self, name: str, make: Callable[[Game], AnyAgent]) -> None:
        super().__init__(name)
        self._make = make
        self._game: Game | None = None
        self._agent: AnyAgent | None = None

    def playing(self, game: Game) -> AnyAgent:
        """Return the agent that plays the game, always the same one; a `ValueError` if none of this name does."""
        if self._agent is None or game != self._game:
            self._agent = self._make(game)
            self._agent.name, self._game = self.name, game
        return self._agent

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless there is an agent for the game, and it can play it."""
        check = getattr(self.playing(game), "check_game", None)
        if check is not None:
            check(game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.playing(game).start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions as the game's agent does, if that one sees observations."""
        return self._started().act(observation, action_mask, env_ids, generator)  # type: ignore[no-any-return]

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions as the game's agent does, if that one gets positions."""
        return self._started().act_on_state(state, env_ids, generator)  # type: ignore[no-any-return]

    def _started(self) -> Any:
        if self._agent is None:
            raise must_start(self)
        return self._agent


class Seats:
    """Memory of an agent's seats in each environment, for agents in simultaneous games: `Agent.act` does not tell."""

    def __init__(self) -> None:
        self._held = torch.zeros((0, 0), dtype=torch.bool, device="cpu")  # [environments, P]

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Remember the seats of games that begin; the arguments are those of `Agent.start`."""
        if self._held.shape[1] != game.info.num_players or self._held.device != env_ids.device:
            self._held = torch.zeros((0, game.info.num_players), dtype=torch.bool, device=env_ids.device)
        self._held = reaching(self._held, env_ids)
        self._held[env_ids] = False
        self._held[env_ids, players] = True

    def of(self, env_ids: Tensor) -> Tensor:
        """Return the seat to act in each row of an `Agent.act`, int64 [L].

        Args:
            env_ids: int64 [L], as in `Agent.act`.

        Raises:
            ValueError: an environment comes more often than the agent has seats in it.
        """
        self._held = reaching(self._held, env_ids)
        held = self._held[env_ids]
        before = torch.arange(len(env_ids), device=env_ids.device) - torch.searchsorted(env_ids, env_ids)
        seat = held & (held.cumsum(1) == before[:, None] + 1)
        if not (found := seat.any(1)).all():
            env_id = int(env_ids[~found][0])
            expected = f"the {int(self._held[env_id].sum())} seats that the agent has in env {env_id}"
            cause = "did start(game, players, env_ids) start the games?"
            raise InputError("env_ids", expected, int((env_ids == env_id).sum()), cause)
        return seat.int().argmax(1)


def reaching(memory: Tensor, env_ids: Tensor, value: int = 0) -> Tensor:
    """Return an agent's memory by environment, [environments, ...], with rows of `value` to the last of `env_ids`."""
    missing = int(env_ids.max()) + 1 - len(memory) if len(env_ids) else 0
    return memory if missing <= 0 else torch.cat((memory, memory.new_full((missing, *memory.shape[1:]), value)))


def must_start(agent: BaseAgent) -> ValueError:
    """Return the error of an agent that is asked before it was started."""
    return ValueError(f"agent {shown(agent.name)} must be started before it acts: call start(game, players, env_ids)")


def acting(agent: AnyAgent, game: Game) -> AnyAgent:
    """Return the agent itself, or the one that it is in this game (`ByGame`)."""
    return agent.playing(game) if isinstance(agent, ByGame) else agent


def is_memoryless(agent: AnyAgent, game: Game) -> bool:
    """Return True if `start` is all that the agent needs to play on in a game in progress (`BaseAgent.memoryless`)."""
    return bool(vars(type(acting(agent, game))).get("memoryless", False))


def takes_views(agent: object) -> bool:
    """Return True if the agent is asked by `act_on_views`, since it has neither `act` nor `act_on_state`."""
    return hasattr(agent, "act_on_views") and not (hasattr(agent, "act") or hasattr(agent, "act_on_state"))


def takes_states(agent: AnyAgent, game: Game) -> bool:
    """Return True if the agent is asked by `act_on_state`, else by `act`; a `ValueError` if by neither."""
    info, agent = game.info, acting(agent, game)
    whole = hasattr(agent, "start") and hasattr(agent, "name")  # `isinstance` of a protocol takes long, once a turn
    searches = whole and hasattr(agent, "act_on_state")
    if searches and info.perfect_information:
        return True
    if whole and (hasattr(agent, "act") or hasattr(agent, "act_on_views")):
        return False
    if searches:
        cause = "it searches on states, and information is hidden"
        raise InputError(f"agent {shown(agent.name)}", "a game with perfect information", game.id, cause)
    expected = "name, start and act (or act_on_state)"
    raise InputError("agent", expected, type(agent).__name__, "cellgames.agents.load makes one from a spec")


def refuse(agent: BaseAgent, game: Game, obstacles: Sequence[str]) -> None:
    """Raise a `ValueError` if obstacles, such as `game.info.search_obstacles`, keep the agent from playing."""
    if obstacles:
        expected = "a game in turns with perfect information and plain integer actions"
        raise InputError(f"agent {shown(agent.name)}", expected, game.id, " and ".join(obstacles))


def draw_seeds(count: int, generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """Return seeds for games, int64 [count]; one number of the generator is consumed."""
    root = torch.randint(1 << 62, (), generator=generator, device=generator.device)
    return chance.seeds(int(root), count, device)
