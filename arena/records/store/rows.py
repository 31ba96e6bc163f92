"""The tables of the store and the row of a game in them. Needs no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cellgames.arena.records.record_lines import Pairing, Record, Result, forfeit_of, to_line

__all__ = ["APPLICATION", "SCHEMA", "SCHEMA_VERSION", "Row", "canonical", "light", "row"]

APPLICATION = 0x43474D53
"""`PRAGMA application_id` of a store: "CGMS" in ASCII."""

SCHEMA_VERSION = 1
"""`PRAGMA user_version`; raised whenever an older program could not read the tables."""

# Records lie in a table of their own, so that whatever is counted reads narrow rows and not the moves.
SCHEMA = (
    """CREATE TABLE sources (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, place TEXT NOT NULL, added TEXT NOT NULL, UNIQUE (kind, place))""",
    """CREATE TABLE settings (
        id INTEGER PRIMARY KEY, game TEXT NOT NULL, parameters TEXT NOT NULL, UNIQUE (game, parameters))""",
    """CREATE TABLE lineups (
        id INTEGER PRIMARY KEY, agents TEXT NOT NULL, identities TEXT NOT NULL, UNIQUE (agents, identities))""",
    """CREATE TABLE games (
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
    "CREATE TABLE records (game INTEGER PRIMARY KEY REFERENCES games, data BLOB NOT NULL)",
    "CREATE INDEX games_by_setting ON games (setting, version, lineup)",
)


def canonical(values: Mapping[str, Any]) -> str:
    """Return JSON text that is the same for equal values, whatever their order."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class Row:
    """The columns of a game in the tables.

    Attributes:
        hash: Hash of the record's text, 16 bytes, by which the same game is recognised.
        start: Hash of what the game started from: seed, position and forced moves. Games with one start are no
            independent ones, in whatever run and however numbered there.
        course: Hash of position and moves, 8 bytes, which tells different games apart.
        text: JSON of the record.
    """

    hash: bytes
    setting: tuple[str, str]
    agents: tuple[str, ...]
    start: int
    course: bytes
    text: str
    columns: tuple[Any, ...]


def row(record: Record) -> Row:
    """Return the row of a record; `columns` are seed, opening, outcome, scores, turns, truncated, forfeit, version.

    Raises:
        ValueError: `Record.check` refuses the record; the store would keep a game from which no table can be made.
    """
    record.check()
    data = record.to_data()
    text, result = to_line(data), data["result"]
    forced = record.moves[: record.opening]
    return Row(
        hash=_digest(text, 16),
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
    )


def light(
    setting: tuple[str, Mapping[str, Any]],
    agents: tuple[str, ...],
    columns: tuple[int, int, str, str, int, int, str | None, str],
    start: int,
    course: bytes,
) -> Record:
    """Return a record without its moves and summary, for counting; see `store.Store.results`."""
    seed, opening, outcome, scores, turns, truncated, forfeit, version = columns
    return Record(
        game=setting[0],
        version=version,
        parameters=setting[1],
        seed=seed,
        agents=agents,
        opening=opening,
        moves=(course.hex(),),
        result=_result(outcome, scores, turns, truncated, forfeit),
        pairing=Pairing("store", start, tuple(range(len(agents)))),
    )


@lru_cache(maxsize=4096)
def _result(outcome: str, scores: str, turns: int, truncated: int, forfeit: str | None) -> Result:
    return Result(
        outcome=tuple(json.loads(outcome)),
        scores=tuple(map(float, json.loads(scores))),
        turns=turns,
        truncated=bool(truncated),
        forfeit=None if forfeit is None else forfeit_of(json.loads(forfeit)),
    )


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
