"""Asking an agent for actions, and checking what it gives.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action, `B` games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.envs.kernels.actions import ActionsError, as_actions
from cellgames.utils.errors import InputError, shown

from .base import AnswerError, AnyAgent, acting, draw_seeds, takes_states
from .views import Views, takes_views


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
        agent: asked once, by `act_on_state`, `act_on_views` or `act`.
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
    try:
        actions = asked.answer(generator)
    except AnswerError as error:
        raise ValueError(f"agent {shown(asked.agent.name)} {error}") from error.__cause__
    wrong = asked.illegal(actions)
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
    """One call of an agent's `act_on_state`, `act_on_views` or `act`, and the checks of its answer.

    Attributes:
        agent: the agent to ask.
        game: the rules.
        state: the `L` games, with their true seeds.
        env_ids: int64 [L], as in `select`.
        players: int64 [L], the seats to act.
        mask: bool [L, A], of these seats.
        seeds: int64 [L], shown instead of the true ones to an agent that gets states of a game of chance; else None.
        on_state: True if the agent is asked by `act_on_state`.
        on_views: True if it is asked by `act_on_views`.
    """

    agent: AnyAgent
    game: Game
    state: State
    env_ids: Tensor
    players: Tensor
    mask: Tensor
    seeds: Tensor | None
    on_state: bool
    on_views: bool = False

    def answer(self, generator: torch.Generator) -> Tensor:
        """Ask the agent, with copies of everything.

        Returns:
            int64 [L], or [L, K], on the games' device. Legality is not checked.

        Raises:
            AnswerError: the answer is something else.
        """
        agent: Any = self.agent
        env_ids = self.env_ids.clone()
        if self.on_state:
            state = self.state.clone()
            if self.seeds is not None:
                state = state.replace(seed=self.seeds)
            actions = agent.act_on_state(state, env_ids, generator)
        elif self.on_views:
            views = Views(self.game, self.state, self.players, self.mask.clone())
            actions = agent.act_on_views(views, env_ids, generator)
        else:
            actions = agent.act(self.game.observe(self.state, self.players), self.mask.clone(), env_ids, generator)
        nvec = self.game.info.action_nvec
        shape = (len(self.env_ids),) if len(nvec) == 1 else (len(self.env_ids), len(nvec))
        try:
            return as_actions(actions, shape, self.state.device)
        except ActionsError as error:
            raise AnswerError(_wanted(error, shape)) from None

    def illegal(self, actions: Tensor) -> Tensor:
        """Return a mask of the illegal components of an answer, bool [L, K]."""
        parts = actions.view(len(self.env_ids), len(self.game.info.action_nvec))
        return ~self.game.info.admits(self.mask, parts)

    def why_illegal(self, actions: Tensor, row: int, component: int) -> tuple[int, str]:
        """Return an illegal action and the reason."""
        action = int(actions.view(len(self.env_ids), -1)[row, component])
        return action, self.game.why_illegal(self.state[row], int(self.players[row]), component, action)


def _wanted(error: ActionsError, shape: tuple[int, ...]) -> str:
    """Return descriptions of a valid answer and of this one."""
    if error.fault == "type":
        return (
            f"must give a tensor of actions, got {error.got}; "
            "cellgames.agents.PolicyAgent wraps a function of one observation"
        )
    if error.fault == "dtype":
        return f"must give whole numbers, got {error.got}"
    if error.fault == "shape":
        return f"must give one action a game, {list(shape)}, got {error.got}"
    return f"must give a dense tensor with numbers in memory, got {error.got}"


def question(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor | None = None,
) -> Question:
    """Return the question that `select` asks, with the same arguments; seeds of games of chance are drawn here."""
    info = game.info
    agent = acting(agent, game)
    part = state[env_ids]  # a copy: what agents do to their arguments stays with them
    mask = game.legal_actions(part)
    if info.simultaneous:
        if players is None:
            raise InputError("players", "players, since all seats act at once", None, where=game.id)
        mask = mask[torch.arange(len(env_ids), device=state.device), players]
    else:
        players = part.current_player
    on_state, on_views = takes_states(agent, game), takes_views(agent)
    seeds = draw_seeds(len(env_ids), generator, state.device) if on_state and info.stochastic else None
    return Question(agent, game, part, env_ids, players, mask, seeds, on_state, on_views)
