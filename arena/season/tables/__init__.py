"""Seasons of games of more than two seats: tables, points by places, and a final table."""
