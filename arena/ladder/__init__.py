"""Ladders: agents of known ratings in a game, and the climb that finds the place of a newcomer among them."""
