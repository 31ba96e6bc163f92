"""`cellgames rules`: the rules of a game in brief.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import print_heading, print_next, terminal_width, wrapped_lines
from cellgames.cli.shared_options import add_command, add_game, make_game
from cellgames.envs import registry
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.envs.core import Game, State

_TEXT = (
    "Show the rules of a game in brief. The goal, the rules, an example of a board, the names of moves, and who\n"
    "designed the game."
)
_EXAMPLES = ("torus-v0", "grid-adaptation-small-v0", "hex-v0 --param tiling=octagons")

_TURNS = 8
_ROUNDS = 2
_MOST_ACTIONS = 60
_MOST_COLUMNS, _MOST_ROWS = 90, 45


def add(commands: Any) -> None:
    """Add the command."""
    add_game(add_command(commands, "rules", "GAME ", _run, _TEXT, _EXAMPLES))


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.cli.terminal import print_board, rules_in_brief

    game = make_game(arguments)
    prompt = registry.plugin_of(game).prompt
    print_heading(game.info.title)
    print(wrapped_lines(game.info.credit))
    print_heading("\nRules")
    for text in rules_in_brief(game, range(game.info.num_players)):
        print(wrapped_lines(text) + "\n")
    with waiting("Playing some moves"):
        name, shown, state = _example(arguments.game, game)
    print_heading(f"A board after some moves of agents{name}")
    print_board(shown, shown.text(state))
    if prompt is not None:
        print("\n" + wrapped_lines(prompt.position))
        print_heading("\nMoves")
        print(wrapped_lines(prompt.moves))
    print()
    print_next((f"play {arguments.game.typed} --agents greedy", ""))
    return 0


def _example(id: str, game: Game) -> tuple[str, Game, State]:
    """Return words that name a game, the game, and a position of it.

    It is the game itself if its board fits a page, else the preset that does and whose id is most like its own.
    """
    import torch

    plugin = registry.plugin_of(game)
    others = sorted(plugin.variants, key=lambda other: -SequenceMatcher(None, id, other).ratio())
    fits = [(id, game), *((other, registry.make(other)) for other in others if other != id)]
    width = max(terminal_width() or 0, _MOST_COLUMNS)
    for name, shown in fits:
        lines = shown.text(shown.init(torch.tensor([0], device="cpu"))).splitlines()
        if len(lines) <= _MOST_ROWS and max(map(len, lines)) <= width:
            return ("" if shown is game else f", of {name}"), shown, _played(shown)
    return "", game, _played(game)


def _played(game: Game) -> State:
    """Return a position after a few turns of `greedy`, or of random play where there is no such agent."""
    import torch

    from cellgames.agents.loading import load
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
