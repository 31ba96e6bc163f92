"""Seasons of bots: any game for two, in turns or all at once, records that replay, random openings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_bots import Last
from arena_runs import content
from season_coin import made_up
from toy_games import Race, Sealed, TwoPartRace

import cellgames
from cellgames.agents import play
from cellgames.agents.base import AnyAgent
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import BotUmpire, Season, SeasonOptions, play_season, read_records, verify
from cellgames.arena.play.match import lengths, openings
from cellgames.envs.core import Game, seeds
from cellgames.envs.toroidal_cup.game import ToroidalCup

SMALL, TINY = cellgames.make("torus-small-v0"), cellgames.make("torus-v0", size=3)
SPECS = ("random", "arena_bots:First", "arena_bots:Last")


def run(out: Path, game: Game = TINY, specs: tuple[str, ...] = SPECS, **options: Any) -> Season:
    teams = made_up(8, *specs)
    loaded: dict[str, AnyAgent] = {"last": Last("last"), "chance": RandomAgent("chance")}
    return play_season(teams, BotUmpire(game, teams, agents=loaded, **options), SeasonOptions(days=3, seed=4), out=out)


def test_a_season_of_torus_has_records_that_replay(tmp_path: Path) -> None:
    done = run(tmp_path / "run")
    records, torn = read_records(done.out / "games.jsonl")
    assert (torn, len(records)) == ("", done.games)
    assert list(verify(records)) == []
    assert len({record.seed for record in records}) == len(records)  # a fresh one a game
    agent = {team.name: team.agent for team in done.teams}
    lines = [json.loads(line) for line in (done.out / "games.jsonl").read_text().splitlines()]
    for record, line in zip(records, lines, strict=True):
        assert record.agents == tuple(agent[team] for team in line["season"]["teams"])
        assert (record.game, record.parameters, record.opening) == ("torus-v0", {"size": 3}, 2)
    assert any(record.agents[0] == record.agents[1] for record in records)  # several teams share a bot
    # The first seat is the schedule's, and the winner the game's.
    results = [result for number in done.bracket.rounds for series in number for result in series.results]
    for result, line in zip(results[:1], lines[-len(results) :], strict=False):
        assert list(result.teams) == line["season"]["teams"]
        assert line["result"]["outcome"][result.teams.index(str(result.winner))] == "win"
    settings = json.loads((done.out / "season.json").read_text())
    assert (settings["game"], settings["parameters"], settings["opening_plies"]) == ("torus-v0", {"size": 3}, 2)
    assert [team["agent"] for team in settings["teams"]] == [agent[team.name] for team in done.teams]


def test_a_bot_that_fails_is_named_and_the_season_goes_on(tmp_path: Path) -> None:
    specs = ("random", "arena_bots:Broken")
    done = run(tmp_path / "run", specs=specs)
    records = read_records(done.out / "games.jsonl").records
    failed = ["arena_bots:Broken" in record.agents for record in records]
    assert [record.result.forfeit is not None for record in records] == failed
    assert any(failed)
    assert not all(failed)
    page = (done.out / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert f"arena_bots:Broken forfeited {sum(failed)} games: ZeroDivisionError: the bot's own fault" in page
    before = content(done.out)
    assert content(run(tmp_path / "run", specs=specs).out) == before  # also of a season that is only read again


def test_games_that_both_lose_are_replayed_and_chance_is_the_games_own(tmp_path: Path) -> None:
    """`Race` has dice, draws and endings that both lose; what is legal in its openings depends on the seed."""
    done = run(tmp_path / "run", Race(goal=5, limit=6), ("chance", "last"), opening_plies=3)
    lines = [json.loads(line) for line in (done.out / "games.jsonl").read_text().splitlines()]
    ends = Counter(tuple(line["result"]["outcome"]) for line in lines)
    assert ends["loss", "loss"] > 0
    attempts: dict[tuple[str, int], list[bool]] = {}
    for line in lines:
        key = (line["season"]["stage"], line["season"]["game"])
        assert line["season"]["attempt"] == len(attempts.setdefault(key, []))
        attempts[key].append("win" in line["result"]["outcome"])
    assert all(not any(won[:-1]) and (won[-1] or len(won) == 6) for won in attempts.values())
    assert max(map(len, attempts.values())) > 1


@pytest.mark.parametrize("game", [SMALL, Race(), TwoPartRace(), Sealed()], ids=lambda game: str(game.id))
def test_openings_are_legal_in_their_own_games_and_leave_them_unfinished(game: Game) -> None:
    env_ids = seeds(3, 64)
    chance = torch.Generator().manual_seed(0)
    drawn = openings(game, env_ids, 5, chance)
    assert drawn.shape == (64, 5, *game.info.action_shape)
    long, seats = torch.tensor(lengths(drawn)), torch.zeros(64, game.info.num_players, dtype=torch.int64)
    played = play(game, [RandomAgent()], seats, env_ids, [chance], opening=drawn)  # which refuses what is illegal
    assert (played.turns > long).all()
    assert bool((long == 5).all()) == (game is SMALL)
    assert len(drawn[long > 0].flatten(1).unique(dim=0)) > 10


def test_an_opening_of_the_cup_stops_without_playing_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of one to three shapes; Life would follow the last of them."""
    lives: list[int] = []
    monkeypatch.setattr(ToroidalCup, "life", lambda self, starts, **options: lives.append(len(starts)))
    for pattern, shapes in (("randys", 1), ("randys", 3), ("crabdonuts", None), ("random", 2)):
        game = ToroidalCup(pattern=pattern, shapes=shapes)
        drawn = openings(game, seeds(0, 4), 5, torch.Generator().manual_seed(0))
        most = shapes or game.info.max_turns
        assert lengths(drawn) == [min(most - 1, 5)] * 4 or (pattern == "random" and set(lengths(drawn)) <= {0, 1})
    assert lives == []
