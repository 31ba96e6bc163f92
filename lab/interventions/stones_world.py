"""Interventions in games of Torus, Hex and Y: positions without a stone, and other moves, by their values.

A position's value is known where the game is over, exact where the position is solved, and that of a search elsewhere.

Letters: `N` replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.agents.base import acting, draw_seeds, takes_states
from cellgames.agents.solving.prover import UNLIMITED, ProofSearch, proof_search
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.native import library
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_state import StoneState
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError, shown

from .effects import Intervention, Options, Replays

if TYPE_CHECKING:
    from cellgames.agents.search import SearchResult

_AGENTS = ("gumbel:256", "mcts:1000")  # the first that can search the board
_MOST_AT_ONCE = 256
_EXACT_CELLS, _SOLVED_CELLS = 32, 36  # boards above the former are solved as far as some nodes decide
_NODES = 50_000  # for a position of them; they take about a second
_WON = 0.5  # from which on a value counts as a win

Solve: TypeAlias = Callable[[Any], Tensor]
"""A function of unfinished games to who wins them, int64: 1 the player to move, -1 the opponent, 0 if nobody knows."""

ALL = "all"
"""The value of the argument `solved` of `StonesWorld` where all positions are solved."""

Values: TypeAlias = npt.NDArray[np.float64]


class StonesWorld:
    """A game whose positions can be changed and valued again; see `effects.World`.

    Args:
        game: The rules.
        states: The positions of the record, before each move and at the end.
        actions: Its moves.
        options: See `Options`; with an agent, nothing is solved.
        solve: Solves positions.
        solved: Words for which positions it solves: "" for none, `ALL`, or such as "where few cells are free".
    """

    kinds = ("stone", "move")
    usual = ("stone",)

    def __init__(
        self,
        game: StoneGame[Any],
        states: Sequence[StoneState],
        actions: Sequence[int],
        options: Options,
        *,
        solve: Solve,
        solved: str,
    ) -> None:
        self.game, self.states, self.actions, self.options = game, states, actions, options
        if options.at is not None and not 1 <= options.at <= len(actions):
            raise InputError("at", f"a ply from 1 to {len(actions)}, the last one of this game", options.at)
        self._solve, self._solved = solve, "" if options.agent else solved

    @property
    def at(self) -> int:
        """The number of moves after which stones are removed."""
        return len(self.actions) if self.options.at is None else self.options.at

    @property
    def measure(self) -> str:
        """See `World.measure`."""
        if self._solved == ALL:
            how = "by exact solution"
        elif self._solved:
            how = f"by exact solution {self._solved}, else by {self._name}"
        else:
            how = f"by {self._name} where the game goes on"
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
        """Yield the stones of the position after move `at`; a swap makes one of another."""
        placed: dict[int, tuple[int, str]] = {}  # by cell, the number of the move and its name
        for number, action in enumerate(self.actions[: self.at]):
            now, before = (self.game.board(self.states[at])[0] for at in (number + 1, number))
            (cell,) = ((now != before) & (now != 0)).nonzero().flatten().tolist()
            if action >= self.game.num_cells:  # the stone that was there has gone
                placed.clear()
            placed[cell] = number, self.game.action_to_string(action)
        for cell, (number, move) in placed.items():
            player = int(self.states[number].current_player)
            name = f"{self.game.info.players[player]} {move}"
            yield Intervention("stone", name, player, number, (cell,), cell, (self.at, self.at))

    def _moves(self) -> Iterator[Intervention]:
        for number, action in enumerate(self.actions):
            player = int(self.states[number].current_player)
            legal = self.game.legal_actions(self.states[number])[0]
            legal[action] = False
            others = legal.nonzero().squeeze(1).numpy()
            cells = (action,) if action < self.game.num_cells else ()
            chance = np.random.default_rng(derive(self.options.seed, "moves", number))
            for other in sorted(chance.permutation(others)[: self.options.moves].tolist()):
                played, instead = map(self.game.action_to_string, (action, other))
                name = f"{number + 1}. {self.game.info.players[player]} {played} -> {instead}"
                yield Intervention("move", name, player, number, cells, (number, other))

    # --- values

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """See `World.replay`; another move is compared with the recorded one, after each of which play is free."""
        if kind == "stone":
            values = self._values([self._without([item.edit for item in chosen]) for chosen in [(), *sets]])
            return _ends(values[1:], values[:1].repeat(len(sets), 0))
        if any(len(chosen) > 1 for chosen in sets):
            raise InputError("pairs", "stones", "move", "the second move would be played in another game")
        edits = [chosen[0].edit if chosen else (len(self.actions) - 1, self.actions[-1]) for chosen in sets]
        changed = [self._after(*edit) for edit in edits]
        values = self._values([*changed, *(self.states[number + 1] for number, _ in edits)])
        return _ends(*np.split(values, 2))

    def _without(self, cells: Sequence[int]) -> StoneState:
        """Return the position after move `at` without the stones on some cells."""
        state = self.states[self.at]
        if not cells:
            return state
        left = [0 if cell in cells else owner for cell, owner in enumerate(self.game.board(state)[0].tolist())]
        found: StoneState = self.game.position(left, int(state.current_player), int(state.turn))
        return found

    def _after(self, number: int, action: int) -> StoneState:
        found: StoneState = self.game.step(self.states[number], torch.tensor([action], device="cpu"))
        return found

    def _values(self, states: Sequence[StoneState]) -> Values:
        """Return the values of positions for both players, [N, 2]."""
        known: dict[tuple[str, bool], int] = {}  # as many positions come more than once
        rows = [known.setdefault(self._key(state), len(known)) for state in states]
        first = [rows.index(row) for row in range(len(known))]
        state = StoneState.cat([states[number] for number in first])
        values = self.game.outcome(state).double()
        going = (~state.done).nonzero().squeeze(1)
        for part in going.split(_MOST_AT_ONCE) if len(going) else ():
            values[part] = solved = self._exact(state[part])
            if len(open_ := part[solved[:, 0] == 0]):
                values[open_] = self._searched(state[open_])
        return values[rows].numpy()

    def _key(self, state: StoneState) -> tuple[str, bool]:
        # The text does not tell whether a swap is legal.
        swap = self.game.legal_actions(state)[0, self.game.num_cells :].any()
        return self.game.state_to_string(state), bool(swap)

    def _exact(self, state: StoneState) -> Tensor:
        """Return the values of unfinished games for both players, float64 [L, 2]; 0 where they are not known."""
        value = self._solve(state).double()[:, None] if self._solved else torch.zeros((len(state), 1), device="cpu")
        seats = torch.arange(2, device="cpu")
        return torch.where(seats == state.current_player[:, None], value, -value).double()

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

    def _searched(self, state: StoneState) -> Tensor:
        searcher = acting(self._agent, self.game)
        if not (takes_states(self._agent, self.game) and hasattr(searcher, "search")):
            raise InputError("agent", "one that searches, for values of positions", shown(self._name))
        env_ids, random = torch.arange(len(state), device="cpu"), torch.Generator()
        random.manual_seed(derive(self.options.seed, "explain"))
        searcher.start(self.game, state.current_player, env_ids)
        searched = state.replace(seed=draw_seeds(len(state), random, state.device))
        found: SearchResult = searcher.search(searched, env_ids, random)
        return found.value.double()

    def scene(self, kind: str) -> StoneState:
        """See `World.scene`: the position after move `at`."""
        return self.states[self.at]


def _ends(values: Values, against: Values) -> Replays:
    """Return values of positions, [N, 2], and of those that they are compared with, as replays."""
    outcome, other = (np.where(abs(part) >= _WON, np.sign(part), 0).astype(np.int64) for part in (values, against))
    return Replays(values, outcome, values, np.zeros(len(values), dtype=np.int64), against, other)


def stones_world(game: StoneGame[Any], record: Record, options: Options) -> StonesWorld:
    """Return the world of a record of Torus, Hex or Y, solved on small boards; the record is checked."""
    solves = game.num_cells <= _SOLVED_CELLS and library(torch.device("cpu")) is not None
    exact = solves and game.num_cells <= _EXACT_CELLS

    @cache
    def search() -> ProofSearch[Any]:
        return proof_search(game)

    def solve(state: Any) -> Tensor:
        if not solves:
            return torch.zeros(len(state), dtype=torch.int8, device="cpu")
        return search().solve(state, UNLIMITED if exact else _NODES)

    words = ALL if exact else f"where {_NODES:,} nodes decide" if solves else ""
    states: list[Any] = replay(record)
    actions = [game.string_to_action(move) for move in record.moves]
    return StonesWorld(game, states, actions, options, solve=solve, solved=words)
