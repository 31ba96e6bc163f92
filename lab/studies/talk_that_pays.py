"""A study: from which share of an ally's reward on players of Grid Adaptation use words, for what, and to what end.

`python -m cellgames.lab.studies.talk_that_pays` runs what is missing in results/studies/talk_that_pays/runs.jsonl, a
line for each run, and writes the page. `--tenth` makes one more run of each condition, in about five minutes, and says
whether it agrees with those of the page.

Matches have one round. Each player says a word to each other player, then flips a digit of its sequence, or none. Its
tiles lie in its own corner, where they become a block of four, so points depend on sequences alone. One small network
plays all seats and learns by PPO. It sees its own sequence and the words that it has heard and said, the ally's first.

Letters: `G` matches, `P` players, `R` others of a player, the ally first; `L` rows, all seats of all matches.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from benchmarks.pages import head, parser_of, typed_command, write_page
from torch import Tensor, nn
from torch.nn.functional import one_hot
from typing_extensions import override

from cellgames.agents.networks.blocks import initialized
from cellgames.agents.networks.networks import Choices, Network, PolicyAndValue, Relation, Size
from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.core import Game, seeds
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.envs.grid_adaptation.state import FLIP
from cellgames.envs.grid_adaptation_talk import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.state import BASE
from cellgames.lab.talk.talk_measures import Transcript, claims, information
from cellgames.training.ppo.ppo import PPO, Hyperparameters
from cellgames.training.selfplay.rollouts import Ended, Rollout
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Plot, Table
from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, remove_frame
from cellgames.utils.statistics import mean_interval, student_t

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Path("results/studies/talk_that_pays")
SEEDS, ITERATIONS, MATCHES, TESTED = 10, 300, 512, 1024
_FLIPS, _TEST = 4, 1 << 20
_CORNERS = ((0, 1, 5), (24, 23, 19), (4, 3, 9), (20, 21, 15))  # of each seat three tiles, which a fourth joins


@dataclass(frozen=True)
class Condition:
    """A point of the study: the ally's share of a reward, the players, and True if words are scrambled in training."""

    name: str
    sharing: float
    players: int = 4
    scrambled: bool = False

    @property
    def game(self) -> GridAdaptationTalk:
        """The rules: one round on 5 x 5 spaces, with private words."""
        alone = {"rounds": 1, "flip_rounds": (1,), "reserves": 0, "starting_garnets": 0}
        shared = {"talk": "private", "reward_sharing": self.sharing}
        return GridAdaptationTalk(size=5, players=self.players, **alone, **shared)  # type: ignore[arg-type]


CONDITIONS = (
    *(Condition(f"{share:g}", share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
    Condition("0.5, scrambled from the start", 0.5, scrambled=True),
    Condition("0, two players", 0.0, players=2),
)
_SHARES = CONDITIONS[:5]


class Speaker(Network[GridAdaptationTalk]):
    """A network that chooses words and a flip, by its sequence and the words of the match.

    A new one says words that depend on its sequence a little, by chance (about 0.1 bit), to all alike or not.
    """

    plays = GridAdaptationTalk
    unit = 5.0

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        places, words = self.game.places, self.game.words + 1
        self.nvec = (*(words,) * places, _FLIPS)
        widths = [1 + 8 + 2 * places * words, *[size.channels] * size.layers]
        layers = ((initialized(nn.Linear(a, b)), nn.ReLU()) for a, b in itertools.pairwise(widths))
        self.trunk = nn.Sequential(*itertools.chain.from_iterable(layers))
        self.policy = initialized(nn.Linear(widths[-1], sum(self.nvec)), 0.01)
        with torch.no_grad():
            self.policy.weight[:-_FLIPS] *= 400
        self.value = initialized(nn.Linear(widths[-1], 1), 1.0)

    @override
    def policy_and_value(self, observation: Tensor, action_mask: Tensor) -> PolicyAndValue:
        logits, value, relation = self.forward(observation)
        return PolicyAndValue(_Choices(logits, action_mask, self.nvec, relation), value)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        seen = self.trunk(observation)
        return self.policy(seen), self.value(seen).squeeze(1), None


class _Choices(Choices):
    """Choices of words and a flip, whose entropy is the flip's: a bonus for that of words keeps them from meaning."""

    @override
    def evaluate_actions(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        logits = self._all.masked_fill(~self._mask, -1e9)
        words = logits[:, :-_FLIPS].unflatten(1, (len(self._nvec) - 1, -1)).log_softmax(2)
        flips = logits[:, -_FLIPS:].log_softmax(1)
        log_prob = words.gather(2, actions[:, :-1, None]).sum((1, 2)) + flips.gather(1, actions[:, -1:]).squeeze(1)
        return log_prob, -(flips.exp() * flips).sum(1)


@dataclass(frozen=True)
class Played:
    """Finished matches.

    Attributes:
        seen: [2, L, ...] float, what players saw when they spoke and when they flipped.
        action: [2, L, R + 1] int64; `log_prob` and `value`, [2, L] float, are of these choices.
        sequence: [G, P] int64, dealt; `flip` is what each flipped.
        said: [G, P, R] int64, words by receiver; `heard` those that arrived, by sender.
        points: [G, P] float, and `rewards`, which are shared.
    """

    seen: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor
    sequence: Tensor
    said: Tensor
    heard: Tensor
    flip: Tensor
    points: Tensor
    rewards: Tensor


class Matches:
    """The matches that a network plays against itself, new ones for each rollout; the seed decides all of them.

    Args:
        network: plays all seats.
        count: `G`.
        seed: seed of the matches and choices.
        mixed: bool [P, R]; words that a player hears from these others come from other matches.
    """

    device = torch.device("cpu")

    def __init__(self, network: Speaker, count: int, seed: int, mixed: Tensor | None = None) -> None:
        self.network, self.game, self.count = network, network.game, count
        self._next, self._generator, self._mixer = seed << 32, *(torch.Generator().manual_seed(seed) for _ in range(2))
        players = range(self.game.players)
        order = [sorted({*players} - {seat}, key=lambda other: (other != seat ^ 1, other)) for seat in players]
        self.order = torch.tensor(order)
        self.mixed = torch.zeros_like(self.order, dtype=torch.bool) if mixed is None else mixed
        self._back = torch.tensor([[order[other].index(seat) for other in order[seat]] for seat in players])
        self._places = self.order - (self.order > torch.arange(len(players))[:, None]).long()
        words = torch.arange(sum(network.nvec)) < sum(network.nvec[:-1])
        self._masks = torch.stack((words, ~words))
        self._masks[0, -_FLIPS] = self._masks[1, : -_FLIPS : self.game.words + 1] = True

    @torch.no_grad()
    def play(self) -> Played:
        """Play new matches."""
        game = self.game
        state = game.init(seeds(self._next, self.count))
        self._next += self.count
        sequence = state.sequence
        silence = torch.zeros((*sequence.shape, game.places), dtype=torch.int64)
        first = self.look(sequence, silence, silence, talking=True)
        spoken = self._decide(first, 0)
        said = spoken[0][:, :-1].reshape(silence.shape)
        heard = said[:, self.order, self._back]
        for seat, place in self.mixed.nonzero().tolist():
            heard[:, seat, place] = heard[torch.randperm(self.count, generator=self._mixer), seat, place]
        second = self.look(sequence, heard, said)
        acted = self._decide(second, 1)
        flip = acted[0][:, -1].view_as(sequence)
        moves = torch.zeros((*sequence.shape, BASE + game.places), dtype=torch.int64)
        moves[..., :BASE] = torch.tensor([game.fallback(part, None) for part in range(BASE)])
        words = moves.clone()
        words[..., BASE:].scatter_(2, self._places.expand_as(said), said)
        moves[..., :3], moves[..., FLIP] = torch.tensor(_CORNERS[: game.players]), flip
        end = game.step(game.step(state, words, checked=False), moves, checked=False)
        action, log_prob, value = (torch.stack(pair) for pair in zip(spoken, acted, strict=True))
        seen, ends = torch.stack((first, second)), (end.scores, end.rewards)
        return Played(seen, action, log_prob, value, sequence, said, heard, flip, *ends)

    def _decide(self, seen: Tensor, step: int) -> tuple[Tensor, Tensor, Tensor]:
        choices, value = self.network.policy_and_value(seen, self._masks[step].expand(len(seen), -1))
        return *choices.sample_with_log_prob(self._generator), value

    def look(self, sequence: Tensor, heard: Tensor, said: Tensor, *, talking: bool = False) -> Tensor:
        """Return observations, float [L, ...]: the step, the own sequence, the words heard and said."""
        words = one_hot(torch.cat((heard, said), 2), self.game.words + 1).flatten(2) * (not talking)
        step = torch.full((*sequence.shape, 1), int(talking))
        return torch.cat((step, one_hot(sequence, 8), words), 2).flatten(0, 1).float()

    def flips(self, played: Played, heard: Tensor) -> Tensor:
        """Return the probabilities of flips, float [G, P, 4], had these words been heard, int64 [G, P, R]."""
        with torch.no_grad():
            logits = self.network(self.look(played.sequence, heard, played.said))[0][:, -_FLIPS:]
        flips: Tensor = logits.softmax(1).view(*played.sequence.shape, _FLIPS)
        return flips

    def collect(self, steps: int) -> Rollout:
        """Play new matches for a learner; they have two steps."""
        played = self.play()
        reward = torch.stack((torch.zeros_like(played.rewards), played.rewards)).view(2, -1, 1) / self.network.unit
        mask = self._masks[:, None].expand(-1, reward.shape[1], -1)
        done = torch.tensor([[False], [True]]).expand(reward.shape[:2])
        own, seat = torch.ones_like(done), torch.zeros(done.shape, dtype=torch.int64)
        parts = (played.seen, mask, played.action, played.log_prob, played.value, reward, seat, done, own)
        return Rollout(*parts, Ended(0, 0, {}, {}))


def learn(condition: Condition, seed: int, iterations: int) -> Speaker:
    """Return a network that has learned in self-play; the entropy bonus of flips falls to zero."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Speaker(condition.game, Size(64, 1))
    play = Matches(network, MATCHES, seed)
    play.mixed |= condition.scrambled
    settings = Hyperparameters(2, 1, 512, 0.01, 1.0, 0.95, 0.2, 0.1, 0.5, 0.5)
    ppo = PPO(network, play, settings)  # type: ignore[arg-type]  # it takes rollouts, the device and no more
    ppo.generator.manual_seed(seed)
    for number in range(iterations):
        progress = number / iterations
        ppo.h = dataclasses.replace(settings, ent_coef=settings.ent_coef * (1 - progress))
        ppo.iterate(progress)
    return network


def transcript(played: Played, places: slice) -> Transcript:
    """Return the words to the others in these places, as the measures of talk take them."""
    words, sequence, flip = (part.numpy()[:, None] for part in (played.said[..., places], played.sequence, played.flip))
    points, agents = played.points.double().numpy(), np.full(played.points.shape, "speaker")
    lead = (points - (points.sum(1, keepdims=True) - points) / (points.shape[1] - 1))[:, None]
    corner = np.zeros_like(sequence)
    return Transcript(words, sequence, corner, flip, np.array([True]), lead, points, sequence[:, 0], agents)


def measure(network: Speaker, count: int) -> dict[str, Any]:
    """Return measures of the words of a population, to allies and to foes, in matches of its own.

    `meanings` count how often each word was said by players of each sequence.
    """
    matches = Matches(network, count, _TEST)
    played = matches.play()
    after = flipped(played.sequence, played.flip)
    words = matches.game.words + 1
    numbers: dict[str, Any] = {"points": float(played.points.mean())}
    for name, places in (("ally", slice(0, 1)), ("foes", slice(1, None)))[: matches.game.places]:
        found, pairs = transcript(played, places), 8 * played.said[..., places] + played.sequence[..., None]
        told = {each.about: each for each in information(found)}
        spoken = claims(found)
        letters = sum(claim.letters for claim in spoken)
        lies = sum(claim.letters * claim.lies for claim in spoken) / letters if letters else None
        mixed = torch.zeros_like(matches.mixed)
        mixed[:2, places] = True
        lost = played.points - Matches(network, count, _TEST, mixed).play().points
        numbers[name] = {
            "bits of sequence": told["sequence"].bits,
            "bits of flip": told["next flip"].bits,
            "distance": float(popcount(after[..., None] ^ after[:, matches.order[:, places]]).double().mean()),
            "claims": len(spoken),
            "lies": lies,
            "lost": float(lost[:, :2].sum(1).mean()),
            **_interventions(matches, played, places),
            "meanings": pairs.flatten().bincount(minlength=8 * words).view(words, 8).tolist(),
        }
    shown = {name: getattr(played, name)[:3].tolist() for name in ("sequence", "said", "heard", "flip", "points")}
    return numbers | {"matches": shown}


def run(condition: Condition, seed: int) -> dict[str, Any]:
    """Train and measure a population; return what a line of runs.jsonl holds."""
    start, new = time.process_time(), Matches(learn(condition, seed, 0), TESTED, _TEST).play()
    told = information(transcript(new, slice(0, 1)))
    numbers = measure(learn(condition, seed, ITERATIONS), TESTED)
    seconds = round(time.process_time() - start, 1)
    return {"condition": condition.name, "seed": seed, "seconds": seconds, "bits at start": told[0].bits, **numbers}


def _interventions(matches: Matches, played: Played, places: slice) -> dict[str, float]:
    """Put the words of players of other matches into the mouths of others, and return what becomes of flips.

    `listening` is the total variation of the flip. `pull` is by how much hearers come closer to the sequence of the
    player whose word it was, in digits; they flee it if it is negative.
    """
    shifts, pulls = [], []
    before = matches.flips(played, played.heard)
    turned = flipped(played.sequence[..., None], torch.arange(_FLIPS))
    for place in range(matches.game.places)[places]:
        heard, speaker = played.heard.clone(), played.sequence[:, matches.order[:, place]]
        heard[:, :, place] = heard[:, :, place].roll(1, 0)
        after = matches.flips(played, heard)
        shifts.append((after - before).abs().sum(2).mean() / 2)
        pulls.append(((before - after) * popcount(turned ^ speaker.roll(1, 0)[..., None])).sum(2).mean())
    return {"listening": float(torch.stack(shifts).mean()), "pull": float(torch.stack(pulls).mean())}


# ---------------------------------------------------------------- the page

_MEASURES = ("bits of sequence", "listening", "pull", "lost", "distance", "lies")
_COLUMNS = ("share of the ally's reward", "words to", "bits", "listening", "pull", "points lost", "distance", "lies")
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

One board, one round, tiles in fixed places, so words cannot tell the next space; all seats share a network, which sees
words sorted by ally and foe. In pilot runs a bonus for the entropy of words kept language from beginning. With free
places of blocks it began at a share of 0.5; at 1 players destroyed their own tiles, which help foes more than the ally.
Networks with the whole action learned to flip towards one sequence without words. Promises were not studied."""


def values_of(runs: Sequence[dict[str, Any]], name: str, to: str, measure: str) -> list[float]:
    """Return a measure of the words to "ally" or "foes" of all populations of a condition that have it."""
    found = [run[to][measure] for run in runs if run["condition"] == name and to in run]
    return [value for value in found if value is not None]


def page(runs: Sequence[dict[str, Any]], command: str, out: Path) -> str:
    """Write the page and its numbers; return its text."""
    seconds, start = (statistics.fmean(run[name] for run in runs) for name in ("seconds", "bits at start"))
    about = (
        f"`{command}`; {len(runs)} populations, of {len({run['seed'] for run in runs})} seeds, each {seconds:.0f} s on "
        f"a core ({cpu_model()}) for {ITERATIONS * MATCHES:,} matches."
    )
    rows: list[tuple[str, ...]] = []
    for condition, to in itertools.product(CONDITIONS, ("ally", "foes")):
        found = [values_of(runs, condition.name, to, measure) for measure in _MEASURES]
        rows += [(condition.name, to, *map(_shown, found))] if found[0] else []
    plot = Plot("phases", "", lambda figure: _draw(figure, runs), "pull, points lost and bits, by the ally's share")
    notes = f"{_NOTES} New networks say {start:.2f} bits, by chance."
    shown = next(run for run in runs if (run["condition"], run["seed"]) == ("0.5", 0))
    parts = (about, _QUESTION, _answer(runs), plot, Table("", _COLUMNS, rows), notes, *_match(shown), _LIMITS)
    return write_page(out / "report.md", "Talk that pays", parts, head(command))


def _shown(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    return "{:.2f} ({:.2f} to {:.2f})".format(statistics.fmean(values), *mean_interval(values, few=True))


def _answer(runs: Sequence[dict[str, Any]]) -> str:
    """Return the paragraphs on what came out, by the numbers."""

    def kept(measure: str, least: float) -> str:
        found = ((c.name, values_of(runs, c.name, "ally", measure)) for c in CONDITIONS)
        return "; ".join(f"{name}: {sum(v >= least for v in values)} of {len(values)}" for name, values in found)

    pulls = (", ".join(_shown(values_of(runs, c.name, to, "pull")) for c in _SHARES) for to in ("ally", "foes"))
    return (
        f"## The answer\n\nPopulations with 0.3 bit or more to the ally: {kept('bits of sequence', 0.3)}. With 5 "
        f"points or more lost: {kept('lost', 5)}. So bits alone tell nothing: words that are never heard have them.\n\n"
        f"At shares from 0 to 1, an ally's word pulls by {next(pulls)} digits, a foe's by {next(pulls)}. So players "
        "follow the words of allies at every share, most at a half and three quarters, where scrambling costs most."
    )


def _draw(figure: Figure, runs: Sequence[dict[str, Any]]) -> None:
    """Draw pull, points lost and bits over the share, of words to allies and to foes."""
    figure.set_size_inches(9.6, 3.4)
    draw_title(figure, "Words, by the ally's share of a reward")
    panels = (("pull", "pull of a word, digits"), ("lost", "points lost by scrambling"), ("bits of sequence", "bits"))
    for place, (measure, label) in enumerate(panels):
        axes = figure.add_axes((0.07 + 0.325 * place, 0.16, 0.255, 0.66))
        remove_frame(axes)
        axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
        for number, to in enumerate(("ally", "foes")):
            found = {c.sharing: values_of(runs, c.name, to, measure) for c in _SHARES}
            ends = np.array([(statistics.fmean(v), *mean_interval(v, few=True)) for v in found.values()]).T
            axes.fill_between(list(found), ends[1], ends[2], color=COLOURS[number], alpha=0.16, linewidth=0)
            axes.plot(list(found), ends[0], color=COLOURS[number], ls=("-", "--")[number], label=f"to {to}")
            for share, values in found.items():
                axes.plot([share] * len(values), values, "o^"[number], color=COLOURS[number], ms=2.5, alpha=0.6)
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
    outside = []
    for to, measure in itertools.product(("ally", "foes"), ("bits of sequence", "listening", "pull", "lost")):
        if to in new and len(values := values_of(runs, new["condition"], to, measure)) > 1:
            width = student_t(0.999, len(values) - 1) * statistics.stdev(values) * (1 + 1 / len(values)) ** 0.5
            if abs(new[to][measure] - statistics.fmean(values)) > width + 0.05:
                outside.append(f"{measure} of words to {to}")
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
