"""Grid Adaptation as one writes it in PyTorch without bitboards: a number a space, shifted sums, a scatter.

It plays what `envs/grid_adaptation` plays, with its default reward scheme, but for the end: there are no Tokens,
no garnets for points, no Elimination Candidate and so no vote; a match is over after its last round.

Letters: `B` matches, `P` players, `N` spaces.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from cellgames.envs.grid_adaptation.game import GridAdaptation

__all__ = ["PlainGrid"]

TILE = 8  # a space without a tile is 0, one with a tile is 8 + its sequence
SLOTS, RESERVE, FLIP, BUY = 4, 3, 4, 5  # of an action


class PlainGrid:
    """A batch of matches, each of which starts over when it ends.

    board:     [B, N + 1] uint8, 0 or 8 + the sequence of the tile; the last one is where "none" goes, and always 0.
    sequence:  [B, P] int64.
    reserves:  [B, P] int64, reserve tiles held.
    bought:    [B, P] int64, extra tiles bought so far.
    garnets:   [B, P] int64.
    scores:    [B, P] int64, points so far.
    round:     [B] int64, to be played, from 1; one more than there are when the match is over.

    Args:
        rules: whose parameters hold.
        num_envs: `B`.
        generator: of all draws; consumed.
    """

    def __init__(self, rules: GridAdaptation, num_envs: int, generator: torch.Generator) -> None:
        self.rules, self.num_envs, self.generator = rules, num_envs, generator
        shape = (num_envs, rules.players)
        self.board = torch.zeros(num_envs, rules.spaces + 1, dtype=torch.uint8)
        self.sequence, self.reserves, self.bought, self.garnets, self.scores = torch.zeros(5, *shape).long().unbind()
        self.round = torch.zeros(num_envs, dtype=torch.int64)
        self.restart(torch.ones(num_envs, dtype=torch.bool))
        digits = torch.arange(8)[:, None] >> torch.tensor((2, 1, 0)) & 1
        self.matching = torch.cat((digits, 1 - digits), 1).T.float()  # [ones and zeros of three digits, sequence]

    def restart(self, done: Tensor) -> None:
        """New matches where bool [B] holds."""
        env_ids, rules = done.nonzero().squeeze(1), self.rules
        self.board[env_ids] = 0
        self.sequence[env_ids] = torch.rand(len(env_ids), 8, generator=self.generator).argsort(1)[:, : rules.players]
        self.reserves[env_ids], self.garnets[env_ids] = rules.reserves, rules.starting_garnets
        self.bought[env_ids] = self.scores[env_ids] = 0
        self.round[env_ids] = 1

    def play(self) -> None:
        """A round of random legal actions in every env, and new matches where it was the last."""
        self.step(self.random_actions())
        done = self.round > self.rules.rounds
        if done.any():
            self.restart(done)

    def free(self) -> Tensor:
        """Bool [B, N], spaces without a tile."""
        return self.board[:, :-1] == 0

    def flips_now(self) -> Tensor:
        """Bool [B]."""
        return torch.isin(self.round, torch.tensor(self.rules.flip_rounds))

    def random_actions(self) -> Tensor:
        """int64 [B, P, 6], legal: three tiles, a reserve tile, a flip, a purchase; as the game takes them, but no vote.

        A space by its rank among the free ones, which takes half as long as `multinomial` does.
        """
        upto = self.free().cumsum(1)  # [B, N]
        pays = self.garnets >= 2 << self.bought
        lots = torch.rand(self.num_envs, self.rules.players, 6, generator=self.generator)
        choices = upto[:, -1, None, None].expand(-1, self.rules.players, SLOTS).clone()
        choices[:, :, RESERVE] = torch.where((self.reserves > 0) | pays, choices[:, :, RESERVE], 0) + 1  # or "none"
        rank = (lots[:, :, :SLOTS] * choices).long()
        space = torch.searchsorted(upto, rank.flatten(1), right=True).view_as(rank)
        space[:, :, RESERVE].masked_fill_(rank[:, :, RESERVE] == choices[:, :, RESERVE] - 1, self.rules.spaces)
        later = self.round[:, None, None] > 1
        space[:, :, 1:RESERVE].masked_fill_(later, self.rules.spaces)
        space[:, :, self.rules.first_tiles : RESERVE] = self.rules.spaces
        flip = (lots[:, :, FLIP] * 4).long() * self.flips_now()[:, None]
        buy = (lots[:, :, BUY] * 2).long() * pays
        return torch.cat((space, flip[:, :, None], buy[:, :, None]), 2)

    def step(self, actions: Tensor) -> Tensor:
        """Play a round with legal actions, int64 [B, P, 6]; float32 [B, P], the rewards."""
        flip = actions[:, :, FLIP]
        self.sequence = torch.where(flip > 0, self.sequence ^ (1 << (flip - 1).clamp(min=0)), self.sequence)
        reserve = actions[:, :, RESERVE] < self.rules.spaces
        buys = (actions[:, :, BUY] == 1) | (reserve & (self.reserves == 0))
        self.garnets = self.garnets - buys * (2 << self.bought)
        self.bought = self.bought + buys
        self.reserves = self.reserves + buys.long() - reserve.long()
        self._place(actions[:, :, :SLOTS])
        gained = self._live().gather(1, self.sequence)
        self.scores = self.scores + gained
        self.round = self.round + 1
        points = gained.float()
        return points - (points.sum(1, keepdim=True) - points) / (self.rules.players - 1)

    def _place(self, named: Tensor) -> None:
        """Tiles on the spaces, int64 [B, P, 4], that one player alone has named."""
        none = self.rules.spaces
        named = named.clone()
        for slot in range(1, SLOTS):  # who names a space twice names it once
            twice = (named[:, :, :slot] == named[:, :, slot, None]).any(2)
            named[:, :, slot].masked_fill_(twice, none)
        flat = named.flatten(1)
        names = torch.zeros(self.num_envs, none + 1, dtype=torch.uint8)
        names.scatter_add_(1, flat, torch.ones_like(flat, dtype=torch.uint8))
        alone = flat.masked_fill(names.gather(1, flat) != 1, none)
        tiles = (TILE + self.sequence).to(torch.uint8)[:, :, None].expand_as(named).flatten(1)
        self.board.scatter_(1, alone, tiles)
        self.board[:, none] = 0

    def _live(self) -> Tensor:
        """One generation; int64 [B, 8], what each sequence earns.

        Neighbours as sums of three rows, then of three columns: a third of the time of eight slices, a seventh of
        that of `conv2d`.
        """
        size = self.rules.size
        cells = self.board[:, :-1].view(-1, 1, size, size)
        planes = cells >> torch.tensor((3, 2, 1, 0), dtype=torch.uint8)[:, None, None] & 1  # tiles and three digits
        wide = pad(planes, (1, 1, 1, 1))
        rows = wide[:, :, :-2] + wide[:, :, 1:-1] + wide[:, :, 2:]
        around = rows[:, :, :, :-2] + rows[:, :, :, 1:-1] + rows[:, :, :, 2:] - planes
        tiles, count = planes[:, :1] == 1, around[:, :1]
        born = ~tiles & (count == 3)
        stays = tiles & ((count == 2) | (count == 3))
        majority = (around[:, 1:] >= 2).to(torch.uint8)
        parents = TILE | majority[:, :1] << 2 | majority[:, 1:2] << 1 | majority[:, 2:]
        after = (cells * stays + parents * born).flatten(1)
        self.board[:, :-1] = after
        kinds = torch.stack([(after >> place & 1).float().sum(1) for place in (3, 2, 1, 0)], 1)
        ones = kinds[:, 1:]
        return (torch.cat((ones, kinds[:, :1] - ones), 1) @ self.matching).long()
