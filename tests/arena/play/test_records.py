"""Records of games: what files hold, what crashes and damage leave, and games played again from them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content, unsigned
from command import Command
from damage import damaged
from PIL import Image, ImageSequence
from refusals import fails, refused
from season_coin import made_up
from store_games import game

import cellgames
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import (
    BotUmpire,
    MatchOptions,
    RecordError,
    RoundRobinOptions,
    Store,
    match,
    play_season,
    round_robin,
)
from cellgames.arena.records.record_lines import Record, Result, append, read_records
from cellgames.arena.records.replays import ReplayError, animate, game_of, replay, save_film, verify
from cellgames.arena.records.variations import MoveNode, Variation, listed, merged, move_tree
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.envs.core import Game
from cellgames.envs.core.drawing import Picture
from cellgames.web.record_library import Library, season_data

GAME: Game = cellgames.make("torus-v0", size=3)
ANN, BOB = RandomAgent("ann"), RandomAgent("bob")
# Black's ring down column a: it needs three octagons of a column, White's stones are out of its way.
RING = Record(
    game="torus-v0",
    version="0",
    parameters={"size": 3},
    seed=7,
    agents=("one", "two"),
    opening=0,
    moves=("a1", "b1", "a2", "b2", "a3"),
    result=Result(("win", "loss"), (1.0, 0.0), 5, False),
)


@pytest.fixture(scope="module")
def games() -> tuple[Record, ...]:
    return match(GAME, ANN, BOB, MatchOptions(games=12, chunk=3)).records


CLOTH = {"height": 8, "width": 8, "generations": 2, "max_units": 2, "max_rounds": 3, "radius": 3}


@pytest.fixture(scope="module")
def cloth() -> Record:
    """A game with a summary of several rounds."""
    played = match(cellgames.make("cloth-of-gold-v0", **CLOTH), ANN, BOB, MatchOptions(games=40))
    return max(played.records, key=lambda record: (sum(record.summary["rounds"]["killed"]), record.result.turns))


def test_a_record_is_one_line_and_comes_back_equal(games: tuple[Record, ...]) -> None:
    started = replace(RING, position=".../.../... .../.../... b", agents=("bø|b", 'x"y'))
    for record in (*games, RING, started):
        line = record.to_json()
        assert "\n" not in line
        assert Record.from_json(line) == record
    assert json.loads(games[1].to_json())["pairing"] == {"match": "ann vs bob", "opening": 0, "seats": [1, 0]}


def test_unknown_fields_are_tolerated_and_missing_ones_are_not() -> None:
    data = json.loads(RING.to_json())
    data |= {"date": "today", "result": {**data["result"], "mood": "good"}}
    assert Record.from_json(json.dumps(data)) == RING
    del data["seed"]
    with refused("fields", "none"):
        Record.from_json(json.dumps(data))


def test_a_summary_is_part_of_the_line_only_if_there_is_one(cloth: Record, games: tuple[Record, ...]) -> None:
    assert not any("summary" in json.loads(record.to_json()) for record in (RING, *games))
    assert cloth.summary
    assert json.loads(cloth.to_json())["summary"] == cloth.summary
    assert Record.from_json(cloth.to_json()) == cloth
    other = replace(RING, summary={"mood": ["good", None], "parts": {"a": 0.5}})
    assert Record.from_json(other.to_json()) == other


@pytest.mark.parametrize(
    ("change", "parameter", "got"),
    [
        ({"agents": ["a", "b", "c"]}, "result", "3 agents, 2 outcomes and 2 scores"),
        ({"result": {"outcome": ["win"]}}, "result", "2 agents, 1 outcomes and 2 scores"),
        ({"result": {"forfeit": {"seat": 2, "reason": "it failed"}}}, "result.forfeit", "[2]"),
        ({"agents": ["a", "\x1b[31mred"]}, "agents", r"'\x1b[31mred'"),
        ({"game": "torus-v0\n"}, "agents", r"'torus-v0\n'"),
        ({"result": {"scores": [10**400, 0]}}, "result.scores", "[a whole number of 1329 bits, 0]"),
        ({"summary": {"x": math.nan}}, "", None),
        ({"pairing": {"match": "a vs b"}}, "fields", "none"),
        ({"opening": True}, "opening", "True"),
        ({"result": {"outcome": ["won"]}}, "result.outcome", "['won']"),
    ],
)
def test_a_bad_record_says_what_is_wrong(change: dict[str, Any], parameter: str, got: str | None) -> None:
    data = json.loads(RING.to_json())
    result = {**data["result"], **change.get("result", {})}
    with refused(parameter, got):
        Record.from_json(json.dumps({**data, **change, "result": result}))


def test_a_torn_last_line_is_dropped_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    append(path, [RING, RING])
    whole = path.read_bytes()
    for cut in (1, 2, 100, len(RING.to_json()) - 1):
        path.write_bytes(whole[:-cut])
        records, torn = read_records(path)
        if cut == 1:  # only the newline is missing
            assert (len(records), torn) == (2, "")
        else:
            assert records == [RING]
            assert torn.startswith(f"{path}, line 2: dropped a torn line, ")
        with fails(RecordError, expected="a newline at the end"):
            append(path, [RING])
    path.write_bytes(b"\xff\xfe")
    assert read_records(path).records == []


def test_any_other_bad_line_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    for bad in ('{"game": "torus', "", "[1]", '{"game": "torus-v0"}'):
        path.write_text(f"{RING.to_json()}\n{bad}\n{RING.to_json()}\n")
        with fails(RecordError, parameter=f"{path}, line 2"):
            read_records(path)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return round_robin(GAME, ["random", "greedy"], RoundRobinOptions(games=8, gif=False), out=tmp_path / "run").out


def test_a_missing_end_is_noticed_by_whatever_reads_the_games(run: Path, tmp_path: Path, command: Command) -> None:
    games = run / "games.jsonl"
    command(["replay", run])
    games.write_bytes(b"".join(games.read_bytes().splitlines(keepends=True)[:3]))
    command(["replay", run], code=2)
    command(["leaderboard", "--add", run, "--store", tmp_path / "store.sqlite"], code=2)
    library = Library(tmp_path)
    for read in (lambda: library.page("run/games.jsonl", 1, 50), lambda: library.record("run/games.jsonl", 1)):
        with refused("run/games.jsonl"):
            read()


def test_settings_that_have_changed_are_noticed(run: Path) -> None:
    settings = json.loads((run / "run.json").read_text())
    for changed in ({**settings, "seed": 1}, {name: settings[name] for name in settings if name != "checksum"}):
        (run / "run.json").write_text(json.dumps(changed))
        with pytest.raises(RecordError):
            read_records(run / "games.jsonl")


def test_a_run_of_an_earlier_version_is_read_and_goes_on(run: Path, tmp_path: Path, command: Command) -> None:
    before = content(run)
    records = read_records(run / "games.jsonl").records
    unsigned(run / "games.jsonl")
    settings = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({name: settings[name] for name in [*settings][:-2]}))
    assert read_records(run / "games.jsonl").records == records
    command(["replay", run])
    with Store(tmp_path / "store.sqlite") as store:
        assert store.import_run(run) == 8
    assert round_robin(GAME, ["random", "greedy"], RoundRobinOptions(games=8, gif=False), out=run).played == 0
    assert content(run) == before


def test_the_page_shows_no_damaged_season(tmp_path: Path) -> None:
    out, teams = tmp_path / "season", made_up(12, "random", "greedy")
    play_season(teams, BotUmpire(GAME, teams), SeasonOptions(days=1), out=out)
    whole = season_data(Library(tmp_path), "season")
    shown = 0
    for name in ("season.json", "games.jsonl", "standings.json", "schedule.json", "bracket.json"):
        sound = (out / name).read_bytes()
        for seed in range(20):
            (out / name).write_bytes(damaged(sound, seed))
            try:
                shown += season_data(Library(tmp_path), "season") != whole
            except (ValueError, LookupError):
                continue
        (out / name).write_bytes(sound)
    assert shown == 0


def test_a_replay_goes_through_all_positions() -> None:
    states = replay(RING)
    assert [int(state.turn) for state in states] == [0, 1, 2, 3, 4, 5]
    assert GAME.state_to_string(states[2]) == "xo./.../... .../.../... b"
    assert bool(states[-1].terminated)
    assert not any(bool(state.done) for state in states[:-1])
    assert game_of(RING) == GAME


def test_a_summary_tells_of_the_boards_at_the_end_of_every_round(cloth: Record) -> None:
    game: Any = game_of(cloth)
    states: list[Any] = list(replay(cloth))
    closing = [now for before, now in pairwise(states) if now.done or now.round != before.round]
    rounds = cloth.summary["rounds"]
    assert all(len(values) == len(closing) for values in rounds.values())
    assert len(closing) >= 3
    for number, state in enumerate(closing):
        board, (a, b) = game.board(state)[0], game.territories(state)[0]
        assert rounds["units"][number] == [int((board == side).sum()) for side in (1, 2)]
        assert rounds["territory"][number] == [int(a.sum()), int(b.sum())]
        assert rounds["contested"][number] == int((a & b).sum())
        assert rounds["killed"][number] == int((board == 4).sum())


def test_a_record_without_its_summary_or_with_a_longer_one_replays(cloth: Record) -> None:
    rounds = cloth.summary["rounds"]
    more = {"mood": "good", "rounds": {**rounds, "mood": ["good"]}}
    for summary in ({}, {"rounds": {"units": rounds["units"]}}, {"mood": "good"}, more):
        assert int(replay(replace(cloth, summary=summary))[-1].turn) == cloth.result.turns
    assert int(replay(replace(RING, summary={"mood": "good"}))[-1].turn) == 5


@pytest.mark.parametrize("name", ["units", "killed"])
def test_a_tampered_summary_says_what_differs_first(cloth: Record, name: str) -> None:
    real = cloth.summary["rounds"][name]
    for change, place in (([*real[:1], 99, *real[2:]], 1), (real[:-1], len(real) - 1), ([*real, 7], len(real))):
        was, now = (values[place] if place < len(values) else None for values in (change, real))
        bad = replace(cloth, summary={"rounds": {**cloth.summary["rounds"], name: change}})
        message = f"the result differs: summary.rounds.{name}[{place}] recorded {was}, replayed {now}"
        with fails(ReplayError, cause=message):
            replay(bad)
        assert [(number, str(error)) for number, error in verify([cloth, bad])] == [(1, message)]
    with pytest.raises(ReplayError):
        replay(replace(cloth, summary={"rounds": 3}))


def _tampered(**changes: Any) -> Record:
    """The record with other fields; those of its result by their own names."""
    own = {name: changes.pop(name) for name in ("outcome", "scores", "turns", "truncated") if name in changes}
    return replace(RING, result=replace(RING.result, **own), **changes)


TAMPERED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"game": "taurus-v0"}, "got 'taurus-v0'"),
    ({"parameters": {"size": 99}}, "size: expected a whole number"),
    ({"moves": ("a1", "z9")}, "move 2, 'z9': cell: expected a cell"),
    ({"moves": ("a1", "a1", *RING.moves[2:])}, "move 2, 'a1': illegal action 0 of player white: cell a1 is taken"),
    ({"moves": ("a1 b1",)}, "move 1, 'a1 b1': names: expected 1 action in a turn, got 2"),
    ({"moves": (*RING.moves, "c1", "c2")}, "the game is over after move 5, but 2 moves follow"),
    ({"moves": RING.moves[:-1]}, "too few moves: after the last one, move 4, the game goes on"),
    ({"outcome": ("loss", "win")}, "outcome recorded loss/win, replayed win/loss"),
    ({"scores": (1.0, 1.0)}, "the result differs: scores recorded 1.0/1.0, replayed 1.0/0.0"),
    ({"turns": 6, "truncated": True}, "turns recorded 6, replayed 5; truncated recorded True, replayed False"),
    ({"position": "nowhere"}, "the starting position: position: expected a position of size 3"),
    ({"position": "x../.../... .../.../... b"}, "move 1, 'a1': illegal action 0 of player black: cell a1 is taken"),
)


def test_tampered_records_say_what_differs_alone_and_in_a_batch(games: tuple[Record, ...]) -> None:
    """Bad records stand between good ones, of several sizes; each has its own message, wherever it stands."""
    expected, mixed = dict[int, str](), list[Record]()
    bigger = match(cellgames.make("torus-v0", size=4), ANN, BOB, MatchOptions(games=2)).records
    for good, (changes, message) in zip(games, TAMPERED, strict=True):
        bad = _tampered(**changes)
        with pytest.raises(ReplayError) as caught:
            replay(bad)
        assert message in caught.value.cause
        expected[len(mixed)] = str(caught.value)
        mixed += [bad, good, bigger[len(mixed) % 2]]
    for batch in (1, 3, 512):
        assert {number: str(error) for number, error in verify(mixed, batch)} == expected


def test_pictures_within_a_step_take_a_fifth_of_its_time_and_the_last_one_rests(tmp_path: Path) -> None:
    one, two, three, four = (Picture(20, 20, colour, ()) for colour in ("#000000", "#ff0000", "#00ff00", "#0000ff"))
    steps = {"film": [[one], [two, three], [four]], "plain": [[one], [two]]}
    for name, shown in (("film", [300, 60, 60, 4 * 60 + 3000]), ("plain", [300, 3000])):
        save_film(steps[name], tmp_path / f"{name}.gif", frame_ms=300)
        with Image.open(tmp_path / f"{name}.gif") as image:
            assert image.format == "GIF"
            assert [frame.info["duration"] for frame in ImageSequence.Iterator(image)] == shown
    with pytest.raises(ReplayError):
        animate(_tampered(outcome=("loss", "win")), tmp_path / "game.gif")


TRIED = (Variation(-1, "a1"), Variation(0, "b1", "so it went"), Variation(0, "c1"), Variation(-1, "b2", "better"))


def test_a_record_keeps_its_variations() -> None:
    record = replace(game(0), variations=TRIED)
    data = json.loads(record.to_json())
    assert data["variations"] == [[-1, "a1"], [0, "b1", "so it went"], [0, "c1"], [-1, "b2", "better"]]
    assert Record.from_json(record.to_json()) == record
    assert list(data)[-1] == "variations"  # where the page looks for them
    assert "variations" not in json.loads(game(0).to_json())


def test_two_trees_become_one() -> None:
    later = (Variation(-1, "b2", "best"), Variation(0, "c3"))
    assert merged(TRIED, later) == (*TRIED[:3], Variation(-1, "b2", "best"), Variation(3, "c3"))
    assert merged(TRIED, ()) == merged((), TRIED) == TRIED


def test_a_long_line_is_no_deep_recursion() -> None:
    moves = [f"m{number}" for number in range(20_000)]
    root: MoveNode = move_tree(moves)
    assert [one.move for one in listed(root)] == moves


@pytest.mark.parametrize("variations", [{}, "a1", [[-1, "a1"]] * 20_001])
def test_other_variations_are_refused(variations: Any) -> None:
    with refused("variations"):
        Record.from_json(json.dumps({**game(0).to_data(), "variations": variations}))


MOVES = [["a1"], [0, "a1"], [-2, "a1"], [True, "a1"], [-1, ""], [-1, "a1", 3], [-1, "a1", "x" * 2001], [-1, "x" * 101]]


@pytest.mark.parametrize("move", MOVES)
def test_other_moves_of_variations_are_refused(move: Any) -> None:
    with refused("variations[0]"):
        Record.from_json(json.dumps({**game(0).to_data(), "variations": [move]}))
