"""The pattern that is played and the shapes each team gets, as functions of the envs' seeds.

Letters: `B` games, `P` teams, `S` shapes of a team at most, `F` patterns, `K` stamps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor

from cellgames.envs.core import chance
from cellgames.envs.native.operators import table
from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS
from cellgames.envs.toroidal_cup.patterns.stamped import Shapes

from .placement import sizes

PLACEABLE: dict[str, Shapes] = {name: pattern.shapes for name, pattern in PATTERNS.items() if pattern.shapes}
"""The patterns that are made of shapes, in the order of `PATTERNS`."""

_PATTERN, _NUMBER, _STAMP = range(chance.USER, chance.USER + 3)


def stamps_of(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the stamps of the patterns, each once."""
    return tuple(dict.fromkeys(stamp for name in patterns for stamp in PLACEABLE[name].stamps))


def most_shapes(pattern: str, limit: int | None) -> int:
    """Return the largest number of shapes that a team gets."""
    most = PLACEABLE[pattern].counts[-1]
    return most if limit is None else min(most, limit)


@table
def tables(patterns: tuple[str, ...], device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the tables of `deal`, int64.

    Returns:
        How many numbers each draw of a pattern has [F, D], and which [F, D, M]; how many stamps a pattern has [F],
        and which [F, M].
    """
    shapes = [PLACEABLE[name] for name in patterns]
    stamps = stamps_of(patterns)
    # A draw that a pattern does not have is one of a single number, 0.
    draws = list(zip(*zip_longest(*(s.draws for s in shapes), fillvalue=(0,)), strict=True))
    kinds = [[stamps.index(stamp) for stamp in s.stamps] for s in shapes]

    def filled(rows: Sequence[Sequence[int]], width: int) -> list[list[int]]:
        return [[*row, *[0] * (width - len(row))] for row in rows]

    widest = max(len(numbers) for numbers_of in draws for numbers in numbers_of)
    return (
        torch.tensor([[len(numbers) for numbers in numbers_of] for numbers_of in draws], device=device),
        torch.tensor([filled(numbers_of, widest) for numbers_of in draws], device=device),
        torch.tensor([len(row) for row in kinds], device=device),
        torch.tensor(filled(kinds, max(map(len, kinds))), device=device),
    )


@table
def dealt(most: int, teams: int, device: torch.device) -> Tensor:
    """Return the places of team 0's shapes in the order of dealing, then team 1's and so on: int64 [P * S].

    Two teams are dealt by 0, 1, 1, 0 over and over, more of them in the same way.
    """
    there = np.arange(teams)
    order = np.resize(np.concatenate((there, there[::-1])), teams * most)
    return torch.from_numpy(np.argsort(order, kind="stable")).to(device)


def deal(seeds: Tensor, patterns: tuple[str, ...], teams: int, limit: int | None) -> tuple[Tensor, Tensor]:
    """Draw a pattern and the shapes of all teams, and deal them: the same number to every team, at most `limit`.

    All shapes are sorted by live cells, largest first, equal ones as they were drawn, and dealt by `dealt`.

    Returns:
        The pattern, int64 [B], an index of `patterns`, and the shapes in the order in which they are placed, int8
        [B, P, S], indices of `stamps_of(patterns)`, -1 beyond a team's last.
    """
    ways, numbers, choices, kinds = tables(patterns, seeds.device)
    size = sizes(stamps_of(patterns), seeds.device)
    most = max(most_shapes(name, limit) for name in patterns)

    def drawn(purpose: int, count: int) -> Tensor:
        return chance.draw(seeds[:, None], purpose, torch.arange(count, device=seeds.device))

    pattern = chance.uniform_int(drawn(_PATTERN, 1)[:, 0], len(patterns))
    way = chance.uniform_int(drawn(_NUMBER, ways.shape[1]), ways[pattern])
    count = numbers[pattern].gather(2, way[..., None]).sum((1, 2)).clamp(max=most)
    kind = chance.uniform_int(drawn(_STAMP, teams * most), choices[pattern][:, None])
    stamp = kinds[pattern].gather(1, kind)
    used = torch.arange(teams * most, device=seeds.device) < teams * count[:, None]
    order = torch.where(used, -size[stamp], 1).sort(dim=1, stable=True).indices
    stamp = torch.where(used, stamp.gather(1, order), -1)[:, dealt(most, teams, seeds.device)]
    return pattern, stamp.view(len(seeds), teams, most).to(torch.int8)
