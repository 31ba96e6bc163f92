"""The sections of a report on talk: what words tell, who lies, who listens, and what allies gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cellgames.agents.base import AnyAgent
from cellgames.arena.analyse.reader import without_forfeits
from cellgames.arena.play.evaluation import play_some
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.lab.life.score_flows import rounded
from cellgames.utils.report.model import Cell, Section, Table, escape

from .listening import dependence
from .talk_measures import ZONES, Claim, claims, coalition_gain, information, read_talk

_PLACES = [f"{down} {across}" for down in ("top", "middle", "bottom") for across in ("left", "centre", "right")]
assert len(_PLACES) == ZONES


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the section on what words tell in games of Grid Adaptation with talk; none without talk.

    Args:
        game: Grid Adaptation with its parameters.
        records: Games with these rules; those that ended by a forfeit are left out.

    Raises:
        ReplayError: A record does not reproduce.
    """
    played = _whole(records)
    if not isinstance(game, GridAdaptationTalk) or not played:
        return []
    found = read_talk(game, played)
    names = sorted(set(found.agents.ravel().tolist()))
    groups = {"all": information(found)}
    if len(names) > 1:
        groups |= {name: information(found, found.agents == name) for name in names}
    spoken = claims(found)
    silence = float((found.words == 0).mean())
    best = "; ".join(f"{one.about} {one.bits:.3f} of {one.entropy:.2f} bits, p = {one.p:.3f}" for one in groups["all"])
    text = [
        f"Of {found.words.size} words {100 * silence:.1f} % were silence. The tables say what the others tell.",
        "The information of a word about its sender is in bits, less what the words of other games would tell as well "
        f"(400 permutations of whole games). p is the share of permutations with as much or more: {best}.",
        _lies(spoken),
    ]
    heads = ("words of", "about", "words", "bits", "low", "high", "entropy", "p")
    rows = [(name, *_numbers(one).values()) for name, some in groups.items() for one in some]
    tables = (Table("talk_information", heads, rows), _claims_table(spoken))
    data = {
        "words": int(found.words.size),
        "silence": rounded(silence, 4),
        "information": {name: [_numbers(one) for one in some] for name, some in groups.items()},
        "claims": [_numbers(claim) for claim in spoken],
    }
    return [Section("What words tell", (*text, *tables), data)]


def _whole(records: Sequence[Record]) -> list[Record]:
    """Return the games that were played from the start to the end: transcripts are of all their talk."""
    return [record for record in without_forfeits(records) if not record.position]


def _lies(spoken: Sequence[Claim]) -> str:
    if not spoken:
        return (
            "No word usually means a sequence or a part of the board: none was said mostly by players of whom one fact "
            "holds. So there is nothing to lie about."
        )
    letters = sum(claim.letters for claim in spoken)
    lies = sum(claim.letters * claim.lies for claim in spoken)
    return (
        f"{len(spoken)} claims: a word usually means the commonest fact of its senders, if that holds for at least "
        f"half of them and for twice the share of all players. Of {letters} such words {100 * lies / letters:.1f} % "
        "were said by players for whom the fact was false. The gain is their lead in the next round less that of "
        "honest senders."
    )


def _claims_table(spoken: Sequence[Claim]) -> Table:
    def meaning(claim: Claim) -> str:
        return f"{claim.value:03b}" if claim.about == "sequence" else _PLACES[claim.value]

    rows: list[tuple[Cell, ...]] = [
        (
            *(claim.word, claim.about, meaning(claim), claim.letters),
            *(rounded(100 * value, 1) for value in (claim.lies, claim.low, claim.high)),
            *(rounded(value, 2) for value in (claim.gain, claim.gain_low, claim.gain_high)),
            ", ".join(f"{escape(name)} {100 * share:.0f}" for name, share in claim.liars.items()),
        )
        for claim in spoken
    ]
    said = ("word", "about", "means", "said", "lies in %", "low", "high")
    heads = (*said, "gain of a lie", "from", "to", "lies by agent in %")
    return Table("talk_claims", heads, rows)


def _numbers(one: object) -> dict[str, Any]:
    """Return the fields of a measure as JSON holds them."""
    return {name: rounded(value, 4) if isinstance(value, float) else value for name, value in vars(one).items()}


# ---------------------------------------------------------------- with agents


def asked_sections(
    game: Game,
    agents: Mapping[str, AnyAgent],
    records: Sequence[Record],
    *,
    positions: int = 200,
    seed: int = 0,
    shown: bool = False,
    **_: Any,
) -> list[Section]:
    """Return the section on who listens, and on what allies gain by the channel; none without talk.

    Args:
        game: Grid Adaptation with its parameters.
        agents: the agents to ask, which play the games again with scrambled words.
        records: Games with these rules.
        positions: Of the counterfactual words, for each agent.
        seed: Of all draws.
        shown: True to report progress on standard error.
    """
    played = _whole(records)
    if not isinstance(game, GridAdaptationTalk) or not played:
        return []
    heard = [dependence(game, name, agent, played, positions, seed, shown=shown) for name, agent in agents.items()]
    rows = [(*list(_numbers(one).values())[:-1], "policy" if one.exact else "draws") for one in heard]
    text = [
        "Who listens: one word of the last talk step becomes another one, in the same state. The number is the total "
        "variation of the agent's choice of its first tile, from 0 to 1."
    ]
    parts: list[Any] = [Table("talk_listening", ("listener", "states", "variation", "low", "high", "by"), rows)]
    data: dict[str, Any] = {"listening": [vars(one) for one in heard]}
    if not game.scramble and not game.mute:
        scrambled = replace(game, scramble=True)
        others = play_some(scrambled, agents, len(played), seed=seed, shown=shown)
        pairs = [(found.scores, found.dealt) for found in map(read_talk, (game, scrambled), (played, others))]
        gains = coalition_gain(pairs[0], pairs[1], seed)
        text.append(
            "What allies gain: points of pairs of players less the mean of their game, by the distance of the "
            f"sequences that they were dealt, against {len(others)} games of the same agents with scrambled words."
        )
        heads = ("distance", "pairs", "points", "scrambled", "gain", "low", "high")
        cells = [tuple(rounded(v, 2) if isinstance(v, float) else v for v in vars(one).values()) for one in gains]
        parts.append(Table("talk_coalitions", heads, cells))
        data["coalitions"] = [_numbers(one) for one in gains]
        data["mean points"] = [rounded(float(np.mean(scores)), 4) for scores, _ in pairs]
    return [Section("Who listens, and what allies gain", (*text, *parts), data)]
