"""Errors that tell what is wrong in fields, so that nothing has to read their messages."""

from __future__ import annotations


class GameError(ValueError):
    """An error in the input of a game, such as a line that is not a position.

    Attributes:
        game: the game's id.
        reason: description of the error.
    """

    def __init__(self, game: str, reason: str) -> None:
        super().__init__(game, reason)
        self.game = game
        self.reason = reason

    @property
    def brief(self) -> str:
        """The message without the game and the place in the batch, for callers that name both in their own way."""
        return self.reason

    def __str__(self) -> str:
        return f"{self.game}: {self.brief}"


class IllegalActionError(GameError):
    """An action that the rules do not allow in the position.

    Attributes:
        game: the game's id.
        env_id: the game's place in its batch.
        player: the name of the player who chose the action.
        action: the number that is illegal; the choice of one component if the action has several.
        reason: why it is illegal.
        component: index of the illegal component of the action; None if the action has only one.
    """

    def __init__(
        self, game: str, env_id: int, player: str, action: int, reason: str, component: int | None = None
    ) -> None:
        super().__init__(game, reason)
        self.args = (game, env_id, player, action, reason, component)  # by which a copy is made
        self.env_id = env_id
        self.player = player
        self.action = action
        self.component = component

    @property
    def brief(self) -> str:
        """The message without the game and the place in the batch, for callers that name both in their own way."""
        return self._message("")

    def __str__(self) -> str:
        return f"{self.game}: {self._message(f' in env {self.env_id}')}"

    def _message(self, place: str) -> str:
        part = "" if self.component is None else f", component {self.component}"
        return f"illegal action {self.action} of player {self.player}{place}{part}: {self.reason}"


def brief(error: Exception) -> str:
    """Return an error's message without the game and the place in the batch, where the error has them as fields."""
    return error.brief if isinstance(error, GameError) else str(error)
