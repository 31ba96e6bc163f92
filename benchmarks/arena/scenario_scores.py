"""Scores of the shipped agents in all scenarios: `python -m benchmarks.arena.scenario_scores`.

Each agent plays in the same games and seats, with the same background. A page for each game and a table of all go to
results/scenarios/. A game whose page is there is not played again, unless the command or the version differs.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import cellgames
from benchmarks.pages import write_page
from cellgames.agents.loading import load
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.play.scenario_games import play_scenario, scenario_game, scenario_report, scenario_score
from cellgames.arena.play.scenarios import scenarios_of
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Table

__all__ = ["AGENTS", "main"]

AGENTS: Mapping[str, tuple[str, ...]] = {
    "grid-adaptation-v0": ("random", "greedy", "rollout:16", "mcts:16", "trained"),
    "grid-adaptation-small-v0": ("random", "greedy", "rollout:16", "mcts:16", "trained"),
    "toroidal-cup-v0": ("random", "greedy", "rollout:16"),
    "toroidal-cup-small-v0": ("random", "greedy", "rollout:16", "mcts:16"),  # there are weights for two teams only
}
"""Agents that are measured, by game."""
OUT = Path("results/scenarios")

_SLOW = {"toroidal-cup-v0": 4}  # games with so many times the work get so many times fewer
_TOGETHER = 100  # games at the same time


def _measured(game: str, command: str, options: MatchOptions, out: Path) -> None:
    """Play all scenarios of a game and write its page and numbers."""
    options, scores = replace(options, games=2 * (options.games // 2 // _SLOW.get(game, 1))), []
    for scenario in scenarios_of(game):
        board = scenario_game(scenario)
        for spec in AGENTS[game]:
            records = play_scenario(scenario, load(spec, board), options, progress=True)
            scores.append(scenario_score(scenario, spec, records))
            print(f"{scenario.id}, {spec}: {scores[-1].score:.1f}", file=sys.stderr)
    report = scenario_report(command, scenarios_of(game), scores, AGENTS[game], options)
    write_report(out, replace(report, page_file=f"{game}.md", data_file=f"{game}.json"))


def _kept(path: Path, command: str) -> dict[str, Any] | None:
    """Return the numbers of a page that this command has made, else None."""
    if not path.exists():
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data if (data["command"], data["version"]) == (command, cellgames.__version__) else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is missing and write the pages; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena.scenario_scores", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each agent and scenario (default 200)")
    parser.add_argument("--only", nargs="+", choices=[*AGENTS], default=[*AGENTS], metavar="GAME", help="these games")
    parser.add_argument("--threads", type=int, metavar="N", help="threads of torch (default: its own)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    options = parser.parse_args(arguments)
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        match_options = MatchOptions(games=options.games, seed=options.seed, chunk=_TOGETHER)
    except ValueError as error:
        parser.error(str(error))
    # What the games depend on; threads and the choice of games do not belong to it.
    words = ["python", "-m", "benchmarks.arena.scenario_scores", "--games", options.games, "--seed", options.seed]
    command = shlex.join(map(str, words))
    for game in options.only:
        if _kept(options.out / f"{game}.json", command) is None:
            _measured(game, command, match_options, options.out)
    rows: list[Sequence[Cell]] = []
    for game in AGENTS:
        data = _kept(options.out / f"{game}.json", command)
        for found in [] if data is None else data["scenarios"]:
            seats = f"{found['focal']} of {found['focal'] + len(found['background'])}"
            shares = {score["agent"]: f"{100 * score['ahead']:.0f}" for score in found["scores"]}
            rows.append((found["id"], seats, *(shares.get(spec, "") for spec in AGENTS["grid-adaptation-v0"])))
    columns = ("scenario", "seats", *AGENTS["grid-adaptation-v0"])
    fewer = ", fewer in the full Cup" if any(str(row[0]).startswith("toroidal-cup-v0") for row in rows) else ""
    text = (
        f"`{command}`, {options.games} games of each agent and scenario{fewer}. The share of "
        "background seats that finished behind a seat of the agent, a tie half, in %; the pages have scores and "
        "intervals. `cellgames list` says who sits at the tables."
    )
    links = "\n".join(f"- [{game}]({game}.md)" for game in AGENTS if (options.out / f"{game}.md").exists())
    write_page(options.out / "README.md", "Scenarios", (text, Table("", columns, rows, text=("scenario",)), links))
    print(f"Written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
