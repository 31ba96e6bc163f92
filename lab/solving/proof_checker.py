"""Check a proof of who wins a position of Torus, Hex or Y, by the rules alone: `cellgames solve --verify FILE`.

`python proof_checker.py FILE` does the same without the package: this file needs nothing but Python. It shares no code
with the solvers that write proofs: it has its own boards, plays the moves of a proof, and looks for a win by a walk
through the group of the last stone.

A proof is a line of JSON and the winner's moves, a byte each, packed by LZMA. The loser's moves are not in it. Where
the loser is to move, all moves must be answered. The checker takes them in the order of cells. An answer that wins has
a carrier: the free cells that the winner's further play needs. A move outside of the carrier does not change that play,
so it need not be tried; the moves left to try are those in the carriers of all answers so far. A position that was
there before, or a symmetric one with at most `shared` stones, is not repeated.

Cells of Torus: octagon (r, c) is r*n + c, and square (r, c), n^2 + r*n + c, lies between octagons (r, c), (r, c+1),
(r+1, c) and (r+1, c+1), all modulo n. A closed path that winds h times to the right and v times down wins for Black if
h = 0 or h*v > 0, and for White if v = 0 or h*v < 0, unless h = v = 0. Cells of Hex and Y: row by row, all c < n in Hex
and c < n - r in Y; (r, c) touches (r, c+1), (r+1, c) and (r+1, c-1). In Hex Black connects top and bottom, White left
and right; in Y both connect the first row, the first column and the line r + c = n - 1.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORMAT = "cellgames {} proof 1"
GAMES = ("torus", "hex", "y")
MOST_MOVES = 1 << 27
_TOLD = 256  # moves between two calls of who wants to know how far it is

Board = list[int]  # 0 free, 1 Black, 2 White
Cells = int  # a set: bit i is cell i


class ProofError(ValueError):
    """A file is no proof, or its moves do not prove what it says."""


class _Checker:
    """A proof while it is read. `near` has the neighbours of each cell, and how often the way there winds around."""

    def __init__(self, game: str, size: int, moves: bytes, shared: int, told: Callable[[int, int], None]) -> None:
        self.game, self.size, self.moves, self.shared, self.told, self.read = game, size, moves, shared, told, 0
        n, self.known = size, dict[int, Cells]()
        kinds = (0, 1) if game == "torus" else (0,)
        places = [(k, r, c) for k in kinds for r in range(n) for c in range(n - r if game == "y" else n)]
        number = {place: cell for cell, place in enumerate(places)}
        self.cells, self.sides = len(places), [[r, n - 1 - r, c, n - 1 - c, n - 1 - r - c] for _, r, c in places]
        self.near: list[list[tuple[int, int, int]]] = [[] for _ in places]
        for (kind, row, col), cell in number.items():
            steps = [(0, 0, 1), (0, 1, 0), (0, 1, -1)] if game != "torus" else [] if kind else [(0, 0, 1), (0, 1, 0)]
            steps += [(1, r, c) for r in (0, -1) for c in (0, -1)] if game == "torus" and not kind else []
            for k, down, right in steps:
                r, c = row + down, col + right
                other = number.get((k, r % n, c % n) if game == "torus" else (k, r, c))
                if other is not None:
                    self.near[cell].append((other, c // n, r // n))
                    self.near[other].append((cell, -(c // n), -(r // n)))
        self.images = [list(range(self.cells))]  # symmetries, the first of which moves nothing
        if game == "torus":
            turned = [(k, -r - k, -c - k) for k, r, c in places]
            moves_by = [(down, right) for down in range(n) for right in range(n)]
            self.images = [
                [number[k, (r + down) % n, (c + right) % n] for k, r, c in start]
                for start in (places, turned)
                for down, right in moves_by
            ]

    def wins(self, board: Board, last: int) -> bool:
        """Return True if the group of the last stone wins for its owner."""
        owner, at, stack, kept = board[last], {last: (0, 0)}, [last], (0, 0)
        while stack:
            cell = stack.pop()
            x, y = at[cell]
            for other, right, down in self.near[cell]:
                if board[other] != owner:
                    continue
                if other not in at:
                    at[other] = (x + right, y + down)
                    stack.append(other)
                    continue
                h, v = x + right - at[other][0], y + down - at[other][1]
                if h == v == 0:
                    continue
                if ((h == 0 or h * v > 0) if owner == 1 else (v == 0 or h * v < 0)) or h * kept[1] != v * kept[0]:
                    return True
                kept = (h, v)
        goal = {"torus": (), "hex": (0, 1) if owner == 1 else (2, 3), "y": (0, 2, 4)}[self.game]
        return bool(goal) and all(any(self.sides[cell][side] == 0 for cell in at) for side in goal)

    def answer(self, board: Board, player: int) -> Cells:
        """Play the winner's next move; return the carrier of its win."""
        if self.read == len(self.moves):
            raise ProofError("the proof ends before all moves are answered")
        move = self.moves[self.read]
        self.read += 1
        if self.read % _TOLD == 0:
            self.told(self.read, len(self.moves))
        if move >= self.cells or board[move]:
            raise ProofError(f"move {self.read} of the proof is no free cell: {move}")
        board[move] = player
        carrier = 1 << move if self.wins(board, move) else 1 << move | self.refute(board, 3 - player)
        board[move] = 0
        return carrier

    def refute(self, board: Board, player: int) -> Cells:
        """Check the answers to all moves of the loser; return the carrier of the winner's win."""
        name, image = self.name(board)
        if name in self.known:
            return sum(1 << cell for cell in range(self.cells) if self.known[name] >> image[cell] & 1)
        region, united = sum(1 << cell for cell in range(self.cells) if not board[cell]), 0
        if not region:
            raise ProofError("nobody has won a full board, against the rules")
        while region:
            move = (region & -region).bit_length() - 1
            board[move] = player
            if self.wins(board, move):
                raise ProofError(f"the loser wins before move {self.read + 1} of the proof")
            carrier = self.answer(board, 3 - player)
            board[move] = 0
            region &= carrier
            united |= carrier
        self.known[name] = sum(1 << image[cell] for cell in range(self.cells) if united >> cell & 1)
        return united

    def name(self, board: Board) -> tuple[int, list[int]]:
        """Return a number that only symmetric positions share, if they have few stones, and the way to it."""
        stones = [cell for cell in range(self.cells) if board[cell]]
        images = self.images if len(stones) <= self.shared else self.images[:1]
        names = [sum(board[cell] << 2 * image[cell] for cell in stones) for image in images]
        least = min(names)
        return least, images[names.index(least)]


def check(proof: dict[str, Any], moves: bytes, told: Callable[[int, int], None] = lambda read, moves: None) -> int:
    """Check a proof that `read` has returned; return how many positions of the loser's it has.

    `told` is called now and then with the moves that have been checked, and their number.

    Raises:
        ProofError: something is not proved, or wrong.
    """
    game, size, text, winner = proof["format"].split()[1], proof["size"], proof["position"], proof["winner"]
    marks = text.replace("/", "").replace(" ", "")
    checker = _Checker(game, size, moves, proof["shared"], told) if 2 <= size <= 16 else None
    if checker is None or len(marks) != checker.cells + 1 or set(marks[:-1]) - set(".xo") or marks[-1] not in "bw":
        raise ProofError(f"no position of size {size}: {text!r:.200}")
    if winner not in ("black", "white"):
        raise ProofError(f"no winner: {winner!r:.100}")
    board, mover = [".xo".index(mark) for mark in marks[:-1]], "bw".index(marks[-1]) + 1
    if any(checker.wins(board, cell) for cell in range(len(board)) if board[cell]):
        raise ProofError("the position of the proof is a finished game")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    (checker.answer if mover == ("black", "white").index(winner) + 1 else checker.refute)(board, mover)
    if checker.read != len(moves):
        raise ProofError(f"the proof goes on after all moves are answered: {len(moves)} moves, {checker.read} needed")
    return len(checker.known)


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the claim of a proof, and the winner's moves; raise a `ProofError` for other files."""
    line, _, packed = path.read_bytes().partition(b"\n")
    try:
        proof = json.loads(line)
        kinds = {name: type(proof.get(name)) for name in ("size", "position", "winner", "shared")}
        known = proof.get("format") in [FORMAT.format(game) for game in GAMES]
        if not known or kinds != {"size": int, "position": str, "winner": str, "shared": int}:
            raise ProofError("its first line does not say format, size, position, winner and shared")
        unpacker = lzma.LZMADecompressor()
        moves = unpacker.decompress(packed, MOST_MOVES)
        if not unpacker.eof:
            raise ProofError("its moves break off, or are too many")
    except (ValueError, AttributeError, lzma.LZMAError) as error:
        raise ProofError(f"{path} is no proof of a position of Torus, Hex or Y: {error}") from error
    return proof, moves


def check_file(path: Path, told: Callable[[int, int], None] = lambda read, moves: None) -> str:
    """Check a file, as `check` does; return what it proves, in a sentence."""
    proof, moves = read(path)
    positions = check(proof, moves, told)
    claim = f"{proof['winner']} wins {proof['position']} (size {proof['size']})"
    return f"proved: {claim}; {len(moves)} moves in {positions} positions"


def write(path: Path, game: str, size: int, position: str, winner: str, moves: bytes, shared: int = 8) -> None:
    """Write a proof as a file."""
    proof = {"format": FORMAT.format(game), "size": size, "position": position, "winner": winner, "shared": shared}
    path.write_bytes(json.dumps(proof).encode() + b"\n" + lzma.compress(moves, preset=9))


if __name__ == "__main__":
    try:
        print(check_file(Path(sys.argv[1])))
    except (ProofError, OSError, IndexError) as error:
        sys.exit(f"{error}")
