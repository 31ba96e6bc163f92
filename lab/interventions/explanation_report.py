"""Reports on an explanation: a page, tables, data, and the board with what was worth something.

report.md     the largest effects in words, tables and pictures
report.json   all of it for programs
*.csv         a table for each kind of interventions, and one for pairs
worth_*.png   the worth of cells on the board (`worth_pictures`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import plain
from cellgames.utils.extras import no_pictures
from cellgames.utils.report import model
from cellgames.utils.report.model import Part, Section, escape
from cellgames.utils.version import __version__

from .effects import Effect, Explanation
from .worth_pictures import LAYERS, draw_worth

FORMAT = 1
"""Version of report.json; raised when readers of an older one would fail."""

_WORDS = {1: "won", 0: "drew", -1: "lost"}


def to_data(explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as JSON takes it."""
    return {
        "format": FORMAT,
        "cellgames": __version__,
        "game": explanation.game.id,
        "parameters": plain(explanation.game.parameters),
        "agents": list(explanation.agents),
        "scores": list(explanation.scores),
        "outcome": list(explanation.outcome),
        "measure": explanation.measure,
        "kept": explanation.kept,
        "replays": explanation.replays,
        "effects": [{**vars(one), "cells": list(one.cells), "scores": list(one.scores)} for one in explanation.effects],
        "pairs": [{**vars(pair), "alone": list(pair.alone)} for pair in explanation.pairs],
    }


def lines(explanation: Explanation, top: int = 5) -> Iterator[str]:
    """Yield lines of text: the result, and of each kind the effects with the largest worth either way."""
    info = explanation.game.info
    ends = (
        f"{player} ({agent}) {_WORDS[outcome]} with {score:g}"
        for player, agent, outcome, score in zip(
            info.players, explanation.agents, explanation.outcome, explanation.scores, strict=True
        )
    )
    yield f"{info.title}: {', '.join(ends)}."
    yield f"{explanation.replays:,} replays. Worth: {explanation.measure}."
    for kind in explanation.kinds:
        effects = explanation.of_kind(kind)
        decided = sum(effect.result != 0 for effect in effects)
        yield ""
        yield f"{kind}: {len(effects)}, the outcome hung on {decided} of them"
        few = len(effects) <= 2 * top
        shown = effects if few else [*effects[:top], None, *effects[-top:]]
        for effect in shown:
            yield "  ..." if effect is None else f"  {_line(effect)}"
    if explanation.pairs:
        yield ""
        yield f"pairs of {explanation.pairs[0].kind}s: {len(explanation.pairs)}, the largest interactions"
        for pair in explanation.pairs[:top]:
            alone = f"alone {pair.alone[0]:+g} and {pair.alone[1]:+g}"
            yield f"  {pair.interaction:+8.4g}  {pair.first} with {pair.second}: both {pair.worth:+g}, {alone}"


def _line(effect: Effect) -> str:
    notes = [f"outcome {effect.result:+d}"] if effect.result else []
    notes += [f"{effect.left_out} later moves left out"] if effect.left_out else []
    worth = f"{round(effect.worth, 3):+.5g}" if round(effect.worth, 3) else "0"
    return f"{worth:>8}  {effect.name}" + (f" ({'; '.join(notes)})" if notes else "")


def write_explanation(
    folder: Path, explanation: Explanation, warn: Callable[[str], None] = lambda message: None
) -> list[Path]:
    """Write the files of an explanation, each whole or not at all; return their paths.

    Args:
        folder: Made if it is missing.
        explanation: What to write.
        warn: Gets a line if there are no pictures, since Pillow is missing.

    Raises:
        ValueError: The folder is a file.
    """
    pictures = _pictures(explanation, warn)
    report = model.Report(
        f"What decided a game of {explanation.game.info.title}",
        (
            *_about(explanation),
            *(_section(explanation, kind, pictures) for kind in explanation.kinds),
            *_pairs(explanation),
        ),
        to_data(explanation),
        more_files=pictures,
    )
    return model.write_report(folder, report, warn)


def _pictures(explanation: Explanation, warn: Callable[[str], None]) -> dict[str, bytes]:
    from cellgames.envs.core.raster import to_png

    drawn = {}
    try:
        for kind in explanation.kinds:
            with_it = [name for name in LAYERS.get(kind, (kind,)) if name in explanation.kinds]
            if with_it[0] == kind and any(effect.cells for effect in explanation.of_kind(kind)):
                drawn[f"worth_{kind}.png"] = to_png(draw_worth(explanation, kind), 1.5)
    except ImportError as error:
        warn(no_pictures(error))
    return drawn


def _about(explanation: Explanation) -> Iterator[str]:
    first, replays, *_ = lines(explanation, 0)
    yield escape(first)
    yield escape(replays)
    yield (
        "An effect is that of one change in this very game: Life is chaotic, so a single cell may decide a game "
        "without being strong in others."
    )
    yield escape(explanation.kept)


def _section(explanation: Explanation, kind: str, pictures: dict[str, bytes]) -> Section:
    table, name = explanation.table(kind), f"worth_{kind}.png"
    parts: list[Part] = [table]
    if name in pictures:
        parts.insert(0, f"![the worth of each {kind} on the board]({name})")
    return Section(table.name.replace("_", " ").capitalize(), parts)


def _pairs(explanation: Explanation) -> Iterator[Section]:
    if explanation.pairs:
        text = (
            "The interaction is what both are worth together, minus what each is worth alone. It is above 0 where one "
            "can stand in for the other, and below 0 where each needs the other."
        )
        yield Section("Pairs", (text, explanation.pair_table()))
