"""Reviews of moves: how much of the win chance a move gave away, and which moves are mistakes.

A move is compared with the one that a search prefers. Both positions that follow are searched with the same effort, so
the comparison does not depend on how deep the search before the move was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cellgames.agents.play_loop import parse_move
from cellgames.envs.core import Game, State
from cellgames.utils.report.model import Cell, Table, percent, rounded

from .search_analysis import Analysis, LineMove


@dataclass(frozen=True)
class Mark:
    """A mark of a bad move.

    Attributes:
        sign: As in the notation of chess.
        name: In words.
        loss: The least loss of win chance, 0 to 1, from which a move has the mark.
    """

    sign: str
    name: str
    loss: float


MARKS = (Mark("??", "blunder", 0.3), Mark("?", "mistake", 0.2), Mark("?!", "inaccuracy", 0.1))
"""The marks of bad moves, the worst first."""

_PLURALS = {"blunder": "blunders", "mistake": "mistakes", "inaccuracy": "inaccuracies"}


@dataclass(frozen=True)
class Line:
    """Moves that a search expects.

    Attributes:
        moves: In order.
        win_chance: The chance, 0 to 1, that the player who makes the first move wins.
    """

    moves: tuple[LineMove, ...]
    win_chance: float


@dataclass(frozen=True)
class MoveReview:
    """The review of one move.

    Attributes:
        played: Name of the move.
        best: Name of the move that the search prefers.
        player: The seat that moved.
        chance_best: Its win chance after `best`, 0 to 1.
        chance_played: Its win chance after `played`, 0 to 1.
        mark: None unless the move is a mistake.
    """

    played: str
    best: str
    player: int
    chance_best: float
    chance_played: float
    mark: Mark | None

    @property
    def loss(self) -> float:
        """The win chance that the move gave away, 0 to 1."""
        return max(0.0, self.chance_best - self.chance_played)


def mark_of(loss: float) -> Mark | None:
    """Return the mark of a move that lost so much of the win chance; None for a move that is no mistake."""
    return next((mark for mark in MARKS if loss >= mark.loss), None)


def seat_chance(analysis: Analysis, seat: int) -> float:
    """Return the chance of a seat to win if the search's best move is played, 0 to 1."""
    best = next((move for move in analysis.moves if move.name == analysis.chosen), None)
    chance = analysis.win_chance if best is None or math.isnan(best.win_chance) else best.win_chance
    if len(analysis.value) != 2:
        return (analysis.value[seat] + 1) / 2
    return chance if seat == analysis.player else 1 - chance


def _after(game: Game, state: State, action: int) -> State:
    after: State = game.step(state, torch.tensor([action], device=state.device))
    return after


def _chance_after(game: Game, state: State, seat: int, search: Callable[[State], Analysis]) -> float:
    """Return the win chance of a seat in a position that may be finished."""
    if bool(state.done):
        return (float(game.outcome(state)[0, seat]) + 1) / 2
    return seat_chance(search(state), seat)


def review(game: Game, state: State, action: int, found: Analysis, search: Callable[[State], Analysis]) -> MoveReview:
    """Return the review of a move in a position, a batch of one; `search` analyses positions that follow."""
    seat, played = found.player, game.action_to_string(action)
    chance = _chance_after(game, _after(game, state, action), seat, search)
    if played == found.chosen:
        return MoveReview(played, played, seat, chance, chance, None)
    best = next(move for move in found.moves if move.name == found.chosen)
    chance_best = _chance_after(game, _after(game, state, best.action), seat, search)
    return MoveReview(played, found.chosen, seat, chance_best, chance, mark_of(chance_best - chance))


def review_game(
    game: Game, states: Sequence[State], moves: Sequence[str], search: Callable[[State], Analysis]
) -> Iterator[MoveReview]:
    """Yield the review of each move of a game from the positions before them; `search` is asked once a position."""
    known: dict[str, Analysis] = {}

    def searched(state: State) -> Analysis:
        key = game.state_to_string(state)
        if key not in known:
            known[key] = search(state)
        return known[key]

    for state, move in zip(states, moves, strict=False):
        found = searched(state)
        yield review(game, state, int(parse_move(game, move)), found, searched)


def to_data(seen: MoveReview) -> dict[str, Any]:
    """Return a review as JSON takes it; chances and the loss are from 0 to 1, `mark` is null for no mistake."""
    return {
        "played": seen.played,
        "best": seen.best,
        "player": seen.player,
        "chance_best": rounded(seen.chance_best),
        "chance_played": rounded(seen.chance_played),
        "loss": rounded(seen.loss),
        "mark": None if seen.mark is None else {"sign": seen.mark.sign, "name": seen.mark.name},
    }


def mistakes_table(game: Game, reviews: Sequence[MoveReview]) -> Table:
    """Return the marked moves of a game, with their numbers from 1 and the better moves."""
    rows: list[Sequence[Cell]] = []
    for number, seen in enumerate(reviews, 1):
        if seen.mark is not None:
            chances = (percent(chance, 0) for chance in (seen.chance_best, seen.chance_played, seen.loss))
            rows.append(
                (number, game.info.players[seen.player], f"{seen.played} {seen.mark.sign}", seen.best, *chances)
            )
    columns = ("move", "player", "played", "better", "win % better", "win % played", "loss %")
    return Table("Mistakes", columns, rows)


def mistakes_text(game: Game, reviews: Sequence[MoveReview]) -> str:
    """Return the number of moves with each mark, a sentence for each player."""
    said = []
    for seat, player in enumerate(game.info.players):
        own = [seen.mark for seen in reviews if seen.player == seat]
        counts = [(own.count(mark), mark.name) for mark in MARKS]
        found = [f"{count} {name if count == 1 else _PLURALS[name]}" for count, name in counts if count]
        moves = f"{len(own)} move{'s' * (len(own) != 1)}"
        said.append(f"{player.capitalize()}: {', '.join(found) or 'no mistakes'} in {moves}.")
    return " ".join(said)


def best_lines(
    game: Game, state: State, found: Analysis, count: int, search: Callable[[State], Analysis]
) -> tuple[Line, ...]:
    """Return up to `count` lines that begin with the best moves, the best one first: that of the analysis `found`."""
    lines = [Line(found.line, seat_chance(found, found.player))]
    others = [move for move in found.moves if move.name != found.chosen and move.visits > 0]
    for move in others[: count - 1]:
        after = _after(game, state, move.action)
        replies = () if bool(after.done) else search(after).line
        lines.append(Line((LineMove(move.name, move.action, found.player), *replies), move.win_chance))
    return tuple(lines)
