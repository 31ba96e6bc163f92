"""Rollouts of self-play: they are the core's own games, everyone is paid at their own seat, opponents keep apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from every_game import GAMES, every_game
from refusals import refused
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.agents.playouts import RandomAgent, random_actions
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.chance import next_seed
from cellgames.training.selfplay.opponents import Opponents, Pool, parse_mix
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay
from cellgames.training.selfplay.updates import estimate

NUM_ENVS = 6


def at_play(
    game: Game, folder: Path, mix: str = "self", num_envs: int = NUM_ENVS, seed: int = 5, kind: str = "policy"
) -> SelfPlay:
    network = network_for(game, kind=kind)
    pool = Pool(folder / "pool")
    pool.add(network, 0)
    play = SelfPlay(
        game, network, Opponents(game, parse_mix(mix), pool, torch.device("cpu")), num_envs, torch.device("cpu")
    )
    play.restart(seed)
    return play


def played_again(game: Game, rollout: Rollout, seed: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Players, rewards [B, P] and ends [B] of the same actions, by the contract alone, game by game."""
    state, steps = game.init(seeds(seed, NUM_ENVS)), []
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
    info = game.info
    steps = min(2 * info.max_turns + 2, 40)
    play = at_play(game, tmp_path, "self=0.5,random=0.5")
    rollout = play.collect(steps)
    unit = play.network.unit
    for t, (player, rewards, done) in enumerate(played_again(game, rollout, 5)):
        if info.simultaneous:
            assert torch.allclose(rollout.reward[t].view(NUM_ENVS, -1) * unit, rewards)
            assert torch.equal(rollout.done[t].view(NUM_ENVS, -1)[:, 0], done)
        else:
            assert torch.equal(rollout.player[t], player)
            assert torch.allclose(rollout.reward[t] * unit, rewards)
            assert torch.equal(rollout.done[t], done)


def test_targets_are_results_of_the_seat_that_acted(tmp_path: Path) -> None:
    """Torus is won by the mover, so the winner's moves aim at 1 and the loser's at -1, in either seat."""
    game = cellgames.make("torus-v0", size=2)
    rollout = at_play(game, tmp_path).collect(30)
    found = estimate(rollout.value, rollout.reward, rollout.player, rollout.done, gamma=1.0, gae_lambda=1.0)
    winners = set()
    for env_id in range(NUM_ENVS):
        ends = rollout.done[:, env_id].nonzero().squeeze(1).tolist()
        for start, end in zip([0, *(e + 1 for e in ends)], ends, strict=False):
            winner = int(rollout.player[end, env_id])
            winners.add(winner)
            span = slice(start, end + 1)
            expected = torch.where(rollout.player[span, env_id] == winner, 1.0, -1.0)
            assert torch.allclose(found.target[span, env_id], expected, atol=1e-5)
            assert found.known[span, env_id].all()
    assert winners == {0, 1}


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
    game = GAMES[id]
    play = at_play(
        game, tmp_path, "self=0.3,random=0.3,greedy=0.4" if id == "torus-small-v0" else "self=0.4,random=0.6"
    )
    first, second = Spy(), Spy()
    play.opponents.agents[0] = first
    if id == "torus-small-v0":
        play.opponents.agents[1] = second
    play.restart(3)
    before = {(env_id, seat) for env_id, seat in (play._seating.seats >= 0).nonzero().tolist()}
    assert before == set(first.began) | set(second.began)
    assert not {env_id for env_id, _ in first.began} & {env_id for env_id, _ in second.began}
    rollout = play.collect(3)
    if not rollout.done.any():
        asked = set(first.asked) | set(second.asked)
        assert asked <= {env_id for env_id, _ in before}
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
