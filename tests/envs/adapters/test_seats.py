"""One learner against opponents, in many envs: rewards, ends, seats, and who sees what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import pytest
import torch
from every_game import generator
from learner_play import (
    GAMES,
    REGISTERED,
    Habit,
    Learner,
    by_hand,
    every_game,
    lines_of,
    of_each,
    random_learner,
    same,
    shown,
)
from refusals import fails, refused
from torch import Tensor
from toy_games import Race, RaceState, Sealed

import cellgames
from cellgames import agents
from cellgames.agents.agent_opponent import AgentOpponent, as_opponent
from cellgames.envs.adapters import UNIFORM, SeatEnv, SeatVecEnv, SeatVectorEnv
from cellgames.envs.adapters import seats as seats_module
from cellgames.envs.adapters.seats import SeatTransition, SeatVector
from cellgames.envs.core import LOSS, Game, IllegalActionError, chance, seeds

TORUS = cellgames.make("torus-v0", size=2)


def run(vector: SeatVector, steps: int, seed: int = 3) -> list[SeatTransition]:
    random = generator(seed)
    return [vector.step(random_learner(vector, random)) for _ in range(steps)]


@every_game
def test_what_a_step_returns_is_not_overwritten_by_later_steps(game: Game) -> None:
    vector, random = SeatVector(game, 6, seed=5), generator(2)
    kept: list[Any] = []
    for _ in range(min(2 * game.info.max_turns, 20)):
        kept += [*vector.state.tensors(), vector.player, vector.observation, vector.action_mask]
        moved = vector.step(random_learner(vector, random))
        kept += [moved.rewards, moved.terminated, moved.truncated]
        if moved.ended is not None:
            kept += [moved.ended.state, *(x for x in vars(moved.ended).values() if isinstance(x, Tensor))]
        kept = [one if isinstance(one, tuple) else (one, one.clone()) for one in kept]
    assert all(same(one, copy) for one, copy in kept)


@every_game
@pytest.mark.parametrize("last", [False, True], ids=["first seat", "last seat"])
def test_the_learner_gets_what_its_seat_earns_in_the_cores_single_steps(game: Game, last: bool) -> None:
    player = game.info.num_players - 1 if last else 0
    num_envs, steps, habit = 2, min(game.info.max_turns + 2, 26), Habit(salt=2)
    vector, learner = SeatVector(game, num_envs, habit, seat=player, seed=5), Learner(num_envs)
    expected = [by_hand(game, seed, player, habit, steps) for seed in seeds(5, num_envs).tolist()]
    ended, since = 0, [0] * num_envs  # since which step an env's game goes on
    for step in range(steps):
        assert (vector.player == player).all()
        assert torch.equal(vector.observation, game.observe(vector.state, player))
        moved = vector.step(learner.choose(game, vector.action_mask))
        done = moved.terminated | moved.truncated
        learner.note(done)
        for env_id in range(num_envs):
            reward, terminated, truncated, final = expected[env_id][step]
            assert moved.rewards[env_id] == pytest.approx(reward)
            assert (bool(moved.terminated[env_id]), bool(moved.truncated[env_id])) == (terminated, truncated)
            if final is not None:
                assert moved.ended is not None
                row = moved.ended.env_ids.tolist().index(env_id)
                assert moved.ended.state[row].equal(final)
                assert torch.equal(moved.ended.observation[row], game.observe(final, player)[0])
                assert moved.ended.outcome[row] == game.outcome(final)[0, player]
                assert moved.ended.scores[row] == final.scores[0, player]
                told = [expected[env_id][i][0] for i in range(since[env_id], step + 1)]
                assert moved.ended.returns[row] == pytest.approx(sum(told), rel=1e-6, abs=1e-5)
                assert moved.ended.lengths[row] == len(told)
                since[env_id], ended = step + 1, ended + 1
        assert (moved.ended is None) == (not done.any())
    assert ended >= num_envs


@dataclass(frozen=True)
class TortoiseFirst(Race):
    """`Race` in which the tortoise always begins."""

    id: ClassVar[str] = "toy-tortoise-v0"

    def _init(self, seeds: Tensor) -> RaceState:
        return super()._init(seeds).replace(current_player=torch.ones_like(seeds))


class Walk:
    """Walks, at every turn."""

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        pass

    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        return torch.where(state.chosen[env_ids, players] == 1, 0, 1)


def test_what_is_earned_before_the_first_action_comes_with_it() -> None:
    vector = SeatVector(TortoiseFirst(), 6, Walk(), seat="hare", seed=4)
    turns = vector.state.turn.clone()
    assert turns.min() == 1
    assert turns.max() > 1  # the same player may go on
    moved = vector.step(vector.action_mask.int().argmax(1))  # rests, as its first action; the others' turns cost 1/8
    assert moved.ended is None
    assert torch.equal(moved.rewards, -(vector.state.turn - 1) / 8)


def test_a_game_that_ends_before_the_learners_turn_is_passed_over() -> None:
    vector = SeatVector(TortoiseFirst(goal=2), 40, Walk(), seat="hare", seed=4)
    assert not vector.state.done.any()
    assert (vector.state.current_player == 0).all()
    first = seeds(4, 40)
    passed = vector.state.seed != first  # some tortoises have walked into the goal
    assert passed.any()
    assert not passed.all()
    for _ in range(20):
        first = torch.where(vector.state.seed == first, first, chance.next_seed(first))
    assert torch.equal(vector.state.seed, first)
    for _ in range(2):
        moved = vector.step(vector.action_mask.int().argmax(1))
        assert not vector.state.done.any()
        assert moved.ended is not None
        assert (moved.ended.lengths == 1).all()
        going = ~moved.terminated  # the games that were passed over, or left unfinished, count for nothing
        assert torch.equal(moved.rewards[going], -(vector.state.turn[going] - 1) / 8)
        vector.reset()


def test_a_seat_that_never_acts_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats_module, "PATIENCE", 10)
    with pytest.raises(RuntimeError):
        SeatVector(TortoiseFirst(goal=1), 2, Walk(), seat="hare")
    game = Race(goal=1)  # the first step ends it
    vector = SeatVector(game, 2, seat="hare", seed=1)
    with pytest.raises(RuntimeError):
        vector.reset(1, position=game.state_to_string(TortoiseFirst(goal=1).init(seeds(1, 1))))


def test_opponents_in_one_env_never_see_anothers_games() -> None:
    """`Habit` fails when it is asked about a seat that is not its own, or before it was told of the game."""
    for game in (GAMES["torus-small-v0"], Race(), Sealed()):
        spies = [Habit(salt) for salt in range(3)]
        vector = SeatVector(game, 8, spies, seed=1)
        begun = torch.zeros(3)
        for moved in run(vector, 40):
            if moved.ended is not None:
                for spy in range(3):
                    begun[spy] += (moved.ended.opponents == spy).any(1).sum()
        for number, habit in enumerate(spies):
            mine = (vector._seating.seats == number).nonzero()
            assert {(int(env_id), int(player)) for env_id, player in mine} <= set(habit.asked)
            assert habit.started >= begun[number] > 0


def test_each_game_and_each_other_seat_draws_an_opponent() -> None:
    pool = [Habit(i) for i in range(3)]
    vector = SeatVector(Sealed(), 300, pool, weights=[1, 0, 3], seed=1)
    who = torch.cat([moved.ended.opponents for moved in run(vector, 9) if moved.ended is not None])
    assert len(who) == 900
    assert ((who < 0).sum(1) == 1).all()
    others = who[who >= 0]
    assert set(others.tolist()) == {0, 2}
    assert (others == 2).float().mean() == pytest.approx(0.75, abs=0.04)
    pairs = who.sort(1).values[:, 1:]
    assert (pairs[:, 0] != pairs[:, 1]).any()  # the two other seats draw for themselves
    assert (who < 0).sum(0).min() > 200  # and so does the learner


@every_game
def test_the_seed_says_all_and_chance_is_not_global(game: Game) -> None:
    before = torch.random.get_rng_state()
    one, two = (SeatVector(game, 3, [as_opponent("random"), UNIFORM], seed=4) for _ in range(2))
    assert all(map(same, run(one, 6), run(two, 6)))
    one.reset()  # the games that follow, in all envs
    two.reset()
    assert all(map(same, run(one, 3), run(two, 3)))
    for vector in (one, two):
        vector.reset(9)
    fresh = SeatVector(game, 3, [as_opponent("random"), UNIFORM], seed=9)
    steps = run(fresh, 5)
    assert all(map(same, run(one, 5), steps))
    assert torch.equal(torch.random.get_rng_state(), before)


@every_game
def test_what_is_saved_goes_on_as_if_nothing_had_happened(game: Game, tmp_path: Any) -> None:
    vector = SeatVector(game, 4, [as_opponent("random"), UNIFORM], seed=4)
    run(vector, 5)
    torch.save(vector.state_dict(), tmp_path / "games.pt")
    other = SeatVector(game, 4, [as_opponent("random"), UNIFORM], seed=5)
    run(other, 3)
    other.load_state_dict(torch.load(tmp_path / "games.pt"))
    assert all(map(same, run(vector, 6), run(other, 6)))


def test_what_was_saved_by_another_vector_is_refused() -> None:
    saved = SeatVector(TORUS, 3, [UNIFORM, Habit()], seed=1, weights=[0, 1]).state_dict()
    others: tuple[tuple[Any, int, str, str], ...] = (
        (TORUS, 4, "saved", "TorusState in 3"),
        (Race(), 3, "saved", "TorusState in 3"),
        (cellgames.make("torus-v0", size=3), 3, "saved", "other parameters"),
        (TORUS, 3, "opponents", "1"),
    )
    for game, num_envs, parameter, got in others:
        with refused(parameter, got):
            SeatVector(game, num_envs).load_state_dict(saved)


make_env: Any = gymnasium.make  # by its type no environment has a vector
ENVIRONMENTS: dict[str, Callable[[Any], SeatVector]] = {
    "tensors": lambda opponents: SeatVector(TORUS, 2, opponents),
    "gymnasium": lambda opponents: SeatEnv(TORUS, opponents).vector,
    "gymnasium.make": lambda opponents: make_env(id="cellgames/torus-v0", size=3, opponents=opponents).unwrapped.vector,
    "vector": lambda opponents: SeatVectorEnv(TORUS, 2, opponents).vector,
    "sb3": lambda opponents: SeatVecEnv(TORUS, 2, opponents).vector,
}


@pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_opponents_are_agents_or_their_names(make: Callable[[Any], SeatVector]) -> None:
    (greedy,) = make("greedy").opponents
    assert isinstance(greedy, AgentOpponent)
    assert greedy.name == "greedy"
    named, agent, uniform = make(["rollout:4", agents.load("random"), None]).opponents
    assert [named.name, agent.name] == ["rollout:4", "random"]  # type: ignore[attr-defined]  # agents have names
    assert uniform is UNIFORM
    with refused("agent", "'gredy'"):
        make(["greedy", "gredy"])


def test_an_illegal_action_raises_or_loses_the_game() -> None:
    game = cellgames.make("torus-v0", size=3)
    strict, lenient, legal = (SeatVector(game, 3, seat=1, seed=2, illegal=x) for x in ("raise", "forfeit", "raise"))
    taken = (~strict.action_mask[1]).nonzero()[0, 0]
    good = random_learner(strict, generator())
    wrong = good.clone()
    wrong[1] = taken
    with fails(IllegalActionError, action=int(taken), player="white", env_id=1):
        strict.step(wrong)
    position = lenient.state.clone()
    moved, usual = lenient.step(wrong), legal.step(good)
    assert moved.ended is not None
    assert moved.ended.env_ids.tolist() == [1]
    assert moved.rewards.tolist() == [0.0, -1.0, 0.0]
    assert moved.terminated.tolist() == [False, True, False]
    assert moved.ended.outcome.tolist() == [LOSS]
    assert moved.ended.returns.tolist() == [-1.0]
    assert torch.equal(moved.ended.observation, game.observe(position[1], 1))
    assert list(moved.faults) == [1]
    assert moved.faults[1].endswith("is taken; the game is lost")
    assert usual.ended is None
    for env_id in (0, 2):  # the others have not noticed
        assert lenient.state[env_id].equal(legal.state[env_id])
    assert int(lenient.state.seed[1]) == chance.next_seed(int(position.seed[1]))
    later = lenient.step(random_learner(lenient, generator()))
    assert not later.faults
    assert later.rewards[1] == 0


NOBODY: tuple[Any, ...] = ({}, 7, [None, 7], [])


@pytest.mark.parametrize(
    ("options", "got"),
    [
        *(({"seat": seat}, repr(seat)) for seat in (2, -1, "blue", 1.0)),
        *(({"opponents": wrong}, None) for wrong in NOBODY),
        *(
            ({"opponents": [None, None], "weights": weights}, str(weights))
            for weights in ([1.0], [2, -1], [0, 0], [1, float("nan")])
        ),
        ({"seed": seeds(0, 3)}, "torch.int64 [3]"),
        ({"illegal": "ignore"}, "'ignore'"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], got: str | None) -> None:
    with refused(list(options)[-1], got):
        SeatVector(TORUS, 2, **options)


@of_each(REGISTERED)
def test_all_games_of_a_vector_start_from_positions(game: Game) -> None:
    """Each with the seed that follows."""
    lines, random = lines_of(game)[:2], generator(2)
    steps = min(2 * game.info.max_turns, 40) if len(lines) > 1 else 12
    states = [game.string_to_state(line) for line in lines]
    for positions in (lines, type(states[0]).cat(states)):
        vector = game.vector(8, seed=1, compile="never", positions=positions)
        started = set(shown(game, vector.state))
        for _ in range(steps):
            before = vector.state
            done = vector.step_random(random).done
            assert torch.equal(vector.legal_actions, game.legal_actions(vector.state))
            assert torch.equal(vector.state.seed, torch.where(done, chance.next_seed(before.seed), before.seed))
            assert not vector.state.rewards[done].any()
            started |= set(shown(game, vector.state[done]))
        assert started == set(lines)


class Curriculum:
    """A sampler that draws of more and more positions."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.known, self.counts = lines, 1, [0]

    def __call__(self, count: int, generator: torch.Generator) -> list[str]:
        self.counts.append(count)
        return [self.lines[i] for i in torch.randint(self.known, (count,), generator=generator).tolist()]


@of_each(REGISTERED)
def test_a_sampler_gives_every_new_game_its_position(game: Game) -> None:
    lines = lines_of(game)
    sampler = Curriculum(lines)
    vector = SeatVector(game, 4, seed=1)
    vector.set_positions(sampler)
    vector.reset(3)
    assert sampler.counts[1] == 4
    random, ended = generator(1), 0
    for step in range(12):
        moved = vector.step(random_learner(vector, random))
        ended += 0 if moved.ended is None else len(moved.ended.env_ids)
        sampler.known = 1 + step % len(lines)
    assert sum(sampler.counts) >= 4 + ended
    one, two = (game.vector(4, seed=1, compile="never", positions=Curriculum(lines)) for _ in range(2))
    randoms = generator(5), generator(5)
    for _ in range(8):
        one.step_random(randoms[0])
        two.step_random(randoms[1])
    assert one.state.equal(two.state), "the same seeds give other games"
    sampler.known = len(lines)
    starts = {tuple(shown(game, game.vector(16, seed=seed, positions=sampler).state)) for seed in range(3)}
    assert len(starts) > 1 or len(lines) == 1, "the seed does not reach the sampler"
    vector.set_positions(None)
    vector.reset(3)
    assert vector.state.equal(SeatVector(game, 4, seed=3).state)


def test_bad_positions_are_refused() -> None:
    small = cellgames.make("torus-v0", size=3)
    for positions, parameter, got in (
        ([], "position", "[]"),
        (["x"], "position", "'x'"),
        ([3], "position", "[3]"),
        (small.init(seeds(0, 1)), "positions", None),
        (Race().init(seeds(0, 1)), "positions", None),
        (lambda count, generator: [lines_of(TORUS)[0]] * (count + 1), "positions", "3"),
        (TORUS.init(seeds(0, 2)).replace(truncated=torch.tensor([False, True])), "position", None),
    ):
        with refused(parameter, got):
            TORUS.vector(2, positions=positions)  # type: ignore[arg-type]  # on purpose
