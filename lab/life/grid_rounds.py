"""Games of Grid Adaptation round by round: tiles, sequences, points, and what players spend.

Letters: `G` games, `R` rounds, `P` seats, `n` games of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import stepped
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, RESERVE, SLOTS
from cellgames.utils.errors import InputError

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spending:
    """The spending of players, each int64 [G, R, P].

    Attributes:
        named: Spaces named for tiles and reserve tiles; one that is named twice counts once.
        clashed: Of these, the spaces that others have named too.
        reserves: Reserve tiles played.
        flips: Flips of a digit of the own sequence.
        bought: Extra tiles bought.
    """

    named: Ints
    clashed: Ints
    reserves: Ints
    flips: Ints
    bought: Ints


@dataclass(frozen=True)
class Flows:
    """Games of Grid Adaptation round by round.

    Attributes:
        tiles: int64 [G, R, 8], on the board after each round, by sequence.
        sequence: int64 [G, R, P], the players' own when the round is scored.
        points: int64 [G, R, P], of the round.
        spending: What players did.
    """

    tiles: Ints
    sequence: Ints
    points: Ints
    spending: Spending

    @property
    def scores(self) -> Ints:
        """The final scores, int64 [G, P]."""
        return np.asarray(self.points.sum(1))

    @property
    def places(self) -> Ints:
        """The final places, int64 [G, P], from 1 on; tied players share the best."""
        scores = self.scores
        return np.asarray(1 + (scores[:, None, :] > scores[:, :, None]).sum(2))


def read(game: Game, records: Sequence[Record]) -> Flows:
    """Play records again and return their flows.

    Args:
        game: Grid Adaptation with its parameters.
        records: Records of whole games.

    Raises:
        ValueError: The game is another one.
        ReplayError: A record does not reproduce.
    """
    if not isinstance(game, GridAdaptation):
        raise InputError("game", f"games of {GridAdaptation.id}", game.id)
    rounds, players = game.rounds, game.info.num_players
    tiles = np.zeros((len(records), rounds, 8), dtype=np.int64)
    kept = {name: np.zeros((len(records), rounds, players), dtype=np.int64) for name in _KEPT}
    for step in stepped(game, records):
        env_ids = game.places_tiles(step.before).nonzero().flatten()
        if not len(env_ids):
            continue
        before, after, actions = step.before[env_ids], step.after[env_ids], step.actions[env_ids]
        at = np.array(step.rows)[env_ids.numpy()], before.round.numpy() - 1  # type: ignore[attr-defined]
        board = game.tiles(after)
        tiles[at] = np.stack([(board == sequence).sum((1, 2)).numpy() for sequence in range(8)], 1)
        named, clashed = _named(game, actions, after.placed)  # type: ignore[attr-defined]
        numbers = {
            "sequence": after.sequence,  # type: ignore[attr-defined]
            "points": (after.scores - before.scores).long(),
            "named": named,
            "clashed": clashed,
            "reserves": actions[..., RESERVE] < game.info.action_nvec[RESERVE] - 1,
            "flips": actions[..., FLIP] > 0,
            "bought": after.bought - before.bought,  # type: ignore[attr-defined]
        }
        for name, values in numbers.items():
            kept[name][at] = values.numpy()
    spending = Spending(*(kept[name] for name in Spending.__annotations__))
    return Flows(tiles, kept["sequence"], kept["points"], spending)


_KEPT = ("sequence", "points", *Spending.__annotations__)


def _named(game: Any, actions: torch.Tensor, placed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the numbers of spaces that each player names, int64 [n, P], and of those without a landed tile."""
    spaces = game.spaces
    chosen = torch.zeros(*actions.shape[:2], spaces + 1, dtype=torch.bool, device="cpu")
    chosen.scatter_(2, actions[..., SLOTS].long(), True)
    chosen = chosen[..., :spaces]
    landed = game.grid.unpack(placed.movedim(0, -1)).flatten(1)
    return chosen.sum(2), (chosen & ~landed[:, None]).sum(2)
