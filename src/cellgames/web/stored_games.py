"""Stored games on the analysis board: the moves that were played next, and puzzles out of the games."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from cellgames.arena.records.checksums import plain
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import game_of, replay
from cellgames.arena.records.store.store import Store, canonical
from cellgames.envs import registry
from cellgames.envs.core import Game, State

from .analysis_board import Wish, move_values, place_of
from .hints import searched
from .views import has_board

_NEWEST = 5000  # games of a setting that are read
_SHOWN = 12  # next moves
_GLANCE, _NODES = 2000, 100_000  # of a solver: for any position, and where all moves but a few are soon known to lose
_OPEN = 3
_TRIED = 8  # positions of a game
_PATIENCE_S = 8.0  # of a person who waits for a puzzle
_WON, _LOST = 0.85, 0.5  # least win chance of a move that wins, largest one of a move that does not


def next_moves(store: Store, wish: Wish) -> list[dict[str, Any]]:
    """Return the moves with which stored games went on after the moves of a position, the most frequent one first.

    Returns:
        JSON objects: `move`, `games`, `score` (mean result of the mover, a win 1 and a draw 0.5) and `agents`, the
        three that chose it most often with their numbers of times; a random opening is the choice of none.
    """
    game, _, state = place_of(wish)
    seat, moves, found = int(state.current_player), tuple(wish.moves), defaultdict[str, list[Record]](list)
    for record in _games(store.path, store.last, game.id, canonical(plain(game.parameters))):
        if record.position == wish.position and record.moves[: len(moves)] == moves != record.moves:
            found[record.moves[len(moves)]].append(record)
    told = []
    for move, records in sorted(found.items(), key=lambda one: -len(one[1]))[:_SHOWN]:
        results = [record.result.outcome[seat] for record in records]
        chosen = Counter(record.agents[seat] for record in records if record.opening <= len(moves))
        score = (results.count("win") + results.count("draw") / 2) / len(records)
        told.append({"move": move, "games": len(records), "score": score, "agents": chosen.most_common(3)})
    return told


def find_puzzle(store: Store, chance: random.Random) -> dict[str, Any] | None:
    """Return a won position of a stored game in which one move only wins, None if some seconds do not find one.

    The game's solver says which moves win. Where it does not know, a search does.

    Returns:
        `game`, `parameters`, `position` as the game writes positions, and `best`, the name of the move.
    """
    settings, end = [one for one in store.settings() if _can_be_analysed(one.game)], time.monotonic() + _PATIENCE_S
    while settings and time.monotonic() < end:
        (setting,) = chance.choices(settings, [one.games for one in settings])
        record = chance.choice(_games(store.path, store.last, setting.game, canonical(setting.parameters)))
        game, positions = game_of(record), replay(record)[record.opening + 1 : -2]
        tried = _TRIED if "solve" in registry.plugin_of(game).search else 1  # searches take longer
        for state in chance.sample(positions, min(tried, len(positions))):
            if best := _only_win(game, state):
                position = game.state_to_string(state)
                return {"game": game.id, "parameters": plain(game.parameters), "position": position, "best": best}
    return None


@lru_cache(8)
def _games(file: Path, last: int, game: str, parameters: str) -> tuple[Record, ...]:
    """Return the newest games of a setting; `last` is the number of the store's newest game."""
    with Store(file, create=False) as store:
        newest = store.entries(game, json.loads(parameters), limit=_NEWEST)
        return tuple(store.record(entry.number) for entry in newest)


def _can_be_analysed(id: str) -> bool:
    game = registry.make(id) if id in registry.REGISTRY else None
    return game is not None and has_board(game) and not game.info.search_obstacles


def _only_win(game: Game, state: State) -> str:
    """Return the name of the only move that wins; "" without one, or where it ends the game."""
    if any((values := move_values(game, state, _GLANCE)).values()):
        if sum(value >= 0 for value in values.values()) > _OPEN:
            return ""
        values = move_values(game, state, _NODES)
        wins = [action for action, value in values.items() if value > 0]
        if 0 in values.values() or len(wins) != 1 or bool(game.step(state, torch.tensor(wins, device="cpu")).done):
            return ""
        return game.action_to_string(wins[0])
    if (found := searched(game, state)) is None:
        return ""
    best, second, *_ = [*sorted((move.win_chance for move in found.moves if move.visits), reverse=True), 1.0, 1.0]
    return found.chosen if best >= _WON and second <= _LOST else ""
