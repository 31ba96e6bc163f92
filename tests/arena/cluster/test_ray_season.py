"""Seasons whose days are played by workers: those that pretend, and those of a Ray cluster."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from arena_bots import Last
from arena_runs import content, split_options
from season_coin import Coin, made_up

import cellgames
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.arena.play.tournament import Batch, BatchWork
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store.store import Store
from cellgames.arena.season.bots import BotUmpire
from cellgames.arena.season.cup import CupUmpire
from cellgames.arena.season.games import Fixture, UmpirePlayer
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.season import Season, play_season
from cellgames.arena.season.teams import Team, assign_agents, assign_divisions, generate_names
from cellgames.cluster.connection import ClusterError
from cellgames.cluster.workers import RayWorkers, Work, Workers

TEAMS = made_up(9)
TINY = cellgames.make("torus-v0", size=3)

Piece: TypeAlias = Batch[Fixture]


class PortableCoin(Coin):
    """Coins that workers may throw, too."""

    def packed(self) -> Callable[[], Coin]:
        return partial(PortableCoin, self.level, self.chunk)


class Pretend:
    """Workers of this process that get and give everything pickled, as many pieces at a time as may be outstanding.

    order:   in which the pieces of a time are done.
    wrong:   a stage; the piece that has it is not done but fails.
    given:   the pieces.
    working: True while a piece is done.
    """

    def __init__(self, count: int = 2, order: Callable[[list[Piece]], Iterable[Piece]] = list, wrong: str = "") -> None:
        self.count, self.order, self.wrong = count, order, wrong
        self.given: list[str] = []
        self.working = False

    def completed(self, work: Work[Any, Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        left, failed = iter(items), False
        while not failed and (pieces := list(islice(left, 2 + self.count))):
            self.given += map(str, pieces)
            for item in self.order(pieces):
                copied, piece = pickle.loads(pickle.dumps((work, item)))
                if self.wrong in {fixture.stage for fixture in item.games}:
                    failed = True
                    continue
                self.working = True
                result = pickle.loads(pickle.dumps(copied.start()(piece)))
                self.working = False
                yield item, result
        if failed:
            raise ClusterError(f"{self.wrong}: no")


def backwards(pieces: list[Piece]) -> Iterable[Piece]:
    return reversed(pieces)


def run(out: Path, workers: Workers | None = None, level: int = 30, **options: Any) -> Season:
    """11 days of 4 games, a batch each."""
    asked, others = split_options(SeasonOptions, {"days": 11, **options})
    return play_season(TEAMS, PortableCoin(level, chunk=4), asked, out=out, workers=workers, **others)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    files = content(run(tmp_path_factory.mktemp("seasons") / "whole").out)
    lines = [json.loads(line)["season"] for line in files["games.jsonl"].splitlines()]
    assert sum(line["attempt"] > 0 for line in lines if line["stage"].startswith("day")) > 10
    return files


@pytest.mark.parametrize(("order", "count"), [(list, 1), (backwards, 3)])
def test_workers_change_no_byte(
    tmp_path: Path, whole: dict[str, bytes], order: Callable[[list[Piece]], Iterable[Piece]], count: int
) -> None:
    workers = Pretend(count, order)
    done = run(tmp_path / "run", workers)
    assert content(done.out) == whole
    assert workers.given == [f"days {day} to {day} of 11" for day in range(1, 12)]  # each batch once, and no playoffs
    assert done.played == done.games == len(whole["games.jsonl"].splitlines())


@pytest.mark.parametrize("day", [4, 11])
def test_a_piece_that_fails_leaves_all_others(tmp_path: Path, whole: dict[str, bytes], day: int) -> None:
    workers = Pretend(2, backwards, f"day {day}")
    with pytest.raises(ClusterError, match=f"day {day}: no"):
        run(tmp_path / "run", workers)
    path = tmp_path / "run" / "games.jsonl"
    kept = path.read_bytes().splitlines() if path.exists() else []
    assert {*kept} <= {*whole["games.jsonl"].splitlines()}
    assert day not in map(_day, kept)
    done = run(tmp_path / "run", Pretend(2))
    assert content(done.out) == whole
    assert done.played == done.games - len(kept)


def _day(line: bytes) -> int:
    """Of a game; a large number in the playoffs."""
    stage = json.loads(line)["season"]["stage"]
    return int(stage.removeprefix("day ")) if stage.startswith("day ") else 1000


BOTS = assign_divisions(
    assign_agents([Team(name) for name in generate_names(8, 0)], ["random", "arena_bots:Broken", "mine"])
)


def run_bots(out: Path, workers: Workers | None = None, **options: Any) -> Season:
    """Days of 4, 8 and 8 games side by side, with an agent that fails and one that is an object of another name."""
    umpire = BotUmpire(TINY, BOTS, agents={"mine": Last("not mine")}, chunk=8)
    store = out.with_name(f"{out.name}.sqlite")
    asked, others = split_options(SeasonOptions, {"days": 5, "seed": 4, **options})
    return play_season(BOTS, umpire, asked, out=out, store=store, workers=workers, **others)


def cup_games(play: Callable[[Any, Batch[Fixture]], Any]) -> list[str]:
    """The lines of a batch of the Cup and its replays; games are cut off so early that many have no winner."""
    umpire = CupUmpire(["randys", "donutmultums"], max_generations=10)
    fixtures = tuple(Fixture("day 1", number, ("a", "b")) for number in range(1, 7))
    work = BatchWork(UmpirePlayer(umpire, 3).packed())
    return [game.to_json() for game in play(work, Batch("day 1", fixtures, replays=5))]


def stored(path: Path) -> tuple[list[Record], list[Any]]:
    with Store(path) as store:
        games = sorted(store.games(), key=lambda record: record.to_json())  # they come as batches end
        return games, [setting.agents for setting in store.settings()]


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_bots(tmp_path_factory.mktemp("seasons") / "bots").out


def check_same(out: Path, bots: Path) -> None:
    """Season and store are those of one process."""
    assert content(out) == content(bots)
    assert stored(out.with_name(f"{out.name}.sqlite")) == stored(bots.with_name("bots.sqlite"))


def test_bots_are_made_again_by_their_specs_or_travel_themselves(tmp_path: Path, bots: Path) -> None:
    check_same(run_bots(tmp_path / "run", Pretend(1, backwards)).out, bots)
    records = stored(bots.with_name("bots.sqlite"))[0]
    assert {"arena_bots:Broken", "mine"} < {name for record in records for name in record.agents}
    assert any(record.result.forfeit for record in records)


def test_the_cup_is_the_same_with_its_replays() -> None:
    lines = cup_games(lambda work, batch: work.start()(batch))
    assert cup_games(lambda work, batch: next(Pretend().completed(work, [batch]))[1]) == lines
    assert {json.loads(line)["season"]["attempt"] for line in lines} >= {0, 1, 2}


def test_bots_that_cannot_travel_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    stuck = RandomAgent("mine")
    stuck.lock = threading.Lock()  # type: ignore[attr-defined]  # what cannot be pickled
    umpire = BotUmpire(TINY, BOTS, agents={"mine": stuck})
    with pytest.raises(ValueError, match=r"'mine' cannot be sent to workers .* give its spec"):
        play_season(BOTS, umpire, out=tmp_path / "run", workers=Pretend())
    assert not list(tmp_path.iterdir())
    umpire = BotUmpire(TINY, BOTS, agents={"mine": Last("random")})  # its own name does not matter
    assert play_season(BOTS, umpire, out=tmp_path / "run", workers=Pretend()).games


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayWorkers]:
    pytest.importorskip("ray")
    with RayWorkers(count=2) as workers:
        yield workers  # connects when it gets the first batch


@pytest.mark.slow
@pytest.mark.ray
def test_a_cluster_changes_no_byte(tmp_path: Path, bots: Path, cluster: RayWorkers) -> None:
    check_same(run_bots(tmp_path / "run", cluster).out, bots)
    here = cup_games(lambda work, batch: work.start()(batch))
    assert cup_games(lambda work, batch: next(cluster.completed(work, [batch]))[1]) == here
