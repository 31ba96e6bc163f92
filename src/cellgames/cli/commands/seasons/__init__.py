"""The commands `cellgames season` and `cellgames series`."""
