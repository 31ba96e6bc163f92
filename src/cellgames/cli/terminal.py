"""One game at a terminal: people and agents, in any seats, in turns or all at once."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.playouts import random_actions
from cellgames.agents.selection import select
from cellgames.arena.records.record_lines import RESIGNED, Forfeit, Outcome, Record
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.core.inputs import IllegalActionError, brief
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError, shown
from cellgames.utils.progress import waiting
from cellgames.web.agent_seats import hint
from cellgames.web.seated_game import SeatedGame, checked, legal_choices
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


class Table(SeatedGame):
    """A game between seats that are people (None) or agents.

    Args:
        game: in turns, or one in which all act at once.
        seats: one for each player.
        names: names of the seats' owners, for records and headings; one person alone is "you" in headings.
        seed: seed of the game, and of the agents' chance.
        position: position to start from; "" for the usual start.
        show: gets text to print; by default, it appears on standard output, boards in colour.
        ask: gets a prompt and returns a line; an EOFError leaves the game.

    Raises:
        ValueError: a bad position, or one that is over.
    """

    back = sys.maxsize

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
        super().__init__(game, names, [seat for seat, agent in enumerate(seats) if agent is None], seed, position)
        if self.done:
            raise InputError("position", "one where the game goes on", shown(position))
        self._seats, self._ask = seats, ask
        printed = partial(print_board, game, cells=self._cells) if show is None else show
        self._show: Callable[[str], None] = lambda text: printed(spoken(game, text))
        self._generators = [torch.Generator().manual_seed(derive(seed, "terminal", seat)) for seat in range(len(seats))]

    def run(self) -> Record | None:
        """Play until the game is over, or until somebody quits (None)."""
        self._start_agents()
        if self.people:
            words = "or hint, moves, undo or quit; `help` lists all words."
            self._show(f"Type a move such as {self._example()}, {words}\n")
        self._show(self._text())
        try:
            while not self.done:
                if self.game.info.simultaneous:
                    self._round()
                elif self._mover in self.people:
                    self._turn_of_person()
                else:
                    self._turn_of_agent()
        except (EOFError, _LeftError) as left:
            self._show("\nYou left the game." if isinstance(left, EOFError) else "You left the game.")
            return None
        self._show(self._summary())
        return self.record()

    # ---------------------------------------------------------------- turns

    @property
    def _mover(self) -> int:
        return int(self.state.current_player)

    @property
    def _viewer(self) -> int | None:
        """The person whose view is shown; None shows everything if nobody, or several people, are at the table."""
        return self.people[0] if len(self.people) == 1 else None

    def _title(self, seat: int) -> str:
        return f"{people_names(self.game)[seat]} ({'you' if seat == self._viewer else self.names[seat]})"

    def _text(self) -> str:
        seat = self._viewer
        return self.game.text(self.state) if seat is None else self.game.text_for(self.state, seat)

    def _cells(self) -> Bytes:
        """Return the cells of the board that `_text` writes, uint8 [H, W]."""
        view = view_of(self.game)
        return view.frame(self.state, None, self._viewer).cells.reshape(view.layout()["rows"], -1)

    def _start_agents(self) -> None:
        for seat, agent in enumerate(self._seats):
            if agent is not None:
                agent.start(self.game, torch.tensor([seat], device="cpu"), torch.tensor([0], device="cpu"))

    def _choice_of(self, seat: int) -> str:
        """Return the move of the agent at a seat."""
        agent, env_ids, players = self._seats[seat], torch.tensor([0], device="cpu"), torch.tensor([seat], device="cpu")
        assert agent is not None
        with waiting(f"{self._title(seat)} is thinking"):
            chosen = select(agent, self.game, self.state, env_ids, self._generators[seat], players)
        return self._named(chosen.reshape(-1).tolist())

    def _named(self, choices: Sequence[int]) -> str:
        """Return the name of the action with these components."""
        return self.game.action_to_string(self.game.info.ravel_action(choices))

    def _turn_of_agent(self) -> None:
        """Let an agent move until it is another one's turn, and show what it did in one line."""
        seat, words = self._mover, list[str]()
        while not self.done and self._mover == seat:
            words += self.play(self._choice_of(seat)).words
        self._show(f"\n{self._title(seat)} plays {' '.join(words)}\n\n{self._text()}")

    def _turn_of_person(self) -> None:
        """Play the moves of a line, or none of them."""
        seat, first = self._mover, self.turn
        words = self._words_of(seat)
        for number, word in enumerate(words):
            refusal = f"{word!r} comes after the end of your turn, which {words[number - 1]} ends."
            if not self.done and self._mover in self.people:
                try:
                    self.play(word)
                    continue
                except ValueError as error:
                    refusal = self._refusal(word, error)
            self.take_back(first)
            self._show(refusal + _nothing(words))
            return
        if not words:
            return
        line = f"\n{self._title(seat)} plays {' '.join(words)}"
        if not self.done and self._mover == seat:
            line += f". {self._text().splitlines()[0]}"
        elif self.done or self._mover in self.people:
            line += f"\n\n{self._text()}"
        self._show(line)

    def _round(self) -> None:
        """Let everybody act at once; people type one move a round, or those of several rounds in a line."""
        lines: dict[int, list[str]] = {}
        for seat in self.people:
            lines[seat] = self._forced(seat) or self._words_of(seat)
            if not lines[seat]:
                return
        first, rounds = self.turn, max(map(len, lines.values()), default=1)
        for number in range(rounds):
            moves = {seat: (line[number:] or self._forced(seat) or [""])[0] for seat, line in lines.items()}
            if self.done:
                self._show(f"{' '.join(moves.values())!r} comes after the end of the game.")
                break
            if refusal := self._act(moves):
                before_it = ("", " The move before it is played.", f" The {number} moves before it are played.")
                self._show(refusal + before_it[min(number, 2)])
                break
        if self.turn > first:
            self._show(f"\n{self._text()}")

    def _act(self, moves: Mapping[int, str]) -> str:
        """Play a round with the moves of people, and show it; return the reason if it is not played, else ""."""
        typed = " ".join(moves.values())
        try:
            for seat, move in moves.items():
                parts = self.game.info.unravel_action(self.game.string_to_action(move))
                checked(self.game, self.state, seat, parts)
        except ValueError as error:
            return self._refusal(typed, error)
        every = range(len(self._seats))
        words = self.play(" ".join(moves[seat] if seat in moves else self._choice_of(seat) for seat in every)).words
        self._show("\n" + "\n".join(f"{self._title(seat)} plays {words[seat]}" for seat in self.people or every))
        return ""

    def _forced(self, seat: int) -> list[str]:
        """Return the only move of a seat, none if there is a choice."""
        legal = legal_choices(self.game, self.state, seat)
        return [] if any(len(part) != 1 for part in legal) else [self._named([part[0] for part in legal])]

    # ---------------------------------------------------------------- what a person types

    def _words_of(self, seat: int) -> list[str]:
        """Return the moves of a line, none if it was another word, or nothing; an `EOFError` ends the input."""
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
                hidden = self._viewer is not None
                show = self.game.view_to_string(self.state, seat) if hidden else self.game.state_to_string(self.state)
                self._show(show)
            case "hint":
                with waiting("The agent that gives hints is thinking"):
                    self._show(wrapped_lines(hint(self.game, self.state, seat).words))
            case "rules":
                self._show("\n".join(wrapped_lines(text) for text in rules_in_brief(self.game, [seat])))
            case "undo":
                self._undo()
            case "resign":
                self.forfeit = Forfeit(seat, RESIGNED)
            case other if other:
                return self._understood(line)
        return []

    def _understood(self, line: str) -> list[str]:
        """Return the moves of a line as the game names them; none, and print the reason, if one is unknown."""
        words = []
        for word in re.split(r"[\s;]+", line.strip("; ")):
            for part in [word] if self._is_move(word) else [part for part in word.split(",") if part] or [word]:
                try:
                    words.append(self.game.action_to_string(self.game.string_to_action(part)))
                except ValueError as error:
                    self._show(self._refusal(part, error) + _nothing(re.split(r"[\s;,]+", line)))
                    return []
        return words

    def _is_move(self, word: str) -> bool:
        with suppress(ValueError):
            return self.game.string_to_action(word) is not None
        return False

    def _refusal(self, word: str, error: ValueError) -> str:
        reason = error.cause if isinstance(error, IllegalActionError) else brief(error)
        near = difflib.get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.7)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        return f"{shown(word)} is no move here: {reason}.{meant} `moves` lists all legal ones, `help` the other words."

    def _legal_text(self, seat: int) -> str:
        """Return all moves; of an action with several parts, the choices of each part."""
        name, legal = self.game.choice_to_string, legal_choices(self.game, self.state, seat)
        parts = [[name(number, choice) for choice in part] for number, part in enumerate(legal)]
        if len(parts) == 1:
            return f"{len(parts[0])} legal moves:\n{wrapped_lines(_listed(parts[0]))}"
        lines = [wrapped_lines(f"part {number}: {_listed(names)}") for number, names in enumerate(parts, 1)]
        return "\n".join([*lines, f"A move joins its parts, such as {self._example()}."])

    def _example(self) -> str:
        """Return a legal move."""
        seat = self.people[0] if self.game.info.simultaneous else self._mover
        if len(nvec := self.game.info.action_nvec) == 1:
            return self.game.choice_to_string(0, legal_choices(self.game, self.state, seat)[0][0])
        mask = self.game.legal_actions(self.state)
        mask = mask[:, seat] if self.game.info.simultaneous else mask
        return self._named(random_actions(mask, nvec, torch.Generator().manual_seed(0))[0].tolist())

    def _undo(self) -> None:
        """Go back to the last decision of a person; agents start anew and remember nothing."""
        if not (mine := self.turns_of(self.people)):
            self._show("There is no move of yours to take back.")
            return
        self.take_back(mine[-1])
        self._start_agents()
        self._show(self._text())

    def _summary(self) -> str:
        ended = self.result()
        ends = [f"{self._title(seat)} {VERBS[outcome]}" for seat, outcome in enumerate(ended.outcome)]
        return f"\nThe game is over after {ended.turns} turns: {', '.join(ends)}."


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
