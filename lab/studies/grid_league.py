"""A study: what does a league learn in Grid Adaptation that self-play does not?

The command is `python -m cellgames.lab.studies.grid_league`. For each seed a league, and self-play of as many steps,
learn the small game by PPO from the same new weights. Then they meet at tables of both, each plays tables of its own,
and what players do there is counted. What two runs of the same method differ in is the measure for what the methods
differ in. Exploiters take steps that main agents lack, so a snapshot of self-play with as many steps as the league's
main agent is measured, too. A page, its numbers and its plots go to results/studies/grid_league/. The same command goes
on after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.networks.saved import load_network, read_about
from cellgames.arena.analyse.agent_games import play_some
from cellgames.arena.analyse.behaviour import compare
from cellgames.arena.analyse.queries import draw_positions
from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.payoffs import payoffs
from cellgames.envs.core import Game
from cellgames.lab import LeagueOptions, train_league
from cellgames.lab.life.grid_rounds import Flows, read
from cellgames.lab.life.score_flows import alliances, by_distance
from cellgames.runs.seeds import derive
from cellgames.training import PPOArguments, train
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Plot, Report, Section, Table
from cellgames.utils.report.plots import prepare
from cellgames.utils.report.text import percent
from cellgames.utils.statistics import bootstrap_weights, percentile_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MEASURES", "differences", "main", "measured"]

GAME = "grid-adaptation-small-v0"
OUT = Path("results/studies/grid_league")
RUNS = Path("results/train/grid_league")
ROLES = ("self-play", "league")
MAIN, EARLIER = "last main agent", "earlier self-play"
"""The last main agent of a league, and a snapshot of self-play with about as many steps."""
TABLES = (*ROLES, MAIN, EARLIER)
COMPARED = (("league", "self-play"), (MAIN, EARLIER))
OTHERS = ("random", "greedy")
SHARED: dict[str, Any] = {
    **{"channels": 16, "layers": 1, "threads": 1, "device": "cpu", "checkpoint_every": 20},
    **{"eval_every": 1_000, "eval_games": 2, "eval_opponents": ("random",)},
}

_RESAMPLES = 2000
_COLOURS = {"self-play": "#0072b2", "league": "#d55e00", MAIN: "#cc79a7", EARLIER: "#009e73"}  # of Okabe and Ito
_Counts = tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.float64]]]

MEASURES: Mapping[str, tuple[str, Callable[[Flows], _Counts]]] = {
    "points": ("points a player and game", lambda found: (_games(found.scores), _seats(found))),
    "contested": (
        "% of named spaces contested",
        lambda found: (100 * _games(found.spending.clashed), _games(found.spending.named)),
    ),
    "reserves": ("reserve tiles a player and game", lambda found: (_games(found.spending.reserves), _seats(found))),
    "flips": ("digits flipped, a player and game", lambda found: (_games(found.spending.flips), _seats(found))),
    "own": (
        "% of points from own tiles",
        lambda found: (100 * _games(by_distance(found)[..., 0]), _games(found.scores)),
    ),
    "near": (
        "% of points from tiles 1 digit away",
        lambda found: (100 * _games(by_distance(found)[..., 1]), _games(found.scores)),
    ),
}
"""The measures of the games of one agent's table: for each its title, and each game's numerator and denominator."""


def _games(values: Any) -> Any:
    """Return sums over all but the first axis, float64 [G]."""
    return values.reshape(len(values), -1).sum(1).astype(float)


def _seats(found: Flows) -> Any:
    return np.full(len(found.scores), found.scores.shape[1], dtype=float)


def measured(game: Game, records: Sequence[Record], seed: int) -> dict[str, list[float]]:
    """Return each measure of games with the bounds of its 95 % interval, by bootstrap over games."""
    found = read(game, records)
    weights = bootstrap_weights(np.random.default_rng(derive(seed, "grid league")), len(records), _RESAMPLES)
    rows = {}
    for name, (_, count) in MEASURES.items():
        above, under = count(found)
        low, high = percentile_interval((weights @ above) / np.maximum(weights @ under, 1e-9))
        rows[name] = [float(value) for value in (above.sum() / max(under.sum(), 1e-9), low, high)]
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Train, play, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m cellgames.lab.studies.grid_league", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--steps", type=int, default=24_000, help="steps of each main agent of a league")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of a league")
    parser.add_argument("--games", type=int, default=400, help="games of each kind of table")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the page")
    given = parser.parse_args(argv)
    check_least(parser, given, seeds=1, steps=1, rounds=1, games=2)
    game = cellgames.make(GAME)
    trained = [_trained(game, given, seed) for seed in range(given.seeds)]
    rows = []
    for seed, (steps, agents) in enumerate(trained):
        rows.append({"seed": seed, "steps": steps, **_played(game, agents, seed, given.games)})
        print(rows[-1], flush=True)
    behaviour = _behaviour(game, [agents for _, agents in trained], given.games)
    command = typed_command("cellgames.lab.studies.grid_league", argv)
    write_report(given.out, _report(given, command, rows, behaviour))
    print(f"Written to {given.out}")
    return 0


# ---------------------------------------------------------------- runs and games


def _trained(game: Game, given: argparse.Namespace, seed: int) -> tuple[dict[str, int], dict[str, AnyAgent]]:
    """Return the steps and the agents: self-play, a snapshot of it, the league, and its last main agent."""
    base = PPOArguments.fitted(game, seed=seed, total_steps=given.steps, **SHARED)
    options = LeagueOptions(method="league", rounds=given.rounds, meta_solver="nash", games=40)
    league = train_league(base, given.runs / f"league-{given.rounds}x{given.steps}-{seed}", options)
    files = [league.out / "members" / planned.name / "agent.safetensors" for planned in league.plans]
    taken = [int(read_about(file)["made"]["steps"]) for file in files]
    total = sum(taken)
    alone = train(
        PPOArguments.fitted(game, seed=seed, total_steps=total, opponents="self=0.8,pool=0.2", **SHARED),
        given.runs / f"self-play-{total}-{seed}",
    )
    own = [number for number, planned in enumerate(league.plans) if planned.role == "main"]
    spent = sum(taken[number] for number in own)
    snapshot = min(alone.agent.parent.glob("pool/*.safetensors"), key=lambda file: abs(int(file.stem) - spent))
    agents = {
        "self-play": load(str(alone.agent), game, name="self-play"),
        "league": load(f"league:{league.out}", game, name="league"),
        EARLIER: load_network(snapshot, game).network.agent(EARLIER, sample=True),
        MAIN: load(str(files[own[-1]]), game, name=MAIN),
    }
    return {"self-play": alone.steps, "league": total, "main agents": spent, EARLIER: int(snapshot.stem)}, agents


def _played(game: Game, trained: Mapping[str, AnyAgent], seed: int, games: int) -> dict[str, Any]:
    """Return the scores between agents, each with its interval, and the measures of tables of one method."""
    agents = {**trained, **{name: load(name, game) for name in OTHERS}}
    scores = {}
    met = (("league", "self-play"), (MAIN, EARLIER), *((role, other) for role in ROLES for other in OTHERS))
    for one, other in met:
        pair = {name: agents[name] for name in (one, other)}
        table = payoffs(play_some(game, pair, games, seed=derive(seed, "grid league", one, other)))
        cell = table.agents.index(one), table.agents.index(other)
        scores[f"{one} against {other}"] = [float(part[cell]) for part in (table.score, table.low, table.high)]
    tables, together = {}, {}
    for role in TABLES:
        records = play_some(game, {role: agents[role]}, games, seed=derive(seed, "grid league", "table"))
        tables[role] = measured(game, records, seed)
        allied = alliances(read(game, records), [record.agents for record in records], seed)
        together[role] = [[found.distance, found.correlation, found.low, found.high, found.chance] for found in allied]
    return {"scores": scores, "tables": tables, "alliances": together}


def _behaviour(game: Game, trained: Sequence[Mapping[str, AnyAgent]], games: int) -> dict[str, Any]:
    """Return the distances of policies: of the methods with equal seeds, and of two seeds of each method.

    Of a league its last main agent is compared, since a mixture has no policy of its own in a position.
    """
    compared = {"self-play": "self-play", "league": MAIN}
    agents = {f"{role} {seed}": own[name] for role, name in compared.items() for seed, own in enumerate(trained)}
    records = play_some(game, agents, min(games, 96), seed=derive("grid league", "positions"))
    found = compare(game, agents, draw_positions(game, records, 200, 0), draws=8, seed=0)
    pairs = [(*pair, found.agents.index(pair[0]), found.agents.index(pair[1])) for pair in combinations(agents, 2)]
    seeds = {
        role: [
            float(found.distance[i, j]) for one, other, i, j in pairs if one.startswith(role) and other.startswith(role)
        ]
        for role in ROLES
    }
    between = [float(found.distance[i, j]) for one, other, i, j in pairs if one.split()[1] == other.split()[1]]
    return {"two seeds": seeds, "self-play and league": between}


# ---------------------------------------------------------------- the page


def _told(values: Sequence[float], factor: float = 1.0) -> str:
    middle, low, high = (factor * value for value in values)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})" if abs(middle) >= 10 else f"{middle:.2f} ({low:.2f} to {high:.2f})"


def differences(
    rows: Sequence[Mapping[str, Any]], role: str = "league", base: str = "self-play"
) -> list[tuple[str, list[float], float, bool]]:
    """Return the differences of an agent from a base, by default of the league from self-play, measure by measure.

    A row has the measure, the differences by seed, the largest difference between two seeds of one method, and True if
    the first have one sign and are all larger.
    """
    found = []
    for name in MEASURES:
        values = {of: [row["tables"][of][name][0] for row in rows] for of in (base, role)}
        gaps = [other - own for own, other in zip(values[base], values[role], strict=True)]
        between = max((abs(a - b) for some in values.values() for a, b in combinations(some, 2)), default=0.0)
        clear = len({gap > 0 for gap in gaps}) == 1 and min(map(abs, gaps)) > between
        found.append((name, gaps, between, clear))
    return found


def _answer(rows: Sequence[Mapping[str, Any]], behaviour: Mapping[str, Any]) -> str:
    """Return what differs between the methods, and what does not."""
    cross = [row["scores"]["league against self-play"] for row in rows]
    better = sum(low > 0.5 for _, low, _ in cross), sum(high < 0.5 for _, _, high in cross)
    clear, held = ([MEASURES[name][0] for name, _, _, clear in differences(rows, *pair) if clear] for pair in COMPARED)
    kept = [title for title in clear if title in held]
    answer = (
        f"At tables of both, the league's mixture scores {', '.join(_told(cell, 100) for cell in cross)} % of the "
        f"pairs of seats (one number a seed, with 95 % intervals): its interval is above one half for {better[0]} of "
        f"{len(rows)} seeds, and below for {better[1]}. "
    )
    answer += (
        f"In tables of their own the methods differ in the same direction for all seeds, and by more than any two "
        f"seeds of one method, in: {'; '.join(clear)}. The league's last main agent and {EARLIER}, which had as many "
        f"steps, differ so in {'; '.join(kept) if kept else 'none of them: it is a matter of steps'}."
        if clear
        else "In tables of their own no measure differs in the same direction for all seeds and by more than two seeds "
        "of one method do. So nothing here is what a league learns and self-play does not."
    )
    distances = behaviour["two seeds"]
    mean = {role: fmean(values) if values else float("nan") for role, values in distances.items()}
    between = fmean(behaviour["self-play and league"])
    return answer + (
        f" Policies of the two methods with the same seed differ by {percent(between)} % (total variation), those of "
        f"two seeds of self-play by {percent(mean['self-play'])} % and of two leagues by {percent(mean['league'])} %."
    )


def _report(
    given: argparse.Namespace, command: str, rows: Sequence[Mapping[str, Any]], behaviour: Mapping[str, Any]
) -> Report:
    """Return the report."""
    steps = max(steps for row in rows for steps in row["steps"].values())
    gaps = {f"{role} less {base}": differences(rows, role, base) for role, base in COMPARED}
    scores = [
        (row["seed"], name, *(round(100 * value, 1) for value in values))
        for row in rows
        for name, values in row["scores"].items()
    ]
    tables = [
        (MEASURES[name][0], row["seed"], *(_told(row["tables"][role][name]) for role in TABLES))
        for name in MEASURES
        for row in rows
    ]
    compared = [
        (MEASURES[name][0], base, ", ".join(f"{gap:+.2f}" for gap in some), round(largest, 2), "yes" if clear else "no")
        for base, found in gaps.items()
        for name, some, largest, clear in found
    ]
    allied = [
        (row["seed"], role, int(far), *(round(value, 3) for value in values))
        for row in rows
        for role in ROLES
        for far, *values in row["alliances"][role]
    ]
    parts = (
        f"`{command}`; cellgames {cellgames.__version__}, {cpu_model()}.",
        Section(
            "The question",
            (
                "A league trains main agents that meet themselves, former ones and exploiters. Does that teach them "
                "something in a game of four players that plain self-play at equal steps does not: other use of the "
                "sequences that players have in common, of flips, reserves and contested spaces, or simply strength?",
                "The baseline of every difference is that between two runs of one method with other seeds. A measure "
                "counts as learned from the league only if all seeds differ in the same direction, and each of these "
                "differences is larger than any between two seeds of one method.",
            ),
        ),
        Section("The answer", (_answer(rows, behaviour),)),
        Section(
            "Runs",
            (
                f"{GAME}, PPO with {SHARED['channels']} channels and {SHARED['layers']} layer, new weights, "
                f"{len(rows)} seeds, at most {steps:,} steps each. The league (`cellgames league --method league "
                f"--meta-solver nash`) has {given.rounds} rounds of {given.steps:,} steps a main agent. "
                "Self-play meets itself in 80 % and its own snapshots in 20 % of its games. Main agents had "
                f"{', '.join(format(row['steps']['main agents'], ',') for row in rows)} steps, and the snapshots of "
                f"{EARLIER} {', '.join(format(row['steps'][EARLIER], ',') for row in rows)}.",
            ),
        ),
        Section(
            "Strength",
            (
                f"Scores in % of the pairs of seats, {given.games} games each, with 95 % intervals.",
                Table("", ("seed", "table", "score", "low", "high"), scores, shown=100),
                Plot("scores", "", partial(_draw_scores, rows=rows), "scores of both methods against each other"),
            ),
        ),
        Section(
            "What players do",
            (
                f"{given.games} games of four seats of one agent, with 95 % intervals by bootstrap over games.",
                Plot("measures", "", partial(_draw_measures, rows=rows), "measures by method and seed"),
                Table("", ("measure", "seed", *TABLES), tables, shown=100),
                "Differences by seed, and the largest difference of two seeds of one method:",
                Table("", ("measure", "of", "differences", "between seeds", "clear"), compared, shown=100),
            ),
        ),
        Section(
            "Alliances of sequences",
            (
                "Correlation of final scores of two players by the Hamming distance of the sequences that they were "
                "dealt, and what arithmetic alone makes ([analyse](../../../docs/research.md)). Players that use their "
                "neighbours more than arithmetic does would be above it.",
                Table(
                    "", ("seed", "method", "distance", "correlation", "low", "high", "by arithmetic"), allied, shown=100
                ),
            ),
        ),
        Section(
            "Limits and what would change this answer",
            (
                f"Networks are small and the runs short, {len(rows)} seeds are few, and one design of a league was "
                "tried. The intervals are over games, so they say nothing on other seeds: that is what the comparison "
                "between seeds is for. A difference that all of ten seeds share, or one that appears with ten times "
                "the steps, would change the answer.",
            ),
        ),
    )
    data = {**head(command), "rows": list(rows), "behaviour": dict(behaviour)}
    return Report("What a league learns in Grid Adaptation", parts, data, data_file="report.json")


def _draw_scores(figure: Figure, *, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the scores of every pair by seed."""
    names = list(rows[0]["scores"])
    prepare(figure, f"Leagues and self-play against each other in {GAME}", 7.6, 1.3 + 0.34 * len(names))
    axes = figure.subplots()
    axes.axvline(50, color="#b8b8b8", linewidth=1)
    for number, name in enumerate(names):
        for shift, row in enumerate(rows):
            middle, low, high = (100 * value for value in row["scores"][name])
            place = len(names) - 1 - number + 0.2 - 0.2 * shift
            colour = _COLOURS[name.split(" against ")[0]]
            axes.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt="o", color=colour, markersize=4)
    axes.set_yticks(range(len(names)), names[::-1])
    axes.set_xlim(0, 102)
    axes.set_xlabel("score, % of the pairs of seats; one dot a seed")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_measures(figure: Figure, *, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw each measure by method and seed."""
    prepare(figure, f"How leagues and self-play play {GAME}", 7.6, 4.7)
    grid = figure.subplots(2, 3).ravel()
    for axes, (name, (title, _)) in zip(grid, MEASURES.items(), strict=False):
        for place, role in enumerate(TABLES):
            for shift, row in enumerate(rows):
                middle, low, high = row["tables"][role][name]
                at = place + 0.18 * (shift - (len(rows) - 1) / 2)
                spread = [[max(middle - low, 0)], [max(high - middle, 0)]]
                axes.errorbar(at, middle, yerr=spread, fmt="o", color=_COLOURS[role], markersize=4)
        axes.set_xticks(range(len(TABLES)), [role.replace(" ", "\n") for role in TABLES], fontsize=7)
        axes.set_xlim(-0.5, len(TABLES) - 0.5)
        axes.set_title(title, fontsize=8)
        axes.tick_params(axis="y", labelsize=7)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)


if __name__ == "__main__":
    sys.exit(main())
