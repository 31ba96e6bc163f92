"""The Toroidal Cup: teams of coloured cells, Life on a torus, the most cells win."""

from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS, arrange
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ROWS

from .simulator import Result, simulate

__all__ = ["COLS", "PATTERNS", "ROWS", "Result", "arrange", "simulate"]
