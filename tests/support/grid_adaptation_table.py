"""Positions of Grid Adaptation, and tables at which the game and its slow reference play the same match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import torch
from grid_adaptation_reference import BUY, FLIP, NO_TILE, RESERVE, TILES, VOTE, Board, Cell, ReferenceMatch, drawn
from torch import Tensor

import cellgames
from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation import GridAdaptation, GridState

# A field of the state, and what the reference calls it.
NAMES = {
    "sequence": "sequences",
    "scores": "points",
    "reserves": "held",
    "garnets": "garnets",
    "bought": "bought",
    "tokens": "tokens",
    "public": "public",
    "round": "round",
    "turn": "turn",
    "candidate": "candidate",
}


def always(candidate: int) -> Callable[[list[int]], int]:
    """Chance as the game had it; the reference refuses a player who is not among those it asks about."""
    return lambda among: candidate


def make(**parameters: Any) -> GridAdaptation:
    game = cellgames.make("grid-adaptation-v0", **parameters)
    assert isinstance(game, GridAdaptation)
    return game


def packed(boards: Tensor) -> Tensor:
    """What the field `planes` holds of boards [B, H, W]."""
    tiles = boards != NO_TILE
    cells = torch.stack([tiles, *(tiles & (boards >> place & 1 == 1) for place in (2, 1, 0))], 1)
    size = boards.shape[-1]
    return PackedGrid(size, size).pack(cells).movedim(-1, 0).contiguous()


def position(game: GridAdaptation, board: Board | None = None, *, seed: int = 0, **fields: Any) -> GridState:
    """A batch of one with some fields of a new match replaced, each as numbers without the batch."""
    state: GridState = game.init(seeds(seed, 1))
    new = {name: torch.tensor([value], dtype=getattr(state, name).dtype) for name, value in fields.items()}
    if board is not None:
        new["planes"] = packed(torch.tensor([board]))
    return state.replace(**new)


def reference_of(game: GridAdaptation, state: GridState, board: Board | None = None) -> ReferenceMatch:
    """The reference in the position of a batch of one; on a board of one's own, or the game's."""
    fields = {other: getattr(state, name)[0].long().tolist() for name, other in NAMES.items()}
    tied = {player for player, flag in enumerate(state.tied[0].tolist()) if flag}
    board = game.board(state)[0].tolist() if board is None else board
    return ReferenceMatch(**game.parameters, **fields, tied=tied, board=board, terminated=bool(state.terminated))


def flags(match: ReferenceMatch, player: int) -> list[bool]:
    """A player's mask by the reference."""
    cells = match.size**2 + 1
    sizes = (cells, cells, cells, cells, 4, 2, match.players + 1)
    return [choice in legal for size, legal in zip(sizes, match.legal(player), strict=True) for choice in range(size)]


def agree(game: GridAdaptation, state: GridState, matches: Sequence[ReferenceMatch]) -> None:
    """Everything that the batch says is what the reference says."""
    legal, outcome, board = game.legal_actions(state), game.outcome(state), game.board(state)
    placed = game.grid.unpack(state.placed.movedim(0, -1))
    infos = [{name: value.tolist() for name, value in game.infos(state, p).items()} for p in range(game.players)]
    assert (legal.dtype, board.dtype, outcome.dtype) == (torch.bool, torch.int8, torch.int8)
    assert not state.truncated.any()
    assert not state.current_player.any()
    rewards = torch.tensor([one.rewards for one in matches])
    torch.testing.assert_close(state.rewards, rewards, rtol=1e-5, atol=1e-4)
    for env_id, one in enumerate(matches):
        assert board[env_id].tolist() == one.board
        assert {(row, col) for row, col in placed[env_id].nonzero().tolist()} == one.placed
        for name, other in NAMES.items():
            assert getattr(state, name)[env_id].tolist() == getattr(one, other), name
        assert {player for player, tied in enumerate(state.tied[env_id].tolist()) if tied} == one.tied
        assert bool(state.terminated[env_id]) == one.terminated
        assert outcome[env_id].tolist() == one.outcome
        for player in range(game.players):
            assert legal[env_id, player].tolist() == flags(one, player), player
            assert {name: value[env_id] for name, value in infos[player].items()} == one.infos(player)


class Table:
    """A match from a drawn board, played by the game and by the reference; after every step they must agree.

    The board is rows of sequences and dots; fields of the state are as `position` takes them.
    """

    def __init__(self, game: GridAdaptation, board: str = "", *, seed: int = 0, **fields: Any) -> None:
        cells = drawn(board) if board else [[NO_TILE] * game.size for _ in range(game.size)]
        self.game, self.state = game, position(game, cells, seed=seed, **fields)
        self.match = reference_of(game, self.state, cells)
        agree(game, self.state, [self.match])

    def actions(
        self,
        tiles: Mapping[int, Cell | Sequence[Cell]] | None = None,
        *,
        reserve: Mapping[int, Cell] | None = None,
        flip: Mapping[int, int] | None = None,
        buy: Sequence[int] = (),
        vote: Mapping[int, int] | None = None,
    ) -> Tensor:
        """int64 [1, P, 7] of cells (row, col), by player.

        Who names fewer spaces than it must names the last of them again. Who names none names the last free space of
        the board, as others do who name none; nothing is placed there, or a single tile that vanishes.
        """
        size, match, tiles = self.game.size, self.match, tiles or {}
        away = max(match.free(), default=size * size)
        actions = [list(match.none) for _ in range(match.players)]
        for player, action in enumerate(actions):
            if match.voting:
                break
            given = tiles.get(player, ())
            cells: Sequence[Any] = [given] if given and isinstance(given[0], int) else given
            spaces = [row * size + col for row, col in cells] or [away]
            for slot in TILES[: match.slots()]:
                action[slot] = spaces[min(slot, len(spaces) - 1)]
        for player, (row, col) in (reserve or {}).items():
            actions[player][RESERVE] = row * size + col
        for component, choices in ((FLIP, flip), (BUY, dict.fromkeys(buy, 1)), (VOTE, vote)):
            for player, choice in (choices or {}).items():
                actions[player][component] = choice
        return torch.tensor([actions])

    def play(self, *args: Any, **kwargs: Any) -> Self:
        """One step with the `actions` of these arguments."""
        return self.step(self.actions(*args, **kwargs))

    def step(self, actions: Tensor, *, checked: bool = True) -> Self:
        """One step with actions [1, P, 7]."""
        self.state = self.game.step(self.state, actions, checked=checked)
        self.match.step(actions[0].tolist(), always(int(self.state.candidate)))
        agree(self.game, self.state, [self.match])
        return self

    @property
    def board(self) -> Board:
        board: Board = self.game.board(self.state)[0].tolist()
        return board

    def read(self, name: str) -> Any:
        """A field of the state without the batch."""
        return getattr(self.state, name)[0].tolist()
