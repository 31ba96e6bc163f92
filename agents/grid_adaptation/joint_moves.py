"""`mcts:N` in Grid Adaptation: a search over sampled joint moves, in worlds that agree with what was seen.

Letters: `L` games, `G` sampled joint moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import must_start
from cellgames.envs.core import Game, chance
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.utils.errors import check_at_least

from .beliefs import Witness, likely_sequences
from .decoding import Seen
from .greedy import GridPlayer
from .matched_others import MatchedOthers
from .opponent_model import Others
from .plans import Planner, Plans

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
    """

    def __init__(self, joint_moves: int, *, keen: float = MatchedOthers.keen) -> None:
        check_at_least(1, joint_moves=joint_moves)
        guesses = -(-joint_moves // 4)
        super().__init__(f"mcts:{joint_moves}", guesses)
        self.joint_moves, self.keen = joint_moves, keen
        self._witness: Witness | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        rules = self.game.base
        self._planner = Planner(self.others(rules), self._guesses, _SHAPES)
        if self._witness is None or self._witness.game != rules:
            self._witness = Witness(rules)
        self._witness.start(players, env_ids)

    def state_dict(self) -> dict[str, Any]:
        """Return the memory of the games in progress, after `start`."""
        return self._witness.state_dict() if self._witness is not None else {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`, after `start`; a `ValueError` if it is of other games."""
        if self._witness is None:
            raise must_start(self)
        self._witness.load_state_dict(state)

    @override
    def others(self, game: GridAdaptation) -> Others:
        iterations = max(1, (self.joint_moves - self._guesses) // _JOINT_MOVES)
        return MatchedOthers(game, keen=self.keen, iterations=iterations, joint_moves=_JOINT_MOVES)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        plans = self.plans(view, players, env_ids, seeds)
        return plans.actions[torch.arange(len(view), device=seeds.device), plans.worth.argmax(1)]

    def plans(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, more: Tensor | None = None) -> Plans:
        """Return the plans with their worth; the arguments are those of `choose`, and `more` of `Planner.plans`."""
        assert self._witness is not None  # as the planner, made by `start`
        remembered = self._witness.look(view, players, env_ids)
        held = self._witness.facts(view, players, env_ids)
        worlds = chance.draw(seeds[:, None], _WORLDS, torch.arange(self._guesses, device=seeds.device))
        found = []
        for some in torch.arange(len(env_ids), device=seeds.device).split(_ROWS):
            others = likely_sequences(
                self.planner.game, view[some], players[some], remembered[some], held[some], worlds[some]
            )
            found.append(self.planner.plans(view[some], seeds[some], others, None if more is None else more[some]))
        return Plans(
            torch.cat([part.actions for part in found]), torch.cat([part.worth for part in found]), found[0].scale
        )
