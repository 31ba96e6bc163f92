"""Small games on the contract, for tests only: what no single game of the suite has in one place.

`Sealed` is simultaneous, with several components, hidden information and chance. `Race` is played in turns,
with chance, turns that are not equally shared, draws, endings that both lose, and truncation. `TwoPartRace`
is the same with a second component.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import torch
from torch import Tensor

from cellgames.envs.core import DRAW, LOSS, WIN, Game, GameInfo, Space, State, chance
from cellgames.envs.core.drawing import Picture, Rectangle

_DIE, _SECRET, _AGAIN, _FIRST = range(chance.USER, chance.USER + 4)


def bars(title: str, lengths: list[int]) -> Picture:
    """A picture of some numbers."""
    shapes = tuple(Rectangle(4, 4 + 12 * i, 4 + 8 * n, 8, "#336699") for i, n in enumerate(lengths))
    return Picture(120, 8 + 12 * len(lengths), "#ffffff", shapes, title)


@dataclass(frozen=True, eq=False)
class SealedState(State):
    """Letters: `P = 3` players, `C` cards.

    secret:  [B, P] int64, 0 or 1, known to its owner alone.
    spent:   [B, P, C] bool, cards that were bid.
    prize:   [B] int64, what this round's highest bid gets.
    shown:   [B, P, 2] int64, the last actions, -1 before the first.
    """

    secret: Tensor
    spent: Tensor
    prize: Tensor
    shown: Tensor


@dataclass(frozen=True)
class Sealed(Game[SealedState]):
    """Each round all bid one of their cards, or none, for a prize; in odd rounds they may also guess.

    The highest bid that nobody else made wins the prize. A guess says if the secrets' sum is low (0, 1) or
    high; it is worth 1 if right and -1 if wrong. What was bid and guessed is then open.
    """

    cards: int = 4
    rounds: int = 3

    id: ClassVar[str] = "toy-sealed-v0"

    @cached_property
    def info(self) -> GameInfo:
        cards = self.cards
        return GameInfo(
            id=self.id,
            title="Sealed",
            credit="made for tests",
            players=("player_0", "player_1", "player_2"),
            simultaneous=True,
            perfect_information=False,
            stochastic=True,
            zero_sum=False,
            max_turns=self.rounds,
            reward_range=(-1.0, 6.0),
            action_nvec=(cards + 1, 3),
            observation=Space((9 + 3 * cards,), torch.int8, -1, max(5, self.rounds, cards)),
            board=Space((3, cards), torch.int8, 0, 1),
        )

    def _prize(self, seed: Tensor, turn: Tensor) -> Tensor:
        return 1 + chance.uniform_int(chance.draw(seed, _DIE, turn.long()), 5)

    def _init(self, seeds: Tensor) -> SealedState:
        batch = len(seeds)
        bits = chance.draw(seeds[:, None], _SECRET, torch.arange(3, device=seeds.device))
        return SealedState.new(
            seeds,
            3,
            secret=chance.uniform_int(bits, 2),
            spent=seeds.new_zeros(batch, 3, self.cards, dtype=torch.bool),
            prize=self._prize(seeds, torch.zeros_like(seeds)),
            shown=seeds.new_full((batch, 3, 2), -1),
        )

    def _step(self, state: SealedState, actions: Tensor) -> SealedState:
        actions = actions.long()
        bid, guess = actions.unbind(-1)
        bids = torch.nn.functional.one_hot(bid, self.cards + 1)[..., : self.cards].bool()
        alone = bids & (bids.sum(1, keepdim=True) == 1)
        height = torch.where(alone, torch.arange(1, self.cards + 1, device=bid.device), 0).amax(2)
        won = (height == height.amax(1, keepdim=True)) & (height > 0)
        high = (state.secret.sum(1, keepdim=True) >= 2).long()
        guessed = torch.where(guess == 2, 0, torch.where(guess == high, 1, -1))
        rewards = (won * state.prize[:, None] + guessed).float()
        turn = state.turn + 1
        return state.replace(
            turn=turn,
            rewards=rewards,
            scores=state.scores + rewards,
            terminated=turn >= self.rounds,
            spent=state.spent | bids,
            prize=self._prize(state.seed, turn),
            shown=actions,
        )

    def _legal(self, state: SealedState) -> Tensor:
        always = torch.ones_like(state.spent[..., :1])
        guess = (state.turn % 2 == 1)[:, None, None].expand(-1, 3, 2)
        return torch.cat((~state.spent, always, guess, always), dim=2)

    def _why_illegal(self, state: SealedState, seat: int, component: int, action: int) -> str:
        return "this round takes no guesses" if component else f"card {action} is spent"

    def observe(self, state: SealedState, player: Tensor | int) -> Tensor:
        """int8: own secret, the prize, the round, cards spent and last actions of all, oneself first."""
        player = torch.as_tensor(player, device=state.device).expand(len(state))
        seats = (player[:, None] + torch.arange(3, device=state.device)) % 3
        env_ids = torch.arange(len(state), device=state.device)[:, None]
        own, seen = state.secret.gather(1, player[:, None]), (state.spent, state.shown)
        parts = (own, state.prize[:, None], state.turn[:, None], *(part[env_ids, seats].flatten(1) for part in seen))
        return torch.cat(parts, dim=1).to(torch.int8)

    def board(self, state: SealedState) -> Tensor:
        return state.spent.to(torch.int8)

    def outcome(self, state: SealedState) -> Tensor:
        best = state.scores == state.scores.amax(1, keepdim=True)
        top = torch.where(best.sum(1, keepdim=True) == 1, WIN, DRAW)
        return torch.where(state.done[:, None], torch.where(best, top, LOSS), 0).to(torch.int8)

    def action_to_string(self, action: int) -> str:
        """Of the flat index of a bid and a guess."""
        bid, guess = divmod(action, 3)
        return f"{'none' if bid == self.cards else bid}/{('low', 'high', 'none')[guess]}"

    def string_to_action(self, text: str) -> int:
        names = [self.action_to_string(action) for action in range(3 * self.cards + 3)]
        if text not in names:
            raise ValueError(f"{self.id}: expected an action such as {names[0]!r}, got {text!r}")
        return names.index(text)

    def draw(self, state: SealedState) -> Picture:
        return bars("Sealed", state.spent[0].sum(1).tolist())

    def text(self, state: SealedState) -> str:
        return f"round {int(state.turn[0])}, scores {state.scores[0].tolist()}"


@dataclass(frozen=True, eq=False)
class RaceState(State):
    """place: [B, 2] int64, how far each is; chosen: [B, 2] int64, each one's last choice, -1 for none."""

    place: Tensor
    chosen: Tensor


@dataclass(frozen=True)
class Race(Game[RaceState]):
    """Rest, walk or run towards the goal, never the same twice in a row; a die adds 0 or 1 to a move.

    Who lands on the goal wins; beyond it both lose; both one step before it is a draw, as is the end of the
    turns. After every third turn, on average, the same player goes on. Each step walked is worth 1/8 to the
    mover, and each turn costs the other 1/8.
    """

    goal: int = 7
    limit: int = 12

    id: ClassVar[str] = "toy-race-v0"

    @cached_property
    def info(self) -> GameInfo:
        return GameInfo(
            id=self.id,
            title="Race",
            credit="made for tests",
            players=("hare", "tortoise"),
            simultaneous=False,
            perfect_information=True,
            stochastic=True,
            zero_sum=False,
            max_turns=self.limit,
            reward_range=(-1.125, 1.375),
            action_nvec=(3,),
            observation=Space((5,), torch.float32, -1, self.goal + self.limit),
            board=Space((2,), torch.int16, 0, self.goal + 2),
        )

    def _init(self, seeds: Tensor) -> RaceState:
        return RaceState.new(
            seeds,
            2,
            current_player=chance.uniform_int(chance.draw(seeds, _FIRST, torch.zeros_like(seeds)), 2),
            place=seeds.new_zeros(len(seeds), 2),
            chosen=seeds.new_full((len(seeds), 2), -1),
        )

    def _step(self, state: RaceState, actions: Tensor) -> RaceState:
        counter = state.turn.long()
        die = chance.uniform_int(chance.draw(state.seed, _DIE, counter), 2)
        again = chance.uniform_int(chance.draw(state.seed, _AGAIN, counter), 3) == 0
        mover = torch.arange(2, device=state.device) == state.current_player[:, None]
        walked = torch.where(actions > 0, actions + die, 0)
        place = state.place + mover * walked[:, None]
        won, beyond = place == self.goal, (place > self.goal).any(1)
        level = (place == self.goal - 1).all(1)
        decided = torch.where(won, 1, torch.where(won.any(1) | beyond, -1, 0)[:, None])
        terminated = won.any(1) | beyond | level
        turn = state.turn + 1
        return state.replace(
            turn=turn,
            current_player=torch.where(again, state.current_player, 1 - state.current_player),
            rewards=decided + torch.where(mover, walked[:, None], -1).float() / 8,
            scores=place.float(),
            terminated=terminated,
            truncated=~terminated & (turn >= self.limit),
            place=place,
            chosen=torch.where(mover, actions[:, None], state.chosen),
        )

    def _legal(self, state: RaceState) -> Tensor:
        own = state.chosen.gather(1, state.current_player[:, None])
        return own != torch.arange(3, device=state.device)

    def _why_illegal(self, state: RaceState, seat: int, component: int, action: int) -> str:
        return f"{self.action_to_string(action)} was the last choice"

    def observe(self, state: RaceState, player: Tensor | int) -> Tensor:
        """float32: own place and choice, the other's, the turn."""
        player = torch.as_tensor(player, device=state.device).expand(len(state))
        pairs = torch.stack((state.place, state.chosen), dim=2)
        pairs = torch.where((player == 1)[:, None, None], pairs.flip(1), pairs)
        return torch.cat((pairs.flatten(1), state.turn[:, None]), dim=1).float()

    def board(self, state: RaceState) -> Tensor:
        return state.place.to(torch.int16)

    def outcome(self, state: RaceState) -> Tensor:
        won = state.place == self.goal
        lost = won.any(1) | (state.place > self.goal).any(1)
        result = torch.where(won, WIN, torch.where(lost, LOSS, DRAW)[:, None])
        return torch.where(state.done[:, None], result, 0).to(torch.int8)

    def action_to_string(self, action: int) -> str:
        return ("rest", "walk", "run")[action]

    def string_to_action(self, text: str) -> int:
        if text not in (names := ("rest", "walk", "run")):
            raise ValueError(f"{self.id}: expected rest, walk or run, got {text!r}")
        return names.index(text)

    def draw(self, state: RaceState) -> Picture:
        return bars("Race", state.place[0].tolist())

    def text(self, state: RaceState) -> str:
        return f"hare {int(state.place[0, 0])}, tortoise {int(state.place[0, 1])}"


@dataclass(frozen=True)
class TwoPartRace(Race):
    """`Race` in which the mover also wears a hat or none; the hat only after an odd number of turns."""

    id: ClassVar[str] = "toy-two-part-race-v0"

    @cached_property
    def info(self) -> GameInfo:
        return dataclasses.replace(Race(self.goal, self.limit).info, id=self.id, action_nvec=(3, 2))

    def _step(self, state: RaceState, actions: Tensor) -> RaceState:
        return super()._step(state, actions[:, 0])

    def _legal(self, state: RaceState) -> Tensor:
        hat = (state.turn % 2 == 1)[:, None]
        return torch.cat((super()._legal(state), hat, torch.ones_like(hat)), dim=1)

    def _why_illegal(self, state: RaceState, seat: int, component: int, action: int) -> str:
        return "no hat now" if component else super()._why_illegal(state, seat, component, action)


TOYS: tuple[Game, ...] = (Sealed(), Race(), TwoPartRace())


def random_actions(game: Game, state: State, generator: torch.Generator) -> Tensor:
    """Uniformly random legal choices of every component, 0 in finished games; [B], [B, P] or [B, P, K]."""
    weights = game.legal_actions(state).float()
    weights *= torch.rand(weights.shape, generator=generator)
    ends = list(accumulate(game.info.action_nvec))
    parts = [weights[..., end - n : end].argmax(-1) for n, end in zip(game.info.action_nvec, ends, strict=True)]
    return parts[0] if len(parts) == 1 else torch.stack(parts, dim=-1)
