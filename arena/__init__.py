"""Matches between agents, and the ratings that follow from them."""
