"""Places: what is counted where, by whom and when; seen from other stones; and how it is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from strategy_records import a_game

import cellgames
from cellgames.arena.analyse.places import Places, count_places, sections
from cellgames.arena.analyse.reader import Layout
from cellgames.utils.report.model import drawn

TORUS = cellgames.make("torus-v0", size=3)
CLOTH = cellgames.make("cloth-of-gold-v0", height=16, width=16)
GRID = cellgames.make("grid-adaptation-small-v0")
CUP = cellgames.make("toroidal-cup-small-v0")

GAMES = [
    a_game(TORUS, ("a1", "b1", "c3", "a2"), ("x", "y"), ("win", "loss")),
    a_game(TORUS, ("a1", "c3+", "b2", "a2"), ("y", "x"), ("loss", "win"), opening=2),
]


def cell(name: str) -> int:
    return TORUS.string_to_action(name)


def counted(board: Places) -> dict[str, int]:
    """Return the counts of all agents, seats and phases by the name of the place, but for none."""
    names = board.frame.layout.names
    return {names[place]: int(count) for place, count in enumerate(board.counts.sum((0, 1, 2))) if count}


def test_cells_are_counted_by_agent_seat_and_phase_but_not_where_they_were_forced() -> None:
    board = count_places(TORUS, GAMES)[0]
    assert (board.agents, board.seats) == (("x", "y"), ("black", "white"))
    assert board.phases[:2] == ("move 1", "moves 2 and 3")
    expected = {("x", "black", 0, "a1"), ("x", "black", 1, "c3"), ("y", "white", 0, "b1"), ("y", "white", 1, "a2")}
    expected |= {("y", "black", 1, "b2"), ("x", "white", 1, "a2")}
    found = {
        (board.agents[agent], board.seats[seat], phase, board.frame.layout.names[place])
        for agent, seat, phase, place in np.argwhere(board.counts).tolist()
    }
    assert found == expected
    assert board.counts.sum() == 6
    assert board.claims(agent=0)[cell("a2")] == 1
    assert board.claims(phase=0)[cell("a1")] == 1


def test_answers_are_seen_from_the_stone_before_which_comes_to_the_middle() -> None:
    _, octagon, square = count_places(TORUS, GAMES)
    assert octagon.frame.layout.names[octagon.frame.marked] == "b2"
    assert square.frame.layout.names[square.frame.marked] == "b2+"
    # b1 after a1 is one to the right; c3 after b1, and a2 after c3, are around the torus one to the right and one up.
    assert counted(octagon) == {"c2": 1, "c1": 2, "a2": 1}
    assert counted(square) == {"a1": 1}  # b2 after c3+: one column left and one row up of its octagon


def test_the_lead_is_the_share_of_winners_less_that_of_losers() -> None:
    lead = count_places(TORUS, GAMES)[0].lead()
    # x won both and claimed a1, c3, a2; y lost both and claimed b1, a2, b2.
    shares = [lead[cell(name)] for name in ("a1", "c3", "a2", "b1", "b2", "c1")]
    assert shares == pytest.approx([1 / 3, 1 / 3, 0, -1 / 3, -1 / 3, 0])
    assert lead.sum() == pytest.approx(0)


def test_cloth_counts_what_stood_when_a_turn_ended_by_round() -> None:
    moves = ["r2c2", "r2c3", "r2c2", "end", "r9c9", "end", "r3c3", "end"]
    board = count_places(CLOTH, [a_game(CLOTH, moves, ("x", "y"), ("loss", "win"))])[0]
    assert {tuple(found) for found in np.argwhere(board.counts).tolist()} == {
        (0, 0, 0, 2 * 16 + 3),
        (1, 1, 0, 9 * 16 + 9),
        (0, 0, 1, 3 * 16 + 3),
    }


def test_grid_counts_the_spaces_of_all_tiles_by_round_and_not_the_vote() -> None:
    moves = ["r0c0,r0c1+r8c8/buy none r1c1 none", *["none none none r2c2"] * 5, "none/vote:1 none none none"]
    board = count_places(GRID, [a_game(GRID, moves, "wxyz", ("draw",) * 4, scores=(3, 2, 1, 0))])[0]
    assert board.counts[:, :, 0].sum() == 4
    assert board.counts[3, 3, 1:, 2 * 9 + 2].tolist() == [1] * 5
    assert board.counts[0, 0, 0, [0, 1, 80]].tolist() == [1, 1, 1]
    assert board.ahead[0, 0].sum() == 3
    assert board.ahead[1, 0].sum() == 1


def test_the_cup_counts_centres_in_ones_own_band() -> None:
    record = a_game(CUP, ["r2c6/3 r6c2/0", "r22c10/1 r6c6/2"], ("x", "y"), ("win", "loss"))
    board = count_places(CUP, [record])[0]
    names = board.frame.layout.names
    found = [(seat, phase, names[place]) for _, seat, phase, place in np.argwhere(board.counts).tolist()]
    assert sorted(found) == [(0, 0, "r2c6"), (0, 1, "r22c10"), (1, 0, "r6c2"), (1, 1, "r6c6")]


def test_large_boards_are_drawn_in_blocks_that_add_up() -> None:
    layout = Layout.rectangle(tuple(map(str, range(120 * 70))), 120, 70)
    values = np.arange(120 * 70, dtype=np.float64)
    shown = layout.shown(values)
    assert (layout.block, shown.shape) == (3, (40 * 24,))
    assert shown.sum() == values.sum()
    assert shown[0] == sum(row * 70 + col for row in range(3) for col in range(3))
    assert Layout.rectangle(("a",) * 81, 9, 9).block == 1


@pytest.mark.usefixtures("plots")
def test_all_plots_of_a_section_can_be_drawn() -> None:
    pytest.importorskip("matplotlib")
    (found,) = sections(TORUS, GAMES * 10)
    names = [plot.name for plot in found.plots]
    assert len(set(names)) == len(names) == 5  # nobody who won answered a stone on a square
    for plot in (found.plots[0], found.plots[-1]):
        files = drawn(plot)
        assert files["png"].startswith(b"\x89PNG")
        assert b"<svg" in files["svg"]
        assert files == drawn(plot)


def test_cells_stand_out_only_where_chance_does_not_explain_it() -> None:
    won = [a_game(TORUS, ("a1", "b1"), ("x", "y"), ("win", "loss"))] * 30
    assert count_places(TORUS, won)[0].striking()[cell("a1")] == pytest.approx(math.sqrt(60))
    (found,) = sections(TORUS, won)
    assert "this tells of agents as well as of cells" in found.text
    assert "Those ahead claimed a1 (+100.0) more often and b1 (-100.0) less often" in found.text
    (even,) = sections(TORUS, GAMES)
    assert "No cell was claimed by those ahead and those behind so differently" in even.text


HEX = cellgames.make("hex-v0", size=4)
HEX_GAMES = [
    a_game(HEX, ("b1", "swap-pieces", "c2", "d4"), ("x", "y"), ("win", "loss")),
    a_game(HEX, ("a1", "d4", "b2", "b3"), ("y", "x"), ("loss", "win"), opening=1),
]


def test_a_swap_claims_no_cell_and_answers_are_seen_from_where_the_stone_stands_then() -> None:
    board, answers = count_places(HEX, HEX_GAMES)
    assert counted(board) == {"b1": 1, "c2": 1, "d4": 2, "b2": 1, "b3": 1}
    assert answers.frame.layout.names[answers.frame.marked] == "e5"
    # c2 after the swap of b1 to a2, d4 after c2, d4 after a1, b2 after d4, b3 after b2.
    assert counted(answers) == {"g5": 1, "f7": 1, "h8": 1, "c3": 1, "e6": 1}
