"""The lessons of Hex and Y."""

from __future__ import annotations

from .lesson import Board, Guide, Lesson, Part, Step

__all__ = ["HEX", "Y"]

_HEX = {"size": 4, "swap": False}
_Y = {"size": 5, "swap": False}
_SWAP = {"swap": True}

_TAKEN = "In your own game White may do so: begin with a stone that is neither strong nor weak."

HEX = Lesson(
    game="hex-v0",
    parts=(
        Part(
            "Connect your two sides",
            "Black owns the top and the bottom side, White the left and the right side. Players place one stone a "
            "move on any free cell. Whoever connects the two own sides by a chain of touching stones wins. No game is "
            "drawn.",
            (Board("Black has connected the top with the bottom.", "b2 c2 b3 b1 c1 a3 a4 d2 b4", _HEX),),
        ),
        Part(
            "Bridges",
            "Two stones with two free cells between them are as good as connected: if White takes one of the cells, "
            "Black takes the other one.",
            (Board("The framed cells make the bridge.", "c2 a1 b4", _HEX, marked=("b3", "c3")),),
        ),
        Part(
            "The swap",
            "The first stone would be a great advantage. So White may take it over in place of its own first move. The "
            "stone is white then and stands mirrored: row and column change places. So Black begins with a stone that "
            "is neither strong nor weak. White finds a button for the swap beside the board.",
            (
                Board("Black begins in the middle: a strong stone.", "b3", _HEX | _SWAP),
                Board("White has taken it over. It stands mirrored, at c2.", "b3 swap-pieces", _HEX | _SWAP),
            ),
        ),
    ),
    guide=Guide(
        parameters=_HEX | _SWAP,
        next="hex-small-v0",
        steps=(
            Step(
                "You are Black and connect the top with the bottom. Take a cell in the middle. By the swap, White may "
                "take over a first stone in place of its own first move; your teacher does not.",
                "b3",
                "c2",
            ),
            Step(
                "White goes for the top. Answer with a bridge: your two stones have two free cells between them, and "
                "White can take only one of them.",
                "c1",
                "c3",
            ),
            Step(
                "White wants to get around below. Your stone b3 reaches the bottom over two free cells, a4 and b4. "
                "First join your stones at the top.",
                "b2",
                "b4",
            ),
            Step("White took one of the two cells at the bottom. Take the other one, and your chain is closed.", "a4"),
        ),
        end="Your chain connects the top with the bottom. You have used bridges: with two ways to connect, the "
        "opponent can shut only one. Your teacher did not take over your first stone (the swap). " + _TAKEN,
    ),
)

Y = Lesson(
    game="y-v0",
    parts=(
        Part(
            "Connect all three sides",
            "Players place one stone a move on any free cell. Whoever has one chain of touching stones that touches "
            "all three sides of the triangle wins. A corner belongs to two sides. No game is drawn.",
            (Board("Black's chain touches the three sides.", "b2 c2 b3 a4 b1 d1 a3 a1 b4", _Y),),
        ),
        Part(
            "Bridges",
            "Two stones with two free cells between them are as good as connected: if the opponent takes one of the "
            "cells, you take the other one.",
        ),
        Part(
            "The swap",
            "The first stone would be a great advantage. So White may take it over in place of its own first move. The "
            "stone is white then and stays where it is. So Black begins with a stone that is neither strong nor weak. "
            "White finds a button for the swap beside the board.",
            (
                Board("Black begins in the middle: a strong stone.", "b2", _Y | _SWAP),
                Board("White has taken it over.", "b2 swap-pieces", _Y | _SWAP),
            ),
        ),
    ),
    guide=Guide(
        parameters=_Y | _SWAP,
        next="y-small-v0",
        steps=(
            Step(
                "You are Black. A chain that touches all three sides wins, so take a cell in the middle. By the swap, "
                "White may take over a first stone in place of its own first move; your teacher does not.",
                "b2",
                "c2",
            ),
            Step("Go to the left side and to the right side at the same time: place a stone below.", "b3", "a4"),
            Step("White blocks below. Your stones still have two ways to the top. Take the top side.", "b1", "d1"),
            Step("Your chain touches the top. Place a stone that touches the left side.", "a3", "a1"),
            Step("One side is left: the slope at the right. Place the last stone of your chain.", "b4"),
        ),
        end="Your chain touches all three sides. One strong stone in the middle helps towards all of them. "
        "Your teacher did not take over your first stone (the swap). " + _TAKEN,
    ),
)
