"""The command line: what people type, what they see, and that nobody sees a traceback."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from argparse import Namespace
from importlib import metadata
from pathlib import Path
from typing import Any

import arena_bots
import pytest
import torch
from command import Command
from PIL import Image
from processes import python
from refusals import fails
from run_suite import different_files
from web_records import recorded

import cellgames
from cellgames.arena.records.record_lines import append, read_records
from cellgames.arena.records.replays import replay
from cellgames.cli.commands import list_command
from cellgames.cli.commands.play_command import _own_seat
from cellgames.cli.main import groups, main, parser
from cellgames.envs import registry
from cellgames.plugins import GamePlugin
from cellgames.utils.files import write_atomic
from cellgames.utils.version import __version__
from cellgames.web.agent_seats import hint
from cellgames.web.frames import replay_data

SMALL = "torus-v0 --size 3"


def test_list_shows_every_game_and_agent(command: Command) -> None:
    shown = command("list")
    for name in (*cellgames.games(), "random", "greedy", "rollout:N"):
        assert re.search(rf"^  {name} +\S", shown, re.MULTILINE)
    assert "--param size=5" in shown
    data = json.loads(command("list --json"))
    assert [game["id"] for game in data["games"]] == cellgames.games()
    assert {"id": "torus-small-v0", "parameters": {"size": 5}}.items() <= data["games"][1].items()
    assert "random" in [agent["spec"] for agent in data["agents"]]


def test_an_unexpected_error_is_one_line_and_debug_shows_where(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("our own fault")

    monkeypatch.setattr("cellgames.arena.play.match.GamePlayer.play", broken)
    words = f"round-robin {SMALL} --agents random greedy --out '{tmp_path / 'run'}' --quiet"
    said = command.refused(words, 1)
    assert re.fullmatch(rf"cellgames: {__file__}, line \d+, in broken: ZeroDivisionError: our own fault\n", said)
    assert "Traceback" in command.both(f"{words} --debug", code=1)[1]


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_season_whose_output_nobody_reads_is_played_to_its_end(tmp_path: Path, unbuffered: str) -> None:
    words = shlex.split("season torus-v0 --size 2 --teams 8 --days 1 --agents random greedy --no-store --out")
    assert main([*words, str(tmp_path / "whole"), "--quiet"]) == 0
    read_end, write_end = os.pipe()
    os.close(read_end)
    piped = ["-m", "cellgames", *words, str(tmp_path / "piped")]
    ended = python(*piped, variables={"PYTHONUNBUFFERED": unbuffered}, stdout=write_end, stderr=write_end)
    os.close(write_end)
    assert ended.returncode == 0
    assert different_files(tmp_path / "piped", tmp_path / "whole") == []


def test_a_full_disk_is_an_error_and_a_reader_that_has_left_is_none() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    ended = python("-m", "cellgames", "list", stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert (ended.returncode, ended.stderr) == (0, "")
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            ended = python("-m", "cellgames", "list", stdout=full, stderr=subprocess.PIPE)
        assert (ended.returncode, ended.stderr) == (2, "cellgames: No space left on device\n")


def test_a_command_needs_no_standard_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert main(["play", "torus-v0"]) == main(["list"]) == 0


def test_a_game_from_the_first_move_to_the_record(tmp_path: Path, command: Command) -> None:
    """White always takes the last free cell, so Black may build a ring down column a."""
    file = tmp_path / "game.jsonl"
    words = f"play {SMALL} --in-process --agents arena_bots:Last --out '{file}' --seed 5"
    shown = command(words, "a1", "A2", "a3")
    assert "Black to move, turn 1" in shown
    assert "Black (you), your move: " in shown
    assert "White (arena_bots:Last) plays c3+" in shown
    assert "The game is over after 5 turns: Black (you) wins, White (arena_bots:Last) loses." in shown
    (record,) = read_records(file).records
    assert record.agents == ("human", "arena_bots:Last")
    assert record.moves == ("a1", "c3+", "a2", "b3+", "a3")
    assert (record.seed, record.opening, record.parameters) == (5, 0, {"size": 3})
    assert len(replay(record)) == 6
    command(words, "a1", "a2", "a3")
    assert read_records(file).records == [record, record]  # added, not replaced


def test_wrong_input_is_explained_and_asked_again(command: Command) -> None:
    lines = ("e5", "c3+", "a1", "c3+", "", "help", "moves", "board", "position", "undo", "undo", "undo", "a2", "quit")
    shown = command(f"play {SMALL} --in-process --agents arena_bots:Last", *lines)
    assert "'e5' is no move here: cell: expected a cell" in shown
    assert "'c3+' is no move here: cell c3+ is taken. `moves` lists all legal ones" in shown
    assert "take back your last move" in shown
    assert "b1 c1 a2 b2 c2 a3 b3 c3 a1+ b1+" in shown
    assert "There is no move of yours to take back." in shown
    assert "You left the game." in shown


def test_several_units_in_a_line_are_played_or_none_of_them(command: Command) -> None:
    """The world of Cloth of Gold is shown at the start, on demand, and when the other one has moved."""
    rest = "r3c3 r3c4 r3c5 r3c6 r3c7 r3c8 end"
    lines = ("r1c1 r1c2; r2c1,r2c2", "r3c3 r20c20", "r3c3 r2c9x", f"{rest} r0c0", "show", rest, "quit")
    shown = command("play cloth-of-gold-small-v0 --param generations=8", *lines)
    answers = re.split(r"Player A \(you\), your move: ", shown)
    assert "Player A (you) plays r1c1 r1c2 r2c1 r2c2. Player A to place" in answers[1]
    for answer, word in zip(
        answers[2:5], ("'r20c20' is no move", "'r2c9x' is no move", "'r0c0' comes after"), strict=True
    ):
        assert answer.startswith(word)
        assert answer.strip().endswith("Nothing of the line is played.")
    assert answers[6].startswith(f"\nPlayer A (you) plays {rest}\n\nPlayer B (random) plays r")
    assert [answer.count("\n 0 ") for answer in answers] == [1, 0, 0, 0, 0, 1, 1, 0]


def test_a_game_in_which_all_act_at_once(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "games.jsonl"
    lines = ("r0c0,r0c1,r1c1/buy r0c3+r0c2 none", "moves", "undo", "r0c3", "resign")
    shown = command(f"play grid-adaptation-small-v0 --agents random --seed 3 --out '{file}'", *lines)
    assert "Player 0 (you) plays r0c3+r0c2" in shown
    assert "'none' is no move here: a tile must be placed while a space is free" in shown
    assert "The 2 moves before it are played." in shown
    assert "part 4: +" in shown
    assert "Player 1 (random) plays" not in shown  # a secret
    assert re.search(r"^Player 1 \? +\? +\? +\? +\?$", shown, re.MULTILINE)
    assert "Player 0 (you) loses" in shown
    (record,) = read_records(file).records
    assert [move.split(" ")[0] for move in record.moves] == ["r0c0,r0c1,r1c1/buy", "r0c3"]
    assert record.result.forfeit is not None
    assert record.result.forfeit.reason == "resigned"
    command(["replay", file])


def test_the_other_seat_and_a_position(tmp_path: Path, command: Command) -> None:
    file, position = tmp_path / "game.jsonl", "x../x../.oo ..x/.../... w"
    words = f"play {SMALL} --as white --in-process --agents arena_bots:First --position '{position}' --out '{file}'"
    shown = command(words, "b3")
    assert "'b3' is no move here: cell b3 is taken" in shown
    assert "The game is not finished, so it is not saved." in shown
    command(words, "a3")
    (record,) = read_records(file).records
    assert (record.position, record.moves, record.agents) == (position, ("a3",), ("arena_bots:First", "human"))
    assert replay(record)
    refusal = command.refused(f"play {SMALL} --position 'xxx/xxx/xxx .../.../... b'")
    assert "position: expected one where the game goes on" in refusal


def test_ctrl_c_leaves_politely(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # as StringIO's own
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    assert main(["play", *SMALL.split()]) == 130
    assert capsys.readouterr().err == "\nStopped.\n"


def parsers() -> dict[str, argparse.ArgumentParser]:
    (found,) = (action.choices for action in parser()._actions if isinstance(action.choices, dict))
    return found


def test_a_command_makes_its_own_parser_alone() -> None:
    def made(word: str) -> list[str]:
        return [name for action in parser(word)._actions if isinstance(action.choices, dict) for name in action.choices]

    texts = {name: " ".join((command.description or "").split()) for name, command in parsers().items()}
    assert [n for _, names, _ in groups() for n, (_, text) in names.items() if not texts[n].startswith(text)] == []
    assert len(texts) > 20
    for name in texts:
        assert made(name) == [name]
    code = "import sys; from cellgames.cli.main import parser; parser('list'); print(*sys.modules)"
    assert "cellgames.cli.commands.train_command" not in python("-c", code).stdout.split()


def test_commands_are_alike() -> None:
    """One option has one placeholder in all commands, and GAME comes before all options."""
    metavars: dict[str, set[str | None]] = {}
    games = set()
    for name, command in parsers().items():
        for action in command._actions:
            # The messages of a bot name the game, GTP's do not.
            if action.dest == "game" and name != "bot":
                assert not action.option_strings, name
                games.add(name)
            for flag in action.option_strings:
                metavars.setdefault(flag, set()).add(None if action.metavar is None else str(action.metavar))
    several = {flag: found for flag, found in metavars.items() if len(found) > 1}
    assert several == {"--out": {"DIR", "FILE", "PATH"}}  # a folder, a file, and either
    core = "play rules train evaluate analyse round-robin free-for-all ladder season leaderboard check-bot"
    assert games == {*core.split(), *["check-game", "import", "solve", "league", "exploit", "evolve"]}
    assert metavars["--agents"] == {"AGENT"}


def test_a_round_robin_writes_everything_and_says_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "round-robin torus-v0 --param size=3 --agents random rollout:8 --games 6"
    out, err = command.both(words)
    folder = Path("results") / "torus-v0-size=3-seed=0"
    assert re.search(r"^ +1 +(random|rollout:8) +\+\d+ ", out, re.MULTILINE)
    assert "Black, who begins, scores" in out
    assert "report.md" in out
    assert re.search(rf"cellgames replay {folder} --record \d --step", out)
    assert err.startswith("Torus, size 3: 6 of 6 games, ")
    with Image.open(folder / "top_game.gif") as image:
        assert image.format == "GIF"
        assert image.n_frames > 5  # type: ignore[attr-defined]  # of GIFs
    command(["replay", folder / "games.jsonl"])

    assert command.both(f"{words} --quiet --no-resume --no-gif --out {folder}")[1] == ""
    assert not (folder / "top_game.gif").exists()


@pytest.mark.parametrize(
    ("line", "asked", "chunk", "pieces"),
    [
        ("round-robin torus-v0 --games 12 --chunk 2 --no-gif", 15, 2, "chunks"),
        ("season torus-v0 --teams 8 --days 5 --chunk 4", 30, 4, "batches"),
    ],
)
def test_ctrl_c_says_how_to_continue(
    line: str, asked: int, chunk: int, pieces: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    out, line = tmp_path / "my run", f"{line} --size 3 --in-process --agents random arena_bots:First"
    act, asking = arena_bots.First.act, iter(range(1, 1000))

    def impatient(*given: Any) -> Any:
        if next(asking) == asked:
            signal.raise_signal(signal.SIGINT)
        return act(*given)

    monkeypatch.setattr(arena_bots.First, "act", impatient)
    _, err = command.both(f"{line} --quiet --out '{out}' --no-resume", code=130)
    assert "Traceback" not in err
    assert f"All whole {pieces} of games are kept in {out}" in err
    assert err.splitlines()[-1].endswith(f"cellgames {line} --quiet --out '{out}'")
    kept = len(read_records(out / "games.jsonl").records)
    assert kept > 0
    assert kept % chunk == 0
    assert f"games, {kept} of them from before" in command(f"{line} --quiet --out '{out}'")


def test_a_read_only_folder_names_the_options_that_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """Root may write anywhere, so the system's answers are given here."""
    access, mkdir = os.access, Path.mkdir

    def refuse(self: Path, *given: Any, **more: Any) -> None:
        if tmp_path / "run" in (self.absolute(), *self.absolute().parents):
            mkdir(self, *given, **more)
        else:
            raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CELLGAMES_STORE", raising=False)
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path and access(path, mode))
    monkeypatch.setattr(Path, "mkdir", refuse)
    words = f"round-robin {SMALL} --agents random greedy --games 2 --quiet --no-gif"
    store = str(Path("results") / "store.sqlite")
    for more, message in (
        ("", f"{store}: expected a store of games or room for one, got Permission denied; --store FILE names another"),
        ("", "and --no-store plays without one"),
        ("--no-store", f"nothing can be written into {tmp_path}; choose another folder (--out)"),
        ("--no-store --out here", f"here: nothing can be written into {tmp_path}"),
    ):
        assert message in command.refused(f"{words} {more}")
    refusal = command.refused(f"analyse {SMALL} --agents random greedy --games 2")
    assert "results: nothing can be written into" in refusal
    assert not any(tmp_path.iterdir())


def test_an_error_names_the_file_of_the_user(tmp_path: Path) -> None:
    """Files are written beside their place first; nobody has asked for those."""
    with fails(OSError, filename=str(tmp_path / "no" / "file")):
        write_atomic(tmp_path / "no" / "file", "text")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    with fails(OSError, filename=str(tmp_path / "folder")):
        write_atomic(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.fixture
def three_games(tmp_path: Path) -> Path:
    """A file of games of random agents, with the seeds 0 to 2."""
    append(tmp_path / "games.jsonl", [recorded("torus-v0", seed=seed, size=3) for seed in range(3)])
    return tmp_path / "games.jsonl"


def test_replay_of_good_records(three_games: Path, command: Command) -> None:
    for path in (three_games, three_games.parent):  # a file, and the folder of a run
        assert command(["replay", path]) == "All 3 games were played again with the recorded moves and results.\n"
    gif = three_games.with_name("out.gif")
    shown = command(["replay", three_games, "--record", 2, "--show", "--out", gif])
    moves = read_records(three_games).records[1].moves
    assert f"\n1. black (random) {moves[0]}\n" in shown
    assert f"\n{len(moves)}. " in shown
    assert re.search(r"^Result: black \(random\) (wins|loses), white", shown, re.MULTILINE)
    with Image.open(gif) as image:
        assert image.n_frames == len(moves) + 1  # type: ignore[attr-defined]  # of GIFs


def test_replay_of_a_tampered_record_fails_with_one_line(three_games: Path, command: Command) -> None:
    records = read_records(three_games).records
    three_games.unlink()
    swap = {'["win","loss"]': '["loss","win"]', '["loss","win"]': '["win","loss"]'}
    line = records[1].to_json()
    old = next(text for text in swap if text in line)
    append(three_games, [records[0]])
    with three_games.open("a") as file:
        file.write(line.replace(old, swap[old]) + "\n")
    append(three_games, [records[2]])
    said = rf"cellgames: {re.escape(str(three_games))}, game 2: the result differs: outcome recorded .*\n"
    for words in ((), ("--record", "2"), ("--record", "2", "--show")):
        assert re.fullmatch(said, command.refused(["replay", three_games, *words], 1))
    command(["replay", three_games, "--record", "3"])


def test_replay_lists_games_and_chooses_them(three_games: Path, command: Command) -> None:
    lines = command(["replay", three_games, "--list"]).splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert re.fullmatch(r"  3  random - random, seed 2, (win-loss|loss-win), \d+ moves", lines[2])
    said = command(["replay", three_games, "--seed", 1, "--agents", "random", "--out", f"{three_games}.png"])
    assert "The game was played again" in said
    assert three_games.with_name("games.jsonl.png").read_bytes().startswith(b"\x89PNG")


def test_replay_goes_through_a_game_step_by_step(three_games: Path, command: Command) -> None:
    moves = read_records(three_games).records[0].moves
    words = ["replay", three_games, "--record", 1, "--step"]
    shown = command(words, "", "b", "3", "99", "e", "")
    heads = re.findall(r"(\d+)\. \w+ \(random\) (\S+)$", shown, re.MULTILINE)
    assert heads == [("1", moves[0]), ("3", moves[2]), ("3", moves[2]), (str(len(moves)), moves[-1])]
    assert f"'99' is no step from 0 to {len(moves)}" in shown
    assert shown.count("Result: black (random)") == 1
    command(words)  # the end of the input


def test_a_video_is_a_video_or_refused(three_games: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    out = three_games.with_name("game.mp4")
    words = ["replay", three_games, "--record", 2, "--out", out]
    command(words)
    assert out.read_bytes()[4:8] == b"ftyp"
    frames, seconds = ffmpeg.count_frames_and_secs(str(out))
    assert frames == len(read_records(three_games).records[1].moves) + 10  # the last position stays for three seconds
    assert seconds == pytest.approx(0.3 * frames, rel=0.02)
    out.unlink()
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    said = 'a video needs imageio-ffmpeg, which brings ffmpeg: pip install "cellgames[video]"'
    assert said in command.refused(words)
    assert not out.exists()


def test_a_hint_names_the_winning_move_and_its_value(command: Command) -> None:
    """Column a lacks one stone of a ring of Black."""
    position = "x../x../... .oo/.../... b"
    words = f"play torus-v0 --size 3 --in-process --agents arena_bots:Last --position '{position}'"
    told = r"your move: \S+ suggests a3: you are winning, your chance to win is 100 %\.\n"
    assert re.search(told, command(words, "hint", "quit"))


@pytest.mark.parametrize(("wish", "seat"), [("Red", 0), ("red", 0), ("team_2", 1), ("Team 2", 1)])
def test_a_seat_is_chosen_whatever_its_capitals(wish: str, seat: int) -> None:
    assert _own_seat(Namespace(watch=False, seat=wish), ["Red", "team_2"]) == seat


def test_moves_of_the_cup_are_read_with_the_names_of_their_shapes(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "cup.jsonl"
    shown = command(f"play toroidal-cup-small-v0 --param shapes=1 --out '{out}'", "r2c6/0")
    assert "\nTeam 1 (you) plays R-pentomino r2c6/0\n" in shown
    shown = command(["replay", out, "--show"])
    assert re.search(r"^1\. R-pentomino r2c6/0, R-pentomino r\d+c\d+/\d$", shown, re.M)
    (record,) = read_records(out).records
    assert re.fullmatch(r"r2c6/0 r\d+c\d+/\d", record.moves[0])  # records keep the short names
    assert replay_data(record)["record"]["words"][0][0] == "R-pentomino r2c6/0"


@pytest.mark.parametrize("id", ["grid-adaptation-small-v0", "toroidal-cup-small-v0"])
def test_hints_where_all_act_at_once_are_legal_and_use_what_the_seat_sees(id: str) -> None:
    game = cellgames.make(id)
    state = game.init(torch.tensor([5]))
    for seat in range(game.info.num_players):
        text = hint(game, state, seat).words
        move = re.match(r"greedy suggests (?:R-pentomino )?(\S+)\. ", text)
        assert move is not None
        chosen = game.string_to_action(move[1])
        seen = game.legal_actions(state)[0, seat].split(list(game.info.action_nvec))
        for part, choice in zip(seen, game.info.unravel_action(chosen), strict=True):
            assert part[choice]


@pytest.mark.parametrize("plugin", registry.plugins(), ids=lambda plugin: plugin.id)
def test_rules_have_goal_board_moves_and_credit(plugin: GamePlugin, command: Command) -> None:
    page, prompt, info = plugin.page, plugin.prompt, registry.make(plugin.id).info
    assert page is not None
    assert prompt is not None
    shown = command(["rules", plugin.id])
    for text in (info.title, info.credit, *page.rules, *page.goals, prompt.position, prompt.moves):
        assert text in shown
    assert f"play {plugin.id} --agents greedy" in shown
    board = shown.partition("\nA board after some moves of agents")[2].partition("\n\n" + prompt.position)[0]
    assert plugin.colours is not None
    rows = [match for line in board.split("\n") if (match := re.fullmatch(plugin.colours.row, line))]
    assert len(rows) > 4
    assert re.search("|".join(plugin.colours.signs), "".join(match[1] for match in rows))


def test_doctor_prints_versions_and_extras_and_names_missing_packages(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    version = metadata.version

    def without_pillow(name: str) -> str:
        if name == "pillow":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", without_pillow)
    assert list_command.missing_packages()["render"] == ["pillow"]
    said = command("doctor")
    assert python("-m", "cellgames", "--version").stdout == f"cellgames {__version__}\n"
    for word in ("cellgames", __version__, "torch", "native kernels", "C++ compiler", "CUDA", "Extras", "lacks pillow"):
        assert word in said
    assert "dev " not in said
    assert 'To install one: pip install "cellgames[' in said
