"""The Toroidal Cup: teams of coloured cells, Life on a torus, the most cells win."""

from .patterns import PATTERNS, arrange
from .simulator import Result, simulate
from .stamps import COLS, ROWS

__all__ = ["COLS", "PATTERNS", "ROWS", "Result", "arrange", "simulate"]
