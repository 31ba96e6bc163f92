"""Agents of Grid Adaptation: what they see and imagine, greedy, and rollouts."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from every_game import ask, generator, play
from grid_adaptation_table import make
from torch import Tensor

from cellgames.agents import AnyAgent, Size, load
from cellgames.agents import play as play_agents
from cellgames.agents.grid_adaptation import GridRollout, GridSearch
from cellgames.agents.grid_adaptation.beliefs import History, determinize, likely_sequences
from cellgames.agents.grid_adaptation.decoding import Seen, seen
from cellgames.agents.grid_adaptation.greedy import GridGreedy, Planner
from cellgames.agents.grid_adaptation.lookahead import ILLEGAL, KeenOthers, base_of, tiles_on, tried
from cellgames.agents.grid_adaptation_talk.network import TalkNetwork
from cellgames.envs.core import chance, seeds
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, RESERVE, VOTE, GridState
from cellgames.envs.native import without_native

SMALL = make(size=7, players=4, rounds=4, flip_rounds=(2, 3))
EIGHT = make(size=8, rounds=4, flip_rounds=(3,))
FAMILIES = {
    "small": SMALL,
    "eight": EIGHT,
    "bare": make(size=5, players=2, rounds=4, first_tiles=1, reserves=0, starting_garnets=0, flip_rounds=(1,)),
    "bought": make(size=6, players=3, rounds=3, first_tiles=2, reserves=0, starting_garnets=6, reward_scheme="outcome"),
    "wide": make(size=20, players=2, rounds=2, first_tiles=2, reserves=1, flip_rounds=()),
    "crowded": make(size=5, players=8, rounds=4, reserves=9),
}
every_family = pytest.mark.parametrize("game", FAMILIES.values(), ids=FAMILIES)
AGENTS: dict[str, Callable[[], AnyAgent]] = {
    "greedy": lambda: GridGreedy(guesses=3),
    "rollout": lambda: GridRollout(6, guesses=2),
    "mcts": lambda: GridSearch(12),
    "trained": lambda: load("trained", SMALL),
}
every_agent = pytest.mark.parametrize("make_agent", AGENTS.values(), ids=AGENTS)


def midway(game: GridAdaptation, num_envs: int, steps: int, seed: int = 1) -> GridState:
    state: GridState = play(game, game.init(seeds(seed, num_envs)), steps, seed)
    return state


def look(game: GridAdaptation, state: GridState, players: Tensor | int) -> Seen:
    return seen(game, game.observe(state, players))


@every_agent
def test_voters_vote_for_who_is_tied_and_others_do_nothing(make_agent: Callable[[], AnyAgent]) -> None:
    game = make(size=5, players=4, rounds=1)
    state = game.string_to_state(
        "vote turn:1 round:2 tiles:2.AB$.C! sequences:000,001,010,011 reserves:3,3,3,3 bought:0,0,0,0 garnets:2,2,2,2 "
        "points:9,4,4,4 public:9,4,4,4,0,0,0,0 tied:1,2,3 tokens:2,0,0,0 candidate:-"
    )
    state = state[[0] * 30]
    nothing = [game.spaces] * 4 + [0, 0]
    votes = ask(make_agent(), game, state, 0)
    assert votes[:, VOTE].unique().tolist() == [1, 2, 3]
    assert votes[0, :VOTE].tolist() == nothing
    assert ask(make_agent(), game, state, 2)[0].tolist() == [*nothing, game.players]


def duel(tiles: str, sequences: str, stock: int = 0, **options: Any) -> tuple[GridAdaptation, GridState]:
    """Two players before the last round, with so many reserves and garnets each."""
    bare: dict[str, Any] = {"players": 2, "rounds": 2, "reserves": stock, "starting_garnets": 0, "flip_rounds": ()}
    game = make(**{"size": 7, **bare, **options})
    return game, game.string_to_state(
        f"play turn:1 round:2 tiles:{tiles} sequences:{sequences} reserves:{stock},{stock} bought:0,0 "
        f"garnets:{stock},{stock} points:0,0 public:0,0,0,0,0,0,0,0 tied:- tokens:0,0 candidate:-"
    )


@every_agent
@pytest.mark.parametrize("holes", [0, 1, 2])
def test_where_hardly_a_space_is_free_it_is_taken(make_agent: Callable[[], AnyAgent], holes: int) -> None:
    board = "$".join("5A" for _ in range(5)) if holes == 0 else f"{holes}.{5 - holes}A$5A$5A$5A$5A"
    game, state = duel(f"{board}!", "000,001", 3, size=5, rounds=3)
    action = ask(make_agent(), game, state, 0)[0]
    named = {int(space) for space in action[[0, RESERVE]] if space != game.spaces}
    assert named <= set(range(holes))
    assert (int(action[0]) < game.spaces) == (holes > 0)


@pytest.mark.parametrize("size", [7, 16])
def test_a_plan_is_worth_what_the_round_gives_if_the_others_do_what_is_guessed(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the last round, so that nothing comes after it: every plan, as the rules play it."""
    game = make(size=size, players=6, rounds=3, flip_rounds=(3,), starting_garnets=0, reserves=9)
    guessed: list[tuple[Tensor, Tensor]] = []
    guess = KeenOthers.spaces

    def spy(others: KeenOthers, seen: Seen, sequence: Tensor, seeds: Tensor) -> Tensor:
        guessed.append((sequence[:, 0], guess(others, seen, sequence, seeds)[:, 0]))
        return guessed[0][1][:, None]

    monkeypatch.setattr(KeenOthers, "spaces", spy)
    state, seat, rest = midway(game, 3, 2), 1, [0, 2, 3, 4, 5]
    plans = Planner(KeenOthers(game), guesses=1).plans(look(game, state, seat), seeds(0, 3))
    assert (plans.actions[:, :, FLIP] > 0).any(), "for the test's sake"
    ((sequence, spaces),) = guessed
    assert (sequence != state.sequence[:, [seat]]).all()
    state.sequence[:, rest] = sequence
    env_ids, number = (plans.worth > ILLEGAL).nonzero().unbind(1)
    joint = torch.tensor([*[game.spaces] * 4, 0, 0, game.players]).repeat(len(env_ids), game.players, 1)
    joint[:, rest, 0], joint[:, rest, RESERVE] = spaces[env_ids, :, 0], spaces[env_ids, :, 1]
    joint[:, seat] = plans.actions[env_ids, number]
    assert (joint[:, rest, 0] == joint[:, [seat], 0]).any(), "somebody else names the space"
    assert (joint[:, seat, RESERVE] < game.spaces).any()
    legal = game.legal_actions(state)[:, seat]
    assert torch.equal(plans.worth[:, : game.spaces] > ILLEGAL, legal[:, : game.spaces])
    after = game.step(state[env_ids], joint)
    tiles = game.grid.count(after.planes[:, 0].movedim(0, -1))
    balance = 2 * after.public[torch.arange(len(env_ids)), after.sequence[:, seat]] - 3 * tiles
    assert torch.equal(
        plans.worth[env_ids, number] // (plans.scale // 9), 5 * balance
    )  # weights are 5 and 4; ties below


@every_family
@pytest.mark.parametrize("shared", [True, False])
def test_native_code_tries_tiles_as_torch_does(game: GridAdaptation, shared: bool) -> None:
    """Also spaces that others have named: one of them, whose tile is lost too, or several."""
    view = look(game, midway(game, 3, 2), 0)
    guesses = chance.draw(seeds(1, 6)[:, None], chance.USER, torch.arange(2 * game.grid.words)).view(3, 2, 2, -1)
    others, crowded = game.grid.trim(guesses.permute(1, 3, 0, 2).flatten(2)).unflatten(2, (3, 2))
    tiles, *matches = (plane[..., None] | plane.new_zeros(2) for plane in (view.planes[0], *view.matches()))
    tiles = tiles | (others & ~crowded)
    base = base_of(
        tiles, [match | (tiles & crowded.roll(1, -1)) for match in matches], view.planes[0][..., None] | crowded
    )
    own = tiles_on(game.grid, torch.arange(game.spaces + 1)[:, None])[:, None]
    if not shared:
        own = own.expand(-1, 3, -1)
    found = tried(base, own, game.size, 3)
    assert found.shape == (3, 3, 3, game.spaces + 1)
    with without_native():
        assert torch.equal(tried(base, own, game.size, 3), found)


@every_family
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_imagined_match_looks_as_the_true_one_does(game: GridAdaptation, steps: int) -> None:
    steps = min(steps, game.rounds - 1)
    state, history = game.init(seeds(2, 12)), History(game)
    env_ids, players = torch.arange(12), torch.arange(12) % game.players
    history.start(players, env_ids)
    for step in range(steps + 1):
        view = look(game, state, players)
        remembered = history.look(view, players, env_ids)
        state = play(game, state, 1, step) if step < steps else state
    imagined = determinize(game, remembered, players, seeds(5, 12))
    assert torch.equal(game.observe(imagined, players), game.observe(state, players))
    assert torch.equal(game.legal_actions(imagined)[env_ids, players], game.legal_actions(state)[env_ids, players])
    assert torch.equal(imagined.turn, state.turn)
    assert game.legal_actions(imagined).any(2).all()
    assert not torch.equal(imagined.sequence, state.sequence), "what is hidden is guessed"
    assert (imagined.seed != state.seed).all()
    again = determinize(game, remembered, players, seeds(6, 12))
    assert not torch.equal(again.sequence, imagined.sequence)
    some = determinize(game, remembered[env_ids[3:5]], players[3:5], seeds(5, 12)[3:5])
    assert torch.equal(some.sequence, imagined.sequence[3:5])


def test_beliefs_are_the_posterior_that_enumeration_gives() -> None:
    """Two others on a tiny board, after a flip, when a tile has shown that somebody has a sequence."""
    game = make(size=5, players=3, rounds=3, flip_rounds=(2,))
    state = midway(game, 1, 2, seed=4)
    view, seat = look(game, state, 0), torch.tensor([0])
    own, first = int(view.sequence), int(state.sequence[0, 0])
    shown = next(sequence for sequence in range(8) if sequence not in (own, first))
    public = torch.tensor([[[30, 4, 9, 1, 12, 3, 8, 2], [5] * 8, [-1] * 8]])
    history = History(game)
    history.start(seat, seat)
    held = torch.zeros(1, 3, 8, dtype=torch.bool)
    held[0, 1, shown] = True
    remembered = dataclasses.replace(history.look(view, seat, seat), earned=public, held=held)
    drawn = likely_sequences(game, remembered, seat, seeds(5, 6000)[None])[0]
    weights: dict[tuple[int, int], float] = {}
    start = int(remembered.dealt)
    for one, two in itertools.permutations([sequence for sequence in range(8) if sequence != start], 2):
        for flips in itertools.product(range(4), repeat=2):
            weight, now = 1.0, []
            for sequence, flip in zip((one, two), flips, strict=True):
                turned = [sequence ^ change for change in (0, 1, 2, 4)]
                advised = max(range(4), key=lambda choice: (int(public[0, 0, turned[choice]]), -choice))
                weight *= 0.25 / 4 + 0.75 * (flip == advised)
                now.append(turned[flip])
            if shown in now:
                weights[now[0], now[1]] = weights.get((now[0], now[1]), 0.0) + weight
    total = sum(weights.values())
    for pair, weight in weights.items():
        share = float((drawn == torch.tensor(pair)).all(1).float().mean())
        assert share == pytest.approx(weight / total, abs=0.02), pair
    assert float((drawn == shown).any(1).float().mean()) > 0.97


# Seen by 111: two tiles of its own that die unless a third one comes; and two pairs of 000 that bear others unless they
# are crowded out.
DRAWN = {"feeds its own": "$.2H!", "blocks the others": "$.2A$.2A!"}


@pytest.mark.parametrize("board", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize(
    "agent",
    [GridGreedy(guesses=32), GridRollout(200, candidates=12), GridSearch(128, keen=0.0), load("trained", SMALL)],
    ids=AGENTS,
)
def test_they_find_what_leads_most_whatever_the_other_does(agent: AnyAgent, board: str) -> None:
    game, state = duel(board, "111,000")
    legal = game.legal_actions(state)[0, 0, : game.spaces].nonzero().squeeze(1)
    own, other = torch.cartesian_prod(legal, legal).unbind(1)
    joint = torch.tensor([*[game.spaces] * 4, 0, 0, game.players]).repeat(len(own), 2, 1)
    joint[:, 0, 0], joint[:, 1, 0] = own, other
    rewards = game.step(state[[0] * len(own)], joint).rewards[:, 0].view(len(legal), -1).mean(1)
    best = rewards.max()
    assert (rewards > best - 1).float().mean() < 0.4, "for the test's sake"
    chosen = ask(agent, game, state, 0)[0, 0]
    assert float(rewards[legal == chosen]) > best - 1


def test_a_digit_is_flipped_where_the_board_asks_for_it() -> None:
    game, state = duel("$.2G$.2G!", "100,000", flip_rounds=(2,))  # a block of 110
    for make_agent in AGENTS.values():
        assert int(ask(make_agent(), game, state, 0)[0, FLIP]) == 2


TALKED: dict[str, Any] = {"size": 9, "players": 4, "rounds": 2, "flip_rounds": (2,)}


@pytest.mark.parametrize("talk", [{"talk": "public"}, {"talk": "private", "talk_steps": 2, "words": 3}])
@pytest.mark.parametrize("spec", ["greedy", "rollout:2", "mcts:4", "trained"])
def test_agents_of_the_base_game_are_silent_and_play_as_they_do_there(talk: dict[str, Any], spec: str) -> None:
    game = make(**TALKED, **talk)
    seats = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 1]])
    agents = [load(spec, game), load("random", game)]
    run = play_agents(game, agents, seats, seeds(3, 2), [generator(1), generator(2)])
    assert run.state.done.all()
    own = (seats == 0)[:, :, None].expand(-1, -1, run.actions.shape[-1] - 7)
    words = run.actions[..., 7:]
    assert not words[:, own].any()
    assert words[:, ~own].any()


@pytest.mark.parametrize("talk", ["public", "private"])
def test_networks_hear_what_they_are_told_and_nothing_else(talk: str) -> None:
    game = make(**TALKED, talk=talk)
    torch.manual_seed(0)
    network = TalkNetwork(game, Size(channels=8, layers=1)).eval()
    state = game.init(seeds(1, 2))
    actions = game.random_actions(state, generator())
    actions[1] = actions[0]
    actions[1, 1, 7:] = (actions[0, 1, 7:] + 1) % 9  # player 1 says something else
    state = game.step(state.replace(sequence=state.sequence[[0, 0]], seed=state.seed[[0, 0]]), actions)
    for player in (0, 2):
        logits, value, _ = network(game.observe(state, player))
        assert logits.shape == (2, game.info.num_actions)
        assert not torch.allclose(logits[0], logits[1])
        assert not torch.allclose(value[0], value[1])
    deaf = make(**TALKED, talk=talk, mute=True)
    muted = deaf.init(seeds(1, 2)).replace(sequence=state.sequence, seed=state.seed)
    logits, _, _ = network(deaf.observe(deaf.step(muted, actions), 2))
    assert torch.allclose(logits[0], logits[1])
