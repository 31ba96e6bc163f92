"""Observations of Grid Adaptation, decoded into boards and numbers.

Letters: `L` games, `W` words of a board (see `boards.packedboards`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import BOARDS, PLANES, num_planes

_PLACE = {name: place for place, name in enumerate(PLANES)}
_SEQUENCES = _PLACE["what sequence 000 would have earned in the last round"]


@dataclass(frozen=True)
class Seen:
    """The decoded observations of `L` players.

    Attributes:
        planes: [4, W, L] int64, boards as in `GridState.planes`.
        sequence: [L] int64, one's own; so are reserves, garnets, price, points.
        round: [L] int64; one more than there are in the voting step.
        flips: [L] bool, rounds with a flip.
        voting: [L] bool.
        playing: [L] bool, steps that place tiles: neither the vote nor a step that an extension of the game adds.
        public: [L, 8] int64, what each sequence would have earned in the last round.
    """

    planes: Tensor
    sequence: Tensor
    reserves: Tensor
    garnets: Tensor
    price: Tensor
    points: Tensor
    round: Tensor
    flips: Tensor
    voting: Tensor
    playing: Tensor
    public: Tensor

    def __len__(self) -> int:
        return len(self.sequence)

    def __getitem__(self, rows: Tensor) -> Self:
        parts = {name: part[..., rows] if name == "planes" else part[rows] for name, part in vars(self).items()}
        return type(self)(**parts)

    def rounds(self) -> list[Tensor]:
        """Return the rows that place tiles in the same round, int64 [X] for each round."""
        numbers = self.round[self.playing].unique().tolist()
        return [(self.playing & (self.round == number)).nonzero().squeeze(1) for number in numbers]

    def matches(self) -> list[Tensor]:
        """Return the boards [W, L] of tiles whose digit is one's own, for each digit."""
        tiles, *digits = self.planes.unbind()
        own = [-((self.sequence & value) != 0).long() for value in rules.DIGITS]
        return [tiles & ~(digit ^ mine) for digit, mine in zip(digits, own, strict=True)]


def seen(game: GridAdaptation, observed: Tensor) -> Seen:
    """Decode observations, int16 [L, C, H, W]."""
    boards = game.grid.pack(observed[:, :BOARDS])
    numbers = observed[:, :, 0, 0].long()

    def number(name: str) -> Tensor:
        return numbers[:, _PLACE[name]]

    voting, added = number("1 in the voting step") == 1, numbers[:, num_planes(game.players) :][:, :1]
    own = zip(rules.DIGITS, (number(f"own digit {place}") for place in (1, 2, 3)), strict=True)
    return Seen(
        planes=boards,
        sequence=sum((value * digit for value, digit in own), torch.zeros_like(numbers[:, 0])),
        reserves=number("own reserve tiles"),
        garnets=number("own garnets"),
        price=number("price of the next extra tile"),
        points=number("own points"),
        round=number("round"),
        flips=number("1 in rounds with a flip") == 1,
        voting=voting,
        playing=~(voting | (added == 1).any(1)),
        public=numbers[:, _SEQUENCES : _SEQUENCES + 8],
    )
