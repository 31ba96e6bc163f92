"""Populations: leagues, mixtures of their members, and best responses to frozen agents."""
