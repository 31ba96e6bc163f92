"""Games of Torus, Hex and Y as SGF, the format of programs for Go and Hex: https://www.red-bean.com/sgf.

Hex on hexagons is `GM[11]` of the format's list (https://www.red-bean.com/sgf/hex.html), as HexGui, MoHex and Hexwiki
write it: cells `a1`, Black connects top and bottom, and the words `swap-pieces`, `swap-sides`, `resign` and `forfeit`.
`swap-pieces` mirrors the stone. `swap-sides` exchanges the players' colours instead: from then on the file's Black is
the player who began as White. Both lead to mirrored games. Where a file says only `swap`, it means the second if the
same colour moves next. All other boards have numbers of our own, with the same words.

A file is in FF[4]. Moves are names of cells, as `action_to_string` writes
them. The record's variations are those of the file, with their comments. The root's property `XR` holds the rest of the
record as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.record_lines import Forfeit, Record, forfeit_of, json_object, to_line
from cellgames.arena.records.replays import ReplayError, after_moves, game_of, result, start, verify
from cellgames.arena.records.variations import MOST_COMMENT, MoveNode, listed, move_tree
from cellgames.envs.connection import Hex, Y
from cellgames.envs.connection.game import SWAP, ConnectionGame
from cellgames.envs.core import Game
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_state import StoneState
from cellgames.envs.torus import Torus
from cellgames.utils.errors import InputError, located, shown
from cellgames.utils.version import __version__

COLOURS = "BW"

STOPS = {"resign": "resigned", "forfeit": "forfeited"}
"""Words in the place of a move by which a player ends the game, and the reasons that records have for them."""

_SIZE = re.compile(r"([0-9]{1,3})(?::([0-9]{1,3}))?")
_NO_SWAP = re.compile(r"\b(no|without)[ -]?swap", re.IGNORECASE)


_BOARDS: dict[str, tuple[type[StoneGame[Any]], str]] = {
    "11": (Hex, "hexagons"),
    "2048": (Torus, ""),
    "2049": (Y, "hexagons"),
    "2050": (Hex, "octagons"),
    "2051": (Y, "octagons"),
}
"""By the value of `GM`, the class of the game and the tiling, "" for Torus."""

_TITLES = {gm: kind.__name__ + " on octagons" * (tiling == "octagons") for gm, (kind, tiling) in _BOARDS.items()}


def dialect_of(game: Game) -> tuple[str, str]:
    """Return the value of `GM` of a game and the name of its boards; raise a `ValueError` for a game without SGF."""
    board = type(game), game.parameters.get("tiling", "")
    found = next((number for number, known in _BOARDS.items() if known == board), None)
    if found is None:
        raise InputError("game", "Torus, Hex or Y, for SGF", game.id)
    return found, _TITLES[found]


def game_of_root(root: Mapping[str, str]) -> StoneGame[Any]:
    """Return the game of a file's first node; raise a `ValueError` that says what was expected."""
    if (number := root.get("GM", "1").strip()) not in _BOARDS:
        known = ", ".join(f"GM[{value}] ({title})" for value, title in _TITLES.items())
        raise InputError("GM", f"one of {known}", f"GM[{shown(number)[1:-1]}]")
    kind, tiling = _BOARDS[number]
    typed = root.get("SZ", str(kind.size))
    found = _SIZE.fullmatch(typed.strip())
    if found is None:
        raise InputError("SZ", "SZ with a size such as 5", shown(typed))
    if found[2] is not None and int(found[2]) != int(found[1]):
        raise InputError("SZ", "a board with as many rows as columns", f"SZ[{shown(typed)[1:-1]}]")
    parameters: dict[str, Any] = {"size": int(found[1])}
    if tiling:
        parameters |= {"tiling": tiling, "swap": not _NO_SWAP.search(root.get("RU", ""))}
    return kind(**parameters)


def read_move(
    game: StoneGame[Any], colour: str, word: str, *, turned: bool, following: str | None
) -> tuple[int, str, bool]:
    """Return the seat that makes a move of a file, the action's name, and `turned` for the moves after it.

    Args:
        game: The rules.
        colour: `B` or `W`, as the file says.
        word: A cell, or a word for a swap.
        turned: True if the players' colours in the file are exchanged.
        following: The colour of the move after it, None for the last move.

    Raises:
        ValueError: The board has no such cell.
    """
    seat, text = COLOURS.index(colour) ^ turned, word.strip().lower()
    if not isinstance(game, ConnectionGame):
        return seat, word, turned
    if text == "swap-sides" or (text == "swap" and following == colour):
        return seat, SWAP, not turned
    if turned and text not in ("swap", SWAP):  # the stone that was taken over is mirrored, and all others with it
        text = game.layout.name(game.layout.swapped[game.layout.cell(text)])
    return seat, text, turned


_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(r"([();])|([A-Za-z]+)((?:\s*\[(?:\\.|[^\]\\])*\])+)", re.DOTALL)  # a mark, or a property
_VALUE = re.compile(r"\[((?:\\.|[^\]\\])*)\]", re.DOTALL)
_BREAKS = ("\n", "\r", "\r\n", "\n\r")


@dataclass(eq=False)
class Node:
    """A node of a file.

    Attributes:
        properties: The last value of each property by name.
        children: The nodes after it.
    """

    properties: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)


def escaped(text: str) -> str:
    """Return a text as the value of a property."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def nodes_of_games(text: str) -> list[Node]:
    """Return the first node of each game of a file."""
    games: list[Node] = []
    stack: list[tuple[Node | None, Node | None]] = []  # of open brackets: the node before it, the last one in it
    text = text.removeprefix("\ufeff")
    place = _SPACE.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or not (stack or found[1] == "("):
            raise InputError("", "an SGF file", f"{shown(text[place : place + 31])} at character {place + 1}")
        place = found.end()
        before, last = stack[-1] if stack else (None, None)
        if found[1] == "(":
            if stack and (last or before) is None:
                break
            stack.append((last or before, None))
        elif found[1] == ")":
            if stack.pop() == (None, None):
                break
        elif found[1] == ";":
            parent, node = last or before, Node()
            (games if parent is None else parent.children).append(node)
            stack[-1] = before, node
        elif last is not None:
            last.properties[re.sub("[a-z]", "", found[2])] = _value(_VALUE.findall(found[3])[-1])
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
    if stack or not games or place < len(text):
        raise InputError("", "an SGF file of whole games, such as (;FF[4]GM[2048]SZ[5];B[a1];W[b1])", shown(text))
    return games


def _value(text: str) -> str:
    """Return the value of a property as it is meant: a line that ends with a backslash goes on."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda found: "" if found[1] in _BREAKS else found[1], text, flags=re.DOTALL)


# Fields of a record in `XR`.
_REST = ("version", "seed", "opening", "pairing", "position", "summary", "seconds", "policies")
_REASONS = {"": "resigned", "R": "resigned", "T": "ran out of time", "F": "forfeited"}

_LINE = 10  # moves on a line of a file


def records_to_sgf(records: Sequence[Record]) -> str:
    """Return recorded games of Torus, Hex or Y as the text of an SGF file.

    Raises:
        ValueError: another game.
        ReplayError: no such parameters, or a variation that cannot be played.
    """
    return "".join(map(_game_to_sgf, records))


def _game_to_sgf(record: Record) -> str:
    game = game_of(record)
    number, title = dialect_of(game)
    assert isinstance(game, StoneGame)
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
        "GM": number,
        "CA": "UTF-8",
        "AP": f"cellgames:{__version__}",
        "GN": title,
        "SZ": str(game.size),
        "PB": record.agents[0],
        "PW": record.agents[1],
        "RE": f"{COLOURS[winner]}+" + ("F" if forfeit is not None else ""),
        **({"RU": "swap" if game.swap else "no swap"} if isinstance(game, ConnectionGame) else {}),
        "XR": to_line(rest),
    }
    head = "".join(f"{name}[{escaped(value)}]" for name, value in root.items())
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
            comment = f"C[{escaped(node.comment)}]" if node.comment else ""
            new = "\n" if on_line == _LINE or (ply == 0 and on_line == 0 and not waiting) else ""
            on_line = 1 if new else on_line + 1
            yield f"{new};{COLOURS[(first + ply) % 2]}[{escaped(node.move)}]{comment}"
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


def _check(game: StoneGame[Any], state: StoneState, tree: MoveNode) -> None:
    """Raise a `ReplayError` unless all moves of a tree can be played."""
    waiting = [(tree, state, 0)]
    while waiting:
        node, state, ply = waiting.pop()
        for child in node.children:
            try:
                after = _played(game, state, child.move, f"move {ply + 1}, {shown(child.move)}")[1]
            except ValueError as error:
                raise ReplayError("variations", cause=str(error)) from None
            waiting.append((child, after, ply + 1))


def _played(game: StoneGame[Any], state: StoneState, move: str, name: str) -> tuple[str, StoneState]:
    """Return a move as the game writes it and the state after it; a `ValueError` begins with the move's name."""
    if bool(state.done):
        raise InputError(cause="the game is over", where=name)
    try:
        action = parse_move(game, move)
        return game.action_to_string(int(action)), game.step(state, action[None])
    except ValueError as error:
        raise located(error, name) from None


def sgf_to_records(text: str) -> list[Record]:
    """Return the games of an SGF file of Torus, Hex or Y as records; the first of the variations is the game.

    The result is that of the moves. A game that stops before its end needs `RE` with a resignation (`W+R`, also `W+`),
    a loss on time (`W+T`) or a forfeit (`W+F`), or the word `resign` or `forfeit` in place of a move. The other
    variations and the comments on moves are the record's variations.

    Raises:
        ValueError: no SGF file, another game, or an illegal move; the message names game and move.
    """
    found = []
    for number, root in enumerate(nodes_of_games(text), 1):
        try:
            found.append(_record(root))
        except ValueError as error:
            raise located(error, f"game {number}") from None
    return found


def _record(top: Node) -> Record:
    root = top.properties
    game, rest = game_of_root(root), _rest(root)
    read = _read_tree(game, start(game, rest["seed"], rest["position"]), top)
    line = _first_line(read.tree)
    moves = line[: rest.get("moves", len(line))]
    state = after_moves(game, moves, position=rest["position"], seed=rest["seed"])
    forfeit = None if bool(state.done) else _forfeit(root, rest, read)
    ended = result(game, state, forfeit=forfeit)
    values = vars(ended) | {"forfeit": None if ended.forfeit is None else vars(ended.forfeit)}
    variations = listed(read.tree)
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
    """Return the content of `XR`: fields of the record, among them the seed and the position."""
    if (found := json_object(root.get("XR", "{}"))) is None:
        raise InputError("root", "XR with a JSON object", shown(root["XR"]))
    rest = {"seed": 0, "position": "", **found}
    if not isinstance(rest["seed"], int) or not isinstance(rest["position"], str):
        raise InputError("XR", "XR with a seed that is a number and a position that is a text")
    if type(rest.get("moves", 0)) is not int or rest.get("moves", 0) < 0:
        raise InputError("XR", "XR with a number of moves", shown(rest["moves"]))
    return rest


@dataclass
class _Read:
    """The moves of a game of a file; of its first line, if colours are exchanged at the end, and a forfeit there."""

    tree: MoveNode
    turned: bool = False
    stopped: Forfeit | None = None


def _read_tree(game: StoneGame[Any], state: StoneState, top: Node) -> _Read:
    """Return the moves of a game, which are played, with their comments; nodes without moves are left out."""
    read = _Read(MoveNode())
    # Nodes to read, each with the move before it, the state there, and what is known on its line.
    waiting = [(top, read.tree, state, 0, False, True)]
    while waiting:
        source, node, state, ply, turned, first = waiting.pop()
        for name in ("AB", "AW", "AE"):
            if name in source.properties:
                raise InputError(name, "no stones on the board at the start")
        following = next((c for child in source.children[:1] for c in COLOURS if c in child.properties), None)
        for colour in (colour for colour in COLOURS if colour in source.properties):
            typed = source.properties[colour]
            name = f"move {ply + 1}, {colour}[{_plain_value(typed)}]"
            if (word := typed.strip().lower()) in STOPS:
                if first:
                    read.stopped = Forfeit(COLOURS.index(colour) ^ turned, STOPS[word])
                break
            try:
                seat, move, turned = read_move(game, colour, typed, turned=turned, following=following)
            except ValueError as error:
                raise located(error, name) from None
            if not bool(state.done) and seat != (mover := int(state.current_player)):
                raise InputError("turn", game.info.players[mover], game.info.players[seat], where=name)
            move, state = _played(game, state, move, name)
            node, ply = node.child(move), ply + 1
        else:  # nobody has stopped
            if ply and (comment := source.properties.get("C", "").strip()):
                node.comment = "\n".join(filter(None, (node.comment, comment)))[:MOST_COMMENT]
            if first:
                read.turned = turned
            for i, child in reversed([*enumerate(source.children)]):
                waiting.append((child, node, state, ply, turned, first and i == 0))
    return read


def _forfeit(root: Mapping[str, str], rest: dict[str, Any], read: _Read) -> Forfeit:
    """Return the forfeit of a game that stops before its end."""
    if "forfeit" in rest:
        return forfeit_of(rest["forfeit"])
    if read.stopped is not None:
        return read.stopped
    found = re.fullmatch(r"([BW])\+([RTF]?)[A-Z]*", root.get("RE", "").strip().upper())
    if found is None:
        got, cause = shown(root.get("RE", "")), "the game goes on after its moves"
        raise InputError("RE", "a result with a reason, such as W+R", got, cause)
    return Forfeit((1 - COLOURS.index(found[1])) ^ read.turned, _REASONS[found[2]])


def _plain_value(text: str) -> str:
    """Return a value for a message."""
    return shown(text)[1:-1]
