"""Standings: wins, points, and a die for who is level in both; and the seeds that follow."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from cup_seasons import CupSeason, published

from cellgames.arena.season.games import make_die
from cellgames.arena.season.standings import SIDES, GameResult, Line, seed_teams, standings


def game(one: str, two: str, ours: float, theirs: float) -> GameResult:
    winner = one if ours > theirs else two if theirs > ours else None
    return GameResult((one, two), (ours, theirs), winner)


def no_die(team: str, number: int) -> int:
    raise AssertionError(f"expected no roll, got one of {team}")


def loaded(**rolls: Sequence[int]) -> Callable[[str, int], int]:
    """A die that gives each team its own rolls."""
    return lambda team, number: rolls[team][number]


def order(table: Sequence[Line]) -> str:
    return "".join(line.team for line in table)


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
    assert order(table) == "abfced"
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


def line(rank: int, team: str) -> Line:
    return Line(rank, team, 0, 0, 0)


def test_winners_of_divisions_and_the_best_others_by_their_standing() -> None:
    leagues = {"L": {"x": list("abcde"), "y": list("fghij")}, "M": {"x": list("klm"), "y": ["n"]}}
    ranks = [line(rank, team) for rank, team in enumerate("kabcdlfeghijmn", 1)]
    # f wins its division though five of the other one stand higher; n wins its own as the last of all.
    assert seed_teams(ranks, leagues) == {"L": tuple("abcf"), "M": tuple("klmn")}


@pytest.mark.parametrize("season", published(), ids=lambda season: f"season {published().index(season)}")
def test_published_seeds(season: CupSeason) -> None:
    """Wins and cells give the seeds of every league of the Cup; no die was needed for them."""
    table = standings(season.teams, season.results, make_die(0, "standings"))
    assert seed_teams(table, season.leagues) == season.seeds
    seeded = [team for seeds in season.seeds.values() for team in seeds]
    assert sum(line.games for line in table) == 2 * len(season.results) == 180
    assert not any(line.rolls for line in table if line.team in seeded)
