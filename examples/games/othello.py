"""Othello: a disc turns all discs between itself and another one of its colour; most discs win."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from cellgames import register
from cellgames.envs import Game, GameInfo, Space, State, check_int
from cellgames.envs.core.drawing import Circle, Picture, Rectangle

_DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


@dataclass(frozen=True, eq=False)
class OthelloState(State):
    """discs: bool [B, 2, N * N], the discs of each player, row by row from the top."""

    discs: Tensor


@dataclass(frozen=True)
class Othello(Game[OthelloState]):
    """Othello: surround the opponent's discs to turn them; who cannot move is passed over.

    Attributes:
        size: rows and columns of the board, an even number from 4 to 16.
    """

    size: int = 8

    id: ClassVar[str] = "othello-v0"

    def __post_init__(self) -> None:
        check_int(self, "size", 4, 16)
        if self.size % 2:
            raise ValueError(f"{self.id}: size must be even, got {self.size}")

    @cached_property
    def info(self) -> GameInfo:
        """Players, actions and spaces, for agents, adapters and records."""
        cells = self.size**2
        return GameInfo(
            id=self.id,
            title="Othello",
            credit="Reversi by Lewis Waterman and John Mollett, 1883; as Othello by Goro Hasegawa, 1971",
            players=("black", "white"),
            simultaneous=False,
            perfect_information=True,
            stochastic=False,
            zero_sum=True,
            max_turns=cells - 4,
            reward_range=(-1.0, 1.0),
            action_nvec=(cells,),
            observation=Space((2, self.size, self.size), torch.int8, 0, 1),
            board=Space((self.size, self.size), torch.int8, 0, 2),
        )

    @cached_property
    def _rays(self) -> Tensor:
        """The cells that lie in each direction of a cell, nearest first: int64 [N * N, 8, N - 1].

        N * N stands for what is beyond the edge.
        """

        def cell(row: int, column: int) -> int:
            inside = 0 <= row < self.size and 0 <= column < self.size
            return row * self.size + column if inside else self.size**2

        return torch.tensor(
            [
                [
                    [cell(row + down * far, column + right * far) for far in range(1, self.size)]
                    for down, right in _DIRECTIONS
                ]
                for row in range(self.size)
                for column in range(self.size)
            ]
        )

    # The three hooks of the rules.

    def _init(self, seeds: Tensor) -> OthelloState:
        """Return new games: two discs of each colour in the middle."""
        discs = torch.zeros((len(seeds), 2, self.size, self.size), dtype=torch.bool, device=seeds.device)
        low, high = self.size // 2 - 1, self.size // 2
        discs[:, 0, low, high] = discs[:, 0, high, low] = True
        discs[:, 1, low, low] = discs[:, 1, high, high] = True
        state = OthelloState.new(seeds, 2, discs=discs.flatten(2))
        return state.replace(scores=state.discs.sum(2).float())

    def _step(self, state: OthelloState, actions: Tensor) -> OthelloState:
        """Place a disc in every game, and turn what it surrounds."""
        mover = state.current_player
        seen = _as_seen_by(state.discs, mover)
        rays = self._rays.to(state.device)[actions]  # [B, 8, N - 1]
        own, theirs = (_at(seen[:, colour], rays) for colour in (0, 1))
        run = theirs.cumprod(2)  # 1 as long as only discs of the opponent came
        turned = (run > 0) & _ends_own(run, own)[:, :, None]
        cells = torch.where(turned, rays, self.size**2).flatten(1)
        changed = torch.zeros((len(state), self.size**2 + 1), dtype=torch.bool, device=state.device)
        changed = changed.scatter(1, cells, True).scatter(1, actions[:, None], True)[:, :-1]
        discs = _as_seen_by(torch.stack((seen[:, 0] | changed, seen[:, 1] & ~changed), 1), mover)
        # The opponent's turn, if it can move; else the mover's again; if nobody can move, the game is over.
        can, must = (self._moves(discs, player).any(1) for player in (1 - mover, mover))
        over = ~can & ~must
        scores = discs.sum(2).float()
        rewards = (scores - scores.flip(1)).sign() * over[:, None]
        return state.replace(
            turn=state.turn + 1,
            current_player=torch.where(can, 1 - mover, mover),
            rewards=rewards,
            scores=scores,
            terminated=over,
            discs=discs,
        )

    def _legal(self, state: OthelloState) -> Tensor:
        """Return the cells from which a disc turns others, bool [B, N * N]."""
        return self._moves(state.discs, state.current_player)

    def _why_illegal(self, state: OthelloState, seat: int, component: int, action: int) -> str:
        taken = bool(state.discs[0, :, action].any())
        return f"{self.action_to_string(action)} {'has a disc' if taken else 'turns no disc'}"

    def _moves(self, discs: Tensor, player: Tensor) -> Tensor:
        """Return the legal moves of a player, int64 [B], whoever's turn it is: bool [B, N * N]."""
        seen, rays = _as_seen_by(discs, player), self._rays.to(discs.device)
        own, theirs = (_at(seen[:, colour], rays.flatten()[None]).view(-1, *rays.shape) for colour in (0, 1))
        return _ends_own(theirs.cumprod(3), own).any(2) & ~discs.any(1)

    # What players see, and the result.

    def observe(self, state: OthelloState, player: Tensor | int) -> Tensor:
        """Return int8 [B, 2, N, N]: one's own discs, and the opponent's."""
        seat = torch.as_tensor(player, device=state.device).expand(len(state))
        return _as_seen_by(state.discs, seat).view(-1, 2, self.size, self.size).to(torch.int8)

    def board(self, state: OthelloState) -> Tensor:
        """Return int8 [B, N, N]: 0 empty, 1 black, 2 white."""
        colours = state.discs[:, 0].to(torch.int8) + 2 * state.discs[:, 1].to(torch.int8)
        return colours.view(-1, self.size, self.size)

    def outcome(self, state: OthelloState) -> Tensor:
        """Return the results; as many discs of both colours are a draw."""
        lead = (state.scores - state.scores.flip(1)).sign().to(torch.int8)
        return torch.where(state.done[:, None], lead, 0)

    # Optional: symmetries, from which AlphaZero learns more per game.

    @property
    def symmetries(self) -> int:
        """Four quarter turns, each of them mirrored or not."""
        return 8

    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Turn and mirror the boards; see `Game`."""
        cells = torch.arange(self.size**2, device=which.device).view(self.size, self.size)
        turned = [torch.rot90(cells, quarter) for quarter in range(4)]
        source = torch.stack([board.flatten() for turn in turned for board in (turn, turn.T)])[which]  # [L, N * N]

        def moved(values: Tensor) -> Tensor:
            places = source.view(len(source), *[1] * (values.ndim - 2), -1)
            return values.gather(-1, places.expand(values.shape))

        return moved(observation.flatten(2)).view(observation.shape), moved(actions)

    # Optional: moves and positions as text.

    def action_to_string(self, action: int) -> str:
        """Return such as `c4`: column c, row 4 from the top."""
        row, column = divmod(action, self.size)
        return f"{chr(ord('a') + column)}{row + 1}"

    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        names = [self.action_to_string(action) for action in range(self.size**2)]
        if text not in names:
            raise ValueError(f"{self.id}: expected a cell from {names[0]} to {names[-1]}, got {text!r}")
        return names.index(text)

    def state_to_string(self, state: OthelloState) -> str:
        """Return such as `..../.ox./.xo./.... x`: the rows from the top, and whose turn it is (x is Black)."""
        rows = ("".join(".xo"[cell] for cell in row) for row in self.board(state)[0].tolist())
        return f"{'/'.join(rows)} {'xo'[int(state.current_player)]}"

    def string_to_state(self, text: str, seed: int = 0) -> OthelloState:
        """Return the position of a text by `state_to_string`."""
        state = self.init(torch.tensor([seed]))
        rows, _, mover = text.partition(" ")
        board = rows.split("/")
        if [len(row) for row in board] != [self.size] * self.size or set("".join(board)) - set(".xo"):
            mover = ""
        if mover not in ("x", "o"):
            raise ValueError(f"{self.id}: expected a position such as {self.state_to_string(state)!r}, got {text!r}")
        discs = torch.tensor([[[cell == disc for row in board for cell in row] for disc in "xo"]])
        player = torch.tensor(["xo".index(mover)])
        over = ~self._moves(discs, player).any(1) & ~self._moves(discs, 1 - player).any(1)
        return state.replace(
            turn=(discs.sum((1, 2)) - 4).to(torch.int32),
            current_player=player,
            scores=discs.sum(2).float(),
            terminated=over,
            discs=discs,
        )

    # Optional: pictures.

    def text(self, state: OthelloState) -> str:
        """Return the board for a terminal, with the names of rows and columns."""
        board = self.board(state)[0].tolist()
        rows = [f"{row + 1:2} " + " ".join(".xo"[cell] for cell in cells) for row, cells in enumerate(board)]
        return "\n".join(["   " + " ".join(chr(ord("a") + column) for column in range(self.size)), *rows])

    def draw(self, state: OthelloState) -> Picture:
        """Return a green board with black and white discs."""
        shapes: list[Circle | Rectangle] = []
        for row, cells in enumerate(self.board(state)[0].tolist()):
            for column, cell in enumerate(cells):
                shapes.append(Rectangle(8 + 36 * column, 8 + 36 * row, 35, 35, "#2e7d4f"))
                if cell:
                    shapes.append(Circle(25.5 + 36 * column, 25.5 + 36 * row, 14, ("#1c1c1c", "#f7f5ef")[cell - 1]))
        side = 16 + 36 * self.size
        return Picture(side, side, "#1d4f33", tuple(shapes), "Othello")


def _as_seen_by(discs: Tensor, player: Tensor) -> Tensor:
    """Return the player's own discs, then the opponent's: [B, 2, ...] of a player, int64 [B]. It is its own inverse."""
    return torch.where((player == 1).view(-1, *[1] * (discs.ndim - 1)), discs.flip(1), discs)


def _at(discs: Tensor, cells: Tensor) -> Tensor:
    """Return the discs, bool [B, N * N], at cells, int64 [B or 1, ...], as int8; 0 beyond the edge."""
    padded = torch.nn.functional.pad(discs.to(torch.int8), (0, 1))
    places = cells.flatten(1).expand(len(discs), -1)
    return padded.gather(1, places).view(len(discs), *cells.shape[1:])


def _ends_own(run: Tensor, own: Tensor) -> Tensor:
    """Return True for rays on which discs of the opponent, at least one, end at one's own: [..., N - 1] to [...]."""
    return ((run[..., :-1] > 0) & (own[..., 1:] > 0)).any(-1)


register(Othello)
register(Othello, id="othello-small-v0", summary="Othello on 6 x 6 cells", size=6)
