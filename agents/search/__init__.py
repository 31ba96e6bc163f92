"""Tree search in which everything is batched: trees, simulations, evaluations."""

from .evaluators import Evaluation, Evaluator, NetworkEvaluator, PlayoutEvaluator
from .gumbel import GumbelSearch
from .improvement import Effort, Improved, Improver, Rows
from .search_result import SearchResult
from .tree import Tree
from .tree_search import Search
from .uct import UCTSearch

__all__ = [
    "Effort",
    "Evaluation",
    "Evaluator",
    "GumbelSearch",
    "Improved",
    "Improver",
    "NetworkEvaluator",
    "PlayoutEvaluator",
    "Rows",
    "Search",
    "SearchResult",
    "Tree",
    "UCTSearch",
]
