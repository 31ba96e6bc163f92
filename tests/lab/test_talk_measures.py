"""Measures of talk on planted populations: one that tells its sequence, one that lies, one that is silent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from cellgames.agents.base import GameAgent
from cellgames.arena.analyse.report import analyse_games
from cellgames.arena.play.evaluation import play_some
from cellgames.arena.records.replays import stepped
from cellgames.envs.grid_adaptation.state import num_planes
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.lab.talk import talk_section
from cellgames.lab.talk.talk_measures import ZONES, Transcript, claims, coalition_gain, information, read_talk, zone

GAME = GridAdaptationTalk(size=6, players=4, rounds=2, flip_rounds=(2,), talk="public")


def transcript(games: int = 60, seed: int = 0) -> Transcript:
    """Games of players who say nothing and do what they like."""
    random = np.random.default_rng(seed)
    shape = (games, 4, 4)
    dealt = np.stack([random.permutation(8)[:4] for _ in range(games)])
    return Transcript(
        words=np.zeros((*shape, 1), dtype=np.int64),
        sequence=np.repeat(dealt[:, None], 4, 1),
        zone=random.integers(0, ZONES, shape),
        flip=random.integers(0, 4, shape),
        flips=np.array([False, True, False, True]),
        lead=random.normal(0, 5, shape),
        scores=random.normal(100, 20, (games, 4)),
        dealt=dealt,
        agents=np.tile(np.array(["honest", "honest", "honest", "liar"]), (games, 1)),
    )


def told(found: Transcript) -> dict[str, Any]:
    return {one.about: one for one in information(found)}


def test_a_population_that_tells_its_sequence_tells_all_of_it_and_nothing_else() -> None:
    found = transcript()
    found = replace(found, words=(found.sequence + 1)[..., None])
    about = told(found)
    whole = about["sequence"]
    assert whole.bits == pytest.approx(whole.entropy, abs=0.25)  # less what 60 games tell by chance
    assert whole.low <= whole.bits <= whole.high
    assert whole.p < 0.01
    for name in ("next space", "next flip"):
        assert abs(about[name].bits) < 0.1
        assert about[name].p > 0.01
    said = claims(found)
    assert [(claim.word, claim.value, claim.lies) for claim in said] == [(word, word - 1, 0.0) for word in range(1, 9)]


def test_words_that_are_the_same_in_the_rounds_of_a_game_are_no_evidence() -> None:
    """240 words a seat, but only 60 games: what is said has nothing to do with the sequence, and p says so."""
    small = 0
    for seed in range(20):
        found = transcript(30, seed)
        per_game = np.random.default_rng(100 + seed).integers(1, 9, (30, 1, 4, 1))
        found = replace(found, words=np.broadcast_to(per_game, found.words.shape).copy())
        small += told(found)["sequence"].p < 0.05
    assert small <= 4  # one in twenty by chance


def test_liars_are_found_and_what_a_lie_earns() -> None:
    found = transcript(200)
    words, lead = found.sequence + 1, found.lead.copy()
    words[:, :, 3] = (found.sequence[:, :, 3] ^ 7) + 1  # the liar claims the opposite
    lead[:, :, 3] += 20
    found = replace(found, words=words[..., None], lead=lead)
    said = [claim for claim in claims(found) if claim.about == "sequence"]
    assert len(said) == 8
    for claim in said:
        assert claim.liars == {"honest": 0.0, "liar": 1.0}
        assert claim.low <= claim.lies <= claim.high
        assert 0.1 < claim.lies < 0.4  # one player in four
        assert claim.gain_low < 20 < claim.gain_high
    by_agent = {name: information(found, found.agents == name)[0] for name in ("honest", "liar")}
    assert min(one.bits for one in by_agent.values()) > 1.5  # who always lies tells as much as who never does


def test_coalition_gain_is_that_of_pairs_with_similar_sequences() -> None:
    dealt = transcript(300).dealt
    random = np.random.default_rng(1)
    scores = random.normal(100, 3, dealt.shape)
    near = np.array([[bin(a ^ b).count("1") == 1 for b in range(8)] for a in range(8)])
    helped = scores + 10 * near[dealt[:, :, None], dealt[:, None, :]].sum(2)
    gains = {one.distance: one for one in coalition_gain((helped, dealt), (scores, dealt))}
    assert gains[1].low > 0
    assert gains[1].gain > gains[3].gain
    same = coalition_gain((scores, dealt), (scores, dealt))
    assert all(one.gain == 0 and one.low <= 0 <= one.high for one in same)


# --- games that are played ---------------------------------------------------------------------------------------


class Teller(GameAgent[GridAdaptationTalk]):
    """Says its sequence (or the opposite), and plays on the first free space from the number of a word it heard."""

    plays = GridAdaptationTalk
    memoryless = True

    def __init__(self, name: str, turned: int = 0, listens: bool = False) -> None:
        super().__init__(name)
        self.turned, self.listens = turned, listens

    def act(self, observation: Any, action_mask: Any, env_ids: Any, generator: torch.Generator) -> Any:
        game, first = self.game, num_planes(self.game.players)
        rows = []
        for seen, mask in zip(observation, action_mask, strict=True):
            parts = mask.split(list(game.info.action_nvec))
            row = [int(part.float().argmax()) for part in parts]
            free = parts[0].nonzero().flatten().tolist()
            start = 0
            if self.listens:
                bits = seen[first + 1 :].flatten()[: game.talks * 4 * 9].view(game.talks, 4, 9)
                past = bits[bits.sum((1, 2)) > 0]
                start = int(past[-1, 0].argmax()) if len(past) else 0
            row[0] = free[start % len(free)]
            row[3] = game.spaces
            row[5] = 0
            if bool(seen[first, 0, 0]):
                own = int(sum(value * seen[plane, 0, 0] for plane, value in ((4, 4), (5, 2), (6, 1))))
                row[7] = (own ^ self.turned) + 1
            rows.append(row)
        return torch.tensor(rows)


def test_a_report_of_played_games_says_who_tells_lies_and_listens() -> None:
    agents: Any = {
        "teller": Teller("teller"),
        "liar": Teller("liar", turned=7),
        "listener": Teller("listener", listens=True),
    }
    records = play_some(GAME, agents, 24)
    report = analyse_games(
        GAME,
        records,
        only=("flows", "behaviour"),
        behaviour=lambda: talk_section.asked_sections(GAME, agents, records, positions=60),
    )
    tells, listens = (
        section["data"]
        for section in report.data["sections"]
        if "word" in section["title"] or "listens" in section["title"]
    )
    assert tells["information"]["all"][0]["about"] == "sequence"
    assert tells["information"]["teller"][0]["bits"] > 1
    assert tells["information"]["teller"][0]["p"] < 0.02
    variation = {one["agent"]: one["variation"] for one in listens["listening"]}
    assert variation["teller"] == variation["liar"] == 0
    assert variation["listener"] > 0.1  # a third of the words are of the one that it hears
    assert [one["distance"] for one in listens["coalitions"]] == [1, 2, 3]


def test_transcripts_are_what_records_say() -> None:
    agents: Any = {"teller": Teller("teller")}
    records = play_some(GAME, agents, 3)
    found = read_talk(GAME, records)
    assert (found.words[..., 0] == found.sequence + 1).all()
    for step in stepped(GAME, records):
        for place, row in enumerate(step.rows):
            before: Any = step.before[place]
            number = int(before.round) - 1
            if bool(GAME.talking(before)):
                assert found.sequence[row, number].tolist() == before.sequence[0].tolist()
            elif number < GAME.rounds:
                assert found.zone[row, number].tolist() == zone(step.actions[place, :, 0].numpy(), GAME.size).tolist()
                gained = (step.after.scores - step.before.scores)[place].tolist()
                leads = [own - (sum(gained) - own) / 3 for own in gained]
                assert found.lead[row, number].tolist() == pytest.approx(leads)
    assert found.flips.tolist() == [False, True]
