"""The store of games: one SQLite file that grows over time."""
