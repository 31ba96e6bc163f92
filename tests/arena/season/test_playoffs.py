"""The bracket: who meets whom, who has the first seat, when a series is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from cup_seasons import CupSeason, published

from cellgames.arena.season.games import make_die
from cellgames.arena.season.standings import FIRST_SEATS, ROUNDS, Bracket, GameResult, bracket, standings

SEEDS = {"L": ("a", "b", "c", "d"), "M": ("p", "q", "r", "s")}
ORDER = "pabcqrsd"


def won(winner: str, loser: str) -> GameResult:
    return GameResult((winner, loser), (1, 0), winner)


def play(better: str, order: Sequence[str] = ORDER, seeds: Mapping[str, Sequence[str]] = SEEDS) -> list[Bracket]:
    """All states of playoffs in which the team that comes first in `better` wins every game."""
    results: dict[str, list[GameResult]] = {}
    states = [bracket(seeds, order, results)]
    while states[-1].champion is None:
        for series in states[-1].pending:
            results.setdefault(series.key, []).append(won(*sorted(series.teams, key=better.index)))
        states.append(bracket(seeds, order, results))
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


@pytest.mark.parametrize(("key", "winners", "seats"), [(5, "adada", "AABBA"), (7, "adadada", "AABBBAA")])
def test_first_seats(key: int, winners: str, seats: str) -> None:
    """A series that goes its whole way; the lower seed has the first seat in its middle."""
    assert FIRST_SEATS[key] == seats
    seeds = {"L": tuple("abcd"), "M": tuple("pqrs")}
    name = {5: "L, League Division Series, 1 v 4", 7: "Toroidal Cup Series"}[key]
    results = {} if key == 5 else {one.key: one.results for r in play("dpabcqrs")[-1].rounds[:2] for one in r}
    high, low = ("a", "d") if key == 5 else ("p", "d")
    seen = []
    for number in range(key):
        state = bracket(seeds, ORDER, {**results, name: [won(*seat(high, low, w)) for w in winners[:number]]})
        series = next(one for one in state.rounds[-1] if one.key == name)
        assert series.winner is None
        seen.append("A" if series.seats() == (high, low) else "B")
        assert set(series.seats()) == {high, low}
    assert "".join(seen) == seats
    state = bracket(seeds, ORDER, {**results, name: [won(*seat(high, low, w)) for w in winners]})
    assert next(one for one in state.rounds[-1] if one.key == name).winner == high


def seat(high: str, low: str, winner: str) -> tuple[str, str]:
    """Winner first, where "a" stands for the higher seed and "d" for the other."""
    return (high, low) if winner == "a" else (low, high)


def test_a_round_begins_when_all_of_the_one_before_is_decided() -> None:
    keys = [series.key for series in bracket(SEEDS, ORDER, {}).rounds[0]]
    results = {keys[0]: [won("a", "d")] * 3, keys[1]: [won("b", "c")] * 3, keys[2]: [won("s", "p")] * 3}
    state = bracket(SEEDS, ORDER, results)
    assert [series.key for series in state.pending] == [keys[3]]
    assert len(state.rounds) == 1
    state = bracket(SEEDS, ORDER, {**results, keys[3]: [won("q", "r"), won("r", "q"), won("q", "r"), won("q", "r")]})
    assert [series.teams for series in state.pending] == [("a", "b"), ("q", "s")]


@pytest.mark.parametrize("season", published(), ids=lambda season: f"season {published().index(season)}")
def test_published_postseasons(season: CupSeason) -> None:
    """Each day exactly the series that are not decided were played, and the last winner is the champion."""
    table = standings(season.teams, season.results, make_die(0, "standings"))
    order, results = [line.team for line in table], dict[str, list[GameResult]]()
    rounds = [day for name in ("LDS", "LCS", "HCS") for day in season.rounds[name]]
    for day in rounds:
        pending = {frozenset(series.teams): series for series in bracket(season.seeds, order, results).pending}
        assert len(day) == len(pending)
        for result in day:
            series = pending.pop(frozenset(result.teams))
            results.setdefault(series.key, []).append(result)
    done = bracket(season.seeds, order, results)
    assert done.champion == rounds[-1][-1].winner
    for series in done.rounds[0]:  # 1 v 4 and 2 v 3: there the Cup's first seats are the rules'
        high = series.teams[0]
        seats = "".join("A" if result.teams[0] == high else "B" for result in series.results)
        assert seats == FIRST_SEATS[5][: len(seats)]
