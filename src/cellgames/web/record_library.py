"""Records and seasons that the page can show: files below one folder, read a line at a time and never written.

Names of files come from a browser, so they are never joined to a path as they are: a name serves only if it is a plain
relative path, below the folder also after links have been followed, and of a known kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cellgames.agents.networks.agent_files import MODEL_SUFFIX, WEIGHTS_SUFFIX
from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.records import record_lines
from cellgames.arena.records.record_lines import RECORDS, RESIGNED, Record, RecordError, has_changed
from cellgames.arena.season.cup import CupRecord, recognises
from cellgames.arena.season.games import Fixture
from cellgames.arena.season.season import SETTINGS
from cellgames.utils.errors import InputError, clipped, shown

MOST_LINE = 2_000_000
"""Most bytes of one record; a longer line is refused unread."""

MOST_FILES = 2000
"""Most files that are listed."""

MOST_SEARCHED = 20_000
"""Most games of a file or the store that a filter looks at."""

_MOST_FOLDERS = 20_000  # looked into
_MOST_INDEXED = 512  # files
_MOST_BYTES = 1 << 30  # of a file that is indexed
_MOST_JSON = 50_000_000  # bytes of a file of a season
_SUFFIX = ".jsonl"


def parse(line: str | bytes) -> Record | CupRecord:
    """Return the record of one line of untrusted text, of a match or of the Cup's own season.

    Raises:
        ValueError: The line is too long, no record, or not as it was written; the message says what was expected.
    """
    data = line.encode() if isinstance(line, str) else line
    if len(data) > MOST_LINE:
        raise InputError("record", f"at most {MOST_LINE} bytes", "more")
    if has_changed(data.rstrip(b"\n")):
        raise InputError("record", "one as it was written", "a changed one, by its checksum")
    return CupRecord.from_json(data) if recognises(data) else Record.from_json(data)


def summary(record: Record | CupRecord, number: int) -> dict[str, Any]:
    """Return a record as a list shows it, as JSON; a game of the Cup's season has teams, and generations for turns."""
    result, forfeit = record.result, record.result.forfeit
    return {
        "number": number,
        "game": record.game[:100],
        "agents": [name[:200] for name in record.agents[:8]],
        "outcome": list(result.outcome[:8]),
        "scores": list(result.scores[:8]),
        "turns": result.turns,
        "forfeit": forfeit is not None,
        "late": forfeit is not None and forfeit.reason.startswith(OUT_OF_TIME),
        "resigned": forfeit is not None and forfeit.reason == RESIGNED,
    }


def _first(path: Path) -> dict[str, Any]:
    """Return `game`, `agents` and `outcome` of the first record of a file."""
    with path.open("rb") as file, suppress(ValueError):
        about = summary(parse(file.readline(MOST_LINE + 1)), 1)
        return {name: about[name] for name in ("game", "agents", "outcome")}
    return {"game": "", "agents": [], "outcome": []}


class GameFilter(BaseModel):
    """A choice of the games of a list; by default all.

    Attributes:
        game: A part of the game's id.
        agent: A part of the name of an agent or a team.
        result: "decided", "draw" or "forfeit"; "" for any.
        least: The fewest turns.
        most: The most turns, 0 for any number.
    """

    model_config = ConfigDict(frozen=True)

    game: str = Field(default="", max_length=100)
    agent: str = Field(default="", max_length=200)
    result: Literal["", "decided", "draw", "forfeit"] = ""
    least: int = Field(default=0, ge=0)
    most: int = Field(default=0, ge=0)

    def keeps(self, game: Mapping[str, Any]) -> bool:
        """Return True if a game, as `summary` tells it, is chosen; a line that is no record is not."""
        if "error" in game:
            return False
        ends = {"decided": "win" in game["outcome"], "draw": "draw" in game["outcome"], "forfeit": game["forfeit"]}
        return (
            self.game.lower() in game["game"].lower()
            and any(self.agent.lower() in agent.lower() for agent in game["agents"])
            and ends.get(self.result, True)
            and self.least <= game["turns"]
            and (not self.most or game["turns"] <= self.most)
        )


_ALL = GameFilter()


class Library:
    """The files of records, and of trained weights, below a folder.

    Args:
        folder: The folder; a missing one holds nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._root = Path(os.path.realpath(folder))
        self._index = lru_cache(_MOST_INDEXED)(self._indexed)

    def files(self) -> list[dict[str, Any]]:
        """Return the files of records, the newest first, as JSON.

        Returns:
            `file`, `time` in seconds since 1970; of the first record `game`, `agents`, `outcome` (empty without one).
        """
        found = sorted((-about.st_mtime, path) for path in self._walk(_SUFFIX) if (about := path.stat()).st_size)
        return [{"file": self._name(path), "time": -before, **_first(path)} for before, path in found[:MOST_FILES]]

    def weights(self) -> dict[str, Path]:
        """Return the files of trained weights and models by the names under which the page offers them."""
        paths = sorted([*self._walk(WEIGHTS_SUFFIX), *self._walk(MODEL_SUFFIX)])[:200]
        return {str(self.folder / self._name(path)): path for path in paths}

    def page(self, name: str, first: int, count: int, chosen: GameFilter = _ALL) -> dict[str, Any]:
        """Return some records of a file as JSON: `total`, and `games`; lines that are no records have an `error`.

        Args:
            name: Name of the file, as `files` returns it.
            first: Number of the first record, from 1.
            count: Number of records.
            chosen: Those that count, of the first `MOST_SEARCHED`; lines that are no records count only without one.

        Raises:
            LookupError: No such file.
            ValueError: A name that is no plain path, or a file that is too large.
        """

        def told(number: int, line: bytes) -> dict[str, Any]:
            try:
                return summary(parse(line), number)
            except ValueError as error:
                return {"number": number, "error": clipped(str(error), 300)}

        if chosen == _ALL:
            games = [told(*one) for one in enumerate(self.lines(name, count, first), first)]
            return {"file": name, "total": len(self._starts(self._path(name))) - 1, "games": games}
        found = [game for one in enumerate(self.lines(name, MOST_SEARCHED), 1) if chosen.keeps(game := told(*one))]
        return {"file": name, "total": len(found), "games": found[first - 1 :][:count]}

    def record(self, name: str, number: int) -> Record | CupRecord:
        """Return one record of a file; `number` is from 1.

        Raises:
            LookupError: No such file or number.
            ValueError: A name that is no plain path, or a line that is no record.
        """
        return parse(self._bytes(name, number))

    def line(self, name: str, number: int) -> str:
        """Return one record of a file as it is written there, with fields that readers ignore."""
        parse(line := self._bytes(name, number))
        return line.decode().strip()

    def _bytes(self, name: str, number: int) -> bytes:
        if (line := next(self.lines(name, 1, number), None)) is None:
            raise LookupError(f"{shown(name)} has no game {number}")
        return line

    def named(self, *names: str) -> list[tuple[str, float]]:
        """Return the files of these names with their times in seconds since 1970, the newest first."""
        paths = [path for path in self._walk(".json") if path.name in names]
        found = sorted(((self._name(path), path.stat().st_mtime) for path in paths), key=lambda one: (-one[1], one[0]))
        return found[:MOST_FILES]

    def json(self, name: str) -> dict[str, Any]:
        """Return the JSON object of a file.

        Raises:
            LookupError: No such file.
            ValueError: A name that is no plain path, or a file that is too large or holds no object.
        """
        path = self._path(name, ".json")
        if (size := path.stat().st_size) > _MOST_JSON:
            raise InputError(shown(name), f"a file up to {_MOST_JSON} bytes", size)
        content = path.read_bytes()
        self._check(path, [content])
        if (found := record_lines.json_object(content)) is None:
            raise InputError(shown(name), "a JSON object")
        return found

    def lines(self, name: str, most: int, first: int = 1) -> Iterator[bytes]:
        """Return the lines of a file of records from the first one on, `most` at most; too long ones are cut.

        Raises:
            LookupError: No such file.
            ValueError: A name that is no plain path, or a file that is too large.
        """
        path = self._path(name)
        places = list(pairwise(self._starts(path)))[first - 1 :][:most]

        def read() -> Iterator[bytes]:
            with path.open("rb") as file:
                for start, end in places:
                    file.seek(start)
                    yield file.read(min(end - start, MOST_LINE + 1))

        return read()

    # --- files --------------------------------------------------------------------------------------------------

    def _walk(self, suffix: str) -> Iterator[Path]:
        """Yield the plain files of that suffix below the folder; links are not followed."""
        for folders, (folder, inner, names) in enumerate(os.walk(self._root)):
            if folders >= _MOST_FOLDERS:
                return
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in names:
                path = Path(folder, name)
                if name.endswith(suffix) and not name.startswith(".") and not path.is_symlink() and path.is_file():
                    yield path

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _path(self, name: str, suffix: str = _SUFFIX) -> Path:
        """Return the file of that name."""
        pure = PurePosixPath(name)
        plain = "\0" not in name and "\\" not in name and ":" not in name and not pure.is_absolute()
        if not plain or ".." in pure.parts or not name.endswith(suffix):
            raise InputError("name", "a file of records below the results folder", shown(name))
        path = Path(os.path.realpath(self._root / pure))
        if not path.is_relative_to(self._root) or not os.path.isfile(path):  # False for a name that is too long, too
            raise LookupError(f"no file of records {shown(name)} in the results folder")
        return path

    def _starts(self, path: Path) -> list[int]:
        """Return the offset of each line, and the end of the last one; kept until the file changes."""
        about = path.stat()
        if about.st_size > _MOST_BYTES:
            raise InputError(self._name(path), f"a file up to {_MOST_BYTES} bytes", about.st_size)
        return self._index(path, about.st_mtime_ns, about.st_size)

    def _indexed(self, path: Path, *stamp: int) -> list[int]:
        starts = [0]

        def lines() -> Iterator[bytes]:
            for line in file:  # a torn last one counts, and is reported as no record
                starts.append(starts[-1] + len(line))
                yield line

        with path.open("rb") as file:
            self._check(path, lines())
        return starts

    def _check(self, path: Path, pieces: Iterable[bytes]) -> None:
        """Raise a `ValueError` if the file is not as the finished run of its folder wrote it."""
        try:
            settings = record_lines.settings_of(path.parent)[1]
            why = record_lines.changed_file(settings, path.name, record_lines.checksum(pieces))
        except RecordError:
            raise InputError(self._name(path), cause="the settings of its run are damaged") from None
        if why:
            raise InputError(self._name(path), cause=why)


_MOST_GAMES = 20_000  # of a season; later ones are left out
_SETTINGS = ("game", "seed", "days", "teams", "version")  # those that the page shows
_PARTS = ("standings", "schedule", "bracket")  # files that a season has, some of them only at its end


def season_list(library: Library) -> list[dict[str, Any]]:
    """Return the seasons, the newest first.

    Returns:
        `folder`, `game`, names of `players`, `champion`, `time` in seconds since 1970, and `board`, file and
        number of the last game (None without games).
    """
    found = []
    for path, time in library.named(SETTINGS):
        folder = path.rpartition("/")[0]
        try:
            settings = _settings(library, folder)
        except (LookupError, ValueError):
            continue  # another file of this name
        ends: Mapping[str, Any] = {}
        with suppress(ValueError):  # a damaged file hides neither its season nor the others
            ends = _part(library, folder, "bracket") or {}
        found.append(
            {
                "folder": folder,
                "game": str(settings["game"]),
                "players": [str(one.get("name") if isinstance(one, dict) else one)[:200] for one in settings["teams"]],
                "champion": ends.get("champion"),
                "board": _last(library, str(PurePosixPath(folder, RECORDS))),
                "time": time,
            }
        )
    return found


def season_data(library: Library, folder: str) -> dict[str, Any]:
    """Return a season: its settings, what its files have, and its games with their numbers in the file.

    Args:
        library: The results folder.
        folder: As `season_list` names it.

    Raises:
        LookupError: There is no season in that folder.
        ValueError: The name is no plain path, or a file cannot be read.
    """
    settings = _settings(library, folder)
    shown = {key: settings.get(key) for key in _SETTINGS}
    parts = {part: _part(library, folder, part) for part in _PARTS}
    return {"folder": folder, "settings": shown, **parts, **_games(library, str(PurePosixPath(folder, RECORDS)))}


def _last(library: Library, file: str) -> dict[str, Any] | None:
    with suppress(LookupError, ValueError):
        if total := library.page(file, 1, 0)["total"]:
            return {"file": file, "number": total}
    return None


def _settings(library: Library, folder: str) -> dict[str, Any]:
    found = library.json(str(PurePosixPath(folder, SETTINGS)))
    if not isinstance(found.get("game"), str) or not isinstance(found.get("teams"), list):
        raise InputError(SETTINGS, "the settings of a season with its game and its teams")
    return found


def _part(library: Library, folder: str, part: str) -> dict[str, Any] | None:
    try:
        return library.json(str(PurePosixPath(folder, f"{part}.json")))
    except LookupError:
        return None


def _games(library: Library, name: str) -> dict[str, Any]:
    """Return `file` and `games`: for each its number, stage, teams, scores and outcome."""
    games = []
    try:
        lines = library.lines(name, _MOST_GAMES)
    except LookupError:
        return {"file": None, "games": []}
    for number, line in enumerate(lines, 1):
        try:
            about = summary(parse(line), number)
        except ValueError:
            if line.endswith(b"\n"):
                raise  # damaged; without a newline it is the torn line of a season that was stopped
            continue
        with suppress(ValueError):  # a record without its place in a season
            one = Fixture.from_json(line)
            about |= {"stage": one.stage, "round": one.game, "attempt": one.attempt, "teams": list(one.teams)}
        games.append(about)
    return {"file": name, "games": games}
