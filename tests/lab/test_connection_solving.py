"""Hex and Y on small boards: published winning openings, plain minimax, swaps, and proofs that other code checks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from benchmarks.agents import truth
from every_game import generator
from refusals import refused

from cellgames.agents import random_openings
from cellgames.agents.connection import ConnectionSearch
from cellgames.agents.connection.native_trees import ARRAYS
from cellgames.agents.networks.saved import load_network, shipped
from cellgames.agents.search import GumbelSearch, NetworkEvaluator, Tree
from cellgames.agents.search.tree_search import look_at
from cellgames.agents.solving.prover import solve
from cellgames.arena import MatchOptions, match
from cellgames.cli.main import main
from cellgames.envs.connection import ConnectionGame, ConnectionState, Hex, Y
from cellgames.envs.core import Solo, seeds
from cellgames.lab.commands import solve_command
from cellgames.lab.solving import proof_checker

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


def winning(search: ConnectionSearch, state: ConnectionState) -> list[int]:
    return (search.move_values(state)[0] == 1).nonzero().flatten().tolist()


def played(game: ConnectionGame, *names: str) -> ConnectionState:
    state = game.init(seeds(0, 1))
    for name in names:
        state = game.step(state, torch.tensor([game.string_to_action(name)]))
    return state


@pytest.mark.parametrize(("game", "names"), OPENINGS, ids=str)
def test_the_openings_that_win_are_the_published_ones(game: ConnectionGame, names: str) -> None:
    moves = winning(ConnectionSearch(game), played(game))
    assert " ".join(map(game.action_to_string, moves)) == names


@pytest.mark.parametrize("game", BOARDS, ids=str)
def test_winning_moves_are_those_of_plain_minimax(game: ConnectionGame) -> None:
    """Every move of random games is judged as by playing all games to their ends."""

    known: dict[tuple[int, str], list[int]] = {}

    def by_minimax(solo: Solo) -> list[int]:
        if solo.terminated:  # by the move before
            return []
        position = solo.turn, game.state_to_string(solo.state())
        if position not in known:
            known[position] = [move for move in moves_of(solo) if not by_minimax(after(solo, move))]
        return known[position]

    search, chance = ConnectionSearch(game), random.Random(3)
    for _ in range(3):
        solo = game.solo(game.init(seeds(0, 1)))
        while not solo.terminated:
            if game.num_cells - solo.turn <= 5:
                assert winning(search, solo.state()) == by_minimax(solo)
                assert (search.solve(solo.state()) == 1) == bool(by_minimax(solo))
            solo = after(solo, chance.choice(moves_of(solo)))


def moves_of(solo: Solo) -> list[int]:
    return [int(move) for move in solo.legal_actions().nonzero()[0]]


def after(solo: Solo, move: int) -> Solo:
    copy = solo.copy()
    copy.step(move)
    return copy


@pytest.mark.parametrize(
    ("game", "openings"),
    [
        (Hex(size=4, swap=False), range(16)),
        (Y(size=5, swap=False), range(15)),
        (Hex(size=5, swap=False), (0, 7, 12)),
        pytest.param(Hex(size=5, swap=False), range(25), marks=pytest.mark.slow),
        pytest.param(Y(size=6, swap=False), range(21), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_proofs_hold_by_other_code(game: ConnectionGame, openings: Iterable[int], tmp_path: Path) -> None:
    search = ConnectionSearch(game)
    for cell in openings:
        winner, proof, moves = proved(search, game.step(played(game), torch.tensor([cell])), tmp_path / "some.proof")
        for wrong in (
            {**proof, "winner": "black" if winner == "white" else "white"},
            {**proof, "format": _OTHER[game.id.removesuffix("-v0")]},
        ):
            with pytest.raises(proof_checker.ProofError):
                proof_checker.check(wrong, moves)


def proved(search: ConnectionSearch, state: ConnectionState, path: Path) -> tuple[str, dict[str, Any], bytes]:
    """Solve a position, write its proof and have it checked; return the winner and what was written."""
    game, wins = search.game, int(search.solve(state)) == 1
    winner = "black" if wins == (int(state.current_player) == 0) else "white"
    moves, text = search.winning_strategy(state), game.state_to_string(state)
    proof_checker.write(path, game.id.removesuffix("-v0"), game.size, text, winner, moves)
    assert f"proved: {winner} wins" in proof_checker.check_file(path)
    return winner, proof_checker.read(path)[0], moves


@pytest.mark.parametrize("game", [Hex(size=9, swap=False), Y(size=11, swap=False)], ids=str)
def test_late_positions_of_boards_of_two_words_are_proved(game: ConnectionGame, tmp_path: Path) -> None:
    state = game.init(seeds(0, 16))
    for action in random_openings(game, 16, 3 * game.num_cells // 5, generator(1)).t():
        state = game.step(state, action)
    state = state[~state.done]
    seen, move = solve(game, state, 1, large=True)
    assert not solve(game, state, 1)[0].any(), "searches for moves ask about small boards only"
    search, found = ConnectionSearch(game), set[tuple[str, int]]()
    for row, look in enumerate(seen.tolist()):
        winner, proof, _ = proved(search, state[row : row + 1], tmp_path / "some.proof")
        assert look in (0, 1 if proof["position"].endswith(winner[0]) else -1)
        found.add((winner, look))
    assert {winner for winner, _ in found} == {"black", "white"}
    assert {look for _, look in found} == {-1, 0, 1}
    after = game.step(state[seen == 1], move[seen == 1])
    assert (search.solve(after[~after.done]) == -1).all()


@pytest.mark.parametrize("game", [Hex(size=9), Y(size=11)], ids=str)
def test_what_a_look_leaves_out_is_not_needed(game: ConnectionGame) -> None:
    state = game.init(seeds(0, 100))
    for action in random_openings(game, 100, game.num_cells - 18, generator(1)).t():
        state = game.step(state, action)
    state = state[~state.done]
    found = look_at(game, state)
    assert found is not None
    legal, values = game.legal_actions(state), ConnectionSearch(game).move_values(state)
    left_out = ~found.worth & legal
    assert left_out.any()
    assert not left_out[found.result != 0].any()
    assert (values[left_out] == -1).float().mean() > 0.9, "but for cells that do not matter"
    assert torch.equal(values.where(found.worth & legal, -1).amax(1), values.where(legal, -1).amax(1))


@pytest.mark.parametrize("game", [Hex(size=9), Y(size=11)], ids=str)
def test_looks_count_in_native_trees_as_in_those_in_torch(game: ConnectionGame) -> None:
    evaluator = NetworkEvaluator(load_network(shipped(game), game).network, looks=True)
    state, trees = game.init(seeds(0, 24)), list[Tree]()
    for action in random_openings(game, 24, 40, generator()).t():
        state = game.step(state, action)
    for one in (evaluator, SimpleNamespace(evaluate=evaluator.evaluate)):  # for which there are no native trees
        search = GumbelSearch(game, one, 40)
        trees.append(search.empty(state))
        search.plant(trees[-1], torch.arange(len(state)), state, generator())
        search.grow(trees[-1], generator())
    native = trees[0]
    assert torch.equal(*(tree.of_root(tree.resolved) for tree in trees))
    # Native code evaluates several nodes before it learns from one of them that a root is resolved.
    rows = (~native.of_root(native.resolved)).repeat_interleave(native.capacity)
    assert rows.any()
    for name in ARRAYS[1:]:
        mine, theirs = (getattr(tree, name)[rows] for tree in trees)
        assert torch.allclose(mine, theirs, atol=1e-4) if mine.is_floating_point() else torch.equal(mine, theirs), name


_OTHER = {"hex": "cellgames y proof 1", "y": "cellgames hex proof 1"}


@pytest.mark.parametrize(
    ("game", "number"),
    [(Y(size=7, swap=False), 10), pytest.param(Hex(size=6, swap=False), 24, marks=pytest.mark.slow)],
    ids=str,
)
def test_larger_boards_have_as_many_winning_openings_as_the_page_says(game: ConnectionGame, number: int) -> None:
    assert len(winning(ConnectionSearch(game, 1 << 27), played(game))) == number


def test_a_search_goes_on_from_its_table(tmp_path: Path) -> None:
    game, path = Hex(size=5, swap=False), tmp_path / "some.table"
    state = played(game, "b2")
    whole = list(ConnectionSearch(game).search(state, 200))
    first = next(ConnectionSearch(game, 1 << 20, table=path).search(state, 200))
    assert (first.value, first.nodes) == (0, whole[0].nodes)
    *_, last = ConnectionSearch(game, table=path).search(state, 200)
    assert (last.value, last.nodes) == (whole[-1].value, whole[-1].nodes - first.nodes)
    with refused(str(path)):
        ConnectionSearch(Y(size=5), table=path)


@pytest.mark.parametrize("game", [Hex(size=4), Y(size=5), Hex(size=5, swap=False)], ids=str)
def test_the_perfect_agent_wins_what_can_be_won(game: ConnectionGame) -> None:
    """As the second player where a swap may follow, else as the first."""
    result = match(game, "perfect", "greedy", MatchOptions(games=12, opening_plies=0, seed=2))
    seat = int(game.swap)
    ends = [record.result.outcome[seat] for record in result.records if record.agents[seat] == "perfect"]
    assert ends == ["win"] * 6


def test_larger_boards_are_refused() -> None:
    with refused("board", "144"):
        ConnectionSearch(Hex(size=12))
    with refused("agent 'perfect'", "49"):
        match(Hex(size=7), "perfect", "random", MatchOptions(games=2))
    with refused("swap", "True"):
        ConnectionSearch(Hex(size=3)).winning_strategy(played(Hex(size=3)))


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


_BRIDGES = "h1 k1 g3 k2 f5 k3 e7 k4 d9 k5 c11 k6"  # Black is connected, and there are too many moves to answer all


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hex-v0", "--size", "12"], "at most 128 cells, to solve it, got 144"),
        (["hex-v0", "--size", "3", "--param", "tiling=octagons", "--proof", "x"], "--proof: expected Torus"),
        (["hex-v0", "--size", "5", "--param", "swap=False", "--time", "0.001"], "moves are left after"),
        (["hex-v0", "--moves", _BRIDGES, "--winner", "--proof", "x", "--time", "1"], "no proof within"),
        (["hex-v0", "--size", "2", "--moves", "a1 b1 a2"], "expected one where the game goes on"),
    ],
)
def test_the_command_says_what_cannot_be_solved(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve_command, "_NODES", 100)
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
        assert kept.winning[place].nonzero().flatten().tolist() == winning(ConnectionSearch(game), state)
        assert not game.legal_actions(state)[0, -1]
    found = json.loads((tmp_path / "y-n4.json").read_text())
    assert [row["agent"] for row in found["rows"]] == ["random", "greedy"]
    assert found["rows"][1]["right"] == int(truth.answers(kept, "greedy", seed=0).sum())
    with pytest.raises(SystemExit):
        truth.main(["--game", "cloth-of-gold-v0", "--out", str(tmp_path)])
