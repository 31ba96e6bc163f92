"""Proof-number searches of small boards in native code, and the agent `perfect` that plays by them.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .perfect import PerfectAgent as PerfectAgent
    from .prover import Progress as Progress, ProofSearch as ProofSearch, proof_search as proof_search
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
