"""The network for Grid Adaptation.

Letters: `L` rows, `H, W` board, `N` its spaces, `C` channels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.blocks import Trunk, head, pooled
from cellgames.agents.networks.networks import Network, Relation, Size
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, RESERVE, SLOTS, VOTE, num_planes
from cellgames.envs.native.operators import table

from .decoding import Seen, seen
from .lookahead import base_of, tiles_on, tried

_WEIGHTS = (5, 4)  # of the generations that players like `greedy` look ahead
_GENERATIONS = 3
_CROWDS = (0.1, 1.0)  # how much a point ahead draws others, from hardly to all of them
_NEAR = 7  # rows and columns of what one tile says about the place of the next
_DIGITS = 3


class GridNetwork(Network[GridAdaptation]):
    """A network of convolutions on the board as its owner sees it, and a head for each component of an action.

    Instead of digits it sees where they match its own. The rules use only majorities of digits, so what is learned
    with one sequence holds for all eight. Further planes contain, by the rules, the result of a tile on each space if
    nobody else places any: how many more digits match than not in each of the next generations.

    The spaces of an action are chosen one after the other. The logit of a space is the sum of one for the space itself
    and one for its offset from the tiles chosen before.
    """

    unit = 30.0

    plays = GridAdaptation

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        slots, width = len(range(*SLOTS.indices(RESERVE))) + 1, size.channels
        self.numbers = head(len(_NUMBERS) + 8 + _GENERATIONS * _DIGITS, width, width, 1.0)
        planes = _GENERATIONS + len(_CROWDS)
        self.trunk = Trunk(2 + _DIGITS + planes, size, wrap=False)
        self.spaces = nn.Conv2d(width, slots, 1)
        nn.init.orthogonal_(self.spaces.weight, 0.01)
        advice = [*_WEIGHTS, *[0.0] * (_GENERATIONS - len(_WEIGHTS)), -20.0, -5.0]
        self.advice = nn.Parameter(torch.tensor([advice] * slots))  # close to greedy play at the start
        self.near = nn.Parameter(torch.zeros(2, slots, 1, _NEAR, _NEAR))  # in round 1, and later
        with torch.no_grad():
            self.near[0] = _opening()
            self.near[..., _NEAR // 2, _NEAR // 2] = -9.0  # nobody names a space twice
        self.turn = nn.Parameter(torch.tensor(1.0))  # how much is made of what a flip would change
        self.rest = head(3 * width, 2 * width, 1 + sum(self.nvec[FLIP:VOTE]), 0.01)
        self.ballot = nn.Linear(2, 1)
        self.value = head(3 * width, 2 * width, 1, 1.0)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        view = seen(self.game, observation)
        return self._answer(view, *self._parts(observation, view))

    def _answer(self, view: Seen, parts: list[Tensor], summary: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        """Return logits, values and relation."""
        return torch.cat(parts, 1), self.value(summary).squeeze(1), self._relation(view.round == 1)

    def _parts(
        self, observation: Tensor, view: Seen, more: tuple[Tensor, Tensor] | None = None
    ) -> tuple[list[Tensor], Tensor]:
        """Return the logits of an action's components in parts, and the board's summary, float [L, 3 * C].

        `more` is float [L, C], to add on every cell, and float [L, H, W], to add to the logits of spaces.
        """
        game = self.game
        outlook, ahead = self._outlook(view)
        board = game.grid.unpack(torch.stack((view.planes[0], *view.matches()))).float()
        planes = torch.cat((board, torch.ones_like(board[:, :1]), outlook), 1)
        numbers = self.numbers(torch.cat((_numbers(game, view), ahead.flatten(1)), 1))
        if more is not None:
            numbers = numbers + more[0]
        trunk = self.trunk(planes, numbers)
        spaces = self.spaces(trunk) + torch.einsum("lghw,sg->lshw", outlook, self.advice)
        if more is not None:
            spaces = spaces + more[1][:, None]
        summary = torch.cat((pooled(trunk), numbers), 1)
        keep, flip, buy = self.rest(summary).split((1, *self.nvec[FLIP:VOTE]), 1)
        # Of choices 1, 2, 3 the last digit comes first.
        flip = flip - self.turn * functional.pad(ahead.sum(1).flip(1), (1, 0))
        none = torch.zeros_like(keep)
        flat = spaces.flatten(2).unbind(1)
        parts = [part for slot in flat[:-1] for part in (slot, none)]
        return [*parts, flat[-1], keep, flip, buy, self._votes(observation), none], summary

    def _outlook(self, view: Seen) -> tuple[Tensor, Tensor]:
        """Return the outlook of one tile on each space, and the number of others that may want to have it there.

        Returns:
            float [L, generations + crowds, H, W], 0 where there is a tile; and the matches minus the mismatches of each
            digit without the tile, float [L, generations, digits].
        """
        game = self.game
        singles = tiles_on(game.grid, torch.arange(game.spaces + 1, device=view.round.device)[:, None])[:, None]
        base = base_of(view.planes[0], view.matches())
        found = tried(base, singles, game.size, _GENERATIONS)  # [generations, digits, L, N + 1]
        gain = (found[..., :-1] - found[..., -1:]).float()
        counts = (game.rounds + 1 - view.round) > torch.arange(_GENERATIONS, device=gain.device)[:, None]
        gain = (gain * counts[:, None, :, None]).permute(2, 0, 1, 3)  # [L, generations, digits, N]
        free = ~game.grid.unpack(view.planes[0]).flatten(1)
        planes = torch.cat((gain.sum(2) / 10, self._crowds(gain, free)), 1)
        ahead = found[..., -1].permute(2, 0, 1) * counts.t()[..., None]
        return (planes * free[:, None]).unflatten(2, (game.size, game.size)), ahead / 10

    def _crowds(self, gain: Tensor, free: Tensor) -> Tensor:
        """Return the number of the seven other sequences that look for each space, float [L, crowds, N]."""
        sequences, digits = (torch.arange(*some, device=gain.device) for some in ((1, 8), (0, _DIGITS)))
        signs = 1 - 2 * ((sequences[:, None] >> digits) & 1)
        weights = gain.new_tensor([*_WEIGHTS, *[0] * (_GENERATIONS - len(_WEIGHTS))])
        worth = torch.einsum("lgdn,g,sd->lsn", gain, weights, signs.float())
        worth = worth.masked_fill(~free[:, None], -1e9)
        return torch.stack([(worth * keen).softmax(2).sum(1) for keen in _CROWDS], 1)

    def _votes(self, observation: Tensor) -> Tensor:
        """Return logits for each seat, [L, players], by its points and by whether it is tied for fewest."""
        players = self.game.players
        last = num_planes(players)
        standings = observation[:, last - 2 * players : last, 0, 0].float().view(-1, 2, players)
        scaled: Tensor = self.ballot(standings.transpose(1, 2) * standings.new_tensor([0.01, 1.0])).squeeze(2)
        return scaled

    def _relation(self, first: Tensor) -> Relation:
        """Return the relation of the next space to those chosen before; `first` is bool [L], round 1."""
        spaces = self.game.spaces
        later = (spaces + 1) * (~first).long()
        weights = functional.pad(self.near.flatten(2), (0, 1))  # the last one is for what is too far away
        # Of tiles by next spaces, or none, [slots, 2 (N + 1), N + 1], of round 1 and later ones.
        tables = weights[:, :, _offsets(self.game.size, self.near.device)].transpose(0, 1).flatten(1, 2)

        def near(k: int, before: Tensor) -> Tensor | None:
            if not 0 < k <= RESERVE:
                return None
            at = later.repeat_interleave(len(before) // max(1, len(first)))
            return functional.embedding_bag(before + at[:, None], tables[k], mode="sum")

        return near


@table
def _offsets(size: int, device: torch.device) -> Tensor:
    """Return the place of tiles in a kernel around spaces, or none, int64 [N + 1, N + 1]; `_NEAR` ** 2 outside."""
    space = torch.arange(size**2, device=device)
    row, col = (part[:, None] - part + _NEAR // 2 for part in (space // size, space % size))
    inside = (row >= 0) & (row < _NEAR) & (col >= 0) & (col < _NEAR)
    return functional.pad((row * _NEAR + col).where(inside, _NEAR**2), (0, 1, 0, 1), value=_NEAR**2)


def _opening() -> Tensor:
    """Return the kernels by which one tile calls for the next in round 1, [slots, 1, rows, cols]: a T of four tiles.

    That T lives on and becomes twelve tiles in nine generations; other shapes are for the learner to find.
    """
    away = (torch.arange(_NEAR, device="cpu") - _NEAR // 2).abs()  # to compute on the meta device takes a second more
    down, right = away[:, None], away[None]
    beside, beyond, corner = down + right == 1, (down * right == 0) & (down + right == 2), (down == 1) & (right == 1)
    second = 8.0 * beside
    third = 4.0 * beside + 6.0 * beyond
    last = 3.0 * beside + 4.0 * corner
    return torch.stack((torch.zeros_like(second), second, third, last))[:, None]


_NUMBERS = ("reserves", "garnets", "price", "payable", "points", "round", "left", "flip", "voting")


def _numbers(game: GridAdaptation, view: Seen) -> Tensor:
    """Return `_NUMBERS`, and what sequences would have earned by the digits that differ from one's own: [L, 17]."""
    order = torch.arange(8, device=view.sequence.device) ^ view.sequence[:, None]
    columns = (
        view.reserves / 4,
        view.garnets / 8,
        view.price.clamp(max=64) / 8,
        (view.garnets >= view.price).long(),
        view.points / 300,
        view.round / 8,
        (game.rounds - view.round) / 8,
        view.flips.long(),
        view.voting.long(),
    )
    return torch.cat((torch.stack(columns, 1).float(), view.public.gather(1, order).float() / 100), 1)
