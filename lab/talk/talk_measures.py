"""Games of talk as arrays, and measures of them: what words say about their senders, who lies, what allies gain.

Letters: `G` games, `T` talk steps of a game, `P` seats, `R` places of a sender's words (see the game's `words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import stepped
from cellgames.envs.grid_adaptation.state import FLIP
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.state import BASE
from cellgames.runs.run_folder import derive
from cellgames.utils.statistics import bootstrap_weights, percentile_interval

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

ZONES = 9
"""Parts of the board, thirds of its rows by thirds of its columns."""
NO_ZONE = ZONES
"""The zone of a player who placed no tile, since no space was free."""

PERMUTATIONS = 400
_BLOCKS = 20  # of games, of the jackknife
_DRAWS = 2000  # of the bootstrap
_FEW = 20  # games; fewer make no interval
_USUALLY = 0.5  # share of a word's senders for whom a claim holds, at least
_LIFT = 2.0  # by how much that must exceed the share of all senders
_LEAST = 20  # letters with a word, for a claim

_PARITY = np.array([[(a ^ b).bit_count() for b in range(8)] for a in range(8)])


@dataclass(frozen=True)
class Transcript:
    """The words of games, with what their senders held and did.

    Attributes:
        words: int64 [G, T, P, R], as they were said.
        sequence: int64 [G, T, P], the sender's own when it spoke.
        zone: int64 [G, T, P], the part of the board where its first tile of the round that follows was to lie.
        flip: int64 [G, T, P], its flip in that round, as in actions.
        flips: bool [T], rounds in which a digit may be flipped.
        lead: float64 [G, T, P], its points of that round less the mean of the others'.
        scores: float64 [G, P], final points.
        dealt: int64 [G, P], sequences before the first round.
        agents: str [G, P], names.
    """

    words: Ints
    sequence: Ints
    zone: Ints
    flip: Ints
    flips: npt.NDArray[np.bool_]
    lead: Floats
    scores: Floats
    dealt: Ints
    agents: npt.NDArray[np.str_]


def zone(space: Any, size: int) -> Any:
    """Return the part of the board with a space, row * size + col; `NO_ZONE` for none."""
    found = 3 * (space // size * 3 // size) + space % size * 3 // size
    return np.where(space < size * size, found, NO_ZONE)


def read_talk(game: GridAdaptationTalk, records: Sequence[Record]) -> Transcript:
    """Play records again and return what was said in them.

    Args:
        game: Grid Adaptation with talk, with its parameters.
        records: Whole games with these rules.

    Raises:
        ReplayError: A record does not reproduce.
    """
    shape = len(records), game.talks, game.players
    words = np.zeros((*shape, game.places), dtype=np.int64)
    sequence, places, flip = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    lead, scores, dealt = np.zeros(shape), np.zeros(shape[::2]), np.zeros(shape[::2], dtype=np.int64)
    for step in stepped(game, records):
        before: Any = step.before
        rows, talking = np.array(step.rows), game.talking(before).numpy()
        scores[rows] = step.after.scores.numpy()
        for place in np.flatnonzero(talking).tolist():
            at = rows[place], int(before.talks[place])
            words[at], sequence[at] = step.actions[place, :, BASE:].numpy(), before.sequence[place].numpy()
            if at[1] == 0:
                dealt[at[0]] = before.sequence[place].numpy()
        for place in np.flatnonzero(game.places_tiles(before).numpy()).tolist():
            first = (int(before.round[place]) - 1) * game.talk_steps
            here = rows[place], slice(first, first + game.talk_steps)
            actions = step.actions[place].numpy()
            places[here], flip[here] = zone(actions[:, 0], game.size), actions[:, FLIP]
            gained = (step.after.scores - step.before.scores)[place].double().numpy()
            lead[here] = gained - (gained.sum() - gained) / (game.players - 1)
    rounds = np.repeat(np.arange(1, game.rounds + 1), game.talk_steps)
    agents = np.array([record.agents for record in records])
    return Transcript(words, sequence, places, flip, np.isin(rounds, game.flip_rounds), lead, scores, dealt, agents)


@dataclass(frozen=True)
class Information:
    """The mutual information between the words of some senders and a fact about them, in bits.

    Attributes:
        about: "sequence", "next space" (the part of the board), or "next flip".
        letters: Number of words.
        bits: The information, less its mean when the games' facts are exchanged.
        low: Lower end of the 95 % interval (jackknife over games); NaN for few games.
        high: Its upper end.
        entropy: Of the fact: the most that words could tell.
        p: Share of permutations with as much information or more; small if words tell something.
    """

    about: str
    letters: int
    bits: float
    low: float
    high: float
    entropy: float
    p: float


def information(found: Transcript, senders: npt.NDArray[np.bool_] | None = None, seed: int = 0) -> list[Information]:
    """Return the information of words about the sender's sequence, next space and next flip.

    Facts of whole games are exchanged for the permutation test. So what one game repeats in all its rounds is not taken
    for many observations, and what is common to all games, such as the round, counts as no information.

    Args:
        found: The games.
        senders: Bool [G, P], whose words count; by default all.
        seed: Of the permutations.
    """
    who = np.ones(found.scores.shape, dtype=bool) if senders is None else senders
    every = np.ones(found.words.shape[1], dtype=bool)
    facts = (
        ("sequence", found.sequence, 8, every),
        ("next space", found.zone, ZONES + 1, every),
        ("next flip", found.flip, 4, found.flips),
    )
    return [
        _informed(about, found.words[:, steps], fact[:, steps], number, who, derive(f"talk about {about}", seed))
        for about, fact, number, steps in facts
        if steps.any()
    ]


def _informed(about: str, words: Ints, fact: Ints, number: int, who: npt.NDArray[np.bool_], seed: int) -> Information:
    """Return the information between words [G, T, P, R] and a fact [G, T, P] below `number`."""
    games, most = len(words), int(words.max(initial=0)) + 1
    letters = np.broadcast_to(who[:, None, :, None], words.shape)

    def counts(order: npt.NDArray[np.intp]) -> Floats:
        """Return the counts of word and fact in each game, [G, words, facts]."""
        pairs = words * number + fact[order][..., None]
        place = np.broadcast_to(np.arange(games)[:, None, None, None] * (most * number), pairs.shape) + pairs
        return np.bincount(place[letters], minlength=games * most * number).reshape(games, most, number).astype(float)

    own = counts(np.arange(games))
    total = own.sum(0)
    generator = np.random.default_rng(seed)
    # Games are exchanged only where the same seats speak, so that facts stay with agents of their kind.
    alike = [np.flatnonzero((who == row).all(1)) for row in np.unique(who, axis=0)]
    none = np.zeros(PERMUTATIONS)
    for draw in range(PERMUTATIONS if games > 1 else 0):
        order = np.arange(games)
        for group in alike:
            order[group] = generator.permutation(group)
        none[draw] = _bits(counts(order).sum(0))
    bits = _bits(total)
    low = high = float("nan")
    if games >= _FEW:
        blocks = np.stack([own[block::_BLOCKS].sum(0) for block in range(_BLOCKS)])
        left = np.array([_bits(total - block) for block in blocks])
        spread = 1.96 * float(np.sqrt((_BLOCKS - 1) / _BLOCKS * ((left - left.mean()) ** 2).sum()))
        low, high = bits - none.mean() - spread, bits - none.mean() + spread
    entropy = _bits(np.diag(total.sum(0)))
    p = float((1 + (none >= bits - 1e-12).sum()) / (1 + PERMUTATIONS))
    return Information(about, int(total.sum()), float(bits - none.mean()), float(low), float(high), entropy, p)


def _bits(counts: Floats) -> float:
    """Return the mutual information of a table of counts, in bits."""
    joint = counts / max(counts.sum(), 1)
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / apart[some])).sum())


@dataclass(frozen=True)
class Claim:
    """A word that usually means something, and how often it is sent by players for whom that is false.

    Attributes:
        word: From 1 on.
        about: "sequence" or "next space".
        value: The commonest fact among the senders of the word.
        letters: How often the word was said.
        lies: Share of them for which the fact is false.
        low: Lower end of the 95 % interval of `lies` (bootstrap over games); NaN for few games.
        high: Its upper end.
        gain: Lead in the round that follows, less that of honest senders of the word; NaN without such senders.
        gain_low: Lower end of its 95 % interval; NaN for few games.
        gain_high: Its upper end.
        liars: Share of lies by agent.
    """

    word: int
    about: str
    value: int
    letters: int
    lies: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float
    liars: dict[str, float]


def claims(found: Transcript, seed: int = 0) -> list[Claim]:
    """Return the words that usually mean something in these games, and how often they are lies.

    A word means the commonest fact of its senders if that holds for half of them, and twice as often as for all.
    """
    generator = np.random.default_rng(derive("claims", seed))
    games = len(found.scores)
    weights = bootstrap_weights(generator, games, _DRAWS) if games >= _FEW else None
    return [
        _claim(found, word, about, value, weights)
        for about, fact, number in (("sequence", found.sequence, 8), ("next space", found.zone, ZONES))
        for word, value in _meanings(found, fact, number)
    ]


def _meanings(found: Transcript, fact: Ints, number: int) -> Iterator[tuple[int, int]]:
    """Yield the words that usually mean something about a fact below `number`, and what."""
    facts = np.broadcast_to(fact[..., None], found.words.shape)
    base = np.bincount(facts.ravel(), minlength=number)[:number] / facts.size
    for word in range(1, int(found.words.max(initial=0)) + 1):
        said = np.bincount(facts[found.words == word], minlength=number)[:number]
        value = int(said.argmax())
        share = said[value] / max(said.sum(), 1)
        if said.sum() >= _LEAST and share >= _USUALLY and share >= _LIFT * base[value]:
            yield word, value


def _claim(found: Transcript, word: int, about: str, value: int, weights: Ints | None) -> Claim:
    fact = found.sequence if about == "sequence" else found.zone
    said = found.words == word
    false = said & (fact != value)[..., None]
    true = said & ~false
    lead = np.broadcast_to(found.lead[..., None], said.shape)
    axes = (1, 2, 3)
    sums = [np.where(which, values, 0).sum(axes) for which in (false, true) for values in (1.0, lead)]
    lies, lies_lead, honest, honest_lead = sums

    def numbers(weight: Floats | Ints) -> tuple[Floats, Floats]:
        with np.errstate(invalid="ignore", divide="ignore"):
            a, b, c, d = (weight @ each for each in (lies, lies_lead, honest, honest_lead))
            return a / (a + c), b / a - d / c

    rate, gain = (float(each) for each in numbers(np.ones(len(lies))))
    ends = [float("nan")] * 4
    if weights is not None:
        drawn = [each[np.isfinite(each)] for each in numbers(weights)]
        ends = [float(end) for each in drawn for end in (percentile_interval(each) if len(each) else (np.nan, np.nan))]
    names = np.broadcast_to(found.agents[:, None, :, None], said.shape)
    liars = {
        name: float(false[mine].sum() / max(said[mine].sum(), 1))
        for name in sorted(set(found.agents.ravel().tolist()))
        if said[mine := names == name].any()
    }
    low, high, gain_low, gain_high = ends
    return Claim(word, about, value, int(said.sum()), rate, low, high, gain, gain_low, gain_high, liars)


@dataclass(frozen=True)
class Coalition:
    """The gain of pairs of players whose sequences are this far apart, with the channel against without.

    Attributes:
        distance: Hamming distance of the sequences that were dealt.
        pairs: Pairs of seats with the channel.
        score: Mean of the pairs' final points, less the mean of their game, with the channel.
        scrambled: The same where words are scrambled.
        gain: The difference.
        low: Lower end of its 95 % interval (bootstrap over games); NaN for few games.
        high: Its upper end.
    """

    distance: int
    pairs: int
    score: float
    scrambled: float
    gain: float
    low: float
    high: float


def coalition(scores: Floats, dealt: Ints, distance: int) -> tuple[Floats, Floats]:
    """Return pairs of seats at a distance in each game, and the sum of their points less the game's mean: [G] each."""
    apart = _PARITY[dealt[:, :, None], dealt[:, None, :]] == distance
    pairs = np.triu(np.ones(apart.shape[1:], dtype=bool), 1) & apart
    less = scores - scores.mean(1, keepdims=True)
    both = (less[:, :, None] + less[:, None, :]) / 2
    return pairs.sum((1, 2)).astype(float), np.where(pairs, both, 0).sum((1, 2))


def coalition_gain(channel: tuple[Floats, Ints], scrambled: tuple[Floats, Ints], seed: int = 0) -> list[Coalition]:
    """Return the gains of pairs by the channel, by the distance of the sequences that they were dealt.

    Args:
        channel: Final points and dealt sequences, [G, P] both, of games with the channel.
        scrambled: The same of games in which words are scrambled.
        seed: Of the bootstrap.
    """
    found = []
    for distance in (1, 2, 3):
        numbers = [coalition(*games, distance) for games in (channel, scrambled)]
        if not all(pairs.sum() for pairs, _ in numbers):
            continue
        means = [float(points.sum() / pairs.sum()) for pairs, points in numbers]
        low = high = float("nan")
        if all(len(pairs) >= _FEW for pairs, _ in numbers):
            drawn = []
            for part, (pairs, points) in enumerate(numbers):
                generator = np.random.default_rng(derive(f"coalition {part}", seed))
                weights = bootstrap_weights(generator, len(pairs), _DRAWS)
                with np.errstate(invalid="ignore", divide="ignore"):
                    drawn.append((weights @ points) / (weights @ pairs))
            gains = drawn[0] - drawn[1]
            low, high = map(float, percentile_interval(gains[np.isfinite(gains)]))
        score, without = means
        found.append(Coalition(distance, int(numbers[0][0].sum()), score, without, score - without, low, high))
    return found
