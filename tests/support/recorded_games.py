"""Runs of a few games, without the reports that take most of a run's time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cellgames.agents import load
from cellgames.arena import MatchOptions, Record, play_evaluation, read_records
from cellgames.arena.records.record_lines import append
from cellgames.envs.core import Game


def write_runs(folder: Path, games: Mapping[str, Game]) -> Path:
    """Write two games of random against greedy into a folder for each game; return the folder of all."""
    for name, game in games.items():
        agents = {agent: load(agent, game) for agent in ("random", "greedy")}
        (folder / name).mkdir()
        append(folder / name / "games.jsonl", play_evaluation(game, agents, MatchOptions(games=2)))
    return folder


def records(runs: Path, name: str) -> list[Record]:
    """Return the records of a folder by `write_runs`."""
    return read_records(runs / name / "games.jsonl").records
