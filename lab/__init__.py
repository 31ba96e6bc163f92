"""Research on top of the core: populations, evolution, interventions, Life objects, solving, talk and datasets.

Names are imported when they are first used. Nothing outside this package imports it.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .datasets.decision_tables import export_decisions as export_decisions
    from .datasets.minari_datasets import export_minari as export_minari
    from .datasets.offline_dataset import OfflineDataset as OfflineDataset
    from .evolution.evolution import Evolution as Evolution, evolve as evolve
    from .evolution.evolve_options import EvolveOptions as EvolveOptions
    from .interventions.effects import (
        Effect as Effect,
        Explanation as Explanation,
        Intervention as Intervention,
        Options as Options,
        PairEffect as PairEffect,
    )
    from .interventions.explanation import explain as explain, explain_world as explain_world, world_of as world_of
    from .interventions.probing import Probe as Probe, fit_probe as fit_probe
    from .interventions.probing import ProbeResult as ProbeResult, Probing as Probing, probe_networks as probe_networks
    from .life.census import Census as Census, census as census
    from .populations.behaviour import Behaviour as Behaviour, compare as compare
    from .populations.exploit import exploit as exploit, exploiter_arguments as exploiter_arguments
    from .populations.exploit_options import ExploitOptions as ExploitOptions
    from .populations.exploit_report import Exploit as Exploit
    from .populations.exploitability import Exploitability as Exploitability, exploitability as exploitability
    from .populations.league import train_league as train_league
    from .populations.league_options import LeagueOptions as LeagueOptions
    from .populations.league_report import League as League
    from .populations.meta_solvers import (
        coarse_correlated_equilibrium as coarse_correlated_equilibrium,
        effective_dimension as effective_dimension,
        effective_members as effective_members,
        meta_strategy as meta_strategy,
    )
    from .populations.response import respond as respond
    from .populations.queries import Positions as Positions, draw_positions as draw_positions
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
