"""Pictures of the documentation: `python -m benchmarks.pictures`.

It makes films of games and pictures of the page, and writes them to docs/images/ as WebP, which all browsers show. A
film is a game of good agents, made again by the same seed. The page is shown light and dark (`NAME_dark.webp`), and the
site shows the one that fits. `--only NAME` makes some of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from PIL import Image

from benchmarks.screenshots import SHOTS, screenshots
from cellgames.arena.records.record_lines import Record, read_records
from cellgames.arena.records.replays import animate
from cellgames.cli.main import main as cellgames
from cellgames.utils.files import write_atomic

OUT = Path("docs/images")
SIDE = 320
"""Width of a picture in pixels, about."""


@dataclass(frozen=True)
class Film:
    """A game to be shown, with an agent for each seat or one for all; a generation of Life shows for a fifth."""

    game: tuple[str, ...]
    agents: tuple[str, ...]
    seed: int
    scale: float
    frame_ms: int


PICTURES = {
    "torus": Film(("torus-v0", "--size", "6"), ("gumbel:64", "gumbel:64"), 3, 0.8, 400),
    "cloth_of_gold": Film(("cloth-of-gold-small-v0",), ("trained", "trained"), 2, 0.38, 300),
    "grid_adaptation": Film(("grid-adaptation-small-v0",), ("mcts:64", "trained", "greedy", "trained"), 5, 0.42, 900),
    "toroidal_cup": Film(("toroidal-cup-small-v0",), ("champion", "greedy"), 1, 0.5, 300),
}


def film(shown: Film) -> bytes:
    """Return the game of a film as an animated WebP."""
    with tempfile.TemporaryDirectory() as folder:
        game, gif = Path(folder, "game.jsonl"), Path(folder, "game.gif")
        words = ["play", *shown.game, "--watch", "--agents", *shown.agents, "--seed", str(shown.seed)]
        if code := cellgames([*words, "--out", str(game)]):
            raise SystemExit(code)
        record = read_records(game).records[0]
        assert isinstance(record, Record)
        animate(record, gif, scale=shown.scale, frame_ms=shown.frame_ms)
        webp = gif.with_suffix(".webp")
        with Image.open(gif) as picture:
            picture.save(webp, save_all=True, lossless=True, quality=80, method=4, loop=0)
        return webp.read_bytes()


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, draw and write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=[*PICTURES, *SHOTS], default=[*PICTURES, *SHOTS], metavar="NAME")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="the folder (default %(default)s)")
    options = parser.parse_args(arguments)
    films = ((name, film(PICTURES[name])) for name in options.only if name in PICTURES)
    shots = [name for name in options.only if name in SHOTS]
    for name, data in chain(films, screenshots(shots) if shots else ()):
        path = options.out / f"{name}.webp"
        write_atomic(path, data)
        print(f"{path}: {len(data):,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
