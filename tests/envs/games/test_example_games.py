"""The games of examples/games: the contract, a second implementation, and published counts and results."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import example_games_reference as ref
import pytest
import torch
from example_games import ConnectFour, Othello, Treblecross
from torch import Tensor

from cellgames.envs import Game, State, check_game, seeds
from cellgames.envs.core.chance import random_bits


@pytest.mark.parametrize("game", [ConnectFour(rows=3, columns=4, line=3), Othello(4), Treblecross(9)], ids=repr)
def test_the_game_keeps_the_contract(game: Game) -> None:
    check_game(game)


def _random_positions(game: Game, turns: int, games: int) -> list[Any]:
    """The positions of random games, the first ones included."""
    generator, found = torch.Generator().manual_seed(1), [game.init(seeds(0, games))]
    for _ in range(turns):
        actions = game.random_actions(found[-1], random_bits(games, generator, torch.device("cpu")))
        found.append(game.step(found[-1], actions))
    return found


def _board(game: Game, state: State) -> tuple[ref.Board, str]:
    """The reference's board, and who moves."""
    rows, _, mover = game.state_to_string(state).partition(" ")
    return tuple(rows.split("/")), mover


@pytest.mark.parametrize("size", [(5, 5, 4), (6, 7, 4), (4, 3, 3), (2, 6, 5)])
def test_connect_four_beside_the_reference(size: tuple[int, int, int]) -> None:
    game = ConnectFour(*size)
    positions = _random_positions(game, game.info.max_turns, 12)
    ends = set()
    for before, after in pairwise(positions):
        for env_id in range(len(before)):
            board, disc = _board(game, before[env_id])
            legal = game.legal_actions(before[env_id])[0].nonzero().squeeze(1).tolist()
            if bool(before.done[env_id]):
                assert legal == []
                continue
            assert legal == ref.free_columns(board)
            now, _ = _board(game, after[env_id])
            assert now in [ref.drop(board, column, disc) for column in legal]
            won = ref.connected(now, disc, game.line)
            over = won or not ref.free_columns(now)
            assert bool(after.terminated[env_id]) == over
            sign = 1 if disc == "x" else -1
            assert after.rewards[env_id].tolist() == ([sign, -sign] if won else [0, 0])
            assert game.outcome(after[env_id])[0].tolist() == ([sign, -sign] if won else [0, 0])
            ends |= {won} if over else set()
    assert True in ends or size == (2, 6, 5)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_othello_beside_the_reference(size: int) -> None:
    game, passed = Othello(size), 0
    positions = _random_positions(game, game.info.max_turns, 8 if size < 8 else 5)
    for before, after in pairwise(positions):
        for env_id in range(len(before)):
            if bool(before.done[env_id]):
                continue
            board, disc = _board(game, before[env_id])
            legal = game.legal_actions(before[env_id])[0].nonzero().squeeze(1).tolist()
            cells = [divmod(action, size) for action in legal]
            assert cells == ref.placements(board, disc)
            now, mover = _board(game, after[env_id])
            assert now in [ref.placed(board, row, column, disc) for row, column in cells]
            other = ref.OTHER[disc]
            can, must = ref.placements(now, other), ref.placements(now, disc)
            assert bool(after.terminated[env_id]) == (not can and not must)
            counts = ["".join(now).count(colour) for colour in "xo"]
            assert after.scores[env_id].tolist() == counts
            if can or must:
                assert mover == (other if can else disc)
                passed += not can
            else:
                ahead = (counts[0] > counts[1]) - (counts[0] < counts[1])
                assert game.outcome(after[env_id])[0].tolist() == after.rewards[env_id].tolist() == [ahead, -ahead]
    assert bool(positions[-1].done.all())
    assert passed > 0, "no game in which somebody is passed over"


@pytest.mark.parametrize("cells", [5, 6, 7, 8])
def test_treblecross_beside_the_reference(cells: int) -> None:
    """The winners from the start and after each first cross are those of the reference."""
    game = Treblecross(cells)
    start = game.init(seeds(0, 1))
    assert _value(game, start) == (1 if ref.wins("." * cells) else -1)
    for cell in range(cells):
        after = game.step(start, torch.tensor([cell]))
        assert _value(game, after) == (1 if ref.wins(f"{'.' * cell}x{'.' * (cells - 1 - cell)}") else -1)


def _expanded(game: Game, states: Any) -> Any:
    """All positions that one move leads to from those that go on, as often as they are reached."""
    env_ids, actions = game.legal_actions(states).nonzero().unbind(1)
    return game.step(states[env_ids], actions, checked=False)


def test_othello_has_as_many_lines_of_moves_as_others_count() -> None:
    """Perft of Othello 8 x 8 from the start; nobody is passed over in so few moves."""
    game, counts = Othello(8), []
    states: Any = game.init(seeds(0, 1))
    for _ in range(5):
        states = _expanded(game, states)
        counts.append(len(states))
    assert counts == [4, 12, 56, 244, 1396]


def test_connect_four_has_as_many_positions_as_others_count() -> None:
    """OEIS A212693 (John Tromp): positions of 7 x 6 after n moves; and all 161,029 of 4 x 4."""
    assert _positions_by_ply(ConnectFour(), 7) == [1, 7, 49, 238, 1120, 4263, 16422]
    assert sum(_positions_by_ply(ConnectFour(rows=4, columns=4), 17)) == 161_029


def _distinct(game: Game, states: State) -> tuple[Tensor, Tensor]:
    """The first of all equal boards, and the place of each state among those."""
    cells = game.board(states).flatten(1)
    keys = (cells * 3 ** torch.arange(cells.shape[1])).sum(1)  # may wrap around; different boards stay different
    _, place = keys.unique(return_inverse=True)
    first = torch.full((int(place.max()) + 1,), len(keys)).scatter_reduce(0, place, torch.arange(len(keys)), "amin")
    return first, place


def _positions_by_ply(game: ConnectFour, plies: int) -> list[int]:
    """Distinct positions after each number of moves."""
    states: Any = game.init(seeds(0, 1))
    counts = []
    for _ in range(plies):
        states = states[_distinct(game, states)[0]]
        counts.append(len(states))
        if bool(states.done.all()):
            break
        states = _expanded(game, states[~states.done])
    return counts


def test_connect_four_of_4_x_4_is_a_draw() -> None:
    """Tromp's table of solved boards: nobody can force a line on 4 x 4. Solved backwards, ply by ply, on the rules."""
    game = ConnectFour(rows=4, columns=4)
    assert _value(game, game.init(seeds(0, 1))) == 0
    assert _value(game, game.string_to_state("..../..../..../xx.. x")) == 0
    assert _value(game, game.string_to_state("..../xo../xo../xo.. x")) == 1


def _value(game: Game, start: State) -> int:
    """The result for the player to move with best play: the levels of the tree without duplicates, from the last."""
    states, links = start, []
    levels = [start]
    while not bool(states.done.all()):
        env_ids, actions = (game.legal_actions(states)).nonzero().unbind(1)
        after = game.step(states[env_ids], actions, checked=False)
        first, place = _distinct(game, after)
        links.append((env_ids, place))
        states = after[first]
        levels.append(states)
    values = torch.where(states.done, game.outcome(states)[:, 0], 0)
    for states, (parents, places) in zip(reversed(levels[:-1]), reversed(links), strict=True):
        first = states.current_player == 0
        signed = values[places] * torch.where(first[parents], 1, -1)
        best = torch.full((len(states),), -1, dtype=values.dtype).scatter_reduce(
            0, parents, signed.to(values.dtype), "amax"
        )
        values = torch.where(states.done, game.outcome(states)[:, 0], best * torch.where(first, 1, -1))
    return int(values[0]) * (1 if int(start.current_player) == 0 else -1)


@pytest.mark.parametrize(
    ("game", "text", "action"), [(ConnectFour(), "3", 2), (Othello(6), "c4", 20), (Treblecross(7), "7", 6)], ids=str
)
def test_names_of_moves(game: Game, text: str, action: int) -> None:
    assert game.string_to_action(text) == action
    assert game.action_to_string(action) == text
    with pytest.raises(ValueError, match="expected a c"):
        game.string_to_action("99")
