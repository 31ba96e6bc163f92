"""One match of Grid Adaptation on plain Python integers: the rules of `rules`, without the cost of tensors.

What a match comes to is asked of `ending` once, with tensors. Letters: `P` players, `N` spaces, `A` choices of all
components of an action.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.intboards import IntGrid
from cellgames.envs.core.solo import Solo, one

from . import ending, observation, rules
from .state import BUY, FLIP, MOST_TILES, RESERVE, VOTE, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

__all__ = ["GridSolo"]

OWN = slice(observation.BOARDS, observation.BOARDS + 7)  # planes of what a player alone knows
_ONES = [[int(sequence & value != 0) for value in rules.DIGITS] for sequence in range(8)]

Flags = npt.NDArray[np.bool_]


@cache
def _grid(size: int) -> tuple[IntGrid, list[int]]:
    """Return the board, and its single spaces by their numbers as choices; "none" is the last."""
    grid = IntGrid(size, size)
    return grid, [grid.bit(row, col) for row in range(size) for col in range(size)] + [0]


class GridSolo(Solo):
    """One match of Grid Adaptation on integers."""

    _game: GridAdaptation

    def __init__(self, game: GridAdaptation, state: GridState) -> None:
        super().__init__(game, state)
        self.grid, self._bits = _grid(game.size)
        boards = torch.cat((state.planes[0], state.placed)).unsqueeze(-1)
        *self._planes, self._placed = map(self.grid.pack, game.grid.unpack(boards)[0].numpy(force=True))
        self._round, self._candidate = int(state.round), int(state.candidate)
        self._sequence: list[int] = state.sequence.tolist()[0]
        self._reserves: list[int] = state.reserves.tolist()[0]
        self._bought: list[int] = state.bought.tolist()[0]
        self._garnets: list[int] = state.garnets.tolist()[0]
        self._public: list[int] = state.public.tolist()[0]
        self._tied: list[bool] = state.tied.tolist()[0]
        self._tokens: list[int] = state.tokens.tolist()[0]
        self._prepare()

    def _prepare(self) -> None:
        """Work out what more than one question about the position needs."""
        self._done, self._voting = self.terminated or self.truncated, self._round > self._game.rounds
        self._flips = not self._voting and self._round in self._game.flip_rounds
        self._votes = self._open_votes()
        self._cells = self.grid.unpack(*self._planes)
        self._view: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]] | None = None

    # --- the game -------------------------------------------------------------------------------------------------

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0] * self._game.players
        if self._done:
            return
        choices: list[list[int]] = np.asarray(actions).tolist()
        self.turn += 1
        if self._voting:
            self._placed = 0
            self._vote([action[VOTE] for action in choices])
        else:
            self._play(choices)
        self._prepare()

    def pause(self) -> None:
        """Play a step in which nothing on the board moves."""
        self.turn += 1
        self.rewards, self._placed = [0.0] * self._game.players, 0

    def _play(self, choices: list[list[int]]) -> None:
        """Play a round."""
        tiles, *digits = self._planes
        named = [self._named(seat, action) for seat, action in enumerate(choices)]
        self._placed = 0
        for sequence, new in zip(self._sequence, rules.land(self.grid.trim(~tiles), named), strict=True):
            self._placed |= new
            digits = [old | new if sequence & value else old for old, value in zip(digits, rules.DIGITS, strict=True)]
        tiles, digits = rules.generation(self.grid, tiles | self._placed, digits)
        self._planes = [tiles, *digits]
        self._public = rules.bits_matched(tiles.bit_count(), [digit.bit_count() for digit in digits])
        gained = [self._public[sequence] for sequence in self._sequence]
        self.scores = [points + new for points, new in zip(self.scores, gained, strict=True)]
        if self._round == self._game.rounds:
            self._count()
        else:
            self._round += 1
        if self._game.reward_scheme == "score":
            points = np.array(gained, dtype=np.float32)  # as the batch has them
            self.rewards = (points - (points.sum() - points) / (self._game.players - 1)).tolist()
        elif self._game.reward_scheme == "public":
            self.rewards = [points - sum(self._public) / 8 for points in gained]  # whole eighths, as the batch has them

    def _named(self, seat: int, action: list[int]) -> int:
        """Return the spaces that a player names, after its flip and its purchase; what it takes is spent."""
        if self._flips:
            self._sequence[seat] = rules.flipped(self._sequence[seat], action[FLIP])
        reserve, cost = action[RESERVE] < self._game.spaces, rules.price(self._bought[seat])
        if (action[BUY] or (reserve and not self._reserves[seat])) and self._garnets[seat] >= cost:
            self._garnets[seat] -= cost
            self._bought[seat] += 1
            self._reserves[seat] += 1
        spaces = 0
        for choice in action[: self._tiles()]:
            spaces |= self._bits[choice]
        if reserve and self._reserves[seat]:
            self._reserves[seat] -= 1
            spaces |= self._bits[action[RESERVE]]
        return spaces

    def _tiles(self) -> int:
        """Return how many tiles everybody names a space for in this round."""
        return self._game.first_tiles if self._round == 1 else 1

    def _count(self) -> None:
        """Count the points after the last round; with a vote the match goes on."""
        points = self._column(self.scores)
        tokens, earned = ending.tokens(points), ending.earned_garnets(points).flatten().tolist()
        self._tokens = tokens.flatten().tolist()
        self._garnets = [held + new for held, new in zip(self._garnets, earned, strict=True)]
        least = ending.fewest(points)
        if int(least.sum()) > 1 and ending.voters(least, tokens).any():
            self._tied = least.flatten().tolist()
            self._round += 1
        else:
            self._end(least)

    def _vote(self, votes: list[int]) -> None:
        lists: tuple[list[Any], ...] = (self._tied, self._tokens, self._garnets, votes)
        tied, tokens, garnets, cast = map(self._column, lists)
        self._end(ending.most_voted(tied, cast, tokens, garnets))

    def _end(self, among: Tensor) -> None:
        """End the match; the Elimination Candidate is one of bool [P, 1]."""
        seats = among.flatten().nonzero().flatten().tolist()  # a lot among one would take as long as a round
        candidate = seats[0] if len(seats) == 1 else int(ending.by_lot(among, one(self._seed)))
        self._candidate, self.terminated = candidate, True
        if self._game.reward_scheme == "outcome":
            garnets = np.array(self._garnets) - self._game.starting_garnets
            worth = np.array(self._tokens, dtype=np.float32)  # as the batch has them
            worth[candidate] -= 1
            self.rewards = (worth + self._game.garnet_value * garnets.astype(np.float32)).tolist()

    @staticmethod
    def _column(values: list[Any]) -> Tensor:
        """Return what players have, as `ending` takes it: [P, 1]."""
        return torch.tensor(values, device="cpu").unsqueeze(1)

    # --- what may be done -----------------------------------------------------------------------------------------

    def _open_votes(self) -> Flags:
        """Return the mask of the vote: bool [P, P + 1]."""
        players = self._game.players
        votes = np.zeros((players, players + 1), dtype=bool)
        if self._voting:
            tied = self._column(self._tied)
            voters = ending.voters(tied, self._column(self._tokens))
            votes[:, :-1] = (ending.ballot(tied) & voters[:, None])[..., 0].numpy()
        votes[:, -1] = ~votes.any(1)
        return votes

    def _pay(self) -> list[bool]:
        """Return for every player whether it can buy a tile now."""
        wallets = zip(self._garnets, self._bought, strict=True)
        return [not self._voting and garnets >= rules.price(bought) for garnets, bought in wallets]

    @override
    def legal_actions(self) -> Flags:
        game = self._game
        legal = np.zeros((game.players, game.info.num_actions), dtype=bool)
        if self._done:
            return legal
        row, choices = np.zeros(game.info.num_actions, dtype=bool), game.spaces + 1
        slots = row[: (MOST_TILES + 1) * choices].reshape(-1, choices)
        slots[:, -1] = True
        if not self._voting:
            free, tiles = self._cells[0].reshape(-1) == 0, self._tiles()
            slots[:tiles, :-1] = slots[RESERVE, :-1] = free
            slots[:tiles, -1] = not free.any()
        rest = row[slots.size :]  # choices to flip, to buy and to vote
        rest[:4] = self._flips
        rest[0] = rest[4] = True
        legal[:] = row
        pay = self._pay()
        for seat, (held, pays) in enumerate(zip(self._reserves, pay, strict=True)):
            if not (held or pays):
                legal[seat, RESERVE * choices : slots.size - 1] = False
        legal[:, slots.size + 5] = pay
        legal[:, slots.size + 6 :] = self._votes
        return legal

    # --- what is seen ---------------------------------------------------------------------------------------------

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        if self._view is None:
            self._view = self._public_planes(), self._numbers([self._mine(seat) for seat in range(self._game.players)])
        planes, own = self._view
        seen: npt.NDArray[np.int16] = planes.copy()
        seen[OWN] = own[player, :, None, None]
        if self._done or (self._voting and not self._votes[player, -1]):
            totals = self._numbers([*map(int, self.scores), *self._tied])
            seen[len(observation.PLANES) :] = totals[:, None, None]
        return seen

    def _public_planes(self) -> npt.NDArray[np.int16]:
        """Return an observation without what not all may know."""
        planes = np.zeros(self._game.info.observation.shape, dtype=np.int16)
        planes[: observation.BOARDS] = self._cells
        numbers = (self._round, self._flips and not self._done, self._voting and not self._done, *self._public)
        planes[OWN.stop : len(observation.PLANES)] = self._numbers(numbers)[:, None, None]
        return planes

    def _mine(self, seat: int) -> list[int]:
        """Return the numbers of the planes `OWN`."""
        digits, price = _ONES[self._sequence[seat]], rules.price(self._bought[seat])
        return [*digits, self._reserves[seat], self._garnets[seat], price, int(self.scores[seat])]

    @staticmethod
    def _numbers(values: Any) -> npt.NDArray[np.int16]:
        numbers: npt.NDArray[np.int16] = np.minimum(values, observation.LARGEST).astype(np.int16)
        return numbers

    @override
    def board(self) -> npt.NDArray[np.int8]:
        tiles, *digits = self._cells.astype(np.int8)
        board: npt.NDArray[np.int8] = tiles - np.int8(1)
        for digit, value in zip(digits, rules.DIGITS, strict=True):
            board += digit * np.int8(value)
        return board

    @override
    def infos(self, player: int) -> dict[str, Any]:
        done, unknown = self._done, [-1] * self._game.players
        return {
            "score": self.scores[player],
            "sequence": self._sequence[player],
            "reserves": self._reserves[player],
            "garnets": self._garnets[player],
            "points": list(map(int, self.scores)) if done else unknown,
            "tokens": self._tokens[:] if done else unknown[:],
            "final_garnets": self._garnets[:] if done else unknown[:],
            "candidate": self._candidate if done else -1,
        }

    @override
    def state(self) -> GridState:
        cells = torch.from_numpy(self.grid.unpack(*self._planes, self._placed).copy())
        packed = self._game.grid.pack(cells[None]).movedim(-1, 0)
        return GridState(
            **self._fields(),
            planes=packed[:, :-1].clone(),
            placed=packed[:, -1].clone(),
            sequence=one(self._sequence),
            reserves=one(self._reserves),
            bought=one(self._bought),
            garnets=one(self._garnets),
            public=one(self._public),
            round=one(self._round),
            tied=one(self._tied),
            tokens=one(self._tokens),
            candidate=one(self._candidate),
        )
