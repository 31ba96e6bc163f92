"""The tables of the store and the row of a game in them. Needs no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cellgames.arena.records.record_lines import (
    MOST_SEATS,
    JsonFields,
    Pairing,
    Record,
    Result,
    check_names,
    forfeit_of,
    to_line,
)
from cellgames.utils.foreign_text import shown

__all__ = [
    "APPLICATION",
    "COUNTS",
    "SCHEMA",
    "SCHEMA_VERSION",
    "SEALED",
    "SEALS",
    "VARIATIONS",
    "VIEWS",
    "Row",
    "canonical",
    "light",
    "names_of",
    "parsed",
    "row",
    "seal",
    "setting_of",
    "text_hash",
]

APPLICATION = 0x43474D53
"""`PRAGMA application_id` of a store: "CGMS" in ASCII."""

SCHEMA_VERSION = 1
"""`PRAGMA user_version`; raised whenever an older program could not read the tables."""

# Records lie in a table of their own, so that whatever is counted reads narrow rows and not the moves.
SCHEMA = {
    "sources": """CREATE TABLE sources (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, place TEXT NOT NULL, added TEXT NOT NULL, UNIQUE (kind, place))""",
    "settings": """CREATE TABLE settings (
        id INTEGER PRIMARY KEY, game TEXT NOT NULL, parameters TEXT NOT NULL, UNIQUE (game, parameters))""",
    "lineups": """CREATE TABLE lineups (
        id INTEGER PRIMARY KEY, agents TEXT NOT NULL, identities TEXT NOT NULL, UNIQUE (agents, identities))""",
    "games": """CREATE TABLE games (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL,
        setting INTEGER NOT NULL REFERENCES settings,
        lineup INTEGER NOT NULL REFERENCES lineups,
        source INTEGER NOT NULL REFERENCES sources,
        seed INTEGER NOT NULL,
        opening INTEGER NOT NULL,
        start INTEGER NOT NULL,
        course BLOB NOT NULL,
        outcome TEXT NOT NULL,
        scores TEXT NOT NULL,
        turns INTEGER NOT NULL,
        truncated INTEGER NOT NULL,
        forfeit TEXT,
        version TEXT NOT NULL,
        added TEXT NOT NULL,
        UNIQUE (hash, lineup))""",
    "records": "CREATE TABLE records (game INTEGER PRIMARY KEY REFERENCES games, data BLOB NOT NULL)",
    "games_by_setting": "CREATE INDEX games_by_setting ON games (setting, version, lineup)",
}
"""The tables and the index of a store, by name."""

SEALS = {"seals": "CREATE TABLE seals (game INTEGER PRIMARY KEY REFERENCES games, seal BLOB NOT NULL)"}
"""The table of seals; stores of the first versions have none, and their programs add games without one."""

VARIATIONS = {
    "variations": "CREATE TABLE variations (game INTEGER PRIMARY KEY REFERENCES games, data BLOB NOT NULL, "
    "hash BLOB NOT NULL)"
}
"""The table of variations, apart from the records: what people tried beside a game makes no other game of it."""

COUNTS = {
    "counted": "CREATE TABLE counted (setting INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, "
    "content TEXT NOT NULL, PRIMARY KEY (setting, kind, key)) WITHOUT ROWID",
    "counts": "CREATE TABLE counts (setting INTEGER NOT NULL, kind INTEGER NOT NULL, content TEXT NOT NULL, "
    "number INTEGER NOT NULL, seal BLOB NOT NULL, PRIMARY KEY (setting, kind, content)) WITHOUT ROWID",
}
"""The tables of running counts (`counts`), made from the games where they do not fit them."""

SEALED = """SELECT games.id, hash, settings.game, parameters, agents, identities, kind, place, sources.added, start,
    course, games.added, seed, opening, outcome, scores, turns, truncated, forfeit, version
    FROM games JOIN settings ON settings.id = setting JOIN lineups ON lineups.id = lineup
    JOIN sources ON sources.id = source WHERE games.id = ?"""
"""The values of a game, which its seal covers."""

_JOINS = """games JOIN settings ON settings.id = games.setting JOIN lineups ON lineups.id = games.lineup
        JOIN sources ON sources.id = games.source"""

VIEWS = {
    "played_games": f"""CREATE VIEW played_games AS SELECT
        games.id AS number, settings.game AS game, settings.parameters AS parameters, games.seed AS seed,
        games.opening AS opening, lineups.agents AS agents, lineups.identities AS identities, games.outcome AS outcome,
        games.scores AS scores, games.turns AS turns, games.truncated AS truncated, games.forfeit AS forfeit,
        games.version AS version, sources.kind AS kind, sources.place AS source, games.added AS added
        FROM {_JOINS}""",
    "results": f"""CREATE VIEW results AS SELECT
        games.id AS number, settings.game AS game, settings.parameters AS parameters, seats.key AS seat,
        seats.value AS agent, json_extract(lineups.identities, '$[' || seats.key || ']') AS identity,
        json_extract(games.outcome, '$[' || seats.key || ']') AS outcome,
        CASE json_extract(games.outcome, '$[' || seats.key || ']')
            WHEN 'win' THEN 1.0 WHEN 'draw' THEN 0.5 ELSE 0.0 END AS result,
        json_extract(games.scores, '$[' || seats.key || ']') AS score, games.turns AS turns,
        games.truncated AS truncated, games.forfeit IS NOT NULL AS forfeited, games.version AS version,
        sources.kind AS kind, games.added AS added
        FROM {_JOINS}, json_each(lineups.agents) AS seats""",
}
"""Views for people, who read a store by other programs: a row per game, and a row per game and seat.

No program of this package reads them, and a store whose views are older gets the new ones when it is opened.
"""


def canonical(values: Mapping[str, Any]) -> str:
    """Return JSON text that is the same for equal values, whatever their order."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class Row:
    """The columns of a game in the tables.

    Attributes:
        hash: Hash of `text`, 16 bytes, by which the same game is recognised.
        start: Hash of what the game started from: seed, position and forced moves. Games with one start are no
            independent ones, in whatever run and however numbered there.
        course: Hash of position and moves, 8 bytes, which tells different games apart.
        text: JSON of the record without its variations.
        variations: JSON of the variations, "" for none.
    """

    hash: bytes
    setting: tuple[str, str]
    agents: tuple[str, ...]
    start: int
    course: bytes
    text: str
    columns: tuple[Any, ...]
    variations: str = ""


def row(record: Record) -> Row:
    """Return the row of a record; `columns` are seed, opening, outcome, scores, turns, truncated, forfeit, version.

    Raises:
        ValueError: `Record.check` refuses the record; the store would keep a game from which no table can be made.
    """
    record.check()
    data = record.to_data()
    variations = data.pop("variations", None)
    text, result = to_line(data), data["result"]
    forced = record.moves[: record.opening]
    return Row(
        hash=text_hash(text),
        setting=(record.game, canonical(record.parameters)),
        agents=record.agents,
        start=int.from_bytes(_digest(json.dumps([record.seed, record.position, *forced]), 8), "big") >> 1,
        course=_digest(json.dumps([record.position, *record.moves]), 8),
        text=text,
        columns=(
            record.seed,
            record.opening,
            json.dumps(result["outcome"]),
            json.dumps(result["scores"]),
            record.result.turns,
            int(record.result.truncated),
            canonical(result["forfeit"]) if result.get("forfeit") is not None else None,
            record.version,
        ),
        variations="" if variations is None else to_line(variations),
    )


def light(
    setting: tuple[str, Mapping[str, Any]],
    agents: tuple[str, ...],
    columns: tuple[Any, ...],
    start: Any,
    course: Any,
) -> Record:
    """Return a record without its moves and summary, for counting; see `store.Store.results`.

    Raises:
        ValueError: A column holds something else than `row` wrote.
    """
    seed, opening, outcome, scores, turns, truncated, forfeit, version = columns
    whole = type(seed) is type(opening) is type(start) is type(turns) is type(truncated) is int
    if not (whole and type(course) is bytes and type(version) is str):
        values = (seed, opening, start, turns, truncated, course, version)
        raise ValueError(f"expected five whole numbers, a hash and a version, got {shown(values)}")
    result = _result(outcome, scores, turns, truncated, forfeit)
    if len(result.outcome) != len(agents):
        raise ValueError(f"expected an outcome for each of {len(agents)} agents, got {len(result.outcome)}")
    return Record(
        game=setting[0],
        version=version,
        parameters=setting[1],
        seed=seed,
        agents=agents,
        opening=opening,
        moves=(course.hex(),),
        result=result,
        pairing=Pairing("store", start, tuple(range(len(agents)))),
    )


@lru_cache(maxsize=4096)
def _result(outcome: str, scores: str, turns: int, truncated: int, forfeit: str | None) -> Result:
    data = {"outcome": parsed(outcome), "scores": parsed(scores), "turns": turns}
    reader = JsonFields(data, "", needed=data)
    found = Result(
        outcome=reader.outcomes("outcome"),
        scores=reader.numbers("scores"),
        turns=reader.integer("turns", 0),
        truncated=bool(truncated),
        forfeit=None if forfeit is None else forfeit_of(parsed(forfeit)),
    )
    seats = len(found.outcome)
    if len(found.scores) != seats or (found.forfeit is not None and max(found.forfeit.seats) >= seats):
        raise ValueError(f"expected a score for each of {seats} seats, and forfeits of these, got {shown(data)}")
    return found


def names_of(agents: Any, identities: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the agents of a lineup and their identities, by seat; raise a `ValueError` for anything else."""
    reader = JsonFields({"agents": parsed(agents), "identities": parsed(identities)}, "", needed=())
    names, found = reader.texts("agents"), reader.texts("identities")
    if len(names) != len(found) or len(names) > MOST_SEATS:
        raise ValueError(f"expected up to {MOST_SEATS} agents with identities, got {shown(names)} and {shown(found)}")
    check_names((*names, *found))
    return names, found


def setting_of(game: Any, parameters: Any) -> tuple[str, dict[str, Any]]:
    """Return a game with its parameters; raise a `ValueError` for anything else."""
    reader = JsonFields({"game": game, "parameters": parsed(parameters)}, "", needed=())
    check_names((name := reader.text("game"),))
    return name, reader.mapping("parameters")


def parsed(text: Any) -> Any:
    """Return the value of JSON text from a column; raise a `ValueError` for anything else."""
    if not isinstance(text, str):
        raise ValueError(f"expected JSON text, got {shown(text)}")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"expected JSON text, got {shown(text)}") from None


def text_hash(text: str) -> bytes:
    """Return the hash of a record's text, 16 bytes."""
    return _digest(text, 16)


def seal(values: tuple[Any, ...]) -> bytes:
    """Return the digest of the values of a game (`SEALED`), 8 bytes, by which it is noticed that one has changed."""
    return _digest(repr(values), 8)


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
