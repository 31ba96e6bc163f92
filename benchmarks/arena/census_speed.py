"""Boards of Life a second by the census, and how often it finds what others found.

Run it by `python -m benchmarks.arena.census_speed`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from benchmarks.arena.census_boards import BOARDS, ash, soups
from benchmarks.contestants import Benchmark, Contestant
from cellgames.utils.report.model import Section, Table
from cellgames.utils.report.text import percent

__all__ = ["CENSUS"]

_SEEDS = range(100, 104)
_SOUPS = 500  # for each seed

PUBLISHED = {
    "block": 53_959_478_938,
    "blinker": 50_020_081_424,
    "beehive": 28_711_165_591,
    "loaf": 8_548_699_569,
    "boat": 7_904_985_775,
    "ship": 5_277_995_002,
    "tub": 1_728_871_846,
    "pond": 1_660_831_825,
    "long boat": 550_393_656,
    "toad": 387_698_003,
    "ship-tie": 272_858_125,
    "beacon": 120_561_432,
}
"""Objects found in 6,412,048,029 soups of 20 x 20 cells at a density of 0.5 on an endless plane: N. Johnston, The
Online Life-Like CA Soup Search, as told on LifeWiki (conwaylife.com/wiki/The_Online_Life-Like_CA_Soup_Search)."""


def _contestant(name: str, about: str) -> Contestant:
    return Contestant(name, "benchmarks.arena.census_boards", about)


def counted(make: Callable[[int, int], Tensor], boards: int) -> dict[str, int]:
    """Objects by name in `boards` boards for each seed, the most frequent first."""
    from cellgames.lab.life.census import census

    counts = Counter[str]()
    for seed in _SEEDS:
        counts.update(census(make(boards, seed)).counts())
    return dict(counts.most_common())


def frequencies(tori: dict[str, int], room: dict[str, int]) -> Section:
    """Return how often objects are found, beside the published numbers."""
    items = []
    for counts, boards, where in (
        (tori, BOARDS, "64 x 64 tori after 5,000 generations"),
        (room, _SOUPS, "boards with 20 x 20 soups of density 0.5 and much room, after 1,200 generations"),
    ):
        total, active = sum(counts.values()), counts.get("active", 0)
        items.append(
            f"- {len(_SEEDS) * boards:,} {where}: {total - active:,} objects of {len(counts) - 1} kinds, "
            f"{active:,} groups still in motion"
        )
    ours, others, theirs = (sum(table.get(name, 0) for name in PUBLISHED) for table in (tori, room, PUBLISHED))
    rows = [
        (
            *(name, f"{tori.get(name, 0):,}", percent(tori.get(name, 0) / ours, 2)),
            *(f"{room.get(name, 0):,}", percent(room.get(name, 0) / others, 2), percent(published / theirs, 2)),
        )
        for name, published in PUBLISHED.items()
    ]
    columns = ("object", "found on tori", "tori, %", "found with room", "room, %", "published, %")
    return Section(
        "What is found",
        (
            "\n".join(items),
            "The search whose numbers are published ran 6,412,048,029 soups of 20 x 20 on an endless plane "
            "([The Online Life-Like CA Soup Search](https://conwaylife.com/wiki/The_Online_Life-Like_CA_Soup_Search)). "
            "Shares are of the objects below. Ships come of small soups more often than of full tori.",
            Table("", columns, rows, text=("object",)),
        ),
    )


def found() -> tuple[Section, dict[str, Any]]:
    """Count objects; return a section and its numbers."""
    tori, room = counted(ash, BOARDS), counted(soups, _SOUPS)
    return frequencies(tori, room), {"found": {"tori": tori, "room": room}}


CENSUS = Benchmark(
    "Census of Life: boards a second",
    "benchmarks.arena.census_speed",
    Path("results/benchmarks/census.md"),
    (
        _contestant("ash", "64 x 64 random soups after 5,000 generations; 3,000 other boards were counted before"),
        _contestant("ash_cold", "the same, 1,000 boards, the first of a process"),
        _contestant("young", "64 x 64 random soups after 200 generations, most of them in motion"),
    ),
    found,
)


if __name__ == "__main__":
    sys.exit(CENSUS.main())
