"""The state of a batch of Grid Adaptation matches with talk.

Letters: `B` matches, `P` players, `T` talk steps of a match, `R` places of a sender's words (see `words`).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.grid_adaptation.state import COMPONENTS, GridState

BASE = len(COMPONENTS)
"""The number of components of the base game's actions; those of words follow."""


@dataclass(frozen=True, eq=False)
class TalkState(GridState):
    """The state of a batch of Grid Adaptation matches with talk.

    Attributes:
        talks: [B] int64, talk steps played so far.
        said: [B, T, P, R] int8, the words of each talk step by sender, 0 for silence and -1 in those to come.
        heard: [B, T, P, R] int8, the same as they arrive. With neither `scramble` nor `mute` it has no elements,
            since nothing alters words.
    """

    talks: Tensor
    said: Tensor
    heard: Tensor

    @property
    def arrived(self) -> Tensor:
        """The words as they arrive, int8 [B, T, P, R], altered or not."""
        return self.heard if self.heard.shape[1] else self.said
