"""Analyses of recorded games: openings, places, time series, Life objects, score flows and behaviour."""
