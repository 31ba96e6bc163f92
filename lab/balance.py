"""The balance of a game: how often each seat wins when an agent plays itself, by strength of play and by options.

Agents of rising strength play themselves, in variants of the game whose options differ. Variants race: the games of one
stop as soon as its interval tells whether the seats are equal, and a variant that is unfair for one agent is not played
by the agents after it. Intervals hold at all times at once, so that looking after every chunk does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play, random_openings
from cellgames.arena.play.match import generator
from cellgames.arena.stats.order import needed_z
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import WIN, Game, seeds
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError
from cellgames.utils.report.model import Column
from cellgames.utils.report.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 0.02
"""By how much the share of a seat may differ from a half where seats are called equal."""

OPTIONS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "cloth-of-gold-v0": {
        "max_units": (3, 5),
        "first_verdict": (1, 3, 4),
        "initial_placement": (False,),
        "win_rule": ("extinction",),
        "neutral_density": (0.1,),
        "neutral_births": (True,),
        "order": ("alternate", "paired", "drawn"),
    },
    "torus-v0": {"size": (3, 4, 5)},
    "hex-v0": {"swap": (False,), "size": (4, 5)},
    "y-v0": {"swap": (False,), "size": (4, 5)},
}
"""Values of options that `variants` tries, by game."""

_FIRST = 800  # games, about where intervals are narrowest


@dataclass(frozen=True)
class Balance:
    """The games of an agent against itself in one variant of a game.

    Attributes:
        game: id of the game or preset.
        options: the options that differ from it, such as "order=drawn"; "" for none.
        added: True if one of them is not on the rule sheet.
        agent: name of the agent.
        margin: see `MARGIN`.
        games: number of games.
        wins: games that the first and the second seat won alone.
        lost: games that both seats lost.
        cut: games that reached a limit of their length.
        length: sum of the lengths, in rounds where a game has them, else in turns.
        last: games that the player won who placed last in the last round; None in games without rounds.
    """

    game: str
    options: str
    added: bool
    agent: str
    margin: float = MARGIN
    games: int = 0
    wins: tuple[int, int] = (0, 0)
    lost: int = 0
    cut: int = 0
    length: int = 0
    last: int | None = None

    @property
    def decided(self) -> int:
        """The number of games with one winner."""
        return sum(self.wins)

    @property
    def share(self) -> float:
        """The share of the first seat in decided games; NaN without any."""
        return self.wins[0] / self.decided if self.decided else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the share; see `interval_at_all_times`."""
        return interval_at_all_times(self.wins[0], self.decided)

    @property
    def verdict(self) -> str:
        """The text "equal" or "unequal" if the interval tells that the seats are, else "open"."""
        (low, high), margin = self.interval, self.margin
        if low >= 0.5 - margin and high <= 0.5 + margin:
            return "equal"
        return "unequal" if low > 0.5 + margin or high < 0.5 - margin else "open"

    def of_games(self, number: float) -> float:
        """Return a number of games, or a sum over them, for each game."""
        return number / max(self.games, 1)


COLUMNS: tuple[Column[Balance], ...] = (
    Column("game", lambda row: row.game, "game"),
    Column("options", lambda row: row.options, "options"),
    Column("added", lambda row: row.added),
    Column("agent", lambda row: row.agent, "agent"),
    Column("games", lambda row: row.games, "games"),
    Column("wins", lambda row: "{}-{}".format(*row.wins), "wins", "s"),
    Column("share", lambda row: row.share, "first seat %", "%"),
    Column("interval", lambda row: row.interval, "interval", "%"),
    Column("verdict", lambda row: row.verdict, "seats"),
    Column("drawn", lambda row: row.of_games(row.games - row.decided - row.lost), "drawn %", "%"),
    Column("lost", lambda row: row.of_games(row.lost), "both lose %", "%"),
    Column("cut", lambda row: row.of_games(row.cut), "cut off %", "%"),
    Column("length", lambda row: row.of_games(row.length), "length", ".1f"),
    Column("last", lambda row: None if row.last is None else row.last / max(row.decided, 1), "last mover %", "%"),
)


def interval_at_all_times(wins: int, games: int) -> tuple[float, float]:
    """Return 95 % bounds of a share of trials that hold after every number of trials at once.

    It is `needed_z` for values between 0 and 1, whose sums are sub-Gaussian with a variance of 1/4 each.
    (Howard and others 2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49)
    """
    if not games:
        return 0.0, 1.0
    half = needed_z(games, _FIRST) / (2 * math.sqrt(games))
    return max(0.0, wins / games - half), min(1.0, wins / games + half)


def variants(options: Mapping[str, Sequence[Any]], together: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the options of each variant: none, then one value at a time, up to `together` options at once."""
    for count in range(together + 1):
        for names in combinations(options, count):
            for values in product(*(options[name] for name in names)):
                yield dict(zip(names, values, strict=True))


def race(
    name: str,
    games: Iterable[tuple[Mapping[str, Any], Game]],
    agents: Sequence[str],
    most: int,
    *,
    margin: float = MARGIN,
    chunk: int = 100,
    seed: int = 0,
    told: Callable[[Balance], None] = lambda row: None,
) -> list[Balance]:
    """Return the balance of variants of a game, those on the rule sheet first; a game alone gets all its games.

    Args:
        name: id of the game or preset.
        games: options that differ from it, and the game with them.
        agents: specifications, the quickest first; each plays itself.
        most: games of each variant and agent, at most.
        margin: see `MARGIN`.
        chunk: number of games between two looks.
        seed: seed of all random numbers.
        told: called with each row when it is complete.
    """
    rows, pairs = [], list(games)
    racing = len(pairs) > 1  # else all games are played
    for options, game in sorted(pairs, key=lambda pair: bool(pair[1].added_parameters & set(pair[0]))):
        if game.info.num_players != 2:
            raise InputError("game", "a game of two players", f"{name}, of {game.info.num_players}")
        teams = [(agent, (load(agent, game), load(agent, game))) for agent in agents]  # before any of them plays
        words = ", ".join(f"{key}={value}" for key, value in options.items())
        for agent, pair in teams:
            row = Balance(name, words, bool(game.added_parameters & set(options)), agent, margin)
            while row.games < most and (not racing or row.verdict == "open"):
                row = _more(game, pair, row, min(chunk, most - row.games), derive(f"balance {row.games}", seed))
            rows.append(row)
            told(row)
            if racing and row.verdict == "unequal":
                break
    return rows


def _more(game: Game, pair: Sequence[AnyAgent], row: Balance, games: int, seed: int) -> Balance:
    """Return the balance with more games."""
    from cellgames.arena.play.evaluation import opening_plies

    plies = 1 if game.parameters.get("swap") else opening_plies(game)  # a swap answers the first move
    opening = random_openings(game, games, plies, generator(seed, "openings")) if plies else None
    chances = [generator(seed, "play", seat) for seat in range(2)]
    played = play(game, pair, torch.tensor([[0, 1]] * games), seeds(seed, games), chances, opening=opening)
    state, won = played.state, game.outcome(played.state) == WIN
    alone = won & (won.sum(1, keepdim=True) == 1)
    length, last = getattr(state, "round", state.turn), row.last
    if isinstance(state, ClothState):
        last = (row.last or 0) + int(alone.gather(1, 1 - state.first[:, None]).sum())
    return replace(
        row,
        games=row.games + games,
        wins=(row.wins[0] + int(alone[:, 0].sum()), row.wins[1] + int(alone[:, 1].sum())),
        lost=row.lost + int((game.outcome(state) < 0).all(1).sum()),
        cut=row.cut + int(state.truncated.sum()),
        length=row.length + int(length.sum()),
        last=last,
    )


def draw_shares(figure: Figure, rows: Sequence[Balance]) -> None:
    """Draw the share of the first seat by variant, with its interval, one colour for each agent."""
    labels = list(dict.fromkeys((row.game, row.options) for row in rows))
    agents = list(dict.fromkeys(row.agent for row in rows))
    figure.set_size_inches(7, 1.2 + 0.28 * len(labels))
    axes = figure.add_subplot()
    for row in rows:
        number = agents.index(row.agent)
        low, high = row.interval
        at = labels.index((row.game, row.options)) + 0.2 * (number - (len(agents) - 1) / 2)
        axes.plot((100 * low, 100 * high), (at, at), color=COLOURS[number % len(COLOURS)], lw=1)
        axes.plot(100 * row.share, at, "o", color=COLOURS[number % len(COLOURS)], ms=4)
    for number, agent in enumerate(agents):
        axes.plot([], [], "o-", color=COLOURS[number % len(COLOURS)], ms=4, lw=1, label=agent)
    axes.axvspan(100 * (0.5 - rows[0].margin), 100 * (0.5 + rows[0].margin), color="#e8e8e8", zorder=0)
    axes.set_yticks(range(len(labels)), [f"{game} {options}".strip() for game, options in labels], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("games that the first seat wins, % of those with a winner")
    axes.legend(fontsize=8)
    figure.tight_layout()
