"""Recorded games as files of other programs: RLE and SGF."""

from __future__ import annotations

import dataclasses
import random
import re
from itertools import islice
from pathlib import Path
from typing import cast

import pytest
import torch
from command import Command
from recorded_games import records, write_runs
from refusals import fails, refused
from strategy_records import played

import cellgames
from cellgames import InputError
from cellgames.arena import Forfeit, ReplayError, Result, replay, verify
from cellgames.arena.formats import board_to_rle, record_to_rle, rle_to_board, rle_to_position
from cellgames.arena.formats.sgf_files import records_to_sgf, sgf_to_records
from cellgames.arena.records.variations import Variation, listed, move_tree
from cellgames.envs.cloth_of_gold import ClothOfGold
from cellgames.envs.connection import ConnectionGame, Hex, Y
from cellgames.envs.core import IllegalActionError
from cellgames.envs.toroidal_cup import ToroidalCup
from cellgames.envs.torus.state import TorusState
from cellgames.utils.errors import shown

CLOTH = cellgames.make("cloth-of-gold-small-v0")
CUP = cellgames.make("toroidal-cup-small-v0")
TORUS = cellgames.make("torus-v0", size=3)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"), {"torus": TORUS, "cloth": CLOTH, "cup": CUP})


def test_boards_read_as_golly_writes_them_and_states_and_long_lines_survive() -> None:
    glider = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    golly = "#N Glider\n#C of Golly\nx = 3, y = 3, rule = B3/S23\nbob$2bo$\n3o!\nwhat follows is a comment\n"
    assert rle_to_board(golly) == glider
    assert board_to_rle(glider, wraps=True) == "x = 3, y = 3, rule = B3/S23:T3,3\nbo$2bo$3o!\n"
    board = torch.randint(0, 4, (40, 60), generator=torch.Generator().manual_seed(0)).tolist()
    text = board_to_rle(board, all_states=True, comments=["random"])
    assert rle_to_board(text) == board
    assert max(map(len, text.splitlines())) <= 70


@pytest.mark.parametrize("text", ["", "o!", "x=2,y=2\n3o!", "x=2,y=2\ny!", "x=9999,y=1\n", "x=1,y=1,rule=B36/S23\no!"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        rle_to_board(text)


def test_generations_of_recorded_games(runs: Path) -> None:
    cloth, cup = records(runs, "cloth")[0], records(runs, "cup")[0]
    assert isinstance(CLOTH, ClothOfGold)
    assert isinstance(CUP, ToroidalCup)
    states = replay(cloth)
    _, _, later = islice(CLOTH.worlds(states[12]), 3)  # type: ignore[arg-type]
    assert rle_to_board(record_to_rle(cloth, turn=12, generation=2, all_states=True)) == CLOTH.board(later)[0].tolist()
    last = replay(cup)[-1]
    assert rle_to_board(record_to_rle(cup, all_states=True)) == CUP.board(last)[0].tolist()  # type: ignore[arg-type]
    after = CUP.life(last.start, keep=[7]).boards[7][0]  # type: ignore[attr-defined]
    text = record_to_rle(cup, generation=7)
    assert rle_to_board(text) == (after > 0).int().tolist()
    assert f"rule = B3/S23:T{CUP.cols},{CUP.rows}" in text
    with refused("turn", "99"):
        record_to_rle(cup, turn=99)
    with refused("game", "torus-v0"):
        record_to_rle(records(runs, "torus")[0])


def test_positions_from_patterns(runs: Path) -> None:
    line = rle_to_position(CLOTH, "x = 3, y = 3\nbob$2bo$3o!", at=(4, 5))
    board = CLOTH.board(CLOTH.string_to_state(line))[0]
    assert board[4:7, 5:8].tolist() == [[0, 3, 0], [0, 0, 3], [3, 3, 3]]  # neutral
    assert int((board > 0).sum()) == 5
    cloth = record_to_rle(records(runs, "cloth")[0], turn=12, all_states=True)
    line = rle_to_position(CLOTH, cloth)
    assert CLOTH.board(CLOTH.string_to_state(line))[0].tolist() == rle_to_board(cloth)
    record = records(runs, "cup")[0]
    last = replay(record)[-1]
    arranged = board_to_rle(last.start[0].tolist())  # type: ignore[attr-defined]
    again = CUP.string_to_state(rle_to_position(CUP, arranged))  # whose cells they are follows from the bands
    assert again.scores.tolist() == last.scores.tolist()
    with refused("pattern", "3 x 300 at 14 -134"):
        rle_to_position(CLOTH, "x = 300, y = 3\n300o!")
    with refused("game", "torus-v0"):
        rle_to_position(TORUS, "x = 1, y = 1\no!")


def test_records_survive_sgf(runs: Path) -> None:
    played = records(runs, "torus")
    forfeit = Forfeit(1, "it said \\ and [this]")
    stopped = dataclasses.replace(
        played[0],
        agents=("a]b", "back\\slash"),
        moves=played[0].moves[:3],
        result=Result(("win", "loss"), (0.0, 0.0), 3, False, forfeit),
        position="",
    )
    assert list(verify([stopped])) == []
    text = records_to_sgf([*played, stopped])
    assert [record.to_json() for record in sgf_to_records(text)] == [r.to_json() for r in [*played, stopped]]
    assert text.startswith("(;FF[4]GM[2048]CA[UTF-8]")


def test_other_programs_sgf() -> None:
    text = "(;FF[4]GM[2048]SZ[3]PB[Ann]RE[B+Resign]\n;B[A1]C[a (comment\\])];W[b1+](;B[c1])(;B[c2];W[c3]))"
    (record,) = sgf_to_records(text)
    assert record.agents == ("Ann", "white")
    assert record.moves == ("a1", "b1+", "c1")
    assert record.result.outcome == ("win", "loss")
    assert list(verify([record])) == []


TREE = (
    "(;GM[2048]SZ[3]RE[W+R]C[of the start];B[a1]C[a\\]b\\\\];W[b1+]C[one\\\n line]"
    "(;B[c1];W[c2])(;B[c2](;W[c3])(;W[B2]C[x];B[c1]))(;B[c1]C[again]))"
)


def test_variations_are_read_and_written_as_those_of_sgf() -> None:
    (record,) = sgf_to_records(TREE)
    assert record.moves == ("a1", "b1+", "c1", "c2")
    assert record.variations == (
        (-1, "a1", "a]b\\"),
        (0, "b1+", "one line"),
        (1, "c1", "again"),
        (2, "c2", ""),
        (1, "c2", ""),
        (4, "c3", ""),
        (4, "b2", "x"),
        (6, "c1", ""),
    )
    text = records_to_sgf([record])
    assert text.endswith(
        "\n;B[a1]C[a\\]b\\\\];W[b1+]C[one line]\n(;B[c1]C[again];W[c2])\n(;B[c2]\n(;W[c3])\n(;W[b2]C[x];B[c1])))\n"
    )
    assert sgf_to_records(text) == [record]


def test_variations_of_all_shapes_survive(runs: Path) -> None:
    """Trees of random moves, some of which begin with the game's."""
    chance = random.Random(4)
    for record in records(runs, "torus"):
        states = replay(record)
        tree = move_tree(record.moves)
        for _ in range(12):
            node, state = tree, cast("TorusState", states[0])
            while not bool(state.done) and (node.children or chance.random() < 0.7):
                legal = TORUS.legal_actions(state)[0].nonzero().squeeze(1).tolist()
                follows = node.children and chance.random() < 0.6
                move = chance.choice(node.children).move if follows else TORUS.action_to_string(chance.choice(legal))
                node = node.child(move)
                node.comment = chance.choice(("", "", "a [comment]; \\ of (two)\nlines"))
                state = TORUS.step(state, torch.tensor([TORUS.string_to_action(move)]))
        whole = dataclasses.replace(record, variations=listed(tree))
        assert sgf_to_records(records_to_sgf([whole])) == [whole]


def test_a_variation_that_cannot_be_played_is_named() -> None:
    with fails(IllegalActionError, where="game 1: move 2, W[a1]: torus-v0"):
        sgf_to_records("(;GM[2048]SZ[3]RE[W+R];B[a1](;W[b1+])(;W[a1]))")
    with refused("", where="game 1: move 7, W[c3]", cause="the game is over"):
        sgf_to_records("(;GM[11]SZ[3];B[a2];W[swap-sides];W[a1];B[b1];W[b2];B[a3](;W[c3])(;W[c2]))")
    (record,) = sgf_to_records("(;GM[2048]SZ[3]RE[W+R];B[a1];W[b1+])")
    with fails(ReplayError, parameter="variations"):
        records_to_sgf([dataclasses.replace(record, variations=(Variation(-1, "a1"), Variation(0, "a1")))])


BOARDS = [
    Hex(size=5),
    Hex(size=4, swap=False),
    Hex(size=3, tiling="octagons"),
    Y(size=5),
    Y(size=4, tiling="octagons", swap=False),
]


@pytest.mark.parametrize("game", BOARDS, ids=str)
def test_records_of_hex_and_y_survive_sgf(game: ConnectionGame) -> None:
    records = played(game, ["random"], 4)
    text = records_to_sgf(records)
    assert [record.to_json() for record in sgf_to_records(text)] == [record.to_json() for record in records]
    assert text.startswith(f"(;FF[4]GM[{11 if (game.id, game.tiling) == ('hex-v0', 'hexagons') else 20}")


def test_a_game_of_hex_is_written_as_other_programs_read_it() -> None:
    (record,) = sgf_to_records("(;GM[11]SZ[3];B[a2];W[swap-pieces];B[a1];W[a2];B[b2];W[c1])")
    text = records_to_sgf([record])
    assert re.match(r"\(;FF\[4\]GM\[11\]CA\[UTF-8\]AP\[cellgames:[^]]*\]GN\[Hex\]SZ\[3\]", text)
    assert "RU[swap]" in text
    assert ";B[a2];W[swap-pieces];B[a1];W[a2];B[b2];W[c1]" in text


# One game as HexGui, an older program and web pages write it: the swapped stone is mirrored, or colours are exchanged.
FOREIGN_HEX = [
    "(;AP[HexGui:1.0.]FF[4]GM[11]SZ[3];B[a2];W[swap-pieces];B[a1];W[a2];B[b2]\n;W[c1])\n",
    "(;AP[Hex-benzene:0.1]FF[4]GM[11]PB[player1]PW[player2]SZ[3]\n;B[a2];W[SWAP];W[a1];B[b1];W[b2];B[a3])\n",
    "(;FF[4]GM[11]SZ[3:3]RU[Swap];B[A2];W[swap];B[A1];W[A2];B[B2];W[C1])",
    "(;FF[4]GM[11]SZ[3];B[a2];W[swap-sides];W[a1];B[b1];W[b2];B[a3])",
]


@pytest.mark.parametrize("text", FOREIGN_HEX)
def test_swaps_of_other_programs_are_one_game(text: str) -> None:
    (record,) = sgf_to_records(text)
    assert record.moves == ("a2", "swap-pieces", "a1", "a2", "b2", "c1")
    assert record.result.outcome == ("loss", "win")
    assert record.parameters == {"size": 3, "tiling": "hexagons", "swap": True}


@pytest.mark.parametrize(
    ("end", "seat", "reason"),
    [(";W[resign])", 1, "resigned"), (";W[Forfeit])", 1, "forfeited"), (";W[e5];B[RESIGN])", 0, "resigned")],
)
def test_players_of_hex_resign_in_place_of_a_move(end: str, seat: int, reason: str) -> None:
    (record,) = sgf_to_records(f"(;FF[4]GM[11];B[c2]{end}")
    assert record.parameters["size"] == 11
    assert record.result.forfeit == Forfeit(seat, reason)


def test_results_count_for_the_colours_that_the_players_have_at_the_end() -> None:
    """After a swap of sides the file's White is the player who began, and its Black, whose turn it is, the other."""
    for winner, seat, outcome in (("W", 1, ("win", "loss")), ("B", 0, ("loss", "win"))):  # on anybody's turn
        (record,) = sgf_to_records(f"(;GM[11]SZ[6]RE[{winner}+T];B[c2];W[swap-sides];W[e5])")
        assert record.result.forfeit == Forfeit(seat, "ran out of time")
        assert record.result.outcome == outcome
    with pytest.raises(ReplayError, match="whose turn it is"):
        sgf_to_records("(;GM[11]SZ[6]RE[B+F];B[c2];W[swap-sides];W[e5])")


@pytest.mark.parametrize(
    ("text", "parameter", "got"),
    [
        ("(;GM[11]SZ[5:4])", "SZ", "SZ[5:4]"),
        ("(;GM[11]SZ[5]AB[a1][b2];W[c3])", "AB", ""),
        ("(;GM[11]SZ[5]RU[no swap];B[c3];W[swap-pieces])", "action", "'swap-pieces'"),
        ("(;GM[11]SZ[5];B[c3];W[swap-sides];W[f1])", "cell", "'f1'"),
        ("(;GM[11]SZ[5];B[swap-sides])", "action", "25"),
        ("(;GM[11]SZ[5];B[c3];W[c4])", "RE", "''"),
        ("(;GM[11]SZ[5];B[c3];B[c4])", "turn", "black"),
        ("(;GM[2049]SZ[99])", "size", "99"),
        *((text, "", shown(text)) for text in ("", "(;GM[2048]SZ[3]", "(" * 5000, "()")),
        ("(;FF[4]GM[1]SZ[19];B[aa])", "GM", "GM[1]"),
        ("(;GM[2048]SZ[3];B[a1];W[a1])", "action", "0"),
        ("(;GM[2048]SZ[3];B[z9])", "cell", "'z9'"),
        ("(;GM[2048]SZ[3]XR[[1\\]])", "root", "'[1]'"),
        ('(;GM[2048]SZ[3]XR[{"seed":99999999999999999999}]RE[B+R])', "seed", "99999999999999999999"),
        ('(;GM[2048]SZ[3]XR[{"forfeit":{"seat":0,"reason":"x"}}];B[a1])', "", ""),
        ('(;GM[2048]SZ[3]XR[{"moves":-1}]RE[W+R];B[a1])', "XR", "-1"),
    ],
)
def test_bad_sgf_is_explained(text: str, parameter: str, got: str) -> None:
    with refused(parameter, got):
        sgf_to_records(text)


def test_files_by_the_command_line(runs: Path, tmp_path: Path, command: Command) -> None:
    sgf, lines, rle = (tmp_path / name for name in ("t.sgf", "t.jsonl", "c.rle"))
    command(["export", runs / "torus", "--format", "sgf", "--out", sgf])
    command(["import", "torus-v0", sgf, "--out", lines])
    assert lines.read_bytes() == (runs / "torus" / "games.jsonl").read_bytes()
    assert "game 1: expected size 5" in command.refused(f"import torus-v0 --size 5 {sgf} --out {tmp_path / 'no'}")
    command(["export", runs / "cloth", "--format", "rle", "--record", 1, "--turn", 9, "--out", rle])
    assert command(["import", "cloth-of-gold-small-v0", rle]).startswith("move:a turn:0")
