"""Games as a TorchRL environment: the library's own check, and the core's games step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from every_game import GAMES, every_game
from pettingzoo_play import raw
from toy_games import Race, Sealed, TwoPartRace

import cellgames
from cellgames.envs.adapters.pettingzoo_aec import wrapped
from cellgames.envs.core import Game, chance, seeds
from cellgames.envs.core.state import along_envs

pytest.importorskip("torchrl")

from tensordict import TensorDict
from torchrl.envs import ActionMask, PettingZooWrapper, StepCounter, TransformedEnv
from torchrl.envs.utils import check_env_specs, check_marl_grouping, step_mdp

from cellgames.envs.adapters.torchrl import AGENTS, TorchRLGame

NUM_ENVS = 3
ONE_CHOICE = {id: game for id, game in GAMES.items() if len(game.info.action_nvec) == 1}

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """TorchRL draws random actions from the global generator."""
    torch.manual_seed(0)


def key(env: TorchRLGame, name: str) -> Any:
    """An entry's place in a TensorDict."""
    return (AGENTS, name) if env.game.info.simultaneous else name


def seen(env: TorchRLGame, td: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Observation and mask."""
    return td[key(env, "observation")], td[key(env, "action_mask")]


def of_the_core(game: Game, state: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """What `seen` must be."""
    legal = game.legal_actions(state)
    mask = legal | along_envs(state.done, legal.ndim)
    if not game.info.simultaneous:
        return game.observe(state, state.current_player), mask
    return torch.stack([game.observe(state, seat) for seat in range(game.info.num_players)], 1), mask


def agree(ours: tuple[torch.Tensor, ...], theirs: tuple[torch.Tensor, ...]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


def first_legal(mask: torch.Tensor, nvec: tuple[int, ...]) -> torch.Tensor:
    """Each component's first legal choice."""
    choices = [part.int().argmax(-1) for part in mask.split(list(nvec), -1)]
    return choices[0] if len(choices) == 1 else torch.stack(choices, -1)


def ready(td: Any) -> Any:
    """A TensorDict to step from: what `next` holds, if it is that of a step."""
    return td if td.get("next", None) is None else step_mdp(td)


def play(env: TorchRLGame, td: Any, *steps: Any) -> Any:
    """Steps without a reset; the last one's TensorDict."""
    for actions in steps:
        td = env.step(ready(td).set(env.action_key, torch.as_tensor(actions)))
    return td


# ---------------------------------------------------------------- TorchRL's own checks


@every_game
@pytest.mark.parametrize("num_envs", [1, NUM_ENVS])
def test_torchrls_check_passes(game: Game, num_envs: int) -> None:
    check_env_specs(TorchRLGame(game, num_envs), break_when_any_done="both", seed=0)


@every_game
def test_torchrls_action_mask_and_counter_serve_it(game: Game) -> None:
    base = TorchRLGame(game, NUM_ENVS)
    env = TransformedEnv(base, StepCounter()).append_transform(
        ActionMask(key(base, "action"), key(base, "action_mask"))
    )
    check_env_specs(env)
    rollout = env.rollout(2 * game.info.max_turns, break_when_any_done=False)
    ends = rollout["next", "done"].squeeze(-1)
    assert ends.any()
    assert rollout["next", "step_count"].max() <= game.info.max_turns
    assert (rollout["step_count"][:, 1:][ends[:, :-1]] == 0).all()


@pytest.mark.parametrize("game", ONE_CHOICE.values(), ids=ONE_CHOICE)
def test_torchrl_wraps_the_pettingzoo_environments(game: Game) -> None:
    """It has no masks for actions of several components; `TorchRLGame` has."""
    env = raw(game)
    wrapper = PettingZooWrapper(env if game.info.simultaneous else wrapped(env), use_mask=not game.info.simultaneous)
    check_env_specs(wrapper)


@every_game
def test_the_group_map_names_the_players_where_there_is_a_group(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS)
    assert bool(env.group_map) == game.info.simultaneous
    if env.group_map:
        check_marl_grouping(env.group_map, list(game.info.players))
    assert all(env.reset()[group].batch_size == (NUM_ENVS, len(players)) for group, players in env.group_map.items())


# ---------------------------------------------------------------- the core's games


@every_game
def test_a_rollout_is_the_games_that_a_vector_plays(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS, seed=5)
    length = game.info.max_turns + 3
    rollout = env.rollout(length, break_when_any_done=False)
    vector = game.vector(NUM_ENVS, seed=5, compile="never")
    assert rollout["next", "done"].any()
    for td in rollout.unbind(1):
        before = vector.state.clone()
        agree(seen(env, td), of_the_core(game, before))
        assert not td["done"].any()
        after, step = game.step(before, td[env.action_key]), vector.step(td[env.action_key])
        agree(seen(env, td["next"]), of_the_core(game, after))
        assert torch.equal(td["next", env.reward_key].flatten(1), step.rewards)
        for name, flags in (("terminated", step.terminated), ("truncated", step.truncated), ("done", after.done)):
            assert torch.equal(td["next", name], flags[:, None])
        if not game.info.simultaneous:
            assert torch.equal(td["current_player"], before.current_player)


@every_game
def test_a_reset_of_some_envs_leaves_the_others_alone(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS, seed=2)
    td = env.rand_step(env.reset())
    before, chosen = env.core_state(), torch.tensor([[False], [True], [False]])
    td = env.reset(step_mdp(td).set("_reset", chosen))
    after = env.core_state()
    assert after[[0, 2]].equal(before[[0, 2]])
    follow = chance.next_seed(seeds(2, NUM_ENVS))
    assert after[1].equal(game.init(follow[1:2]))
    agree(seen(env, td), of_the_core(game, after))
    env.reset(td.set("_reset", torch.zeros_like(chosen)))
    assert env.core_state().equal(after)


@every_game
def test_a_seed_gives_the_same_games_and_envs_do_not_depend_on_each_other(game: Game) -> None:
    env, fewer = TorchRLGame(game, NUM_ENVS, seed=1), TorchRLGame(game, 2, seed=9)
    env.set_seed(9)
    env.reset(), fewer.reset()
    assert env.core_state()[:2].equal(fewer.core_state())
    assert env.core_state().seed.tolist() == seeds(9, NUM_ENVS).tolist()
    env.set_seed(None)
    env.reset()
    unforeseen = env.core_state().seed
    env.set_seed(None)
    env.reset()
    assert not torch.isin(env.core_state().seed, unforeseen).any()


@every_game
def test_a_finished_game_stays_as_it_is_until_it_is_reset(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS)
    td = env.reset()
    for _ in range(game.info.max_turns + 1):
        td = env.rand_step(ready(td))
    assert td["next", "done"].all()
    assert not td["next", env.reward_key].any()
    assert td["next", key(env, "action_mask")].all()
    last = env.core_state()
    env.rand_step(step_mdp(td))
    assert env.core_state().equal(last)


@every_game
def test_a_rollout_until_all_are_done_steps_only_those_that_are_not(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS)
    rollout = env.rollout(game.info.max_turns, break_when_all_done=True)
    assert rollout["next", "done"][:, -1].all()
    assert env.core_state().done.all()


@every_game
def test_a_step_of_some_envs_leaves_the_others_alone(game: Game) -> None:
    env = TorchRLGame(game, NUM_ENVS)
    td = env.rand_step(env.reset())
    before, td = env.core_state(), step_mdp(td)
    chosen = torch.tensor([True, False, True])
    actions = first_legal(seen(env, td)[1], game.info.action_nvec)
    actions[1] = -1  # of an env that does not step: nobody looks at it
    td = env.step(td.set(env.action_key, actions).set("_step", chosen))
    after = env.core_state()
    assert after[[0, 2]].equal(game.step(before[[0, 2]], actions[chosen]))
    assert after[1].equal(before[1].replace(rewards=torch.zeros_like(before.rewards[1:2])))
    assert not td["next", env.reward_key][1].any()


@every_game
def test_tensors_are_the_callers_to_change(game: Game) -> None:
    env, twin = TorchRLGame(game, NUM_ENVS), TorchRLGame(game, NUM_ENVS)
    td = env.reset()
    actions = first_legal(seen(env, td)[1], game.info.action_nvec)
    other = twin.step(twin.reset().set(env.action_key, actions.clone()))
    td = env.step(td.set(env.action_key, actions))
    for leaf in td.values(include_nested=True, leaves_only=True):
        leaf.zero_()
    assert env.core_state().equal(twin.core_state())
    agree(seen(env, other["next"]), of_the_core(game, env.core_state()))


# ---------------------------------------------------------------- rewards and actions


def test_rewards_reach_the_winners_seat_in_turns() -> None:
    game = cellgames.make("torus-v0", size=3)
    black_wins = ["a1", "b1", "a2", "c2", "a3", "b1+"]  # a ring; the last move comes too late
    white_wins = ["a2", "a1", "b3", "b1", "c2+", "c1"]  # a bracelet
    moves = torch.tensor([[game.string_to_action(m) for m in line] for line in (black_wins, white_wins)])
    env = TorchRLGame(game, 2)
    rewards, seats, td = [], [], env.reset()
    for column in moves.T:
        td = play(env, td, column)
        rewards.append(td["next", "reward"].tolist())
        seats.append(td["current_player"].tolist())
    nothing = [0.0, 0.0]
    assert rewards == [*[[nothing, nothing]] * 4, [[1.0, -1.0], nothing], [nothing, [-1.0, 1.0]]]
    assert [white for _, white in seats] == [0, 1, 0, 1, 0, 1]
    assert td["next", "terminated"].tolist() == [[True], [True]]


def test_rewards_reach_the_winners_seat_where_all_act_at_once() -> None:
    env = TorchRLGame(Sealed(), 3)
    none = 2  # no guess
    bids = torch.tensor([[3, 1, 0], [0, 3, 1], [2, 2, 1]])
    td = env.reset()
    prize = td["agents", "observation"][:, 0, 1].float()
    td = play(env, td, torch.stack((bids, torch.full_like(bids, none)), -1))
    expected = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]) * prize[:, None]
    assert torch.equal(td["next", "agents", "reward"], expected[..., None])


@pytest.mark.parametrize(
    ("game", "actions", "words"),
    [
        (Race(), [0, 3, 0], "toy-race-v0: illegal action 3 of player .* in env 1: expected a number from 0 to 2"),
        (TwoPartRace(), [[0, 1], [0, 1], [0, 0]], "illegal action 0 of player .* in env 2, component 1: no hat now"),
    ],
    ids=["one number", "two components"],
)
def test_an_illegal_action_is_refused_and_changes_nothing(game: Game, actions: Any, words: str) -> None:
    env = TorchRLGame(game, NUM_ENVS)
    td, before = env.reset(), env.core_state()
    with pytest.raises(ValueError, match=words):
        play(env, td, actions)
    assert env.core_state() is before


def test_a_batch_without_envs_is_refused() -> None:
    with pytest.raises(ValueError, match="toy-race-v0: expected from 1 to"):
        TorchRLGame(Race(), 0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_game
def test_the_games_are_the_same_on_a_gpu(game: Game) -> None:
    env, there = TorchRLGame(game, NUM_ENVS), TorchRLGame(game, NUM_ENVS).to("cuda")
    check_env_specs(there, seed=0)
    env.set_seed(4), there.set_seed(4)
    td, moved = env.reset(), there.reset()
    for _ in range(game.info.max_turns):
        actions = first_legal(seen(env, td)[1], game.info.action_nvec)
        td = env.step_and_maybe_reset(td.set(env.action_key, actions))[1]
        moved = there.step_and_maybe_reset(moved.set(env.action_key, actions.cuda()))[1]
        assert env.core_state().equal(there.core_state())
    assert isinstance(moved, TensorDict)
    assert moved.device.type == "cuda"
