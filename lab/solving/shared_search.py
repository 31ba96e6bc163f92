"""Proof-number search of one position that many workers share: job-level proof-number search.

A tree of the first moves lies in this process. Each piece of work is the position of a leaf, which a worker searches by
`ProofSearch` with a bound of nodes. If that leaves the position open, the leaf gets children, which take over its proof
and disproof numbers. See Wu, Lin, Lin, Chen, Lin, "Job-level proof number search", IEEE TCIAIG 5 (2013).

Every result is a line of a journal, written as soon as it is there. A search that is killed goes on from its journal.

Letters: `L` positions, `N` cells, `S` symmetries.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cellgames.agents.torus.proof_search import Progress, ProofSearch
from cellgames.cluster.workers import Workers
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.symmetry import sources

__all__ = ["LeafWork", "SharedSearch"]

_INFINITE = 1 << 40
_FORMAT = "cellgames torus journal 1"
_LOOK_S = 1.0  # between two looks at the clock while workers are busy
_MOST_PIECES_A_WORKER = 2  # under way, so that none waits for this process


@dataclass(frozen=True)
class LeafWork:
    """The part that all leaves have in common: see `cluster.workers.Work`.

    Attributes:
        size: of the board.
        memory: bytes of each worker's table.
        nodes: searched of a leaf at most.
    """

    size: int
    memory: int
    nodes: int

    def start(self) -> Callable[[str], Progress]:
        """Return the function that searches the position of a text."""
        game, search = Torus(self.size), ProofSearch(self.size, self.memory)

        def piece(text: str) -> Progress:
            for found in search.search(game.string_to_state(text), slice_nodes=min(self.nodes, 20_000)):
                if found.value or found.nodes >= self.nodes:
                    return found
            raise AssertionError("a search ends with a result")

        return piece


@dataclass(eq=False)
class _Node:
    """A position of the tree; the numbers are those of a win of the player to move, `moves` lead to the children."""

    text: str
    proof: int = 1
    disproof: int = 1
    running: bool = False
    moves: list[int] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)
    parents: list[_Node] = field(default_factory=list)

    @property
    def value(self) -> int:
        """Return 1 if the player to move wins, -1 if it loses, else 0."""
        return (self.proof == 0) - (self.disproof == 0)


class SharedSearch:
    """A search of one position.

    Attributes:
        nodes: positions that workers have searched, also in earlier runs of the journal.
        pieces: leaves that they have searched.
    """

    def __init__(self, state: TorusState, work: LeafWork, journal: Path) -> None:
        """Take over what a journal says, or begin one.

        Args:
            state: one unfinished position.
            work: done for each leaf.
            journal: a file; it belongs to the position.

        Raises:
            ValueError: the file is another one.
        """
        self.game, self.work, self.nodes, self.pieces = Torus(work.size), work, 0, 0
        self._all: dict[str, _Node] = {}
        self._root = self._node(self.game.state_to_string(state))
        self._journal = journal
        head = {"format": _FORMAT, "position": self._root.text}
        lines = journal.read_bytes().split(b"\n") if journal.exists() else []
        sound = [line for line in map(_read, lines[:-1]) if line is not None]  # the last line may be torn
        if lines and (not sound or sound[0] != head):
            raise ValueError(f"{journal} is not the journal of a search of this position; name another file")
        self._write("w", head, *sound[1:])
        for line in sound[1:]:
            self._take(line)

    @property
    def progress(self) -> Progress:
        """Return the state of the search."""
        root = self._root
        best = min(range(len(root.children)), key=lambda place: root.children[place].disproof, default=-1)
        move = root.moves[best] if best >= 0 and root.value >= 0 else -1
        return Progress(root.value, move, self.nodes, root.proof, root.disproof)

    def run(self, workers: Workers) -> Iterator[Progress]:
        """Search; yield the progress whenever a piece is done, and about once a second, until the position is solved.

        Args:
            workers: who search leaves.
        """
        running = dict[Future[Progress], _Node]()
        try:
            while not self._root.value:
                while len(running) < max(1, workers.count) * _MOST_PIECES_A_WORKER and (leaf := self._leaf()):
                    running[workers.submit(self.work, leaf.text)] = leaf
                    leaf.running = True
                    self._update(leaf)
                for future in wait(running, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
                    leaf, found = running.pop(future), future.result()
                    leaf.running = False
                    line = {"leaf": leaf.text, **asdict(found), "time": round(time.time())}
                    self._write("a", line)
                    self._take(line)
                yield self.progress
        finally:
            for future in running:
                future.cancel()
        yield self.progress

    def _write(self, mode: str, *lines: dict[str, Any]) -> None:
        """Write lines to the journal, so that they outlast the process and the machine."""
        with self._journal.open(mode, encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())

    def _take(self, line: dict[str, Any]) -> None:
        """Enter a result into the tree."""
        node = self._node(line["leaf"])
        self.nodes += line["nodes"]
        self.pieces += 1
        node.proof, node.disproof = line["proof"], line["disproof"]
        if line["value"]:
            node.proof, node.disproof = (0, _INFINITE) if line["value"] == 1 else (_INFINITE, 0)
        else:
            self._expand(node, line["move"])
        self._update(node)

    def _expand(self, node: _Node, first: int) -> None:
        """Give an open leaf its children, the most promising one first."""
        state = self.game.string_to_state(node.text)
        legal = self.game.legal_actions(state)[0].nonzero().squeeze(1).tolist()
        moves = sorted(legal, key=lambda move: move != first)
        after = self.game.step(
            state[torch.zeros(len(moves), dtype=torch.int64, device="cpu")], torch.tensor(moves, device="cpu")
        )
        texts = dict[str, int]()
        for text, move in zip(self._canonical(after), moves, strict=True):
            texts.setdefault(text, move)
        for text, move in texts.items():
            child = self._all.get(text)
            if child is None:
                child = self._node(text)
                child.proof, child.disproof = max(1, node.disproof // len(texts)), node.proof
            child.parents.append(node)
            node.children.append(child)
            node.moves.append(move)

    def _node(self, text: str) -> _Node:
        return self._all.setdefault(text, _Node(text))

    def _canonical(self, state: TorusState) -> list[str]:
        """Return the texts of positions, each after the symmetry that keeps the colours and makes it the first."""
        size, cells = self.game.size, 2 * self.game.size**2
        turns = sources(size, torch.device("cpu")).view(4, -1, cells)[::2].flatten(0, 1)
        marks = torch.tensor([ord(mark) for mark in ".xo"], dtype=torch.uint8, device="cpu")[
            self.game.board(state).long()
        ]  # [L, N]
        images = np.sort(marks[:, turns].numpy().view(f"S{cells}")[..., 0])  # [L, S]
        texts = []
        for name, player in zip(images[:, 0], state.current_player.tolist(), strict=True):
            rows = [name.decode()[start : start + size] for start in range(0, cells, size)]
            texts.append(f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {'bw'[player]}")
        return texts

    def _leaf(self) -> _Node | None:
        """Return the most proving leaf that nobody searches, or None if there is none now."""
        node = self._root
        while node.children:
            node = min(node.children, key=lambda child: (child.value == 1, child.running, child.disproof))
        return None if node.running or node.value else node

    def _update(self, node: _Node) -> None:
        """Work out the numbers of a position's ancestors; a leaf that is searched counts as lost for its parent."""
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here.children and not here.value:
                least = min(_INFINITE if child.running else child.disproof for child in here.children)
                here.running = least == _INFINITE and any(child.running for child in here.children)
                here.proof = min(child.disproof for child in here.children)
                here.disproof = min(_INFINITE, sum(child.proof for child in here.children))
                if here.proof == 0:
                    here.disproof = _INFINITE
            waiting += here.parents


def _read(line: bytes) -> dict[str, Any] | None:
    """Return a line of a journal, or None if it is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and ("format" in found or "leaf" in found) else None
