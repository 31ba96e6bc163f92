"""Asking an agent for actions, and checking what it gives.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action, `B` games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.utils.foreign_text import shown

from .base import AnyAgent, acting, draw_seeds, takes_states

__all__ = ["Question", "question", "select"]


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
        raise ValueError(f"agent {shown(asked.agent.name)} {fault}")
    wrong, actions = asked.illegal(actions)
    if wrong.any():
        row, component = wrong.nonzero()[0].tolist()
        action, reason = asked.why_illegal(actions, row, component)
        part = f", component {component}" if len(game.info.action_nvec) > 1 else ""
        raise ValueError(
            f"agent {shown(asked.agent.name)} chose illegal action {action} as "
            f"{game.info.players[int(asked.players[row])]} in env {int(env_ids[row])} of {game.id}{part}: {reason}"
        )
    return actions


@dataclass(frozen=True, eq=False)
class Question:
    """One call of an agent's `act_on_state` or `act`, and the checks of its answer.

    Attributes:
        agent: the agent to ask.
        game: the rules.
        state: the `L` games, with their true seeds.
        env_ids: int64 [L], as in `select`.
        players: int64 [L], the seats to act.
        mask: bool [L, A], of these seats.
        seeds: int64 [L], shown instead of the true ones to an agent that gets states of a game of chance; else None.
        on_state: True if the agent is asked by `act_on_state`.
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
        """Ask the agent, with copies of everything; the answer is not checked."""
        env_ids = self.env_ids.clone()
        if self.on_state:
            state = self.state.clone()
            if self.seeds is not None:
                state = state.replace(seed=self.seeds)
            return self.agent.act_on_state(state, env_ids, generator)  # type: ignore[union-attr]  # `on_state` says so
        observation = self.game.observe(self.state, self.players)
        return self.agent.act(observation, self.mask.clone(), env_ids, generator)  # type: ignore[union-attr]  # same

    def fault(self, actions: Any) -> str:
        """Return what is wrong with the answer as a whole; "" if it is one number (or `K`) for each game."""
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
        """Return which components are illegal, bool [L, K]; and the actions, int64 on the games' device."""
        actions = actions.to(self.state.device, torch.int64)
        parts = actions.view(len(self.env_ids), len(self.game.info.action_nvec))
        return ~self.game.info.admits(self.mask, parts), actions

    def why_illegal(self, actions: Tensor, row: int, component: int) -> tuple[int, str]:
        """Return an illegal action and the reason."""
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
    """Return the question that `select` asks, with the same arguments; seeds of games of chance are drawn here."""
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
