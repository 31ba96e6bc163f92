"""Games of Grid Adaptation with talk as arrays: what players said, held, and did after it.

Letters: `G` games, `T` talk steps of a game, `P` seats, `R` places of a sender's words (see the game's `words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import stepped
from cellgames.envs.grid_adaptation.state import FLIP
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.state import BASE

__all__ = ["NO_ZONE", "ZONES", "Transcript", "read_talk", "zone"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

ZONES = 9
"""Parts of the board, thirds of its rows by thirds of its columns."""
NO_ZONE = ZONES
"""The zone of a player who placed no tile, since no space was free."""


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
