"""Batches of games as a TorchRL environment: tensors in TensorDicts, which stay on the games' device.

Letters: `B` envs, `P` players, `A` actions (the sum over the action's components), `K` components.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from cellgames.envs.core import chance
from cellgames.envs.core.game import Game
from cellgames.envs.core.state import State, along_envs
from cellgames.envs.core.vector import Positions, Starts, check_num_envs, positions_by_env, put_positions
from cellgames.utils.errors import InputError

from .learner_games import position_of

try:
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise ImportError('environments for TorchRL need TorchRL: pip install "cellgames[torchrl]"') from error

AGENTS = "agents"  # the group of all players in games in which all act at once


class TorchRLGame(EnvBase):  # type: ignore[misc]  # torchrl is untyped
    """A batch of games for all seats: self-play, or a policy a seat.

    Where players act in turn, the entries are those of the player to act:

        observation     [B, ...]              what that player may know, as `info.observation` says
        action_mask     [B, A] bool           True is legal
        current_player  [B] int64             its seat
        action          [B] or [B, K] int64   one number, or one for each component
        next, reward    [B, P] float32        of every seat, in this step

    Where all act at once, they stand in the group "agents" as TorchRL's other environments of many agents have
    them: observation [B, P, ...], action_mask [B, P, A], action [B, P] or [B, P, K], next/reward [B, P, 1].
    `done`, `terminated` and `truncated` are [B, 1] in both.

    A finished game stays as it is, with zero reward, until `reset` is called with its env in `_reset`, as
    TorchRL's `rollout` and collectors do; its mask is all true, since any action is ignored, and a masked
    distribution stays defined. After every reset and step the mask also stands in the action spec, so that
    `rand_action`, and `rollout` without a policy, play legal actions, drawn from torch's global generator.

        >>> env = TorchRLGame(cellgames.make("torus-v0", size=5), num_envs=64)
        >>> env.rollout(100, break_when_any_done=False)["next", "reward"].shape
        torch.Size([64, 100, 2])

    Args:
        game: the rules.
        num_envs: `B`.
        seed: as `set_seed` takes it; games depend on it and on the actions alone.
        device: device of the games.
        checked: raise a `ValueError` for illegal actions; without, the caller vouches for them (see `Game.step`).
        positions: positions from which all games start; None for the start of the game. See `core.Positions`.

    Attributes:
        game: the rules.
        checked: may be changed at any time.
        group_map: {"agents": the players' ids} where all act at once, as TorchRL's tools for many agents expect,
            else empty.

    Raises:
        ValueError: no envs, or an illegal action; the message names game, env, player, action and reason.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
        checked: bool = True,
        positions: Positions | None = None,
    ) -> None:
        check_num_envs(game, num_envs)
        super().__init__(device=torch.device(device), batch_size=torch.Size([num_envs]))
        self.game = game
        self.checked = checked
        self.group_map = {AGENTS: list(game.info.players)} if game.info.simultaneous else {}
        self._make_specs()
        self._starts = Starts(game, positions)
        self._next_seeds: Tensor  # int64 [B], of the next game in each env
        self._set_seed(seed)
        self._state: State = game.init(self._next_seeds)

    def core_state(self) -> State:
        """Return the games as the core's batch: for scores, outcomes, search. Nothing overwrites it."""
        return self._state

    def _repr_html_(self) -> str:
        """Return the first games as SVG, for notebooks."""
        return self.game.draw_batch(self._state)._repr_html_()

    def to(self, device: torch.device | str) -> Self:
        """Move the environment to another device with its games, and return it."""
        super().to(device)
        self._next_seeds, self._state = self._next_seeds.to(self.device), self._state.to(self.device)
        return self

    def _make_specs(self) -> None:
        info, batch, device = self.game.info, self.batch_size, self.device
        rows = torch.Size([*batch, info.num_players]) if info.simultaneous else batch  # who observes and acts
        seen, nvec = info.observation, info.action_nvec
        shape = torch.Size([*rows, *seen.shape])
        observation = Composite(
            observation=Bounded(seen.low, seen.high, shape, device, seen.dtype),
            action_mask=Binary(info.num_actions, [*rows, info.num_actions], device, torch.bool),
            shape=rows,
        )
        if len(nvec) == 1:
            choice = Categorical(nvec[0], rows, device, torch.int64)
        else:
            choice = MultiCategorical(nvec, [*rows, len(nvec)], device, torch.int64)
        reward = Unbounded([*rows, 1 if info.simultaneous else info.num_players], device, torch.float32)
        specs = [observation, Composite(action=choice, shape=rows), Composite(reward=reward, shape=rows)]
        if info.simultaneous:
            specs = [Composite({AGENTS: spec}, shape=batch) for spec in specs]
        else:
            observation["current_player"] = Categorical(info.num_players, batch, device, torch.int64)
        self.observation_spec, self.action_spec, self.reward_spec = specs
        ends = ("done", "terminated", "truncated")
        self.done_spec = Composite({end: Categorical(2, [*batch, 1], device, torch.bool) for end in ends}, shape=batch)

    def _set_seed(self, seed: int | None) -> None:
        """Let envs that are reset from now on play the games of `core.seeds(seed, B)` and those that follow.

        A `Vector` with the same seed plays the same games; None takes a random one.
        """
        seed = secrets.randbits(63) if seed is None else seed
        self._next_seeds = chance.seeds(seed, self.batch_size[0], self.device)
        self._starts.seed(self._next_seeds)

    def set_positions(self, positions: Positions | None) -> None:
        """Set the positions of games that start from now on; None for the start of the game."""
        self._starts.set(positions)

    def _reset(
        self, tensordict: TensorDictBase | None = None, *, options: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> TensorDictBase:
        """Start new games in the envs of `_reset`, bool [B, 1], or in all.

        `reset(options={"position": ...})` takes what Gymnasium's `SeatVectorEnv` takes.
        """
        given = positions_by_env(self.game, position_of(self.game, options), self.batch_size[0])
        env_ids = self._chosen(tensordict, "_reset")
        seeds = self._next_seeds[env_ids]
        self._next_seeds = self._next_seeds.index_put((env_ids,), chance.next_seed(seeds))
        self._state = self._state.put(env_ids, self._starts.new(seeds))
        if given is not None:
            rows = torch.isin(given[0], env_ids.cpu())
            self._state = put_positions(self._state, given[0][rows].to(self.device), given[1][rows])
        return self._seen()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Step every env, or those of `_step`, bool [B] or [B, 1]; the others are left as they are."""
        game, state = self.game, self._state
        actions = tensordict.get(self.action_key)
        if not isinstance(actions, Tensor):
            raise InputError("actions", "a tensor", type(actions).__name__, where=game.id)
        actions = actions.clone()  # states may keep them
        env_ids = self._chosen(tensordict, "_step")
        if len(env_ids) == len(state):
            self._state = game.step(state, actions, checked=self.checked)
        else:
            idle = state.replace(rewards=torch.zeros_like(state.rewards))
            self._state = idle.put(env_ids, game.step(state[env_ids], actions[env_ids], checked=self.checked))
        stepped = self._seen()
        rewards = self._state.rewards.clone()
        stepped.set(self.reward_key, rewards[..., None] if game.info.simultaneous else rewards)
        return stepped

    def _chosen(self, tensordict: TensorDictBase | None, flags: str) -> Tensor:
        """Return the envs that an entry with flags, bool [B] or [B, 1], is about, int64; all without it."""
        chosen = None if tensordict is None else tensordict.get(flags, None)
        if chosen is None:
            return torch.arange(self.batch_size[0], device=self.device)
        env_ids: Tensor = chosen.reshape(self.batch_size).nonzero().squeeze(1)
        return env_ids

    def _seen(self) -> TensorDict:
        """Return the observations of the players and the flags of finished games; the action spec gets the mask.

        The tensors are not the state's own: TorchRL's transforms may write into them.
        """
        game, state, info = self.game, self._state, self.game.info
        legal = game.legal_actions(state)
        mask = legal | along_envs(state.done, legal.ndim)
        self.full_action_spec[self.action_key].update_mask(mask)
        if info.simultaneous:
            views = torch.stack([game.observe(state, seat) for seat in range(info.num_players)], 1)
            group = TensorDict({"observation": views, "action_mask": mask}, views.shape[:2], self.device)
            seen: dict[str, Any] = {AGENTS: group}
        else:
            player = state.current_player.clone()
            seen = {"observation": game.observe(state, player).clone(), "action_mask": mask, "current_player": player}
        ends = {"done": state.done, "terminated": state.terminated.clone(), "truncated": state.truncated.clone()}
        seen |= {name: flags[:, None] for name, flags in ends.items()}
        return TensorDict(seen, self.batch_size, self.device)
