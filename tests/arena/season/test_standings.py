"""The order of teams, and the bracket: who meets whom, who has the first seat, when a series is over."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from paths import CUP_DATA

from cellgames.arena import Bracket, GameResult, bracket, standings
from cellgames.arena.season.games import make_die
from cellgames.arena.season.standings import FIRST_SEATS, ROUNDS, SIDES, Line, seed_teams

FILE = CUP_DATA / "season_tables.json"


PUBLISHED = json.loads(FILE.read_text())["seasons"] if FILE.exists() else []
"""Seasons of the Toroidal Cup (golly-splorts, MIT)."""


def game(one: str, two: str, ours: float, theirs: float) -> GameResult:
    winner = one if ours > theirs else two if theirs > ours else None
    return GameResult((one, two), (ours, theirs), winner)


def no_die(team: str, number: int) -> int:
    raise AssertionError(f"expected no roll, got one of {team}")


def loaded(**rolls: Sequence[int]) -> Callable[[str, int], int]:
    """A die that gives each team its own rolls."""
    return lambda team, number: rolls[team][number]


def test_wins_come_first() -> None:
    table = standings("abc", [game("a", "b", 2, 1), game("a", "c", 2, 1), game("b", "c", 1, 900)], no_die)
    assert [(line.rank, line.team, line.games, line.wins, line.losses, line.points) for line in table] == [
        (1, "a", 2, 2, 0, 4),
        (2, "c", 2, 1, 1, 901),
        (3, "b", 2, 0, 2, 2),
    ]


def test_half_a_win_for_a_game_without_a_winner() -> None:
    results = [game("a", "b", 5, 5), game("c", "d", 3, 2), game("a", "c", 4, 4)]
    table = standings("abcd", results, no_die)
    assert [(line.team, line.wins, line.losses) for line in table] == [
        ("c", 1.5, 0.5),
        ("a", 1, 1),
        ("b", 0.5, 0.5),
        ("d", 0, 1),
    ]


def test_level_in_both_a_die_decides_and_its_roll_is_kept() -> None:
    results = [game("a", "b", 3, 2), game("b", "a", 3, 2), game("c", "d", 9, 0)]
    table = standings("abcd", results, loaded(a=[17], b=[90]))
    assert [(line.team, line.rolls) for line in table] == [("c", ()), ("b", (90,)), ("a", (17,)), ("d", ())]


def test_level_dice_are_rolled_again_by_those_who_are_level() -> None:
    """a and d leave after the first roll, b and e after the second, and c, f roll four times."""
    rolls = {"a": [100], "b": [40, 99], "c": [40, 50, 7, 1], "d": [3], "e": [40, 2], "f": [40, 50, 7, 2]}
    table = standings("abcdef", [], loaded(**rolls))
    assert [line.team for line in table] == [*"abfced"]
    assert {line.team: list(line.rolls) for line in table} == rolls


def test_neither_the_order_of_results_nor_of_teams_matters() -> None:
    rng, teams = random.Random(0), list("abcdefgh")
    results = []
    for _ in range(60):
        one, two = rng.sample(teams, 2)
        results.append(game(one, two, 0.1 * rng.randrange(3), 0.2 * rng.randrange(2)))
    die = make_die(3, "standings")
    before = standings(teams, results, die)
    for _ in range(20):
        rng.shuffle(results)
        rng.shuffle(teams)
        assert standings(teams, results, die) == before


def test_a_die_has_a_hundred_sides_and_follows_from_the_seed() -> None:
    die = make_die(1, "standings")
    rolls = [die("a", number) for number in range(2000)]
    assert set(rolls) == set(range(1, SIDES + 1))
    assert rolls == [make_die(1, "standings")("a", number) for number in range(2000)]
    for other in (make_die(2, "standings"), make_die(1, "series")):
        assert rolls[:50] != [other("a", number) for number in range(50)]
    assert rolls[:50] != [die("b", number) for number in range(50)]


def test_winners_of_divisions_and_the_best_others_by_their_standing() -> None:
    leagues = {"L": {"x": list("abcde"), "y": list("fghij")}, "M": {"x": list("klm"), "y": ["n"]}}
    ranks = [Line(rank, team, 0, 0, 0) for rank, team in enumerate("kabcdlfeghijmn", 1)]
    # f wins its division though five of the other one stand higher; n wins its own as the last of all.
    assert seed_teams(ranks, leagues) == {"L": tuple("abcf"), "M": tuple("klmn")}


SEEDS = {"L": ("a", "b", "c", "d"), "M": ("p", "q", "r", "s")}
ORDER = "pabcqrsd"


def won(winner: str, loser: str) -> GameResult:
    return game(winner, loser, 1, 0)


def play(better: str, order: Sequence[str] = ORDER) -> list[Bracket]:
    """All states of playoffs in which the team that comes first in `better` wins every game."""
    results: dict[str, list[GameResult]] = {}
    states = [bracket(SEEDS, order, results)]
    while states[-1].champion is None:
        for series in states[-1].pending:
            results.setdefault(series.key, []).append(won(*sorted(series.teams, key=better.index)))
        states.append(bracket(SEEDS, order, results))
    return states


def test_the_rounds_and_who_meets_whom() -> None:
    states = play("dabcpqrs")
    first = states[0].rounds
    assert [(series.key, series.teams, series.best_of) for series in first[0]] == [
        ("L, League Division Series, 1 v 4", ("a", "d"), 5),
        ("L, League Division Series, 2 v 3", ("b", "c"), 5),
        ("M, League Division Series, 1 v 4", ("p", "s"), 5),
        ("M, League Division Series, 2 v 3", ("q", "r"), 5),
    ]
    assert len(first) == 1
    last = states[-1]
    assert [(series.key, series.teams, series.winner) for series in last.rounds[1]] == [
        ("L, League Championship Series", ("b", "d"), "d"),
        ("M, League Championship Series", ("p", "q"), "p"),
    ]
    (final,) = last.rounds[2]
    assert (final.key, final.best_of, final.teams, final.wins) == ("Toroidal Cup Series", 7, ("p", "d"), (0, 4))
    assert last.champion == "d"
    assert [series.round for number in last.rounds for series in number] == [ROUNDS[i] for i in (0, 0, 0, 0, 1, 1, 2)]
    assert len(states) == 1 + 3 + 3 + 4  # every series ended as soon as it could
    assert last.pending == ()


def test_the_higher_seed_of_the_final_stands_higher_in_the_season() -> None:
    assert play("apbcdqrs")[-1].rounds[2][0].teams == ("p", "a")
    assert play("apbcdqrs", order="abcdpqrs")[-1].rounds[2][0].teams == ("a", "p")


@pytest.mark.parametrize(
    ("name", "high", "winners", "seats"),
    [("L, League Division Series, 1 v 4", "a", "adada", "AABBA"), ("Toroidal Cup Series", "p", "pdpdpdp", "AABBBAA")],
)
def test_first_seats(name: str, high: str, winners: str, seats: str) -> None:
    """A series that goes its whole way; the lower seed, d, has the first seat in its middle."""
    earlier = play("dpabcqrs")[-1].rounds[:2] if name == "Toroidal Cup Series" else ()
    results = {series.key: series.results for number in earlier for series in number}
    played = [won(winner, high if winner == "d" else "d") for winner in winners]
    for count, first in enumerate(seats):
        state = bracket(SEEDS, ORDER, {**results, name: played[:count]})
        (series,) = (one for one in state.rounds[-1] if one.key == name)
        assert (series.winner, series.seats()) == (None, (high, "d") if first == "A" else ("d", high))
    state = bracket(SEEDS, ORDER, {**results, name: played})
    assert next(one for one in state.rounds[-1] if one.key == name).winner == high


@pytest.mark.parametrize("season", PUBLISHED, ids=lambda season: f"season {PUBLISHED.index(season)}")
def test_published_seasons(season: dict[str, Any]) -> None:
    """Wins and cells give the seeds, without a die; each day exactly the series that are not decided were played."""
    names, leagues = [name for name, _, _ in season["teams"]], dict[str, dict[str, list[str]]]()
    for name, league, division in season["teams"]:
        leagues.setdefault(league, {}).setdefault(division, []).append(name)

    def days(played: list[list[list[int]]]) -> list[list[GameResult]]:
        return [[game(names[one], names[two], ours, theirs) for one, two, ours, theirs, *_ in day] for day in played]

    results = [result for day in days(season["days"]) for result in day]
    table = standings(names, results, make_die(0, "standings"))
    assert sum(line.games for line in table) == 2 * len(results) == 180
    seeds = seed_teams(table, leagues)
    assert seeds == {league: tuple(names[place] for place in places) for league, places in season["seeds"].items()}
    assert not any(line.rolls for line in table if any(line.team in seeded for seeded in seeds.values()))

    order, played = [line.team for line in table], dict[str, list[GameResult]]()
    rounds = [day for name in ("LDS", "LCS", "HCS") for day in days(season["postseason"][name])]
    for day in rounds:
        pending = {frozenset(series.teams): series for series in bracket(seeds, order, played).pending}
        assert pending.keys() == {frozenset(result.teams) for result in day}
        assert len(day) == len(pending)
        for result in day:
            played.setdefault(pending[frozenset(result.teams)].key, []).append(result)
    done = bracket(seeds, order, played)
    assert done.champion == rounds[-1][-1].winner
    for series in done.rounds[0]:  # 1 v 4 and 2 v 3: there the Cup's first seats are the rules'
        seats = "".join("A" if result.teams[0] == series.teams[0] else "B" for result in series.results)
        assert seats == FIRST_SEATS[5][: len(seats)]
