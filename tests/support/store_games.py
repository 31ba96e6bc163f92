"""Made-up games for tests of the store, and a process that adds them: `python store_games.py STORE FIRST LAST`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cellgames.arena.records.record_lines import Outcome, Pairing, Record, Result
from cellgames.arena.records.store import Store

CHUNK = 20


def game(
    number: int,
    agents: Sequence[str] = ("first", "second"),
    outcome: tuple[Outcome, ...] = ("win", "loss"),
    *,
    seed: int | None = None,
    version: str = "0.1.0",
    size: int = 5,
    moves: Sequence[str] = (),
    scores: tuple[float, ...] = (),
) -> Record:
    """A game unlike those of other numbers; two of one opening have the numbers 2k and 2k + 1."""
    return Record(
        game="torus-v0",
        version=version,
        parameters={"size": size},
        seed=1000 + number // 2 if seed is None else seed,
        agents=tuple(agents),
        opening=1,
        moves=("a1", *(moves or (f"b{number}", "c3"))),
        result=Result(outcome, scores or tuple(float(end == "win") for end in outcome), 3, False),
        pairing=Pairing("match", number // 2, tuple(range(len(agents)))),
    )


def chunk(number: int) -> list[Record]:
    """`CHUNK` games."""
    numbers = range(number * CHUNK, (number + 1) * CHUNK)
    return [game(one, moves=[f"b{one}", *"cdefghijklmnop"]) for one in numbers]


def write(path: str, first: int, last: int) -> None:
    """Add chunks, and say so of each when it is there."""
    with Store(path) as store:
        print("ready", flush=True)
        for number in range(first, last):
            store.add(chunk(number), source=("file", f"chunk {number}"))
            print(number, flush=True)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
