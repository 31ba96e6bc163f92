"""Linear probes: what a network's layers tell about a position, by layer and by step of training.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .linear_probe import Probe, fit_probe
    from .probing import ProbeResult, Probing, probe_networks
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "linear_probe": ("Probe", "fit_probe"),
            "probing": ("ProbeResult", "Probing", "probe_networks"),
        },
    )

__all__ = ["Probe", "ProbeResult", "Probing", "fit_probe", "probe_networks"]
