"""Games of Torus as SGF, the format of programs for Go and Hex: https://www.red-bean.com/sgf.

A file is in FF[4]. The game number is `GAME`, which the format's list does not give to any game. Moves are names of
cells, as `Torus.action_to_string` writes them. The root's property `XR` holds the rest of the record as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.record_lines import Forfeit, Record, forfeit_of, to_line
from cellgames.arena.records.replays import game_of, result, start, verify
from cellgames.envs.torus import Torus
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

_Node = dict[str, str]


def records_to_sgf(records: Sequence[Record]) -> str:
    """Return recorded games of Torus as the text of an SGF file.

    Raises:
        ValueError: another game.
        ReplayError: no such parameters.
    """
    return "".join(map(_game_to_sgf, records))


def _game_to_sgf(record: Record) -> str:
    game = game_of(record)
    if not isinstance(game, Torus):
        raise ValueError(f"SGF is for Torus, got a game of {shown(record.game)}")
    data, forfeit = record.to_data(), record.result.forfeit
    rest = {name: data[name] for name in _REST if name in data}
    if forfeit is not None:
        rest["forfeit"] = data["result"]["forfeit"]
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
    first = int(start(game, record.seed, record.position).current_player)
    nodes = [f";{_COLOURS[(first + ply) % 2]}[{_escaped(move)}]" for ply, move in enumerate(record.moves)]
    lines = ["".join(nodes[place : place + 10]) for place in range(0, len(nodes), 10)]
    head = "".join(f"{name}[{_escaped(value)}]" for name, value in root.items())
    return "\n".join([f"(;{head}", *lines]) + ")\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def sgf_to_records(text: str) -> list[Record]:
    """Return the games of an SGF file of Torus as records; of variations the first is played.

    The result is that of the moves. A game that stops before its end needs `RE` with a resignation (`W+R`), a loss on
    time (`W+T`) or a forfeit (`W+F`).

    Raises:
        ValueError: no SGF file, another game, or an illegal move; the message names game and move.
    """
    found = []
    for number, nodes in enumerate(_games(text), 1):
        try:
            found.append(_record(nodes))
        except ValueError as error:
            raise ValueError(f"game {number}: {error}") from None
    return found


def _record(nodes: list[_Node]) -> Record:
    root = nodes[0]
    if root.get("GM") != str(GAME):
        raise ValueError(f"expected GM[{GAME}], a game of Torus, got GM[{_plain_value(root.get('GM', '1'))}]")
    size = root.get("SZ", "8")
    if not re.fullmatch("[0-9]{1,3}", size):
        raise ValueError(f"expected SZ with a size such as 5, got {shown(size)}")
    game = Torus(int(size))
    try:
        rest: Any = json.loads(root.get("XR", "{}"))
    except (ValueError, RecursionError):
        rest = None
    if not isinstance(rest, dict):
        raise ValueError(f"expected XR with a JSON object, got {shown(root['XR'])}")
    seed, position = rest.get("seed", 0), rest.get("position", "")
    if not isinstance(seed, int) or not isinstance(position, str):
        raise ValueError("expected XR with a seed that is a number and a position that is a text")
    state = start(game, seed, position)
    moves: list[str] = []
    for node in nodes:
        for colour in _COLOURS:
            if colour not in node:
                continue
            name = f"move {len(moves) + 1}, {colour}[{_plain_value(node[colour])}]"
            if bool(state.done):
                raise ValueError(f"{name}: the game is over")
            if colour != _COLOURS[int(state.current_player)]:
                raise ValueError(f"{name}: it is {game.info.players[int(state.current_player)]}'s turn")
            try:
                action = parse_move(game, node[colour])
                state = game.step(state, action[None])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            moves.append(game.action_to_string(int(action)))
    ended = result(game, state, forfeit=None if bool(state.done) else _forfeit(root, rest, int(state.current_player)))
    values = vars(ended) | {"forfeit": None if ended.forfeit is None else vars(ended.forfeit)}
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
    }
    record = Record.from_json(to_line(data))
    for _, wrong in verify([record]):  # `XR` may say what the game does not bear out
        raise wrong
    return record


def _forfeit(root: _Node, rest: dict[str, Any], mover: int) -> Forfeit:
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


def _games(text: str) -> list[list[_Node]]:
    """Return the nodes of each game's first variation, as the last value of each property by name."""
    games: list[list[_Node]] = []
    stack: list[list[bool]] = []  # of open brackets: on the first variation; has a variation
    place = _SPACE.match(text.removeprefix("\ufeff")).end()  # type: ignore[union-attr]
    text = text.removeprefix("\ufeff")
    while place < len(text):
        mark = text[place]
        place += 1
        if mark == "(":
            if not stack:
                games.append([])
            main = not stack or (stack[-1][0] and not stack[-1][1])
            if stack:
                stack[-1][1] = True
            stack.append([main, False])
        elif mark == ")" and stack:
            stack.pop()
        elif mark == ";" and stack:
            if stack[-1][0]:
                games[-1].append({})
        elif stack and (found := _PROPERTY.match(text, place - 1)):
            if stack[-1][0] and games[-1]:
                values = _VALUE.findall(found[2])
                games[-1][-1][re.sub("[a-z]", "", found[1])] = re.sub(r"\\(.)", r"\1", values[-1], flags=re.DOTALL)
            place = found.end()
        else:
            raise ValueError(f"expected an SGF file, got {shown(text[place - 1 : place + 30])} at character {place}")
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
    if stack or not games or not all(games):
        raise ValueError(
            "expected an SGF file of whole games, such as (;FF[4]GM[2048]SZ[5];B[a1];W[b1]), got " + shown(text)
        )
    return games
