"""What the page offers: games with their settings, agents, and the limits within which a visitor may choose.

A visitor names games, settings and agents as text. Nothing here imports code or opens a file by such a name: agents
are names of the registry with a bounded number, or weights that were found beforehand (`library.Library.weights`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import AGENTS, load
from cellgames.envs import registry

from .views import has_board
from .visitor_text import short

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.envs.core import Game

__all__ = [
    "MOST_PLAYOUTS",
    "RULES",
    "SETTINGS",
    "Setting",
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


@dataclass(frozen=True)
class Setting:
    """A parameter of a game that a visitor may set.

    Attributes:
        name: of the parameter.
        label: for people.
        low: least whole number.
        high: the largest.
        step: between them.
        choices: instead of a number one of these.
    """

    name: str
    label: str
    low: int = 0
    high: int = 0
    step: int = 1
    choices: tuple[str, ...] = ()

    def check(self, game: str, value: object) -> None:
        """Raise a `ValueError` unless a visitor may choose `value`."""
        start = f"{game}: parameter {self.name!r} must be"
        if self.choices:
            if value not in self.choices:
                raise ValueError(f"{start} one of {', '.join(self.choices)}, got {short(value)}")
        elif isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(f"{start} a whole number from {self.low} to {self.high}, got {short(value)}")
        elif (value - self.low) % self.step:
            raise ValueError(f"{start} {self.low} or {self.step} more, and so on, got {value}")


_PATTERNS = (
    "random",
    "randys",
    "donutpi",
    "donutmethuselahs",
    "donutcore",
    "crabdonuts",
    "quadjustyna",
    "donutmultums",
)

SETTINGS: dict[str, tuple[Setting, ...]] = {
    "torus-v0": (Setting("size", "Board size", 2, 16),),
    "cloth-of-gold-v0": (
        Setting("height", "Rows", 8, 128),
        Setting("width", "Columns", 8, 128),
        Setting("generations", "Generations a round", 1, 500),
        Setting("max_units", "Units a turn", 1, 20),
        Setting("max_rounds", "Rounds at most", 1, 50),
        Setting("win_rule", "Who wins", choices=("score", "extinction")),
    ),
    "grid-adaptation-v0": (
        Setting("size", "Board size", 5, 19),
        Setting("players", "Players", 2, 8),
        Setting("rounds", "Rounds", 1, 20),
    ),
    "toroidal-cup-v0": (
        Setting("rows", "Rows", 8, 80, 2),
        Setting("cols", "Columns", 16, 320, 2),
        Setting("teams", "Teams", 2, 8),
        Setting("pattern", "Shapes from", choices=_PATTERNS),
        Setting("shapes", "Shapes a team at most", 1, 16),
        Setting("max_generations", "Generations at most", 1, 10_000),
    ),
}
"""By the id of the game without its presets."""

_LIFE = (
    "Life: an empty cell with exactly three live neighbours (of eight) comes alive; a live cell with two or three "
    "lives on; every other one dies."
)

RULES: dict[str, tuple[str, ...]] = {
    "torus-v0": (
        "Black and White take turns; a move puts a stone on any free cell, octagon or square. No passes, no draws.",
        "The board is a torus: it goes on beyond every edge. Drag it to look across the seam.",
        "Black wins with a closed path that runs around vertically, or around both ways at once, sloping down to "
        "the right. White wins with one that runs around horizontally, or both ways sloping up to the right.",
        "Whoever closes a path of the own kind wins at once; closing only the other one's kind wins for nobody.",
    ),
    "cloth-of-gold-v0": (
        "In turn both players place up to ten units, at least one where that is possible; then Life runs for a round "
        "of generations. Before the first round both place once without Life after it.",
        "A unit goes on an empty cell of your own territory (near your units) that is not also your opponent's, and "
        "not directly beside (left, right, above, below) an opponent's unit. With no unit on the board you may start "
        "anywhere but beside the opponent's units.",
        _LIFE,
        "A newborn belongs to the side with more of its three parents. A unit that would live on with more opponents "
        "than friends around it is killed instead: its cell is blocked, as a rule for one generation, and can bear "
        "nothing in that time.",
        "After the second round and every later one, who leads in units wins, unless that lead has grown since the "
        "round before. When both have equally many, both lose. After the last round the lead decides.",
        "Where the setting is extinction, who has no unit left after a round has lost instead.",
    ),
    "grid-adaptation-v0": (
        "Every player has a secret sequence of three digits. All at once, each names spaces for tiles: three in "
        "round 1, one later, and at most one reserve tile. A space that several players name stays empty, and their "
        "tiles are spent.",
        "Tiles carry your sequence. Then one generation of Life runs; a newborn gets each digit from the majority of "
        "its three parents.",
        _LIFE,
        "You score, for every tile on the board, whoever placed it, the digits in which it equals your sequence.",
        "In some rounds you may flip one digit. Garnets buy one more reserve tile a round, each at twice the price "
        "of the one before. The fewest points in the end make the Elimination Candidate; those with a Token of Life, "
        "which up to three players in first place have won, vote on a tie.",
    ),
    "toroidal-cup-v0": (
        "All teams place their next shape at once, each in its own band of the torus, turned and mirrored as they "
        "like, not on their own cells.",
        "After the last shape Life runs, in colours, on a board that goes on beyond every edge.",
        _LIFE,
        "A newborn takes the majority colour of its parents, a survivor that of its neighbours; where colours tie, "
        "the cell's place decides.",
        "When the shares of the teams have settled, or one team alone is left, the team with most live cells wins.",
    ),
}
"""In brief, for people at the page; the whole rules are in the documentation."""


def games() -> list[dict[str, Any]]:
    """Every id that can be played here, with title, credit, rules, players, settings and their defaults, as JSON.

    Games of other packages, which the page has no board for, and those that cannot be made are left out.
    """
    return [dict(_game(id)) for id in registry.REGISTRY if _has_board(id)]


def _has_board(id: str) -> bool:
    try:
        return has_board(registry.make(id))
    except Exception:  # of another package's class, and no reason to hide the other games
        return False


@lru_cache
def _game(id: str) -> Mapping[str, Any]:
    entry = registry.spec(id)
    game = registry.make(id)
    info = game.info
    longest = _longest(game)
    settings = [
        asdict(setting) | {"default": _plain(getattr(game, setting.name), longest)} for setting in SETTINGS[game.id]
    ]
    return {
        "id": id,
        "game": game.id,
        "preset": id != game.id,
        "title": info.title,
        "summary": entry.summary,
        "credit": info.credit,
        "rules": list(RULES[game.id]),
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
        raise ValueError(f"expected a game of {', '.join(filter(_has_board, registry.REGISTRY))}, got {short(id)}")
    entry = registry.spec(id)
    if not _has_board(id):
        raise ValueError(f"expected a game that the page has a board for, got {id}; its records can be watched")
    known = {setting.name: setting for setting in SETTINGS[registry.make(id).id]}
    if unknown := [name for name in parameters if name not in known]:
        raise ValueError(f"{id}: the page sets {', '.join(known)}, got {short(unknown[0])}")
    for name, value in parameters.items():
        known[name].check(id, value)
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
