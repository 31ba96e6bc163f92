"""Pictures of the Toroidal Cup: every moment, Life as an animation, and text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from every_game import generator
from toy_games import random_actions

from cellgames.agents.play_loop import play
from cellgames.agents.playouts import RandomAgent
from cellgames.arena.play import match
from cellgames.arena.records import replays
from cellgames.envs.core import seeds
from cellgames.envs.core.drawing import Inset, Picture, Rectangle, Text
from cellgames.envs.toroidal_cup import CupState, ToroidalCup
from cellgames.envs.toroidal_cup.rendering import COLOURS, FRAMES

SMALL = ToroidalCup(rows=16, cols=32, pattern="donutmethuselahs", shapes=2, max_generations=300)
GAMES = [
    SMALL,
    ToroidalCup(rows=20, cols=90, teams=3, pattern="donutpi", shapes=3, max_generations=20),
    ToroidalCup(pattern="quadjustyna", max_generations=20),
]


def states_of(game: ToroidalCup, seed: int = 1) -> list[CupState]:
    states, random = [game.init(seeds(seed, 1))], generator(seed)
    while not states[-1].done.all():
        states.append(game.step(states[-1], random_actions(game, states[-1], random)))
    return states


def words(drawn: Picture) -> str:
    return " / ".join(shape.text for shape in drawn.shapes if isinstance(shape, Text))


def cells_drawn(drawn: Picture, rows: int, cols: int) -> np.ndarray:
    """The board as the drawing of cells shows it, read back from its bars."""
    inset = next(shape for shape in drawn.shapes if isinstance(shape, Inset))
    board = np.zeros((rows, cols), np.int8)
    for bar in inset.picture.shapes:
        assert isinstance(bar, Rectangle)
        if bar.fill in COLOURS:
            x, y = int(bar.x), int(bar.y)
            board[y, x : x + round(bar.width)] = COLOURS.index(str(bar.fill)) + 1
    return board


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.pattern)
def test_every_moment_shows_the_board(game: ToroidalCup) -> None:
    for state in states_of(game):
        drawn = game.draw(state)
        assert np.array_equal(cells_drawn(drawn, game.rows, game.cols), game.board(state)[0].numpy())
        for name, score in zip(game.info.players, state.scores[0].tolist(), strict=True):
            assert f"{name}: {score:.0f} cells" in words(drawn)


def test_while_teams_arrange_bands_and_shapes_to_come_are_shown() -> None:
    game = ToroidalCup(rows=16, cols=32, pattern="donutmethuselahs", shapes=3)
    state = game.string_to_state("donutmethuselahs 0 ! rabbit,rpentomino*2/bheptomino,rabbit,rpentomino")
    drawn = game.draw(state)
    assert "shape 1 of 3" in words(drawn)
    assert "to place: rabbit, 2 x rpentomino / team_2" in words(drawn)
    (inset,) = [shape for shape in drawn.shapes if isinstance(shape, Inset)]
    bands = [shape for shape in inset.picture.shapes if isinstance(shape, Rectangle)]
    assert [(band.x, band.width) for band in bands] == [(0, 16), (16, 16)]
    assert "to place: rabbit, 2 x ? / team_2: 0 cells, -, to place: 3 x ? /" in words(game.draw_for(state, 0))


def test_after_the_end_the_results_are_told() -> None:
    *_, before, state = states_of(SMALL)
    drawn = SMALL.draw(state)
    assert f"generation {int(state.generations)}" in words(drawn)
    assert "wins" in words(drawn)
    assert "wins" not in words(SMALL.draw(before))


def test_a_step_in_which_life_runs_is_an_animation_that_ends_in_the_final_picture() -> None:
    states = states_of(SMALL)
    for before, after in pairwise(states[:-1]):
        assert list(SMALL.frames(before, after)) == [SMALL.draw(after)]
    frames = list(SMALL.frames(states[-2], states[-1]))
    assert 50 < len(frames) <= FRAMES + 1
    assert frames[-1] == SMALL.draw(states[-1])
    assert len({(drawn.width, drawn.height) for drawn in frames}) == 1
    assert np.array_equal(cells_drawn(frames[0], 16, 32), states[-1].start[0].numpy())
    assert [words(drawn).split(" / ")[0].split(": ")[1] for drawn in frames[:3]] == [
        "generation 0",
        "generation 1",
        "generation 2",
    ]
    assert list(SMALL.frames(states[-1], states[-1])) == frames[-1:]


def test_a_record_becomes_a_gif_with_lifes_frames(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    agents = [RandomAgent()]
    played = play(SMALL, agents, torch.zeros(1, 2, dtype=torch.int64), torch.tensor([7]), [generator()])
    (game,) = match.records_of(SMALL, played, seeds=[7], agents=[("random", "random")], openings=[0])
    replays.animate(game, tmp_path / "game.gif")
    with image.open(tmp_path / "game.gif") as gif:
        times = []
        for frame in range(gif.n_frames):
            gif.seek(frame)
            times.append(gif.info["duration"])
    arranging = SMALL.info.max_turns  # its last position is the animation's first picture
    assert times[:arranging] == [300] * arranging
    assert times[-1] == 3000
    assert len(times) > 50
    assert set(times[arranging:-1]) <= {60, 120, 180}  # equal pictures are one of longer duration
