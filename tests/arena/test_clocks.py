"""Games with clocks: who runs out of time loses, and the time of each move is kept."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from command import Command
from refusals import refused
from store_games import game
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, load, play
from cellgames.agents.time_control import Clocks, TimeControl
from cellgames.arena import MatchOptions, Record, match
from cellgames.arena.report.rating_tables import forfeit_notes, rating_columns
from cellgames.arena.stats.tables import make_tables
from cellgames.envs.core import seeds
from cellgames.utils.report.model import people_table

GAME = cellgames.make("torus-v0", size=2)


class Sleeper(BaseAgent):
    """Plays the first legal action after some time, which it takes in some environments only; others take none."""

    now = 0.0

    def __init__(self, seconds: float, env_id: int | None = None) -> None:
        super().__init__("sleeper")
        self.seconds, self.env_id = seconds, env_id
        self.asked: list[int] = []

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.asked.append(len(env_ids))
        if self.env_id is None or self.env_id in env_ids.tolist():
            Sleeper.now += self.seconds
        return action_mask.int().argmax(1)


@pytest.fixture
def no_time_but_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a `Sleeper` takes time, however busy the machine is."""
    monkeypatch.setattr("cellgames.agents.selection.perf_counter", lambda: Sleeper.now)


@pytest.mark.parametrize(
    ("clock", "move", "expected"),
    [
        ("60", None, TimeControl(60.0)),
        ("60+0.5", None, TimeControl(60.0, 0.5)),
        ("0.5+0", 2.0, TimeControl(0.5, 0.0, 2.0)),
        (None, 1.5, TimeControl(math.inf, 0.0, 1.5)),
        (None, None, None),
    ],
)
def test_clocks_are_read(clock: str | None, move: float | None, expected: TimeControl | None) -> None:
    assert TimeControl.parse(clock, move) == expected


@pytest.mark.parametrize("clock", ["", "0", "1:30", "60+", "+1", "-5", "1e9", "nan", "60 + 1", "9999999"])
def test_other_clocks_are_refused(clock: str) -> None:
    with refused("clock"):
        MatchOptions(clock=clock)


def test_time_is_added_and_taken() -> None:
    clocks = Clocks(TimeControl(10.0, 1.0))
    assert clocks.charge(0, 1, 4.0) == ""
    assert clocks.left(0, 1) == 7.0
    assert clocks.left(0, 0) == clocks.left(1, 1) == 10.0
    assert clocks.face(0, 1) == {"left": 7.0, "increment": 1.0}
    assert clocks.charge(0, 1, 7.5) == "ran out of time: thinking took 7.50 s, and 7.00 s were left"
    assert clocks.times(0, 2) == ((), (4.0, 7.5))
    limited = Clocks(TimeControl(move=2.0))
    assert limited.face(0, 0) == {"move": 2.0}
    assert limited.charge(0, 0, 2.5) == "ran out of time: thinking took 2.50 s, and 2 s a move are allowed"


@pytest.mark.usefixtures("no_time_but_sleep")
def test_who_runs_out_of_time_loses_that_game_only() -> None:
    agent = Sleeper(0.3, env_id=1)
    seats, chances = torch.tensor([[0, 1]] * 3), [torch.Generator().manual_seed(number) for number in (1, 2)]
    played = play(GAME, [agent, load("random")], seats, seeds(0, 3), chances, forfeits=TimeControl(move=0.2))
    assert list(played.failures) == [1]
    assert played.failures[1].seats == (0,)
    assert played.failures[1].reason.startswith("ran out of time: thinking took 0.30 s")
    assert set(agent.asked) == {1}, "each game is timed by itself"
    assert played.clocks is not None
    assert len(played.clocks.times(0, 2)[0]) == (int(played.turns[0]) + 1) // 2


@pytest.mark.usefixtures("no_time_but_sleep")
def test_in_simultaneous_games_each_seat_has_a_clock() -> None:
    cup = cellgames.make("toroidal-cup-small-v0", shapes=1)
    seats, chances = torch.tensor([[0, 1], [1, 0]]), [torch.Generator().manual_seed(number) for number in (1, 2)]
    agents = [Sleeper(0.3), load("random")]
    played = play(cup, agents, seats, seeds(0, 2), chances, forfeits=TimeControl(0.2))
    assert {env_id: failure.seats for env_id, failure in played.failures.items()} == {0: (0,), 1: (1,)}


@pytest.mark.usefixtures("no_time_but_sleep")
def test_records_keep_the_time_and_tables_show_it() -> None:
    result = match(GAME, Sleeper(0.02), "random", MatchOptions(games=2, clock="5+0.1"))
    for record in result.records:
        again = Record.from_json(record.to_json())
        assert again == record
        assert sum(map(len, record.seconds)) == record.result.turns - record.opening
    thinking = make_tables(result.records, resamples=0).thinking
    assert thinking["sleeper"].median == thinking["sleeper"].worst == pytest.approx(0.02)
    assert thinking["random"].worst == 0
    assert "seconds" not in match(GAME, "greedy", "random", MatchOptions(games=2)).records[0].to_data()


@pytest.mark.usefixtures("no_time_but_sleep")
def test_tables_tell_who_lost_on_time() -> None:
    options = MatchOptions(games=4, move_time=0.1)
    tables = make_tables(match(GAME, Sleeper(0.2), "random", options).records, resamples=0)
    assert tables.forfeits["sleeper"].on_time == 4
    table = people_table(rating_columns(tables), tables.standings)
    assert table.columns[-1] == "lost on time"
    assert [row[-1] for row in table.rows] == [0, 4]
    assert forfeit_notes(tables.forfeits)[0].startswith("sleeper lost 4 games on time: thinking took ")


@pytest.mark.parametrize("seconds", ['"x"', "[1]", '[["a"], []]', "[[-1.0], []]", "[[true], []]"])
def test_other_times_are_no_record(seconds: str) -> None:
    with refused("seconds"):
        Record.from_json(game(0).to_json()[:-1] + f',"seconds":{seconds}}}')


def test_a_tournament_with_clocks(tmp_path: Path, command: Command) -> None:
    words = "round-robin torus-v0 --size 2 --games 2 --no-store --no-gif --agents greedy random --clock 10+0.1"
    said = command(f"{words} --out {tmp_path} --move-time 5")
    assert "median s" in said
    assert "the same command may give other games" in said
    settings = json.loads((tmp_path / "run.json").read_text())
    assert (settings["clock"], settings["move_time"]) == ("10+0.1", 5.0)
    head, first, _ = (tmp_path / "ratings.csv").read_text().splitlines()
    assert head.endswith("median_seconds,worst_seconds,lost_on_time")
    assert float(first.split(",")[-2]) > 0
    assert first.endswith(",0")
    data = json.loads((tmp_path / "ratings.json").read_text())
    assert {line["lost_on_time"] for line in data["agents"]} == {0}
    command(["replay", tmp_path])
    assert "move_time" in command.both(f"{words} --out {tmp_path} --move-time 4", code=2)[1]


def test_a_season_with_clocks(tmp_path: Path, command: Command) -> None:
    words = "season torus-v0 --size 2 --teams 8 --days 1 --no-store --quiet --agents greedy random --clock 10"
    command(f"{words} --out {tmp_path / 'season'}")
    lines = (tmp_path / "season" / "games.jsonl").read_text().splitlines()
    assert all(json.loads(line)["seconds"] for line in lines)
    assert "10 s a game" in (tmp_path / "season" / "season.json").read_text()
