"""Greedy Hex and Y: play where one's own cheap connections and the opponent's meet, by the cells that they still need.

Letters: `L` observations, `Q` positions of a player, `N` cells, `T` cells of a side, `M` kinds of connections.

An own cell costs 0, a free one 1, the opponent's are closed. From every cell of a side the cheapest walks to all cells
are found, and from each cell the cheapest way on to the other sides: in Hex a walk to the other side, in Y a walk to a
cell where two walks to the other two sides meet. A kind of connection is the cell of a side at which it begins, for all
sides of the goal. All positions and beginnings are relaxed at the same time, in bytes, until nothing changes.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, refuse
from cellgames.agents.playouts import lots
from cellgames.envs.connection.board_tables import board_tables, cell_places
from cellgames.envs.connection.boards import Board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game, seeds

from .walks import CLOSED, plain_ways, prices, shortened

_HALVINGS = 16  # costs this far above the least count nothing
_URGENT = 1 << 44  # more than any sum of potentials


def values(own: Tensor, opponent: Tensor, mask: Tensor) -> Tensor:
    """Return values of cells for the player to move, int64 [L, N]: cells that win come first, then those that defend.

    Else the potentials decide. The potential of a cell for a player is the sum of 2^-cost over the kinds of connections
    through it, as a share of the player's greatest; both players' are added. Everything is counted in integers, so a
    game does not depend on the batch around it.

    Args:
        own: uint8 [L, M, N], stones that the player still needs for each kind of connection through a cell.
        opponent: the same for the opponent.
        mask: bool [L, N], the free cells.
    """
    (mine, most), (theirs, their_most) = (_potential(part, mask) for part in (own, opponent))
    wins, stops = ((part.amin(1) == 1) & mask for part in (own, opponent))
    value = mine * their_most[:, None] + theirs * most[:, None]
    urgent = torch.where(wins.any(1, keepdim=True), wins, stops)
    return torch.where(mask, value + urgent * _URGENT, -1)


def _potential(costs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return potentials of the legal cells, int64 [L, N], below 2^22, and the greatest, [L], at least 1."""
    least = costs.amin(1).where(mask, CLOSED).amin(1)
    above = costs.long() - least[:, None, None]
    counts = (costs < CLOSED) & mask[:, None] & (above < _HALVINGS)
    potential = torch.where(counts, 1 << (_HALVINGS - above).clamp(0, _HALVINGS), 0).sum(1)
    return potential, potential.amax(1).clamp(min=1)


def greatest(values: Tensor, generator: torch.Generator) -> Tensor:
    """Return the place of the greatest value in each row, int64 [L]; a random one of several."""
    ties = values == values.amax(1, keepdim=True)
    return (lots(values, generator) + 1).where(ties, 0).argmax(1)


_CHUNK = 1 << 20  # bytes of walks that are relaxed together, so that they stay in a core's cache


def connection_costs(game: ConnectionGame, observation: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cost of the cheapest winning connection through each cell.

    Args:
        game: game of the observations.
        observation: int8 [L, 3 K + 1, n, n], as the game shows it to the player who asks.

    Returns:
        For the player and for the opponent, uint8 [L, M, N]: the stones still needed for the cheapest winning group
        through a cell that begins at each cell of a side. `CLOSED` or more without a connection.
    """
    batch, layout = len(observation), game.layout
    places = cell_places(layout, observation.device)
    own, opponent = observation[:, : 2 * layout.kinds].reshape(batch, 2, -1)[:, :, places].to(torch.uint8).unbind(1)
    price = torch.cat((prices(own, opponent), prices(opponent, own)))  # [2 L, N]
    black = observation[:, -1, 0, 0] == 1
    black = torch.cat((black, ~black))
    if one_goal := layout.goals[0] == layout.goals[1]:
        black = torch.ones_like(black)
    kinds = len(_beginnings(layout, 0))
    costs = torch.zeros((2 * batch, kinds, layout.cells), dtype=torch.uint8, device=price.device)
    for seat in (0,) if one_goal else (0, 1):
        for some in (black == (seat == 0)).nonzero().squeeze(1).split(max(1, _CHUNK // (layout.cells * kinds))):
            costs[some] = _search(layout, seat, price[some].t().contiguous())
    return costs[:batch], costs[batch:]


def stones_to_win(game: ConnectionGame, observation: Tensor) -> Tensor:
    """Return the stones that player and opponent still need, uint8 [L, 2]; `CLOSED` or more: cannot win."""
    return torch.stack([costs.amin((1, 2)) for costs in connection_costs(game, observation)], dim=1)


def _beginnings(layout: Board, seat: int) -> list[tuple[int, int]]:
    """Return the sides of a goal and their cells: (side, cell) for each kind of connection."""
    sides = [side for side in (1, 2, 4, 8) if layout.goals[seat] & side]
    return [(side, cell) for side in sides for cell in range(layout.cells) if layout.sides[cell] & side]


def _search(layout: Board, seat: int, price: Tensor) -> Tensor:
    """Return costs, uint8 [Q, M, N], for the prices of cells, uint8 [N, Q], and a seat's goal."""
    kinds, ways = _beginnings(layout, seat), plain_ways(layout, price.device)
    sides = list(dict.fromkeys(side for side, _ in kinds))
    # Walks from each cell of the sides, and from whole sides; a walk's cost has its last cell in it.
    board = board_tables(layout, price.device)
    single = board.cells[:, None] == torch.tensor([start for _, start in kinds], device=price.device)
    whole_sides = board.sides[:, None] & torch.tensor(sides, device=price.device) != 0
    starts = torch.cat((single, whole_sides), 1)  # [N, M + S]
    walks = shortened(torch.where(starts[..., None], price[:, None], CLOSED), price, ways)
    single, whole = walks[:, : len(kinds)], dict(zip(sides, walks[:, len(kinds) :].unbind(1), strict=True))
    onward = {}
    for side in sides:
        first, *more = (whole[other] for other in sides if other != side)
        onward[side] = first
        for other in more:  # both from one cell, which is counted once, and from there to any other
            onward[side] = shortened(_through(first, other, price)[:, None], price, ways)[:, 0]
    rest = torch.stack([onward[side] for side, _ in kinds], 1)
    return _through(single, rest, price[:, None]).permute(2, 1, 0)


def _through(one: Tensor, other: Tensor, price: Tensor) -> Tensor:
    """Return the cost of two walks that end in a cell, which is counted once, uint8."""
    both = (one.int() + other - price).clamp(max=CLOSED)
    return torch.where(price >= CLOSED, CLOSED, both).to(torch.uint8)


class ConnectionGreedy(GameAgent[ConnectionGame]):
    """An agent that wins at once if one stone does it, else stops an opponent who could, else plays by potentials.

    The potential of a cell counts all kinds of connections through it, by their costs (`connection_costs`). The agent
    plays the cell with the greatest sum of both players' potentials. Where the second player may swap, the first stone
    matters by its potential on an empty board: the agent takes over one on a cell that is better than most, and begins
    itself on a cell in the middle of that order. It keeps no memory; ties are broken by the generator, and a game does
    not depend on the batch around it.
    """

    name = "greedy"
    memoryless = True

    @override
    def check_game(self, game: Game) -> None:
        refuse(self, game, [] if isinstance(game, ConnectionGame) else ["it is neither Hex nor Y"])

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        game, cells = self.game, self.game.layout.cells
        value = values(*connection_costs(game, observation), action_mask[:, :cells])
        if game.swap:
            value = _with_swap(game, value, action_mask)
        return greatest(value, generator)


def _with_swap(game: ConnectionGame, value: Tensor, mask: Tensor) -> Tensor:
    """Return values of all actions, int64 [L, A], in which the first two turns count with the swap."""
    worth = _openings(game).to(value.device)
    middle = worth.median()
    free = mask[:, :-1]
    first = free.all(1) & ~mask[:, -1]
    # Of a first stone, the nearest to the middle; where a swap is legal, by whether the stone is better than that.
    value = torch.where(first[:, None], -(worth - middle).abs(), value)
    better = torch.where(free, 0, worth).amax(1) > middle
    swap = torch.where(mask[:, -1], torch.where(better, value.amax(1) + 1, -1), torch.iinfo(value.dtype).min)
    return torch.cat((value, swap[:, None]), 1)


@lru_cache(maxsize=32)
def _openings(game: ConnectionGame) -> Tensor:
    """Return the potentials of the cells of an empty board, int64 [N]; the mean of a cell and its mirror image."""
    state = game.init(seeds(0, 1))
    costs = connection_costs(game, game.observe(state, 0))
    return values(*costs, torch.ones((1, game.layout.cells), dtype=torch.bool, device="cpu"))[0]
