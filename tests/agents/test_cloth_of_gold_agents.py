"""Agents of Cloth of Gold: shapes and whole turns, plans kept env by env, searches, greedy, rollouts, and halving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cloth_of_gold_reference import count, later
from every_game import generator, play
from refusals import refused
from torch import Tensor
from toy_games import random_actions
from training_runs import network_for

import cellgames
from cellgames.agents import acting, draw_seeds, load, save_network
from cellgames.agents.cloth_of_gold import greedy
from cellgames.agents.cloth_of_gold.greedy import ClothGreedy, ClothRollout, best_bolts, finish_turns, forecast, worth
from cellgames.agents.cloth_of_gold.network import CANDIDATES
from cellgames.agents.cloth_of_gold.turn_search import CHOICES, TurnGame
from cellgames.agents.cloth_of_gold.turns import SHAPES, ClothRandom, TurnAgent, random_turns, shape_forms
from cellgames.agents.playouts import best_arm
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.cloth_of_gold.native_step import played
from cellgames.envs.core import seeds


def normal(form: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The cells, counted from the upper left corner."""
    top, left = (min(values) for values in zip(*form, strict=True))
    return frozenset((row - top, col - left) for row, col in form)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_each_of_its_turned_and_mirrored_forms_once(name: str) -> None:
    cells = [(r, c) for r, row in enumerate(SHAPES[name].split("/")) for c, sign in enumerate(row) if sign == "o"]
    expected = set()
    for _ in range(4):
        cells = [(col, -row) for row, col in cells]
        expected |= {normal(cells), normal([(row, -col) for row, col in cells])}
    assert {normal(form) for form in shape_forms(name)} == expected
    assert len(shape_forms(name)) == len(expected)


GAMES = {
    "small": ClothOfGold(height=8, width=8, generations=2, radius=3, max_units=10, max_rounds=8),
    "one unit": ClothOfGold(height=8, width=9, generations=1, radius=3, max_units=1, max_rounds=4),
    "three units, radius 1": ClothOfGold(8, 8, 1, 3, 4, 1, neutral_density=0.3, win_rule="extinction"),
    "radius 2": ClothOfGold(9, 12, 3, 10, 4, 2, initial_placement=False, shaping=0.5),
    "contested": ClothOfGold(12, 10, 5, 6, 4, 8, win_rule="extinction"),
    "thirty units": ClothOfGold(16, 20, 4, 30, 2, 5, neutral_density=0.1, neutral_births=True, shaping=1.0),
    "two words": ClothOfGold(height=8, width=127, generations=2, radius=3, max_units=10, max_rounds=2),
}


def walk(game: ClothOfGold, num_envs: int, steps: int, seed: int) -> Iterator[ClothState]:
    """Positions on the way of games whose turns are made of random actions and random turns of shapes in turn.

    So there are positions in the middle of a turn, also after units that were taken back.
    """
    state, source = game.init(seeds(seed, num_envs)), generator(seed)
    for step in range(steps):
        state = state[~state.done]
        if len(state) == 0:
            return
        yield state
        if step % 5 == 4:
            state = game.play_turn(state, random_turns(game, state, seeds(step, len(state)), 1)[:, 0])
        else:
            state = game.step(state, random_actions(game, state, source))


def placeable(game: ClothOfGold, state: ClothState) -> Tensor:
    """Bool [B, H * W], where one more unit may be placed."""
    placed = game.grid.unpack(state.placed.movedim(0, -1)).flatten(1)
    return game.legal_actions(state)[:, :-1] & ~placed


def unit_by_unit(game: ClothOfGold, state: ClothState, cells: Tensor) -> tuple[ClothState, Tensor]:
    """The position after the actions of turns int64 [B, K], with checks, and the sums of their rewards, [B, 2]."""
    rewards = torch.zeros(len(state), 2)
    before = state
    for unit in cells.t():
        some = (unit >= 0).nonzero().squeeze(1)
        after = game.step(state[some], unit[some])
        rewards[some] += after.rewards
        state = state.put(some, after)
    env_ids = torch.arange(len(state))
    mine = state.live - before.live
    assert torch.equal(mine[env_ids, before.current_player], (cells >= 0).sum(1).int()), "no unit is taken back"
    state = game.step(state, torch.full_like(env_ids, game.end_turn))
    return state, rewards + state.rewards


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_turns_of_chance_are_legal_and_place_a_unit_wherever_one_can_be(game: ClothOfGold) -> None:
    sizes = Counter[int]()
    for step, state in enumerate(walk(game, 3, 11, seed=1)):
        given, border = (game, state, seeds(step, len(state)), 3), step % 2 == 1
        turns = random_turns(*given, border=border)
        assert torch.equal(turns, random_turns.reference(*given, border=border))
        assert turns.shape == (len(state), 3, game.max_units)
        env_ids, turns = torch.arange(len(state)).repeat_interleave(3), turns.flatten(0, 1)
        used = turns >= 0
        assert torch.equal(used.int().cummin(1).values.bool(), used), "what is none comes last"
        assert torch.equal(used.any(1), placeable(game, state).any(1)[env_ids])
        after, rewards = unit_by_unit(game, state[env_ids], turns)
        at_once = game.play_turn(state[env_ids], turns)
        torch.testing.assert_close(at_once.rewards, rewards)
        assert at_once.replace(rewards=after.rewards).equal(after)
        assert at_once.equal(played.reference(game, state[env_ids], turns, torch.ones_like(state.done)[env_ids]))
        sizes.update(used.sum(1).tolist())
    assert max(sizes) > 3 or game.max_units == 1 or game.radius == 1  # where a shape does not fit


@pytest.mark.parametrize("max_units", [1, 3])
@pytest.mark.parametrize("acts_left", [0, 1, 5])
def test_turns_of_chance_fit_into_the_actions_that_are_left(max_units: int, acts_left: int) -> None:
    """After units that were placed and taken back again and again, with one of them on the board or none."""
    game = ClothOfGold(height=16, width=20, max_units=max_units, radius=6)
    acts, num_envs = max(0, 2 * max_units - acts_left), 60
    state = game.init(seeds(0, num_envs))
    for _ in range(acts):
        state = game.step(state, torch.full((num_envs,), 7 * 20 + 9))
    turns = random_turns(game, state, seeds(1, num_envs), 1)[:, 0]
    unit_by_unit(game, state, turns)
    sizes = (turns >= 0).sum(1)
    must = acts % 2 == 0
    assert sizes.min() >= must
    assert sizes.max() <= max(int(must), min(acts_left, max_units - acts % 2))


OPEN = ClothOfGold(height=12, width=12, radius=32, max_units=3)


class Planner(TurnAgent):
    """Plans the first free cells of the board, and keeps who asked for plans."""

    def __init__(self, units: int = 2) -> None:
        super().__init__("planner")
        self.units = units
        self.planned: list[list[int]] = []  # by call: first cells of the plans

    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        cells = torch.full((len(state), self.game.max_units), -1)
        for env_id, free in enumerate(placeable(self.game, state)):
            found = free.nonzero().flatten()[: min(self.units, int(state.left[env_id]))]
            cells[env_id, : len(found)] = found
        self.planned.append(cells[:, 0].tolist())
        return cells


def begun(agent: TurnAgent, game: ClothOfGold, env_ids: list[int], player: int = 0) -> None:
    agent.start(game, torch.full((len(env_ids),), player), torch.tensor(env_ids))


def asked(agent: TurnAgent, state: ClothState, env_ids: list[int]) -> list[int]:
    return agent.act_on_state(state, torch.tensor(env_ids), generator()).tolist()


def test_a_turn_is_planned_once_and_placed_unit_by_unit() -> None:
    agent, state = Planner(), OPEN.init(seeds(0, 2))
    begun(agent, OPEN, [0, 1])
    for expected in ([0, 0], [1, 1], [OPEN.end_turn] * 2):
        assert len(agent.planned) == 1 or expected == [0, 0]
        actions = asked(agent, state, [0, 1])
        assert actions == expected
        state = OPEN.step(state, torch.tensor(actions))
    assert agent.planned == [[0, 0]]
    assert asked(agent, state, [0, 1]) == [3, 3]  # the next turn: cell 2 is next to a's unit
    assert len(agent.planned) == 2


def test_an_env_that_starts_again_forgets_its_plan_and_others_do_not() -> None:
    agent, state = Planner(), OPEN.init(seeds(0, 3))
    begun(agent, OPEN, [0, 1, 2])
    state = OPEN.step(state, torch.tensor(asked(agent, state, [0, 1, 2])))
    begun(agent, OPEN, [1])
    state = state.put(torch.tensor([1]), OPEN.init(seeds(1, 1)))
    assert asked(agent, state, [0, 1, 2]) == [1, 0, 1]
    assert agent.planned == [[0, 0, 0], [0]]
    begun(agent, OPEN, [9])
    assert asked(agent, OPEN.init(seeds(0, 1)), [9]) == [0]
    # In another game all of them begin.
    other = ClothOfGold(height=12, width=12, radius=32, max_units=5)
    begun(agent, other, [0])
    assert asked(agent, other.init(seeds(0, 3)), [0, 1, 2]) == [0, 0, 0]


def test_a_turn_without_a_unit_is_ended() -> None:
    full = ClothOfGold(height=8, width=8, radius=32, max_units=64)
    state = full.play_turn(full.init(seeds(0, 1)), torch.arange(64)[None])
    for agent in (Planner(), ClothRandom()):
        begun(agent, full, [0], player=1)
        assert asked(agent, state, [0]) == [full.end_turn]
        state_after = full.play_turn(state, torch.full((1, 1), -1))
        assert asked(agent, state_after, [0]) == [full.end_turn]


GAME = ClothOfGold(height=24, width=24, generations=12, max_units=6, max_rounds=4)
TURNS = TurnGame(**GAME.parameters)
SMALL = ClothOfGold(height=12, width=12, generations=4, max_units=3, max_rounds=2)


def late(turns: int = 5, games: int = 12) -> ClothState:
    """Return games of greedy players; after five turns player_b ends the first round that can decide."""
    state = GAME.init(seeds(2, games))
    for turn in range(turns):
        state = GAME.play_turn(state, greedy.proposals(GAME, state, seeds(turn, games), 6, 1)[0].squeeze(1))
    return state


def test_turns_to_choose_from_are_the_best_of_those_drawn() -> None:
    state = late(3)
    plans, value = greedy.proposals(GAME, state, seeds(9, len(state)), 20, 5)
    drawn = random_turns(GAME, state, seeds(9, len(state)), 20, border=True)
    every = worth(GAME, state, forecast(GAME, state, drawn))
    assert torch.equal(value, every.topk(5, dim=1).values)
    assert torch.equal(value, worth(GAME, state, forecast(GAME, state, plans)))
    offered = TURNS.proposing(state.replace(seed=seeds(9, len(state))), 20, 5)
    assert torch.equal(offered.plans[:, :5], plans)
    assert torch.equal(TURNS.legal_actions(offered), (torch.arange(CHOICES) < 5).expand(len(state), -1))
    assert (offered.logits[:, :4] > offered.logits[:, 1:5]).all()


def test_an_action_is_a_whole_turn() -> None:
    state = late(4)
    root = TURNS.proposing(state, 8, 3)
    actions = torch.arange(len(state)) % 3
    after = TURNS.step(root, actions)
    alone = GAME.play_turn(state, root.plans[torch.arange(len(state)), actions])
    for name in ("units", "territory", "current_player", "round", "turn", "scores", "terminated"):
        assert torch.equal(getattr(after, name), getattr(alone, name)), name
    assert TURNS.legal_actions(after).any(1).logical_xor(after.done).all()


@pytest.mark.parametrize("spec", ["mcts:16", "gumbel:4"])
def test_a_turn_that_wins_is_played(spec: str, tmp_path: Path) -> None:
    state = late()
    going = state[(~state.done & (state.current_player == 1)).nonzero().squeeze(1)]
    if spec.startswith("gumbel"):
        save_network(tmp_path / "agent.safetensors", network_for(GAME, kind="turns"))
        spec = f"{spec}:{tmp_path}"
    agent = acting(load(spec, GAME), GAME)
    assert isinstance(agent, TurnAgent)
    agent.start(GAME, torch.ones(len(going), dtype=torch.int64), torch.arange(len(going)))
    turns = agent.turns(going, generator(1))
    assert torch.equal(turns, agent.turns(going, generator(1)))
    chance = generator(1)
    drawn = [draw_seeds(len(going), chance) for _ in range(2)][spec.startswith("gumbel")]
    _, value = greedy.proposals(GAME, going, drawn, CANDIDATES, 1)
    wins = value[:, 0] > GAME.cells  # more than any lead
    assert 0 < wins.sum() < len(going)
    assert torch.equal(GAME.outcome(GAME.play_turn(going, turns))[:, 1] > 0, wins)


def test_searches_need_a_network_of_turns_and_their_game(tmp_path: Path) -> None:
    save_network(tmp_path / "agent.safetensors", network_for(SMALL))
    with refused(str(tmp_path / "agent.safetensors"), "'policy'"):
        load(f"gumbel:4:{tmp_path}", SMALL)
    with refused("agent 'mcts:6'", "torus-v0"):
        load("mcts:6", SMALL).playing(SMALL).start(cellgames.make("torus-v0"), torch.tensor([0]), torch.tensor([0]))  # type: ignore[union-attr]  # ByGame


A, B = 0, 1  # players

TINY = ClothOfGold(height=10, width=12, generations=3, max_units=4, max_rounds=3, radius=4)


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


@pytest.mark.parametrize("name", ["radius 2", "contested", "thirty units"])
def test_a_forecast_is_the_round_after_the_movers_turn(name: str) -> None:
    """As the slow reference plays it; for player_b it is what happens."""
    game = GAMES[name]
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


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 64])
def test_halving_finds_the_best_of_arms_without_chance(width: int) -> None:
    """Bandits of all numbers of arms side by side; all trials are spent, on arms that there are."""
    trials, rows = 500, 40
    values = torch.stack([torch.randperm(width, generator=generator(row)) for row in range(rows)]) / width
    size = torch.arange(rows) % width + 1
    log: list[tuple[Tensor, Tensor]] = []

    def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
        """Give the same in every trial, float [L, C]."""
        log.append((arms, pulls))
        return values.gather(1, arms) * pulls

    best = best_arm(size, width, trials, attempt, generator())
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
