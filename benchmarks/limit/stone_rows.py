"""Random play of Torus, Hex and Y, and the search of Torus, by the package and by C++."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

import cellgames
from cellgames.agents.search import PlayoutEvaluator, UCTSearch
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.vector import Vector
from cellgames.envs.stones.stone_game import StoneGame

from .measuring import Row
from .programs import call, difference, room

CELLS = 128
STEPS = 25  # a call
CHECKED_GAMES, CHECKED_STEPS = 128, 300
SEARCHES, SIMULATIONS, DEEPER = 256, 200, 400
FEW, CORRELATION = 48, 0.9  # positions whose values are compared, and how alike they are at least


def _structure(numbers: tuple[str, ...], addresses: tuple[str, ...]) -> type[ctypes.Structure]:
    """Return a structure of whole numbers, then addresses, as a program takes its games."""
    fields = [(name, ctypes.c_int64) for name in numbers] + [(name, ctypes.c_void_p) for name in addresses]
    return type("Games", (ctypes.Structure,), {"_fields_": fields})


_RESULTS = ("actions", "rewards", "terminated", "mask", "seen", "random")
_TORUS = _structure(("games",), ("codes", "free", "losing", "turn", *_RESULTS))
_BOARDS = ("near", "sides", "places", "colours", "parents", "reached", "free", "turn", *_RESULTS)
_CONNECTION = _structure(("games", "cells", "square", "black", "white"), _BOARDS)


class Play:
    """Games that a C++ program plays at random.

    Args:
        game: Torus n = 8, or Hex or Y on hexagons without the swap.
        games: how many, a multiple of 64.
        observe: also write what the player to move sees.

    Attributes:
        actions, rewards, terminated, mask, seen: of the last step, as `Vector` gives them.
    """

    def __init__(self, game: StoneGame, games: int, *, observe: bool) -> None:
        cells, planes = game.num_cells, game.info.observation.shape
        self.actions, self.rewards = room((games,)), room((games, 2), torch.float32)
        self.terminated, self.mask = room((games,), torch.uint8), room((games, cells), torch.uint8)
        self.seen = room((games, *planes), torch.uint8)
        results = {name: getattr(self, name) for name in _RESULTS[:-1]}
        turn = {"turn": room((games,), torch.uint8)}
        missing = set[str]() if observe else {"seen"}
        if isinstance(game, ConnectionGame):
            self._name, board = "connection", game.layout
            near = [[*ring, *[cell] * (6 - len(ring))] for cell, ring in enumerate(board.neighbours)]
            at = {(row, column): cell for cell, (_, row, column) in enumerate(board.spots)}
            square = [at.get(divmod(place, game.size), 255) for place in range(game.size**2)]
            tables = {"near": near, "sides": board.sides, "places": square}
            arrays = {name: torch.tensor(table, dtype=torch.uint8) for name, table in tables.items()}
            arrays |= {name: room((games, 256), torch.uint8) for name in ("colours", "parents", "reached")}
            arrays |= turn | {"free": room((games, 4)), "random": torch.arange(1, 5)} | results
            numbers = {"cells": cells, "square": game.size**2, "black": board.goals[0], "white": board.goals[1]}
            missing |= {"places"} if cells == game.size**2 else set[str]()
        else:
            self._name, numbers = "torus", {}
            lots = torch.randint(1, 1 << 31, (4, 16), generator=torch.Generator().manual_seed(0)).int()
            arrays = {"codes": room((games, cells), torch.int16), "free": room((games, 2)), "random": lots.contiguous()}
            arrays |= turn | {"losing": room((games,), torch.uint8)} | results
        self._memory = arrays  # kept alive
        addresses = {name: array.data_ptr() for name, array in arrays.items() if name not in missing}
        kind = _CONNECTION if isinstance(game, ConnectionGame) else _TORUS
        self._games = kind(games=games, **numbers, **addresses)
        call(f"limit_{self._name}_start", self._games)

    def steps(self, count: int, threads: int) -> None:
        """Play some steps."""
        call(f"limit_{self._name}_steps", self._games, count, threads)


GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "torus": ("Torus n = 8", {"size": 8}),
    "hex": ("Hex 11 x 11", {"size": 11, "swap": False}),
    "y": ("Y 13", {"size": 13, "swap": False}),
}


def random_play(name: str, games: int, *, observe: bool, target: float) -> Row:
    """Return the row of random play in so many games, with all that a step gives."""
    title, parameters = GAMES[name]
    game = cellgames.make(f"{name}-v0", **parameters)
    assert isinstance(game, StoneGame)
    _check_play(game)
    vector: Vector = game.vector(games, seed=0, reuse_buffers=True, observe=torch.int8 if observe else None)
    generator, theirs = torch.Generator().manual_seed(0), Play(game, games, observe=observe)

    def ours() -> None:
        for _ in range(STEPS):
            vector.step_random(generator)
            vector.legal_actions  # noqa: B018  # the mask is one of the outputs
            if observe:
                vector.observation  # noqa: B018  # and so is this

    for _ in range(6):  # so that the games are in all stages
        theirs.steps(STEPS, 1)
        ours()
    what = f"{title}, random play, {games:,} games: actions, rewards, ends, masks, new games"
    what += ", observations" if observe else ""
    row = f"{name}_{games}" + ("_observed" if observe else "")
    return Row(row, what, "moves", games * STEPS, ours, lambda threads: theirs.steps(STEPS, threads), target=target)


def _check_play(game: StoneGame) -> None:
    """Play what the program plays with the package: the same rewards, ends, masks and observations."""
    vector: Vector = game.vector(CHECKED_GAMES, compile="never", observe=torch.int8)
    play = Play(game, CHECKED_GAMES, observe=True)
    for step in range(CHECKED_STEPS):
        play.steps(1, 1 + step % 2)
        result = vector.step(play.actions)
        difference(game.id, result.rewards, play.rewards)
        difference(game.id, result.terminated, play.terminated)
        difference(game.id, vector.legal_actions, play.mask)
        difference(game.id, vector.observation, play.seen)


def uct() -> Row:
    """Return the row of UCT from the empty board, a tree for each of some games."""
    game = cellgames.make("torus-v0", size=8)
    _check_boards(game)
    _check_values(game)
    search, state = UCTSearch(game, SIMULATIONS, evaluator=PlayoutEvaluator(1)), game.init(seeds(0, SEARCHES))
    generator, moves = torch.Generator().manual_seed(0), torch.full((SEARCHES, 1), -1, dtype=torch.int16)

    def ours() -> None:
        with torch.no_grad():
            search.run(state, generator)

    what = f"UCT, Torus n = 8, one playout a simulation, {SIMULATIONS} simulations in each of {SEARCHES} games"
    work = SEARCHES * SIMULATIONS
    return Row(
        "uct", what, "simulations", work, ours, lambda threads: _search(moves, SIMULATIONS, threads), target=400e3
    )


def _search(moves: Tensor, simulations: int, threads: int) -> tuple[Tensor, Tensor]:
    """Return simulations done and values for Black, [games] each, of positions after moves, int16 [games, length]."""
    games, length = moves.shape
    done, value, visits = room((games,)), room((games,), torch.float32), room((games, CELLS), torch.float32)
    call("limit_uct", games, length, moves, simulations, threads, 1, done, value, visits)
    if not torch.equal(visits.sum(1).long(), done):
        raise RuntimeError("uct: the C++ program's visits are not its simulations")
    return done, value


def _check_boards(game: Game, games: int = 256) -> None:
    """Play games from a shuffled order to the end: the winner is the one whose colour wins the full board."""
    orders = torch.rand((games, CELLS), generator=torch.Generator().manual_seed(1)).argsort(1)
    state = game.init(seeds(0, games))
    winner = torch.zeros(games, dtype=torch.int64)
    for turn in range(CELLS):
        going = (winner == 0).nonzero().squeeze(1)
        after = game.step(state[going], orders[going, turn], checked=False)
        winner[going] = torch.where(after.done, 1 + turn % 2, 0)
        state = state.put(going, after)
        if bool((winner > 0).all()):
            break
    black = torch.zeros((games, CELLS), dtype=torch.int64).scatter_(1, orders[:, ::2], 1)
    bits = torch.tensor([1 << bit if bit < 63 else -(1 << 63) for bit in range(64)])
    octagons, squares = ((half * bits).sum(1).contiguous() for half in black.split(64, 1))
    found = room((games,))
    call("limit_filled", games, octagons, squares, found)
    difference("uct", winner, found)


def _check_values(game: Game) -> None:
    """Search positions with both: values go together, and what both call certain is the same."""
    generator = torch.Generator().manual_seed(2)
    state, moves = game.init(seeds(0, FEW)), []
    for _ in range(40):
        legal = game.legal_actions(state)
        chosen = torch.rand(legal.shape, generator=generator).masked_fill(~legal, -1).argmax(1)
        after = game.step(state, chosen, checked=False)
        if bool(after.done.any()):
            break
        state = after
        moves.append(chosen)
    result = UCTSearch(game, DEEPER, evaluator=PlayoutEvaluator(1)).run(state, generator)
    ours = result.value[:, 0]
    _, theirs = _search(torch.stack(moves, 1).to(torch.int16).contiguous(), DEEPER, 1)
    certain = (ours.abs() == 1) & (theirs.abs() == 1)
    alike = float(torch.corrcoef(torch.stack((ours, theirs)))[0, 1])
    if alike < CORRELATION or not torch.equal(ours[certain], theirs[certain]):
        raise RuntimeError(f"uct: the C++ program's values go with the package's by {alike:.2f} only")
