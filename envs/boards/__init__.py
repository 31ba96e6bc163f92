"""Boards as bits, and Life on them."""
