"""Requests that Schemathesis draws from the server's OpenAPI schema, and worse ones: answered or refused, never 500."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fuzzing import Inputs, fuzz
from hypothesis import strategies as st
from mutations import Edit, applied, changed, changes, edits, hostile_json, large
from web_records import recorded
from web_server import served

from cellgames.arena.records.record_lines import append
from cellgames.arena.records.store import Store
from cellgames.web.routes.server import create_app

httpx = pytest.importorskip("httpx", reason="needs httpx: pip install httpx")
pytestmark = pytest.mark.skipif(
    find_spec("schemathesis") is None, reason="needs Schemathesis: pip install schemathesis"
)

RECORD = recorded("torus-small-v0", size=2).to_json()
WISH = {"game": "torus-small-v0", "parameters": {"size": 3}, "seat": "black", "seed": 5}


@cache
def operations() -> dict[str, Any]:
    """Return the operations of the server by method and path, by Schemathesis, whose import takes seconds."""
    schema = import_module("schemathesis").openapi.from_dict(create_app().openapi())
    return {f"{found.ok().method} {found.ok().path}": found.ok() for found in schema.get_all_operations()}


@dataclasses.dataclass
class Site:
    """A client of a server with some records and a store, and the id of a game in progress."""

    client: Any
    game: str

    def new_game(self) -> str:
        """Return the id of a game in progress; the last one may have been forgotten."""
        if self.client.get(f"/api/play/{self.game}").status_code != 200:
            made = self.client.post("/api/play", json=WISH)
            assert made.status_code == 201, made.text
            self.game = made.json()["view"]["id"]
        return self.game


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The server, on loopback."""
    folder = tmp_path_factory.mktemp("site")
    results = folder / "results"
    (results / "run").mkdir(parents=True)
    record = recorded("torus-small-v0", size=2)
    append(results / "run" / "games.jsonl", [record, record])
    with Store(folder / "store.sqlite") as store:
        store.add([record], source=("file", "run"))
    with served(results, folder / "store.sqlite") as address, httpx.Client(base_url=address, timeout=30) as client:
        yield Site(client, "none")


def check_answer(answer: Any, about: object) -> None:
    """An answer is well formed, and an error is a short sentence of JSON."""
    status = answer.status_code
    assert status < 500, f"{status} to {about!r:.2000}: {answer.text[:1000]}"
    assert "content-security-policy" in answer.headers
    if status >= 400:
        assert answer.text, f"{status} without a word to {about!r:.2000}"
        assert answer.headers["content-type"] == "application/json"
        told = answer.json()
        assert list(told) == ["error"]
        assert isinstance(told["error"], str)
        assert 0 < len(told["error"]) <= 1000
        assert told["error"].isprintable(), told
    elif answer.text and "json" in answer.headers.get("content-type", ""):
        json.loads(answer.text, parse_constant=pytest.fail)  # NaN is no JSON


# What makes a random request one that means something: shares of the inputs get these instead.
SENSIBLE: dict[str, list[Any]] = {
    "game": ["torus-small-v0", "cloth-of-gold-small-v0", "grid-adaptation-small-v0", "toroidal-cup-small-v0", "chess"],
    "file": ["run/games.jsonl", "run", "../store.sqlite", "run/../run/games.jsonl", "/etc/passwd", "run/games.jsonl\0"],
    "number": [1, 2, 3, 10**6],
    "agents": [["random"], ["greedy"], ["rollout:2"], ["random", "random"], ["/etc/passwd"], ["os:system"]],
    "seat": ["black", "white", None, "player_0", "west"],
    "parameters": [{}, {"size": 2}, {"size": 17}, {"size": "2"}, {"rounds": 1}, {"size": 2**70}],
    "action": [[0], [1], [2**31 - 1], [0] * 7],
    "wait": [False],
    "engine": ["mcts", "gumbel", "command:ls"],
    "simulations": [500, 32, 2**31 - 1],
    "position": ["", "x../.../... .../.o./... b", "move:a turn:0 round:0 acts:0 score:+0 placed:- board:!", "\0"],
    "moves": [[], ["a1"], ["a1", "a1"], ["r1c1", "end"], [""]],
}


@fuzz(
    Inputs(short=25, share=5),
    operation=st.deferred(lambda: st.sampled_from(list(operations()))),
    mode=st.integers(0, 1),
    sensible=st.lists(st.tuples(st.sampled_from(list(SENSIBLE)), st.integers(0, 5)), max_size=4),
    record=st.none() | changes(),
    data=st.data(),
)
def test_requests_by_the_schema(
    site: Site, operation: str, mode: int, sensible: list[tuple[str, int]], record: Any, data: Any
) -> None:
    modes = list(import_module("schemathesis").GenerationMode)
    case = data.draw(operations()[operation].as_strategy(generation_mode=modes[mode]))
    for name, number in sensible:
        value = SENSIBLE[name][number % len(SENSIBLE[name])]
        if isinstance(case.body, dict) and name in case.body:
            case.body[name] = value
        elif isinstance(case.query, dict) and name in case.query:
            case.query[name] = value
    if isinstance(case.body, dict) and "record" in case.body and record is not None:
        case.body["record"] = json.dumps(line := changed(json.loads(RECORD), record))
        if large(line, "parameters", 16):
            return
    if isinstance(case.query, dict) and case.query.get("wait") not in (None, False, "false"):
        case.query["wait"] = False  # it would wait, as it should
    if isinstance(case.path_parameters, dict) and "id" in case.path_parameters and (sensible or record):
        case.path_parameters["id"] = site.new_game()
    asked = case.as_transport_kwargs(base_url=str(site.client.base_url))
    asked = {name: asked.get(name) for name in ("method", "url", "headers", "params", "cookies", "json", "data")}
    body = asked.pop("data")
    headers = {name: str(value) for name, value in (asked["headers"] or {}).items()}
    try:
        request = site.client.build_request(
            **{**asked, "headers": headers}, content=body if isinstance(body, str | bytes) else None
        )
    except (httpx.InvalidURL, TypeError, ValueError, UnicodeError):
        return  # no client can send it
    try:
        answer = site.client.send(request)
    except (httpx.LocalProtocolError, UnicodeError):
        return
    check_answer(answer, asked)


@fuzz(
    Inputs(short=12, share=2),
    path=st.sampled_from(["move", "trial", "undo", "store"]),
    body=st.one_of(hostile_json(), changes().map(lambda made: changed({"action": [0], "turn": 0, "epoch": 0}, made))),
)
def test_refused_moves_change_nothing(site: Site, path: str, body: Any) -> None:
    game = site.new_game()
    before = site.client.get(f"/api/play/{game}").json()
    content = json.dumps(body).encode()
    answer = site.client.post(f"/api/play/{game}/{path}", content=content, headers={"content-type": "application/json"})
    check_answer(answer, body)
    if answer.status_code >= 400:
        assert site.client.get(f"/api/play/{game}").json() == before
    else:
        site.client.delete(f"/api/play/{game}")


@fuzz(
    Inputs(short=12, share=2),
    target=st.sampled_from(
        [
            "POST /api/play",
            "POST /api/replay",
            "POST /api/html",
            "POST /api/analysis/positions",
            "GET /api/agents?game=",
            "GET /api/records/games?file=",
        ]
    ),
    made=edits(),
)
def test_bytes_of_requests(site: Site, target: str, made: tuple[Edit, ...]) -> None:
    method, _, path = target.partition(" ")
    bodies = {"/api/play": json.dumps(WISH).encode(), "/api/html": json.dumps({"record": RECORD}).encode()}
    bodies["/api/replay"] = bodies["/api/html"]
    bodies["/api/analysis/positions"] = json.dumps({"game": "torus-v0", "moves": ["a1"], "put": [[1, 1]]}).encode()
    content = applied(bodies.get(path, b"run%2Fgames.jsonl"), made)
    if method == "GET":
        quoted = "".join(f"%{byte:02x}" for byte in content[:500])
        answer = site.client.get(path + quoted)
    else:
        answer = site.client.post(path, content=content, headers={"content-type": "application/json"})
    check_answer(answer, content)


def test_the_schema_names_every_route() -> None:
    assert {operation.split()[1] for operation in operations()} == set(create_app(Path()).openapi()["paths"])
    assert len(operations()) > 15
