"""Series of Grid Adaptation matches, in a folder from which a killed run can be continued.

    series.json       the settings, written first
    games.jsonl       one record a match, appended batch by batch (`play.tournament`)
    standings.json    all series: matches, gifts, and the players in their final order
    report.md         a summary

The series of a chunk play their matches together: the first of each, then the second, and so on. Everything follows
from the settings, so a continued run plays only what is missing, and its files are the same, byte for byte. Seats are
drawn for each match. The rules are in `series_rules`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.agent_names import Agents, by_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match_options import SeriesOptions
from cellgames.arena.play.tournament import Batch, Schedule, Stage, Tournament
from cellgames.arena.records.checksums import finish, plain
from cellgames.arena.records.record_lines import FORFEIT_LOG, RECORDS
from cellgames.arena.records.store.store import AnyStore
from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.season.bots import AgentUmpire, played_game
from cellgames.arena.season.games import Fixture, Played, UmpirePlayer, feeding_games
from cellgames.arena.season.season_reports import to_text
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.envs.core import Game
from cellgames.envs.core.errors import brief
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.runs.comparing import ANSWERS
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.progress import waiting
from cellgames.utils.report.files import write_report
from cellgames.utils.version import __version__

from .series_report import series_report
from .series_rules import GIVERS, Contestant, MatchEnd, Series, after_match, agents_gifts, final_order


def _begun(game: GridAdaptation, starts: GridState) -> GridAdaptation:
    """Return the match as one that gives these states first, and then, like all copies by `replace`, new ones."""
    begun, left = copy(game), [starts]
    object.__setattr__(begun, "_init", lambda seeds: left.pop() if left else game._init(seeds))
    return begun


def _starts(game: GridAdaptation, seeds: Tensor, held: Sequence[Sequence[int]]) -> GridState:
    """Return new matches, int64 [B] seeds, whose players hold these garnets, [B][P]."""
    garnets = torch.tensor(held, device=seeds.device)
    return game.init(seeds).replace(garnets=garnets.t().contiguous().t())  # matches innermost


class SeriesUmpire(AgentUmpire):
    """An umpire for the matches of series (`season.games.Umpire`); a game's number is that of its series.

    Args:
        game: the match with all players.
        agents: specs for `agents.load`, or agents, by the names that records have.
        players: the agent's name of each player. Agents are loaded for matches of each number of players from 2 on.
        time_control: the limits of thinking, None without any.

    Attributes:
        held: the garnets by seat at the start of a match, before it is played or read.

    Raises:
        ValueError: an agent that cannot be loaded for a match of one of these numbers of players.
    """

    def __init__(
        self,
        game: GridAdaptation,
        agents: Mapping[str, str | AnyAgent],
        players: Mapping[str, str],
        time_control: TimeControl | None = None,
    ) -> None:
        self.chunk = 1  # not used: a series asks for its batches itself
        super().__init__(players, identities(agents, game), time_control)
        self.game, self.held = game, dict[Fixture, tuple[int, ...]]()
        self._games = {count: replace(game, players=count) for count in range(2, game.players + 1)}
        self.agents = {
            count: {
                name: load(agent, match, name=name) if isinstance(agent, str) else agent
                for name, agent in agents.items()
            }
            for count, match in self._games.items()
        }

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {"game": self.game.id, "parameters": plain(self.game.parameters)}

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; all matches have the same number of players."""
        count = len(fixtures[0].teams)
        game, held = self._games[count], [self.held[fixture] for fixture in fixtures]
        starts = _starts(game, self.seeds(fixtures, seed), held)
        records = self.play_together(_begun(game, starts), self.agents[count], fixtures, seed, finished)
        return [
            played_game(fixture, replace(record, position=game.state_to_string(starts[place])))
            for place, (fixture, record) in enumerate(zip(fixtures, records, strict=True))
        ]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        game = self._games[len(fixture.teams)]
        start = _starts(game, self.seeds([fixture], seed), [self.held[fixture]])
        return self.read_game(game, fixture, seed, line, position=game.state_to_string(start))


SERIES, STANDINGS = "series.json", "standings.json"
_FILES = (RECORDS, FORFEIT_LOG, STANDINGS, "report.md")
_SERIES = RunKind("run of series", SERIES, (*_FILES, ANSWERS))


@dataclass(frozen=True)
class SeriesRun:
    """Series that are over, and the folder that holds them.

    Attributes:
        out: the folder.
        players: the agent of each player, by name.
        series: all of them.
        games: matches in all.
        played: matches of this call.
        files: files of the folder.
        notes: sentences on the time of agents' moves, and on forfeited matches.
    """

    out: Path
    players: Mapping[str, str]
    series: tuple[Series, ...]
    games: int
    played: int
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def play_series(
    game: Game,
    agents: Agents,
    options: SeriesOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> SeriesRun:
    """Play series of matches, keep the games and write the tables; see the module, and `round_robin` for errors.

    Args:
        game: Grid Adaptation with all players of a series, such as eight.
        agents: specs for `agents.load`, also `NAME=SPEC`, or agents; or a mapping from names to them. They are the
            players in turn; an agent of several players has a number behind its name.
        options: such as `SeriesOptions(series=10, gifts="second")`; None for the defaults.
        out: the folder; created if necessary. This run is continued if the folder holds a part of it.
        store: gets the games too (`store.Store`).
        progress: True to report on standard error.
        warn: gets a line for each thing left out, such as a torn line.

    Raises:
        ValueError: another game, no agent, more agents than players, or one that cannot be loaded.
    """
    options, folder = options or SeriesOptions(), Path(out).absolute()
    if not isinstance(game, GridAdaptation):
        raise InputError("game", "Grid Adaptation, whose matches name who leaves", game.id)
    named = by_name(agents)
    if not 1 <= len(named) <= game.players:
        raise InputError("agents", f"1 to {game.players} agents for {game.players} players", len(named))
    players = _players(list(named), game.players)
    most = game.players - 1 if options.matches is None else min(options.matches, game.players - 1)
    umpire = SeriesUmpire(game, named, players, options.time_control)
    settings = _settings(umpire, named, options)
    place, player, found = RunFolder(folder, _SERIES), UmpirePlayer(umpire, options.seed), list[Series]()
    with place, feeding_games(store, "series", folder, umpire, warn) as (keep, noted):
        with show_progress(options.series * most, label="series", unit="matches", shown=progress) as finished:
            games = Tournament(player, place, settings, options.resume, keep=keep, warn=warn)
            games.each = lambda batch, played, new: finished(len(batch.games))
            games.run(_Course(umpire, options, most, warn).games(found))
        write_atomic(folder / STANDINGS, to_text({"series": [_series_data(one) for one in found]}))
        notes = (*thinking_notes(thinking(noted)), *forfeit_notes(forfeits(noted, complete=False)))
        with waiting("Writing the report", shown=progress):
            write_report(folder, series_report(settings, found, players, notes), warn)
        data = {name: (folder / name).read_bytes() for name in (RECORDS, STANDINGS)}
        place.write(finish(settings, data))
    paths = tuple(folder / name for name in (SERIES, *_FILES) if (folder / name).exists())
    return SeriesRun(Path(out), players, tuple(found), games.games, games.played, paths, notes)


def _players(agents: Sequence[str], count: int) -> dict[str, str]:
    """Return the agent of each player; an agent of several players has numbers."""
    chosen = list(islice(cycle(agents), count))
    numbers = {agent: iter(range(1, count + 1)) for agent in agents}
    return {agent if chosen.count(agent) == 1 else f"{agent} {next(numbers[agent])}": agent for agent in chosen}


def _settings(umpire: SeriesUmpire, named: Mapping[str, str | AnyAgent], options: SeriesOptions) -> dict[str, Any]:
    specs = {name: agent for name, agent in named.items() if isinstance(agent, str) and agent != name}
    limits = options.time_control
    return {
        **umpire.settings,
        "players": dict(umpire.names),
        **{name: getattr(options, name) for name in ("series", "matches", "gifts", "chunk")},
        **({} if limits is None else {"time_control": str(limits)}),
        "seed": options.seed,
        "version": __version__,
        "identities": dict(umpire.identities),
        **({"specs": specs} if specs else {}),
    }


@dataclass(frozen=True)
class _Course:
    """The course of the series of a run."""

    umpire: SeriesUmpire
    options: SeriesOptions
    most: int
    warn: Callable[[str], None]

    def games(self, found: list[Series]) -> Schedule[Fixture, Played]:
        """Ask for all matches, those of the series of a chunk together; add the series that are over."""
        for start in range(1, 1 + self.options.series, self.options.chunk):
            yield from self._together(range(start, min(start + self.options.chunk, 1 + self.options.series)), found)

    def _together(self, numbers: Sequence[int], found: list[Series]) -> Schedule[Fixture, Played]:
        """Ask for the matches of some series, match by match."""
        start = {name: Contestant(name, self.umpire.game.starting_garnets) for name in self.umpire.names}
        contestants, going = {number: dict(start) for number in numbers}, list(numbers)
        matches: dict[int, list[MatchEnd]] = {number: [] for number in numbers}
        for match in range(1, self.most + 1):
            groups: dict[int, list[Fixture]] = {}
            for number in going:  # several leave a match that they forfeit together, so numbers of players may differ
                staying = [name for name, one in contestants[number].items() if not one.left]
                self._chance("seats", number, match).shuffle(staying)
                fixture = Fixture(f"match {match}", number, tuple(staying))
                self.umpire.held[fixture] = tuple(contestants[number][name].garnets for name in staying)
                groups.setdefault(len(staying), []).append(fixture)
            batches = [Batch(f"match {match}", tuple(fixtures)) for fixtures in groups.values()]
            for played in chain.from_iterable((yield Stage(batches)) if batches else ()):
                number, end = played.fixture.game, _end_of(match, played, self.umpire.held[played.fixture])
                contestants[number], end = self._after(contestants[number], end, number)
                matches[number].append(end)
            going = [number for number in going if len(matches[number][-1].staying) > 1]
        for number in numbers:
            order = final_order(contestants[number], self._chance("order", number, 0))
            found.append(Series(number, tuple(matches[number]), tuple(order)))

    def _after(
        self, contestants: Mapping[str, Contestant], end: MatchEnd, number: int
    ) -> tuple[dict[str, Contestant], MatchEnd]:
        """Return the players after a match, and the match with its gifts; impossible gifts of agents are left out."""
        chance = self._chance("gifts", number, end.number)
        if self.options.gifts != "agents":
            return after_match(contestants, end, GIVERS[self.options.gifts], chance)
        try:
            names, agents = self.umpire.names, self.umpire.agents[len(end.players)]
            return after_match(contestants, end, agents_gifts({p: agents[names[p]] for p in end.players}), chance)
        except Exception as error:  # of a program that is not part of the package
            self.warn(f"series {number}, match {end.number}: no gifts, since {type(error).__name__}: {brief(error)}")
            return after_match(contestants, end, GIVERS["none"], chance)

    def _chance(self, purpose: str, number: int, match: int) -> random.Random:
        return random.Random(derive(self.options.seed, purpose, number, match))


def _end_of(number: int, played: Played, held: tuple[int, ...]) -> MatchEnd:
    """Return the end of a match.

    Who forfeited leaves in the place of an Elimination Candidate. Such a match has no points and no Tokens, and all
    have the garnets that they held at its start.
    """
    result, teams = played.data["result"], played.fixture.teams
    if (forfeit := result.get("forfeit")) is not None:
        nothing = (0,) * len(held)
        return MatchEnd(number, teams, held, nothing, nothing, held, (forfeit["seat"], *forfeit["also"]))
    tokens, garnets, candidate = (played.data["summary"][name] for name in ("tokens", "garnets", "candidate"))
    return MatchEnd(number, teams, held, tuple(result["scores"]), tuple(tokens), tuple(garnets), (candidate,))


def _series_data(series: Series) -> dict[str, Any]:
    """Return a series for standings.json."""
    return {
        "series": series.number,
        "order": [{"place": place, **asdict(one), "tokens": one.tokens} for place, one in enumerate(series.order, 1)],
        "matches": [
            {
                "match": end.number,
                "players": end.players,
                "garnets before": end.held,
                "points": end.points,
                "tokens won": end.tokens,
                "garnets after": end.garnets,
                "leaving": [end.players[seat] for seat in end.leaving],
                "gifts": [asdict(gift) for gift in end.gifts],
            }
            for end in series.matches
        ],
    }
