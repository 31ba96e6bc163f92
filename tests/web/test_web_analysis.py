"""The analysis board's requests: positions, searches with reviews of moves, set-up positions, hostile links."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from web_records import RACE, recorded
from web_server import served

import cellgames
from cellgames.agents import acting, load
from cellgames.agents.cloth_of_gold.turns import random_turns
from cellgames.arena import MatchOptions, Store, after_moves, match
from cellgames.arena.analyse.search_analysis import analyse
from cellgames.arena.records.record_lines import Record, append
from cellgames.arena.records.replays import replay
from cellgames.web import analysis_board
from cellgames.web.analysis_board import AnalysisBoard, Position, Search, find_puzzle, move_values, next_moves
from cellgames.web.sessions import FullError

httpx = pytest.importorskip("httpx")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of a running server, with a record in its folder that has variations."""
    folder = tmp_path_factory.mktemp("analysis")
    record = recorded("torus-small-v0", size=3)
    append(folder / "games.jsonl", [record])
    with (folder / "games.jsonl").open("a") as file:
        file.write(json.dumps({**record.to_data(), "variations": [[-1, "a1", "a comment"]]}) + "\n")
    with served(folder) as address, httpx.Client(base_url=address, timeout=30) as opened:
        yield opened


def asked(client: Any, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_positions_and_a_search_with_a_review(client: Any) -> None:
    wish = {"game": "torus-v0", "parameters": {"size": 5}, "position": RACE}
    found = asked(client, "/api/analysis/positions", **wish, moves=["c2"], action=20)
    assert [place["move"] for place in found["places"]] == [None, "c2", "a5"]
    assert [place["player"] for place in found["places"]] == [0, 1, None]
    assert found["places"][-1]["chances"] == [0.0, 1.0]
    assert found["play"] == {"game": "torus-v0", "parameters": {"size": 5}}
    engine = found["engines"][-1]
    answer = asked(
        client, "/api/analysis", **wish, moves=["c2"], engine=engine["name"], simulations=engine["efforts"][1]
    )
    assert answer["chances"] == [0.0, 1.0]
    assert answer["chosen"] == "a5"
    assert answer["review"]["best"] == "a5"
    assert answer["review"]["mark"] == {"sign": "??", "name": "blunder"}
    ended = asked(client, "/api/analysis", **wish, moves=["a5"], engine="mcts", simulations=500)
    assert (ended["chances"], ended["moves"], ended["lines"]) == ([1.0, 0.0], [], [])


@pytest.mark.parametrize(
    ("game", "put", "expected"),
    [
        ("torus-small-v0", [[0, 1], [26, 2]], "x..../...../...../...../..... .o.../...../...../...../..... w"),
        ("cloth-of-gold-small-v0", [[0, 1], [33, 2]], "move:b turn:1 round:0 acts:0 score:+0 placed:- board:A$.B!"),
    ],
)
def test_positions_are_set_up_and_played_on(client: Any, game: str, put: Any, expected: str) -> None:
    found = asked(client, "/api/analysis/positions", game=game, put=put, mover=1)
    text = found["places"][0]["position"]
    assert text == expected
    again = asked(client, "/api/analysis/positions", game=game, position=text)
    assert again["places"][0]["frame"]["cells"] == found["places"][0]["frame"]["cells"]
    seat = cellgames.make(game).info.players[1]
    made = client.post("/api/play", json={"game": game, "seat": seat, "agents": ["random"], "position": text})
    assert made.status_code == 201, made.text
    view = made.json()["view"]
    assert view["yours"]
    assert view["frame"]["cells"] == found["places"][0]["frame"]["cells"]


def test_a_game_from_a_position_is_a_record_that_reproduces(client: Any) -> None:
    body = {"game": "torus-v0", "parameters": {"size": 5}, "seat": "black", "agents": ["random"], "position": RACE}
    made = client.post("/api/play", json=body).json()
    path = f"/api/play/{made['view']['id']}"
    assert client.post(f"{path}/move", json={"action": [20], "turn": 0}).json()["view"]["done"]
    record = Record.from_json(client.get(f"{path}/record.jsonl").text)
    assert record.position == RACE
    assert len(replay(record)) == len(record.moves) + 1 == 2
    line = client.get("/api/analysis/record", params={"game": made["view"]["id"]}).json()["record"]
    assert Record.from_json(line) == record


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"game": "os"}, "game: got 'os'"),
        ({"game": "toroidal-cup-v0"}, "all players act at once"),
        ({"game": "torus-v0", "position": "<script>alert(1)</script>"}, "expected a position of size 8"),
        ({"game": "torus-v0", "moves": ["a1", "a1"]}, "move 2, 'a1': "),
        ({"game": "torus-v0", "moves": ["../../etc/passwd"]}, "move 1"),
        ({"game": "torus-v0", "parameters": {"size": 1 << 30}}, "from 2 to 16"),
        ({"game": "torus-v0", "put": [[0, 7]]}, "put: expected a code of"),
        ({"game": "torus-v0", "put": [[0, 1]], "mover": 2}, "mover: expected a seat from 0 to 1"),
        ({"game": "torus-v0", "moves": ["a1"], "action": 0}, "cell a1 is taken"),
        ({"game": "torus-v0", "action": 1 << 30}, "from 0 to 127"),
        ({"game": "torus-v0", "engine": "command:ls", "simulations": 32}, "engine: expected one of"),
        *(
            ({"game": "torus-v0", "engine": "mcts", "simulations": number}, "simulations: expected one of 500, 1500")
            for number in (0, 10**9)
        ),
    ],
)
def test_hostile_links_get_a_sentence(client: Any, body: dict[str, Any], why: str) -> None:
    answer = client.post("/api/analysis" if "engine" in body else "/api/analysis/positions", json=body)
    assert answer.status_code in (400, 409), answer.text
    error = answer.json()["error"]
    assert why in error
    assert len(error) < 700
    assert "Traceback" not in error


@pytest.mark.parametrize(("game", "moves"), [("torus-v0", ["a1", "b2", "c1"]), ("hex-v0", ["b2", "a1"])])
def test_where_a_game_is_solved_each_move_has_its_value(client: Any, game: str, moves: list[str]) -> None:
    more = {"parameters": {"size": 3}, "engine": "gumbel", "simulations": 512}
    found = asked(client, "/api/analysis", game=game, moves=moves, **more)
    made = cellgames.make(game, size=3)
    state = after_moves(made, moves)
    solver: Any = acting(load("perfect", made), made)
    solver.start(made, state.current_player, torch.zeros(1, dtype=torch.int64))
    actions = made.legal_actions(state)[0].nonzero().flatten()
    after = made.step(state[torch.zeros_like(actions)], actions)
    ended = made.outcome(after)[:, int(state.current_player)].long()
    won = torch.where(after.done, -ended, solver.values(after, 10_000).long())
    assert {move["action"]: move["win_chance"] for move in found["moves"]} == {
        action: (1 - value) / 2 for action, value in zip(actions.tolist(), won.tolist(), strict=True)
    }
    assert found["chances"][int(state.current_player)] == max(move["win_chance"] for move in found["moves"])


@pytest.fixture(scope="module")
def games_of_y() -> Sequence[Record]:
    options = MatchOptions(games=12, opening_plies=2)
    return match(cellgames.make("y-v0", size=6), "greedy", "rollout:16", options=options).records


def test_stored_games_say_what_was_played_next_and_become_puzzles(games_of_y: Sequence[Record], tmp_path: Path) -> None:
    game = cellgames.make("y-v0", size=6)
    with Store(tmp_path / "store.sqlite") as store:
        store.add([*games_of_y, recorded("cloth-of-gold-small-v0")], source=("file", "here"))
        first = games_of_y[0]
        line = [record for record in games_of_y if record.moves[:2] == first.moves[:2]]
        told = next_moves(store, Position(game="y-v0", parameters={"size": 6}, moves=[*first.moves[:2]]))
        assert sum(one["games"] for one in told) == len(line)
        (own,) = (one for one in told if one["move"] == first.moves[2])
        chosen = [record for record in line if record.moves[2] == first.moves[2]]
        assert own["score"] == sum(record.result.outcome[0] == "win" for record in chosen) / len(chosen)
        assert dict(own["agents"]) == Counter(record.agents[0] for record in chosen)
        assert next_moves(store, Position(game="y-v0", parameters={"size": 7}, moves=[*first.moves[:2]])) == []
        puzzle = find_puzzle(store, Random(1))
    assert puzzle is not None
    state = after_moves(game, (), position=puzzle["position"])
    wins = [action for action, value in move_values(game, state, 1 << 20).items() if value == 1]
    assert [game.action_to_string(action) for action in wins] == [puzzle["best"]]


def test_a_puzzle_of_cloth_of_gold_is_a_rare_turn_that_wins_with_its_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_board, "_PATIENCE_S", 60.0)
    game = cellgames.make("cloth-of-gold-small-v0")
    records = match("cloth-of-gold-small-v0", "greedy", "other=greedy", options=MatchOptions(games=2)).records
    with Store(tmp_path / "store.sqlite") as store:
        store.add(records, source=("file", "here"))
        puzzle = find_puzzle(store, Random(1))
    assert puzzle is not None
    *units, end = puzzle["best"].split()
    state = after_moves(game, (), position=puzzle["position"])
    assert (bool(state.done), int(state.acts), int(state.left), end) == (False, 0, game.max_units, "end")
    after = after_moves(game, puzzle["best"].split(), position=puzzle["position"])
    assert int(game.outcome(after)[0, int(state.current_player)]) == 1
    drawn = random_turns(game, state, torch.ones(1, dtype=torch.int64), 400)[0]
    games = game.play_turn(state[torch.zeros(400, dtype=torch.int64)], drawn)
    assert (game.outcome(games)[:, int(state.current_player)] > 0).double().mean() < 0.2
    assert len(units) <= game.max_units


def test_games_that_no_longer_replay_or_take_too_long_are_no_puzzles(
    games_of_y: Sequence[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = games_of_y[0]
    bad = [
        replace(one, moves=(one.moves[0], *one.moves[:-1])),
        replace(one, parameters={"size": -1}),
        replace(one, parameters={"size": 700}),
    ]
    with Store(tmp_path / "bad.sqlite") as store:
        store.add(bad, source=("file", "here"))
        monkeypatch.setattr(analysis_board, "_PATIENCE_S", 0.5)
        assert find_puzzle(store, Random(1)) is None
        monkeypatch.setattr(analysis_board, "_PATIENCE_S", 8.0)
        store.add(games_of_y, source=("file", "there"))
        assert find_puzzle(store, Random(1)) is not None
        monkeypatch.setattr(analysis_board, "_PATIENCE_S", 0.3)
        monkeypatch.setattr(analysis_board, "_only_win", lambda game, state: [None for _ in iter(int, 1)])
        assert find_puzzle(store, Random(1)) is None


def test_where_each_move_of_a_search_loses_an_open_one_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    game = cellgames.make("hex-v0", size=3)
    state = after_moves(game, ["a1"])
    found = analyse(game, state, load("mcts:8", game))
    seen, *others = found.moves
    known = {seen.action: -1} | {move.action: 0 for move in others}
    monkeypatch.setattr(analysis_board, "move_values", lambda *_: known)
    told = analysis_board.proven(game, state, replace(found, moves=(seen,), chosen=seen.name, line=found.line[:1]), 8)
    assert told.chosen in {move.name for move in others}


def test_a_search_waits_no_longer_than_others_let_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_board, "_WAITING", 2)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    board, wish = AnalysisBoard(), Search(game="torus-small-v0", engine="mcts", simulations=500)
    board._pool.submit(time.sleep, 0.5)
    kept = [board.submit(wish) for _ in range(2)]
    with pytest.raises(FullError):
        board.submit(wish)
    assert all(one.result(60)["chances"] for one in kept)
    board.close()


@pytest.mark.parametrize(
    ("id", "parameters", "known"),
    [
        ("cloth-of-gold-small-v0", {}, True),
        ("cloth-of-gold-wild-v0", {"height": 16, "width": 16, "generations": 10, "perks": False}, False),
    ],
)
def test_the_first_answer_of_a_game_of_life_needs_no_simulation(
    client: Any, id: str, parameters: dict[str, int], known: bool
) -> None:
    game = {"game": id, "parameters": parameters}
    engine = asked(client, "/api/analysis/positions", **game)["engines"][0]
    body = {**game, "engine": engine["name"], "moves": ["r5c5"]}
    first = asked(client, "/api/analysis", **body, simulations=0)
    assert (first["visits"], first["review"], len(first["lines"])) == (0, None, 1)
    assert first["chosen"] == first["moves"][0]["move"] == first["lines"][0]["moves"][0]["name"]
    assert [move["visits"] for move in first["moves"]] == [0] * len(first["moves"])
    assert all((move["win_chance"] is None) != known for move in first["moves"])
    assert (first["chances"] is None) != known
    if known:
        assert sum(first["chances"]) == pytest.approx(1)
        assert first["chances"][0] == first["moves"][0]["win_chance"] == first["lines"][0]["chance"]
    then = asked(client, "/api/analysis", **body, simulations=engine["efforts"][1], review=False)
    assert then["visits"] == engine["efforts"][1]
    assert {move["move"] for move in then["moves"]} <= {move["move"] for move in first["moves"]}
