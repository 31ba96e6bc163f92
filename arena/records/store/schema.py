"""The tables and views of a store, and its error."""

from __future__ import annotations

from cellgames.utils.errors import InputError

APPLICATION = 0x43474D53
"""`PRAGMA application_id` of a store: "CGMS" in ASCII."""

SCHEMA_VERSION = 2
"""`PRAGMA user_version`; raised whenever an older program could not read the tables."""

_JOINS = """games JOIN settings ON settings.id = games.setting JOIN lineups ON lineups.id = games.lineup
        JOIN ends ON ends.id = games.end JOIN sources ON sources.id = games.source"""

# Records lie in a table of their own, so that whatever is counted reads narrow rows and not the moves.
SCHEMA = (
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, kind TEXT, place TEXT, added TEXT, UNIQUE (kind, place))",
    "CREATE TABLE settings (id INTEGER PRIMARY KEY, game TEXT, parameters TEXT, UNIQUE (game, parameters))",
    "CREATE TABLE lineups (id INTEGER PRIMARY KEY, agents TEXT, identities TEXT, UNIQUE (agents, identities))",
    """CREATE TABLE ends (id INTEGER PRIMARY KEY, outcome TEXT, scores TEXT, forfeit TEXT, version TEXT,
        UNIQUE (outcome, scores, forfeit, version))""",
    """CREATE TABLE games (
        id INTEGER PRIMARY KEY,
        hash INTEGER NOT NULL,
        setting INTEGER NOT NULL REFERENCES settings,
        lineup INTEGER NOT NULL REFERENCES lineups,
        end INTEGER NOT NULL REFERENCES ends,
        source INTEGER NOT NULL REFERENCES sources,
        start INTEGER NOT NULL,
        course INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        opening INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        truncated INTEGER NOT NULL,
        added TEXT NOT NULL)""",
    "CREATE INDEX games_by_hash ON games (hash)",
    "CREATE INDEX games_by_setting ON games (setting, lineup, end)",
    "CREATE INDEX IF NOT EXISTS games_by_source ON games (source)",
    "CREATE TABLE records (game INTEGER PRIMARY KEY REFERENCES games, data BLOB NOT NULL)",
    f"""CREATE VIEW played_games AS SELECT
        games.id AS number, settings.game AS game, settings.parameters AS parameters, games.seed AS seed,
        games.opening AS opening, lineups.agents AS agents, lineups.identities AS identities, ends.outcome AS outcome,
        ends.scores AS scores, games.turns AS turns, games.truncated AS truncated, nullif(ends.forfeit, '') AS forfeit,
        ends.version AS version, sources.kind AS kind, sources.place AS source, games.added AS added
        FROM {_JOINS}""",
    f"""CREATE VIEW results AS SELECT
        games.id AS number, settings.game AS game, settings.parameters AS parameters, seats.key AS seat,
        seats.value AS agent, json_extract(lineups.identities, '$[' || seats.key || ']') AS identity,
        json_extract(ends.outcome, '$[' || seats.key || ']') AS outcome,
        CASE json_extract(ends.outcome, '$[' || seats.key || ']')
            WHEN 'win' THEN 1.0 WHEN 'draw' THEN 0.5 ELSE 0.0 END AS result,
        json_extract(ends.scores, '$[' || seats.key || ']') AS score, games.turns AS turns,
        games.truncated AS truncated, ends.forfeit != '' AS forfeited, ends.version AS version,
        sources.kind AS kind, games.added AS added
        FROM {_JOINS}, json_each(lineups.agents) AS seats""",
)
"""Statements that make the tables, and two views for people: a row per game, and a row per game and seat.

`ends` and the other small tables hold each text once.
"""


class StoreError(InputError):
    """A file that is no store or cannot be used; `parameter` is its path."""
