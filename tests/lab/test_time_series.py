from __future__ import annotations

import dataclasses
import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from refusals import fails

import cellgames
from cellgames.agents.loading import load
from cellgames.arena import FreeForAllOptions, Record, free_for_all
from cellgames.arena.records.replays import ReplayError, game_of, replay, stepped
from cellgames.envs.core import Game
from cellgames.lab.life import time_series
from cellgames.lab.life.census import census
from cellgames.lab.life.life_stats import curves, moments
from cellgames.utils.report.model import Section, Table
from cellgames.utils.report.plots import Curve

CLOTH = {"height": 16, "width": 16, "generations": 6, "max_units": 4, "max_rounds": 3}
CUP = {"rows": 16, "cols": 32, "pattern": "randys", "shapes": 2, "max_generations": 60}
GRID = {"size": 7, "players": 3, "rounds": 3, "flip_rounds": (2,)}
GAMES: dict[str, dict[str, Any]] = {"cloth-of-gold-v0": CLOTH, "toroidal-cup-v0": CUP, "grid-adaptation-v0": GRID}


@cache
def played(id: str) -> tuple[Record, ...]:
    """Six games of two agents of one kind, as records say them."""
    import tempfile

    game = cellgames.make(id, **GAMES[id])
    first, second = load("random", game), load("random", game)
    second.name = "other"
    with tempfile.TemporaryDirectory() as folder:
        return free_for_all(game, [first, second], FreeForAllOptions(games=6, seed=3), out=folder).records


def the_game(id: str) -> Game:
    return game_of(played(id)[0])


def table(sections: list[Section], name: str) -> Table:
    (found,) = [table for section in sections for table in section.tables if table.name == name]
    return found


@pytest.mark.parametrize("id", GAMES)
def test_games_stepped_side_by_side_go_as_they_do_alone(id: str) -> None:
    game, records = the_game(id), played(id)
    alone = [replay(record) for record in records]
    seen = [0] * len(records)
    for step in stepped(game, records, batch=4):
        for place, number in enumerate(step.rows):
            turn = seen[number]
            for state, expected in ((step.before, alone[number][turn]), (step.after, alone[number][turn + 1])):
                mine = state[place]
                for field, other in zip(mine.tensors(), expected.tensors(), strict=True):
                    assert field.equal(other)
            seen[number] += 1
    assert seen == [len(record.moves) for record in records]


def test_rounds_of_cloth_of_gold_are_those_of_the_summary() -> None:
    id = "cloth-of-gold-v0"
    records = played(id)
    rows: dict[tuple[int, int], dict[str, list[float]]] = {}
    for moment in moments(the_game(id), records):
        for place, number in enumerate(moment.games.tolist()):
            rows[number, moment.time] = {name: values[place].tolist() for name, values in moment.measures.items()}
            assert int(moment.live[place].sum()) >= sum(rows[number, moment.time]["units"])
            if moment.last[place]:
                assert moment.time == len(records[number].summary["rounds"]["units"]) - 1
    expected = {
        (number, time): {
            "units": [float(value) for value in rounds["units"][time]],
            "territory": [float(value) for value in rounds["territory"][time]],
            "contested": [float(rounds["contested"][time])],
            "killed": [float(rounds["killed"][time])],
        }
        for number, record in enumerate(records)
        for rounds in [record.summary["rounds"]]
        for time in range(len(rounds["units"]))
    }
    assert rows == expected


def test_points_of_rounds_of_grid_adaptation_add_up_to_scores() -> None:
    id = "grid-adaptation-v0"
    records = played(id)
    points = np.zeros((6, 3))
    for moment in moments(the_game(id), records):
        points[moment.games] += moment.measures["points of the round"]
    assert points.tolist() == [list(record.result.scores) for record in records]


@pytest.mark.parametrize("id", GAMES)
def test_sections_have_tables_whose_numbers_agree(id: str) -> None:
    game, records = the_game(id), played(id)
    found = time_series.sections(game, records)
    assert [section.title for section in found] == ["Games over time", "Life objects"]
    for section in found:
        assert section.text
        for each in section.tables:
            assert all(len(row) == len(each.columns) for row in each.rows)
    rows = table(found, "time_series").rows
    assert {row[2] for row in rows if row[1] == "seat"} <= set(game.info.players)
    seats = game.info.num_players
    by_seat = {
        (row[0], row[3], row[1]): sum(
            int(other[4] or 0) for other in rows if other[:2] == row[:2] and other[3] == row[3]
        )
        for row in rows
    }
    for (measure, time), same in itertools.groupby(sorted(by_seat, key=str), key=lambda key: key[:2]):
        totals = {key[2]: by_seat[key] for key in same}
        assert len(set(totals.values())) == 1, (measure, time, totals)  # whichever way they are grouped
        assert max(totals.values()) <= seats * len(records)
    for row in rows:
        assert float(row[6]) <= float(row[7]) <= float(row[8])  # type: ignore[arg-type]


def test_the_final_census_is_that_of_the_final_boards() -> None:
    id = "toroidal-cup-v0"
    records = played(id)
    boards = np.stack([replay(record)[-1].board[0].numpy() for record in records])  # type: ignore[attr-defined]
    expected = {kind: count for kind, count in census(boards).counts().items() if count}
    sections = time_series.sections(the_game(id), records)
    final = table(sections, "census_final")
    assert {row[0]: row[4] for row in final.rows} == expected
    owners = census(boards, owners=boards)
    won = [record.result.outcome.index("win") + 1 if "win" in record.result.outcome else 0 for record in records]
    lost = [3 - seat if seat else 0 for seat in won]
    decided = sum(map(bool, won))
    rows = {row[0]: (row[2], row[3]) for row in table(sections, "census_owners").rows}
    for name, (winners, losers) in rows.items():
        of = [(thing.board, thing.owner) for thing in owners if thing.kind.name == name]
        assert winners == pytest.approx(sum(won[board] == owner > 0 for board, owner in of) / decided, abs=1e-4)
        assert losers == pytest.approx(sum(lost[board] == owner > 0 for board, owner in of) / decided, abs=1e-4)


@pytest.mark.parametrize(
    ("moves", "cause"),
    [
        (("r0c0", "nonsense"), "move 2, 'nonsense': cloth-of-gold-v0: action: expected a cell"),
        (("r0c0", "r0c1"), "too few moves: after the last one, move 2"),
        (("r0c0", "end", "r0c1"), "move 3, 'r0c1': illegal action"),
        (None, "moves after the end: the game is over after move "),
    ],
)
def test_a_record_that_does_not_play_is_named(moves: tuple[str, ...] | None, cause: str) -> None:
    good = played("cloth-of-gold-v0")[0]
    bad = dataclasses.replace(good, moves=(*good.moves, "r0c0") if moves is None else moves)
    with fails(ReplayError, parameter="game 2") as caught:
        time_series.sections(the_game("cloth-of-gold-v0"), [good, bad])
    assert caught.value.cause.startswith(cause)


def test_names_of_curves_stand_beside_their_ends_and_do_not_overlap() -> None:
    ends = (1.0, 1.01, 1.02, 3.0, 1.0, float("nan"))
    lines = [Curve(f"line {n}", (end - 0.5, end), (end - 1, end), (end, end)) for n, end in enumerate(ends)]
    figure = pytest.importorskip("matplotlib.figure").Figure()
    curves(figure, "Title", (0, 10), [("part", lines)], "steps")
    figure.draw_without_rendering()
    names = {text.get_text(): text for text in figure.axes[0].texts}
    assert set(names) == {f"line {n}" for n in range(5)}  # the last one has no points
    heights = sorted(text.get_position()[1] for text in names.values())
    inches = figure.axes[0].get_window_extent().height / figure.dpi
    assert all(above - below > 8 / 72 / inches for below, above in itertools.pairwise(heights))  # of size 8
    assert names["line 3"].get_position()[1] == heights[-1]
