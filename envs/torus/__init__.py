"""Torus, a connection game by Mark Steere."""
