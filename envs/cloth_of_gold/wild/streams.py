"""The streams of random bits that the wild options draw from (see `core.chance`).

Terrain, animals and their noise are functions of the env's seed. What happens in a round is a function of the round's
own seed, so that its counters stay small. A probability is k/256: a fresh byte less than k.
"""

from __future__ import annotations

from torch import Tensor

from cellgames.envs.core import chance

__all__ = [
    "ANIMALS",
    "FIRE",
    "HEIGHTS",
    "MOISTURE",
    "NOISE",
    "REGROWTH",
    "STRIKES",
    "WEATHER",
    "draw_byte",
    "round_seed",
]

HEIGHTS, MOISTURE, ANIMALS, NOISE, _ROUNDS = range(chance.USER + 1, chance.USER + 6)  # of an env's seed
WEATHER, STRIKES, FIRE, REGROWTH = range(chance.USER, chance.USER + 4)  # of a round's seed


def round_seed(seed: Tensor, number: Tensor) -> Tensor:
    """Return the seeds of rounds, int64 [B], of the envs' seeds and the numbers of the rounds, integers [B]."""
    return chance.draw(seed, _ROUNDS, number.long())


def draw_byte(seed: Tensor, purpose: int, counter: Tensor) -> Tensor:
    """Return random bytes, int64 of the broadcast shape of `seed` and `counter`."""
    return chance.draw(seed, purpose, counter) & 0xFF
