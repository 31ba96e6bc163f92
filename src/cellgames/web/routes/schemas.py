"""Bodies of requests, and answers that are files."""

from __future__ import annotations

from typing import Annotated

from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cellgames.arena.records.record_lines import Record
from cellgames.web.record_library import MOST_LINE

__all__ = ["Line", "Move", "NewGame", "Nothing", "Undo", "download"]


class _Body(BaseModel):
    """A body of a request: known fields of the right types only."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewGame(_Body):
    """A game to play. Settings and agents are those of /api/games and /api/agents."""

    game: str = Field(max_length=100)
    parameters: dict[str, int | str] = Field(default_factory=dict, max_length=20)
    seat: str | None = Field(default=None, max_length=100, description="The person's; null lets agents play all seats.")
    agents: list[Annotated[str, Field(max_length=500)]] = Field(
        default=["random"], min_length=1, max_length=8, description="One for all other seats, or one for each of them."
    )
    clock: str | None = Field(
        default=None,
        max_length=20,
        description="Seconds of each player for the game, and seconds that each move adds, such as 180+2.",
    )
    seed: int | None = Field(default=None, ge=0, lt=1 << 53, description="Null draws one.")


class Move(_Body):
    """An action: a number for each of its components."""

    action: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(min_length=1, max_length=16)
    turn: int = Field(ge=0, description="Turns played, as the page has seen it; another number is refused.")
    epoch: int = Field(
        default=-1, ge=-1, description="The epoch that the page has seen; another one is refused, -1 is not checked."
    )
    since: int = Field(default=0, ge=0)


class Undo(_Body):
    """The position from which a move is taken back."""

    turn: int | None = Field(default=None, ge=0, description="As in a move; null is not checked.")
    epoch: int = Field(default=-1, ge=-1, description="As in a move.")


class Nothing(_Body):
    """An empty object."""


class Line(_Body):
    """One line of a file of records."""

    record: str = Field(max_length=MOST_LINE)


def download(response: Response, record: Record, suffix: str) -> Response:
    """Return the response as a download with a plain file name."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in record.game)[:60] or "game"
    response.headers["content-disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response
