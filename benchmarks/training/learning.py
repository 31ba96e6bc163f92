"""Agent steps a second of learning, from acting to the optimizer: `python -m benchmarks.training.learning`.

Ours learn Torus n = 5. The others are MaskablePPO on PettingZoo's connect_four, alone and through SuperSuit.
PettingZoo's tutorial "SB3: Action Masked PPO for Connect Four" is the model, with three things done differently, since
it asks for Gymnasium 0.29 or older and knows no SuperSuit:

- Its wrapper is a PettingZoo wrapper that sb3-contrib's `ActionMasker` takes for a Gymnasium environment. Gymnasium 1
  does not, so `OnePlayerAtATime` is a `gymnasium.Env`; its `action_masks` serves MaskablePPO without `ActionMasker`.
- SuperSuit's `pettingzoo_env_to_vec_env_v1`, which PettingZoo's other tutorials use, takes parallel environments only,
  and its vector environments hand on no masks. So the copies come from `stable_baselines3_vec_env_v0`, in this
  process (SB3's DummyVecEnv) or in one each (SubprocVecEnv).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from benchmarks.harness import Benchmark, Row, Work, timed

if TYPE_CHECKING:
    from cellgames.envs.core import Game
    from cellgames.training.ppo.ppo import PPO

NUM_ENVS = 512
NUM_STEPS = 32
STEPS_PER_CALL = 20
COPIES = 8


@dataclass(frozen=True)
class Settings:
    """Settings of PPO, with actions of all environments between updates; the rest of MaskablePPO are its defaults."""

    rollout: int
    batch: int
    epochs: int

    def __str__(self) -> str:
        return f"rollouts of {self.rollout:,}, minibatches of {self.batch:,}, {self.epochs} epochs"


@dataclass(frozen=True)
class Learning:
    """Settings of the PPO on the device: games at the same time, its network, and the same as for its rivals."""

    num_envs: int
    channels: int
    layers: int
    settings: Settings

    def __str__(self) -> str:
        return f"{self.num_envs} games; {self.channels} channels, {self.layers} layers; {self.settings}"


TUTORIAL = Settings(rollout=2048, batch=64, epochs=10)  # MaskablePPO's defaults for one environment
LARGE_BATCHES = Settings(rollout=8192, batch=1024, epochs=4)
QUICK = Learning(NUM_ENVS, 16, 2, Settings(rollout=NUM_ENVS * NUM_STEPS, batch=2048, epochs=1))
PRESET = Learning(128, 32, 4, Settings(rollout=128 * NUM_STEPS, batch=512, epochs=4))  # of `cellgames train`


def _game() -> Any:
    import cellgames

    return cellgames.make("torus-v0", size=5)


def _random_legal(mask: npt.NDArray[np.bool_], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return a random legal action for each row of bool [B, A]; the same work for both rows that play at random."""
    actions: npt.NDArray[np.int64] = (mask * random.random(mask.shape, np.float32)).argmax(1)
    return actions


def core(seconds: float) -> Work:
    """Measure a move with observation and mask, and a random one of an opponent, for each agent step; eager."""
    import torch

    game = _game()
    vector = game.vector(NUM_ENVS, compile="never")
    random, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)

    def play() -> int:
        for _ in range(STEPS_PER_CALL):
            game.observe(vector.state, vector.state.current_player)
            actions = _random_legal(vector.legal_actions.numpy(), random)
            vector.step(torch.from_numpy(actions), checked=False)
            vector.step_random(generator)
        return STEPS_PER_CALL * NUM_ENVS

    play()
    return timed(play, seconds)


def adapter(seconds: float) -> Work:
    """Measure the same through the `VecEnv` for Stable-Baselines3, with a random opponent inside."""
    from cellgames.envs.adapters.sb3 import SeatVecEnv

    env, random = SeatVecEnv(_game(), NUM_ENVS, seed=0), np.random.default_rng(0)
    env.reset()

    def play() -> int:
        for _ in range(STEPS_PER_CALL):
            env.step(_random_legal(np.stack(env.env_method("action_masks")), random))
        return STEPS_PER_CALL * NUM_ENVS

    play()
    return timed(play, seconds)


def make_ppo(game: Game, how: Learning, folder: Path, device_name: str = "cpu") -> PPO:
    """Return PPO of a new network that plays itself; `folder` is for its opponents, of which there are none."""
    import torch

    from cellgames.agents.networks.networks import Size, make_network
    from cellgames.training.ppo.ppo import PPO, Hyperparameters
    from cellgames.training.selfplay.opponents import SELF, Opponents, Pool
    from cellgames.training.selfplay.rollouts import SelfPlay

    torch.manual_seed(0)
    device = torch.device(device_name)
    network = make_network(game, Size(how.channels, how.layers)).to(device)
    sizes: dict[str, Any] = {
        "num_steps": NUM_STEPS,
        "num_epochs": how.settings.epochs,
        "minibatch_size": how.settings.batch,
    }
    rates: dict[str, Any] = {"learning_rate": 1e-3, "gamma": 1.0, "gae_lambda": 0.9, "clip_range": 0.2}
    hyperparameters = Hyperparameters(**sizes, **rates, ent_coef=0.01, vf_coef=0.5, max_grad_norm=0.5)
    play = SelfPlay(game, network, Opponents(game, {SELF: 1.0}, Pool(folder), device), how.num_envs, device)
    play.restart(0)
    return PPO(network, play, hyperparameters)


def device_ppo(seconds: float, how: Learning) -> Work:
    """Measure PPO on the core, playing itself: actions learned from, in whole iterations, the first left out."""
    with TemporaryDirectory() as folder:
        ppo = make_ppo(_game(), how, Path(folder))
        ppo.iterate(0.0)
        return timed(lambda: ppo.iterate(0.0)[2], seconds)


def _maskable(env: Any, num_envs: int, settings: Settings, seconds: float) -> Work:
    """Measure `MaskablePPO("MlpPolicy", env).learn`, the first iteration left out.

    An agent step is an action of the policy that learns, with its share of the updates.
    """
    from sb3_contrib import MaskablePPO

    sizes: dict[str, Any] = {"n_steps": settings.rollout // num_envs, "batch_size": settings.batch}
    model = MaskablePPO("MlpPolicy", env, **sizes, n_epochs=settings.epochs, seed=0, device="cpu")

    def iterate() -> int:
        before = model.num_timesteps
        model.learn(settings.rollout, reset_num_timesteps=False)
        return int(model.num_timesteps - before)

    iterate()
    return timed(iterate, seconds)


def maskable_ppo(seconds: float) -> Work:
    """Measure MaskablePPO on the `VecEnv`, against a random opponent, whose moves are not counted."""
    from cellgames.envs.adapters.sb3 import SeatVecEnv

    return _maskable(SeatVecEnv(_game(), NUM_ENVS, seed=0), NUM_ENVS, LARGE_BATCHES, seconds)


class OnePlayerAtATime(gymnasium.Env[npt.NDArray[np.int8], int]):
    """An AEC environment of two players as one environment in which the policy plays both, move by move.

    As in the tutorial, an observation is that of the player to act, and a reward that of the one who has acted.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        player = env.possible_agents[0]
        self.observation_space = env.observation_space(player)["observation"]
        self.action_space = env.action_space(player)
        self._seen: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Start a new game."""
        super().reset(seed=seed)
        self.env.reset(seed=seed)
        return self._observe(), {}

    def step(self, action: int) -> tuple[npt.NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play a move of the player whose turn it is."""
        mover = self.env.agent_selection
        self.env.step(int(action))
        ends = self.env.terminations[mover], self.env.truncations[mover]
        return self._observe(), float(self.env.rewards[mover]), *ends, {}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the mask of the player to act, bool [A]."""
        mask: npt.NDArray[np.bool_] = self._seen["action_mask"].astype(np.bool_)
        return mask

    def _observe(self) -> npt.NDArray[np.int8]:
        self._seen = self.env.observe(self.env.agent_selection)
        observation: npt.NDArray[np.int8] = self._seen["observation"]
        return observation


def _connect_four() -> OnePlayerAtATime:
    import pettingzoo

    return OnePlayerAtATime(pettingzoo.make("aec", "classic/connect_four-v3"))


def pettingzoo_tutorial(seconds: float) -> Work:
    """Measure one environment, as the tutorial has it."""
    return _maskable(_connect_four(), 1, TUTORIAL, seconds)


def supersuit(seconds: float, *, settings: Settings, processes: bool = False) -> Work:
    """Measure `COPIES` of it by SuperSuit."""
    import supersuit

    env = supersuit.stable_baselines3_vec_env_v0(_connect_four(), COPIES, processes)
    try:
        return _maskable(env, COPIES, settings, seconds)
    finally:
        env.close()


_FOUR = "MaskablePPO, MlpPolicy, playing itself in connect_four_v3; "
_TORUS = "Torus n = 5, "
_RIVAL = "supersuit_large_batches"  # not the slower one with the tutorial's settings
_SB3 = "sb3-contrib"
_AGAINST_RANDOM = "on that VecEnv against a random opponent"


def _ours(name: str, about: str, measure: Any, rival: str = "", batch: int = NUM_ENVS) -> Row:
    return Row(name, _TORUS + about, measure, "agent steps", batch, rival)


def _copies(name: str, where: str, settings: Settings, processes: bool = False) -> Row:
    about = f"{_FOUR}{COPIES} copies by SuperSuit{where}; {settings}"
    measure = partial(supersuit, settings=settings, processes=processes)
    return Row(name, about, measure, "agent steps", COPIES, packages=("supersuit", _SB3))


LEARNING = Benchmark(
    "Learning: agent steps a second, end to end",
    "benchmarks.training.learning",
    Path("results/benchmarks/learning.md"),
    (
        _ours("core", "no learning: a random move of the agent and one of an opponent, on the bare core", core),
        _ours("sb3_adapter", "no learning: the same through the VecEnv for Stable-Baselines3", adapter, "core"),
        *(
            _ours(name, f"{about}; {how}", partial(device_ppo, how=how), rival, how.num_envs)
            for name, about, how, rival in (
                ("device_ppo", "PPO on the core, playing itself, a small network", QUICK, "supersuit_tutorial"),
                ("device_ppo_preset", "the same as `cellgames train` runs it", PRESET, _RIVAL),
            )
        ),
        _ours("maskable_ppo", f"MaskablePPO, MlpPolicy, {_AGAINST_RANDOM}; {LARGE_BATCHES}", maskable_ppo, _RIVAL),
        Row(
            *("pettingzoo_tutorial", f"{_FOUR}as in PettingZoo's tutorial; {TUTORIAL}", pettingzoo_tutorial),
            "agent steps",
            packages=("pettingzoo", _SB3),
        ),
        _copies("supersuit_tutorial", "", TUTORIAL),
        _copies("supersuit_large_batches", "", LARGE_BATCHES),
        _copies("supersuit_processes", f" in {COPIES} processes", LARGE_BATCHES, processes=True),
    ),
)

if __name__ == "__main__":
    sys.exit(LEARNING.main())
