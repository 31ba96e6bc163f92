"""Ratings, payoffs and tables of games that were played."""
