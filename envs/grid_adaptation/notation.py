"""Actions and positions as text.

An action is `r7c7,r7c8,r8c7+r2c2/flip:100/buy/vote:3`: the spaces of the tiles, the reserve tile's after a plus, the
digit that is flipped, whether an extra tile is bought, and the seat that is voted for. Unused components are left out,
but for tiles before others, which are `none`; an action without any used component is `none`. As a number an action
counts all combinations of its components, the last one varying fastest.

A position is a line such as `play turn:3 round:4 tiles:2.A$.H2F! sequences:101,000 reserves:3,2 bought:0,1
garnets:2,0 points:31,18 public:9,8,7,6,5,4,3,2 tied:- tokens:0,0 candidate:-`:

- `play`, `vote` in the voting step, or `over`
- steps played, and the round
- the board as `boards.rle` writes it: A is a tile of 000, B of 001, and so on to H of 111
- by seat: sequences, reserve tiles, extra tiles bought, garnets and points so far
- the points that each sequence would have earned in the last round
- seats that are tied for the fewest points, `-` for none; Tokens of Life by seat
- the Elimination Candidate's seat, `-` for none
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from cellgames.envs.boards.rle import board_to_string, string_to_board
from cellgames.envs.core.info import ravel, unravel

Stage: TypeAlias = Literal["play", "vote", "over"]

HIDDEN = "?"
"""The text of what a player may not know."""

_TILES = 3
_VOTE = 6
_SEQUENCES = 8
_NONE = "none"
_LISTS = ("reserves", "bought", "garnets", "points", "public", "tied", "tokens")  # of a position, after the sequences
_SPACE = "r(?:0|[1-9][0-9]?)c(?:0|[1-9][0-9]?)"
_NUMBER = "(?:0|[1-9][0-9]{0,8})"
_LIST = rf"{_NUMBER}(?:,{_NUMBER})*"
_ACTION = re.compile(
    rf"({_NONE}|{_SPACE})(?:,({_NONE}|{_SPACE}))?(?:,({_NONE}|{_SPACE}))?"
    rf"(?:\+({_SPACE}))?(?:/flip:(100|010|001))?(/buy)?(?:/vote:([0-9]))?"
)
_LINE = re.compile(
    rf"({'|'.join(get_args(Stage))}) turn:({_NUMBER}) round:({_NUMBER}) tiles:([0-9.A-Z$]*!) "
    rf"sequences:([01]{{3}}(?:,[01]{{3}})*) reserves:({_LIST}) bought:({_LIST}) garnets:({_LIST}) points:({_LIST}) "
    rf"public:({_LIST}) tied:(-|{_LIST}) tokens:({_LIST}) candidate:(-|{_NUMBER})"
)


class Position(NamedTuple):
    """The parts of a line; lists are by seat unless said otherwise.

    Attributes:
        stage: "play", "vote" in the voting step, "over" after the end.
        turn: steps played.
        round: as in `GridState`.
        board: rows of cells, -1 where there is no tile, else its sequence.
        sequence, reserves, bought, garnets: as in `GridState`.
        points: points so far.
        public: points that each of the eight sequences would have earned in the last round.
        tied: seats, in order, that are tied for the fewest points.
        tokens: as in `GridState`.
        candidate: a seat, -1 before there is one.
    """

    stage: Stage
    turn: int
    round: int
    board: Sequence[Sequence[int]]
    sequence: Sequence[int]
    reserves: Sequence[int]
    bought: Sequence[int]
    garnets: Sequence[int]
    points: Sequence[int]
    public: Sequence[int]
    tied: Sequence[int]
    tokens: Sequence[int]
    candidate: int


def choice_to_string(component: int, choice: int, nvec: Sequence[int]) -> str:
    """Return a choice of one component by itself: `r7c7`, `+r2c2`, `flip:100`, `buy`, `vote:3` or `none`.

    Args:
        component: 0 to 2 a tile, 3 the reserve tile, 4 the flip, 5 the purchase, 6 the vote.
        choice: from 0, less than `nvec[component]`.
        nvec: choices of the components, as `GameInfo.action_nvec`.
    """
    if component <= _TILES:
        space = _space_to_string(choice, nvec[component])
        return space if component < _TILES or space == _NONE else f"+{space}"
    if component == _TILES + 1:
        return f"flip:{1 << (choice - 1):03b}" if choice else _NONE
    if component == _TILES + 2:
        return "buy" if choice else _NONE
    return _NONE if choice == nvec[component] - 1 else f"vote:{choice}"


def _space_to_string(choice: int, choices: int) -> str:
    """Return `r7c7`, or `none` for the last one of the choices, which names no space."""
    if choice == choices - 1:
        return _NONE
    row, col = divmod(choice, math.isqrt(choices - 1))
    return f"r{row}c{col}"


def _string_to_space(text: str | None, choices: int) -> int | None:
    """Return the choice of a text, the last one for None and `none`; None for a space off the board."""
    if text is None or text == _NONE:
        return choices - 1
    size = math.isqrt(choices - 1)
    row, col = map(int, text[1:].split("c"))
    return row * size + col if max(row, col) < size else None


def action_to_string(action: int, nvec: Sequence[int]) -> str:
    """Return an action's name.

    Args:
        action: among all combinations of components, the last one varying fastest.
        nvec: choices of the components, as `GameInfo.action_nvec`.
    """
    names = [choice_to_string(component, choice, nvec) for component, choice in enumerate(unravel(action, nvec))]
    tiles, (reserve, *rest) = names[:_TILES], names[_TILES:]
    while len(tiles) > 1 and tiles[-1] == _NONE:
        tiles.pop()
    spaces = ",".join(tiles) + ("" if reserve == _NONE else reserve)
    return "/".join([spaces, *(name for name in rest if name != _NONE)])


def string_to_action(text: str, nvec: Sequence[int]) -> int | None:
    """Return the action of a text by `action_to_string`; None if it names none, or a space off the board."""
    found = _ACTION.fullmatch(text)
    if found is None:
        return None
    *spaces, flip, buy, vote = found.groups()
    players = nvec[_VOTE] - 1
    choices = [
        *(_string_to_space(space, count) for space, count in zip(spaces, nvec, strict=False)),
        int(flip, 2).bit_length() if flip else 0,
        int(buy is not None),
        players if vote is None else int(vote) if int(vote) < players else None,
    ]
    action = ravel([choice for choice in choices if choice is not None], nvec) if None not in choices else -1
    return action if action >= 0 and action_to_string(action, nvec) == text else None


def position_to_string(position: Position) -> str:
    """Return a position as one line."""
    runs = board_to_string([[tile + 1 for tile in row] for row in position.board])
    lists = {
        "sequences": ",".join(f"{sequence:03b}" for sequence in position.sequence),
        **{name: _listed(getattr(position, name)) for name in ("reserves", "bought", "garnets", "points", "public")},
        "tied": _listed(position.tied) or "-",
        "tokens": _listed(position.tokens),
        "candidate": "-" if position.candidate < 0 else str(position.candidate),
    }
    start = f"{position.stage} turn:{position.turn} round:{position.round} tiles:{runs}"
    return " ".join([start, *(f"{name}:{value}" for name, value in lists.items())])


def view(line: str, player: int, *, votes: bool) -> str:
    """Return a line by `position_to_string` of a match that goes on, as a player may know it: `?` for what is hidden.

    Args:
        line: the position.
        player: the seat.
        votes: True if the player votes, and so knows everybody's points and who is tied.
    """
    fields = dict(field.partition(":")[::2] for field in line.split()[1:])
    for name in ("sequences", "reserves", "bought", "garnets", "points", "tokens"):
        known = fields[name].split(",")
        for seat in range(len(known)):
            if name == "tokens" or (seat != player and not (votes and name == "points")):
                known[seat] = HIDDEN
        fields[name] = ",".join(known)
    if line.startswith("vote") and not votes:
        fields["tied"] = HIDDEN
    return " ".join([line.split()[0], *(f"{name}:{value}" for name, value in fields.items())])


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def string_to_position(text: str, size: int, players: int) -> Position | None:
    """Return the position of a line by `position_to_string`.

    None if the text is no position, has tiles off a board of `size` x `size`, or tells of other than `players` players
    and eight sequences.
    """
    found = _LINE.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    stage, turn, number, runs, sequences, *lists, candidate = found.groups()
    board = string_to_board(runs, size, size, _SEQUENCES)
    sequence = [int(digits, 2) for digits in sequences.split(",")]
    fields = dict(zip(_LISTS, map(_string_to_list, lists), strict=True)) | {"sequence": sequence}
    doomed, tied = -1 if candidate == "-" else int(candidate), fields["tied"]
    lengths = {name: len(numbers) for name, numbers in fields.items() if name != "tied"}
    if board is None or lengths != dict.fromkeys(lengths, players) | {"public": _SEQUENCES}:
        return None
    if sorted(set(tied)) != tied or max([doomed, *tied]) >= players:
        return None
    return Position(
        stage=cast(Stage, stage),
        turn=int(turn),
        round=int(number),
        board=[[cell - 1 for cell in row] for row in board],
        candidate=doomed,
        **fields,
    )


def _string_to_list(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text != "-" else []
