"""Proximal policy optimization by self-play in one file, in the style of CleanRL, for every game of the suite.

    pip install "cellgames[train]"
    python examples/ppo.py --game torus-small-v0

One network plays all seats of a batch of games. Learning needs `Game.vector` and `sample_actions` of the package and no
more; agents of the package measure the result. Each seat has a chain of actions of its own, so the same code learns
games in turns, games where a player acts several times in a row, and games where all act at once. In Cloth of Gold it
chooses among whole turns, in Grid Adaptation among plans: unit by unit and space by space it would hardly learn.

Letters: `T` steps of a rollout, `B` games, `P` players, `R` rows (a game in turns, or one seat of a game where all act
at once), `S` seats that share a row (`P` in turns, else 1), `A` choices, `K` components of an action.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

import cellgames
from cellgames.agents import Agent, BaseAgent, load
from cellgames.agents.cloth_of_gold import TurnChoices, TurnChooser
from cellgames.agents.grid_adaptation import PlanChoices, PlanChooser
from cellgames.arena import MatchOptions, evaluate, play_evaluation
from cellgames.envs import Game, sample_actions


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        total_steps: number of actions to learn from.
        num_envs: `B`.
        num_steps: `T`.
        num_epochs: passes over a rollout.
        minibatch_size: rows of a step of the optimizer.
        learning_rate: of Adam at the start; it falls to 0 linearly.
        gamma: discount for each action of a seat.
        gae_lambda: weight of later estimates.
        clip: range of PPO's ratio.
        entropy: weight of the policy's entropy.
        channels: width of the network.
        layers: its convolutions.
        wraps: True if the board is a torus, so that convolutions wrap around its edges.
        reward_scale: factor of rewards, so that returns are about 1.
    """

    total_steps: int = 600_000
    num_envs: int = 128
    num_steps: int = 32
    num_epochs: int = 4
    minibatch_size: int = 512
    learning_rate: float = 3e-3
    gamma: float = 1.0
    gae_lambda: float = 0.9
    clip: float = 0.2
    entropy: float = 0.01
    channels: int = 32
    layers: int = 3
    wraps: bool = False
    reward_scale: float = 1.0


PRESETS = {
    "torus": Settings(wraps=True),
    "cloth-of-gold": Settings(num_envs=64, num_steps=32),
    "grid-adaptation": Settings(num_envs=32, num_steps=28, reward_scale=0.02),
    "toroidal-cup": Settings(num_envs=64, num_steps=12, minibatch_size=256, wraps=True, channels=16, layers=2),
}


def settings_of(id: str) -> Settings:
    """Return the settings for a game; sizes of a game share them."""
    return next((preset for name, preset in PRESETS.items() if id.startswith(name)), Settings())


def game_to_learn(id: str) -> tuple[Game, Callable[[Agent], Any]]:
    """Return the game that is learned, and what makes an agent of it one of the game by `id`."""
    game, name = cellgames.make(id), id.removesuffix("-v0").removesuffix("-small")
    if name == "cloth-of-gold":
        return TurnChoices(**game.parameters), TurnChooser
    if name == "grid-adaptation":
        return PlanChoices(**game.parameters), PlanChooser
    return game, lambda agent: agent


class Network(nn.Module):
    """Observations, float [R, planes, rows, cols], to logits [R, A] and values [R].

    A component of an action with at least one choice for each cell gets its logits from the cells' features, and the
    rest of its choices from features of the whole board; a smaller component gets all of them from the latter. If no
    board is seen but numbers, float [R, N], two layers of 64 units read them.
    """

    def __init__(self, game: Game, channels: int, layers: int, wraps: bool) -> None:
        super().__init__()
        self.mlp, shape = None, game.info.observation.shape
        if len(shape) == 1:
            body = nn.Linear(*shape, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
            self.mlp = nn.Sequential(*body, nn.Linear(64, 1 + sum(game.info.action_nvec)))
            return
        planes, rows, cols = shape
        padding: Literal["circular", "zeros"] = "circular" if wraps else "zeros"
        sizes = [planes] + [channels] * layers
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 3, padding=1, padding_mode=padding) for before, after in pairwise(sizes)
        )
        squeezed = max(1, min(channels, 4096 // (rows * cols)))
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.hidden = nn.Linear(squeezed * rows * cols, 128)
        self.back = nn.Linear(128, channels)  # what cells know of the whole board
        self.cells = [width // (rows * cols) for width in game.info.action_nvec]  # planes of logits by component
        self.rest = [width % (rows * cols) for width in game.info.action_nvec]
        self.by_cell = nn.Conv2d(channels, max(1, sum(self.cells)), 1)
        self.by_board = nn.Linear(128, max(1, sum(self.rest)))
        self.value = nn.Linear(128, 1)
        for head, scale in ((self.by_cell, 0.01), (self.by_board, 0.01), (self.value, 1.0)):
            nn.init.orthogonal_(head.weight, scale)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [R, A] and values [R]."""
        if self.mlp is not None:
            out = self.mlp(observation)
            return out[:, 1:], out[:, 0]
        x = observation.sign() * observation.abs().log1p()  # counts may be large
        for number, convolution in enumerate(self.convolutions):
            x = functional.relu(convolution(x) + (x if number else 0.0))
        board = functional.relu(self.hidden(functional.relu(self.squeeze(x)).flatten(1)))
        cells = self.by_cell(functional.relu(x + self.back(board)[:, :, None, None])).flatten(2)
        rest, parts = self.by_board(board), []
        planes = list(cells.split(self.cells, 1)) if sum(self.cells) else [cells[:, :0]] * len(self.cells)
        others = list(rest.split(self.rest, 1)) if sum(self.rest) else [rest[:, :0]] * len(self.rest)
        for plane, other in zip(planes, others, strict=True):
            parts += [plane.flatten(1), other]
        return torch.cat(parts, 1), self.value(board)[:, 0]


def rate(logits: Tensor, mask: Tensor, actions: Tensor, nvec: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return log-probabilities [R] of actions [R, K], and entropies [R] of the policy."""
    log_prob, entropy = logits.new_zeros(len(logits)), logits.new_zeros(len(logits))
    for part, legal, chosen in zip(logits.split(nvec, 1), mask.split(nvec, 1), actions.unbind(1), strict=True):
        logs = part.masked_fill(~legal & legal.any(1, keepdim=True), -1e9).log_softmax(1)
        log_prob = log_prob + logs.gather(1, chosen[:, None])[:, 0]
        entropy = entropy - (logs.exp() * logs).sum(1)
    return log_prob, entropy


def advantages(
    value: Tensor, reward: Tensor, player: Tensor, done: Tensor, gamma: float, gae_lambda: float
) -> tuple[Tensor, Tensor]:
    """Return generalized advantage estimates [T, R], and a mask [T, R] of the actions that have one.

    Between two actions of a seat it earns all rewards of the steps between them, and the value of its next action
    follows. The last action of a seat in a rollout has no estimate unless the game ended.

    Args:
        value: float [T, R], of the seat that acts.
        reward: float [T, R, S], of all seats of the row.
        player: int64 [T, R], the seat that acts.
        done: bool [T, R], the game ended with the action.
        gamma: discount for each action of a seat.
        gae_lambda: weight of later estimates.
    """
    earned, ahead, gain = torch.zeros(3, *reward.shape[1:])
    seen = torch.zeros(reward.shape[1:], dtype=torch.bool)
    advantage, known = torch.zeros_like(value), torch.zeros_like(done)
    for t in range(len(value) - 1, -1, -1):
        end, mover = done[t][:, None], player[t][:, None]
        earned, ahead, gain = (x.masked_fill(end, 0.0) for x in (earned, ahead, gain))
        seen, earned = seen | end, earned + reward[t]
        known[t] = seen.gather(1, mover)[:, 0]
        delta = earned.gather(1, mover) + gamma * ahead.gather(1, mover) - value[t][:, None]
        now = (delta + gamma * gae_lambda * gain.gather(1, mover)) * known[t][:, None]
        advantage[t] = now[:, 0]
        gain, ahead = gain.scatter(1, mover, now), ahead.scatter(1, mover, value[t][:, None])
        earned, seen = earned.scatter(1, mover, 0.0), seen.scatter(1, mover, True)
    return advantage, known


class Learned(BaseAgent):
    """Plays the likeliest legal action, or draws one if `sample`, so that matches can measure it."""

    def __init__(self, network: Network, nvec: tuple[int, ...], sample: bool) -> None:
        super().__init__("learned")
        self.network, self.nvec, self.sample = network, nvec, sample

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Return int64 [L], or [L, K]; see `cellgames.agents.base.Agent`."""
        nvec = self.nvec if len(self.nvec) > 1 else None
        logits = self.network(observation.float())[0]
        return sample_actions(logits, action_mask, generator if self.sample else None, nvec=nvec)[0]


def train(game: Game, options: Settings, seed: int = 0) -> Iterator[tuple[int, Learned]]:
    """Learn by self-play; yield the number of actions so far, 0 first, and the agent, after each rollout."""
    info, batch = game.info, options.num_envs
    if options.total_steps < 1:
        raise ValueError(f"expected at least 1 step to learn from, got {options.total_steps}")
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = Network(game, options.channels, options.layers, options.wraps)
    optimizer = torch.optim.Adam(network.parameters(), options.learning_rate, eps=1e-5)
    agent = Learned(network, info.action_nvec, sample=info.simultaneous and network.mlp is None)
    vector = game.vector(batch, seed=seed, observe=torch.float32)
    seats, nvec = info.num_players if info.simultaneous else 1, info.action_nvec
    rows, taken = batch * seats, 0
    yield taken, agent
    while taken < options.total_steps:
        optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - taken / options.total_steps)
        seen, masks, chosen, logs, values, rewards, players, dones = ([] for _ in range(8))
        for _ in range(options.num_steps):
            seen.append(vector.observation.reshape(rows, *info.observation.shape))
            masks.append(vector.legal_actions.reshape(rows, -1))
            with torch.no_grad():
                logits, value = network(seen[-1])
            players.append(torch.zeros(rows).long() if seats > 1 else vector.state.current_player.long())
            actions, log = sample_actions(logits, masks[-1], generator, nvec=nvec if len(nvec) > 1 else None)
            step = vector.step(actions.view(batch, *info.action_shape), checked=False)
            rewards.append(step.rewards.reshape(rows, -1) * options.reward_scale)
            dones.append(step.done.repeat_interleave(seats))
            chosen.append(actions.view(rows, -1))
            logs.append(log)
            values.append(value)
        value, reward, player, done = (torch.stack(part) for part in (values, rewards, players, dones))
        advantage, known = advantages(value, reward, player, done, options.gamma, options.gae_lambda)
        keep = known.flatten()
        data = [*(torch.cat(part)[keep] for part in (seen, masks, chosen, logs, values)), advantage.flatten()[keep]]
        taken += options.num_steps * rows
        for _ in range(options.num_epochs):
            for picked in torch.randperm(len(data[0])).split(options.minibatch_size):
                observation, mask, action, old_log, old_value, gain = (part[picked] for part in data)
                logits, value = network(observation)
                log, entropy = rate(logits, mask, action, nvec)
                target, ratio = gain + old_value, (log - old_log).exp()
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
                policy_loss = -torch.minimum(ratio * gain, clipped * gain).mean()
                loss = policy_loss + 0.5 * (value - target).square().mean() - options.entropy * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        yield taken, agent


def score(game: Game, agent: Agent, other: str, games: int, seed: int = 0) -> Mapping[str, Any]:
    """Return "score" of the agent against another, a win 1 and a draw 1/2, with "low" and "high" of its interval."""
    matches = MatchOptions(games=games, seed=seed)
    records = play_evaluation(game, {"learned": agent, other: load(other, game)}, matches)
    return evaluate(game, records, "learned")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    line = argparse.ArgumentParser(description="PPO by self-play in one file, measured against other agents.")
    line.add_argument("--game", default="torus-small-v0", help="id of a game")
    line.add_argument("--games", type=int, default=200, help="to play against each other agent; even")
    line.add_argument("--against", nargs="*", default=["random", "greedy"], help="the other agents")
    line.add_argument("--seed", type=int, default=0)
    for field in fields(Settings):
        kind = ("false", "true").index if field.name == "wraps" else type(field.default)
        line.add_argument(f"--{field.name.replace('_', '-')}", type=kind, help="default: that of the game")
    return line


def main() -> None:
    """Train, as the command line asks."""
    arguments = vars((line := parser()).parse_args())
    torch.set_num_threads(1)  # the networks are small: more threads would wait for each other
    changed = {field.name: arguments[field.name] for field in fields(Settings) if arguments[field.name] is not None}
    try:
        game, player = game_to_learn(arguments["game"])
        board, games, seed = cellgames.make(arguments["game"]), arguments["games"], arguments["seed"]
        _ = MatchOptions(games=games), [load(other, board) for other in arguments["against"]]  # what is wrong, at once
        options = replace(settings_of(arguments["game"]), **changed)
        began, shown = time.perf_counter(), 0
        for taken, agent in train(game, options, seed):  # noqa: B007  # the last one is measured
            if taken * 10 // options.total_steps > shown:  # ten lines a run
                shown, spent = taken * 10 // options.total_steps, time.perf_counter() - began
                print(f"{taken:9,} steps  {spent:5.0f} s", flush=True)
        for other in arguments["against"]:
            row = score(board, player(agent), other, games, seed)
            print(f"against {other}: {row['score']:.3f} ({row['low']:.3f} to {row['high']:.3f})")
    except ValueError as error:
        line.error(str(error))


if __name__ == "__main__":
    main()
