"""Learning curves of three learners in the small presets, and ablations of `examples/ppo.py`.

    python examples/learning_curves.py --seconds 60 --seeds 5

The learners are `examples/ppo.py` by self-play, MaskablePPO of sb3-contrib with its default settings against `random`,
and `cellgames train` with its defaults for the game. Each gets the same time for playing and learning, and is measured
before, on the way and at the end. Evaluations do not count. Results go to `results/studies/learning/`, figures over
seconds and steps to `docs/images/`. A run that the results have is not repeated.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `examples`, when this file is run as a script

from examples import ppo

import cellgames
from cellgames.agents import Agent, SB3Agent

GAMES = ("torus", "hex", "y", "cloth-of-gold", "grid-adaptation", "toroidal-cup")
LADDER = ("random", "rollout:16", "rollout:64", "greedy", "trained")
ABLATIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "learning rate 0.0003": {"learning_rate": 3e-4},
    "learning rate 0.001": {"learning_rate": 1e-3},
    "learning rate 0.01": {"learning_rate": 1e-2},
    "8 games at once, 512 steps each": {"num_envs": 8, "num_steps": 512},
    "1 epoch": {"num_epochs": 1},
    "no entropy bonus": {"entropy": 0.0},
    "edges that do not wrap": {"wraps": False},
    "8 channels": {"channels": 8},
    "1 convolution": {"layers": 1},
}
COLOURS = {"examples/ppo.py": "#0072b2", "MaskablePPO": "#d55e00", "cellgames train": "#009e73"}
OUT = Path("results/studies/learning/results.json")
FIGURE = Path("docs/images/learning.png")

Stages = Iterator[tuple[int, Agent]]


def one_file(id: str, seed: int) -> Stages:
    """Yield the steps and the agent of `examples/ppo.py`, 0 steps first, after each rollout."""
    game, player = ppo.game_to_learn(id)
    return ((steps, player(agent)) for steps, agent in ppo.train(game, ppo.settings_of(id), seed))


def sb3(id: str, seed: int) -> Stages:
    """Yield the same of MaskablePPO, which learns the same game."""
    from sb3_contrib import MaskablePPO

    from cellgames.envs.adapters import SeatVecEnv

    game, player = ppo.game_to_learn(id)
    model = MaskablePPO("MlpPolicy", SeatVecEnv(game, 8, "random", seed=seed), n_steps=256, seed=seed, device="cpu")
    agent: Agent = player(SB3Agent(model, sample=None if len(game.info.observation.shape) > 1 else False))
    yield 0, agent
    while True:
        model.learn(2048, reset_num_timesteps=False)
        yield model.num_timesteps, agent


def interval(share: float, count: int, z2: float = 3.8415) -> tuple[float, float]:
    """Return the Wilson score interval of a share of `count` trials, 95 % by default."""
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = (z2 * share * (1 - share) / count + (z2 / (2 * count)) ** 2) ** 0.5 / (1 + z2 / count)
    return middle - half, middle + half


def scores(id: str, agent: Agent, games: int) -> dict[str, list[float]]:
    """Return score, low and high against each agent of the ladder."""
    rows = {other: ppo.score(cellgames.make(id), agent, other, games) for other in LADDER}
    return {other: [round(row[name], 4) for name in ("score", "low", "high")] for other, row in rows.items()}


def curve(id: str, stages: Stages, seconds: float, games: int, points: int = 3) -> list[dict[str, Any]]:
    """Return steps, seconds of playing and learning, and scores: of the untrained agent, then of `points` more."""
    spent, found, began = 0.0, list[dict[str, Any]](), time.process_time()  # other work on the machine is not counted
    for steps, agent in stages:
        spent += time.process_time() - began
        if not steps:
            spent = 0.0  # loading
        if spent >= seconds * len(found) / points:
            found.append({"steps": steps, "seconds": round(spent, 1), **scores(id, agent, games)})
        if spent >= seconds:
            break
        began = time.process_time()
    return found


def suite_curve(id: str, seed: int, seconds: float, games: int) -> list[dict[str, Any]]:
    """Return the same of `cellgames train`, by its own evaluations; its runs are stopped by the time of their rows."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", id, "--seed", str(seed), "--out", folder, "--device", "cpu", "--eval-every", "12"]
        words += ["--eval-opponents", *LADDER, "--eval-games", str(games), "--threads", "1", "--quiet"]
        run = subprocess.Popen([sys.executable, "-m", "cellgames", *words], stderr=subprocess.DEVNULL)
        rows: list[dict[str, str]] = []
        while run.poll() is None and (not rows or float(rows[-1]["seconds"]) < seconds):
            time.sleep(1)
            if (times := Path(folder) / "timing.csv").exists():
                rows = [row for row in csv.DictReader(times.open(encoding="utf-8")) if row.get("seconds")]
        run.terminate()
        run.wait()
        timing = {row["steps"]: float(row["seconds"]) for row in csv.DictReader((Path(folder) / "timing.csv").open())}
        table = list(csv.DictReader((Path(folder) / "progress.csv").open(encoding="utf-8")))
    return [
        {"steps": int(row["steps"]), "seconds": timing.get(row["steps"], 0.0)}
        | {name: [float(row[name]), *interval(float(row[name]), games)] for name in LADDER}
        for row in table
    ]


def seeds_of(runs: dict[str, Any], name: str) -> list[list[dict[str, Any]]]:
    """Return the rows of each run by a name without its seed, such as "torus-small-v0 MaskablePPO"."""
    return [rows for key, rows in runs.items() if key.rpartition(" ")[0] == name]


def along(rows: list[dict[str, Any]], name: str, by: str, places: Any) -> Any:
    """Return a number of a run, of a score the score in %, at some seconds or steps."""
    numbers = [100 * row[name][0] if name in LADDER else row[name] for row in rows]
    return np.interp(places, [row[by] for row in rows], numbers)


def margin(numbers: Any) -> Any:
    """Return half of the 95 % interval of the mean along the first axis, which has at least two rows; Student's."""
    return stats.t.ppf(0.975, len(numbers) - 1) * stats.sem(numbers)


def told(numbers: list[float]) -> str:
    """Return the mean over seeds of scores in %, with its 95 % interval."""
    mean, half = fmean(numbers), margin(numbers) if len(numbers) > 1 else 0.0
    return f"{mean:.0f} ({max(0, mean - half):.0f} to {min(100, mean + half):.0f})"


def markdown(texts: list[str], numbers: list[str], rows: list[list[str]]) -> str:
    """Return a table with columns of texts and of numbers."""
    heads = [[*texts, *numbers], ["---"] * len(texts) + ["---:"] * len(numbers)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (*heads, *rows))


def table(runs: dict[str, Any], seconds: float) -> str:
    """Return Markdown: the scores of each learner at the end, means over seeds with 95 % intervals."""
    lines = []
    for game, learner in product(GAMES, COLOURS):
        if found := seeds_of(runs, f"{game}-small-v0 {learner}"):
            steps = fmean(along(rows, "steps", "seconds", seconds) for rows in found)
            at_end = [told([float(along(rows, other, "seconds", seconds)) for rows in found]) for other in LADDER]
            lines.append([f"{game}-small-v0", learner, str(len(found)), f"{steps:,.0f}", *at_end])
    return markdown(["preset", "learner"], ["seeds", "steps", *LADDER], lines)


def ablations(runs: dict[str, Any]) -> str:
    """Return Markdown: the scores after each change of `examples/ppo.py` in small Torus, as `table` has them."""
    lines = []
    for name in ABLATIONS:
        if found := seeds_of(runs, f"ablation {name}"):
            scored = [told([100 * rows[-1][other][0] for rows in found]) for other in LADDER]
            lines.append([name, str(len(found)), *scored])
    return markdown(["change"], ["seeds", *LADDER], lines)


def draw(runs: dict[str, Any], path: Path, by: str, most: float = math.inf) -> None:
    """Draw score against `random` and `greedy` over seconds or steps, a panel for each game; bands are intervals."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(12, 6), sharey=True, layout="constrained")
    for game, panel in zip(GAMES, panels.flat, strict=True):
        for (learner, colour), (other, style) in product(COLOURS.items(), (("random", "-"), ("greedy", "--"))):
            if not (found := seeds_of(runs, f"{game}-small-v0 {learner}")):
                continue
            x = np.linspace(0, min(most, *(rows[-1][by] for rows in found)), 13)
            y = np.array([along(rows, other, by, x) for rows in found])
            mean, half = y.mean(0), margin(y) if len(y) > 1 else 0.0
            panel.plot(x, mean, style, color=colour, label=f"{learner}, {other}")
            panel.fill_between(x, mean - half, mean + half, color=colour, alpha=0.15, lw=0)
        panel.set(title=f"{game}-small-v0", xlabel=by, ylim=(-2, 102))
        panel.locator_params(axis="x", nbins=5)
        panel.axhline(50, color="0.8", lw=0.8)
    panels[0, 0].set_ylabel("score, %")
    panels[1, 0].set_ylabel("score, %")
    handles = {label: line for line, label in zip(*panels[0, 0].get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    line = argparse.ArgumentParser(description="Learning curves in the small presets, and ablations.")
    line.add_argument("--seconds", type=float, default=60, help="of playing and learning a run")
    line.add_argument("--ablation-steps", type=int, default=60_000, help="steps of each run of the ablation")
    line.add_argument("--seeds", type=int, default=1)
    line.add_argument("--games", type=int, default=40, help="of an evaluation against each agent")
    line.add_argument(
        "--only", default="", help="part of the names of runs, such as 'grid-adaptation-small-v0 MaskablePPO'"
    )
    line.add_argument("--out", type=Path, default=OUT)
    line.add_argument("--figure", type=Path, default=FIGURE)
    return line


def main() -> None:
    """Run what is missing, then draw."""
    options = parser().parse_args()
    torch.set_num_threads(1)
    jobs: dict[str, Callable[[], list[dict[str, Any]]]] = {}
    for seed in range(options.seeds):
        id = "torus-small-v0"
        for name, changed in ABLATIONS.items():
            own = replace(ppo.settings_of(id), total_steps=options.ablation_steps, **changed)
            job = lambda i=id, o=own, s=seed: list(ppo.train(cellgames.make(i), o, s))[-1]  # noqa: E731
            jobs[f"ablation {name} {seed}"] = lambda j=job, i=id, o=options: [
                {"steps": (end := j())[0], **scores(i, end[1], o.games)}
            ]
        for id in (f"{game}-small-v0" for game in GAMES):
            limits = options.seconds, options.games
            jobs[f"{id} examples/ppo.py {seed}"] = lambda i=id, s=seed, n=limits: curve(i, one_file(i, s), *n)
            jobs[f"{id} MaskablePPO {seed}"] = lambda i=id, s=seed, n=limits: curve(i, sb3(i, s), *n)
            jobs[f"{id} cellgames train {seed}"] = lambda i=id, s=seed, n=limits: suite_curve(i, s, *n)
    kept = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {"runs": {}}
    kept |= {"command": " ".join(["python", *sys.argv]), "machine": platform.machine(), "torch": torch.__version__}
    kept |= {"games": options.games, "seconds": options.seconds}
    options.out.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        options.out.write_text(json.dumps(kept) + "\n", "utf-8")

    for name, work in jobs.items():
        if name not in kept["runs"] and options.only in name:
            kept["runs"][name] = work()
            print(name, kept["runs"][name][-1], flush=True)
            save()
    save()
    said = f"`{kept['command']}`: scores in %, {options.games} games a seed against each agent."
    page = f"# Learning curves\n\n{said}\n\n{table(kept['runs'], options.seconds)}\n"
    page += f"\n## Ablations in torus-small-v0\n\n{ablations(kept['runs'])}\n"
    options.out.with_suffix(".md").write_text(page, "utf-8")
    draw(kept["runs"], options.figure, "seconds", options.seconds)
    draw(kept["runs"], options.figure.with_stem(f"{options.figure.stem}_steps"), "steps")


if __name__ == "__main__":
    main()
