"""Grid Adaptation on the contract of the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.core.errors import GameError
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import DRAW, LOSS, WIN, Compilation, GameInfo, Space
from cellgames.envs.core.state import along_envs
from cellgames.envs.kernels.parameters import check_int
from cellgames.envs.native import library
from cellgames.utils.foreign_text import shown

from . import ending, legality, matches, native_rounds, notation, observation, rules
from .notation import Position
from .state import MOST_TILES, RESERVE, VOTE, GridState
from .talk import conversation, native_talk, talk_notation, words
from .talk.conversation import TalkState

if TYPE_CHECKING:
    from cellgames.envs.core.drawing import Picture
    from cellgames.envs.core.vector import NativeStep

    from .solo import GridSolo

__all__ = ["GridAdaptation", "RewardScheme", "Talk"]

RewardScheme = Literal["score", "outcome", "public"]
Talk = Literal["none", "public", "private"]

MIN_SIZE, MAX_SIZE = 5, 31


@dataclass(frozen=True, repr=False)
class GridAdaptation(Game[GridState]):
    """Grid Adaptation by pseudonam (Genius Game 4, Main Match 6): Life whose tiles carry secret sequences of bits.

    In each step every player names the spaces of its tiles, all at once; spaces named by several stay empty. Then one
    generation of Life runs, and every player scores the bits of all tiles that match its own sequence.

    Attributes:
        size: rows and columns of the board, 5 to 31; nothing lies beyond its edges.
        players: 2 to 8; each has another sequence at the start.
        rounds: of a match.
        first_tiles: tiles in round 1, 1 to 3; one in the others.
        starting_garnets: of every player.
        reserves: reserve tiles of every player.
        flip_rounds: in which a digit of one's sequence may be flipped.
        reward_scheme: "score", the points of a round minus the mean of the others'; "public", the same minus the mean
            of what the eight sequences would have earned, which all players know; or "outcome", at the end Tokens,
            minus one for the Elimination Candidate, plus `garnet_value` for each garnet gained or spent.
        garnet_value: see there.
        talk: "none"; or "public" or "private", in which players send each other words before each round. In public
            everybody hears a word, in private a player sends one to each of the others.
        words: the number of words beside silence, 1 to 100.
        talk_steps: in which words are sent before each round, 1 to 10.
        scramble: True to deal out the words of a talk step anew among their senders, so that they carry nothing.
        mute: True to replace all words by silence on their way.
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
    talk: Talk = "none"
    words: int = 8
    talk_steps: int = 1
    scramble: bool = False
    mute: bool = False

    added_parameters: ClassVar[frozenset[str]] = frozenset({"talk", "words", "talk_steps", "scramble", "mute"})

    id: ClassVar[str] = "grid-adaptation-v0"
    compilation: ClassVar[Compilation] = "stages"  # as one graph it compiles for minutes, and is slow

    def __post_init__(self) -> None:
        for name, low, high in (
            ("size", MIN_SIZE, MAX_SIZE),
            ("players", 2, 8),
            ("rounds", 1, 100),
            ("first_tiles", 1, MOST_TILES),
            ("starting_garnets", 0, 1000),
            ("reserves", 0, 100),
            ("words", 1, 100),
            ("talk_steps", 1, 10),
        ):
            check_int(self, name, low, high)
        flips = self.flip_rounds
        if isinstance(flips, list):
            object.__setattr__(self, "flip_rounds", flips := tuple(flips))  # as JSON has it
        if not isinstance(flips, tuple) or not all(type(number) is int and number > 0 for number in flips):
            raise ValueError(
                f"{self.id}: parameter 'flip_rounds' must be numbers of rounds, from 1, got {shown(flips)}"
            )
        for name, kinds in (("reward_scheme", RewardScheme), ("talk", Talk)):
            if (chosen := getattr(self, name)) not in get_args(kinds):
                known = ", ".join(get_args(kinds))
                raise ValueError(f"{self.id}: parameter {name!r} must be one of {known}, got {shown(chosen)}")
        value = self.garnet_value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ValueError(f"{self.id}: parameter 'garnet_value' must be a number of at least 0, got {shown(value)}")
        for name in ("scramble", "mute"):
            if not isinstance(flag := getattr(self, name), bool):
                raise ValueError(f"{self.id}: parameter {name!r} must be True or False, got {shown(flag)}")
        if self.scramble and self.mute:
            raise ValueError(f"{self.id}: expected one of scramble=True and mute=True, got both")
        if self.talk == "none" and (given := sorted(self.parameters.keys() & self.added_parameters)):
            raise ValueError(
                f"{self.id}: parameter {given[0]!r} is about talk, got talk='none'; add talk='public' or talk='private'"
            )

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
    def talks(self) -> int:
        """The number of talk steps of a match, `T`; 0 without talk."""
        return 0 if self.talk == "none" else self.rounds * self.talk_steps

    @cached_property
    def silent(self) -> GridAdaptation:
        """The same game without talk."""
        usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(self)}
        return dataclasses.replace(self, **{name: usual[name] for name in self.added_parameters})

    @cached_property
    @override
    def info(self) -> GameInfo:
        space, most = self.spaces + 1, 3.0 * self.spaces
        gained = self.garnet_value * (3 * self.spaces * self.rounds // ending.GARNETS_EACH)
        spent = self.garnet_value * self.starting_garnets
        bounds = (-1.0 - spent, 2.0 + gained) if self.reward_scheme == "outcome" else (-most, most)
        planes = observation.num_planes(self.players)
        board: tuple[int, ...] = (self.size, self.size)
        said: tuple[int, ...] = ()
        if self.talks:
            planes += words.num_planes(self)
            board = (1 + conversation.num_spectated(self), *board)
            said = (self.words + 1,) * words.num_places(self)
        return GameInfo(
            id=self.id,
            title="Grid Adaptation",
            credit="Grid Adaptation by pseudonam (Genius Game 4, Main Match 6), Life by John Horton Conway",
            players=tuple(f"player_{seat}" for seat in range(self.players)),
            simultaneous=True,
            perfect_information=False,
            stochastic=True,
            zero_sum=False,  # not by outcomes; rewards by score are
            max_turns=self.rounds + self.talks + 1,
            reward_range=bounds,
            action_nvec=(space, space, space, space, 4, 2, self.players + 1, *said),
            observation=Space((planes, self.size, self.size), torch.int16, 0, observation.LARGEST),
            board=Space(board, torch.int8, -1, max(7, self.words) if self.talks else 7),
        )

    # --- the game -------------------------------------------------------------------------------------------------

    @override
    def _init(self, seeds: Tensor) -> GridState:
        return conversation.begin(self, seeds) if self.talks else matches.begin(self, seeds)

    @override
    def _step(self, state: GridState, actions: Tensor) -> GridState:
        if isinstance(state, TalkState):
            return conversation.step(self, state, actions)
        return native_rounds.step(self, state, actions)

    @override
    def _restart(self, state: GridState, done: Tensor) -> GridState:
        if isinstance(state, TalkState):
            return conversation.restart(self, state, done)
        return matches.restart(self, state, done)

    _native_spreads = True

    @override
    def _native_step(self, device: torch.device) -> NativeStep[GridState] | None:
        if library(device) is None:
            return None
        return partial(native_talk.step_in_place if self.talks else native_rounds.step_in_place, self)

    def flips_now(self, round: Tensor) -> Tensor:
        """Return whether a digit may be flipped in a round, int64 [B]: bool [B]."""
        now = torch.zeros_like(round, dtype=torch.bool)
        for number in self.flip_rounds:
            if number <= self.rounds:
                now = now | (round == number)
        return now

    @override
    def is_last_turn(self, state: GridState) -> Tensor:
        """Return where the vote is due: nothing follows it."""
        return (state.round > self.rounds) & ~state.done

    def free_spaces(self, state: GridState) -> Tensor:
        """Return the spaces without a tile, the same for all players and much smaller than their masks: bool [B, N].

        None in the voting step and in a talk step.
        """
        if isinstance(state, TalkState):
            return native_talk.free_spaces(self, state)
        return native_rounds.free_spaces(self, state)

    @override
    def _legal(self, state: GridState) -> Tensor:
        return conversation.mask(self, state) if isinstance(state, TalkState) else native_rounds.mask(self, state)

    @override
    def _legal_again(self, state: GridState, mask: Tensor) -> Tensor:
        if isinstance(state, TalkState):
            return conversation.mask(self, state, mask)
        return native_rounds.mask(self, state, mask)

    @override
    def _random_actions(self, state: GridState, bits: Tensor) -> Tensor:
        if isinstance(state, TalkState):
            return conversation.random_actions(self, state, bits)
        return legality.random_actions(self, state, bits)

    @override
    def fallback(self, component: int, legal: Any) -> int:
        """Return "none" or silence, legal by the mask or not."""
        return self.info.action_nvec[component] - 1 if component <= RESERVE or component == VOTE else 0

    @override
    def _why_illegal(self, state: GridState, seat: int, component: int, action: int) -> str:
        if isinstance(state, TalkState):
            return conversation.reason(self, state, seat, component, action)
        return legality.reason(self, state, seat, component, action)

    def talking(self, state: GridState) -> Tensor:
        """Return where the next step is a talk step, bool [B]."""
        return conversation.talking(self, state) if isinstance(state, TalkState) else torch.zeros_like(state.done)

    @override
    def board(self, state: GridState) -> Tensor:
        """Return the `tiles`, int8 [B, H, W]; with talk [B, C, H, W], where all words follow on further planes.

        They are the words of each talk step by sender as they were said, then as they arrived, filled in row by row:
        -1 in talk steps to come.
        """
        tiles = self.tiles(state)
        if isinstance(state, TalkState):
            return torch.cat((tiles[:, None], conversation.spectated(self, state)), 1)
        return tiles

    def tiles(self, state: GridState) -> Tensor:
        """Return the tiles, int8 [B, H, W]: -1 where there is none, else its sequence."""
        tiles, *digits = self.grid.unpack(state.planes.movedim(0, -1)).unbind(1)
        sequence = sum(digit.to(torch.int8) * value for digit, value in zip(digits, rules.DIGITS, strict=True))
        return torch.where(tiles, sequence, -1).to(torch.int8)

    @override
    def observe(self, state: GridState, player: Tensor | int) -> Tensor:
        """Return the planes of `observation.PLANES` and two for each player: int16 [B, C, H, W].

        The board is public; sequence, reserves, garnets and points are one's own. Everybody's points, and who is tied
        for the fewest, are shown to those who vote, and to all when the match is over.
        """
        env_ids = torch.arange(len(state), device=state.device)
        seat = torch.as_tensor(player, dtype=torch.int64, device=state.device).expand(len(state))
        own = state.sequence[env_ids, seat]
        voting = (state.round > self.rounds) & ~state.done
        votes = ending.voters(state.tied.t(), state.tokens.t())[seat, env_ids]
        counted = (state.done | (voting & votes))[:, None]
        flips = self.flips_now(state.round) & ~state.done
        numbers = torch.stack(
            (
                *((own & value) != 0 for value in rules.DIGITS),
                state.reserves[env_ids, seat],
                state.garnets[env_ids, seat],
                rules.price(state.bought[env_ids, seat]),
                state.scores[env_ids, seat].long(),
                state.round,
                flips,
                voting,
                *state.public.unbind(1),
                *(state.scores.long() * counted).unbind(1),
                *(state.tied & counted).unbind(1),
            ),
            1,
        )
        numbers = numbers.clamp(max=observation.LARGEST).to(torch.int16)
        cells = self.grid.unpack(state.planes.movedim(0, -1)).to(torch.int16)
        planes = [cells, numbers[:, :, None, None].expand(-1, -1, self.size, self.size)]
        if isinstance(state, TalkState):
            planes.append(conversation.observed(self, state, seat))
        return torch.cat(planes, 1)

    @override
    def outcome(self, state: GridState) -> Tensor:
        """Return that who won a Token has won, the Elimination Candidate has lost, and the others have a draw."""
        seats = torch.arange(self.players, device=state.device)
        result = torch.where(state.tokens > 0, WIN, DRAW)
        result = torch.where(seats == state.candidate[:, None], LOSS, result)
        return torch.where(state.done[:, None], result, DRAW).to(torch.int8)

    @override
    def infos(self, state: GridState, player: int) -> dict[str, Tensor]:
        """Return the player's `score`, `sequence`, `reserves`, `garnets`, [B], and the results of a finished match.

        `points`, `tokens` and `final_garnets` of all players, [B, P], and the Elimination `candidate`'s seat, [B]: -1
        until then. With talk also the words `heard` in the last talk step by sender, [B, P]: -1 at the player's own
        seat, and before the first.
        """
        done = state.done
        ends = {"points": state.scores.long(), "tokens": state.tokens, "final_garnets": state.garnets}
        return {
            **super().infos(state, player),
            **{name: getattr(state, name)[:, player] for name in ("sequence", "reserves", "garnets")},
            **{name: torch.where(along_envs(done, value.ndim), value, -1) for name, value in ends.items()},
            "candidate": torch.where(done, state.candidate, -1),
            **({"heard": conversation.last_heard(self, state, player)} if isinstance(state, TalkState) else {}),
        }

    @override
    def summary(self, state: GridState) -> dict[str, Any]:
        """Return everybody's last `sequence`, `tokens` and `garnets`, and the seat of the `candidate`."""
        return {
            "sequence": state.sequence[0].tolist(),
            "tokens": state.tokens[0].tolist(),
            "garnets": state.garnets[0].tolist(),
            "candidate": int(state.candidate[0]),
        }

    @override
    def solo(self, state: GridState) -> GridSolo:
        if isinstance(state, TalkState):
            from .talk.talk_solo import TalkSolo

            return TalkSolo(self, state)
        from .solo import GridSolo

        return GridSolo(self, state)

    # --- text and pictures ----------------------------------------------------------------------------------------

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
            raise GameError(
                self.id,
                f"expected an action such as r0c0, r0c0,r1c2,r3c4+r2c2/flip:100/buy or none/vote:1 on a "
                f"board of {self.size} x {self.size}, got {shown(text)}",
            )
        return action

    @override
    def choice_to_string(self, component: int, choice: int) -> str:
        """Return one component's choice by itself."""
        return notation.choice_to_string(component, choice, self.info.action_nvec)

    @override
    def state_to_string(self, state: GridState) -> str:
        """Return one line with all that the players hold, see `notation`."""
        number = int(state.round[0])
        stage: notation.Stage = "over" if state.done[0] else "vote" if number > self.rounds else "play"
        lists = {
            name: getattr(state, name)[0].tolist()
            for name in ("sequence", "reserves", "bought", "garnets", "public", "tokens")
        }
        line = notation.position_to_string(
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
        return line + talk_notation.to_text(self, state) if isinstance(state, TalkState) else line

    @override
    def view_to_string(self, state: GridState, player: int) -> str:
        """Return the line by `state_to_string` with `?` for what the player may not know; see `observe`."""
        if bool(state.done[0]) and not isinstance(state, TalkState):
            return self.state_to_string(state)
        votes = bool(ending.voters(state.tied.t(), state.tokens.t())[player, 0])
        if isinstance(state, TalkState):
            silent = self.silent.view_to_string(conversation.base_of(state), player)
            return silent + talk_notation.to_text(self, state, player)
        return notation.view(self.state_to_string(state), player, votes=votes)

    @override
    def string_to_state(self, text: str, seed: int = 0) -> GridState:
        """Return the state of a line by `state_to_string`, without which tiles were placed last.

        Raises:
            ValueError: no such line, or numbers that this match cannot come to.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        example = self.state_to_string(state)
        if isinstance(state, TalkState):
            found = talk_notation.split(self, text)
            if found is None:
                raise GameError(self.id, f"expected a position such as {shown(example, 200)}, got {shown(text)}")
            position = self._position(found[0], example)
            self._check_talks(position, len(found[1][0]), text)
            base = self._placed(conversation.base_of(state), position)
            return talk_notation.with_words(self, conversation.with_base(state, base), found[1])
        return self._placed(state, self._position(text, example))

    def _placed(self, state: GridState, position: Position) -> GridState:
        """Return one match with the fields that a line says."""
        board = torch.tensor([position.board], device="cpu")
        planes = [board >= 0, *((board >= 0) & (board & value != 0) for value in rules.DIGITS)]
        tied = torch.zeros_like(state.tied)
        tied[0, list(position.tied)] = True

        def row(values: Sequence[int], like: Tensor) -> Tensor:
            return torch.tensor([values], dtype=like.dtype, device="cpu")

        names = ("sequence", "reserves", "bought", "garnets", "public", "tokens")
        return state.replace(
            turn=torch.full_like(state.turn, position.turn),
            scores=row(position.points, state.scores),
            terminated=torch.full_like(state.terminated, position.stage == "over"),
            planes=self.grid.pack(torch.stack(planes, 1)).movedim(-1, 0),
            round=torch.full_like(state.round, position.round),
            tied=tied,
            candidate=torch.full_like(state.candidate, position.candidate),
            **{name: row(getattr(position, name), getattr(state, name)) for name in names},
        )

    def _check_talks(self, position: Position, played: int, text: str) -> None:
        """Raise an error unless so many talk steps may have been played before a position."""
        number = position.round if position.stage == "play" else self.rounds + 1
        low, high = (step * self.talk_steps for step in (number - 1, min(number, self.rounds)))
        if not low <= played <= high:
            expected = f"{low} to {high} talk steps" if low < high else f"{low} talk steps"
            raise GameError(self.id, f"expected {expected} in this round, got {played}: {shown(text)}")

    def _position(self, text: str, example: str) -> Position:
        """Return what the line says, if this match can hold it."""
        position = notation.string_to_position(text, self.size, self.players)
        if position is None:
            raise GameError(self.id, f"expected a position such as {shown(example, 150)}, got {shown(text)}")
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
            raise GameError(self.id, f"expected {found[0]}, got {shown(text)}")
        return position

    @override
    def draw(self, state: GridState) -> Picture:
        """Draw the first match; births and deaths are shown where the position before is known, as by `frames`."""
        from . import rendering, scenes

        return rendering.draw(scenes.view(self, state))

    @override
    def frames(self, before: GridState, after: GridState) -> Iterator[Picture]:
        """Yield a round as one picture, with the tiles placed and what the generation changed."""
        from . import scenes

        return scenes.frames(self, before, after)

    @override
    def text(self, state: GridState) -> str:
        from . import rendering, scenes

        return rendering.text(scenes.view(self, state))

    @override
    def text_for(self, state: GridState, player: int) -> str:
        """Return the first match as one player sees it: the others' secrets are hidden until its end."""
        from . import rendering, scenes

        return rendering.text(scenes.view(self, state, player))

    @override
    def draw_for(self, state: GridState, player: int) -> Picture:
        """Draw the first match as one player sees it: the others' secrets are hidden until its end."""
        from . import rendering, scenes

        return rendering.draw(scenes.view(self, state, player))
