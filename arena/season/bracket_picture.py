"""The playoffs as a picture: rounds from left to right, a box for each series with the scores of its games.

Lengths are the units of `envs.core.drawing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellgames.envs.core.drawing import Picture, Polyline, Rectangle, Shape, Text, mix

from .playoffs import ROUNDS, Bracket, Series
from .standings import GameResult

__all__ = ["bracket_picture", "score_text"]

_INK, _GREY, _FAINT, _GROUND, _BOX = "#262626", "#8a8a8a", "#c9c9c9", "#ffffff", "#fafafa"
_WON = "#0072b2"  # blue of Okabe and Ito, told from grey in every kind of colour vision
_SIZE, _SMALL = 13.0, 11.0  # of names, of scores
_ROW, _HEAD = 26.0, 18.0  # heights of a team's line, of the line with the numbers of the games
_GAP, _MARGIN, _TOP = 54.0, 24.0, 74.0
_BETWEEN = 30.0  # from one series to the next below it
_LONGEST = 30  # characters of a name

_BOX_HEIGHT = _HEAD + 2 * _ROW


def score_text(score: float) -> str:
    """Return a score as text: whole numbers as such, others with up to three digits behind the point."""
    return f"{score:.3f}".rstrip("0").rstrip(".")


def bracket_picture(bracket: Bracket, title: str) -> Picture:
    """Draw all known series; a box has the teams with their seeds, the scores of each game, and games won.

    Args:
        bracket: the playoffs.
        title: a headline.
    """
    seed = {team: number for teams in bracket.seeds.values() for number, team in enumerate(teams, 1)}
    layout = _Layout(bracket)
    shapes: list[Shape] = [Text(_MARGIN, 34, title, 18, _INK, bold=True)]
    centres: list[float] = []
    for number, series in enumerate(bracket.rounds):
        x = layout.left(number)
        shapes.append(Text(x, _TOP - 14, ROUNDS[number], _SIZE, _GREY))
        before = centres
        centres = layout.centres(number, before)
        for place, (one, centre) in enumerate(zip(series, centres, strict=True)):
            if number:
                shapes += [_link(layout, number, centre, y) for y in before[2 * place : 2 * place + 2]]
            shapes += layout.box(one, x, centre, seed)
    if any(result.rolls for number in bracket.rounds for series in number for result in series.results):
        shapes.append(Text(layout.width - _MARGIN, 34, "* decided by dice", _SMALL, _GREY, "end"))
    if bracket.champion is not None:
        x, y = layout.left(len(ROUNDS) - 1), centres[0] + _BOX_HEIGHT / 2 + 34
        shapes += [
            Text(x, y, "Champion", _SIZE, _GREY),
            Text(x, y + 24, _clipped(bracket.champion), 18, _WON, bold=True),
        ]
    return Picture(layout.width, layout.height, _GROUND, tuple(shapes), title)


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _link(layout: _Layout, number: int, centre: float, before: float) -> Polyline:
    """Return the line from a series to one that it follows from."""
    x = layout.left(number)
    bend, start = x - _GAP / 2, layout.left(number - 1) + layout.widths[number - 1]
    before, centre = before + _HEAD / 2, centre + _HEAD / 2  # between the lines of the teams
    return Polyline(((start, before), (bend, before), (bend, centre), (x, centre)), _FAINT, 1.5)


class _Layout:
    """Places in the picture; the longest name and the longest score set the widths of columns."""

    def __init__(self, bracket: Bracket) -> None:
        names = [_clipped(team) for teams in bracket.seeds.values() for team in teams]
        results = [result for series in bracket.rounds for one in series for result in one.results]
        scores = [_shown(result, team) for result in results for team in result.teams]
        self.name = 26 + 0.62 * _SIZE * max(map(len, names))
        self.score = 10 + 0.62 * _SMALL * max(map(len, scores), default=1)
        self.widths = [self.name + most * self.score + 34 for most in (5, 5, 7)]
        self.width = 2 * _MARGIN + sum(self.widths) + 2 * _GAP
        self.height = _TOP + len(bracket.rounds[0]) * (_BOX_HEIGHT + _BETWEEN)

    def left(self, number: int) -> float:
        """Return the left side of the boxes of a round."""
        return _MARGIN + sum(self.widths[:number]) + number * _GAP

    def centres(self, number: int, before: Sequence[float]) -> list[float]:
        """Return the heights of the middles of a round's boxes; in later rounds, between those they follow from."""
        if number == 0:
            return [_TOP + _BOX_HEIGHT / 2 + place * (_BOX_HEIGHT + _BETWEEN) for place in range(4)]
        return [(above + below) / 2 for above, below in zip(before[::2], before[1::2], strict=True)]

    def box(self, series: Series, x: float, centre: float, seed: Mapping[str, int]) -> list[Shape]:
        """Return the shapes of a series; a line above it has its league and the numbers of the games."""
        width, top = self.name + series.best_of * self.score + 34, centre - _BOX_HEIGHT / 2
        shapes: list[Shape] = [
            Text(x + 2, top + 12, series.league, 10, _GREY),
            Rectangle(x, top + _HEAD, width, 2 * _ROW, _BOX, _FAINT, 1),
            Polyline(((x, top + _HEAD + _ROW), (x + width, top + _HEAD + _ROW)), _FAINT, 1),
        ]
        shapes += [
            Text(self._column(x, game), top + 12, str(game + 1), 10, _GREY, "middle")
            for game in range(len(series.results))
        ]
        for row, team in enumerate(series.teams):
            won, lost = series.winner == team, series.winner not in (team, None)
            y = top + _HEAD + row * _ROW + _ROW / 2 + 0.35 * _SIZE
            shapes += [
                Text(x + 14, y, str(seed[team]), _SMALL, _GREY, "middle"),
                Text(x + 26, y, _clipped(team), _SIZE, _GREY if lost else _INK, bold=won),
                Rectangle(
                    x + width - 30, y - 0.35 * _SIZE - _ROW / 2, 30, _ROW, _WON if won else mix(_BOX, _FAINT, 0.4)
                ),
                Text(x + width - 15, y, str(series.wins[row]), _SIZE, _GROUND if won else _INK, "middle", bold=won),
            ]
            for game, result in enumerate(series.results):
                best = result.winner == team
                ink = _INK if best else _GREY
                shapes.append(Text(self._column(x, game), y, _shown(result, team), _SMALL, ink, "middle", best))
        return shapes

    def _column(self, x: float, game: int) -> float:
        """Return the middle of a game's scores."""
        return x + self.name + (game + 0.5) * self.score


def _shown(result: GameResult, team: str) -> str:
    """Return the score; a winner by dice has a star."""
    return score_text(result.scores[result.teams.index(team)]) + "*" * bool(result.rolls and result.winner == team)
