"""Pictures of a game's steps as an animation: a GIF or an MP4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import Picture
from cellgames.envs.core.raster import to_rgb
from cellgames.utils.animations import save_animation
from cellgames.utils.files import PathLike

_FRAME_SPEED = 5  # pictures within a step in the time of one position


def save_film(
    steps: Sequence[Sequence[Picture]],
    path: PathLike,
    *,
    scale: float = 1.0,
    frame_ms: int,
    last_ms: int,
    progress: bool = False,
) -> None:
    """Save pictures as an animation; where a step has several of them, they take a fifth of a frame's time each.

    Args:
        steps: The pictures of each step, one or more.
        path: The file; its suffix says which kind.
        scale: Pixels a unit of the pictures.
        frame_ms: How long a step with one picture shows, in milliseconds.
        last_ms: How long the last picture shows.
        progress: True to show on standard error the progress of what takes more than two seconds.

    Raises:
        ValueError: Another suffix than .gif and .mp4.
        ImportError: Pillow, or for a video imageio-ffmpeg, is not installed.
    """
    hold = _FRAME_SPEED if any(len(pictures) > 1 for pictures in steps) else 1

    def frames() -> Iterator[npt.NDArray[np.uint8]]:
        for pictures in steps:
            for picture in pictures:
                yield from [to_rgb(picture, scale)] * (hold if len(pictures) == 1 else 1)

    total = sum(hold if len(pictures) == 1 else len(pictures) for pictures in steps) if progress else 0
    save_animation(frames(), path, frame_ms=max(10, frame_ms // hold), last_ms=last_ms, total=total)
