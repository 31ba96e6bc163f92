"""Explanations under other defaults of torch, as `torch_defaults` has it for the core: `... float64 insight`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_defaults import AGENTS, main

import cellgames


def insight() -> Iterator[Any]:
    """Yield what the parts of recorded games were worth."""
    from cellgames.agents import load
    from cellgames.arena.analyse import play_some
    from cellgames.lab import explain

    for id, (parameters, _) in AGENTS.items():
        game = cellgames.make(id, **parameters)
        (record,) = play_some(game, {"random": load("random", game)}, 1)
        found = explain(record)
        yield id, found.replays, [(effect.name, effect.worth) for effect in found.effects]


if __name__ == "__main__":
    main({"insight": insight})
