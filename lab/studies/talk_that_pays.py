"""A study: from which share of an ally's reward on do players of Grid Adaptation use words, for what, and to what end.

`python -m cellgames.lab.studies.talk_that_pays` runs what is missing in results/studies/talk_that_pays/runs.jsonl, a
line for each run, and writes the page. `--tenth` makes one more run of each condition, in about five minutes, and says
whether it agrees with those of the page. `talk_matches` has the matches, in which `G`, `P` and `R` are as there.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from benchmarks.pages import head, parser_of, typed_command, write_page
from torch import Tensor

from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.lab.talk.talk_measures import Transcript, claims, information
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Plot, Table
from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, remove_frame
from cellgames.utils.statistics import mean_interval, student_t

from .talk_matches import FLIPS, MATCHES, Condition, Matches, Played, Speaker, learn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Path("results/studies/talk_that_pays")
SEEDS, ITERATIONS, TESTED = 10, 300, 1024
_TEST = 1 << 20
CONDITIONS = (
    *(Condition(f"{share:g}", share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
    Condition("0.5, scrambled from the start", 0.5, scrambled=True),
    Condition("0, two players", 0.0, players=2),
    *(Condition(f"{share:g}, corners", share, corners=True) for share in (0.0, 0.5, 1.0)),
    *(Condition(f"{share:g}, by promise", share, talk="public", promises="ally") for share in (0.0, 0.5, 1.0)),
    *(Condition(f"{s:g}, by lot", s, talk="public", promises="ally", lots=True) for s in (0.5, 1.0)),
    Condition("0.5, free", 0.5, talk="public"),
    Condition("0.5, binding", 0.5, talk="public", promises="sequence"),
)
_SHARES = CONDITIONS[:5]


def transcript(played: Played, places: slice) -> Transcript:
    """Return the words to the others in these places, as the measures of talk take them; the space is the corner."""
    said = played.said.expand_as(played.heard)[..., places]
    words, sequence, flip, corner = (
        part.numpy()[:, None] for part in (said, played.sequence, played.flip, played.corner)
    )
    points, agents = played.points.double().numpy(), np.full(played.points.shape, "speaker")
    lead = played.lead.double().numpy()[:, None]
    return Transcript(words, sequence, corner, flip, np.array([True]), lead, points, sequence[:, 0], agents)


def measure(network: Speaker, count: int) -> dict[str, Any]:
    """Return measures of the words of a population, to allies and to foes, in matches of its own.

    `meanings` count how often each word was said by players of each sequence.
    """
    matches, condition = Matches(network, count, _TEST), network.condition
    played = matches.play()
    words = matches.game.words + 1
    numbers: dict[str, Any] = {"points": float(played.points.mean())}
    groups = (("ally", slice(0, 1)), ("foes", slice(1, None)))[: condition.players // 2]
    for name, places in (("others", slice(None)),) if condition.promises == "ally" else groups:
        found = transcript(played, places)
        pairs = torch.from_numpy(8 * found.words + found.sequence[..., None])
        told = {each.about: each.bits for each in information(found)}
        spoken = [claim for claim in claims(found) if claim.about == "sequence"]
        letters = sum(claim.letters for claim in spoken)
        lies = sum(claim.letters * claim.lies for claim in spoken) / letters if letters else None
        mixed = torch.zeros_like(matches.mixed)
        mixed[:2, places] = True
        lost = played.points - Matches(network, count, _TEST, mixed).play().points
        numbers[name] = {
            "bits of sequence": told["sequence"],
            "bits of flip": told["next flip"],
            "bits of next space": told["next space"] if condition.corners else None,
            "distance": float(_distances(played, played.after)[..., places].mean()),
            "claims": len(spoken),
            "lies": lies,
            "lost": float(lost[:, :2].sum(1).mean()),
            **_interventions(matches, played, places),
            "meanings": pairs.flatten().bincount(minlength=8 * words).view(words, 8).tolist(),
        }
    numbers["promises"] = _promises(matches, played)
    shown = {name: getattr(played, name)[:3].tolist() for name in ("sequence", "said", "heard", "flip", "points")}
    return numbers | {"matches": shown}


def _distances(played: Played, sequence: Tensor) -> Tensor:
    """Return the digits between the sequences of a player and of the others, float64 [G, P, R]."""
    others = sequence[torch.arange(len(sequence))[:, None, None], played.order]
    return popcount(sequence[..., None] ^ others).double()


def _promises(matches: Matches, played: Played) -> dict[str, float | None]:
    """Return measures of promises, and of the corners that allies choose; None where nothing was promised."""
    found: dict[str, Tensor] = {}

    def again(mixed: Tensor | None = None, named: Sequence[int] | None = None) -> Played:
        names = None if named is None else torch.tensor(named)
        return Matches(matches.network, matches.count, _TEST, mixed, names).play()

    def pair(other: Played, one: Played) -> dict[str, Tensor]:
        """Return the gains of seats 0 and 1 by one way of playing over another: lead, and digits closer."""
        apart = [popcount(each.after[:, 0] ^ each.after[:, 1]) for each in (one, other)]
        return {"lead": (one.lead - other.lead)[:, :2].sum(1), "closer": apart[1] - apart[0]}

    mixed = torch.zeros_like(matches.mixed)
    mixed[:2, 0] = True
    if matches.network.condition.corners:
        others = again(mixed)
        met, deaf = (each.corner[:, 0] == each.corner[:, 1] for each in (played, others))
        found = {"collisions": met, "collisions, words mixed": deaf, **pair(others, played)}
    elif matches.game.promises == "ally":
        named, allied = played.names > 0, played.ally.any(2)
        dealt, near = (_distances(played, sequence) for sequence in (played.sequence, played.after))
        found = {
            "named": named,
            "allied": allied,
            "allied by chance": named.double().mean() ** 2 / played.ally.shape[2],
            "allied, words mixed": again(torch.ones_like(mixed)).ally.any(2),
            "dealt": dealt[played.ally],
            "distance": near[played.ally],
            "distance of others": near[~played.ally],
            **pair(again(None, (0, 1, -1, -1)), again(None, (1, 0, -1, -1))),
        }
    elif matches.game.talk == "public":
        told = dataclasses.replace(transcript(played, slice(0, 1)), sequence=played.after.numpy()[:, None])
        spoken = played.said[..., 0] > 0
        found = {
            "promised": spoken,
            "kept": played.kept.gather(2, played.flip[..., None])[spoken],
            "kept by chance": played.kept[spoken],
            "bits of next sequence": torch.tensor(information(told)[0].bits),
            **pair(again(mixed), played),
        }
    return {name: float(value.double().mean()) if value.numel() else None for name, value in found.items()}


def run(condition: Condition, seed: int) -> dict[str, Any]:
    """Train and measure a population; return what a line of runs.jsonl holds."""
    start, new = time.process_time(), Matches(learn(condition, seed, 0), TESTED, _TEST).play()
    told = information(transcript(new, slice(0, 1)))
    numbers = measure(learn(condition, seed, ITERATIONS), TESTED)
    seconds = round(time.process_time() - start, 1)
    return {"condition": condition.name, "seed": seed, "seconds": seconds, "bits at start": told[0].bits, **numbers}


def _interventions(matches: Matches, played: Played, places: slice) -> dict[str, float]:
    """Put the words of players of other matches into the mouths of others, and return what becomes of flips.

    `listening` is the total variation of the flip, or of the corner. `pull` is by how much hearers come closer to the
    sequence of the player whose word it was, in digits; they flee it if it is negative.
    """
    shifts, pulls = [], []
    before, *corners = matches.policy(played, played.heard)
    turned, each = flipped(played.sequence[..., None], torch.arange(FLIPS)), torch.arange(matches.count)[:, None]
    for place in range(played.heard.shape[2])[places]:
        heard, speaker = played.heard.clone(), played.sequence[each, played.order[:, :, place]]
        heard[:, :, place] = heard[:, :, place].roll(1, 0)
        after, *moved = matches.policy(played, heard)
        shifts.append(
            [(b - a).abs().sum(2).mean() / 2 for a, b in zip((before, *corners), (after, *moved), strict=True)]
        )
        pulls.append(((before - after) * popcount(turned ^ speaker.roll(1, 0)[..., None])).sum(2).mean())
    listening = [float(torch.stack(some).mean()) for some in zip(*shifts, strict=True)]
    names = ("listening", "listening for spaces")
    return dict(zip(names, listening, strict=False)) | {"pull": float(torch.stack(pulls).mean())}


# ---------------------------------------------------------------- the page

_MEASURES = ("bits of sequence", "listening", "pull", "lost", "distance", "lies")
_DRAWN = ("pull", "lost", "bits of sequence")
_COLUMNS = ("share of the ally's reward", "words to", "bits", "listening", "pull", "points lost", "distance", "lies")
_PHASES = {
    label: {f"to {to}": ("", f"{to}: {measure}") for to in ("ally", "foes")}
    for label, measure in zip(("pull of a word, digits", "points lost by scrambling", "bits"), _DRAWN, strict=True)
}
_BONDS = {
    "players with an ally, by promise": {
        "as they name": (", by promise", "allied"),
        "by chance": (", by promise", "allied by chance"),
    },
    "allies in one corner": {
        "their words": (", corners", "collisions"),
        "others' words": (", corners", "collisions, words mixed"),
    },
    "digits closer by words": {"free": (", free", "closer"), "binding": (", binding", "closer")},
}
_TOLD = (
    *(f"{to}: {measure}" for measure in ("bits of next space", "listening for spaces") for to in ("ally", "foes")),
    *("collisions", "collisions, words mixed", "lead"),
)
_ALLIED = ("named", "allied", "allied by chance", "dealt", "distance", "distance of others", "lead", "closer")
_KEPT = ("promised", "kept", "kept by chance", "bits of next sequence", "closer", "lead")
_PROMISES = """\
## The next space, and promises

Three more questions, after pilot runs of one or two populations at 0.5. *Corners*: each player chooses a corner for its
tiles, and players in one corner lose theirs. Do words tell where, and keep allies apart? By the plan, at 0.5 and 1.
*By promise*: words are public, and a second one names an ally; only two who name each other share. From which share on
do players promise and keep together, and what is it worth? Expected: never more than by chance, since what one of them
gains by sharing the other loses, and to come closer pays both without it. For the worth of an ally to players who know
allies, lots make them in training (*by lot*). *Binding*: a public word names a sequence to which the flip must come as
near as it can; *free* words need not be kept. Expected: binding costs, since a player that has promised cannot follow
another. More allies than by chance and a lead by alliances, or allies who come closer by binding words, would change
one's mind."""
_CORNERS = """\
**The next space.** Words tell it to allies at 0 and at 0.5, and keep them out of one corner. At 1 the players of all
populations choose one corner and have nothing to say: own points count against the ally there, so a tile costs more
than it gives. The plan was wrong at both ends, and a pair gains less than 5 points.

*Collisions*: allies in one corner, also with the words of other matches between them. *Lead*: points of the pair above
the others' means, with its words rather than those."""
_ALLIES = """\
**Allies by promise.** At no share do players find allies more often than by chance. At 0, where a promise costs
nothing, names are as if by lot. At 0.5 and 1 players name others less than half as often, and at 0.5 avoid those who
name them. To players who know allies, by lot, one adds 0.4 points to a pair's lead at 0.5, which the others miss. At
1 it costs points: to flee two foes pays more than to meet the ally. Words alone bring all players closer, to 0.8 or
0.9 digits of 1.71 dealt.

*Allied*: share of players with an ally, beside that of names at random. *Distance*: digits to the ally and to others,
after flips. *Lead* and *closer*: what seats 0 and 1 win if they are made allies, rather than kept from it."""
_BINDING = """\
**Promises that bind.** They cost, as expected. Nobody is silent, so all are bound before they hear, and few can follow.
Free promises are kept about as often as random flips keep them: a word means what hearers have learned, not a promise.

*Kept*: share of promises, beside that of random flips. *Closer*: digits that allies come closer by their words."""
_QUESTION = """\
## The question

From which share of an ally's reward on do trained players use words, for what, and what is it worth? Grid Adaptation
with private talk, seats 0 and 1 against 2 and 3. A word costs nothing and binds nobody.

The plan expected, from a share of 0.5 on, 0.3 bit about the sender's sequence in 8 of 10 populations, and 5 points
lost by a pair whose words are scrambled; nothing at 0. The rules say otherwise, as was worked out during pilot runs at
0, 0.5 and 1. If two players come a digit closer, each earns a point for every tile of the other. Of that a player gains
2/3 if the other is its ally, whatever the share, and 2/3 (1 - 2 share) if it is a foe. So words of allies should pay at
every share, those of foes below 0.5; above it they help to flee, at the ally's cost. Two players should not listen.

Scrambling that costs nothing, or hearers who ignore other words, would change one's mind. Bits alone would not: words
that nobody needs drift, and one network speaks and acts. So the baselines are populations whose words were scrambled
from the start, and two players who share nothing."""
_NOTES = """\
Means over populations with 95 % intervals (Student's t). *Bits*: information of a word about its sender's sequence,
less that of words of other matches. *Listening*: total variation of the flip when the word of a player of another match
is put into the speaker's mouth. *Pull*: by how many digits the hearer then comes closer to that player's sequence;
below 0 it flees. *Points lost*: of about 70 of a pair of allies, when what they hear from each other, or from foes,
comes from other matches with the same seeds. *Distance*: digits between the two after flips, of 1.71 dealt. *Lies*:
share of the words that usually mean one sequence, said by players of another. Two players are allies here."""
_LIMITS = """\
## Limits, and what was tried

One board, one round, tiles in corners; all seats share a network, which sees words sorted by ally and foe. In pilot
runs a bonus for the entropy of words kept language from beginning. Networks with the whole action learned to flip
towards one sequence without words."""


def values_of(runs: Sequence[dict[str, Any]], name: str, measure: str) -> list[float]:
    """Return a measure of promises, or one such as "ally: pull" of words, of all populations of a condition with it."""
    to, _, about = measure.rpartition(": ")
    found = [run.get(to or "promises", {}).get(about) for run in runs if run["condition"] == name]
    return [value for value in found if value is not None]


def page(runs: Sequence[dict[str, Any]], command: str, out: Path) -> str:
    """Write the page and its numbers; return its text."""
    seconds, start = (statistics.fmean(run[name] for run in runs) for name in ("seconds", "bits at start"))
    about = (
        f"`{command}`; {len(runs)} populations, of {len({run['seed'] for run in runs})} seeds, each {seconds:.0f} s on "
        f"a core ({cpu_model()}) for {ITERATIONS * MATCHES:,} matches."
    )
    rows: list[tuple[str, ...]] = []
    for condition, to in itertools.product(CONDITIONS, ("ally", "foes", "others")):
        found = [values_of(runs, condition.name, f"{to}: {measure}") for measure in _MEASURES]
        rows += [(condition.name, to, *map(_shown, found))] if found[0] else []
    title = "Words and promises, by the ally's share of a reward"
    plots = [
        Plot(name, "", partial(_draw, runs=runs, title=title, panels=panels), ", ".join(panels))
        for name, panels in (("phases", _PHASES), ("promises", _BONDS))
    ]
    notes = f"{_NOTES} New networks say {start:.2f} bits, by chance."
    shown = next(run for run in runs if (run["condition"], run["seed"]) == ("0.5", 0))
    more: list[str | Table] = []
    for text, ends, measures in (
        (_CORNERS, ("corners",), _TOLD),
        (_ALLIES, ("promise", "lot"), _ALLIED),
        (_BINDING, ("free", "binding"), _KEPT),
    ):
        named = [c.name for c in CONDITIONS if c.name.endswith(ends)]
        cells = [(name, *(_shown(values_of(runs, name, measure)) for measure in measures)) for name in named]
        more += [text, Table("", (_COLUMNS[0], *measures), cells)]
    words = (about, _QUESTION, _answer(runs), plots[0], Table("", _COLUMNS, rows), notes)
    parts = (*words, _PROMISES, plots[1], *more, *_match(shown), _LIMITS)
    return write_page(out / "report.md", "Talk that pays", parts, head(command))


def _shown(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    return "{:.2f} ({:.2f} to {:.2f})".format(statistics.fmean(values), *mean_interval(values, few=True))


def _answer(runs: Sequence[dict[str, Any]]) -> str:
    """Return the paragraphs on what came out, by the numbers."""

    def kept(measure: str, least: float) -> str:
        found = ((c.name, values_of(runs, c.name, f"ally: {measure}")) for c in CONDITIONS[:7])
        return "; ".join(f"{name}: {sum(v >= least for v in values)} of {len(values)}" for name, values in found)

    pulls = (", ".join(_shown(values_of(runs, c.name, f"{to}: pull")) for c in _SHARES) for to in ("ally", "foes"))
    return (
        f"## The answer\n\nPopulations with 0.3 bit or more to the ally: {kept('bits of sequence', 0.3)}. With 5 "
        f"points or more lost: {kept('lost', 5)}. So bits alone tell nothing: words that are never heard have them.\n\n"
        f"At shares from 0 to 1, an ally's word pulls by {next(pulls)} digits, a foe's by {next(pulls)}. So players "
        "follow the words of allies at every share, most at a half and three quarters, where scrambling costs most."
    )


def _draw(
    figure: Figure, *, runs: Sequence[dict[str, Any]], title: str, panels: dict[str, dict[str, tuple[str, str]]]
) -> None:
    """Draw measures over the ally's share: in each panel lines of conditions with one end of their names."""
    figure.set_size_inches(9.6, 3.4)
    draw_title(figure, title)
    for place, (label, lines) in enumerate(panels.items()):
        axes = figure.add_axes((0.07 + 0.325 * place, 0.16, 0.255, 0.66))
        remove_frame(axes)
        axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
        for number, (name, (end, measure)) in enumerate(lines.items()):
            shares = [c for c in CONDITIONS if c.name == f"{c.sharing:g}{end}"]
            found = {c.sharing: v for c in shares if len(v := values_of(runs, c.name, measure)) > 1}
            means = [statistics.fmean(values) for values in found.values()]
            errors = [mean - mean_interval(v, few=True)[0] for mean, v in zip(means, found.values(), strict=True)]
            places = [share + 0.03 * number for share in found]
            axes.errorbar(places, means, errors, label=name, color=COLOURS[number], ls=("-", "--")[number], capsize=3)
            for at, values in zip(places, found.values(), strict=True):
                axes.plot([at] * len(values), values, "o^"[number], color=COLOURS[number], ms=2.5, alpha=0.6)
        axes.axhline(0, color=INK, lw=0.6)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"])
        axes.set_xlabel("share of the ally's reward", fontsize=9, color=INK)
        axes.set_title(label, fontsize=9, color=INK, loc="left")
        axes.legend(fontsize=8, frameon=False, labelcolor=INK)


def _match(run: dict[str, Any]) -> list[str | Table]:
    """Return the first match of a population, with translations of its words."""
    match = {name: values[0] for name, values in run["matches"].items()}
    rows = []
    for seat, (said, flip) in enumerate(zip(match["said"], match["flip"], strict=True)):
        sequence = match["sequence"][seat]
        words = [f"{word}: {meaning(run['ally' if n == 0 else 'foes'], word)}" for n, word in enumerate(said)]
        end = flipped(sequence, flip)
        rows.append((seat, f"{sequence:03b}", words[0], ", ".join(words[1:]), f"{end:03b}", int(match["points"][seat])))
    columns = ("seat", "sequence", "to the ally", "to foes", "after its flip", "points")
    title = (
        f"## A match\n\nThe first one of seed 0 at a share of {run['condition']}. Each word has its translation: the"
    )
    return [f"{title} sequences of its senders, but for those with less than a fifth of it.", Table("", columns, rows)]


def meaning(words: dict[str, Any], word: int) -> str:
    """Return the translation of a word: the sequences of its senders, the commonest first."""
    counts = words["meanings"][word]
    some = sorted((sequence for sequence in range(8) if 5 * counts[sequence] >= sum(counts)), key=lambda s: -counts[s])
    return " or ".join(f"{sequence:03b}" for sequence in some) if sum(counts) else "-"


def agrees(runs: Sequence[dict[str, Any]], new: dict[str, Any]) -> list[str]:
    """Return the measures of a run that lie outside of the 99.9 % prediction intervals of its condition."""
    outside, told = [], (f"{to}: {measure}" for to in ("ally", "foes", "others") for measure in _MEASURES[:4])
    for name in (*told, *_TOLD, *_ALLIED, *_KEPT):
        values, found = (values_of(some, new["condition"], name) for some in (runs, [new]))
        if len(values) > 1 and found:
            width = student_t(0.999, len(values) - 1) * statistics.stdev(values) * (1 + 1 / len(values)) ** 0.5
            if abs(found[0] - statistics.fmean(values)) > width + 0.05:
                outside.append(name)
    return outside


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and write the page, or repeat a tenth; return 1 if that does not agree."""
    parser = parser_of("cellgames.lab.studies.talk_that_pays", __doc__, OUT)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="populations of each condition (default 10)")
    parser.add_argument("--tenth", action="store_true", help="one new population of each condition, against the page's")
    options = parser.parse_args(arguments)
    path = options.out / "runs.jsonl"
    runs = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    done = {(found["condition"], found["seed"]) for found in runs}
    failed = 0
    for seed, condition in itertools.product([SEEDS] if options.tenth else range(options.seeds), CONDITIONS):
        if (condition.name, seed) in done:
            continue
        found = run(condition, seed)
        told = ", ".join(f"{to} {found[to]['pull']:.2f}" for to in ("ally", "foes") if to in found)
        print(f"seed {seed}, share {condition.name}: pull {told}; {found['seconds']} s", file=sys.stderr)
        if options.tenth:
            failed += bool(outside := agrees(runs, found))
            print(f"share {condition.name}: {'agrees' if not outside else 'differs in ' + ', '.join(outside)}")
            continue
        runs.append(found)
        options.out.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
    if not options.tenth:
        print(page(runs, typed_command("cellgames.lab.studies.talk_that_pays", arguments), options.out))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
