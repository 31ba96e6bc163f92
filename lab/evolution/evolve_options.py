"""Options of `cellgames evolve`. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from cellgames.utils.errors import InputError
from cellgames.utils.options import Options, Strings, option


@dataclass(frozen=True, kw_only=True)
class EvolveOptions(Options):
    """Options of an evolution; the options of `cellgames evolve` are made from these fields."""

    rounds: int = option(3, "rounds; each ends with a champion, which all later ones meet", low=1, high=1000)
    iterations: int = option(
        20, "batches of new designs in a round; numbers of shapes of one pattern share them", low=1, high=100_000
    )
    batch: int = option(96, "new designs in a batch", low=4, high=4096)
    screen: int = option(64, "short games by which the better part of a batch is chosen; 0 for none", low=0, high=4096)
    matches: int = option(96, "whole games of a design that is chosen", low=4, high=100_000)
    agents: Strings = option(  # noqa: RUF009  # makes a field
        ("random", "greedy"),
        "agents that designs meet, besides former champions",
        metavar="AGENT",
    )
    pool: int = option(64, "arrangements of each of these agents, or games in which it plays", low=2, high=100_000)
    measures: Strings = option(  # noqa: RUF009  # makes a field
        (), "two measures by which the archive tells designs apart", metavar="NAME"
    )
    cells: int = option(8, "cells of the archive along each measure", low=2, high=200)
    champions: int = option(4, "designs of each family that the champion mixes, at most", low=1, high=64)
    games: int = option(40, "whole games of the champion against each opponent at the end; even", low=0)
    starts: str | None = option(
        None,
        "measure designs against published games too: a folder with recorded_games.jsonl.gz of golly.life",
        metavar="DIR",
    )
    seed: int = option(0, "seed; the same seed gives the same files", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.agents:
            raise InputError("agents", "at least one agent, such as random", "none")
        if self.games % 2:
            raise InputError("games", "even, since each is played in both seats", self.games)
        if len(self.measures) not in (0, 2):
            raise InputError("measures", "two names", len(self.measures))
