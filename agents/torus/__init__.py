"""Agents and networks for Torus."""
