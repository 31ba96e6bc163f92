"""Records of games: one JSON object a line, enough to play the game again and to check its result.

Files are written so that a process may be killed at any moment: whole files appear by renaming, lines are
appended and synced, and a torn last line is dropped when the file is read. Reading and writing need no torch.

Checksums tell damage by a disk, a transfer or an editor. Each line of games.jsonl ends in a field `checksum`: 16
hexadecimal digits of BLAKE2b over the line without that field. The settings of a finished run have two more fields:
`finished` names its files of data with the checksum of each and the number of lines, so that a missing end is noticed
too, and `checksum` is that of the settings themselves. Files that users write, and those of earlier versions, have none
of these.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from cellgames.agents.loading import digest
from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike, naming, write_atomic

from .variations import Variation, variations_data, variations_of

RECORDS = "games.jsonl"
"""Name of the file of records in the folder of a run."""

RESIGNED = "resigned"
"""The reason of a forfeit of a person or an engine that gave the game up."""

LOSSES = ("resignation", "loss on time")
"""The kinds of forfeits that are no failures: a player may resign, and a clock is a rule of the game."""

_KINDS = {
    "resignation": (RESIGNED,),
    "loss on time": (OUT_OF_TIME.removesuffix(": "),),  # files of other programs give no seconds
    "missing answer": ("it did not answer within ",),
    "invalid answer": ("illegal action ", "expected ", "it answered ", "must "),
}
"""By kind, beginnings of reasons."""

Outcome = Literal["win", "draw", "loss"]
T = TypeVar("T")

MOST_SEATS = 256
"""Most players of a recorded game."""

_MOST_NUMBER = 1e100  # sums of any number of scores are finite
_MOST_NAME = 1000  # characters; a name may be the path of a file of weights
_MOST_REASON = 1000  # characters; games keep theirs shorter


@dataclass(frozen=True)
class Forfeit:
    """The reason why a game stopped before its end: an agent failed to act, or a person gave it up.

    Attributes:
        seat: Seat of the agent that failed, the first one if several failed in the same turn.
        reason: The agent's fault, on one line (bounded where games are played).
        also: Other seats that failed in that turn, ascending.
        trace: The calls of the agent's program that led to its error, in games that were just played; no part of the
            record's JSON.
    """

    seat: int
    reason: str
    also: tuple[int, ...] = ()
    trace: str = field(default="", compare=False, repr=False)

    @property
    def seats(self) -> tuple[int, ...]:
        """All seats that failed."""
        return self.seat, *self.also

    def to_data(self) -> dict[str, Any]:
        """Return the fields as JSON takes them; `forfeit_of` reads them."""
        return {"seat": self.seat, "reason": self.reason} | ({"also": self.also} if self.also else {})

    @property
    def kind(self) -> str:
        """One of `LOSSES`, "missing answer", "invalid answer" or "crash", as the reason begins."""
        return next((kind for kind, beginnings in _KINDS.items() if self.reason.startswith(beginnings)), "crash")

    def outcome(self, players: int) -> tuple[Outcome, ...]:
        """Return the outcome by seat: those who failed lose; the other one of two wins, several others draw."""
        rest: Outcome = "win" if players == 2 else "draw"
        return tuple("loss" if seat in self.seats else rest for seat in range(players))


@dataclass(frozen=True)
class Result:
    """The end of a game.

    Attributes:
        outcome: One for each player, by seat.
        scores: One for each player, by seat, in the game's own measure.
        turns: Steps played, as the final state counts them.
        truncated: True if a limit cut the game off.
        forfeit: None for a game that came to its end.
    """

    outcome: tuple[Outcome, ...]
    scores: tuple[float, ...]
    turns: int
    truncated: bool
    forfeit: Forfeit | None = None


@dataclass(frozen=True)
class Pairing:
    """The place of a game in a match or in a run of free-for-all games.

    Attributes:
        match: The match's id, the same for all games of a pair of agents; "free-for-all" there.
        opening: Number of the opening within the match; its games are one cluster for statistics. There the game's
            number.
        seats: By seat, which of the match's agents sits there (0 the first in the match's id); there of all agents,
            sorted by name.
    """

    match: str
    opening: int
    seats: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """One finished game.

    Attributes:
        game: Id that `cellgames.make` takes together with `parameters`.
        version: Of this package.
        parameters: All of them, defaults too.
        seed: int64, of the env.
        agents: Names by seat.
        opening: How many of the first moves were forced.
        moves: One string a turn, as the game writes actions (`cellgames.agents.moves`).
        result: How it ended.
        pairing: None for a game outside a match.
        position: Where it started, as the game writes positions; "" is the usual start.
        summary: Numbers of the game that `result` does not tell (`Game.summary`), JSON of any kind by name.
        seconds: In games with a clock, how long each move took, by seat; forced moves are left out.
        policies: Where they were kept, the policy of the search behind each move, probabilities by action; None for
            moves without one.
        variations: Moves that people tried beside the game, a tree with comments (`variations`).
    """

    game: str
    version: str
    parameters: Mapping[str, Any]
    seed: int
    agents: tuple[str, ...]
    opening: int
    moves: tuple[str, ...]
    result: Result
    pairing: Pairing | None = None
    position: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    seconds: tuple[tuple[float, ...], ...] = ()
    policies: tuple[Mapping[str, float] | None, ...] = ()
    variations: tuple[Variation, ...] = ()

    @property
    def traces(self) -> list[tuple[str, str]]:
        """Agent and trace of an error by which the game was forfeited, if it was just played."""
        forfeit = self.result.forfeit
        return [(self.agents[forfeit.seat], forfeit.trace)] if forfeit is not None and forfeit.trace else []

    def to_data(self) -> dict[str, Any]:
        """Return the fields as JSON takes them; parameters and summary are the record's own, not copies."""
        # Not `asdict`, which copies every move: runs write records by the thousand.
        data = {name: value for name, value in vars(self).items() if value or name not in _OPTIONAL}
        data["result"] = result = dict(vars(self.result))
        if self.pairing is not None:
            data["pairing"] = dict(vars(self.pairing))
        if self.variations:
            data["variations"] = variations_data(self.variations)
        if (forfeit := result.pop("forfeit")) is not None:
            result["forfeit"] = forfeit.to_data()
        return data

    def to_json(self) -> str:
        """Return the record as one line, without the newline."""
        return to_line(self.to_data())

    @classmethod
    def from_json(cls, line: str | bytes) -> Record:
        """Return the record of a line that `to_json` wrote; unknown fields are ignored.

        Raises:
            ValueError: Not a JSON object, fields missing, or a value of another kind; the message names them.
        """
        try:
            data = json.loads(line, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8
            raise InputError("", "a JSON object", f"{shown(line)}: {error}") from None
        record = cls(**json_fields(data, "", _RECORD, optional=_OPTIONAL))
        record.check()
        return record

    def check(self) -> None:
        """Raise a `ValueError` unless the parts fit together, and names can be printed."""
        seats, result = len(self.agents), self.result
        if not seats == len(result.outcome) == len(result.scores):
            got = f"{seats} agents, {len(result.outcome)} outcomes and {len(result.scores)} scores"
            raise InputError("result", "an agent, an outcome and a score for each seat", got)
        if self.policies and len(self.policies) != len(self.moves):
            raise InputError("policies", f"a policy or null for each of {len(self.moves)} moves", len(self.policies))
        if result.forfeit is not None and not all(0 <= seat < seats for seat in result.forfeit.seats):
            raise InputError("result.forfeit", f"seats 0 to {seats - 1}", list(result.forfeit.seats))
        if seats > MOST_SEATS:
            raise InputError("agents", f"at most {MOST_SEATS} seats", seats)
        check_names((self.game, self.version, *self.agents))


def check_names(names: Iterable[str]) -> None:
    """Raise a `ValueError` unless all names are short and can be printed."""
    for name in names:
        if len(name) > _MOST_NAME or not name.isprintable():
            raise InputError("agents", f"names that can be printed, of at most {_MOST_NAME} characters", shown(name))


def to_line(data: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON on one line, without the newline."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the JSON object that foreign text holds, None for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_number(word: str) -> float:
    """Raise a `ValueError`: NaN and the infinities are no JSON, but Python's parser accepts them."""
    raise InputError("", "a number of JSON", word)


# ---------------------------------------------------------------- kinds of values


class Kind(NamedTuple):
    """A kind of values of JSON: in words, as a test, and the conversion of those that pass it."""

    expected: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value

    def listed(self, expected: str, convert: Callable[[Any], Any] = lambda value: value) -> Kind:
        """Return the kind of lists of such values, each converted."""
        return Kind(
            expected,
            lambda values: isinstance(values, list) and all(map(self.fits, values)),
            lambda values: tuple(map(convert, values)),
        )


def json_fields(data: Any, prefix: str, kinds: Mapping[str, Kind], optional: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a JSON object by name, each checked for its kind and converted; others are left out.

    Args:
        data: any JSON, to be an object.
        prefix: prefix of the names in messages.
        kinds: kinds of the values by name.
        optional: names that the object may lack.

    Raises:
        ValueError: another value; the message says what was expected.
    """
    if not isinstance(data, dict):
        raise InputError(prefix[:-1], "a JSON object", shown(data))
    if missing := [name for name in kinds if name not in data and name not in optional]:
        raise InputError("fields", ", ".join(prefix + name for name in missing), "none")
    found = {}
    for name, kind in kinds.items():
        if name in data:
            if not kind.fits(data[name]):
                raise InputError(f"{prefix}{name}", kind.expected, shown(data[name]))
            found[name] = kind.convert(data[name])
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return (_is_whole(value) or isinstance(value, float)) and abs(value) <= _MOST_NUMBER  # not NaN either


def _is_policy(value: Any) -> bool:
    chances = list(value.values()) if isinstance(value, dict) else [float(value is None)]
    return all(_is_number(chance) and 0 <= chance <= 1 for chance in chances) and any(chances)


def whole(low: int) -> Kind:
    """Return the kind of integers from `low` to 2^63 - 1."""
    return Kind(f"a whole number from {low} to 2^63 - 1", lambda value: _is_whole(value) and low <= value < 1 << 63)


def one_of(values: Sequence[str]) -> Kind:
    """Return the kind of some texts."""
    return Kind(f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values)


TEXT = Kind("a string", lambda value: isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
INTEGERS = Kind("", _is_whole).listed("a list of whole numbers")
_TEXTS = TEXT.listed("a list of strings")
_MAPPING = Kind("a JSON object", lambda value: isinstance(value, dict))
_SECONDS = Kind("", lambda value: _is_number(value) and value >= 0).listed("a list of seconds", float)
_ANY = Kind("", lambda value: True)


def forfeit_of(data: Any) -> Forfeit:
    """Return the forfeit of a record's JSON; it raises what `Record.from_json` raises."""
    kinds = {"seat": whole(0), "reason": TEXT, "also": INTEGERS}
    found = Forfeit(**json_fields(data, "result.forfeit.", kinds, optional=["also"]))
    if len(found.reason) > _MOST_REASON or not found.reason.isprintable():
        raise InputError("result.forfeit.reason", f"a line of {_MOST_REASON} characters at most", shown(found.reason))
    return found


_PAIRING = {"match": TEXT, "opening": whole(0), "seats": INTEGERS}
_RESULT = {
    "outcome": one_of(get_args(Outcome)).listed(f"a list of {', '.join(get_args(Outcome))}"),
    "scores": Kind("", _is_number).listed("a list of numbers up to 1e100", float),
    "turns": whole(0),
    "truncated": FLAG,
    "forfeit": _ANY._replace(convert=lambda data: None if data is None else forfeit_of(data)),
}
_RECORD = {
    "result": _ANY._replace(convert=lambda data: Result(**json_fields(data, "result.", _RESULT, optional=["forfeit"]))),
    "game": TEXT,
    "version": TEXT,
    "parameters": _MAPPING,
    "seed": whole(-(1 << 63)),
    "agents": _TEXTS,
    "opening": whole(0),
    "moves": _TEXTS,
    "pairing": _ANY._replace(
        convert=lambda data: None if data is None else Pairing(**json_fields(data, "pairing.", _PAIRING))
    ),
    "position": TEXT,
    "summary": _MAPPING,
    "seconds": _SECONDS.listed("a list of lists of seconds", _SECONDS.convert),
    "policies": Kind("", _is_policy).listed("a list of probabilities by action, or null"),
    "variations": _ANY._replace(convert=variations_of),
}
_OPTIONAL = ("pairing", "position", "summary", "seconds", "policies", "variations")


# ---------------------------------------------------------------- files


class Reading(NamedTuple):
    """The records of a file; `torn` says what was dropped at its end, "" for nothing."""

    records: list[Record]
    torn: str


def records_file(path: PathLike) -> Path:
    """Return the file of records: the path itself, or the one in the folder of a run of the arena.

    Raises:
        RecordError: A folder without records.
    """
    path = Path(path)
    if not path.is_dir():
        return path
    if not (path / RECORDS).is_file():
        inside = sorted(child.name for child in path.iterdir() if (child / RECORDS).is_file())
        hint = f"; did you mean {path / inside[0]}?" if inside else ", and runs of training keep no games"
        raise RecordError(path, f"a folder with {RECORDS}, as runs of the arena write it", f"none{hint}")
    return path / RECORDS


def read_records(path: PathLike) -> Reading:
    """Return all records of a file.

    A last line that has no newline and is no record was torn by a crash: it is dropped and reported.

    Raises:
        RecordError: Any other line that is no record; a line, or the file of a finished run, that has changed since it
            was written; the message names the file.
        OSError: The file cannot be read.
    """
    return Reading(*read_lines(path, Record.from_json))


def read_lines(path: PathLike, parse: Callable[[bytes], T]) -> tuple[list[T], str]:
    """Return every line as `parse` reads it (it raises `ValueError`), and what was dropped; see `read_records`."""
    path = Path(path)
    content = path.read_bytes()
    name, settings = settings_of(path.parent)
    if why := changed_file(settings, path.name, checksum([content])):
        raise RecordError(path, cause=why)
    *lines, last = content.split(b"\n")
    known, found, torn = bool(name) and any(map(has_checksum, lines)), list[T](), ""
    for number, line in enumerate([*lines, last] if last else lines, 1):
        complete = number <= len(lines)
        if complete and (has_changed(line) or (known and not has_checksum(line))):
            cause = "the command that made this run plays its game again; a line without a checksum is read as it is"
            raise RecordError(f"{path}, line {number}", "the line as it was written", "a changed one", cause)
        try:
            found.append(parse(line))
        except ValueError as error:
            if complete:
                raise RecordError(f"{path}, line {number}", cause=str(error)) from None
            torn = f"{path}, line {number}: dropped a torn line, {shown(line)}"
    return found, torn


def read_sound(
    path: Path, parse: Callable[[bytes], T], warn: Callable[[str], None]
) -> tuple[list[tuple[bytes, T]], bool]:
    """Return the lines that are as they were written, with checksums, and True if the file holds nothing else.

    Lines that were torn by a kill, or that have changed since, are left out: a run plays their games again.

    Args:
        path: path of the games; need not exist.
        parse: reads a line; raises a `ValueError`.
        warn: gets a line about what is left out.

    Raises:
        RecordError: a line was written like this, and cannot be read.
    """
    content = path.read_bytes() if path.exists() else b""
    *lines, last = content.split(b"\n")
    known = any(map(has_checksum, lines))  # else an earlier version wrote them
    found: list[tuple[bytes, T]] = []
    changed: list[int] = []
    for number, line in enumerate([*lines, last] if last else lines, 1):
        if has_changed(line) or (known and not has_checksum(line)):
            changed.append(number)
            continue
        try:
            found.append((sign(line), parse(line)))
        except ValueError as error:
            if known:
                raise RecordError(f"{path}, line {number}", cause=str(error)) from None
            changed.append(number)
    if last and changed == [len(lines) + 1]:
        warn(f"{path}, line {changed[0]}: dropped a torn line, {shown(last)}")
    elif changed:
        warn(
            f"{path}: dropped {len(changed)} lines that have changed since they were written, the first is line "
            f"{changed[0]}; their games are played again"
        )
    return found, content == b"".join(line + b"\n" for line, _ in found)


class Line(Protocol):
    """An entry of a file of games."""

    def to_json(self) -> str:
        """Return the entry as one line, without the newline."""


def to_lines(records: Iterable[Line]) -> bytes:
    """Return the content of a file of games, a line with a checksum each."""
    return b"".join(sign(record.to_json().encode()) + b"\n" for record in records)


def append(path: PathLike, records: Iterable[Line]) -> None:
    """Add records to a file in one write, and wait until they are on the disk.

    A crash in the middle leaves some of the lines and perhaps a torn one.

    Raises:
        RecordError: The file does not end with a newline, so that the lines would run into one.
    """
    data = to_lines(records)
    with open(path, "a+b") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                raise RecordError(path, "a newline at the end", "a torn line", "remove it first")
        with naming(Path(path)):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


FORFEIT_LOG = "forfeits.log"

_MOST = 20  # errors of one agent that are kept

_LOGGER = logging.getLogger("cellgames.forfeits")  # `--debug` shows it


class Traced(Line, Protocol):
    """A game that was just played or read again."""

    @property
    def traces(self) -> Sequence[tuple[str, str]]:
        """Agent and trace of each error by which the game was forfeited, if it was just played."""


def log_forfeits(folder: Path, games: Iterable[Traced]) -> None:
    """Add traces by agent to the log of a run; those that are there already, or too many of one agent, change nothing.

    Records keep the reasons only. The log has no times and is sorted, so that runs which were stopped and continued
    have the same one. The file exists if an agent raised an error.
    """
    traces = (trace for game in games for trace in game.traces)
    new = {f"{agent}\n" + "\n".join(f"  {line}" for line in trace.splitlines()) for agent, trace in traces}
    if not new:
        return
    path = folder / FORFEIT_LOG
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    before = {entry.rstrip("\n") for entry in text.split("\n\n") if entry.strip()}
    for entry in sorted(new - before):
        _LOGGER.debug("a game was forfeited by %s", entry)
    groups = groupby(sorted(before | new), key=lambda entry: entry.partition("\n")[0])
    kept = [entry for _, own in groups for entry in islice(own, _MOST)]
    if {*kept} != before:
        write_atomic(path, "\n\n".join(kept) + "\n")


# ---------------------------------------------------------------- checksums

FINISHED, CHECKSUM = "finished", "checksum"

_AGAIN = "the command that made this run plays again what is missing"

_MARK = b',"checksum":"'

KINDS = {
    "run.json": "round robin",
    "evaluation.json": "evaluation",
    "season.json": "season",
    "series.json": "series",
}
"""Kinds of runs with games by the names of the files with their settings."""


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as they come back from a JSON file: lists for tuples."""
    copy: dict[str, Any] = json.loads(json.dumps(values))
    return copy


class RecordError(InputError):
    """A file of records that cannot be read or continued; `parameter` names file and line."""


def sign(line: bytes) -> bytes:
    """Return a JSON object on one line with its checksum, unless it has one."""
    return line if has_checksum(line) else b'%s,"checksum":"%s"}' % (line[:-1], digest(line).encode())


def has_checksum(line: bytes) -> bool:
    """Return True if a line has a checksum, right or wrong."""
    return _MARK in line[-64:]


def has_changed(line: bytes) -> bool:
    """Return True if the checksum of a line is not that of its content; a line without checksum has not changed."""
    content, _, end = line.rpartition(_MARK)
    return has_checksum(line) and end != f'{digest(content + b"}")}"}}'.encode()


def finish(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the settings of a finished run with the checksums of these files, by name, and of the settings."""
    data = {**settings, FINISHED: {name: checksum([content]) for name, content in files.items()}}
    return {**data, CHECKSUM: _checksum(data)}


def _checksum(settings: Mapping[str, Any]) -> str:
    return digest(json.dumps(plain(settings), sort_keys=True).encode())


def settings_of(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of the file with the settings of a run, and the settings; "" and {} without them.

    Raises:
        RecordError: The settings cannot be read, or have changed since the run was finished.
    """
    path = next((folder / name for name in KINDS if (folder / name).is_file()), None)
    if path is None:
        return "", {}
    try:
        settings = json.loads(path.read_bytes())
        rest = {name: value for name, value in settings.items() if name != CHECKSUM}
        if rest.keys() != settings.keys() or FINISHED in settings:
            sound = settings.get(CHECKSUM) == _checksum(rest)
            if not sound or not all(type(known["lines"]) is int for known in settings[FINISHED].values()):
                raise ValueError
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise RecordError(path, "the settings of a run as it wrote them", "damaged ones") from None
    return path.name, settings


def checksum(pieces: Iterable[bytes]) -> dict[str, Any]:
    """Return the entry of a file in the settings of its run: the number of lines and the checksum of its pieces."""
    lines, hashed = 0, blake2b(digest_size=8)
    for piece in pieces:
        lines += piece.count(b"\n")
        hashed.update(piece)
    return {"lines": lines, CHECKSUM: hashed.hexdigest()}


def changed_file(settings: Mapping[str, Any], name: str, found: Mapping[str, Any]) -> str:
    """Return why a file with this `checksum` is not that of a finished run, "" if it is or nothing is known of it."""
    known = settings.get(FINISHED, {}).get(name)
    if known is None or known == found:
        return ""
    if found["lines"] < known["lines"]:
        return f"expected {known['lines']} lines, got {found['lines']}: some are missing; {_AGAIN}"
    return f"the file has changed since the run was finished; {_AGAIN}"
