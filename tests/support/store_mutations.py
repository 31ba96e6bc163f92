"""Damaged and hostile stores: files that look like a store and are none, or not only one."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

__all__ = ["ATTACKS", "mutated"]

_LOOP = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
_LONG = "x" * 200_000


def _script(*statements: str) -> Callable[[Path], None]:
    """Return an attack that runs SQL in the file."""

    def attack(path: Path) -> None:
        database = sqlite3.connect(path, isolation_level=None)
        try:
            database.execute("PRAGMA writable_schema=ON")
            for statement in statements:
                database.execute(statement.replace("LONG", _LONG).replace("LOOP", _LOOP))
        finally:
            database.close()

    return attack


def _table(name: str, body: str) -> tuple[str, ...]:
    """Return SQL that puts something else in the place of a table."""
    return f"ALTER TABLE {name} RENAME TO {name}_there", f"CREATE {body.replace('NAME', name)}"


ATTACKS: dict[str, Callable[[Path], None]] = {
    "a view without an end for the games": _script(
        *_table(
            "games", "VIEW NAME AS SELECT x AS id, x AS setting, x AS lineup, x AS source, '0' AS version FROM (LOOP)"
        )
    ),
    "a view without an end for the settings": _script(
        *_table("settings", "VIEW NAME AS SELECT x AS id, 'torus-v0' AS game, '{}' AS parameters FROM (LOOP)")
    ),
    "a trigger": _script("CREATE TRIGGER wait AFTER INSERT ON games BEGIN SELECT count(*) FROM (LOOP); END"),
    "a trigger on sources": _script("CREATE TRIGGER gone AFTER INSERT ON sources BEGIN DELETE FROM games; END"),
    "an index on an expression": _script("CREATE INDEX slow ON games (printf('%.*c', 1000000, 'x'))"),
    "another column": _script("ALTER TABLE games ADD COLUMN more TEXT DEFAULT 'LONG'"),
    "a check": _script(
        *_table("lineups", "TABLE NAME (id INTEGER PRIMARY KEY, agents CHECK (agents > 1), identities)")
    ),
    "two tables on one page": _script(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'lineups') "
        "WHERE name = 'games'"
    ),
    "the schema as a table": _script("UPDATE sqlite_master SET rootpage = 1 WHERE name = 'games'"),
    "a page that is not there": _script("UPDATE sqlite_master SET rootpage = 99999999 WHERE name = 'games'"),
    "a text of another kind": _script("UPDATE games SET outcome = 5, scores = x'00ff', version = 3"),
    "no JSON": _script("UPDATE OR REPLACE lineups SET agents = '[[[['"),
    "deep JSON": _script("UPDATE OR REPLACE settings SET parameters = replace(hex(zeroblob(50000)), '00', '[')"),
    "agents that are none": _script("UPDATE OR REPLACE lineups SET agents = '{}', identities = '7'"),
    "more agents than seats": _script(
        'UPDATE OR REPLACE lineups SET agents = \'["a","b","c"]\', identities = \'["","",""]\''
    ),
    "a hundred thousand seats": _script(
        "UPDATE OR REPLACE lineups SET agents = '[' || replace(hex(zeroblob(99999)), '00', '\"a\",') || '\"a\"]', "
        "identities = '[' || replace(hex(zeroblob(99999)), '00', '\"\",') || '\"\"]'",
        "UPDATE games SET outcome = '[' || replace(hex(zeroblob(99999)), '00', '\"draw\",') || '\"draw\"]', "
        "scores = '[' || replace(hex(zeroblob(99999)), '00', '0,') || '0]'",
    ),
    "a long name": _script("UPDATE OR REPLACE lineups SET agents = json_array('LONG', 'b')"),
    "a name that clears the screen": _script(
        "UPDATE OR REPLACE lineups SET agents = json_array(char(27) || '[2J', 'b')"
    ),
    "a long game": _script("UPDATE OR REPLACE settings SET game = 'LONG'"),
    "a game with long parameters": _script("UPDATE OR REPLACE settings SET parameters = json_object('LONG', 'LONG')"),
    "a game with a large board": _script("UPDATE OR REPLACE settings SET parameters = '{\"size\": 1000000000}'"),
    "another game": _script(
        "UPDATE OR REPLACE settings SET game = 'os-system-v0', parameters = '{\"size\": [[1e308]]}'"
    ),
    "thousands of agents": _script(
        "INSERT INTO lineups SELECT x + 100, json_array('a' || x, 'b' || x), json_array('', '') FROM (LOOP LIMIT 3000)",
        "INSERT INTO games SELECT x + 1000, x, (SELECT min(id) FROM settings), x + 100, 1, x, 0, x, x'00', "
        "json_array('win', 'loss'), json_array(1, 0), 3, 0, NULL, '0.1.0', '' FROM (LOOP LIMIT 3000)",
    ),
    "numbers that are none": _script("UPDATE games SET scores = '[1e999, -1e999]', turns = 9223372036854775807"),
    "large scores": _script("UPDATE games SET scores = '[1e308, -1e308]', seed = -9223372036854775808"),
    "negative turns": _script("UPDATE games SET turns = -1, opening = -5, truncated = 77"),
    "a forfeit of nobody": _script('UPDATE games SET forfeit = \'{"seat": 99, "reason": "LONG"}\''),
    "settings that are gone": _script("DELETE FROM settings"),
    "lineups that are gone": _script("DELETE FROM lineups"),
    "records that are gone": _script("DELETE FROM records"),
    "a record that grows": _script("UPDATE records SET data = zeroblob(1000000)"),
    "games of the last number": _script("UPDATE OR IGNORE games SET id = 9223372036854775807 WHERE id = 1"),
    "another version": _script("PRAGMA user_version = 2147483647"),
    "another program": _script("PRAGMA application_id = 1"),
    "a view of a user": _script("CREATE VIEW mine AS LOOP"),
    "our view without an end": _script("DROP VIEW IF EXISTS results", "CREATE VIEW results AS LOOP"),
    "our view as a table": _script("DROP VIEW IF EXISTS results", "CREATE TABLE results (x)"),
}
"""Changes of a store's file by SQL, as somebody else could send it."""


def mutated(content: bytes, seed: int) -> bytes:
    """Return a store's bytes with some of them changed: flipped, cut off, pages copied over others, pointers turned."""
    chance, data = random.Random(seed), bytearray(content)
    page = int.from_bytes(data[16:18], "big")
    page = 65536 if page == 1 else page
    pages = len(data) // page
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        kind = chance.randrange(6)
        start = page * chance.randrange(pages)
        if kind == 0:
            data[chance.randrange(len(data))] = chance.randrange(256)
        elif kind == 1:  # of the header of the file or of a page, where lengths and numbers of pages are
            data[chance.choice((start, 100)) + chance.randrange(16) - 100 * (start == 0) * 0] ^= 1 << chance.randrange(
                8
            )
        elif kind == 2:
            data[start : start + page] = data[(other := page * chance.randrange(pages)) : other + page]
        elif kind == 3:  # the cells of a page
            place = start + page - 1 - chance.randrange(min(page, 600))
            data[place : place + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\x02", chance.randbytes(4)))[:page]
        elif kind == 4:  # a page becomes an inner one, whose children are pages that come again
            data[start] = chance.choice((2, 5, 10, 13))
        else:
            del data[chance.randrange(len(data)) :]
            data += bytes(chance.choice((0, 7, page)))
            if len(data) < page:
                break
            pages = len(data) // page
    return bytes(data)
