"""Options of `cellgames analyse` for games instead of a position, and what of them does not go together."""

from __future__ import annotations

import argparse
from pathlib import Path

from cellgames.arena.defaults import GAMES

from .commands import UserError

__all__ = ["EXAMPLES", "PARTS", "TEXT", "add_options", "check", "wanted"]

TEXT = (
    "With --records, --store, --agents or --run it looks at games instead: openings and how they fare, where agents\n"
    "place, games over time, how differently agents behave, and how a run of training changed its play. The\n"
    "folder gets report.md with plots, report.json, and all tables as CSV."
)
EXAMPLES = (
    "--records results/torus5 --agents greedy trained",
    "torus-small-v0 --agents greedy trained rollout:64 --games 200 --out results/how-they-play",
    "grid-adaptation-v0 --store results/matches.sqlite --only places flows",
    "--run results/train/torus-small-v0-ppo-seed=0 --agents greedy rollout:64",
)

PARTS = ("openings", "places", "time-series", "flows", "behaviour")
_SOURCES = ("records", "store", "agents", "run")
_POSITION = ("agent", "moves", "position", "record", "game_number", "ply", "top")
_MORE = ("games", "opening_plies", "only", "positions", "draws", "quiet")


def add_options(command: argparse.ArgumentParser) -> None:
    """Options of an analysis of games; --out, --json and --seed are those of `cellgames analyse`."""
    group = command.add_argument_group("games instead of a position")
    group.add_argument(
        "--records",
        metavar="PATH",
        type=Path,
        nargs="+",
        help="files of records, or folders of round robins, free-for-all games, evaluations and seasons",
    )
    group.add_argument("--store", metavar="FILE", type=Path, help="take the games from a store of matches")
    group.add_argument(
        "--agents",
        metavar="SPEC",
        nargs="+",
        help="compare how these behave; without other games they play some first; with --run, what to compare it with",
    )
    group.add_argument("--games", metavar="N", type=int, help=f"that --agents play, of each pair (default {GAMES})")
    group.add_argument(
        "--opening-plies", metavar="N", type=int, help="random moves before --agents move (default 2 in Torus, else 0)"
    )
    group.add_argument(
        "--run",
        dest="training_run",
        metavar="DIR",
        type=Path,
        help="a folder of `cellgames train`: how its play changed",
    )
    group.add_argument("--only", metavar="PART", nargs="+", choices=PARTS, help=f"out of {', '.join(PARTS)}")
    group.add_argument("--positions", metavar="N", type=int, help="about which agents are asked (default 200)")
    group.add_argument("--draws", metavar="N", type=int, help="how often agents of chance are asked, twice (default 8)")
    group.add_argument("--quiet", action="store_true", help="no progress on standard error")


def wanted(arguments: argparse.Namespace) -> bool:
    """Whether games are to be analysed, and not a position.

    Raises:
        UserError: options that do not go together.
    """
    sources = [f"--{name}" for name in _SOURCES if _given(arguments, name)]
    if not sources:
        if more := [name for name in _MORE if _given(arguments, name)]:
            raise UserError(
                f"{_option(more[0])} is for an analysis of games; say of which with --records, --store, --agents or "
                "--run (or --record FILE for a position)"
            )
        return False
    if position := [name for name in _POSITION if _given(arguments, name)]:
        raise UserError(
            f"{_option(position[0])} is for the analysis of a position, and {sources[0]} for that of games; leave out "
            "one of them"
        )
    return True


def _given(arguments: argparse.Namespace, name: str) -> bool:
    return getattr(arguments, "training_run" if name == "run" else name) not in (None, "", False)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check(arguments: argparse.Namespace) -> None:
    """Complain before anything is read or played."""
    for name in ("games", "positions", "draws"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UserError(f"--{name} must be at least 1, got {value}")
    if arguments.opening_plies is not None and arguments.opening_plies < 0:
        raise UserError(f"--opening-plies must be at least 0, got {arguments.opening_plies}")
    given = arguments.records or arguments.store is not None
    plays = arguments.agents and not given and arguments.training_run is None
    for name in ("games", "opening_plies"):
        if getattr(arguments, name) is not None and not plays:
            raise UserError(f"{_option(name)} says what --agents play, but the games are given; leave it out")
    if plays and arguments.game is None:
        raise UserError("GAME is needed, so that --agents know what to play")
    if arguments.only and "behaviour" in arguments.only and not arguments.agents:
        raise UserError("--only behaviour needs --agents, since it asks them; records only name their agents")
    if arguments.only and arguments.training_run is not None and not given:
        raise UserError("--only chooses parts of an analysis of games; give --records or --store, or leave it out")
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise UserError(f"--out {arguments.out} is a file; an analysis of games needs a folder")
    if arguments.out is not None and arguments.out.suffix in (".svg", ".png", ".html"):
        raise UserError(f"--out {arguments.out}: an analysis of games writes a folder, not one picture")
