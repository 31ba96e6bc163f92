"""The games of examples/games for tests: imported, but known to `make` only where a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from cellgames.envs import registry

with patch.object(registry, "REGISTRY", dict(registry.REGISTRY)), patch.object(registry, "_listeners", []):
    from examples.games.connect_four import ConnectFour  # they register themselves when they are imported
    from examples.games.othello import Othello
    from examples.games.treblecross import Treblecross

    _ENTRIES = {id: entry for id, entry in registry.REGISTRY.items() if entry.entry_point.startswith("examples.games.")}

__all__ = ["ConnectFour", "Othello", "Treblecross", "registered"]


@contextmanager
def registered() -> Iterator[Mapping[str, registry.GameSpec]]:
    """Make the games known for a while; gives their entries by id."""
    with patch.dict(registry.REGISTRY, _ENTRIES):
        yield _ENTRIES
