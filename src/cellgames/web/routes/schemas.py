"""Bodies of requests, and answers that are files."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

from fastapi import HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cellgames.arena.records.record_lines import Record
from cellgames.arena.season.cup import CupRecord
from cellgames.utils.errors import shown
from cellgames.web.record_library import MOST_LINE

_Name = Annotated[str, Field(max_length=100)]
_Choice = Annotated[int, Field(ge=0, lt=1 << 31)]
Parameters: TypeAlias = Annotated[str, Query(max_length=2000)]
"""The parameters of a game in a query, which `json_object` reads."""


class Body(BaseModel):
    """A body of a request: known fields of the right types only."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewGame(Body):
    """A game to play. Settings and agents are those of /api/games and /api/agents."""

    game: str = Field(max_length=100)
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict, max_length=20)
    seat: _Name | Annotated[list[_Name], Field(max_length=256)] | None = Field(
        default=None, description="The person's, or a list of those of several people; null lets agents play all seats."
    )
    agents: list[Annotated[str, Field(max_length=500)]] = Field(
        default=["random"], max_length=256, description="One for all other seats, or one for each of them."
    )
    clock: str | None = Field(
        default=None,
        max_length=20,
        description="Seconds of each player for the game, and seconds that each move adds, such as 180+2.",
    )
    invite: bool = Field(default=False, description="Give each person's seat an address of its own (`about.links`).")
    seed: int | None = Field(default=None, ge=0, lt=1 << 53, description="Null draws one.")
    position: str = Field(
        default="", max_length=MOST_LINE, description="Where it starts, as the game writes positions; the usual start."
    )


class GuideStart(Body):
    """A guided game to start, or to take up again."""

    game: str = Field(max_length=100)
    actions: list[Annotated[list[_Choice], Field(max_length=16)]] = Field(
        default_factory=list, max_length=100, description="The learner's actions of an earlier visit."
    )


class Act(Body):
    """A request about a live game: the position that the page has seen, and what a person asks for there."""

    turn: int | None = Field(
        default=None,
        ge=0,
        description="Turns played, as the page has seen; others are refused, null is not checked.",
    )
    epoch: int = Field(
        default=-1, ge=-1, description="The epoch that the page has seen; another one is refused, -1 is not checked."
    )
    seat: int | None = Field(default=None, ge=0, lt=256, description="Whose request it is.")
    action: list[_Choice] | None = Field(
        default=None, min_length=1, max_length=16, description="A number for each component; in trials null for none."
    )
    until: _Choice = Field(default=0, description="Turns to which agents go; fewer than before stop them there.")
    since: int = Field(default=0, ge=0, description="Events that the page has shown.")


class Line(Body):
    """One line of a file of records."""

    record: str = Field(max_length=MOST_LINE)


def download(response: Response, record: Record | CupRecord, suffix: str) -> Response:
    """Return the response as a download with a plain file name."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in record.game)[:60] or "game"
    response.headers["content-disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a query holds; anything else is refused."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HTTPException(422, f"parameters must be a JSON object, got {shown(text)}")
    return found
