"""Games that agents play for an analysis of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from cellgames.agents.base import AnyAgent
from cellgames.agents.playouts.random_agent import has_compound_turns
from cellgames.arena.play import free_for_all, match
from cellgames.arena.play.evaluation import play_evaluation
from cellgames.arena.play.match_options import FreeForAllOptions, MatchOptions
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.envs.core import Game
from cellgames.utils.progress import progress


def opening_plies(game: Game) -> int:
    """Return the number of random moves before the agents take over, unless the caller asks for another.

    None where all act at once, where dice make games differ, and where turns are several actions: chance makes no
    turns there.
    """
    many = game.info.simultaneous or game.info.stochastic or has_compound_turns(game)
    return 0 if many else MatchOptions.opening_plies


def play_some(
    game: Game,
    agents: Mapping[str, AnyAgent],
    games: int,
    *,
    seed: int = 0,
    plies: int | None = None,
    shown: bool = False,
) -> list[Record]:
    """Return games of agents with each other; one agent alone plays itself.

    In a game for two each pair plays a match: random openings, each in both seats. In larger ones, and alone, the
    agents take turns on all seats.

    Args:
        game: The game with its parameters.
        agents: One or more agents by name.
        games: Games of each pair in a game for two, an even number; else of all agents.
        seed: Seed that all random draws follow from.
        plies: Random moves before the agents take over; None for `opening_plies`.
        shown: True to report progress on standard error.

    Raises:
        ValueError: A number of games that cannot be played.
    """
    forced = opening_plies(game) if plies is None else plies
    if game.info.num_players == 2 and len(agents) > 1:
        found: list[Record] = []
        for pair in combinations(sorted(agents), 2):
            both = {name: agents[name] for name in pair}
            found += play_evaluation(
                game, both, MatchOptions(games=games, seed=seed, opening_plies=forced), progress=shown
            )
        return found
    options, names = FreeForAllOptions(games=games, seed=seed, opening_plies=forced), sorted(agents)
    tables = match.seatings(len(names), game.info.num_players, games, seed)
    found = []
    with progress(games, label=" against ".join(names), shown=shown) as finished:
        for numbers in options.chunks():
            pairings = [Pairing(free_for_all.MATCH, number, tables[number]) for number in numbers]
            found += match.play_games(game, dict(agents), options, pairings, finished)
    return found
