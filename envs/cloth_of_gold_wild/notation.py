"""Bolts, and the wild part of a position as text, which follows the board: `NAME:VALUE` for each field.

In games with perks `bolt-r12c34` is a bolt at that cell. The fields are:


- `ground:` the ground as `boards.rle` writes it: `.` deep water, A to N bands of height without and with forest, O rock
- `weather:` the state of the round, `level:` of the water
- `fire:` A to D burning cells with one to four generations left, E burnt cells
- `left:` units that the mover may still place in this turn
- `wards:` cells that are warded for a (A), for b (B) and for both (C)
- `lives:` still lifes at the last count, a's then b's, in the order of `perks.LIVES`
- `supply:`, `reach:` and `spells:` of a and of b
- `animals:` the cell of each animal, grazers first, `-` for one that is gone
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.boards.rle import board_to_string, string_to_board
from cellgames.envs.cloth_of_gold.notation import cell_to_string, string_to_cell

from . import perks, terrain, weather
from .state import WildState
from .wildlife import GONE

if TYPE_CHECKING:
    from .game import ClothOfGoldWild

BOLT = "bolt-"
"""The text before the cell of a bolt."""

_BASE = 7  # fields of a line without wild options
_NUMBERS = re.compile(r"(?:0|[1-9][0-9]{0,6})(?:,(?:0|[1-9][0-9]{0,6}))*")


def fields_to_string(game: ClothOfGoldWild, state: WildState) -> str:
    """Return the fields of the options of a batch of one, each with a space before it."""
    found: dict[str, str] = {}
    if game.terrain:
        found["ground"] = board_to_string(state.ground[0].tolist())
    if game.weather:
        stages = game._unpacked(state.fire)[0]
        weights = torch.arange(1, weather.STAGES + 2, device=stages.device)[:, None, None]
        found |= {"weather": weather.KINDS[int(state.weather)], "level": str(int(state.level))}
        found["fire"] = board_to_string((stages * weights).sum(0).tolist())
    if game.perks:
        a, b = game._unpacked(state.wards)[0].long()
        found |= {"left": str(int(state.left)), "wards": board_to_string((a + 2 * b).tolist())}
        for name in _EARNED:
            found[name] = ",".join(map(str, getattr(state, name)[0].flatten().tolist()))
    if sum(game.wildlife):
        cells = (divmod(cell, game.width) if cell != GONE else None for cell in state.animals[0].tolist())
        found["animals"] = ",".join("-" if cell is None else cell_to_string(*cell) for cell in cells)
    return "".join(f" {name}:{value}" for name, value in found.items())


_EARNED = {"lives": 2 * len(perks.LIVES), "supply": 2, "reach": 2, "spells": 2}  # how many numbers each field has


def split_line(text: str) -> tuple[str, dict[str, str]]:
    """Return a line without the fields of the options, and these by name."""
    parts = text.split()
    fields = dict(part.partition(":")[::2] for part in parts[_BASE:])
    return " ".join(parts[:_BASE]), fields if len(fields) == len(parts[_BASE:]) else {"": text}


def with_fields(game: ClothOfGoldWild, state: WildState, fields: Mapping[str, str]) -> WildState | str:
    """Return a batch of one with the fields of a line, or what the line was expected to have."""
    names = [part.partition(":")[0] for part in fields_to_string(game, state).split()]
    if list(fields) != names:
        return f"the fields {', '.join(names)} after the board" if names else "nothing after the board"
    board = game.grid.unpack(torch.cat((state.units[0], state.neutral, state.killed)).unsqueeze(-1))[0].any(0)
    for option, read in ((game.terrain, _terrain), (game.weather, _weather), (game.perks, _perks)):
        found = read(game, state, fields, board) if option else state
        if isinstance(found, str):
            return found
        state = found
    return _wildlife(game, state, fields["animals"]) if sum(game.wildlife) else state


def _terrain(game: ClothOfGoldWild, state: WildState, fields: Mapping[str, str], board: Tensor) -> WildState | str:
    rows = string_to_board(fields["ground"], game.height, game.width, terrain.ROCK)
    level = _numbers(fields.get("level", str(terrain.LEVEL)), 1, terrain.HIGHEST)
    if rows is None:
        return f"a ground of {game.height} x {game.width} cells, . and A to {chr(ord('A') + terrain.ROCK - 1)}"
    if level is None or level[0] not in range(terrain.LOWEST, terrain.HIGHEST + 1, terrain.LEVEL_STEP):
        return f"a level from {terrain.LOWEST} to {terrain.HIGHEST}, a multiple of {terrain.LEVEL_STEP}"
    ground = torch.tensor([rows], dtype=torch.uint8, device="cpu")
    height = torch.tensor(level, dtype=torch.int32, device="cpu")
    water = terrain.water_on(game.grid, ground, height)
    if (game.grid.unpack(water)[0] & board).any():
        return "no unit, neutral or killed cell under water"
    land = terrain.land_on(game.grid, ground)
    return state.replace(ground=ground, level=height, water=water.movedim(-1, 0), land=land.movedim(-1, 0))


def _weather(game: ClothOfGoldWild, state: WildState, fields: Mapping[str, str], board: Tensor) -> WildState | str:
    rows = string_to_board(fields["fire"], game.height, game.width, weather.STAGES + 1)
    if fields["weather"] not in weather.KINDS:
        return f"weather that is one of {', '.join(weather.KINDS)}"
    if rows is None:
        return f"fire on {game.height} x {game.width} cells, A to E"
    fire = torch.tensor(rows, device="cpu")
    forest = game.grid.unpack(terrain.land_on(game.grid, state.ground))[0, 0]
    water = game.grid.unpack(state.water.movedim(0, -1))[0]
    if ((fire > 0) & ~forest).any() or ((fire > 0) & (fire <= weather.STAGES) & water).any():
        return "fire on forest alone, and none on water"
    stages = torch.stack([fire == stage for stage in range(1, weather.STAGES + 2)])[None]
    return state.replace(
        weather=torch.full_like(state.weather, weather.KINDS.index(fields["weather"])),
        fire=game.grid.pack(stages).movedim(-1, 0),
    )


def _perks(game: ClothOfGoldWild, state: WildState, fields: Mapping[str, str], board: Tensor) -> WildState | str:
    rows = string_to_board(fields["wards"], game.height, game.width, 3)
    left = _numbers(fields["left"], 1, game.most_units)
    most = {"lives": game.cells, "supply": 2 * game.cells, "reach": perks.MOST_REACH, "spells": perks.MOST_SPELLS}
    found = {name: _numbers(fields[name], number, most[name]) for name, number in _EARNED.items()}
    if rows is None:
        return f"wards on {game.height} x {game.width} cells, A to C"
    if left is None:
        return f"from 0 to {game.most_units} units left"
    for name, numbers in found.items():
        if numbers is None:
            return f"{_EARNED[name]} numbers from 0 to {most[name]} as {name}"
    wards = torch.tensor(rows, device="cpu")
    planes = torch.stack(((wards & 1) > 0, (wards & 2) > 0))[None]
    new = {
        name: torch.tensor(numbers, dtype=torch.int32, device="cpu").view_as(getattr(state, name))
        for name, numbers in found.items()
    }
    number = torch.full_like(state.left, left[0])
    return state.replace(**new, left=number, wards=game.grid.pack(planes).movedim(-1, 0))


def _wildlife(game: ClothOfGoldWild, state: WildState, text: str) -> WildState | str:
    names, most = text.split(","), sum(game.wildlife)
    cells = [None if name == "-" else string_to_cell(name) for name in names]
    known = [cell for cell in cells if cell is not None]
    off = any(row >= game.height or col >= game.width for row, col in known)
    if len(names) != most or off or len(set(known)) < len(known) or len(known) + names.count("-") < most:
        return f"{most} different cells of animals, - for one that is gone"
    places = [GONE if cell is None else cell[0] * game.width + cell[1] for cell in cells]
    return state.replace(animals=torch.tensor([places], dtype=torch.int32, device="cpu"))


def _numbers(text: str, number: int, most: int) -> list[int] | None:
    """Return the numbers of a text, `number` of them, at most `most` each, separated by commas; else None."""
    if not _NUMBERS.fullmatch(text):
        return None
    found = list(map(int, text.split(",")))
    return found if len(found) == number and max(found) <= most else None
