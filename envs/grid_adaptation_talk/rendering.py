"""The words of one talk step, for pictures and text: who said what to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .notation import known
from .state import TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk

Letter = tuple[int | None, int | None]
"""A word as it was said and as it arrived; None for what is not known."""


@dataclass(frozen=True)
class Conversation:
    """The words of one talk step.

    Attributes:
        title: such as "talk before round 3".
        players: the names of the seats.
        public: True if each word goes to all.
        letters: by sender and receiver, or by sender alone in public; None from a sender to itself.
    """

    title: str
    players: Sequence[str]
    public: bool
    letters: Sequence[Sequence[Letter | None]]

    def text(self) -> Iterator[str]:
        """Yield the words for a terminal, a line for each sender; nothing before the first talk step."""
        if not self.letters:
            return
        wide = max(len("from"), *map(len, self.players))
        heads = ["all"] if self.public else [name.removeprefix("player_") for name in self.players]
        yield f"{self.title}:"
        yield f"{'from':<{wide}} to " + " ".join(f"{name:>5}" for name in heads)
        for name, letters in zip(self.players, self.letters, strict=True):
            row = " ".join(f"{'' if letter is None else said(letter):>5}" for letter in letters)
            yield f"{name:<{wide}}    {row}".rstrip()

    def lines(self) -> list[str]:
        """Return the title and a line for each sender; `?` is a word that is not known."""
        heads = ["all"] if self.public else self.players
        lines = [self.title]
        for name, letters in zip(self.players, self.letters or [[]] * len(self.players), strict=True):
            words = (
                f"{said(word).replace('.', 'nothing')} to {head}"
                for word, head in zip(letters, heads, strict=False)
                if word is not None
            )
            lines.append(f"{name}: {', '.join(words) or '-'}")
        return lines


def last_talk(game: GridAdaptationTalk, state: TalkState, player: int | None = None) -> Conversation:
    """Return the last talk step of the first match; without letters before the first one.

    A player knows its own words and those that reached it; None is a spectator.
    """
    number = int(state.talks[0]) - 1
    if number < 0:
        return Conversation("no talk yet", game.info.players, game.talk == "public", ())
    altered, public = state.heard.shape[1] > 0, game.talk == "public"
    written, arrived = (
        np.where(
            known(game, name, player, altered), field[0, number].numpy(force=True).astype(object), np.array(None)
        ).tolist()
        for name, field in (("said", state.said), ("heard" if altered else "said", state.arrived))
    )
    letters: list[list[Letter | None]] = [list(zip(*row, strict=True)) for row in zip(written, arrived, strict=True)]
    for sender, row in enumerate(() if public else letters):
        row.insert(sender, None)
    round, step = divmod(number, game.talk_steps)
    title = f"talk before round {round + 1}" + (
        f", step {step + 1} of {game.talk_steps}" if game.talk_steps > 1 else ""
    )
    return Conversation(title, game.info.players, public, letters)


def said(letter: Letter) -> str:
    """Return the text of a word: its number, `.` for silence, `?` for what is not known, `3>5` if 3 arrives as 5."""
    one, other = ("?" if word is None else "." if word == 0 else str(word) for word in letter)
    return one if one == other or letter[1] is None else other if letter[0] is None else f"{one}>{other}"
