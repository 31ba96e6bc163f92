"""Rounds of Cloth of Gold a second: `python -m benchmarks.core.cloth`.

All play on the default 100 x 100 worlds.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Benchmark, Row, Work, timed

WORLDS = 1024


def turns(seconds: float, **options: Any) -> Work:
    """Measure random agents turn by turn, as rollouts play, in games with options of the rules."""
    import cellgames
    from cellgames.agents.cloth_of_gold.turns import random_turns
    from cellgames.envs.cloth_of_gold.game import ClothOfGold
    from cellgames.envs.core import seeds

    game = cellgames.make("cloth-of-gold-v0", **options)
    assert isinstance(game, ClothOfGold)
    state, number = game.init(seeds(0, WORLDS)), 0

    def play() -> int:
        nonlocal state, number
        played = 0
        for _ in range(2):
            number += 1
            after = game.play_turn(state, random_turns(game, state, seeds(number, WORLDS), 1).squeeze(1))
            played += int((after.done | ((after.round != state.round) & (state.round > 0))).sum())
            done = after.done.nonzero().squeeze(1)
            state = after.put(done, game.init(seeds(number, len(done)))) if len(done) else after
        return played

    for _ in range(12):
        play()
    return timed(play, seconds)


_ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "terrain": ("terrain", {"terrain": True}),
    "weather": ("terrain and weather", {"terrain": True, "weather": True}),
    "perks": ("perks", {"perks": True}),
    "borders": ("borders", {"territory": "hull"}),
    "wildlife": ("wildlife", {"wildlife": (6, 2, 2)}),
}
_ALL = {name: value for _, options in _ALONE.values() for name, value in options.items()}
_RANDOM = "rounds of random agents that place shapes, 1,024 games that start over, all cores; "


def _wild(name: str, what: str, options: dict[str, Any]) -> Row:
    about, rival = f"{_RANDOM}turn by turn; with {what}", "cloth_random_turns"
    return Row(f"cloth_wild_{name}", about, partial(turns, **options), "rounds", WORLDS, rival)


CLOTH = Benchmark(
    "Cloth of Gold on 100 x 100 worlds",
    "benchmarks.core.cloth",
    Path("results/benchmarks/cloth.md"),
    (
        Row("cloth_random_turns", _RANDOM + "turn by turn, as in rollouts", turns, "rounds", WORLDS),
        *(_wild(name, what, options) for name, (what, options) in _ALONE.items()),
        _wild("all", "all wild options", _ALL),
    ),
)

if __name__ == "__main__":
    sys.exit(CLOTH.main())
