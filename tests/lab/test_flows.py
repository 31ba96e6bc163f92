from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

import cellgames
from cellgames.agents.loading import load
from cellgames.arena import FreeForAllOptions, Record, Result, free_for_all
from cellgames.arena.records.replays import game_of, stepped
from cellgames.envs.core import Game
from cellgames.lab.life import score_flows as flows
from cellgames.lab.life.score_flows import Spending

ID = "grid-adaptation-v0"
START = (
    "play turn:0 round:1 tiles:5$5$5$5$5! sequences:101,000,110 reserves:1,1,0 bought:0,0,0 garnets:2,2,2 "
    "points:0,0,0 public:0,0,0,0,0,0,0,0 tied:- tokens:0,0,0 candidate:-"
)
# Round 1: a block comes of two tiles of 101 (one from player 0's reserve), one of 000 and one of 110; r4c4 dies alone.
# Round 2: players 0 and 2 contest r4c4. Player 1 flips to 010 and buys a tile; its tile on r4c0 dies, but beside the
# block's lower cells, of 000 and 110, it makes one of 010.
MOVES = ("r1c1+r1c2 r2c1+r4c4 r2c2", "r4c4 r4c0/flip:010/buy r4c4")


def by_hand() -> tuple[Game, Record]:
    game = cellgames.make(ID, size=5, players=3, rounds=2, first_tiles=1, reserves=1, flip_rounds=(2,))
    state = game.string_to_state(START.replace("5$5$5$5$5!", empty(game)))
    position = game.state_to_string(state)
    result = Result(("win", "draw", "loss"), (0.0, 0.0, 0.0), 2, False)
    return game, Record(ID, "0", game.parameters, 0, ("a", "b", "b"), 0, MOVES, result, position=position)


def empty(game: Game) -> str:
    """How a board without tiles is written."""
    line = game.state_to_string(game.init(torch.tensor([0])))
    return line.split("tiles:")[1].split(" ")[0]


@cache
def games() -> tuple[Game, tuple[Record, ...]]:
    import tempfile

    game = cellgames.make(ID, size=9, rounds=4, flip_rounds=(3,))
    first, second = load("random", game), load("random", game)
    second.name = "other"
    with tempfile.TemporaryDirectory() as folder:
        records = free_for_all(game, [first, second], FreeForAllOptions(games=24, seed=5), out=folder).records
    return game_of(records[0]), records


def test_a_small_match_is_read_as_counted_by_hand() -> None:
    game, record = by_hand()
    found = flows.read(game, [record])
    assert found.tiles[0].tolist() == [[1, 0, 0, 0, 0, 2, 1, 0], [1, 0, 1, 0, 0, 2, 1, 0]]
    assert found.sequence[0].tolist() == [[0b101, 0b000, 0b110], [0b101, 0b010, 0b110]]
    # Player 0: two tiles at distance 0, one at 2 (000), one at 2 (110): 3 + 3 + 1 + 1; and so on.
    assert found.points[0].tolist() == [[8, 3 + 2 * 1 + 1, 3 + 2 * 1 + 1], [8, 3 + 2 + 2, 3 + 2 + 2 * 1 + 1]]
    assert found.scores.tolist() == [[16, 13, 14]]
    assert found.places.tolist() == [[1, 3, 2]]
    assert found.spending == Equal(
        named=[[2, 2, 1], [1, 1, 1]],
        clashed=[[0, 0, 0], [1, 0, 1]],
        reserves=[[1, 1, 0], [0, 0, 0]],
        flips=[[0, 0, 0], [0, 1, 0]],
        bought=[[0, 0, 0], [0, 1, 0]],
    )


class Equal:
    """Compares with a `Spending` of one game."""

    def __init__(self, **columns: list[list[int]]) -> None:
        self.columns = columns

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Spending)
        return {name: getattr(other, name)[0].tolist() for name in Spending.__annotations__} == self.columns

    __hash__ = None  # type: ignore[assignment]


def test_points_by_distance_and_flows_of_the_small_match() -> None:
    game, record = by_hand()
    found = flows.read(game, [record])
    assert flows.by_distance(found)[0].tolist() == [[12, 0, 4, 0], [6, 4, 3, 0], [6, 2, 6, 0]]
    matrix = flows.flows(found)
    assert matrix[:, 0b101].tolist() == [1, 0, 0, 0, 0, 6, 1, 0]  # of tiles 000, 101, 110 in a round
    assert matrix[:, 0b010].tolist() == [2, 0, 3, 0, 0, 0, 2, 0]  # held for one round
    assert np.isnan(matrix[:, 0b111]).all()


def test_contested_spaces_are_those_that_several_name() -> None:
    game, records = games()
    found = flows.read(game, records)
    at = [0] * len(records)
    for step in stepped(game, records):
        for place, number in enumerate(step.rows):
            chosen = [set(row[:4]) - {81} for row in step.actions[place].tolist()]
            clashed = [len(mine & set().union(*chosen[:seat], *chosen[seat + 1 :])) for seat, mine in enumerate(chosen)]
            if at[number] < 4:
                assert found.spending.clashed[number, at[number]].tolist() == clashed
                assert found.spending.named[number, at[number]].tolist() == list(map(len, chosen))
            at[number] += 1


def test_sections() -> None:
    game, records = games()
    first, second = flows.sections(game, records)
    assert (first.title, second.title) == ("Who profits from whom", "Contested spaces, reserves and flips")
    tables = {table.name: table for section in (first, second) for table in section.tables}
    assert sum(float(row[2] or 0) for row in tables["flows_distance"].rows) == pytest.approx(100, abs=0.05)
    assert [row[0] for row in tables["flows_sequences"].rows] == [f"{sequence:03b}" for sequence in range(8)]
    rows = {(row[0], row[1]): row for row in tables["flows_spending"].rows}
    flips = [rows[number, "all"][5] for number in (1, 2, 3, 4)]
    assert flips[0] == flips[1] == flips[3] == 0
    assert float(flips[2] or 0) > 0.5  # in the only round for it, three in four by chance
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    for plot in (*first.plots, *second.plots):
        figure = Figure()
        plot.draw(figure)
        assert figure.axes
