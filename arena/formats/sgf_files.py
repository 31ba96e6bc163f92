"""Games of Torus as SGF, the format of programs for Go and Hex: https://www.red-bean.com/sgf.

A file is in FF[4]. The game number is `GAME`, which the format's list does not give to any game. Moves are names of
cells, as `Torus.action_to_string` writes them. The record's variations are those of the file, with their comments. The
root's property `XR` holds the rest of the record as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.positions import after_moves
from cellgames.arena.records.record_lines import Forfeit, Record, forfeit_of, to_line
from cellgames.arena.records.replays import ReplayError, game_of, result, start, verify
from cellgames.arena.records.variations import MOST_COMMENT, MoveNode, listed, move_tree
from cellgames.envs.torus import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.utils.foreign_text import shown
from cellgames.utils.version import __version__

__all__ = ["GAME", "records_to_sgf", "sgf_to_records"]

GAME = 2048
"""The value of `GM` for Torus."""

_COLOURS = "BW"
# Fields of a record in `XR`.
_REST = ("version", "seed", "opening", "pairing", "position", "summary", "seconds", "policies")
_SPACE = re.compile(r"\s*")
_PROPERTY = re.compile(r"([A-Za-z]+)((?:\s*\[(?:\\.|[^\]\\])*\])+)", re.DOTALL)
_VALUE = re.compile(r"\[((?:\\.|[^\]\\])*)\]", re.DOTALL)
_REASONS = {"R": "resigned", "T": "ran out of time", "F": "forfeited"}

_BREAKS = ("\n", "\r", "\r\n", "\n\r")
_LINE = 10  # moves on a line of a file


@dataclass(eq=False)
class _Node:
    """A node of a file: the last value of each property by name, and the nodes after it."""

    properties: dict[str, str] = field(default_factory=dict)
    children: list[_Node] = field(default_factory=list)


def records_to_sgf(records: Sequence[Record]) -> str:
    """Return recorded games of Torus as the text of an SGF file.

    Raises:
        ValueError: another game.
        ReplayError: no such parameters, or a variation that cannot be played.
    """
    return "".join(map(_game_to_sgf, records))


def _game_to_sgf(record: Record) -> str:
    game = game_of(record)
    if not isinstance(game, Torus):
        raise ValueError(f"SGF is for Torus, got a game of {shown(record.game)}")
    state, tree = start(game, record.seed, record.position), move_tree(record.moves, record.variations)
    if record.variations:
        _check(game, state, tree)
    data, forfeit = record.to_data(), record.result.forfeit
    rest = {name: data[name] for name in _REST if name in data}
    if forfeit is not None:
        rest["forfeit"] = data["result"]["forfeit"]
        if len(_first_line(tree)) > len(record.moves):  # variations go on where the game stopped
            rest["moves"] = len(record.moves)
    winner = record.result.outcome.index("win")
    root = {
        "FF": "4",
        "GM": str(GAME),
        "CA": "UTF-8",
        "AP": f"cellgames:{__version__}",
        "GN": "Torus",
        "SZ": str(game.size),
        "PB": record.agents[0],
        "PW": record.agents[1],
        "RE": f"{_COLOURS[winner]}+" + ("F" if forfeit is not None else ""),
        "XR": to_line(rest),
    }
    head = "".join(f"{name}[{_escaped(value)}]" for name, value in root.items())
    return f"(;{head}{''.join(_written(tree, int(state.current_player)))})\n"


def _written(tree: MoveNode, first: int) -> Iterator[str]:
    """Yield the nodes of a tree as text; each variation begins a line, and so does every tenth move."""
    waiting: list[tuple[MoveNode, int] | str] = [(tree, -1)]
    on_line = 0
    while waiting:
        place = waiting.pop()
        if isinstance(place, str):
            on_line = 0 if place == "(" else on_line
            yield "\n(" if place == "(" else place
            continue
        node, ply = place
        if ply >= 0:
            comment = f"C[{_escaped(node.comment)}]" if node.comment else ""
            new = "\n" if on_line == _LINE or (ply == 0 and on_line == 0 and not waiting) else ""
            on_line = 1 if new else on_line + 1
            yield f"{new};{_COLOURS[(first + ply) % 2]}[{_escaped(node.move)}]{comment}"
        if len(node.children) == 1:
            waiting.append((node.children[0], ply + 1))
        else:
            waiting += [one for child in reversed(node.children) for one in (")", (child, ply + 1), "(")]


def _first_line(tree: MoveNode) -> list[str]:
    """Return the moves of the first line of a tree."""
    moves = []
    while tree.children:
        tree = tree.children[0]
        moves.append(tree.move)
    return moves


def _check(game: Torus, state: TorusState, tree: MoveNode) -> None:
    """Raise a `ReplayError` unless all moves of a tree can be played."""
    waiting = [(tree, state, 0)]
    while waiting:
        node, state, ply = waiting.pop()
        for child in node.children:
            try:
                after = _played(game, state, child.move, f"move {ply + 1}, {shown(child.move)}")[1]
            except ValueError as error:
                raise ReplayError(f"variations: {error}") from None
            waiting.append((child, after, ply + 1))


def _played(game: Torus, state: TorusState, move: str, name: str) -> tuple[str, TorusState]:
    """Return a move as the game writes it and the state after it; a `ValueError` begins with the move's name."""
    if bool(state.done):
        raise ValueError(f"{name}: the game is over")
    try:
        action = parse_move(game, move)
        return game.action_to_string(int(action)), game.step(state, action[None])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def sgf_to_records(text: str) -> list[Record]:
    """Return the games of an SGF file of Torus as records; the first of the variations is the game.

    The result is that of the moves. A game that stops before its end needs `RE` with a resignation (`W+R`), a loss on
    time (`W+T`) or a forfeit (`W+F`). The other variations and the comments on moves are the record's variations.

    Raises:
        ValueError: no SGF file, another game, or an illegal move; the message names game and move.
    """
    found = []
    for number, root in enumerate(_games(text), 1):
        try:
            found.append(_record(root))
        except ValueError as error:
            raise ValueError(f"game {number}: {error}") from None
    return found


def _record(top: _Node) -> Record:
    root = top.properties
    if root.get("GM") != str(GAME):
        raise ValueError(f"expected GM[{GAME}], a game of Torus, got GM[{_plain_value(root.get('GM', '1'))}]")
    size = root.get("SZ", "8")
    if not re.fullmatch("[0-9]{1,3}", size):
        raise ValueError(f"expected SZ with a size such as 5, got {shown(size)}")
    game, rest = Torus(int(size)), _rest(root)
    tree = _tree(game, start(game, rest["seed"], rest["position"]), top)
    line = _first_line(tree)
    moves = line[: rest.get("moves", len(line))]
    state = after_moves(game, moves, position=rest["position"], seed=rest["seed"])
    ended = result(game, state, forfeit=None if bool(state.done) else _forfeit(root, rest, int(state.current_player)))
    values = vars(ended) | {"forfeit": None if ended.forfeit is None else vars(ended.forfeit)}
    variations = listed(tree)
    plain = len(variations) == len(moves) and not any(one.comment for one in variations)
    data = {
        "version": __version__,
        "seed": 0,
        "opening": 0,
        **{name: rest[name] for name in _REST if name in rest},
        "game": game.id,
        "parameters": game.parameters,
        "agents": [root.get("PB", "black"), root.get("PW", "white")],
        "moves": moves,
        "result": {name: value for name, value in values.items() if value is not None},
        "variations": [] if plain else variations,
    }
    record = Record.from_json(to_line(data))
    for _, wrong in verify([record]):  # `XR` may say what the game does not bear out
        raise wrong
    return record


def _rest(root: Mapping[str, str]) -> dict[str, Any]:
    """Return what `XR` holds of the record, with a seed and a position."""
    try:
        found: Any = json.loads(root.get("XR", "{}"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"expected XR with a JSON object, got {shown(root['XR'])}")
    rest = {"seed": 0, "position": "", **found}
    if not isinstance(rest["seed"], int) or not isinstance(rest["position"], str):
        raise ValueError("expected XR with a seed that is a number and a position that is a text")
    if type(rest.get("moves", 0)) is not int or rest.get("moves", 0) < 0:
        raise ValueError(f"expected XR with a number of moves, got {shown(rest['moves'])}")
    return rest


def _tree(game: Torus, state: TorusState, top: _Node) -> MoveNode:
    """Return the moves of a game, which are played, with their comments; nodes without moves are left out."""
    tree = MoveNode()
    waiting = [(top, tree, state, 0)]
    while waiting:
        place, node, state, ply = waiting.pop()
        for colour in _COLOURS:
            if colour not in place.properties:
                continue
            typed = place.properties[colour]
            name = f"move {ply + 1}, {colour}[{_plain_value(typed)}]"
            if not bool(state.done) and colour != _COLOURS[int(state.current_player)]:
                raise ValueError(f"{name}: it is {game.info.players[int(state.current_player)]}'s turn")
            move, state = _played(game, state, typed, name)
            node, ply = node.child(move), ply + 1
        if ply and (comment := place.properties.get("C", "").strip()):
            node.comment = "\n".join(filter(None, (node.comment, comment)))[:MOST_COMMENT]
        waiting += [(child, node, state, ply) for child in reversed(place.children)]
    return tree


def _forfeit(root: Mapping[str, str], rest: dict[str, Any], mover: int) -> Forfeit:
    """Return the forfeit of a game that stops before its end."""
    if "forfeit" in rest:
        return forfeit_of(rest["forfeit"])
    found = re.fullmatch(r"([BW])\+([RTF])[a-z]*", root.get("RE", ""))
    if found is None:
        got = shown(root.get("RE", ""))
        raise ValueError(f"the game goes on after its moves; expected RE with a reason, such as W+R, got {got}")
    loser = 1 - _COLOURS.index(found[1])
    if loser != mover:
        raise ValueError(
            f"RE[{_plain_value(root['RE'])}]: it is {('black', 'white')[mover]}'s turn, and records know forfeits of "
            "the player to move only"
        )
    return Forfeit(loser, _REASONS[found[2]])


def _plain_value(text: str) -> str:
    """Return a value for a message."""
    return shown(text)[1:-1]


def _games(text: str) -> list[_Node]:
    """Return the first node of each game of a file."""
    games: list[_Node] = []
    stack: list[tuple[_Node | None, _Node | None]] = []  # of open brackets: the node before it, the last one in it
    text = text.removeprefix("\ufeff")
    place = _SPACE.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        mark = text[place]
        place += 1
        if mark == "(":
            before = stack[-1][1] or stack[-1][0] if stack else None
            if stack and before is None:
                break
            stack.append((before, None))
        elif mark == ")" and stack:
            before, last = stack.pop()
            if before is None and last is None:
                break
        elif mark == ";" and stack:
            before, last = stack[-1]
            node, parent = _Node(), last or before
            (games if parent is None else parent.children).append(node)
            stack[-1] = before, node
        elif stack and (found := _PROPERTY.match(text, place - 1)):
            if (node_now := stack[-1][1]) is not None:
                node_now.properties[re.sub("[a-z]", "", found[1])] = _value(_VALUE.findall(found[2])[-1])
            place = found.end()
        else:
            raise ValueError(f"expected an SGF file, got {shown(text[place - 1 : place + 30])} at character {place}")
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
    if stack or not games or place < len(text):
        raise ValueError(
            "expected an SGF file of whole games, such as (;FF[4]GM[2048]SZ[5];B[a1];W[b1]), got " + shown(text)
        )
    return games


def _value(text: str) -> str:
    """Return the value of a property as it is meant: a line that ends with a backslash goes on."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda found: "" if found[1] in _BREAKS else found[1], text, flags=re.DOTALL)
