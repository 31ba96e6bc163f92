"""Unfinished games of `cellgames play` as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cellgames.utils.files import write_atomic
from cellgames.utils.foreign_text import shown

from .console import UserError

__all__ = ["SavedGame"]

_KINDS = {"game": str, "parameters": dict, "seed": int, "position": str, "moves": list, "seats": list}
_MOST_BYTES = 10_000_000


@dataclass(frozen=True)
class SavedGame:
    """A game that is not over.

    Attributes:
        game: its id.
        parameters: of the game.
        seed: of the game and of the agents' chance.
        position: the start, "" for the usual one.
        moves: as in records.
        seats: the agent of each seat as the command line names it, None for the person's.
    """

    game: str
    parameters: Mapping[str, Any]
    seed: int
    position: str
    moves: tuple[str, ...]
    seats: tuple[str | None, ...]

    def save(self, path: Path) -> None:
        """Write the file; it is replaced where it exists."""
        write_atomic(path, json.dumps({"saved": "cellgames play", **asdict(self)}) + "\n")

    @classmethod
    def load(cls, path: Path) -> SavedGame:
        """Read a file.

        Raises:
            UserError: the file holds something else.
            OSError: the file cannot be read.
        """
        wrong = f"{path} holds no saved game"
        try:
            with path.open("rb") as file:
                data = json.loads(file.read(_MOST_BYTES))
        except (ValueError, RecursionError) as error:
            raise UserError(f"{wrong}: expected JSON that `save` in `cellgames play` wrote ({error})") from error
        if not isinstance(data, dict) or data.pop("saved", None) != "cellgames play":
            raise UserError(f"{wrong}: expected JSON that `save` in `cellgames play` wrote, got {shown(data)}")
        for field in fields(cls):
            if type(data.get(field.name)) is not _KINDS[field.name]:
                raise UserError(f"{wrong}: expected {field.name!r} to be {_KINDS[field.name].__name__}")
        texts = [*data["moves"], *(seat for seat in data["seats"] if seat is not None)]
        if len(data) != len(_KINDS) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{wrong}: expected {', '.join(_KINDS)}, with moves and seats as text")
        return cls(**{**data, "moves": tuple(data["moves"]), "seats": tuple(data["seats"])})
