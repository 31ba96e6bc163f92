"""The rungs of ladders: agents of a game with ratings from a round robin, those of the package or one's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellgames.agents.loading import identities
from cellgames.arena.records.checksums import plain
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike
from cellgames.utils.foreign_text import clipped, listed

FOLDER = Path(__file__).parent / "calibrations"
"""The calibrations of the package: what `benchmarks.arena.ladder` keeps of a round robin, by the game's id."""

RATINGS = "ratings.json"


@dataclass(frozen=True)
class Rung:
    """An agent of a ladder.

    Attributes:
        name: name in records.
        spec: as `agents.load` takes it.
        elo: rating.
        low: lower bound of its 95 % interval.
        high: upper bound.
    """

    name: str
    spec: str
    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Ladder:
    """The agents of a game by which others are measured.

    Attributes:
        rungs: the agents, weakest first.
        tie: Davidson's nu of their games.
        opening_plies: random moves before the agents moved, as in the games of a climb.
        source: where the ratings come from.
    """

    rungs: tuple[Rung, ...]
    tie: float
    opening_plies: int
    source: str

    @classmethod
    def of(cls, game: Game, place: PathLike | None = None, warn: Callable[[str], None] = lambda line: None) -> Ladder:
        """Return the ladder of a game.

        Args:
            game: the game.
            place: folder of a finished round robin of the game, whose agents are the rungs; None for the package's.
            warn: gets a line if a rung has changed since it was rated.

        Raises:
            ValueError: a game without a ladder, or the folder holds no ratings of it.
        """
        for path in sorted(FOLDER.glob("*.json")) if place is None else [Path(place) / RATINGS]:
            found = _read(path)
            run = found["run"]
            if (run["game"], run["parameters"]) == (game.id, plain(game.parameters)):
                ladder = cls._made(found, path.stem if place is None else str(place))
                _compare(run.get("identities", {}), ladder, game, warn)
                return ladder
        got = f"{game.id} with {json.dumps(plain(game.parameters))}"
        if place is not None:
            raise InputError("rungs", f"a round robin of {got}", str(place))
        ids = listed([path.stem for path in sorted(FOLDER.glob("*.json"))])
        cause = "a round robin of your own makes one: --rungs DIR"
        raise InputError("game", f"one with a ladder ({ids})", got, cause)

    @classmethod
    def _made(cls, found: Mapping[str, Any], source: str) -> Ladder:
        run, specs = found["run"], found["run"].get("specs", {})
        rows = sorted(found["agents"], key=lambda row: (row["elo"], row["agent"]))
        base = rows[0]["elo"]
        rungs = (
            Rung(name, specs.get(name, name), *(row[bound] - base for bound in ("elo", "elo_low", "elo_high")))
            for row in rows
            for name in [row["agent"]]
        )
        return cls(tuple(rungs), found["tie"], run["opening_plies"], source)

    def without(self, name: str) -> Ladder:
        """Return the ladder without a rung of this name, if there is one."""
        return replace(self, rungs=tuple(rung for rung in self.rungs if rung.name != name))


def _read(path: Path) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in ("run", "agents", "tie")}
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise InputError(
            "rungs", "the folder of a finished round robin", shown(str(path)), clipped(repr(error))
        ) from None


def _compare(known: Mapping[str, str], ladder: Ladder, game: Game, warn: Callable[[str], None]) -> None:
    now = identities({rung.name: rung.spec for rung in ladder.rungs}, game)
    if changed := [name for name, identity in now.items() if identity != known.get(name, identity)]:
        warn(f"{', '.join(changed)}: not the same as when the ladder {ladder.source} was rated, so places may be off")
