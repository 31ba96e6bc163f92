"""The lesson of Torus."""

from __future__ import annotations

from .lesson import Board, Guide, Lesson, Part, Step

__all__ = ["TORUS"]

_SMALL = {"size": 4}

TORUS = Lesson(
    game="torus-v0",
    parts=(
        Part(
            "The board has no edge",
            "The right edge of the board is joined to the left edge, and the bottom to the top. What leaves on one "
            "side comes back on the other, so you can drag the board with the mouse or a finger: the pale cells "
            "around it are the same cells once more.",
            (
                Board(
                    "The black stones at the top and the bottom of column a touch each other across the edge.",
                    "a1 c2 a4",
                    _SMALL,
                ),
            ),
        ),
        Part(
            "Octagons and squares",
            "A move puts one stone on any free cell. An octagon touches four octagons and the squares at its corners. "
            "A square touches only the four octagons around it, so it joins two octagons that meet at a corner.",
            (
                Board(
                    "The framed square joins the two black octagons, which do not touch each other.",
                    "b2 d1 c3",
                    _SMALL,
                    marked=("b2+",),
                ),
            ),
        ),
        Part(
            "What Black needs",
            "Black wins with a closed chain that runs around the board from top to bottom, or around both ways while "
            "it slopes down to the right.",
            (
                Board("A ring: Black's chain closes from top to bottom.", "b1 a1 b2 c2 b3 d3 b4", _SMALL),
                Board(
                    "An r-helix: down to the right, around the board both ways.",
                    "a1 b1 a1+ c2 b2 d1 b2+ a3 c3 a4 c3+ c1 d4 b3 d4+",
                    _SMALL,
                ),
            ),
        ),
        Part(
            "What White needs",
            "White wins with a closed chain from left to right, or around both ways while it slopes up to the right. "
            "Somebody always wins: a full board holds a winning chain of exactly one player.",
            (Board("A bracelet: White's chain closes from left to right.", "b1 a2 c1 b2 d4 c2 a4 d2", _SMALL),),
        ),
    ),
    guide=Guide(
        parameters=_SMALL,
        next="torus-small-v0",
        steps=(
            Step(
                "You are Black and want a chain from top to bottom that meets itself across the edge. Place your first "
                "stone on the framed octagon.",
                "b1",
                "b3",
            ),
            Step(
                "White stands in your way in column b. Go on downward all the same: place a stone below yours.",
                "b2",
                "a3",
            ),
            Step(
                "White's stone blocks the way straight down. Squares join octagons at their corners: place a stone on "
                "the framed square, which leads down to the right.",
                "b2+",
                "d3",
            ),
            Step(
                "White has three stones in row 3 and needs the framed octagon to close a bracelet. It is also the next "
                "stone of your own chain: take it.",
                "c3",
                "c2+",
            ),
            Step("White's way is shut. Go on downward.", "c4", "a1+"),
            Step(
                "Below c4 the board begins again at the top. One square leads from c4 to your first stone b1, across "
                "the edge. Place it to close your chain.",
                "b4+",
            ),
        ),
        end="Your chain leaves at the bottom, comes back at the top and meets itself: it closes around the torus. You "
        "have also seen that one stone may attack and defend at the same time, and that squares get around a "
        "block.",
    ),
)
