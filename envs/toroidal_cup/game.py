"""The Toroidal Cup on the contract of the suite: teams arrange shapes, then Life runs to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, get_args

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, LOSS, WIN, GameInfo, Space
from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import library
from cellgames.envs.toroidal_cup.patterns.pattern import MOST_TEAMS
from cellgames.envs.toroidal_cup.patterns.stamps import COLS, ROWS
from cellgames.utils.errors import InputError, shown

from . import dealing, notation, observation, placement, rendering
from .dealing import PLACEABLE
from .native_step import native_step
from .notation import Position
from .patterns.stamps import usual_name
from .simulator import MAX_GENERATIONS, TOLERANCE, Result, Survivors, leaders, run
from .state import CupState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

MIN_SIZE, MAX_SIZE = 4, 512
RANDOM = "random"


@dataclass(frozen=True)
class ToroidalCup(Game[CupState]):
    """The Toroidal Cup of golly.life: Life in team colours on a torus; the team with most live cells in the end wins.

    In each step every team places its next shape in its own band, all at once. After the last one Life runs to the
    end within that step.

    Attributes:
        rows, cols: size of the torus, both even, 4 to 512.
        teams: 2 to 8; each has a band of cols // teams columns, from the left.
        pattern: name of the pattern whose shapes are placed, or "random" to draw one for each game.
        stride: rows and columns between neighbouring positions.
        shapes: the most shapes that a team gets; None for the pattern's own number.
        survivors: "recolour" to the majority of the live neighbours, as the Cup does, or "keep".
        tolerance: relative change of the averaged victory percentage that counts as no change.
        max_generations: number of generations after which Life is cut off.
    """

    rows: int = ROWS
    cols: int = COLS
    teams: int = 2
    pattern: str = RANDOM
    stride: int = 4
    shapes: int | None = None
    survivors: Survivors = "recolour"
    tolerance: float = TOLERANCE
    max_generations: int = MAX_GENERATIONS

    id: ClassVar[str] = "toroidal-cup-v0"
    wraps: ClassVar[bool] = True
    compiles: ClassVar[bool] = False  # Life runs as long as it takes

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            check_int(self, name, MIN_SIZE, MAX_SIZE)
            if (size := getattr(self, name)) % 2:
                raise InputError(name, "even", size, where=self.id)
        check_int(self, "teams", 2, min(MOST_TEAMS, self.cols // 2))
        check_int(self, "stride", 1, min(self.rows, self.lattice.band))
        if self.shapes is not None:
            check_int(self, "shapes", 1, 1000)
        check_int(self, "max_generations", 1, 10**6)
        check_choices(self, pattern=(RANDOM, *PLACEABLE), survivors=get_args(Survivors))
        if not isinstance(self.tolerance, float | int) or not 0 < self.tolerance < 1:
            raise InputError("tolerance", "a number between 0 and 1", shown(self.tolerance), where=self.id)
        for pattern in self.patterns:
            self._check_room(pattern)

    def _check_room(self, pattern: str) -> None:
        """Refuse a board on which some shape of the pattern might find no place, wherever the earlier ones lie."""
        stamps, most = PLACEABLE[pattern].stamps, dealing.most_shapes(pattern, self.shapes)
        blocked = placement.blocked_at_most(self.lattice, stamps)
        room = [int(fit.count_nonzero()) for fit in placement.fits(self.lattice, stamps, torch.device("cpu"))]
        for index, stamp in enumerate(stamps):
            taken = (most - 1) * max(row[index] for row in blocked)
            if room[index] <= taken:
                raise InputError(
                    "pattern",
                    f"a board with room for all shapes of pattern {shown(pattern)}",
                    f"rows={self.rows}, cols={self.cols}, teams={self.teams}, stride={self.stride}: a {stamp} "
                    f"has {room[index]} placements in an empty band, and {most - 1} other shapes may block {taken}",
                    "take a larger board, fewer teams, a smaller stride or fewer shapes",
                    where=self.id,
                )

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that `CupState.pattern` counts."""
        return tuple(PLACEABLE) if self.pattern == RANDOM else (self.pattern,)

    @cached_property
    def stamps(self) -> tuple[str, ...]:
        """The stamps that `CupState.queue` counts."""
        return dealing.stamps_of(self.patterns)

    @cached_property
    def lattice(self) -> placement.Lattice:
        """The positions of a band."""
        return placement.Lattice(self.rows, self.cols // self.teams, self.stride)

    @cached_property
    @override
    def info(self) -> GameInfo:
        longest = max(dealing.most_shapes(pattern, self.shapes) for pattern in self.patterns)
        return GameInfo(
            id=self.id,
            title="Toroidal Cup",
            credit="the Toroidal Cup of golly.life, Life by John Horton Conway",
            players=tuple(f"team_{number}" for number in range(1, self.teams + 1)),
            simultaneous=True,
            perfect_information=False,
            stochastic=True,
            zero_sum=self.teams == 2,
            max_turns=longest,
            action_nvec=(self.lattice.actions,),
            observation=Space((self.teams + 2, self.rows, self.cols), torch.int8, 0, longest),
            board=Space((self.rows, self.cols), torch.int8, 0, self.teams),
        )

    @override
    def _init(self, seeds: Tensor) -> CupState:
        pattern, queue = dealing.deal(seeds, self.patterns, self.teams, self.shapes)
        empty = seeds.new_zeros((len(seeds), self.rows, self.cols), dtype=torch.int8)
        return CupState.new(
            seeds,
            self.teams,
            pattern=pattern,
            queue=queue,
            start=empty,
            board=empty.clone(),
            generations=torch.zeros_like(seeds, dtype=torch.int32),
        )

    @override
    def _step(self, state: CupState, actions: Tensor) -> CupState:
        stamp = state.queue[:, :, 0].long().clamp(min=0)  # of a finished game any, as what comes of it is dropped
        start = self._placed(state.start, stamp, actions.long())
        queue = torch.cat((state.queue[:, :, 1:], torch.full_like(state.queue[:, :, :1], -1)), 2)
        after = state.replace(
            turn=state.turn + 1,
            rewards=torch.zeros_like(state.rewards),
            scores=state.scores + placement.sizes(self.stamps, state.device)[stamp],
            queue=queue,
            start=start,
            board=start.clone(),
        )
        return self._run(after, ((queue[:, 0, 0] < 0) & ~state.done).nonzero().squeeze(1))

    def _placed(self, start: Tensor, stamp: Tensor, actions: Tensor) -> Tensor:
        """Return the arrangements with one more shape a team; stamps and actions int64 [B, P]."""
        seat = torch.arange(self.teams, device=start.device)[:, None]
        row, col = placement.footprint(self.lattice, self.stamps, stamp, actions)  # [B, P, L]
        flat = row * self.cols + (seat * self.lattice.band + col) % self.cols
        number = (seat + 1).to(torch.int8).expand_as(flat)
        return start.flatten(1).scatter(1, flat.flatten(1), number.flatten(1)).view_as(start)

    def _run(self, state: CupState, env_ids: Tensor) -> CupState:
        """Play Life from the start to the end in some envs (int64)."""
        if not len(env_ids):
            return state
        result = self.life(state.start[env_ids])
        scores = result.scores.to(state.scores.dtype)

        def put(field: Tensor, values: Tensor) -> Tensor:
            return field.index_copy(0, env_ids, values.to(field.dtype))

        return state.replace(
            rewards=put(state.rewards, _outcomes(scores)),
            scores=put(state.scores, scores),
            terminated=put(state.terminated, ~result.truncated),
            truncated=put(state.truncated, result.truncated),
            board=put(state.board, result.board),
            generations=put(state.generations, result.generations),
        )

    def life(self, starts: Tensor, *, keep: Sequence[int] = (), trajectory: bool = False) -> Result:
        """Play Life under the game's rules from arrangements, int8 [B, rows, cols], to the end; see `simulator.run`."""
        return run(
            starts,
            self.teams,
            max_generations=self.max_generations,
            survivors=self.survivors,
            tolerance=self.tolerance,
            keep=keep,
            trajectory=trajectory,
        )

    @override
    def _legal(self, state: CupState) -> Tensor:
        mask = placement.legal(self.lattice, self.stamps, self._bands(state), state.queue[:, :, 0].flatten())
        return mask.view(len(state), self.teams, self.lattice.actions)

    @override
    def _native_step(self, device: torch.device) -> NativeStep[CupState] | None:
        native = library(device)
        return None if native is None else native_step(self, native)

    @override
    def is_last_turn(self, state: CupState) -> Tensor:
        """Return a mask of the games in which the last shapes are in hand, bool [B]; Life follows."""
        return (state.queue[:, 0, 1:2] < 0).all(1) & ~state.done

    def _bands(self, state: CupState) -> Tensor:
        """Return every team's live cells in its own band: bool [B * P, rows, band]."""
        band, numbers = self.lattice.band, torch.arange(1, self.teams + 1, dtype=torch.int8, device=state.device)
        inside = state.start[:, :, : self.teams * band].reshape(len(state), self.rows, self.teams, band)
        return (inside == numbers[:, None]).transpose(1, 2).flatten(0, 1)

    @override
    def board(self, state: CupState) -> Tensor:
        """Return the cells, int8 [B, rows, cols]: 0 empty, else the team's number."""
        return state.board.clone()

    @override
    def observe(self, state: CupState, player: Tensor | int) -> Tensor:
        """Return the planes of a team, int8 [B, P + 2, rows, cols], rolled so that its own band comes first.

        A plane of live cells for each team, one's own first, then in the order of seats; the shape to place, in
        orientation 0 in the middle of one's band; everywhere the number of shapes left. The shapes that the others are
        about to place, and those that come later, are not shown.
        """
        seat = torch.as_tensor(player, dtype=torch.int64, device=state.device).expand(len(state))
        out = state.board.new_empty((len(state), 1, *self.info.observation.shape))
        observation.write_planes(
            state.board, state.queue, seat[:, None], self._drawings(state.device), self.lattice.band, out
        )
        return out.squeeze(1)

    @override
    def _native_observer(self, state: CupState, seats: Tensor, dtype: torch.dtype) -> Callable[[int], object] | None:
        if (native := library(state.device)) is None:
            return None
        shown, band = self._drawings(state.device), self.lattice.band
        return observation.native_writer(native, state.board, state.queue, seats, shown, band, dtype)

    def stamp_seen(self, seen: Tensor) -> Tensor:
        """Return the shape to place in observations, int64 [B], for agents, who see nothing else.

        An index of `stamps`; `len(stamps)` where nothing is left.
        """
        return observation.stamp_seen(seen, self._drawings(seen.device))

    def _drawings(self, device: torch.device) -> Tensor:
        return observation.drawings(self.stamps, self.rows, self.cols, self.lattice.band, device)

    @override
    def outcome(self, state: CupState) -> Tensor:
        """Return that a team that leads has won and all others have lost; a level lead is a draw of all."""
        return torch.where(state.done[:, None], _outcomes(state.scores), DRAW).to(torch.int8)

    @override
    def infos(self, state: CupState, player: int) -> dict[str, Tensor]:
        """Return `score` [B], all teams' `scores` [B, P], `generations` [B] and `victory` [B, P].

        `victory` is each team's share of the live cells in percent, 0 on an empty board.
        """
        live = state.scores.double()
        share = 100 * live / live.sum(1, keepdim=True).clamp(min=1)
        return super().infos(state, player) | {
            "scores": state.scores,
            "generations": state.generations,
            "victory": share,
        }

    @override
    def _why_illegal(self, state: CupState, seat: int, component: int, action: int) -> str:
        stamp = self.stamps[int(state.queue[0, seat, 0])]
        name = self.action_to_string(action)
        room = placement.fits(self.lattice, (stamp,), torch.device("cpu"))
        reason = "would overlap one's own cells" if room[0, action] else "would leave its band or overlap itself"
        return f"the {stamp} at {name} {reason}"

    @override
    def action_to_string(self, action: int) -> str:
        """Return `r6c10/3`: row and column of the shape's centre in one's own band, and the orientation."""
        if not 0 <= action < self.lattice.actions:
            raise InputError("action", f"an action from 0 to {self.lattice.actions - 1}", action, where=self.id)
        return notation.placement_to_string(*self.lattice.centre(action))

    @override
    def action_in_words(self, state: CupState, player: int, action: int) -> str:
        """Return `R-pentomino r6c10/3`: the shape that the team has in hand, and where it goes."""
        stamp = int(state.queue[0, player, 0])
        return self.placement_in_words(stamp, action) if stamp >= 0 else self.action_to_string(action)

    def placement_in_words(self, stamp: int, action: int) -> str:
        """Return the usual name of a shape, one of `stamps` by its index, and its place by `action_to_string`."""
        return f"{usual_name(self.stamps[stamp])} {self.action_to_string(action)}"

    @override
    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        placed = notation.string_to_placement(text)
        action = None if placed is None else self.lattice.action(*placed)
        if action is None:
            first, last = map(self.action_to_string, (0, self.lattice.actions - 1))
            expected = f"a placement from {first} to {last}, every {self.stride} rows and columns of the band"
            raise InputError("action", expected, shown(text), where=self.id)
        return action

    @override
    def state_to_string(self, state: CupState) -> str:
        """Return pattern, turn, arrangement and shapes to come as `notation` says; the end follows from them."""
        queues = [[self.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
        pattern = self.patterns[int(state.pattern[0])]
        return notation.position_to_string(Position(pattern, int(state.turn[0]), state.start[0].tolist(), queues))

    @override
    def view_to_string(self, state: CupState, player: int) -> str:
        """Return the line by `state_to_string` with `?` for what the team may not know; see `observe`.

        It knows its next shape and how many are left. A pattern that was drawn is not told, since the shapes to come
        follow from it.
        """
        return notation.view(self.state_to_string(state), player, drawn=len(self.patterns) > 1)

    @override
    def string_to_state(self, text: str, seed: int = 0) -> CupState:
        """Return the state of a line by `state_to_string`; where no shape is to come, Life runs to its end.

        Raises:
            ValueError: no such line, too many shapes, cells of a team outside its band, or an arrangement that might
                leave no room for a shape to come.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        position = self._position(text, self.state_to_string(state))
        left = len(position.queues[0])
        queue = torch.full_like(state.queue, -1)
        if left:
            queue[0, :, :left] = torch.tensor(
                [list(map(self.stamps.index, names)) for names in position.queues], device="cpu"
            )
        start = torch.tensor([position.start], dtype=torch.int8, device="cpu")
        state = state.replace(
            turn=torch.full_like(state.turn, position.turn),
            pattern=torch.full_like(state.pattern, self.patterns.index(position.pattern)),
            queue=queue,
            start=start,
            board=start.clone(),
        )
        bands = self._bands(state)
        if int(bands.sum()) != int((start > 0).sum()):
            raise InputError("position", "every cell in the band of its team", shown(text), where=self.id)
        for seat, names in enumerate(position.queues):
            if not placement.always_room(self.lattice, PLACEABLE[position.pattern].stamps, bands[seat], names):
                expected = f"an arrangement that leaves room for all shapes of {self.info.players[seat]}"
                raise InputError("position", expected, shown(text), where=self.id)
        state = state.replace(scores=bands.sum((1, 2))[None].to(state.scores.dtype))
        if left:
            return state
        state = self._run(state, torch.zeros(1, dtype=torch.int64, device="cpu"))
        return state.replace(rewards=torch.zeros_like(state.rewards))

    def _position(self, text: str, example: str) -> Position:
        """Return the position of a line; raise an `InputError` if this game cannot hold it."""
        position = notation.string_to_position(text, self.rows, self.cols)
        if position is None or position.pattern not in self.patterns or len(position.queues) != self.teams:
            raise InputError("position", f"a position such as {shown(example, 150)}", shown(text), where=self.id)
        known, left, most = PLACEABLE[position.pattern].stamps, len(position.queues[0]), self.info.max_turns
        expected = ""
        if any(len(names) != left or not set(names) <= set(known) for names in position.queues):
            expected = f"with equally many shapes to come for all teams, all of them {' or '.join(known)}"
        elif position.turn + left > most:
            expected = f"of {most} steps at most, played or to come"
        if expected:
            raise InputError("position", f"a position {expected}", shown(text), where=self.id)
        return position

    @override
    def view(self, state: CupState, player: int | None = None) -> rendering.View:
        return rendering.view(self, state, player)

    @override
    def frames(self, before: CupState, after: CupState) -> Iterator[Picture]:
        """Yield a placement as one picture, and where Life has run up to `rendering.FRAMES` generations."""
        return rendering.frames(self, before, after)


def _outcomes(scores: Tensor) -> Tensor:
    """Return WIN for the only leader and LOSS for the others, or DRAW for all if none leads alone: [B, P]."""
    leader = leaders(scores)[:, None]
    number = torch.arange(1, scores.shape[1] + 1, device=scores.device)
    return torch.where(leader == 0, DRAW, torch.where(leader == number, WIN, LOSS))
