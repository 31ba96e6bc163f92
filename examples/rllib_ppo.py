"""Self-play PPO on a game of the suite with RLlib, with masks, and how well it then plays against random.

    pip install "cellgames[rllib]"
    python examples/rllib_ppo.py --game torus-v0 --size 3

One network plays every seat. The rules run in RLlib's env runners: `--workers 8` gives it eight processes for them,
and on a cluster started by `ray start` they spread over its machines (`--address auto`). `--learners 1 --gpus 1` moves
the learner to a process of its own with a GPU; with more learners each takes a share of every batch.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.cluster import LOCAL, ClusterError, connected
from cellgames.envs import Game
from cellgames.envs.adapters import rllib
from cellgames.training import compare

POLICY = "every_seat"


class RLlibAgent(BaseAgent):
    """A trained module as the suite's agents are: asked for all games at once, for matches, tables and the page."""

    def __init__(self, module: RLModule, *, sample: bool = True, name: str = "rllib") -> None:
        super().__init__(name)
        self.module, self.sample = module, sample

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Draw actions as likely as the module says, or take the likeliest."""
        batch = {Columns.OBS: {"observation": observation, "action_mask": action_mask}}
        logits = self.module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
        space = self.module.action_space
        parts = [
            torch.multinomial(part.softmax(-1), 1, generator=generator)[:, 0] if self.sample else part.argmax(-1)
            for part in logits.split([int(space.n)] if hasattr(space, "n") else space.nvec.tolist(), -1)
        ]
        return parts[0] if len(parts) == 1 else torch.stack(parts, -1)


def settings(
    game: str, parameters: dict[str, Any], *, workers: int = 0, envs: int = 16, steps: int = 4000
) -> PPOConfig:
    """PPO with one masked network for all seats, on `steps` steps an iteration."""
    rllib.register()
    module = RLModuleSpec(module_class=rllib.MaskedPPOModule, model_config={"fcnet_hiddens": [128, 128]})
    return (
        PPOConfig()
        .environment(f"cellgames/{game}", env_config=parameters)
        .env_runners(num_env_runners=workers, num_envs_per_env_runner=envs)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .training(lr=1e-3, gamma=1.0, lambda_=0.95, entropy_coeff=0.003, vf_clip_param=10.0, use_kl_loss=False)
        .training(train_batch_size_per_learner=steps, minibatch_size=min(steps, 500), num_epochs=8)
    )


def train(algorithm: Algorithm, iterations: int) -> None:
    """Iterations of PPO, a line each."""
    started = time.monotonic()
    for _ in range(iterations):
        result = algorithm.train()
        played, learned = result["env_runners"], result["learners"][POLICY]
        print(
            f"iteration {result['training_iteration']:3}  steps {int(played['num_env_steps_sampled_lifetime']):8,}  "
            f"moves a game {played.get('episode_len_mean', math.nan):5.1f}  entropy {learned['entropy']:5.2f}  "
            f"value loss {learned['vf_loss']:6.3f}  {time.monotonic() - started:4.0f} s",
            flush=True,
        )


def against_random(game: Game, algorithm: Algorithm, games: int = 500, seed: int = 0) -> float:
    """The share of games that the trained module wins, draws counting half."""
    agent = RLlibAgent(algorithm.get_module(POLICY))
    return compare(game, agent, load("random"), games, seed).ahead


def play_and_learn(config: PPOConfig, game: Game, iterations: int, out: Path | None) -> None:
    """Train, say how good it is before and after, and leave a checkpoint."""
    algorithm = config.build_algo()
    try:
        print(f"against random before training: {against_random(game, algorithm):.1%}", flush=True)
        train(algorithm, iterations)
        print(f"against random: {against_random(game, algorithm):.1%}")
        if out is not None:
            print("checkpoint:", algorithm.save_to_path(out.resolve()))
    finally:
        algorithm.stop()


def check_room(ray: Any, given: argparse.Namespace) -> None:
    """Raise a `ClusterError` if the cluster has no room for the processes: RLlib would wait for it for ever."""
    has: dict[str, float] = ray.cluster_resources()
    needs = {"CPU": given.workers + given.learners, "GPU": given.learners * given.gpus}
    for kind, amount in needs.items():
        if amount > (room := has.get(kind, 0)):
            raise ClusterError(
                f"{kind}s that --workers, --learners and --gpus ask for: {amount:g}; the cluster has {room:g}"
            )
    if given.gpus and not given.learners and not torch.cuda.is_available():
        raise ClusterError(f"--gpus {given.gpus:g}: torch finds no CUDA device for the learner in this process")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="Self-play PPO with RLlib, and how well it then plays.")
    parser.add_argument("--game", default="torus-v0", help="its id; `cellgames list` names them")
    parser.add_argument("--size", type=int, help="of the board; default: the game's own")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4000, help="steps of an iteration")
    parser.add_argument("--workers", type=int, default=2, help="processes that play; 0 plays in this one")
    parser.add_argument("--learners", type=int, default=0, help="processes that learn; 0 learns in this one")
    parser.add_argument("--gpus", type=float, default=0, help="for each learner")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--address", default=LOCAL, help="of a Ray cluster, or auto; by default one started here")
    parser.add_argument("--out", type=Path, help="a folder for RLlib's checkpoint")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Train, as the command line asks."""
    line = parser()
    given = line.parse_args(arguments)
    for name, least in (("iterations", 1), ("batch", 1), ("workers", 0), ("learners", 0), ("gpus", 0)):
        if not (math.isfinite(value := getattr(given, name)) and value >= least):
            line.error(f"--{name} must be at least {least}, got {value}")
    parameters = {} if given.size is None else {"size": given.size}
    try:
        game = cellgames.make(given.game, **parameters)
    except ValueError as error:
        line.error(str(error))

    config = settings(given.game, parameters, workers=given.workers, steps=given.batch).debugging(seed=given.seed)
    config.learners(num_learners=given.learners, num_gpus_per_learner=given.gpus)
    # A core counts as one process; started here, the cluster has as many as are asked for, even if that is slower.
    cores = max(os.cpu_count() or 1, given.workers + given.learners + 1)
    try:
        with connected(given.address, cores) as ray:
            check_room(ray, given)
            play_and_learn(config, game, given.iterations, given.out)
    except ClusterError as error:
        line.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
