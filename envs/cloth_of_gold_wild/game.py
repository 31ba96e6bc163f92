"""Wild Cloth of Gold on the contract of the suite.

Letters: `B` games, `n` of them whose round ends, `S, N` stored rows and words in them (see `boards.bitboards`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.cloth_of_gold import placement, rules
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.native_step import Code
from cellgames.envs.cloth_of_gold.state import LARGEST, ClothState
from cellgames.envs.core.info import GameInfo
from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import along_envs, innermost
from cellgames.envs.native import Library, library
from cellgames.utils.errors import InputError, shown

from . import notation, observation, perks, rounds
from .native_step import WildSolo, native_code, native_planes
from .rendering import WildView, wild_view
from .state import WildState, wild
from .terrain import HIGHEST, round_seed
from .weather import draw_weather

Territory = Literal["field", "hull"]

MOST_ANIMALS = 20  # of a kind
_OPTIONS = frozenset({"terrain", "weather", "perks", "territory", "buffer", "wildlife", "combinations"})


@dataclass(frozen=True, repr=False)
class ClothOfGoldWild(ClothOfGold):
    """Cloth of Gold with terrain, weather, perks, borders and wildlife, each of them an option.

    Attributes:
        terrain: water, rock and forest.
        weather: rain, storm, lightning and fire; needs `terrain`.
        perks: still lifes earn units, reach, wards and bolts.
        territory: "field", the cells near a unit; or "hull", zones around the hulls of clusters of units.
        buffer: distance from its hull up to which a zone reaches.
        wildlife: numbers of grazers, hunters and guards.
        combinations: sets of one still life for each perk earn more; needs `perks`.
    """

    terrain: bool = False
    weather: bool = False
    perks: bool = False
    territory: Territory = "field"
    buffer: int = 4
    wildlife: tuple[int, int, int] = (0, 0, 0)
    combinations: bool = False

    added_parameters: ClassVar[frozenset[str]] = ClothOfGold.added_parameters | _OPTIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int(self, "buffer", 0, 16)
        self._check_flags("terrain", "weather", "perks", "combinations")
        check_choices(self, territory=get_args(Territory))
        self._check_needed("weather", False, "terrain")
        self._check_needed("combinations", False, "perks")
        animals = self.wildlife
        if isinstance(animals, list):
            object.__setattr__(self, "wildlife", animals := tuple(animals))  # as JSON has it
        if (
            not isinstance(animals, tuple)
            or len(animals) != 3
            or any(isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= MOST_ANIMALS for n in animals)
        ):
            expected = f"three numbers from 0 to {MOST_ANIMALS}, of grazers, hunters and guards"
            raise InputError("wildlife", expected, shown(animals), where=self.id)

    @property
    @override
    def end_turn(self) -> int:
        return self.cells * (1 + self.perks)

    @property
    @override
    def most_units(self) -> int:
        return self.max_units * (1 + self.perks)

    @override
    def allowance(self, state: ClothState) -> Tensor:
        """Return the units of a whole turn of the mover, int32 [B]: `max_units`, and more by supply."""
        if not self.perks:
            return super().allowance(state)
        supply = wild(state).supply.gather(1, state.current_player[:, None]).squeeze(1)
        return perks.allowance(self.max_units, supply)

    @property
    @override
    def boards(self) -> tuple[str, ...]:
        return (*super().boards, *observation.board_names(self))

    @property
    @override
    def numbers(self) -> tuple[str, ...]:
        return (*super().numbers, *observation.number_names(self))

    @property
    @override
    def random_rounds(self) -> bool:
        return True

    @cached_property
    @override
    def info(self) -> GameInfo:
        base = replace(super().info, title="Wild Cloth of Gold")
        most = min(LARGEST, max(int(base.observation.high), HIGHEST * self.weather))
        return replace(
            base,
            stochastic=base.stochastic or self.terrain or sum(self.wildlife) > 0,
            observation=replace(base.observation, low=-most, high=most),
        )

    @override
    def _init(self, seeds: Tensor) -> WildState:
        return rounds.start(self, super()._init(seeds))

    @override
    def _played(self, state: ClothState, cells: Tensor, ending: Tensor, actions: Tensor | int) -> ClothState:
        after = super()._played(state, cells, ending, actions)
        return after.replace(left=torch.where(ending, self.allowance(after), after.left)) if self.perks else after

    @override
    def _placed(self, state: ClothState, cells: Tensor, ending: Tensor) -> WildState:
        if self.perks and (bolts := cells >= self.cells).any():
            for cell in torch.where(bolts, cells - self.cells, -1).unbind(1):
                state = rounds.bolt(self, wild(state), cell)
            cells = torch.where(bolts, -1, cells)
        radius = 1 if self.territory == "hull" else self.radius
        after = wild(placement.play(self.grid, state, cells, ending, radius=radius, max_units=self.max_units))
        acted, mover = (cells >= 0).any(1), state.current_player[:, None]
        if self.territory != "hull":
            if not self.perks:
                return after
            acted = acted & (wild(state).reach.gather(1, mover).squeeze(1) > 0)
        return rounds.widened(self, after, acted[:, None] & (torch.arange(2, device=acted.device) == mover))

    @override
    def _lived(self, state: ClothState, env_ids: Tensor) -> WildState:
        after = rounds.lived(self, wild(state)[env_ids])
        return wild(state).put(env_ids, self.with_territory(after))

    @override
    def _next_round(self, state: ClothState, env_ids: Tensor) -> WildState:
        if not self.weather:
            return wild(state)
        env_ids = env_ids[(state.round[env_ids] > 1) & ~state.done[env_ids]]
        seed, last = round_seed(state.seed[env_ids], state.round[env_ids]), wild(state).weather
        return wild(state).replace(weather=last.index_put((env_ids,), draw_weather(seed, last[env_ids])))

    @override
    def _legal(self, state: ClothState) -> Tensor:
        cells, whole = self.legal_cells(state), self.allowance(state)
        placing, taking, end = rules.choices(state.left, state.acts, whole, ~cells.flatten(1).any(1))
        new, back = (placement.words(along_envs(flags, 3)) for flags in (placing, taking))
        legal = (cells & new) | (state.placed & back)
        flags = [self.grid.unpack(innermost(legal)).flatten(1)]
        if self.perks:
            spells = wild(state).spells.gather(1, state.current_player[:, None])
            flags.append(((spells > 0) & taking[:, None]).expand(-1, self.cells))
        return torch.cat((*flags, end[:, None]), 1)

    @override
    def legal_cells(self, state: ClothState) -> Tensor:
        blocked = state.replace(neutral=state.neutral | wild(state).water) if self.terrain else state
        return placement.legal_cells(self.grid, blocked)

    _native_step = ClothOfGold._native_step

    @override
    def _native_code(self, native: Library) -> Code:
        return native_code(self, native)

    @property
    @override
    def first_reach(self) -> int:
        return self.buffer**2 + 1 if self.territory == "hull" else super().first_reach

    @override
    def _why_illegal(self, state: ClothState, seat: int, component: int, action: int) -> str:
        if self.cells <= action < self.end_turn:
            left = wild(state).spells[0, seat]
            return f"after {int(state.acts)} actions in this turn only its end is left" if left else "no bolt is left"
        row, col = divmod(action, self.width)
        if self.terrain and action < self.cells and self._unpacked(wild(state).water[:, None])[0, 0, row, col]:
            return f"{self.action_to_string(action)} is under water"
        return super()._why_illegal(state, seat, component, action)

    @override
    def _seen(self, state: ClothState, player: Tensor | int) -> tuple[list[Tensor], Tensor, Tensor]:
        boards, numbers, seat = super()._seen(state, player)
        more, given = observation.planes(self, wild(state), seat)
        return boards + more, torch.cat((numbers, given), 1), seat

    @override
    def _native_further(
        self, native: Library, state: ClothState, seat: Tensor, numbers: Tensor
    ) -> tuple[list[Tensor], Callable[[], object]]:
        return native_planes(self, native, wild(state), seat, numbers)

    @override
    def infos(self, state: ClothState, player: int) -> dict[str, Tensor]:
        """Return those of the base game, and what `observation.infos` adds."""
        return super().infos(state, player) | observation.infos(self, wild(state))

    @override
    def solo(self, state: ClothState) -> Solo:
        return Solo(self, state) if library(state.device) is None else WildSolo(self, state)

    @override
    def worlds(self, state: ClothState) -> Iterator[WildState]:
        yield wild(state)
        played = rounds.WildRound(self, wild(state))
        while True:
            played.generation()
            yield played.after(wild(state))

    @override
    def with_territory(self, state: ClothState) -> WildState:
        return rounds.widened(self, wild(state), torch.ones_like(state.live, dtype=torch.bool))

    @override
    def layer(self, state: ClothState) -> WildView:
        return wild_view(self, wild(state))

    @override
    def action_to_string(self, action: int) -> str:
        """Return `r12c34` for row 12 and column 34, `bolt-r12c34` for a bolt there, `end` for the end of the turn."""
        bolt = self.cells <= action < self.end_turn
        return notation.BOLT * bolt + super().action_to_string(action - self.cells * bolt)

    @override
    def string_to_action(self, text: str) -> int:
        cell = text.removeprefix(notation.BOLT)
        if not self.perks or cell == text:
            return super().string_to_action(text)
        action = super().string_to_action(cell)
        if action == self.end_turn:
            raise InputError("action", self._actions(), shown(text), where=self.id)
        return self.cells + action

    @override
    def _actions(self) -> str:
        bolt = f"a bolt such as {notation.BOLT}{self.action_to_string(self.cells - 1)}, " if self.perks else ""
        return bolt + super()._actions()

    @override
    def state_to_string(self, state: ClothState) -> str:
        """Return one line, that of the base game and the fields of `notation`."""
        return super().state_to_string(state) + notation.fields_to_string(self, wild(state))

    @override
    def string_to_state(self, text: str, seed: int = 0) -> WildState:
        state = self.init(torch.tensor([seed], device="cpu"))
        line, fields = notation.split_line(text)
        position = self._position(line, self.state_to_string(state))
        return self._with_fields(wild(self._at(state, position)), fields)

    def _with_fields(self, state: WildState, fields: Mapping[str, str]) -> WildState:
        """Return the position with what the line says of the wild options."""
        found = notation.with_fields(self, state, fields)
        if isinstance(found, str):
            said = " ".join(f"{name}:{value}" for name, value in fields.items())
            raise InputError("position", found, shown(said, 150), where=self.id)
        return self.with_territory(found)
