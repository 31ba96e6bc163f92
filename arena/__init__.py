"""Matches between agents and the ratings that follow from them; seasons of teams, and their playoffs.

    from cellgames.arena import RoundRobinOptions, round_robin
    game = cellgames.make("torus-small-v0")
    finished = round_robin(game, ["random", "greedy", "trained"], RoundRobinOptions(games=200), out="my_round_robin")

Names are imported when they are first used, so that help texts need no torch.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellgames.utils.report.model import Report as Report

    from .analyse.report import analyse_games as analyse_games
    from .ladder.climb import Climb as Climb, Ladder as Ladder, climb as climb
    from .play.evaluation import evaluate as evaluate, play_evaluation as play_evaluation
    from .play.match import MatchResult as MatchResult, match as match
    from .play.match_options import (
        FreeForAllOptions as FreeForAllOptions,
        LadderOptions as LadderOptions,
        MatchOptions as MatchOptions,
        RoundRobinOptions as RoundRobinOptions,
    )
    from .play.rated_runs import (
        FreeForAll as FreeForAll,
        RoundRobin as RoundRobin,
        free_for_all as free_for_all,
        round_robin as round_robin,
    )
    from .records.record_lines import (
        Forfeit as Forfeit,
        Record as Record,
        RecordError as RecordError,
        Result as Result,
        read_records as read_records,
    )
    from .records.replays import (
        ReplayError as ReplayError,
        after_moves as after_moves,
        replay as replay,
        verify as verify,
    )
    from .records.store import Store as Store, StoreError as StoreError
    from .report.leaderboard import Leaderboard as Leaderboard, leaderboards as leaderboards
    from .season.cup import CupUmpire as CupUmpire
    from .season.games import BotUmpire as BotUmpire
    from .season.schedule import SeasonOptions as SeasonOptions
    from .season.season import Season as Season, play_season as play_season
    from .season.standings import (
        Bracket as Bracket,
        GameResult as GameResult,
        bracket as bracket,
        standings as standings,
    )
    from .season.teams import (
        Team as Team,
        assign_agents as assign_agents,
        assign_divisions as assign_divisions,
        generate_names as generate_names,
        read_teams as read_teams,
    )
    from .stats.ratings import PairResult as PairResult
    from .stats.payoffs import (
        Cycle as Cycle,
        NashAverage as NashAverage,
        Payoffs as Payoffs,
        cycles as cycles,
        nash as nash,
        payoffs as payoffs,
        payoffs_of as payoffs_of,
    )
    from .stats.ratings import Ratings as Ratings, rate as rate
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
