"""A study: what do words come to mean in Grid Adaptation, and what do they change?

The command is `python -m cellgames.lab.studies.talk`. Populations learn a small board by PPO self-play under three
conditions at equal steps: words are public, private, or muted (said, and heard by nobody). Then each population plays
games of its own, and the measures of `cellgames.lab.talk` are taken. Muted populations are measured in the same way, as
the baseline. A page, its numbers and its plot go to results/studies/talk/. The same command goes on after Ctrl-C.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, variance
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head

import cellgames
from cellgames.agents.loading import load
from cellgames.arena.analyse.agent_games import play_some
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.lab.life.grid_rounds import read
from cellgames.lab.studies.grid_league import measured
from cellgames.lab.talk.listening import dependence
from cellgames.lab.talk.talk_measures import claims, coalition_gain, information, read_talk
from cellgames.runs.seeds import derive
from cellgames.training import PPOArguments, train
from cellgames.utils.files import write_atomic
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Plot, Report, Section, Table
from cellgames.utils.report.plots import prepare
from cellgames.utils.statistics import student_t

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["difference", "main", "over_seeds"]

GAME = "grid-adaptation-talk-small-v0"
OUT = Path("results/studies/talk")
RUNS = Path("results/train/talk")
BOARD: dict[str, Any] = {"size": 6, "players": 3, "rounds": 4, "flip_rounds": (2, 4), "words": 8}
CONDITIONS: dict[str, dict[str, Any]] = {
    "public": {"talk": "public"},
    "private": {"talk": "private"},
    "muted": {"talk": "public", "mute": True},
}
SHARED: dict[str, Any] = {
    **{"channels": 16, "layers": 1, "threads": 1, "device": "cpu", "opponents": "self=0.8,pool=0.2"},
    **{"eval_every": 1_000, "eval_games": 60, "eval_opponents": ("random", "greedy"), "checkpoint_every": 40},
}

_AGENT = "population"
_ABOUT = ("sequence", "next space", "next flip")
_MEASURES = {
    "points": "points a player and game",
    "contested": "% of named spaces contested",
    "silence": "% of words that are silence",
    **{f"bits {about}": f"bits of words about the {about}" for about in _ABOUT},
    "claims": "words that usually mean something",
    "lies": "% of such words that are lies",
    "listening": "total variation of the first tile by another word",
    "scrambled points": "points with the channel less scrambled",
    "scrambled contested": "% contested with the channel less scrambled",
    **{f"gain {far}": f"coalition gain, {far} digit{'s' * (far > 1)} apart" for far in (1, 2, 3)},
}
"""The measures of each population, with their titles on the page."""

_PANELS = ("points", "contested", *(f"bits {about}" for about in _ABOUT), "listening", "scrambled points", "gain 1")
_COLOURS = {"public": "#0072b2", "private": "#d55e00", "muted": "#6e6e6e"}  # blue and vermillion of Okabe and Ito


def main(argv: Sequence[str] | None = None) -> int:
    """Train, play, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m cellgames.lab.studies.talk", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="number of populations of each condition, at least 2")
    parser.add_argument("--steps", type=int, default=300_000, help="steps of each population")
    parser.add_argument("--games", type=int, default=300, help="games of each population, at least 20")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the page")
    given = parser.parse_args(argv)
    check_least(parser, given, seeds=2, steps=1, games=20)
    rows = [_row(condition, seed, given) for seed in range(given.seeds) for condition in CONDITIONS]
    write_report(given.out, _report(given, typed_command("cellgames.lab.studies.talk", argv), rows))
    print(f"Written to {given.out}")
    return 0


# ---------------------------------------------------------------- runs and games


def _row(condition: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """Return the measures of a population, which is trained and measured unless it was before."""
    game = cellgames.make(GAME, **BOARD, **CONDITIONS[condition])
    assert isinstance(game, GridAdaptationTalk)
    arguments = PPOArguments.fitted(game, seed=seed, total_steps=given.steps, **SHARED)
    run = train(arguments, given.runs / f"{condition}-{given.steps}-{seed}")
    kept = run.out / f"measures-{given.games}.json"
    digest = hashlib.sha256(run.agent.read_bytes()).hexdigest()
    if kept.exists() and (row := json.loads(kept.read_text(encoding="utf-8")))["agent"] == digest:
        return dict(row)
    row = {"condition": condition, "seed": seed, "steps": run.steps, "agent": digest}
    row |= {f"ahead of {name}": [run.history[0][name], run.history[-1][name]] for name in ("random", "greedy")}
    row |= _measured(game, run.agent, seed, given.games)
    write_atomic(kept, json.dumps(row))
    print({name: row[name] for name in ("condition", "seed", "steps", "values")}, flush=True)
    return row


def _measured(game: GridAdaptationTalk, agent: Path, seed: int, games: int) -> dict[str, Any]:
    """Return what a population says and does in games of its own, and in games with scrambled words.

    The second games of a muted population are muted, too: what they differ by is the noise of the measure.
    """
    population = {_AGENT: load(str(agent), game, name=_AGENT)}
    other = game if game.mute else replace(game, scramble=True)
    records = play_some(game, population, games, seed=derive(seed, "talk"))
    again = play_some(other, population, games, seed=derive(seed, "talk", "again"))
    found = read_talk(game, records)
    own, scrambled = measured(game, records, seed), measured(other, again, seed)
    spoken = claims(found, seed)
    letters = sum(claim.letters for claim in spoken)
    told = information(found, seed=seed)
    flows = [read(rules, some) for rules, some in ((game, records), (other, again))]
    with_channel, without = ((each.scores.astype(float), each.dealt) for each in flows)
    values: dict[str, float | None] = {name: own[name][0] for name in ("points", "contested")}
    values |= {"silence": 100 * float((found.words == 0).mean())}
    values |= {f"bits {one.about}": one.bits for one in told}
    values |= {"claims": len(spoken)}
    values |= {"lies": 100 * sum(claim.letters * claim.lies for claim in spoken) / letters if letters else None}
    values |= {"listening": dependence(game, _AGENT, population[_AGENT], records, seed=seed).variation}
    values |= {f"scrambled {name}": own[name][0] - scrambled[name][0] for name in ("points", "contested")}
    values |= {f"gain {one.distance}": one.gain for one in coalition_gain(with_channel, without, seed)}
    return {
        "values": values,
        "information": [vars(one) for one in told],
        "claims": [vars(claim) for claim in spoken],
    }


# ---------------------------------------------------------------- intervals over seeds


def over_seeds(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of independent values and its interval by Student's t; NaN bounds for fewer than two."""
    if len(values) < 2:
        return fmean(values) if values else math.nan, math.nan, math.nan
    middle = fmean(values)
    margin = student_t(level, len(values) - 1) * math.sqrt(variance(values) / len(values))
    return middle, middle - margin, middle + margin


def difference(values: Sequence[float], base: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Return the difference of two means and its interval by Welch's t; NaN for fewer than two values."""
    if min(len(values), len(base)) < 2:
        return math.nan, math.nan, math.nan
    middle = fmean(values) - fmean(base)
    parts = [(variance(some) / len(some), len(some) - 1) for some in (values, base)]
    total = sum(part for part, _ in parts)
    if not total:
        return middle, middle, middle
    freedom = total**2 / sum(part**2 / number for part, number in parts)
    margin = student_t(level, freedom) * math.sqrt(total)
    return middle, middle - margin, middle + margin


def _values(rows: Sequence[Mapping[str, Any]], condition: str, name: str) -> list[float]:
    found = [row["values"].get(name) for row in rows if row["condition"] == condition]
    return [float(value) for value in found if value is not None]


# ---------------------------------------------------------------- the page


def _told(numbers: Sequence[float]) -> str:
    if math.isnan(numbers[1]):
        return "-"
    digits = 1 if max(map(abs, numbers)) >= 10 else 2 if max(map(abs, numbers)) >= 1 else 3
    middle, low, high = (f"{value:.{digits}f}" for value in numbers)
    return f"{middle} ({low} to {high})"


def _clear(numbers: Sequence[float]) -> bool:
    return numbers[1] > 0 or numbers[2] < 0


def _table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    """Return means over seeds with their intervals, and the differences from muted populations."""
    lines = []
    for name in names:
        values = {condition: _values(rows, condition, name) for condition in CONDITIONS}
        gaps = [difference(values[condition], values["muted"]) for condition in ("public", "private")]
        marks = [f"{_told(gap)}{' *' if _clear(gap) else ''}" for gap in gaps]
        lines.append((_MEASURES[name], *(_told(over_seeds(some)) for some in values.values()), *marks))
    return Table("", ("measure", *CONDITIONS, "public less muted", "private less muted"), lines)


def _answer(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what differs from muted populations, and what does not."""
    found, held, none = [], [], []
    compared = [name for name in _MEASURES if all(_values(rows, condition, name) for condition in CONDITIONS)]
    number = 2 * len(compared)
    for name in compared:
        title, base = _MEASURES[name], _values(rows, "muted", name)
        own = {condition: _values(rows, condition, name) for condition in ("public", "private")}
        gaps = {condition: difference(some, base) for condition, some in own.items()}
        clear = [condition for condition, gap in gaps.items() if _clear(gap)]
        found += [f"{title}, {condition}: {_told(gaps[condition])}" for condition in clear]
        held += [f"{title}, {way}" for way in clear if _clear(difference(own[way], base, 1 - 0.05 / number))]
        none += [] if clear else [title]
    return (
        "Differences from muted populations whose 95 % interval over seeds is without zero: "
        f"{'; '.join(found) if found else 'none'}. Of {number} such intervals about {0.05 * number:.1f} are without "
        f"zero by chance. With {number} comparisons taken into account (Bonferroni) these remain: "
        f"{'; '.join(held) if held else 'none'}.",
        f"No difference from muted populations is shown in: {'; '.join(none) if none else 'none of the measures'}.",
        "The permutation test alone shows no language, because words and deeds come from one network. "
        f"p is below 0.05 in {_passed(rows, 'muted')} tests of muted, {_passed(rows, 'public')} of public and "
        f"{_passed(rows, 'private')} of private populations. Words of muted populations are heard by nobody.",
    )


def _passed(rows: Sequence[Mapping[str, Any]], condition: str) -> str:
    own = [one["p"] < 0.05 for row in rows if row["condition"] == condition for one in row["information"]]
    return f"{sum(own)} of {len(own)}"


def _significant(rows: Sequence[Mapping[str, Any]]) -> Table:
    lines = []
    for about in _ABOUT:
        for condition in CONDITIONS:
            own = [one for row in rows if row["condition"] == condition for one in row["information"]]
            own = [one for one in own if one["about"] == about]
            bits = ", ".join(f"{one['bits']:.3f}" for one in own)
            p = ", ".join(f"{one['p']:.3f}" for one in own)
            small = sum(one["p"] < 0.05 for one in own)
            most = fmean(one["entropy"] for one in own)
            lines.append((about, condition, bits, round(most, 2), p, f"{small} of {len(own)}"))
    return Table("", ("about", "condition", "bits by seed", "at most", "p by seed", "p below 0.05"), lines)


def _claims_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    lines = [
        (row["condition"], row["seed"], *(claim[name] for name in ("word", "about")), *_claim(claim))
        for row in rows
        for claim in row["claims"]
    ]
    heads = ("condition", "seed", "word", "about", "means", "said", "lies in %", "gain of a lie")
    return Table("claims", heads, lines)


def _claim(claim: Mapping[str, Any]) -> tuple[str, int, str, str]:
    means = f"{claim['value']:03b}" if claim["about"] == "sequence" else f"part {claim['value'] + 1} of 9"
    lies = _told([100 * claim[name] for name in ("lies", "low", "high")])
    return means, claim["letters"], lies, _told([claim[name] for name in ("gain", "gain_low", "gain_high")])


def _report(given: argparse.Namespace, command: str, rows: Sequence[Mapping[str, Any]]) -> Report:
    """Return the report."""
    learned = [
        (condition, name, *(_told(over_seeds([100 * row[f"ahead of {name}"][at] for row in some])) for at in (0, 1)))
        for condition in CONDITIONS
        for some in [[row for row in rows if row["condition"] == condition]]
        for name in ("random", "greedy")
    ]
    table = partial(_table, rows)
    spoken = _claims_table(rows)
    board = "{size} rows and columns, {players} players, {rounds} rounds, {words} words".format(**BOARD)
    parts = (
        f"`{command}`; cellgames {cellgames.__version__}, {cpu_model()}.",
        Section(
            "The questions",
            (
                "Players of Grid Adaptation may say a word before each round. Words bind nobody, and rewards are "
                "points less the mean of the others', so that what one player gains the others lose. Do populations "
                "that learn together make use of words?",
                "1. Does talk change scores and contests?\n"
                "2. Do words carry the sender's sequence, its next space, or its next flip?\n"
                "3. Are there lies: words that usually mean something, said by players for whom it is false?\n"
                "4. Does what a listener does depend on words?\n"
                "5. What happens when the channel is scrambled: do players with similar sequences lose what they "
                "gained together?",
                "The baseline of every number is that of muted populations, which say words that nobody hears. Their "
                "words come from the same network as their tiles, so they can tell something without being meant to. "
                "A difference from them counts if its 95 % interval over seeds (Welch's t) is without zero.",
            ),
        ),
        Section("The answer", _answer(rows)),
        Section(
            "Runs",
            (
                f"{GAME} with {board}, and flips in rounds 2 and 4. A population is one network in all seats, "
                f"with {SHARED['channels']} channels and {SHARED['layers']} layer. It learns by PPO from new weights, "
                f"in 80 % of the games with itself and in 20 % with its own snapshots. Each condition has "
                f"{given.seeds} seeds of {given.steps:,} steps (at most {max(row['steps'] for row in rows):,}).",
                "Share of pairs of seats that end ahead of an agent, in %, in 60 games before and after training:",
                Table("", ("condition", "agent", "before", "after"), learned),
                f"Each population plays {given.games} games with itself, and as many with scrambled words. Intervals "
                "are over seeds (Student's t). A star marks differences whose interval is without zero.",
            ),
        ),
        Section(
            "Scores and contests",
            (
                table(("points", "contested", "silence")),
                Plot("measures", "", partial(_draw, rows=rows), "measures by condition; one dot a population"),
            ),
        ),
        Section(
            "What words carry",
            (
                "Mutual information in bits, less what words of other games would tell as well.",
                table([f"bits {about}" for about in _ABOUT]),
                "Each seed, the most bits that there are (the entropy of the fact), and the permutation test over "
                "whole games:",
                _significant(rows),
            ),
        ),
        Section(
            "Lies",
            (
                "A word usually means the commonest fact of its senders, if that holds for half of them and for twice "
                "the share of all players.",
                table(("claims", "lies")),
                *((spoken,) if spoken.rows else ("No population has such a word, so there is nothing to lie about.",)),
            ),
        ),
        Section(
            "Who listens",
            (
                "One word of the last talk step becomes another one, in the same state, in 400 states of each "
                "population. Muted populations never heard a word, so their number is what weights that did "
                "not learn from words make of them.",
                table(("listening",)),
            ),
        ),
        Section(
            "The scrambled channel",
            (
                "The same agents play with words that are dealt out anew among their senders. The second games of "
                "muted populations are muted, too, so their differences are noise. The coalition gain is the mean of "
                "points of pairs less that of their game, with the channel less scrambled, by the distance of the "
                "sequences that they were dealt.",
                table([name for name in _MEASURES if name.startswith(("scrambled", "gain"))]),
            ),
        ),
        Section(
            "Limits and what would change this answer",
            (
                f"{'' if given.seeds >= 5 else 'Five seeds were planned and fewer were trained. '}"
                f"One small board, one small network, {given.seeds} seeds and short runs: that nothing is shown here "
                "does not say that long training finds nothing. All seats share one network, so a population has one "
                "language by design. Rewards sum to zero, which leaves little to say that helps both sides; longer "
                "matches with more players leave more room for alliances. The muted baseline of private words is that "
                "of public words, whose actions have fewer parts. Words that mean something only together with the "
                "board or with other words are not measured.",
                "Scrambling deals out the words of three players: in public a third of them stay with their sender by "
                "chance, in private, where two words reach each listener, half of them. So it shows a part of what the "
                "channel does.",
                "A difference that ten seeds at ten times the steps share would change a null result here, and one "
                "that such runs lack would take back a difference.",
            ),
        ),
    )
    data = {**head(command), "board": BOARD, "rows": list(rows)}
    return Report("What words come to mean in Grid Adaptation", parts, data, data_file="report.json")


def _draw(figure: Figure, *, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw each population as a dot, and the interval over seeds, by measure and condition."""
    size, players = BOARD["size"], BOARD["players"]
    prepare(figure, f"What talk changes: Grid Adaptation, {players} players on {size} x {size} spaces", 9.2, 5.1)
    for axes, name in zip(figure.subplots(2, len(_PANELS) // 2).ravel(), _PANELS, strict=True):
        if name.startswith(("bits", "scrambled", "gain")):
            axes.axhline(0, color="#b8b8b8", linewidth=1)
        for place, condition in enumerate(CONDITIONS):
            values = _values(rows, condition, name)
            middle, low, high = over_seeds(values)
            colour = _COLOURS[condition]
            axes.plot([place - 0.15] * len(values), values, "o", color=colour, markersize=4, alpha=0.6)
            axes.errorbar(
                place + 0.15, middle, yerr=[[middle - low], [high - middle]], fmt="s", color=colour, capsize=3
            )
        axes.set_xticks(range(len(CONDITIONS)), list(CONDITIONS), fontsize=8)
        axes.set_xlim(-0.5, len(CONDITIONS) - 0.5)
        axes.set_title(fill(_MEASURES[name], 28), fontsize=8)
        axes.tick_params(axis="y", labelsize=7)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)


if __name__ == "__main__":
    sys.exit(main())
