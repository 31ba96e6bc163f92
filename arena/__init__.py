"""Matches between agents and the ratings that follow from them; seasons of teams, and their playoffs.

    from cellgames.arena import RoundRobinOptions, round_robin
    game = cellgames.make("torus-small-v0")
    finished = round_robin(game, ["random", "greedy", "trained"], RoundRobinOptions(games=200), out="my_round_robin")

Names are imported when they are first used, so that help texts need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .insight.census.census import Census, census
    from .insight.insight_report import Report, analyse_games
    from .insight.search_analysis import Analysis, analyse
    from .play.free_for_all import FreeForAll, free_for_all
    from .play.match import MatchResult, match
    from .play.match_options import FreeForAllOptions, MatchOptions, RoundRobinOptions
    from .play.round_robin import RoundRobin, round_robin
    from .records.record_lines import Forfeit, Record, RecordError, Result, read_records
    from .records.replays import ReplayError, replay, verify
    from .records.store.store import Store, StoreError
    from .report.leaderboard import Leaderboard, leaderboards
    from .season.schedule import SeasonOptions
    from .season.season import Season, play_season
    from .season.teams import Team, generate_names, read_teams
    from .stats.comparisons import PairResult
    from .stats.cycles import Cycle, cycles
    from .stats.payoffs import NashAverage, Payoffs, alpha_rank, nash, payoffs, payoffs_of
    from .stats.ratings import Ratings, rate, win_probability_interval
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "insight.census.census": ("Census", "census"),
            "insight.insight_report": ("Report", "analyse_games"),
            "insight.search_analysis": ("Analysis", "analyse"),
            "play.free_for_all": ("FreeForAll", "free_for_all"),
            "play.match": ("MatchResult", "match"),
            "play.match_options": ("FreeForAllOptions", "MatchOptions", "RoundRobinOptions"),
            "play.round_robin": ("RoundRobin", "round_robin"),
            "records.record_lines": ("Forfeit", "Record", "RecordError", "Result", "read_records"),
            "records.replays": ("ReplayError", "replay", "verify"),
            "records.store.store": ("Store", "StoreError"),
            "report.leaderboard": ("Leaderboard", "leaderboards"),
            "season.season": ("Season", "play_season"),
            "season.schedule": ("SeasonOptions",),
            "season.teams": ("Team", "generate_names", "read_teams"),
            "stats.comparisons": ("PairResult",),
            "stats.cycles": ("Cycle", "cycles"),
            "stats.payoffs": ("NashAverage", "Payoffs", "alpha_rank", "nash", "payoffs", "payoffs_of"),
            "stats.ratings": ("Ratings", "rate", "win_probability_interval"),
        },
    )

__all__ = [
    "Analysis",
    "Census",
    "Cycle",
    "Forfeit",
    "FreeForAll",
    "FreeForAllOptions",
    "Leaderboard",
    "MatchOptions",
    "MatchResult",
    "NashAverage",
    "PairResult",
    "Payoffs",
    "Ratings",
    "Record",
    "RecordError",
    "ReplayError",
    "Report",
    "Result",
    "RoundRobin",
    "RoundRobinOptions",
    "Season",
    "SeasonOptions",
    "Store",
    "StoreError",
    "Team",
    "alpha_rank",
    "analyse",
    "analyse_games",
    "census",
    "cycles",
    "free_for_all",
    "generate_names",
    "leaderboards",
    "match",
    "nash",
    "payoffs",
    "payoffs_of",
    "play_season",
    "rate",
    "read_records",
    "read_teams",
    "replay",
    "round_robin",
    "verify",
    "win_probability_interval",
]
