"""`mcts:N` in Grid Adaptation: a search over sampled joint moves, in worlds that agree with what was seen.

Letters: `L` games, `G` sampled joint moves.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game, chance
from cellgames.envs.grid_adaptation.game import GridAdaptation

from .beliefs import Witness, likely_sequences
from .decoding import Seen
from .greedy import GridPlayer
from .matched_others import MatchedOthers
from .opponent_model import Others
from .plans import Planner

__all__ = ["GridSearch"]

_JOINT_MOVES = 4  # of an iteration of regret matching
_SHAPES = 256
_ROWS = 64  # games to choose in at once, at most, which bounds the memory
_WORLDS = chance.USER + 62


class GridSearch(GridPlayer):
    """An agent that plays the plan that is worth most against sampled joint moves of the others.

    The others' sequences are drawn as `beliefs` has them. With three quarters of the `N` joint moves, regret matching
    finds the strategies of all sequences in this round (`MatchedOthers`). All plans then meet the last quarter, which
    is drawn from those strategies.

    Args:
        joint_moves: `N`.
        keen: see `MatchedOthers`.
        name: as in `Agent`.
    """

    def __init__(self, joint_moves: int, *, keen: float = MatchedOthers.keen, name: str | None = None) -> None:
        if joint_moves < 1:
            raise ValueError(f"expected at least 1 joint move, got {joint_moves}")
        guesses = -(-joint_moves // 4)
        super().__init__(name if name is not None else f"mcts:{joint_moves}", guesses)
        self.joint_moves, self.keen = joint_moves, keen
        self._witness: Witness | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self._planner = Planner(self.others(self.game), self._guesses, _SHAPES)
        if self._witness is None or self._witness.game != game:
            self._witness = Witness(self.game)
        self._witness.start(players, env_ids)

    @override
    def others(self, game: GridAdaptation) -> Others:
        iterations = max(1, (self.joint_moves - self._guesses) // _JOINT_MOVES)
        return MatchedOthers(game, keen=self.keen, iterations=iterations, joint_moves=_JOINT_MOVES)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        assert self._witness is not None  # as the planner, made by `start`
        remembered = self._witness.look(view, players, env_ids)
        held = self._witness.facts(view, players, env_ids)
        worlds = chance.draw(seeds[:, None], _WORLDS, torch.arange(self._guesses, device=seeds.device))
        actions = []
        for some in torch.arange(len(env_ids), device=seeds.device).split(_ROWS):
            others = likely_sequences(
                self.planner.game, view[some], players[some], remembered[some], held[some], worlds[some]
            )
            plans = self.planner.plans(view[some], seeds[some], others)
            actions.append(plans.actions[torch.arange(len(some), device=seeds.device), plans.worth.argmax(1)])
        return torch.cat(actions)
