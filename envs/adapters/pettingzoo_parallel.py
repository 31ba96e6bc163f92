"""PettingZoo's parallel interface to games in which all players act at once.

PettingZoo's `parallel_to_aec` turns these environments into AEC ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import ParallelEnv

from cellgames.envs.registry import make
from cellgames.utils.errors import InputError, listed, shown

from .pettingzoo_common import Observation, PettingZooGame, masks_by_component
from .seats import replaced

Infos = dict[str, dict[str, Any]]


class ParallelGame(PettingZooGame, ParallelEnv[str, Observation, Any]):
    """Any simultaneous game as a parallel environment.

    Observations are {"observation": the player's observation, "action_mask": int8, 1 is legal, or a tuple of
    such masks where an action has several components}. `infos[agent]` are the game's infos (`Solo.infos`):
    "score", its own measure for that player, and the game's further entries. An illegal choice is replaced (see
    `Game.fallback`); `infos[agent]["illegal_action"]` says so. One outside the action space raises.
    """

    PARALLELIZABLE = True
    _GAMES = "one where all act at once", "use AECGame"

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Start a new game; arguments and errors are those of `AECGame.reset`."""
        self._start(seed, options)
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Let all players act; after the last step of a game `agents` is empty, and steps do nothing.

        Raises:
            ValueError: not one action of each agent, or one outside its space; nothing changes.
        """
        players, solo = self.possible_agents, self._solo
        if not self.agents:
            return {}, {}, {}, {}, {}
        if not isinstance(actions, Mapping) or set(actions) != set(players):
            got = f"those of {listed(list(actions)) or 'nobody'}" if isinstance(actions, Mapping) else shown(actions)
            raise InputError("actions", f"those of {players}", got, where=self.game.id)
        chosen, faults = self._chosen(actions)
        solo.step(chosen if chosen.shape[1] > 1 else chosen[:, 0])
        self._legal = solo.legal_actions()
        infos = self._infos()
        for agent, text in faults.items():
            infos[agent]["illegal_action"] = text
        if solo.terminated or solo.truncated:
            self.agents = []
        self._draw()
        return (
            self._observations(),
            dict(zip(players, solo.rewards, strict=True)),
            dict.fromkeys(players, solo.terminated),
            dict.fromkeys(players, solo.truncated),
            infos,
        )

    def _observations(self) -> dict[str, Observation]:
        game, solo, legal = self.game, self._solo, self._legal
        return {
            agent: {"observation": solo.observe(seat), "action_mask": masks_by_component(game, legal[seat])}
            for agent, seat in self._seats.items()
        }

    def _chosen(self, actions: Mapping[str, Any]) -> tuple[npt.NDArray[np.int64], dict[str, str]]:
        """Return legal choices [P, K], and a text for every agent of whom one had to be replaced."""
        game, nvec = self.game, self.game.info.action_nvec
        rows: list[list[int]] = []
        faults: dict[str, list[str]] = {}
        for agent, seat in self._seats.items():
            row, legal = self._whole_numbers(agent, actions[agent]), self._legal[seat]
            flags, place = legal.tobytes(), 0  # bytes are quick to read one by one; the component's first choice
            for component, (choice, choices) in enumerate(zip(row, nvec, strict=True)):
                if not (0 <= choice < choices and flags[place + choice]):
                    error = game.illegal_action(self._solo.state(), 0, seat, component, choice)
                    if not 0 <= choice < choices:
                        raise error
                    row[component], text = replaced(game, error, component, legal)
                    faults.setdefault(agent, []).append(text)
                place += choices
            rows.append(row)
        return np.array(rows, np.int64), {agent: "\n".join(texts) for agent, texts in faults.items()}


def make_parallel(*, id: str, render_mode: str | None = None, **parameters: Any) -> ParallelGame:
    """Make the environment of the simultaneous game called `id` (entry point of PettingZoo's registry)."""
    return ParallelGame(make(id, **parameters), render_mode)
