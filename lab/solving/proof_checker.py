"""Check a proof of who wins a position of Torus, by the rules alone: `cellgames solve --verify FILE`.

`python proof_checker.py FILE` does the same without the package: this file needs nothing but Python. It shares no code
with the solver that writes proofs, and works another way: it has its own geometry, plays the moves of the proof, and
looks for closed paths by a walk through the group of the last stone.

A proof is a line of JSON and the winner's moves, a byte each, packed by LZMA. The loser's moves are not in it. Where
the loser is to move, all moves must be answered. The checker takes them in the order of cells. An answer that wins has
a carrier: the free cells that the winner's further play needs. A move outside of the carrier does not change that play,
so it need not be tried; the moves left to try are those in the carriers of all answers so far. A position that was
there before, or a symmetric one with at most `shared` stones, is not repeated.

Cells: octagon (r, c) is r*n + c, and square (r, c), n^2 + r*n + c, lies between octagons (r, c), (r, c+1), (r+1, c) and
(r+1, c+1), all modulo n. A closed path that winds h times to the right and v times down wins for Black if h = 0 or
h*v > 0, and for White if v = 0 or h*v < 0, unless h = v = 0.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

FORMAT = "cellgames torus proof 1"
MOST_MOVES = 1 << 27
_TOLD = 256  # moves between two calls of who wants to know how far it is

Board: TypeAlias = list[int]  # 0 free, 1 Black, 2 White
Cells: TypeAlias = int  # a set: bit i is cell i


class ProofError(ValueError):
    """A file is no proof, or its moves do not prove what it says."""


class _Checker:
    """A proof while it is read."""

    def __init__(
        self, size: int, moves: bytes, shared: int, told: Callable[[int, int], None] = lambda read, moves: None
    ) -> None:
        self.size, self.cells, self.moves, self.shared, self.read = size, 2 * size * size, moves, shared, 0
        self.told = told
        self.near: list[list[tuple[int, int, int]]] = [[] for _ in range(self.cells)]
        for row in range(size):
            for col in range(size):
                for kind, steps in ((0, ((0, 1), (1, 0))), (1, ((0, 0), (0, -1), (-1, 0), (-1, -1)))):
                    for down, right in steps:
                        r, c = row + down, col + right
                        cell, other = row * size + col, kind * size * size + r % size * size + c % size
                        self.near[cell].append((other, c // size, r // size))
                        self.near[other].append((cell, -(c // size), -(r // size)))
        places = [(k, r, c) for k in (0, 1) for r in range(size) for c in range(size)]
        self.images = [  # translations and half turns, the first of which moves nothing
            [k * size * size + (r + down) % size * size + (c + right) % size for k, r, c in start]
            for start in (places, [(k, -r - k, -c - k) for k, r, c in places])
            for down in range(size)
            for right in range(size)
        ]
        self.known: dict[int, Cells] = {}

    def wins(self, board: Board, last: int) -> bool:
        """Return True if the group of the last stone has a closed path that wins for its owner."""
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
        return False

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

    `told` is called now and then with how many moves have been checked, and their number.

    Raises:
        ProofError: something is not proved, or wrong.
    """
    size, text, shared = proof["size"], proof["position"], proof["shared"]
    marks = text.replace("/", "").replace(" ", "")
    cells, mover_mark = marks[:-1], marks[-1:]
    if not (2 <= size <= 16 and len(cells) == 2 * size * size and set(cells) <= set(".xo") and mover_mark in "bw"):
        raise ProofError(f"no position of size {size}: {text!r:.200}")
    board, mover, winner = [".xo".index(mark) for mark in cells], "bw".index(mover_mark) + 1, proof["winner"]
    if winner not in ("black", "white"):
        raise ProofError(f"no winner: {winner!r:.100}")
    checker = _Checker(size, moves, shared, told)
    if any(checker.wins(board, cell) for cell in range(len(board)) if board[cell]):
        raise ProofError("the position of the proof is a finished game")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    if mover == ("black", "white").index(winner) + 1:
        checker.answer(board, mover)
    else:
        checker.refute(board, mover)
    if checker.read != len(moves):
        raise ProofError(f"the proof goes on after all moves are answered: {len(moves)} moves, {checker.read} needed")
    return len(checker.known)


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the claim of a proof, and the winner's moves.

    Raises:
        ProofError: the file is no proof.
    """
    line, _, packed = path.read_bytes().partition(b"\n")
    try:
        proof = json.loads(line)
        kinds = {name: type(proof.get(name)) for name in ("size", "position", "winner", "shared")}
        if proof.get("format") != FORMAT or kinds != {"size": int, "position": str, "winner": str, "shared": int}:
            raise ValueError(f"its first line does not say {FORMAT!r}, size, position, winner and shared")
        unpacker = lzma.LZMADecompressor()
        moves = unpacker.decompress(packed, MOST_MOVES)
        if not unpacker.eof:
            raise ValueError("its moves break off, or are too many")
    except (ValueError, AttributeError, lzma.LZMAError) as error:
        raise ProofError(f"{path} is no proof of a position of Torus: {error}") from error
    return proof, moves


def write(path: Path, size: int, position: str, winner: str, moves: bytes, shared: int = 8) -> None:
    """Write a proof as a file."""
    proof = {"format": FORMAT, "size": size, "position": position, "winner": winner, "shared": shared}
    path.write_bytes(json.dumps(proof).encode() + b"\n" + lzma.compress(moves, preset=9))


def check_file(path: Path, told: Callable[[int, int], None] = lambda read, moves: None) -> str:
    """Check a file; return what it proves, in a sentence; `told` as in `check`.

    Raises:
        ProofError: it proves nothing.
    """
    proof, moves = read(path)
    positions = check(proof, moves, told)
    return (
        f"proved: {proof['winner']} wins {proof['position']} (size {proof['size']}); "
        f"{len(moves)} moves in {positions} positions"
    )


if __name__ == "__main__":
    try:
        print(check_file(Path(sys.argv[1])))
    except (ProofError, OSError, IndexError) as error:
        sys.exit(f"{error}")
