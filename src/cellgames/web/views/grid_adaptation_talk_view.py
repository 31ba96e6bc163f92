"""The view of Grid Adaptation with talk: the base game's, and the words of the last talk step that a seat knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from cellgames.envs.grid_adaptation.state import GridState
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.rendering import last_talk, said
from cellgames.envs.grid_adaptation_talk.state import TalkState

from .grid_adaptation_view import GridView
from .view import Frame, player_names


class TalkView(GridView):
    """A view of Grid Adaptation with talk; the table has a column of words."""

    game: GridAdaptationTalk

    @override
    def layout(self) -> dict[str, Any]:
        layout = super().layout()
        layout["columns"].append({"name": "said", "label": "says", "kind": "words"})
        return layout

    @override
    def frame(
        self, state: GridState, before: GridState | None, viewer: int | None, action: Sequence[int] | None = None
    ) -> Frame:
        frame = super().frame(state, before, viewer, action)
        frame.fields["infos"]["said"] = self._said(state, viewer)
        return frame

    def _said(self, state: GridState, viewer: int | None) -> list[Any]:
        """Return the words of the last talk step that a viewer knows: for each seat pairs of a receiver and a word."""
        assert isinstance(state, TalkState)
        talk = last_talk(self.game, state, viewer)
        pairs: list[Any] = []
        for letters in talk.letters:
            known = [(to, said(letter)) for to, letter in enumerate(letters) if letter is not None]
            shown = [("" if talk.public or to == viewer else f"to {to}", word) for to, word in known if word != "?"]
            pairs.append(shown or None)
        return pairs or [None] * self.game.players

    @override
    def status(self, state: GridState, *, after: bool) -> str:
        if not after and bool(self.game.talking(state)[0]):
            return f"Talk before round {int(state.round[0])} of {self.game.rounds}"
        return super().status(state, after=after)

    @override
    def controls(self, state: GridState, seat: int) -> dict[str, Any]:
        others = [name for other, name in enumerate(player_names(self.game)) if other != seat]
        return super().controls(state, seat) | {
            "talking": bool(self.game.talking(state)[0]),
            "talk": f"{int(state.turn[0])}",  # a step of its own, where several belong to a round
            "words": self.game.words,
            "receivers": ["all"] if self.game.talk == "public" else others,
        }
