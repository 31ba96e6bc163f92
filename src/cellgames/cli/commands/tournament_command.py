"""`cellgames round-robin`, `free-for-all`, `ladder`: agents play many games, and the folder gets tables."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_specs import by_name
from cellgames.arena.play.match_options import FreeForAllOptions, LadderOptions, RoundRobinOptions
from cellgames.cli import console, shared_options
from cellgames.plugins import resolve
from cellgames.utils.options import Options
from cellgames.utils.report.model import people_table

if TYPE_CHECKING:
    from cellgames.envs.core import Game


@dataclass(frozen=True)
class _Kind:
    """A command that plays many games by `play`, an import path, and reports what came out.

    `report` prints tables and returns proposals for `print_next`; `about` describes files by name. Where `one` agent is
    measured against known ones, the command has no option `without`, and processes do not share the work.
    """

    name: str
    text: str
    examples: Sequence[str]
    options: type[Options]
    play: str
    out: Callable[[argparse.Namespace, Any], Path]
    report: Callable[[argparse.Namespace, Any, Game, Any], Sequence[tuple[str, str] | str]]
    about: dict[str, str]
    one: bool = False
    without: tuple[str, ...] = ()


def _add(kind: _Kind, commands: Any) -> None:
    agents = "agent AGENT" if kind.one else "agents AGENT AGENT ..."
    run = partial(_run, kind)
    command = shared_options.add_command(commands, kind.name, f"GAME --{agents} ", run, kind.text, kind.examples)
    shared_options.add_game(command)
    text = f"{'the agent' if kind.one else 'two or more'} that `cellgames list` shows; NAME=SPEC gives a name"
    shared_options.add_agents(command, text, one=kind.one)
    shared_options.add_spending(command)
    shared_options.add_options(command, kind.options.options(), without=kind.without)
    shared_options.add_store(command)
    if not kind.one:
        shared_options.add_workers(command, "chunks")
    folder = {"round-robin": "results", "ladder": "results/climbs"}.get(kind.name, f"results/{kind.name}")
    shared_options.add_folder(command, f"{folder}/GAME-...")


def _run(kind: _Kind, arguments: argparse.Namespace) -> int:
    game = shared_options.make_game(arguments)
    options = kind.options.from_given(vars(arguments))
    out = arguments.out or kind.out(arguments, options)
    more: dict[str, Any] = {
        "store": shared_options.store_of(arguments),
        "progress": not arguments.quiet,
        "warn": console.warn,
    }
    try:
        with ExitStack() as stack:
            if not kind.one:
                more["workers"] = stack.enter_context(shared_options.workers_of(arguments))
            finished = resolve(kind.play)(game, arguments.agents, options, out=out, **more)
    except KeyboardInterrupt:
        return console.stopped_games(arguments, out, "chunks")
    following = kind.report(arguments, options, game, finished)
    console.print_kept(finished.out, kind.about)
    console.print_next((f"replay {shlex.quote(str(finished.out))}", "check every game"), *following)
    return 0


# ---------------------------------------------------------------- round robins


def _out(folder: str, arguments: argparse.Namespace, options: RoundRobinOptions | FreeForAllOptions) -> Path:
    """Return the folder of a run, named by what cannot change when it goes on; games can grow, and agents in pairs."""
    size = [] if arguments.size is None else [f"size={arguments.size}"]
    words = [arguments.game, *sorted([*arguments.param, *size]), f"seed={options.seed}"]
    words += [f"plies={options.opening_plies}"] if options.opening_plies != type(options).opening_plies else []
    words += [f"chunk={options.chunk}"] if options.chunk != type(options).chunk else []
    words += [f"agents={'+'.join(sorted(by_name(arguments.agents)))}"] if folder else []
    return Path("results") / folder / shared_options.file_name(words)


def _report_tables(
    arguments: argparse.Namespace, options: RoundRobinOptions | FreeForAllOptions, game: Game, finished: Any
) -> list[tuple[str, str] | str]:
    from cellgames.arena.play.rated_runs import top_game
    from cellgames.arena.report import rating_tables as report
    from cellgames.arena.report.rating_tables import ORDER, order_text

    tables, order = finished.tables, getattr(finished, "order", ())
    if headline := report.failure_headline(tables.forfeits):
        print(f"{headline}\n")
    console.print_table(people_table(report.rating_columns(tables), tables.standings))
    console.print_pairs_and_seats(tables, game.info.players, report.notes(tables), simultaneous=game.info.simultaneous)
    if order:
        print()
        console.print_table(people_table(ORDER, order))
        print(f"\n{order_text(order, tables.games)}")
    print(f"\n{console.counted(len(finished.records), finished.played)}, {tables.distinct} different.")
    short = options.games % (options.per_opening * options.chunk)
    again = f", and the last {short} games{' of each pair' if options.per_opening > 1 else ''} again" if short else ""
    more = [f"the same command with --games {2 * options.games}: plays what is missing{again}"]
    if isinstance(options, RoundRobinOptions):
        more.insert(0, "the same command with more --agents: plays only what is missing")
    if order:
        until = f"the same command with --budget {2 * tables.games}: goes on until more is certain"
        more = [until] if finished.undecided else []
    number = 1 if tables.by_score else finished.records.index(top_game(tables, finished.records)) + 1
    step = f"replay {shlex.quote(str(finished.out))} --record {number} "
    show = (step + ("--out game.gif" if tables.by_score else "--step"), "")
    return [show, *console.leaderboard_command(arguments), *more]


add_round_robin = partial(
    _add,
    _Kind(
        name="round-robin",
        text="Let every agent play every other one. Games start from random openings, each played in both\n"
        "seats. The folder gets ratings, a cross table and a seat table (CSV, Markdown, PNG), and a record\n"
        "of every game. If a run is stopped, the same command continues it. The same command with more\n"
        "agents or more games lets a run grow.",
        examples=(
            "torus-v0 --agents random greedy rollout:64",
            "torus-v0 --agents random greedy --games 400 --param size=5 --out results/torus5",
            "torus-v0 --agents greedy my_bots:MyBot --anchor greedy",
            "torus-small-v0 --agents random greedy trained --games 50 --until-certain --budget 4000",
            "torus-v0 --agents greedy trained mcts:400 --workers 8",
        ),
        options=RoundRobinOptions,
        play="cellgames.arena.play.rated_runs:round_robin",
        out=partial(_out, ""),
        report=_report_tables,
        about={
            "report.md": "all tables and plots on one page",
            "ratings.png": "ratings with intervals",
            "cross_table.png": "who beats whom",
            "top_game.gif": "a game of the two best agents, of middle length",
        },
    ),
)

# ---------------------------------------------------------------- games of any number of seats


add_free_for_all = partial(
    _add,
    _Kind(
        name="free-for-all",
        text="Let agents play games of any number of seats. Every agent plays equally often, and equally often\n"
        "in every seat. Fewer agents than seats have several seats each; more agents than seats take turns.\n"
        "Ratings count who finishes ahead of whom. The folder gets them, finishing places and scores, also by\n"
        "seat (CSV, Markdown, PNG), and a record of every game. If a run is stopped, the same command continues\n"
        "it. The same command with more games lets a run grow.",
        examples=(
            "toroidal-cup-small-v0 --param teams=4 --agents random greedy",
            "toroidal-cup-small-v0 --param teams=4 --agents greedy rollout:16 --games 300",
        ),
        options=FreeForAllOptions,
        play="cellgames.arena.play.rated_runs:free_for_all",
        out=partial(_out, "free-for-all"),
        report=_report_tables,
        about={
            "report.md": "all tables and plots on one page",
            "ratings.png": "ratings with intervals",
            "cross_table.png": "who finishes ahead of whom",
        },
    ),
)

# ---------------------------------------------------------------- ladders


def _ladder_out(arguments: argparse.Namespace, options: LadderOptions) -> Path:
    words = [*by_name(arguments.agents), f"seed={options.seed}"]
    words += [f"clock={limits}"] if (limits := options.time_control) is not None else []
    words += [f"rungs={Path(options.rungs).name}"] if options.rungs is not None else []
    return shared_options.folder_of(arguments, "climbs", words)


def _report_ladder(
    arguments: argparse.Namespace, options: LadderOptions, game: Game, finished: Any
) -> list[tuple[str, str] | str]:
    from cellgames.arena.ladder.climb import MISTAKES, ladder_table

    console.print_table(ladder_table(finished.place))
    if finished.mistakes:
        print("\nPositions that could be won or saved, and moves that did not:")
        console.print_table(people_table(MISTAKES, finished.mistakes))
    print(f"\n{finished.place.sentence}")
    ends = f"the climb ends by --within {options.within:g}, beyond all rungs, or by --games {options.games}"
    for line in (*finished.notes, f"\n{console.counted(len(finished.records), finished.played)}; {ends}."):
        print(line)
    narrower = f"the same command with --games {2 * options.games} --within {options.within / 2:g}: a narrower interval"
    return [*console.leaderboard_command(arguments), narrower]


add_ladder = partial(
    _add,
    _Kind(
        name="ladder",
        text="Find the place of an agent on the ladder of a game: agents from random moves to the strongest, whose\n"
        "ratings are known. The agent plays the rungs whose games tell most of its rating, until the interval is\n"
        "narrow enough. The folder gets its place, the ladder as a picture, its mistakes by kind of position, and a\n"
        "record of every game. If a climb is stopped, the same command continues it.",
        examples=(
            "torus-small-v0 --agent exec:./mybot",
            "torus-small-v0 --agent my_bots:MyBot --within 50 --games 1000",
            "torus-small-v0 --agent llm:MODEL --games 40 --param size=5",
        ),
        options=LadderOptions,
        play="cellgames.arena.ladder.climb:climb",
        out=_ladder_out,
        report=_report_ladder,
        about={"report.md": "all tables and the ladder on one page", "ladder.png": "the place among the rungs"},
        one=True,
        without=("opening_plies", "chunk", "forfeits", "policies"),
    ),
)
