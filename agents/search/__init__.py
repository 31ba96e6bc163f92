"""Tree search in which everything is batched: trees, simulations, evaluations."""

from .gumbel import GumbelSearch as GumbelSearch
from .improvement import Effort as Effort, Improved as Improved, Improver as Improver, Rows as Rows
from .tree import Tree as Tree
from .tree_search import (
    Evaluation as Evaluation,
    Evaluator as Evaluator,
    NetworkEvaluator as NetworkEvaluator,
    PlayoutEvaluator as PlayoutEvaluator,
    Proved as Proved,
    Search as Search,
    SearchResult as SearchResult,
)
from .uct import UCTSearch as UCTSearch
