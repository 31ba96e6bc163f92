"""Ray clusters: the connection, and workers that do pieces of work.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .connection import LOCAL as LOCAL, ClusterError as ClusterError, connected as connected
    from .workers import RayWorkers as RayWorkers, Work as Work, Workers as Workers
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
