"""The analysis board's work: positions as the page draws them, searches in the background, and stored games.

A request names the game, a position as text and moves from there, so the server keeps nothing for a visitor. Searches
run on a few threads of their own. Their results are kept by position, for every visitor.
"""

from __future__ import annotations

import json
import math
import os
import random
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from sys import intern
from typing import Annotated, Any

import torch
from pydantic import BaseModel, ConfigDict, Field

from cellgames.agents.base import AnyAgent, acting
from cellgames.agents.loading import load
from cellgames.agents.play_loop import parse_move
from cellgames.arena.analyse import search_analysis
from cellgames.arena.analyse.search_analysis import Analysis, LineMove, MoveReport, analyse
from cellgames.arena.records.record_lines import plain
from cellgames.arena.records.replays import replay, start, states_of_moves
from cellgames.arena.records.store import Store, canonical
from cellgames.envs import registry
from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError, check_one_of
from cellgames.utils.report.model import rounded

from .agent_seats import searched
from .catalog import MOST_PLAYOUTS, check_parameters, settings_of
from .frames import frame, layout
from .limits import MOVE_S, OutOfTimeError, limited
from .limits import check as check_limits
from .record_library import MOST_LINE
from .seated_game import RefusedError, checked
from .sessions import FullError
from .views import view_of
from .views.view import legal_bits

LINES = 3
"""Lines of an analysis."""

_EFFORTS = {"gumbel": (32, 128, 512, 2048), "mcts": (500, 1500, 5000)}  # simulations, a few milliseconds for the first
_EFFORTS_IN_TORCH = {**_EFFORTS, "gumbel": (16, 64, 256)}  # where no native code grows the trees of networks
_EFFORTS_OF_LIFE = {"gumbel": (8, 32, 128), "mcts": (4, 16)}  # where a simulation plays rounds of Life
_MOST_NODES = 8_000_000  # simulations times cells of a search
_WAITING = 32  # searches that wait for a thread
_KEPT = 1500  # analyses that are kept
_AGENTS = 8  # that each thread keeps
_LISTED = 64  # moves of an answer
_NODES = 16  # of a solver for each simulation
_Number = Annotated[int, Field(ge=0, lt=1 << 31)]


class Position(BaseModel):
    """A position of a game in turns, such as a link holds it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    game: str = Field(max_length=100)
    parameters: dict[str, bool | int | float | str | None] = Field(default_factory=dict, max_length=40)
    position: str = Field(
        default="", max_length=MOST_LINE, description="As the game writes positions; the usual start without one."
    )
    moves: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=2000)
    seed: str = Field(
        default="0", pattern=r"^-?\d{1,19}$", description="Of the usual start in games of chance: a number, as a text."
    )


class Places(Position):
    """Moves from a position, and changes of it."""

    action: _Number | None = Field(default=None, description="One more move, by its number.")
    put: list[Annotated[list[_Number], Field(min_length=2, max_length=2)]] | None = Field(
        default=None, max_length=10_000, description="Cells of the first position, each with a code of `codes`."
    )
    mover: _Number | None = Field(default=None, description="With `put`, the seat to move.")


class Search(Position):
    """A search of the position after the moves."""

    engine: str = Field(max_length=40, description="A name of `engines`.")
    simulations: int = Field(ge=0, lt=1 << 31, description="One of the engine's efforts.")
    review: bool = Field(default=True, description="Review the last move, too.")


# ---------------------------------------------------------------- positions


def game_of(id: str, parameters: Mapping[str, Any], moves: Sequence[str] = ()) -> Game:
    """Return a game in turns that the page has a board for; raise a `ValueError` that says what was expected."""
    check_one_of("game", id, registry.REGISTRY)  # an id may name a module, and links come from strangers
    game = registry.make(id, **parameters)
    check_limits(game)
    check_limits(game, moves)
    if why := game.info.search_obstacles:
        raise InputError("game", "one that a search can play, for the analysis board", cause=why[0], where=game.id)
    return game


def place_of(wish: Position) -> tuple[Game, State | None, State]:
    """Return the game of a request, the position before the last move, if any, and the position itself.

    Raises:
        ValueError: An unknown game, position or move.
    """
    game = game_of(wish.game, wish.parameters, wish.moves)
    *before, state = deque(states_of_moves(game, wish.moves, position=wish.position, seed=int(wish.seed)), 2)
    return game, before[0] if before else None, state


def positions(wish: Places) -> dict[str, Any]:
    """Return the positions after each of the moves, the first one before them, as the page draws them.

    Raises:
        ValueError: An unknown game, a text that is no position of it, or an illegal move.
    """
    game = game_of(wish.game, wish.parameters, wish.moves)
    position = wish.position
    if wish.put is not None:
        state = start(game, int(wish.seed), position)
        seat = int(state.current_player) if wish.mover is None else wish.mover
        if not 0 <= seat < game.info.num_players:
            raise InputError("mover", f"a seat from 0 to {game.info.num_players - 1}", seat)
        cells, known = math.prod(game.info.board.shape), dict(view_of(game).codes())
        changes = {cell: code for cell, code in wish.put if 0 <= cell < cells}
        if known and (strange := [code for code in changes.values() if code not in known]):
            codes = ", ".join(f"{code} ({name})" for code, name in known.items())
            raise InputError("put", f"a code of {codes}", strange[0])
        position = view_of(game).edited(state, changes, seat)
    states: list[State] = [*states_of_moves(game, wish.moves, position=position, seed=int(wish.seed))]
    names = [game.action_to_string(int(parse_move(game, move))) for move in wish.moves]
    if wish.action is not None:
        if bool(states[-1].done):
            raise RefusedError(cause="the game is over")
        chosen = checked(game, states[-1], int(states[-1].current_player), [wish.action])
        states.append(game.step(states[-1], chosen))
        names.append(game.action_to_string(wish.action))
    steps = zip(states, [None, *states[:-1]], [None, *names], strict=True)
    return {
        "layout": layout(game),
        "game": game.id,
        "parameters": plain(game.parameters),
        "nvec": list(game.info.action_nvec),
        "engines": [{"name": name, "efforts": efforts} for name, efforts in engines(game).items()],
        "marks": [{"sign": mark.sign, "name": mark.name, "loss": mark.loss} for mark in search_analysis.MARKS],
        "codes": view_of(game).codes(),
        "patterns": view_of(game).patterns(),
        "play": _playable(wish.game, game),
        "places": [_data(game, *step) for step in steps],
    }


def _data(game: Game, state: State, before: State | None, move: str | None) -> dict[str, Any]:
    """Return a position as the page keeps it in its tree of moves."""
    done = bool(state.done)
    seat = int(state.current_player)
    return {
        "move": move,
        "position": game.state_to_string(state),
        "frame": frame(game, state, before),
        "player": None if done else seat,
        "legal": None if done else legal_bits(game, state, seat),
        "controls": {} if done else view_of(game).controls(state, seat),
        "chances": [(value + 1) / 2 for value in game.outcome(state)[0].tolist()] if done else None,
    }


def _playable(id: str, game: Game) -> dict[str, Any] | None:
    """Return the game with the settings under which it can be played on the page, None if it cannot."""
    names = settings_of(game)
    settings = {name: value for name, value in plain(game.parameters).items() if name in names and value is not None}
    for known in (game.id, id):
        with suppress(ValueError):
            if check_parameters(known, settings) == game:
                return {"game": known, "parameters": settings}
    return None


# ---------------------------------------------------------------- searches


@lru_cache(64)
def engines(game: Game) -> Mapping[str, tuple[int, ...]]:
    """Return the searches that can analyse the game, the strongest first: by name the simulations of their analyses.

    A 0 stands for what the search knows before it simulates (`search_analysis.RootEvaluator`), which comes at once.
    """
    living = view_of(game).work(None) > 0
    cells = math.prod(game.info.board.shape)
    most = min(MOST_PLAYOUTS, max(8, _MOST_NODES // cells))
    native = registry.plugin_of(game).search.get("native_gumbel") is not None
    offered = _EFFORTS_OF_LIFE if living else _EFFORTS if native else _EFFORTS_IN_TORCH
    found: dict[str, tuple[int, ...]] = {}
    for name in (spec.partition(":")[0] for spec in search_analysis.DEFAULT_AGENTS):
        efforts = tuple(number for number in offered[name] if number <= most)
        with suppress(ValueError, ImportError, OSError, IndexError):  # no weights for it, or nothing that reads them
            agent: Any = load(f"{name}:{efforts[0]}", game)
            agent.check_game(game)
            at_once = (0,) if isinstance(acting(agent, game), search_analysis.RootEvaluator) else ()
            found[name] = at_once + efforts
    return found


class AnalysisBoard:
    """Searches of positions for the page, on half of the cores, so that agents and pages keep the others."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2), "analysis")
        self._own = threading.local()
        self._lock = threading.Lock()
        self._futures: set[Future[dict[str, Any]]] = set()  # searches that wait or run
        self._found: dict[tuple[Game, str, str], Analysis] = {}

    def submit(self, wish: Search) -> Future[dict[str, Any]]:
        """Start the analysis of a position on a thread; a future that is cancelled in time is not run.

        Raises:
            FullError: Too many searches wait.
        """
        with self._lock:
            if len(self._futures) >= _WAITING:
                raise FullError("many positions are being analysed; try again in a moment")
            future = self._pool.submit(self._analysed, wish)
            self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def close(self, seconds: float = 0.0) -> bool:
        """Start no more searches, wait some seconds for those that run, and return True if all have ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait([*self._futures], seconds).not_done

    def _analysed(self, wish: Search) -> dict[str, Any]:
        """Return the analysis as JSON, see `_answer`."""
        game, before, state = place_of(wish)
        engine, simulations = wish.engine, wish.simulations
        offered = engines(game)
        check_one_of("engine", engine, offered)
        efforts = offered[engine]
        check_one_of("simulations", simulations, efforts, engine)
        place = efforts.index(simulations)
        lines = LINES if place else 1  # the first answer is to come at once
        living = view_of(game).work(None) > 0
        less = efforts[0 if living else max(0, place - 1)]

        def search(position: State, effort: int = simulations) -> Analysis:
            return self._search(game, position, engine, effort)

        def answer() -> dict[str, Any]:
            found = _answer(game, state, search, partial(search, effort=less), lines)
            if wish.review and simulations and before is not None:
                played = int(parse_move(game, wish.moves[-1]))
                found["review"] = search_analysis.review_data(
                    search_analysis.review(game, before, played, search(before), search)
                )
            return found

        try:
            return limited(MOVE_S, answer)
        except OutOfTimeError:
            self._own.__dict__.clear()  # what was interrupted may be half a tree
            raise RefusedError(cause=f"the analysis took more than {MOVE_S:g} s of processor time") from None

    def _search(self, game: Game, state: State, engine: str, simulations: int) -> Analysis:
        """Return the analysis of a position, a kept one if there is any."""
        key = (game, game.state_to_string(state), f"{engine}:{simulations}")
        with self._lock:
            if (known := self._found.get(key)) is not None:
                return known
        agents = self._own.__dict__.setdefault("agents", lru_cache(_AGENTS)(load))  # they keep trees: a thread's own
        agent: AnyAgent = agents(f"{engine}:{simulations or next(filter(None, engines(game)[engine]))}", game)
        found = analyse(game, state, agent, simulate=simulations > 0)
        if simulations:
            found = proven(game, state, found, _NODES * simulations)
        with self._lock:
            if len(self._found) >= _KEPT:
                del self._found[next(iter(self._found))]
            self._found[key] = found
        return found


def move_values(game: Game, state: State, nodes: int) -> dict[int, int]:
    """Return the solver's value of each legal move: 1 if it wins, -1 if it loses, 0 where that stays open.

    Args:
        game: A game in turns; of one without a solver (`GamePlugin.search`) nothing is returned.
        state: The position, a batch of one that goes on.
        nodes: Searched at most, for all moves together.
    """
    solve, actions = registry.plugin_of(game).hook("solve"), game.legal_actions(state)[0].nonzero().flatten()
    if solve is None or len(actions) > _LISTED:
        return {}
    after = game.step(state[torch.zeros_like(actions)], actions)
    value, goes_on = game.outcome(after)[:, int(state.current_player)].long(), ~after.done
    if goes_on.any():
        value[goes_on] = -solve(game, after[goes_on], max(1, nodes // len(actions)))[0]
    return dict(zip(actions.tolist(), value.tolist(), strict=True))


def proven(game: Game, state: State, found: Analysis, nodes: int) -> Analysis:
    """Return an analysis with win chances 0 and 1 where `move_values` knows them; arguments are its own."""
    if not (known := move_values(game, state, nodes)):
        return found
    reports = {move.action: move for move in found.moves}
    for action, value in known.items():
        if value or action not in reports:
            new = MoveReport(game.action_to_string(action), action, 0, 0.0, 0.0, 0.0)
            reports[action] = replace(reports.get(action, new), win_chance=(value + 1) / 2 if value else math.nan)
    found, best = replace(found, moves=tuple(reports.values())), max(known.values())
    if best:
        found = replace(found, value=tuple(float(best if seat == found.player else -best) for seat in (0, 1)))
    if known[found.line[0].action] == best:
        return found
    move = max(found.moves, key=lambda one: (known[one.action], one.visits))
    return replace(found, chosen=move.name, line=(LineMove(move.name, move.action, found.player),))


def _answer(
    game: Game, state: State, search: Callable[[State], Analysis], quick: Callable[[State], Analysis], lines: int
) -> dict[str, Any]:
    """Return an analysis as JSON.

    `chances` (of each seat to win, 0 to 1; None if they are not known), `moves` (as `search_analysis.to_data` has
    them), `chosen`, `visits` (0 without a search), `lines` (`moves` with `name`, `action` and `player`; `chance` of the
    player who begins), and `review`, None here.
    """
    if bool(state.done):
        ended: dict[str, Any] = {"moves": [], "lines": [], "chosen": None, "visits": 0, "review": None}
        return ended | {"chances": [(value + 1) / 2 for value in game.outcome(state)[0].tolist()]}
    found = search(state)
    data = search_analysis.to_data(found)
    chances = [rounded(search_analysis.seat_chance(found, seat)) for seat in range(game.info.num_players)]
    return {
        "chances": None if None in chances else chances,
        "moves": data["moves"][:_LISTED],
        "chosen": found.chosen,
        "visits": data["visits"],
        "lines": [
            {"moves": [vars(move) for move in line], "chance": rounded(chance)}
            for line, chance in search_analysis.best_lines(game, state, found, lines, quick)
        ],
        "review": None,
    }


# ---------------------------------------------------------------- stored games

_NEWEST = 5000  # games of a setting that are read
_SHOWN = 12  # next moves
_GLANCE, _GAZE = 2000, 100_000  # of a solver: for any position, and where all moves but a few are soon known to lose
_OPEN = 3  # moves not known to lose, of which a longer look may find one that wins
_TRIED = {"solve": 8, "winning_turn": 1 << 20}  # positions of a game, by hooks that tell wins quickly; else one
_PATIENCE_S = 8.0  # of a person who waits for a puzzle
_Told = tuple[tuple[str, ...], tuple[str, ...], int]  # of a game: outcome, agents, and moves of its random opening
_WON, _LOST = 0.85, 0.5  # least win chance of a move that wins, largest one of a move that does not


def next_moves(store: Store, wish: Position) -> list[dict[str, Any]]:
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

    The game's solver says which moves win. Where it does not know, a search does. In Cloth of Gold a puzzle asks for
    the whole turn that decides the game, where few turns win.

    Returns:
        `game`, `parameters`, `position` as the game writes positions, and `best`, the names of the move or of all moves
        of the turn, parted by spaces.
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
        record = store.entries(setting.game, setting.parameters, offset=place, limit=1)[0].record
        check_limits(game, record.moves)
        positions = replay(record)[record.opening + 1 : -2]
        tried = max([1, *(number for hook, number in _TRIED.items() if hook in registry.plugin_of(game).search)])
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
        found = (one.record for one in store.entries(game, json.loads(parameters), limit=_NEWEST))
        return [(x.position, tuple(map(intern, x.moves)), (x.result.outcome, x.agents, x.opening)) for x in found]


def _only_win(game: Game, state: State) -> str:
    """Return the name of the only move that wins; "" without one, or where it ends the game. A turn has several."""
    if winning_turn := registry.plugin_of(game).hook("winning_turn"):
        return " ".join(map(game.action_to_string, winning_turn(game, state)))
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
