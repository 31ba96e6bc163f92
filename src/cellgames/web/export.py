"""Export of a recorded game as one HTML file that plays offline; styles, scripts and data are inside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cellgames.utils.files import PathLike, write_atomic

from .frames import replay_data

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup import CupRecord

SCRIPTS = (
    "theme.js",
    "canvas.js",
    "board_reader.js",
    "boards.js",
    "board_torus.js",
    "board_stones.js",
    "cell_sprites.js",
    "board_cells.js",
    "chart.js",
    "film.js",
    "viewer.js",
)
"""Scripts of the viewer, in the order in which pages load them."""

_PAGE_STYLE = """body { margin: 0 auto; max-width: 1240px; padding: 16px; background: var(--cg-paper); }
@media (max-width: 480px) { body { padding: 10px; } }
noscript { display: block; padding: 2em; font-family: sans-serif; }
"""

_START = """(function () {
  "use strict";
  const data = { ...JSON.parse(document.getElementById("game").textContent), alone: true };
  window.viewer = new window.Cellgames.Viewer(document.getElementById("viewer"), data);
})();
"""


def export_html(record: Record | CupRecord, path: PathLike, *, worth: Mapping[str, Any] | None = None) -> None:
    """Write a recorded game as one HTML file; the same record gives the same bytes.

    Args:
        record: A record of `arena.records`, or of `arena.season.cup`.
        path: The file.
        worth: Worth of each part of the game, as JSON holds it; the page then shows it on the board.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: An unknown game, or too large (see `limits`).
        OSError: The file cannot be written.
    """
    write_atomic(path, html_page(record, worth=worth))


def html_page(record: Record | CupRecord, *, worth: Mapping[str, Any] | None = None) -> str:
    """Return the HTML file of a recorded game; arguments as for `export_html`."""
    data = replay_data(record)
    if worth is not None:
        data["worth"] = worth
    title = f"{data['layout']['title']}: {', '.join(dict.fromkeys(data['record']['agents']))}"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII, without what ends a script in HTML
    for sign in "&<>":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    style = f"{_static('viewer.css')}\n{_PAGE_STYLE}"
    scripts = [*map(_static, SCRIPTS), _START]
    # Scripts run by their hashes only, so that no name in the record can become one; nothing is fetched.
    policy = (
        f"default-src 'none'; img-src data:; style-src {_source(style)}; script-src {' '.join(map(_source, scripts))}; "
        "base-uri 'none'; form-action 'none'"
    )
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{style}</style>",
        '<main id="viewer"></main>',
        "<noscript>This game is played by JavaScript, which is switched off.</noscript>",
        f'<script type="application/json" id="game">{text}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _static(name: str) -> str:
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")
