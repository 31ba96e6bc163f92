"""Gymnasium's interface for a single environment: one learner against opponents that play inside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from typing_extensions import override

from cellgames.envs.core import Game, State

from .learner_games import LearnerGames, as_tensor, endings, position_of
from .opponents import Opponents
from .pettingzoo_common import masks_by_component
from .seat_solo import SeatSolo
from .seats import SeatVector
from .window import Rendered, RenderMode


class SeatEnv(Rendered, LearnerGames, gymnasium.Env[npt.NDArray[Any], Any]):
    """One game for one learner; opponents act within `reset` and `step`.

    Observations are those of the learner's seat; a reward is the seat's sum up to its next turn. `info` holds
    "action_mask", int8 or a tuple of int8 arrays as `action_space.sample(mask)` takes it, and "player", the learner's
    seat; at the end "outcome" (1 win, 0 draw, -1 loss) and "score", the game's own measure. An illegal action ends a
    game in turns with the lowest reward; where all act at once another choice is played (`Game.fallback`).
    "illegal_action" in `info` says which and why. A value that is not an action at all raises `ValueError`.

    Args:
        game: the rules, or their id.
        opponents: agents of the other seats, such as "greedy"; None plays at random. See `SeatVector`, also for the
            next two.
        weights: relative probability of each opponent.
        seat: the learner's, by number or name, or "random": drawn for each game.
        render_mode: "human" a window, which steps keep up to date, "rgb_array" uint8 [H, W, 3], "ansi" text.
        parameters: parameters of the game, if it is given by its id.
    """

    metadata = {"render_modes": list(get_args(RenderMode)), "render_fps": 5}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        game: Game | str,
        opponents: Opponents = None,
        *,
        weights: Sequence[float] | None = None,
        seat: int | str = "random",
        render_mode: RenderMode | None = None,
        **parameters: Any,
    ) -> None:
        spaces = self._set_up(game, 1, opponents, parameters, weights=weights, seat=seat)
        self.observation_space, self.action_space = spaces
        self._set_render_mode(render_mode)
        self._final: State | None = None  # the game that is over, until the next one is asked for
        self._solo = SeatSolo.of(self._vector)
        self._lent = False  # whether somebody else may hold the vector

    @property
    @override
    def vector(self) -> SeatVector:
        """The game as a vector of one env; once it has been asked for, steps go through it."""
        self._lent = True
        return self._given_back()

    def _given_back(self) -> SeatVector:
        solo, self._solo = self._solo, None
        return self._vector if solo is None else solo.give_back()

    def _take_over(self) -> None:
        self._solo = None if self._lent else SeatSolo.of(self._vector)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Start a new game.

        Args:
            seed: seed of the game, 0 to 2**63 - 1; None takes the one that follows the last game's, and the first time
                a random one.
            options: {"position": a line as `game.state_to_string` writes it} starts from there.
        """
        super().reset(seed=seed)
        position = position_of(self.game, options)
        if self._solo is None or seed is not None or position is not None or not self._fresh:
            self._given_back()
            self._begin(seed, position)
            self._take_over()
        self._fresh, self._final = False, None
        self._draw()
        return self._observation(), self._info(self._player)

    def step(self, action: Any) -> tuple[npt.NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Let the learner act, and then the others, until it is the learner's turn again or the game is over."""
        if self._final is not None:
            raise ResetNeeded(f"{self.game.id}: the game is over; call reset() before step()")
        player = self._player
        info: dict[str, Any] = {}
        if self._solo is not None and self._solo.is_legal(action):
            reward, ended = self._solo.step(action)
            ends = (False, False) if ended is None else (ended.terminated, ended.truncated)
            if ended is not None:
                self._final, observation = ended.state(), ended.observe(player)
                outcome = int(self.game.outcome(self._final)[0, player])
                info = {"outcome": outcome, "score": ended.scores[player], "player": player}
        else:
            moved = self._given_back().step(as_tensor(self.game, action)[None])
            reward, ends = float(moved.rewards[0]), (bool(moved.terminated[0]), bool(moved.truncated[0]))
            if moved.ended is not None:
                self._final = moved.ended.state
                ((_, observation, info),) = endings(moved.ended)
            if moved.faults:
                info["illegal_action"] = moved.faults[0]
            self._take_over()
        if self._final is None:
            observation = self._observation()
        else:
            self._fresh = True  # the next game stands ready
        self._draw()
        return observation, reward, *ends, self._info(player) | info

    @property
    def _player(self) -> int:
        """The learner's seat."""
        return int(self._vector.player[0]) if self._solo is None else self._solo.player

    @override
    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's legal actions, bool [A]; components of an action one after the other."""
        masks: npt.NDArray[np.bool_] = super().action_masks()[0] if self._solo is None else self._solo.mask.copy()
        return masks if self._final is None else np.zeros_like(masks)

    @override
    def _observation(self) -> npt.NDArray[Any]:
        return super()._observation()[0] if self._solo is None else self._solo.observe()

    def _info(self, player: int) -> dict[str, Any]:
        return {"action_mask": masks_by_component(self.game, self.action_masks()), "player": player}

    @override
    def core_state(self) -> State:
        if self._final is not None:
            return self._final
        return self._vector.state if self._solo is None else self._solo.state()

    @override
    def __repr__(self) -> str:
        state = self.core_state()
        step = f"over after {int(state.turn)} steps" if self._final else f"{int(state.turn)} steps played"
        return f"{type(self).__name__}({self.game!r}, learner is {self.game.info.players[self._player]}, {step})"
