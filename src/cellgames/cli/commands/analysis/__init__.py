"""The commands that look at positions and games: by search, by proof, by statistics."""
