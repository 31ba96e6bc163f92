"""Mutated records, positions, moves, names and lists of teams: read as they are, or refused in a sentence or two."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from fuzzing import GAMES as SMALL
from fuzzing import Inputs, documented, fuzz
from hypothesis import strategies as st
from mutations import Change, Edit, applied, changed, changes, edits, hostile_json, hostile_text, large, mutated
from refusals import refused

import cellgames
from cellgames.agents import load, parse_move, play
from cellgames.arena import RecordError, read_teams, replay
from cellgames.arena.formats import records_to_sgf, sgf_to_records
from cellgames.arena.play.match import generator, records_of
from cellgames.arena.records.record_lines import Record, append, read_records
from cellgames.arena.records.replays import result_differs
from cellgames.arena.records.variations import Variation
from cellgames.arena.season.cup import CupRecord
from cellgames.arena.season.games import Fixture
from cellgames.envs.core import Game, seeds
from cellgames.runs.run_folder import differences

GAMES: dict[str, Game] = {**SMALL, "cup": cellgames.make("toroidal-cup-small-v0", max_generations=20)}
any_game = st.sampled_from(list(GAMES))

CUP_LINE = {
    "season": {"stage": "day 1", "match": 1, "game": 1, "attempt": 0, "teams": ["a", "b"]},
    **{"pattern": "x", "seed": 1, "max_generations": 10, "survivors": "all", "scores": [1, 2]},
    **{"generations": 3, "winner": 1, "truncated": False},
}


@cache
def record(name: str) -> Record:
    """A finished game of random players."""
    game = GAMES[name]
    seats = torch.zeros((1, game.info.num_players), dtype=torch.int64)
    done = play(game, [load("random", game)], seats, torch.tensor([3]), [generator(3)])
    agents = ("random",) * game.info.num_players
    (made,) = records_of(game, done, seeds=[3], agents=[agents], openings=[0])
    return replace(made, variations=(Variation(-1, made.moves[0], "tried"), Variation(0, made.moves[0])))


@fuzz(Inputs(short=40, share=6), name=any_game, made=st.one_of(changes(), edits()))
def test_lines_of_records(name: str, made: tuple[Change, ...] | tuple[Edit, ...]) -> None:
    line = record(name).to_json().encode()
    with documented(ValueError):
        read = Record.from_json(mutated(line, made))
        again = read.to_json()
        assert Record.from_json(again) == read, "what is accepted comes back"
        assert Record.from_json(again).to_json() == again


@fuzz(Inputs(short=20, share=3), made=edits())
def test_files_of_sgf(made: tuple[Edit, ...]) -> None:
    text = '(;FF[4]GM[2048]SZ[2]RE[W+R]XR[{"seed":1}];B[a1]C[one\\]](;W[b1+];B[a2])(;W[a2]C[two](;B[b1+])(;B[b2])))'
    with documented(ValueError):
        found = sgf_to_records(applied(text.encode(), made).decode(errors="replace"))
        assert sgf_to_records(records_to_sgf(found)) == found


@fuzz(Inputs(short=20, share=3), name=any_game, made=changes())
def test_replays_of_records(name: str, made: tuple[Change, ...]) -> None:
    data = changed(json.loads(record(name).to_json()), made)
    if large(data, "parameters", 40, 10**9):
        return
    with documented(ValueError):
        read = Record.from_json(json.dumps(data))
        if len(read.moves) < 1000:
            states = replay(read)
            assert len(states) == len(read.moves) + 1


@fuzz(Inputs(short=15, share=2), made=edits())
def test_files_of_records(tmp_path_factory: pytest.TempPathFactory, made: tuple[Edit, ...]) -> None:
    path = tmp_path_factory.getbasetemp() / "games.jsonl"
    whole = [record("torus"), record("grid")]
    content = applied("".join(f"{one.to_json()}\n" for one in whole).encode(), made)
    path.write_bytes(content)
    with documented(RecordError):
        found = read_records(path)
        before = path.read_bytes()
        assert before == content
        if not found.torn and content.endswith(b"\n"):
            append(path, whole)
            assert read_records(path).records == [*found.records, *whole]
    if not content.endswith(b"\n") and content:
        with pytest.raises(RecordError):
            append(path, whole)
        assert path.read_bytes() == content, "nothing is written after a torn line"
    assert sorted(path.parent.glob("*.part")) == []


@fuzz(Inputs(short=15, share=1), made=st.one_of(changes(), edits()))
def test_lines_of_the_cup(made: tuple[Any, ...]) -> None:
    with documented(ValueError):
        CupRecord.from_json(mutated(json.dumps(CUP_LINE).encode(), made))


@fuzz(
    Inputs(short=15, share=1),
    content=st.one_of(
        st.binary(max_size=80),
        hostile_text().map(lambda text: f"name,agent\n{text},random\n".encode(errors="surrogatepass")),
    ),
)
def test_files_of_teams(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "teams.csv"
    path.write_bytes(content)
    with documented(ValueError):
        for team in read_teams(path):
            assert team.name
            assert team.name.isprintable()


@fuzz(Inputs(short=20, share=3), name=any_game, made=edits(2), text=st.none() | hostile_text(), seed=st.integers(0, 9))
def test_lines_of_positions(name: str, made: tuple[Edit, ...], text: str | None, seed: int) -> None:
    game = GAMES[name]
    line = game.state_to_string(game.init(seeds(seed, 1)))
    given = applied(line.encode(), made).decode(errors="replace") if text is None else text
    with documented(ValueError):
        state = game.string_to_state(given, seed)
        again = game.state_to_string(state)
        assert game.state_to_string(game.string_to_state(again, seed)) == again


@fuzz(Inputs(short=20, share=3), name=any_game, move=st.integers(0, 5), made=edits(2), text=st.none() | hostile_text())
def test_words_of_moves(name: str, move: int, made: tuple[Edit, ...], text: str | None) -> None:
    game, moves = GAMES[name], record(name).moves
    word = moves[move % len(moves)]
    given = applied(word.encode(), made).decode(errors="replace") if text is None else text
    with documented(ValueError):
        action = parse_move(game, given)
        assert action.dtype == torch.int64
        assert tuple(action.shape) == game.info.action_shape


@fuzz(
    Inputs(short=20, share=2),
    name=any_game,
    agent=st.sampled_from(
        ["random", "greedy", "rollout:", "mcts:", "gumbel:", "flat:", "trained", "x.safetensors", "module:Class", ""]
    ),
    text=hostile_text(),
)
def test_names_of_agents(name: str, agent: str, text: str) -> None:
    with documented(ValueError, ImportError):
        load(agent + text, GAMES[name])


@fuzz(Inputs(short=20, share=2), id=st.sampled_from(list(cellgames.games())), data=st.data())
def test_parameters_of_games(id: str, data: Any) -> None:
    names = [*cellgames.make(id).parameters, "nothing", ""]
    values = hostile_json().filter(lambda value: not isinstance(value, int | float) or not 40 < value < 10**9)
    parameters = data.draw(st.dictionaries(st.sampled_from(names), values, min_size=1, max_size=3))
    with documented(ValueError, TypeError):
        game = cellgames.make(id, **parameters)
        if math.prod(game.info.board.shape) < 10**5:
            assert cellgames.make(id, **game.parameters) == game
            game.init(seeds(0, 1))


# Inputs that these properties have found, each of which once ended in a traceback or a bad message.


def test_texts_of_others_are_told_in_printable_characters() -> None:
    with refused("position") as caught:
        GAMES["torus"].string_to_state("\0./.. ../.. b")
    differing = (
        differences({"eval\0\x1b[2J": 1}, {}),
        result_differs({"summary.\x1f": "\x1b[2J" * 500}, {"summary.\x1f": 1}),
    )
    assert all(text.isprintable() for text in (str(caught.value), *differing))


@pytest.mark.parametrize(
    "line", [b"\0" + b"9" * 5000, b'{"season": {"teams": ["a", "b"], "stage": "", "game": 1e999}}']
)
def test_lines_that_are_no_game_of_a_season_are_refused_briefly(line: bytes) -> None:
    with refused("", expected="a game of a season") as caught:
        Fixture.from_json(line)
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()
