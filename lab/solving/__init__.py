"""Proofs of who wins: checked, shared among processes, and a solver of Hex and Y."""
