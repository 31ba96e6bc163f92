"""Games over time: population, territory, objects and score flows."""
