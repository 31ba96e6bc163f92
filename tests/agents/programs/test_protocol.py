"""Messages of the protocol, against their JSON Schemas and hostile lines."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import cellgames
from cellgames.agents.base import BaseAgent
from cellgames.agents.programs import protocol
from cellgames.agents.programs.process import Limits
from cellgames.agents.programs.protocol import ProtocolError, Ready
from cellgames.agents.programs.serving import serve
from cellgames.agents.views import Views
from cellgames.envs.core import Game, seeds
from cellgames.envs.registry import REGISTRY

SMALL = [id for id in REGISTRY if id.endswith("small-v0")]


def views(game: Game, games: int = 1) -> Views:
    state, chance = game.init(seeds(2, games)), torch.Generator().manual_seed(2)
    for _ in range(2):
        state = game.step(state, game.random_actions(state, chance), checked=False)
    mask, players = game.legal_actions(state), state.current_player
    if game.info.simultaneous:
        players = torch.arange(games) % game.info.num_players
        mask = mask[torch.arange(games), players]
    return Views(game, state, players, mask)


@pytest.mark.parametrize("id", SMALL)
@pytest.mark.parametrize("observation", ["none", "list", "base64"])
def test_messages_fit_their_schemas(id: str, observation: str) -> None:
    game = cellgames.make(id)
    one, ready = views(game)[0], Ready(observation=observation, names=True)
    question = protocol.act(one, id=3, game=7, seed=5, ready=ready, clock={"left": 3.0, "increment": 0.0})
    sent = [protocol.hello(game, Limits()), question]
    sent += [{"type": "start", "game": 7, "player": 0}, {"type": "result", "game": 7, "player": 0, "outcome": -1}]
    for message in sent:
        again = protocol.parsed(protocol.encoded(message))
        assert again == json.loads(json.dumps(message))
        jsonschema.validate(again, protocol.SCHEMAS[str(message["type"])])
    if observation != "none":
        assert torch.equal(protocol.decoded_observation(question, game), one.observation)
    assert ("names" in question) == (len(game.info.action_nvec) == 1)


@pytest.mark.parametrize("id", SMALL)
def test_actions_are_numbers_or_names(id: str) -> None:
    game = cellgames.make(id)
    (one,) = views(game)
    choices = [legal[-1] for legal in one.legal]
    flat = 0
    for choice, count in zip(choices, game.info.action_nvec, strict=True):
        flat = flat * count + choice
    answers = [choices, game.action_to_string(flat), *choices[: len(choices) == 1]]
    for answer in answers:
        message = {"type": "action", "id": 4, "action": answer}
        jsonschema.validate(message, protocol.SCHEMAS["action"])
        assert protocol.read_action(message, game, 4) == choices


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1 << 54) | st.floats(0.1, 0.9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["move", "left"]), inner),
    max_leaves=4,
)


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_messages_are_checked_as_their_schemas_say(data: st.DataObject) -> None:
    """A message with one value changed or left out is refused if jsonschema refuses it, and only then."""
    game = cellgames.make("torus-small-v0")
    question = protocol.act(views(game)[0], id=3, game=7, seed=5, ready=Ready(names=True), clock={"left": 3.0})
    messages = [protocol.hello(game, Limits()), question, {"type": "ready", "protocol": 1, "observation": "list"}]
    messages += [{"type": "choices", "id": 3, "actions": [1, "a1", [2]]}, {"type": "error", "message": "no"}]
    message = dict(data.draw(st.sampled_from(messages)))
    kind, name = message["type"], data.draw(st.sampled_from(sorted(message.keys() - {"type"})))
    if (value := data.draw(VALUES | st.just(...))) is ...:
        del message[name]
    else:
        message[name] = value
    fits = jsonschema.Draft202012Validator(protocol.SCHEMAS[kind]).is_valid(message)
    with contextlib.nullcontext() if fits else pytest.raises(ProtocolError):
        protocol.checked(message, kind)


class Weighing(BaseAgent):
    """Takes the legal choice of each component that weighs most by what it sees, and has no other chance."""

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._nvec = list(game.info.action_nvec)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        assert (env_ids[1:] > env_ids[:-1]).all()
        seen = observation.flatten(1).double()
        seen = seen * torch.arange(seen.shape[1]).remainder(13)
        weights = ((1 + seen.sum(1))[:, None] * torch.arange(1, action_mask.shape[1] + 1)).remainder(97.0) + 1
        parts = (weights * action_mask).split(self._nvec, 1)
        return torch.stack([part.argmax(1) for part in parts], 1).squeeze(1)


def answers(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a served agent says after `ready`, of a game of its own choice."""
    said: list[bytes] = []
    serve(lambda game: Weighing(), [protocol.encoded(message) for message in messages], said.append)
    return [json.loads(line) for line in said[1:]]


@pytest.mark.parametrize("id", SMALL)
def test_arrays_are_answered_as_single_questions_are(id: str) -> None:
    """The numbers of the games come in any order; each answer belongs to its game."""
    seen, games = views(cellgames.make(id), 6), [5, 3, 9, 1, 0, 7]
    hello, question = protocol.hello(seen.game, Limits()), protocol.arrays(seen, id=8, games=games, seed=5)
    jsonschema.validate(question, protocol.SCHEMAS["arrays"])
    ready = Ready(observation="base64")
    single = [protocol.act(view, id=8, game=game, seed=5, ready=ready) for game, view in zip(games, seen, strict=True)]
    starts = [{"type": "start", "game": game, "player": int(seen.players[0])} for game in sorted(games)]
    choices, *others = answers(hello, *starts, question, *single)
    jsonschema.validate(choices, protocol.SCHEMAS["choices"])
    found = protocol.read_choices(choices, seen.game, 8, len(games))
    assert found == [protocol.read_action(other, seen.game, 8) for other in others]
    assert len({*map(tuple, found)}) > 1
    assert [view.position for view in seen[1:3]] == [seen[1].position, seen[2].position]


@pytest.mark.parametrize(
    "wrong",
    [
        {"observation": "AAAA"},
        {"observation": "no base64!"},
        {"mask": None},
        {"games": [1]},
        {"games": []},
        {"games": [1, 2, 3, 4, 5, -6]},
        {"players": [0, 0, 0, 0, 0, 9]},
        {"players": "black"},
        {"seed": 1 << 60},
        {"id": "x"},
    ],
)
def test_arrays_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    seen = views(cellgames.make("torus-small-v0"), 6)
    question = protocol.arrays(seen, id=8, games=range(6), seed=5)
    refused, answered = answers(protocol.hello(seen.game, Limits()), question | wrong, question)
    assert refused["type"] == "error"
    assert "ProtocolError" in refused["message"]
    assert answered["type"] == "choices"
