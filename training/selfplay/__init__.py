"""Self-play: rollouts, opponents, the opponent pool and actors in other processes."""
