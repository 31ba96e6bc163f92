"""Interventions in games of the Toroidal Cup: other arrangements, and boards without some of their cells.

Letters: `N` replays, `k` teams, `H, W` rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.core.info import DRAW, LOSS, WIN
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.simulator import boards, run
from cellgames.envs.toroidal_cup.state import CupState
from cellgames.lab.life.census import census
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError

from .effects import Intervention, Options, Replays

if TYPE_CHECKING:
    from cellgames.arena.season.cup import CupRecord

Cells: TypeAlias = npt.NDArray[np.int8]
Edit: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of a cell and its new owner, 0 for nobody."""

_CHUNK = 2048  # boards that are played at the same time, at most
_CELLS = 1 << 25  # of these boards
_NAMES = {"empty": "added cell", "cell": "cell"}


class Placement:
    """A shape that a team has placed.

    Attributes:
        seat: The team's.
        turn: From 0.
        stamp: Its number among the game's stamps.
        action: The action that placed it.
        cells: Its cells on the board.
    """

    def __init__(self, game: ToroidalCup, seat: int, turn: int, stamp: int, action: int) -> None:
        self.seat, self.turn, self.stamp, self.action = seat, turn, stamp, action
        self.cells = _footprint(game, seat, stamp, action)


def _footprint(game: ToroidalCup, seat: int, stamp: int, action: int) -> tuple[int, ...]:
    row, col = placement.footprint(
        game.lattice, game.stamps, torch.tensor(stamp, device="cpu"), torch.tensor(action, device="cpu")
    )
    flat = row * game.cols + (seat * game.lattice.band + col) % game.cols
    return tuple(sorted(set(flat.tolist())))


def leads(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return each player's score minus the best of the others', [N, P]."""
    best = np.sort(scores, 1)[:, -2:]
    top = scores == best[:, 1:]
    alone = top.sum(1, keepdims=True) == 1
    return scores - np.where(top & alone, best[:, :1], best[:, 1:])


class CupWorld:
    """A game of the Cup that can be played again from other arrangements; see `effects.World`.

    Args:
        game: The rules.
        start: int8 [H, W], the arrangement.
        placements: The shapes that were placed; none where nobody knows them.
        options: See `Options`.
    """

    measure = "live cells of lead over the best other team when the game ends"
    usual: tuple[str, ...]

    def __init__(self, game: ToroidalCup, start: Cells, placements: Sequence[Placement], options: Options) -> None:
        self.game, self.start, self.placements, self.options = game, start, placements, options
        shaped = ("placement", "turn", "move") if placements else ()
        self.kinds = (*shaped, "cell", "empty", "object")
        self.usual = (*shaped[:1], "cell", "empty")
        if options.at is not None and not 0 <= options.at < self.generations:
            expected = f"a generation from 0 to {self.generations - 1}, the last one of this game"
            raise InputError("at", expected, options.at)

    @cached_property
    def generations(self) -> int:
        """The generation at which the recorded game ended."""
        return int(self.game.life(torch.from_numpy(self.start)[None]).generations)

    @property
    def at(self) -> int:
        """The generation at which objects are removed."""
        return self.generations // 2 if self.options.at is None else self.options.at

    @property
    def kept(self) -> str:
        """See `World.kept`."""
        return (
            "All other cells and shapes of the arrangement stay as they were placed, those placed later too: removing "
            "a shape makes no later one illegal, and a moved shape is only put where it fits between all others of its "
            "team. Then Life runs to the end by the rules. Objects are taken from the board of generation "
            f"{self.at}; both the game without the object and the one with it start from that board, so the rule of "
            "the end looks at no generation before it."
        )

    @property
    def _turns_played(self) -> int:
        return max((placed.turn for placed in self.placements), default=-1) + 1

    def _seen(self, turn: int | None = None) -> tuple[int, int]:
        """Return the numbers of moves between which something is on the board, by default the whole arrangement."""
        return self._turns_played if turn is None else turn + 1, self._turns_played

    # --- interventions

    def interventions(self, kind: str) -> list[Intervention]:
        """See `World.interventions`."""
        made = {
            "placement": self._placements,
            "turn": self._turns,
            "move": self._moves,
            "cell": lambda: self._flipped("cell", self.start > 0),
            "empty": lambda: self._flipped("empty", self.start == 0),
            "object": self._objects,
        }
        return list(made[kind]())

    def _named(self, placed: Placement) -> str:
        return f"{self.game.info.players[placed.seat]} {self.game.placement_in_words(placed.stamp, placed.action)}"

    def _placements(self) -> Iterator[Intervention]:
        for placed in self.placements:
            edit = tuple((cell, 0) for cell in placed.cells)
            yield Intervention(
                "placement", self._named(placed), placed.seat, placed.turn, placed.cells, edit, self._seen(placed.turn)
            )

    def _turns(self) -> Iterator[Intervention]:
        """Yield the placements of all teams in a turn; by themselves they are placements."""
        for turn in sorted({placed.turn for placed in self.placements}):
            cells = tuple(cell for placed in self.placements if placed.turn == turn for cell in placed.cells)
            yield Intervention(
                "turn", f"turn {turn + 1}", -1, turn, cells, tuple((cell, 0) for cell in cells), self._seen(turn)
            )

    def _moves(self) -> Iterator[Intervention]:
        """Yield placements at other places where they fit."""
        game, lattice = self.game, self.game.lattice
        for placed in self.placements:
            first = placed.seat * lattice.band
            others = (self.start == placed.seat + 1).ravel()
            others[list(placed.cells)] = False
            band = others.reshape(game.rows, game.cols)[:, first : first + lattice.band]
            stamp = torch.tensor([placed.stamp], device="cpu")
            legal = placement.legal(lattice, game.stamps, torch.from_numpy(band.copy())[None], stamp)[0]
            legal[placed.action] = False
            places = legal.nonzero().squeeze(1).numpy()
            chance = np.random.default_rng(derive(self.options.seed, "moves", placed.seat, placed.turn))
            for action in sorted(chance.permutation(places)[: self.options.moves].tolist()):
                cells = _footprint(game, placed.seat, placed.stamp, action)
                edit = {**dict.fromkeys(placed.cells, 0), **dict.fromkeys(cells, placed.seat + 1)}
                name = f"{self._named(placed)} -> {game.action_to_string(action)}"
                yield Intervention(
                    "move", name, placed.seat, placed.turn, placed.cells, tuple(edit.items()), self._seen(placed.turn)
                )

    def _flipped(self, kind: str, chosen: npt.NDArray[np.bool_]) -> Iterator[Intervention]:
        """Yield each chosen cell: a live one dies, an empty one gets a cell of the team in whose band it lies."""
        cols, band = self.game.cols, self.game.lattice.band
        for cell in np.flatnonzero(chosen).tolist():
            row, col = divmod(cell, cols)
            owner = int(self.start[row, col])
            seat = owner - 1 if owner else col // band
            if seat < self.game.teams:
                name = f"{self.game.info.players[seat]} {_NAMES[kind]} r{row}c{col}"
                edit = ((cell, 0 if owner else seat + 1),)
                yield Intervention(kind, name, seat, 0, (cell,), edit, self._seen(), adds=not owner)

    @cached_property
    def middle(self) -> Cells:
        """The board at generation `at`."""
        if not self.at:
            return self.start
        board = self.game.life(torch.from_numpy(self.start)[None], keep=[self.at]).boards[self.at]
        return board[0].numpy()

    def _objects(self) -> Iterator[Intervention]:
        """Yield the objects of a census of the board at generation `at`."""
        found = census(self.middle[None] > 0, owners=self.middle[None].astype(np.int64))
        cells: list[list[int]] = [[] for _ in found]
        for place, number in zip(found.place.tolist(), found.whose.tolist(), strict=True):
            cells[number].append(place)
        for item, places in zip(found, cells, strict=True):
            name = f"{self.game.info.players[item.owner - 1]} {item.kind.name} r{item.row}c{item.col}"
            edit = tuple((cell, 0) for cell in sorted(places))
            yield Intervention(
                "object", name, item.owner - 1, self._turns_played, tuple(sorted(places)), edit, self._seen()
            )

    # --- replays

    def edited(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> torch.Tensor:
        """Return the boards from which games are played again, int8 [N, H, W]."""
        board = torch.from_numpy(self.middle if kind == "object" else self.start)
        starts = board.flatten().repeat(len(sets), 1)
        edits = [
            (number, cell, owner)
            for number, chosen in enumerate(sets)
            for cell, owner in {pair[0]: pair[1] for item in chosen for pair in item.edit}.items()
        ]
        if edits:
            number, cell, owner = torch.tensor(edits, device="cpu").unbind(1)
            starts[number, cell] = owner.to(torch.int8)
        return starts.view(-1, *board.shape)

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """See `World.replay`."""
        base = self._played(kind, [()], None)
        size = max(1, min(_CHUNK, _CELLS // self.start.size))
        parts = [sets[first : first + size] for first in range(0, len(sets), size)]
        return Replays.cat([self._played(kind, part, base) for part in parts])

    def _played(self, kind: str, sets: Sequence[Sequence[Intervention]], base: Replays | None) -> Replays:
        game = self.game
        spent = self.at if kind == "object" else 0
        ended = run(
            self.edited(kind, sets),
            game.teams,
            max_generations=game.max_generations - spent,
            survivors=game.survivors,
            tolerance=game.tolerance,
        )
        scores = ended.scores.numpy().astype(np.float64)
        winner = ended.winner.numpy()[:, None]
        seats = np.arange(1, game.teams + 1)
        outcome = np.where(winner == 0, DRAW, np.where(winner == seats, WIN, LOSS)).astype(np.int64)
        return Replays.of(base, leads(scores), outcome, scores)

    def scene(self, kind: str) -> CupState:
        """See `World.scene`: the arrangement, or the board of generation `at` from which objects are taken."""
        state = self.game.init(torch.zeros(1, dtype=torch.int64, device="cpu"))
        start, board = (
            torch.from_numpy(cells)[None] for cells in (self.start, self.middle if kind == "object" else self.start)
        )
        turns = self._turns_played
        return state.replace(
            start=start,
            board=board,
            queue=torch.full_like(state.queue, -1),
            turn=torch.full_like(state.turn, turns),
            generations=torch.full_like(state.generations, self.at if kind == "object" else 0),
        )


def cup_world(game: ToroidalCup, record: Record, options: Options) -> CupWorld:
    """Return the world of a record; the record is checked."""
    states: list[Any] = replay(record)
    placed = []
    for turn, (state, move) in enumerate(zip(states, record.moves, strict=False)):
        for seat, name in enumerate(move.split()):
            stamp = int(state.queue[0, seat, 0])
            placed.append(Placement(game, seat, turn, stamp, game.string_to_action(name)))
    return CupWorld(game, states[-1].start[0].numpy(), placed, options)


def season_world(record: CupRecord, options: Options) -> CupWorld:
    """Return the world of a game of the Cup's own season, whose shapes nobody has placed; the record is checked."""
    from cellgames.arena.season.cup import game_of, start_of, verify

    for _, error in verify([record]):
        raise error
    return CupWorld(game_of(record), boards([start_of(vars(record))])[0].numpy(), (), options)
