"""Games as RLlib's environments: its own check and runner, the core's games step by step, masks, and the example."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from every_game import GAMES, every_game
from paths import ROOT
from pettingzoo_play import raw
from slow import slow_except
from toy_games import TwoPartRace, random_actions

import cellgames
from cellgames.envs.adapters.pettingzoo_aec import wrapped
from cellgames.envs.core import Game, seeds

pytest.importorskip("ray.rllib")

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from cellgames.envs.adapters.rllib import MaskedAPPOModule, MaskedPPOModule, RLlibGame, register

TORUS: Game = cellgames.make("torus-v0", size=3)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*Overriding environment:UserWarning"
)  # of every runner after the first

EXAMPLE = ROOT / "examples" / "rllib_ppo.py"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One for all tests that need one."""
    from cellgames.cluster.connection import connected

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_worker_niceness", "0")  # else workers starve where other processes are busy
    with connected(cores=2) as ray:
        yield ray
    patch.undo()


def runner(game: Game, num_envs: int = 2, seed: int = 5, worker: int = 0) -> MultiAgentEnvRunner:
    """RLlib's, playing with a fresh masked network."""
    spec = RLModuleSpec(module_class=MaskedPPOModule, model_config={"fcnet_hiddens": [8]})
    config = (
        PPOConfig()
        .environment(RLlibGame, env_config={"game": game})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs)
        .multi_agent(policies={"all"}, policy_mapping_fn=lambda agent, episode, **_: "all")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"all": spec}))
        .debugging(seed=seed)
    )
    return MultiAgentEnvRunner(config=config, worker_index=worker)


def core_seed(seed: int) -> torch.Tensor:
    return torch.tensor([seed])


def expected_observation(game: Game, state: Any, seat: int) -> dict[str, np.ndarray]:
    """What a seat observes, by the core."""
    mask = game.legal_actions(state)
    row = mask[0, seat] if game.info.simultaneous else mask[0] & (state.current_player[0] == seat)
    return {"observation": game.observe(state, seat)[0].numpy(), "action_mask": row.to(torch.int8).numpy()}


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert set(ours) == set(theirs)
    for name, view in ours.items():
        assert view.dtype == theirs[name].dtype
        assert np.array_equal(view, theirs[name])


def drawn(game: Game, env: RLlibGame, generator: torch.Generator) -> tuple[torch.Tensor, dict[str, Any]]:
    """Random legal actions, as the core and as RLlib take them."""
    state = env.core_state()
    actions = random_actions(game, state, generator)
    if game.info.simultaneous:
        return actions, dict(zip(game.info.players, actions[0].numpy(), strict=True))
    return actions, {game.info.players[int(state.current_player)]: actions[0].numpy()}


# ---------------------------------------------------------------- environments


@every_game
def test_rllibs_check_passes_and_spaces_hold_what_is_seen(game: Game) -> None:
    env = RLlibGame({"game": game})
    check_multiagent_environments(env)
    observations, _ = env.reset(seed=1)
    assert all(env.observation_spaces[agent].contains(seen) for agent, seen in observations.items())


@every_game
def test_a_game_is_the_cores(game: Game) -> None:
    env, generator, players = RLlibGame({"game": game}), torch.Generator().manual_seed(1), game.info.players
    state = game.init(core_seed(3))
    observations, infos = env.reset(seed=3)
    while not state.done:
        movers = range(len(players)) if game.info.simultaneous else [int(state.current_player)]
        assert set(observations) == set(infos) == {players[seat] for seat in movers}
        for seat in movers:
            same(observations[players[seat]], expected_observation(game, state, seat))
        actions, given = drawn(game, env, generator)
        state = game.step(state, actions)
        observations, rewards, terminated, truncated, infos = env.step(given)
        assert rewards == dict(zip(players, state.rewards[0].tolist(), strict=True))
        assert terminated == dict.fromkeys((*players, "__all__"), bool(state.terminated))
        assert truncated == dict.fromkeys((*players, "__all__"), bool(state.truncated))
    assert env.core_state().equal(state)
    assert set(observations) == set(players)
    for seat, player in enumerate(players):
        same(observations[player], expected_observation(game, state, seat))
    env.reset()
    assert not env.core_state().done


@every_game
def test_rllibs_own_wrappers_of_the_pettingzoo_environments_agree(game: Game) -> None:
    """They tell a seat its rewards when it observes again; masks of several components come as a tuple."""
    simultaneous = game.info.simultaneous
    theirs = ParallelPettingZooEnv(raw(game)) if simultaneous else PettingZooEnv(wrapped(raw(game)))
    ours, generator = RLlibGame({"game": game}), torch.Generator().manual_seed(2)
    observations, others = ours.reset(seed=4)[0], theirs.reset(seed=4)[0]
    earned: dict[str, float] = defaultdict(float)
    waiting: dict[str, float] = defaultdict(float)
    done = False
    while not done:
        assert set(observations) == set(others)
        for agent, seen in observations.items():
            mask = others[agent]["action_mask"]
            flat = np.concatenate(mask) if isinstance(mask, tuple) else mask
            same(seen, {"observation": others[agent]["observation"], "action_mask": flat})
        _, given = drawn(game, ours, generator)
        observations, rewards, terminated, truncated, _ = ours.step(given)
        others, other_rewards, other_ends, other_cuts, _ = theirs.step(given)
        for agent, reward in rewards.items():
            waiting[agent] += reward
        for agent in others:
            earned[agent] += waiting.pop(agent)
            assert other_rewards[agent] == pytest.approx(earned.pop(agent))
        assert (terminated["__all__"], truncated["__all__"]) == (other_ends["__all__"], other_cuts["__all__"])
        done = terminated["__all__"] or truncated["__all__"]


def test_an_illegal_action_loses_a_game_in_turns_and_is_replaced_where_all_act_at_once() -> None:
    env = RLlibGame({"game": "torus-v0", "size": 3})
    env.reset(seed=0)
    env.step({"black": 4})
    observations, rewards, terminated, _, infos = env.step({"white": 4})
    assert rewards == {"black": 0.0, "white": -1.0}
    assert terminated == {"black": True, "white": True, "__all__": True}
    assert set(observations) == {"black", "white"}
    assert "white" in infos["white"]["illegal_action"]
    assert "illegal_action" not in infos["black"]

    grid = GAMES["grid-adaptation-v0"]
    env = RLlibGame({"game": grid})
    observations, _ = env.reset(seed=0)
    wrong = np.array([n - 1 for n in grid.info.action_nvec])
    masks = np.split(observations["player_0"]["action_mask"], np.cumsum(grid.info.action_nvec)[:-1])
    assert not all(mask[-1] for mask in masks)
    legal = drawn(grid, env, torch.Generator().manual_seed(0))[1]
    *_, terminated, _, infos = env.step(legal | {"player_0": wrong})
    assert "played" in infos["player_0"]["illegal_action"]
    assert not terminated["__all__"]


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ({"black": 99}, "99 of 'black' is no action"),
        ({"nobody": 0}, "0 of 'nobody' is no action"),
        ({"white": 0}, "expected an action of 'black', got those of white"),
        ({"black": 0, "white": 0}, "expected an action of 'black'"),
        ({}, "expected an action of 'black'"),
    ],
)
def test_what_is_no_action_is_refused_and_changes_nothing(actions: Any, words: str) -> None:
    env = RLlibGame({"game": TORUS})
    env.reset(seed=0)
    before = env.core_state()
    with pytest.raises(ValueError, match=words):
        env.step(actions)
    assert env.core_state().equal(before)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, 'to have "game", an id or the rules, got None'),
        ({"game": "torus-v9"}, "unknown game 'torus-v9'"),
        ({"game": "torus-v0", "sice": 3}, "unknown parameter 'sice'"),
        ({"game": TORUS, "size": 3}, "the rules have their parameters, got size"),
    ],
)
def test_a_config_without_a_game_is_refused(config: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RLlibGame(config)


def test_runners_that_stand_side_by_side_do_not_play_the_same_dice() -> None:
    """RLlib gives game 1 of runner 1 the seed that game 0 of runner 2 gets."""
    starts = [
        int(env.unwrapped.core_state().seed)
        for worker in (1, 2)
        for env in _reset(runner(GAMES["toy-sealed-v0"], num_envs=2, worker=worker)).env.envs
    ]
    assert len(set(starts)) == 4


def _reset(playing: MultiAgentEnvRunner) -> MultiAgentEnvRunner:
    playing._reset_envs_and_episodes(True)
    return playing


def test_the_names_of_pettingzoos_registry_serve_with_parameters() -> None:
    from ray.tune.registry import ENV_CREATOR, _global_registry

    names = register()
    assert register() == names
    assert "cellgames/torus-small-v0" in names
    creator = _global_registry.get(ENV_CREATOR, "cellgames/torus-v0")
    config = EnvContext({"size": 4}, worker_index=2)
    assert creator(config).game == cellgames.make("torus-v0", size=4)
    assert dict(config) == {"size": 4}
    env = creator({})
    env.reset(seed=1)
    assert env.game == cellgames.make("torus-v0")


def test_render_gives_what_the_config_asks_for() -> None:
    env = RLlibGame({"game": TORUS, "render_mode": "ansi"})
    env.reset(seed=0)
    assert env.render() == TORUS.text(env.core_state())


# ---------------------------------------------------------------- what RLlib's runner plays


@pytest.mark.parametrize(
    "game",
    slow_except(["torus-small-v0", "grid-adaptation-small-v0", "toy-two-part-race-v0"], GAMES.values(), GAMES),
)
def test_what_the_runner_samples_is_legal_and_is_the_cores_games(game: Game) -> None:
    _sampled_games_are_the_cores(game, explore=True)


@pytest.mark.parametrize("game", [TORUS, GAMES["grid-adaptation-v0"]], ids=["in turns", "all at once"])
def test_what_the_runner_samples_without_exploring_is_legal(game: Game) -> None:
    _sampled_games_are_the_cores(game, explore=False)


def _sampled_games_are_the_cores(game: Game, explore: bool) -> None:
    """Chunks of games are put together by seat, then played again: actions, masks, rewards credited, ends."""
    playing = runner(game)
    length = game.info.max_turns // 3 + 1
    chunks = [chunk for _ in range(3) for chunk in playing.sample(num_timesteps=2 * length, explore=explore)]
    games: dict[str, list[Any]] = defaultdict(list)
    for chunk in chunks:
        games[chunk.id_].append(chunk)
    first = list(games)[:2]  # of the two envs; later ones have the seeds that follow
    assert any(games[id][-1].is_done for id in first)
    for env_id, id in enumerate(first):
        _replay(game, core_seed(5 + env_id), games[id])
    playing.stop()


def _replay(game: Game, seed: torch.Tensor, chunks: list[Any]) -> None:
    players = game.info.players
    acts: dict[str, list[Any]] = {player: [] for player in players}
    views: dict[str, list[Any]] = {player: [] for player in players}
    credited: dict[str, list[float]] = {player: [] for player in players}
    for chunk in chunks:
        for player, part in chunk.agent_episodes.items():
            acts[player] += list(part.get_actions())
            credited[player] += list(part.get_rewards())
            seen = part.get_observations()
            views[player] += [{name: seen[name][i] for name in seen} for i in range(len(part))]
    done = chunks[-1].is_done
    state, earned = game.init(seed), {player: list[float]() for player in players}
    while not state.done:
        movers = list(players) if game.info.simultaneous else [players[int(state.current_player)]]
        steps = [len(earned[player]) for player in movers]
        if any(step >= len(acts[player]) for player, step in zip(movers, steps, strict=True)):
            break
        for player, step in zip(movers, steps, strict=True):
            same(views[player][step], expected_observation(game, state, players.index(player)))
        rows = [np.asarray(acts[player][step]) for player, step in zip(movers, steps, strict=True)]
        actions = torch.tensor(np.stack(rows)).long()
        state = game.step(state, actions[None] if game.info.simultaneous else actions)  # raises if illegal
        for player in movers:
            earned[player].append(0.0)
        for player, reward in zip(players, state.rewards[0].tolist(), strict=True):
            if earned[player]:  # what comes before a seat's first action is no action's reward
                earned[player][-1] += reward
    assert bool(state.done) == done
    for player in players:
        assert len(acts[player]) == len(earned[player])
        complete = len(earned[player]) if done else len(earned[player]) - 1
        assert credited[player][:complete] == pytest.approx(earned[player][:complete])
    # Games that are cut off have their result: RLlib must not add the value of what will not be played.
    assert chunks[-1].is_terminated == done


# ---------------------------------------------------------------- modules


def module(game: Game, kind: type[RLModule] = MaskedPPOModule, **model: Any) -> Any:
    env = RLlibGame({"game": game})
    agent = env.possible_agents[0]
    torch.manual_seed(0)
    return RLModuleSpec(
        module_class=kind,
        observation_space=env.observation_spaces[agent],
        action_space=env.action_spaces[agent],
        model_config={"fcnet_hiddens": [16], **model},
    ).build()


def batch_of(game: Game, mask: torch.Tensor) -> dict[str, Any]:
    space = game.info.observation
    planes = torch.randint(0, 2, (*mask.shape[:-1], *space.shape), generator=torch.Generator().manual_seed(0))
    return {Columns.OBS: {"observation": planes.to(space.dtype), "action_mask": mask.to(torch.int8)}}


@pytest.mark.parametrize("game", [TORUS, TwoPartRace()], ids=["one number", "two components"])
@pytest.mark.parametrize("kind", [MaskedPPOModule, MaskedAPPOModule])
def test_what_is_illegal_has_no_probability_anywhere(game: Game, kind: type[RLModule]) -> None:
    network, info = module(game, kind), game.info
    mask = torch.rand((500, info.num_actions), generator=torch.Generator().manual_seed(1)) < 0.3
    for part in mask.split(list(info.action_nvec), 1):
        part[:, 0] |= ~part.any(1)
    batch = batch_of(game, mask)
    for forward, kind_of in (
        (network.forward_inference, network.get_inference_action_dist_cls()),
        (network.forward_exploration, network.get_exploration_action_dist_cls()),
        (network.forward_train, network.get_train_action_dist_cls()),
    ):
        given = kind_of.from_logits(forward(batch)[Columns.ACTION_DIST_INPUTS])
        for distribution in (given, given.to_deterministic()):
            choices = torch.stack([distribution.sample().view(500, -1) for _ in range(20)])
            assert info.admits(mask.expand(20, -1, -1), choices.long()).all()
        assert given.entropy().isfinite().all()
    assert batch[Columns.OBS]["observation"].dtype == info.observation.dtype  # as it was given


@pytest.mark.parametrize("game", [TORUS, TwoPartRace()], ids=["one number", "two components"])
def test_a_single_legal_action_is_certain_and_after_the_end_nothing_breaks(game: Game) -> None:
    network, nvec = module(game), game.info.action_nvec
    mask = torch.zeros((2, game.info.num_actions))
    starts = np.cumsum(nvec) - nvec
    mask[0, starts + 1] = 1  # the second choice of each component; nothing is legal in the other row
    batch = batch_of(game, mask)
    outputs = network.forward_train(batch)
    distribution = network.get_train_action_dist_cls().from_logits(outputs[Columns.ACTION_DIST_INPUTS])
    only = torch.ones((2, len(nvec)), dtype=torch.int64).view(2, *(() if len(nvec) == 1 else (len(nvec),)))
    logp = distribution.logp(only)
    assert logp[0] == 0
    assert distribution.entropy()[0] == 0
    assert logp.isfinite().all()
    (logp.sum() + distribution.entropy().sum() + network.compute_values(batch).sum()).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())


def test_networks_are_as_the_model_config_asks() -> None:
    """Convolutions see the planes as channels; recurrent ones get a time dimension; both keep to the masks."""
    mask = torch.zeros((4, TORUS.info.num_actions))
    mask[:, 5] = 1
    image = module(TORUS, conv_filters=[[8, 3, 1]])
    first = next(p for name, p in image.named_parameters() if "cnn" in name and p.ndim == 4)
    assert first.shape[1] == TORUS.info.observation.shape[0]
    assert (image.forward_inference(batch_of(TORUS, mask))[Columns.ACTION_DIST_INPUTS].argmax(1) == 5).all()

    recurrent = module(TORUS, use_lstm=True, max_seq_len=3)
    state = {name: value[None].expand(4, *value.shape) for name, value in _flat_state(recurrent).items()}
    batch = batch_of(TORUS, mask[:, None].expand(-1, 3, -1))
    outputs = recurrent.forward_inference({**batch, Columns.STATE_IN: state})
    assert outputs[Columns.ACTION_DIST_INPUTS].shape == (4, 3, TORUS.info.num_actions)
    assert (outputs[Columns.ACTION_DIST_INPUTS].argmax(-1) == 5).all()


def _flat_state(network: Any) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(value) for name, value in network.get_initial_state().items()}


def test_a_module_comes_back_from_its_checkpoint(tmp_path: Path) -> None:
    network, mask = module(TORUS), torch.ones((3, TORUS.info.num_actions))
    network.save_to_path(tmp_path / "module")
    again = RLModule.from_checkpoint(tmp_path / "module")
    batch = batch_of(TORUS, mask)
    expected = network.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
    assert torch.equal(again.forward_inference(batch)[Columns.ACTION_DIST_INPUTS], expected)


def test_observations_without_masks_are_refused() -> None:
    env = RLlibGame({"game": TORUS})
    with pytest.raises(ValueError, match="expected a Dict space with observation and action_mask, got Box"):
        RLModuleSpec(
            module_class=MaskedPPOModule,
            observation_space=env.observation_spaces["black"]["observation"],
            action_space=env.action_spaces["black"],
            model_config={},
        ).build()


# ---------------------------------------------------------------- the example


@pytest.fixture(scope="module")
def example() -> Any:
    spec = spec_from_file_location("rllib_ppo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.ray
@pytest.mark.parametrize(
    "game", slow_except(["all at once"], [TORUS, GAMES["grid-adaptation-small-v0"]], ["in turns", "all at once"])
)
def test_the_examples_iterations_train_and_its_agent_plays(example: Any, cluster: Any, game: Game) -> None:
    algorithm = example.settings(game.id, game.parameters, envs=2, steps=60).debugging(seed=0).build_algo()
    before = {name: p.clone() for name, p in algorithm.get_module(example.POLICY).named_parameters()}
    example.train(algorithm, 2)
    trained = algorithm.get_module(example.POLICY)
    assert any(not torch.equal(before[name], p) for name, p in trained.named_parameters() if name.startswith("pi"))
    assert all(p.isfinite().all() for p in trained.parameters())
    assert 0 <= example.against_random(game, algorithm, games=4) <= 1
    likeliest = example.RLlibAgent(trained, sample=False)
    state = game.init(seeds(0, 3))
    env_ids = torch.arange(3)
    mask = game.legal_actions(state)
    mask = mask[:, 0] if game.info.simultaneous else mask
    chosen = likeliest.act(game.observe(state, 0), mask, env_ids, torch.Generator())
    assert game.info.admits(mask, chosen.view(3, -1)).all()
    algorithm.stop()


@pytest.mark.slow
@pytest.mark.ray
def test_the_example_runs_with_a_worker_and_leaves_a_checkpoint(
    example: Any, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["--size", "3", "--iterations", "1", "--batch", "100", "--workers", "1", "--out", str(out)]
    assert example.main(words) == 0
    printed = capsys.readouterr().out
    assert "iteration   1" in printed
    assert printed.count("against random") == 2
    module = RLModule.from_checkpoint(out / "learner_group" / "learner" / "rl_module" / example.POLICY)
    assert isinstance(module, MaskedPPOModule)
    assert cluster.is_initialized()  # it was there before, so it is left as it is


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", "3"], "ask for: 3; the cluster has 2"),
        (
            ["--workers", "0", "--learners", "1", "--gpus", "1"],
            "GPUs that --workers, --learners and --gpus ask for: 1;",
        ),
        (["--workers", "-1"], "--workers must be at least 0, got -1"),
        (["--iterations", "0"], "--iterations must be at least 1, got 0"),
        (["--gpus", "nan"], "--gpus must be at least 0, got nan"),
    ],
)
@pytest.mark.ray
def test_what_would_wait_for_ever_or_do_nothing_is_refused(
    example: Any, cluster: Any, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "GPU" in cluster.cluster_resources() and said.startswith("GPUs"):
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit, match="2"):
        example.main(words)
    assert said in capsys.readouterr().err


def test_a_cluster_started_by_the_example_has_a_core_for_each_process(
    example: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def connected(address: str, cores: int) -> Any:
        asked.append(cores)
        raise example.ClusterError("seen enough")

    monkeypatch.setattr(example, "connected", connected)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for words in (["--workers", "8", "--learners", "3"], ["--workers", "0"]):
        with pytest.raises(SystemExit):
            example.main(words)
    assert asked == [12, 2]


def test_the_example_names_the_games_it_knows(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        example.main(["--game", "torrus-v0"])
    assert stop.value.code == 2
    assert "did you mean 'torus-v0'" in capsys.readouterr().err
