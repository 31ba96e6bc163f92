"""The lesson of the Toroidal Cup."""

from __future__ import annotations

from .lesson import Board, Guide, Lesson, Part, Step

__all__ = ["TOROIDAL_CUP"]

_SMALL = {"rows": 16, "cols": 32, "pattern": "randys", "shapes": 3, "max_generations": 400}

TOROIDAL_CUP = Lesson(
    game="toroidal-cup-v0",
    parts=(
        Part(
            "A board without edges, a band for each team",
            "The right edge of the board is joined to the left one, and the bottom to the top. Every team has a band "
            "of its own: with two teams the left half and the right half. In each step all teams place their next "
            "shape at the same time, turned and mirrored as they like.",
            (
                Board(
                    "Both teams have placed an R-pentomino, five cells that grow for more than a thousand generations "
                    "on an empty plane.",
                    "r6c6/0 r6c10/0",
                    _SMALL,
                ),
                Board("The same shape turned by a quarter, and its mirror image.", "r6c6/1 r6c10/4", _SMALL),
            ),
        ),
        Part(
            "Then Life decides",
            "After the last shape Conway's Life runs. An empty cell with exactly three live neighbours, of the eight "
            "around it, comes alive. A cell with two or three neighbours lives on, and every other one dies. Nobody "
            "touches the board any more.",
            (
                Board(
                    "The end of a game: what is left are shapes that stay, or that repeat themselves.",
                    "r6c6/0 r6c10/0 | r10c10/1 r10c6/2 | r2c10/0 r2c6/0",
                    _SMALL,
                ),
            ),
        ),
        Part(
            "Cells change sides",
            "A newborn takes the colour that most of its three parents have. A cell that lives on takes the colour of "
            "the majority of its neighbours as well. So shapes that meet swallow each other's cells.",
        ),
        Part(
            "Who wins",
            "The game ends when the leader's share of the live cells has settled, or when only one team is left. The "
            "team with more live cells wins.",
        ),
    ),
    guide=Guide(
        parameters=_SMALL,
        next="toroidal-cup-small-v0",
        opponent="greedy",
        seed=3,
        steps=(
            Step(
                "You are Team 1 and own the left half. Your shape is the R-pentomino. Point at the framed place and "
                "click. On a touch screen tap it, and then press Place it here.",
                "r6c6/0",
            ),
            Step(
                "Both teams have placed at once. Now press Turn once, so that the shape stands a quarter further, and "
                "place it at the framed place.",
                "r10c10/1",
            ),
            Step(
                "This is your last shape, and Life runs to its end after it. Place it wherever you like in your half, "
                "turned as you like. You can skip the film of Life or change its speed.",
                "r2c10/0",
                free=True,
            ),
        ),
        end="Life has settled, and the team with more live cells has won. You have seen that a few cells decide "
        "everything: try other places and turns in your next game.",
    ),
)
