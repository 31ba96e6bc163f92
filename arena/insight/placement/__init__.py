"""Openings and places: where agents place, and how that fares."""
