"""`mixed:SHARE:AGENT`: an agent that plays a share of its moves at random, for opponents of graded strength.

Letters: `L` games that wait for the agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, shown

from .base import AnyAgent, AskingAgent, ByGame, acting, is_memoryless, takes_states
from .loading import load
from .playouts import has_compound_turns, random_actions


def mixed(text: str) -> ByGame:
    """Return the agent of `mixed:TEXT`: a share between 0 and 1, a colon and the spec of another agent."""
    share, _, spec = text.partition(":")
    if re.fullmatch(r"0?\.\d{1,6}", share) is None or not spec:
        raise InputError("mixed:SHARE:AGENT", "a share of random moves and an agent, such as 0.3:greedy", shown(text))
    return ByGame(f"mixed:{text}", partial(_make, float(share), spec))


def _make(share: float, spec: str, game: Game) -> AnyAgent:
    agent = acting(load(spec, game), game)
    if has_compound_turns(game):
        if not hasattr(agent, "random_share"):
            raise InputError("mixed:SHARE:AGENT", "an agent that decides on whole turns", type(agent).__name__)
        agent.random_share = 1 - (1 - share) * (1 - agent.random_share)
        return agent
    if takes_states(agent, game):
        return MixedSearcher(share, agent, parts=not game.info.simultaneous)
    if not hasattr(agent, "act"):
        raise InputError(f"mixed:{share:g}:{spec}", "an agent that sees observations or positions", shown(spec))
    return MixedAgent(share, agent, parts=is_memoryless(agent, game) and not game.info.simultaneous)


class _Mixed(AskingAgent):
    """An agent that plays a share of its moves at random; with `parts` another one is asked about the others only."""

    def __init__(self, share: float, agent: Any, *, parts: bool) -> None:
        super().__init__(agent)
        self._share, self._parts = share, parts

    def _mix(self, mask: Tensor, generator: torch.Generator, ask: Callable[[Tensor], Tensor]) -> Tensor:
        """Return actions, int64 [L, ...]; `ask` gets the rows about which the other agent is asked."""
        actions = random_actions(mask, self.game.info.action_nvec, generator)
        drawn = torch.rand(len(mask), generator=generator, device=generator.device).to(mask.device)
        own = drawn >= self._share
        asked = own if self._parts else torch.ones_like(own)
        if asked.any():
            actions[own] = ask(asked.nonzero().squeeze(1))[own[asked]]
        return actions


class MixedAgent(_Mixed):
    """A mixture with an agent that sees observations; the arguments are those of `_Mixed`."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, as in `Agent.act`."""

        def ask(rows: Tensor) -> Any:
            return self._agent.act(observation[rows], action_mask[rows], env_ids[rows], generator)

        return self._mix(action_mask, generator, ask)


class MixedSearcher(_Mixed):
    """A mixture with an agent that gets positions; the arguments are those of `_Mixed`."""

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, as in `StateAgent.act_on_state`."""
        mask = self.game.legal_actions(state)
        return self._mix(mask, generator, lambda rows: self._agent.act_on_state(state[rows], env_ids[rows], generator))
