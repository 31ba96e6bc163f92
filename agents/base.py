"""What an agent is, and the one place where agents are asked for actions.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action, `B` games,
`P` seats.

An agent is batched: it is asked once a turn for all games that wait for it. It sees observations and masks
and nothing else, so it cannot peek. Search agents need positions to play on from; they get them only in games
in turns with perfect information.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor

from cellgames.envs.core import Game, State, chance

__all__ = [
    "Agent",
    "AnyAgent",
    "BaseAgent",
    "Question",
    "Seats",
    "StateAgent",
    "acting",
    "draw_seeds",
    "question",
    "select",
    "takes_states",
]


@runtime_checkable
class Agent(Protocol):
    """A player that sees observations.

    `name` is what tables and errors call it. Randomness is consumed from the generator that comes with each
    call, so an agent with the same memory, observations and generator gives the same actions.
    """

    name: str

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Games begin; memory that an agent keeps is kept per env, and forgotten here.

        Args:
            game: the rules; the same for all envs.
            players: int64 [L], the agent's seat in each of the envs.
            env_ids: int64 [L], the envs' numbers. An env in which the agent has two seats comes twice.
        """

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Args:
            observation: [L, ...], what the seat to act may know, as `game.info.observation` says.
            action_mask: bool [L, A], True is legal.
            env_ids: int64 [L], ascending. In simultaneous games an env comes once for each seat the agent has
                in it, seats ascending.
            generator: consumed.

        Returns:
            int64 [L], or [L, K] if an action has K > 1 components.
        """


@runtime_checkable
class StateAgent(Protocol):
    """A player that searches: it gets positions, in games in turns with perfect information only."""

    name: str

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `Agent.start`."""

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Args:
            state: `L` unfinished games, all of them waiting for this agent. In games of chance their seeds
                are not the true ones, so that nobody knows the dice to come.
            env_ids: int64 [L], ascending, where those games are played.
            generator: consumed.

        Returns:
            int64 [L].
        """


AnyAgent: TypeAlias = Agent | StateAgent
"""An agent of either protocol."""


class BaseAgent:
    """A name (by default the class's) and a `start` that does nothing, for agents without memory."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name if name is not None else type(self).__name__

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `Agent.start`."""


class Seats:
    """Memory of who an agent is in which env, for agents in simultaneous games: `Agent.act` does not tell."""

    def __init__(self) -> None:
        self._held = torch.zeros((0, 0), dtype=torch.bool)  # [envs, P]

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Games begin; the arguments are those of `Agent.start`."""
        if self._held.shape[1] != game.info.num_players or self._held.device != env_ids.device:
            self._held = torch.zeros((0, game.info.num_players), dtype=torch.bool, device=env_ids.device)
        self._reach(env_ids)
        self._held[env_ids] = False
        self._held[env_ids, players] = True

    def of(self, env_ids: Tensor) -> Tensor:
        """The seat to act in each row of an `Agent.act`, int64 [L].

        Args:
            env_ids: int64 [L], as in `Agent.act`.

        Raises:
            ValueError: an env comes more often than the agent has seats in it.
        """
        self._reach(env_ids)
        held = self._held[env_ids]
        before = torch.arange(len(env_ids), device=env_ids.device) - torch.searchsorted(env_ids, env_ids)
        seat = held & (held.cumsum(1) == before[:, None] + 1)
        if not (found := seat.any(1)).all():
            env_id = int(env_ids[~found][0])
            raise ValueError(
                f"expected to be asked for the {int(self._held[env_id].sum())} seats that the agent has in env "
                f"{env_id}, got {int((env_ids == env_id).sum())}; were the games started by "
                "start(game, players, env_ids)?"
            )
        return seat.int().argmax(1)

    def _reach(self, env_ids: Tensor) -> None:
        """Make room for the envs."""
        missing = int(env_ids.max()) + 1 - len(self._held) if len(env_ids) else 0
        self._held = torch.nn.functional.pad(self._held, (0, 0, 0, max(missing, 0)))


def acting(agent: AnyAgent, game: Game) -> AnyAgent:
    """The agent itself, or the one that it is in this game (`by_game.ByGame`)."""
    from .by_game import ByGame

    return agent.playing(game) if isinstance(agent, ByGame) else agent


def takes_states(agent: AnyAgent, game: Game) -> bool:
    """Whether the agent is asked by `act_on_state` (else by `act`).

    Raises:
        ValueError: neither method serves in this game.
    """
    info, agent = game.info, acting(agent, game)
    allowed = info.perfect_information and not info.simultaneous
    searches = _has(agent, "act_on_state")
    if searches and allowed:
        return True
    if _has(agent, "act"):
        return False
    if searches:
        kind = "simultaneous" if info.simultaneous else "with hidden information"
        raise ValueError(
            f"agent {agent.name!r} searches on states, which needs a game in turns with perfect information; "
            f"{game.id} is {kind}"
        )
    raise ValueError(
        f"expected an agent with name, start and act (or act_on_state), got {type(agent).__name__}; "
        "cellgames.agents.load makes one from a spec"
    )


def _has(agent: AnyAgent, method: str) -> bool:
    """Whether it is an agent that is asked by this method; `isinstance` of a protocol takes long, once a turn."""
    return hasattr(agent, method) and hasattr(agent, "start") and hasattr(agent, "name")


def draw_seeds(count: int, generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """int64 [count], seeds for envs; one number of the generator is consumed."""
    root = torch.randint(1 << 62, (), generator=generator, device=generator.device)
    return chance.seeds(int(root), count, device)


def select(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor | None = None,
) -> Tensor:
    """Ask an agent for its actions, and check them.

    Args:
        agent: asked once, by `act_on_state` or by `act`.
        game: the rules.
        state: all games of the batch, [B].
        env_ids: int64 [L], the unfinished games to ask about.
        generator: consumed by the agent.
        players: int64 [L], the seats to act. Games in turns need none: it is whose turn it is.

    Returns:
        int64 [L], or [L, K], legal, on the state's device.

    Raises:
        ValueError: names agent, env, action and reason if an action is not legal; the agent cannot play this
            kind of game.
    """
    asked = question(agent, game, state, env_ids, generator, players)
    actions = asked.answer(generator)
    if fault := asked.fault(actions):
        raise ValueError(f"agent {asked.agent.name!r} {fault}")
    wrong, actions = asked.illegal(actions)
    if wrong.any():
        row, component = wrong.nonzero()[0].tolist()
        action, reason = asked.why_illegal(actions, row, component)
        part = f", component {component}" if len(game.info.action_nvec) > 1 else ""
        raise ValueError(
            f"agent {asked.agent.name!r} chose illegal action {action} as {game.info.players[int(asked.players[row])]} "
            f"in env {int(env_ids[row])} of {game.id}{part}: {reason}"
        )
    return actions


@dataclass(frozen=True, eq=False)
class Question:
    """What an agent is asked in one call of `act_on_state` or `act`, and whether its answer will do.

    agent:   who is asked.
    game:    the rules.
    state:   the `L` games, true seeds.
    env_ids, players: int64 [L], as in `select`.
    mask:    bool [L, A], of the seats to act.
    seeds:   int64 [L], shown to an agent that gets states of a game of chance; None for others.
    on_state: whether the agent is asked by `act_on_state`.
    """

    agent: AnyAgent
    game: Game
    state: State
    env_ids: Tensor
    players: Tensor
    mask: Tensor
    seeds: Tensor | None
    on_state: bool

    def answer(self, generator: torch.Generator) -> Any:
        """Ask; what comes back is not checked. All that the agent gets are copies."""
        env_ids = self.env_ids.clone()
        if self.on_state:
            state = self.state.clone()
            if self.seeds is not None:
                state = state.replace(seed=self.seeds)
            return self.agent.act_on_state(state, env_ids, generator)  # type: ignore[union-attr]  # `on_state` says so
        observation = self.game.observe(self.state, self.players)
        return self.agent.act(observation, self.mask.clone(), env_ids, generator)  # type: ignore[union-attr]  # same

    def fault(self, actions: Any) -> str:
        """What is wrong with the answer as a whole, "" if it is a number (or `K`) for each game."""
        nvec = self.game.info.action_nvec
        shape = (len(self.env_ids),) if len(nvec) == 1 else (len(self.env_ids), len(nvec))
        if not isinstance(actions, Tensor):
            return (
                f"must give a tensor of actions, got {type(actions).__name__}; "
                "cellgames.agents.PolicyAgent wraps a function of one observation"
            )
        if actions.dtype.is_floating_point or actions.dtype.is_complex or actions.dtype == torch.bool:
            return f"must give whole numbers, got {actions.dtype}"
        if tuple(actions.shape) != shape:
            return f"must give one action a game, {list(shape)}, got {list(actions.shape)}"
        return ""

    def illegal(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Bool [L, K], which components are not legal; and the actions, int64 on the games' device."""
        actions = actions.to(self.state.device, torch.int64)
        parts = actions.view(len(self.env_ids), len(self.game.info.action_nvec))
        return ~self.game.info.admits(self.mask, parts), actions

    def why_illegal(self, actions: Tensor, row: int, component: int) -> tuple[int, str]:
        """An illegal action and the reason."""
        action = int(actions.view(len(self.env_ids), -1)[row, component])
        return action, self.game.why_illegal(self.state[row], int(self.players[row]), component, action)


def question(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor | None = None,
) -> Question:
    """What `select` asks; the arguments are its own. Seeds of games of chance are drawn here."""
    info, agent = game.info, acting(agent, game)
    part = state[env_ids]  # a copy: what agents do to their arguments stays with them
    mask = game.legal_actions(part)
    if info.simultaneous:
        if players is None:
            raise ValueError(f"{game.id}: all seats act at once, so select needs players, got None")
        mask = mask[torch.arange(len(env_ids), device=state.device), players]
    else:
        players = part.current_player
    on_state = takes_states(agent, game)
    seeds = draw_seeds(len(env_ids), generator, state.device) if on_state and info.stochastic else None
    return Question(agent, game, part, env_ids, players, mask, seeds, on_state)
