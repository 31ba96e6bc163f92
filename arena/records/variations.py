"""Variations of a recorded game: moves that were tried beside it, as a tree with comments.

A record holds the tree as a list, in which each move stands after the one before it. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cellgames.utils.errors import InputError, shown

MOST_COMMENT = 2000
"""Characters of a comment."""

_MOST_MOVES = 20_000
_MOST_MOVE = 100  # characters


class Variation(NamedTuple):
    """A move of the tree: the place of the move before it in the list (-1 for the start), its name, a comment."""

    parent: int
    move: str
    comment: str = ""


def variations_of(data: Any) -> tuple[Variation, ...]:
    """Return the variations of a record's JSON, a list of [parent, move] or [parent, move, comment].

    Raises:
        ValueError: Something else, a parent that comes later, or more or longer texts than records hold.
    """
    if not isinstance(data, list) or len(data) > _MOST_MOVES:
        raise InputError("variations", f"a list of up to {_MOST_MOVES} moves", shown(data))
    found = []
    for place, entry in enumerate(data):
        parent, move, comment = [*entry, ""][:3] if isinstance(entry, list) and 2 <= len(entry) <= 3 else (None, "", "")
        if (
            type(parent) is not int
            or not -1 <= parent < place
            or not (isinstance(move, str) and 0 < len(move) <= _MOST_MOVE)
            or not (isinstance(comment, str) and len(comment) <= MOST_COMMENT)
        ):
            raise InputError(
                f"variations[{place}]",
                f"[parent, move] or [parent, move, comment of up to {MOST_COMMENT} characters]",
                shown(entry),
                "a parent is the place of an earlier entry or -1",
            )
        found.append(Variation(parent, move, comment))
    return tuple(found)


def variations_data(variations: Iterable[Variation]) -> list[list[Any]]:
    """Return variations as a record's JSON holds them."""
    return [list(one if one.comment else one[:2]) for one in variations]


@dataclass(eq=False)
class MoveNode:
    """A move of a tree, or its root, which has no move.

    Attributes:
        move: As the game writes it; "" for the root.
        comment: "" for none.
        children: The moves after it; the first one continues its line.
    """

    move: str = ""
    comment: str = ""
    children: list[MoveNode] = field(default_factory=list)

    def child(self, move: str) -> MoveNode:
        """Return the child with this move, which is made if it is missing."""
        found = next((node for node in self.children if node.move == move), None)
        if found is None:
            self.children.append(found := MoveNode(move))
        return found


def move_tree(moves: Sequence[str], *trees: Iterable[Variation]) -> MoveNode:
    """Return the root of a tree whose first line begins with the moves of the game, and that has all moves of others.

    Where several comment a move, the last comment stays.
    """
    root = node = MoveNode()
    for move in moves:
        node = node.child(move)
    for variations in trees:
        nodes: list[MoveNode] = []
        for parent, move, comment in variations:
            node = (root if parent < 0 else nodes[parent]).child(move)
            node.comment = comment or node.comment
            nodes.append(node)
    return root


def listed(root: MoveNode) -> tuple[Variation, ...]:
    """Return the moves of a tree as a list: each line to its end, its first move before those beside it."""
    found: list[Variation] = []
    waiting = [(child, -1) for child in reversed(root.children)]
    while waiting:
        node, parent = waiting.pop()
        waiting += [(child, len(found)) for child in reversed(node.children)]
        found.append(Variation(parent, node.move, node.comment))
    return tuple(found)


def merged(earlier: Sequence[Variation], later: Sequence[Variation]) -> tuple[Variation, ...]:
    """Return the moves of two trees of one game as one tree, cut off at the most moves that a record holds."""
    return listed(move_tree((), earlier, later))[:_MOST_MOVES]
