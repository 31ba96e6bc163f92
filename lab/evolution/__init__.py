"""Search for strategies: designs that are varied, play thousands of games, and are kept in archives (MAP-Elites)."""
