"""Errors that tell what is wrong in fields, so that nothing has to read their messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from cellgames.utils.errors import InputError


class IllegalActionError(InputError):
    """An action that the rules do not allow in the position.

    Attributes:
        where: the game's id.
        env_id: the game's place in its batch.
        player: the name of the player who chose the action.
        action: the number that is illegal; the choice of one component if the action has several.
        cause: why it is illegal.
        component: index of the illegal component of the action; None if the action has only one.
    """

    def __init__(
        self, where: str, env_id: int, player: str, action: int, cause: str, component: int | None = None
    ) -> None:
        super().__init__("action", got=action, cause=cause, where=where)
        self.env_id, self.player, self.action, self.component = env_id, player, action, component

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.where, self.env_id, self.player, self.action, self.cause, self.component)

    @property
    @override
    def brief(self) -> str:
        """The message without the game and the place in the batch, for callers that name both in their own way."""
        return self._message("")

    @override
    def __str__(self) -> str:
        return f"{self.where}: {self._message(f' in env {self.env_id}')}"

    def _message(self, place: str) -> str:
        part = "" if self.component is None else f", component {self.component}"
        return f"illegal action {self.action} of player {self.player}{place}{part}: {self.cause}"


def brief(error: Exception) -> str:
    """Return an error's message without the game and the place in the batch, where the error has them as fields."""
    return error.brief if isinstance(error, InputError) else str(error)
