"""One game at a terminal: people and agents, in any seats."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.selection import select
from cellgames.arena.play.match import derive
from cellgames.arena.records.record_lines import Outcome, Record
from cellgames.arena.records.replays import result, start
from cellgames.envs.core import Game, State
from cellgames.envs.core.errors import GameError
from cellgames.utils.version import __version__

__all__ = ["HELP", "VERBS", "Table"]

VERBS: dict[Outcome, str] = {"win": "wins", "draw": "draws", "loss": "loses"}

HELP = """\
  a move     as the board names it; `moves` lists all
  moves      all legal moves
  undo       take back your last move, and the answers to it
  board      show the board again
  position   the position as one line, which --position takes
  quit       leave"""


class Table:
    """A game between seats that are people (None) or agents.

    Args:
        game: in turns.
        seats: one for each player.
        names: of the seats' owners, for records and headings.
        seed: of the game, and of the agents' chance.
        position: where to start; "" for the usual start.
        show: gets text to print.
        ask: gets a prompt and returns a line; an EOFError leaves the game.

    Raises:
        ValueError: a game in which all act at once, a bad position, or one that is over.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[AnyAgent | None],
        names: Sequence[str],
        *,
        seed: int = 0,
        position: str = "",
        show: Callable[[str], None] = print,
        ask: Callable[[str], str] = input,
    ) -> None:
        if game.info.simultaneous:
            raise ValueError(f"{game.id}: all players act at once; only games in turns are played at a terminal")
        first = start(game, seed, position)
        if bool(first.done):
            raise ValueError(f"the game is over in the position {position!r}")
        self._game, self._seats, self._names, self._seed = game, tuple(seats), tuple(names), seed
        self._position, self._show, self._ask = position, show, ask
        self._states: list[State] = [first]
        self._moves: list[str] = []
        self._generators = [torch.Generator().manual_seed(derive(seed, "terminal", seat)) for seat in range(len(seats))]

    @property
    def state(self) -> State:
        """Return the current state, a batch of one."""
        return self._states[-1]

    def run(self) -> Record | None:
        """Play until the game is over, or until somebody quits (None)."""
        people = any(agent is None for agent in self._seats)
        if people:
            self._show(f"Your moves are names such as {self._legal()[0]}; `help` lists the other words.\n")
        self._start_agents()
        self._show(self._game.text(self.state))
        try:
            while not bool(self.state.done):
                agent = self._seats[self._seat]
                action = self._action_of_person() if agent is None else self._action_of(agent)
                if action is not None:
                    self._play(action)
        except EOFError:
            self._show("\nYou left the game.")
            return None
        self._show(self._summary())
        return self._record()

    @property
    def _seat(self) -> int:
        return int(self.state.current_player)

    def _title(self, seat: int) -> str:
        return f"{self._game.info.players[seat]} ({self._names[seat]})"

    def _legal(self) -> list[str]:
        actions = self._game.legal_actions(self.state)[0].nonzero().squeeze(1).tolist()
        return [self._game.action_to_string(action) for action in actions]

    def _start_agents(self) -> None:
        for seat, agent in enumerate(self._seats):
            if agent is not None:
                agent.start(self._game, torch.tensor([seat]), torch.tensor([0]))

    def _action_of(self, agent: AnyAgent) -> int:
        env_ids = torch.tensor([0])
        return int(select(agent, self._game, self.state, env_ids, self._generators[self._seat]))

    def _play(self, action: int) -> None:
        text, mover = self._game.action_to_string(action), self._seat
        self._states.append(self._game.step(self.state, torch.tensor([action])))
        self._moves.append(text)
        self._show(f"\n{self._title(mover)} plays {text}\n\n{self._game.text(self.state)}")

    def _action_of_person(self) -> int | None:
        """Return a legal action, or None if the person typed another command.

        Raises:
            EOFError: the person leaves.
        """
        line = self._ask(f"\n{self._title(self._seat)}, your move: ").strip()
        word = line.lower()
        if word in ("quit", "q", "exit"):
            raise EOFError
        if word in ("help", "h", "?"):
            self._show(HELP)
        elif word == "moves":
            self._show(textwrap.fill(" ".join(self._legal()), 100))
        elif word == "board":
            self._show(self._game.text(self.state))
        elif word == "position":
            self._show(self._game.state_to_string(self.state))
        elif word == "undo":
            self._undo()
        elif line:
            return self._understood(line)
        return None

    def _understood(self, line: str) -> int | None:
        try:
            action = self._game.string_to_action(line)
            self._game.check(self.state, torch.tensor([action]))
        except ValueError as error:
            reason = error.reason if isinstance(error, GameError) else error
            self._show(f"{line!r} is no move here: {reason}. `moves` lists all legal ones, `help` the other words.")
            return None
        return action

    def _undo(self) -> None:
        """Go back to the last decision of a person; agents start anew and remember nothing."""
        mine = [turn for turn, state in enumerate(self._states[:-1]) if self._seats[int(state.current_player)] is None]
        if not mine:
            self._show("There is no move of yours to take back.")
            return
        self._states = self._states[: mine[-1] + 1]
        self._moves = self._moves[: mine[-1]]
        self._start_agents()
        self._show(self._game.text(self.state))

    def _summary(self) -> str:
        ended = result(self._game, self.state)
        ends = [f"{self._title(seat)} {VERBS[outcome]}" for seat, outcome in enumerate(ended.outcome)]
        return f"\nThe game is over after {ended.turns} turns: {', '.join(ends)}."

    def _record(self) -> Record:
        return Record(
            game=self._game.id,
            version=__version__,
            parameters=self._game.parameters,
            seed=self._seed,
            agents=self._names,
            opening=0,
            moves=tuple(self._moves),
            result=result(self._game, self.state),
            position=self._position,
            summary=self._game.summary(self.state),
        )
