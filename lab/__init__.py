"""Research on top of the core: populations, evolution, interventions, Life objects, solving, talk and datasets.

Names are imported when they are first used. Nothing outside this package imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .datasets.decision_tables import export_decisions
    from .datasets.minari_datasets import export_minari
    from .datasets.offline_dataset import OfflineDataset
    from .evolution.evolution import Evolution, evolve
    from .evolution.evolve_options import EvolveOptions
    from .interventions.effects import Effect, Explanation, Intervention, Options, PairEffect
    from .interventions.explanation import explain, explain_world, world_of
    from .interventions.linear_probe import Probe, fit_probe
    from .interventions.probing import ProbeResult, Probing, probe_networks
    from .life.census import Census, census
    from .populations.exploit import exploit, exploiter_arguments
    from .populations.exploit_options import ExploitOptions
    from .populations.exploit_report import Exploit
    from .populations.exploitability import Exploitability, exploitability
    from .populations.league import train_league
    from .populations.league_options import LeagueOptions
    from .populations.league_report import League
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "datasets.decision_tables": ("export_decisions",),
            "datasets.minari_datasets": ("export_minari",),
            "datasets.offline_dataset": ("OfflineDataset",),
            "evolution.evolution": (
                "Evolution",
                "evolve",
            ),
            "evolution.evolve_options": ("EvolveOptions",),
            "interventions.effects": (
                "Effect",
                "Explanation",
                "Intervention",
                "Options",
                "PairEffect",
            ),
            "interventions.explanation": (
                "explain",
                "explain_world",
                "world_of",
            ),
            "interventions.linear_probe": (
                "Probe",
                "fit_probe",
            ),
            "interventions.probing": (
                "ProbeResult",
                "Probing",
                "probe_networks",
            ),
            "life.census": (
                "Census",
                "census",
            ),
            "populations.exploit": (
                "exploit",
                "exploiter_arguments",
            ),
            "populations.exploit_options": ("ExploitOptions",),
            "populations.exploit_report": ("Exploit",),
            "populations.exploitability": (
                "Exploitability",
                "exploitability",
            ),
            "populations.league": ("train_league",),
            "populations.league_options": ("LeagueOptions",),
            "populations.league_report": ("League",),
        },
    )

__all__ = [
    "Census",
    "Effect",
    "Evolution",
    "EvolveOptions",
    "Explanation",
    "Exploit",
    "ExploitOptions",
    "Exploitability",
    "Intervention",
    "League",
    "LeagueOptions",
    "OfflineDataset",
    "Options",
    "PairEffect",
    "Probe",
    "ProbeResult",
    "Probing",
    "census",
    "evolve",
    "explain",
    "explain_world",
    "exploit",
    "exploitability",
    "exploiter_arguments",
    "export_decisions",
    "export_minari",
    "fit_probe",
    "probe_networks",
    "train_league",
    "world_of",
]
