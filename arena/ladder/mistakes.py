"""Mistakes of an agent by kind of position.

The kinds are wins with the next move, threats of the opponent, and, where a game is solved, other won positions.

Letters: `L` positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellgames.agents.base import acting
from cellgames.agents.loading import load
from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.core import Game

WIN, THREAT, SOLVED = "a win with the next move", "the opponent threatens to win", "won, {} third of the game"

_NODES = 1_000  # searched for the winner of a position, some milliseconds
_THIRDS = ("first", "second", "last")


@dataclass(frozen=True)
class Mistakes:
    """Moves in positions of a kind.

    Attributes:
        kind: the kind in words.
        moves: number of moves in positions of this kind that the agent could still win or save.
        errors: number of those that missed the win, or let the opponent win.
    """

    kind: str
    moves: int
    errors: int


def mistakes(game: Game, records: Sequence[Record], agent: str) -> list[Mistakes]:
    """Return the mistakes of an agent in its own moves; none in games that give no quick answers."""
    if game.info.simultaneous or not game.info.perfect_information or game.info.stochastic:
        return []
    played = [
        _Move(state, int(parse_move(game, move)), turn / len(record.moves))
        for record in records
        for turn, (move, state) in enumerate(zip(record.moves, replay(record), strict=False))
        if turn >= record.opening and record.agents[int(state.current_player)] == agent
    ]
    if not played or game.winning_actions(played[0].state) is None:
        return []
    kinds = [WIN, THREAT, *(SOLVED.format(third) for third in _THIRDS)]
    moves, errors = Counter[str](), Counter[str]()
    for kind, wrong in _judged(game, played):
        moves[kind] += 1
        errors[kind] += wrong
    return [Mistakes(kind, moves[kind], errors[kind]) for kind in kinds if moves[kind]]


class _Move(NamedTuple):
    """A move of the agent: the position before it, a batch of one, the action, and when it was, from 0 to 1."""

    state: Any
    action: int
    when: float


def _judged(game: Game, played: Sequence[_Move]) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each position that could be won or saved, and True if the move did not."""
    before = type(played[0].state).cat([move.state for move in played])
    actions = torch.tensor([move.action for move in played])
    winning, legal, defending = game.winning_actions(before), game.legal_actions(before), game.defending_actions(before)
    assert winning is not None
    at_once = winning.any(1)
    pressed = torch.zeros_like(at_once) if defending is None else defending.any(1) & (defending != legal).any(1)
    solver = _solver(game)
    values = _values(solver, before, ~at_once)
    missed = at_once & ~winning.gather(1, actions[:, None]).squeeze(1)
    left = -_values(solver, game.step(before, actions), missed | ((values == 1) & ~pressed))
    for row, (_, action, when) in enumerate(played):
        if at_once[row]:
            yield WIN, bool(missed[row] and left[row] < 1)  # a move that wins later is no error
        elif defending is not None and pressed[row] and values[row] >= 0:
            yield THREAT, not defending[row, action]
        elif left[row]:
            yield SOLVED.format(_THIRDS[int(3 * when)]), bool(left[row] == -1)


def _solver(game: Game) -> Any:
    """Return the agent that knows who wins, None where a game is not solved."""
    try:
        found = acting(load("perfect", game), game)
    except ValueError:
        return None
    found.start(game, torch.zeros(1, dtype=torch.int64, device="cpu"), torch.zeros(1, dtype=torch.int64, device="cpu"))
    return found


def _values(solver: Any, states: Any, wanted: Tensor) -> Tensor:
    """Return 1 where the player to move wins, -1 where it loses, 0 where that is open or not wanted, int64 [L]."""
    values, rows = torch.zeros_like(wanted, dtype=torch.int64), (wanted & ~states.done).nonzero().squeeze(1)
    if solver is not None and len(rows):
        values[rows] = solver.values(states[rows], _NODES).long()
    return values
