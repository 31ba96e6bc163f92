"""A callback of Stable-Baselines3 for MaskablePPO on `LearnerVecEnv`: self-play.

It counts iterations; an iteration is `n_steps` steps in every environment and the update after them.

Letters: `E` games that ended in a step, `P` players.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.agent_opponent import AgentOpponent, as_opponent
from cellgames.agents.base import is_memoryless
from cellgames.agents.selection import naming
from cellgames.envs.adapters.seats import Ended
from cellgames.envs.core import Game
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.training.selfplay.opponents import ACTIVE, POOL, SELF, Member, Pool, parse_mix
from cellgames.utils.errors import InputError

from .maskable_ppo import BoardPolicy, LearnerVecEnv
from .sb3_import import BaseCallback, MaskablePPO


class _Named(AgentOpponent):
    """An opponent whose errors are an `AgentError`, which names it."""

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        with naming(self.agent):
            super().start(game, players, env_ids)

    @override
    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        with naming(self.agent):
            return super().pick(game, state, env_ids, players, generator)


class SelfPlayCallback(BaseCallback):
    """Opponents for the learner: its current self, snapshots of the opponent pool, and fixed agents.

    Each iteration draws up to `ACTIVE` snapshots for its new games; a game keeps its opponents to its end. Every seat
    that is not the learner's draws its own opponent. The callback logs `self_play/NAME`: the learner's score against
    `self`, `pool` and fixed agents in the games of an iteration, a win 1, a draw 1/2.

    Every `restart_every` iterations all games start over, and all generators, SB3's global ones too, are seeded anew
    by `seed` and the iteration. From there on, learning depends on the model and the pool only.

    Args:
        pool: gets the current self at the start, and then every `snapshot_every` iterations.
        mix: shares of opponents, as `parse_mix` takes them.
        seed: seed of all randomness.
        snapshot_every: iterations between snapshots; None leaves them to callers of `snapshot`.
        restart_every: iterations between restarts; None leaves them to callers of `restart`.

    Attributes:
        results: the learner's scores in the games that ended in this iteration, by the names in `mix`.
        turns: number of turns of each of those games.
        returns: the learner's return in each of them.
    """

    model: MaskablePPO

    def __init__(
        self,
        pool: Pool,
        mix: str = "self=0.8,pool=0.2",
        *,
        seed: int = 0,
        snapshot_every: int | None = 20,
        restart_every: int | None = 20,
    ) -> None:
        super().__init__()
        for name, value in (("snapshot_every", snapshot_every), ("restart_every", restart_every)):
            if value is not None and value < 1:
                raise InputError(name, "at least 1 iteration", value)
        self.pool, self.mix, self.seed = pool, parse_mix(mix), seed
        self.snapshot_every, self.restart_every = snapshot_every, restart_every
        self._draws = torch.Generator()

    @property
    def iteration(self) -> int:
        """The number of finished iterations."""
        return self.model.num_timesteps // (self.model.n_steps * self.model.n_envs)

    @property
    def policy(self) -> BoardPolicy:
        """The learner's policy.

        Raises:
            ValueError: another kind of policy.
        """
        if not isinstance(self.model.policy, BoardPolicy):
            parameter = "model"
            raise InputError(parameter, "BoardPolicy", type(self.model.policy).__name__, "snapshots are our networks")
        return self.model.policy

    @property
    def games(self) -> LearnerVecEnv:
        """The learner's environment, below all wrappers.

        Raises:
            ValueError: another kind of environment.
        """
        games = self.training_env.unwrapped
        if not isinstance(games, LearnerVecEnv):
            raise InputError("model", "one that plays in LearnerVecEnv", type(games).__name__)
        return games

    @property
    def restarting(self) -> bool:
        """True if games start over before the next step."""
        every = self.restart_every
        return every is not None and (self._first or self.iteration % every == 0)

    def snapshot(self) -> None:
        """Add a copy of the network to the pool, unless the pool has it."""
        steps = self.model.num_timesteps
        if not any(member.steps == steps for member in self.pool.members):
            self.pool.add(self.policy.network, steps)

    def restart(self, seed: int) -> None:
        """Start new games and seed all generators by `seed`, from 0 to 2^63 - 1."""
        self._draws.manual_seed(seed)
        self._line_up()
        self.model.set_random_seed(seed & 0xFFFFFFFF)  # of the games, too
        self.model._last_obs = self.training_env.reset()  # type: ignore[assignment]  # no tuples: SB3 has none
        self.model._last_episode_starts = np.ones(self.model.n_envs, dtype=bool)

    def games_state(self) -> dict[str, Any] | None:
        """Return the games in progress and all that their next steps depend on, but for the policy and the pool.

        None if an opponent has a memory, which cannot be saved.
        """
        names = {id(opponent): name for name, opponent in self._fixed.items()}
        names |= {id(past): file for file, (past, _) in self._past.items()}
        opponents = self.games.vector.opponents
        agents = [opponent.agent for opponent in opponents if isinstance(opponent, AgentOpponent)]
        sound = len(agents) == len(opponents) and all(id(opponent) in names for opponent in opponents)
        if not sound or not all(is_memoryless(agent, self.games.game) for agent in agents):
            return None
        return {
            "vector": self.games.vector.state_dict(),
            "opponents": [names[id(opponent)] for opponent in opponents],
            **self.pool.playing_state([(member, past.agent) for past, member in self._past.values()]),
            "draws": self._draws.get_state(),
            "torch": torch.get_rng_state(),
            "starts": torch.tensor(self.model._last_episode_starts, device="cpu"),
        }

    def load_games(self, state: Mapping[str, Any]) -> None:
        """Play on from `games_state`; the policy and the pool must be those of the same checkpoint."""
        self.restart(0)
        for member in self.pool.restored(state, self.policy.device):
            self._past[member.file] = AgentOpponent(self.pool.agent(member, self.policy.device)), member
        known = {**self._fixed, **{file: past for file, (past, _) in self._past.items()}}
        vector, seats = self.games.vector, state["vector"]["who"]
        vector.set_opponents([known[name] for name in state["opponents"]])
        vector.load_state_dict(state["vector"])
        for number, name in enumerate(state["opponents"]):
            env_ids, players = (seats == number).nonzero().unbind(1)
            if len(env_ids):
                known[name].start(self.games.game, players.to(vector.device), env_ids.to(vector.device))
        self.model._last_obs = self.games._observation()
        self.model._last_episode_starts = state["starts"].numpy()
        self._draws.set_state(state["draws"].cpu())
        torch.set_rng_state(state["torch"].cpu())

    def _init_callback(self) -> None:
        game, current = self.games.game, self.policy.network.agent(SELF, sample=True)
        self._fixed: dict[str, AgentOpponent] = {
            name: _Named(as_opponent(current if name == SELF else name, game).agent)
            for name in self.mix
            if name != POOL
        }
        self._past: dict[str, tuple[AgentOpponent, Member]] = {}
        self._first = True
        self._forget()

    def _on_training_start(self) -> None:
        steps = self.model.num_timesteps
        if any(member.steps > steps for member in self.pool.members):
            raise InputError(
                "pool",
                f"a pool of this model, which has learned from {steps} steps",
                f"one of up to {self.pool.members[-1].steps}",
                "give each model a pool of its own",
            )

    def _on_rollout_start(self) -> None:
        if self.snapshot_every is not None and (self.iteration % self.snapshot_every == 0 or not len(self.pool)):
            self.snapshot()
        if self.restarting:
            self.restart(derive(self.seed, Purpose.GAMES, self.iteration))
        else:
            self._line_up()
        self._first = False
        self._forget()

    def _forget(self) -> None:
        self.results: dict[str, list[float]] = {name: [] for name in self.mix}
        self.turns: list[int] = []
        self.returns: list[float] = []

    def _line_up(self) -> None:
        """Set the opponents of new games."""
        shares = {name: share for name, share in self.mix.items() if name != POOL}
        opponents = dict(self._fixed)
        for member in self.pool.sample(ACTIVE, self._draws) if POOL in self.mix else ():
            shares[member.file] = shares.get(member.file, 0.0) + self.mix[POOL] / ACTIVE
            if member.file not in self._past:
                self._past[member.file] = AgentOpponent(self.pool.agent(member, self.policy.device)), member
            opponents[member.file] = self._past[member.file][0]
        vector = self.games.vector
        vector.set_opponents([opponents[name] for name in shares], list(shares.values()))
        self._past = {file: past for file, past in self._past.items() if past[0] in vector.opponents}

    def _on_step(self) -> bool:
        if (ended := self.games.ended) is not None:
            self.turns += ended.state.turn.tolist()
            self.returns += ended.returns.tolist()
            score = _scores(self.games.game, ended)
            for row, seat in (ended.opponents >= 0).nonzero().tolist():
                self._count(self.games.vector.opponents[int(ended.opponents[row, seat])], float(score[row, seat]))
        return True

    def _count(self, opponent: Any, score: float) -> None:
        for name, fixed in self._fixed.items():
            if fixed is opponent:
                self.results[name].append(score)
        for past, member in self._past.values():
            if past is opponent:
                self.results[POOL].append(score)
                self.pool.record(member, score, 1)

    def _on_rollout_end(self) -> None:
        for name, scores in self.results.items():
            if scores:
                self.logger.record(f"self_play/{name}", float(np.mean(scores)))


def _scores(game: Game, ended: Ended) -> Tensor:
    """Return the learner's score against every seat, float [E, P], by the outcome for two, else by the final scores."""
    rank = game.outcome(ended.state) if game.info.num_players == 2 else ended.state.scores
    gap = rank.gather(1, ended.player[:, None]) - rank
    return (1 + gap.sign().float()) / 2
