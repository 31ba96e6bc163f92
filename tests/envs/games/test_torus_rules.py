"""Torus on drawn boards: what a move joins, closes and wins. Drawings show octagons and the squares between."""

from __future__ import annotations

import pytest
import torch
import torus_reference as ref

from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import name_to_cell, neighbours


def play(drawing: str, mover: str, move: str) -> tuple[Torus, torch.Tensor]:
    """The scores after `move`; [1, 2]."""
    _, size = ref.board_from_text(drawing)
    game = Torus(size)
    before = game.string_to_state(ref.position_from_text(drawing, mover))
    assert not before.done.any(), "the drawing is already won"
    after = game.step(before, torch.tensor([game.string_to_action(move)]))
    assert torch.equal(after.terminated, after.scores.sum(1) > 0)
    return game, after.scores


WON = [
    ("a ring of octagons wins for Black", "b", "a3", [1, 0], """
        B . .
         . . .
        B . .
         . . .
        . . .
         . . .
    """),
    ("a bracelet of octagons wins for White", "w", "c1", [0, 1], """
        W W .
         . . .
        . . .
         . . .
        . . .
         . . .
    """),
    ("an r-helix slopes down to the right and wins for Black", "b", "c3+", [1, 0], """
        B . .
         B . .
        . B .
         . B .
        . . B
         . . .
    """),
    ("an l-helix slopes up to the right and wins for White", "w", "a3", [0, 1], """
        . . W
         . W .
        . W .
         W . .
        . . .
         . . W
    """),
]  # fmt: skip
LOST = [
    ("a ring wins nothing for White", "w", "a3", """
        W . .
         . . .
        W . .
         . . .
        . . .
         . . .
    """),
    ("a bracelet wins nothing for Black", "b", "c1", """
        B B .
         . . .
        . . .
         . . .
        . . .
         . . .
    """),
    ("an r-helix wins nothing for White", "w", "c3+", """
        W . .
         W . .
        . W .
         . W .
        . . W
         . . .
    """),
    ("a loop that winds round nothing wins nothing", "b", "b2", """
        B B .
         . . .
        B . .
         . . .
        . . .
         . . .
    """),
]  # fmt: skip


@pytest.mark.parametrize(("mover", "move", "scores", "drawing"), [case[1:] for case in WON], ids=[c[0] for c in WON])
def test_a_winning_cycle_ends_the_game(mover: str, move: str, scores: list[int], drawing: str) -> None:
    assert play(drawing, mover, move)[1].tolist() == [scores]


@pytest.mark.parametrize(("mover", "move", "drawing"), [case[1:] for case in LOST], ids=[c[0] for c in LOST])
def test_a_cycle_of_another_kind_does_not(mover: str, move: str, drawing: str) -> None:
    assert play(drawing, mover, move)[1].tolist() == [[0, 0]]


def test_the_winner_gets_one_and_the_loser_minus_one_at_the_end_only() -> None:
    game = Torus(2)
    state = game.init(seeds(0, 1))
    for name, rewards in (("a1", [0, 0]), ("b1", [0, 0]), ("a2", [1, -1])):
        state = game.step(state, torch.tensor([name_to_cell(name, 2)]))
        assert state.rewards.tolist() == [rewards]
    assert game.outcome(state).tolist() == [[1, -1]]


@pytest.mark.parametrize("size", range(2, 17))
def test_neighbours_equal_the_references(size: int) -> None:
    for cell, ring in enumerate(neighbours(size)):
        expected = {(ref.index_of(e.cell, size), e.dx, e.dy) for e in ref.neighbours(ref.cell_of(cell, size), size)}
        assert {tuple(edge) for edge in ring} == expected
        assert len(ring) == len(expected)


def test_the_observation_is_the_movers_view() -> None:
    """Own octagons, own squares, the opponent's octagons and squares, and ones for Black."""
    game = Torus(2)
    state = game.string_to_state("xo/.. .x/o. w")
    white = game.observe(state, state.current_player)[0].tolist()
    black = game.observe(state, 0)[0].tolist()
    own, opponent = [[[0, 1], [0, 0]], [[0, 0], [1, 0]]], [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]
    assert white == [*own, *opponent, [[0, 0], [0, 0]]]
    assert black == [*opponent, *own, [[1, 1], [1, 1]]]
