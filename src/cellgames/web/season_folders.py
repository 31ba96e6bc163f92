"""Seasons in the results folder, as the page shows them: standings, schedule, bracket, and every game."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from cellgames.arena.records.record_lines import RECORDS
from cellgames.arena.season.games import Fixture
from cellgames.arena.season.season import SETTINGS

from .record_library import Library, parse, summary

_MOST_GAMES = 20_000  # of a season; later ones are left out
_SETTINGS = ("game", "seed", "days", "teams", "version")  # those that the page shows
_PARTS = ("standings", "schedule", "bracket")  # files that a season has, some of them only at its end


def season_list(library: Library) -> list[dict[str, Any]]:
    """Return the seasons, the newest first.

    Returns:
        `folder`, `game`, names of `players`, `champion`, `time` in seconds since 1970, and `board`, file and
        number of the last game (None without games).
    """
    found = []
    for path, time in library.named(SETTINGS):
        folder = path.rpartition("/")[0]
        try:
            settings = _settings(library, folder)
        except (LookupError, ValueError):
            continue  # another file of this name
        try:
            ends = _part(library, folder, "bracket") or {}
        except ValueError:  # a damaged file hides neither its season nor the others
            ends = {}
        found.append(
            {
                "folder": folder,
                "game": str(settings["game"]),
                "players": [str(one.get("name") if isinstance(one, dict) else one)[:200] for one in settings["teams"]],
                "champion": ends.get("champion"),
                "board": _last(library, _in(folder, RECORDS)),
                "time": time,
            }
        )
    return found


def season_data(library: Library, folder: str) -> dict[str, Any]:
    """Return a season: its settings, what its files have, and its games with their numbers in the file.

    Args:
        library: The results folder.
        folder: As `season_list` names it.

    Raises:
        LookupError: There is no season in that folder.
        ValueError: The name is no plain path, or a file cannot be read.
    """
    settings = _settings(library, folder)
    shown = {key: settings.get(key) for key in _SETTINGS}
    parts = {part: _part(library, folder, part) for part in _PARTS}
    return {"folder": folder, "settings": shown, **parts, **_games(library, _in(folder, RECORDS))}


def _last(library: Library, file: str) -> dict[str, Any] | None:
    try:
        total = library.page(file, 1, 0)["total"]
    except (LookupError, ValueError):
        return None
    return {"file": file, "number": total} if total else None


def _in(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _settings(library: Library, folder: str) -> dict[str, Any]:
    found = library.json(_in(folder, SETTINGS))
    if not isinstance(found.get("game"), str) or not isinstance(found.get("teams"), list):
        raise ValueError(f"expected the settings of a season with its game and its teams in {SETTINGS}")
    return found


def _part(library: Library, folder: str, part: str) -> dict[str, Any] | None:
    try:
        return library.json(_in(folder, f"{part}.json"))
    except LookupError:
        return None


def _games(library: Library, name: str) -> dict[str, Any]:
    """Return `file` and `games`: for each its number, stage, teams, scores and outcome."""
    games = []
    try:
        lines = library.lines(name, _MOST_GAMES)
    except LookupError:
        return {"file": None, "games": []}
    for number, line in enumerate(lines, 1):
        try:
            about = summary(parse(line), number)
        except ValueError:
            if line.endswith(b"\n"):
                raise  # damaged; without a newline it is the torn line of a season that was stopped
            continue
        with suppress(ValueError):  # a record without its place in a season
            one = Fixture.from_json(line)
            about |= {"stage": one.stage, "round": one.game, "attempt": one.attempt, "teams": list(one.teams)}
        games.append(about)
    return {"file": name, "games": games}
