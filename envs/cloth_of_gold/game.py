"""Cloth of Gold on the contract of the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.board_planes import native_writer, seen_words, write_planes
from cellgames.envs.core import chance
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, GameInfo, Space
from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.core.native_step import InPlace
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import innermost
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library, library
from cellgames.utils.errors import InputError, shown

from . import notation, placement, rendering, rounds, rules
from .native_step import ClothSolo, Code, native_code, played
from .notation import Position
from .simulation import advance, territory
from .state import BOARDS, COLUMNS, LARGEST, NUMBERS, ClothState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture

WinRule = Literal["score", "extinction"]
NeutralStance = Literal["passive", "defensive", "aggressive"]
Order = Literal["fixed", "alternate", "paired", "drawn"]

MIN_SIZE, MAX_SIZE = 8, 256
_NEUTRALS, _ORDER = chance.USER, chance.USER + 6  # purposes of draws; wild options have those between
_KINDS = {3: "a neutral cell", 4: "a killed cell"}


@dataclass(frozen=True, repr=False)
class ClothOfGold(Game[ClothState]):
    """Cloth of Gold by Adam Murray: two players feed a Game of Life by hand; the one whose units hold their own wins.

    One action places a unit or takes back one that was placed in the same turn, or ends the turn. The generations run
    inside the action that ends the round's second turn.

    Attributes:
        height: rows of the world, 8 to 256; nothing lies beyond its edges.
        width: its columns, 8 to 256.
        generations: number of generations in a round.
        max_units: the most units placed in a turn.
        max_rounds: number of rounds after which the game is cut off; the leader wins.
        radius: radius of a unit's territory, the cells at a distance less than this.
        initial_placement: each player places units before the first round.
        first_verdict: the round from which on the score can end the game. With 1, the lead of round 1 is compared with
            that after the initial placement, or with 0 without an initial placement.
        neutral_births: three neutral neighbours and no other make an empty cell neutral.
        neutral_density: chance of every cell to be neutral at the start, 0 to less than 1.
        win_rule: "score", a lead that does not grow wins; or "extinction", a player without units loses.
        shaping: weight of a reward in every step, the change of the lead in units over the number of cells.
        neutral_stance: "passive"; "defensive", neutral cells go over to no side; or "aggressive", they also kill
            units and take births where they have the majority. The last two need `neutral_density`.
        order: who places first: "fixed", player_a; "alternate", player_b in odd rounds; "paired", as in A B B A from
            round 0 on; or "drawn", either with the same probability, drawn when a round begins.
    """

    height: int = 100
    width: int = 100
    generations: int = 168
    max_units: int = 10
    max_rounds: int = 20
    radius: int = 8
    initial_placement: bool = True
    first_verdict: int = 2
    neutral_births: bool = False
    neutral_density: float = 0.0
    win_rule: WinRule = "score"
    shaping: float = 0.0
    neutral_stance: NeutralStance = "passive"
    order: Order = "fixed"

    id: ClassVar[str] = "cloth-of-gold-v0"
    compiles: ClassVar[bool] = False  # only the worlds whose round ends are simulated
    added_parameters: ClassVar[frozenset[str]] = frozenset({"neutral_stance", "order"})

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            check_int(self, name, MIN_SIZE, MAX_SIZE)
        most = {"generations": 10_000, "max_units": 100, "max_rounds": 1000, "radius": 32, "first_verdict": 1000}
        for name, high in most.items():
            check_int(self, name, 1, high)
        self._check_flags("initial_placement", "neutral_births")
        for name, below in (("neutral_density", 1.0), ("shaping", 1e6)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < below:
                raise InputError(name, f"a number from 0 to less than {below:g}", shown(value), where=self.id)
        check_choices(self, win_rule=get_args(WinRule), neutral_stance=get_args(NeutralStance), order=get_args(Order))
        self._check_needed("neutral_stance", "passive", "neutral_density")

    def _check_flags(self, *names: str) -> None:
        for name in names:
            if not isinstance(value := getattr(self, name), bool):
                raise InputError(name, "true or false", shown(value), where=self.id)

    def _check_needed(self, name: str, usual: object, needed: str) -> None:
        if (value := getattr(self, name)) != usual and not (missing := getattr(self, needed)):
            raise InputError(name, f"{needed!r} with it", f"{name}={value} and {needed}={missing}", where=self.id)

    @cached_property
    def grid(self) -> Grid:
        """The packing of worlds into words."""
        return Grid(self.height, self.width, wrap=False)

    @property
    def cells(self) -> int:
        """The number of cells, `H * W`."""
        return self.height * self.width

    @property
    def end_turn(self) -> int:
        """The action that ends the turn; smaller ones are cells, by rows; an extension may have more after them."""
        return self.cells

    @property
    def most_units(self) -> int:
        """The most units that a turn can have."""
        return self.max_units

    @property
    def longest_turn(self) -> int:
        """The most actions of a turn: placements and take-backs, one more placement, the end."""
        return rules.ACTS_A_UNIT * self.most_units + 2

    @cached_property
    def neutral_rules(self) -> int:
        """The rules of neutral cells in a generation, as `rules.generation` takes them."""
        hold, attack = rules.NEUTRAL_HOLD, rules.NEUTRAL_ATTACK
        stances = {"passive": 0, "defensive": hold, "aggressive": hold | attack}
        return stances[self.neutral_stance] | rules.NEUTRAL_BIRTHS * self.neutral_births

    @property
    def boards(self) -> tuple[str, ...]:
        """The names of the planes of cells of an observation; those of an extension come last."""
        return BOARDS

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of its planes that are the same everywhere; those of an extension come last."""
        return NUMBERS

    @property
    def random_rounds(self) -> bool:
        """True if chance plays a part in rounds, so that a state's seed tells their results."""
        return self.order == "drawn"

    def places_first(self, seeds: Tensor, round: Tensor) -> Tensor:
        """Return the player who places first in rounds, int64 [B], by the seeds and numbers of the rounds."""
        if self.order == "drawn":
            return chance.draw(seeds, _ORDER, round.long()) & 1
        return rules.ORDERS[self.order] >> round.long() % 4 & 1

    def allowance(self, state: ClothState) -> Tensor:
        """Return the units of a whole turn of the mover, int32 [B]."""
        return torch.full_like(state.left, self.max_units)

    @cached_property
    @override
    def info(self) -> GameInfo:
        reward = 1.0 + 2 * self.shaping  # from all cells the opponent's to all of them one's own
        most = min(LARGEST, max(self.cells, self.most_units, self.max_rounds))
        planes = len(self.boards) + len(self.numbers)
        return GameInfo(
            id=self.id,
            title="Cloth of Gold",
            credit="Cloth of Gold by Adam Murray, Life by John Horton Conway",
            players=("player_a", "player_b"),
            stochastic=self.neutral_density > 0 or self.order == "drawn",
            zero_sum=False,
            max_turns=self.longest_turn * 2 * (self.max_rounds + self.initial_placement),
            reward_range=(-reward, reward),
            action_nvec=(self.end_turn + 1,),
            observation=Space((planes, self.height, self.width), torch.int16, -most, most),
            board=Space((self.height, self.width), torch.int8, 0, 4),
        )

    # --- the game -------------------------------------------------------------------------------------------------

    @override
    def _init(self, seeds: Tensor) -> ClothState:
        num_envs, shape = len(seeds), self.grid.shape

        def fill(value: int, *shape: int) -> Tensor:
            return seeds.new_full((num_envs, *shape), value, dtype=torch.int32)

        def planes(*kinds: int) -> Tensor:
            return seeds.new_zeros((*kinds, *shape, num_envs)).movedim(-1, 0)  # as the generations want them

        number = fill(1 - self.initial_placement)
        first = self.places_first(seeds, number)
        return ClothState.new(
            seeds,
            2,
            current_player=first.clone(),
            units=planes(2),
            neutral=self._scattered(seeds) if self.neutral_density else planes(),
            killed=planes(),
            territory=planes(2),
            placed=planes(),
            live=fill(0, 2),
            left=fill(self.max_units),
            acts=fill(0),
            first=first,
            round=number,
            rounds=fill(0, self.max_rounds + 1, len(COLUMNS)),
        )

    def _scattered(self, seeds: Tensor) -> Tensor:
        """Return neutral cells, int64 [B, S, N]."""
        cells = torch.arange(self.cells, device=seeds.device)
        lots = chance.draw(seeds[:, None], _NEUTRALS, cells) & 0xFFFFFFFF
        neutral = lots < round(self.neutral_density * (1 << 32))
        return self.grid.pack(neutral.view(-1, self.height, self.width)).movedim(-1, 0)

    @override
    def _step(self, state: ClothState, actions: Tensor) -> ClothState:
        ending = actions == self.end_turn
        return played(self, state, torch.where(ending, -1, actions.long())[:, None], ending)

    def play_turn(self, state: ClothState, cells: Tensor) -> ClothState:
        """Play a whole turn at once: the mover places units and ends its turn.

        It is what the actions lead to one after the other, with the rewards of all of them; nothing checks that they
        are legal.

        Args:
            state: the games; finished ones stay as they are.
            cells: int64 [B, K], row * width + col of each unit, once, in any order; -1 names none.
        """
        going = ~state.done
        return played(self, state, torch.where(going[:, None], cells, -1), going)

    def _played(self, state: ClothState, cells: Tensor, ending: Tensor, actions: Tensor | int) -> ClothState:
        """Return the games after `_placed` and the ends of turns and rounds, with `actions` more actions counted."""
        after = self._placed(state, cells, ending)
        after = after.replace(turn=state.turn + actions, rewards=torch.zeros_like(state.rewards))
        return rounds.end_turns(self, after, ending)

    def _placed(self, state: ClothState, cells: Tensor, ending: Tensor) -> ClothState:
        """Return the games after `placement.play`."""
        return placement.play(self.grid, state, cells, ending, radius=self.radius, max_units=self.max_units)

    def _lived(self, state: ClothState, env_ids: Tensor) -> ClothState:
        """Return the games after the generations of a round in `env_ids`, int64 [n]; `state` may be overwritten."""
        return rounds.lived(self, state, env_ids)

    def _next_round(self, state: ClothState, env_ids: Tensor) -> ClothState:
        """Return the games whose next round begins in `env_ids`, int64 [n], unless they are over."""
        return state

    def decided(self, round: Tensor, before: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return three flags by the score of a round: player_a has won, player_b has won, both have lost.

        Args:
            round: number of the round, integers [...], as all of these, which broadcast.
            before: a's lead in units in the round before.
            a: units of player_a after the round.
            b: units of player_b.
        """
        if self.win_rule == "extinction":
            found, due = rules.verdict_extinction(a, b), round >= 1
        else:
            found, due = rules.verdict(before, a - b), round >= self.first_verdict
        won_a, won_b, lost = found
        return won_a & due, won_b & due, lost & due

    def ends(self, round: Tensor, before: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """Return two flags: the score of a round ends the game, the game is cut off; see `decided`."""
        won_a, won_b, lost = self.decided(round, before, a, b)
        over = won_a | won_b | lost
        return over, (round == self.max_rounds) & (over ^ True)

    def _shaped(self, before: ClothState, after: ClothState) -> ClothState:
        """Return the games with the dense part of the reward, if there is one."""
        if not self.shaping:
            return after
        change = (after.live - before.live).double() * (self.shaping / self.cells)
        return after.replace(rewards=(after.rewards + change - change.flip(1)).to(after.rewards.dtype))

    @override
    def _legal(self, state: ClothState) -> Tensor:
        return placement.legal_actions(self.grid, state, self.max_units)

    def legal_cells(self, state: ClothState) -> Tensor:
        """Return bitboards of the cells where the mover may place its next unit: int64 [B, S, N]."""
        return placement.legal_cells(self.grid, state)

    @override
    def _native_step(self, device: torch.device) -> NativeStep[ClothState] | None:
        code = None if (native := library(device)) is None else self._native_code(native)
        return code and InPlace(code.step, code.rules, code.innermost)

    def _native_code(self, native: Library) -> Code | None:
        """Return the game's part of the library; None for a subclass with rules that it does not know."""
        rules = ("places_first", "allowance", "decided", "ends", "legal_cells")
        known = all(getattr(type(self), name) is getattr(ClothOfGold, name) for name in rules)
        return native_code(self, native) if known else None

    @property
    def first_reach(self) -> int:
        """The square of a distance from a lone unit below which all cells are its player's territory."""
        return self.radius**2

    @override
    def _why_illegal(self, state: ClothState, seat: int, component: int, action: int) -> str:
        if action == self.end_turn:
            return "a turn must place a unit where it can"
        most, acts, name = int(self.allowance(state)), int(state.acts), self.action_to_string(action)
        kind = int(self.board(state).flatten()[action])
        near = self.grid.dilate(state.units[:, 1 - seat].movedim(0, -1), rules.PLUS).movedim(-1, 0)
        if state.placed.any() and acts >= rules.ACTS_A_UNIT * most:
            return f"after {acts} placements and take-backs in this turn only its end is left"
        if kind == seat + 1:
            return f"{name} holds a unit that was not placed in this turn"
        if not int(state.left):
            return f"all {most} units of this turn are placed; take one back or end the turn"
        if kind:
            return f"{name} is not empty, it holds {_KINDS.get(kind, 'a unit of the opponent')}"
        if self._unpacked(near[:, None]).flatten()[action]:
            return f"{name} is next to a unit of the opponent"
        if not self._unpacked(state.territory)[0, seat].flatten()[action]:
            return f"{name} is outside of one's own territory"
        return f"{name} is contested, it lies in the opponent's territory as well"

    @override
    def board(self, state: ClothState) -> Tensor:
        """Return the cells, int8 [B, H, W]: 0 empty, 1 a's unit, 2 b's, 3 neutral, 4 killed."""
        planes = torch.cat((state.units, state.neutral[:, None], state.killed[:, None]), 1)
        kinds = torch.arange(1, 5, dtype=torch.int8, device=state.device)
        return (self._unpacked(planes) * kinds[:, None, None]).sum(1, dtype=torch.int8)

    def territories(self, state: ClothState) -> Tensor:
        """Return both players' territory, bool [B, 2, H, W]; contested cells belong to both."""
        return self._unpacked(state.territory)

    def placed(self, state: ClothState) -> Tensor:
        """Return the units that the mover has placed in this turn, bool [B, H, W]."""
        return self._unpacked(state.placed)

    def _unpacked(self, planes: Tensor) -> Tensor:
        """Return [B, ..., S, N] as bool [B, ..., H, W]."""
        return self.grid.unpack(planes.movedim(0, -1))

    @override
    def observe(self, state: ClothState, player: Tensor | int) -> Tensor:
        """Return a plane for each of `BOARDS` and `NUMBERS`: int16 [B, 11, H, W].

        An extension may have more of both: `boards` and `numbers` name them.

        Cells: own units, the opponent's, neutral, killed, placed by the mover in this turn, own territory, the
        opponent's. Everywhere the same: units that the mover may still place, the round, one's own score of the last
        round (at most 32,767 either way), 1 for the player who places first in this round.
        """
        boards, numbers, seat = self._seen(state, player)
        out = state.units.new_empty((len(state), 1, *self.info.observation.shape), dtype=torch.int16)
        first = len(BOARDS), len(NUMBERS)  # those of the base game
        write_planes(self.grid, boards, seat[:, None], numbers[:, None], first, out)
        return out.squeeze(1)

    @override
    def _native_observer(self, state: ClothState, seats: Tensor, dtype: torch.dtype) -> Callable[[int], object] | None:
        if (native := library(state.device)) is None:
            return None
        numbers = torch.empty((len(state), 1, len(self.numbers)), dtype=torch.int16, device=state.device)
        further, look = self._native_further(native, state, seats[:, 0], numbers)
        boards, first = self._boards(state) + further, (len(BOARDS), len(NUMBERS))
        write = native_writer(native, self.grid, boards, seats, numbers, first, dtype)
        arrays = (state.left, state.round, state.scores, state.first, seats[:, 0])
        left, number, scores, starts, seat = (x.numpy() for x in arrays)
        (one, other), shown = scores.T, numbers[:, 0].numpy().T

        def see(out: int) -> None:
            if len(seat) == 1:  # a number is quicker than an array of one
                own = min(max(scores[0, seat[0]], -LARGEST), LARGEST)
            else:
                own = np.minimum(np.maximum(np.where(seat, other, one), -LARGEST), LARGEST)
            shown[0], shown[1], shown[2], shown[3] = left, number, own, seat == starts
            look()
            write(out)

        return see

    def _native_further(
        self, native: Library, state: ClothState, seat: Tensor, numbers: Tensor
    ) -> tuple[list[Tensor], Callable[[], object]]:
        """Return the boards behind these, and a call that renews them and the last of `numbers`, int16 [B, 1, M]."""
        return [], lambda: None

    def packed_observation(self, state: ClothState, player: Tensor | int) -> tuple[Tensor, Tensor]:
        """Return the boards of `observe` as words, int64 [B, 7, S, N], and its numbers, int16 [B, 4]."""
        boards, numbers, seat = self._seen(state, player)
        return seen_words(boards, seat), numbers

    def _seen(self, state: ClothState, player: Tensor | int) -> tuple[list[Tensor], Tensor, Tensor]:
        """Return the boards of `observe` as `write_planes` takes them, its numbers, int16 [B, 4], and the seats."""
        seat = torch.as_tensor(player, dtype=torch.int64, device=state.device).expand(len(state))
        own = state.scores.gather(1, seat[:, None]).squeeze(1).clamp(-LARGEST, LARGEST)
        numbers = torch.stack((state.left, state.round, own.int(), (seat == state.first).int()), 1).to(torch.int16)
        return self._boards(state), numbers, seat

    def _boards(self, state: ClothState) -> list[Tensor]:
        return [state.units, state.neutral, state.killed, state.placed, state.territory]

    @override
    def outcome(self, state: ClothState) -> Tensor:
        """Return the players' outcomes, int8 [B, 2]: the leader has won; without a leader both have lost."""
        return torch.where(state.done[:, None], rounds.outcomes(state.scores[:, 0]), DRAW).to(torch.int8)

    @override
    def infos(self, state: ClothState, player: int) -> dict[str, Tensor]:
        """Return `score` [B]; by player `units` and `territory`, [B, 2]; `contested`, `killed` and `round`, [B]."""
        counts = rounds.counted(self.grid, state, torch.arange(len(state), device=state.device))
        return super().infos(state, player) | {
            "units": state.live,
            "territory": counts[:, :2],
            "contested": counts[:, 2],
            "killed": counts[:, 3],
            "round": state.round,
        }

    @override
    def summary(self, state: ClothState) -> dict[str, Any]:
        """Return `rounds`: lists by round of `units` and `territory` (pairs), `contested` and `killed` cells.

        Entry 0 tells of the initial placement, zeros without one; then every round that has been played.
        """
        played = state.rounds[0, : int(state.round) + int(state.done)]
        columns = dict(zip(COLUMNS, played.t().tolist(), strict=True))

        def pairs(name: str) -> list[list[int]]:
            return list(map(list, zip(columns[f"{name}_a"], columns[f"{name}_b"], strict=True)))

        both = {name: pairs(name) for name in ("units", "territory")}
        return {"rounds": both | {name: columns[name] for name in ("contested", "killed")}}

    @override
    def solo(self, state: ClothState) -> Solo:
        return super().solo(state) if library(state.device) is None else ClothSolo(self, state)

    def worlds(self, state: ClothState) -> Iterator[ClothState]:
        """Yield games as they are and after each generation of a round, without end; only their cells are renewed."""
        planes = torch.cat((state.units, state.neutral[:, None], state.killed[:, None]), 1)
        while True:
            yield state
            planes = advance(self.grid, innermost(planes), 1, self.neutral_rules).movedim(-1, 0)
            state = state.replace(units=planes[:, :2], neutral=planes[:, 2], killed=planes[:, 3])

    def with_territory(self, state: ClothState) -> ClothState:
        """Return the games with the territory of the units that are on the board now."""
        return state.replace(territory=territory(self.grid, innermost(state.units), self.radius).movedim(-1, 0))

    def layer(self, state: ClothState) -> rendering.Layer:
        """Return the layer that an extension adds to the picture of a batch of one."""
        return rendering.Layer()

    # --- text and pictures ----------------------------------------------------------------------------------------

    @override
    def action_to_string(self, action: int) -> str:
        """Return `r12c34` for row 12 and column 34, `end` for the end of the turn."""
        if not 0 <= action <= self.end_turn:
            raise InputError("action", f"an action from 0 to {self.end_turn}", action, where=self.id)
        return notation.cell_to_string(*divmod(action, self.width)) if action < self.cells else notation.END_TURN

    @override
    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        if text == notation.END_TURN:
            return self.end_turn
        row, col = notation.string_to_cell(text) or (self.height, self.width)
        if row >= self.height or col >= self.width:
            raise InputError("action", self._actions(), shown(text), where=self.id)
        return row * self.width + col

    def _actions(self) -> str:
        """Return a description of the valid texts of an action, for errors."""
        return f"a cell from r0c0 to r{self.height - 1}c{self.width - 1}, or end"

    @override
    def state_to_string(self, state: ClothState) -> str:
        """Return one line, see `notation`; without the numbers of earlier rounds."""
        stage: notation.Stage = "over" if state.terminated[0] else "cut" if state.truncated[0] else "move"
        placed = self.placed(state[:1])[0].nonzero().tolist()
        return notation.position_to_string(
            Position(
                int(state.current_player[0]),
                int(state.round[0]),
                int(state.acts[0]),
                int(state.scores[0, 0]),
                [(row, col) for row, col in placed],
                self.board(state[0])[0].tolist(),
                int(state.turn[0]),
                stage,
                int(state.first[0]),
            )
        )

    @override
    def string_to_state(self, text: str, seed: int = 0) -> ClothState:
        """Return the state of a line by `state_to_string`; earlier rounds are zeros in `ClothState.rounds`.

        Raises:
            ValueError: no such line, or numbers that this game cannot come to.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        return self._at(state, self._position(text, self.state_to_string(state)))

    def _at(self, state: ClothState, position: Position) -> ClothState:
        """Return one game in a position."""
        board = torch.tensor(position.board, dtype=torch.int8, device="cpu")
        kinds = torch.arange(1, 5, dtype=torch.int8, device="cpu")[:, None, None]
        planes = self.grid.pack((board == kinds)[None]).movedim(-1, 0)
        placed = torch.zeros(1, self.height, self.width, dtype=torch.bool, device="cpu")
        for row, col in position.placed:
            placed[0, row, col] = True
        state = state.replace(
            turn=torch.full_like(state.turn, position.turn),
            current_player=torch.full_like(state.current_player, position.player),
            scores=torch.tensor([[position.score, -position.score]], dtype=state.scores.dtype, device="cpu"),
            terminated=torch.full_like(state.terminated, position.stage == "over"),
            truncated=torch.full_like(state.truncated, position.stage == "cut"),
            units=planes[:, :2].clone(),
            neutral=planes[:, 2].clone(),
            killed=planes[:, 3].clone(),
            placed=self.grid.pack(placed).movedim(-1, 0),
            live=torch.tensor([[int((board == side).sum()) for side in (1, 2)]], dtype=torch.int32, device="cpu"),
            left=torch.full_like(state.left, self.max_units - len(position.placed)),
            acts=torch.full_like(state.acts, position.acts),
            first=torch.full_like(state.first, position.first),
            round=torch.full_like(state.round, position.round),
        )
        return self.with_territory(state)

    def _position(self, text: str, example: str) -> Position:
        """Return the position of a line; raise an `InputError` if this game cannot hold it."""
        position = notation.string_to_position(text, self.height, self.width)
        if position is None:
            raise InputError("position", f"a position such as {shown(example, 150)}", shown(text), where=self.id)
        first = 1 - self.initial_placement
        place = position.player ^ position.first  # 1 in the second turn of a round
        turns = 2 * (position.round - first) + place
        most = turns * self.longest_turn + (position.acts if position.stage == "move" else self.longest_turn)
        wrong = {
            f"a round from {first} to {self.max_rounds}": not first <= position.round <= self.max_rounds,
            f"at most {self.most_units} units placed in a turn": len(position.placed) > self.most_units,
            f"at most {self.longest_turn - 1} actions in a turn": position.acts >= self.longest_turn,
            f"from {position.acts} to {most} actions": not position.acts <= position.turn <= most,
            f"{len(position.placed)} placements, and as many others as take-backs, in {position.acts} acts": (
                position.acts < len(position.placed)
                or ((position.acts - len(position.placed)) % 2 != 0 and self.end_turn == self.cells)  # no other acts
            ),
            f"a score from {-self.cells} to {self.cells}": abs(position.score) > self.cells,
            "a game that is over to have ended with a round's second turn": position.stage != "move"
            and (place, position.acts, position.round > 0) != (1, 0, True),
            f"who places first by order={self.order}": self.order != "drawn"
            and position.first != rules.ORDERS[self.order] >> position.round % 4 & 1,
            f"a game that is cut off to be in round {self.max_rounds}": position.stage == "cut"
            and position.round < self.max_rounds,
        }
        if found := [expected for expected, holds in wrong.items() if holds]:
            raise InputError("position", found[0], shown(text), where=self.id)
        return position

    @override
    def view(self, state: ClothState, player: int | None = None) -> rendering.View:
        return rendering.view(self, state)

    @override
    def frames(self, before: ClothState, after: ClothState) -> Iterator[Picture]:
        """Yield a placement as one picture, and the end of a round as some of its generations."""
        return rendering.frames(self, before, after)
