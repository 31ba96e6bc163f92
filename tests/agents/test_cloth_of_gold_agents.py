"""Greedy and rollout agents of Cloth of Gold, and sequential halving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from cloth_of_gold_reference import count, later
from every_game import generator, play
from torch import Tensor

import cellgames
from cellgames.agents.cloth_of_gold.greedy import ClothGreedy, ClothRollout, best_bolts, finish_turns, forecast, worth
from cellgames.agents.cloth_of_gold.turns import TurnAgent, random_turns
from cellgames.agents.playouts import best_arm
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.core import seeds

A, B = 0, 1  # players

TINY = ClothOfGold(height=10, width=12, generations=3, max_units=4, max_rounds=3, radius=4)
FAMILIES = {
    "tiny": TINY,
    "extinction": ClothOfGold(
        height=8, width=9, generations=2, max_units=6, max_rounds=3, radius=3, shaping=0.5, win_rule="extinction"
    ),
    "neutrals": ClothOfGold(
        12, 8, 4, 10, 2, 8, neutral_density=0.2, neutral_births=True, initial_placement=False, first_verdict=1
    ),
}
every_family = pytest.mark.parametrize("game", FAMILIES.values(), ids=FAMILIES)


def midway(game: ClothOfGold, num_envs: int, turns: int, seed: int = 0) -> ClothState:
    """Games after some random turns, at the beginning of a turn or, every other one, after one more unit."""
    state = game.init(seeds(seed, num_envs))
    for turn in range(turns):
        state = game.play_turn(state, random_turns(game, state, seeds(seed + turn, num_envs), 1)[:, 0])
    further = play(game, state, 1, seed)
    return state.put(torch.arange(0, num_envs, 2), further[torch.arange(0, num_envs, 2)])


def position(game: ClothOfGold, board: str, player: int, round: int, score: int) -> ClothState:
    """A drawn board (`.ab`) at the beginning of a turn; `score` is a's lead in the round before."""
    rows = "$".join(row.strip().upper() for row in board.split("\n") if row.strip())
    turn = 10 * (2 * round + player)
    return game.string_to_state(
        f"move:{'ab'[player]} turn:{turn} round:{round} acts:0 score:{score:+d} placed:- board:{rows}!"
    )


def planned(agent: TurnAgent, game: ClothOfGold, state: ClothState, seed: int = 0) -> Tensor:
    """The turns that an agent chooses, int64 [L, K]."""
    env_ids = torch.arange(len(state))
    agent.start(game, state.current_player, env_ids)
    return agent.turns(state, generator(seed))


@every_family
def test_a_forecast_is_the_round_after_the_movers_turn(game: ClothOfGold) -> None:
    """As the slow reference plays it; for player_b it is what happens."""
    movers = Counter[int]()
    for turns in (1, 2, 3):
        state = midway(game, 4, turns)
        state = state[~state.done]
        plans = random_turns(game, state, seeds(turns, len(state)), 3)
        units = forecast(game, state, plans)
        assert units.shape == (len(state), 3, 2)
        boards = game.board(state)
        for env_id, player in enumerate(state.current_player.tolist()):
            movers[player] += 1
            for plan, expected in zip(plans[env_id], units[env_id].tolist(), strict=True):
                board = boards[env_id].clone()
                board.view(-1)[plan[plan >= 0]] = player + 1
                after = later(board.tolist(), game.generations, game.neutral_births)
                assert [count(after, 1), count(after, 2)] == expected
                if player == B and int(state.round[env_id]) > 0:
                    assert game.play_turn(state[env_id], plan[None]).live[0].tolist() == expected
    assert len(movers) == 2


W = 1e6  # of a turn that wins

# Player, round, a's lead before, units after, and what that is worth to the player.
WORTH = [
    (A, 1, 0, (9, 4), 5),
    (B, 1, 0, (9, 4), -5),
    (A, 1, 9, (9, 4), 5),  # no verdict in the first round
    (A, 2, 4, (9, 4), 5),  # a lead that grows goes on
    (A, 2, 5, (9, 4), 5 + W),
    (B, 2, 5, (9, 4), -5 - W),
    (A, 2, -5, (4, 9), -5 - W),
    (B, 2, -5, (4, 9), 5 + W),
    (B, 2, -4, (4, 9), 5),
    (A, 2, 7, (6, 6), -W),  # both lose
    (B, 2, 7, (6, 6), -W),
    (A, 2, 7, (4, 9), -5),  # the lead has changed hands
    (B, 0, 0, (0, 0), 0),  # while the first units are placed
]


@pytest.mark.parametrize(("player", "round", "before", "units", "expected"), WORTH)
def test_a_turn_is_worth_its_lead_and_more_if_it_decides(
    player: int, round: int, before: int, units: tuple[int, int], expected: float
) -> None:
    state = position(TINY, "a..b", player, round, before)
    assert worth(TINY, state, torch.tensor([[units, units]])).tolist() == [[expected] * 2]


# player_b leads by four and wins if it still leads, but by no more; most turns that place a still life would let
# the lead grow, and then the game would go on.
LEADING = """
................
.aa..........bb.
.aa..........bb.
................
................
................
................
.............bb.
.............bb.
"""
BEHIND = LEADING.replace("a", "x").replace("b", "a").replace("x", "b")


@pytest.mark.parametrize(("board", "score", "wins"), [(LEADING, -4, True), (BEHIND, 4, False)], ids=["wins", "holds"])
def test_greedy_decides_at_once_what_it_can_decide(board: str, score: int, wins: bool) -> None:
    """As player_b, who places last: it keeps its own lead from growing, or makes the other's one grow or vanish."""
    game = ClothOfGold(height=16, width=16, generations=12, radius=6, max_units=8)
    state = position(game, board, B, 3, score)
    turns = random_turns(game, state, seeds(0, 1), 200)[0]
    anyhow = game.outcome(game.play_turn(state[[0] * 200], turns))[:, B]
    assert 0.05 < (anyhow == (1 if wins else 0)).float().mean() < 0.8, "for the test's sake"
    batch = state[[0] * 12]
    chosen = planned(ClothGreedy(candidates=64), game, batch)
    after = game.play_turn(batch, chosen)
    assert game.outcome(after)[:, B].tolist() == [1 if wins else 0] * 12


@pytest.mark.parametrize("player", [A, B])
def test_rollout_finds_a_turn_that_wins(player: int) -> None:
    """In the last round; player_b's playouts are over when they begin."""
    game = ClothOfGold(height=16, width=16, generations=12, radius=6, max_units=6, max_rounds=3, first_verdict=9)
    board = LEADING if player == A else BEHIND
    state = position(game, board, player, 3, 0)  # four behind
    turns = random_turns(game, state, seeds(0, 1), 60)[0]
    env_ids = torch.zeros(60, dtype=torch.int64)
    after = game.play_turn(state[env_ids], turns)
    anyhow = finish_turns(game, after, generator())[:, player] == 1
    assert 0.02 < anyhow.float().mean() < 0.6, "for the test's sake"
    batch = state[[0] * 6]
    chosen = planned(ClothRollout(150 if player == A else 60, candidates=24), game, batch)
    ends = finish_turns(game, game.play_turn(batch, chosen)[[0, 1, 2, 3, 4, 5] * 5], generator(4))
    assert (ends[:, player] == 1).float().mean() > (0.95 if player == B else anyhow.float().mean() + 0.15)


def constant(values: Tensor, log: list[tuple[Tensor, Tensor]]) -> Callable[[Tensor, Tensor], Tensor]:
    """Arms that give the same in every trial, float [L, C]."""

    def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
        log.append((arms, pulls))
        return values.gather(1, arms) * pulls

    return attempt


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 64])
def test_halving_finds_the_best_of_arms_without_chance(width: int) -> None:
    """Bandits of all numbers of arms side by side; all trials are spent, on arms that there are."""
    trials, rows = 500, 40
    values = torch.stack([torch.randperm(width, generator=generator(row)) for row in range(rows)]) / width
    size = torch.arange(rows) % width + 1
    log: list[tuple[Tensor, Tensor]] = []
    best = best_arm(size, width, trials, constant(values, log), generator())
    there = torch.arange(width) < size[:, None]
    assert torch.equal(best, values.where(there, -1.0).argmax(1))
    spent = torch.zeros(rows, width, dtype=torch.int64)
    for arms, pulls in log:
        spent.scatter_add_(1, arms, pulls)
    assert (spent[~there] == 0).all()
    assert torch.equal(spent.sum(1), torch.where(size == 1, 0, trials))
    assert (spent.gather(1, best[:, None]).squeeze(1) >= spent.amax(1) - 6).all()  # one more for some in every round


def test_bolts_fall_where_the_opponent_loses_most_and_not_without_reason() -> None:
    game: Any = cellgames.make("cloth-of-gold-wild-small-v0", height=20, width=20, generations=8, max_rounds=2)
    line = game.state_to_string(game.init(seeds(0, 1)))
    start = line.index("ground:")
    board = "5$10.2B$10.2B$2.2A$2.2A"
    ground = "20M$" * 19 + "20M"  # plain everywhere
    parts = [f"move:a turn:70 round:2 acts:0 score:+0 placed:- board:{board}! ground:{ground}!"]
    parts += [part for part in line[start:].split(" ")[1:] if not part.startswith(("spells", "animals"))]
    text = " ".join([*parts, "spells:1,1", "animals:-,-,-,-,-"])
    state = game.string_to_state(text)
    chosen = int(best_bolts(game, state, seeds(4, 1)))
    assert divmod(chosen, 20) in {(r, c) for r in (5, 6) for c in (10, 11)}
    after = game.step(state, torch.tensor([game.cells + chosen]))
    assert after.live.tolist() == [[4, 0]]
    assert int(best_bolts(game, after, seeds(4, 1))) == -1  # no bolt is left
    alone = game.string_to_state(text.replace("10.2B$10.2B", "$"))
    assert int(best_bolts(game, alone, seeds(4, 1))) == -1  # nothing to hit
