"""Climbs: a newcomer plays the rungs of a ladder whose games tell most of its rating, until its place is known.

    run.json          the settings, with the rungs and their ratings
    games.jsonl       one record a game
    report.md, ...    the place, the ladder as a picture, and mistakes by kind of position (`ladder_report.FILES`)

Openings and seeds are the same for every newcomer. The games of a climb do not change the ladder. A climb can go on
with more games or a narrower interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import Agents, by_name
from cellgames.arena.play.match import batch_of, both_seats, load_agents, match_id
from cellgames.arena.play.match_options import LadderOptions
from cellgames.arena.play.rated_runs import FILES, RUN, GamesRun, settings_of
from cellgames.arena.play.tournament import Schedule, Stage
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.records.store.store import AnyStore
from cellgames.arena.stats.comparisons import comparisons
from cellgames.arena.stats.placing import Placing
from cellgames.envs.core import Game
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike
from cellgames.utils.progress import waiting
from cellgames.utils.report.files import write_report

from .ladder_report import FILES as REPORT_FILES
from .ladder_report import Place, ladder_report
from .mistakes import Mistakes, mistakes
from .rungs import Ladder

LADDER = RunKind("climb of a ladder", RUN, (*FILES, *REPORT_FILES), grows=("games",), free=("within",))


@dataclass(frozen=True)
class Climb:
    """A finished climb.

    Attributes:
        out: its folder.
        place: rating, interval and games by rung.
        mistakes: errors by kind of position.
        records: all games, in the order in which they were asked for.
        played: number of them that were played by this call.
        files: all files of the folder that belong to the run.
        notes: sentences on forfeits, thinking time and costs.
    """

    out: Path
    place: Place
    mistakes: tuple[Mistakes, ...]
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]
    notes: tuple[str, ...]


def climb(
    game: Game,
    agents: Agents,
    options: LadderOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> Climb:
    """Place an agent on the ladder of a game, keep the games and write the report; see the module.

    Args:
        game: a game with a ladder (`Ladder.of`).
        agents: the newcomer alone: a spec for `agents.load`, also `NAME=SPEC`, or an agent; or a mapping from its name.
            A rung of the same name is left out.
        options: such as `LadderOptions(games=100)`; None for the defaults.
        out: the folder; created if necessary. A climb in it that is this one, or a shorter one, is continued.
        store: see `round_robin`, as for the errors too.
        progress: see `round_robin`.
        warn: see `round_robin`.

    Raises:
        ValueError: no ladder for this game, more than one newcomer, or an agent that cannot play.
    """
    options, folder = options or LadderOptions(), Path(out).absolute()
    given = by_name(agents)
    if len(given) != 1:
        raise InputError("agents", "one agent, which climbs", len(given))
    (newcomer,) = given
    ladder = Ladder.of(game, options.rungs, warn).without(newcomer)
    options = replace(options, opening_plies=ladder.opening_plies)
    given |= {rung.name: rung.spec for rung in ladder.rungs}
    players = load_agents(game, given)
    ratings = {rung.name: rung.elo for rung in ladder.rungs}
    more: dict[str, Any] = {"newcomer": newcomer, "within": options.within, "ratings": ratings, "tie": ladder.tie}
    settings = settings_of(game, given, options, **more)
    run = GamesRun(game, given, options, settings, RunFolder(folder, LADDER), warn)
    ascent = _Ascent(game, newcomer, ladder, options)
    with run.games(players, store=store, outdated=REPORT_FILES, knows=ascent.knows, progress=progress) as games:
        games.run(ascent.schedule())
        with waiting("Judging moves, and writing the report", shown=progress):
            place = Place(newcomer, ladder, ascent.placing)
            found = mistakes(game, ascent.records, newcomer)
            report = ladder_report(place, settings, ascent.records, found, run.costs(ascent.records))
            files = (*run.files, *write_report(folder, report, warn, outdated=REPORT_FILES))
    notes = tuple(report.data["notes"])
    return Climb(Path(out), place, tuple(found), tuple(ascent.records), games.played, files, notes)


class _Ascent:
    """The schedule of a climb, and what its games tell so far."""

    def __init__(self, game: Game, newcomer: str, ladder: Ladder, options: LadderOptions) -> None:
        self._game, self._newcomer, self._options = game, newcomer, options
        self._rungs = ladder.rungs
        self._matches = {match_id(newcomer, rung.name) for rung in ladder.rungs}
        self._started = [0] * len(ladder.rungs)  # openings of each rung
        self.placing = Placing([rung.elo for rung in ladder.rungs], ladder.tie)
        self.records: list[Record] = []

    def knows(self, pairing: Pairing) -> bool:
        """Return True if the climb may ask for a game."""
        return pairing.match in self._matches and 2 * pairing.opening < self._options.games

    def schedule(self) -> Schedule[Pairing, Record]:
        """Ask for a chunk against the best rung until the place is known."""
        per_chunk = 2 * self._options.chunk
        while not self._ends(per_chunk):
            number = self.placing.best()
            rung, start = self._rungs[number].name, self._started[number]
            openings = range(start, start + self._options.chunk)
            self._started[number] += self._options.chunk
            pair = sorted((self._newcomer, rung))
            seats = self._game.info.num_players
            batch = batch_of(pair, both_seats(pair[0], pair[1], openings, seats, self._options.seed))
            low, high = self.placing.interval
            (games,) = yield Stage([batch], f"{self._newcomer} at {low:.0f} to {high:.0f} Elo, against {rung}")
            self.records += games
            for record in games:
                self.placing.games[number] += points(record, self._newcomer)

    def _ends(self, per_chunk: int) -> bool:
        low, high = self.placing.interval
        ladder = [rung.elo for rung in self._rungs]
        beyond = low > max(ladder) or high < min(ladder)  # further games tell only by how much
        enough = high - low <= 2 * self._options.within
        return beyond or enough or len(self.records) + per_chunk > self._options.games


def points(record: Record, agent: str) -> tuple[float, float, float]:
    """Return the shares of a game that an agent won, drew and lost: of its pairs of seats, where each has several.

    Pairs of seats of one game depend on each other, so together they count as one game. The interval of `placing` stays
    valid: by Hölder's inequality the product of their likelihood ratios to these powers has a mean of at most 1.
    """
    found = [result for result in comparisons(record, 0) if result.outcome != "both_lose"]
    won = sum(result.outcome == ("first" if result.first == agent else "second") for result in found)
    drawn = sum(result.outcome == "draw" for result in found)
    total = max(1, len(found))
    return won / total, drawn / total, (len(found) - won - drawn) / total
