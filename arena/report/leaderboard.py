"""Tables of all games in a store, whatever runs they come from; nothing but the store is needed to make them.

Games are kept apart by game and parameters. Within them every pair of agents counts, from all runs, so what is in one
table may come from many days. Three things make that sound:

- An agent whose name has had several identities (`agents.loading`) is several agents, `name@1a2b3c`.
- Games from one start (seed, position, forced moves) are resampled together, in whatever run they were played; two
  runs that number their openings alike do not share them.
- Ratings have one zero: the anchor. Tables of two days compare where they have the same anchor, and as well as games
  with and around the anchor allow: the same agents keep their distances but for chance, and that chance is in the
  intervals. Where games link two agents only by others, their distance leans on the model (transitive strengths).

The files hold nothing but what follows from the games in the store:

    leaderboard.md     what is in the store, and where its tables are
    leaderboard.json   all numbers
    GAME.../           a folder for each game with its parameters, with the files of a round robin
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from cellgames.agents.networks.agent_files import differences, nearest_id
from cellgames.arena.records.store import Setting, Source, Store
from cellgames.arena.stats.payoffs import Cycle, NashAverage, Payoffs, nash
from cellgames.arena.stats.tables import Games, Standing, Tables, alike, make_tables
from cellgames.envs import registry
from cellgames.envs.registry import setting_title
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.errors import InputError, listed, shown
from cellgames.utils.files import PathLike
from cellgames.utils.report.model import Column, Report, Table, escape, write_report

from .rating_tables import cycles_data, notes, rated_report, rating_columns, tables_data

_MANY_AGENTS = 64
_MOST_AGENTS = 200

DATA, PAGE = "leaderboard.json", "leaderboard.md"

ANCHOR = "random"
"""The agent whose rating is 0, if it has played and no other one is asked for."""


@dataclass(frozen=True)
class Leaderboard:
    """All tables of one game with one set of parameters.

    Attributes:
        game: Id of the game, as `cellgames.make` takes it.
        parameters: Its parameters.
        versions: Versions of the package by which the games were played.
        tables: Ratings, cross table and seats.
        notes: Facts that a reader must know, a sentence or two each.
    """

    game: str
    parameters: Mapping[str, Any]
    versions: tuple[str, ...]
    tables: Tables
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """Id that is nearest to the parameters, and what differs from it."""
        return title(self.game, self.parameters)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The agents, best first."""
        return self.tables.standings

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the seats; those of the game would need torch."""
        return tuple(f"seat {number}" for number in range(1, len(self.tables.seats) + 1))

    @property
    def payoffs(self) -> Payoffs:
        """Payoff matrix of the games."""
        return self.tables.payoffs

    @cached_property
    def nash(self) -> NashAverage | None:
        """Nash averaging of the payoffs, without bounds; None without SciPy."""
        try:
            return nash(self.payoffs, draws=0)
        except ImportError:
            return None

    @property
    def cycles(self) -> tuple[Cycle, ...]:
        """Rings of agents that beat each other."""
        return self.payoffs.rings

    @property
    def remarks(self) -> list[str]:
        """The notes, agents that Nash averaging leaves out, and the first rings, for a terminal."""
        out = () if self.nash is None else self.nash.left_out
        left = [f"Left out of Nash averaging, since they have not met all others: {', '.join(out)}."] if out else []
        return [*self.notes, *left, *(f"A ring: {cycle}." for cycle in self.cycles[:5])]

    @cached_property
    def columns(self) -> list[Column[Standing]]:
        """Columns of the ranking, for files, the page and terminals."""
        return rating_columns(self.tables, self.nash)

    def to_data(self) -> dict[str, Any]:
        """Return all numbers as JSON holds them: `agents`, best first, `pairs`, `seats`, `cycles`, `notes`."""
        return {
            "game": self.game,
            "parameters": dict(self.parameters),
            "title": self.title,
            "versions": list(self.versions),
            "players": list(self.players),
            **tables_data(self.tables, self.players, self.columns),
            "cycles": cycles_data(self.cycles),
            "notes": list(self.notes),
        }


def leaderboards(
    store: Store,
    game: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    agents: Collection[str] | None = None,
    anchor: str | None = None,
    version: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Leaderboard]:
    """Return the tables of everything in a store, or of a part of it.

    Args:
        store: An open store.
        game: An id that `cellgames list` shows, also of a preset; None for all games.
        parameters: Values that parameters must have; others may have any.
        agents: Names, with or without identity; only games among these count. None for all.
        anchor: Name, with or without identity, of the agent whose rating is 0. None is `ANCHOR`; if it has not played,
            the mean of all agents is 0.
        version: Version of the package whose games alone count; None for all.
        resamples: For the intervals of ratings, see `ratings.rate`; more than 64 agents get fewer.
        seed: Of the resampling.

    Returns:
        A leaderboard for each game and set of parameters with games of two agents or more, the most games first.

    Raises:
        ValueError: The anchor took part nowhere, or more than 200 agents are to be rated.
    """
    boards, seen = [], set[str]()
    for setting in matching(store.settings(), game, parameters):
        numbers, found = store.numbers(setting.game, setting.parameters)
        seated = {
            key: (record, pairs)
            for key, (record, known) in found.items()
            for pairs in [tuple(zip(record.agents, known, strict=True))]
            if version in (None, record.version) and len({*pairs}) > 1  # different agents
        }
        named = labels(pair for _, pairs in seated.values() for pair in pairs)
        labelled = {
            key: replace(record, agents=tuple(map(named.__getitem__, pairs)))
            for key, (record, pairs) in seated.items()
            if agents is None or all(pair[0] in agents or named[pair] in agents for pair in pairs)
        }
        sizes = Counter(len(record.agents) for record in labelled.values())  # a file may claim any number
        for seats, _ in sizes.most_common(1):
            labelled = {key: record for key, record in labelled.items() if len(record.agents) == seats}
        there = {name for record in labelled.values() for name in record.agents}
        seen.update(there, (name for (name, _), label in named.items() if label in there))
        if len(there) > _MOST_AGENTS:
            expected = f"at most {_MOST_AGENTS} agents to rate"
            raise InputError(title(setting.game, setting.parameters), expected, len(there), "choose some with --agents")
        if labelled:
            games = alike(numbers, labelled)
            zero, said = _anchor(anchor, games)
            # Each resample takes time by the square of the agents and more, so many agents get fewer of them.
            fewer = min(resamples, max(50, resamples * _MANY_AGENTS**2 // max(1, len(there)) ** 2))
            versions = tuple(sorted({record.version for record in labelled.values()}))
            if len(versions) > 1:
                said.append(f"Games of several versions of cellgames count here: {', '.join(versions)}.")
            if alone := sum(version in (None, record.version) for record, _ in found.values()) - len(seated):
                said.append(f"Games of an agent against itself, which do not count: {alone}.")
            made = make_tables(games, anchor=zero, resamples=fewer, seed=seed)
            boards.append(Leaderboard(setting.game, setting.parameters, versions, made, (*said, *notes(made))))
    if anchor is not None and boards and anchor not in seen:
        raise InputError("anchor", f"one of the agents ({listed(sorted(seen))})", shown(anchor))
    return sorted(boards, key=lambda board: (-board.tables.games, board.title))


def matching(settings: Iterable[Setting], game: str | None, parameters: Mapping[str, Any] | None) -> list[Setting]:
    """Return the settings of a game whose parameters agree with those given.

    A preset stands for its parameters, unless others are given, and for all settings that are named after it (`title`).
    """
    given = dict(parameters or {})
    ids, full = {game}, given
    spec = registry.REGISTRY.get(game or "")
    if spec is not None and spec.parameters:
        ids = {known.id for known in registry.REGISTRY.values() if known.plugin.id == spec.plugin.id}
        full = {**spec.parameters, **given}

    def agree(setting: Setting, wanted: Mapping[str, Any]) -> bool:
        return wanted.keys() <= setting.parameters.keys() and not differences(wanted, setting.parameters)

    def named(setting: Setting) -> bool:
        known = setting.game in ids and agree(setting, full)
        return game is None or known or nearest_id(setting.game, setting.parameters)[0] == game

    return [setting for setting in settings if agree(setting, given) and named(setting)]


def labels(agents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the labels of agents in tables by (name, identity): the name if it has one identity, else `name@1a2b3c`.

    An identity in hexadecimal digits is cut where it differs from the others of its name, after six digits at the
    earliest; one that is a version stays whole. An unknown identity is shown as a question mark.
    """
    identities, found = defaultdict[str, set[str]](set), dict[tuple[str, str], str]()
    for name, identity in agents:
        identities[name].add(identity)
    for name, known in identities.items():
        for length in count(6):
            short = {identity: identity if "." in identity else identity[:length] for identity in known}
            if len({*short.values()}) == len(known):
                break
        for identity, digits in short.items():
            found[name, identity] = name if len(known) == 1 else f"{name}@{digits or '?'}"
    return found


def _anchor(anchor: str | None, played: Games) -> tuple[str | None, list[str]]:
    """Return the agent whose rating is 0 in these games, and notes on it."""
    wanted, games = anchor or ANCHOR, Counter[str]()
    for record, number in zip(played.records, played.numbers, strict=True):
        for name in record.agents:
            games[name] += number
    known = sorted((name for name in games if wanted in (name, name.rpartition("@")[0])), key=lambda n: (-games[n], n))
    said = []
    if len(known) > 1:
        said.append(f"{wanted} has had several identities: {', '.join(known)}; {known[0]} is at 0.")
    elif anchor is not None and not known:
        said.append(f"{anchor} has not played here, so the mean of all is 0: not to be compared with other tables.")
    return (known[0] if known else None), said


def title(game: str, parameters: Mapping[str, Any]) -> str:
    """Return the id that is nearest to the parameters, and what differs from it."""
    name, different = nearest_id(game, parameters)
    return " ".join([name, *(f"{key}={value}" for key, value in different.items())])


# ---------------------------------------------------------------- text and files


def overview_table(settings: Sequence[Setting]) -> Table:
    """Return a row for each game with its parameters in a store."""
    rows = [
        (title(setting.game, setting.parameters), setting.games, len(setting.agents), ", ".join(setting.versions))
        for setting in settings
    ]
    return Table("", ("game", "games", "agents", "versions"), rows)


def to_data(boards: Sequence[Leaderboard], sources: Sequence[Source]) -> dict[str, Any]:
    """Return all numbers, as JSON holds them."""
    return {
        "games": sum(board.tables.games for board in boards),
        "leaderboards": [board.to_data() for board in boards],
        "sources": [{"kind": source.kind, "place": source.place, "games": source.games} for source in sources],
    }


def folder_name(board: Leaderboard) -> str:
    """Return a name that a shell and a file system take."""
    name = "".join(c if c.isalnum() or c in "=._-" else "_" for c in board.title.replace(" ", "-"))
    return name.strip(".") or "_"  # a record may call its game anything, also ".."


def write_leaderboards(
    folder: PathLike,
    boards: Sequence[Leaderboard],
    *,
    sources: Sequence[Source] = (),
    warn: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write all leaderboards into a folder.

    Args:
        folder: Made if it is missing; empty, or with leaderboards written before.
        boards: What to write.
        sources: Where its games came from.
        warn: Gets a line if there are no plots, since matplotlib is missing.

    Returns:
        The pages.

    Raises:
        RunError: The folder holds something else.
    """
    folder, pages = Path(folder), []
    folder.mkdir(parents=True, exist_ok=True)
    RunFolder(folder, RunKind("leaderboard", DATA)).refuse_foreign()
    for board in boards:
        report, own = _report(board), folder / folder_name(board)
        write_report(own, report, warn)
        pages.append(own / report.page_file)
    rows = [(b.title, b.tables.games, len(b.tables.agents), b.standings[0].agent) for b in boards]
    links = [f"- [{escape(b.title)}]({folder_name(b)}/{page.name})" for b, page in zip(boards, pages, strict=True)]
    overview = Table("", ("game", "games", "agents", "best"), rows, text=("game", "best"))
    parts = (f"{sum(board.tables.games for board in boards)} games.", overview, "\n".join(links))
    write_report(folder, Report("Leaderboards", parts, to_data(boards, sources), page_file=PAGE, data_file=DATA))
    return [folder / PAGE, *pages]


def _report(board: Leaderboard) -> Report:
    """Return the report of one leaderboard."""
    tables, subject = board.tables, setting_title(board.game, board.parameters)
    parameters = ", ".join(f"{name}={value}" for name, value in board.parameters.items())
    played = f"{tables.games} games, {tables.distinct} different, by cellgames {', '.join(board.versions)}"
    title, lead = f"Leaderboard: {escape(board.title)}", [escape(f"{parameters}. {played}.")]
    return rated_report(
        title, lead, tables, board.players, board.columns, board.notes, simultaneous=True, subject=subject
    )
