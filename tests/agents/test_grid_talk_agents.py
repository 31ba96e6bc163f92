"""Agents and networks in Grid Adaptation with talk: who is silent, and who listens."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from grid_adaptation_table import make

from cellgames.agents import Size, load, play
from cellgames.agents.grid_adaptation_talk.network import TalkNetwork
from cellgames.envs.core import seeds

SMALL: dict[str, Any] = {"size": 9, "players": 4, "rounds": 2, "flip_rounds": (2,)}


def generators(*numbers: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(number) for number in numbers]


@pytest.mark.parametrize("talk", [{"talk": "public"}, {"talk": "private", "talk_steps": 2, "words": 3}])
@pytest.mark.parametrize("spec", ["greedy", "rollout:2", "mcts:4", "trained"])
def test_agents_of_the_base_game_are_silent_and_play_as_they_do_there(talk: dict[str, Any], spec: str) -> None:
    game = make(**SMALL, **talk)
    seats = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 1]])
    agents = [load(spec, game), load("random", game)]
    run = play(game, agents, seats, seeds(3, 2), generators(1, 2))
    assert run.state.done.all()
    own = (seats == 0)[:, :, None].expand(-1, -1, run.actions.shape[-1] - 7)
    words = run.actions[..., 7:]
    assert not words[:, own].any()
    assert words[:, ~own].any()


@pytest.mark.parametrize("talk", ["public", "private"])
def test_networks_hear_what_they_are_told_and_nothing_else(talk: str) -> None:
    game = make(**SMALL, talk=talk)
    torch.manual_seed(0)
    network = TalkNetwork(game, Size(channels=8, layers=1)).eval()
    state = game.init(seeds(1, 2))
    actions = game.random_actions(state, torch.Generator().manual_seed(0))
    actions[1] = actions[0]
    actions[1, 1, 7:] = (actions[0, 1, 7:] + 1) % 9  # player 1 says something else
    state = game.step(state.replace(sequence=state.sequence[[0, 0]], seed=state.seed[[0, 0]]), actions)
    for player in (0, 2):
        logits, value, _ = network(game.observe(state, player))
        assert logits.shape == (2, game.info.num_actions)
        assert not torch.allclose(logits[0], logits[1])
        assert not torch.allclose(value[0], value[1])
    deaf = make(**SMALL, talk=talk, mute=True)
    muted = deaf.init(seeds(1, 2)).replace(sequence=state.sequence, seed=state.seed)
    logits, _, _ = network(deaf.observe(deaf.step(muted, actions), 2))
    assert torch.allclose(logits[0], logits[1])
