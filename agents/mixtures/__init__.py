"""Agents that are mixtures of others."""
