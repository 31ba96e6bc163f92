"""Seconds that the page waits for a move, in all games: `python -m benchmarks.arena.page_speed`.

A server as `cellgames serve` starts it, on a free port, is asked as the page asks it, over one kept connection: a
person, in one seat after the other, plays legal moves against `random`, whose own thinking takes next to nothing. Two
times count from sending the move: to the answer, in which the own move is played and drawn, unless it ends a round of
Life that takes longer; and to the last picture that follows from it, with the agent's moves and Life's generations. A
page and its numbers go to results/benchmarks/web.md and web.json.
"""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import random
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cellgames
from benchmarks.pages import listed, machine_head, parser_of, typed_command, write_page
from cellgames.utils.report.model import Table, markdown_table

GAMES = (
    *("torus-v0", "torus-small-v0", "hex-v0", "y-v0"),
    *("cloth-of-gold-v0", "cloth-of-gold-small-v0", "cloth-of-gold-wild-v0"),
    *("grid-adaptation-v0", "grid-adaptation-small-v0", "toroidal-cup-v0", "toroidal-cup-small-v0"),
)
GOAL_S = 0.2
OUT = Path("results/benchmarks")

_END_TURN = 0.25  # chance to end a turn of Cloth of Gold, where it is legal


@contextmanager
def serving(results: Path) -> Iterator[int]:
    """Yield the port of a server on a thread, stopped at the end."""
    import uvicorn

    from cellgames.web.routes.server import create_app

    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # told so, asyncio sends small answers at once
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(create_app(results), log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.01)
        try:
            yield int(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(10)


class Page:
    """A client that asks as the page does, and counts bytes."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.received = 0

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer's JSON, unpacked and read, as a browser would have it before it draws."""
        headers = {"accept-encoding": "gzip"} | ({"content-type": "application/json"} if body is not None else {})
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        data = answer.read()
        self.received = len(data)
        if answer.getheader("content-encoding") == "gzip":
            data = gzip.decompress(data)
        found = json.loads(data)
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {found.get('error')}")
        return dict(found)


def _choice(view: dict[str, Any], nvec: Sequence[int], draw: random.Random) -> list[int]:
    """Return a legal action, uniform by component; turns of Cloth of Gold end after a few units."""
    flags = "".join(f"{byte:08b}" for byte in base64.b64decode(view["legal"]))
    end = view["controls"].get("end")
    if end is not None and flags[end] == "1" and draw.random() < _END_TURN:
        return [end]
    starts = [sum(nvec[:component]) for component in range(len(nvec))]
    return [
        draw.choice([choice for choice in range(count) if flags[start + choice] == "1"])
        for start, count in zip(starts, nvec, strict=True)
    ]


def _awaited(page: Page, path: str, view: dict[str, Any]) -> dict[str, Any]:
    """Return the view when agents have moved."""
    while view["thinking"]:
        query = f"?epoch={view['epoch']}&since={view['turn']}&wait=true"
        view = page.ask("GET", path + query)["view"]
    return view


def measure(port: int, id: str, games: int, moves: int, seed: int) -> list[tuple[float, float, int]]:
    """Return the seconds to the answer and to the last picture, and the answer's bytes, of every move.

    The person plays in one seat after the other, after a game that does not count, `moves` at most in each.
    """
    draw, page, found = random.Random(f"{id} {seed}"), Page(port), []
    players = cellgames.make(id).info.players
    for number in range(games + 1):
        wish = {"game": id, "seat": players[number % len(players)], "agents": ["random"], "seed": seed + number}
        made = page.ask("POST", "/api/play", wish)
        path = f"/api/play/{made['view']['id']}"
        view, nvec = _awaited(page, path, made["view"]), made["about"]["nvec"]
        for _ in range(moves):
            if view["done"]:
                break
            known = {"turn": view["turn"], "epoch": view["epoch"], "since": view["turn"]}
            action = _choice(view, nvec, draw)
            began = time.perf_counter()
            view = page.ask("POST", f"{path}/move", {"action": action, **known})["view"]
            answered, size = time.perf_counter() - began, page.received
            view = _awaited(page, path, view)
            if number:
                found.append((answered, time.perf_counter() - began, size))
    return found


def _spread(times: Sequence[float], name: str) -> dict[str, float]:
    """Return the median, the 95th percentile and the longest of some times, named by a word before."""
    last = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return {f"{name}_median": statistics.median(times), f"{name}_p95": last, f"{name}_max": max(times)}


TEXT = (
    "From sending a person's move over a kept connection on the same machine, server and client in one process, the "
    "person in one seat after the other: to the answer, with the move played and drawn; and until all that follows "
    "from it can be drawn, too: moves of `random` in the other seats, Life's generations, an animation. An answer "
    "waits up to 100 ms for agents and for Life, and what takes longer is asked for again; the goal for the answer is "
    f"{1000 * GOAL_S:.0f} ms. kB are those of the answer, compressed, median."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return the exit code."""
    parser = parser_of("benchmarks.arena.page_speed", __doc__, OUT, seed=True)
    parser.add_argument("--only", nargs="+", metavar="GAME", choices=GAMES, default=GAMES, help="some of the games")
    parser.add_argument("--games", type=int, default=4, metavar="N", help="of each kind (default 4)")
    parser.add_argument("--moves", type=int, default=60, metavar="N", help="of a game, at most (default 60)")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if options.games < 1 or options.moves < 2:
        parser.error("--games must be 1 or more, and --moves 2 or more")
    rows = []
    with serving(options.out) as port:
        for id in options.only:
            answers, whole, sizes = zip(*measure(port, id, options.games, options.moves, options.seed), strict=True)
            times = _spread(answers, "answer") | _spread(whole, "whole")
            rows.append({"game": id, "moves": len(answers), **times, "kB": round(statistics.median(sizes) / 1000)})
            print(f"{id}: done", file=sys.stderr)
    columns = (
        *("game", "moves", "answer, median ms", "95 %", "longest"),
        *("with all pictures, median ms", "95 %", "longest", "kB"),
    )
    lines = [[f"{1000 * cell:.0f}" if isinstance(cell, float) else str(cell) for cell in row.values()] for row in rows]
    table = Table("", columns, lines, text=("game",))
    head = machine_head(typed_command("benchmarks.arena.page_speed", given), "torch", "fastapi")
    numbers = {**head, "goal_s": GOAL_S, "rows": rows}
    write_page(options.out / "web.md", "The page: how long a move takes", (listed(head), TEXT, table), numbers)
    print(markdown_table(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
