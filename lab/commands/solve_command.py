"""`cellgames solve`: who wins a position of a small board with best play, proofs of it, and their check.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cli.shared_options import GameId, add_command, add_json, add_parameters, add_quiet, make_game
from cellgames.utils.errors import InputError, check_place
from cellgames.utils.progress import StatusLine

if TYPE_CHECKING:
    from cellgames.agents.solving import ProofSearch

_TEXT = (
    "Solve a position: who wins with best play, and by which moves. Hex of size 6 and Y of size 8 take some seconds\n"
    "from the first move; boards have 128 cells at most. In Torus, sizes 2 to 4 take less than a second, and size 5\n"
    "takes a minute or two from the first moves. The command accepts size 6, which nobody has solved.\n\n"
    "--proof writes the winner's answers to all moves, which can be too many for any --time on a large board.\n"
    "--verify checks such a file by the rules alone, with code that shares nothing with the solver.\n\n"
    "Long searches: --table keeps all that the search knows in a file at any time, so that it goes on after Ctrl-C,\n"
    "kill -9 or --time."
)
_EXAMPLES = (
    "torus-v0 --size 4",
    "hex-v0 --size 4 --param swap=False",
    'torus-v0 --size 4 --moves "a1+ b2" --proof a1+b2.proof',
    "hex-v0 --size 5 --param swap=False --moves c3 --proof c3.proof",
    "torus-v0 --size 5 --moves a1 --winner --memory 1",
    "torus-v0 --size 6 --moves a1 --winner --memory 8 --table octagon.table --time 3600",
    "--verify results/proofs/torus-n4-octagon.proof",
)
_GIB = 1 << 30
_NODES = 20_000  # searched of every open move between two looks at the clock
_SILENT = 2.0  # seconds before progress is shown
_MOST_MEMORY = 1024.0


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "solve", "[GAME] ", _run, _TEXT, _EXAMPLES)
    command.add_argument(
        "game", metavar="GAME", nargs="?", type=GameId, help="Torus, Hex or Y, such as torus-v0 (with --verify: none)"
    )
    add_parameters(command)
    command.add_argument("--moves", metavar="TEXT", default="", help='moves played first, such as "c3 a1+ b2"')
    command.add_argument("--position", metavar="TEXT", default="", help="start position, as `position` prints it")
    command.add_argument("--winner", action="store_true", help="only who wins and a move that does, not all moves")
    command.add_argument("--proof", metavar="FILE", type=Path, help="write a proof of who wins")
    command.add_argument("--verify", metavar="FILE", type=Path, help="check a proof instead")
    command.add_argument("--time", metavar="S", type=float, help="stop after so many seconds")
    command.add_argument("--memory", metavar="GB", type=float, default=0.25, help="size of the table (default 0.25)")
    command.add_argument(
        "--table",
        metavar="FILE",
        type=Path,
        help="keep the table in this file, which has the size of --memory when it is new",
    )
    add_json(command)
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.verify is not None:
        return _verify(arguments)
    return _solve(arguments)


def _verify(arguments: argparse.Namespace) -> int:
    """Check a proof."""
    from cellgames.lab.solving.proof_checker import check_file

    if arguments.game is not None or arguments.proof is not None:
        raise InputError("--verify", cause="it checks a file; it takes neither a game nor --proof")
    began, line = time.monotonic(), StatusLine(not arguments.quiet)

    def told(checked: int, moves: int) -> None:
        if (seconds := time.monotonic() - began) > _SILENT:
            line.show(f"checked {checked:,} of {moves:,} moves in {seconds:.1f} s")

    try:
        text = check_file(arguments.verify, told)
    finally:
        line.end(clear=True)
    if arguments.json:
        print(json.dumps({"proved": text}))
    else:
        print(f"{text}, checked in {time.monotonic() - began:.1f} s")
    return 0


def _solve(arguments: argparse.Namespace) -> int:
    """Solve a position; print what is found."""
    from cellgames.agents.solving import proof_search
    from cellgames.arena.records import replays

    if arguments.game is None:
        raise InputError("GAME", "a game, such as torus-v0 --size 4, or a proof with --verify FILE", "none")
    check_place("--proof", arguments.proof)
    check_place("--table", arguments.table)
    if not 0.001 <= arguments.memory <= _MOST_MEMORY:
        raise InputError("--memory", f"0.001 to {_MOST_MEMORY:.0f} GB", arguments.memory)
    if arguments.time is not None and not arguments.time > 0:
        raise InputError("--time", "a number above 0", arguments.time)
    game = make_game(arguments)
    if arguments.proof is not None and getattr(game, "tiling", "hexagons") != "hexagons":
        raise InputError("--proof", "Torus, or Hex or Y on hexagons", game)
    try:
        solver = proof_search(game, int(arguments.memory * _GIB), table=arguments.table)
    except RuntimeError as error:
        raise InputError(cause=str(error)) from error
    state = replays.after_moves(game, arguments.moves.split(), position=arguments.position)
    replays.check_unfinished(game, state)
    return _Solving(arguments, state, solver).run()


class _Solving:
    """The work of one call."""

    def __init__(self, arguments: argparse.Namespace, state: Any, solver: ProofSearch[Any]) -> None:
        self.arguments, self.game, self.state, self.solver = arguments, solver.game, state, solver
        self.line = StatusLine(not arguments.quiet)
        self.began = time.monotonic()

    def run(self) -> int:
        """Search, and print what is found; return the exit code."""
        value, move = self._value()
        if not value:
            self.line.end()
            raise InputError(cause=f"not solved within {self._spent()}{self._again()}")
        moves = [] if self.arguments.winner else self._winning_moves()
        self.line.end()
        mover = int(self.state.current_player)
        winner = self.game.info.players[mover if value == 1 else 1 - mover]
        self._print(winner, self.game.action_to_string(move) if move >= 0 else None, moves)
        if self.arguments.proof is not None:
            self._prove(winner)
        return 0

    def _print(self, winner: str, best: str | None, moves: list[str]) -> None:
        """Print who wins, and by which moves."""
        if self.arguments.json:
            data = {"winner": winner, "move": best, "nodes": self.solver.nodes, "seconds": self._seconds()}
            print(json.dumps(data if self.arguments.winner else {**data, "winning_moves": moves}))
            return
        print(self.game.text(self.state))
        print(f"\n{winner.capitalize()} wins with best play ({self._spent()}).")
        if self.arguments.winner:
            print(f"A winning move: {best}" if best else "Every move loses.")
        else:
            print(f"Winning moves: {' '.join(moves)}" if moves else "Every move loses.")

    def _prove(self, winner: str) -> None:
        from cellgames.lab.solving.proof_checker import write
        from cellgames.utils.files import replacing

        self.line.show("writing the proof", news=True)
        left = self.arguments.time and max(0.0, self.arguments.time - self._seconds())
        try:
            moves = self.solver.winning_strategy(self.state, left)
        except TimeoutError:
            raise InputError(cause=f"no proof within {self._seconds():.1f} s; it may have too many moves") from None
        finally:
            self.line.end()
        text = self.game.state_to_string(self.state)
        with replacing(self.arguments.proof) as part:
            write(part, self.game.id.removesuffix("-v0"), self.game.size, text, winner, moves)
        if not self.arguments.json:
            print(f"Proof: {self.arguments.proof}, {len(moves)} moves; check it with --verify")

    def _value(self) -> tuple[int, int]:
        """Return the winner (1 the mover, -1 the other, 0 if time is up) and a winning move or -1."""
        for step in self.solver.search(self.state):
            if time.monotonic() - self.began > _SILENT:
                self.line.show(f"{self._spent()}; proof number {step.proof}, disproof number {step.disproof}")
            if step.value or self._late():
                return step.value, step.move
        raise AssertionError("a search ends with a result")

    def _winning_moves(self) -> list[str]:
        """Return the moves that win."""
        solver, legal = self.solver, self.game.legal_actions(self.state)
        while True:
            values = solver.move_values(self.state, nodes=_NODES)
            left = int(legal.sum() - (values != 0).sum())
            if not left:
                return [self.game.action_to_string(move) for move in (values[0] == 1).nonzero().squeeze(1).tolist()]
            if self._late():
                self.line.end()
                raise InputError(cause=f"{left} moves are left after {self._spent()}{self._again()}; or see --winner")
            if time.monotonic() - self.began > _SILENT:
                self.line.show(f"{self._spent()}; {left} moves left to judge")

    def _late(self) -> bool:
        return self.arguments.time is not None and time.monotonic() - self.began > self.arguments.time

    def _again(self) -> str:
        table = self.arguments.table
        return f"; --table {table} goes on" if table else "; with --table FILE it can go on later"

    def _seconds(self) -> float:
        return round(time.monotonic() - self.began, 2)

    def _spent(self) -> str:
        return f"{self.solver.nodes:,} nodes, {self._seconds():.1f} s"
