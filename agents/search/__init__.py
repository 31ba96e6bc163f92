"""Tree search in which everything is batched: trees, simulations, judgements."""

from .base import Search
from .evaluators import Evaluation, Evaluator, NetworkEvaluator, PlayoutEvaluator
from .gumbel import GumbelSearch
from .results import SearchResult
from .tree import Tree
from .uct import UCTSearch

__all__ = [
    "Evaluation",
    "Evaluator",
    "GumbelSearch",
    "NetworkEvaluator",
    "PlayoutEvaluator",
    "Search",
    "SearchResult",
    "Tree",
    "UCTSearch",
]
