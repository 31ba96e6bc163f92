"""A round of Grid Adaptation on drawn boards: flips, purchases, submissions, the generation, points.

Every position is played by the game and by the slow reference (`Table`); what the rules say about it stands here.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from grid_adaptation_reference import NO_TILE, drawn, empty, generation, majority, matching
from grid_adaptation_table import Table, make, packed
from refusals import fails

from cellgames.envs.core import IllegalActionError, seeds

SMALL = {"size": 7, "players": 3}
SEQUENCES = [0b110, 0b100, 0b011]

# Where a round is played that is neither the first nor one of flips.
LATER: dict[str, Any] = {"round": 2}


def test_on_a_full_board_the_corners_stay_and_all_else_vanishes() -> None:
    table = Table(make(**SMALL), "7654321\n" * 7, **LATER)
    assert all(table.match.legal(player)[0] == {49} for player in range(3))
    corners = "7.....1" + "\n......." * 5 + "\n7.....1"
    assert table.play().board == drawn(corners)
    assert table.read("public") == [2 * (matching(7, s) + matching(1, s)) for s in range(8)]


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


def test_a_tile_is_forfeited_by_none() -> None:
    """As PettingZoo's environment plays for an illegal space; whoever checks refuses it."""
    table = Table(make(**SMALL), ".......\n.44....\n" + ".......\n" * 5, sequence=SEQUENCES)
    actions = table.actions({0: [(2, 1), (5, 5), (5, 5)]})
    actions[0, 1:, :3] = 49
    actions[0, 0, 1:3] = 49
    with fails(IllegalActionError, action=49, player="player_0", component=1):
        table.step(actions)
    table.step(actions, checked=False)
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)
    table.step(torch.tensor([[[49, 49, 49, 49, 0, 0, 3]] * 3]), checked=False)
    assert table.board == drawn(".......\n.44....\n.64....\n" + ".......\n" * 4)


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
    assert table.game.board(after)[0].tolist() == empty(7)


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
