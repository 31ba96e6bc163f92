"""Games of Cloth of Gold against the slow reference: placement, territory, rounds, ends, envs and single games."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from cloth_of_gold_reference import EMPTY, NEUTRAL, Board, Cell, ReferenceGame, drawn, random_action
from games_beside import Beside, agree, played_beside
from refusals import fails, refused
from slow import slow_except

from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.cloth_of_gold.notation import Position, position_to_string
from cellgames.envs.core import IllegalActionError, seeds

A, B = 0, 1  # players

# Small games, most of them crowded, so that units live from round to round and sides meet.
FAMILIES: dict[str, dict[str, Any]] = {
    "small": {"height": 8, "width": 8, "generations": 2, "radius": 3, "max_units": 6, "max_rounds": 8},
    "no-initial-placement": {
        **{"height": 8, "width": 12, "generations": 3, "radius": 3, "max_units": 8, "max_rounds": 6},
        **{"initial_placement": False, "shaping": 0.5, "order": "alternate"},
    },
    "first-verdict-1": {"height": 9, "width": 8, "generations": 1, "radius": 3, "max_units": 5, "first_verdict": 1},
    "late-verdict": {
        **{"height": 16, "width": 20, "generations": 5, "radius": 3, "max_units": 9, "max_rounds": 4},
        **{"first_verdict": 3, "neutral_density": 0.05, "neutral_births": True, "order": "paired"},
    },
    "defensive-neutrals": {
        **{"height": 12, "width": 9, "generations": 4, "radius": 4, "max_units": 6, "max_rounds": 4},
        **{"neutral_density": 0.3, "neutral_stance": "defensive"},
    },
    "aggressive-neutrals": {
        **{"height": 9, "width": 12, "generations": 4, "radius": 4, "max_units": 8, "max_rounds": 4},
        **{"neutral_density": 0.2, "neutral_births": True, "neutral_stance": "aggressive"},
    },
    "extinction": {
        **{"height": 8, "width": 9, "generations": 4, "radius": 4, "max_units": 7, "max_rounds": 3},
        **{"win_rule": "extinction", "shaping": 0.5},
    },
    "extinction-among-neutrals": {
        **{"height": 9, "width": 8, "generations": 1, "radius": 4, "max_units": 4, "max_rounds": 12},
        **{"win_rule": "extinction", "neutral_density": 0.3, "initial_placement": False, "order": "drawn"},
    },
    "narrow": {
        **{"height": 8, "width": 8, "generations": 1, "radius": 1, "max_units": 3, "max_rounds": 3},
        **{"neutral_density": 0.3},
    },
    "wide": {
        **{"height": 16, "width": 20, "generations": 24, "radius": 8, "max_units": 10, "max_rounds": 5},
        **{"neutral_density": 0.3, "neutral_births": True},
    },
    "two-words": {"height": 8, "width": 127, "generations": 2, "radius": 3, "max_units": 6, "max_rounds": 3},
}


def beside(game: ClothOfGold, num_envs: int, seed: int) -> Beside[ReferenceGame]:
    """Random games of every env until all are over: states, the reference's games, and the actions that come next."""
    state = game.init(seeds(seed, num_envs))
    boards = zip(state.seed.tolist(), game.board(state).tolist(), strict=True)
    references = [ReferenceGame(**game.parameters, seed=number, board=board) for number, board in boards]
    return played_beside(game, state, references, random_action, seed)


def ending(one: ReferenceGame) -> str:
    result = {(1, -1): "a wins", (-1, 1): "b wins", (-1, -1): "both lose"}[one.outcome[0], one.outcome[1]]
    return f"{'cut off' if one.truncated else 'verdict'}: {result}"


@pytest.mark.parametrize(
    "family", slow_except(["small", "no-initial-placement", "extinction-among-neutrals"], FAMILIES)
)
def test_whole_random_games_are_those_of_the_reference(family: str) -> None:
    game = ClothOfGold(**FAMILIES[family])
    for state, references, _ in beside(game, 4, seed=3):
        agree(game, state, references)
    assert len(set(map(ending, references))) > 1


@pytest.mark.parametrize(("height", "width", "radius"), [(8, 8, 32), (9, 63, 8), (8, 130, 20)])
def test_a_unit_in_any_column_holds_its_disk(height: int, width: int, radius: int) -> None:
    """Also of rows whose words are full; a game for each column."""
    game = ClothOfGold(height=height, width=width, radius=radius)
    start = game.init(seeds(0, width))
    cells = torch.tensor([(col * 5 % height) * width + col for col in range(width)])
    state = game.step(start, cells)
    legal, territories = game.legal_actions(state), game.territories(state)
    for env_id, cell in enumerate(cells.tolist()):
        one = ReferenceGame(**game.parameters)
        one.step(cell)
        assert np.array_equal(territories[env_id].numpy(), [one.territory(A), one.territory(B)]), divmod(cell, width)
        assert set(legal[env_id].nonzero().flatten().tolist()) == one.legal(), divmod(cell, width)
    back = game.step(state, cells)
    assert not back.units.any()
    assert not back.territory.any()


def position(game: ClothOfGold, board: Board) -> ClothState:
    """A board at the beginning of a's turn in round 1; none of its units counts as placed in it."""
    return game.string_to_state(position_to_string(Position(A, 1, 0, 0, [], board, turn=9)))


def playing(game: ClothOfGold, state: ClothState, *actions: Cell | str) -> ClothState:
    """After cells (row, col) and "end" as actions."""
    for action in actions:
        number = game.end_turn if isinstance(action, str) else action[0] * game.width + action[1]
        state = game.step(state, torch.tensor([number]))
    return state


def open_cells(game: ClothOfGold, state: ClothState) -> str:
    """What is legal, by rows: x cells, and a last line that says whether the turn may end."""
    legal = game.legal_actions(state)[0].tolist()
    assert game.solo(state).legal_actions().tolist() == legal
    rows = [legal[start : start + game.width] for start in range(0, game.end_turn, game.width)]
    drawing = ["".join(".x"[cell] for cell in row) for row in rows]
    return "\n".join(drawing + ["end"] * legal[-1])


def tall(text: str, rows: int = 8) -> Board:
    """A drawn board with empty rows below."""
    board = drawn(text)
    return board + [[EMPTY] * len(board[0]) for _ in range(rows - len(board))]


def within(rows: range, cols: range, *but: Cell, size: tuple[int, int] = (8, 12)) -> str:
    """A rectangle of x without some cells."""
    cells = {(r, c) for r in rows for c in cols} - set(but)
    return "\n".join("".join(".x"[(r, c) in cells] for c in range(size[1])) for r in range(size[0]))


# With a radius of 3 a unit's territory is the square of 5 x 5 cells around it.
NARROW: dict[str, Any] = {"height": 8, "width": 12, "radius": 3, "generations": 1, "max_units": 4}


def test_a_first_unit_goes_anywhere_but_on_or_orthogonally_next_to_the_opponents() -> None:
    game, board = ClothOfGold(**NARROW), tall("b...........\n............\n..c.d..b....")
    closed = [(0, 0), (0, 1), (1, 0), (2, 2), (2, 4), (2, 7), (1, 7), (3, 7), (2, 6), (2, 8)]
    state = position(game, board)
    assert open_cells(game, state) == within(range(8), range(12), *closed)
    # It may stand in the opponent's territory, but the next one goes outside of it.
    state = playing(game, state, (1, 1))
    drawing = ["...x........", ".x.x........", "...x........", "xxxx........", *["............"] * 4, "end"]
    assert open_cells(game, state) == "\n".join(drawing)  # (1, 1) to take it back


def test_after_twice_the_units_in_actions_the_turn_only_ends() -> None:
    """Unless nothing is placed: then a unit can be."""
    nowhere = within(range(0), range(0)) + "\nend"
    for units, cols, left in ((2, (3, 3, 3, 4), 0), (3, (3, 4, 4, 4, 4, 5), 1)):
        game = ClothOfGold(**NARROW | {"max_units": units})
        state = playing(game, game.init(seeds(0, 1)), *[(3, col) for col in cols])
        assert open_cells(game, state) == nowhere
        assert (state.acts.tolist(), state.left.tolist()) == ([2 * units], [left])
    for units in (1, 2):
        game = ClothOfGold(**NARROW | {"max_units": units})
        state = playing(game, game.init(seeds(0, 1)), *[(3, 3)] * 2 * units)
        assert open_cells(game, state) == within(range(8), range(12))
        state = playing(game, state, (5, 5))
        assert open_cells(game, state) == nowhere
        assert state.left.tolist() == [units - 1]
        assert int(playing(game, state, "end").current_player) == B


def refusal(game: ClothOfGold, state: ClothState, action: int) -> str:
    """The reason, after all that the core says of every game."""
    before = state.clone()
    with fails(IllegalActionError, action=action, player=game.info.players[int(state.current_player)]) as caught:
        game.step(state, torch.tensor([action]))
    assert state.equal(before)
    return caught.value.cause


def test_every_illegal_action_has_a_reason() -> None:
    game, board = ClothOfGold(**NARROW), tall("............\n..cd........\n...a..b.....")
    state, fresh = position(game, board), position(game, tall("b..........."))
    full = playing(game, game.init(seeds(0, 1)), (0, 0), (0, 1), (0, 2), (0, 3))
    tired = playing(game, game.init(seeds(0, 1)), *[(0, 0), (0, 1), (0, 1)] + [(0, 1)] * 5)
    bare = playing(game, fresh, *[(5, 5)] * 8)
    assert tired.acts.tolist() == bare.acts.tolist() == [8]
    for where, cell, reason in (
        (state, (2, 3), "r2c3 holds a unit that was not placed in this turn"),
        (state, (2, 6), "r2c6 is not empty, .* opponent"),
        (state, (1, 2), "r1c2 is not empty, .* neutral"),
        (state, (1, 3), "r1c3 is not empty, .* killed"),
        (state, (7, 3), "r7c3 is outside .* territory"),
        (state, (2, 4), "r2c4 is contested"),
        (fresh, (0, 1), "r0c1 .* next to .* opponent"),
        (full, (1, 1), "all|left"),
        (tired, (0, 0), "after 8 .* only its end"),
        (tired, (1, 1), "after 8 .* only its end"),
        (bare, (0, 1), "r0c1 .* next to .* opponent"),  # it may still place one elsewhere
    ):
        assert re.search(reason, refusal(game, where, cell[0] * 12 + cell[1])), cell
    assert "must place" in refusal(game, state, game.end_turn)


Blocks = tuple[int, int]  # of a and of b: a still life of four units each

A_WINS, B_WINS, BOTH_LOSE, GOES_ON = (1, -1), (-1, 1), (-1, -1), (0, 0)
FIRST_3, MOST_3 = {"first_verdict": 3}, {"max_rounds": 3}
EXTINCTION = {"win_rule": "extinction"}

# Blocks after the initial placement and after each round; how the last one ends the game; parameters.
SEQUENCES: dict[str, tuple[list[Blocks], str, tuple[int, int], dict[str, Any]]] = {
    "a tie": ([(1, 1), (2, 1), (2, 2)], "verdict", BOTH_LOSE, {}),
    "a tie of nothing": ([(1, 0), (0, 1), (0, 0)], "verdict", BOTH_LOSE, {}),
    "a tie in a round without a verdict": ([(1, 1), (1, 1), (2, 1)], "", GOES_ON, {}),
    "a tie before, then a lead": ([(1, 1), (1, 1), (1, 2)], "", GOES_ON, {}),
    "a tie in the first round, where it is judged": ([(1, 2), (1, 1)], "verdict", BOTH_LOSE, {"first_verdict": 1}),
    "a's lead shrinks": ([(1, 1), (3, 1), (2, 1)], "verdict", A_WINS, {}),
    "b's lead shrinks": ([(1, 1), (0, 3), (1, 3)], "verdict", B_WINS, {}),
    "a's lead is equal": ([(1, 1), (2, 1), (3, 2)], "verdict", A_WINS, {}),
    "b's lead is equal": ([(1, 1), (1, 2), (0, 1)], "verdict", B_WINS, {}),
    "a's lead grows": ([(0, 0), (1, 0), (2, 0), (3, 0)], "", GOES_ON, {}),
    "b's lead grows": ([(0, 0), (1, 2), (1, 3), (0, 3)], "", GOES_ON, {}),
    "a's lead grows, then stays": ([(1, 0), (2, 0), (3, 0), (3, 0)], "verdict", A_WINS, {}),
    "the lead changes hands": ([(2, 1), (1, 2), (2, 1), (0, 1), (3, 0)], "", GOES_ON, {}),
    "the lead comes from a tie": ([(0, 0), (0, 0), (1, 0), (2, 0)], "", GOES_ON, {}),
    "the lead shrinks in a round without a verdict": ([(1, 1), (3, 1), (2, 1), (3, 1)], "", GOES_ON, FIRST_3),
    "the lead shrinks in the third": ([(1, 1), (2, 1), (3, 1), (2, 1)], "verdict", A_WINS, FIRST_3),
    "the lead shrinks in the first": ([(3, 0), (2, 0)], "", GOES_ON, {}),
    "the lead of the initial placement shrinks": ([(3, 0), (2, 0)], "verdict", A_WINS, {"first_verdict": 1}),
    "the lead of the initial placement grows": ([(2, 0), (3, 0)], "", GOES_ON, {"first_verdict": 1}),
    "the last round, a leads": ([(1, 1), (2, 1), (1, 2), (3, 1)], "cut off", A_WINS, MOST_3),
    "the last round, b leads more": ([(1, 1), (1, 2), (1, 3), (0, 3)], "cut off", B_WINS, MOST_3),
    "the last round, level": ([(1, 0), (2, 1), (3, 1), (2, 2)], "cut off", BOTH_LOSE, MOST_3 | {"first_verdict": 4}),
    "the last round, a verdict": ([(1, 1), (2, 1), (3, 1), (2, 1)], "verdict", A_WINS, MOST_3),
    "the last round, a tie": ([(1, 1), (2, 1), (3, 1), (1, 1)], "verdict", BOTH_LOSE, MOST_3),
    "a dies out": ([(1, 1), (0, 1)], "verdict", B_WINS, EXTINCTION),
    "b dies out": ([(1, 1), (1, 1), (2, 1), (1, 1), (1, 0)], "verdict", A_WINS, EXTINCTION),
    "both die out": ([(1, 1), (1, 1), (0, 0)], "verdict", BOTH_LOSE, EXTINCTION),
    "nobody dies out": ([(1, 1), (1, 1), (3, 1), (2, 1), (1, 1), (1, 3)], "", GOES_ON, EXTINCTION),
    "nobody dies out, b leads": ([(1, 1), (1, 1), (3, 1), (1, 2)], "cut off", B_WINS, EXTINCTION | MOST_3),
    "nobody dies out, level": ([(1, 1), (2, 1), (3, 1), (2, 2)], "cut off", BOTH_LOSE, EXTINCTION | MOST_3),
    "both die out in the last round": ([(1, 1), (2, 1), (3, 1), (0, 0)], "verdict", BOTH_LOSE, EXTINCTION | MOST_3),
}


def blocks(blocks: Blocks) -> Board:
    """Blocks of a along the left edge, of b along the right one."""
    board = [[EMPTY] * 32 for _ in range(24)]
    for player, (number, column) in enumerate(zip(blocks, (1, 29), strict=True)):
        for r, c in ((8 * i + 3 + r, column + c) for i in range(number) for r in (0, 1) for c in (0, 1)):
            board[r][c] = player + 1
    return board


def round_with(game: ClothOfGold, state: ClothState, board: Board) -> ClothState:
    """The game after a round from another board, to which both add a unit that dies."""
    other = position(game, board)
    state = state.replace(units=other.units, territory=other.territory, live=other.live)
    return playing(game, state, (6, 5), "end", (6, 26), "end")


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_end_on_chosen_sequences_of_scores(name: str) -> None:
    sequence, how, outcome, parameters = SEQUENCES[name]
    game = ClothOfGold(height=24, width=32, generations=2, **parameters)
    state = round_with(game, game.init(seeds(0, 1)), blocks(sequence[0]))
    for round, (a, b) in enumerate(sequence[1:], 1):
        assert not state.done.any()
        assert state.round.tolist() == [round]
        assert not game.outcome(state).any()
        state = round_with(game, state, blocks((a, b)))
        assert state.scores.tolist() == [[4 * (a - b), 4 * (b - a)]]
        assert state.rounds[0, round, :2].tolist() == [4 * a, 4 * b]
    assert state.terminated.tolist() == [how == "verdict"]
    assert state.truncated.tolist() == [how == "cut off"]
    assert game.outcome(state).tolist() == state.rewards.tolist() == [list(outcome)]
    assert state.round.tolist() == [len(sequence) - bool(how)]


@pytest.mark.parametrize("family", ["no-initial-placement", "late-verdict", "extinction"])
def test_a_turn_at_once_is_its_actions_one_after_the_other(family: str) -> None:
    """Also side by side with games that are over; the rewards are the sum of those of the turn."""
    game, num_envs = ClothOfGold(**FAMILIES[family]), 4
    turns: list[list[int]] = [[] for _ in range(num_envs)]
    starts: list[ClothState] = []
    rewards = torch.zeros(num_envs, 2)
    compared = 0
    for state, references, actions in beside(game, num_envs, seed=11):
        starts = starts or [state[env_id] for env_id in range(num_envs)]
        for env_id, one in enumerate(references):
            rewards[env_id] += state.rewards[env_id]
            if turns[env_id][-1:] == [game.end_turn]:
                # Without what was taken back, nothing tells the two from each other but the number of actions.
                cells = [cell for cell in turns[env_id][:-1] if turns[env_id].count(cell) % 2]
                units = torch.tensor([list(dict.fromkeys(cells)) + [-1] * (game.max_units - len(set(cells)))])
                after = game.play_turn(starts[env_id], units)
                torch.testing.assert_close(after.rewards, rewards[[env_id]])
                assert int(after.turn) == int(starts[env_id].turn) + len(set(cells)) + 1
                assert after.replace(turn=state.turn[[env_id]], rewards=state.rewards[[env_id]]).equal(state[env_id])
                turns[env_id], starts[env_id] = [], state[env_id]
                rewards[env_id] = 0
                compared += 1
            if not one.done:
                turns[env_id].append(actions[env_id])
    assert compared > 10
    done = state[1].replace(rewards=torch.ones(1, 2))
    mixed = ClothState.cat([done, game.init(seeds(11, 1)), done])
    after = game.play_turn(mixed, torch.tensor([[7, -1], [9, 3], [5, 2]]))
    still = done.replace(rewards=torch.zeros(1, 2))
    assert after.equal(ClothState.cat([still, game.play_turn(mixed[1], torch.tensor([[9, 3]])), still]))


def test_neutral_cells_are_a_random_share_of_the_board_from_the_seed() -> None:
    game = ClothOfGold(height=40, width=50, neutral_density=0.3)
    board = game.board(game.init(seeds(1, 20)))
    assert set(board.unique().tolist()) == {EMPTY, NEUTRAL}
    shares = (board == NEUTRAL).float().mean((1, 2))
    assert shares.mean().item() == pytest.approx(0.3, abs=0.01)  # sd 0.0023
    assert (shares - 0.3).abs().max() < 0.05  # sd 0.01
    by_cell = (board == NEUTRAL).float().mean(0)
    assert by_cell.std().item() == pytest.approx((0.3 * 0.7 / 20) ** 0.5, rel=0.1)
    assert len({str(one) for one in board.tolist()}) == 20
    assert torch.equal(game.board(game.init(seeds(1, 20)[[7]]))[0], board[7])
    assert not game.board(ClothOfGold(height=40, width=50).init(seeds(1, 20))).any()


@pytest.mark.parametrize(
    "line",
    [
        "move:a turn:9 round:1 acts:0 score:+101 placed:- board:!",
        "move:a turn:9 round:1 acts:0 score:-0 placed:- board:!",
        "move:a turn:9 round:1 acts:0 score:+0 placed:r0c0 board:A!",
        "move:a turn:9 round:1 acts:2 score:+0 placed:r0c0 board:A!",
        "move:a turn:2 round:1 acts:4 score:+0 placed:- board:!",
        "over:a turn:9 round:2 acts:0 score:+0 placed:- board:!",
        "over:b turn:9 round:2 acts:1 score:+0 placed:r0c0 board:B!",
        "over:b turn:9 round:0 acts:0 score:+0 placed:- board:!",
        "cut:b turn:9 round:2 acts:0 score:+0 placed:- board:!",
    ],
)
def test_lines_that_no_game_comes_to_are_refused(line: str) -> None:
    game = ClothOfGold(height=10, width=10, max_rounds=4)
    game.string_to_state("move:a turn:9 round:1 acts:1 score:+0 placed:r0c0 board:A!")
    with refused("position"):
        game.string_to_state(line)
