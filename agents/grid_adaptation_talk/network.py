"""The network for Grid Adaptation with talk, with layers that listen to words and say them, and silent agents.

Letters: `L` rows, `N` spaces of the board, `S` places of a player's history of words (see the game's `words`),
`W` words and silence, `C` channels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from typing_extensions import override

from cellgames.agents.base import AskingAgent
from cellgames.agents.grid_adaptation.decoding import Seen, seen
from cellgames.agents.grid_adaptation.network import GridNetwork
from cellgames.agents.networks.blocks import head
from cellgames.agents.networks.networks import Relation, Size
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.state import num_planes
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk

_HIDDEN = 64


class TalkNetwork(GridNetwork):
    """The network of the base game, whose numbers and spaces depend on words as well, and which chooses words."""

    plays = GridAdaptationTalk

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        assert isinstance(game, GridAdaptationTalk)
        self.talk = Conversing(game, size.channels)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        view = seen(self.game, observation)
        heard = self.talk.listen(observation, view)
        spaces = self.talk.spaces(heard).view(-1, self.game.size, self.game.size)
        parts, summary = self._parts(observation, view, (self.talk.numbers(heard), spaces))
        free = ~self.game.grid.unpack(view.planes[0]).flatten(1)
        words = self.talk.speak(summary, heard, parts[0].masked_fill(~free, -1e9))
        return self._answer(view, [*parts, words], summary)


class Conversing(nn.Module):
    """Layers that listen and speak.

    They see the words of the last talk step, how often each word came before, the player's own sequence and the round.
    What is said depends on all this, on the board, and on the space where the player would place its tile.
    """

    def __init__(self, game: GridAdaptationTalk, width: int) -> None:
        super().__init__()
        self.shape = game.talks, game.players - 1 + game.places, game.words + 1
        self.first, self.places, self.rounds = num_planes(game.players) + 1, game.places, game.rounds
        self.memory = nn.Sequential(
            nn.Linear(2 * self.shape[1] * self.shape[2] + 8 + 2, _HIDDEN),
            nn.ReLU(),
            nn.Linear(_HIDDEN, _HIDDEN),
            nn.ReLU(),
        )
        self.numbers = nn.Linear(_HIDDEN, width)
        self.spaces = nn.Linear(_HIDDEN, game.spaces)
        self.aim = nn.Linear(game.spaces, self.shape[2], bias=False)
        self.words = head(3 * width + _HIDDEN, 2 * width, self.places * self.shape[2], 0.01)
        for layer in (self.numbers, self.spaces):
            nn.init.orthogonal_(layer.weight, 0.1)
            nn.init.zeros_(layer.bias)
        nn.init.normal_(self.aim.weight, std=0.1)

    def listen(self, observation: Tensor, view: Seen) -> Tensor:
        """Return a summary of the words that players have heard and said, [L, hidden]; `view` decodes observations."""
        steps, places, words = self.shape
        bits = observation[:, self.first :].flatten(1)[:, : steps * places * words].float().view(-1, *self.shape)
        played = bits[:, :, 0].sum(2)  # one word of every place in each talk step that has been played
        number = played.sum(1)
        last = bits[torch.arange(len(bits), device=bits.device), (number.long() - 1).clamp(min=0)]
        mean = bits.sum(1) / number.clamp(min=1)[:, None, None]
        own = nn.functional.one_hot(view.sequence, 8).float()
        phase = torch.stack((view.round / self.rounds, observation[:, self.first - 1, 0, 0].float()), 1)
        summary: Tensor = self.memory(torch.cat((last.flatten(1), mean.flatten(1), own, phase), 1))
        return summary

    def speak(self, summary: Tensor, heard: Tensor, spaces: Tensor) -> Tensor:
        """Return logits of words, [L, places * W], by the board, [L, 3 * C], and the first tile's logits, [L, N]."""
        aim: Tensor = self.aim(spaces.softmax(1)).repeat(1, self.places)
        logits: Tensor = self.words(torch.cat((summary, heard), 1))
        return logits + aim


class SilentAgent(AskingAgent[GridAdaptationTalk]):
    """An agent that plays as another one, which sees observations, does in the game without talk."""

    plays = GridAdaptationTalk

    @override
    def asked_game(self) -> Game:
        return self.game.base

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]: in talk steps silence, else those of the other agent."""
        game, first = self.game, num_planes(self.game.players)
        nothing = [game.fallback(part, None) for part in range(len(game.info.action_nvec))]
        actions = torch.tensor(nothing, device=observation.device).repeat(len(observation), 1)
        if len(rows := (observation[:, first, 0, 0] == 0).nonzero().squeeze(1)):
            mask = action_mask[rows, : game.base.info.num_actions]
            chosen = self._agent.act(observation[rows, :first], mask, env_ids[rows], generator)
            actions[rows, : chosen.shape[1]] = chosen
        return actions
