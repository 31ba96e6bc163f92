"""Grid Adaptation: rounds on drawn boards, matches against the slow reference, their ends, the vote, what is secret.

Every position is played by the game and by the reference (`Table`); what the rules say about it stands here.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import grid_adaptation_reference as ref
import pytest
import torch
from grid_adaptation_table import Table, agree, always, make, packed, reference_of
from learner_play import same
from refusals import fails, refused
from torch import Tensor

from cellgames.envs.core import DRAW, LOSS, WIN, IllegalActionError, seeds
from cellgames.envs.grid_adaptation import GridAdaptation, GridState

SMALL = {"size": 7, "players": 3}
SEQUENCES = [0b110, 0b100, 0b011]

# Where a round is played that is neither the first nor one of flips.
LATER: dict[str, Any] = {"round": 2}


def test_on_a_full_board_the_corners_stay_and_all_else_vanishes() -> None:
    table = Table(make(**SMALL), "7654321\n" * 7, **LATER)
    assert all(table.match.legal(player)[0] == {49} for player in range(3))
    corners = "7.....1" + "\n......." * 5 + "\n7.....1"
    assert table.play().board == ref.drawn(corners)
    assert table.read("public") == [2 * (ref.matching(7, s) + ref.matching(1, s)) for s in range(8)]


def test_every_neighbourhood_is_born_stays_or_vanishes_by_its_number_of_tiles() -> None:
    """All 256 of them around an empty space and around a tile, of random sequences, side by side in a batch."""
    game, random = make(size=7, players=2), torch.Generator().manual_seed(2)
    around = [(r, c) for r in (1, 2, 3) for c in (1, 2, 3) if (r, c) != (2, 2)]
    boards = torch.full((512, 7, 7), ref.NO_TILE)
    sequences = torch.randint(8, boards.shape, generator=random)
    for env_id in range(512):
        for place, (r, c) in enumerate([*around, (2, 2)]):
            if env_id >> place & 1:
                boards[env_id, r, c] = sequences[env_id, r, c]
    state = game.init(seeds(0, 512)).replace(planes=packed(boards), round=torch.full((512,), 2))
    corner = torch.tensor([48, 49, 49, 49, 0, 0, 2]).expand(512, 2, 7)
    after = game.board(game.step(state, corner)).tolist()
    for env_id, board in enumerate(boards.tolist()):
        tiles, centre = (env_id & 255).bit_count(), board[2][2]
        if centre == ref.NO_TILE and tiles == 3:
            expected = ref.majority([board[r][c] for r, c in around if board[r][c] != ref.NO_TILE])
        else:
            expected = centre if tiles in (2, 3) else ref.NO_TILE
        assert after[env_id][2][2] == expected
        assert after[env_id] == ref.generation(board)


def test_a_tile_is_forfeited_by_none() -> None:
    """As PettingZoo's environment plays for an illegal space; whoever checks refuses it."""
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    actions = table.actions({0: [(2, 1), (5, 5), (5, 5)]})
    actions[0, 1:, :3] = 49
    actions[0, 0, 1:3] = 49
    with fails(IllegalActionError, action=49, player="player_0", component=1):
        table.step(actions)
    table.step(actions, checked=False)
    assert table.board == ref.drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    table.step(torch.tensor([[[49, 49, 49, 49, 0, 0, 3]] * 3]), checked=False)
    assert table.board == ref.drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)


def test_a_purchase_that_cannot_be_paid_does_nothing() -> None:
    board = ".......\n.44....\n" + ".......\n" * 5
    table = Table(make(**SMALL), board, sequence=SEQUENCES, reserves=[0, 0, 2], garnets=[1, 1, 1], **LATER)
    actions, before = table.actions(reserve={0: (2, 1)}, buy=[1, 2]), table.state
    with pytest.raises(IllegalActionError):
        table.game.step(before, actions)
    after = table.game.step(before, actions, checked=False)
    assert after.garnets.equal(before.garnets)
    assert after.reserves.equal(before.reserves)
    assert after.bought.equal(before.bought)
    assert table.game.board(after)[0].tolist() == ref.empty(7)


def test_a_flip_comes_before_everything_else() -> None:
    """The tile of the round carries the new sequence, points count by it; older tiles keep theirs."""
    board = ".......\n.66....\n" + ".......\n" * 5
    table = Table(make(**SMALL), board, sequence=SEQUENCES, round=4)
    table.play({0: (2, 1)}, flip={0: 3})
    assert table.read("sequence") == [0b010, 0b100, 0b011]
    assert table.board == ref.drawn(".......\n.66....\n.26....\n" + ".......\n" * 4)
    assert table.read("scores") == [3 * 2 + 3, 3 * 2 + 1, 3 * 1 + 2]
    assert table.read("public")[0b010] == 9
    assert table.read("rewards") == [9 - 6, 7 - 7, 5 - 8]


# Matches of all kinds; on the small boards players meet, and in the short ones many are tied in the end.
FAMILIES: dict[str, dict[str, Any]] = {
    "default": {},
    "outcome": {"reward_scheme": "outcome", "garnet_value": 0.25, "starting_garnets": 10},
    "tiny": {"size": 5, "first_tiles": 1, "reward_scheme": "public"},
    "three-players": {
        **{"size": 6, "players": 3, "flip_rounds": (1,), "reserves": 0, "starting_garnets": 10},
        "reward_scheme": "outcome",
    },
    "two-players": {"size": 5, "players": 2, "flip_rounds": (), "reserves": 0, "starting_garnets": 0},
    "largest": {"size": 31, "players": 3, "first_tiles": 2, "starting_garnets": 10, "flip_rounds": (2, 3, 8)},
    "short": {"size": 5, "players": 3, "rounds": 1, "first_tiles": 1, "flip_rounds": (1, 2)},
    "short-of-four": {"size": 5, "players": 4, "rounds": 1, "first_tiles": 2, "starting_garnets": 3},
    "short-of-eight": {"size": 5, "rounds": 2, "reward_scheme": "outcome", "starting_garnets": 6},
    "long": {"size": 8, "players": 5, "rounds": 14, "reserves": 8, "starting_garnets": 100},
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def beside(
    game: GridAdaptation, num_envs: int, seed: int
) -> Iterator[tuple[GridState, list[ref.ReferenceMatch], Tensor]]:
    """Random matches of every env until all are over: states, the reference's matches, the actions that come next."""
    state = game.init(seeds(seed, num_envs))
    matches = [reference_of(game, state[env_id]) for env_id in range(num_envs)]
    rngs = [random.Random(f"{seed}, {env_id}") for env_id in range(num_envs)]
    while not all(one.terminated for one in matches):
        actions = [ref.random_actions(one, rng) for one, rng in zip(matches, rngs, strict=True)]
        yield state, matches, torch.tensor(actions)
        state = game.step(state, torch.tensor(actions))
        for one, action, candidate in zip(matches, actions, state.candidate.tolist(), strict=True):
            one.step(action, always(candidate))
    yield state, matches, torch.tensor(actions)


@every_family
def test_whole_random_matches_are_those_of_the_reference(family: str) -> None:
    game = make(**FAMILIES[family])
    num_envs = 60 if family.startswith("short") else 4
    seen = Counter[str]()
    for state, matches, _ in beside(game, num_envs, seed=5):
        agree(game, state, matches)
        assert state.rewards.min() >= game.info.reward_range[0]
        assert state.rewards.max() <= game.info.reward_range[1]
        seen["tiles"] += sum(tile >= 0 for one in matches for row in one.board for tile in row)
        seen["votes"] += sum(one.voting for one in matches)
    seen["lots"] = sum(bool(one.lot) for one in matches)
    assert seen["tiles"] > 20
    assert int(state.turn.max()) <= game.info.max_turns
    if family.startswith("short"):
        assert seen["votes"] > 2
        assert seen["lots"]


@pytest.mark.parametrize("players", [2, 3, 8])
def test_every_player_draws_a_sequence_of_its_own_each_as_often(players: int) -> None:
    num_envs = 4000
    state = make(players=players).init(seeds(3, num_envs))
    assert state.sequence.sort(1).values.diff(dim=1).min() > 0
    for player in range(players):
        shares = state.sequence[:, player].bincount(minlength=8) / num_envs
        assert len(shares) == 8
        assert (shares - 1 / 8).abs().max() < 0.025  # sd 0.0052
    pairs = Counter(map(tuple, state.sequence[:, [0, players - 1]].tolist()))
    assert len(pairs) == 56
    assert max(pairs.values()) < 2 * num_envs / 56  # sd 8.4 around 71


def last_round(points: list[int], **fields: Any) -> Table:
    """A match before its last round, in which nobody will score: all name one space of an empty board."""
    parameters = {name: fields.pop(name) for name in ("reward_scheme", "garnet_value") if name in fields}
    game = make(size=6, players=len(points), **parameters)
    return Table(game, scores=points, round=game.rounds, **fields)


@pytest.mark.parametrize(
    ("points", "tokens", "candidate"),
    [
        ([9, 8, 7, 6, 5, 4, 3, 2], [2, 0, 0, 0, 0, 0, 0, 0], 7),
        ([1, 8, 7, 9], [0, 0, 0, 2], 0),
        ([9, 8, 9, 6, 5, 4, 3, 2], [1, 0, 1, 0, 0, 0, 0, 0], 7),
        ([9, 8, 9, 6, 5, 4, 0, 9], [1, 0, 1, 0, 0, 0, 0, 1], 6),
        ([9, 9, 9, 9, 5, 4, 3, 6], [0, 0, 0, 0, 0, 0, 0, 0], 6),
        ([9, 9, 9, 9, 9, 9, 9, 0], [0, 0, 0, 0, 0, 0, 0, 0], 7),
        ([5, 9], [0, 2], 0),
        ([9, 9, 1], [1, 1, 0], 2),
    ],
)
def test_tokens_by_how_many_are_first_and_the_match_ends_without_a_tie_for_last(
    points: list[int], tokens: list[int], candidate: int
) -> None:
    table = last_round(points).play()
    assert table.read("tokens") == tokens
    assert table.read("candidate") == candidate
    assert table.read("terminated") is True
    assert table.read("round") == 8
    assert not any(table.read("tied"))
    assert table.match.lot == []
    outcome = table.game.outcome(table.state)[0].tolist()
    assert outcome == [LOSS if player == candidate else WIN if won else DRAW for player, won in enumerate(tokens)]


@pytest.mark.parametrize(
    ("points", "garnets"),
    [(0, 0), (199, 0), (200, 1), (201, 1), (249, 1), (250, 2), (299, 2), (300, 3), (349, 3), (350, 4), (1000, 17)],
)
def test_garnets_at_200_points_and_for_every_further_50(points: int, garnets: int) -> None:
    table = last_round([points, 2000, 1], garnets=[0, 5, 2]).play()
    assert table.read("garnets") == [garnets, 5 + 37, 2]
    infos = table.game.infos(table.state, 2)
    assert infos["final_garnets"].tolist() == [[garnets, 42, 2]]


def test_votes_of_none_count_for_nobody() -> None:
    """As PettingZoo's environment plays for an illegal vote; whoever checks refuses them."""
    table = last_round([9, 9, 1, 1, 1]).play()
    with fails(IllegalActionError, action=5, player="player_0", component=6):
        table.game.step(table.state, table.actions(vote={1: 4}))
    table.step(table.actions(vote={1: 4}), checked=False)
    assert table.read("candidate") == 4
    table = last_round([9, 9, 1, 1, 1]).play()
    table.step(table.actions(), checked=False)
    assert table.match.lot == [2, 3, 4]


def shares(candidates: Tensor) -> list[float]:
    return (candidates.bincount(minlength=7) / len(candidates)).tolist()


def test_chance_draws_each_of_the_tied_as_often_from_the_envs_seed() -> None:
    """Without voters, and after a vote."""
    num_envs, third = 3000, pytest.approx(1 / 3, abs=0.045)  # sd 0.0086
    voted = last_round([9, 9, 9, 1, 1, 1, 1]).play()
    for first, table, vote in ((4, last_round([9, 9, 9, 9, 1, 1, 1]), {}), (3, voted, {0: 5, 1: 3, 2: 4})):
        start = GridState.cat([table.state] * num_envs).replace(seed=seeds(4, num_envs))
        actions = table.actions(vote=vote).expand(num_envs, -1, -1)
        drawn = table.game.step(start, actions).candidate
        assert shares(drawn) == [third if first <= seat < first + 3 else 0 for seat in range(7)]
        assert table.game.step(start[40:50], actions[40:50]).candidate.equal(drawn[40:50])


def known(game: GridAdaptation, state: GridState) -> list[list[Tensor]]:
    """All that each player is shown: observation, mask, infos."""
    legal = game.legal_actions(state)
    return [
        [game.observe(state, player), legal[:, player], *game.infos(state, player).values()]
        for player in range(game.players)
    ]


def test_others_do_not_see_who_votes_and_who_is_tied() -> None:
    """That would tell totals. Two matches in which the same is known to the players 4 and 6."""
    tables = [last_round(points).play() for points in ([9, 9, 1, 1, 4, 5, 3], [5, 8, 9, 2, 4, 2, 3])]
    assert [table.match.tied for table in tables] == [{2, 3}, {3, 5}]
    views = [known(table.game, table.state) for table in tables]
    for player in (4, 6):
        assert same(views[0][player], views[1][player])
    assert not same(views[0][0], views[1][0])


def refusal(table: Table, player: int, component: int, choice: int) -> str:
    """The reason, after all that the core says of every game."""
    actions, before = table.actions(), table.state.clone()
    if table.match.voting:
        actions = table.actions(vote={p: min(table.match.legal(p)[ref.VOTE]) for p in range(table.match.players)})
    actions[0, player, component] = choice
    with fails(IllegalActionError, action=choice, player=f"player_{player}", component=component) as caught:
        table.game.step(table.state, actions)
    assert table.state.equal(before)
    return caught.value.cause


def test_every_illegal_choice_has_a_reason() -> None:
    game = make(size=7, players=3)
    board = ".......\n.44....\n" + ".......\n" * 5
    first, later = Table(game, board), Table(game, board, round=2)
    poor = Table(game, board, round=4, reserves=[3, 0, 0], garnets=[1, 2, 3], bought=[0, 1, 1])
    full = Table(game, "7777777\n" * 7)
    vote = last_round([9, 9, 1, 1, 4]).play()
    single = last_round([4, 4, 4]).play()
    never, once = (Table(make(size=7, players=3, rounds=4, flip_rounds=rounds)) for rounds in ((9,), (2, 9)))
    for table, player, component, choice, reason in (
        (first, 2, 2, 9, "tile|taken|free"),
        (first, 1, ref.RESERVE, 8, "tile|taken|free"),
        (first, 1, 1, 49, "must|free"),
        (full, 1, 1, 30, "tile|taken|free"),
        (later, 1, 2, 8, "round"),
        (first, 0, ref.FLIP, 1, "flip|round"),
        (never, 0, ref.FLIP, 1, "no digit is ever flipped"),
        (once, 0, ref.FLIP, 1, "in rounds 2 only, this is 1"),  # the others are never played
        (poor, 1, ref.RESERVE, 3, "garnet"),
        (poor, 2, ref.BUY, 1, "4 garnets"),
        (first, 0, ref.VOTE, 2, "vot"),
        (vote, 1, ref.RESERVE, 3, "vot"),
        (vote, 1, ref.FLIP, 1, "flip|vot"),
        (vote, 0, ref.VOTE, 4, "tied"),
        (vote, 0, ref.VOTE, 5, "must"),
        (vote, 2, ref.VOTE, 3, "[Tt]oken"),
        (single, 1, ref.VOTE, 1, "self|own|itself"),
        (first, 0, ref.BUY, -1, "from 0 to 1"),
    ):
        assert re.search(reason, refusal(table, player, component, choice)), (component, choice, reason)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("round:1", "round:9", "a round from 1 to 8"),
        ("turn:0", "turn:9", "at most 9 steps"),
        ("play ", "vote ", "a round from 9 to 9"),
        ("points:0", "points:601", "at most 600 points"),
        ("bought:0", "bought:3", "at most 2 extra tiles"),
    ],
)
def test_lines_that_no_match_comes_to_are_refused(old: str, new: str, expected: str) -> None:
    game = make(size=5, players=2, starting_garnets=13)  # the price of three is 2 + 4 + 8
    line = game.state_to_string(game.init(seeds(0, 1)))
    assert line.count(old) == 1
    with refused("position", expected=expected):
        game.string_to_state(line.replace(old, new))
