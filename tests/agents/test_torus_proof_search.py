"""Proof-number search of Torus: against minimax by the slow reference, and the game's facts."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import every_game
import pytest
import torch
import torus_reference as ref
from every_game import after_openings, ask, generator
from native_code import native_library
from refusals import refused
from slow import slow_except

import cellgames
from cellgames.agents import load, play
from cellgames.agents.solving import PerfectAgent, Progress
from cellgames.agents.torus import TorusSearch, proof_search
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native
from cellgames.envs.torus import Torus, TorusState

Stones = tuple[int, int]  # Black's set and White's; bit i is cell i


def mover(stones: Stones) -> int:
    return stones[0].bit_count() - stones[1].bit_count()


@cache
def holds(player: int, stones: int, size: int) -> bool:
    """The reference's word on a set of one side's stones."""
    return ref.wins(player, [ref.cell_of(cell, size) for cell in range(2 * size * size) if stones >> cell & 1], size)


def after(stones: Stones, cell: int) -> Stones:
    black, white = stones
    return (black, white | 1 << cell) if mover(stones) else (black | 1 << cell, white)


def free(stones: Stones, size: int) -> list[int]:
    return [cell for cell in range(2 * size * size) if not (stones[0] | stones[1]) >> cell & 1]


@cache
def distance(stones: Stones, size: int) -> int:
    """Return the turns to the end, positive if the player to move wins."""
    turns = [distance_after(stones, cell, size) for cell in free(stones, size)]
    return min([won for won in turns if won > 0] or turns)


def distance_after(stones: Stones, cell: int, size: int) -> int:
    player, later = mover(stones), after(stones, cell)
    if holds(player, later[player], size):
        return 1
    turns = -distance(later, size)
    return turns + 1 if turns > 0 else turns - 1


def states(positions: Iterable[Stones], size: int) -> TorusState:
    game, lines = Torus(size), []
    for black, white in positions:
        marks = "".join(".xo"[(black >> cell & 1) + 2 * (white >> cell & 1)] for cell in range(2 * size * size))
        rows = [marks[start : start + size] for start in range(0, len(marks), size)]
        lines.append(f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {'bw'[mover((black, white))]}")
    return TorusState.cat([game.string_to_state(line) for line in lines])


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


@cache
def search(size: int) -> TorusSearch:
    return TorusSearch(Torus(size), memory=1 << 24)


def late(size: int, count: int, free: int, seed: int = 0) -> list[Stones]:
    """Return positions of alternating play that nobody has won, with 1 to `free` free cells."""
    rng, cells, found = random.Random(seed), 2 * size * size, list[Stones]()
    while len(found) < count:
        order = rng.sample(range(cells), cells - rng.randint(1, free))
        black, white = (sum(1 << cell for cell in order[side::2]) for side in range(2))
        if not (holds(0, black, size) or holds(1, white, size)):
            found.append((black, white))
    return found


def random_states(size: int, count: int, stones: int, seed: int = 0) -> TorusState:
    """Return positions of random games that go on after so many moves."""
    game = Torus(size)
    state: TorusState = every_game.play(game, game.init(seeds(seed, 4 * count)), stones, seed)
    return state[~state.done][:count]


_LATE = [(2, 7, 60), (3, 8, 20), (4, 7, 15)]


@pytest.mark.parametrize(("size", "most", "count"), slow_except(_LATE, [*_LATE, (5, 7, 20), (6, 7, 20)]))
def test_late_positions_are_what_minimax_says(size: int, most: int, count: int) -> None:
    positions = late(size, count, most)
    state = states(positions, size)
    values, (turns, best) = search(size).move_values(state), search(size).distances(state)
    legal = Torus(size).legal_actions(state)
    assert torch.equal(values != 0, legal)
    for row, stones in enumerate(positions):
        cells = legal[row].nonzero().flatten().tolist()
        after = [distance_after(stones, cell, size) for cell in cells]
        assert (values[row, cells] == 1).tolist() == [found > 0 for found in after]
        if size <= 4:  # on larger boards distances may be too large
            assert int(turns[row]) == distance(stones, size)
            fastest = [cell for cell, found in zip(cells, after, strict=True) if found == int(turns[row])]
            assert best[row].nonzero().flatten().tolist() == fastest
    assert 0 < int((values == 1).any(1).sum()) < count
    assert len(turns.unique()) > 2


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_first_player_wins_by_opening_on_an_octagon_and_loses_by_opening_on_a_square(size: int) -> None:
    octagons, squares = search(size).move_values(Torus(size).init(seeds(0, 1))).view(2, -1)
    assert (octagons == 1).all()
    assert (squares == -1).all()


def test_all_instruction_sets_search_the_same_positions() -> None:
    native, state = native_library(), random_states(4, 3, 8)

    def results() -> list[Progress]:
        search, found = TorusSearch(Torus(4), memory=1 << 20), []
        for place in range(len(state)):
            search.clear()
            found.append(list(search.search(state[place : place + 1]))[-1])
        return found

    expected = results()
    try:
        for instructions in range(3):
            native.cellgames_instruction_set(instructions)
            assert results() == expected
    finally:
        native.cellgames_instruction_set(3)


def test_what_a_search_has_found_is_kept_copied_and_forgotten() -> None:
    start = Torus(4).step(Torus(4).init(seeds(0, 1)), torch.tensor([0]))
    first = TorusSearch(Torus(4), memory=1 << 22)
    steps = list(first.search(start, slice_nodes=500))
    assert [step.value for step in steps[:-1]] == [0] * (len(steps) - 1)
    assert steps[-1].value == -1
    assert steps[-1].move == -1
    assert steps[-1].nodes > 5000
    again = next(iter(first.search(start)))
    assert (again.value, again.nodes) == (-1, 0)

    copy = TorusSearch(Torus(4), memory=1 << 22)
    copy.add(first.entries())
    assert next(iter(copy.search(start))).nodes == 0
    hard = first.entries(least=100)
    assert 0 < len(hard) < len(first.entries()) / 10
    copy.clear()
    assert len(copy.entries()) == 0
    copy.add(hard)
    assert next(iter(copy.search(start))).value == -1


@pytest.mark.slow
def test_a_killed_search_goes_on_from_its_table(tmp_path: Path) -> None:
    """The process is killed in the middle of native code; nothing but the file is left."""
    path, state = tmp_path / "search.table", random_states(5, 1, 9, seed=1)
    script = f"""
from pathlib import Path
from cellgames.agents.torus import TorusSearch
from cellgames.envs.torus.game import Torus
search = TorusSearch(Torus(5), memory=1 << 22, table=Path({str(path)!r}))
for _ in search.search(Torus(5).string_to_state({Torus(5).state_to_string(state)!r}), slice_nodes=300):
    print(search.nodes, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 3000:
            break
    process.kill()
    process.wait()
    fresh, kept = TorusSearch(Torus(5), memory=1 << 22), TorusSearch(Torus(5), memory=1 << 25, table=path)
    found = len(kept.entries())
    assert found > 20
    begun, ahead = (next(iter(one.search(state, slice_nodes=1))) for one in (fresh, kept))
    assert (begun.proof, begun.disproof) != (ahead.proof, ahead.disproof)
    steps = [list(one.search(state))[-1] for one in (fresh, kept)]
    assert steps[0].value == steps[1].value
    assert steps[1].nodes < steps[0].nodes
    with refused(str(path), "size 5, longest 14"):
        TorusSearch(Torus(4), table=path)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.table"
    path.write_text("no table")
    with refused(str(path), "something else"):
        TorusSearch(Torus(4), table=path)
    path.unlink()
    TorusSearch(Torus(4), memory=1 << 16, table=path)
    path.write_bytes(path.read_bytes()[:-100])
    with refused(str(path), "another length"):
        TorusSearch(Torus(4), table=path)


@pytest.mark.parametrize(
    ("size", "plies", "games"),
    slow_except([(2, 1, 40), (3, 2, 20), (4, 8, 4)], [(2, 1, 40), (3, 2, 20), (4, 1, 4), (4, 8, 4), (5, 14, 8)]),
)
def test_it_wins_every_won_position_against_itself_and_random(size: int, plies: int, games: int) -> None:
    game = Torus(size)
    state, opening = after_openings(game, games, plies, plies)
    values = TorusSearch(Torus(size), memory=1 << 24).solve(state)
    winner = torch.where(values == 1, state.current_player, 1 - state.current_player)
    assert winner.unique().tolist() == [0, 1], "both sides should have something to win"
    players = [load("perfect", game), load("random", game)]
    seats = torch.stack((winner, 1 - winner), 1)  # `perfect` sits where it should win
    for seat in (seats, torch.zeros_like(seats)):
        played = play(game, players, seat, seeds(0, games), [generator(1), generator(2)], opening=opening)
        assert torch.equal(played.state.scores.argmax(1), winner)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "stones"), slow_except([(4, 9)], [(4, 9), (5, 19)]))
def test_it_wins_as_soon_and_loses_as_late_as_possible_whatever_other_games_there_are(size: int, stones: int) -> None:
    game = Torus(size)
    state, _ = after_openings(game, 8, stones, 3)
    together = ask(PerfectAgent(), game, state)
    turns, best = TorusSearch(Torus(size)).distances(state)
    assert (turns > 0).any()
    assert (turns < 0).any()
    assert best.gather(1, together[:, None]).all()
    alone = [int(ask(PerfectAgent(), game, state[[place]])) for place in range(8)]
    assert best.gather(1, torch.tensor(alone)[:, None]).all()
    for place in (best.sum(1) == 1).nonzero()[:, 0].tolist():
        assert alone[place] == together[place].item()


@pytest.mark.slow
def test_lost_positions_of_unknown_distance_are_played_as_greedy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_search, "_DISTANCE_NODES", 1)
    game = Torus(5)
    state, _ = after_openings(game, 40, 19, 3)
    turns, _ = TorusSearch(Torus(5)).distances(state, nodes=100_000)
    state = state[turns < -6][:3]
    for place, move in enumerate(ask(PerfectAgent(), game, state).tolist()):
        assert move in {int(ask(load("greedy", game), game, state[[place]], seed=seed)) for seed in range(10)}


def test_it_refuses_boards_and_games_that_are_not_solved() -> None:
    for game, got in (("torus-v0", "72"), ("cloth-of-gold-v0", "cloth-of-gold-v0")):
        with refused("agent 'perfect'", got):
            load("perfect", cellgames.make(game, **({"size": 6} if game == "torus-v0" else {})))
    with without_native(), refused("agent 'perfect'", "", expected="the native library"):
        load("perfect", cellgames.make("torus-v0", size=4))
