"""Search in games where all players act at once: matrix games, and trees whose nodes are matrix games."""

from .joint_agent import JointSearchAgent as JointSearchAgent
from .joint_search import (
    JointResult as JointResult,
    MatrixSolution as MatrixSolution,
    RegretMatching as RegretMatching,
    exploitability as exploitability,
    solve_matrix as solve_matrix,
)
