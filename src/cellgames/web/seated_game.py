"""One game of people and agents, step by step: the common ground of the page and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.record_lines import Forfeit, Record, Result, plain
from cellgames.arena.records.replays import result, start
from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError
from cellgames.utils.version import __version__


class RefusedError(InputError):
    """A request that the game does not allow now; the cause says why."""


class Step(NamedTuple):
    """A step of a game.

    Attributes:
        seat: the seat that acted, None if all did at once.
        move: the step as records write it.
        words: the step as people read it, by seat if all acted at once.
        parts: the choices of each action, by seat if all acted at once.
    """

    seat: int | None
    move: str
    words: Sequence[str]
    parts: Sequence[Sequence[int]]

    def own(self, seat: int | None) -> Sequence[int] | None:
        """Return the choices of a seat in a step of all; None for other steps, or without a seat."""
        return None if seat is None or self.seat is not None else self.parts[seat]


class SeatedGame:
    """One game of people and agents, with its positions, steps, undo and record. Subclasses ask the players.

    Args:
        game: the game with its parameters.
        names: name of each seat's owner, for the record.
        people: seats of people.
        seed: seed of the game.
        position: position to start from, as the game writes positions; "" for the usual start.

    Attributes:
        states: positions, batches of one, by the number of steps before; the last `back` of them.
        steps: all steps, the first one first.
        forfeit: forfeit that has ended the game, if any.
    """

    back: ClassVar[int] = 300

    def __init__(self, game: Game, names: Sequence[str], people: Sequence[int], seed: int, position: str) -> None:
        self.game, self.names, self.people, self.seed = game, tuple(names), tuple(people), seed
        self._position = position
        self.states: dict[int, State] = {0: start(game, seed, position)}
        self.steps: list[Step] = []
        self.forfeit: Forfeit | None = None

    @property
    def turn(self) -> int:
        """The number of steps played."""
        return len(self.steps)

    @property
    def state(self) -> State:
        """The position, a batch of one."""
        return self.states[self.turn]

    @property
    def moves(self) -> list[str]:
        """The moves played, as records write them."""
        return [step.move for step in self.steps]

    @property
    def done(self) -> bool:
        """True if the game has ended, by its rules or by a forfeit."""
        return bool(self.state.done) or self.forfeit is not None

    def step(self, actions: Tensor) -> tuple[State, Step]:
        """Return the position after a step, [1, ...] as `Game.step` takes it, and the step; nothing is changed yet."""
        game, before, at_once = self.game, self.state, self.game.info.simultaneous
        after = game.step(before, actions)
        seat = None if at_once else int(before.current_player)
        seats = range(game.info.num_players) if seat is None else [seat]
        parts = actions.view(len(seats), -1).tolist()
        numbers = [game.info.ravel_action(choices) for choices in parts]
        words = [game.action_in_words(before, *one) for one in zip(seats, numbers, strict=True)]
        return after, Step(seat, " ".join(map(game.action_to_string, numbers)), words, parts)

    def advance(self, after: State, step: Step) -> None:
        """Go on to a position of `step`."""
        self.states[self.turn + 1] = after  # first, as other threads ask for the present one
        self.steps.append(step)
        self.states.pop(self.turn - self.back, None)

    def play(self, move: str) -> Step:
        """Play a move as records write it, and return its step; raise a `ValueError` for an unknown or illegal one."""
        after, step = self.step(parse_move(self.game, move)[None])
        self.advance(after, step)
        return step

    def turns_of(self, seats: Sequence[int]) -> list[int]:
        """Return the turns in which one of these seats has decided, as far back as there are positions."""
        return [turn for turn in self.states if turn < self.turn and self.steps[turn].seat in (None, *seats)]

    def take_back(self, turn: int) -> None:
        """Go back to the position after the first steps, `turn` of them."""
        del self.steps[turn:]
        self.states = {number: state for number, state in self.states.items() if number <= turn}

    def result(self) -> Result:
        """Return the result of the finished game."""
        return result(self.game, self.state, forfeit=self.forfeit)

    def record(self) -> Record:
        """Return the record of the finished game."""
        return Record(
            game=self.game.id,
            version=__version__,
            parameters=plain(self.game.parameters),
            seed=self.seed,
            agents=self.names,
            opening=0,
            moves=tuple(self.moves),
            result=self.result(),
            position=self._position,
            summary=self.game.summary(self.state),
        )


def legal_choices(game: Game, state: State, seat: int) -> list[list[int]]:
    """Return the legal choices of each component of a seat's action in a position, a batch of one."""
    mask = game.legal_actions(state)[0]
    parts = (mask[seat] if game.info.simultaneous else mask).split(list(game.info.action_nvec))
    return [part.nonzero().flatten().tolist() for part in parts]


def checked(game: Game, state: State, seat: int, choices: Sequence[int], *, legal: bool = True) -> Tensor:
    """Return a seat's action, int64 [K]; refuse one that is not legal, or without `legal` none in any position."""
    nvec = game.info.action_nvec
    if len(choices) != len(nvec):
        raise RefusedError("action", f"{len(nvec)} numbers, one for each part", len(choices))
    known = legal_choices(game, state, seat) if legal else [range(count) for count in nvec]
    for component, choice in enumerate(choices):
        if choice not in known[component]:
            raise RefusedError(cause=game.why_illegal(state, seat, component, choice))
    return torch.tensor(list(choices), device="cpu")
