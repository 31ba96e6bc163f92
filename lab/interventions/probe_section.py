"""The section of a report on probes: a table of all accuracies, and plots by layer and by step of training."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cellgames.lab.life.life_stats import curves
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import Curve

from .probing import OBSERVATION, Probing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lines(found: Probing) -> list[str]:
    """Return a line for each quantity: the last network's best layer beside the controls."""
    last, said = found.networks[-1], []
    for target in found.targets:
        results = [found.result(last, layer, target) for layer in found.layers if layer != OBSERVATION]
        best = max(results, key=lambda result: result.accuracy)
        seen = found.result(last, OBSERVATION, target)
        said.append(
            f"{target}: {best.accuracy:.1%} in {best.layer} ({best.low:.1%} to {best.high:.1%}); random weights "
            f"{best.untrained:.1%}, observation {seen.accuracy:.1%}, shuffled labels {best.shuffled:.1%}, most "
            f"frequent class {best.majority:.1%}"
        )
    return said


def probe_section(found: Probing, steps: Sequence[int]) -> Section:
    """Return the section on probes of networks, by their steps of training."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(result.network, result.layer, result.target),
            *(round(value, 4) for value in (result.accuracy, result.low, result.high)),
            *(round(value, 4) for value in (result.untrained, result.shuffled, result.majority)),
        )
        for result in found.results
    ]
    titles = ("network", "layer", "quantity", "accuracy", "low", "high", "random weights", "shuffled", "majority")
    table = Table("probes", titles, rows, 24)
    text = (
        f"{found.positions:,} positions of {found.games:,} games; a third of the games is held out, and accuracies are "
        "those of held-out positions, with 95 % intervals over games. A linear probe reads a quantity off a layer's "
        "channels, each by its mean and its maximum over the board. A layer tells more than its input only if it beats "
        "the same layer with random weights, and the observation."
    )
    plots = [Plot("probes_by_layer", "Accuracy by layer of the last network.", partial(_draw_layers, found=found))]
    if len(steps) > 1:
        caption = "Accuracy in the last layer by step of training."
        plots.append(Plot("probes_by_step", caption, partial(_draw_steps, found=found, steps=steps)))
    data = {"layers": list(found.layers), "steps": list(steps), "results": [vars(result) for result in found.results]}
    listed = "\n".join(f"- {line}" for line in lines(found))
    return Section("What the layers tell", (text, listed, table, *plots), data)


def _draw_layers(figure: Figure, found: Probing) -> None:
    last, parts = found.networks[-1], []
    for target in found.targets:
        results = [found.result(last, layer, target) for layer in found.layers]
        values = [100 * r.accuracy for r in results]
        trained = Curve(last, values, [100 * r.low for r in results], [100 * r.high for r in results])
        others = [
            Curve(name, numbers, numbers, numbers)
            for name, numbers in (
                ("random weights", [100 * r.untrained for r in results]),
                ("shuffled labels", [100 * r.shuffled for r in results]),
            )
        ]
        parts.append((f"{_short(target)}, %", [trained, *others]))
    curves(figure, "Linear probes by layer (0 is the observation)", range(len(found.layers)), parts, "layer")


def _draw_steps(figure: Figure, found: Probing, steps: Sequence[int]) -> None:
    parts = []
    for target in found.targets:
        drawn = []
        for layer in dict.fromkeys((found.layers[1], found.layers[-1])):
            results = [found.result(name, layer, target) for name in found.networks]
            bounds = [[100 * getattr(r, name) for r in results] for name in ("accuracy", "low", "high")]
            drawn.append(Curve(layer, *bounds))
        numbers = [100 * found.result(name, found.layers[-1], target).untrained for name in found.networks]
        parts.append((f"{_short(target)}, %", [*drawn, Curve("random weights", numbers, numbers, numbers)]))
    curves(figure, "Linear probes by step of training", steps, parts, "steps of training")


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
