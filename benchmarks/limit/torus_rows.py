"""Random play of Torus and its search, by the package and by C++."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

import cellgames
from cellgames.agents.search import PlayoutEvaluator, UCTSearch
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.vector import Vector

from .measuring import Row
from .programs import call, difference, room

CELLS = 128
STEPS = 25  # a call
CHECKED_GAMES, CHECKED_STEPS = 128, 300
SEARCHES, SIMULATIONS, DEEPER = 256, 200, 400
FEW, CORRELATION = 48, 0.9  # positions whose values are compared, and how alike they are at least


class _Games(ctypes.Structure):
    """`LimitTorus` of sources/torus.cpp."""

    _fields_ = (
        ("games", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("codes", "free", "losing", "turn", "actions", "rewards", "terminated")),
        ("mask", ctypes.c_void_p),
        ("random", ctypes.c_void_p),
    )


class Play:
    """Games of Torus n = 8 that a C++ program plays at random.

    Args:
        games: how many, a multiple of 64.

    Attributes:
        actions, rewards, terminated, mask: of the last step, as `Vector` gives them.
    """

    def __init__(self, games: int) -> None:
        self.actions = room((games,))
        self.rewards = room((games, 2), torch.float32)
        self.terminated, self.mask = room((games,), torch.uint8), room((games, CELLS), torch.uint8)
        state = {"codes": room((games, CELLS), torch.int16), "free": room((games, 2))}
        state |= {name: room((games,), torch.uint8) for name in ("losing", "turn")}
        lots = torch.randint(1, 1 << 31, (4, 16), generator=torch.Generator().manual_seed(0)).int()
        self._memory = {**state, "random": lots.contiguous()}  # kept alive
        arrays = {**self._memory, "actions": self.actions, "rewards": self.rewards}
        arrays |= {"terminated": self.terminated, "mask": self.mask}
        self._games = _Games(games, **{name: array.data_ptr() for name, array in arrays.items()})
        call("limit_torus_start", self._games)

    def steps(self, count: int, threads: int) -> None:
        """Play some steps."""
        call("limit_torus_steps", self._games, count, threads)


def random_play(games: int) -> Row:
    """Return the row of random play in so many games, with all that a step gives."""
    _check_play()
    vector: Vector = cellgames.make("torus-v0", size=8).vector(games, seed=0, reuse_buffers=True)
    generator, theirs = torch.Generator().manual_seed(0), Play(games)

    def ours() -> None:
        for _ in range(STEPS):
            vector.step_random(generator)
            vector.legal_actions  # noqa: B018  # the mask is one of the outputs

    for _ in range(6):  # so that the games are in all stages
        theirs.steps(STEPS, 1)
    what = f"Torus n = 8, random play, {games:,} games: actions, rewards, ends, masks, new games"
    work = games * STEPS
    return Row(f"torus_{games}", what, "moves", work, ours, lambda threads: theirs.steps(STEPS, threads), target=25e6)


def _check_play() -> None:
    """Play what the program plays with the package: the same rewards, ends and masks."""
    vector: Vector = cellgames.make("torus-v0", size=8).vector(CHECKED_GAMES, compile="never")
    play = Play(CHECKED_GAMES)
    for step in range(CHECKED_STEPS):
        play.steps(1, 1 + step % 2)
        result = vector.step(play.actions)
        difference("torus", result.rewards, play.rewards)
        difference("torus", result.terminated, play.terminated)
        difference("torus", vector.legal_actions, play.mask)


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
