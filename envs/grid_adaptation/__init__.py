"""Grid Adaptation by pseudonam (Genius Game 4, Main Match 6): Life whose tiles carry the players' secret sequences."""
