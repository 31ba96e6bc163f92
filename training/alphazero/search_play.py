"""Rollouts in which the learner searches before it moves, and a replay of the latest positions with their targets.

Letters as in `selfplay`: `T` steps, `B` games (environments), `R` rows that act in a step, `A` actions (mask width);
`X` positions, `C` candidates, `K` components of an action.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.networks.networks import Network
from cellgames.agents.playouts import random_actions
from cellgames.agents.search.improvement import Improver, Rows
from cellgames.envs.core import Game, State
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.training.selfplay.opponents import Opponents
from cellgames.training.selfplay.rollouts import Ended, Rollout, SelfPlay
from cellgames.utils.errors import InputError


class Positions(NamedTuple):
    """Positions to learn from, with their targets.

    Attributes:
        observation: [X, ...], as the game gives it, or what `Improver.inputs` says.
        mask: bool [X, A], the legal actions.
        policy: float [X, C], the policy of the search.
        value: float [X], the return of the seat to move, in units of the network.
        actions: int64 [X, C, K], the candidates that the policy is over; None where these are all actions.
    """

    observation: Tensor
    mask: Tensor
    policy: Tensor
    value: Tensor
    actions: Tensor | None = None

    def at(self, rows: Tensor) -> Positions:
        """Return some of the positions, int64 [X], which may repeat."""
        observation, mask, policy, value = (part[rows] for part in self[:4])
        return Positions(observation, mask, policy, value, None if self.actions is None else self.actions[rows])


class Replay:
    """A ring buffer of as much memory as it will need; new positions overwrite the oldest.

    The improver gives the shapes. Policies are kept in half precision.
    """

    def __init__(self, improver: Improver, capacity: int, device: torch.device) -> None:
        inputs, candidates, components = improver.inputs, improver.candidates, improver.components
        self.capacity = capacity
        self._next = self._filled = 0

        def room(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        self._rows = Positions(
            observation=room(*inputs.shape, dtype=inputs.dtype),
            mask=room(improver.choices, dtype=torch.bool),
            policy=room(candidates, dtype=torch.float16),
            value=room(dtype=torch.float32),
            actions=room(candidates, components, dtype=torch.int32) if components else None,
        )

    def __len__(self) -> int:
        """Return the number of positions."""
        return self._filled

    def add(self, positions: Positions) -> None:
        """Append positions in their order; of more than the capacity, keep the last."""
        rows = len(positions.value)
        kept = min(rows, self.capacity)
        device = self._rows.value.device
        places = (self._next + rows - kept + torch.arange(kept, device=device)) % self.capacity
        for own, new in zip(self._rows, positions, strict=True):
            if own is not None and new is not None:
                own[places] = new[rows - kept :].to(device, own.dtype)
        self._next = (self._next + rows) % self.capacity
        self._filled = min(self._filled + rows, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> Positions:
        """Draw positions uniformly, with replacement, by a generator on the CPU; a `ValueError` while it is empty."""
        if not self._filled:
            raise InputError("replay", "positions to sample from", "an empty replay", "add some first")
        places = torch.randint(self._filled, (count,), generator=generator, device="cpu").to(self._rows.value.device)
        drawn = self._rows.at(places)
        actions = None if drawn.actions is None else drawn.actions.long()
        return drawn._replace(policy=drawn.policy.float(), actions=actions)

    def state_dict(self) -> dict[str, Any]:
        """Return the positions, and the place of the next one."""
        return {"next": self._next, **{name: part[: self._filled].clone() for name, part in self._parts().items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`."""
        self._next, self._filled = state["next"], len(state["value"])
        for name, part in self._parts().items():
            part[: self._filled] = state[name].to(part.device)

    def _parts(self) -> dict[str, Tensor]:
        return {name: part for name, part in self._rows._asdict().items() if part is not None}


@dataclass(frozen=True)
class Searched(Rollout):
    """A rollout whose values and actions of the learner are those of searches; `log_prob` is 0.

    Attributes:
        policy: float [T, R, C], the policy of the search, over all actions or over candidates.
        actions: int64 [T, R, C, K], the candidates; `K` is 0 where these are all actions.
        inputs: [T, R, ...], inputs of the network in learning, in place of the observation; [T, R, 0] for the latter.
    """

    policy: Tensor
    actions: Tensor
    inputs: Tensor


class SearchPlay(SelfPlay):
    """Games in progress; see `SelfPlay`. The improver searches for the learner's moves, in all games at once.

    Each game draws a number of random turns at its start, at most `random_plies`. The learner plays at random in these
    turns, and those actions are not its own in the rollout.
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        opponents: Opponents,
        num_envs: int,
        device: torch.device,
        improver: Improver,
        *,
        random_plies: int = 0,
    ) -> None:
        super().__init__(game, network, opponents, num_envs, device)
        self.improver, self.random_plies = improver, random_plies

    @override
    def restart(self, seed: int) -> None:
        self._plies = torch.zeros(self.num_envs, dtype=torch.int64, device=self.device)
        super().restart(seed)

    @override
    def games_state(self) -> dict[str, Any] | None:
        state = super().games_state()
        return None if state is None else {**state, "plies": self._plies, "search": self.improver.state_dict()}

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        super().load_games(state)
        self._plies.copy_(state["plies"])
        self.improver.load_state_dict(state["search"])

    @torch.no_grad()
    def collect(self, steps: int) -> Searched:
        """Play `T` steps in every environment."""
        self._found: list[tuple[Tensor, ...]] = []
        rollout = super().collect(steps)
        decides, policy, actions, inputs = (torch.stack(part) for part in zip(*self._found, strict=True))
        learner_mask = rollout.learner_mask & decides
        # What goes on with an earlier decision is no step in the chain of those of a seat.
        player = rollout.player.where(learner_mask | ~rollout.learner_mask, rollout.reward.shape[2])
        reward = torch.nn.functional.pad(rollout.reward, (0, 1))
        rollout = replace(rollout, learner_mask=learner_mask, player=player, reward=reward)
        return Searched(**vars(rollout), policy=policy, actions=actions, inputs=inputs)

    def _decide(
        self, state: State, observation: Tensor, mask: Tensor, learner_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the actions of searches, zeros, and the values; opponents' rows have no meaning."""
        info, improver = self.game.info, self.improver
        at_random = (self._turns < self._plies).repeat_interleave(len(mask) // self.num_envs)
        rows = (learner_mask & ~at_random).nonzero().squeeze(1)
        decides = ~at_random
        policy = torch.zeros((len(mask), improver.candidates), device=self.device, dtype=torch.float32)
        value = policy.new_zeros(len(mask))
        components = (len(info.action_nvec),) * (len(info.action_nvec) > 1)
        action = torch.zeros((len(mask), *components), device=self.device, dtype=torch.int64)
        actions = action.new_zeros((len(mask), improver.candidates, improver.components))
        shape = improver.inputs.shape if improver.inputs != info.observation else (0,)
        inputs = torch.zeros((len(mask), *shape), device=self.device, dtype=improver.inputs.dtype)
        if len(rows):
            found = improver.improve(self._rows(state, observation, mask, rows), self.generator)
            policy[rows], action[rows], value[rows] = found.policy, found.action, found.value
            if found.actions is not None:
                actions[rows] = found.actions
            if found.inputs is not None:
                inputs[rows] = found.inputs
            if found.decides is not None:
                decides[rows] = found.decides
        if at_random.any():
            drawn = random_actions(mask, info.action_nvec, self.generator)
            action = torch.where(at_random.view(-1, *(1,) * len(components)), drawn, action)
        self._found.append((decides, policy, actions, inputs))
        return action, torch.zeros_like(value), value

    def _rows(self, state: State, observation: Tensor, mask: Tensor, rows: Tensor) -> Rows:
        """Return the information that a search gets on some rows."""
        info = self.game.info
        if info.simultaneous:
            env_ids, seats = rows // info.num_players, rows % info.num_players
        else:
            env_ids, seats = rows, state.current_player[rows]
        shown = state[env_ids] if info.perfect_information else None
        return Rows(shown, observation[rows], mask[rows], seats, env_ids)

    def _begin(self, env_ids: Tensor) -> None:
        plies = torch.randint(self.random_plies + 1, (len(env_ids),), generator=self._draws, device="cpu")
        self._plies[env_ids] = plies.to(self.device)
        super()._begin(env_ids)
        players = self.game.info.num_players
        seats = torch.arange(players, device=self.device).repeat(len(env_ids))
        self.improver.start(seats, env_ids.repeat_interleave(players))


class WorkerPlay(SearchPlay):
    """Games in workers, which keep a share each; the newest weights go there for each rollout.

    Args:
        like: the same games in this process.
        lesson: number of the lesson.
        make: makes a learner with a worker's share of the games.
        workers: executors of one process each.
    """

    def __init__(self, like: SearchPlay, lesson: int, make: Callable[[], Any], workers: Sequence[Executor]) -> None:
        super().__init__(like.game, like.network, like.opponents, like.num_envs, like.device, like.improver)
        self._lesson, self._makes = lesson, [pickle.dumps((place, make)) for place in range(len(workers))]
        self._workers = workers

    @override
    def restart(self, seed: int) -> None:
        # The first worker plays the games that its share alone would play.
        places = range(1, len(self._workers))
        self._seeds = [seed, *(derive(derive(seed, Purpose.GAMES, place), Purpose.GAMES) for place in places)]

    @override
    def collect(self, steps: int) -> Searched:
        weights = pickle.dumps({name: value.cpu() for name, value in self.network.state_dict().items()})
        seeds: Sequence[int | None] = self._seeds or [None] * len(self._workers)
        self._seeds = []
        futures = [
            worker.submit(_collect, make, self._lesson, seed, steps, weights)
            for worker, make, seed in zip(self._workers, self._makes, seeds, strict=True)
        ]
        parts: list[Searched] = [pickle.loads(future.result()) for future in futures]
        ended = Ended(sum(part.ended.games for part in parts), sum(part.ended.turns for part in parts), {}, {})
        for part in (part.ended for part in parts):
            for number, (score, games) in part.results.items():
                before = ended.results.get(number, (0.0, 0))
                ended.results[number] = before[0] + score, before[1] + games
                ended.returns[number] = ended.returns.get(number, 0.0) + part.returns[number]
        names = [name for name in vars(parts[0]) if name != "ended"]
        rows = {name: torch.cat([getattr(part, name) for part in parts], 1).to(self.device) for name in names}
        return Searched(**rows, ended=ended)

    @override
    def games_state(self) -> None:
        return None


@cache
def _learner(make: bytes) -> Any:
    """Return the learner of a worker, which has its games."""
    return pickle.loads(make)[1]()


def _collect(make: bytes, lesson: int, seed: int | None, steps: int, weights: bytes) -> bytes:
    """Return a rollout of a worker; pickled, since processes would share the memory of tensors."""
    learner = _learner(make)
    learner.network.load_state_dict(pickle.loads(weights))
    if seed is not None:
        learner.lessons[lesson].play.restart(seed)
    return pickle.dumps(learner.lessons[lesson].play.collect(steps))
