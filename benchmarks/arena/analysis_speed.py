"""Seconds that the analysis board waits: `python -m benchmarks.arena.analysis_speed`.

A server as `cellgames serve` starts it is asked as the board asks it, while the agents of another game think all the
time. From sending a request to the answer: for a move that a person tries, and for each analysis of the position after
it, the first of which is to come within 200 ms. Each position is a new one, so nothing is kept of it. A page and its
numbers go to results/benchmarks/analysis.md and analysis.json.
"""

from __future__ import annotations

import argparse
import http.client
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arena.page_speed import GOAL_S, OUT, Page, legal_actions, serving, spread, write
from benchmarks.commands import typed_command

__all__ = ["GAMES", "main", "measure"]

GAMES = (
    *("torus-v0", "torus-small-v0", "hex-v0", "y-v0"),
    *("cloth-of-gold-v0", "cloth-of-gold-small-v0", "cloth-of-gold-wild-v0", "cloth-of-gold-wild-small-v0"),
)

_THINKING = {"game": "torus-v0", "seat": None, "agents": ["mcts:5000"]}  # the game beside it


def measure(port: int, id: str, positions: int, seed: int) -> dict[str, list[float]]:
    """Return the seconds of requests: `move`, and for each number of simulations, by its name.

    Args:
        port: of the server.
        id: of the game.
        positions: how many are analysed, after one that does not count.
        seed: of all chance.
    """
    draw, page = random.Random(f"{id} {seed}"), Page(port)
    found: dict[str, list[float]] = {}
    thinking = Page(port).ask("POST", "/api/play", _THINKING)["view"]["id"]

    def timed(name: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        nonlocal thinking
        if Page(port).ask("GET", f"/api/play/{thinking}")["view"]["done"]:
            thinking = Page(port).ask("POST", "/api/play", _THINKING)["view"]["id"]
        began = time.perf_counter()
        answer = page.ask("POST", path, body)
        found.setdefault(name, []).append(time.perf_counter() - began)
        return answer

    data = page.ask("POST", "/api/analysis/positions", {"game": id})
    engine, place = data["engines"][0], data["places"][0]
    for number in range(positions + 1):
        if number == 1:
            found.clear()
        if place["player"] is None:
            place = data["places"][0]
        body = {"game": id, "position": place["position"]}
        action = draw.choice(legal_actions(place, data["nvec"])[0])
        place = timed("move", "/api/analysis/positions", {**body, "action": action})["places"][1]
        if place["player"] is None:
            continue
        for simulations in engine["efforts"]:
            search = {"engine": engine["name"], "simulations": simulations}
            name = f"{engine['name']}:{simulations}"
            timed(name, "/api/analysis", {"game": id, "position": place["position"], **search})
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("DELETE", f"/api/play/{thinking}")
    connection.getresponse().read()
    time.sleep(1)  # its agents end their move
    return found


TEXT = (
    "From sending a request over a kept connection on the same machine, server and client in one process, to the "
    "answer, while `mcts:5000` plays both seats of Torus beside it: a move that a person tries (`move`), then the "
    "analyses of the position after it, one after the other, as the board asks for them. The first one is without "
    f"further lines; the goal for it is {1000 * GOAL_S:.0f} ms. In games of Life it has no simulation (`:0`): it is "
    "what the search knows before, the network's values of the turns that it would try, or, without a network, which "
    "of them a round of Life ranks first. Each position is new."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return the exit code."""
    about = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.analysis_speed", description=about)
    parser.add_argument("--only", nargs="+", metavar="GAME", choices=GAMES, default=GAMES, help="some of the games")
    parser.add_argument("--positions", type=int, default=20, metavar="N", help="of each game (default 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if options.positions < 2:
        parser.error("--positions must be 2 or more")
    rows = []
    with serving(options.out) as port:
        for id in options.only:
            for name, times in measure(port, id, options.positions, options.seed).items():
                rows.append({"game": id, "request": name, "requests": len(times), **spread(times)})
            print(f"{id}: done", file=sys.stderr)
    title, columns = (
        "The analysis board: seconds to an answer",
        ("game", "request", "requests", "median ms", "95 %", "longest"),
    )
    command = typed_command("benchmarks.arena.analysis_speed", given)
    print(write(options.out / "analysis.md", title, command, TEXT, columns, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
