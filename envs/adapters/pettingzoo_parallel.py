"""PettingZoo's parallel interface to games in which all players act at once.

PettingZoo's `parallel_to_aec` turns these environments into AEC ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import ParallelEnv

from cellgames.envs.core.game import Game
from cellgames.envs.registry import make
from cellgames.utils.errors import InputError, listed, shown

from .pettingzoo_common import Observation, PettingZooGame

Infos = dict[str, dict[str, Any]]


class ParallelGame(PettingZooGame, ParallelEnv[str, Observation, Any]):
    """Any simultaneous game as a parallel environment.

    Observations are {"observation": the player's observation, "action_mask": int8, 1 is legal, or a tuple of
    such masks where an action has several components}. `infos[agent]` are the game's infos (`Solo.infos`):
    "score", its own measure for that player, and the game's further entries. An illegal choice is replaced (see
    `Game.fallback`); `infos[agent]["illegal_action"]` says so.
    """

    PARALLELIZABLE = True

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        if not game.info.simultaneous:
            raise InputError("game", "one where all act at once", cause="use AECGame", where=game.id)
        super().__init__(game, render_mode)
        self._legal: npt.NDArray[np.bool_]  # [P, A], of the game in progress

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Start a new game; arguments and errors are those of `AECGame.reset`."""
        self._start(seed, options)
        self.agents = self.possible_agents[:]
        if self.render_mode == "human":
            self.render()
        self._legal = self._solo.legal_actions()
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Let all players act; after the last step of a game `agents` is empty, and steps do nothing.

        Raises:
            ValueError: not one action of each agent, or one not made of whole numbers; nothing changes.
        """
        players, solo = self.possible_agents, self._solo
        if not self.agents:
            return {}, {}, {}, {}, {}
        if not isinstance(actions, Mapping) or set(actions) != set(players):
            got = f"those of {listed(list(actions)) or 'nobody'}" if isinstance(actions, Mapping) else shown(actions)
            raise InputError("actions", f"those of {players}", got, where=self.game.id)
        chosen, faults = self._chosen(actions)
        solo.step(chosen if len(self._components) > 1 else chosen[:, 0])
        self._legal = solo.legal_actions()
        infos = self._infos()
        for agent, text in faults.items():
            infos[agent]["illegal_action"] = text
        if solo.terminated or solo.truncated:
            self.agents = []
        if self._window is not None:
            self._draw()
        return (
            self._observations(),
            dict(zip(players, solo.rewards, strict=True)),
            dict.fromkeys(players, solo.terminated),
            dict.fromkeys(players, solo.truncated),
            infos,
        )

    def _observations(self) -> dict[str, Observation]:
        return {
            agent: {"observation": self._solo.observe(seat), "action_mask": self._as_mask(self._legal[seat])}
            for agent, seat in self._seats.items()
        }

    def _infos(self) -> Infos:
        return {agent: self._solo.infos(seat) for agent, seat in self._seats.items()}

    def _chosen(self, actions: Mapping[str, Any]) -> tuple[npt.NDArray[np.int64], dict[str, str]]:
        """Return legal choices [P, K], and a text for every agent of whom one had to be replaced."""
        flags, nvec = self._legal.tobytes(), self.game.info.action_nvec  # bytes are quick to read one by one
        rows, place = [], 0  # of a component's first choice among the flags
        faults: dict[str, str] = {}
        for agent, seat in self._seats.items():
            row = self._whole_numbers(agent, actions[agent])
            for component, (choice, choices) in enumerate(zip(row, nvec, strict=True)):
                if not (0 <= choice < choices and flags[place + choice]):
                    played = self.game.fallback(component, self._legal[seat, self._components[component]])
                    row[component] = played
                    error = self.game.illegal_action(self._solo.state(), 0, seat, component, choice)
                    text = f"{error}; played {played} instead"
                    faults[agent] = f"{faults[agent]}\n{text}" if agent in faults else text
                place += choices
            rows.append(row)
        return np.array(rows, np.int64), faults


def make_parallel(*, id: str, render_mode: str | None = None, **parameters: Any) -> ParallelGame:
    """Make the environment of the simultaneous game called `id` (entry point of PettingZoo's registry)."""
    return ParallelGame(make(id, **parameters), render_mode)
