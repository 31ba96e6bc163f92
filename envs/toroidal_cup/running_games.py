"""Games of the Toroidal Cup in progress, one in each slot of a batch.

Letters: `B` games, `k` teams, `H, W` rows and columns, `S, N` stored rows and words (see `boards.bitboards`),
`L` slots, `T` generations of a block.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .colours import Rule
from .end import BLOCK, EndRule

__all__ = ["Photographer", "Slots", "Trajectory"]


class Slots:
    """Games in progress, one in each slot of a batch.

    game: int64 [L], which one, -1 for none.     age: int64 [L], generations it has played.
    """

    def __init__(self, rule: Rule, width: int, tolerance: float, device: torch.device) -> None:
        self.rule = rule
        self.game = torch.full((width,), -1, device=device)
        self.age = torch.zeros(width, dtype=torch.int64, device=device)
        self.end_rule = EndRule(width, tolerance, device)
        self.compiled = False
        self._allocate(torch.zeros(rule.teams, *rule.grid.shape, width, dtype=torch.int64, device=device))

    def _allocate(self, planes: Tensor) -> None:
        self.planes = planes
        self.before = torch.zeros_like(planes)
        self.spare = torch.zeros_like(planes)
        self.counts = planes.new_zeros(BLOCK, len(planes), planes.shape[-1])

    def __len__(self) -> int:
        return len(self.game)

    def enter(self, slots: Tensor, games: Tensor, planes: Tensor) -> None:
        """Start games, int64 [n], in slots [n]."""
        self.planes[..., slots] = planes
        self.game[slots] = games
        self.age[slots] = 0

    def keep(self, slots: Tensor) -> None:
        """Go on with some slots, int64 [n], in that order."""
        self.game, self.age = self.game[slots], self.age[slots]
        self.end_rule.keep(slots)
        self._allocate(self.planes[..., slots].contiguous())

    def may_narrow(self, width: int) -> bool:
        """Return True if fewer slots are faster: not if these run compiled and those would not."""
        return not self.compiled or self.rule.step(self.planes.new_zeros(*self.planes.shape[:-1], width), 0).compiled

    def advance(self, calls: int) -> Tensor:
        """Play a block of generations; live cells of each team, [T, L, k]. `before` is the block's start."""
        self.before.copy_(self.planes)
        step, counter = self.rule.step(self.planes, calls), self.rule.counter(self.planes, calls)
        self.compiled = step.compiled
        now, then = list(self.planes.unbind()), list(self.spare.unbind())
        for counts in self.counts.unbind():
            step(now + then)
            self.planes, self.spare, now, then = self.spare, self.planes, then, now
            counter([self.planes, counts])
        return self.rule.by_team(self.counts)


class Photographer:
    """A maker of boards of generations inside of a block, from the block's start, many at a time."""

    def __init__(self, rule: Rule, width: int) -> None:
        self.rule, self.width = rule, width
        self.waiting: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def take(self, album: Tensor, games: Tensor, planes: Tensor, wait: Tensor) -> None:
        """Ask for the boards of `games`, int64 [n], `wait` [n] generations after `planes` [k, S, N, n].

        They are put into `album`, int8 [B, H, W], at the latest by `develop`.
        """
        if len(games):
            self.waiting.append((album, games, planes, wait))
            if sum(len(games) for _, games, _, _ in self.waiting) >= self.width:
                self.develop()

    def develop(self) -> None:
        """Make the boards that are waited for."""
        if not self.waiting:
            return
        planes = torch.cat([planes for _, _, planes, _ in self.waiting], -1)
        wait = torch.cat([wait for _, _, _, wait in self.waiting])
        done = torch.cat(
            [
                self._advance(part, w)
                for part, w in zip(planes.split(self.width, -1), wait.split(self.width), strict=True)
            ]
        )
        for album, games, _, _ in self.waiting:
            album[games], done = done[: len(games)], done[len(games) :]
        self.waiting = []

    def _advance(self, planes: Tensor, wait: Tensor) -> Tensor:
        """Return each of n <= width boards, as many generations later as it waits: int8 [n, H, W]."""
        now = torch.nn.functional.pad(planes, (0, self.width - planes.shape[-1]))
        then, ready = torch.zeros_like(now), planes.clone()
        step = self.rule.step(now, BLOCK)
        for passed in range(1, int(wait.max()) + 1):
            step([*now.unbind(), *then.unbind()])
            now, then = then, now
            here = (wait == passed).nonzero().squeeze(1)
            ready[..., here] = now[..., here]
        return self.rule.unpack(ready)


class Trajectory:
    """The live cells of every generation."""

    def __init__(self, board: Tensor, teams: int) -> None:
        numbers = torch.arange(1, teams + 1, device=board.device)
        self.counts = (board.flatten(1).unsqueeze(1) == numbers[:, None]).sum(-1, dtype=torch.int32).unsqueeze(1)

    def add(self, games: Tensor, ages: Tensor, counts: Tensor) -> None:
        """Add the block after `ages` [n] of `games` [n]: live cells [T, n, k]."""
        missing = int(ages.max()) + BLOCK + 1 - self.counts.shape[1]
        if missing > 0:
            more = self.counts.new_zeros(len(self.counts), max(missing, self.counts.shape[1]), self.counts.shape[2])
            self.counts = torch.cat((self.counts, more), 1)
        block = ages.unsqueeze(1) + torch.arange(1, BLOCK + 1, device=ages.device)
        self.counts[games.unsqueeze(1), block] = counts.transpose(0, 1).to(torch.int32)

    def cut(self, generations: Tensor) -> Tensor:
        """Return the counts, int32 [B, G + 1, k]; games that were over repeat their last counts."""
        longest = int(generations.max()) if len(generations) else 0
        at = torch.arange(longest + 1, device=generations.device).minimum(generations.unsqueeze(1))
        return self.counts.gather(1, at.unsqueeze(-1).expand(-1, -1, self.counts.shape[2]))
