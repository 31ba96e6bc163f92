"""One game of Cloth of Gold on plain Python integers: the rules of `rules`, without the cost of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.intboards import IntGrid
from cellgames.envs.core.solo import Solo, one

from . import observation, rules
from .rounds import outcomes
from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

NOWHERE = 0
EVERYWHERE = -1  # all bits of an integer


class ClothSolo(Solo):
    """One game of Cloth of Gold on integers; `generation` steps the world alone."""

    _game: ClothOfGold

    def __init__(self, game: ClothOfGold, state: ClothState) -> None:
        super().__init__(game, state)
        self.grid = IntGrid(game.height, game.width)
        self._units = self._packed(state.units[0])
        self._neutral, self._killed, self._placed = self._packed(
            torch.stack((state.neutral[0], state.killed[0], state.placed[0]))
        )
        self._territory = self._packed(state.territory[0])
        self._left, self._acts, self._round = int(state.left), int(state.acts), int(state.round)
        self._rounds: list[list[int]] = state.rounds[0].tolist()

    def _packed(self, planes: Tensor) -> list[int]:
        """Return integers of bitboards [k, S, N]."""
        cells = self._game.grid.unpack(planes.unsqueeze(-1))[0].numpy(force=True)
        return list(map(self.grid.pack, cells))

    # --- the game -------------------------------------------------------------------------------------------------

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if self.terminated or self.truncated:
            return
        before = self._lead()
        self.turn += 1
        if (action := int(actions)) == self._game.end_turn:
            self._end_turn()
        else:
            self._act(self.grid.bit(*divmod(action, self._game.width)))
        if self._game.shaping:
            change = (self._lead() - before) * (self._game.shaping / self._game.cells)
            rewards = (self.rewards[0] + change, self.rewards[1] - change)
            self.rewards = np.array(rewards, dtype=np.float32).tolist()  # as the batch has them

    def _lead(self) -> int:
        a, b = self._units
        return a.bit_count() - b.bit_count()

    def _act(self, cell: int) -> None:
        """Place a unit, or take it back."""
        player, back = self.current_player, self._placed & cell
        self._units[player] ^= cell
        self._placed ^= cell
        self._acts += 1
        self._left += 1 if back else -1
        if back:
            self._territory[player] = self._reach(self._units[player])
        else:
            self._territory[player] |= self._reach(cell)

    def _reach(self, units: int) -> int:
        return self.grid.dilate(units, rules.disk(self._game.radius))

    def _end_turn(self) -> None:
        game = self._game
        self.current_player = 1 - self.current_player
        self._placed, self._left, self._acts = NOWHERE, game.max_units, 0
        if self.current_player == 0:
            self._end_round()

    def _end_round(self) -> None:
        """Play the generations and score the round; after the initial placement there are no generations."""
        game = self._game
        if self._round > 0:
            self._live()
        units = [side.bit_count() for side in self._units]
        self._rounds[self._round] = [*units, *self._sizes(), self._killed.bit_count()]
        lead, before = units[0] - units[1], int(self.scores[0])
        self.terminated, self.truncated = map(bool, game.ends(self._round, before, *units))
        self.scores = [float(lead), float(-lead)]
        if self.terminated or self.truncated:
            self.rewards = outcomes(torch.tensor(lead, device="cpu")).float().tolist()
            self.current_player = 1
        else:
            self._round += 1

    def _live(self) -> None:
        """Play the generations of a round; worlds that repeat are not played on."""
        left, seen = self._game.generations, [-1] * 4
        while left:
            if left % rules.PERIOD == 0:
                if (world := self._world()) == seen:
                    break
                seen = world
            self.generation()
            left -= 1
        self._territory = list(map(self._reach, self._units))

    def _world(self) -> list[int]:
        return [*self._units, self._neutral, self._killed]

    def generation(self) -> None:
        """Play the next generation of the world, and nothing else."""
        a, b = self._units
        if self._neutral:
            cells = (a, b, self._neutral, self._killed)
            a, b, self._neutral, self._killed = rules.generation(self.grid, *cells, self._game.neutral_rules)
        else:
            a, b, self._killed = rules.two_sided_generation(self.grid, a, b, self._killed)
        self._units = [a, b]

    def _sizes(self) -> list[int]:
        """Return territory of both, and contested cells."""
        a, b = self._territory
        return [a.bit_count(), b.bit_count(), (a & b).bit_count()]

    # --- what may be done -----------------------------------------------------------------------------------------

    def _cells(self) -> int:
        """Return a mask of the cells that are open to the mover, whatever number of units it has left."""
        player = self.current_player
        own, other = self._units[player], self._units[1 - player]
        home = (self._territory[player], self._territory[1 - player])
        return rules.placeable(
            self.grid, own, other, self._neutral | self._killed, home, NOWHERE if own else EVERYWHERE
        )

    @override
    def legal_actions(self) -> npt.NDArray[np.bool_]:
        legal = np.zeros(self._game.cells + 1, dtype=bool)
        if self.terminated or self.truncated:
            return legal
        cells = self._cells()
        placing, taking, legal[-1] = rules.choices(self._left, self._acts, self._game.max_units, not cells)
        cells = (cells if placing else NOWHERE) | (self._placed if taking else NOWHERE)
        legal[:-1] = self.grid.unpack(cells).reshape(-1)
        return legal

    def why_illegal(self, action: int, most: int) -> str:
        """Return why an action in the right range is illegal now, in a turn of at most `most` units."""
        game, player = self._game, self.current_player
        if action == game.end_turn:
            return "a turn must place a unit where it can"
        cell, (own, other) = self.grid.bit(*divmod(action, game.width)), (self._units[player], self._units[1 - player])
        name = game.action_to_string(action)
        if self._placed and self._acts >= rules.ACTS_A_UNIT * most:
            return f"after {self._acts} placements and take-backs in this turn only its end is left"
        if own & cell:
            return f"{name} holds a unit that was not placed in this turn"
        if not self._left:
            return f"all {most} units of this turn are placed; take one back or end the turn"
        if (other | self._neutral | self._killed) & cell:
            kind = "a killed cell" if self._killed & cell else "a neutral cell" if self._neutral & cell else "a unit"
            return f"{name} is not empty, it holds {kind}" + (" of the opponent" if other & cell else "")
        if self.grid.dilate(other, rules.PLUS) & cell:
            return f"{name} is next to a unit of the opponent"
        if not self._territory[player] & cell:
            return f"{name} is outside of one's own territory"
        return f"{name} is contested, it lies in the opponent's territory as well"

    # --- what is seen ---------------------------------------------------------------------------------------------

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        game, units, field = self._game, self._units, self._territory
        seen = np.empty(game.info.observation.shape, dtype=np.int16)
        own = max(-observation.LARGEST, min(observation.LARGEST, int(self.scores[player])))
        seen[: len(observation.BOARDS)] = self.grid.unpack(
            units[player],
            units[1 - player],
            self._neutral,
            self._killed,
            self._placed,
            field[player],
            field[1 - player],
        )
        numbers = np.array((self._left, self._round, own, player == 0), dtype=np.int16)
        seen[len(observation.BOARDS) :] = numbers[:, None, None]
        return seen

    @override
    def board(self) -> npt.NDArray[np.int8]:
        planes = self.grid.unpack(*self._world()).astype(np.int8)
        cells: npt.NDArray[np.int8] = (planes * np.arange(1, 5, dtype=np.int8)[:, None, None]).sum(0, dtype=np.int8)
        return cells

    def territories(self) -> npt.NDArray[np.bool_]:
        """Return both players' territory as it is now, bool [2, H, W]."""
        fields: npt.NDArray[np.bool_] = self.grid.unpack(*map(self._reach, self._units)) == 1
        return fields

    def placed(self) -> npt.NDArray[np.bool_]:
        """Return units that the mover has placed in this turn: bool [H, W]."""
        cells: npt.NDArray[np.bool_] = self.grid.unpack(self._placed)[0] == 1
        return cells

    @override
    def infos(self, player: int) -> dict[str, Any]:
        *territory, contested = self._sizes()
        return {
            "score": self.scores[player],
            "units": [side.bit_count() for side in self._units],
            "territory": territory,
            "contested": contested,
            "killed": self._killed.bit_count(),
            "round": self._round,
        }

    @override
    def state(self) -> ClothState:
        planes = self.grid.unpack(*self._world(), self._placed, *self._territory)
        packed = self._game.grid.pack(torch.from_numpy(planes.copy())[None]).movedim(-1, 0)
        return ClothState(
            **self._fields(),
            units=packed[:, :2].clone(),
            neutral=packed[:, 2].clone(),
            killed=packed[:, 3].clone(),
            territory=packed[:, 5:].clone(),
            placed=packed[:, 4].clone(),
            live=one([side.bit_count() for side in self._units], torch.int32),
            left=one(self._left, torch.int32),
            acts=one(self._acts, torch.int32),
            round=one(self._round, torch.int32),
            rounds=one(self._rounds, torch.int32),
        )
