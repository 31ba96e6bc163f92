"""Self-play with Tianshou: DQN on the PettingZoo environment, with masks.

    pip install "cellgames[tianshou]"
    python examples/tianshou_dqn.py --game torus-v0 --size 3 --total-steps 60000

One network plays both seats of a zero-sum game for two in which turns alternate (Torus). Three things make that right:

- `n_step_return_horizon` is even. Tianshou keeps the actions of both players in one row, and after one step the
  opponent is to move: what that position is worth is not one's own. Two steps are a move and its answer: the reward of
  either counts, so that the opponent's win is a loss, and the position that follows is one's own to move in.
- `is_double=True`. Tianshou's DQN then takes the best *legal* action of that position; without it, the best of all.
- Exploration is set by `eps_inference`. The training step is announced to the policy of both players but not to the
  policies in it, so that these never look at `eps_training`.
"""

from __future__ import annotations

import argparse
import logging
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import Tensor, nn

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.arena import MatchOptions, evaluate, play_evaluation
from cellgames.envs import Game

N_STEP = 8  # four moves and their answers


def make_env(game: Game) -> PettingZooEnv:
    """One game as Tianshou sees it."""
    return PettingZooEnv(pettingzoo.make("aec", f"cellgames/{game.id}", **game.parameters))


class ActionValues(nn.Module):
    """What each action is worth to the player to act: observations [B, planes, rows, cols] to [B, A]."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        size, width = int(np.prod(game.info.observation.shape)), 256
        hidden = (nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.layers = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(width, game.info.num_actions))

    def forward(self, obs: npt.NDArray[Any] | Tensor, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """As Tianshou calls it."""
        return self.layers(torch.as_tensor(obs, dtype=torch.float32)), state


def make_algorithm(game: Game, *, learning_rate: float = 1e-3, n_step: int = N_STEP) -> MultiAgentOffPolicyAlgorithm:
    """One DQN for both seats."""
    env = make_env(game)
    dqn = DQN(
        policy=DiscreteQLearningPolicy(model=ActionValues(game), action_space=env.action_space),
        optim=AdamOptimizerFactory(lr=learning_rate),
        gamma=0.99,
        n_step_return_horizon=n_step,
        target_update_freq=50,
        is_double=True,
    )
    return MultiAgentOffPolicyAlgorithm(algorithms=[dqn, dqn], env=env)


def policy_of(algorithm: MultiAgentOffPolicyAlgorithm) -> DiscreteQLearningPolicy[ActionValues]:
    """The policy that both seats share."""
    return next(iter(algorithm.policy.policies.values()))


def train(
    game: Game,
    total_steps: int,
    seed: int = 0,
    *,
    num_envs: int = 16,
    batch: int = 256,
    updates: float = 0.1,
    n_step: int = N_STEP,
) -> ActionValues:
    """Play against itself for `total_steps` actions and learn from them; the seed decides everything on one machine."""
    info = game.info
    if total_steps < 1:
        raise ValueError(f"expected at least 1 step to learn from, got {total_steps}")
    if info.simultaneous or info.num_players != 2 or not info.zero_sum or len(info.action_nvec) > 1:
        raise ValueError(f"expected a zero-sum game for two, in turns, with one number an action; got {game}")
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # Tianshou explores with NumPy's global generator
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # it remarks in every step that there are two returns
    algorithm = make_algorithm(game, n_step=n_step)
    policy = policy_of(algorithm)
    envs = DummyVectorEnv([lambda: make_env(game)] * num_envs)
    envs.seed(seed)
    buffer = VectorReplayBuffer(20_000, num_envs)
    collector = Collector(algorithm, envs, buffer, exploration_noise=True)
    collector.reset()

    reported, began = 0, time.perf_counter()

    def before_step(epoch: int, step: int) -> None:
        nonlocal reported
        policy.set_eps_inference(max(0.1, 1.0 - 4 * step / total_steps))
        if epoch > reported:
            reported = epoch
            print(f"{step:9,} steps  {time.perf_counter() - began:5.0f} s  exploration {policy.eps_inference:.2f}")

    chunk = 10 * num_envs  # actions between two updates
    epochs = max(1, min(10, total_steps // chunk))
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=epochs,
            epoch_num_steps=-(-total_steps // epochs),
            collection_step_num_env_steps=chunk,
            batch_size=batch,
            update_step_num_gradient_steps_per_sample=updates,
            training_fn=before_step,
            verbose=False,
            show_progress=False,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
        )
    )
    learned: ActionValues = policy.model
    return learned


class Learned(BaseAgent):
    """Plays the legal action that is worth most, as the package's agents do, so that its matches can be played."""

    def __init__(self, network: ActionValues) -> None:
        super().__init__("learned")
        self.network = network

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `cellgames.agents.base.Agent`."""
        values: Tensor = self.network(observation)[0]
        return values.masked_fill(~action_mask, -torch.inf).argmax(1)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="DQN by self-play with Tianshou, measured against other agents.")
    parser.add_argument("--game", default="torus-v0", help="id of a zero-sum game for two, in turns")
    parser.add_argument("--size", type=int, help="of the board; default: the game's own")
    parser.add_argument("--total-steps", type=int, default=60_000, help="actions to learn from")
    parser.add_argument("--games", type=int, default=400, help="to play against each other agent; even")
    parser.add_argument("--against", nargs="*", default=["random", "greedy"], help="the other agents")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> None:
    """Train, as the command line asks."""
    line = parser()
    arguments = line.parse_args()
    if arguments.games < 2 or arguments.games % 2:
        line.error(f"--games must be even and at least 2, since seats are exchanged; got {arguments.games}")
    try:
        game = cellgames.make(arguments.game, **({} if arguments.size is None else {"size": arguments.size}))
        others = {name: load(name, game) for name in arguments.against}
        agent = Learned(train(game, arguments.total_steps, arguments.seed))
    except ValueError as error:
        line.error(str(error))
    for name, other in others.items():
        records = play_evaluation(
            game, {"learned": agent, name: other}, MatchOptions(games=arguments.games, seed=arguments.seed)
        )
        row = evaluate(game, records, "learned")
        wins = f"{row['wins']} of {len(records)} won"
        print(f"against {name}: {row['score']:.3f} ({row['low']:.3f} to {row['high']:.3f}), {wins}")


if __name__ == "__main__":
    main()
