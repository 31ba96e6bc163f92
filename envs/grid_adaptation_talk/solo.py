"""One match of Grid Adaptation with talk outside a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import override

from cellgames.envs.grid_adaptation.solo import GridSolo

from . import words
from .state import BASE, TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk


class TalkSolo(GridSolo):
    """One match of Grid Adaptation with talk: the base game's, and the words that were said and heard."""

    def __init__(self, game: GridAdaptationTalk, state: TalkState) -> None:
        super().__init__(game.base, state.base)
        self._talk = game
        self._talks = int(state.talks)
        self._said: npt.NDArray[np.int8] = state.said[0].numpy(force=True).copy()
        self._heard: npt.NDArray[np.int8] = state.arrived[0].numpy(force=True).copy()

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._talk, self.state())

    @override
    def copy(self) -> Self:
        twin = super().copy()
        twin._said, twin._heard = self._said.copy(), self._heard.copy()
        return twin

    @property
    def talking(self) -> bool:
        """Return True if the next step is a talk step."""
        return self._talks < min(int(self._own["round"][0]), self._talk.rounds) * self._talk.talk_steps

    @override
    def step(self, actions: Any) -> None:
        choices = np.asarray(actions)
        if self._over or not self.talking:
            super().step(choices[:, :BASE])
            return
        self.pause()
        said = choices[:, BASE:].astype(np.int8)
        self._said[self._talks] = said
        seeds, number = (torch.tensor([value], device="cpu") for value in (self._seed, self._talks))
        self._heard[self._talks] = words.delivered(self._talk, seeds, number, torch.from_numpy(said)[None])[0].numpy()
        self._talks += 1

    @override
    def legal_actions(self) -> npt.NDArray[np.bool_]:
        game, legal, talking = self._talk, super().legal_actions(), self.talking and not self._over
        said = np.full((game.players, game.places, game.words + 1), talking)
        said[..., 0] = not self._over
        if talking:
            legal = np.zeros_like(legal)
            legal[:, game.silent] = True
        return np.concatenate((legal, said.reshape(game.players, -1)), 1)

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        game = self._talk
        known = np.concatenate((self._reached(player), self._said[:, player]), 1)
        bits = (known[..., None] == np.arange(game.words + 1)).reshape(-1)
        planes = np.zeros((words.num_planes(game), game.size, game.size), dtype=np.int16)
        planes[0] = self.talking
        planes[1:].reshape(-1)[: bits.size] = bits
        return np.concatenate((super().observe(player), planes))

    def _reached(self, player: int) -> npt.NDArray[np.int8]:
        """Return the words that have reached a player from each other seat, [T, P - 1]."""
        others = [seat for seat in range(self._talk.players) if seat != player]
        places = [player - (player > seat) for seat in others] if self._talk.talk == "private" else [0] * len(others)
        return self._heard[:, others, places]

    @override
    def board(self) -> npt.NDArray[np.int8]:
        all_words = torch.from_numpy(np.stack((self._said, self._heard)).reshape(1, -1))
        planes = words.on_planes(self._talk, all_words, words.TO_COME)[0].numpy()
        return np.concatenate((super().board()[None], planes))

    @override
    def infos(self, player: int) -> dict[str, Any]:
        last = self._reached(player)[max(0, self._talks - 1)]  # before the first, all are to come
        return {**super().infos(player), "heard": np.insert(last, player, words.TO_COME).tolist()}

    @override
    def state(self) -> TalkState:
        said, arrived = (torch.from_numpy(each.copy())[None] for each in (self._said, self._heard))
        altered = self._talk.scramble or self._talk.mute
        talks = torch.tensor([self._talks], device="cpu")
        fields = [*super().state().tensors(), talks, said, arrived if altered else arrived[:, :0]]
        return TalkState(*fields)
