"""Readers of each game's moves for analyses, and the groups of records that they read."""
