"""Speed of search, and strength of the agents."""
