"""Agents and networks for Cloth of Gold."""
