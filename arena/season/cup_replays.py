"""Replays of games of the Cup's own seasons: their results are compared, and their course is drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, get_args

import numpy as np

from cellgames.arena.records.record_lines import JsonFields, Outcome
from cellgames.arena.records.replays import ReplayError, result_differs
from cellgames.envs.core.drawing import Picture
from cellgames.envs.registry import make
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, ToroidalCup, simulate
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.patterns.pattern import MOST_TEAMS
from cellgames.envs.toroidal_cup.simulator import Result, Survivors, boards
from cellgames.utils.errors import InputError, check_one_of
from cellgames.utils.files import PathLike

from .cup import CUP, ENDED, PARAMETERS, start_of
from .games import Fixture


@dataclass(frozen=True)
class CupRecord:
    """A finished game, as `cup.CupUmpire` writes it.

    Attributes:
        fixture: fixture of the season; the first team is number 1.
        pattern: a name in `PATTERNS`.
        seed: seed of the arrangement.
        max_generations: generation at which it was to be cut off.
        survivors: "recolour" or "keep".
        scores: live cells of each team.
        generations: at which it ended.
        winner: a team's number from 1, 0 for nobody.
        truncated: cut off.
    """

    fixture: Fixture
    pattern: str
    seed: int
    max_generations: int
    survivors: Survivors
    scores: tuple[int, ...]
    generations: int
    winner: int
    truncated: bool

    game: ClassVar[str] = CUP
    moves: ClassVar[tuple[str, ...]] = ()

    @property
    def outcome(self) -> tuple[Outcome, ...]:
        """Return the outcome by team, as records of matches have it."""
        numbers = range(1, 1 + len(self.scores))
        return tuple("draw" if not self.winner else "win" if number == self.winner else "loss" for number in numbers)

    @classmethod
    def from_json(cls, line: str | bytes) -> CupRecord:
        """Return the record of a line of games.jsonl; unknown fields are left out.

        Raises:
            ValueError: no game of a season, fields missing, or a value that cannot be; the message names them.
        """
        fixture = Fixture.from_json(line)
        reader = JsonFields(json.loads(line), "", needed=["pattern", "seed", *PARAMETERS, *ENDED])
        known: dict[str, Sequence[str]] = {"pattern": tuple(PATTERNS), "survivors": get_args(Survivors)}
        for name, names in known.items():
            check_one_of(name, reader.text(name), names)
        scores = reader.integers("scores")
        if len(scores) != (teams := len(fixture.teams)):
            raise InputError("scores", f"{'two' if teams == 2 else teams} scores", len(scores))
        if teams > MOST_TEAMS:
            raise InputError("teams", f"at most {MOST_TEAMS} teams", teams)
        survivors: Any = reader.text("survivors")
        return cls(
            fixture=fixture,
            pattern=reader.text("pattern"),
            seed=reader.integer("seed", 0),
            max_generations=reader.integer("max_generations", 1),
            survivors=survivors,
            scores=scores,
            generations=reader.integer("generations", 0),
            winner=reader.integer("winner", 0),
            truncated=reader.flag("truncated"),
        )


def recognises(line: bytes) -> bool:
    """Return True if a line of a file is a record of this module, rather than one of moves (`records`)."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and {"season", "pattern"} <= data.keys()


def game_of(record: CupRecord) -> ToroidalCup:
    """Return a game of the suite with the rules of a record; its own shapes mean nothing, as nobody placed any."""
    rules = {name: getattr(record, name) for name in PARAMETERS}
    teams = len(record.scores)
    # Bands of many teams are too narrow for most shapes, so the game gets one that always fits.
    shapes = {} if teams == 2 else {"teams": teams, "pattern": "randys", "shapes": 1}
    game = make(CUP, **rules, **shapes)
    assert isinstance(game, ToroidalCup)
    return game


def verify(records: Sequence[CupRecord], batch: int = 250) -> Iterator[tuple[int, ReplayError]]:
    """Play all records again, `batch` at a time; yields the number (from 0) and the error of those that differ."""
    groups: dict[tuple[int, int, Survivors], list[int]] = {}
    for number, record in enumerate(records):
        groups.setdefault((len(record.scores), record.max_generations, record.survivors), []).append(number)
    for group in groups.values():
        numbers = iter(group)
        while part := list(islice(numbers, batch)):
            games = [records[number] for number in part]
            ended = _simulate(games)
            for env_id, (number, game) in enumerate(zip(part, games, strict=True)):
                recorded = {name: getattr(game, name) for name in ENDED}
                if message := result_differs(recorded, _ended(ended, env_id)):
                    yield number, ReplayError(message)


def _simulate(records: Sequence[CupRecord], **options: Any) -> Result:
    """Simulate games with the same rules."""
    rules = {name: getattr(records[0], name) for name in PARAMETERS}
    return simulate([start_of(vars(record)) for record in records], ROWS, COLS, **rules, **options)


def _ended(result: Result, env_id: int) -> dict[str, object]:
    """Return the result of the game of an env, as `CupRecord` holds it."""
    values = {name: getattr(result, name)[env_id].tolist() for name in ENDED}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def board_at(record: CupRecord, generation: int | None = None) -> list[list[int]]:
    """Return the rows of cells, 0 for empty or a team's number from 1, at a generation; None is the end.

    Generation 0 is the arrangement, and a game that was over before a generation shows its last one.

    Raises:
        ValueError: no such generation.
        ReplayError: the record does not reproduce.
    """
    if generation is not None and not 0 <= generation <= record.max_generations:
        raise InputError("generation", f"a generation from 0 to {record.max_generations}", generation)
    ended = _simulate([record], keep=[] if generation is None else [generation])
    if message := result_differs({name: getattr(record, name) for name in ENDED}, _ended(ended, 0)):
        raise ReplayError(message)
    rows: list[list[int]] = (ended.board if generation is None else ended.boards[generation])[0].tolist()
    return rows


# ---------------------------------------------------------------- pictures


def _title(record: CupRecord) -> str:
    return f"{PATTERNS[record.pattern].title}, {record.fixture.occasion}"


@lru_cache(maxsize=1)
def _end(record: CupRecord) -> drawn.View:
    result, fixture = _simulate([record], trajectory=True), record.fixture
    return drawn.end_of(result, fixture.teams, _title(record), PATTERNS[record.pattern].zones, fixture.teams)


def texts(record: CupRecord) -> tuple[str, str]:
    """Return the arrangement, and the end, for a terminal."""
    start: np.ndarray[Any, np.dtype[np.int8]] = boards([start_of(vars(record))], ROWS, COLS)[0].numpy()
    end = _end(record)
    return drawn.text(drawn.moment(end, _title(record), 0, start)), drawn.text(end)


def last(record: CupRecord) -> Picture:
    """Return the end of the game as a drawing."""
    return drawn.draw(_end(record))


def animate(
    record: CupRecord,
    path: PathLike,
    *,
    scale: float = 1.0,
    frame_ms: int = 60,
    last_ms: int = 3000,
    progress: bool = False,
) -> None:
    """Save Life from the arrangement to the end, as a GIF or an MP4 of some 120 frames; the last one stays longer.

    With `progress`, what takes more than two seconds shows its progress on standard error.

    Raises:
        ValueError: Another suffix than .gif and .mp4.
        ImportError: Pillow, or for a video imageio-ffmpeg, is not installed.
    """
    from cellgames.arena.records.films import save_film
    from cellgames.utils.progress import waiting

    with waiting("Playing again", shown=progress):
        frames = drawn.life_frames(_end(record), _title(record), lambda shown: _simulate([record], keep=shown))
        steps = [[picture] for picture in frames]
    save_film(steps, path, scale=scale, frame_ms=frame_ms, last_ms=last_ms, progress=progress)
