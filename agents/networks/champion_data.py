"""The frame of a champion's file: small JSON with the game, its parameters and designs that each game reads itself.

Importing this imports no torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellgames.utils.errors import InputError, shown

FORMAT = 1
_MOST_BYTES = 1 << 22


def to_text(game: str, parameters: Mapping[str, Any], designs: Sequence[Mapping[str, Any]]) -> str:
    """Return the content of a file, one design a line; `designs` are as in the file."""
    head = {"champion": FORMAT, "game": game, "parameters": dict(parameters)}
    lines = ",\n".join(json.dumps(design) for design in designs)
    return f'{json.dumps(head)[:-1]}, "designs": [\n{lines}\n]}}\n'


def read_champion_data(path: Path) -> tuple[str, dict[str, Any], list[Any]]:
    """Return the game, its parameters and the designs of a file, at least one.

    Raises:
        ValueError: no such file, or no champion's; the message names what is wrong.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        data = json.loads(content) if len(content) <= _MOST_BYTES else None
    except OSError as error:
        raise InputError(path, "the champion.json of `cellgames evolve`", error.strerror) from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or "champion" not in data:
        raise InputError(path, "the champion.json of `cellgames evolve`", "something else")
    if data["champion"] != FORMAT:
        raise InputError(path, f"a champion of format {FORMAT}", shown(data["champion"]))
    game, parameters, designs = (data.get(name) for name in ("game", "parameters", "designs"))
    if not (isinstance(game, str) and isinstance(parameters, dict) and isinstance(designs, list) and designs):
        raise InputError(path, "a game, parameters and a list of designs", cause="is the file damaged?")
    return game, parameters, designs


def check_weight(where: str, weight: object) -> float:
    """Return the weight of a design; `where` begins the message of the `ValueError` for anything else."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
        raise InputError(where, "a weight above 0", shown(weight))
    return float(weight)
