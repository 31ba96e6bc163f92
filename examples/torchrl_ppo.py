"""Self-play with TorchRL: masked PPO out of its own parts, on games that never leave their device.

    pip install "cellgames[torchrl]"
    python examples/torchrl_ppo.py --game torus-small-v0 --total-steps 600000

One network plays both seats of a game for two, in turns and zero-sum (Torus). TorchRL's GAE takes it that whoever acts
next wants the same, which is wrong where the opponent acts next. So the critic values every position for the first
seat, whoever is to act: rewards and values are those of one player, GAE is right as it stands, however turns follow
each other, and an advantage of the second seat is one of the first with the sign changed.
"""

from __future__ import annotations

import argparse
import math
import time

import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, EnvBase, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.arena import MatchOptions, evaluate, play_evaluation
from cellgames.envs import Game
from cellgames.envs.adapters import TorchRLGame
from cellgames.training import choose_device


def make_env(game: Game, num_envs: int, seed: int, device: torch.device | str = "cpu") -> EnvBase:
    """`num_envs` games at the same time, with observations as floats."""
    games = TorchRLGame(game, num_envs, seed=seed, device=device)
    return TransformedEnv(games, DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]))


def make_network(game: Game, outputs: int) -> nn.Module:
    """Observations [..., planes, rows, cols] to [..., outputs]."""
    size = math.prod(game.info.observation.shape)
    hidden = (nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    return nn.Sequential(nn.Flatten(-3), *hidden, nn.Linear(256, outputs))


def make_actor(game: Game) -> ProbabilisticActor:
    """Draws among the legal actions."""
    return ProbabilisticActor(
        TensorDictModule(make_network(game, game.info.num_actions), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


def sign(player: Tensor) -> Tensor:
    """1 where the first seat is to act, -1 where the second is: [...] to [..., 1]."""
    return (1.0 - 2.0 * player)[..., None]


class FirstSeatValue(nn.Module):
    """What a position is worth to the first seat; the network sees it from the side of the player to act."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: Tensor, current_player: Tensor) -> Tensor:
        """Float [..., 1]."""
        value: Tensor = self.network(observation) * sign(current_player)
        return value


def make_critic(game: Game) -> ValueOperator:
    """See `FirstSeatValue`."""
    return ValueOperator(FirstSeatValue(make_network(game, 1)), in_keys=["observation", "current_player"])


def add_advantages(batch: TensorDictBase, gae: GAE) -> None:
    """Write "value_target", of the first seat, and "advantage", of the player who acted, into a batch [B, T]."""
    batch["next", "reward"] = batch["next", "reward"][..., :1]
    gae(batch)
    batch["advantage"] = batch["advantage"] * sign(batch["current_player"])


def train(
    game: Game,
    total_steps: int,
    seed: int = 0,
    *,
    device: torch.device | str = "cpu",
    num_envs: int = 64,
    num_steps: int = 32,
    num_epochs: int = 4,
    minibatch_size: int = 512,
    learning_rate: float = 1e-3,
    entropy: float = 0.01,
) -> ProbabilisticActor:
    """Play against itself for `total_steps` actions and learn from them; the seed decides everything on one machine."""
    info = game.info
    if total_steps < 1:
        raise ValueError(f"expected at least 1 step to learn from, got {total_steps}")
    if info.simultaneous or info.num_players != 2 or not info.zero_sum or len(info.action_nvec) > 1:
        raise ValueError(f"expected a zero-sum game for two, in turns, with one number an action; got {game}")
    torch.manual_seed(seed)
    actor, critic = make_actor(game).to(device), make_critic(game).to(device)
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=entropy, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), learning_rate)
    env, frames = make_env(game, num_envs, seed, device), num_envs * num_steps
    total_steps = -(-total_steps // frames) * frames
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=total_steps,
        device=device,
        auto_register_policy_transforms=False,
    )
    taken, shown, began = 0, 0, time.perf_counter()
    for batch in collector:
        with torch.no_grad():
            add_advantages(batch, gae)
        rows, losses = batch.reshape(-1), []
        for _ in range(num_epochs):
            for picked in torch.randperm(len(rows), device=device).split(minibatch_size):
                parts = loss(rows[picked])
                total = parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
                losses.append(total.detach())
        taken += len(rows)
        if taken * 10 // total_steps > shown:  # ten lines a run
            shown, spent = taken * 10 // total_steps, time.perf_counter() - began
            games = int(batch["next", "done"].sum())
            print(f"{taken:9,} steps  {spent:5.0f} s  loss {torch.stack(losses).mean():6.3f}  {games} games ended")
    collector.shutdown()
    return actor


class Learned(BaseAgent):
    """Plays the likeliest legal action, as the package's agents do, so that its matches can be played."""

    def __init__(self, actor: ProbabilisticActor) -> None:
        super().__init__("learned")
        self.network = actor.get_submodule("0").module  # the one that gives logits

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `cellgames.agents.base.Agent`."""
        logits: Tensor = self.network.cpu()(observation.float())
        return logits.masked_fill(~action_mask, -torch.inf).argmax(1)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="PPO by self-play with TorchRL, measured against other agents.")
    parser.add_argument("--game", default="torus-small-v0", help="id of a zero-sum game for two, in turns")
    parser.add_argument("--size", type=int, help="of the board; default: the game's own")
    parser.add_argument("--total-steps", type=int, default=600_000, help="actions to learn from")
    parser.add_argument("--games", type=int, default=400, help="to play against each other agent; even")
    parser.add_argument("--against", nargs="*", default=["random", "greedy"], help="the other agents")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or auto")
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
        device = choose_device(arguments.device)
        agent = Learned(train(game, arguments.total_steps, arguments.seed, device=device))
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
