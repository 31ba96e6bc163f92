"""A search's view of one position, as numbers, as a table, drawn on the board; and what it says of played moves.

A win chance is (value + 1) / 2 for a value from -1 (lost) to 1 (won); a draw counts half.

Letters: `E` edges of the root of a search, `P` players.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from cellgames.agents.agent_specs import AGENTS
from cellgames.agents.base import AnyAgent, StateAgent, acting, draw_seeds, takes_states
from cellgames.agents.loading import load
from cellgames.agents.play_loop import parse_move
from cellgames.arena.records.replays import check_unfinished
from cellgames.envs.core import Game, State
from cellgames.envs.core.drawing import Notes, Picture, to_svg
from cellgames.envs.core.raster import require_pillow, to_png
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike
from cellgames.utils.report.model import Cell, Table, percent, plain_table, rounded

if TYPE_CHECKING:
    from cellgames.agents.search import SearchResult

__all__ = [
    "DEFAULT_AGENTS",
    "SUFFIXES",
    "Analysis",
    "LineMove",
    "MoveReport",
    "RootEvaluator",
    "Searcher",
    "analyse",
    "check_suffix",
    "content",
    "default_agent",
    "draw",
    "line_text",
    "summary",
    "table",
    "to_data",
]

DEFAULT_AGENTS = ("gumbel:256", "mcts:1000")
"""Agents that analyse unless the caller names one: the first that can search in the game."""

SUFFIXES = (".svg", ".png")
"""Suffixes of files that hold a drawn analysis."""


@runtime_checkable
class Searcher(StateAgent, Protocol):
    """An agent that returns what its search has found, not only the action that it plays."""

    def search(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        """Search positions; the arguments are those of `StateAgent.act_on_state`."""


@runtime_checkable
class RootEvaluator(Searcher, Protocol):
    """A searcher that rates the moves of a position before its first simulation."""

    def evaluate_root(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        """Return the ratings of the moves of positions, with no visits; the arguments are those of `search`."""


@dataclass(frozen=True)
class MoveReport:
    """A move that the search has looked at.

    Attributes:
        name: As the game writes it.
        action: Its number.
        visits: Simulations that began with it.
        share: Share of all visits, 0 to 1.
        policy: Probability that the search gives it, 0 to 1.
        win_chance: Win chance of the player to move, 0 to 1; NaN if it was never visited and no network evaluated it.
    """

    name: str
    action: int
    visits: int
    share: float
    policy: float
    win_chance: float


@dataclass(frozen=True)
class LineMove:
    """A move of the expected line: its name and number, and the seat that makes it."""

    name: str
    action: int
    player: int


@dataclass(frozen=True)
class Analysis:
    """The analysis of one position.

    Attributes:
        agent: Name of the agent that searched.
        position: As the game writes positions.
        player: The seat to move.
        mover: Its name.
        turn: Steps played before.
        value: [P], what each player can expect, -1 to 1; NaN without a simulation and without a network.
        chosen: The move that the agent would play.
        moves: The most visited first.
        line: The moves that the search expects, beginning with `chosen`.
    """

    agent: str
    position: str
    player: int
    mover: str
    turn: int
    value: tuple[float, ...]
    chosen: str
    moves: tuple[MoveReport, ...]
    line: tuple[LineMove, ...]

    @property
    def win_chance(self) -> float:
        """The chance that the player to move wins, 0 to 1."""
        return _chance(self.value[self.player])

    @property
    def visits(self) -> int:
        """The number of visits of all moves."""
        return sum(move.visits for move in self.moves)


def _chance(value: float) -> float:
    return (value + 1) / 2


# ---------------------------------------------------------------- the search


def default_agent(game: Game) -> AnyAgent:
    """Return the first of `DEFAULT_AGENTS` that can search in the game; raise a `ValueError` if none can."""
    _check_kind(game)
    first, other = DEFAULT_AGENTS
    try:
        return load(first, game)
    except (ValueError, ImportError):  # no weights for this game, or nothing that reads them
        return load(other, game)


def _check_kind(game: Game) -> None:
    if game.info.simultaneous or not game.info.perfect_information:
        raise InputError("game", "a game in turns with perfect information", game.id)


def analyse(game: Game, state: State, agent: AnyAgent, seed: int = 0, *, simulate: bool = True) -> Analysis:
    """Let an agent search a position, as if the game began there.

    Args:
        game: A game in turns, with perfect information.
        state: One unfinished game, a batch of one; not changed.
        agent: An agent with a method `search`, such as `mcts:400`; it is started.
        seed: Seed of the search. In games of chance the dice to come are drawn from it.
        simulate: False for what the agent, a `RootEvaluator`, knows without a simulation.

    Raises:
        ValueError: The game is of another kind or over, the agent does not search, or it cannot play the game.
        TypeError: Without simulations, and the agent is no `RootEvaluator`.
    """
    if len(state) != 1:
        raise InputError("state", "one position, a batch of one", len(state), "state[env_id : env_id + 1] is one")
    _check_kind(game)
    searcher = acting(agent, game)
    if not (takes_states(agent, game) and isinstance(searcher, Searcher)):
        known = ", ".join(AGENTS[spec.partition(":")[0]].usage for spec in DEFAULT_AGENTS)
        cause = f"those that can: {known}, and your own with --in-process"
        raise InputError("agent", "one that searches, to analyse", shown(agent.name), cause)
    if not simulate and not isinstance(searcher, RootEvaluator):
        raise InputError("simulate", "True for this agent", False, where=f"agent {shown(agent.name)}")
    check_unfinished(game, state)
    env_ids, random = torch.zeros(1, dtype=torch.int64, device=state.device), torch.Generator(state.device)
    random.manual_seed(derive(seed, "analysis"))
    searcher.start(game, state.current_player, env_ids)
    searched = state.clone()
    if game.info.stochastic:
        searched = searched.replace(seed=draw_seeds(1, random, state.device))
    find = searcher.search if simulate or not isinstance(searcher, RootEvaluator) else searcher.evaluate_root
    found = find(searched, env_ids, random)
    return _report(game, state, agent.name, found)


def _report(game: Game, state: State, agent: str, found: SearchResult) -> Analysis:
    """Return the analysis of a search of one position."""
    player, chosen = int(state.current_player), int(found.chosen)
    # Among equally visited edges of the root the move to play comes first, then the more probable ones.
    columns = (found.actions[0], found.visits[0], found.policy[0], found.values[0])  # [E] each
    edges = [edge for edge in zip(*(column.tolist() for column in columns), strict=True) if edge[0] >= 0]
    total = max(1, sum(visits for _, visits, _, _ in edges))
    edges.sort(key=lambda edge: (-edge[1], edge[0] != chosen, -edge[2], edge[0]))
    line, after = [], state
    for action in found.lines[0]:  # by checked steps
        line.append(LineMove(game.action_to_string(action), action, int(after.current_player)))
        after = _after(game, after, action)
    return Analysis(
        agent=agent,
        position=game.state_to_string(state),
        player=player,
        mover=game.info.players[player],
        turn=int(state.turn),
        value=tuple(map(float, found.value[0].tolist())),
        chosen=game.action_to_string(chosen),
        moves=tuple(
            MoveReport(game.action_to_string(action), action, visits, visits / total, policy, _chance(value))
            for action, visits, policy, value in edges
        ),
        line=tuple(line),
    )


# ---------------------------------------------------------------- as text


def summary(analysis: Analysis) -> str:
    """Return one line, without the final stop: who moves, the win chance and the best move."""
    return (
        f"{analysis.mover} to move, win chance {percent(analysis.win_chance)} %, best {analysis.chosen} "
        f"({analysis.agent}, {analysis.visits} visits)"
    )


def table(analysis: Analysis, top: int = 8) -> str:
    """Return the most visited moves as columns of text, and a line on the others."""
    rows = []
    for move in analysis.moves[:top]:
        won = "-" if math.isnan(move.win_chance) else percent(move.win_chance)
        rows.append((move.name, str(move.visits), percent(move.share), won, percent(move.policy)))
    text = plain_table(Table("", ("move", "visits", "visits %", "win chance %", "policy %"), rows))
    if not (others := analysis.moves[top:]):
        return text
    moves = "1 more move has" if len(others) == 1 else f"{len(others)} more moves have"
    return f"{text}\n{moves} {percent(sum(move.share for move in others))} % of the visits"


def line_text(analysis: Analysis) -> str:
    """Return the moves that the search expects."""
    return " ".join(move.name for move in analysis.line)


def to_data(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis as JSON takes it; shares and chances are from 0 to 1, null if they are missing."""
    return {
        "agent": analysis.agent,
        "position": analysis.position,
        "mover": analysis.mover,
        "turn": analysis.turn,
        "visits": analysis.visits,
        "value": [rounded(value) for value in analysis.value],
        "win_chance": rounded(analysis.win_chance),
        "chosen": analysis.chosen,
        "moves": [
            {
                **{"move": move.name, "action": move.action, "visits": move.visits},
                **{name: rounded(getattr(move, name)) for name in ("share", "win_chance", "policy")},
            }
            for move in analysis.moves
        ],
        "line": [move.name for move in analysis.line],
    }


# ---------------------------------------------------------------- drawn


def draw(game: Game, state: State, analysis: Analysis) -> Picture:
    """Draw the position with shares of visits, win chances and the line, as far as the game can draw them."""
    seen = [move for move in analysis.moves if move.visits]
    mover = analysis.mover.capitalize()
    return game.draw_annotated(
        state,
        Notes(
            title=f"{mover} to move, turn {analysis.turn + 1}: win chance {100 * analysis.win_chance:.0f} %, "
            f"best {analysis.chosen} ({analysis.agent})",
            shares={move.action: move.share for move in seen},
            numbers={move.action: f"{100 * move.win_chance:.0f}" for move in seen},
            meaning=f"win chance of {mover} in %",
            line=tuple((move.action, move.player) for move in analysis.line),
        ),
    )


def content(game: Game, state: State, analysis: Analysis, suffix: str) -> str | bytes:
    """Return the content of a file of a drawn analysis, by its suffix, one of `SUFFIXES`.

    Raises:
        ValueError: Another suffix.
        ImportError: .png, and Pillow is not installed.
    """
    check_suffix(f"file{suffix}")
    shown = draw(game, state, analysis)
    return to_png(shown) if suffix == ".png" else to_svg(shown)


def check_suffix(path: PathLike) -> None:
    """Raise a `ValueError` unless `content` can fill a file of this name, an `ImportError` if Pillow is missing."""
    if PurePath(path).suffix not in SUFFIXES:
        raise InputError("path", f"a file that ends in {', '.join(SUFFIXES)}", path)
    if PurePath(path).suffix == ".png":
        require_pillow()


# ---------------------------------------------------------------- reviews of moves
#
# A move is compared with the one that a search prefers. Both positions that follow are searched with the same effort,
# so the comparison does not depend on how deep the search before the move was.


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


def seat_chance(analysis: Analysis, seat: int) -> float:
    """Return the chance of a seat to win if the search's best move is played, 0 to 1."""
    best = next((move for move in analysis.moves if move.name == analysis.chosen), None)
    known = analysis.win_chance in (0.0, 1.0)  # to a solver, which may judge no single move
    chance = analysis.win_chance if known or best is None or math.isnan(best.win_chance) else best.win_chance
    if len(analysis.value) != 2:
        return _chance(analysis.value[seat])
    return chance if seat == analysis.player else 1 - chance


def _after(game: Game, state: State, action: int) -> State:
    after: State = game.step(state, torch.tensor([action], device=state.device))
    return after


def _chance_after(game: Game, state: State, seat: int, search: Callable[[State], Analysis]) -> float:
    """Return the win chance of a seat in a position that may be finished."""
    if bool(state.done):
        return _chance(float(game.outcome(state)[0, seat]))
    return seat_chance(search(state), seat)


def review(game: Game, state: State, action: int, found: Analysis, search: Callable[[State], Analysis]) -> MoveReview:
    """Return the review of a move in a position, a batch of one; `search` analyses positions that follow."""
    seat, played = found.player, game.action_to_string(action)
    chance = _chance_after(game, _after(game, state, action), seat, search)
    if played == found.chosen:
        return MoveReview(played, played, seat, chance, chance, None)
    best = next(move for move in found.moves if move.name == found.chosen)
    chance_best = _chance_after(game, _after(game, state, best.action), seat, search)
    mark = next((mark for mark in MARKS if chance_best - chance >= mark.loss), None)  # None for no mistake
    return MoveReview(played, found.chosen, seat, chance_best, chance, mark)


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


def review_data(seen: MoveReview) -> dict[str, Any]:
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
) -> list[tuple[tuple[LineMove, ...], float]]:
    """Return up to `count` lines that begin with the best moves, the best one first: that of the analysis `found`.

    Beside each line stands the chance, 0 to 1, that the player who makes its first move wins.
    """
    lines = [(found.line, seat_chance(found, found.player))]
    others = [move for move in found.moves if move.name != found.chosen and move.visits > 0]
    for move in others[: count - 1]:
        after = _after(game, state, move.action)
        replies = () if bool(after.done) else search(after).line
        lines.append(((LineMove(move.name, move.action, found.player), *replies), move.win_chance))
    return lines
