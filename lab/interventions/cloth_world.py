"""Interventions in games of Cloth of Gold: turns without a unit or with it elsewhere, and worlds without some units.

The recorded moves are played again by checked rules. All changed games are stepped in one batch.

Letters: `N` replays, `H, W` rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.lab.life.census import census
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError

from .effects import Intervention, Options, Replays

_CHUNK = 1024  # games that are played at the same time
_LEFT_OUT = -1  # instead of an action


@dataclass(frozen=True)
class _Change:
    """The changes of a replay.

    Attributes:
        first: The move from which on the game differs from the record, from 0.
        without: Cells of which no unit stands in the world at `first`.
        instead: Actions by the number of the move, `_LEFT_OUT` for none.
    """

    first: int
    without: tuple[int, ...] = ()
    instead: Mapping[int, int] = field(default_factory=dict)


class ClothWorld:
    """A game of Cloth of Gold that can be played again with other moves; see `effects.World`.

    Args:
        game: The rules.
        states: The positions of the record, before each move and at the end.
        actions: Its moves.
        options: See `Options`.
    """

    measure = "units of lead when the game ends"
    kinds = ("placement", "turn", "move", "cell", "object")
    usual = ("placement", "turn")
    kept = (
        "All other recorded moves are made again in their order where they are legal. A unit that has become illegal "
        "to place is left out, and so is the take-back of a unit that is not there; a turn that has nothing left is "
        "ended without a unit, also where the rules would ask for one. A changed game that ends earlier ignores the "
        "moves that are left; one that goes on when the record has no more moves is scored as it stands."
    )

    def __init__(
        self, game: ClothOfGold, states: Sequence[ClothState], actions: Sequence[int], options: Options
    ) -> None:
        self.game, self.states, self.actions, self.options = game, states, actions, options
        first, last = self.rounds = max(1, int(states[0].round)), int(states[-1].round)
        if options.at is not None and not first <= options.at <= last:
            raise InputError("at", f"a round from {first} to {last}, the last one of this game", options.at)

    @cached_property
    def turn_of(self) -> list[int]:
        """The number of the turn of each move, from 0."""
        ends = [action == self.game.end_turn for action in self.actions]
        return [0, *accumulate(map(int, ends))][: len(ends)]

    @property
    def at(self) -> int:
        """The round before which cells and objects are removed."""
        return (sum(self.rounds)) // 2 if self.options.at is None else self.options.at

    @cached_property
    def middle(self) -> int:
        """The first move of round `at`."""
        return next(number for number, state in enumerate(self.states) if int(state.round) == self.at)

    # --- interventions

    def interventions(self, kind: str) -> list[Intervention]:
        """See `World.interventions`."""
        made = {
            "placement": self._placements,
            "turn": self._turns,
            "move": self._moves,
            "cell": self._cells,
            "object": self._objects,
        }
        return list(made[kind]())

    def _placed(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the cell of each placement that is not taken back."""
        for number, cell in enumerate(self.actions):
            if cell >= self.game.cells:  # the end of the turn, or a bolt
                continue
            same = [
                n for n, action in enumerate(self.actions) if self.turn_of[n] == self.turn_of[number] and action == cell
            ]
            if number == same[-1] and len(same) % 2:
                yield number, cell

    def _seen(self, number: int) -> tuple[int, int]:
        """Return the numbers of moves played from a placement to the end of its round."""
        round = int(self.states[number].round)
        last = max(n for n in range(len(self.actions)) if int(self.states[n].round) == round)
        return number + 1, last

    def _name(self, number: int) -> str:
        state = self.states[number]
        return f"{self.game.info.players[int(state.current_player)]} round {int(state.round)}"

    def _touching(self, number: int, cell: int) -> dict[int, int]:
        """Return that no move of the turn places or takes back the unit on a cell."""
        turn = self.turn_of[number]
        same = (n for n, action in enumerate(self.actions) if self.turn_of[n] == turn and action == cell)
        return dict.fromkeys(same, _LEFT_OUT)

    def _placements(self) -> Iterator[Intervention]:
        for number, cell in self._placed():
            player, instead = int(self.states[number].current_player), self._touching(number, cell)
            name = f"{self._name(number)} {self.game.action_to_string(cell)}"
            yield Intervention(
                "placement", name, player, number, (cell,), _Change(min(instead), instead=instead), self._seen(number)
            )

    def _turns(self) -> Iterator[Intervention]:
        for turn in sorted(set(self.turn_of)):
            numbers = [n for n, of in enumerate(self.turn_of) if of == turn and self.actions[n] != self.game.end_turn]
            if numbers:
                cells = tuple(cell for number, cell in self._placed() if number in numbers)
                player = int(self.states[numbers[0]].current_player)
                change = _Change(numbers[0], instead=dict.fromkeys(numbers, _LEFT_OUT))
                yield Intervention(
                    "turn", f"{self._name(numbers[0])} turn", player, numbers[0], cells, change, self._seen(numbers[0])
                )

    def _moves(self) -> Iterator[Intervention]:
        """Yield placements on other cells that were legal, near the unit's own first."""
        width = self.game.width
        for number, cell in self._placed():
            state = self.states[number]
            legal = self.game.legal_actions(state)[0, : self.game.cells]
            legal &= ~self.game._unpacked(state.placed[:, None])[0, 0].flatten()
            places = legal.nonzero().squeeze(1).numpy()
            far = np.maximum(abs(places // width - cell // width), abs(places % width - cell % width))
            chance = np.random.default_rng(derive(self.options.seed, "moves", number)).permutation(len(places))
            near = places[np.lexsort((chance, far))]
            for other in sorted(near[near != cell][: self.options.moves].tolist()):
                player, instead = int(state.current_player), {**self._touching(number, cell), number: other}
                name = f"{self._name(number)} {self.game.action_to_string(cell)} -> {self.game.action_to_string(other)}"
                yield Intervention(
                    "move", name, player, number, (cell,), _Change(min(instead), instead=instead), self._seen(number)
                )

    def _cells(self) -> Iterator[Intervention]:
        here = (self.middle, self.middle)
        board = self.game.board(self.states[self.middle])[0].flatten().tolist()
        for cell, owner in enumerate(board):
            if owner in (1, 2):
                name = f"{self.game.info.players[owner - 1]} cell {self.game.action_to_string(cell)}, round {self.at}"
                yield Intervention("cell", name, owner - 1, self.middle, (cell,), _Change(self.middle, (cell,)), here)

    def _objects(self) -> Iterator[Intervention]:
        """Yield the objects of a census of both players' units before round `at`."""
        here = (self.middle, self.middle)
        board = self.game.board(self.states[self.middle]).numpy().astype(np.int64)
        owned = np.where(board <= 2, board, 0)
        found = census(owned > 0, wrap=False, owners=owned)
        cells: list[list[int]] = [[] for _ in found]
        for place, number in zip(found.place.tolist(), found.whose.tolist(), strict=True):
            cells[number].append(place)
        for item, places in zip(found, cells, strict=True):
            where = f"r{item.row}c{item.col}, round {self.at}"
            name = f"{self.game.info.players[item.owner - 1]} {item.kind.name} {where}"
            change = _Change(self.middle, tuple(sorted(places)))
            yield Intervention("object", name, item.owner - 1, self.middle, change.without, change, here)

    # --- replays

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """See `World.replay`."""
        changes = [_joined([item.edit for item in chosen], len(self.actions)) for chosen in sets]
        parts = [changes[first : first + _CHUNK] for first in range(0, len(changes), _CHUNK)]
        base = self._ended(self.states[-1], 0, None)
        return Replays.cat([self._played(part, base) for part in parts])

    def _played(self, changes: Sequence[_Change], base: Replays) -> Replays:
        """Return the ends of games, each played from its first change on."""
        order = sorted(range(len(changes)), key=lambda number: changes[number].first)
        waiting = list(order)
        going: list[int] = []
        state: ClothState | None = None
        ends: dict[int, ClothState] = {}
        left_out = np.zeros(len(changes), dtype=np.int64)
        for number, action in enumerate(self.actions):
            fresh = []
            while waiting and changes[waiting[0]].first == number:
                fresh.append(waiting.pop(0))
            if fresh:
                joining = self._start(number, [changes[game].without for game in fresh])
                state = joining if state is None else ClothState.cat([state, joining])
                going += fresh
            if state is None:
                continue
            chosen = [changes[game].instead.get(number, action) for game in going]
            state, skipped = self._step(state, torch.tensor(chosen, device="cpu"))
            for game, choice, skip in zip(going, chosen, skipped.tolist(), strict=True):
                left_out[game] += skip and choice != _LEFT_OUT
            if (done := state.done).any():
                for place in done.nonzero().squeeze(1).tolist():
                    ends[going[place]] = state[place]
                left = (~done).nonzero().squeeze(1)
                going = [going[place] for place in left.tolist()]
                state = state[left] if len(left) else None
        for place, game in enumerate(going):
            assert state is not None
            ends[game] = state[place]
        for game in waiting:  # nothing is changed in them
            ends[game] = self.states[-1]
        return self._ended(ClothState.cat([ends[game] for game in range(len(changes))]), left_out, base)

    def _ended(self, state: ClothState, left_out: Any, base: Replays | None) -> Replays:
        units = state.live.numpy().astype(np.float64)
        lead = units - units[:, ::-1]
        standing = np.where(state.done.numpy()[:, None], state.scores.numpy().astype(np.float64), lead)
        ended = self.game.outcome(state).numpy().astype(np.int64)
        as_it_stands = np.where(lead > 0, 1, -1)  # level is lost by both, as in the rules
        outcome = np.where(state.done.numpy()[:, None], ended, as_it_stands)
        return Replays.of(base, standing, outcome, units, left_out)

    def _start(self, number: int, without: Sequence[tuple[int, ...]]) -> ClothState:
        """Return the position before a move, once for each set of cells, without the units on them."""
        game = self.game
        state = self.states[number][torch.zeros(len(without), dtype=torch.int64, device="cpu")]
        edits = [(row, cell) for row, cells in enumerate(without) for cell in cells]
        if not edits:
            return state
        gone = torch.zeros(len(without), game.cells, dtype=torch.bool, device="cpu")
        row, cell = torch.tensor(edits, device="cpu").unbind(1)
        gone[row, cell] = True
        keep = ~game.grid.pack(gone.view(-1, game.height, game.width)).movedim(-1, 0)
        units = state.units & keep[:, None]
        live = game._unpacked(units).sum((2, 3), dtype=torch.int32)
        return game.with_territory(state.replace(units=units, live=live))

    def _step(self, state: ClothState, chosen: Tensor) -> tuple[ClothState, Tensor]:
        """Return the games after an action each, and which of them left it out, bool [N]."""
        ending = chosen == self.game.end_turn
        legal = torch.zeros_like(ending)
        acting = (chosen >= 0).nonzero().squeeze(1)
        if len(acting):
            mask = self.game.legal_actions(state[acting] if len(acting) < len(state) else state)
            legal[acting] = mask[torch.arange(len(acting), device="cpu"), chosen[acting]]
        forced = (ending & ~legal).nonzero().squeeze(1)
        playing = legal.nonzero().squeeze(1)
        if len(playing) == len(state):
            return self.game.step(state, chosen, checked=False), ~legal
        if len(playing):
            state = state.put(playing, self.game.step(state[playing], chosen[playing], checked=False))
        if len(forced):
            nothing = torch.full((len(forced), 1), -1, device="cpu")
            state = state.put(forced, self.game.play_turn(state[forced], nothing))
        return state, ~legal & ~ending

    def scene(self, kind: str) -> ClothState:
        """See `World.scene`: the world before the round at which cells are removed."""
        return self.states[self.middle]


def _joined(changes: Sequence[_Change], moves: int) -> _Change:
    """Return several changes as one; `moves` stands for a game in which nothing is changed."""
    instead = {number: action for change in changes for number, action in change.instead.items()}
    without = tuple(cell for change in changes for cell in change.without)
    return _Change(min((change.first for change in changes), default=moves), without, instead)


def cloth_world(game: ClothOfGold, record: Record, options: Options) -> ClothWorld:
    """Return the world of a record; the record is checked."""
    states: list[Any] = replay(record)
    return ClothWorld(game, states, [game.string_to_action(move) for move in record.moves], options)
