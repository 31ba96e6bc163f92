"""The catalog of the page: games with their settings, agents, and the limits on a visitor's choice.

A visitor names games, settings and agents as text. Nothing here imports code or opens a file by such a name: agents
are names of the registry with a bounded number, or those that the page lists (`AppState.agents`): files that were found
beforehand, and specs that the owner of the page chose.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

import torch

from cellgames.agents.agent_specs import AGENTS
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.arena.play.match import records_of
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import start
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.plugins import Setting
from cellgames.utils.errors import InputError, check_one_of, check_whole, shown

from .agent_seats import AgentSeats
from .limits import MOVE_S
from .limits import check as check_limits

MOST_PLAYOUTS = 5000
"""Most playouts of an agent; more would keep a thread busy for minutes a move."""

_TRIED = {"rollout": 64, "mcts": 200, "gumbel": 32}  # agents that take a number, and one to offer

OPEN_AGENTS = {
    name: entry for name, entry in AGENTS.items() if entry.takes not in ("AGENT", "COMMAND", "MODEL", "FOLDER")
}
"""The agents that a visitor may name: without those that run programs, cost money or read folders."""

_MOST_SEATS = 8  # names for people, as far as a setting may add players

_SPEC = re.compile(r"([a-z]+)(?::([1-9][0-9]{0,8}))?")


def settings_of(game: Game) -> dict[str, Setting]:
    """Return the parameters that a visitor may set, by name: those of the page, and all yes/no parameters."""
    page = registry.plugin_of(game).page
    named = {setting.name: setting for setting in page.settings} if page is not None else {}
    names = (field.name for field in fields(game))  # type: ignore[arg-type]  # games are dataclasses
    flags = (name for name in names if isinstance(getattr(game, name), bool))
    return named | {name: Setting(name, name.replace("_", " ").capitalize()) for name in flags if name not in named}


def games() -> list[dict[str, Any]]:
    """Return every id that can be played here, with title, credit, rules, players, settings and defaults, as JSON.

    Games without a page (`GamePlugin.page`) and those that cannot be made are left out.
    """
    return [dict(offer) for id in registry.REGISTRY if (offer := _offer(id)) is not None]


@lru_cache
def _offer(id: str) -> Mapping[str, Any] | None:
    """Return a game as JSON; None for one without a page, or one that cannot be made."""
    entry = registry.spec(id)
    if (page := entry.plugin.page) is None:
        return None
    try:
        game = registry.make(id)
    except Exception:  # of another package's class, and no reason to hide the other games
        return None
    info = game.info
    most_shapes = min(info.max_turns, 16)  # what a form shows for None, "the pattern's own number"
    settings = settings_of(game)
    defaults = {name: getattr(game, name) for name in settings}
    return {
        "id": id,
        "game": game.id,
        "preset": id != game.id,
        "title": info.title,
        "summary": entry.summary,
        "credit": info.credit,
        "rules": list(page.rules),
        "players": list(info.players),
        "people": page.by_seat("people", _MOST_SEATS) or list(info.players),
        "goals": list(page.goals),
        "lesson": bool(page.lesson),
        "simultaneous": info.simultaneous,
        "settings": [
            asdict(setting) | {"default": most_shapes if defaults[setting.name] is None else defaults[setting.name]}
            for setting in settings.values()
        ],
    }


def check_parameters(id: str, parameters: Mapping[str, Any]) -> Game:
    """Return the game with a visitor's settings.

    Raises:
        ValueError: The game or a setting is unknown, a setting is out of the limits of the page or of the game, the
            page has no board for the game, or the game is too large (`limits.check`).
    """
    if id not in registry.REGISTRY:
        check_one_of("game", id, [id for id in registry.REGISTRY if _offer(id) is not None])
    if (offer := _offer(id)) is None:
        raise InputError("game", "a game that the page has a board for", id, "its records can be watched")
    usual = registry.make(id)
    settings = settings_of(usual)
    for name, value in parameters.items():
        check_one_of("parameter", name, settings, id)
        setting = settings[name]
        if isinstance(getattr(usual, name), bool):
            if not isinstance(value, bool):
                raise InputError(name, "true or false", shown(value), where=id)
        elif setting.choices:
            check_one_of(name, value, setting.choices, id)
        else:
            check_whole(name, value, setting.low, setting.high, id)
            if (value - setting.low) % setting.step:
                raise InputError(name, f"{setting.low} or {setting.step} more, and so on", value, where=id)
    # A default is left out: what a form shows for "the pattern's own number" must not cut the pattern short.
    defaults = {setting["name"]: setting["default"] for setting in offer["settings"]}
    game = registry.make(id, **{name: value for name, value in parameters.items() if value != defaults.get(name)})
    check_limits(game)
    return game


@lru_cache
def demonstration(id: str) -> Record:
    """Return a game that `greedy` agents play on the small board of a game, always the same."""
    small = next((one["id"] for one in games() if one["game"] == id and one["preset"]), id)
    game = check_parameters(small, {})
    agent = load("greedy", game)
    seats, random = torch.zeros((1, game.info.num_players), dtype=torch.int64), torch.Generator().manual_seed(1)
    played = play(game, [agent], seats, torch.tensor([1]), [random])
    return records_of(game, played, seeds=[1], agents=[(agent.name,) * seats.shape[1]], openings=[0])[0]


# ---------------------------------------------------------------- agents


def load_agent(spec: str, game: Game, listed: Mapping[str, str]) -> AnyAgent:
    """Return a new agent for the game.

    Args:
        spec: The agent's spec as a visitor wrote it.
        game: The game with its parameters.
        listed: Specs that the owner of the page chose, and files, by the names under which the page offers them.

    Raises:
        ValueError: Visitors may not name this agent, or it cannot play this game.
    """
    if spec not in listed:
        match = _SPEC.fullmatch(spec)
        if match is None or match[1] not in OPEN_AGENTS:
            known = ", ".join(entry.usage.split("[")[0] for entry in OPEN_AGENTS.values())
            raise InputError("agent", f"one of {known}, or one that the page lists", shown(spec))
        if match[2] is not None and int(match[2]) > MOST_PLAYOUTS:
            raise InputError(f"agent {match[1]}:N", f"N up to {MOST_PLAYOUTS}", match[2])
    return load(listed.get(spec, spec), game, name=spec)


def offered(game: Game, listed: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the agents that can play a game, as JSON: `spec`, `summary`, and `number` if a visitor may choose N."""
    return _offered(game, tuple(listed.items()))


@lru_cache(256)
def _offered(game: Game, names: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    listed = dict(names)
    found: list[dict[str, Any]] = []
    candidates: list[tuple[str, str, int | None]] = [
        *((name, entry.summary, _TRIED.get(name)) for name, entry in OPEN_AGENTS.items()),
        *((name, "listed by this page", None) for name in listed),
    ]
    for name, summary, number in candidates:
        spec = name if number is None else f"{name}:{number}"
        with suppress(ValueError, OSError, ImportError):
            load_agent(spec, game, listed)
            found.append({"name": name, "spec": spec, "summary": summary, "number": number})
    return found


@lru_cache(256)
def most_playouts(game: Game, name: str) -> int:
    """Return the most playouts that a move of an agent may have here, so that it needs half of `MOVE_S` at most.

    The first call for a game measures the agent's first move with a few playouts.

    Raises:
        ValueError: Visitors may not name this agent, it takes no number, or it cannot play this game.
    """
    if (tried := _TRIED.get(name)) is None:
        raise InputError("agent", f"one of {', '.join(_TRIED)}", shown(name))
    few = max(1, tried // 8)
    seats = AgentSeats(game, [f"{name}:{few}"] * game.info.num_players, lambda spec: load_agent(spec, game, {}), 0)
    seats.start()
    began = time.perf_counter()
    seats.act(start(game, 0), {})
    seconds = (time.perf_counter() - began) / (game.info.num_players if game.info.simultaneous else 1)
    return max(1, min(MOST_PLAYOUTS, int(few * MOVE_S / 2 / seconds)))
