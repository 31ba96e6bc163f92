"""Grid Adaptation with talk: against the slow reference, what players may know, native code, texts, envs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from grid_adaptation_reference import FLIP, VOTE
from grid_adaptation_table import agree, always, reference_of
from grid_talk_reference import ALL, Letter, TalkMatch, random_talk
from refusals import fails, refused
from torch import Tensor

from cellgames.agents.choices import as_kind
from cellgames.envs.core import IllegalActionError, seeds
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.envs.grid_adaptation_talk import GridAdaptationTalk, TalkState
from cellgames.envs.grid_adaptation_talk.game import Promises, Talk

# Each option alone and together; odd sizes; matches in which some vote while others talk.
FAMILIES: dict[str, dict[str, Any]] = {
    "public": {"talk": "public", "size": 7, "players": 4, "rounds": 2},
    "private": {"talk": "private", "size": 7, "players": 4, "rounds": 3},
    "default": {"talk": "private"},
    "many-steps": {"talk": "private", "size": 5, "players": 3, "rounds": 2, "talk_steps": 3, "words": 2},
    "two": {"talk": "private", "size": 5, "players": 2, "rounds": 2, "words": 1, "scramble": True},
    "scrambled": {"talk": "private", "size": 6, "players": 5, "rounds": 3, "talk_steps": 2, "scramble": True},
    "scrambled-in-public": {"talk": "public", "size": 5, "players": 5, "rounds": 3, "scramble": True},
    "mute": {"talk": "private", "size": 5, "players": 3, "rounds": 2, "mute": True},
    "mute-in-public": {"talk": "public", "size": 17, "players": 3, "rounds": 2, "words": 100, "mute": True},
    "promises": {
        **{"talk": "public", "size": 5, "players": 3, "rounds": 3, "flip_rounds": (1, 3), "talk_steps": 2},
        **{"words": 9, "promises": "sequence"},
    },
    "votes": {"talk": "public", "size": 5, "players": 4, "rounds": 1, "first_tiles": 1, "flip_rounds": (1,)},
    "all": {
        **{"talk": "private", "size": 9, "players": 6, "rounds": 3, "words": 3, "talk_steps": 2, "scramble": True},
        **{"reward_scheme": "outcome", "starting_garnets": 10, "reserves": 1, "flip_rounds": (1, 2), "first_tiles": 2},
    },
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def reference(game: GridAdaptationTalk, state: TalkState) -> TalkMatch:
    base = reference_of(game.base, as_kind(state, GridState))
    return TalkMatch(base, game.talk, game.words, game.talk_steps, game.promises)


def letters(game: GridAdaptationTalk, words: Tensor) -> list[Letter]:
    """One talk step of one match, [P, R], as letters."""
    found = []
    for sender, row in enumerate(words.tolist()):
        others = [seat for seat in range(game.players) if seat != sender]
        found += [(sender, to, word) for to, word in zip([ALL] if game.talk == "public" else others, row, strict=True)]
    return found


def beside(game: GridAdaptationTalk, num_envs: int, seed: int) -> Iterator[tuple[TalkState, list[TalkMatch], Tensor]]:
    """Random matches of every env until all are over: states, the reference's matches, the actions that come next."""
    state: Any = game.init(seeds(seed, num_envs))
    matches = [reference(game, state[env_id]) for env_id in range(num_envs)]
    rngs = [random.Random(f"{seed}, {env_id}") for env_id in range(num_envs)]
    while not all(one.match.terminated for one in matches):
        actions = [random_talk(one, rng) for one, rng in zip(matches, rngs, strict=True)]
        yield state, matches, torch.tensor(actions)
        state = game.step(state, torch.tensor(actions))
        candidates, arrived, steps = state.candidate.tolist(), state.arrived, state.talks.tolist()
        for env_id, (one, action) in enumerate(zip(matches, actions, strict=True)):
            page = letters(game, arrived[env_id, steps[env_id] - 1])
            one.step(action, always(candidates[env_id]), partial(as_it_may, game, page))
    yield state, matches, torch.tensor(actions)


def as_it_may(game: GridAdaptationTalk, arrived: list[Letter], sent: list[Letter]) -> list[Letter]:
    """Check that the letters may have arrived like this, and return them."""
    if game.mute:
        assert arrived == [(sender, receiver, 0) for sender, receiver, _ in sent]
    elif game.scramble:
        assert [letter[:2] for letter in arrived] == [letter[:2] for letter in sent]
        for receiver in {letter[1] for letter in sent}:  # the same words to each, of other senders
            one, other = (Counter(w for _, to, w in some if to == receiver) for some in (sent, arrived))
            assert one == other
    else:
        assert arrived == sent
    return arrived


@every_family
def test_whole_random_matches_are_those_of_the_reference(family: str) -> None:
    game = GridAdaptationTalk(**FAMILIES[family])
    num_envs = 40 if family == "votes" else 3
    phases = set[bool]()
    for state, matches, _ in beside(game, num_envs, seed=5):
        base = as_kind(state, GridState)
        phases.update(one.talking for one in matches if not one.match.terminated)
        assert game.talking(state).tolist() == [one.talking for one in matches]
        agree(game.base, base, [one.match for one in matches])  # all that the base game shows
        legal = game.legal_actions(state)
        for player in range(game.players):
            seen = game.observe(state, player)
            assert torch.equal(seen[:, : game.base.info.observation.shape[0]], game.base.observe(base, player))
            expected = torch.stack([torch.from_numpy(planes(game, one, player)) for one in matches])
            assert torch.equal(seen[:, game.base.info.observation.shape[0] :], expected)
            heard = game.infos(state, player)["heard"].tolist()
            assert heard == [last_heard(one, player) for one in matches]
            for env_id, one in enumerate(matches):
                flat = [
                    choice in choices
                    for choices, count in zip(one.legal(player), game.info.action_nvec, strict=True)
                    for choice in range(count)
                ]
                assert legal[env_id, player].tolist() == [flag and not one.match.terminated for flag in flat]
        board = game.board(state)
        assert torch.equal(board[:, 0], game.base.board(base))
        for env_id, one in enumerate(matches):
            numbers = [word for pages in (one.written, one.delivered) for page in padded(game, pages) for word in page]
            assert board[env_id, 1:].flatten().tolist()[: len(numbers)] == numbers
            assert (board[env_id, 1:].flatten()[len(numbers) :] == -1).all()
    assert len(phases) == 2
    assert state.done.all()
    assert (state.talks == game.talks).all()


def padded(game: GridAdaptationTalk, pages: list[list[Letter]]) -> list[list[int]]:
    each = game.players * (1 if game.talk == "public" else game.players - 1)
    return [[word for _, _, word in page] for page in pages] + [[-1] * each] * (game.talks - len(pages))


def planes(game: GridAdaptationTalk, one: TalkMatch, player: int) -> np.ndarray:
    """The planes that talk adds to an observation: the talk step's, then words one-hot, row by row."""
    own = 1 if game.talk == "public" else game.players - 1
    bits: list[int] = []
    for page in one.history(player):
        bits += [int(word == number) for word in page for number in range(game.words + 1)]
    total = game.rounds * game.talk_steps * (game.players - 1 + own) * (game.words + 1)
    bits += [0] * (-(-total // game.spaces) * game.spaces - len(bits))
    flags = np.full((1, game.size, game.size), int(one.talking), np.int16)
    return np.concatenate((flags, np.array(bits, np.int16).reshape(-1, game.size, game.size)))


def last_heard(one: TalkMatch, player: int) -> list[int]:
    if not one.delivered:
        return [-1] * one.match.players
    return [one.heard(player, one.delivered[-1]).get(seat, -1) for seat in range(one.match.players)]


def talking(game: GridAdaptationTalk, words: Any, num_envs: int = 1) -> Tensor:
    """Actions of a talk step in which each player, a row of `words`, says its own."""
    actions = torch.zeros(num_envs, *game.info.action_shape, dtype=torch.int64)
    actions[..., :4], actions[..., VOTE], actions[..., 7:] = game.spaces, game.players, torch.tensor(words)
    return actions


def shown(game: GridAdaptationTalk, state: TalkState, player: int) -> list[Any]:
    views = [game.view_to_string(state[env_id], player) for env_id in range(len(state))]
    infos = [value.tolist() for value in game.infos(state, player).values()]
    return [game.observe(state, player).tolist(), game.legal_actions(state)[:, player].tolist(), infos, views]


@pytest.mark.parametrize("family", ["private", "many-steps", "scrambled", "scrambled-in-public", "mute"])
def test_words_that_do_not_reach_a_player_change_nothing_that_it_sees(family: str) -> None:
    game, generator = GridAdaptationTalk(**FAMILIES[family]), torch.Generator().manual_seed(7)
    altered = game.scramble or game.mute
    for state, _, _ in beside(game, 2, seed=3):
        for player in range(game.players):
            own = torch.zeros(game.players, state.said.shape[3], dtype=torch.bool)
            own[player] = True  # its own words it knows
            reaching = torch.zeros_like(own)
            for sender in range(game.players):
                if sender != player:
                    reaching[sender, 0 if game.talk == "public" else player - (player > sender)] = True
            known = {"said": own if altered else own | reaching, "heard": reaching}
            other = state
            for name, mine in known.items():
                words = getattr(state, name)
                new = torch.randint(game.words + 1, words.shape, generator=generator, dtype=torch.int8)
                other = other.replace(**{name: torch.where(mine | (words < 0), words, new)})
            assert shown(game, other, player) == shown(game, state, player)


def test_words_that_reach_a_player_are_seen() -> None:
    """So the test above looks at something."""
    game = GridAdaptationTalk(**FAMILIES["private"])
    state = game.init(seeds(1, 1))
    after = game.step(state, talking(game, [[1, 2, 3], [0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert [game.infos(after, player)["heard"][0].tolist() for player in range(4)] == [
        [-1, 0, 0, 0],
        [1, -1, 0, 0],
        [2, 0, -1, 0],
        [3, 0, 0, -1],
    ]
    assert game.view_to_string(after, 2).endswith(" said:?.2.?,?.0.?,0.0.0,?.?.0")
    assert game.state_to_string(after).endswith(" said:1.2.3,0.0.0,0.0.0,0.0.0")


def test_scrambled_words_come_from_each_sender_equally_often() -> None:
    kinds: tuple[tuple[Talk, list[float]], ...] = (("public", [1 / 3] * 3), ("private", [0.0, 0.5, 0.5]))
    for talk, expected in kinds:
        game, num_envs = GridAdaptationTalk(talk=talk, players=3, size=5, scramble=True), 4000
        actions = talking(game, [[1], [2], [3]], num_envs)
        state = game.step(game.init(seeds(2, num_envs)), actions)
        shares = torch.stack([(game.infos(state, 0)["heard"][:, 1] == word).float().mean() for word in (1, 2, 3)])
        assert (shares - torch.tensor(expected)).abs().max() < 0.035  # sd 0.008
        again = game.step(game.init(seeds(2, num_envs)), actions)
        assert again.equal(state)


@pytest.mark.parametrize(
    ("share", "talk", "promises"),
    [(0.0, "private", "none"), (0.25, "private", "none"), (1.0, "private", "none"), (0.5, "public", "ally")],
)
def test_allies_share_rewards_and_nothing_else(share: float, talk: Talk, promises: Promises) -> None:
    apart, bonds = GridAdaptationTalk(talk=talk, size=7, players=4, rounds=3, words=4), 0
    game = replace(apart, reward_sharing=share, promises=promises)
    one, other = (each.vector(8, seed=4) for each in (apart, game))
    for step in range(8):
        actions = apart.random_actions(one.state, torch.Generator().manual_seed(step))
        before: Any = other.state.clone()
        allies = torch.tensor([[ally(game, before[env_id], seat) for seat in range(4)] for env_id in range(8)])
        bonds += int((allies != torch.arange(4)).sum())
        earned, shared = one.step(actions).rewards, other.step(actions).rewards
        expected = (1 - share) * earned + share * earned.gather(1, allies)
        assert torch.equal(shared, torch.where(allies == torch.arange(4), earned, expected))
        assert torch.equal(shared, game.step(before, actions).rewards)
        assert torch.allclose(shared.sum(1), earned.sum(1), atol=1e-4)
        assert one.state.replace(rewards=shared).equal(other.state.replace(rewards=shared))
        for player in range(4):
            known = apart.observe(before, player)
            seen = game.observe(before, player)
            assert torch.equal(seen[:, : known.shape[1]], known)
            found = game.infos(before, player)["ally"]
            assert found.tolist() == [seat if seat != player else -1 for seat in allies[:, player].tolist()]
            planes = (found[:, None] == torch.arange(4)).to(torch.int16)[..., None, None]
            assert torch.equal(seen[:, known.shape[1] :], planes.expand(8, 4, 7, 7))
    assert bonds > 8
    assert game.state_to_string(other.state[0]) == apart.state_to_string(one.state[0])
    assert game.solo(other.state[0]).infos(2)["ally"] == game.infos(other.state, 2)["ally"][0]


def ally(game: GridAdaptationTalk, state: TalkState, seat: int) -> int:
    one = reference(game, state)
    one.written = [letters(game, page) for page in state.said[0, : int(state.talks)]]
    return one.ally(seat)


def test_a_promise_of_a_sequence_binds_the_flip() -> None:
    game = GridAdaptationTalk(**FAMILIES["promises"])
    assert game.vector(2, seed=1).backend != "native"  # it would draw any flip
    state, random = game.init(seeds(1, 16)), torch.Generator().manual_seed(1)
    for _ in range(game.talk_steps):
        state = game.step(state, game.random_actions(state, random))
    actions = game.random_actions(state, random)
    game.step(state, actions)  # legal ones
    actions[..., FLIP] = (~game.kept(state)).int().argmax(2)
    with fails(IllegalActionError, component=FLIP) as caught:
        game.step(state, actions)
    assert caught.value.cause.startswith("the player has promised ")


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        *((" said:1,0,3", new, "'") for new in ("", " said:1,0,9", " said:1,0")),
        ("said:1,0,3", "said:1,0,3/1,1,1", "2: "),
        ("round:1", "round:3", "1: "),
    ],
)
def test_a_bad_position_is_refused(old: str, new: str, got: str) -> None:
    game = GridAdaptationTalk(talk="public", players=3, size=5, rounds=4)
    line = game.state_to_string(game.step(game.init(seeds(0, 1)), talking(game, [[1], [0], [3]])))
    assert line.endswith("said:1,0,3")
    with refused("position") as caught:
        game.string_to_state(line.replace(old, new))
    assert caught.value.got.startswith(got)
