"""AlphaZero with Gumbel search: self-play by search, and a network that learns from the searches.

Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", ICLR 2022; Silver et al., "A
general reinforcement learning algorithm that masters chess, shogi, and Go through self-play", 2018. The search is the
game's (`agents.simultaneous.joint_agent.improver_of`). The network's
policy is pulled towards the policy of the searches, its value towards results and the searches' later values
(lambda-returns). Positions are learned from as often as `num_epochs` says, on average, out of a replay of the latest,
each time moved by a random symmetry of the board.

A network without weights of its own for each cell, such as that of Torus, can learn several sizes of the board at the
same time (`variants`): each has games and a replay of its own, and minibatches of all of them take turns.

Letters: `X` positions of a minibatch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.networks import Network, make_network
from cellgames.agents.search.improvement import Effort, Improver
from cellgames.agents.simultaneous.joint_agent import improver_of
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.runs.workers import processes
from cellgames.training.arguments import AlphaZeroArguments, Arguments
from cellgames.training.selfplay.learner import Iteration, Learner, Purpose, derive
from cellgames.training.selfplay.opponents import POOL, Opponents, parse_mix
from cellgames.training.selfplay.updates import (
    Estimates,
    anneal,
    estimate,
    explained_variance,
    mean,
    score_against_others,
)
from cellgames.utils.errors import InputError, located, shown

from .search_play import Positions, Replay, Searched, SearchPlay, WorkerPlay


@dataclass(frozen=True)
class _Lesson:
    """A game that the network learns; its improver knows the network, with the weights that all lessons share."""

    game: Game
    improver: Improver
    play: SearchPlay
    replay: Replay

    def collect(self, arguments: AlphaZeroArguments, generator: torch.Generator) -> tuple[Searched, Estimates, Tensor]:
        """Play, add what is known to the replay, and return rollout, estimates and the rows of what was added."""
        rollout = self.play.collect(arguments.num_steps)
        estimates = estimate(
            *(rollout.value, rollout.reward, rollout.player, rollout.done),
            gamma=arguments.gamma,
            gae_lambda=arguments.gae_lambda,
        )
        # The learner's moves, and those whose sequel is known.
        rows = (rollout.learner_mask & estimates.known).flatten().nonzero().squeeze(1)
        seen = rollout.inputs if rollout.inputs.shape[2:] != (0,) else rollout.observation
        mask, actions = rollout.mask[..., : self.improver.choices], rollout.actions
        parts = seen, mask, rollout.policy, estimates.target, actions
        seen, mask, policy, target, actions = (part.flatten(0, 1)[rows] for part in parts)
        positions = Positions(seen, mask, policy, target, actions if self.improver.components else None)
        if arguments.surprise_weight and len(rows):
            positions = _by_surprise(self.improver, positions, arguments.surprise_weight, generator)
        self.replay.add(positions)
        return rollout, estimates, rows


class AlphaZeroLearner(Learner):
    """The learner of `alphazero`. Its agent plays by the policy alone, so that evaluations cost no search."""

    arguments: AlphaZeroArguments
    play: SearchPlay

    METRICS: ClassVar[Mapping[str, str]] = {
        "policy_loss": "cross entropy of the policy against that of the searches, in nats; at best their entropy",
        "value_loss": "mean squared error of the value, in units of the network: results are from -1 to 1",
        "entropy": "entropy of the searches' policy, in nats",
        "kl_divergence": "KL divergence of the policy from that of the searches, in nats: what searching still adds",
        "grad_norm": "norm of the gradient before it is cut to `max_grad_norm`",
        "explained_variance": "share of the variance of the value targets that the searches explain; 1 is perfect",
        "others_score": "score in the training games against others than itself, a win 1 and a draw 1/2",
        "first_player": "share of the games that the first player won",
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, AlphaZeroArguments)  # `ALGORITHMS` pairs them
        super().__init__(game, arguments, folder, device, kind=improver_of(game).kind)
        self.sample = arguments.sample
        share, envs = self.network, arguments.variant_envs or arguments.num_envs
        further = [
            self._lesson(variant, replace(arguments, num_envs=envs), _sharing(share, variant, device))
            for variant in _variants(game, arguments)
        ]
        self.lessons = [self._lesson(game, arguments, share), *further]
        self.play = self.lessons[0].play
        if arguments.workers > 1:
            self._share_games(arguments)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(),
            lr=arguments.learning_rate,
            weight_decay=arguments.weight_decay,
            fused=device.type == "cuda",
        )

    def _share_games(self, arguments: AlphaZeroArguments) -> None:
        count, envs, more = arguments.workers, arguments.num_envs, arguments.variant_envs
        if POOL in parse_mix(arguments.opponents):
            raise InputError("opponents", "no pool with workers, since its snapshots stay here", arguments.opponents)
        if envs % count or more % count:
            raise InputError("workers", f"a number that divides num_envs={envs} and variant_envs={more}", count)
        own = replace(arguments, num_envs=envs // count, variant_envs=more // count, workers=1, buffer_size=1)
        make = partial(AlphaZeroLearner, self.game, replace(own, start_from=""), Path(), torch.device("cpu"))
        executors = [self.ends.enter_context(processes(1)) for _ in range(count)]
        for number, lesson in enumerate(self.lessons):
            self.lessons[number] = replace(lesson, play=WorkerPlay(lesson.play, number, make, executors))

    def _lesson(self, game: Game, arguments: AlphaZeroArguments, network: Network) -> _Lesson:
        opponents = Opponents(game, parse_mix(arguments.opponents), self.pool, self.device)
        improver = improver_of(game)(game, network, _effort(arguments))
        envs, plies = arguments.num_envs, arguments.random_plies
        play = SearchPlay(game, network, opponents, envs, self.device, improver, random_plies=plies)
        return _Lesson(game, improver, play, Replay(improver, arguments.buffer_size, self.device))

    @override
    def iterate(self, progress: float) -> Iteration:
        h = self.arguments
        anneal(self.optimizer, h.learning_rate, progress)
        played = [lesson.collect(h, self.generator) for lesson in self.lessons]
        self.network.train()
        order = self._order([len(rows) for *_, rows in played])
        metrics = [self._learn(lesson, self._minibatch(lesson)) for lesson in order]
        losses: list[float] = torch.stack(metrics).mean(0).tolist() if metrics else [math.nan] * 5
        pairs = [
            torch.stack([part.flatten()[rows] for part in (estimates.advantage, estimates.target)])
            for _, estimates, rows in played
        ]
        explained = explained_variance(*torch.cat(pairs, 1))
        rollouts = [rollout for rollout, *_ in played]
        first = torch.cat([rollout.reward[rollout.done][:, 0] > 0 for rollout in rollouts]).float()
        if self.game.info.reward_range[0] >= 0:  # rewards are points, and do not tell who has won
            first = first[:0]
        others = mean([score for rollout in rollouts if (score := score_against_others(rollout.ended)) == score])
        values = (*losses, explained, others, mean(first.tolist()))
        games, turns = (sum(getattr(rollout.ended, name) for rollout in rollouts) for name in ("games", "turns"))
        steps = sum(len(rows) for *_, rows in played)
        return Iteration(steps, games, turns, dict(zip(self.METRICS, values, strict=True)))

    def _order(self, added: list[int]) -> list[_Lesson]:
        """Return the lesson of each step of the optimizer, evenly by the positions that each lesson's replay got."""
        h, places = self.arguments, list[tuple[float, int]]()
        for number, new in enumerate(added):
            steps = max(1, round(h.num_epochs * new / h.minibatch_size)) if new else 0
            places += [((step + 0.5) / steps, number) for step in range(steps)]
        return [self.lessons[number] for _, number in sorted(places)]

    def _minibatch(self, lesson: _Lesson) -> Positions:
        """Draw the positions of a minibatch, each moved by a random symmetry."""
        drawn = lesson.replay.sample(self.arguments.minibatch_size, self.generator)
        symmetries = lesson.game.symmetries
        if symmetries == 1:
            return drawn
        which = torch.randint(symmetries, (len(drawn.value),), generator=self.generator, device="cpu").to(self.device)
        numbers = torch.stack((drawn.mask.float(), drawn.policy), 1)
        observation, moved = lesson.game.transform(drawn.observation, numbers, which)
        return Positions(observation, moved[:, 0] > 0, moved[:, 1], drawn.value)

    def _learn(self, lesson: _Lesson, positions: Positions) -> Tensor:
        """Take a step of the optimizer, and return the first five of `METRICS`, float [5]."""
        self.optimizer.zero_grad()
        loss, metrics = self._losses(lesson, positions)
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.arguments.max_grad_norm)
        self.optimizer.step()
        return torch.cat((metrics, grad_norm[None])).detach()

    def _losses(self, lesson: _Lesson, positions: Positions) -> tuple[Tensor, Tensor]:
        """Return the loss and the first four of `METRICS`, float [4]."""
        observation, mask, policy, target, actions = positions
        logs, value = lesson.improver.log_probs_and_value(observation, mask, actions)
        policy_loss = -(policy * logs).sum(1).mean()
        value_loss = functional.mse_loss(value.float(), target)
        entropy = -torch.xlogy(policy, policy).sum(1).mean()
        metrics = torch.stack((policy_loss, value_loss, entropy, policy_loss - entropy))
        return policy_loss + self.arguments.vf_coef * value_loss, metrics

    @override
    def restart(self, seed: int) -> None:
        for number, lesson in enumerate(self.lessons):
            lesson.play.restart(derive(seed, Purpose.GAMES, number) if number else seed)

    @override
    def games_state(self) -> dict[str, Any] | None:
        first, *variants = (lesson.play.games_state() for lesson in self.lessons)
        return None if first is None or None in variants else {**first, "variants": variants}

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        for lesson, games in zip(self.lessons, [state, *state.get("variants", [])], strict=True):
            lesson.play.load_games(games)

    @override
    def state_dict(self) -> dict[str, Any]:
        replay, *variants = (lesson.replay.state_dict() for lesson in self.lessons)
        return {**super().state_dict(), "replay": replay, "variants": variants}

    @override
    def load_state_dict(self, state: dict[str, Any]) -> None:
        replays = [state["replay"], *state["variants"]]
        for lesson, replay in zip(self.lessons, replays, strict=True):
            lesson.replay.load_state_dict(replay)
        super().load_state_dict(state)


@torch.no_grad()
def _by_surprise(improver: Improver, positions: Positions, weight: float, generator: torch.Generator) -> Positions:
    """Return positions repeated or left out by chance, on average the same number.

    A share `weight` follows the policy's KL divergence from the search (Wu, "KataGo methods", 2021), the rest is even.
    """
    logs, _ = improver.log_probs_and_value(positions.observation, positions.mask, positions.actions)
    surprise = (torch.xlogy(positions.policy, positions.policy) - positions.policy * logs).sum(1).clamp(min=0)
    often = (1 - weight) + weight * surprise / surprise.mean().clamp(min=1e-9)
    drawn = torch.rand(len(often), generator=generator, device="cpu").to(often.device)
    rows = torch.arange(len(often), device=often.device).repeat_interleave((often + drawn).floor().long())
    return positions.at(rows)


def _effort(arguments: AlphaZeroArguments) -> Effort:
    considered, scale = arguments.max_num_considered_actions, arguments.value_scale
    return Effort(arguments.num_simulations, considered, scale, arguments.solver_nodes)


def _variants(game: Game, arguments: AlphaZeroArguments) -> list[Game]:
    """Return the games of `variants`, each of which must be another setting of the game."""
    found = list[Game]()
    for text in arguments.variants:
        name, equals, value = text.partition("=")
        if name not in game.parameters or not equals:
            names = ", ".join(game.parameters)
            raise InputError("variants", f"NAME=VALUE with a parameter of {game.id} ({names})", shown(text))
        try:
            other = registry.make(arguments.game, **{**arguments.parameters, name: json.loads(value)})
        except (ValueError, TypeError) as error:
            raise located(error, f"variants, {shown(text)}") from error
        if other in (game, *found):
            raise InputError("variants", "games that are not learned yet", shown(text))
        found.append(other)
    if found and POOL in parse_mix(arguments.opponents):
        raise InputError("opponents", "self, with variants", arguments.opponents, f"the pool plays {game} only")
    return found


def _sharing(network: Network, game: Game, device: torch.device) -> Network:
    """Return a network for another game that has the weights of `network`, not copies; they must play it."""
    network.check_game(game)
    other = make_network(game, network.size, network.kind, device=device)
    modules = dict(network.named_modules())
    for name, module in other.named_modules():
        module._parameters.update(modules[name]._parameters)
        module._buffers.update(modules[name]._buffers)
    return other
