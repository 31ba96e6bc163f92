"""Agents and networks for the Toroidal Cup."""
