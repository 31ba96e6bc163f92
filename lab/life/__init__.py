"""Life objects on boards, and games over time: population, territory and score flows."""
