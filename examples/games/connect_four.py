"""Connect Four: two players drop discs into columns; four in a row, in any direction, win."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from cellgames import register
from cellgames.envs import Game, GameInfo, Space, State, check_int
from cellgames.envs.core.drawing import Circle, Picture


@dataclass(frozen=True, eq=False)
class ConnectFourState(State):
    """discs: bool [B, 2, H, W], the discs of each player; row 0 is at the top."""

    discs: Tensor


@dataclass(frozen=True)
class ConnectFour(Game[ConnectFourState]):
    """Connect Four: the first with a line of four discs wins.

    Attributes:
        rows: number of rows of the board, 1 to 20.
        columns: number of columns of the board, 1 to 20.
        line: discs in a row that win, 2 to 20.
    """

    rows: int = 6
    columns: int = 7
    line: int = 4

    id: ClassVar[str] = "connect-four-v0"

    def __post_init__(self) -> None:
        check_int(self, "rows", 1, 20)
        check_int(self, "columns", 1, 20)
        check_int(self, "line", 2, 20)

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and spaces, for agents, adapters and records."""
        return GameInfo(
            id=self.id,
            title="Connect Four",
            credit="Connect Four by Howard Wexler and Ned Strongin, 1974",
            players=("first", "second"),
            simultaneous=False,
            perfect_information=True,
            stochastic=False,
            zero_sum=True,
            max_turns=self.rows * self.columns,
            reward_range=(-1.0, 1.0),
            action_nvec=(self.columns,),
            observation=Space((2, self.rows, self.columns), torch.int8, 0, 1),
            board=Space((self.rows, self.columns), torch.int8, 0, 2),
        )

    # The three hooks of the rules.

    def _init(self, seeds: Tensor) -> ConnectFourState:
        """Return empty boards."""
        discs = torch.zeros((len(seeds), 2, self.rows, self.columns), dtype=torch.bool, device=seeds.device)
        return ConnectFourState.new(seeds, 2, discs=discs)

    def _step(self, state: ConnectFourState, actions: Tensor) -> ConnectFourState:
        """Drop a disc in every game, onto the discs that are in the column."""
        device = state.device
        column = torch.arange(self.columns, device=device) == actions[:, None]  # [B, W]
        height = (state.discs.any(1) & column[:, None]).sum((1, 2))
        row = torch.arange(self.rows, device=device) == (self.rows - 1 - height)[:, None]  # [B, H]
        mover = torch.arange(2, device=device) == state.current_player[:, None]  # [B, 2]
        discs = state.discs | (mover[:, :, None, None] & row[:, None, :, None] & column[:, None, None])
        won = self._has_line((discs & mover[:, :, None, None]).any(1))
        scores = (mover & won[:, None]).float()
        return state.replace(
            turn=state.turn + 1,
            current_player=1 - state.current_player,
            rewards=scores - scores.flip(1),
            scores=scores,
            terminated=won | discs.any(1).all(2).all(1),
            discs=discs,
        )

    def _legal(self, state: ConnectFourState) -> Tensor:
        """Return the columns that are not full, bool [B, W]."""
        return ~state.discs.any(1)[:, 0]

    def _why_illegal(self, state: ConnectFourState, seat: int, component: int, action: int) -> str:
        return f"column {action + 1} is full"

    def _has_line(self, discs: Tensor) -> Tensor:
        """Return True where one player's discs, bool [B, H, W], contain a line: bool [B]."""
        found = torch.zeros(len(discs), dtype=torch.bool, device=discs.device)
        mirrored = discs.flip(2)
        for board, down, right in ((discs, 0, 1), (discs, 1, 0), (discs, 1, 1), (mirrored, 1, 1)):
            height, width = self.rows - down * (self.line - 1), self.columns - right * (self.line - 1)
            if height < 1 or width < 1:
                continue
            starts = torch.ones_like(board[:, :height, :width])  # cells from which a line goes on
            for i in range(self.line):
                starts = starts & board[:, i * down : i * down + height, i * right : i * right + width]
            found = found | starts.flatten(1).any(1)
        return found

    # What players see, and the result.

    def observe(self, state: ConnectFourState, player: Tensor | int) -> Tensor:
        """Return int8 [B, 2, H, W]: one's own discs, and the opponent's."""
        second = torch.as_tensor(player, device=state.device).expand(len(state)) == 1
        return torch.where(second[:, None, None, None], state.discs.flip(1), state.discs).to(torch.int8)

    def board(self, state: ConnectFourState) -> Tensor:
        """Return int8 [B, H, W]: 0 empty, 1 the first player's, 2 the second's."""
        return state.discs[:, 0].to(torch.int8) + 2 * state.discs[:, 1].to(torch.int8)

    def outcome(self, state: ConnectFourState) -> Tensor:
        """Return the results; a full board without a line is a draw."""
        return (state.scores - state.scores.flip(1)).to(torch.int8)

    # Optional: symmetries, from which AlphaZero learns more per game.

    @property
    def symmetries(self) -> int:
        """The board and its mirror image."""
        return 2

    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Mirror the positions in which `which` is 1; see `Game`."""
        mirror = which == 1
        seen = torch.where(mirror[:, None, None, None], observation.flip(-1), observation)
        return seen, torch.where(mirror.view(-1, *[1] * (actions.ndim - 1)), actions.flip(-1), actions)

    # Optional: moves and positions as text.

    def action_to_string(self, action: int) -> str:
        """Return the number of the column, from 1."""
        return str(action + 1)

    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        if not (text.isdecimal() and 1 <= int(text) <= self.columns):
            raise ValueError(f"{self.id}: expected a column from 1 to {self.columns}, got {text!r}")
        return int(text) - 1

    def state_to_string(self, state: ConnectFourState) -> str:
        """Return such as `...../...../...../..o../..xx. o`: the rows from the top, and whose turn it is."""
        rows = ("".join(".xo"[cell] for cell in row) for row in self.board(state)[0].tolist())
        return f"{'/'.join(rows)} {'xo'[int(state.current_player)]}"

    def string_to_state(self, text: str, seed: int = 0) -> ConnectFourState:
        """Return the position of a text by `state_to_string`."""
        state = self.init(torch.tensor([seed]))
        rows, _, mover = text.partition(" ")
        board = rows.split("/")
        if [len(row) for row in board] != [self.columns] * self.rows or set("".join(board)) - set(".xo"):
            mover = ""
        if mover not in ("x", "o"):
            raise ValueError(f"{self.id}: expected a position such as {self.state_to_string(state)!r}, got {text!r}")
        discs = torch.tensor([[[[cell == disc for cell in row] for row in board] for disc in "xo"]])
        won = torch.stack([self._has_line(discs[:, player]) for player in range(2)], 1)
        return state.replace(
            turn=discs.sum((1, 2, 3)).to(torch.int32),
            current_player=torch.tensor(["xo".index(mover)]),
            scores=won.float(),
            terminated=won.any(1) | discs.any(1).all(2).all(1),
            discs=discs,
        )

    # Optional: pictures.

    def text(self, state: ConnectFourState) -> str:
        """Return the board for a terminal, with the numbers of the columns below it."""
        rows = [" ".join(".xo"[cell] for cell in row) for row in self.board(state)[0].tolist()]
        return "\n".join([*rows, " ".join(str((column + 1) % 10) for column in range(self.columns))])

    def draw(self, state: ConnectFourState) -> Picture:
        """Return the board as a blue frame with holes."""
        colours = ("#f4f1e8", "#d9482b", "#f2c230")
        discs = tuple(
            Circle(28 + 40 * column, 28 + 40 * row, 16, colours[cell])
            for row, cells in enumerate(self.board(state)[0].tolist())
            for column, cell in enumerate(cells)
        )
        return Picture(16 + 40 * self.columns, 16 + 40 * self.rows, "#24506e", discs, "Connect Four")


register(ConnectFour)
register(ConnectFour, id="connect-four-small-v0", summary="Connect Four on 5 x 5 cells", rows=5, columns=5)
