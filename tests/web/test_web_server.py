"""The server of the page, without a browser: what it answers, and what it refuses."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Command
from refusals import refused
from starlette.testclient import TestClient
from web_records import SMALLEST, recorded, registered_toy
from web_server import served

import cellgames
from cellgames.agents import read_about
from cellgames.agents.loading import identity
from cellgames.agents.networks.agent_files import WEIGHTS
from cellgames.arena import Store, replay
from cellgames.arena.records.record_lines import Record, append
from cellgames.envs.registry import REGISTRY, GameSpec, plugins
from cellgames.envs.toroidal_cup.dealing import PLACEABLE
from cellgames.utils.errors import shown
from cellgames.web.catalog import check_parameters, load_agent, offered
from cellgames.web.record_library import Library
from cellgames.web.routes import middleware
from cellgames.web.routes.app_state import AppState
from cellgames.web.routes.server import STATIC, create_app

httpx = pytest.importorskip("httpx", reason="needs httpx: pip install httpx")

PAGES = {plugin.id: plugin.page for plugin in plugins() if plugin.page is not None}

GAMES = ("torus-v0", "hex-v0", "y-v0", "cloth-of-gold-v0", "grid-adaptation-v0", "toroidal-cup-v0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`results` with a run of two games and a line that is none, a secret beside it, and links that lead out."""
    base = tmp_path_factory.mktemp("server")
    run = base / "results" / "run"
    run.mkdir(parents=True)
    record = recorded("torus-small-v0", size=2)
    append(run / "games.jsonl", [record, record])
    with (run / "games.jsonl").open("a") as file:
        file.write('{"game": "torus-v0"}\n')
    append(base / "secret.jsonl", [record])
    (base / "secret.txt").write_text("secret")
    with contextlib.suppress(OSError):  # a system without links
        (run / "link.jsonl").symlink_to(base / "secret.jsonl")
        (run / "up").symlink_to(base, target_is_directory=True)
    return base


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Any]:
    with (
        served(folder / "results", folder / "store.sqlite") as address,
        httpx.Client(base_url=address, timeout=30) as opened,
    ):
        yield opened


def unpacked(text: str, nvec: list[int]) -> list[list[int]]:
    """The legal choices of each component."""
    flags = "".join(f"{byte:08b}" for byte in base64.b64decode(text))
    parts, start = [], 0
    for count in nvec:
        parts.append([choice for choice in range(count) if flags[start + choice] == "1"])
        start += count
    return parts


def finish(client: Any, made: dict[str, Any], choose: Callable[[list[int]], int]) -> dict[str, Any]:
    """Play to the end; every event is told once, and the last view is given."""
    view, nvec = made["view"], made["about"]["nvec"]
    path, seen = f"/api/play/{view['id']}", len(made["about"]["moves"])
    if not made["about"]["people"]:
        assert client.post(f"{path}/go", json={"until": 1000}).status_code == 200
    for _ in range(300):
        seen += len(view["events"])
        assert seen == view["turn"] or view["thinking"] or not made["about"]["people"]
        if view["done"]:
            return dict(view)
        query = {"epoch": view["epoch"], "since": seen}
        if view["yours"]:
            action = [choose(part) for part in unpacked(view["legal"], nvec)]
            answer = client.post(f"{path}/move", json={"action": action, "turn": view["turn"], **query})
        else:
            answer = client.get(path, params={**query, "wait": True})
        assert answer.status_code == 200, answer.text
        view = answer.json()["view"]
    raise AssertionError("the game goes on")


@pytest.mark.parametrize("id", SMALLEST)
def test_a_whole_game_is_played_and_its_record_replays(client: Any, id: str) -> None:
    player = cellgames.make(id).info.players[1]
    made = client.post("/api/play", json={"game": id, "parameters": SMALLEST[id], "seat": player, "seed": 7})
    assert made.status_code == 201, made.text
    picks = iter(range(10_000))
    view = finish(client, made.json(), lambda legal: legal[next(picks) * 7 % len(legal)])
    path = f"/api/play/{view['id']}"
    record = Record.from_json(client.get(f"{path}/record.jsonl").content)
    assert record.agents[1] == "human"
    assert record.seed == 7
    assert list(record.result.outcome) == view["result"]["outcome"]
    assert bool(replay(record)[-1].done)
    shown = client.get(f"{path}/replay")
    assert shown.status_code == 200
    assert shown.json()["layout"]["id"] == record.game
    page = client.get(f"{path}/html")
    assert page.status_code == 200
    assert "attachment" in page.headers["content-disposition"]


def test_moves_are_taken_back_and_bad_or_late_ones_refused_with_the_reason(client: Any) -> None:
    made = client.post("/api/play", json={"game": "torus-small-v0", "seat": "black"}).json()
    path = f"/api/play/{made['view']['id']}"

    def refused(place: str, body: dict[str, Any], status: int = 409) -> str:
        answer = client.post(f"{path}/{place}", json=body)
        assert answer.status_code == status, answer.text
        return str(answer.json()["error"])

    assert "no move of yours" in refused("undo", {"turn": 0})
    for number, cell in enumerate((3, None)):
        view = client.get(path).json()["view"]
        first = unpacked(view["legal"], made["about"]["nvec"])[0][0]
        asked = {"action": [first if cell is None else cell], "turn": 2 * number}
        assert client.post(f"{path}/move", json=asked).status_code == 200
        while client.get(path, params={"wait": True}).json()["view"]["thinking"]:
            pass
    assert refused("move", {"action": [3], "turn": 4}) == "cell d1 is taken"
    for action in ([50], [1, 2]):
        refused("move", {"action": action, "turn": 4})
    for bad in ([-1], [], ["4"], [1.5], [True], [1 << 80]):
        refused("move", {"action": bad, "turn": 4}, 422)
    turn, nothing = {"turn": 4}, dict[str, Any]()
    for request, body in (("move", {"action": [4]}), ("move", turn), ("undo", nothing), ("sit", turn), ("go", nothing)):
        refused(request, body, 422)
    assert "expected the move of turn 4" in refused("move", {"action": [4], "turn": 0})
    assert client.get(f"{path}/record.jsonl").status_code == 409
    seen = {"turn": 4, "epoch": 0}
    back = client.post(f"{path}/undo", json=seen).json()
    assert (back["view"]["turn"], back["view"]["epoch"], len(back["about"]["moves"])) == (2, 1, 2)
    assert refused("undo", seen) == "moves were taken back before an undo came; reload the game"
    assert "expected an undo of turn 2, got 4" in refused("undo", {"turn": 4})
    free = unpacked(client.get(path).json()["view"]["legal"], made["about"]["nvec"])[0]
    refused("move", {"action": [free[0]], "turn": 2, "epoch": 0})  # turn 2 of a line that was taken back
    assert client.get(path).json()["view"]["turn"] == 2
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_a_person_sees_what_its_seat_may_know_and_no_more(client: Any) -> None:
    wish = {"game": "grid-adaptation-small-v0", "seat": "player_2", "seed": 3}
    made = client.post("/api/play", json=wish).json()
    view, path = made["view"], f"/api/play/{made['view']['id']}"
    assert view["seed"] is None
    assert view["controls"]["sequence"] in {f"{number:03b}" for number in range(8)}
    legal = unpacked(view["legal"], made["about"]["nvec"])
    body = {"action": [part[min(place, len(part) - 1)] for place, part in enumerate(legal)], "turn": 0, "epoch": 0}
    view = client.post(f"{path}/move", json=body).json()["view"]
    while view["thinking"]:
        view = client.get(path, params={"epoch": 0, "since": 0, "wait": True}).json()["view"]
    (event,) = view["events"]
    assert " " not in event["move"], "the others' choices are theirs"
    for frame in [view["frame"], *event["frames"]]:
        for name in ("sequence", "points", "garnets"):
            values = frame["infos"].get(name)
            assert values is None or [seat for seat, value in enumerate(values) if value is not None] in ([], [2])
    assert client.post(f"{path}/undo", json={"turn": 1}).status_code == 409


def test_a_finished_game_is_added_to_the_store_once_and_not_if_moves_were_taken_back(client: Any, folder: Path) -> None:
    wish = {"game": "torus-small-v0", "parameters": {"size": 2}, "seat": "white", "seed": 1}
    view = finish(client, client.post("/api/play", json=wish).json(), lambda legal: legal[-1])
    path = f"/api/play/{view['id']}"
    assert client.post(f"{path}/store", json={}).json() == {"new": 1}
    assert client.post(f"{path}/store", json={}).json() == {"new": 0}
    with Store(folder / "store.sqlite", create=False) as store:
        assert [entry.record.agents for entry in store.entries()] == [("random", "human")]
    games = client.get("/api/store/games").json()
    assert games["total"] == client.get("/api/records").json()["store"] == 1
    number = games["games"][0]["number"]
    assert client.get("/api/store/replay", params={"number": number}).status_code == 200
    assert client.get("/api/store/replay", params={"number": number + 5}).status_code == 404
    (board,) = client.get("/api/leaderboard").json()["boards"]
    assert {line["agent"] for line in board["agents"]} == {"random", "human"}
    whole = client.post(f"{path}/undo", json={"turn": view["turn"]}).json()
    assert not whole["view"]["done"]
    assert finish(client, whole, lambda legal: legal[0])["undone"] == 1
    assert client.post(f"{path}/store", json={}).status_code == 409
    assert client.get("/api/records").json()["store"] == 1
    assert client.get(f"{path}/record.jsonl").status_code == 200


def test_a_browser_keeps_the_files_of_the_page_under_their_version(client: Any) -> None:
    page = client.get("/")
    assert page.headers["cache-control"] == "no-cache"
    addresses = re.findall(r'"(/static/[^"]+)"', page.text)
    assert len(addresses) > 20
    assert len({address.partition("?v=")[2] for address in addresses}) == 1
    for address in addresses:
        assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get(addresses[0].partition("?")[0]).headers["cache-control"] == "no-cache"


def test_the_visitor_of_a_game_is_where_its_request_comes_from(tmp_path: Path) -> None:
    app = create_app(tmp_path)
    wish = {"game": "torus-v0", "parameters": {"size": 3}, "agents": ["random"]}
    made = TestClient(app, "http://localhost", client=("192.0.2.7", 1)).post("/api/play", json=wish).json()
    assert app.state.sessions._kept[made["view"]["id"]].visitor == "192.0.2.7"


def test_games_and_agents_are_those_of_the_suite(client: Any) -> None:
    listed = client.get("/api/games").json()
    assert {game["id"] for game in listed} >= {*GAMES, *SMALLEST}
    assert {plugin.id for plugin in plugins() if plugin.page} == set(GAMES)
    for game in listed:
        made = cellgames.make(game["id"])
        assert game["credit"] == made.info.credit
        assert game["rules"]
        for setting in game["settings"]:
            value = getattr(made, setting["name"])
            assert value is None or setting["default"] == value
        assert check_parameters(game["id"], {one["name"]: one["default"] for one in game["settings"]}) == made
    choices = next(one.choices for one in PAGES["toroidal-cup-v0"].settings if one.name == "pattern")
    assert (choices[0], set(choices[1:])) == ("random", set(PLACEABLE))
    specs = {agent["name"] for agent in client.get("/api/agents", params={"game": "torus-small-v0"}).json()}
    assert {"random", "greedy", "rollout", "mcts", "gumbel", "trained", "perfect"} <= specs
    assert "perfect" not in {agent["name"] for agent in client.get("/api/agents", params={"game": "torus-v0"}).json()}
    tiny = {"game": "torus-v0", "parameters": '{"size": 2}'}
    assert "perfect" in {agent["name"] for agent in client.get("/api/agents", params=tiny).json()}


def test_games_of_other_packages_are_watched_and_hide_no_others(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = client.get("/api/games").json()
    toy = registered_toy(monkeypatch)
    gone = dataclasses.replace(REGISTRY["torus-v0"].plugin, id="gone-v0", game="no_such_module:Game")
    monkeypatch.setitem(REGISTRY, "gone-v0", GameSpec("gone-v0", gone, "Cannot be made"))
    torus = REGISTRY["torus-v0"].plugin
    monkeypatch.setitem(REGISTRY, "torus-tiny-v0", GameSpec("torus-tiny-v0", torus, "A preset", {"size": 2}))
    *listed, tiny = client.get("/api/games").json()
    assert listed == before
    assert (tiny["game"], tiny["preset"], tiny["settings"][0]["default"]) == ("torus-v0", True, 2)
    for id in (toy.id, "gone-v0"):
        for answer in (client.post("/api/play", json={"game": id}), client.get("/api/agents", params={"game": id})):
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert error == f"game: expected a game that the page has a board for, got {id}; its records can be watched"
    record = recorded(toy.id, **toy.parameters)
    assert client.post("/api/replay", json={"record": record.to_json()}).status_code == 200


LONG = "xy" * 500


@pytest.mark.parametrize(
    "wish",
    [
        {"game": "chess-v0"},
        {"game": "torus-v0", "parameters": {"size": 10**9}},
        *(
            {"game": "torus-v0", "agents": [name]}
            for name in (
                *("os:system", "arena_bots:First", "mcts:1000000", "gumbel:8:/etc/passwd", "perfect"),
                *("/etc/agent.safetensors", LONG[:500]),
            )
        ),
        {"game": LONG[:100]},
        {"game": "torus-v0", "seat": LONG[:100]},
        *({"game": "torus-v0", "parameters": asked} for asked in ({LONG: 1}, {"size": LONG}, {LONG: [1]})),
        {"game": "torus-v0", LONG: 1},
    ],
    ids=lambda wish: str(wish)[:60],
)
def test_bad_wishes_are_refused_in_few_words(client: Any, wish: dict[str, Any]) -> None:
    answer = client.post("/api/play", json=wish)
    assert answer.status_code in (400, 422), answer.text
    assert 10 < len(answer.json()["error"]) <= 1000
    assert "Traceback" not in answer.text
    assert answer.text.count("xy") <= 40, "a visitor's own text is repeated in part only"


def test_weights_below_the_results_folder_can_play_and_no_others(tmp_path: Path) -> None:
    source = next(iter(sorted(WEIGHTS.glob("*.safetensors"))))
    about = read_about(source)
    game = cellgames.make(about["game"], **about["parameters"])
    results = tmp_path / "results" / "train"
    results.mkdir(parents=True)
    for place in (results, tmp_path):
        (place / "agent.safetensors").write_bytes(source.read_bytes())
    with contextlib.suppress(OSError):
        (results / "out.safetensors").symlink_to(tmp_path / "agent.safetensors")
    weights = AppState(Library(tmp_path / "results"), None).agents()
    (name,) = weights
    assert name.endswith("train/agent.safetensors")
    assert name in {one["name"] for one in offered(game, weights)}
    assert load_agent(name, game, weights).name == name
    other = cellgames.make("cloth-of-gold-v0" if game.id != "cloth-of-gold-v0" else "torus-v0")
    assert name not in {one["name"] for one in offered(other, weights)}
    with refused("agent", shown(str(tmp_path / "agent.safetensors"))):
        load_agent(str(tmp_path / "agent.safetensors"), game, weights)


def test_agents_that_the_owner_lists_play_under_their_names(tmp_path: Path) -> None:
    store = tmp_path / "games.sqlite"
    wish = {"game": "torus-small-v0", "parameters": {"size": 2}, "agents": ["me", "easy"]}
    specs = {"me": "arena_bots:First", "easy": "random"}
    with served(tmp_path, store, agents=specs) as address, httpx.Client(base_url=address, timeout=30) as page:
        asked = {"game": "torus-small-v0", "parameters": '{"size": 2}'}
        assert {"me", "easy"} <= {one["name"] for one in page.get("/api/agents", params=asked).json()}
        view = finish(page, page.post("/api/play", json=wish).json(), lambda legal: legal[0])
        assert page.post(f"/api/play/{view['id']}/store", json={}).json() == {"new": 1}
        for other in ("arena_bots:First", "you", "easy=random"):
            assert page.post("/api/play", json=wish | {"agents": [other, "easy"]}).status_code == 400
    with Store(store, create=False) as kept:
        assert kept.settings()[0].agents == tuple(sorted((name, identity(spec)) for name, spec in specs.items()))


def test_records_are_listed_and_shown(client: Any) -> None:
    listed = client.get("/api/records").json()
    assert [file["file"] for file in listed["files"]] == ["run/games.jsonl"], "nothing by links"
    page = client.get("/api/records/games", params={"file": "run/games.jsonl", "first": 2, "count": 5}).json()
    assert page["total"] == 3
    assert [game["number"] for game in page["games"]] == [2, 3]
    assert page["games"][0]["agents"] == ["random", "random"]
    assert "fields: expected" in page["games"][1]["error"]
    shown = client.get("/api/records/replay", params={"file": "run/games.jsonl", "number": 1})
    assert shown.status_code == 200
    assert shown.json()["frames"]["count"] > 1
    assert client.get("/api/records/replay", params={"file": "run/games.jsonl", "number": 3}).status_code == 400
    assert client.get("/api/records/replay", params={"file": "run/games.jsonl", "number": 4}).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.jsonl", "run/../../secret.jsonl", "/etc/passwd", "run/link.jsonl", "run/up/secret.jsonl"),
        *("run/games.jsonl\0", "..\\secret.jsonl", "C:\\secret.jsonl", "run/games.jsonl/"),
        *("run", ".", "", "none.jsonl"),
        "x" * 1001,
    ],
)
def test_paths_stay_below_the_results_folder(client: Any, folder: Path, name: str) -> None:
    for path in ("/api/records/games", "/api/records/replay", "/api/records/html"):
        query = {"file": name.replace("/etc/passwd", str(folder / "secret.jsonl")), "number": 1}
        answer = client.get(path, params=query)
        assert answer.status_code in (400, 404, 422), (path, answer.text[:200])
        assert "secret\n" not in answer.text
        assert answer.text.count("x") < 200


def test_only_the_page_itself_changes_anything(client: Any) -> None:
    wish = {"game": "torus-small-v0", "parameters": {"size": 2}, "seat": "black"}
    own = str(client.base_url).rstrip("/")
    assert client.post("/api/play", json=wish, headers={"origin": own}).status_code == 201
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": own.replace("127.0.0.1", "localhost")},
        {"origin": own.rsplit(":", 1)[0] + ":1"},
        {"sec-fetch-site": "cross-site"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
    ):
        refused = client.post(
            "/api/play", content=json.dumps(wish), headers={"content-type": "application/json"} | headers
        )
        assert refused.status_code in (403, 415), headers
    answer = client.options(
        "/api/play", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}
    )
    assert "access-control-allow-origin" not in answer.headers
    assert client.delete("/api/play/x", headers={"origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "[", "evil.example:8000", "user@127.0.0.1.x"]
)
def test_other_hosts_are_refused(client: Any, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code in (400, 421)


def test_large_bodies_are_refused_whether_they_say_so_or_not(client: Any) -> None:
    big = b'{"record": "' + b"x" * 4_100_000 + b'"}'
    headers = {"content-type": "application/json"}
    assert client.post("/api/replay", content=big, headers=headers).status_code == 413
    chunks = (big[at : at + 65536] for at in range(0, len(big), 65536))
    with contextlib.suppress(httpx.WriteError):  # where the server has hung up before all was sent
        assert client.post("/api/replay", content=chunks, headers=headers).status_code == 413
    assert client.get("/api/games").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
        b"POST /api/replay HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_connections_with_unfinished_requests_are_closed(
    sent: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "_REQUEST_S", 0.2)
    with served(tmp_path) as address:
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        with socket.create_connection(place, timeout=30) as connection:
            connection.sendall(sent)
            assert connection.recv(1000) == b""  # raises a TimeoutError if it is kept
        with httpx.Client(base_url=address) as client:  # two requests on one connection, with a pause
            assert client.get("/api/games").status_code == 200
            time.sleep(0.4)
            assert client.get("/api/games").status_code == 200


def test_answers_carry_headers_that_keep_foreign_scripts_out(client: Any) -> None:
    for path in ("/", "/static/app.js", "/api/games", "/nothing", "/api/play/x"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"].startswith("default-src 'self';"), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_the_page_is_small_readable_and_needs_nothing_from_elsewhere() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in STATIC.rglob("*") if path.is_file()}
    assert sum(len(text.encode()) for text in files.values()) < 400_000
    lines = {path.name: text.splitlines() for path, text in files.items() if path.suffix != ".svg"}
    assert sum(map(len, lines.values())) <= 7_000
    assert not {name for name, found in lines.items() if max(map(len, found)) > 140}
    parts = ("page_", "game_", "analysis")
    assert not {name for name, found in lines.items() if name.startswith(parts) and len(found) > 300}
    for path, text in files.items():
        text = text.replace("http://www.w3.org/", "")
        for word in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "@import"):
            assert word not in text, (path.name, word)
        assert not re.findall(r"https?://", text), path.name
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r"<style| style=| onclick=", page)
    assert all((STATIC / name).is_file() for name in re.findall(r'"/static/([^"]+)"', page))


def test_the_command_says_where_it_is(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals of the command are in `test_refused_commands`."""
    import uvicorn

    def stopped(self: Any, sockets: Any = None) -> None:
        assert sockets[0].getsockname()[1] > 0
        raise KeyboardInterrupt

    words = ["serve", "--results", str(tmp_path), "--store", str(tmp_path / "s.sqlite"), "--port"]
    monkeypatch.setattr(uvicorn.Server, "run", stopped)
    out, err = command.both([*words, "0"])
    assert "http://127.0.0.1:" in out
    assert "Stopped." in out
    assert not err
    assert "no passwords" in command.both([*words, "0", "--host", "0.0.0.0"])[1]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "another server" in command.refused([*words, taken.getsockname()[1]])


def test_an_address_that_is_not_local_takes_any_name(tmp_path: Path) -> None:
    with served(tmp_path, hosts=None) as address:
        assert httpx.get(address, headers={"host": "my.machine:80"}).status_code == 200


if sys.platform != "win32":

    @pytest.mark.slow
    def test_ctrl_c_ends_the_command_although_an_agent_thinks(tmp_path: Path) -> None:
        words = ["serve", "--port", "0", "--results", str(tmp_path), "--store", str(tmp_path / "s.sqlite")]
        command = [sys.executable, "-m", "cellgames", *words]
        process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "Ctrl-C" in line, line
            wish = {"game": "torus-v0", "parameters": {"size": 16}, "seat": "white", "agents": ["mcts:5000"]}
            with httpx.Client(base_url=line.split()[3], timeout=30) as opened:
                assert opened.post("/api/play", json=wish).json()["view"]["thinking"]
                process.send_signal(signal.SIGINT)
                began = time.monotonic()
                out, err = process.communicate(timeout=100)
        finally:
            process.kill()
        assert (process.returncode, out.strip(), err) == (0, "Stopped.", "")
        assert time.monotonic() - began < 60

    def test_a_file_that_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.jsonl")
        library = Library(tmp_path)
        assert library.files() == []
        with pytest.raises(LookupError):
            library.page("pipe.jsonl", 1, 1)
