"""Ray clusters: the connection, and workers that do pieces of work.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connection import LOCAL, ClusterError, connected
    from .ray_workers import RayWorkers, workers_at
    from .workers import Work, Workers
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "connection": ("LOCAL", "ClusterError", "connected"),
            "ray_workers": ("RayWorkers", "workers_at"),
            "workers": ("Work", "Workers"),
        },
    )

__all__ = [
    "LOCAL",
    "ClusterError",
    "RayWorkers",
    "Work",
    "Workers",
    "connected",
    "workers_at",
]
