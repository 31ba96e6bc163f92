"""Stored games on the analysis board: the moves that were played next, and puzzles out of the games."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

import torch

from cellgames.arena.records.record_lines import plain
from cellgames.arena.records.replays import replay
from cellgames.arena.records.store import Store, canonical
from cellgames.envs import registry
from cellgames.envs.core import Game, State

from .analysis_board import Wish, game_of, move_values, place_of
from .hints import searched
from .limits import OutOfTimeError, check, limited

_NEWEST = 5000  # games of a setting that are read
_SHOWN = 12  # next moves
_GLANCE, _GAZE = 2000, 100_000  # of a solver: for any position, and where all moves but a few are soon known to lose
_OPEN = 3
_TRIED = 8  # positions of a game
_PATIENCE_S = 8.0  # of a person who waits for a puzzle
_Told = tuple[tuple[str, ...], tuple[str, ...], int]  # of a game: outcome, agents, and moves of its random opening
_WON, _LOST = 0.85, 0.5  # least win chance of a move that wins, largest one of a move that does not


def next_moves(store: Store, wish: Wish) -> list[dict[str, Any]]:
    """Return the moves with which stored games went on after the moves of a position, the most frequent one first.

    Returns:
        JSON objects: `move`, `games`, `score` (mean result of the mover, a win 1 and a draw 0.5) and `agents`, the
        three that chose it most often with their numbers of times; a random opening is the choice of none.
    """
    game, _, state = place_of(wish)
    seat, moves, found = int(state.current_player), tuple(wish.moves), defaultdict[str, list[_Told]](list)
    for position, line, more in _lines(store.path, store.last, game.id, canonical(plain(game.parameters))):
        if position == wish.position and line[: len(moves)] == moves != line:
            found[line[len(moves)]].append(more)
    told = []
    for move, games in sorted(found.items(), key=lambda one: -len(one[1]))[:_SHOWN]:
        results = [outcome[seat] for outcome, _, _ in games]
        chosen = Counter(agents[seat] for _, agents, opening in games if opening <= len(moves))
        score = (results.count("win") + results.count("draw") / 2) / len(games)
        told.append({"move": move, "games": len(games), "score": score, "agents": chosen.most_common(3)})
    return told


def find_puzzle(store: Store, chance: random.Random) -> dict[str, Any] | None:
    """Return a won position of a stored game in which one move only wins, None if some seconds do not find one.

    The game's solver says which moves win. Where it does not know, a search does.

    Returns:
        `game`, `parameters`, `position` as the game writes positions, and `best`, the name of the move.
    """
    settings, end = [one for one in store.settings() if one.game in registry.REGISTRY], time.monotonic() + _PATIENCE_S

    def draw() -> dict[str, Any] | None:
        (setting,) = chance.choices(settings, [one.games for one in settings])
        try:
            game = game_of(setting.game, setting.parameters)
        except ValueError:  # not for the analysis board
            settings.remove(setting)
            return None
        place = chance.randrange(min(setting.games, _NEWEST))
        record = store.record(store.entries(setting.game, setting.parameters, offset=place, limit=1)[0].number)
        check(game, record.moves)
        positions = replay(record)[record.opening + 1 : -2]
        tried = _TRIED if "solve" in registry.plugin_of(game).search else 1  # searches take longer
        for state in chance.sample(positions, min(tried, len(positions))):
            if best := _only_win(game, state):
                position = game.state_to_string(state)
                return {"game": game.id, "parameters": plain(game.parameters), "position": position, "best": best}
        return None

    while settings and (left := end - time.monotonic()) > 0:
        with suppress(ValueError, OutOfTimeError):  # a record that no longer replays, or takes too long
            if found := limited(left, draw):
                return found
    return None


@lru_cache(8)
def _lines(file: Path, last: int, game: str, parameters: str) -> list[tuple[str, tuple[str, ...], _Told]]:
    """Return position and moves of the newest games of a setting; `last` is the number of the store's newest game."""
    with Store(file, create=False) as store:
        found = (store.record(one.number) for one in store.entries(game, json.loads(parameters), limit=_NEWEST))
        return [(x.position, tuple(map(intern, x.moves)), (x.result.outcome, x.agents, x.opening)) for x in found]


def _only_win(game: Game, state: State) -> str:
    """Return the name of the only move that wins; "" without one, or where it ends the game."""
    if any((values := move_values(game, state, _GLANCE)).values()):
        if sum(value >= 0 for value in values.values()) > _OPEN:
            return ""
        values = move_values(game, state, _GAZE)
        wins = [action for action, value in values.items() if value > 0]
        if 0 in values.values() or len(wins) != 1 or bool(game.step(state, torch.tensor(wins, device="cpu")).done):
            return ""
        return game.action_to_string(wins[0])
    if (found := searched(game, state)) is None:
        return ""
    best, second, *_ = [*sorted((move.win_chance for move in found.moves if move.visits), reverse=True), 1.0, 1.0]
    return found.chosen if best >= _WON and second <= _LOST else ""
