"""Pictures of the documentation: `python -m benchmarks.pictures`.

It makes films of games and pictures of the page, and writes them to docs/images/ as WebP, which all browsers show. A
film is a game of good agents, made again by the same seed. The page is shown light and dark (`NAME_dark.webp`), and the
site shows the one that fits. `--only NAME` makes some of them. `OTHERS` names the other pictures.
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
from cellgames.utils.run_folders import write_atomic

__all__ = ["OTHERS", "PICTURES", "Film", "main"]

OUT = Path("docs/images")
SIDE = 320
"""Width of a picture in pixels, about."""


@dataclass(frozen=True)
class Film:
    """A game to be shown.

    Attributes:
        game: An id, and its parameters as the command line takes them.
        agents: An agent for each seat, or one for all.
        seed: Of the game and of the agents.
        scale: The size of the pictures, of one that fills a window.
        frame_ms: How long a position shows, in milliseconds; a generation of Life takes a fifth.
    """

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


_KEPT = "drawn once, its moves were not kept:"
_TUTORIAL = "python tests/support/tutorials.py"

OTHERS = {
    "analysis.png": 'cellgames analyse torus-small-v0 --moves "c3 a1+ b2 d4 c4" --out analysis.png',
    "answers.png": "cellgames analyse torus-small-v0 --agents random greedy rollout:256 trained --games 100",
    "cloth_of_gold.png": f"{_KEPT} cloth-of-gold-v0 in round 2",
    "cloth_of_gold_wild.png": f"{_KEPT} cloth-of-gold-wild-small-v0 in round 4",
    "drift.png": "cellgames analyse --run results/train/size4 --agents greedy random",
    "grid_adaptation.png": f"{_KEPT} grid-adaptation-v0 after its last round",
    "hex.png": f"{_KEPT} hex-v0 at its end",
    "logo.svg": "written as SVG",
    "probes.png": "cellgames probe results/train/size4 --games 200",
    "toroidal_cup.png": f"{_KEPT} a season of toroidal-cup-v0 at its end",
    "torus.png": f"{_KEPT} torus-v0 at its end",
    "tutorial_1_first_environment.svg": f"{_TUTORIAL} 1_first_environment",
    "tutorial_2_first_agent.gif": f"{_TUTORIAL} 2_first_agent",
    "tutorial_3_bot_in_a_tournament.gif": f"{_TUTORIAL} 3_bot_in_a_tournament",
    "tutorial_4_training_loop.png": f"{_TUTORIAL} 4_training_loop",
    "tutorial_5_add_a_game.svg": f"{_TUTORIAL} 5_add_a_game",
    "tutorial_6_who_is_better.png": f"{_TUTORIAL} 6_who_is_better",
    "tutorial_7_strategies.png": f"{_TUTORIAL} 7_strategies",
    "tutorial_8_search_and_alphazero.png": f"{_TUTORIAL} 8_search_and_alphazero",
    "worth.png": "cellgames explain --kinds placement, of champion against greedy with pattern=donutmultums, seed 1",
    "y.png": f"{_KEPT} y-v0 of size 9 at its end",
}
"""The sources of the pictures that this command does not make, or what they show, by their files."""


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
