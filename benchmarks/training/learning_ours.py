"""Learning Torus n = 5, and what the way there costs: `python -m benchmarks.training.learning_ours NAME`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.measurement import Measurement, serve, timed
from benchmarks.training.learning_maskable import LARGE_BATCHES, Settings, learn

if TYPE_CHECKING:
    from cellgames.envs.core import Game
    from cellgames.training.ppo.ppo import PPO

__all__ = ["OURS", "PRESET", "QUICK", "make_ppo"]

SIZE = 5
NUM_ENVS = 512
STEPS_PER_CALL = 20

_NUM_STEPS = 32


@dataclass(frozen=True)
class Learning:
    """How the PPO on the device is run.

    Attributes:
        num_envs: games at the same time.
        channels: of its network.
        layers: of it.
        settings: as for its rivals.
    """

    num_envs: int
    channels: int
    layers: int
    settings: Settings

    def __str__(self) -> str:
        return f"{self.num_envs} games; {self.channels} channels, {self.layers} layers; {self.settings}"


QUICK = Learning(NUM_ENVS, 16, 2, Settings(rollout=NUM_ENVS * _NUM_STEPS, batch=2048, epochs=1))
PRESET = Learning(128, 32, 4, Settings(rollout=128 * _NUM_STEPS, batch=512, epochs=4))  # of `cellgames train`


def _game() -> Any:
    import cellgames

    return cellgames.make("torus-v0", size=SIZE)


def _measured(name: str, moves: int, elapsed: float, num_envs: int = NUM_ENVS) -> Measurement:
    import cellgames

    about = f"{cellgames.__version__} (torch {version('torch')})"
    return Measurement(name, "cellgames", about, num_envs, "agent steps", moves, elapsed)


def _random_legal(mask: npt.NDArray[np.bool_], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each row of bool [B, A]; the same work for both contestants that play at random."""
    actions: npt.NDArray[np.int64] = (mask * random.random(mask.shape, np.float32)).argmax(1)
    return actions


def core(seconds: float) -> Measurement:
    """For each agent step its move, with observation and mask, and a random one of an opponent; eager, as there."""
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
    return _measured("core", *timed(play, seconds))


def adapter(seconds: float) -> Measurement:
    """The same through the `VecEnv` for Stable-Baselines3, with a random opponent inside."""
    from cellgames.envs.adapters.sb3 import SeatVecEnv

    env = SeatVecEnv(_game(), NUM_ENVS, seed=0)
    env.reset()
    random = np.random.default_rng(0)

    def play() -> int:
        for _ in range(STEPS_PER_CALL):
            env.step(_random_legal(np.stack(env.env_method("action_masks")), random))
        return STEPS_PER_CALL * NUM_ENVS

    play()
    return _measured("sb3_adapter", *timed(play, seconds))


def maskable_ppo(seconds: float, *, name: str, num_envs: int, settings: Settings) -> Measurement:
    """MaskablePPO on that `VecEnv`, against a random opponent, whose moves are not counted."""
    from cellgames.envs.adapters.sb3 import SeatVecEnv

    env = SeatVecEnv(_game(), num_envs, seed=0)
    return learn(name, "cellgames", env, num_envs, settings, seconds)


def make_ppo(game: Game, how: Learning, folder: Path, device_name: str = "cpu") -> PPO:
    """Return PPO of a new network that plays itself; `folder` is for its opponents, of which there are none."""
    import torch

    from cellgames.agents.networks.networks import Size, make_network
    from cellgames.training.ppo.ppo import PPO, Hyperparameters
    from cellgames.training.selfplay.opponent_mix import SELF, Opponents
    from cellgames.training.selfplay.opponent_pool import Pool
    from cellgames.training.selfplay.rollouts import SelfPlay

    torch.manual_seed(0)
    device = torch.device(device_name)
    network = make_network(game, Size(how.channels, how.layers)).to(device)
    hyperparameters = Hyperparameters(
        num_steps=_NUM_STEPS,
        num_epochs=how.settings.epochs,
        minibatch_size=how.settings.batch,
        learning_rate=1e-3,
        gamma=1.0,
        gae_lambda=0.9,
        clip_range=0.2,
        ent_coef=0.01,
        vf_coef=0.5,
        max_grad_norm=0.5,
    )
    play = SelfPlay(game, network, Opponents(game, {SELF: 1.0}, Pool(folder), device), how.num_envs, device)
    play.restart(0)
    return PPO(network, play, hyperparameters)


def device_ppo(seconds: float, *, name: str, how: Learning) -> Measurement:
    """PPO on the core, playing itself; whole iterations, the first left out. Actions that are learned from count."""
    with TemporaryDirectory() as folder:
        ppo = make_ppo(_game(), how, Path(folder))

        def iterate() -> int:
            _, _, learned = ppo.iterate(0.0)
            return learned

        iterate()
        return _measured(name, *timed(iterate, seconds), num_envs=how.num_envs)


def _maskable(name: str, num_envs: int, settings: Settings) -> dict[str, Callable[[float], Measurement]]:
    return {name: partial(maskable_ppo, name=name, num_envs=num_envs, settings=settings)}


OURS: dict[str, Callable[[float], Measurement]] = {
    "core": core,
    "sb3_adapter": adapter,
    "device_ppo": partial(device_ppo, name="device_ppo", how=QUICK),
    "device_ppo_preset": partial(device_ppo, name="device_ppo_preset", how=PRESET),
    **_maskable("maskable_ppo", NUM_ENVS, LARGE_BATCHES),
}

if __name__ == "__main__":
    sys.exit(serve(OURS))
