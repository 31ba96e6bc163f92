"""The lesson of Grid Adaptation."""

from __future__ import annotations

from .lesson import Board, Guide, Lesson, Part, Step

__all__ = ["GRID_ADAPTATION"]

_SMALL = {"size": 7, "players": 4, "rounds": 3, "flip_rounds": (2,)}
_FIRST = "r2c2,r2c3,r3c2 r0c6,r1c6,r0c5 r6c0,r5c0,r6c1 r6c6,r5c6,r6c5"
_CLASH = "r2c2,r2c3,r3c2 r2c2,r1c6,r0c5 r6c0,r5c0,r6c1 r6c6,r5c6,r6c5"

GRID_ADAPTATION = Lesson(
    game="grid-adaptation-v0",
    parts=(
        Part(
            "A secret sequence",
            "Every player has a secret sequence of three digits, such as 010. A tile on the board carries a sequence, "
            "too, and has its colour. After each round every tile pays you a point for each digit in which it equals "
            "your sequence, whoever has placed it: with 010 you earn three points for a tile 010, two for 011, and "
            "none for 101.",
            (
                Board(
                    "Four players have placed three tiles each, and every corner of three has become a block of four.",
                    _FIRST,
                    _SMALL,
                ),
            ),
        ),
        Part(
            "All place at once",
            "In the first round you name three free spaces, later one, and you may add a reserve tile. All players do "
            "so at the same time. A space that several players name stays empty, and their tiles are lost.",
            (
                Board(
                    "The first two players both named the framed space. It stayed empty, and their other tiles had "
                    "too few neighbours to live on.",
                    _CLASH,
                    _SMALL,
                    marked=("r2c2",),
                ),
            ),
        ),
        Part(
            "Then one generation of Life runs",
            "A free space with exactly three neighbours gets a tile. Each of its digits is that of the majority of the "
            "three. A tile with two or three neighbours stays, and every other tile vanishes. A corner of three tiles "
            "therefore becomes a block, which stays.",
        ),
        Part(
            "Flips, garnets and the end",
            "In some rounds you may flip one digit of your sequence. Garnets buy more reserve tiles. After the last "
            "round the most points win Tokens of Life, and the fewest make the Elimination Candidate.",
        ),
    ),
    guide=Guide(
        parameters=_SMALL,
        next="grid-adaptation-small-v0",
        opponent="random",
        seed=4,
        steps=(
            Step(
                "You are Player 1, and three agents play against you. Your secret sequence stands beside the board. "
                "Choose the three framed spaces, which make a corner, and press Submit.",
                "r0c5,r0c6,r1c6",
            ),
            Step(
                "All tiles came at once, and one generation of Life has run. Three tiles around a corner give birth "
                "to a fourth one, and a block of four stays. The table shows your points. This round you place one "
                "tile. Beside your block it would crowd the block, so place it far away: choose the framed space and "
                "submit.",
                "r6c0",
            ),
            Step(
                "A tile alone has no neighbours, so it has vanished, and your block is still there. This is the last "
                "round: choose any free space and submit.",
                "r6c0",
                free=True,
            ),
        ),
        end="The match is over and the table is open: you see all sequences and all places. You have seen that "
        "corners of three become blocks, and that every tile pays you by the digits that it shares with your "
        "sequence.",
    ),
)
