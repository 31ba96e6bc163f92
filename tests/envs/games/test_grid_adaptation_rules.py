"""A round of Grid Adaptation on drawn boards: flips, purchases, submissions, the generation, points.

Every position is played by the game and by the slow reference (`Table`); what the rules say about it stands here.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from grid_adaptation_reference import (
    BUY,
    FLIP,
    NO_TILE,
    RESERVE,
    TILES,
    VOTE,
    digits,
    drawn,
    empty,
    generation,
    majority,
    matching,
)
from grid_adaptation_table import Table, make, packed

from cellgames.envs.core import seeds

SMALL = {"size": 7, "players": 3}
SEQUENCES = [0b110, 0b100, 0b011]

# Where a round is played that is neither the first nor one of flips.
LATER: dict[str, Any] = {"round": 2}

# --- the slow reference itself ----------------------------------------------------------------------------------


def test_the_reference_matches_digits_as_in_the_rules() -> None:
    assert matching(0b110, 0b100) == 2
    assert [matching(0b110, sequence) for sequence in range(8)] == [1, 0, 2, 1, 2, 1, 3, 2]
    assert [digits(sequence) for sequence in (1, 4, 6)] == ["001", "100", "110"]


def test_the_reference_takes_the_majority_of_each_digit() -> None:
    assert majority([0b110, 0b101, 0b000]) == 0b100
    assert majority([0b011, 0b011, 0b100]) == 0b011
    assert majority([0b001, 0b010, 0b100]) == 0
    assert majority([0b011, 0b101, 0b110]) == 0b111


# --- the generation ---------------------------------------------------------------------------------------------


def test_an_empty_corner_has_three_neighbours_and_nothing_comes_around_the_edge() -> None:
    table = Table(
        make(**SMALL),
        """
        .6....1
        64.....
        .......
        .......
        .......
        .......
        1......
        """,
        **LATER,
    )
    assert table.play().board == drawn(
        """
        66.....
        64.....
        .......
        .......
        .......
        .......
        .......
        """
    )


def test_on_a_full_board_the_corners_stay_and_all_else_vanishes() -> None:
    table = Table(make(**SMALL), "7654321\n" * 7, **LATER)
    assert all(table.match.legal(player)[0] == {49} for player in range(3))
    corners = "7.....1" + "\n......." * 5 + "\n7.....1"
    assert table.play().board == drawn(corners)
    assert table.read("public") == [2 * (matching(7, s) + matching(1, s)) for s in range(8)]


def test_eight_neighbours_neither_form_nor_keep_a_tile() -> None:
    ring = """
        .......
        .......
        ..555..
        ..5{}5..
        ..555..
        .......
        .......
        """
    after = """
        .......
        ...5...
        ..5.5..
        .5...5.
        ..5.5..
        ...5...
        .......
        """
    for centre in ".5":
        table = Table(make(**SMALL), ring.format(centre), sequence=SEQUENCES, **LATER)
        assert table.play().board == drawn(after)


def test_every_neighbourhood_is_born_stays_or_vanishes_by_its_number_of_tiles() -> None:
    """All 256 of them around an empty space and around a tile, of random sequences, side by side in a batch."""
    game, random = make(size=7, players=2), torch.Generator().manual_seed(2)
    around = [(r, c) for r in (1, 2, 3) for c in (1, 2, 3) if (r, c) != (2, 2)]
    boards = torch.full((512, 7, 7), NO_TILE)
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
        if centre == NO_TILE and tiles == 3:
            expected = majority([board[r][c] for r, c in around if board[r][c] != NO_TILE])
        else:
            expected = centre if tiles in (2, 3) else NO_TILE
        assert after[env_id][2][2] == expected
        assert after[env_id] == generation(board)


def test_a_tile_formed_has_the_majority_of_each_digit_and_its_parents_keep_their_own() -> None:
    """All 512 triples of parents."""
    game, triples = make(size=7, players=2), list(itertools.product(range(8), repeat=3))
    boards = torch.full((512, 7, 7), NO_TILE)
    for parent, cell in enumerate([(2, 2), (2, 3), (3, 2)]):
        boards[:, cell[0], cell[1]] = torch.tensor(triples)[:, parent]
    state = game.init(seeds(0, 512)).replace(planes=packed(boards), round=torch.full((512,), 2))
    state = game.step(state, torch.tensor([48, 49, 49, 49, 0, 0, 2]).expand(512, 2, 7))
    for triple, board in zip(triples, game.board(state).tolist(), strict=True):
        a, b, c = triple
        assert [board[2][2:4], board[3][2:4]] == [[a, b], [c, (a & b) | (a & c) | (b & c)]]
        assert sum(tile != NO_TILE for row in board for tile in row) == 4


def test_a_tile_with_two_or_three_neighbours_keeps_its_own_sequence() -> None:
    table = Table(make(**SMALL), ".......\n..616..\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    # Only the middle one has two neighbours; above and below it tiles of 110, 001, 110 meet.
    assert table.play().board == drawn("...6...\n...1...\n...6...\n" + ".......\n" * 4)


def test_all_cells_are_calculated_at_once() -> None:
    """The ends of the line vanish, and in the same moment still keep the middle one."""
    table = Table(make(**SMALL), ".......\n.1.....\n..1....\n...1...\n" + ".......\n" * 3, **LATER)
    assert table.play().board == drawn(".......\n.......\n..1....\n" + ".......\n" * 4)
    table.play()
    assert table.board == empty(7)


# --- submissions ------------------------------------------------------------------------------------------------


def test_tiles_placed_in_this_round_count_like_any_other() -> None:
    """With them three make a fourth, and one that is alone vanishes at once."""
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (2, 1), 1: (5, 5)})
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)


def test_a_tile_carries_its_players_sequence() -> None:
    table = Table(make(**SMALL), sequence=SEQUENCES)
    table.play({0: [(0, 0), (0, 1), (1, 0)], 1: [(0, 5), (0, 6), (1, 5)], 2: [(5, 2), (6, 2), (5, 3)]})
    assert table.board == drawn("66...44\n66...44\n" + ".......\n" * 3 + "..33...\n..33...")


@pytest.mark.parametrize("first_tiles", [1, 2, 3])
def test_the_first_round_has_as_many_spaces_as_the_parameter_says_and_others_one(first_tiles: int) -> None:
    game = make(**SMALL, first_tiles=first_tiles)
    table = Table(game)
    for slots in (first_tiles, 1, 1):
        for player in range(3):
            legal = table.match.legal(player)
            assert [legal[slot] == {49} for slot in TILES] == [slot >= slots for slot in TILES]
            assert [legal[slot] == table.match.free() for slot in TILES] == [slot < slots for slot in TILES]
        table.play()


def test_a_space_named_by_two_players_stays_empty_and_their_tiles_are_gone() -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (2, 1), 1: (2, 1), 2: (5, 5)})
    assert table.board == empty(7)
    assert table.read("reserves") == [3, 3, 3]


def test_a_space_named_by_all_stays_empty() -> None:
    table = Table(make(size=7, players=8), ".......\n.44....\n" + ".......\n" * 5, **LATER)
    assert table.play(dict.fromkeys(range(8), (2, 1))).board == empty(7)


@pytest.mark.parametrize("twice", [0, 1])
def test_a_space_named_by_two_players_and_twice_by_one_of_them_stays_empty(twice: int) -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (2, 1), 1: (2, 1), 2: (5, 5)}, reserve={twice: (2, 1)})
    assert table.board == empty(7)
    assert table.read("reserves") == [3 - (twice == 0), 3 - (twice == 1), 3]


def test_a_space_named_three_times_by_one_and_once_by_another_stays_empty() -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    table.play({0: [(2, 1)] * 3, 1: [(5, 5), (5, 1), (2, 1)], 2: (0, 6)}, reserve={0: (2, 1)})
    assert table.board == empty(7)


def test_whoever_names_a_space_with_different_slots_is_met_there() -> None:
    """The third tile of one player and the reserve tile of another."""
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    table.play({0: [(5, 5), (5, 1), (2, 1)], 1: (0, 6), 2: (6, 6)}, reserve={1: (2, 1)})
    assert table.board == empty(7)


def test_a_player_who_names_one_space_with_all_slots_gets_one_tile() -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    table.play({0: [(2, 1)] * 3}, reserve={0: (2, 1)})
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    assert table.read("reserves") == [2, 3, 3]


def test_a_tile_and_a_reserve_tile_are_two_tiles() -> None:
    table = Table(make(**SMALL), ".......\n.4.....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (2, 1)}, reserve={0: (1, 2)})
    assert table.board == drawn(".......\n.46....\n.66....\n" + ".......\n" * 4)
    assert table.read("reserves") == [2, 3, 3]


def test_a_reserve_tile_on_the_space_of_ones_own_tile_is_spent() -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (2, 1)}, reserve={0: (2, 1)})
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    assert table.read("reserves") == [2, 3, 3]


def test_a_reserve_tile_on_a_contested_space_is_spent() -> None:
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES, **LATER)
    table.play({0: (4, 4), 1: (4, 4), 2: (0, 6)}, reserve={0: (2, 1), 2: (2, 1)})
    assert table.board == empty(7)
    assert table.read("reserves") == [2, 3, 2]


def test_reserve_tiles_last_as_long_as_there_are_some() -> None:
    table = Table(make(**SMALL, starting_garnets=0))
    for left in (2, 1, 0):
        table.play(reserve={1: (0, 0)})
        assert table.read("reserves") == [3, left, 3]
    assert table.match.legal(1)[RESERVE] == {49}
    assert 49 in table.match.legal(0)[RESERVE]


def test_a_space_with_a_tile_cannot_be_named() -> None:
    board = ".......\n.44....\n.44....\n" + ".......\n" * 4
    table, taken = Table(make(**SMALL), board), {8, 9, 15, 16}
    for component in (*TILES, RESERVE):
        assert not table.match.legal(0)[component] & taken
        for cell in taken:
            actions = table.actions()
            actions[0, 2, component] = cell
            with pytest.raises(ValueError, match=rf"action {cell} of player player_2 in env 0, component {component}"):
                table.game.step(table.state, actions)


# --- forfeits ---------------------------------------------------------------------------------------------------


def test_a_tile_is_forfeited_by_none() -> None:
    """As PettingZoo's environment plays for an illegal space; whoever checks refuses it."""
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    actions = table.actions({0: [(2, 1), (5, 5), (5, 5)]})
    actions[0, 1:, :3] = 49
    actions[0, 0, 1:3] = 49
    with pytest.raises(ValueError, match=r"action 49 of player player_0 in env 0, component 1"):
        table.step(actions)
    table.step(actions, checked=False)
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    table.step(torch.tensor([[[49, 49, 49, 49, 0, 0, 3]] * 3]), checked=False)
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)


def test_a_purchase_that_cannot_be_paid_does_nothing() -> None:
    board = ".......\n.44....\n" + ".......\n" * 5
    table = Table(make(**SMALL), board, sequence=SEQUENCES, reserves=[0, 0, 2], garnets=[1, 1, 1], **LATER)
    actions, before = table.actions(reserve={0: (2, 1)}, buy=[1, 2]), table.state
    with pytest.raises(ValueError, match="illegal action"):
        table.game.step(before, actions)
    after = table.game.step(before, actions, checked=False)
    assert after.garnets.equal(before.garnets)
    assert after.reserves.equal(before.reserves)
    assert after.bought.equal(before.bought)
    assert table.game.board(after)[0].tolist() == empty(7)


# --- flips ------------------------------------------------------------------------------------------------------


def test_a_flip_comes_before_everything_else() -> None:
    """The tile of the round carries the new sequence, points count by it; older tiles keep theirs."""
    board = ".......\n.66....\n" + ".......\n" * 5
    table = Table(make(**SMALL), board, sequence=SEQUENCES, round=4)
    table.play({0: (2, 1)}, flip={0: 3})
    assert table.read("sequence") == [0b010, 0b100, 0b011]
    assert table.board == drawn(".......\n.66....\n.26....\n" + ".......\n" * 4)
    assert table.read("scores") == [3 * 2 + 3, 3 * 2 + 1, 3 * 1 + 2]
    assert table.read("public")[0b010] == 9
    assert table.read("rewards") == [9 - 6, 7 - 7, 5 - 8]


def test_a_flip_stays() -> None:
    table = Table(make(**SMALL), sequence=SEQUENCES, round=4)
    table.play(flip={0: 3}).play()
    assert table.read("sequence") == [0b010, 0b100, 0b011]
    table.play().play(flip={0: 3, 2: 1})
    assert table.read("sequence") == [0b110, 0b100, 0b010]


@pytest.mark.parametrize(("flip", "value"), [(0, 0), (1, 1), (2, 2), (3, 4)])
def test_flip_k_toggles_the_digit_of_value_2_to_the_power_of_k_less_one(flip: int, value: int) -> None:
    table = Table(make(size=5, players=8), round=7, sequence=list(range(8)))
    table.play(flip=dict.fromkeys(range(8), flip))
    assert table.read("sequence") == [sequence ^ value for sequence in range(8)]


def test_after_flips_players_may_share_a_sequence_but_not_a_space() -> None:
    board = ".......\n.66....\n" + ".......\n" * 5
    table = Table(make(**SMALL), board, sequence=SEQUENCES, round=4)
    table.play({0: (2, 1), 1: (2, 1)}, flip={1: 2})
    assert table.read("sequence") == [0b110, 0b110, 0b011]
    assert table.board == empty(7)


@pytest.mark.parametrize(("flip_rounds", "open"), [((4, 7), {4, 7}), ((1,), {1}), ((), set()), ((2, 3, 8), {2, 3, 8})])
def test_flips_are_legal_in_the_rounds_of_flips_only(flip_rounds: tuple[int, ...], open: set[int]) -> None:
    table = Table(make(size=5, players=2, flip_rounds=flip_rounds))
    found = set()
    for round in range(1, 9):
        assert table.read("round") == round
        found |= {round} if table.match.legal(0)[FLIP] == {0, 1, 2, 3} else set()
        table.play()
    assert found == open


def test_a_flip_of_the_first_round_comes_before_the_first_tiles() -> None:
    table = Table(make(**SMALL, flip_rounds=(1,)), sequence=SEQUENCES)
    table.play({1: [(0, 0), (0, 1), (1, 0)]}, flip={1: 1})
    assert table.board[0][:2] == table.board[1][:2] == [0b101, 0b101]


# --- garnets and reserve tiles ----------------------------------------------------------------------------------


def test_extra_tiles_cost_2_then_4_then_8_by_player() -> None:
    table = Table(make(**SMALL, starting_garnets=14))
    for paid, bought in ((2, 1), (6, 2), (14, 3)):
        table.play(buy=[1])
        assert table.read("garnets") == [14, 14 - paid, 14]
        assert table.read("reserves") == [3, 3 + bought, 3]
        assert table.read("bought") == [0, bought, 0]
    assert table.match.legal(1)[BUY] == {0}
    table.play(buy=[0, 2])
    assert table.read("garnets") == [12, 0, 12]


@pytest.mark.parametrize(
    ("garnets", "bought", "can"), [(1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1), (7, 2, 0), (8, 2, 1)]
)
def test_buying_is_legal_when_the_price_can_be_paid(garnets: int, bought: int, can: bool) -> None:
    table = Table(make(**SMALL), garnets=[0, garnets, 0], bought=[0, bought, 0], reserves=[0] * 3, **LATER)
    legal = table.match.legal(1)
    assert legal[BUY] == ({0, 1} if can else {0})
    assert legal[RESERVE] == (set(range(50)) if can else {49})


def test_naming_a_reserve_space_with_none_held_buys_and_plays_one() -> None:
    board = ".......\n.44....\n" + ".......\n" * 5
    table = Table(make(**SMALL, reserves=0, starting_garnets=5), board, sequence=SEQUENCES, **LATER)
    table.play({0: (5, 5)}, reserve={0: (2, 1)})
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    assert (table.read("garnets"), table.read("reserves"), table.read("bought")) == ([3, 5, 5], [0] * 3, [1, 0, 0])


def test_buying_and_naming_with_none_held_is_one_purchase() -> None:
    board = ".......\n.44....\n" + ".......\n" * 5
    table = Table(make(**SMALL, reserves=0, starting_garnets=20), board, sequence=SEQUENCES, **LATER)
    table.play({0: (5, 5)}, reserve={0: (2, 1)}, buy=[0])
    assert table.board[2][1] == 0b110
    assert (table.read("garnets"), table.read("reserves"), table.read("bought")) == ([18, 20, 20], [0] * 3, [1, 0, 0])


def test_buying_with_tiles_held_adds_one_and_playing_takes_one() -> None:
    table = Table(make(**SMALL), **LATER)
    table.play(reserve={0: (2, 1)}, buy=[0, 1])
    assert table.read("reserves") == [3, 4, 3]
    assert table.read("garnets") == [0, 0, 2]


def test_a_tile_held_is_played_before_one_is_bought() -> None:
    table = Table(make(**SMALL), **LATER)
    table.play(reserve={0: (2, 1)})
    assert (table.read("reserves"), table.read("garnets")) == ([2, 3, 3], [2, 2, 2])


def test_a_tile_bought_for_a_contested_space_is_spent_and_paid() -> None:
    table = Table(make(**SMALL, reserves=0), **LATER)
    table.play({1: (2, 1)}, reserve={0: (2, 1)})
    assert table.board == empty(7)
    assert (table.read("garnets"), table.read("reserves"), table.read("bought")) == ([0, 2, 2], [0] * 3, [1, 0, 0])


def test_a_tile_bought_may_be_played_later() -> None:
    table = Table(make(**SMALL, reserves=0), **LATER)
    table.play(buy=[2])
    assert table.read("reserves") == [0, 0, 1]
    assert table.match.legal(2)[BUY] == {0}
    table.play(reserve={2: (3, 3)})
    assert (table.read("reserves"), table.read("garnets"), table.read("bought")) == ([0] * 3, [2, 2, 0], [0, 0, 1])


# --- points -----------------------------------------------------------------------------------------------------


def test_every_tile_earns_a_point_for_each_digit_that_matches() -> None:
    table = Table(make(**SMALL), ".......\n.62....\n.62....\n" + ".......\n" * 4, sequence=SEQUENCES, **LATER)
    table.play()
    assert table.read("scores") == [2 * 3 + 2 * 2, 2 * 2 + 2 * 1, 2 * 1 + 2 * 2]
    assert table.read("public") == [6, 2, 10, 6, 6, 2, 10, 6]
    table.play()
    assert table.read("scores") == [20, 12, 12]
    assert table.read("rewards") == [4, -2, -2]


def test_what_sequences_earn_is_that_of_the_last_round_alone() -> None:
    table = Table(make(**SMALL), ".......\n...7...\n..77...\n" + ".......\n" * 4, sequence=SEQUENCES, **LATER)
    assert table.read("public") == [0] * 8
    table.play()
    assert table.read("public") == [4 * count for count in (0, 1, 1, 2, 1, 2, 2, 3)]
    table.play({0: (0, 2), 1: (0, 3), 2: (3, 2)}, reserve={0: (3, 3)})
    tiles = [tile for row in table.board for tile in row if tile != NO_TILE]
    assert len(tiles) > 4
    assert table.read("public") == [sum(matching(tile, sequence) for tile in tiles) for sequence in range(8)]


@pytest.mark.parametrize("players", [2, 3, 8])
def test_rewards_of_a_round_are_its_points_less_the_mean_of_the_others(players: int) -> None:
    table = Table(make(size=7, players=players), ".......\n.76....\n.76....\n" + ".......\n" * 4, **LATER)
    points = table.play().read("scores")
    expected = [p - (sum(points) - p) / (players - 1) for p in points]
    assert table.read("rewards") == pytest.approx(expected, abs=1e-5)
    assert sum(table.read("rewards")) == pytest.approx(0, abs=1e-4)


# --- what is legal ----------------------------------------------------------------------------------------------


def test_nobody_votes_in_a_round() -> None:
    table = Table(make(**SMALL))
    for _ in range(7):
        assert [table.match.legal(player)[VOTE] for player in range(3)] == [{3}] * 3
        table.play()


def test_every_component_always_has_a_legal_choice() -> None:
    """With a full board, without garnets and reserve tiles, too."""
    game = make(**SMALL, reserves=0, starting_garnets=0, flip_rounds=(1,))
    for board in ("7777777\n" * 7, ""):
        for round in (1, 2, 8):
            table = Table(game, board, round=round)
            parts = game.legal_actions(table.state).split(game.info.action_nvec, -1)
            assert all(part.any(-1).all() for part in parts)
    full = Table(game, "7777777\n" * 7)
    assert game.legal_actions(full.state).sum().item() == 3 * (4 + 4 + 1 + 1)


def test_none_is_legal_in_a_tile_slot_where_no_space_is_free() -> None:
    table = Table(make(**SMALL), "7777777\n" * 6 + "777777.")
    assert [table.match.legal(0)[slot] for slot in (*TILES, RESERVE)] == [{48}] * 3 + [{48, 49}]
    table = Table(make(**SMALL), "7777777\n" * 7)
    assert [table.match.legal(0)[slot] for slot in (*TILES, RESERVE)] == [{49}] * 4
