"""Search in games where all players act at once: matrix games, and trees whose nodes are matrix games."""

from .joint_agent import JointSearchAgent
from .joint_search import DecoupledUCT, JointResult, JointSearch, RegretMatching
from .matrix_games import MatrixSolution, exploitability, solve_matrix

__all__ = [
    "DecoupledUCT",
    "JointResult",
    "JointSearch",
    "JointSearchAgent",
    "MatrixSolution",
    "RegretMatching",
    "exploitability",
    "solve_matrix",
]
