"""Series of Grid Adaptation matches: garnets, who leaves, gifts, and that a stopped one ends the same."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import cellgames
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.arena.play.match_options import SeriesOptions
from cellgames.arena.records.record_lines import read_records
from cellgames.arena.records.replays import replay, verify
from cellgames.arena.records.store.store import Store
from cellgames.arena.series.series import SeriesRun, play_series
from cellgames.arena.series.series_rules import (
    GIVERS,
    Contestant,
    Gift,
    MatchEnd,
    after_match,
    final_order,
)
from cellgames.cli.main import main
from cellgames.envs.grid_adaptation.game import GridAdaptation

MATCH = GridAdaptation(size=7, players=4, rounds=2, flip_rounds=(), starting_garnets=3)


def run(out: Path, agents: Any = ("random", "greedy"), game: GridAdaptation = MATCH, **options: Any) -> SeriesRun:
    return play_series(game, list(agents), SeriesOptions(**options), out=out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SeriesRun:
    """Three series of three matches."""
    return run(tmp_path_factory.mktemp("series") / "whole", series=3, gifts="random")


def ended(points: tuple[float, ...], tokens: tuple[int, ...], leaving: int = 3) -> MatchEnd:
    names = ("a", "b", "c", "d")[: len(points)]
    return MatchEnd(2, names, (3,) * len(points), points, tokens, tuple(range(5, 5 + len(points))), (leaving,))


PLAYERS = {name: Contestant(name, 3) for name in "abcd"}


def test_who_wins_two_tokens_gives_one_and_it_is_not_won_by_the_other() -> None:
    now, end = after_match(PLAYERS, ended((9, 7, 8, 1), (2, 0, 0, 0)), GIVERS["second"], random.Random(0))
    assert end.gifts == (Gift("a", "c"),)
    assert (now["a"].won, now["a"].tokens) == (2, 1)
    assert (now["c"].won, now["c"].received, now["c"].tokens) == (0, 1, 1)
    assert [now[name].garnets for name in "abcd"] == [5, 6, 7, 8]
    assert [now[name].left for name in "abcd"] == [0, 0, 0, 2]
    for tokens in ((1, 1, 0, 0), (0, 0, 0, 0)):
        assert after_match(PLAYERS, ended((9, 9, 8, 1), tokens), GIVERS["second"], random.Random(0))[1].gifts == ()
    # Not even the best other player gets one who leaves.
    assert after_match(PLAYERS, ended((9, 7), (2, 0), 1), GIVERS["second"], random.Random(0))[1].gifts == ()


def test_random_gifts_are_of_tokens_that_were_won() -> None:
    end, seen = ended((9, 7, 8, 1), (2, 0, 0, 0)), set()
    for seed in range(60):
        now, after = after_match(PLAYERS, end, GIVERS["random"], random.Random(seed))
        gifts = after.gifts
        assert {gift.giver for gift in gifts} <= {"a"}
        assert sum(one.tokens for one in now.values()) == sum(one.won for one in now.values()) == 2
        seen |= {(len(gifts), *sorted({gift.receiver for gift in gifts}))}
    assert seen == {(0,), (1, "b"), (1, "c"), (2, "b"), (2, "c"), (2, "b", "c")}


def test_the_final_order() -> None:
    players = {
        one.name: one
        for one in (
            Contestant("gone early", 99, won=9, points=999, left=1),
            Contestant("gone late", 0, left=3),
            Contestant("stays, fewer Tokens", 99, won=1, received=5),
            Contestant("stays", 0, won=2, given=2),
            Contestant("stays, more garnets", 1, won=2),
            Contestant("stays, more points", 1, won=2, points=1),
        )
    }
    order = ["stays, more points", "stays, more garnets", "stays", "stays, fewer Tokens", "gone late", "gone early"]
    assert [one.name for one in final_order(players, random.Random(0))] == order
    level = {name: Contestant(name, 0) for name in "ab"}
    assert {final_order(level, random.Random(seed))[0].name for seed in range(20)} == {"a", "b"}


def test_a_series_follows_from_its_matches(whole: SeriesRun) -> None:
    """Every number is counted anew from the records."""
    records = read_records(whole.out / "games.jsonl").records
    lines = [json.loads(line)["season"] for line in (whole.out / "games.jsonl").read_text().splitlines()]
    assert [(line["stage"], line["game"]) for line in lines] == [
        (f"match {match}", number) for match in (1, 2, 3) for number in (1, 2, 3)
    ]
    data = json.loads((whole.out / "standings.json").read_text())["series"]
    for series, told in zip(whole.series, data, strict=True):
        held = dict.fromkeys(whole.players, 3)
        staying, won = set(whole.players), dict.fromkeys(whole.players, 0)
        for match in (1, 2, 3):
            place = 3 * (match - 1) + series.number - 1
            record, seats = records[place], lines[place]["teams"]
            assert set(seats) == staying
            assert record.parameters["players"] == len(seats) == 5 - match
            assert record.agents == tuple(whole.players[name] for name in seats)
            states: list[Any] = replay(record)
            before, after = states[0], states[-1]
            assert before.garnets[0].tolist() == [held[name] for name in seats]
            held.update(zip(seats, after.garnets[0].tolist(), strict=True))
            assert told["matches"][match - 1]["garnets after"] == after.garnets[0].tolist()
            for name, tokens in zip(seats, after.tokens[0].tolist(), strict=True):
                won[name] += tokens
            staying.remove(seats[int(after.candidate)])
        (winner,) = staying
        assert series.order[0].name == winner == told["order"][0]["name"]
        assert {one.name: (one.won, one.garnets) for one in series.order} == {n: (won[n], held[n]) for n in won}
        assert [one.left for one in series.order] == [0, 3, 2, 1]
    assert list(verify(records)) == []
    assert any(match.gifts for series in whole.series for match in series.matches)
    assert any(one.received for series in whole.series for one in series.order)
    seatings = [line["teams"] for line in lines if line["stage"] == "match 1"]
    assert len(set(map(tuple, seatings))) > 1


class Fails(cellgames.agents.BaseAgent):
    """Gives no action where a match has three players."""

    def act(self, observation: Any, action_mask: Any, env_ids: Any, generator: Any) -> Any:
        raise ValueError("not today")


def test_who_forfeits_leaves_and_nobody_wins_a_token(tmp_path: Path) -> None:
    done = play_series(
        MATCH, {"fails": Fails("fails"), "random": "random"}, SeriesOptions(gifts="second"), out=tmp_path
    )
    (series,) = done.series
    first = series.matches[0]
    assert {first.players[seat] for seat in first.leaving} == {"fails 1", "fails 2"}  # in the same turn
    assert set(first.tokens) == set(first.points) == {0}
    assert first.garnets == first.held == (3,) * 4
    assert [len(match.players) for match in series.matches] == [4, 2]
    assert {one.name for one in series.order[:2]} == {"random 1", "random 2"}
    assert "not today" in (tmp_path / "forfeits.log").read_text()
    assert any("fails" in note and "not today" in note for note in done.notes)
    assert "## Clocks and forfeits" in (tmp_path / "report.md").read_text()


class Gives(RandomAgent):
    """Gives a Token to whoever sits first of the others who stay; more than it has when it is greedy."""

    tokens = 1

    def give_tokens(self, end: MatchEnd, player: str, chance: random.Random) -> dict[str, int]:
        others = [name for name in end.staying if name != player]
        return {others[0]: self.tokens} if others and end.contestants[player].tokens else {}


def test_agents_decide_about_gifts(tmp_path: Path) -> None:
    agents: dict[str, Any] = {"gives": Gives("gives"), "random": "random"}
    options = SeriesOptions(gifts="agents", series=4)
    done = play_series(MATCH, agents, options, out=tmp_path / "run")
    gifts = [gift for series in done.series for match in series.matches for gift in match.gifts]
    assert {gift.tokens for gift in gifts} == {1}
    assert {done.players[gift.giver] for gift in gifts} == {"gives"}
    again = play_series(MATCH, agents, options, out=tmp_path / "run")
    assert (again.played, again.series) == (0, done.series)
    said: list[str] = []
    agents["gives"] = greedy = Gives("gives")
    greedy.tokens = 99
    done = play_series(MATCH, agents, options, out=tmp_path / "greedy", warn=said.append)
    assert not any(match.gifts for match in done.series[0].matches)
    assert re.match(
        r"series 1, match \d: no gifts, since InputError: .*expected a gift of Tokens that a player holds", said[0]
    )


def test_agents_that_search_play_on_copies_of_the_match(tmp_path: Path) -> None:
    done = run(tmp_path / "run", ["rollout:1", "mcts:1", "greedy"])
    records = read_records(done.out / "games.jsonl").records
    assert [record.result.forfeit for record in records] == [None] * 3
    assert list(verify(records)) == []


SMALL = ["--param", "size=5", "--param", "rounds=1", "--param", "players=3", "--param", "flip_rounds=[]"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["series", "grid-adaptation-v0", *SMALL, "--agents", "random", "--out", "run", "--store", "games.db"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert re.match(r"Match 1, 3 players: Tokens to .*; random \d leaves\nMatch 2, 2 players: ", out)
    assert re.search(r"^Winner: random \d$", out, re.MULTILINE)
    assert max(map(len, out.splitlines()[:8])) < 120
    assert "series: 2 of 2 matches" in err
    with Store("games.db", create=False) as store:
        assert len(store) == 2
    assert main(["replay", "run", "--record", "2", "--out", "game.html"]) == 0
    capsys.readouterr()
    many = ["series", "grid-adaptation-v0", *SMALL, "--agents", "random", "one=random", "--series", "4", "--quiet"]
    assert main(many) == 0
    out, err = capsys.readouterr()
    assert re.match(r"agent +players +mean place +95 % +series won +Tokens won +garnets\n", out)
    assert err == ""
    folder = tmp_path / "results/series"
    (made,) = folder.iterdir()
    assert main(["leaderboard", "--add", str(made), "--store", "other.db"]) == 0
    assert "8 new games" in capsys.readouterr().out
    assert "## Agents" in (made / "report.md").read_text()
    assert main([*many, "--chunk", "2"]) == 0, "another run, in a folder of its own"
    assert len(list(folder.iterdir())) == 2
    for agent in ("torus-v0 --agents random", "grid-adaptation-v0 --agents nobody"):
        assert main(["series", *agent.split(), "--quiet", "--out", "new"]) == 2
        assert not Path("new").exists()
    errors = capsys.readouterr().err
    assert "expected Grid Adaptation, whose matches name who leaves, got torus-v0" in errors
    assert "got 'nobody'" in errors
    with pytest.raises(ValueError, match="gifts: expected one of none, second, random, agents, got 'all'"):
        SeriesOptions(gifts="all")  # type: ignore[arg-type]  # the mistake to catch
