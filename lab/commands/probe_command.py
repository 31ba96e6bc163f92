"""`cellgames probe`: quantities of positions, read off the layers of networks.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import warn
from cellgames.cli.shared_options import add_command, add_json, add_out, add_quiet, add_seed, file_name
from cellgames.runs.run_folder import check_writable
from cellgames.utils.errors import InputError
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.agents.networks.networks import Network
    from cellgames.arena.records.record_lines import Record
    from cellgames.envs.core import Game

_TEXT = (
    "Probe what a network knows. A linear probe reads a quantity off each layer: in Torus, Hex and Y the stones\n"
    "to win, in Torus how many more another winding takes, in Cloth of Gold the territory two rounds ahead, in Grid\n"
    "Adaptation which sequences others hold, everywhere the outcome. Accuracies are those of held-out games, with\n"
    "intervals, beside random weights and shuffled labels. PATH is a folder of `cellgames train`, whose snapshots are\n"
    "all probed, or a file of weights."
)
_EXAMPLES = (
    "results/train/torus-small-v0-ppo-seed=0",
    "results/train/size4 --games 300 --out results/probes",
    "weights.safetensors --records results/torus5",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "probe", "PATH ", _run, _TEXT, _EXAMPLES)
    command.add_argument("path", metavar="PATH", type=Path, help="a folder of `cellgames train`, or a file of weights")
    command.add_argument(
        "--records",
        metavar="PATH",
        type=Path,
        nargs="+",
        help="files of records, or folders of round robins, free-for-all games, evaluations and seasons",
    )
    command.add_argument("--games", metavar="N", type=int, help="games of the last network to play (default 200)")
    command.add_argument("--positions", metavar="N", type=int, help="positions of these games (default 3,000)")
    add_seed(command)
    add_out(command, "the folder (default: in results/probe)")
    add_json(command)
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.envs.registry import board_title
    from cellgames.lab.interventions import probe_section, probing
    from cellgames.utils.report import model

    _check(arguments)
    game, networks, steps = _networks(arguments.path)
    folder = arguments.out or Path("results") / "probe" / file_name([arguments.path.resolve().stem])
    check_writable(folder)
    records = _records(arguments, game, list(networks.values())[-1])

    def step(name: str) -> None:
        if not (arguments.quiet or arguments.json):
            print(f"{name}: {len(records)} games", flush=True)

    positions = arguments.positions or probing.POSITIONS
    found = probing.probe_networks(game, networks, records, positions=positions, seed=arguments.seed, step=step)
    section = probe_section.probe_section(found, steps)
    title = f"What networks know of {game.info.title}"
    about = f"`{game}`; networks from `{arguments.path}`."
    report = model.Report(title, (about, section), section.data, subject=board_title(game))
    with waiting("Writing the report", shown=not arguments.quiet):
        model.write_report(folder, report, warn)
    if arguments.json:
        print(json.dumps({**section.data, "folder": str(folder)}, indent=1))
    else:
        print("\n".join(["", *probe_section.lines(found), "", f"Written to {folder}: report.md"]))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    for name in ("games", "positions"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise InputError(f"--{name}", "at least 1", value)
    if arguments.records and arguments.games is not None:
        raise InputError("--games", cause="it says how many to play, but --records gives the games; leave one out")


def _networks(path: Path) -> tuple[Game, dict[str, Network], list[int]]:
    """Return the game, networks by name, and how many steps each had learned from."""
    from cellgames.agents.networks.saved import load_network
    from cellgames.lab.interventions import network_checkpoints as kept

    if path.is_dir():
        found = kept.checkpoints(path)
        networks = {checkpoint.name: load_network(checkpoint.path).network for checkpoint in found}
        return kept.game_of_run(found), networks, [checkpoint.steps for checkpoint in found]
    if not path.is_file():
        raise InputError(path, "a folder of `cellgames train` or a file of weights", "none")
    saved = load_network(path)
    return saved.network.game, {path.stem: saved.network}, [0]


def _records(arguments: argparse.Namespace, game: Game, network: Network) -> Sequence[Record]:
    """Return the games from which positions come."""
    from cellgames.agents.loading import load
    from cellgames.arena.analyse.reader import grouped, read_paths
    from cellgames.arena.play.evaluation import play_some
    from cellgames.lab.interventions.probing import GAMES

    if arguments.records:
        with waiting("Reading the games", shown=not arguments.quiet):
            groups = [games for games in grouped(read_paths(arguments.records, warn)) if games.game == game]
        if not groups or not groups[0].records:
            raise InputError("--records", f"games of {game}", "none", where=", ".join(map(str, arguments.records)))
        return groups[0].records
    agents = {"network": network.agent("network", sample=True), "random": load("random", game)}
    games = arguments.games or GAMES
    return play_some(game, agents, games + games % 2, seed=arguments.seed, shown=not arguments.quiet)
