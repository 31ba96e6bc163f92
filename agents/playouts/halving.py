"""Sequential halving: the best of some candidates, with a given number of trials.

Karnin, Koren, Somekh: "Almost optimal exploration in multi-armed bandits", ICML 2013; here results of earlier rounds
are kept.

Letters: `L` bandits, `C` arms of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor


def best_arm(
    count: Tensor,
    width: int,
    trials: int,
    attempt: Callable[[Tensor, Tensor], Tensor],
    generator: torch.Generator,
) -> Tensor:
    """Return the arm of each bandit that did best, int64 [L].

    In each round the arms left share an equal part of the trials, and the worse half goes. Ties are broken by the
    generator. A single arm is taken without a trial.

    Args:
        count: int64 [L], arms of each bandit, its first ones; at least 1.
        width: `C`.
        trials: for each bandit.
        attempt: called with arms and how often to try them, int64 [L, C] both; gives the sums of what came of it,
            float [L, C], each trial from 0 to 1.
        generator: consumed.
    """
    places = torch.arange(width, device=count.device)
    arms = places.expand(len(count), -1)
    value, tried = (torch.zeros(arms.shape, device=count.device, dtype=torch.float32) for _ in range(2))
    for share, left in _rounds(count, trials):
        pulls = (share // left)[:, None] + (places < (share % left)[:, None])
        pulls = torch.where(places < left[:, None], pulls, 0)
        value += attempt(arms, pulls)
        tried += pulls
        # Best first, then those not tried yet; whoever went, and places without an arm, last.
        mean = torch.where(tried > 0, value / tried.clamp(min=1), -0.5)
        mean = torch.where(places < left[:, None], mean, -1.0)
        order = _shuffled_argsort(mean, generator)
        arms, value, tried = (part.gather(1, order) for part in (arms, value, tried))
    return arms[:, 0]


def affordable(playouts: int, limit: int) -> int:
    """Return the most candidates that all get a playout in the first round and are halved until one is left."""
    candidates = 1
    while candidates < limit and (candidates + 1) * math.ceil(math.log2(candidates + 1)) <= playouts:
        candidates += 1
    return candidates


def _rounds(count: Tensor, playouts: int) -> list[tuple[Tensor, Tensor]]:
    """Return playouts to spend and candidates left in each round, int64 [L] both; the first sum to `playouts`."""
    needed = torch.zeros_like(count)  # ceil(log2(count)) rounds, in whole numbers
    for doubling in range(int(count.max()).bit_length() if len(count) else 0):
        needed += count > 1 << doubling
    rounds, left = [], count
    for index in range(int(needed.max()) if len(needed) else 0):
        parts = needed.clamp(min=1)
        share = playouts * (index + 1) // parts - playouts * index // parts
        rounds.append((torch.where(index < needed, share, 0), left))
        left = (left + 1) // 2
    return rounds


def lots(like: Tensor, generator: torch.Generator) -> Tensor:
    """Return random float32 of the shape of `like`, uniform from 0 to 1."""
    return torch.rand(like.shape, generator=generator, device=generator.device, dtype=torch.float32).to(like.device)


def _shuffled_argsort(values: Tensor, generator: torch.Generator) -> Tensor:
    """Return the descending order along dim 1, equal values in random order."""
    shuffled = lots(values, generator).argsort(dim=1)
    order = values.gather(1, shuffled).argsort(dim=1, descending=True, stable=True)
    return shuffled.gather(1, order)
