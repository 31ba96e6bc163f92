"""Seasons of teams, and their playoffs."""
