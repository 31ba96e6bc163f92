"""Agents and networks for Grid Adaptation."""
