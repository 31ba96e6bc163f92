"""The Toroidal Cup as a game: dealing, placing, what is seen, the end; the simulator has tests of its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from every_game import finished, generator
from refusals import fails, refused
from torch import Tensor
from toroidal_cup_patterns_reference import laid
from toy_games import random_actions

import cellgames
from cellgames.envs.core import DRAW, LOSS, WIN, IllegalActionError, seeds
from cellgames.envs.toroidal_cup import CupState, ToroidalCup, placement
from cellgames.envs.toroidal_cup.dealing import PLACEABLE
from cellgames.envs.toroidal_cup.patterns.stamps import STAMPS
from cellgames.envs.toroidal_cup.placement import Lattice
from cellgames.envs.toroidal_cup.simulator import run

SMALL = ToroidalCup(rows=16, cols=32, pattern="randys", shapes=3, max_generations=400)
MIXED = ToroidalCup(rows=24, cols=60, pattern="donutmethuselahs", max_generations=260)


def names(game: ToroidalCup, state: CupState, env_id: int = 0) -> list[list[str]]:
    return [[game.stamps[i] for i in queue if i >= 0] for queue in state.queue[env_id].tolist()]


def cells_of(name: str, row: int, col: int, orientation: int, rows: int) -> list[tuple[int, int]]:
    """The live cells of a stamp with its centre there; rows wrap, and columns left of the band are far to the right."""
    return laid(name, orientation, col, row, rows, 1000)


def places(rows: int, band: int, stride: int) -> list[tuple[int, int, int]]:
    """Row, column and orientation by action."""
    return [
        (stride // 2 + stride * i, stride // 2 + stride * j, orientation)
        for i in range(rows // stride)
        for j in range(band // stride)
        for orientation in range(8)
    ]


def is_legal(name: str, place: tuple[int, int, int], own: set[tuple[int, int]], rows: int, band: int) -> bool:
    cells = cells_of(name, *place, rows)
    inside = all(col < band for _, col in cells)
    return inside and len(set(cells)) == len(cells) and not own & set(cells)


BOARDS = [
    ToroidalCup(rows=22, cols=52, stride=4, pattern="donutmethuselahs", shapes=4, max_generations=1),
    ToroidalCup(rows=26, cols=70, stride=5, pattern="quadjustyna", shapes=1, max_generations=1),
    ToroidalCup(rows=18, cols=60, stride=3, pattern="crabdonuts", shapes=1, max_generations=1),
    ToroidalCup(rows=20, cols=76, stride=2, teams=3, pattern="donutcore", shapes=5, max_generations=1),
    ToroidalCup(rows=20, cols=56, stride=1, teams=4, pattern="donutmultums", max_generations=1),
]


@pytest.mark.parametrize("game", BOARDS, ids=lambda game: game.pattern)
def test_masks_and_boards_are_those_of_a_slow_reference(game: ToroidalCup) -> None:
    num_envs, band = 3, game.cols // game.teams
    where = places(game.rows, band, game.stride)
    assert game.info.num_actions == len(where)
    state, random = game.init(seeds(5, num_envs)), generator(2)
    owned: list[list[set[tuple[int, int]]]] = [[set() for _ in range(game.teams)] for _ in range(num_envs)]
    while not state.done.all():
        mask, actions = game.legal_actions(state), random_actions(game, state, random)
        for env_id in (~state.done).nonzero().flatten().tolist():
            for seat, own in enumerate(owned[env_id]):
                name = names(game, state, env_id)[seat][0]
                expected = [is_legal(name, place, own, game.rows, band) for place in where]
                assert mask[env_id, seat].tolist() == expected
                own |= set(cells_of(name, *where[int(actions[env_id, seat])], game.rows))
        state = game.step(state, actions)
    for env_id, teams in enumerate(owned):
        board = np.zeros((game.rows, game.cols), np.int8)
        for seat, own in enumerate(teams):
            for row, col in own:
                board[row, seat * band + col] = seat + 1
        assert np.array_equal(state.start[env_id].numpy(), board)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("r2c2/1", "would overlap one's own cells"),
        ("r2c6/0", "would overlap one's own cells"),
        ("r2c2/0", "would leave its band or overlap itself"),
    ],
)
def test_the_reason_of_an_illegal_placement_is_named(place: str, reason: str) -> None:
    game = ToroidalCup(rows=16, cols=32, pattern="donutmethuselahs", shapes=2)
    line = "donutmethuselahs 1 $2.4A$2.A.A$.2A.A11.2B! rabbit/rabbit"
    state = game.string_to_state(line)
    assert not game.legal_actions(state)[0, 0, game.string_to_action(place)]
    actions = random_actions(game, state, generator())
    actions[0, 0] = game.string_to_action(place)
    with fails(IllegalActionError, player="team_1", cause=f"the rabbit at {place} {reason}"):
        game.step(state, actions)


@pytest.mark.parametrize(
    ("rows", "stride", "names"),
    [
        (8, 1, ("rpentomino", "rabbit")),
        (6, 2, ("rpentomino", "rabbit", "multuminparvo")),
        (12, 4, ("rabbit", "switchengine")),
        (10, 3, ("rpentomino", "rabbit", "multuminparvo")),  # from here on the lattice has a seam
        (10, 4, ("rpentomino", "rabbit", "multuminparvo")),
        (22, 5, ("crabstretcher", "bheptomino")),
        (14, 4, ("justyna", "rabbit")),  # which meets itself around the rows
        (16, 9, ("crabstretcher", "switchengine")),  # one position from top to bottom
    ],
)
def test_the_most_that_a_shape_blocks_is_that_of_a_slow_count(rows: int, stride: int, names: tuple[str, ...]) -> None:
    """In the middle of a band so wide that the sides leave out no position that a shape there could meet."""
    reach = max(max(len(STAMPS[name]), len(STAMPS[name][0])) for name in names)
    half = (reach // stride + 1) * stride
    where = places(rows, 2 * half + stride, stride)
    around = [[set(cells_of(name, *place, rows)) for place in where] for name in names]
    middle = [index for index, (_, col, _) in enumerate(where) if col == stride // 2 + half]
    expected = tuple(
        tuple(max(sum(bool(one[index] & cells) for cells in other) for index in middle) for other in around)
        for one in around
    )
    assert placement.blocked_at_most(Lattice(rows, stride, stride), names) == expected


def test_the_room_of_the_largest_boards_is_counted_in_little_memory() -> None:
    """Boards of every placement, or even the cells of all placements at once, would take gigabytes here."""
    size, pattern = 256, "donutmethuselahs"
    game, stamps = ToroidalCup(rows=size, cols=size, stride=1, pattern=pattern), PLACEABLE[pattern].stamps
    assert game.info.num_actions == size * (size // 2) * 8
    blocked = placement.blocked_at_most(game.lattice, stamps)
    assert all(0 < most < 8 * 32**2 for row in blocked for most in row)
    room = placement.fits(game.lattice, stamps, torch.device("cpu"))
    for name, fit in zip(stamps, room, strict=True):
        high, wide = len(STAMPS[name]), len(STAMPS[name][0])
        assert int(fit.count_nonzero()) == 4 * size * (2 * (size // 2 + 1) - high - wide)


TIGHT = [
    ToroidalCup(rows=12, cols=24, pattern="randys", shapes=9, max_generations=1),
    ToroidalCup(rows=16, cols=40, pattern="donutmultums", max_generations=1),
    ToroidalCup(rows=24, cols=36, pattern="donutmethuselahs", shapes=6, max_generations=1),
]


@pytest.mark.parametrize("game", TIGHT, ids=lambda game: game.pattern)
def test_whoever_places_badly_finds_room_to_the_last_shape(game: ToroidalCup) -> None:
    """Both take, of some dozen placements, the one that leaves fewest to the next shape."""
    state, random = game.init(seeds(3, 4)), generator(3)
    while not state.done.all():
        tried = [random_actions(game, state, random) for _ in range(12)]
        left = []
        for actions in tried:
            after = game.step(state, actions)
            left.append(torch.where(after.done[:, None], 0, game.legal_actions(after).sum(2)))
        best = torch.stack(left).argmin(0)
        state = game.step(state, torch.stack(tried).gather(0, best[None])[0])
        legal = game.legal_actions(state)
        assert legal.any(2).all(1).equal(~state.done)


@pytest.mark.parametrize("pattern", ["random", *PLACEABLE])
def test_all_teams_get_as_many_shapes_of_the_pattern_and_they_are_dealt_by_size(pattern: str) -> None:
    game = ToroidalCup(pattern=pattern, teams=3)
    state = game.init(seeds(4, 200))
    size = {name: sum(row.count("o") for row in rows) for name, rows in STAMPS.items()}
    for env_id in range(200):
        queues = names(game, state, env_id)
        played = PLACEABLE[game.patterns[int(state.pattern[env_id])]]
        assert len({len(queue) for queue in queues}) == 1
        assert len(queues[0]) in played.counts
        assert {name for queue in queues for name in queue} <= set(played.stamps)
        dealt: list[str] = []
        for turn, row in enumerate(zip(*queues, strict=True)):
            dealt += row[::-1] if turn % 2 else row  # 1 to k, then k to 1
        sizes = [size[name] for name in dealt]
        assert sizes == sorted(sizes, reverse=True)


def test_equally_large_shapes_are_dealt_in_the_order_in_which_they_are_drawn() -> None:
    """Then each is as likely at every place: a sort that is not stable would favour some."""
    game = ToroidalCup(pattern="donutmethuselahs", shapes=4)
    state = game.init(seeds(8, 4000))
    first = Counter(names(game, state, env_id)[0][1] for env_id in range(4000))
    sevens = [first[name] for name in ("bheptomino", "cheptomino", "eheptomino", "piheptomino")]
    assert max(sevens) - min(sevens) < 5 * (max(sevens) ** 0.5) * 2**0.5


def test_numbers_of_shapes_and_patterns_are_as_likely_as_the_rules_say() -> None:
    num_envs = 9000
    game = ToroidalCup(pattern="donutcore")
    counts = Counter(((game.init(seeds(1, num_envs)).queue[:, 0] >= 0).sum(1)).tolist())
    for count, ways in {4: 1, 6: 2, 8: 3, 10: 2, 12: 1}.items():
        assert abs(counts[count] / num_envs - ways / 9) < 0.02
    patterns = Counter(ToroidalCup().init(seeds(1, num_envs)).pattern.tolist())
    assert sorted(patterns) == list(range(7))
    assert all(abs(number / num_envs - 1 / 7) < 0.02 for number in patterns.values())
    kinds = ToroidalCup(pattern="donutmethuselahs", shapes=1).init(seeds(2, num_envs)).queue.flatten()
    # Of two shapes the larger one goes to the first team; over both every stamp is as likely.
    assert all(abs(number / (2 * num_envs) - 1 / 6) < 0.02 for number in Counter(kinds.tolist()).values())


def test_planes_show_the_board_from_ones_own_band_on_the_shape_and_how_many_are_left() -> None:
    game = ToroidalCup(12, 38, 3, "donutmethuselahs", shapes=2)  # bands of 12, and two columns that belong to none
    shapes = "rabbit,rpentomino/rabbit*2/rpentomino,rabbit"
    state = game.string_to_state(f"donutmethuselahs 0 A13.2B$2A11.B$25.C.2C! {shapes}")
    own, second, third, shape, left = game.observe(state, 2)[0]
    assert plane(own, 0, 3) == ["", "", ".o.oo"]
    assert plane(second, 0, 3) == [14 * "." + "o", 14 * "." + "oo", ""]
    assert plane(third, 0, 3) == [28 * "." + "oo", 27 * "." + "o", ""]
    assert plane(shape, 5, 8) == ["......oo", ".....oo", "......o"]
    assert plane(game.observe(state, 0)[0, 3], 5, 8) == ["...o...ooo", "...ooo..o", "....o"]
    assert int(own.sum() + second.sum() + third.sum() + shape.sum()) == 3 + 3 + 3 + 5
    assert (left == 2).all()


def plane(values: Tensor, first: int, end: int) -> list[str]:
    """Some rows, up to their last live cell."""
    return ["".join(".o"[value] for value in row).rstrip(".") for row in values[first:end].tolist()]


@pytest.mark.parametrize(("teams", "survivors"), [(2, "recolour"), (3, "keep"), (4, "recolour")])
def test_the_end_is_the_simulators(teams: int, survivors: Any) -> None:
    game = ToroidalCup(16, 48, teams, "donutmethuselahs", shapes=2, survivors=survivors, max_generations=300)
    state = finished(game, 12, seed=teams)
    result = run(state.start, teams, survivors=survivors, max_generations=300)
    assert torch.equal(state.scores, result.scores.float())
    assert torch.equal(state.generations.long(), result.generations)
    assert torch.equal(state.board, result.board)
    assert torch.equal(state.truncated, result.truncated)
    assert torch.equal(state.terminated, ~result.truncated)
    for env_id, winner in enumerate(result.winner.tolist()):
        expected = [DRAW] * teams if not winner else [WIN if seat + 1 == winner else LOSS for seat in range(teams)]
        assert game.outcome(state)[env_id].tolist() == state.rewards[env_id].tolist() == expected
    assert state.truncated.any()


def test_only_games_that_place_their_last_shape_run() -> None:
    game = MIXED
    state, random, left = game.init(seeds(2, 8)), generator(), []
    while not state.done.all():
        before = (state.queue[:, 0] >= 0).sum(1)
        state = game.step(state, random_actions(game, state, random))
        assert torch.equal(state.done, before <= 1)
        assert torch.equal(state.generations > 0, state.done)
        running = state[~state.done]
        assert torch.equal(running.board, running.start)
        assert torch.equal(running.scores, torch.stack([(running.start == n).sum((1, 2)) for n in (1, 2)], 1).float())
        assert not running.rewards.any()
        left.append(int((~state.done).sum()))
    assert len(set(left)) > 2  # games of different lengths in one batch
    assert (state.turn <= game.info.max_turns).all()


def test_without_a_single_leader_all_draw() -> None:
    game = ToroidalCup(12, 42, 3, "randys", shapes=1, max_generations=300)
    state = game.string_to_state("randys 1 $2.2A12.2B11.3C$2.2A12.2B! -/-/-")
    assert state.scores.tolist() == [[4, 4, 3]]
    assert state.truncated.all()
    assert game.outcome(state).tolist() == [[DRAW, DRAW, DRAW]]
    ahead = game.string_to_state("randys 1 $2.2A12.2B11.2C$2.2A12.2B10.C2.C$29.2C! -/-/-")
    assert ahead.scores.tolist() == [[4, 4, 6]]
    assert game.outcome(ahead).tolist() == [[LOSS, LOSS, WIN]]


def test_actions_are_written_by_centre_and_orientation() -> None:
    game = cellgames.make("toroidal-cup-v0")
    assert game.action_to_string(0) == "r2c2/0"
    assert game.action_to_string(8 * 35 + 2 * 8 + 3) == "r6c10/3"
    assert game.string_to_action("r38c138/7") == 2799
    for wrong in ("r3c2/0", "r2c2/8", "r42c2/0", "r2c142/0", "r2c2", "2,2/0", "r-2c2/0", ""):
        with refused("action", repr(wrong)):
            game.string_to_action(wrong)
    with refused("action", "2800", expected="an action from 0 to 2799"):
        game.action_to_string(2800)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("randys 0 ! rpentomino*3/rpentomino*2", "equally many shapes to come"),
        ("randys 0 ! rabbit/rabbit", "equally many shapes to come for all teams, all of them rpentomino"),
        ("donutpi 0 ! piheptomino/piheptomino", "a position such as 'randys 0"),
        ("randys 1 ! rpentomino*3/rpentomino*3", "of 3 steps at most, played or to come"),
        ("randys 0 17.A! rpentomino/rpentomino", "every cell in the band of its team"),
        ("randys 0 " + "$".join(["16A"] * 16) + "! rpentomino/rpentomino", "leaves room for all shapes of team_1"),
    ],
)
def test_a_line_that_this_game_cannot_hold_is_refused(line: str, message: str) -> None:
    with refused("position", where="toroidal-cup-v0") as caught:
        SMALL.string_to_state(line)
    assert message in caught.value.expected


def test_a_position_is_refused_where_a_shape_to_come_might_take_the_room_of_the_next() -> None:
    game = ToroidalCup(8, 16, pattern="randys", shapes=2)
    room_for_one = "$".join([*["8A"] * 5, *["5A"] * 3]) + "!"  # 3 x 3 cells
    state = game.string_to_state(f"randys 1 {room_for_one} rpentomino/rpentomino")
    assert game.legal_actions(state)[0].sum(1).tolist() == [8, 32]
    with refused("position", expected="an arrangement that leaves room for all shapes of team_1"):
        game.string_to_state(f"randys 0 {room_for_one} rpentomino*2/rpentomino*2")


def test_a_position_is_written_as_golly_writes_boards() -> None:
    line = "randys 1 $.2A$2A2$17.3B$18.B! rpentomino*2/rpentomino*2"
    state = SMALL.string_to_state(line)
    assert SMALL.state_to_string(state) == line
