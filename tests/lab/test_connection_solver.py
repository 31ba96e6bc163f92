"""Hex and Y on small boards: published winning openings, plain minimax, and swaps."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from benchmarks.agents import truth
from refusals import refused

from cellgames.cli.main import main
from cellgames.envs.connection import ConnectionGame, ConnectionState, Hex, Y
from cellgames.envs.core import Solo, seeds
from cellgames.lab.solving.connection_solver import ConnectionSolver

OPENINGS = [
    # Hexwiki, "Small boards" (Hex) and "Where to swap (Y)".
    (Hex(size=2, swap=False), "b1 a2"),
    (Hex(size=3, swap=False), "c1 a2 b2 c2 a3"),
    (Hex(size=4, swap=False), "d1 c2 b3 a4"),
    (Y(size=3, swap=False), "b1 a2 b2"),
    (Y(size=4, swap=False), "b1 c1 a2 b2 c2 a3 b3"),
]
BOARDS: list[ConnectionGame] = [
    Hex(size=3),
    Hex(size=3, swap=False),
    Hex(size=2, tiling="octagons"),
    Y(size=3),
    Y(size=4, swap=False),
    Y(size=3, tiling="octagons"),
]


def played(game: ConnectionGame, *names: str) -> ConnectionState:
    state = game.init(seeds(0, 1))
    for name in names:
        state = game.step(state, torch.tensor([game.string_to_action(name)]))
    return state


@pytest.mark.parametrize(("game", "names"), OPENINGS, ids=str)
def test_the_openings_that_win_are_the_published_ones(game: ConnectionGame, names: str) -> None:
    moves = ConnectionSolver(game).winning_moves(played(game))
    assert " ".join(map(game.action_to_string, moves)) == names


@pytest.mark.parametrize("game", BOARDS, ids=str)
def test_winning_moves_are_those_of_plain_minimax(game: ConnectionGame) -> None:
    """Every move of random games is judged as by playing all games to their ends."""

    known: dict[tuple[int, str], list[int]] = {}

    def winning(solo: Solo) -> list[int]:
        if solo.terminated:  # by the move before
            return []
        position = solo.turn, game.state_to_string(solo.state())
        if position not in known:
            known[position] = [move for move in moves_of(solo) if not winning(after(solo, move))]
        return known[position]

    solver, chance = ConnectionSolver(game), random.Random(3)
    for _ in range(6):
        solo = game.solo(game.init(seeds(0, 1)))
        while not solo.terminated:
            if game.num_cells - solo.turn <= 6:
                assert solver.winning_moves(solo.state()) == winning(solo)
                assert solver.wins(solo.state()) == bool(winning(solo))
            solo = after(solo, chance.choice(moves_of(solo)))


def moves_of(solo: Solo) -> list[int]:
    return [int(move) for move in solo.legal_actions().nonzero()[0]]


def after(solo: Solo, move: int) -> Solo:
    copy = solo.copy()
    copy.step(move)
    return copy


def test_positions_with_many_free_cells_are_refused() -> None:
    game = Hex(size=5)
    with refused("position", "25"):
        ConnectionSolver(game).wins(played(game))


def test_the_command_solves_hex_and_y(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "hex-v0", "--size", "3", "--param", "swap=False", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "Black wins with best play" in shown
    assert "Winning moves: c1 a2 b2 c2 a3\n" in shown
    assert main(["solve", "hex-v0", "--size", "3", "--moves", "b2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["winner"], found["winning_moves"]) == ("white", ["swap-pieces"])
    assert main(["solve", "y-v0", "--position", "x../../. w", "--size", "3", "--param", "swap=False", "--winner"]) == 0
    assert "A winning move: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hex-v0"], "at most 16 free cells, to solve it, got 121"),
        (["hex-v0", "--size", "3", "--proof", "x"], "--proof is for Torus"),
        (["y-v0", "--size", "3", "--time", "9"], "--time is for Torus"),
        (["hex-v0", "--size", "2", "--moves", "a1 b1 a2"], "the game is over"),
    ],
)
def test_the_command_says_what_cannot_be_solved(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_agents_are_measured_in_positions_that_the_solver_has_judged(tmp_path: Path) -> None:
    words = ["--game", "y-v0", "--size", "4", "--agents", "random", "greedy", "--positions", "20"]
    assert truth.main([*words, "--out", str(tmp_path)]) == 0
    game = Y(size=4)
    kept = truth.judged(game, 20, 0, tmp_path / "y-n4-positions.json")
    for place in range(20):
        state = kept.state[place : place + 1]
        assert kept.winning[place].nonzero().flatten().tolist() == ConnectionSolver(game).winning_moves(state)
        assert not game.legal_actions(state)[0, -1]
    found = json.loads((tmp_path / "y-n4.json").read_text())
    assert [row["agent"] for row in found["rows"]] == ["random", "greedy"]
    assert found["rows"][1]["right"] == int(truth.answers(kept, "greedy", seed=0).sum())
    with pytest.raises(SystemExit):
        truth.main(["--game", "cloth-of-gold-v0", "--out", str(tmp_path)])
