"""Rendering of environments of one game: text, pixels, SVG for notebooks, and a window for people.

The window is pygame's, which is imported when a window is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import gymnasium

from cellgames.envs.core import Game, State
from cellgames.utils.errors import check_one_of

from .opponents import seat_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RenderMode = Literal["human", "rgb_array", "ansi"]


def picture_of(game: Game, state: State, seat: int | None = None) -> npt.NDArray[np.uint8]:
    """Return the first game of the batch as uint8 [H, W, 3]: as a seat may know it, or as spectators see it."""
    from cellgames.envs.core.raster import to_rgb

    return to_rgb(game.draw(state) if seat is None else game.draw_for(state, seat))


class Window:
    """A window that shows pictures one after the other; it opens with the first one.

    Raises:
        ImportError: pygame, or Pillow, which paints the pictures, is not installed.
    """

    def __init__(self, title: str) -> None:
        try:
            import PIL  # noqa: F401
            import pygame
        except ImportError as error:
            needed = 'pygame-ce and Pillow: pip install "cellgames[human]"'
            raise ImportError(f'render_mode="human" needs {needed}') from error
        self._title = title
        self._pygame = pygame
        self._clock: Any = pygame.time.Clock()

    def show(self, image: npt.NDArray[np.uint8], frames_per_second: float) -> bool:
        """Show uint8 [H, W, 3], no sooner than a frame's time after the last one.

        Returns:
            False if the person has closed the window.
        """
        pygame, size = self._pygame, (image.shape[1], image.shape[0])
        pygame.display.init()
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != size:
            screen = pygame.display.set_mode(size)
            pygame.display.set_caption(self._title)
        screen.blit(pygame.image.frombuffer(image.tobytes(), size, "RGB"), (0, 0))
        pygame.display.flip()
        closed = bool(pygame.event.get(pygame.QUIT))
        self._clock.tick(frames_per_second)
        return not closed

    def close(self) -> None:
        """Close the window; `show` opens it again."""
        self._pygame.display.quit()


class Rendered:
    """An environment of one game that renders as its `render_mode` says.

    Attributes:
        game: the rules.
        render_mode: "human" a window, which steps keep up to date, "rgb_array" uint8 [H, W, 3], "ansi" text, or None.
        metadata: with "render_fps", which bounds the speed of "human".
    """

    game: Game
    render_mode: str | None
    metadata: dict[str, Any]
    _window: Window | None

    def _set_render_mode(self, mode: str | None) -> None:
        check_one_of("render_mode", mode, (*get_args(RenderMode), None), self.game.id)
        self.render_mode = mode
        self._window = Window(self.game.info.title) if mode == "human" else None

    def core_state(self) -> State:
        """Return the game as the core's batch of one, seed and all: for records, search, and tests."""
        raise NotImplementedError

    def render(self, player: str | int | None = None) -> Any:
        """Return the picture or text of `render_mode`; None for "human", and, with a warning, without a mode.

        Args:
            player: name or number of a seat, to show what it may know. By default spectators' picture, which shows the
                secrets of all.
        """
        expected = f"one of {', '.join(self.game.info.players)}, or its number"
        seat = None if player is None else seat_number(self.game, player, "player", expected)
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying any render mode.")
            return None
        if self.render_mode == "human":
            self._window = self._window or Window(self.game.info.title)
            self._draw(seat)
            return None
        state = self.core_state()
        if self.render_mode == "ansi":
            return self.game.text(state) if seat is None else self.game.text_for(state, seat)
        return picture_of(self.game, state, seat)

    def _draw(self, seat: int | None = None) -> None:
        """Bring the window up to date, if there is one."""
        if self._window is not None:
            image = picture_of(self.game, self.core_state(), seat)
            if not self._window.show(image, self.metadata["render_fps"]):
                self.close()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _repr_html_(self) -> str | None:
        """Return the position as SVG, for notebooks."""
        return self.game.draw(self.core_state())._repr_html_()
