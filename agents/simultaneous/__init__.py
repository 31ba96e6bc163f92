"""Search in games where all players act at once: matrix games, and trees whose nodes are matrix games."""

from .joint_agent import JointSearchAgent as JointSearchAgent
from .joint_search import JointResult as JointResult, RegretMatching as RegretMatching, solve_matrix as solve_matrix
