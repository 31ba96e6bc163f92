"""The worth of moves on the page: what the server answers, and what a browser paints and lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import page
from refusals import refused
from web_records import recorded

from cellgames.arena.records.record_lines import append
from cellgames.arena.records.store import Store
from cellgames.lab import explain
from cellgames.lab.interventions import worth_layer
from cellgames.lab.interventions.worth_layer import explained

httpx = pytest.importorskip("httpx", reason="needs httpx: pip install cellgames[dev]")
RECORDS = {id: recorded(id) for id in ("torus-v0", "grid-adaptation-v0", "toroidal-cup-v0")}


@pytest.fixture(scope="module", autouse=True)
def _games(results: Path) -> None:
    append(results / "games.jsonl", RECORDS.values())
    with Store(results.parent / "store.sqlite") as store:
        store.add(list(RECORDS.values()), source=("round robin", "run"))


@pytest.mark.slow
@pytest.mark.parametrize("id", RECORDS)
def test_layers_hold_the_largest_effects(id: str) -> None:
    layer = explained(RECORDS[id])
    found = explain(RECORDS[id])
    assert layer["measure"] == found.measure
    first = layer["layers"][0]
    assert first["effects"][0]["worth"] == pytest.approx(max((e.worth for e in found.of_kind(found.kinds[0])), key=abs))
    assert all(0 <= first <= last <= len(RECORDS[id].moves) for _, _, _, first, last in first["cells"])
    assert first["most"] == pytest.approx(max((abs(worth) for _, worth, *_ in first["cells"]), default=0), 1e-5)


def test_the_server_refuses_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    record = RECORDS["toroidal-cup-v0"]
    work = 24 * 48 * 60
    monkeypatch.setattr(worth_layer, "MOST_WORK", (work * 200, work * 200))
    assert [layer["name"] for layer in explained(record)["layers"]] == ["placement", "cell"], "not the empty cells"
    monkeypatch.setattr(worth_layer, "MOST_WORK", (work, work))
    with refused("record"):
        explained(record)


def test_files_the_store_and_visitors_get_the_same(site: str) -> None:
    with httpx.Client(base_url=site, timeout=30) as client:
        line = RECORDS["torus-v0"].to_json()
        number = list(RECORDS).index("torus-v0") + 1
        answers = [
            client.get("/api/records/worth", params={"file": "games.jsonl", "number": number}),
            client.post("/api/worth", json={"record": line}),
        ]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        assert client.get("/api/store/worth", params={"number": 1}).status_code == 200
        assert client.get("/api/records/worth", params={"file": "games.jsonl", "number": 99}).status_code == 404
        assert client.post("/api/worth", json={"record": "{}"}).status_code == 400


def test_a_browser_asks_for_the_worth_and_paints_it(site: str, chromium: Any) -> None:
    with page(chromium) as (p, complaints):
        number = list(RECORDS).index("toroidal-cup-v0") + 1
        p.goto(f"{site}/#/watch?file=games.jsonl&number={number}")
        p.get_by_role("button", name="What decided the game?").click()
        p.wait_for_selector(".cg-effects li")
        assert p.locator(".cg-effects li").count() == 6
        painted = "document.querySelector('.cg-canvas').toDataURL()"
        p.wait_for_function("document.querySelector('.cg-viewer').dataset.frame !== '0'")
        before = p.evaluate(painted)
        p.get_by_label("What to value").select_option("-1")
        p.wait_for_function(f"(before) => {painted} !== before", arg=before)
        assert not complaints
