"""Steps of matches with talk in native code, by `envs/native/sources/grid_adaptation.cpp`, and single matches.

The base game's part of a step is that of `grid_adaptation.native`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.solo import Solo
from cellgames.envs.core.vector import Transition
from cellgames.envs.grid_adaptation import native as rounds

from . import words
from .state import TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk


@dataclass(frozen=True)
class Step:
    """The step of a `Vector`, and of single matches without allies and promises: see `rounds.Step`."""

    game: GridAdaptationTalk

    def __call__(self, state: TalkState, mask: Tensor | None, given: Tensor, random: bool) -> Transition:
        """Play a step; see `NativeStep`."""
        game = self.game
        spoken = game.talking(state).nonzero().squeeze(1) if state.heard.shape[1] else None
        number, seeds = (state.talks.clone(), state.seed.clone()) if spoken is not None else (state.talks, state.seed)
        allies = game.allies(state) if game.reward_sharing else None
        played = rounds.play(game, state, given, random, True, self._talk(state))
        if allies is not None:
            for rewards in (state.rewards, played.rewards):
                rewards.copy_(game.shared(rewards, allies))
        if spoken is not None:
            step = number[spoken]
            state.heard[spoken, step] = words.delivered(game, seeds[spoken], step, state.said[spoken, step])
            state.heard[played.terminated] = words.TO_COME
        return played

    def _talk(self, state: TalkState) -> tuple[Tensor, Tensor, Tensor]:
        game = self.game
        numbers = game.places, game.words, game.talk_steps, game.talks
        return torch.tensor(numbers, device="cpu"), state.talks, state.said

    def bound(self, state: TalkState, mask: Tensor, given: Tensor, results: Sequence[Tensor]) -> Callable[[], object]:
        """Return the call of a step in the memory of a single match; see `rounds.Step.bound`."""
        game, own, width = self.game, mask.numpy()[0], self.game.base.info.num_actions
        legal, silent = np.zeros((game.players, width), np.bool_), np.zeros(width, np.bool_)
        silent[game.silent] = True
        nothing = np.arange(game.places * (game.words + 1)) % (game.words + 1) == 0
        play = rounds.Step(game).bound(state, torch.from_numpy(legal), given, results, self._talk(state))

        def step() -> None:
            number = int(state.talks)
            play()
            if state.heard.shape[1] and int(state.talks) > number:
                state.heard[:, number] = words.delivered(game, state.seed, state.talks - 1, state.said[:, number])
            own[:, :width], own[:, width:] = (silent, True) if bool(game.talking(state)) else (legal, nothing)

        return step


class TalkSolo(rounds.GridSolo):
    """One match of Grid Adaptation with talk: the base game's, and the words that were said and heard."""

    _game: GridAdaptationTalk

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        game, own = self._game, self._own
        known = np.concatenate((self._reached(player), own["said"][0, :, player]), 1)
        bits = (known[..., None] == np.arange(game.words + 1)).reshape(-1)
        planes = np.zeros((words.num_planes(game), game.size, game.size), dtype=np.int16)
        planes[0] = int(own["talks"][0]) < min(int(own["round"][0]), game.rounds) * game.talk_steps
        planes[1:].reshape(-1)[: bits.size] = bits
        return np.concatenate((super().observe(player), planes))

    def _reached(self, player: int) -> npt.NDArray[np.int8]:
        """Return the words that have reached a player from each other seat, [T, P - 1]."""
        others = [seat for seat in range(self._game.players) if seat != player]
        places = [player - (player > seat) for seat in others] if self._game.talk == "private" else [0] * len(others)
        own = self._own
        arrived: npt.NDArray[np.int8] = (own["heard"] if own["heard"].size else own["said"])[0]
        return arrived[:, others, places]

    @override
    def board(self) -> npt.NDArray[np.int8]:
        return Solo.board(self)

    @override
    def infos(self, player: int) -> dict[str, Any]:
        last = self._reached(player)[max(0, int(self._own["talks"][0]) - 1)]  # before the first, all are to come
        return {**super().infos(player), "heard": np.insert(last, player, words.TO_COME).tolist()}
