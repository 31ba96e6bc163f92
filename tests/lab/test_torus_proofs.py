"""Proofs of who wins positions of Torus: written by the solver, checked by other code, and refused when damaged."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torus_reference as ref
from native_code import native_library
from paths import ROOT

from cellgames.cli.main import main
from cellgames.lab.solving import proof_checker
from cellgames.lab.solving.proof_checker import ProofError

PROOFS = ROOT / "results" / "proofs"
OCTAGON = PROOFS / "torus-n4-octagon.proof"
SQUARE = PROOFS / "torus-n4-square.proof"


def test_shipped_proofs_of_size_four_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Black wins by opening on an octagon; if it opens on a square, White does."""
    for path, winner, position in (
        (OCTAGON, "black", "x.../..../..../.... ..../..../..../.... w"),
        (SQUARE, "white", "..../..../..../.... x.../..../..../.... w"),
    ):
        assert main(["solve", "--verify", str(path)]) == 0
        assert f"proved: {winner} wins {position} (size 4)" in capsys.readouterr().out


@pytest.mark.slow
def test_a_shipped_proof_of_size_five_holds() -> None:
    """The shorter one; `make proofs` checks all."""
    assert "proved: black wins" in proof_checker.check_file(PROOFS / "torus-n5-octagon.proof")


def test_the_checker_runs_alone() -> None:
    """Without the package, so it shares nothing with the solver."""
    script = ROOT / "lab" / "solving" / "proof_checker.py"
    done = subprocess.run(
        [sys.executable, "-I", str(script), str(OCTAGON)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("proved: black wins")
    assert "cellgames." not in script.read_text().replace("cellgames {} proof", "").split('"""', 2)[2]


def test_its_geometry_and_its_winning_paths_are_those_of_the_reference() -> None:
    rng = random.Random(0)
    for size in (2, 3, 4, 5):
        checker = proof_checker._Checker("torus", size, b"", 0, lambda read, moves: None)
        for _ in range(40):
            board = [rng.choice((0, 1, 1, 2, 2)) for _ in range(2 * size * size)]
            for owner in (1, 2):
                stones = [cell for cell, stone in enumerate(board) if stone == owner]
                expected = ref.wins(owner - 1, [ref.cell_of(cell, size) for cell in stones], size)
                assert any(checker.wins(board, cell) for cell in stones) == expected


def test_damaged_proofs_are_refused() -> None:
    proof, moves = proof_checker.read(OCTAGON)
    assert proof_checker.check(proof, moves) > 1000
    rng = random.Random(1)
    places = rng.sample(range(len(moves)), 12)
    changed = [moves[:i] + bytes([(moves[i] + rng.randrange(1, 32)) % 32]) + moves[i + 1 :] for i in places]
    removed = [moves[:i] + moves[i + 1 :] for i in places[:4]]
    refused = 0
    for damaged in (*changed, *removed, moves[:-1], moves + b"\0", b""):
        try:
            proof_checker.check(proof, damaged)
        except ProofError:
            refused += 1
        else:  # another move may win, too: then the rest is a proof of that
            assert len(damaged) == len(moves)
    assert refused > 14
    for wrong in ({"winner": "white"}, {"position": "..../..../..../.... x.../..../..../.... w"}, {"shared": 0}):
        with pytest.raises(ProofError):
            proof_checker.check({**proof, **wrong}, moves)


def test_moves_that_prove_nothing_are_named() -> None:
    proof, moves = proof_checker.read(OCTAGON)
    with pytest.raises(ProofError, match="the proof ends before all moves are answered"):
        proof_checker.check(proof, moves[:100])
    with pytest.raises(ProofError, match="the proof goes on after all moves are answered"):
        proof_checker.check(proof, moves + b"\1")
    with pytest.raises(ProofError, match="move 1 of the proof is no free cell: 0"):
        proof_checker.check(proof, b"\0" + moves[1:])
    with pytest.raises(ProofError, match="is a finished game"):
        proof_checker.check({**proof, "position": "x.../x.../x.../x... ooo./..../..../.... w"}, moves)


def test_files_that_are_no_proofs_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, path = OCTAGON.read_bytes(), tmp_path / "some.proof"
    line, packed = content.split(b"\n", 1)
    head = json.loads(line)
    for damaged in (
        b"",
        b"\n",
        b"[]\n" + packed,
        packed,
        content[:-10],
        json.dumps({**head, "size": "4"}).encode() + b"\n" + packed,
        json.dumps({**head, "format": "other"}).encode() + b"\n" + packed,
        json.dumps({**head, "size": 5}).encode() + b"\n" + packed,
        json.dumps({**head, "position": "hello"}).encode() + b"\n" + packed,
        json.dumps({**head, "winner": "nobody"}).encode() + b"\n" + packed,
    ):
        path.write_bytes(damaged)
        assert main(["solve", "--verify", str(path)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("cellgames: ")
        assert error.count("\n") == 1


@pytest.mark.slow
def test_the_command_prints_winner_and_moves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    native_library()
    assert main(["solve", "torus-v0", "--size", "4"]) == 0
    found = capsys.readouterr().out
    assert "Black wins with best play (" in found
    assert "Winning moves: a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 a4 b4 c4 d4\n" in found
    proof = tmp_path / "a1.proof"
    assert main(["solve", "torus-v0", "--size", "4", "--moves", "a1", "--winner", "--proof", str(proof)]) == 0
    found = capsys.readouterr().out
    assert "Every move loses." in found
    assert f"Proof: {proof}, " in found
    assert main(["solve", "--verify", str(proof)]) == 0
    capsys.readouterr()
    position = "..../..../..../.... x.../..../..../.... w"
    assert main(["solve", "torus-v0", "--size", "4", "--position", position, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["winner"] == "white"
    assert data["move"] in data["winning_moves"]
    assert "a1" in data["winning_moves"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["torus-v0"], "size: expected 2 to 6, got 8"),
        (["cloth-of-gold-v0"], "game: expected Torus, Hex or Y"),
        ([], "GAME: expected a game, such as torus-v0 --size 4, or a proof with"),
        (["torus-v0", "--size", "4", "--memory", "0"], "--memory: expected 0.001 to 1024 GB"),
        (["torus-v0", "--size", "4", "--time", "-1"], "--time: expected a number above 0"),
        (["torus-v0", "--size", "4", "--proof", "nowhere/x.proof"], "--proof: expected a file in a folder"),
        (["torus-v0", "--size", "4", "--moves", "z9"], "move 1"),
        (["torus-v0", "--verify", "x.proof"], "--verify: it checks a file"),
        (["--verify", "nowhere.proof"], "nowhere.proof: No such file"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *arguments]) == 2
    assert message in capsys.readouterr().err
