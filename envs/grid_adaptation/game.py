"""Grid Adaptation on the contract of the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.board_planes import native_writer, write_planes
from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, LOSS, WIN, GameInfo, Space
from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import along_envs
from cellgames.envs.native import library
from cellgames.utils.errors import InputError, shown

from . import legality, matches, native, notation, rendering, rules
from .native import GridSolo, numbers_seen
from .notation import Position
from .state import LARGEST, MOST_TILES, RESERVE, VOTE, G, num_planes

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture
    from cellgames.envs.core.vector import NativeStep

RewardScheme = Literal["score", "outcome", "public"]

MIN_SIZE, MAX_SIZE = 5, 31
_LISTS = ("sequence", "reserves", "bought", "garnets", "public", "tokens")  # fields that positions hold as they are


@dataclass(frozen=True, repr=False)
class GridAdaptation(Game[G]):
    """Grid Adaptation by pseudonam (Genius Game 4, Main Match 6): Life whose tiles carry secret sequences of bits.

    In each step every player names the spaces of its tiles, all at once; spaces named by several stay empty. Then one
    generation of Life runs, and every player scores the bits of all tiles that match its own sequence.

    A game that extends this one may add steps to a round, components behind those of an action, and planes behind
    those of an observation, the first of which is 1 in the additional steps. Agents play the part of it that is `base`.

    Attributes:
        size: rows and columns of the board, 5 to 31; nothing lies beyond its edges.
        players: 2 to 8; each has another sequence at the start.
        rounds: number of rounds of a match.
        first_tiles: tiles in round 1, 1 to 3; one in the others.
        starting_garnets: garnets of every player at the start.
        reserves: reserve tiles of every player.
        flip_rounds: rounds in which a digit of one's sequence may be flipped.
        reward_scheme: "score", the points of a round minus the mean of the others'; "public", the same minus the mean
            of the points that the eight sequences would have earned, which all players know; or "outcome", at the end
            Tokens, minus one for the Elimination Candidate, plus `garnet_value` for each garnet gained or spent.
        garnet_value: reward per garnet in the "outcome" scheme.
    """

    size: int = 15
    players: int = 8
    rounds: int = 8
    first_tiles: int = 3
    starting_garnets: int = 2
    reserves: int = 3
    flip_rounds: tuple[int, ...] = (4, 7)
    reward_scheme: RewardScheme = "score"
    garnet_value: float = 0.1

    id: ClassVar[str] = "grid-adaptation-v0"
    compiles: ClassVar[bool] = False  # torch takes no graph with several tables

    def __post_init__(self) -> None:
        limits = {"size": (MIN_SIZE, MAX_SIZE), "players": (2, 8), "rounds": (1, 100), "first_tiles": (1, MOST_TILES)}
        for name, (low, high) in {**limits, "starting_garnets": (0, 1000), "reserves": (0, 100)}.items():
            check_int(self, name, low, high)
        flips = self.flip_rounds
        if isinstance(flips, list):
            object.__setattr__(self, "flip_rounds", flips := tuple(flips))  # as JSON has it
        if not isinstance(flips, tuple) or not all(type(number) is int and number > 0 for number in flips):
            raise InputError("flip_rounds", "numbers of rounds, from 1", shown(flips), where=self.id)
        check_choices(self, reward_scheme=get_args(RewardScheme))
        value = self.garnet_value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise InputError("garnet_value", "a number of at least 0", shown(value), where=self.id)

    @cached_property
    def grid(self) -> PackedGrid:
        """The packing of boards into words."""
        return PackedGrid(self.size, self.size)

    @property
    def spaces(self) -> int:
        """`N`, of the board; as a choice of a space it is "none"."""
        return self.size * self.size

    @property
    def most_bought(self) -> int:
        """The most extra tiles that a player can pay for."""
        bought, garnets = 0, self.starting_garnets
        while garnets >= (cost := rules.price(bought)):
            bought, garnets = bought + 1, garnets - cost
        return bought

    @property
    def base(self) -> GridAdaptation:
        """The game without what an extension adds."""
        return self

    @property
    def steps_a_round(self) -> int:
        """The number of steps that a round takes; the last one places tiles."""
        return 1

    @cached_property
    @override
    def info(self) -> GameInfo:
        space, most = self.spaces + 1, 3.0 * self.spaces
        gained = self.garnet_value * (3 * self.spaces * self.rounds // rules.GARNETS_EACH)
        spent = self.garnet_value * self.starting_garnets
        bounds = (-1.0 - spent, 2.0 + gained) if self.reward_scheme == "outcome" else (-most, most)
        return GameInfo(
            id=self.id,
            title="Grid Adaptation",
            credit="Grid Adaptation by pseudonam (Genius Game 4, Main Match 6), Life by John Horton Conway",
            players=tuple(f"player_{seat}" for seat in range(self.players)),
            simultaneous=True,
            perfect_information=False,
            stochastic=True,
            zero_sum=False,  # not by outcomes; rewards by score are
            max_turns=self.rounds * self.steps_a_round + 1,
            reward_range=bounds,
            action_nvec=(space, space, space, space, 4, 2, self.players + 1),
            observation=Space((num_planes(self.players), self.size, self.size), torch.int16, 0, LARGEST),
            board=Space((self.size, self.size), torch.int8, -1, 7),
        )

    @override
    def _init(self, seeds: Tensor) -> G:
        return cast(G, matches.begin(self, seeds))

    @override
    def _step(self, state: G, actions: Tensor) -> G:
        return matches.step(self, state, actions)

    _native_spreads = True
    _native_mask = False

    @override
    def _native_step(self, device: torch.device) -> NativeStep[G] | None:
        return None if library(device) is None else native.Step(self)

    def flips_now(self, round: Tensor) -> Tensor:
        """Return a mask of the rounds, int64 [B], in which a digit may be flipped: bool [B]."""
        numbers = [number for number in self.flip_rounds if number <= self.rounds]
        return torch.isin(round, torch.tensor(numbers, dtype=torch.int64, device=round.device))

    @override
    def is_last_turn(self, state: G) -> Tensor:
        """Return a mask of the matches in which the vote is due, bool [B]: no step follows it."""
        return (state.round > self.rounds) & ~state.done

    def places_tiles(self, state: G) -> Tensor:
        """Return True, bool [B], if the next step places tiles; the vote places none, nor may steps of an extension."""
        return state.round <= self.rounds

    def free_spaces(self, state: G) -> Tensor:
        """Return the spaces where tiles can be placed, the same for all players and smaller than their masks.

        They are bool [B, N]; none in a step that places no tiles.
        """
        return legality.free_spaces(self, state)

    @override
    def _legal(self, state: G) -> Tensor:
        return legality.mask(self, state)

    @override
    def _legal_again(self, state: G, mask: Tensor) -> Tensor:
        return legality.mask(self, state, mask)

    @override
    def _random_actions(self, state: G, bits: Tensor) -> Tensor:
        return legality.random_actions(self, state, bits)

    @override
    def fallback(self, component: int, legal: Any) -> int:
        """Return "none", legal by the mask or not; 0 for the components of an extension."""
        return self.info.action_nvec[component] - 1 if component <= RESERVE or component == VOTE else 0

    @override
    def _why_illegal(self, state: G, seat: int, component: int, action: int) -> str:
        return legality.reason(self, state, seat, component, action)

    @override
    def board(self, state: G) -> Tensor:
        """Return the `tiles`, int8 [B, H, W]."""
        return self.tiles(state)

    def tiles(self, state: G) -> Tensor:
        """Return the tiles, int8 [B, H, W]: the sequence of each tile, -1 on a space without a tile."""
        tiles, *digits = self.grid.unpack(state.planes.movedim(0, -1)).unbind(1)
        sequence = sum(digit.to(torch.int8) * value for digit, value in zip(digits, rules.DIGITS, strict=True))
        return torch.where(tiles, sequence, -1).to(torch.int8)

    @override
    def observe(self, state: G, player: Tensor | int) -> Tensor:
        """Return the planes of `PLANES` and two for each player: int16 [B, C, H, W].

        The board is public; sequence, reserves, garnets and points are one's own. Everybody's points, and who is tied
        for the fewest, are shown to those who vote, and to all when the match is over.
        """
        seat = torch.as_tensor(player, dtype=torch.int64, device=state.device).expand(len(state))
        out = torch.empty((len(state), 1, *self.info.observation.shape), dtype=torch.int16, device=state.device)
        self._write_observation(state, seat[:, None], out)
        return out.squeeze(1)

    @override
    def _observe_into(self, state: G, out: Tensor) -> None:
        self._write_observation(state, torch.arange(self.players, device=state.device).expand(len(state), -1), out)

    @override
    def _native_observer(self, state: G, seats: Tensor, dtype: torch.dtype) -> Callable[[int], object] | None:
        if (native_code := library(state.device)) is None:
            return None
        boards, own = list(state.planes.unbind(1)), {name: field.numpy() for name, field in vars(state).items()}
        values = num_planes(self.players) - len(boards)
        numbers = torch.empty((*seats.shape, values), dtype=torch.int16, device=state.device)
        more = self._more_planes(state, seats)
        write = native_writer(native_code, self.grid, boards, seats, numbers, (len(boards), values), dtype, more)
        rows, places = numbers.numpy(), seats.numpy()[..., None]

        def see(out: int) -> None:
            rows[:] = np.take_along_axis(numbers_seen(self, own, own["terminated"] | own["truncated"]), places, 1)
            if more is not None and (now := self._more_planes(state, seats)) is not None:
                more.copy_(now)
            write(out)

        return see

    def _more_planes(self, state: G, seats: Tensor) -> Tensor | None:
        """Return the planes behind these for seats, int64 [B, k]: int16 [B, k, planes, H, W], None without any."""
        return None

    def _write_observation(self, state: G, seats: Tensor, out: Tensor) -> None:
        """Write what seats, int64 [B, k], see: [B, k, C, H, W]."""
        voting = ((state.round > self.rounds) & ~state.done)[:, None]
        votes = rules.voters(state.tied, state.tokens).gather(1, seats)
        counted = (state.done[:, None] | (voting & votes))[..., None]
        flips = (self.flips_now(state.round) & ~state.done)[:, None]
        own, reserves, garnets, bought, points = (
            field.gather(1, seats)
            for field in (state.sequence, state.reserves, state.garnets, state.bought, state.scores.long())
        )
        digits = [(own & value) != 0 for value in rules.DIGITS]
        held = [reserves, garnets, rules.price(bought), points]
        public = [field.expand_as(own) for field in (state.round[:, None], flips, voting)]
        parts = [torch.stack([*digits, *held, *public], 2), state.public[:, None].expand(-1, seats.shape[1], -1)]
        parts += [state.scores.long()[:, None] * counted, state.tied[:, None] & counted]
        numbers = torch.cat(parts, 2).clamp(max=LARGEST).to(torch.int16)
        boards = list(state.planes.unbind(1))
        sizes = len(boards), numbers.shape[2]
        write_planes(self.grid, boards, seats, numbers, sizes, out, self._more_planes(state, seats))

    @override
    def outcome(self, state: G) -> Tensor:
        """Return that who won a Token has won, the Elimination Candidate has lost, and the others have a draw."""
        seats = torch.arange(self.players, device=state.device)
        result = torch.where(state.tokens > 0, WIN, DRAW)
        result = torch.where(seats == state.candidate[:, None], LOSS, result)
        return torch.where(state.done[:, None], result, DRAW).to(torch.int8)

    @override
    def infos(self, state: G, player: int) -> dict[str, Tensor]:
        """Return the player's `score`, `sequence`, `reserves`, `garnets`, [B], and the results of a finished match.

        `points`, `tokens` and `final_garnets` of all players, [B, P], and the Elimination `candidate`'s seat, [B]: -1
        until then.
        """
        done = state.done
        ends = {"points": state.scores.long(), "tokens": state.tokens, "final_garnets": state.garnets}
        return {
            **super().infos(state, player),
            **{name: getattr(state, name)[:, player] for name in ("sequence", "reserves", "garnets")},
            **{name: torch.where(along_envs(done, value.ndim), value, -1) for name, value in ends.items()},
            "candidate": torch.where(done, state.candidate, -1),
        }

    @override
    def summary(self, state: G) -> dict[str, Any]:
        """Return everybody's last `sequence`, `tokens` and `garnets`, and the seat of the `candidate`."""
        lists = {name: getattr(state, name)[0].tolist() for name in ("sequence", "tokens", "garnets")}
        return {**lists, "candidate": int(state.candidate[0])}

    @override
    def solo(self, state: G) -> Solo:
        return Solo(self, state) if library(state.device) is None else GridSolo(self, state)

    @override
    def action_to_string(self, action: int) -> str:
        """Return `r7c7,r7c8,r8c7+r2c2/flip:100/buy/vote:3`, see `notation`.

        Args:
            action: the number of the action among all combinations of its components, the last one varying fastest.
        """
        return notation.action_to_string(action, self.info.action_nvec)

    @override
    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`."""
        action = notation.string_to_action(text, self.info.action_nvec)
        if action is None:
            expected = "an action such as r0c0, r0c0,r1c2,r3c4+r2c2/flip:100/buy or none/vote:1"
            raise InputError(
                "action", f"{expected} on a board of {self.size} x {self.size}", shown(text), where=self.id
            )
        return action

    @override
    def choice_to_string(self, component: int, choice: int) -> str:
        """Return one component's choice by itself."""
        return notation.choice_to_string(component, choice, self.info.action_nvec)

    @override
    def state_to_string(self, state: G) -> str:
        """Return one line with all that the players hold, see `notation`."""
        number = int(state.round[0])
        stage: notation.Stage = "over" if state.done[0] else "vote" if number > self.rounds else "play"
        lists = {name: getattr(state, name)[0].tolist() for name in _LISTS}
        return notation.position_to_string(
            Position(
                stage=stage,
                turn=int(state.turn[0]),
                round=number,
                board=self.tiles(state[0])[0].tolist(),
                points=state.scores[0].long().tolist(),
                tied=state.tied[0].nonzero().flatten().tolist(),
                candidate=int(state.candidate[0]),
                **lists,
            )
        )

    @override
    def view_to_string(self, state: G, player: int) -> str:
        """Return the line by `state_to_string` with `?` for what the player may not know; see `observe`."""
        if bool(state.done[0]):
            return self.state_to_string(state)
        votes = bool(rules.voters(state.tied, state.tokens)[0, player])
        return notation.view(self.state_to_string(state), player, votes=votes)

    @override
    def string_to_state(self, text: str, seed: int = 0) -> G:
        """Return the state of a line by `state_to_string`, without which tiles were placed last.

        Raises:
            ValueError: no such line, or numbers that this match cannot come to.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        return self._placed(state, self._position(text, self.state_to_string(state)))

    def _placed(self, state: G, position: Position) -> G:
        """Return one match with the fields that a line says."""
        board = torch.tensor([position.board], device="cpu")
        planes = [board >= 0, *((board >= 0) & (board & value != 0) for value in rules.DIGITS)]
        tied = torch.zeros_like(state.tied)
        tied[0, list(position.tied)] = True

        def row(values: Sequence[int], like: Tensor) -> Tensor:
            return torch.tensor([values], dtype=like.dtype, device="cpu")

        return state.replace(
            turn=torch.full_like(state.turn, position.turn),
            scores=row(position.points, state.scores),
            terminated=torch.full_like(state.terminated, position.stage == "over"),
            planes=self.grid.pack(torch.stack(planes, 1)).movedim(-1, 0),
            round=torch.full_like(state.round, position.round),
            tied=tied,
            candidate=torch.full_like(state.candidate, position.candidate),
            **{name: row(getattr(position, name), getattr(state, name)) for name in _LISTS},
        )

    def _position(self, text: str, example: str) -> Position:
        """Return the position of a line; raise an `InputError` if this match cannot hold it."""
        position = notation.string_to_position(text, self.size, self.players)
        if position is None:
            raise InputError("position", f"a position such as {shown(example, 150)}", shown(text), where=self.id)
        last = self.rounds + (position.stage != "play")
        first = {"play": 1, "vote": last, "over": self.rounds}[position.stage]
        most_points = 3 * self.spaces * self.rounds
        wrong = {
            f"a round from {first} to {last}": not first <= position.round <= last,
            f"at most {self.info.max_turns} steps": position.turn > self.info.max_turns - (position.stage != "over"),
            "players tied who vote": position.stage == "vote" and len(position.tied) < 2,
            f"at most {most_points} points": max(position.points) > most_points,
            f"at most {self.most_bought} extra tiles": max(position.bought) > self.most_bought,
        }
        if found := [expected for expected, holds in wrong.items() if holds]:
            raise InputError("position", found[0], shown(text), where=self.id)
        return position

    @override
    def frames(self, before: G, after: G) -> Iterator[Picture]:
        """Yield a step as one picture, with the tiles placed and the births and deaths of its generation."""
        moment = self.view(after)
        if int(after.turn[0]) > int(before.turn[0]) and bool(self.places_tiles(before[:1])):
            placed = self.grid.unpack(after.placed[:1].movedim(0, -1))[0].numpy(force=True)
            moment = replace(moment, before=self.tiles(before[:1])[0].numpy(force=True), placed=placed)
        yield moment.draw()

    @override
    def view(self, state: G, player: int | None = None) -> rendering.View:
        return rendering.view(self, state[:1], player)
