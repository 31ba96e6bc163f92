"""Runs of games of agents in a folder, so that a killed run can be continued.

    run.json      the settings, written first
    games.jsonl   one record a game, appended batch by batch (`tournament`)
    forfeits.log  the errors that agents raised, if any did (`forfeit_log`)

A run that grows equals a bigger one played at once, byte for byte. Round robins, free-for-all games and the games of
leagues use this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.language_models.calls import costs
from cellgames.arena.records.checksums import finish, plain
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, traces_of
from cellgames.arena.records.record_lines import RECORDS, Pairing, Record
from cellgames.arena.records.replays import verify
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.cluster.workers import Workers
from cellgames.envs.core import Game
from cellgames.runs.comparing import ANSWERS, differences
from cellgames.runs.run_folder import COMMITMENT, RunFolder, check_agents
from cellgames.runs.secret_seed import SecretSeed, commitment, covered, is_revealed, revealed_line
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError, shown
from cellgames.utils.version import __version__

from .match import play_games
from .match_options import FreeForAllOptions, LadderOptions, MatchOptions, RoundRobinOptions
from .tournament import Batch, Schedule, Tournament
from .work_units import Parcel

RUN = "run.json"
FILES = (RECORDS, FORFEIT_LOG, ANSWERS)
"""Names of the other files that all these runs write."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The content of run.json: all that the games depend on.

    Attributes:
        game: id of the game.
        parameters: parameters of the game.
        agents: names, sorted; the order in which agents are given does not matter.
        games: number of games; the file calls it `counted`.
        seed: see `MatchOptions`.
        opening_plies: see `MatchOptions`.
        chunk: see `MatchOptions`.
        version: version of this package.
        identities: identities of agents by name (`agents.identity`); one that has changed since makes another run.
        specs: specs of agents that have another name, by it. They may change, since identities say who plays.
        secret: True if the seed is secret until the run is over (`secret_seed`).
        clock: see `MatchOptions`; the file has it only if it is given.
        move_time: see `MatchOptions`; the file has it only if it is given.
        policies: see `MatchOptions`; the file has it only if it is given.
    """

    game: str
    parameters: dict[str, Any]
    agents: list[str]
    games: int
    seed: int
    opening_plies: int
    chunk: int
    version: str
    identities: dict[str, str]
    specs: dict[str, str] = field(default_factory=dict)
    secret: bool = False
    clock: str | None = None
    move_time: float | None = None
    policies: bool = False

    counted: ClassVar[str] = "games"
    """The name of `games` in the file; every kind of run has its own."""

    @classmethod
    def of(cls, game: Game, agents: Mapping[str, str | AnyAgent], options: MatchOptions, **more: Any) -> Self:
        """Return the settings of a run of these agents; `more` are the fields of a subclass."""
        return cls(
            game=game.id,
            parameters=plain(game.parameters),
            agents=sorted(agents),
            games=options.games,
            seed=options.seed,
            opening_plies=options.opening_plies,
            chunk=options.chunk,
            clock=options.clock,
            move_time=options.move_time,
            policies=options.policies,
            version=__version__,
            identities=identities(agents, game),
            specs={name: agent for name, agent in sorted(agents.items()) if isinstance(agent, str) and name != agent},
            secret=isinstance(options, SecretSeed) and options.secret_seed,
            **more,
        )

    def to_data(self) -> dict[str, Any]:
        """Return the settings as the file holds them when the run is over."""
        data = {self.counted if name == "games" else name: value for name, value in asdict(self).items()}
        for name in ("specs", "clock", "move_time", "policies"):
            if not data[name]:
                del data[name]
        if data.pop("secret"):
            data[COMMITMENT] = commitment(self.seed)
        return data

    def write(self, run: RunFolder, games: bytes | None = None) -> None:
        """Write the file; `games` is games.jsonl of a finished run, whose seed is no secret any more."""
        data = self.to_data()
        if games is not None:
            data = finish(data, {RECORDS: games})
        elif self.secret:
            data = covered(data)
        run.write(data)


def check_anchor(options: RoundRobinOptions | FreeForAllOptions, names: Sequence[str]) -> None:
    """Raise a `ValueError` unless the anchor is one of the agents."""
    if options.anchor is not None and options.anchor not in names:
        raise InputError("anchor", f"one of the agents ({', '.join(names)})", shown(options.anchor))


@dataclass(frozen=True)
class GamePlayer:
    """Plays games of agents (`tournament.Player`); pairings name them.

    Attributes:
        game: the rules.
        players: the agents by name.
        options: options of the run.
        agents: the same agents as workers get them, specs or objects by name (`work_units`); None without workers.
        identities: identities of the agents, which those of workers must have.
        place: folder of the run, for messages.
    """

    game: Game
    players: Mapping[str, AnyAgent]
    options: MatchOptions
    agents: Mapping[str, str | AnyAgent] | None = None
    identities: Mapping[str, str] = field(default_factory=dict)
    place: Path = Path()

    def parse(self, line: bytes) -> tuple[Pairing, Record]:
        """See `Player`."""
        record = Record.from_json(line)
        if record.pairing is None:
            raise ValueError("a game that belongs to no match")
        return record.pairing, record

    def first(self, key: Pairing) -> Pairing:
        """See `Player`; a game is played once."""
        return key

    def key(self, game: Record) -> Pairing:
        """See `Player`."""
        assert game.pairing is not None
        return game.pairing

    def read(self, batch: Batch[Pairing], key: Pairing, parsed: Record) -> Record:
        """See `Player`."""
        wanted = {
            "game": self.game.id,
            "parameters": plain(self.game.parameters),
            "version": __version__,
            "seed": derive(self.options.seed, "game", key.opening),
            "agents": tuple(batch.agents[seat] for seat in key.seats),
        }
        if wrong := differences(wanted, {name: getattr(parsed, name) for name in wanted}):
            raise ValueError(wrong)
        if parsed.opening > self.options.opening_plies:  # one that would end its game is shorter
            raise InputError("opening", f"{self.options.opening_plies} at most", parsed.opening)
        return parsed

    def collect(self, batch: Batch[Pairing], get: Callable[[Pairing], Record]) -> list[Record]:
        """See `Player`."""
        return [get(key) for key in batch.games]

    def play(self, batch: Batch[Pairing], finished: Callable[[int], None] | None = None) -> list[Record]:
        """See `Player`."""
        players = {name: self.players[name] for name in batch.agents}
        return play_games(self.game, players, self.options, batch.games, finished)

    def traces(self, games: Sequence[Record]) -> list[tuple[str, str]]:
        """See `Player`."""
        return traces_of(games)

    def unsound(
        self, games: Sequence[Record], finished: Callable[[int], None] = lambda count: None
    ) -> Iterable[tuple[int, str]]:
        """See `Player`."""
        return ((number, str(error)) for number, error in verify(games, known=self.game, finished=finished))

    def work(self) -> ChunkWork:
        """See `Player`."""
        parcel = Parcel.pack(self.game, self.players if self.agents is None else self.agents)
        # A file of weights may have changed since it was looked at.
        check_agents(self.place, self.identities, parcel.identities)
        return ChunkWork(parcel, self.options)


@dataclass(frozen=True)
class ChunkWork:
    """The common part of the batches of a run; a `workers.Work`."""

    parcel: Parcel
    options: MatchOptions

    def start(self) -> Callable[[Batch[Pairing]], list[Record]]:
        """Load the agents; return a function that plays a batch."""
        game, agents = self.parcel.unpack()
        return GamePlayer(game, agents, self.options).play


@dataclass(frozen=True)
class ChunkedRun:
    """A run of games in its folder.

    Attributes:
        game: the rules.
        players: the agents by name.
        agents: the same agents as workers get them, specs or objects by name (`work_units`).
        options: options of the run.
        settings: settings of the run.
        run: its folder.
        warn: gets a line for each thing left out, such as a torn line.
    """

    game: Game
    players: Mapping[str, AnyAgent]
    agents: Mapping[str, str | AnyAgent]
    options: RoundRobinOptions | FreeForAllOptions | LadderOptions
    settings: Settings
    run: RunFolder
    warn: Callable[[str], None]

    @property
    def files(self) -> list[Path]:
        """Return the files of the run itself, without those that are made from its games."""
        names = (RUN, RECORDS, FORFEIT_LOG)
        return [path for path in (self.run.path / name for name in names) if path.exists()]

    def costs(self, records: Sequence[Record]) -> list[str]:
        """Return sentences on what language models took in these games of the run."""
        return costs(self.run.path, Counter(name for record in records for name in {*record.agents}))

    def play(
        self,
        schedule: Schedule[Pairing, Record],
        knows: Callable[[Pairing], bool],
        *,
        store: AnyStore = None,
        outdated: Iterable[str] = (),
        progress: bool = False,
        workers: Workers | None = None,
    ) -> int:
        """Play the games that are missing, and return their number; the folder must hold this run or a smaller one.

        The caller has locked the folder, `run`.

        Args:
            schedule: schedule of the run.
            knows: returns False for games that it cannot ask for.
            store: gets the games.
            outdated: files that new games make wrong; deleted before the first of them.
            progress: True to report on standard error.
            workers: play the games; None for this process.

        Raises:
            RunError: the folder holds another run.
            StoreError: the store is another kind of file, or cannot be created.
        """
        settings, folder = self.settings, self.run.path
        player = GamePlayer(self.game, self.players, self.options, self.agents, settings.identities, folder)
        with feeding(store, self.run.kind.name, folder, settings.identities, self.warn) as keep:
            found = self.run.begin(settings.to_data(), resume=self.options.resume)

            def before() -> None:
                if settings.secret and is_revealed(found or {}):
                    self.warn(
                        f"{folder}: the seed was shown when this run was over, so it is no secret in the games that "
                        "are added now"
                    )
                self.run.delete(*outdated)

            path = folder / RECORDS
            games = Tournament(player, path, knows, keep, self.warn, workers, progress, before)
            settings.write(self.run)
            games.run(schedule)
            settings.write(self.run, path.read_bytes())
        if settings.secret:
            self.warn(revealed_line(settings.seed))
        return games.played


def batch_of(agents: Sequence[str], pairings: Sequence[Pairing]) -> Batch[Pairing]:
    """Return the batch of some openings of a match; the seats of the pairings are numbers of the agents, sorted."""
    first, last = pairings[0], pairings[-1]
    label = f"{first.match}, openings {first.opening} to {last.opening}"
    return Batch(label, tuple(pairings), tuple(agents))
