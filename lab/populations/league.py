"""Leagues: populations of agents that are trained against each other, round by round.

    import cellgames
    from cellgames.training import LeagueOptions, PPOArguments, train_league
    game = cellgames.make("torus-v0", size=3)
    base = PPOArguments.fitted(game, total_steps=20_000)
    found = train_league(base, "my_league", LeagueOptions(rounds=6))
    print(found.strategy)

`psro` (policy-space response oracles, Lanctot and others 2017) trains in each round a best response to the
meta-strategy of the members so far. `global` (Wang and others 2026, arXiv 2605.28273) trains several, and keeps the one
that leaves the population least exploitable. `league` (Vinyals and others 2019) trains main agents, exploiters of them
and of all members. All use the learners, the opponents and the games of the rest of the package. The folder:

    league.json      what was asked for
    members/         a run of training each (`runs.train`)
    games/           the games of each round, with records
    rounds/          what was measured after each round
    mixture.json     who plays how often: the folder is the agent `league:FOLDER`
    report.md, result.json, members.csv, payoffs.csv, rounds.csv, strategy.csv, and plots

All of it follows from the settings and the seed. A league that was killed continues where it was, and more rounds let
it grow. While members are trained in this process, the folder is its current directory, so that files of members name
each other by paths that do not depend on where the folder is.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cellgames.agents.loading import identities, load
from cellgames.agents.networks.agent_files import MIXTURE_FILE, WEIGHTS_FILE
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store import AnyStore
from cellgames.arena.stats.payoffs import Payoffs, payoffs
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.lab.populations.meta_solvers import (
    FloatArray,
    Seating,
    coarse_correlated_equilibrium,
    effective_dimension,
    effective_members,
    meta_strategy,
    number_of_tables,
    seat_shares,
)
from cellgames.runs.run_folder import RunFolder, RunKind, derive, reading
from cellgames.runs.workers import completed
from cellgames.training.arguments import FREE, Arguments
from cellgames.training.runs.run import Progress, train
from cellgames.training.selfplay.opponents import SELF
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.report.model import json_text, rounded, write_report

from .exploit import check_learner
from .exploitability import exploitability, is_small
from .league_agent import Mixture, mixture_text
from .league_games import plan_round, play_round, table_payoffs
from .league_options import MOST_TABLES, LeagueOptions
from .league_plan import (
    EXPLOITERS,
    GLOBAL,
    LEAGUE,
    MAIN,
    MEMBERS,
    PSRO,
    ROLES,
    Planned,
    global_round,
    league_round,
    psro_round,
    response_score,
)
from .league_report import FILES, League, RoundResult, behaviour_distances, league_report

_GAMES, _ROUNDS, _EXACT = "games", "rounds", "exact.json"
_MOST_NODES = 1_000_000  # of an exact value, which take half a minute where members draw their moves
_LEAGUE = RunKind(
    "league",
    "league.json",
    (MEMBERS, _GAMES, _ROUNDS, MIXTURE_FILE, *FILES),
    grows=("rounds",),
    free=tuple(f"arguments.{name}" for name in FREE),
)


@dataclass(frozen=True)
class LeagueProgress:
    """The progress of a league.

    Attributes:
        round: number of the round in progress, from 1.
        rounds: rounds of the league.
        work: name of the member that is trained, "games", or "exact exploitability".
        training: progress of its training; None before it, or if workers train.
    """

    round: int
    rounds: int
    work: str
    training: Progress | None = None


def train_league(
    arguments: Arguments,
    out: PathLike,
    options: LeagueOptions | None = None,
    *,
    store: AnyStore = None,
    command: str = "",
    report: Callable[[LeagueProgress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda message: None,
    workers: Executor | None = None,
) -> League:
    """Train a league, or continue the one in a folder.

    Args:
        arguments: what all members have in common, by `Arguments.fitted`; `total_steps` are those of one member, and
            opponents are the league's.
        out: the folder; made if it is missing.
        options: None for the defaults.
        store: gets the games between members.
        command: the command line, for the files of agents.
        report: called before each member and after each iteration of its training.
        warn: gets a line for each thing left out.
        workers: train the members of a round and play the games at the same time; None for this process. All need
            the folder.

    Raises:
        ValueError: options that do not fit the game; nothing has been written then.
        RunError: the folder has something else, or a league with other options.
        WorkerError: a worker ended in the middle of its work.
        ImportError: a package that the meta-solver needs is missing.
        Stopped: Ctrl-C during a training, once a checkpoint is written.
    """
    options, folder = options or LeagueOptions(), Path(out).absolute()
    store = os.path.abspath(store) if isinstance(store, str | os.PathLike) else store
    game = registry.make(arguments.game, **arguments.parameters)
    seats = game.info.num_players
    solver = options.solver(seats)
    if options.first == SELF or "=" in options.first or "," in options.first or file_like(options.first):
        raise InputError("first", "the name of an agent such as random or greedy", shown(options.first))
    load(options.first, game)
    members = 1 + options.rounds * {PSRO: 1, GLOBAL: options.responses}.get(options.method, len(LEAGUE))
    if solver == "cce" and (tables := number_of_tables(members, seats) - members) > MOST_TABLES:
        raise InputError(
            "cce plays all tables",
            f"at most {MOST_TABLES}",
            f"{tables} of {members} members in {seats} seats",
            "ask for fewer rounds, or for meta_solver=nash (--meta-solver nash), which plays pairs",
        )
    base = dataclasses.replace(arguments, opponents=SELF, start_from=_absolute(arguments.start_from))
    check_learner(game, dataclasses.replace(base, opponents=options.first))
    asked = _asked(base, options, solver)
    with RunFolder(folder, _LEAGUE) as place:
        place.begin(asked, resume=options.resume)
        place.write(asked)
        run = _Run(game, base, options, solver, folder, store, command, report, warn, workers)
        found = run.to_the_end(Path(out))
        write_report(folder, league_report(found, asked), warn, outdated=FILES)
    return found


def file_like(text: str) -> bool:
    """Return True for the path of a file or folder, which would not mean the same in the league's folder."""
    return "/" in text or os.sep in text or os.path.exists(text)


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else path


def _asked(base: Arguments, options: LeagueOptions, solver: str) -> dict[str, Any]:
    given = {name: value for name, value in dataclasses.asdict(options).items() if name != "resume"}
    return {**given, "meta_solver": solver, "arguments": base.to_data()}


# ---------------------------------------------------------------- members


def _train(folder: Path, base: Arguments, command: str, exploiter_share: float, planned: Planned) -> None:
    """Train a member of a league, or continue its training, in a worker."""
    with chdir(folder):
        train(_arguments(base, planned, exploiter_share), _place(planned.name), exact=True, command=command)


def _place(member: str) -> str:
    """Return the folder of a member's training, in that of the league."""
    return f"{MEMBERS}/{member}"


def _arguments(base: Arguments, planned: Planned, exploiter_share: float) -> Arguments:
    """Return the arguments of a member's training."""

    def spec(name: str) -> str:
        trained = name.rpartition("-")[0] in ROLES
        return f"{_place(name)}/{WEIGHTS_FILE}" if trained else name

    mix = ",".join(f"{spec(name)}={share:g}" for name, share in planned.mix.items())
    start_from = f"{_place(planned.after)}/{WEIGHTS_FILE}" if planned.after else base.start_from
    seed = derive(base.seed, "league", planned.name)
    given = dataclasses.replace(base, opponents=mix, start_from=start_from, seed=seed)
    if planned.role not in EXPLOITERS:
        return given
    # Exploiters draw their moves, so that main agents learn from many lines that lead through a hole, not from one.
    drawn: dict[str, Any] = {"sample": True} if any(one.name == "sample" for one in given.options()) else {}
    return dataclasses.replace(given, total_steps=max(1, round(base.total_steps * exploiter_share)), **drawn)


# ---------------------------------------------------------------- the run


class _Run:
    """A league in progress."""

    def __init__(
        self,
        game: Game,
        base: Arguments,
        options: LeagueOptions,
        solver: str,
        folder: Path,
        *rest: Any,
    ) -> None:
        self.game, self.base, self.options, self.solver, self.folder = game, base, options, solver, folder
        self.store, self.command, self.report, self.warn, self.workers = rest
        self.specs = {options.first: options.first}  # of members by name, in the order in which they came
        self.plans: list[Planned] = []
        self.records: list[Record] = []
        self.table: Payoffs | None = None
        self.tables: dict[Seating, float] | None = None  # the solution of a meta-game of whole tables
        self.weights = {options.first: 1.0}
        self.kept: list[str] = []  # candidates of Global PSRO
        self.exact: float | None = None

    def to_the_end(self, out: Path) -> League:
        """Run all rounds, and return the league."""
        results = []
        for number in range(1, self.options.rounds + 1):
            stages = self._planned(number)
            new = [planned for stage in stages for planned in stage]
            before = dict(self.weights)
            for stage in stages:
                self._train(number, stage)
            for planned in new:
                self.plans.append(planned)
                self.specs[planned.name] = f"{_place(planned.name)}/{WEIGHTS_FILE}"
            self._play(number, [planned.name for planned in new])
            results.append(self._measured(number, new, before))
        assert self.table is not None
        with chdir(self.folder):
            behaviour = behaviour_distances(self.game, self.specs, self.records, self.base.seed)
        return League(
            out=out,
            game=self.game,
            method=self.options.method,
            solver=self.solver,
            first=self.options.first,
            steps=self.base.total_steps,
            plans=tuple(self.plans),
            table=self.table,
            strategy=dict(self.weights),
            rounds=tuple(results),
            behaviour=behaviour,
            games=len(self.records),
        )

    def _planned(self, number: int) -> Sequence[list[Planned]]:
        """Return the members of a round; those of one list are trained once those of the lists before are."""
        if self.options.method == GLOBAL:
            playing = {name: self.weights[name] for name in self.kept}
            after = self.kept[-1] if self.kept and self.options.warm_start else ""
            chance = np.random.default_rng(derive(self.base.seed, "league", number))
            return [global_round(number, playing, after, self.options.responses, chance)]
        if self.options.method != PSRO:
            return league_round(number, list(self.specs), self.table, warm_start=self.options.warm_start)
        if self.tables is not None:  # tables are drawn as a whole, by the mixture of the round before
            place = f"{_ROUNDS}/{number - 1:03d}"
            found = psro_round(number, self.weights, warm_start=self.options.warm_start)
            return [[dataclasses.replace(found[0], mix={f"league:{place}": 1.0})]]
        return [psro_round(number, self.weights, warm_start=self.options.warm_start)]

    def _train(self, number: int, new: Sequence[Planned]) -> None:
        """Train the members of a round that are not trained yet."""
        if self.workers is not None:
            self.report(LeagueProgress(number, self.options.rounds, ", ".join(planned.name for planned in new)))
            work = partial(_train, self.folder, self.base, self.command, self.options.exploiter_share)
            for _ in completed(self.workers, work, list(new)):
                pass
            return
        for planned in new:

            def report(progress: Progress, name: str = planned.name) -> None:
                self.report(LeagueProgress(number, self.options.rounds, name, progress))

            with chdir(self.folder):
                train(
                    _arguments(self.base, planned, self.options.exploiter_share),
                    _place(planned.name),
                    exact=True,
                    command=self.command,
                    report=report,
                    warn=self.warn,
                )

    def _play(self, number: int, new: Sequence[str]) -> None:
        """Play the games of a round, and solve the meta-game."""
        self.report(LeagueProgress(number, self.options.rounds, "games"))
        seed = derive(self.base.seed, "league", "games")
        with chdir(self.folder):
            self.records += play_round(
                self.game,
                self.specs,
                plan_round(self.game.info.num_players, list(self.specs), new, self.options, seed),
                self.folder / _GAMES / f"{number:03d}",
                store=self.store,
                workers=self.workers,
                warn=self.warn,
            )
        self.table = payoffs(self.records)
        if self.options.method == GLOBAL:
            self._keep(number, new)
            return
        names = self.table.agents
        if self.solver == "cce":
            found = table_payoffs(self.records, names, self.game.info.num_players)
            shares = coarse_correlated_equilibrium(found, len(names))
            self.tables = dict(zip(found, shares.tolist(), strict=True))
            weights = seat_shares(list(found), shares, len(names))
        else:
            weights = meta_strategy(self.table, self.solver, [plan.name for plan in self.plans if plan.role == MAIN])
        self.weights = self._by_name(weights)
        (self.exact,) = self._exact(number, [self.weights])

    def _keep(self, number: int, new: Sequence[str]) -> None:
        """Keep the candidate with which the population is least exploitable, and its least exploitable mixture.

        For each candidate the meta-solver's mixture of it and of the members kept so far is tried, and the candidate
        alone; also the mixture before. Where exact values are not to be had, or equal, the worst result against
        anything that was ever trained decides.
        """
        assert self.table is not None
        sets = [(name, players) for name in new for players in ([*self.kept, name], [name])]
        tried = [(name, meta_strategy(self.table, self.solver, players)) for name, players in sets]
        if self.kept:
            tried.append(("", np.array([self.weights.get(name, 0.0) for name in self.table.agents])))
        mixtures = [self._by_name(weights) for _, weights in tried]
        exact = self._exact(number, mixtures)
        worst = [-float((weights @ self.table.advantage).min()) for _, weights in tried]
        order = sorted(range(len(tried)), key=lambda place: (exact[place] or 0.0, worst[place]))
        self.kept.append(next(tried[place][0] for place in order if tried[place][0]))
        self.weights, self.exact = mixtures[order[0]], exact[order[0]]

    def _by_name(self, weights: FloatArray) -> dict[str, float]:
        """Return weights in the order of the table by the names of members, in the order in which they came."""
        assert self.table is not None
        return {name: float(weights[self.table.agents.index(name)]) for name in self.specs}

    def _mixture(self, place: str) -> Mixture:
        """Return the mixture of the members so far, for a file in a folder of the league."""
        names = tuple(self.specs)
        with chdir(self.folder):
            known = identities(self.specs, self.game)
        up = "../" * (place.count("/") + 1) if place else ""
        specs = tuple(f"{up}{spec}" if spec != name else spec for name, spec in self.specs.items())
        tables: tuple[tuple[int, ...], ...]
        if self.tables is None:
            tables, weights = tuple((number,) for number in range(len(names))), list(self.weights.values())
        else:
            order = sorted(names)
            tables = tuple(tuple(names.index(order[member]) for member in table) for table in self.tables)
            weights = list(self.tables.values())
        kept = [(table, weight) for table, weight in zip(tables, weights, strict=True) if weight > 1e-6]
        total = sum(weight for _, weight in kept)
        return Mixture(
            self.game.id,
            json.loads(json.dumps(self.game.parameters)),
            names,
            specs,
            tuple(known[name] for name in names),
            tuple(table for table, _ in kept),
            tuple(weight / total for _, weight in kept),
        )

    def _measured(self, number: int, new: Sequence[Planned], before: Mapping[str, float]) -> RoundResult:
        """Measure the league after a round, unless its file tells; write the mixture."""
        assert self.table is not None
        folder = self.folder / _ROUNDS / f"{number:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / MIXTURE_FILE, mixture_text(self._mixture(f"{_ROUNDS}/{number:03d}")))
        write_atomic(self.folder / MIXTURE_FILE, mixture_text(self._mixture("")))
        # A best response against what it was trained for: an estimate from below of that mixture's exploitability.
        exploiter = new[min(1, len(new) - 1)]
        mix = before if exploiter.role == PSRO else exploiter.mix
        response = response_score(self.table, exploiter.name, mix) if exploiter.role in (PSRO, *EXPLOITERS) else None
        weights = np.array(list(self.weights.values()))
        return RoundResult(
            number=number,
            members=len(self.specs),
            steps=sum(_arguments(self.base, plan, self.options.exploiter_share).total_steps for plan in self.plans),
            weights=dict(self.weights),
            exploiter=exploiter.name if response is not None else "",
            response=response,
            exact=self.exact,
            dimension=effective_dimension(self.table.advantage),
            effective_members=effective_members(weights),
        )

    def _exact(self, number: int, mixtures: Sequence[Mapping[str, float]]) -> list[float | None]:
        """Return the exact exploitability of mixtures that a round tries, by its file if there is one.

        It is None in larger games, and where members draw their moves, with a warning.
        """
        path = self.folder / _ROUNDS / f"{number:03d}" / _EXACT
        if not is_small(self.game):
            return [None] * len(mixtures)
        if path.exists():
            with reading(path):
                return [float(value) for value in json.loads(path.read_text(encoding="utf-8"))["exploitability"]]
        self.report(LeagueProgress(number, self.options.rounds, "exact exploitability"))
        tried = [tuple(part for part in mixture.items() if part[1] > 1e-6) for mixture in mixtures]
        values = dict[tuple[tuple[str, float], ...], float | None]()
        with chdir(self.folder):
            agents = {name: load(spec, self.game, name=name) for name, spec in self.specs.items()}
            for playing in dict.fromkeys(tried):  # the mixture of a round's candidate is often the candidate alone
                members, shares = [agents[name] for name, _ in playing], [share for _, share in playing]
                try:
                    value = exploitability(self.game, members, shares, most=_MOST_NODES)
                except ValueError as error:
                    self.warn(f"no exact exploitability: {error}")
                    return [None] * len(mixtures)
                values[playing] = rounded(value.exploitability)
        found = [values[playing] for playing in tried]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json_text({"exploitability": found}))
        return found
