"""Pictures of the documentation: `python -m benchmarks.pictures`.

It makes films of games and pictures of the page, and writes them to docs/images/ as WebP, which all browsers show. A
film is a game of good agents, made again by the same seed, as the page draws it. Each picture is light and dark
(`NAME_dark.webp`), and the site shows the one that fits. `--only NAME` makes some of them.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from PIL import Image

from benchmarks.screenshots import SHOTS, chromium_path, screenshots
from cellgames.arena.records.record_lines import Record, read_records
from cellgames.cli.main import main as cellgames
from cellgames.utils.files import write_atomic
from cellgames.web.frames import export_html

OUT = Path("docs/images")
SIDE = 320
"""Width of a picture in pixels."""
_MOST, _LAST_MS = 60, 3000  # pictures of a film, and how long the last one stays


@dataclass(frozen=True)
class Film:
    """A game to be shown, with an agent for each seat or one for all."""

    game: tuple[str, ...]
    agents: tuple[str, ...]
    seed: int
    frame_ms: int


FILMS = {
    "torus": Film(("torus-v0", "--size", "6"), ("gumbel:64", "gumbel:64"), 3, 400),
    "hex": Film(("hex-v0", "--size", "7"), ("gumbel:64", "gumbel:64"), 3, 400),
    "y": Film(("y-v0", "--size", "7"), ("gumbel:64", "gumbel:64"), 3, 400),
    "cloth_of_gold": Film(("cloth-of-gold-small-v0",), ("trained", "trained"), 2, 150),
    "cloth_of_gold_wild": Film(("cloth-of-gold-wild-small-v0",), ("trained", "trained"), 2, 150),
    "grid_adaptation": Film(("grid-adaptation-small-v0",), ("mcts:64", "trained", "greedy", "trained"), 5, 900),
    "toroidal_cup": Film(("toroidal-cup-small-v0",), ("champion", "greedy"), 1, 150),
}


def films(names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names of the files and the films as WebP: light, and dark with `_dark` at the name's end."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            shown, file, html = FILMS[name], Path(folder, f"{name}.jsonl"), Path(folder, f"{name}.html")
            words = ["play", *shown.game, "--watch", "--agents", *shown.agents, "--seed", str(shown.seed)]
            if code := cellgames([*words, "--out", str(file)]):
                raise SystemExit(code)
            record = read_records(file).records[0]
            assert isinstance(record, Record)
            export_html(record, html)
            for scheme in ("light", "dark"):
                page = browser.new_page(color_scheme=scheme)
                page.goto(html.as_uri())
                last = page.evaluate("viewer.frames.length") - 1
                seen = []
                for place in range(min(last + 1, _MOST)):
                    page.evaluate("place => viewer.seek(place)", round(place * last / max(min(last, _MOST - 1), 1)))
                    with Image.open(io.BytesIO(page.locator("canvas").first.screenshot())) as picture:
                        seen.append(picture.convert("RGB").resize((SIDE, round(SIDE * picture.height / picture.width))))
                made, times = io.BytesIO(), [shown.frame_ms] * (len(seen) - 1) + [_LAST_MS]
                seen[0].save(
                    made, "WEBP", save_all=True, append_images=seen[1:], loop=0, duration=times, quality=55, method=6
                )
                yield f"{name}{'_dark' if scheme == 'dark' else ''}", made.getvalue()
                page.close()
        browser.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, draw and write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=[*FILMS, *SHOTS], default=[*FILMS, *SHOTS], metavar="NAME")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="the folder (default %(default)s)")
    options = parser.parse_args(arguments)
    games, shots = ([name for name in options.only if name in made] for made in (FILMS, SHOTS))
    for name, data in chain(films(games) if games else (), screenshots(shots) if shots else ()):
        path = options.out / f"{name}.webp"
        write_atomic(path, data)
        print(f"{path}: {len(data):,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
