"""Readers: what the moves of each game mean to an analysis."""
