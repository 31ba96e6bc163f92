"""The commands that convert recorded games and positions from and to the formats of other programs."""
