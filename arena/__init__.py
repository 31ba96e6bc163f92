"""Matches between agents and the ratings that follow from them; seasons of teams, and their playoffs.

    from cellgames.arena import RoundRobinOptions, round_robin
    game = cellgames.make("torus-small-v0")
    finished = round_robin(game, ["random", "greedy", "trained"], RoundRobinOptions(games=200), out="my_round_robin")

Names are imported when they are first used, so that help texts need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analyse.report import Report, analyse_games
    from .play.evaluation import evaluate, play_evaluation
    from .play.free_for_all import FreeForAll, free_for_all
    from .play.match import MatchResult, match
    from .play.match_options import FreeForAllOptions, MatchOptions, RoundRobinOptions
    from .play.round_robin import RoundRobin, round_robin
    from .play.scenario_games import ScenarioScore, play_scenario, scenario_game, scenario_score
    from .play.scenarios import SCENARIOS, Scenario, scenarios_of
    from .records.positions import after_moves
    from .records.record_lines import Forfeit, Record, RecordError, Result, read_records
    from .records.replays import ReplayError, replay, verify
    from .records.store.store import Store, StoreError
    from .report.leaderboard import Leaderboard, leaderboards
    from .season.bots import BotUmpire
    from .season.cup import CupUmpire
    from .season.playoffs import Bracket, bracket
    from .season.schedule import SeasonOptions
    from .season.season import AnySeason, Season, SeasonIO, play_season
    from .season.standings import GameResult, standings
    from .season.tables.place_standings import PlaceLine, TableResult, place_standings
    from .season.tables.table_season import TableSeason, play_table_season
    from .season.teams import Team, assign_agents, assign_divisions, generate_names, read_teams
    from .series.series import Series, SeriesRun, play_series
    from .series.series_options import SeriesOptions
    from .stats.comparisons import PairResult
    from .stats.cycles import Cycle, cycles
    from .stats.deviation import (
        DeviationRatings,
        TablePayoffs,
        deviation_ratings,
        game_ratings,
        table_payoffs,
        table_ratings,
    )
    from .stats.meta_solvers import (
        coarse_correlated_equilibrium,
        effective_dimension,
        effective_members,
        meta_strategy,
    )
    from .stats.payoffs import NashAverage, Payoffs, alpha_rank, nash, payoffs, payoffs_of
    from .stats.ratings import Ratings, rate, win_probability_interval
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "analyse.report": ("Report", "analyse_games"),
            "play.evaluation": ("evaluate", "play_evaluation"),
            "play.free_for_all": ("FreeForAll", "free_for_all"),
            "play.match": ("MatchResult", "match"),
            "play.match_options": ("FreeForAllOptions", "MatchOptions", "RoundRobinOptions"),
            "play.round_robin": ("RoundRobin", "round_robin"),
            "play.scenario_games": ("ScenarioScore", "play_scenario", "scenario_game", "scenario_score"),
            "play.scenarios": ("SCENARIOS", "Scenario", "scenarios_of"),
            "records.positions": ("after_moves",),
            "records.record_lines": ("Forfeit", "Record", "RecordError", "Result", "read_records"),
            "records.replays": ("ReplayError", "replay", "verify"),
            "records.store.store": ("Store", "StoreError"),
            "report.leaderboard": ("Leaderboard", "leaderboards"),
            "season.bots": ("BotUmpire",),
            "season.cup": ("CupUmpire",),
            "season.playoffs": ("Bracket", "bracket"),
            "season.schedule": ("SeasonOptions",),
            "season.season": ("AnySeason", "Season", "SeasonIO", "play_season"),
            "season.tables.place_standings": ("PlaceLine", "TableResult", "place_standings"),
            "season.tables.table_season": ("TableSeason", "play_table_season"),
            "season.standings": ("GameResult", "standings"),
            "season.teams": ("Team", "assign_agents", "assign_divisions", "generate_names", "read_teams"),
            "series.series": ("Series", "SeriesRun", "play_series"),
            "series.series_options": ("SeriesOptions",),
            "stats.comparisons": ("PairResult",),
            "stats.cycles": ("Cycle", "cycles"),
            "stats.deviation": (
                "DeviationRatings",
                "TablePayoffs",
                "deviation_ratings",
                "game_ratings",
                "table_payoffs",
                "table_ratings",
            ),
            "stats.meta_solvers": (
                "coarse_correlated_equilibrium",
                "effective_dimension",
                "effective_members",
                "meta_strategy",
            ),
            "stats.payoffs": ("NashAverage", "Payoffs", "alpha_rank", "nash", "payoffs", "payoffs_of"),
            "stats.ratings": ("Ratings", "rate", "win_probability_interval"),
        },
    )

__all__ = [
    "SCENARIOS",
    "AnySeason",
    "BotUmpire",
    "Bracket",
    "CupUmpire",
    "Cycle",
    "DeviationRatings",
    "Forfeit",
    "FreeForAll",
    "FreeForAllOptions",
    "GameResult",
    "Leaderboard",
    "MatchOptions",
    "MatchResult",
    "NashAverage",
    "PairResult",
    "Payoffs",
    "PlaceLine",
    "Ratings",
    "Record",
    "RecordError",
    "ReplayError",
    "Report",
    "Result",
    "RoundRobin",
    "RoundRobinOptions",
    "Scenario",
    "ScenarioScore",
    "Season",
    "SeasonIO",
    "SeasonOptions",
    "Series",
    "SeriesOptions",
    "SeriesRun",
    "Store",
    "StoreError",
    "TablePayoffs",
    "TableResult",
    "TableSeason",
    "Team",
    "after_moves",
    "alpha_rank",
    "analyse_games",
    "assign_agents",
    "assign_divisions",
    "bracket",
    "coarse_correlated_equilibrium",
    "cycles",
    "deviation_ratings",
    "effective_dimension",
    "effective_members",
    "evaluate",
    "free_for_all",
    "game_ratings",
    "generate_names",
    "leaderboards",
    "match",
    "meta_strategy",
    "nash",
    "payoffs",
    "payoffs_of",
    "place_standings",
    "play_evaluation",
    "play_scenario",
    "play_season",
    "play_series",
    "play_table_season",
    "rate",
    "read_records",
    "read_teams",
    "replay",
    "round_robin",
    "scenario_game",
    "scenario_score",
    "scenarios_of",
    "standings",
    "table_payoffs",
    "table_ratings",
    "verify",
    "win_probability_interval",
]
