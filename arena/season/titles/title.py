"""The title of champion: "they shall remain the Toroidal Cup champion until a new champion is named".

A season that names the one before it (`SeasonOptions.after`) is the next of a chain. The champion of the season before
holds the title while it is played, whether the team plays in it or not. season.json has all champions of the
chain, each with the digest of the settings of its season, so a chain needs no folder but the last one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import JsonFields
from cellgames.arena.season.teams import Team
from cellgames.runs.run_folder import RunError
from cellgames.utils.files import PathLike
from cellgames.utils.foreign_text import shown
from cellgames.utils.report.model import Table

__all__ = [
    "BRACKET_FILE",
    "FINAL_FILE",
    "NO_TITLE",
    "Champion",
    "SeasonBefore",
    "Title",
    "champions_table",
    "kept_text",
    "season_before",
]

BRACKET_FILE, FINAL_FILE = "bracket.json", "final.json"
"""The files with the champion of a season of leagues, and of one of tables."""


@dataclass(frozen=True)
class Champion:
    """The champion of a season of a chain.

    Attributes:
        season: its number, from 1.
        team: the champion's name.
        seed: of the season.
        digest: SHA-256 of its season.json, the first 16 digits.
    """

    season: int
    team: str
    seed: int
    digest: str


@dataclass(frozen=True)
class Title:
    """The title at the start of a season.

    Attributes:
        champions: of the seasons before, the last one holds the title; none before the first season.
    """

    champions: tuple[Champion, ...] = ()

    @property
    def holder(self) -> str:
        """The team that holds the title, "" for none."""
        return self.champions[-1].team if self.champions else ""

    @property
    def season(self) -> int:
        """The number of the season that begins, from 1."""
        return 1 + len(self.champions)

    @property
    def since(self) -> int:
        """The number of the season in which the holder won the title, and has kept it since."""
        return self.season - len(list(takewhile(lambda one: one.team == self.holder, reversed(self.champions))))

    def to_data(self) -> dict[str, Any]:
        """Return the content of season.json."""
        champions = [asdict(champion) for champion in self.champions]
        return {"season": self.season, "holder": self.holder, "champions": champions}

    @classmethod
    def from_data(cls, data: object) -> Title:
        """Return the title of a season.json; raise a `ValueError` if it cannot be one."""
        if not isinstance(data, dict) or not isinstance(data.get("champions"), list):
            raise ValueError(f"expected a title with its champions, got {shown(data)}")
        champions = []
        for number, entry in enumerate(data["champions"], 1):
            reader = JsonFields(entry, "champions", needed=["season", "team", "seed", "digest"])
            found = Champion(reader.integer("season", 1), reader.text("team"), _seed(entry), reader.text("digest"))
            if found.season != number:
                raise ValueError(f"expected the champion of season {number}, got that of season {found.season}")
            champions.append(found)
        return cls(tuple(champions))

    def __str__(self) -> str:
        if not self.champions:
            return "season 1"
        last = self.champions[-1]
        return f"season {self.season}, held by {last.team} (seed {last.seed}, {last.digest})"


NO_TITLE = Title()
"""The title before the first season of a chain."""


@dataclass(frozen=True)
class SeasonBefore:
    """A season that is over, as the next one needs it.

    Attributes:
        game: its id.
        seed: of all its random numbers.
        teams: with their agents, leagues and divisions.
        title: as the next season begins.
    """

    game: str
    seed: int
    teams: tuple[Team, ...]
    title: Title


def season_before(folder: PathLike) -> SeasonBefore:
    """Read the folder of a season that is over.

    Raises:
        RunError: there is none, or it is not over.
    """
    folder = Path(folder)
    try:
        text = (folder / "season.json").read_bytes()
    except OSError as error:
        raise RunError(f"{folder}: expected the folder of a season, got none ({error.strerror or error})") from None
    ends = [folder / name for name in (BRACKET_FILE, FINAL_FILE) if (folder / name).exists()]
    if not ends:
        raise RunError(
            f"{folder}: expected a season that is over, but it has no champion yet; the command that began it ends it"
        )
    try:
        settings = json.loads(text)
        champion = json.loads(ends[0].read_text(encoding="utf-8"))["champion"]
        reader = JsonFields(settings, "", needed=["game", "seed", "teams"])
        specs = settings.get("specs", {})
        teams = tuple(_team(entry, specs) for entry in settings["teams"])
        before = Title.from_data(settings["title"]) if "title" in settings else NO_TITLE
        seed = _seed(settings)
        if not isinstance(champion, str):
            raise TypeError(f"no champion: {shown(champion)}")
        title = Title(
            (*before.champions, Champion(before.season, champion, seed, hashlib.sha256(text).hexdigest()[:16]))
        )
        return SeasonBefore(reader.text("game"), seed, teams, title)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RunError(f"{folder}: expected a season that is over, got files that cannot be read ({error})") from None


def _seed(data: Mapping[str, Any]) -> int:
    """Return the seed of a season, which may be a secret one of 128 bits."""
    if isinstance(seed := data["seed"], bool) or not isinstance(seed, int):
        raise ValueError(f"seed must be a whole number, got {shown(seed)}")
    return seed


def _team(entry: Mapping[str, Any], specs: Mapping[str, str]) -> Team:
    """Return a team of season.json; the agent gets its spec back."""
    team = Team(**{name: str(value) for name, value in entry.items()})
    spec = specs.get(team.agent)
    return team if spec is None else Team(team.name, team.league, team.division, f"{team.agent}={spec}")


def kept_text(title: Title, champion: str) -> str:
    """Return what a season has done to the title, "" for the first of a chain."""
    if not title.champions:
        return ""
    if champion == title.holder:
        return f"{champion} keeps the title, held since season {title.since}"
    return f"{champion} takes the title from {title.holder}, who had held it since season {title.since}"


def champions_table(title: Title, champion: str, seed: int) -> Table:
    """Return the champions of all seasons of a chain, with that of the season that is over."""
    before = [(one.season, one.team, one.seed) for one in title.champions]
    return Table("", ("season", "champion", "seed"), [*before, (title.season, champion, seed)], text=("champion",))
