"""Reports on recorded games: all sections for a set of games, and their files.

    report.md     what was found, with tables and plots
    report.json   the same for programs
    *.csv, *.png  all rows of the tables, and the plots

The same games give the same files, byte for byte.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import Record, plain
from cellgames.arena.stats.tables import distinct
from cellgames.envs.core import Game
from cellgames.envs.registry import board_title, plugin_of
from cellgames.plugins import additions, resolve
from cellgames.utils.errors import InputError
from cellgames.utils.report import model
from cellgames.utils.report.model import Report, Section, escape
from cellgames.utils.version import __version__

from . import openings, places
from .reader import agents_of

FORMAT = 1
"""Version of report.json; raised when readers of an older one would fail."""

PARTS = ("openings", "places", *additions().parts, "flows", "behaviour")
"""The parts of a report, in its order."""


def analyse_games(
    game: Game,
    records: Sequence[Record],
    *,
    only: Sequence[str] = PARTS,
    behaviour: Callable[[], Sequence[Section]] | None = None,
    sources: Sequence[str] = (),
    warn: Callable[[str], None] = lambda message: None,
) -> Report:
    """Analyse games and return the report on them, whose `data` is the content of report.json.

    Args:
        game: The game with its parameters.
        records: The games, at least one.
        only: Out of `PARTS`; parts that say nothing about this game are left out.
        behaviour: Makes the sections for which agents have to be asked; None leaves them out.
        sources: Sentences on where the games came from.
        warn: Gets a line for each part left out since a library is missing.

    Raises:
        ValueError: No games, games of other rules, or an unknown part.
    """
    if unknown := sorted(set(only) - set(PARTS)):
        raise InputError("parts", f"parts out of {', '.join(PARTS)}", ", ".join(unknown))
    if not records:
        raise InputError("games", "at least one game", "none")
    if foreign := [r for r in records if (r.game, dict(r.parameters)) != (game.id, plain(game.parameters))]:
        raise InputError("games", f"games of {game}", f"one of {foreign[0].game} with {dict(foreign[0].parameters)}")
    sections: list[Section] = []
    for part in PARTS:
        if part in only:
            try:
                sections += _part(part, game, records, behaviour)
            except ImportError as error:
                warn(f"no {part}: {error}")
    seats = Counter(name for record in records for name in record.agents)
    data: dict[str, Any] = {
        "format": FORMAT,
        "cellgames": __version__,
        "game": game.id,
        "parameters": plain(game.parameters),
        "games": len(records),
        "distinct": distinct(records),
        "sources": list(sources),
        "agents": {name: seats[name] for name in agents_of(records)},
        "sections": [
            {
                **{name: getattr(section, name) for name in ("title", "text", "data")},
                "tables": [f"{table.name}.csv" for table in section.tables],
                "plots": [f"{plot.name}.png" for plot in section.plots],
            }
            for section in sections
        ],
    }
    about = (
        f"`{game.id}`, {', '.join(f'{name}={value}' for name, value in game.parameters.items())}.",
        f"{counted(data)}.",
        f"Agents, and how many seats they had: {', '.join(f'{escape(n)} ({k})' for n, k in data['agents'].items())}.",
        *(f"Source: {escape(source)}." for source in sources),
    )
    return Report(f"How {game.info.title} was played", (*about, *sections), data, subject=board_title(game))


def counted(data: Mapping[str, Any]) -> str:
    """Return the number of games of a report's data, and a remark if too few of them differ."""
    words = f"{data['games']} games, {data['distinct']} of them different"
    few = 2 * data["distinct"] < data["games"]
    return f"{words}: the same ones again tell nothing new, so that intervals are too narrow" if few else words


def _part(
    part: str, game: Game, records: Sequence[Record], behaviour: Callable[[], Sequence[Section]] | None
) -> list[Section]:
    if part == "behaviour":
        return list(behaviour()) if behaviour is not None else []
    known = {"openings": openings.sections, "places": places.sections, **additions().parts}
    targets = additions().sections.get(plugin_of(game).game, ()) if part == "flows" else (known[part],)
    return [section for target in targets for section in resolve(target)(game, records)]


# ---------------------------------------------------------------- files


def write_report(folder: Path, report: Report, warn: Callable[[str], None] = lambda message: None) -> list[Path]:
    """Write the files of a report in the place of an earlier one; see `model.write_report`."""
    return model.write_report(folder, report, warn, outdated=_earlier(folder))


def _earlier(folder: Path) -> list[str]:
    """Return the names of the tables and plots of an earlier report in the folder."""
    try:
        found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        names = [name for section in found["sections"] for name in (*section["tables"], *section["plots"])]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in names if isinstance(name, str) and Path(name).name == name]
