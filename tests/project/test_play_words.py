"""What people type in `cellgames play` besides moves: hints, rules, files; and `cellgames rules`."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
import torch

import cellgames
from cellgames.arena.records.record_lines import read_records
from cellgames.cli.hints import hint
from cellgames.cli.main import main
from cellgames.cli.move_lists import brief_moves
from cellgames.envs import registry
from cellgames.plugins import GamePlugin
from cellgames.web.frames import replay_data

SMALL = ("play", "torus-v0", "--size", "3", "--in-process", "--agents", "arena_bots:Last")


def played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], *lines: str
) -> list[str]:
    """Play with these lines; return what is shown before the first one, and after each of them."""
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in lines)))
    assert main(words) == 0
    return re.split(r"\S+ \(you\), your move: ", capsys.readouterr().out)


def test_a_hint_names_the_winning_move_and_its_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Column a lacks one stone of a ring of Black."""
    words = (*SMALL, "--position", "x../x../... .oo/.../... b")
    answers = played(monkeypatch, capsys, words, "hint", "quit")
    assert re.match(r"\S+ suggests a3: you are winning, your chance to win is 100 %\.\n", answers[1])


def test_moves_of_the_cup_are_read_with_the_names_of_their_shapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "cup.jsonl"
    words = ("play", "toroidal-cup-small-v0", "--param", "shapes=1", "--out", str(out))
    answers = played(monkeypatch, capsys, words, "r2c6/0")
    assert "\nteam_1 (you) plays R-pentomino r2c6/0\n" in answers[1]
    assert main(["replay", str(out), "--show"]) == 0
    assert re.search(r"^1\. R-pentomino r2c6/0, R-pentomino r\d+c\d+/\d$", capsys.readouterr().out, re.M)
    (record,) = read_records(out).records
    assert re.fullmatch(r"r2c6/0 r\d+c\d+/\d", record.moves[0])  # records keep the short names
    assert replay_data(record)["record"]["words"][0][0] == "R-pentomino r2c6/0"


@pytest.mark.parametrize("id", ["grid-adaptation-small-v0", "toroidal-cup-small-v0"])
def test_hints_where_all_act_at_once_are_legal_and_use_what_the_seat_sees(id: str) -> None:
    game = cellgames.make(id)
    state = game.init(torch.tensor([5]))
    for seat in range(game.info.num_players):
        text = hint(game, state, seat)
        move = re.match(r"greedy suggests (?:R-pentomino )?(\S+)\. ", text)
        assert move is not None
        chosen = game.string_to_action(move[1])
        seen = game.legal_actions(state)[0, seat].split(list(game.info.action_nvec))
        for part, choice in zip(seen, game.info.unravel_action(chosen), strict=True):
            assert part[choice]


def test_a_clock_allows_no_hints_and_no_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nsave game.json\nload game.json\nquit\n"))
    assert main([*SMALL, "--clock", "60+0"]) == 0
    shown = capsys.readouterr().out
    for text in ("there are no hints", "you cannot save a game", "you cannot load a game"):
        assert f"In games with clocks, {text}." in shown


def test_a_saved_game_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, record = tmp_path / "game.json", tmp_path / "game.jsonl"
    answers = played(monkeypatch, capsys, (*SMALL, "--seed", "4"), "a1", f"save {file}", "a2", f"load {file}", "quit")
    assert answers[2].startswith(f"Saved to {file}; ")
    board = answers[1].split("\n\n")[-2]
    assert answers[4].strip() == board.strip() != answers[3].split("\n\n")[-2].strip()
    answers = played(monkeypatch, capsys, ("play", "--load", str(file), "--out", str(record)), "show", "a2", "a3")
    assert answers[1].strip() == board.strip()
    (kept,) = read_records(record).records
    assert kept.moves == ("a1", "c3+", "a2", "b3+", "a3")
    assert (kept.seed, kept.agents, kept.parameters) == (4, ("human", "arena_bots:Last"), {"size": 3})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("not JSON", "holds no saved game: expected JSON that `save`"),
        ("[]", "holds no saved game: expected JSON that `save`"),
        ("[" * 100_000, "holds no saved game: expected JSON that `save`"),
        ({"moves": "a1"}, "expected 'moves' to be list"),
        ({"moves": [1]}, "with moves and seats as text"),
        ({"seed": True}, "expected 'seed' to be int"),
        ({"more": 1}, "expected game, parameters"),
        ({"moves": ["a1", "a1"]}, "the saved game does not play: "),
        ({"seats": ["random", "random"]}, "and one of them yours"),
        ({"seats": [None]}, "expected a seat for each of black, white"),
        ({"game": "torsu-v0"}, "did you mean 'torus-v0'?"),
        ({"parameters": {"high": 3}}, "unknown parameter 'high'"),
        ({"moves": ["a1", "b1", "a2", "b2", "a3"]}, "the saved game is over"),
    ],
)
def test_a_damaged_file_is_one_line(
    change: str | dict[str, object], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {
        **{"saved": "cellgames play", "game": "torus-v0", "parameters": {"size": 3}, "seed": 0, "position": ""},
        **{"moves": ["a1"], "seats": [None, "random"]},
    }
    file = tmp_path / "game.json"
    file.write_text(change if isinstance(change, str) else json.dumps({**good, **change}))
    assert main(["play", "--load", str(file)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert main(["play", "torus-v0", "--load", str(file)]) == 2
    assert "--load FILE says all about the game; leave out game" in capsys.readouterr().err


def test_a_saved_game_may_be_older_than_a_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "game.json"
    played(monkeypatch, capsys, ("play", "hex-v0", "--size", "3"), "a1", f"save {file}", "quit")
    saved = json.loads(file.read_text())
    del saved["parameters"]["swap"]
    file.write_text(json.dumps(saved))
    answers = played(monkeypatch, capsys, ("play", "--load", str(file)), "moves", "quit")
    assert "7 legal moves:" in answers[1]


def test_words_for_files_and_mistyped_ones_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    played(monkeypatch, capsys, ("play", "torus-v0", "--size", "4"), f"save {other}", "quit")
    lines = ("hnit", "save", f"load {tmp_path / 'none'}", f"load {other}", "rules", "quit")
    answers = played(monkeypatch, capsys, SMALL, *lines)
    assert "Did you mean `hint`?" in answers[1]
    assert answers[2].startswith("`save` needs the name of a file, such as `save game.json`.")
    assert "none: No such file or directory." in answers[3]
    assert answers[4].startswith("the file has a game of torus-v0 with other parameters")
    assert answers[5].startswith("Goal: Close a chain of black stones")


def test_long_lists_of_moves_are_short_and_whole() -> None:
    cup = [f"r{row}c{column}/{turn}" for row in range(2, 39, 4) for column in range(2, 139, 4) for turn in range(8)]
    assert brief_moves(cup) == ["r2, r6 ... r38: c2, c6 ... c138, each with /0-/7"]
    cloth = [f"r{row}c{column}" for row in range(10) for column in range(9) if (row, column) != (3, 4)]
    assert brief_moves([*cloth, "end"]) == ["r0-r2, r4-r9: c0-c8", "r3: c0-c3, c5-c8", "end"]
    assert brief_moves([f"+{name}" for name in cloth])[0] == "+r0-r2, r4-r9: c0-c8"
    torus = [f"{letter}{number}" for letter in "abcdefgh" for number in range(1, 9)]
    assert brief_moves(torus) == [" ".join(torus)]
    for columns in ([1, 2], [1, 3], [1, 3, 5], [0, 1, 5, 9, 13, 14], [4, 9, 10]):
        names = [f"r{row}c{column}" for row in range(30) for column in columns]
        expected = {(1, 2): "c1, c2", (1, 3): "c1, c3", (1, 3, 5): "c1, c3, c5"}.get(tuple(columns))
        (text,) = brief_moves(names)
        if expected is not None:
            assert text == f"r0-r29: {expected}"


@pytest.mark.parametrize("plugin", registry.plugins(), ids=lambda plugin: plugin.id)
def test_rules_have_goal_board_moves_and_credit(plugin: GamePlugin, capsys: pytest.CaptureFixture[str]) -> None:
    page, prompt, info = plugin.page, plugin.prompt, registry.make(plugin.id).info
    assert page is not None
    assert prompt is not None
    assert main(["rules", plugin.id]) == 0
    shown = capsys.readouterr().out
    for text in (info.title, info.credit, *page.rules, *page.goals, prompt.position, prompt.moves):
        assert text in shown
    assert f"play {plugin.id} --agents greedy" in shown
    board = shown.partition("\nA board after some moves of agents")[2].partition("\n\n" + prompt.position)[0]
    assert plugin.colours is not None
    rows = [match for line in board.split("\n") if (match := re.fullmatch(plugin.colours.row, line))]
    assert len(rows) > 4
    assert re.search("|".join(plugin.colours.signs), "".join(match[1] for match in rows))
