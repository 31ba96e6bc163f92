"""Chunks of games, and how workers play them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cellgames.arena.records.record_lines import Pairing, Record

from .match import play_games
from .match_options import MatchOptions
from .work_units import Parcel

__all__ = ["Chunk", "ChunkWork", "Key"]

Key: TypeAlias = tuple[str, int]
"""The key of a chunk: its match, and the number of its first opening."""


@dataclass(frozen=True)
class Chunk:
    """Games that are played at the same time; its text names it in messages.

    Attributes:
        agents: names, sorted; the seats of the pairings are numbers of them.
        pairings: of the games, in the order of the file.
    """

    agents: tuple[str, ...]
    pairings: tuple[Pairing, ...]

    @property
    def key(self) -> Key:
        """Return the key of the chunk."""
        return self.pairings[0].match, self.pairings[0].opening

    def __str__(self) -> str:
        match, start = self.key
        return f"{match}, openings {start} to {self.pairings[-1].opening}"


@dataclass(frozen=True)
class ChunkWork:
    """The common part of the chunks of a run; a `workers.Work`."""

    parcel: Parcel
    options: MatchOptions

    def start(self) -> Callable[[Chunk], list[Record]]:
        """Load the agents; return a function that plays a chunk (`match.play_games`)."""
        game, agents = self.parcel.unpack()

        def play(chunk: Chunk) -> list[Record]:
            return play_games(game, {name: agents[name] for name in chunk.agents}, self.options, chunk.pairings)

        return play
