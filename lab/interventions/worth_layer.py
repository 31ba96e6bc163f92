"""The worth of moves, cells and objects as a layer that the viewer paints on a recorded game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from cellgames.envs.native import library
from cellgames.utils.errors import InputError
from cellgames.utils.report.model import rounded
from cellgames.web.views import view_of

from .effects import Effect, Explanation, Options
from .explanation import explain, world_of
from .worth_pictures import HARM, LAYERS, WORTH

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup import CupRecord

MOST_WORK = (2e10, 2e12)
"""Most cells times generations of Life in all replays, without and with native code: some ten seconds."""

_LISTED = 40  # effects of a kind with names
_AGENT = "mcts:200"  # for boards of Torus that are not solved
_SEARCHED = 200  # positions of these at most


def explained(record: Record | CupRecord) -> dict[str, Any]:
    """Explain a record as far as the server has time for it, and return the layer.

    Raises:
        ValueError: A game without interventions, or one that takes too long to be played again so often.
    """
    options = Options(agent="" if _solved(record) else _AGENT) if record.game == "torus-v0" else Options()
    world = world_of(record, options)
    most = MOST_WORK[library(torch.device("cpu")) is not None]
    work = view_of(world.game).work(record.moves)
    kinds = []
    for kind in world.usual:
        count = len(world.interventions(kind)) + 1
        if count * work <= most and (options.agent == "" or count <= _SEARCHED):
            kinds.append(kind)
    if not kinds:
        raise InputError("record", "a shorter game, for the page", cause="use `cellgames explain`")
    return worth_layer(explain(record, kinds, options=options))


def _solved(record: Record | CupRecord) -> bool:
    return getattr(record, "parameters", {}).get("size") in (3, 4) and library(torch.device("cpu")) is not None


def worth_layer(explanation: Explanation) -> dict[str, Any]:
    """Return `measure`, `kept`, `colours` and `layers`.

    Each layer has a `name`; `most`, the largest worth of a cell; `effects`, the largest first: `name`, `worth`,
    `result`, `first` and `last`, the numbers of moves played between which they are shown; `cells`, a list of
    [cell, worth, 1 if the outcome hung on it, first, last]; and `generation`, the one at which Life is shown with the
    layer, None for none.
    """
    layers, done = [], set()
    for kind in explanation.kinds:
        kinds = [name for name in LAYERS.get(kind, (kind,)) if name in explanation.kinds]
        if kind in done:
            continue
        done |= set(kinds)
        effects = [effect for effect in explanation.effects if effect.kind in kinds]
        layers.append(_layer(explanation, kinds, effects))
    return {
        "measure": explanation.measure,
        "kept": explanation.kept,
        "colours": [HARM, WORTH],
        "layers": layers,
    }


def _layer(explanation: Explanation, kinds: list[str], effects: list[Effect]) -> dict[str, Any]:
    cells: dict[tuple[int, int, int], list[float]] = {}
    for effect in effects:
        if effect.worth or effect.result:
            for cell in effect.cells:
                kept = cells.setdefault((cell, *effect.seen), [0.0, 0])
                kept[0] += effect.worth
                kept[1] = max(kept[1], int(effect.result != 0))
    listed = sorted(effects, key=lambda effect: (-abs(effect.worth), effect.name))[:_LISTED]
    scene: Any = explanation.scenes[kinds[0]]
    return {
        "name": " and ".join(kinds),
        "most": max((abs(worth) for worth, _ in cells.values()), default=0.0),
        "cells": [[cell, rounded(worth), hung, *seen] for (cell, *seen), (worth, hung) in cells.items()],
        "effects": [
            {"name": e.name, "worth": rounded(e.worth), "result": e.result, "first": e.seen[0], "last": e.seen[1]}
            for e in listed
        ],
        "generation": int(scene.generations[0]) if hasattr(scene, "generations") else None,
    }
