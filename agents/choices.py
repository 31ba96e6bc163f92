"""What games have in common whose actions are numbers of proposals, such as whole turns of Cloth of Gold."""

from __future__ import annotations

import dataclasses
import re
from abc import abstractmethod
from typing import Any, TypeVar

from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError, shown

S = TypeVar("S", bound=State)


def as_kind(state: State, kind: type[S], **more: Tensor) -> S:
    """Return games as another kind of state: with further fields, or without those that it lacks."""
    names = {field.name for field in dataclasses.fields(kind)} - more.keys()
    return kind(**{name: getattr(state, name) for name in names}, **more)


class ChoiceGame(Game[Any]):
    """A base class to stand before that of the ordinary game; proposals follow from the games' seeds."""

    @abstractmethod
    def proposing(self, state: Any) -> Any:
        """Return games with proposals to choose from."""

    @override
    def _init(self, seeds: Tensor) -> Any:
        return self.proposing(super()._init(seeds))  # type: ignore[safe-super]  # of the ordinary game

    @override
    def state_to_string(self, state: State) -> str:
        """Return a line that begins with the seed of the proposals."""
        return f"seed:{int(state.seed[0])} {super().state_to_string(state)}"

    @override
    def string_to_state(self, text: str, seed: int = 0) -> Any:
        """Return the position of such a line, with its own proposals; an `InputError` for others."""
        if (found := re.fullmatch(r"seed:(-?\d{1,19}) (.*)", text, re.DOTALL)) is None:
            raise InputError("position", "a line that begins with seed:NUMBER", shown(text), where=self.id)
        return self.proposing(super().string_to_state(found[2], int(found[1])))

    # The ordinary game has its own names of actions.

    action_to_string = Game.action_to_string
    string_to_action = Game.string_to_action
    choice_to_string = Game.choice_to_string
    fallback = Game.fallback
    _why_illegal = Game._why_illegal
