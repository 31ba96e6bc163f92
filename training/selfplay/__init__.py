"""Self-play: rollouts, opponents and the opponent pool."""
