"""Interventions in games of Torus: positions without a stone, and other moves, by their values.

A position's value is known where the game is over, exact where the board is solved, and that of a search elsewhere.

Letters: `N` replays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.agents.base import acting, draw_seeds, takes_states
from cellgames.agents.torus.proof_search import ProofSearch
from cellgames.arena.play.match import derive
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.native import library
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.utils.foreign_text import shown

from .effects import Intervention, Options, Replays

if TYPE_CHECKING:
    from cellgames.agents.search import SearchResult

__all__ = ["TorusWorld", "torus_world"]

SOLVED = (3, 4)
"""Sizes of boards whose positions are solved, whatever stones they hold."""

_AGENTS = ("gumbel:256", "mcts:1000")  # the first that can search the board
_MOST_AT_ONCE = 256
_WON = 0.5  # from which on a value counts as a win

Values: TypeAlias = npt.NDArray[np.float64]


class TorusWorld:
    """A game whose positions can be changed and valued again; see `effects.World`.

    Args:
        game: The rules.
        states: The positions of the record, before each move and at the end.
        actions: Its moves.
        options: See `Options`; without an agent, boards of sizes 3 and 4 are solved exactly.
    """

    kinds = ("stone", "move")
    usual = ("stone",)

    def __init__(self, game: Torus, states: Sequence[TorusState], actions: Sequence[int], options: Options) -> None:
        self.game, self.states, self.actions, self.options = game, states, actions, options
        if options.at is not None and not 1 <= options.at <= len(actions):
            raise ValueError(f"expected a ply from 1 to {len(actions)}, the last one of this game, got {options.at}")
        self.exact = not options.agent and game.size in SOLVED and library(torch.device("cpu")) is not None

    @property
    def at(self) -> int:
        """The number of moves after which stones are removed."""
        return len(self.actions) if self.options.at is None else self.options.at

    @property
    def measure(self) -> str:
        """See `World.measure`."""
        how = "by exact solution" if self.exact else f"by {self._name} where the game goes on"
        return f"value from -1, lost, to 1, won, {how}"

    @property
    def kept(self) -> str:
        """See `World.kept`."""
        return (
            f"Stones are taken from the position after move {self.at}: all other stones stay, the same player is to "
            "move, and the value is that of the position from then on, not of the recorded moves that follow. For a "
            "move, the value after it is compared with that after another move of the same player; the moves that "
            "follow are free in both. A value of 0.5 or more counts as won, one of -0.5 or less as lost."
        )

    # --- interventions

    def interventions(self, kind: str) -> list[Intervention]:
        """See `World.interventions`."""
        return list({"stone": self._stones, "move": self._moves}[kind]())

    def _stones(self) -> Iterator[Intervention]:
        for number, cell in enumerate(self.actions[: self.at]):
            player = int(self.states[number].current_player)
            name = f"{self.game.info.players[player]} {self.game.action_to_string(cell)}"
            yield Intervention("stone", name, player, number, (cell,), cell, (self.at, self.at))

    def _moves(self) -> Iterator[Intervention]:
        for number, cell in enumerate(self.actions):
            player = int(self.states[number].current_player)
            legal = self.game.legal_actions(self.states[number])[0]
            legal[cell] = False
            others = legal.nonzero().squeeze(1).numpy()
            chance = np.random.default_rng(derive(self.options.seed, "moves", number))
            for other in sorted(chance.permutation(others)[: self.options.moves].tolist()):
                played, instead = map(self.game.action_to_string, (cell, other))
                name = f"{number + 1}. {self.game.info.players[player]} {played} -> {instead}"
                yield Intervention("move", name, player, number, (cell,), (number, other))

    # --- values

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """See `World.replay`; another move is compared with the recorded one, after each of which play is free."""
        if kind == "stone":
            values = self._values([self._without([item.edit for item in chosen]) for chosen in [(), *sets]])
            return _ends(values[1:], values[:1].repeat(len(sets), 0))
        if any(len(chosen) > 1 for chosen in sets):
            raise ValueError("pairs of moves are not defined: the second would be played in another game")
        edits = [chosen[0].edit if chosen else (len(self.actions) - 1, self.actions[-1]) for chosen in sets]
        changed = [self._after(*edit) for edit in edits]
        values = self._values([*changed, *(self.states[number + 1] for number, _ in edits)])
        return _ends(*np.split(values, 2))

    def _without(self, cells: Sequence[int]) -> TorusState:
        """Return the position after move `at` without the stones on some cells."""
        state = self.states[self.at]
        if not cells:
            return state
        board = self.game.board(state)[0].tolist()
        marks = "".join(".xo"[0 if cell in cells else stone] for cell, stone in enumerate(board))
        size = self.game.size
        rows = [marks[first : first + size] for first in range(0, len(marks), size)]
        player = int(self.states[self.at].current_player)
        return self.game.string_to_state(f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {'bw'[player]}")

    def _after(self, number: int, cell: int) -> TorusState:
        return self.game.step(self.states[number], torch.tensor([cell], device="cpu"))

    def _values(self, states: Sequence[TorusState]) -> Values:
        """Return the values of positions for both players, [N, 2]."""
        known: dict[str, int] = {}  # positions by their text, as many come more than once
        rows = [known.setdefault(self.game.state_to_string(state), len(known)) for state in states]
        first = [rows.index(row) for row in range(len(known))]
        state = TorusState.cat([states[number] for number in first])
        values = self.game.outcome(state).double()
        going = (~state.done).nonzero().squeeze(1)
        for part in going.split(_MOST_AT_ONCE) if len(going) else ():
            values[part] = self._solved(state[part]) if self.exact else self._searched(state[part])
        return values[rows].numpy()

    @cached_property
    def _solver(self) -> ProofSearch:
        return ProofSearch(self.game.size)

    def _solved(self, state: TorusState) -> Tensor:
        value = self._solver.solve(state).double()
        seats = torch.arange(2, device="cpu")
        return torch.where(seats == state.current_player[:, None], value[:, None], -value[:, None])

    @cached_property
    def _agent(self) -> Any:
        from cellgames.agents.loading import load

        if self.options.agent:
            return load(self.options.agent, self.game)
        *better, last = _AGENTS
        for spec in better:
            try:
                return load(spec, self.game)
            except (ValueError, ImportError):  # no weights of this size, or nothing that reads them
                continue
        return load(last, self.game)

    @property
    def _name(self) -> str:
        return str(self._agent.name)

    def _searched(self, state: TorusState) -> Tensor:
        searcher = acting(self._agent, self.game)
        if not (takes_states(self._agent, self.game) and hasattr(searcher, "search")):
            raise ValueError(f"agent {shown(self._name)} does not search, so it has no values of positions")
        env_ids, random = torch.arange(len(state), device="cpu"), torch.Generator()
        random.manual_seed(derive(self.options.seed, "explain"))
        searcher.start(self.game, state.current_player, env_ids)
        searched = state.replace(seed=draw_seeds(len(state), random, state.device))
        found: SearchResult = searcher.search(searched, env_ids, random)
        return found.value.double()

    def scene(self, kind: str) -> TorusState:
        """See `World.scene`: the position after move `at`."""
        return self.states[self.at]


def _ends(values: Values, against: Values) -> Replays:
    """Return values of positions, [N, 2], and of those that they are compared with, as replays."""
    outcome, other = (np.where(abs(part) >= _WON, np.sign(part), 0).astype(np.int64) for part in (values, against))
    return Replays(values, outcome, values, np.zeros(len(values), dtype=np.int64), against, other)


def torus_world(game: Torus, record: Record, options: Options) -> TorusWorld:
    """Return the world of a record; the record is checked."""
    states: list[Any] = replay(record)
    return TorusWorld(game, states, [game.string_to_action(move) for move in record.moves], options)
