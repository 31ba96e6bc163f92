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
        self._heard[self._talks] = self._delivered(said)
        self._talks += 1

    def _delivered(self, said: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        if not self._talk.scramble:
            return said * 0 if self._talk.mute else said
        seeds, number = (torch.tensor([value], device="cpu") for value in (self._seed, self._talks))
        return words.delivered(self._talk, seeds, number, torch.from_numpy(said)[None])[0].numpy()

    @override
    def legal_actions(self) -> npt.NDArray[np.bool_]:
        game = self._talk
        base = super().legal_actions()
        legal = np.zeros((game.players, game.info.num_actions), dtype=bool)
        if self._over:
            return legal
        said = legal[:, base.shape[1] :].reshape(game.players, -1, game.words + 1)
        if self.talking:
            nvec = game.info.action_nvec
            for component in range(BASE):
                legal[:, sum(nvec[:component]) + game.fallback(component, None)] = True
            said[:] = True
        else:
            legal[:, : base.shape[1]] = base
            said[..., 0] = True
        legal[:, base.shape[1] :] = said.reshape(game.players, -1)
        return legal

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
        game = self._talk
        planes = np.full((game.board_planes, game.size, game.size), words.TO_COME, dtype=np.int8)
        flat = planes.reshape(-1)
        flat[: 2 * self._said.size] = np.concatenate((self._said.reshape(-1), self._heard.reshape(-1)))
        return np.concatenate((super().board()[None], planes))

    @override
    def infos(self, player: int) -> dict[str, Any]:
        last = [words.TO_COME] * self._talk.players
        if self._talks:
            last[:player] = self._reached(player)[self._talks - 1, :player].tolist()
            last[player + 1 :] = self._reached(player)[self._talks - 1, player:].tolist()
        return {**super().infos(player), "heard": last}

    @override
    def state(self) -> TalkState:
        said, arrived = (torch.from_numpy(each.copy())[None] for each in (self._said, self._heard))
        altered = self._talk.scramble or self._talk.mute
        talks = torch.tensor([self._talks], device="cpu")
        fields = [*super().state().tensors(), talks, said, arrived if altered else arrived[:, :0]]
        return TalkState(*fields)
