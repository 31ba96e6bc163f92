"""Cloth of Gold, designed by Adam Murray: a competitive Game of Life that the players feed by hand."""
