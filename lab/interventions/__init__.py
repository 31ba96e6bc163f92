"""Explanations by intervening in recorded games, and linear probes of networks."""
