"""Climbs: a newcomer plays the rungs of a ladder whose games tell most of its rating, until its place is known.

    run.json          the settings, with the rungs and their ratings
    games.jsonl       one record a game
    report.md, ...    the place, the ladder as a picture, and mistakes by kind of position (`_FILES`)

Openings and seeds are the same for every newcomer. The games of a climb do not change the ladder. A climb can go on
with more games or a narrower interval.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.agent_specs import Agents, by_name
from cellgames.agents.base import acting
from cellgames.agents.loading import identities, load
from cellgames.agents.play_loop import parse_move
from cellgames.arena.play.match import batch_of, both_seats, load_agents, match_id
from cellgames.arena.play.match_options import LadderOptions
from cellgames.arena.play.rated_runs import FILES, RUN, GamesRun, settings_of
from cellgames.arena.play.tournament import Schedule, Stage
from cellgames.arena.records.record_lines import Pairing, Record, plain
from cellgames.arena.records.replays import replay
from cellgames.arena.records.store import AnyStore
from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.stats.ratings import ELO_PER_LOG, comparisons, outcome_probabilities
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.envs.core import Game
from cellgames.envs.registry import as_game, setting_title
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.errors import InputError, clipped, listed, shown
from cellgames.utils.files import PathLike
from cellgames.utils.progress import waiting
from cellgames.utils.report.model import (
    Column,
    Part,
    Plot,
    Report,
    Section,
    Table,
    escape,
    people_table,
    row_data,
    write_report,
)
from cellgames.utils.report.plots import Dot, dots
from cellgames.utils.statistics import FloatArray, wilson_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEYOND = 600.0
"""Elo points that the grid reaches beyond the lowest and the highest opponent."""

LEVEL = 0.95
"""Chance that the interval contains the true rating, however often one looks."""

_STEP = 2.0  # Elo points of the grid
_ALIKE = 0.7  # share of the most information at which an opponent with fewer games is chosen


class Placing:
    """The rating of a newcomer among agents whose ratings are known, and the opponent whose games tell most of it.

    The model is that of `ratings`, with the ratings of the opponents and nu known, so the likelihood L is a function of
    one number, the newcomer's rating r. The prior pi is uniform on the ratings from `BEYOND` points below the lowest
    opponent to the same number above the highest one. The estimate is the mean of the posterior. The interval holds at
    all times at once:

        { r : L(r) >= (1 - level) * integral of L over pi }

    The true rating lies in it at every look with a chance of at least `level`, whatever the opponents were chosen by
    and whenever one stops. This is the method of mixtures (Robbins 1970, "Statistical Methods Related to the Law of the
    Iterated Logarithm", Annals of Mathematical Statistics 41): under the true rating the ratio of the integral to L is
    a martingale, which exceeds 1 / (1 - level) with a chance of at most 1 - level (Ville's inequality).

    Letters: `K` opponents, `G` ratings of the grid.

    Args:
        elo: ratings of the opponents, [K].
        tie: Davidson's nu.

    Attributes:
        games: float64 [K, 3], games that the newcomer won, drew and lost against each opponent.
    """

    def __init__(self, elo: Sequence[float], tie: float) -> None:
        rated = np.array(elo, dtype=np.float64)
        self.games = np.zeros((len(rated), 3))
        self._grid = np.arange(rated.min() - BEYOND, rated.max() + BEYOND + _STEP, _STEP)
        apart = (self._grid[:, None] - rated) / ELO_PER_LOG  # [G, K]
        win, loss, draw, _ = outcome_probabilities(apart, np.array(tie))
        self._chances = np.stack([win, draw, loss], axis=-1)  # [G, K, 3]
        self._logs = np.log(np.maximum(self._chances, 1e-300))

    @property
    def _likelihood(self) -> FloatArray:
        """Return the likelihood at each rating of the grid, [G], the largest being 1."""
        log = (self._logs * self.games).sum(axis=(1, 2))
        return np.asarray(np.exp(log - log.max()))

    @property
    def elo(self) -> float:
        """The estimate of the rating."""
        weight = self._likelihood
        return float(weight @ self._grid / weight.sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest rating that the games allow; the ends of the grid stand for all beyond."""
        likelihood = self._likelihood
        inside = self._grid[likelihood >= (1 - LEVEL) * likelihood.mean()]
        return float(inside[0]), float(inside[-1])

    def best(self) -> int:
        """Return the opponent to play next.

        It is among those whose next game tells much of the rating (mutual information, at least `_ALIKE` of the most),
        and of these the one with the fewest games, so that a place does not hang on how one style fares against
        another: ratings are not quite transitive.
        """
        weight = self._likelihood / self._likelihood.sum()
        expected = np.einsum("g,gkc->kc", weight, self._chances)
        told = _entropy(expected) - weight @ _entropy(self._chances)  # [K]
        near = np.flatnonzero(told >= _ALIKE * told.max())
        played = self.games.sum(axis=1)
        return int(min(near, key=lambda k: (played[k], -told[k])))


def _entropy(chances: FloatArray) -> FloatArray:
    return np.asarray(-(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=-1))


FOLDER = Path(__file__).parent / "calibrations"
"""The calibrations of the package: what `benchmarks.arena.ladder` keeps of a round robin, by the game's id."""

RATINGS = "ratings.json"


@dataclass(frozen=True)
class Rung:
    """An agent of a ladder.

    Attributes:
        name: name in records.
        spec: as `agents.load` takes it.
        elo: rating.
        low: lower bound of its 95 % interval.
        high: upper bound.
    """

    name: str
    spec: str
    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Ladder:
    """The agents of a game by which others are measured.

    Attributes:
        rungs: the agents, weakest first.
        tie: Davidson's nu of their games.
        opening_plies: random moves before the agents moved, as in the games of a climb.
        source: where the ratings come from.
    """

    rungs: tuple[Rung, ...]
    tie: float
    opening_plies: int
    source: str

    @classmethod
    def of(cls, game: Game, place: PathLike | None = None, warn: Callable[[str], None] = lambda line: None) -> Ladder:
        """Return the ladder of a game.

        Args:
            game: the game.
            place: folder of a finished round robin of the game, whose agents are the rungs; None for the package's.
            warn: gets a line if a rung has changed since it was rated.

        Raises:
            ValueError: a game without a ladder, or the folder holds no ratings of it.
        """
        for path in sorted(FOLDER.glob("*.json")) if place is None else [Path(place) / RATINGS]:
            found = _read(path)
            run, source = found["run"], path.stem if place is None else str(place)
            if (run["game"], run["parameters"]) != (game.id, plain(game.parameters)):
                continue
            rows, specs = sorted(found["agents"], key=lambda row: (row["elo"], row["agent"])), run.get("specs", {})
            bounds = [[row[bound] - rows[0]["elo"] for bound in ("elo", "elo_low", "elo_high")] for row in rows]
            names = [row["agent"] for row in rows]
            rungs = [Rung(name, specs.get(name, name), *elo) for name, elo in zip(names, bounds, strict=True)]
            now, known = identities({rung.name: rung.spec for rung in rungs}, game), run.get("identities", {})
            if changed := [name for name, identity in now.items() if identity != known.get(name, identity)]:
                other = f"not the same as when the ladder {source} was rated, so places may be off"
                warn(f"{', '.join(changed)}: {other}")
            return cls(tuple(rungs), found["tie"], run["opening_plies"], source)
        got = f"{game.id} with {json.dumps(plain(game.parameters))}"
        if place is not None:
            raise InputError("rungs", f"a round robin of {got}", str(place))
        ids = listed([path.stem for path in sorted(FOLDER.glob("*.json"))])
        cause = "a round robin of your own makes one: --rungs DIR"
        raise InputError("game", f"one with a ladder ({ids})", got, cause)


def _read(path: Path) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in ("run", "agents", "tie")}
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise InputError(
            "rungs", "the folder of a finished round robin", shown(str(path)), clipped(repr(error))
        ) from None


_FILES = ("report.md", "report.json", "ladder.png", "ladder.svg")


@dataclass(frozen=True)
class Place:
    """The place of a newcomer on a ladder.

    Attributes:
        newcomer: its name.
        ladder: the ladder.
        placing: its rating, and its games against each rung.
    """

    newcomer: str
    ladder: Ladder
    placing: Placing

    @property
    def sentence(self) -> str:
        """The rating with its interval, and the rungs below and above it."""
        (low, high), rungs = self.placing.interval, self.ladder.rungs
        below = [rung.name for rung in rungs if rung.elo < low][-1:]
        above = [rung.name for rung in rungs if rung.elo > high][:1]
        sure = [*(f"above {name}" for name in below), *(f"below {name}" for name in above)]
        place = sum(rung.elo < self.placing.elo for rung in rungs)
        beyond = "at least " * (low > rungs[-1].elo) + "at most " * (high < rungs[0].elo)
        bound = {"at least ": low, "at most ": high}.get(beyond, self.placing.elo)
        return (
            f"{self.newcomer}: {beyond}{bound:.0f} Elo (95 % interval {low:.0f} to {high:.0f}), above {place} of "
            f"{len(rungs)} rungs; certainly {' and '.join(sure) or 'nothing yet'}."
        )


_Row: TypeAlias = tuple[Rung, Sequence[float]]
"""A rung or the newcomer, and the games that the newcomer won, drew and lost against it."""


def _rows(place: Place) -> list[_Row]:
    """Return the rungs and the newcomer, strongest first."""
    rows: list[_Row] = list(zip(place.ladder.rungs, place.placing.games.tolist(), strict=True))
    rows.append((Rung(place.newcomer, "", place.placing.elo, *place.placing.interval), (0, 0, 0)))
    return sorted(rows, key=lambda row: -row[0].elo)


def _score(row: _Row) -> float | None:
    (won, drawn, _), games = row[1], sum(row[1])
    return (won + drawn / 2) / games if games else None


_LADDER: tuple[Column[_Row], ...] = (
    Column("agent", lambda row: row[0].name, "agent"),
    Column("elo", lambda row: row[0].elo, "Elo", ".0f"),
    Column("", lambda row: (row[0].low, row[0].high), "95 % interval", ".0f"),
    Column("games", lambda row: round(sum(row[1])) or None, "games"),
    Column("score", _score, "newcomer's score %", "%"),
)

MISTAKES: tuple[Column[Mistakes], ...] = (
    Column("kind", lambda found: found.kind, "position"),
    Column("moves", lambda found: found.moves, "moves"),
    Column("errors", lambda found: found.errors, "errors"),
    Column("share", lambda found: found.errors / found.moves, "errors %", "%"),
    Column("", lambda found: wilson_interval(found.errors / found.moves, found.moves), "95 % interval, %", "%"),
)
"""Columns of the errors of the newcomer by kind of position."""


def ladder_table(place: Place) -> Table:
    """Return the ladder with the newcomer, strongest first."""
    return people_table(_LADDER, _rows(place))


def ladder_report(
    place: Place, run: Mapping[str, Any], records: Sequence[Record], found: Sequence[Mistakes], more: Sequence[str] = ()
) -> Report:
    """Return the report of a climb."""
    notes = [*more, *forfeit_notes(forfeits(records)), *thinking_notes(thinking(records))]
    parameters = ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    plies, source = run["opening_plies"], place.ladder.source
    settings = (
        f"{parameters}; {len(records)} games against rungs of the ladder {source}, from random openings of {plies} "
        f"plies, each played in both seats, until the interval reached {run['within']:g} Elo to each side, lay beyond "
        f"all rungs, or {run['games']} games were played; seed {run['seed']}; cellgames {run['version']}."
    )
    explained = (
        "The interval holds however often one looks, and whichever rungs are played. It takes the ratings of the rungs "
        "as known; their own intervals come from the round robin by which they were rated. 0 Elo is the lowest rung."
    )
    kinds = (
        "Positions in which the newcomer could win or save the game, and its moves that did not. `won` are positions "
        "that a solver knows to be won; those that it does not decide at once are left out."
    )

    def draw(figure: Figure) -> None:
        rungs = [rung for rung, _ in _rows(place)]
        rows = [Dot(rung.name, rung.elo, rung.low, rung.high, note=f"{rung.elo:.0f}") for rung in rungs]
        axis = "Elo (lowest rung = 0), bars: 95 % interval"
        dots(figure, "Place on the ladder", rows, axis, "Elo", place.newcomer, shares=False)

    sections = [Section("The ladder", (ladder_table(place), explained, Plot("ladder", "", draw, "The ladder")))]
    if found:
        sections.append(Section("Mistakes by kind of position", (kinds, people_table(MISTAKES, found))))
    data = {
        "run": dict(run),
        "agent": place.newcomer,
        "elo": round(place.placing.elo, 1),
        "interval": place.placing.interval,
        "games": len(records),
        "ladder": [row_data(_LADDER, row) for row in _rows(place)],
        "mistakes": [row_data(MISTAKES, kind) for kind in found],
        "notes": notes,
    }
    parts: list[Part] = [escape(place.sentence), settings, *map(escape, notes), *sections]
    subject = setting_title(run["game"], run["parameters"])
    return Report(f"{place.newcomer} on the ladder of {run['game']}", parts, data, subject=subject)


LADDER = RunKind("climb of a ladder", RUN, (*FILES, *_FILES), grows=("games",), free=("within",))


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
    game: Game | str,
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
        game: a game with a ladder (`Ladder.of`); or its id.
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
    game, options, folder = as_game(game), options or LadderOptions(), Path(out).absolute()
    given = by_name(agents)
    if len(given) != 1:
        raise InputError("agents", "one agent, which climbs", len(given))
    (newcomer,) = given
    ladder = Ladder.of(game, options.rungs, warn)
    ladder = replace(ladder, rungs=tuple(rung for rung in ladder.rungs if rung.name != newcomer))
    options = replace(options, opening_plies=ladder.opening_plies)
    given |= {rung.name: rung.spec for rung in ladder.rungs}
    players = load_agents(game, given)
    ratings = {rung.name: rung.elo for rung in ladder.rungs}
    more: dict[str, Any] = {"newcomer": newcomer, "within": options.within, "ratings": ratings, "tie": ladder.tie}
    settings = settings_of(game, given, options, **more)
    run = GamesRun(game, given, options, settings, RunFolder(folder, LADDER), warn)
    placing, records = Placing([*ratings.values()], ladder.tie), list[Record]()
    matches = {match_id(newcomer, name) for name in ratings}

    def knows(pairing: Pairing) -> bool:
        return pairing.match in matches and 2 * pairing.opening < options.games

    def schedule() -> Schedule[Pairing, Record]:
        started = Counter[str]()  # openings of each rung
        while not _ends(placing, ladder, options, len(records)):
            number = placing.best()
            rung = ladder.rungs[number].name
            count = min(options.chunk, (options.games - len(records)) // 2)
            openings = range(started[rung], started[rung] + count)
            started[rung] += count
            pair = sorted((newcomer, rung))
            batch = batch_of(pair, both_seats(pair[0], pair[1], openings, game.info.num_players, options.seed))
            low, high = placing.interval
            (games,) = yield Stage([batch], f"{newcomer} at {low:.0f} to {high:.0f} Elo, against {rung}")
            records.extend(games)
            for record in games:
                placing.games[number] += points(record, newcomer)

    with run.games(players, store=store, outdated=_FILES, knows=knows, progress=progress) as games:
        games.run(schedule())
        with waiting("Judging moves, and writing the report", shown=progress):
            place, found = Place(newcomer, ladder, placing), mistakes(game, records, newcomer)
            report = ladder_report(place, settings, records, found, run.costs(records))
            files = (*run.files, *write_report(folder, report, warn, outdated=_FILES))
    notes = tuple(report.data["notes"])
    return Climb(Path(out), place, tuple(found), tuple(records), games.played, files, notes)


def _ends(placing: Placing, ladder: Ladder, options: LadderOptions, games: int) -> bool:
    """Return True if the place is known well enough, or all games are played."""
    (low, high), elo = placing.interval, [rung.elo for rung in ladder.rungs]
    beyond = low > max(elo) or high < min(elo)  # further games tell only by how much
    return beyond or high - low <= 2 * options.within or games >= options.games


def points(record: Record, agent: str) -> tuple[float, float, float]:
    """Return the shares of a game that an agent won, drew and lost: of its pairs of seats, where each has several.

    Pairs of seats of one game depend on each other, so together they count as one game. The interval of `Placing` stays
    valid: by Hölder's inequality the product of their likelihood ratios to these powers has a mean of at most 1.
    """
    found = [result for result in comparisons(record, 0) if result.outcome != "both_lose"]
    won = sum(result.outcome == ("first" if result.first == agent else "second") for result in found)
    drawn = sum(result.outcome == "draw" for result in found)
    total = max(1, len(found))
    return won / total, drawn / total, (len(found) - won - drawn) / total


WIN, THREAT, SOLVED = "a win with the next move", "the opponent threatens to win", "won, {} third of the game"

_NODES = 1_000  # searched for the winner of a position, some milliseconds
_THIRDS = ("first", "second", "last")


@dataclass(frozen=True)
class Mistakes:
    """Moves in positions of a kind.

    Attributes:
        kind: the kind in words.
        moves: number of moves in positions of this kind that the agent could still win or save.
        errors: number of those that missed the win, or let the opponent win.
    """

    kind: str
    moves: int
    errors: int


def mistakes(game: Game, records: Sequence[Record], agent: str) -> list[Mistakes]:
    """Return the mistakes of an agent in its own moves; none in games that give no quick answers."""
    if game.info.simultaneous or not game.info.perfect_information or game.info.stochastic:
        return []
    played = [
        (state, int(parse_move(game, move)), turn / len(record.moves))
        for record in records
        for turn, (move, state) in enumerate(zip(record.moves, replay(record), strict=False))
        if turn >= record.opening and record.agents[int(state.current_player)] == agent
    ]
    if not played or game.winning_actions(played[0][0]) is None:
        return []
    kinds = [WIN, THREAT, *(SOLVED.format(third) for third in _THIRDS)]
    moves, errors = Counter[str](), Counter[str]()
    for kind, wrong in _judged(game, played):
        moves[kind] += 1
        errors[kind] += wrong
    return [Mistakes(kind, moves[kind], errors[kind]) for kind in kinds if moves[kind]]


def _judged(game: Game, played: Sequence[tuple[Any, int, float]]) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each position that could be won or saved, and True if the move did not.

    Args:
        game: the rules.
        played: for each move the position before it, a batch of one, the action, and when it was, from 0 to 1.
    """
    before = type(played[0][0]).cat([state for state, _, _ in played])
    actions = torch.tensor([action for _, action, _ in played])
    winning, legal, defending = game.winning_actions(before), game.legal_actions(before), game.defending_actions(before)
    assert winning is not None
    at_once = winning.any(1)
    pressed = torch.zeros_like(at_once) if defending is None else defending.any(1) & (defending != legal).any(1)
    solver = _solver(game)
    values = _values(solver, before, ~at_once)
    missed = at_once & ~winning.gather(1, actions[:, None]).squeeze(1)
    left = -_values(solver, game.step(before, actions), missed | ((values == 1) & ~pressed))
    for row, (_, action, when) in enumerate(played):
        if at_once[row]:
            yield WIN, bool(missed[row] and left[row] < 1)  # a move that wins later is no error
        elif defending is not None and pressed[row] and values[row] >= 0:
            yield THREAT, not defending[row, action]
        elif left[row]:
            yield SOLVED.format(_THIRDS[int(3 * when)]), bool(left[row] == -1)


def _solver(game: Game) -> Any:
    """Return the agent that knows who wins, None where a game is not solved."""
    try:
        found = acting(load("perfect", game), game)
    except ValueError:
        return None
    found.start(game, torch.zeros(1, dtype=torch.int64, device="cpu"), torch.zeros(1, dtype=torch.int64, device="cpu"))
    return found


def _values(solver: Any, states: Any, wanted: Tensor) -> Tensor:
    """Return 1 where the player to move wins, -1 where it loses, 0 where that is open or not wanted, int64 [L]."""
    values, rows = torch.zeros_like(wanted, dtype=torch.int64), (wanted & ~states.done).nonzero().squeeze(1)
    if solver is not None and len(rows):
        values[rows] = solver.values(states[rows], _NODES).long()
    return values
