"""Treblecross: two players cross cells of a strip; three crosses in a row win."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from cellgames import register
from cellgames.envs import DRAW, LOSS, WIN, Game, GameInfo, Space, State, check_int
from cellgames.envs.core.drawing import Picture, Rectangle


@dataclass(frozen=True, eq=False)
class TreblecrossState(State):
    """crossed: bool [B, N], the cells that have a cross."""

    crossed: Tensor


@dataclass(frozen=True)
class Treblecross(Game[TreblecrossState]):
    """Treblecross: three crosses in a row win, whoever made them.

    Attributes:
        cells: number of cells of the strip, 3 to 60.
    """

    cells: int = 12

    id: ClassVar[str] = "treblecross-v0"

    def __post_init__(self) -> None:
        check_int(self, "cells", 3, 60)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and spaces, for agents, adapters and records."""
        return GameInfo(
            id=self.id,
            title="Treblecross",
            credit="Treblecross, as in Berlekamp, Conway, Guy: Winning Ways",
            players=("first", "second"),
            simultaneous=False,
            perfect_information=True,
            stochastic=False,
            zero_sum=True,
            max_turns=self.cells,
            reward_range=(-1.0, 1.0),
            action_nvec=(self.cells,),
            observation=Space((1, self.cells), torch.int8, 0, 1),
            board=Space((self.cells,), torch.int8, 0, 1),
        )

    # The three hooks. They need no thought for finished games, illegal actions or wrong shapes.

    def _init(self, seeds: Tensor) -> TreblecrossState:
        """Return new games, one for each seed."""
        crossed = seeds.new_zeros((len(seeds), self.cells), dtype=torch.bool)
        return TreblecrossState.new(seeds, 2, crossed=crossed)  # what every state has is 0

    def _step(self, state: TreblecrossState, actions: Tensor) -> TreblecrossState:
        """Play one move in every game: no loop over games, no `if` on a tensor."""
        cells = torch.arange(self.cells, device=state.device)
        crossed = state.crossed | (cells == actions[:, None])
        won = (crossed[:, :-2] & crossed[:, 1:-1] & crossed[:, 2:]).any(1)
        mover = torch.arange(2, device=state.device) == state.current_player[:, None]
        scores = (mover & won[:, None]).float()
        return state.replace(
            turn=state.turn + 1,
            current_player=1 - state.current_player,
            rewards=scores - scores.flip(1),
            scores=scores,
            terminated=won,  # a full strip has three in a row, so every game is won
            crossed=crossed,
        )

    def _legal(self, state: TreblecrossState) -> Tensor:
        """Return the cells without a cross, bool [B, N]."""
        return ~state.crossed

    def _why_illegal(self, state: TreblecrossState, seat: int, component: int, action: int) -> str:
        return f"cell {action + 1} has a cross"

    # What players see, and the result.

    def observe(self, state: TreblecrossState, player: Tensor | int) -> Tensor:
        """Return the crosses, int8 [B, 1, N]; both players see the same."""
        return state.crossed[:, None].to(torch.int8)

    def board(self, state: TreblecrossState) -> Tensor:
        """Return the crosses, int8 [B, N]."""
        return state.crossed.to(torch.int8)

    def outcome(self, state: TreblecrossState) -> Tensor:
        """Return the results; there are no draws."""
        result = torch.where(state.scores > 0, WIN, LOSS)
        return torch.where(state.done[:, None], result, DRAW).to(torch.int8)

    # Optional: moves and positions as text. By default they are numbers and JSON.

    def action_to_string(self, action: int) -> str:
        """Return the number of the cell, from 1."""
        return str(action + 1)

    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        if not (text.isdecimal() and 1 <= int(text) <= self.cells):
            raise ValueError(f"{self.id}: expected a cell from 1 to {self.cells}, got {text!r}")
        return int(text) - 1

    def state_to_string(self, state: TreblecrossState) -> str:
        """Return such as `..x.x. 1`: the strip, and whose turn it is."""
        return "".join(".x"[int(cell)] for cell in state.crossed[0]) + f" {int(state.current_player) + 1}"

    def string_to_state(self, text: str, seed: int = 0) -> TreblecrossState:
        """Return the position of a text by `state_to_string`."""
        strip, _, mover = text.partition(" ")
        if len(strip) != self.cells or set(strip) - set(".x") or mover not in ("1", "2"):
            raise ValueError(f"{self.id}: expected a position such as {'.' * self.cells + ' 1'!r}, got {text!r}")
        state = self.init(torch.tensor([seed]))
        won = torch.tensor(["xxx" in strip])
        scores = torch.zeros(1, 2)
        scores[0, 2 - int(mover)] = won.float()  # whose turn it would be has lost
        return state.replace(
            turn=torch.full_like(state.turn, strip.count("x")),
            current_player=torch.tensor([int(mover) - 1]),
            scores=scores,
            terminated=won,
            crossed=torch.tensor([[cell == "x" for cell in strip]]),
        )

    # Optional: pictures. By default a picture shows the numbers of the board.

    def text(self, state: TreblecrossState) -> str:
        """Return the position for a terminal."""
        return self.state_to_string(state[0])

    def draw(self, state: TreblecrossState) -> Picture:
        """Return the strip as a row of squares; crosses are dark."""
        shapes = tuple(
            Rectangle(8 + 24 * i, 8, 22, 22, "#24506e" if cell else "#e7e2d6")
            for i, cell in enumerate(state.crossed[0].tolist())
        )
        return Picture(16 + 24 * self.cells, 38, "#ffffff", shapes, "Treblecross")


register(Treblecross)
register(Treblecross, id="treblecross-small-v0", summary="Treblecross on seven cells", cells=7)
