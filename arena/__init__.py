"""Matches between agents and the ratings that follow from them; seasons of teams, and their playoffs."""
