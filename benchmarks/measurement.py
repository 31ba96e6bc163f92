"""What every contestant of a benchmark shares: the result, the clock, the AEC loop, the command line.

A contestant is a name answered by a module in a process of its own, so that the thread pools of JAX and torch
never meet: `python -m MODULE NAME --seconds S --json` prints one JSON line, that of `Measurement.to_json` or,
where a package is missing, `{"name": NAME, "error": NOT_INSTALLED}` with exit status 1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from random import Random
from typing import Any, Protocol

import numpy as np

__all__ = ["NOT_INSTALLED", "Measurement", "aec_moves_per_second", "serve", "timed"]

NOT_INSTALLED = "not installed (pip install cellgames[peers])"


@dataclass(frozen=True)
class Measurement:
    """Work done by one contestant in one stretch of time.

    name:    the contestant, a key of its module's table.
    library: the package that played, as a package index names it.
    version: of the library, with that of a decisive dependency in parentheses.
    batch:   games played at the same time.
    unit:    what `moves` counts.
    moves:   units done, warm-up left out.
    seconds: wall-clock time they took.
    """

    name: str
    library: str
    version: str
    batch: int
    unit: str
    moves: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Units a second."""
        return self.moves / self.seconds

    def to_json(self) -> str:
        """One line: the fields and `per_second`."""
        return json.dumps({**asdict(self), "per_second": self.per_second})

    @classmethod
    def from_json(cls, line: str) -> Measurement:
        """Reads the line of `to_json`; a line without one of the fields raises KeyError."""
        values = json.loads(line)
        return cls(**{field.name: values[field.name] for field in fields(cls)})


def timed(play: Callable[[], int], seconds: float) -> tuple[int, float]:
    """Calls `play` until `seconds` have passed, once at least.

    play: does a piece of work to its very end (a game with its reset, a blocked call) and returns its units.

    Returns: units done, and the seconds they took, which is more than `seconds` by part of a piece.
    """
    done, start = 0, time.perf_counter()
    while True:
        done += play()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done, elapsed


class AecEnv(Protocol):
    """The part of PettingZoo's AEC interface that the loop calls."""

    def reset(self, seed: int | None = None) -> None: ...
    def agent_iter(self) -> Iterable[str]: ...
    def last(self) -> tuple[Any, float, bool, bool, dict[str, Any]]: ...
    def step(self, action: Any) -> None: ...


def aec_moves_per_second(make_env: Callable[[], AecEnv], seconds: float, seed: int) -> tuple[int, float]:
    """Random legal play of whole games through the public AEC loop, one game at a time.

    A turn is `last()`, a uniform choice among the ones of `observation["action_mask"]`, `step(action)`. The
    steps with None that take the agents out of a finished game, and the resets, cost time and count for no
    move. One game is played before the clock starts.

    Returns: moves, and the seconds they took.
    """
    env = make_env()
    uniform = Random(seed).random

    def play() -> int:
        moves = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[int(uniform() * legal.size)]))
            moves += 1
        env.reset()
        return moves

    env.reset(seed=seed)
    play()
    return timed(play, seconds)


def serve(measures: Mapping[str, Callable[[float], Measurement]], argv: list[str] | None = None) -> int:
    """The command line of a contestant module: `NAME --seconds S [--json]`; returns the exit status.

    measures: name -> function of the seconds to measure. A package that it cannot find is reported as
        `NOT_INSTALLED`; a module of our own that is missing is a fault, and raised.
    """
    parser = argparse.ArgumentParser(description="Measure one contestant.")
    parser.add_argument("name", choices=measures, help="the contestant")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to measure, after warm-up")
    parser.add_argument("--json", action="store_true", help="print one JSON line instead of a sentence")
    arguments = parser.parse_args(argv)
    try:
        result = measures[arguments.name](arguments.seconds)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in ("benchmarks", "cellgames"):
            raise
        failure = {"name": arguments.name, "error": NOT_INSTALLED}
        print(json.dumps(failure) if arguments.json else f"{arguments.name}: {NOT_INSTALLED}")
        return 1
    sentence = (
        f"{result.name}: {result.per_second:,.0f} {result.unit}/s "
        f"({result.library} {result.version}, batch {result.batch}, {result.seconds:.1f} s)"
    )
    print(result.to_json() if arguments.json else sentence)
    return 0
