"""A window for `render_mode="human"`, by pygame, which is imported when a window is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Window"]


class Window:
    """Shows pictures one after the other; opens with the first one.

    Raises:
        ImportError: pygame, or Pillow, which paints the pictures, is not installed.
    """

    def __init__(self, title: str) -> None:
        try:
            import PIL  # noqa: F401
            import pygame
        except ImportError as error:
            raise ImportError(
                'render_mode="human" needs pygame-ce and Pillow: pip install "cellgames[human]"'
            ) from error
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
