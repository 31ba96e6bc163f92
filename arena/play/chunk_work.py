"""Chunks of games (`chunks`) as pieces of work for `workers`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cellgames.arena.records.record_lines import Pairing, Record

from .match import play_games
from .match_options import MatchOptions
from .work_units import Parcel

__all__ = ["ChunkWork", "Key", "Piece"]

Key: TypeAlias = tuple[str, int]
"""Of a chunk: its match, and the number of its first opening."""


@dataclass(frozen=True)
class Piece:
    """A chunk; its text names it in messages.

    Attributes:
        key: of the chunk.
        agents: names, sorted.
        pairings: of the games.
    """

    key: Key
    agents: tuple[str, ...]
    pairings: tuple[Pairing, ...]

    def __str__(self) -> str:
        return f"{self.key[0]}, openings {self.key[1]} to {self.pairings[-1].opening}"


@dataclass(frozen=True)
class ChunkWork:
    """The common part of the chunks of a run; a `workers.Work`."""

    parcel: Parcel
    options: MatchOptions

    def start(self) -> Callable[[Piece], list[Record]]:
        """Load the agents; gives what plays a chunk (`match.play_games`)."""
        game, agents = self.parcel.unpack()

        def play(piece: Piece) -> list[Record]:
            return play_games(game, {name: agents[name] for name in piece.agents}, self.options, piece.pairings)

        return play
