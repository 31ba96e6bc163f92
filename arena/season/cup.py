"""A season of the Toroidal Cup as the real one is played: random arrangements, and Life decides.

Every game draws a pattern from the season's, and an arrangement of it. The team with the first seat is team 1. In
replays the results are compared, and the course is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, get_args

import numpy as np

from cellgames.arena.records import record_lines as lines
from cellgames.arena.records.record_lines import FLAG, INTEGERS, Record, json_fields, one_of, read_lines, whole
from cellgames.arena.records.replays import ReplayError, result_differs
from cellgames.envs.core.drawing import Picture
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, ToroidalCup, arrange, simulate
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.simulator import MAX_GENERATIONS, Result, Survivors, boards
from cellgames.runs.run_folder import derive, differences
from cellgames.utils.errors import InputError, check_one_of, check_whole, shown
from cellgames.utils.files import PathLike

from .games import Fixture, Played

CUP = "toroidal-cup-v0"
"""The game of the suite whose rules these are."""

PARAMETERS = ("max_generations", "survivors")
"""The rules that a season may change and a record holds, by the names that `CupUmpire` gives them."""

ENDED = ("scores", "generations", "winner", "truncated")
"""The fields of `Result` that a record holds."""


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
    def agents(self) -> tuple[str, str]:
        """The teams, as records of matches have their agents."""
        return self.fixture.teams

    @property
    def result(self) -> lines.Result:
        """The result as records of matches have it; generations stand for turns."""
        ends: Iterator[lines.Outcome] = (
            "draw" if not self.winner else "win" if number == self.winner else "loss" for number in (1, 2)
        )
        return lines.Result(tuple(ends), self.scores, self.generations, self.truncated)

    @property
    def rules(self) -> dict[str, Any]:
        """The values of `PARAMETERS`, as `simulate` takes them."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @classmethod
    def from_json(cls, line: str | bytes) -> CupRecord:
        """Return the record of a line of games.jsonl; unknown fields are left out.

        Raises:
            ValueError: no game of a season, fields missing, or a value that cannot be; the message names them.
        """
        fixture = Fixture.from_json(line)
        record = cls(fixture, **json_fields(json.loads(line), "", _RECORD))
        if len(record.scores) != 2:
            raise InputError("scores", "two scores", len(record.scores))
        return record


_RECORD = {
    "pattern": one_of(tuple(PATTERNS)),
    "seed": whole(0),
    "max_generations": whole(1),
    "survivors": one_of(get_args(Survivors)),
    "scores": INTEGERS,
    "generations": whole(0),
    "winner": whole(0),
    "truncated": FLAG,
}


def recognises(line: bytes) -> bool:
    """Return True if a line of a file is a record of this module, rather than one of moves (`records`)."""
    return {"season", "pattern"} <= (lines.json_object(line) or {}).keys()


def read_games(path: PathLike) -> tuple[Sequence[Record] | Sequence[CupRecord], str]:
    """Return the records of a file or of a run's folder, of either kind, and what was dropped (`read_records`)."""
    path = lines.records_file(path)
    with path.open("rb") as file:
        arranged = recognises(file.readline())
    return read_lines(path, CupRecord.from_json) if arranged else read_lines(path, Record.from_json)


class CupUmpire:
    """An umpire for teams that are not bots.

    Args:
        patterns: names in `PATTERNS`; None for all of them.
        max_generations: generation at which a game is cut off.
        survivors: "recolour" or "keep", see `simulate`.
        chunk: games played at the same time, about.

    Raises:
        ValueError: unknown patterns or one twice, numbers out of range.
    """

    def __init__(
        self,
        patterns: Sequence[str] | None = None,
        *,
        max_generations: int = MAX_GENERATIONS,
        survivors: Survivors = "recolour",
        chunk: int = 250,
    ) -> None:
        if isinstance(patterns, str):
            expected = "a list of patterns"
            raise InputError("patterns", expected, f"{shown(patterns)} alone", f"did you mean [{shown(patterns)}]?")
        names = list(PATTERNS if patterns is None else patterns)
        for name in names:
            check_one_of("patterns", name, PATTERNS)
        if not names or len(set(names)) < len(names):
            raise InputError("patterns", "one or more different patterns", ", ".join(names) or "none")
        check_whole("max_generations", max_generations, 1)
        check_whole("chunk", chunk, 1)
        if survivors not in get_args(Survivors):
            raise InputError("survivors", " or ".join(map(repr, get_args(Survivors))), shown(survivors))
        self.patterns, self.max_generations, self.survivors, self.chunk = names, max_generations, survivors, chunk
        self._rules: dict[str, Any] = {name: getattr(self, name) for name in PARAMETERS}

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {"game": CUP, "patterns": self.patterns, **self._rules, "chunk": self.chunk}

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; a game does not depend on those beside it."""
        games = [self._start(fixture, seed) for fixture in fixtures]
        ended = simulate([start_of(game) for game in games], ROWS, COLS, **self._rules)
        if finished is not None:
            finished(len(games))
        ends = zip(fixtures, games, _ends(ended), strict=True)
        return [_played(fixture, {**game, **end}) for fixture, game, end in ends]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        record, start = CupRecord.from_json(line), self._start(fixture, seed)
        if wrong := differences({"fixture": fixture, **start}, vars(record)):
            raise InputError(cause=wrong)
        if record.winner > 2:
            raise InputError("winner", "a number from 0 to 2", record.winner)
        return _played(fixture, {name: getattr(record, name) for name in _RECORD})

    def _start(self, fixture: Fixture, seed: int) -> dict[str, Any]:
        """Return the pattern, which replays keep, the seed of the arrangement, and the rules."""
        number = derive(seed, "pattern", fixture.stage, fixture.game) % len(self.patterns)
        return {"pattern": self.patterns[number], "seed": fixture.derive(seed, "arrangement"), **self._rules}


def start_of(record: Mapping[str, Any]) -> tuple[list[int], ...]:
    """Return the start of a game from its record, a line of games.jsonl as JSON: the flat cells of `arrange`."""
    return arrange(record["pattern"], np.random.default_rng(record["seed"]))


def _played(fixture: Fixture, data: Mapping[str, Any]) -> Played:
    return Played(fixture, tuple(map(float, data["scores"])), (None, 0, 1)[data["winner"]], data)


# ---------------------------------------------------------------- replays


def game_of(record: CupRecord) -> ToroidalCup:
    """Return a game of the suite with the rules of a record; its own shapes mean nothing, as nobody placed any."""
    return ToroidalCup(**record.rules)


def verify(records: Sequence[CupRecord]) -> Iterator[tuple[int, ReplayError]]:
    """Play all records again, those of the same rules at once; yield number (from 0) and error of those that differ."""
    groups: dict[tuple[int, Survivors], list[int]] = {}
    for number, record in enumerate(records):
        groups.setdefault((record.max_generations, record.survivors), []).append(number)
    for numbers in groups.values():
        ends = _ends(_simulate([records[number] for number in numbers]))
        for number, end in zip(numbers, ends, strict=True):
            if message := _differs(records[number], end):
                yield number, ReplayError(cause=message)


def _simulate(records: Sequence[CupRecord], **options: Any) -> Result:
    """Simulate games with the same rules."""
    return simulate([start_of(vars(record)) for record in records], ROWS, COLS, **records[0].rules, **options)


def _ends(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the results of games, as `CupRecord` holds them."""
    for scores, *rest in zip(*(getattr(result, name).tolist() for name in ENDED), strict=True):
        yield dict(zip(ENDED, (tuple(scores), *rest), strict=True))


def _differs(record: CupRecord, end: Mapping[str, Any]) -> str:
    return result_differs({name: getattr(record, name) for name in ENDED}, end)


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
    if message := _differs(record, next(_ends(ended))):
        raise ReplayError(cause=message)
    rows: list[list[int]] = (ended.board if generation is None else ended.boards[generation])[0].tolist()
    return rows


# ---------------------------------------------------------------- pictures


def _title(record: CupRecord) -> str:
    return f"{PATTERNS[record.pattern].title}, {record.fixture.occasion}"


@lru_cache(maxsize=1)
def end_of(record: CupRecord) -> drawn.View:
    """Return the end of the game."""
    result, fixture = _simulate([record]), record.fixture
    return drawn.end_of(result, fixture.teams, _title(record), PATTERNS[record.pattern].zones)


def texts(record: CupRecord) -> tuple[str, str]:
    """Return the arrangement, and the end, for a terminal."""
    start: np.ndarray[Any, np.dtype[np.int8]] = boards([start_of(vars(record))], ROWS, COLS)[0].numpy()
    end = end_of(record)
    return drawn.moment(end, _title(record), 0, start).text(), end.text()


def film(record: CupRecord) -> list[list[Picture]]:
    """Return Life from the arrangement to the end as steps of `replays.save_film`, some 120 pictures."""
    frames = drawn.life_frames(end_of(record), _title(record), lambda shown: _simulate([record], keep=shown))
    return [[picture] for picture in frames]
