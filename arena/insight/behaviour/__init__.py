"""Behaviour: agents asked about the same positions, and how training changes them."""
