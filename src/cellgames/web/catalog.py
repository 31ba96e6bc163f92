"""What the page offers: games with their settings, agents, and the limits within which a visitor may choose.

A visitor names games, settings and agents as text. Nothing here imports code or opens a file by such a name: agents
are names of the registry with a bounded number, or weights that were found beforehand (`library.Library.weights`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import AGENTS, load
from cellgames.envs import registry
from cellgames.plugins import Page, Setting

from .visitor_text import short

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.envs.core import Game

__all__ = [
    "MOST_PLAYOUTS",
    "check_parameters",
    "games",
    "load_agent",
    "offered",
    "refuse_spec",
]

MOST_PLAYOUTS = 5000
"""Of an agent that takes a number: more would keep a thread busy for minutes a move."""

_TRIED = {"rollout": 64, "amaf": 64, "mcts": 200, "gumbel": 32}  # agents that take a number, and one to offer
_SPEC = re.compile(r"([a-z]+)(?::([1-9][0-9]{0,8}))?")


def _check_setting(setting: Setting, game: str, value: object) -> None:
    """Raise a `ValueError` unless a visitor may choose `value`."""
    start = f"{game}: parameter {setting.name!r} must be"
    if setting.choices:
        if value not in setting.choices:
            raise ValueError(f"{start} one of {', '.join(setting.choices)}, got {short(value)}")
    elif isinstance(value, bool) or not isinstance(value, int) or not setting.low <= value <= setting.high:
        raise ValueError(f"{start} a whole number from {setting.low} to {setting.high}, got {short(value)}")
    elif (value - setting.low) % setting.step:
        raise ValueError(f"{start} {setting.low} or {setting.step} more, and so on, got {value}")


def games() -> list[dict[str, Any]]:
    """Return every id that can be played here, with title, credit, rules, players, settings and defaults, as JSON.

    Games without a page (`GamePlugin.page`) and those that cannot be made are left out.
    """
    return [dict(_game(id)) for id in registry.REGISTRY if _page(id) is not None]


def _page(id: str) -> Page | None:
    """Return the game's page; None for a game without one, or one that cannot be made."""
    page = registry.spec(id).plugin.page
    if page is not None:
        try:
            registry.make(id)
        except Exception:  # of another package's class, and no reason to hide the other games
            return None
    return page


@lru_cache
def _game(id: str) -> Mapping[str, Any]:
    entry, game, page = registry.spec(id), registry.make(id), _page(id)
    assert page is not None  # of `games`
    info = game.info
    longest = _longest(game)
    settings = [
        asdict(setting) | {"default": _plain(getattr(game, setting.name), longest)} for setting in page.settings
    ]
    return {
        "id": id,
        "game": game.id,
        "preset": id != game.id,
        "title": info.title,
        "summary": entry.summary,
        "credit": info.credit,
        "rules": list(page.rules),
        "players": list(info.players),
        "simultaneous": info.simultaneous,
        "settings": settings,
    }


def _longest(game: Game) -> int:
    return min(game.info.max_turns, 16)


def _plain(value: Any, longest: int) -> Any:
    """A default as a form shows it; "the pattern's own number" is its largest."""
    return longest if value is None else value


def check_parameters(id: str, parameters: Mapping[str, Any]) -> Game:
    """The game with a visitor's settings.

    Raises:
        ValueError: an unknown game or setting, one out of the limits of the page or of the game, or a game that the
            page has no board for.
    """
    if id not in registry.REGISTRY:
        raise ValueError(f"expected a game of {', '.join(filter(_page, registry.REGISTRY))}, got {short(id)}")
    entry = registry.spec(id)
    if (page := _page(id)) is None:
        raise ValueError(f"expected a game that the page has a board for, got {id}; its records can be watched")
    known = {setting.name: setting for setting in page.settings}
    if unknown := [name for name in parameters if name not in known]:
        raise ValueError(f"{id}: the page sets {', '.join(known)}, got {short(unknown[0])}")
    for name, value in parameters.items():
        _check_setting(known[name], id, value)
    # What a form shows for "the pattern's own number" must not cut the pattern short.
    given = {name: value for name, value in parameters.items() if value != _default(id, name)}
    return registry.make(entry.id, **given)


def _default(id: str, name: str) -> Any:
    return next(setting["default"] for setting in _game(id)["settings"] if setting["name"] == name)


# ---------------------------------------------------------------- agents


def refuse_spec(spec: str, weights: Mapping[str, Path]) -> None:
    """Raise a `ValueError` unless a visitor may name this agent.

    Args:
        spec: as the visitor wrote it.
        weights: files by the names under which the page offers them.
    """
    if spec in weights:
        return
    match = _SPEC.fullmatch(spec)
    if match is None or match[1] not in AGENTS:
        known = ", ".join(entry.usage.split("[")[0] for entry in AGENTS.values())
        raise ValueError(f"expected an agent of {known}, or weights that the page lists, got {short(spec)}")
    if match[2] is not None and int(match[2]) > MOST_PLAYOUTS:
        raise ValueError(f"agent {match[1]}:N: the page allows N up to {MOST_PLAYOUTS}, got {match[2]}")


def load_agent(spec: str, game: Game, weights: Mapping[str, Path]) -> AnyAgent:
    """A new agent of that spec for the game; its name is the spec.

    Raises:
        ValueError: not to be named by visitors, or not for this game.
    """
    refuse_spec(spec, weights)
    agent = load(str(weights[spec]), game) if spec in weights else load(spec, game)
    agent.name = spec
    return agent


_OFFERED: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
_OFFERED_LOCK = threading.Lock()


def offered(game: Game, weights: Mapping[str, Path]) -> list[dict[str, Any]]:
    """The agents that can play a game, as JSON: `spec`, `summary`, and `number` where a visitor may choose N."""
    key = (game, tuple(weights))
    with _OFFERED_LOCK:
        if key not in _OFFERED:
            if len(_OFFERED) > 256:
                _OFFERED.clear()
            _OFFERED[key] = _offered(game, weights)
        return _OFFERED[key]


def _offered(game: Game, weights: Mapping[str, Path]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    candidates: Sequence[tuple[str, str, int | None]] = [
        (name, entry.summary, _TRIED.get(name)) for name, entry in AGENTS.items()
    ] + [(name, "weights from the results folder", None) for name in weights]
    for name, summary, number in candidates:
        spec = name if number is None else f"{name}:{number}"
        try:
            load_agent(spec, game, weights)
        except (ValueError, OSError, ImportError):
            continue
        found.append({"name": name, "spec": spec, "summary": summary, "number": number})
    return found
