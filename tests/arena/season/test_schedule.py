"""Season schedules: everyone plays once a day, and every count is as even as it can be."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product

import pytest

from cellgames.arena.season.schedule import SeasonOptions, SeasonSchedule, deal_days, draw_schedule, league_counts
from cellgames.arena.season.teams import Team, assign_divisions, by_league

Sizes = tuple[int, int]


def names(sizes: Sizes) -> tuple[list[str], list[str]]:
    return [f"a{number}" for number in range(sizes[0])], [f"b{number}" for number in range(sizes[1])]


def draw(
    sizes: Sizes, days: int = SeasonOptions.days, within: float = SeasonOptions.within, seed: int = 0
) -> SeasonSchedule:
    return draw_schedule([names(sizes)], days, within, random.Random(seed))


def difference(values: list[int]) -> int:
    return max(values) - min(values) if values else 0


def assert_fair(schedule: SeasonSchedule, first: list[str], second: list[str], days: int) -> None:
    """Everything the module promises of a league, counted anew."""
    teams, played = [*first, *second], Counter[tuple[str, ...]]()
    for day in schedule.days:
        today = [game for game in day if game[0] in teams]
        assert len({team for game in today for team in game}) == len(teams) - len(teams) % 2
        assert len(today) == len(teams) // 2
        played.update(today)
    assert len(schedule.days) == days
    met = {pair: played[pair] + played[pair[::-1]] for pair in combinations(teams, 2)}
    assert sum(met.values()) == sum(played.values())  # nobody else took part
    games = [sum(count for pair, count in met.items() if team in pair) for team in teams]
    assert difference(games) <= len(teams) % 2
    for group in (first, second):
        assert difference([met[pair] for pair in combinations(group, 2)]) <= 1
    assert difference([met[pair] for pair in product(first, second)]) <= 1
    begun = [sum(count for pair, count in played.items() if pair[0] == team) for team in teams]
    assert difference(begun) <= 1
    assert all(abs(2 * mine - all_) <= 1 for mine, all_ in zip(begun, games, strict=True))
    assert all(abs(played[pair] - played[pair[::-1]]) <= 1 for pair in met)


@pytest.mark.parametrize(("count", "days", "within"), [(8, 1, 0.5), (11, 7, 0.3), (27, 49, 0.5), (40, 21, 0.8)])
def test_two_leagues(count: int, days: int, within: float) -> None:
    leagues = by_league(assign_divisions([Team(f"t{number}") for number in range(count)]))
    divisions = [league.values() for league in leagues.values()]
    schedule = draw_schedule(divisions, days, within, random.Random(count))
    for first, second in divisions:
        assert_fair(schedule, list(first), list(second), days)


@pytest.mark.parametrize("days", [1, 9, 49])
@pytest.mark.parametrize("sizes", [(1, 3), (3, 1), (2, 2), (3, 2), (3, 3), (1, 9), (7, 2), (5, 5), (3, 8), (10, 9)])
def test_divisions_of_any_size_and_any_share(sizes: Sizes, days: int) -> None:
    for seed, within in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        assert_fair(draw(sizes, days, within, seed), *names(sizes), days)


def test_the_cup_of_twenty_teams_is_perfectly_even() -> None:
    """Divisions of five: no day can do without a game across, and 24 of 49 games stay within."""
    counts = league_counts(draw((5, 5)), names((5, 5)))
    assert (counts["games"], counts["first"]) == ((49, 49), (24, 25))
    assert (counts["within"], counts["across"]) == ((6, 6), (5, 5))
    assert counts["share"] == pytest.approx(24 / 49)


@pytest.mark.parametrize(
    ("sizes", "within", "across"),
    [
        ((5, 5), 1.0, 49),  # one a day, since each division is odd
        ((5, 5), 0.0, 245),
        ((4, 4), 1.0, 0),
        ((4, 4), 0.0, 196),
        ((4, 4), 0.5, 96),  # 98 would be nearer, but 96 are 24 for everyone
        ((2, 6), 0.0, 98),  # two a day at most
        ((1, 7), 0.5, 49),
        ((3, 7), 0.9, 49),
    ],
)
def test_the_nearest_share_that_can_be_had(sizes: Sizes, within: float, across: int) -> None:
    first, second = names(sizes)
    schedule = draw(sizes, within=within)
    crossing = [game for day in schedule.days for game in day if (game[0] in first) != (game[1] in first)]
    assert len(crossing) == across
    assert league_counts(schedule, (first, second))["share"] == pytest.approx(1 - across / schedule.games)


def test_no_days_are_found_where_there_are_none() -> None:
    """The Petersen graph is regular, but its edges are no three perfect matchings; those of a prism are."""
    outer = [(v, (v + 1) % 5) for v in range(5)]
    spokes = [(v, v + 5) for v in range(5)]
    for step, found in ((2, False), (1, True)):
        inner = [(5 + v, 5 + (v + step) % 5) for v in range(5)]
        days = deal_days([*outer, *spokes, *inner], 10, 3, random.Random(0))
        assert (days is not None) == found
        if days is not None:
            assert [sorted(v for game in day for v in game) for day in days] == [list(range(10))] * 3
