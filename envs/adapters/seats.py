"""One player's view of many games: "I against these opponents", in games that start over by themselves.

Every interface for a single learner stands on this: Gymnasium's, Stable-Baselines3's, and trainers of one's own. It
imports no agent before it is given one, or a name of one, as an opponent.

Letters: `B` games (envs), `P` players, `A` actions (mask width), `K` components of an action, `L` seats that act,
`E` games that ended in a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, get_args

import torch
from torch import Tensor

from cellgames.envs.core import LOSS, Game, chance
from cellgames.envs.core.inputs import as_actions
from cellgames.envs.core.seating import Seating
from cellgames.envs.core.state import S
from cellgames.envs.core.vector import Positions, Starts, check_num_envs, positions_by_env, put_positions
from cellgames.utils.errors import InputError, check_one_of

from .opponents import Opponent, Opponents, as_bounds, as_pool, as_seat

# Streams of a game's seed, below those of the games (`chance.USER`) and beside that of `opponents`: the learner's seat,
# who sits on the others, and, of the first env's first game, the generator of the opponents.
SEAT, _OPPONENT, _GENERATOR = range(2, 5)
_SAVED = ("player", "returns", "lengths", "owed")
PATIENCE = 1000  # games in a row that end before the learner's first turn

Illegal = Literal["raise", "forfeit"]


@dataclass(frozen=True)
class Ended(Generic[S]):
    """The games that ended in a step.

    Attributes:
        env_ids: [E] int64, ascending.
        state: `E` games as they ended.
        player: [E] int64, the learner's seat.
        opponents: [E, P] int64, an index into `SeatVector.opponents` for each seat, -1 for the learner's.
        observation: [E, ...], the learner's last.
        returns: [E] float32, all that the learner's seat earned.
        lengths: [E] int64, how often the learner acted.
        outcome: [E] int8, WIN, DRAW or LOSS of the learner; LOSS after an illegal action in a game in turns.
        scores: [E] float32, the game's own measure for the learner's seat.
    """

    env_ids: Tensor
    state: S
    player: Tensor
    opponents: Tensor
    observation: Tensor
    returns: Tensor
    lengths: Tensor
    outcome: Tensor
    scores: Tensor


@dataclass(frozen=True)
class SeatTransition(Generic[S]):
    """The result of the learner's actions.

    Attributes:
        rewards: [B] float32, all that its seat earned up to its next turn or the game's end, in the opponents' steps
            too; with its first action also what it earned before.
        terminated: [B] bool, the game ended by the rules, and a new one stands in the env.
        truncated: [B] bool, the same for limits.
        ended: the games that ended; None where none did.
        faults: why an env's action was illegal, and what was done about it; empty where all were legal.
    """

    rewards: Tensor
    terminated: Tensor
    truncated: Tensor
    ended: Ended[S] | None
    faults: Mapping[int, str]


class SeatVector(Generic[S]):
    """`num_envs` games in each of which one seat is the learner's, and opponents play the others.

    Between two steps every env waits for the learner. A game that ends before the learner's first turn is passed over
    and another begins. An env's seeds, the learner's seat and the opponents' seats follow from the env's first seed
    alone, and so does everything if the opponents consume no chance; those that do share one generator.

    Args:
        game: the rules.
        num_envs: `B`.
        opponents: one, or several of which each game draws one (for each of the other seats, if there are more
            than two): agents, their names such as "greedy" or "rollout:64" (`cellgames.agents.load`), or objects
            with the methods of `Opponent`; None stands for `UNIFORM`.
        weights: relative probability of each opponent; None draws all with the same probability.
        seat: the learner's, by number or name, or "random": drawn for each game.
        seed: see `reset`.
        illegal: effect of an illegal action. "raise": a `ValueError`. "forfeit": in games in turns the game ends,
            and the learner gets the lowest reward of a step; where all act at once another choice is played, as
            `Game.fallback` says. A number outside the action space always raises.
        device: device of the games.

    Attributes:
        opponents: those that new games draw from, then those that still play a game from before `set_opponents`.
    """

    opponents: tuple[Opponent, ...]

    def __init__(
        self,
        game: Game[S],
        num_envs: int,
        opponents: Opponents = None,
        *,
        weights: Sequence[float] | None = None,
        seat: int | str = "random",
        seed: int | Tensor = 0,
        illegal: Illegal = "raise",
        device: torch.device | str = "cpu",
    ) -> None:
        check_num_envs(game, num_envs)
        check_one_of("illegal", illegal, get_args(Illegal), game.id)
        self.game, self.num_envs, self.device = game, num_envs, torch.device(device)
        self._illegal, self._fixed_seat = illegal, as_seat(game, seat)
        self._starts = Starts(game)
        self._seating = Seating(game, torch.full((num_envs, game.info.num_players), -1, device=device))
        self._each = torch.arange(num_envs, device=device)
        self._player, self._lengths = torch.zeros_like(self._each), torch.zeros_like(self._each)
        self._returns = torch.zeros(num_envs, device=device, dtype=torch.float32)
        self._owed = torch.zeros_like(self._returns)  # earned since the learner's last action
        self._generator = torch.Generator(device)
        self.opponents = ()
        self.set_opponents(opponents, weights)
        self.reset(seed)

    # --- what the learner sees --------------------------------------------------------------------------------

    @property
    def state(self) -> S:
        """The games in progress."""
        return self._state

    @property
    def player(self) -> Tensor:
        """[B] int64, the learner's seat in each env."""
        return self._player

    @cached_property
    def observation(self) -> Tensor:
        """[B, ...], the learner's observations, as `game.info.observation` says."""
        return self.game.observe(self._state, self._player)

    @cached_property
    def action_mask(self) -> Tensor:
        """[B, A] bool, the learner's legal actions; components of an action one after the other."""
        mask = self.game.legal_actions(self._state)
        return mask[self._each, self._player] if self.game.info.simultaneous else mask

    # --- beginning --------------------------------------------------------------------------------------------

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None = None) -> None:
        """Set the opponents of games that begin from now on, as for the class; those in progress go on with theirs."""
        pool = as_pool(self.game, opponents)
        bounds = as_bounds(self.game, len(pool), weights).to(self.device)
        moved = [-1]  # of each index so far the new one, after the learner's -1
        for index, old in enumerate(self.opponents):
            place = next((i for i, new in enumerate(pool) if new is old), -1)
            if place < 0 and index in self._seating.players:
                place = len(pool)
                pool.append(old)
            moved.append(place)
        self._seating.seats = torch.tensor(moved, device=self.device)[self._seating.seats + 1]
        self._bounds = bounds
        self.opponents = tuple(pool)

    def set_positions(self, positions: Positions | None) -> None:
        """Set the positions of games that start from now on; None for the start of the game. See `Positions`."""
        self._starts.set(positions)

    def reset(self, seed: int | Tensor | None = None, *, position: str | Sequence[str | None] | None = None) -> None:
        """Start new games in all envs; those in progress are left unfinished.

        Args:
            seed: from which the envs' seeds are spread (`core.seeds`), or these themselves, int64 [B]; it seeds the
                opponents' generator too. None goes on with the seeds that follow, and with the generator.
            position: from which these games start: a line as `game.state_to_string` writes it, or for each env a line
                or None. If one ends before the learner's first turn, the next starts from there again.

        Raises:
            ValueError: other seeds, an invalid position, or one where the game is over; nothing has changed then.
        """
        given = positions_by_env(self.game, position, self.num_envs)
        if seed is None:
            seeds = chance.next_seed(self._state.seed)
        else:
            seeds = seed.to(self.device) if isinstance(seed, Tensor) else chance.seeds(seed, self.num_envs, self.device)
            if seeds.shape != self._each.shape or seeds.dtype != torch.int64:
                got = f"{seeds.dtype} {list(seeds.shape)}"
                raise InputError("seed", f"int64 seeds [B] = [{self.num_envs}]", got, where=self.game.id)
            self._generator.manual_seed(int(chance.draw(seeds[0], _GENERATOR, torch.zeros_like(seeds[0]))))
            self._starts.seed(seeds)
        self._state: S = self._starts.new(seeds)
        self._to_first_turns(torch.ones_like(seeds, dtype=torch.bool), given)
        self._forget()

    def _to_first_turns(self, fresh: Tensor, given: tuple[Tensor, S] | None = None) -> None:
        """Go on from new games, bool [B], to the learner's first turn; replace those that end before it.

        They start from the positions given for some envs.
        """
        for _ in range(PATIENCE):
            if given is not None:
                env_ids, positions = given
                rows = fresh.cpu()[env_ids]
                self._state = put_positions(self._state, env_ids[rows].to(self.device), positions[rows])
            self._deal(fresh.nonzero().squeeze(1))
            self._to_the_learner()
            fresh = self._state.done
            if not fresh.any():
                return
            self._state = self._starts.restart(self._state, fresh)
        raise self._never_acts()

    def _never_acts(self) -> RuntimeError:
        ended = f"{PATIENCE} games in a row ended before the first turn of the seat {self._fixed_seat}"
        return RuntimeError(f"{self.game.id}: {ended}; does this seat ever act?")

    def _deal(self, env_ids: Tensor) -> None:
        """Draw who sits where in the new games of these environments, and start the opponents."""
        seeds, seats = self._state.seed[env_ids], self.game.info.num_players
        player = torch.full_like(seeds, self._fixed_seat)
        if self._fixed_seat < 0:
            player = chance.uniform_int(chance.draw(seeds, SEAT, torch.zeros_like(seeds)), seats)
        who = torch.zeros((len(env_ids), seats), dtype=torch.int64, device=self.device)
        if len(self._bounds) > 1:
            bits = chance.draw(seeds[:, None], _OPPONENT, torch.arange(seats, device=self.device))
            who = torch.searchsorted(self._bounds, (bits >> 10).double() / 2**53, right=True)
        who.scatter_(1, player[:, None], -1)
        self._player[env_ids] = player
        for total in (self._returns, self._lengths, self._owed):
            total[env_ids] = 0
        self._seating.deal(env_ids, who, lambda index, *where: self.opponents[index].start(self.game, *where))

    # --- stepping ---------------------------------------------------------------------------------------------

    def step(self, actions: Tensor, *, checked: bool = True) -> SeatTransition[S]:
        """The learner acts in every env, and then the others, until all envs wait for it again.

        Args:
            actions: integers [B], or [B, K] if an action has K > 1 components.
            checked: treat illegal actions as `illegal` says. Without it the caller vouches for them.

        Raises:
            ValueError: as `illegal` says; nothing has changed then.
        """
        actions, faults = self._judge(actions) if checked else (actions, {})
        lost = torch.zeros_like(self._player, dtype=torch.bool)  # games lost by an illegal action
        if faults and not self.game.info.simultaneous:
            lost[list(faults)] = True
        self._state, self._player = self._state.clone(), self._player.clone()  # callers may keep the others
        self._act(actions.to(self.device, torch.int64), lost)
        self._lengths += 1
        self._to_the_learner()
        rewards, self._owed = self._owed, torch.zeros_like(self._owed)
        self._returns += rewards
        terminated, truncated = self._state.terminated | lost, self._state.truncated.clone()
        done, ended = terminated | truncated, None
        if done.any():
            ended = self._end(done.nonzero().squeeze(1), lost)
            self._state = self._starts.restart(self._state, done)
            self._to_first_turns(done)
        self._forget()
        return SeatTransition(rewards, terminated, truncated, ended, faults)

    def _judge(self, actions: Tensor) -> tuple[Tensor, dict[int, str]]:
        """Return the learner's actions to play, int64 [B, ...], and by env what illegal ones do; see `illegal`.

        Raises:
            IllegalActionError: an illegal action, by "raise"; a number outside the action space.
            ValueError: the actions have another shape or dtype.
        """
        game, info, mask, components = self.game, self.game.info, self.action_mask, len(self.game.info.action_nvec)
        shape = (self.num_envs,) if components == 1 else (self.num_envs, components)
        axes, hint = f"shape [B{', K' * (components > 1)}] = ", "give one action of the learner's per env"
        actions = as_actions(actions, shape, self.device, axes, hint, game.id)
        choices = actions.reshape(self.num_envs, components)
        legal = info.admits(mask, choices)
        if legal.all():
            return actions, {}
        choices = choices.clone()
        faults: dict[int, list[str]] = {}
        for env_id, component in (~legal).nonzero().tolist():
            choice = int(choices[env_id, component])
            error = game.illegal_action(self._state, env_id, int(self._player[env_id]), component, choice)
            if self._illegal == "raise" or not 0 <= choice < info.action_nvec[component]:
                raise error
            text = f"{error}; the game is lost"
            if info.simultaneous:
                choices[env_id, component], text = replaced(game, error, component, mask[env_id])
            faults.setdefault(env_id, []).append(text)
        return choices.view(shape), {env_id: "\n".join(texts) for env_id, texts in faults.items()}

    def _act(self, actions: Tensor, lost: Tensor) -> None:
        """The learner's step but in lost games; in simultaneous games the others' too."""
        game = self.game
        if game.info.simultaneous:
            joint = torch.zeros((self.num_envs, *game.info.action_shape), dtype=torch.int64, device=self.device)
            joint[self._each, self._player] = actions
            env_ids, players = self._seating.to_move(self._state)
            joint[env_ids, players] = self._seating.ask(env_ids, players, self._pick)
            actions = joint
        env_ids = self._each
        if lost.any():
            self._owed[lost] += game.info.reward_range[0]
            env_ids = (~lost).nonzero().squeeze(1)
            actions = actions[env_ids]
        self._advance(env_ids, actions)

    def _to_the_learner(self) -> None:
        """Let the others act in games in turns, until every game that goes on waits for the learner."""
        if self.game.info.simultaneous:
            return
        while True:
            env_ids, players = self._seating.to_move(self._state, ~self._state.done)
            if not len(env_ids):
                return
            self._advance(env_ids, self._seating.ask(env_ids, players, self._pick))

    def _pick(self, index: int, env_ids: Tensor, players: Tensor) -> Tensor:
        return self.opponents[index].pick(self.game, self._state, env_ids, players, self._generator)

    def _advance(self, env_ids: Tensor, actions: Tensor) -> None:
        """Step some envs, int64 [L], ascending; the learner is owed what its seat earns."""
        if len(env_ids) == self.num_envs:
            self._state = state = self.game.step(self._state, actions, checked=False)
            self._owed += state.rewards.gather(1, self._player[:, None]).squeeze(1)
            return
        part = self.game.step(self._state[env_ids], actions, checked=False)
        for field, new in zip(self._state.tensors(), part.tensors(), strict=True):
            field[env_ids] = new
        self._owed[env_ids] += part.rewards.gather(1, self._player[env_ids][:, None]).squeeze(1)

    def _end(self, env_ids: Tensor, lost: Tensor) -> Ended[S]:
        """The record of games that are over."""
        state, player = self._state[env_ids], self._player[env_ids]
        seat = player[:, None]
        outcome = self.game.outcome(state).gather(1, seat).squeeze(1)
        return Ended(
            env_ids=env_ids,
            state=state,
            player=player,
            opponents=self._seating.seats[env_ids],
            observation=self.game.observe(state, player),
            returns=self._returns[env_ids],
            lengths=self._lengths[env_ids],
            outcome=torch.where(lost[env_ids], LOSS, outcome),
            scores=state.scores.gather(1, seat).squeeze(1),
        )

    def _forget(self) -> None:
        """Forget what was seen of an earlier position."""
        for name in ("observation", "action_mask"):
            vars(self).pop(name, None)

    # --- saving -----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that the next steps depend on, but for the opponents' own memory; `torch.save` takes it."""
        return {
            "state": self._state.clone(),
            "generator": self._generator.get_state(),
            "sampler": self._starts.generator.get_state(),
            "who": self._seating.seats.clone(),
            **{name: getattr(self, f"_{name}").clone() for name in _SAVED},
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Go on from `state_dict`, with the same number of envs, and the same opponents in the same order.

        Raises:
            ValueError: it is of another game, of other envs, or of more opponents.
        """
        state, who, kind = saved["state"], saved["who"], type(self._state)
        if type(state) is not kind or who.shape != self._seating.seats.shape:
            got = f"{type(state).__name__} in {len(who)}"
            raise InputError("saved", f"{kind.__name__} in {self.num_envs} envs", got, where=self.game.id)
        if any(own.shape != new.shape for own, new in zip(self._state.tensors(), state.tensors(), strict=True)):
            raise InputError("saved", f"games of {self.game!r}", "other parameters", where=self.game.id)
        if (most := int(who.max())) >= len(self.opponents):
            cause = f"the saved games know {most + 1}; set those that there were then"
            raise InputError("opponents", "all that were saved", len(self.opponents), cause, self.game.id)
        self._state = state.to(self.device).clone()
        self._generator.set_state(saved["generator"].cpu())
        self._starts.generator.set_state(saved["sampler"].cpu())
        self._seating.seats = who.to(self.device).clone()
        for name in _SAVED:
            setattr(self, f"_{name}", saved[name].to(self.device).clone())
        self._forget()


def replaced(game: Game, error: Exception, component: int, legal: Any) -> tuple[int, str]:
    """Return the choice that is played instead of an illegal one, and the text about it.

    Args:
        game: the rules.
        error: the error of the illegal choice.
        component: index of the component of the action.
        legal: bool [A], the player's mask, a tensor or an array.
    """
    nvec = game.info.action_nvec
    played = game.fallback(component, legal[sum(nvec[:component]) : sum(nvec[: component + 1])])
    return played, f"{error}; played {played} instead"
