"""Agents of Grid Adaptation with talk: a network that listens and speaks, and agents that are silent."""
