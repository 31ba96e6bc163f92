"""Animations: frames of RGB pixels as a GIF, by Pillow, or as an MP4, by the ffmpeg of imageio-ffmpeg."""

from __future__ import annotations

import errno
import importlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.utils.files import PathLike, replacing

from .errors import InputError
from .progress import progress

RGB: TypeAlias = npt.NDArray[np.uint8]

SUFFIXES = (".gif", ".mp4")
"""Suffixes of files that hold an animation."""

_NEEDS = {
    ".gif": ("PIL.Image", "a GIF needs Pillow", "render"),
    ".mp4": ("imageio_ffmpeg", "a video needs imageio-ffmpeg, which brings ffmpeg", "video"),
}


def check_animation(path: PathLike) -> None:
    """Check that `save_animation` can write a file of this name.

    Raises:
        ValueError: another suffix than `SUFFIXES`.
        ImportError: the package that writes such files is not installed.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError("path", f"a file that ends in {' or '.join(SUFFIXES)}", path)
    module, text, extra = _NEEDS[suffix]
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{text}: pip install "cellgames[{extra}]"') from error


def save_animation(
    frames: Iterable[RGB], path: PathLike, frame_ms: int = 200, last_ms: int = 2000, *, total: int = 0
) -> None:
    """Write uint8 frames [H, W, 3] as a GIF that repeats for ever, or as an MP4 (H.264); the suffix says which.

    The file appears whole or not at all. All frames of a GIF share one palette, so that a colour never flickers, and
    are held in memory until all are there. A frame of a GIF that equals the one before is stored as a longer showing
    of that one.

    Args:
        frames: one or more arrays of one shape, as `raster.to_rgb` makes them.
        path: the file, replaced where it exists; its folder must exist.
        frame_ms: duration of a frame in milliseconds; GIF counts in steps of 10.
        last_ms: duration of the last frame in milliseconds; in a video, a multiple of `frame_ms`, about.
        total: number of the frames, to show progress on standard error; 0 to show none.

    Raises:
        ValueError: another suffix, or a time below 10 ms.
        ImportError: the package that writes such files is not installed.
        OSError: the file cannot be written.
    """
    check_animation(path)
    if min(frame_ms, last_ms) < 10:
        raise InputError("frame_ms", "10 ms or more for a frame", f"frame_ms={frame_ms}, last_ms={last_ms}")
    writer = partial(_write_gif, total=total) if PurePath(path).suffix.lower() == ".gif" else _write_mp4
    with replacing(path) as part:
        writer(_counted(frames, total, "draw frames"), part, frame_ms, last_ms)


def _counted(frames: Iterable[RGB], total: int, label: str) -> Iterator[RGB]:
    """Yield the frames, and show how many there were."""
    with progress(total, label=label, unit="frames", shown=total > 0, after_s=2.0) as advance:
        for frame in frames:
            yield frame
            advance(1)


# ---------------------------------------------------------------- MP4


def _write_mp4(frames: Iterator[RGB], part: Path, frame_ms: int, last_ms: int) -> None:
    """Write H.264, which needs even sizes; so an odd picture repeats its last row or column."""
    ffmpeg: Any = importlib.import_module("imageio_ffmpeg")
    frame = next(frames)
    height, width = frame.shape[0], frame.shape[1]
    edges = ((0, height % 2), (0, width % 2), (0, 0))
    part.touch()  # so that an error is one of ours, with the name of the file
    writer = ffmpeg.write_frames(
        str(part),
        (width + width % 2, height + height % 2),
        fps=1000 / frame_ms,
        codec="libx264",
        macro_block_size=2,
        ffmpeg_log_level="error",
        output_params=["-f", "mp4", "-movflags", "+faststart"],
    )
    writer.send(None)
    try:
        for shown in chain([frame], frames):
            padded = np.ascontiguousarray(np.pad(shown, edges, mode="edge"))
            writer.send(padded)
        for _ in range(max(0, round(last_ms / frame_ms) - 1)):
            writer.send(padded)
    except OSError as error:  # its text is the whole log of ffmpeg
        raise OSError(error.errno or errno.EIO, "ffmpeg could not write the video", str(part)) from error
    finally:
        writer.close()


# ---------------------------------------------------------------- GIF


def _write_gif(frames: Iterator[RGB], part: Path, frame_ms: int, last_ms: int, total: int) -> None:
    from PIL import Image

    kept = list(frames)
    palette = _shared_palette(kept)
    index_of = np.full(1 << 24, -1, dtype=np.int16)  # of the nearest palette colour, for packed colours met so far
    images: list[Image.Image] = []
    for place, frame in enumerate(_counted(kept, total, "write frames")):
        if place and frame is kept[place - 1]:  # one that shows for longer
            images.append(images[-1])
            continue
        codes = _packed(frame)
        new = np.unique(codes[index_of[codes] < 0])
        distance = ((_unpacked(new).astype(np.int32)[:, None] - palette) ** 2).sum(2)
        index_of[new] = distance.argmin(1)
        image = Image.frombytes("P", (frame.shape[1], frame.shape[0]), index_of[codes].astype(np.uint8).tobytes())
        image.putpalette(palette.tobytes())
        images.append(image)
    with part.open("wb") as file:
        times = [frame_ms] * (len(images) - 1) + [last_ms]
        images[0].save(file, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)


def _packed(colours: RGB) -> npt.NDArray[np.int32]:
    """Return colours [..., 3] as one number each, [...]."""
    red, green, blue = np.moveaxis(colours.astype(np.int32), -1, 0)
    packed: npt.NDArray[np.int32] = red << 16 | green << 8 | blue
    return packed


def _unpacked(codes: npt.NDArray[np.int32]) -> RGB:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype(np.uint8)


def _shared_palette(frames: Sequence[RGB]) -> RGB:
    """Return up to 255 colours [C, 3] of at most 16 of the frames, the first and the last among them.

    The most frequent ones are exact; the rest, mostly mixtures of them on the edges of shapes, are clustered.
    """
    from PIL import Image

    chosen = sorted({round(i * (len(frames) - 1) / 15) for i in range(16)})
    codes, counts = np.unique(np.concatenate([_packed(frames[i]).ravel() for i in chosen]), return_counts=True)
    colours = _unpacked(codes[np.argsort(-counts, kind="stable")])
    if len(colours) <= 255:
        return colours
    rest = Image.fromarray(colours[None, 128:]).quantize(127, Image.Quantize.MEDIANCUT, kmeans=1)
    clustered = np.array(rest.getpalette(), dtype=np.uint8).reshape(-1, 3)
    return np.concatenate([colours[:128], clustered])
