"""The view of games without a page (`GamePlugin.page`): the pictures that the game draws (`Game.draw`).

Such games can be watched and exported, but not played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from typing_extensions import override

from cellgames.envs.core.drawing import Picture, to_svg
from cellgames.envs.toroidal_cup.rendering import COLOURS

from .dark_colours import SEATS, dark
from .view import Frame, View, results


class PictureView(View):
    """A view that shows the pictures which the game draws."""

    @override
    def layout(self) -> dict[str, Any]:
        return {
            "kind": "picture",
            "wrap": False,
            "colours": [COLOURS[seat % len(COLOURS)] for seat in range(self.game.info.num_players)],
            "ground": "#ffffff",
            "dark": dark({}, {}, [SEATS[seat % len(SEATS)] for seat in range(self.game.info.num_players)]),
            "columns": [{"name": "score", "label": "score", "kind": "number"}],
            "curves": [{"name": "score", "label": "score", "per": "player"}],
        }

    @override
    def frame(self, state: Any, before: Any, viewer: int | None, action: Sequence[int] | None = None) -> Frame:
        *_, last = [self.game.draw(state)] if before is None else self.game.frames(before, state)
        return self._frame(state, last, viewer)

    @override
    def animated(self, before: Any, after: Any) -> bool:
        return True  # it is not known, and each step may be

    @override
    def step(
        self, before: Any, after: Any, viewer: int | None, action: Sequence[int] | None, most: int
    ) -> Iterator[Frame]:
        *pictures, last = self.game.frames(before, after)
        for picture in pictures[:most]:
            shown = self._frame(before, picture, viewer)
            yield replace(shown, fields={**shown.fields, "status": f"Turn {int(after.turn[0])}", "life": True})
        yield self._frame(after, last, viewer)

    def _frame(self, state: Any, picture: Picture, viewer: int | None) -> Frame:
        turn, done, info = int(state.turn[0]), bool(state.done[0]), self.game.info
        if viewer is not None and not info.perfect_information:
            raise ValueError(f"expected a spectator: pictures of {self.game.id} show what players may not know")
        mover = "" if done or info.simultaneous else f", {info.players[int(state.current_player[0])]} to move"
        fields = {
            "svg": to_svg(picture),
            "status": f"Over after turn {turn}" if done else f"Turn {turn + 1}{mover}",
            "last": [],
            "results": results(self.game, state),
            "infos": {"score": [round(score, 4) for score in state.scores[0].tolist()]},
            "text": [],
        }
        return Frame(np.zeros(0, np.uint8), None, fields)
