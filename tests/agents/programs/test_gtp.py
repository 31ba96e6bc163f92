"""GTP in both directions: our agents as engines, and engines as agents."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import torch

import cellgames
from cellgames.agents import load, play
from cellgames.agents.programs.gtp import COMMANDS, GtpAgent, GtpServer, serve_gtp
from cellgames.agents.programs.process import EngineError, Limits
from cellgames.agents.time_control import TimeControl
from cellgames.agents.views import Views
from cellgames.arena import MatchOptions, match
from cellgames.cli.main import main
from cellgames.envs.core import seeds

GAME = cellgames.make("torus-v0", size=3)
ENGINE = f"{shlex.quote(sys.executable)} -m cellgames bot greedy --protocol gtp --game hex-v0 --size 4"
RECORDER = """
import sys
for line in sys.stdin:
    print(line, end="", file=open({heard!r}, "a"))
    words = line.split()
    answer = {{"protocol_version": "2", "genmove": "b2"}}.get(words[0], "")
    print("?" if {refuses} and words == ["play", "w", "a4"] else "= " + answer, end="\\n\\n", flush=True)
"""
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")

posix = pytest.mark.skipif(os.name != "posix", reason="programs as agents need POSIX")


def server(agent: str = "greedy", game: str = "torus-v0") -> GtpServer:
    parameters = {"size": 3} if game == "torus-v0" else {}
    return GtpServer(cellgames.make(game, **parameters), lambda game: load(agent, game))


def session(engine: GtpServer, *commands: str) -> list[str]:
    """Return the responses to commands, without the empty lines."""
    return [(engine.answer(command) or "").strip() for command in commands]


def test_the_commands_of_the_specification() -> None:
    """Each response begins with = or ?, the number of the command follows, and an empty line ends it."""
    engine = server()
    assert engine.answer("protocol_version") == "= 2\n\n"
    assert engine.answer("17 protocol_version") == "=17 2\n\n"
    assert engine.answer("17 nonsense") == "?17 unknown command\n\n"
    assert engine.answer("# a remark") is None
    assert engine.answer("") is None
    assert session(engine, "name", "known_command play", "known_command fly") == [
        "= cellgames greedy",
        "= true",
        "= false",
    ]
    listed = (engine.answer("list_commands") or "").removeprefix("= ").split()
    assert listed == list(COMMANDS)
    needed = {"protocol_version", "name", "version", "known_command", "list_commands", "quit", "boardsize"}
    needed |= {"clear_board", "komi", "play", "genmove", "undo", "showboard", "final_score", "time_settings"}
    assert needed <= {*listed}


def test_a_game_is_played_and_taken_back() -> None:
    engine = server()
    assert session(engine, "play b a1", "play W B2", "cellgames-position") == ["=", "=", "= x../.o./... .../.../... b"]
    assert session(engine, "undo", "undo", "cellgames-position") == ["=", "=", "= .../.../... .../.../... b"]
    assert session(engine, "undo") == ["? cannot undo"]
    (move,) = session(engine, "genmove black")
    assert GAME.string_to_action(move.removeprefix("= ")) >= 0
    assert "Black" not in session(engine, "cellgames-position")[0]
    assert "White to move" in session(engine, "showboard")[0]
    assert "\n\n" not in (engine.answer("showboard") or "").rstrip("\n")


def test_what_is_illegal_is_refused_and_changes_nothing() -> None:
    engine = server()
    wrong = ["play b z9", "play w a1", "play green a1", "play b", "genmove w", "boardsize 99", "boardsize x"]
    responses = session(engine, *wrong, "final_score")
    assert all(response.startswith("?") for response in responses)
    assert responses[0] == responses[1] == "? illegal move"
    assert responses[2].startswith("? syntax error: expected b or w")
    assert responses[5] == responses[6] == "? unacceptable size"
    assert responses[7] == "? cannot score: the game goes on"
    assert session(engine, "cellgames-position") == ["= .../.../... .../.../... b"]


def test_the_end_of_a_game_has_a_score() -> None:
    engine = server("random")
    while not bool(engine.state.done[0]):
        assert engine.answer(f"genmove {'bw'[int(engine.state.current_player[0])]}") != ""
    winner = "BW"[int(engine.game.outcome(engine.state)[0].argmax())]
    assert session(engine, "final_score") == [f"= {winner}+1"]
    loser = "bw"["WB".index(winner)]
    assert session(engine, f"genmove {loser}") == ["= resign"]
    assert session(engine, "boardsize 2", "cellgames-position") == ["=", "= ../.. ../.. b"]


def test_turns_of_several_actions_are_moves_of_one_colour() -> None:
    engine = server("random", "cloth-of-gold-small-v0")
    movers = []
    for _ in range(6):
        movers.append("bw"[int(engine.state.current_player[0])])
        (move,) = session(engine, f"genmove {movers[-1]}")
        assert move.startswith("= "), move
    assert movers.count("b") > 1


@pytest.mark.parametrize("game", ["toroidal-cup-small-v0", "grid-adaptation-small-v0"])
def test_other_games_are_refused(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bot", "random", "--protocol", "gtp", "--game", game]) == 2
    assert "expected two players in turns, with plain actions, for GTP" in capsys.readouterr().err


def test_control_characters_are_left_out_and_quit_ends() -> None:
    sent: list[bytes] = []
    serve_gtp(server(), [b"\x1bna\x00me\t\n", b"\xff\xfe\n", b"1 quit\n", b"name\n"], sent.append)
    assert sent == [b"= cellgames greedy\n\n", b"? unknown command\n\n", b"=1\n\n"]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("id", ["hex-v0", "y-v0"])
@pytest.mark.parametrize("moves", [("c1", "swap", "c1", "b2"), ("c1", "swap", "b1", "b3"), ("b2", "c1", "a1", "a3")])
def test_moves_are_found_again_after_a_swap(moves: tuple[str, ...], id: str, first: int) -> None:
    """By the engine of either colour, which sees every other position."""
    game = cellgames.make(id, size=4)
    agent = GtpAgent(ENGINE)
    agent._moves[0] = []
    state = game.init(seeds(0, 1))
    told: list[str] = []
    for turn, name in enumerate(moves):
        if turn % 2 == first:
            (view,) = Views(game, state, state.current_player, game.legal_actions(state))
            assert agent._moves_to(view, 0) == told
        action = game.string_to_action(name)
        if not game.legal_actions(state)[0, action]:
            return  # in Y the swapped stone stays where it is
        told.append(f"{'bw'[turn % 2]} {game.action_to_string(action)}")
        state = game.step(state, torch.tensor([action]))


def test_words_of_hex_programs() -> None:
    engine = server("greedy", "hex-small-v0")
    assert session(engine, "boardsize 4 4", "play black d1", "play white swap-pieces") == ["=", "=", "="]
    assert session(engine, "cellgames-position") == ["= ..../..../..../o... b"]
    assert session(engine, "boardsize 4 5", "play black swap-pieces") == ["? unacceptable size", "? illegal move"]
    session(engine, "clear_board", "play b b2")
    assert session(engine, "genmove w") == ["= swap-pieces"]


@posix
def test_an_engine_plays_the_games_of_its_agent_with_swaps() -> None:
    game = cellgames.make("hex-v0", size=4)
    agent = GtpAgent(ENGINE, Limits(start=60.0))  # also where the machine is busy
    agent.name = "engine"  # names seed the dice, and the command has the path of the interpreter
    result = match(game, agent, "random", MatchOptions(games=8, opening_plies=0))
    assert result.score >= 0.75
    assert not [record for record in result.records if record.result.forfeit]
    assert any("swap-pieces" in record.moves for record in result.records)
    agent.close()


@posix
@pytest.mark.parametrize(("refuses", "opening"), [(False, "play w a4"), (True, "play b d1;play w swap-pieces")])
def test_a_swap_is_told_as_the_stone_that_it_leaves(tmp_path: Path, refuses: bool, opening: str) -> None:
    """Engines that refuse a colour twice get the word."""
    engine, heard = tmp_path / "engine.py", tmp_path / "heard"
    engine.write_text(RECORDER.format(heard=str(heard), refuses=refuses))
    game, agent = cellgames.make("hex-v0", size=4), GtpAgent(shlex.join([sys.executable, str(engine)]))
    state = game.init(seeds(0, 1))
    agent.start(game, torch.tensor([0]), torch.tensor([0]))
    for name in ("d1", "swap"):
        state = game.step(state, torch.tensor([game.string_to_action(name)]))
    views = Views(game, state, state.current_player, game.legal_actions(state))
    assert game.action_to_string(int(agent.act_on_views(views, torch.tensor([0]), torch.Generator())[0])) == "b2"
    agent.close()
    assert ";".join(heard.read_text().splitlines()).endswith(f"clear_board;{opening};genmove b;quit")


@posix
def test_one_that_resigns_forfeits(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(
        "import sys\nfor line in sys.stdin:\n"
        "    word = line.split()[0]\n"
        "    answer = {'protocol_version': '2', 'genmove': 'RESIGN'}.get(word, '')\n"
        "    print('= ' + answer + '\\n', flush=True)\n"
    )
    agent = GtpAgent(f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}")
    seats, chances = torch.tensor([[0, 1]]), [torch.Generator(), torch.Generator()]
    played = play(GAME, [agent, load("random")], seats, seeds(0, 1), chances, forfeits=TimeControl(60.0, 1.0))
    assert played.failures[0].reason == "resigned"
    agent.close()


@posix
@pytest.mark.skipif(GNUGO is None, reason="GNU Go is missing")
def test_the_words_are_those_of_gnu_go() -> None:
    """An engine that nobody here wrote understands our commands, and we its responses."""
    agent = GtpAgent(f"{GNUGO} --mode gtp")
    agent._open(GAME)
    said = agent._said(["boardsize 5", "clear_board", "play b c3", "genmove w"], 10.0)
    assert said[:3] == ["", "", ""]
    assert 2 <= len(said[3]) <= 4
    assert len(agent._said(["showboard"], 10.0)[0].splitlines()) >= 7
    assert agent._said(["time_left b 10 0"], 10.0) == [""]
    with pytest.raises(EngineError):
        agent._said(["play b c3"], 10.0)
    agent.close()
