"""One game at a terminal: people and agents, in any seats, in turns or all at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.play_loop import move_in_words, parse_move
from cellgames.agents.playouts import RandomAgent
from cellgames.agents.selection import select
from cellgames.arena.records.record_lines import RESIGNED, Forfeit, Outcome, Record
from cellgames.arena.records.replays import result, start
from cellgames.envs import registry
from cellgames.envs.core import Game, State
from cellgames.envs.core.errors import IllegalActionError, brief
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError, shown
from cellgames.utils.progress import waiting
from cellgames.utils.version import __version__
from cellgames.web.agent_seats import hint
from cellgames.web.views import view_of
from cellgames.web.views.view import SEATS, Bytes, player_goals, player_names

from .console import Mark, print_marked, read_line, shows_colours, terminal_width, wrapped_lines

VERBS: dict[Outcome, str] = {"win": "wins", "draw": "draws", "loss": "loses"}

HELP = """\
  a move     as the board names it; several moves of a turn may stand in one line
  moves      all legal moves (also: legal)
  hint       a move that an agent suggests, and who is ahead
  show       show the whole board again (also: board)
  rules      the rules in brief, and your goal
  undo       take back your last move, and the answers to it
  position   the position as one line, which --position takes if nothing in it is hidden
  resign     give up; the game ends and counts as lost
  quit       leave"""

_WORDS = ("help", "moves", "legal", "hint", "show", "board", "rules", "undo", "position", "resign", "quit")
_MOST_MOVES = 400  # names that `moves` writes


class _LeftError(Exception):
    """A person leaves the game."""


class Table:
    """A game between seats that are people (None) or agents.

    Args:
        game: in turns, or one in which all act at once.
        seats: one for each player.
        names: names of the seats' owners, for records and headings.
        seed: seed of the game, and of the agents' chance.
        position: position to start from; "" for the usual start.
        show: gets text to print; by default, it appears on standard output, boards in colour.
        ask: gets a prompt and returns a line; an EOFError leaves the game.

    Raises:
        ValueError: a bad position, or one that is over.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[AnyAgent | None],
        names: Sequence[str],
        *,
        seed: int = 0,
        position: str = "",
        show: Callable[[str], None] | None = None,
        ask: Callable[[str], str] = read_line,
    ) -> None:
        first = start(game, seed, position)
        if bool(first.done):
            raise InputError("position", "one where the game goes on", shown(position))
        self._game, self._seats, self._names, self._seed = game, tuple(seats), tuple(names), seed
        self._position, self._ask = position, ask
        printed = partial(print_board, game, cells=self._cells) if show is None else show
        self._show: Callable[[str], None] = lambda text: printed(spoken(game, text))
        self._people = [seat for seat, agent in enumerate(seats) if agent is None]
        self._states: list[State] = [first]
        self._moves: list[str] = []
        self._forfeit: Forfeit | None = None
        self._generators = [torch.Generator().manual_seed(derive(seed, "terminal", seat)) for seat in range(len(seats))]

    @property
    def state(self) -> State:
        """Return the current state, a batch of one."""
        return self._states[-1]

    def run(self) -> Record | None:
        """Play until the game is over, or until somebody quits (None)."""
        self._start_agents()
        if self._people:
            words = "or hint, moves, undo or quit; `help` lists all words."
            self._show(f"Type a move such as {self._example()}, {words}\n")
        self._show(self._text())
        try:
            while not bool(self.state.done) and self._forfeit is None:
                if self._game.info.simultaneous:
                    self._round()
                elif self._seats[self._mover] is None:
                    self._turn_of_person()
                else:
                    self._turn_of_agent()
        except (EOFError, _LeftError) as left:
            self._show("\nYou left the game." if isinstance(left, EOFError) else "You left the game.")
            return None
        self._show(self._summary())
        return self._record()

    # ---------------------------------------------------------------- turns

    @property
    def _mover(self) -> int:
        return int(self.state.current_player)

    def _title(self, seat: int) -> str:
        return f"{people_names(self._game)[seat]} ({self._names[seat]})"

    def _text(self) -> str:
        """Return the board as the person sees it; everything if nobody, or several people, are at the table."""
        if len(self._people) == 1:
            return self._game.text_for(self.state, self._people[0])
        return self._game.text(self.state)

    def _cells(self) -> Bytes:
        """Return the cells of the board that `_text` writes, uint8 [H, W]."""
        view = view_of(self._game)
        frame = view.frame(self.state, None, self._people[0] if len(self._people) == 1 else None)
        return frame.cells.reshape(view.layout()["rows"], -1)

    def _start_agents(self) -> None:
        for seat, agent in enumerate(self._seats):
            if agent is not None:
                agent.start(self._game, torch.tensor([seat], device="cpu"), torch.tensor([0], device="cpu"))

    def _choice_of(self, seat: int) -> str:
        with waiting(f"{self._title(seat)} is thinking"):
            return self._chosen(self._seats[seat], seat, self._generators[seat])

    def _chosen(self, agent: AnyAgent | None, seat: int, generator: torch.Generator) -> str:
        """Return the move of an agent at a seat."""
        assert agent is not None
        env_ids, players = torch.tensor([0], device="cpu"), torch.tensor([seat], device="cpu")
        return self._named(select(agent, self._game, self.state, env_ids, generator, players).reshape(-1).tolist())

    def _named(self, choices: Sequence[int]) -> str:
        """Return the name of the action with these components."""
        return self._game.action_to_string(self._game.info.ravel_action(choices))

    def _after(self, state: State, move: str) -> State:
        """Return the state after a move; raise a `ValueError` for an unknown or illegal one."""
        after: State = self._game.step(state, parse_move(self._game, move)[None])
        return after

    def _keep(self, states: Sequence[State], moves: Sequence[str]) -> None:
        self._states += states
        self._moves += moves

    def _turn_of_agent(self) -> None:
        """Let an agent move until it is another one's turn, and show what it did in one line."""
        seat, words = self._mover, list[str]()
        while not bool(self.state.done) and self._mover == seat:
            move = self._choice_of(seat)
            words += move_in_words(self._game, self.state, move)
            self._keep([self._after(self.state, move)], [move])
        self._show(f"\n{self._title(seat)} plays {' '.join(words)}\n\n{self._text()}")

    def _turn_of_person(self) -> None:
        seat = self._mover
        words = self._words_of(seat)
        if words is None:
            return
        states = [self.state]
        for number, word in enumerate(words):
            if bool(states[-1].done) or self._seats[int(states[-1].current_player)] is not None:
                after = f"comes after the end of your turn, which {words[number - 1]} ends."
                self._show(f"{word!r} {after}{_nothing(words)}")
                return
            try:
                states.append(self._after(states[-1], word))
            except ValueError as error:
                self._show(self._refusal(word, error) + _nothing(words))
                return
        self._keep(states[1:], words)
        line = f"\n{self._title(seat)} plays {' '.join(words)}"
        if not bool(self.state.done) and self._mover == seat:
            line += f". {self._text().splitlines()[0]}"
        elif bool(self.state.done) or self._seats[self._mover] is None:
            line += f"\n\n{self._text()}"
        self._show(line)

    def _round(self) -> None:
        """Let everybody act at once; people type one move a round, or those of several rounds in a line."""
        words: dict[int, list[str]] = {}
        for seat in self._people:
            forced = self._forced(seat)
            typed = self._words_of(seat) if forced is None else [forced]
            if typed is None:
                return
            words[seat] = typed
        rounds, played = max((len(line) for line in words.values()), default=1), 0
        for number in range(rounds):
            for seat, line in words.items():
                if number >= len(line):
                    line.append(self._forced(seat) or "")
            if not self._act({seat: line[number] for seat, line in words.items()}, number):
                break
            played = number + 1
        if played:
            self._show(f"\n{self._text()}")

    def _act(self, moves: dict[int, str], number: int) -> bool:
        """Play one round; return False, and say why, if it is not played."""
        if bool(self.state.done):
            self._show(f"{' '.join(moves.values())!r} comes after the end of the game.")
            return False
        before = [generator.get_state() for generator in self._generators]
        names = [moves[seat] if seat in moves else self._choice_of(seat) for seat in range(len(self._seats))]
        try:
            after = self._after(self.state, " ".join(names))
        except ValueError as error:
            for generator, state in zip(self._generators, before, strict=True):
                generator.set_state(state)
            before_it = ("", " The move before it is played.", f" The {number} moves before it are played.")
            self._show(self._refusal(" ".join(moves.values()), error) + before_it[min(number, 2)])
            return False
        words = move_in_words(self._game, self.state, " ".join(names))
        self._keep([after], [" ".join(names)])
        shown = range(len(names)) if not self._people else self._people
        self._show("\n" + "\n".join(f"{self._title(seat)} plays {words[seat]}" for seat in shown))
        return True

    def _forced(self, seat: int) -> str | None:
        """Return the only move of a seat, None if there is a choice."""
        legal = self._legal(seat)
        return None if any(len(part) != 1 for part in legal) else self._named([part[0] for part in legal])

    # ---------------------------------------------------------------- what a person types

    def _words_of(self, seat: int) -> list[str] | None:
        """Return the moves of a line, None if it was another word, or nothing; an `EOFError` ends the input."""
        line = self._ask(f"\n{self._title(seat)}, your move: ").strip()
        match line.lower():
            case "quit" | "q" | "exit":
                raise _LeftError
            case "help" | "h" | "?":
                self._show(HELP)
            case "moves" | "legal":
                self._show(self._legal_text(seat))
            case "show" | "board":
                self._show(self._text())
            case "position":
                alone = len(self._people) == 1
                show = self._game.view_to_string(self.state, seat) if alone else self._game.state_to_string(self.state)
                self._show(show)
            case "hint":
                with waiting("The agent that gives hints is thinking"):
                    self._show(wrapped_lines(hint(self._game, self.state, seat).words))
            case "rules":
                self._show("\n".join(wrapped_lines(text) for text in rules_in_brief(self._game, [seat])))
            case "undo":
                self._undo()
            case "resign":
                self._forfeit = Forfeit(seat, RESIGNED)
            case other if other:
                return self._understood(line)
        return None

    def _understood(self, line: str) -> list[str] | None:
        """Return the moves of a line as the game names them; None, and print the reason, if one is unknown."""
        words = []
        for word in re.split(r"[\s;]+", line.strip("; ")):
            for part in [word] if self._is_move(word) else [part for part in word.split(",") if part] or [word]:
                try:
                    words.append(self._game.action_to_string(self._game.string_to_action(part)))
                except ValueError as error:
                    self._show(self._refusal(part, error) + _nothing(re.split(r"[\s;,]+", line)))
                    return None
        return words

    def _is_move(self, word: str) -> bool:
        with suppress(ValueError):
            return self._game.string_to_action(word) is not None
        return False

    def _refusal(self, word: str, error: ValueError) -> str:
        reason = error.cause if isinstance(error, IllegalActionError) else brief(error)
        near = difflib.get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.7)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        return f"{shown(word)} is no move here: {reason}.{meant} `moves` lists all legal ones, `help` the other words."

    def _legal(self, seat: int) -> list[list[int]]:
        """Return the legal choices of each component of a seat's action."""
        mask = self._game.legal_actions(self.state)[0]
        parts = (mask[seat] if self._game.info.simultaneous else mask).split(list(self._game.info.action_nvec))
        return [part.nonzero().flatten().tolist() for part in parts]

    def _legal_text(self, seat: int) -> str:
        """Return all moves; of an action with several parts, the choices of each part."""
        name = self._game.choice_to_string
        parts = [[name(number, choice) for choice in part] for number, part in enumerate(self._legal(seat))]
        if len(parts) == 1:
            return f"{len(parts[0])} legal moves:\n{wrapped_lines(_listed(parts[0]))}"
        lines = [wrapped_lines(f"part {number}: {_listed(names)}") for number, names in enumerate(parts, 1)]
        return "\n".join([*lines, f"A move joins its parts, such as {self._example()}."])

    def _example(self) -> str:
        """Return a legal move."""
        seat = self._people[0] if self._game.info.simultaneous else self._mover
        if len(self._game.info.action_nvec) == 1:
            return self._game.choice_to_string(0, self._legal(seat)[0][0])
        agent = RandomAgent()
        agent.start(self._game, torch.tensor([seat], device="cpu"), torch.tensor([0], device="cpu"))
        return self._chosen(agent, seat, torch.Generator().manual_seed(0))

    def _undo(self) -> None:
        """Go back to the last decision of a person; agents start anew and remember nothing."""
        mine = [
            turn
            for turn, state in enumerate(self._states[:-1])
            if (self._game.info.simultaneous and self._people) or self._seats[int(state.current_player)] is None
        ]
        if not mine:
            self._show("There is no move of yours to take back.")
            return
        self._states = self._states[: mine[-1] + 1]
        self._moves = self._moves[: mine[-1]]
        self._start_agents()
        self._show(self._text())

    # ---------------------------------------------------------------- the end

    def _summary(self) -> str:
        ended = result(self._game, self.state, forfeit=self._forfeit)
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
            result=result(self._game, self.state, forfeit=self._forfeit),
            position=self._position,
            summary=self._game.summary(self.state),
        )


def people_names(game: Game) -> list[str]:
    """Return the seats as people call them, such as Black, Player A or Team 1."""
    return [player.replace("_", " ").title() for player in game.info.players]


def spoken(game: Game, text: str) -> str:
    """Return a text with seats as people call them in the place of ids such as `player_a`."""
    names = dict(zip(game.info.players, people_names(game), strict=True))
    return re.sub(r"\b[a-z]+_\w+\b", lambda found: names.get(found[0], found[0]), text)


def rules_in_brief(game: Game, seats: Sequence[int]) -> list[str]:
    """Return the goals of seats and the rules, a paragraph each; the page has the same texts."""
    page = registry.plugin_of(game).page
    if page is None or not page.rules:
        return [f"{game.info.title} has no rules in brief."]
    names, goals = player_names(game), player_goals(game)
    if goals and len({goals[seat] for seat in seats}) == 1:
        return [f"Goal: {goals[seats[0]]}", *page.rules]
    return [*(f"Goal of {names[seat]}: {goals[seat]}" for seat in seats if goals), *page.rules]


def _nothing(words: Sequence[str]) -> str:
    """Return the sentence that says that a line of several moves is not played."""
    return " Nothing of the line is played." if len(words) > 1 else ""


def _listed(names: Sequence[str]) -> str:
    """Return names of moves, and how many more there are than a person would read."""
    more = len(names) - _MOST_MOVES
    return " ".join(names[:_MOST_MOVES]) + (f" ... and {more} more" if more > 0 else "")


_TEAMS = re.compile(r"(?:^[.+1-8]{16,}\n?)+", re.MULTILINE)  # the lines of a board that shows nothing but teams
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of braille signs, by row and column
_LABEL = 4  # signs before a row


def print_board(game: Game, text: str, cells: Callable[[], Bytes] | None = None) -> None:
    """Print text that may hold the game's board, on a terminal in the colours of the game.

    Args:
        game: The game with its parameters.
        text: The text, in which a board has a sign a cell, or a block of cells where the board is wide.
        cells: Returns all cells of the board, uint8 [H, W], 0 or the number of a team. A board of teams is then drawn
            in half blocks, a wider one in braille, a dot a cell.
    """
    marks = [*_marks(game, text)]
    if cells is not None and (board := _TEAMS.search(text)) and shows_colours():
        drawn, marks = _drawn(cells(), terminal_width() or 80, board.start())
        text = text[: board.start()] + drawn + text[board.end() :]
    print_marked(text, marks)


def _marks(game: Game, text: str) -> Iterator[Mark]:
    colours = registry.plugin_of(game).colours
    if colours is None:
        return
    signs = re.compile("|".join(f"({sign})" for sign in colours.signs))
    styles, row, at = list(colours.signs.values()), re.compile(colours.row), 0
    for line in text.split("\n"):
        if cells := row.fullmatch(line):
            for sign in signs.finditer(line, *cells.span(1)):
                assert sign.lastindex is not None
                yield at + sign.start(), at + sign.end(), styles[sign.lastindex - 1]
        at += len(line) + 1


def _drawn(cells: Bytes, width: int, at: int) -> tuple[str, list[Mark]]:
    """Return a board of teams as text of lines that fit a width, and its marks in a text where it begins at `at`."""
    high, wide = (2, 1) if cells.shape[1] + _LABEL <= width else (4, 2)
    most, marks, text = max(1, (width - _LABEL) // 10) * 10 * wide, list[Mark](), ""
    for first in range(0, cells.shape[1], most):
        part = cells[:, first : first + most]
        numbers = range(first, first + part.shape[1], 10 * wide)
        text += f"{' ' * _LABEL}{''.join(f'{number:<10}' for number in numbers).rstrip()}\n"
        for row in range(0, len(part), high):
            text += f"{row:{_LABEL - 1}} "
            for col in range(0, part.shape[1], wide):
                sign, style = _sign(part[row : row + high, col : col + wide], high)
                marks += [(at + len(text), at + len(text) + 1, style)] * (sign != " ")
                text += sign
            text += "\n"
    return text, marks


def _sign(block: Bytes, high: int) -> tuple[str, str]:
    """Return the sign of a block of cells, in half blocks (2 x 1) or braille (4 x 2), and its style."""
    if not (teams := block[block > 0].tolist()):
        return " ", ""
    if high == 2:
        style = " on ".join(SEATS[team - 1] for team in teams)
        return "▀" if block[0, 0] else "▄", style
    dots = sum(_DOTS[row][col] for row, col in zip(*block.nonzero(), strict=True))
    return chr(0x2800 + dots), SEATS[max(teams, key=teams.count) - 1]
