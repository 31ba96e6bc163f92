"""Rollouts of self-play: they are the core's own games, everyone is paid at their own seat, opponents keep apart."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from every_game import GAMES, every_game, generator
from refusals import fails, refused
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.agents.networks.networks import make_network
from cellgames.agents.playouts import RandomAgent, random_actions
from cellgames.agents.search.improvement import Effort, TreeImprover
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.chance import next_seed
from cellgames.runs.run_folder import RunError
from cellgames.training.alphazero.search_play import Positions, Replay
from cellgames.training.selfplay.opponents import Opponents, Pool, parse_mix
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay
from cellgames.training.selfplay.updates import estimate

NUM_ENVS = 6


def at_play(game: Game, folder: Path, mix: str = "self", num_envs: int = NUM_ENVS) -> SelfPlay:
    network = network_for(game)
    pool = Pool(folder / "pool")
    pool.add(network, 0)
    device = torch.device("cpu")
    play = SelfPlay(game, network, Opponents(game, parse_mix(mix), pool, device), num_envs, device)
    play.restart(5)
    return play


def played_again(game: Game, rollout: Rollout) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Players, rewards [B, P] and ends [B] of the same actions, by the contract alone, game by game."""
    state, steps = game.init(seeds(5, NUM_ENVS)), []
    for actions in rollout.action:
        player = state.current_player.clone()
        state = game.step(state, actions.view(NUM_ENVS, *game.info.action_shape))
        steps.append((player, state.rewards.clone(), state.done.clone()))
        if state.done.any():
            env_ids = state.done.nonzero().squeeze(1)
            state = state.put(env_ids, game.init(next_seed(state.seed[env_ids])))
    return steps


@every_game
def test_a_rollout_is_the_games_and_pays_every_seat_its_own(game: Game, tmp_path: Path) -> None:
    play = at_play(game, tmp_path, "self=0.5,random=0.5")
    rollout = play.collect(min(2 * game.info.max_turns + 2, 40))
    unit = play.network.unit
    for t, (player, rewards, done) in enumerate(played_again(game, rollout)):
        if game.info.simultaneous:
            assert torch.allclose(rollout.reward[t].view(NUM_ENVS, -1) * unit, rewards)
            assert torch.equal(rollout.done[t].view(NUM_ENVS, -1)[:, 0], done)
        else:
            assert torch.equal(rollout.player[t], player)
            assert torch.allclose(rollout.reward[t] * unit, rewards)
            assert torch.equal(rollout.done[t], done)


class Spy(RandomAgent):
    """Notes what it is told and shown."""

    def __init__(self) -> None:
        super().__init__("spy")
        self.began: list[tuple[int, int]] = []
        self.asked: list[int] = []

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self.began += list(zip(env_ids.tolist(), players.tolist(), strict=True))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.asked += env_ids.tolist()
        if self._nvec is not None:
            return random_actions(action_mask, self._nvec, generator)
        raise AssertionError("asked before any game began")


@pytest.mark.parametrize("id", ["torus-small-v0", "grid-adaptation-small-v0", "cloth-of-gold-small-v0"])
def test_opponents_act_in_their_own_lanes_and_seats_only(id: str, tmp_path: Path) -> None:
    play = at_play(GAMES[id], tmp_path, "self=0.3,random=0.3,greedy=0.4")
    first, second = Spy(), Spy()
    play.opponents.agents[:] = [first, second]
    play.restart(3)
    before = {(env_id, seat) for env_id, seat in (play._seating.seats >= 0).nonzero().tolist()}
    assert before == {*first.began, *second.began}
    assert not {env_id for env_id, _ in first.began} & {env_id for env_id, _ in second.began}
    rollout = play.collect(3)
    if not rollout.done.any():
        assert {*first.asked, *second.asked} <= {env_id for env_id, _ in before}
    assert rollout.learner_mask.any()
    assert not rollout.learner_mask.all()


def test_the_learner_has_one_seat_of_two_and_half_of_many(tmp_path: Path) -> None:
    for id, seats in (("torus-small-v0", 1), ("grid-adaptation-small-v0", None)):
        game = GAMES[id]
        play = at_play(game, tmp_path / id, "random", num_envs=40)
        own = (play._seating.seats < 0).sum(1)
        assert own.eq(seats if seats is not None else game.info.num_players // 2).all()
        assert (play._seating.seats < 0).float().mean(0).min() > 0.2  # in every seat


def test_scores_against_others_are_told_by_opponent(tmp_path: Path) -> None:
    game = cellgames.make("torus-v0", size=2)
    play = at_play(game, tmp_path, "self=0.5,pool=0.5", num_envs=32)
    ended = play.collect(24).ended
    assert ended.games == sum(games for _, games in ended.results.values())
    score, games = next(result for number, result in ended.results.items() if number >= 0)
    member = play.opponents.pool.members[0]
    assert 0 < score < games
    assert 0.8 * games < member.games <= games  # earlier ones have begun to fade
    assert 0.8 * score < member.score <= score
    assert ended.turns >= 3 * ended.games  # nobody can win a Torus of size 2 in two moves


@pytest.mark.parametrize(
    "text", ["", "self=0", "self=x", "=1", "self=1,self=2", "greedy=-1", "self=inf", "self=1=2", "pool=greedy=1"]
)
def test_mixes_that_make_no_sense_are_refused(text: str) -> None:
    with refused("opponents"):
        parse_mix(text)


def test_shares_add_up() -> None:
    assert parse_mix("self=3, pool=1") == {"self": 0.75, "pool": 0.25}
    assert parse_mix("greedy") == {"greedy": 1.0}
    assert parse_mix("me=greedy=1") == {"me=greedy": 1.0}
    assert parse_mix("rollout:16=1,self=1") == {"rollout:16": 0.5, "self": 0.5}


def slowly(
    value: Tensor, reward: Tensor, player: Tensor, done: Tensor, gamma: float, gae_lambda: float
) -> tuple[Tensor, Tensor]:
    """For each game and seat the list of its actions, and returns out of all n-step returns, weighted by lambda."""
    steps, rows, seats = reward.shape
    target, known = value.clone(), torch.zeros_like(done)
    for row in range(rows):
        for seat in range(seats):
            start = 0
            for end in [t for t in range(steps) if done[t, row]] + [steps]:
                span = range(start, min(end + 1, steps))
                acts = [t for t in span if player[t, row] == seat]
                finished = end < steps
                paid = [
                    float(reward[t : (acts[i + 1] if i + 1 < len(acts) else span.stop), row, seat].sum())
                    for i, t in enumerate(acts)
                ]
                last = len(acts) if finished else len(acts) - 1
                for i in range(last):
                    result, weight, total = 0.0, 1.0, 0.0
                    for n in range(i, last):
                        total += gamma ** (n - i) * paid[n]
                        ends = finished and n == len(acts) - 1
                        after = 0.0 if ends else float(value[acts[n + 1], row])
                        share = weight if n == last - 1 else weight * (1 - gae_lambda)
                        result += share * (total + gamma ** (n - i + 1) * after)
                        weight *= gae_lambda
                    target[acts[i], row] = result
                    known[acts[i], row] = True
                start = end + 1
    return target, known


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.8, 0.0)])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_it_is_the_mean_of_all_n_step_returns(seats: int, gamma: float, gae_lambda: float) -> None:
    generator = torch.Generator().manual_seed(seats)
    shape = (17, 6)
    value = torch.rand(shape, generator=generator)
    reward = torch.randn(*shape, seats, generator=generator)
    player = torch.randint(seats, shape, generator=generator)
    done = torch.rand(shape, generator=generator) < 0.15
    found = estimate(value, reward, player, done, gamma=gamma, gae_lambda=gae_lambda)
    target, known = slowly(value, reward, player, done, gamma, gae_lambda)
    assert torch.equal(found.known, known)
    assert torch.allclose(found.target[known], target[known], atol=1e-4)
    assert found.advantage[~known].eq(0).all()


GAME = cellgames.make("torus-v0", size=2)


def filled(folder: Path, count: int = 4, **settings: object) -> Pool:
    pool = Pool(folder, **settings)  # type: ignore[arg-type]  # of the test's choice
    for number in range(count):
        pool.add(network_for(GAME, number), 100 * number)
    return pool


def shares(pool: Pool) -> list[float]:
    drawn = [member.steps // 100 for member in pool.sample(4000, generator())]
    return [drawn.count(number) / 4000 for number in range(len(pool))]


def test_uniform_meets_all_alike_and_latest_the_last_one(tmp_path: Path) -> None:
    assert shares(filled(tmp_path / "a", sampling="uniform")) == pytest.approx([0.25] * 4, abs=0.03)
    assert shares(filled(tmp_path / "b", sampling="latest")) == [0, 0, 0, 1]


def test_prioritized_meets_those_most_who_are_hard_to_beat(tmp_path: Path) -> None:
    pool = filled(tmp_path, sampling="prioritized")
    for member, score in zip(pool.members, (98, 48, 48, -1), strict=True):
        if score >= 0:
            pool.record(member, score, 98)
    win_rates = [member.win_rate for member in pool.members]
    assert win_rates == pytest.approx([0.99, 0.49, 0.49, 0.5])
    chance = torch.tensor([(1 - share) ** 2 for share in win_rates])
    assert shares(pool) == pytest.approx((chance / chance.sum()).tolist(), abs=0.03)


def test_old_results_fade(tmp_path: Path) -> None:
    pool = filled(tmp_path, 1)
    member = pool.members[0]
    for _ in range(20):
        pool.record(member, 100, 100)
    for _ in range(10):
        pool.record(member, 0, 100)
    assert member.win_rate < 0.1
    assert member.games < 1000


def test_what_goes_leaves_the_others_spread_over_time(tmp_path: Path) -> None:
    pool = filled(tmp_path, 40, limit=5)
    steps = [member.steps for member in pool.members]
    assert len(steps) == 5
    assert (steps[0], steps[-1]) == (0, 3900)
    gaps = [after - before for before, after in itertools.pairwise(steps)]
    assert max(gaps) <= 4 * min(gaps)


def test_a_checkpoint_brings_back_members_and_forgets_later_ones(tmp_path: Path) -> None:
    pool = filled(tmp_path)
    pool.record(pool.members[2], 1, 3)
    kept = pool.state_dict()
    pool.add(network_for(GAME, 9), 900)
    again = Pool(tmp_path)
    again.load_state_dict(kept)
    assert again.state_dict() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(member.file for member in again.members)
    (tmp_path / kept[1]["file"]).unlink()
    with fails(RunError, parameter=str(tmp_path), got="none"):
        Pool(tmp_path).load_state_dict(kept)


def test_those_who_went_stay_on_disk_until_a_checkpoint_knows_it(tmp_path: Path) -> None:
    pool = filled(tmp_path, 3, limit=3)
    before = {member.file for member in pool.members}
    pool.add(network_for(GAME, 3), 300)
    assert before < {path.name for path in tmp_path.iterdir()}
    others = {"mine.safetensors", "12.safetensors", "000000000100.txt"}
    for name in others:
        (tmp_path / name).write_bytes(b"")
    pool.prune()
    assert {path.name for path in tmp_path.iterdir()} == others | {member.file for member in pool.members}


def positions(*numbers: int) -> Positions:
    """A position for each number, which every part of it holds."""
    value = torch.tensor(numbers)
    return Positions(
        observation=(value % 2).to(torch.int8).view(-1, 1, 1, 1).repeat(1, 5, 2, 2),
        mask=torch.nn.functional.one_hot(value % 8, 8).bool(),
        policy=torch.nn.functional.one_hot(value % 8, 8).float() * 0.5,
        value=value.float(),
    )


def ring(capacity: int) -> Replay:
    return Replay(TreeImprover(GAME, make_network(GAME), Effort(2, 2)), capacity, torch.device("cpu"))


def held(replay: Replay) -> list[int]:
    """The numbers in a replay, as many draws tell."""
    drawn = replay.sample(500, generator())
    expected = positions(*drawn.value.int().tolist())
    assert drawn.actions is None
    for part, other in zip(drawn[:4], expected[:4], strict=True):
        assert part.dtype == other.dtype
        assert torch.equal(part, other)  # the parts of a position stay together
    return sorted(set(drawn.value.int().tolist()))


def test_the_oldest_make_room_when_the_ring_is_full() -> None:
    replay = ring(5)
    replay.add(positions(0, 1, 2))
    assert (len(replay), held(replay)) == (3, [0, 1, 2])
    replay.add(positions(3, 4, 5, 6))
    assert (len(replay), held(replay)) == (5, [2, 3, 4, 5, 6])
    replay.add(positions(7))
    assert held(replay) == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("before", [3, 9])
def test_a_state_restores_the_ring_and_holds_no_more_than_is_in_it(before: int) -> None:
    one, other = ring(5), ring(5)
    one.add(positions(*range(before)))
    state = one.state_dict()
    assert {len(part) for part in state.values() if isinstance(part, torch.Tensor)} == {min(before, 5)}
    assert state["value"].untyped_storage().nbytes() == 4 * min(before, 5)
    other.load_state_dict(state)
    for replay in (one, other):
        replay.add(positions(20, 21))
    assert held(one) == held(other)
    for part, same in zip(one.sample(50, generator(1))[:4], other.sample(50, generator(1))[:4], strict=True):
        assert torch.equal(part, same)


def test_games_whose_seats_nobody_could_have_are_refused(tmp_path: Path) -> None:
    play = at_play(GAMES["torus-small-v0"], tmp_path, "self=0.5,random=0.5")
    state = play.games_state()
    assert state is not None
    for wrong in (state["seats"][1:], state["seats"].int(), state["seats"] - 2, state["seats"] + 9):
        with refused("seats"):
            play.load_games({**state, "seats": wrong})
