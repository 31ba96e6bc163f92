"""Strength over the hours of a training: `python -m benchmarks.agents.curve hex-v0 0=a.safetensors 2.5=b.safetensors`.

Its weights, each after as many core-hours, meet in a round robin as `gumbel:N`, which goes on after Ctrl-C. The page
with their ratings goes to results/strength/curve-GAME.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellgames
from benchmarks.pages import machine_head, parser_of, typed_command, write_page
from cellgames.arena.play.match_options import RoundRobinOptions
from cellgames.arena.play.rated_runs import round_robin
from cellgames.utils.report.model import Plot, Table
from cellgames.utils.report.plots import INK, prepare, remove_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Path("results/strength")
NUMBERS = ("elo", "elo_low", "elo_high")


def _draw(rows: Sequence[Mapping[str, Any]], title: str, figure: Figure) -> None:
    """Draw the ratings over the hours, with their intervals."""
    prepare(figure, title, 7.2, 4.0)
    axes, elo = figure.add_subplot(), [row["elo"] for row in rows]
    errors = [[row["elo"] - row["elo_low"] for row in rows], [row["elo_high"] - row["elo"] for row in rows]]
    axes.errorbar([row["hours"] for row in rows], elo, errors, fmt="o-", color=INK, linewidth=1.4, capsize=3)
    axes.set_xlabel("core-hours", fontsize=9)
    axes.set_ylabel("Elo below the last, 95 % intervals", fontsize=9)
    remove_frame(axes)


def main() -> None:
    """Play, and write the page."""
    parser = parser_of("benchmarks.agents.curve", __doc__, OUT, seed=True)
    parser.add_argument("game", help="an id")
    parser.add_argument("weights", nargs="+", metavar="HOURS=FILE", help="the last is the anchor")
    parser.add_argument("--games", type=int, default=20, metavar="N", help="of each pair, even (default 20)")
    parser.add_argument("--simulations", type=int, default=64, metavar="N", help="a move (default 64)")
    options = parser.parse_args()
    hours = dict(text.split("=", 1) for text in options.weights)
    agents = [f"h{hour}=gumbel:{options.simulations}:{file}" for hour, file in hours.items()]
    asked = RoundRobinOptions(games=options.games, seed=options.seed, anchor=f"h{[*hours][-1]}", gif=False)
    place = options.out / "matches" / f"curve-{options.game}"
    played = round_robin(cellgames.make(options.game), agents, asked, out=place, progress=True)
    found = {line.agent: line for line in played.tables.standings}
    rows: list[dict[str, Any]] = [
        {"hours": float(hour), "elo": line.elo, "elo_low": line.low, "elo_high": line.high, "score": line.tally.score}
        for hour, line in ((hour, found[f"h{hour}"]) for hour in hours)
    ]
    title = f"gumbel:{options.simulations} in {options.game} over its training"
    head = machine_head(typed_command("benchmarks.agents.curve", None), "torch")
    text = (
        f"`{head['command']}`: {options.games} games of each pair, after two random moves, in both seats; scores in %."
    )
    numbers = [(row["hours"], *(round(row[name]) for name in NUMBERS), round(100 * row["score"], 1)) for row in rows]
    table = Table("", ("core-hours", "Elo", "low", "high", "score"), numbers)
    plot = Plot(f"curve-{options.game}", "Elo over core-hours", partial(_draw, rows, title))
    write_page(options.out / f"curve-{options.game}.md", title, (text, table, plot), {**head, "rows": rows})


if __name__ == "__main__":
    main()
