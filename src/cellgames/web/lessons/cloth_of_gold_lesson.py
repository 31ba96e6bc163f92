"""The lesson of Cloth of Gold."""

from __future__ import annotations

from .lesson import Board, Guide, Lesson, Part, Step

__all__ = ["CLOTH_OF_GOLD"]

_SMALL = {"height": 18, "width": 18, "generations": 12, "max_units": 4, "max_rounds": 4}
_ONE = {**_SMALL, "generations": 1}
_BLINKER = "r8c4 r8c5 r8c6 end r14c13 r14c14 r15c13 r15c14 end"

CLOTH_OF_GOLD = Lesson(
    game="cloth-of-gold-v0",
    parts=(
        Part(
            "You place, then Life runs",
            "In each round both players place up to ten units (four in these pictures). Then Conway's Life runs for "
            "many generations by itself. An empty cell with exactly three live neighbours, of the eight around it, "
            "comes alive. A unit with two or three neighbours lives on, and every other one dies.",
            (
                Board("Player A has placed three units in a row.", _BLINKER, _ONE),
                Board(
                    "One generation later the row stands upright: its ends had one neighbour each and died, and two "
                    "cells beside the middle were born. Player A has also placed a unit alone, which died.",
                    f"{_BLINKER} r3c3 end r11c14 end",
                    _ONE,
                ),
            ),
        ),
        Part(
            "Shapes that stay",
            "Most units die soon, and a few shapes last. A block of 2 x 2 never changes. A row of three turns for "
            "ever. Blocks are the safest way to keep units on the board.",
            (
                Board(
                    "Both players have placed a block, and each has added a second one. Nothing of it has changed in "
                    "twelve generations.",
                    "r3c3 r3c4 r4c3 r4c4 end r14c13 r14c14 r15c13 r15c14 end "
                    "r3c7 r3c8 r4c7 r4c8 end r14c9 r14c10 r15c9 r15c10 end",
                    _SMALL,
                ),
            ),
        ),
        Part(
            "Where you may place",
            "Your territory is every cell near your units, less than eight cells away, and has your pale colour. You "
            "place on empty cells of your own territory that are not in your opponent's, and not directly beside an "
            "opponent's unit. Hatched cells belong to both, so nobody may place there.",
            (
                Board(
                    "The units stand so near to each other that the territories overlap.",
                    "r7c3 r7c4 r8c3 r8c4 end r9c13 r9c14 r10c13 r10c14 end",
                    _SMALL,
                ),
            ),
        ),
        Part(
            "Whose is what is born",
            "A newborn belongs to the player with more of its three parents. A unit with more opponents than friends "
            "around it is killed instead of living on: its cell turns dark and is blocked for a generation.",
        ),
        Part(
            "Who wins",
            "After the second round and each later one the player with more units wins, unless that lead has grown "
            "since the round before. So a growing lead goes on, and a lead that stays or shrinks ends the game. With "
            "equally many units both lose.",
        ),
    ),
    guide=Guide(
        parameters=_SMALL,
        next="cloth-of-gold-small-v0",
        steps=(
            Step(
                "You are Player A, in blue. First both players place units without Life after it. Make a block of 2 x "
                "2, which lasts for ever: place four units on the framed cells, one after the other.",
                "r3c3 r3c4 r4c3 r4c4",
            ),
            Step("All your units are placed. End your turn.", "end", "r14c12 r14c13 end"),
            Step(
                "Player B has placed two units, in orange. Two alone would die of loneliness. The round begins: place "
                "a second block on the framed cells, in your own territory.",
                "r3c7 r3c8 r4c7 r4c8",
            ),
            Step(
                "End your turn. Player B moves, and then Life runs for twelve generations. Watch your blocks.",
                "end",
                "r14c14 end",
            ),
            Step(
                "Your blocks have not changed, and Player B's third unit made a row that turns. You lead by 8 units "
                "to 3. You win as soon as your lead stops growing. You must place at least one unit: place one alone.",
                "r8c3",
            ),
            Step(
                "It has no neighbour and will die. That does no harm: your lead only must not grow. End your turn.",
                "end",
                "r10c15 r10c16 r11c15 r11c16 end",
            ),
        ),
        end="Player B made a block, so your lead of 5 has become a lead of 1. It has not grown, and you are ahead: "
        "you win. You have seen that blocks last, that single units die, and how a lead is turned into a win.",
    ),
)
