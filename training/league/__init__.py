"""Populations: best responses to frozen agents, and leagues of them."""
