"""`cellgames play`, a game at the terminal, and `cellgames rules`, the rules of a game in brief."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_specs import HUMAN, split_name
from cellgames.agents.loading import default_opponents, load
from cellgames.arena.records.record_lines import append, read_records
from cellgames.cli import shared_options as shared
from cellgames.cli.console import print_heading, print_next, program, terminal_width, wrapped_lines
from cellgames.envs import registry
from cellgames.utils.errors import InputError, shown
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.envs.core import Game, State

_TEXT = (
    "Play a game at the terminal. Play against agents, or watch agents play each other. Type `help` in the game for\n"
    "all words, such as hint, undo and resign. Where all act at once, everybody's action counts at the same\n"
    "time, and you see what your seat may see."
)
_EXAMPLES = (
    "torus-v0",
    "torus-v0 --size 5 --agents rollout:64 --as white",
    "torus-v0 --watch --agents greedy random --out game.jsonl",
    "grid-adaptation-small-v0 --agents greedy",
    "torus-v0 --size 3 --position 'x../.../... .../.o./... b'",
)


def add_play(commands: Any) -> None:
    """Add `play`."""
    command = shared.add_command(commands, "play", "GAME ", _run, _TEXT, _EXAMPLES)
    shared.add_game(command)
    shared.add_seed(command)
    shared.add_agents(
        command,
        "one agent for all other seats, or one for each in their order (default random); NAME=SPEC gives a name",
        required=False,
    )
    shared.add_spending(command)
    command.add_argument("--as", dest="seat", metavar="PLAYER", help="your seat, such as black (default the first)")
    command.add_argument("--watch", action="store_true", help="let agents play all seats")
    command.add_argument("--position", metavar="TEXT", default="", help="start position, as `position` prints it")
    shared.add_out(command, "add the finished game to this file of records", "FILE")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.cli.terminal import Table

    game = shared.make_game(arguments)
    players = game.info.players
    seat_of_person = _own_seat(arguments, players)
    others = [seat for seat in range(len(players)) if seat != seat_of_person]
    specs = arguments.agents or ["random"]
    if len(specs) not in (1, len(others)):
        hint = "--watch lets agents play all seats" if len(specs) == len(players) else ""
        raise InputError("--agents", f"one, or one for each of {len(others)} seats", len(specs), hint)
    given = iter(specs * len(others) if len(specs) == 1 else specs)
    seats = [None if seat == seat_of_person else next(given) for seat in range(len(players))]
    if arguments.out is not None:
        _check_record_file(arguments.out)
    table = Table(
        game,
        [None if spec is None else load(spec, game) for spec in seats],
        [HUMAN if spec is None else split_name(spec)[0] for spec in seats],
        seed=arguments.seed,
        position=arguments.position,
    )
    record = table.run()
    if arguments.out is not None and record is None:
        print("The game is not finished, so it is not saved.")
    elif arguments.out is not None and record is not None:
        append(arguments.out, [record])
        print(f"Saved: {program()} replay {shlex.quote(str(arguments.out))}")
    return 0


def _own_seat(arguments: argparse.Namespace, players: Sequence[str]) -> int | None:
    """Return the person's seat, None for a spectator."""
    if arguments.watch and arguments.seat is not None:
        raise InputError("--as", cause="it gives you a seat and --watch gives all seats to agents; choose one")
    if arguments.seat is None:
        return None if arguments.watch else 0
    known = [player.replace("_", " ") for player in players]
    if (wanted := arguments.seat.replace("_", " ").lower()) not in (lower := [*map(str.lower, known)]):
        raise InputError("--as", f"one of {', '.join(known)}", shown(arguments.seat))
    return lower.index(wanted)


def _check_record_file(path: Path) -> None:
    """Complain before a game is played that could not be added to the file."""
    new = not path.exists()
    if not new and (torn := read_records(path).torn):
        raise InputError(cause=f"{torn}; remove that line first")
    append(path, [])
    if new:
        path.unlink()  # there is nothing in it until the game is over


_RULES_TEXT = (
    "Show the rules of a game in brief. The goal, the rules, an example of a board, the names of moves, and who\n"
    "designed the game."
)
_RULES_EXAMPLES = ("torus-v0", "grid-adaptation-small-v0", "hex-v0 --param tiling=octagons")

_TURNS = 8
_ROUNDS = 2
_MOST_ACTIONS = 60
_MOST_COLUMNS, _MOST_ROWS = 90, 45


def add_rules(commands: Any) -> None:
    """Add `rules`."""
    shared.add_game(shared.add_command(commands, "rules", "GAME ", _rules, _RULES_TEXT, _RULES_EXAMPLES))


def _rules(arguments: argparse.Namespace) -> int:
    from cellgames.cli.terminal import print_board, rules_in_brief

    game = shared.make_game(arguments)
    prompt = registry.plugin_of(game).prompt
    print_heading(game.info.title)
    print(wrapped_lines(game.info.credit))
    print_heading("\nRules")
    for text in rules_in_brief(game, range(game.info.num_players)):
        print(wrapped_lines(text) + "\n")
    with waiting("Playing some moves"):
        name, example, state = _example(arguments.game, game)
    print_heading(f"A board after some moves of agents{name}")
    print_board(example, example.text(state))
    if prompt is not None:
        print("\n" + wrapped_lines(prompt.position))
        print_heading("\nMoves")
        print(wrapped_lines(prompt.moves))
    print()
    print_next((f"play {shared.typed_game(arguments)} --agents {default_opponents(game)[-1]}", ""))
    return 0


def _example(id: str, game: Game) -> tuple[str, Game, State]:
    """Return words that name a game, the game, and a position of it.

    It is the game itself if its board fits a page, else the preset that does and whose id is most like its own.
    """
    import torch

    plugin = registry.plugin_of(game)
    others = sorted(plugin.variants, key=lambda other: -SequenceMatcher(None, id, other).ratio())
    width = max(terminal_width() or 0, _MOST_COLUMNS)
    for name, example in [(id, game), *((other, registry.make(other)) for other in others if other != id)]:
        lines = example.text(example.init(torch.tensor([0], device="cpu"))).splitlines()
        if len(lines) <= _MOST_ROWS and max(map(len, lines)) <= width:
            return ("" if example is game else f", of {name}"), example, _played(example)
    return "", game, _played(game)


def _played(game: Game) -> State:
    """Return a position after a few turns of `greedy`, or of random play where there is no such agent."""
    import torch

    from cellgames.agents.selection import select

    env_ids, random = torch.tensor([0], device="cpu"), torch.Generator().manual_seed(0)
    state: State = game.init(env_ids)
    seats = [torch.tensor([seat], device="cpu") for seat in range(game.info.num_players)]
    agents = [load("greedy" if "greedy" in registry.plugin_of(game).agents else "random", game) for _ in seats]
    for agent, seat in zip(agents, seats, strict=True):
        agent.start(game, seat, env_ids)
    turns, mover = 0, -1
    for _ in range(_MOST_ACTIONS):
        turns += game.info.simultaneous or int(state.current_player) != mover
        if bool(state.done) or turns > (_ROUNDS if game.info.simultaneous else _TURNS):
            break
        mover = int(state.current_player)
        acting = range(len(seats)) if game.info.simultaneous else [mover]
        chosen = [select(agents[seat], game, state, env_ids, random, seats[seat])[0] for seat in acting]
        state = game.step(state, torch.stack(chosen)[None] if game.info.simultaneous else chosen[0][None])
    return state
