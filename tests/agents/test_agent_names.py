"""Names that users give to agents: the grammar, and where the names are used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from arena_bots import First, Last
from refusals import fails, refused

import cellgames
from cellgames.agents import load
from cellgames.agents.agent_specs import MOST_NAME, by_name, matched, split_name
from cellgames.agents.loading import digest, identities, identity
from cellgames.arena import RoundRobinOptions, Store, round_robin
from cellgames.envs.registry import REGISTRY
from cellgames.runs.run_folder import RunError

GAME = cellgames.make("torus-v0", size=2)
PAIR = RoundRobinOptions(games=4, gif=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "name", "spec"),
    [
        ("me=greedy", "me", "greedy"),
        ("me=rollout:64", "me", "rollout:64"),
        ("me=results/train/a", "me", "results/train/a"),
        ("me=results/seed=0/agent.safetensors", "me", "results/seed=0/agent.safetensors"),
        ("me=my_bots:Bot:a=1", "me", "my_bots:Bot:a=1"),
        ("v2.1-b_c+d=random", "v2.1-b_c+d", "random"),
        ("été7=random", "été7", "random"),
        (f"{'n' * MOST_NAME}=random", "n" * MOST_NAME, "random"),
        ("here=is.zip:sample", "here", "is.zip:sample"),
    ],
)
def test_texts_with_a_name(text: str, name: str, spec: str) -> None:
    assert split_name(text) == (name, spec)


@pytest.mark.parametrize(
    "text",
    [
        *REGISTRY,
        "greedy",
        "rollout:64",
        "greedy:depth=2",
        "my_bots:Bot:a=1",
        "results/seed=0",
        "./seed=0",
        "..\\seed=0",
        "C:\\runs\\a=1.safetensors",
        "/a=b/agent.safetensors",
        "gumbel:8:a=b.safetensors",
        "results/a=b.zip:sample",
        "",
    ],
)
def test_texts_without_a_name(text: str) -> None:
    assert split_name(text) == (text, text)


def test_a_file_or_folder_of_the_whole_text_is_no_name(folder: Path) -> None:
    assert split_name("seed=0") == ("seed", "0")
    (folder / "seed=0").mkdir()
    (folder / "a=b.zip").touch()
    assert split_name("seed=0") == ("seed=0", "seed=0")
    assert split_name("a=b.zip:sample") == ("a=b.zip:sample", "a=b.zip:sample")
    assert split_name("me=seed=0") == ("me", "seed=0")


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "-x", "_x", "a\tb", "a\x1b[31mb", "a,b", "a|b", "n" * (MOST_NAME + 1)]
)
def test_bad_names_are_explained(name: str) -> None:
    for take in (split_name, load):
        with refused("name"):
            take(f"{name}=greedy")
    with refused("name") as error:
        by_name({name: "greedy"})
    assert len(str(error.value)) < 400
    assert str(error.value).isprintable()


@pytest.mark.parametrize("name", ["greedy", "trained", "human", "x.safetensors", "x.zip"])
def test_names_that_mean_something_are_refused(name: str) -> None:
    with refused("name"):
        split_name(f"{name}=random")
    with refused("name"):
        by_name({name: First("other")})


def test_lists_and_mappings() -> None:
    first, last = First("first"), Last("last")
    assert by_name(["me=greedy", "random", first]) == {"me": "greedy", "random": "random", "first": first}
    assert by_name({"b": first, "a": "greedy", "random": "random"}) == {"b": first, "a": "greedy", "random": "random"}
    assert list(by_name({"b": first, "a": "greedy"})) == ["b", "a"]
    assert by_name({"my bot": First("my bot")}).keys() == {"my bot"}  # its own name
    with refused("agents", "more than one me"):
        by_name(["me=greedy", "me=random"])
    with refused("agents", "one for a and b"):
        by_name({"a": last, "b": last})


def test_a_loaded_agent_has_its_name_and_keeps_its_identity() -> None:
    for text in ("me=greedy", "me=rollout:4", "me=trained", "me=arena_bots:First"):
        spec = text.removeprefix("me=")
        agent = load(text, GAME)
        assert agent.name == "me"
        assert identity(text, GAME) == identity(spec, GAME) == identity(agent, GAME)
        assert identities([text], GAME) == identities(by_name({"me": spec}), GAME) == {"me": identity(spec, GAME)}
    with refused("agent", "'greddy'"):
        load("me=greddy", GAME)


def test_a_pattern_of_files_is_an_agent_for_each(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("seed 1", "seed 2"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "model.zip").touch()
    one, two = (str(Path("runs", name, "model.zip")) for name in ("seed 1", "seed 2"))
    assert matched("new=runs/*/model.zip") == [f"new-seed-1={one}", f"new-seed-2={two}"]
    assert matched("new=runs/seed 1/m*.zip") == [f"new-model={one}"]
    assert matched("runs/*/model.zip") == [one, two]
    for text in ("rollout:4", "me=greedy", "llm:model?limit=3", "exec:./bot *", "new=runs/*/none.zip"):
        assert matched(text) == [text]


def test_a_round_robin_of_names(folder: Path) -> None:
    """By texts and by a mapping the files are the same."""
    out = round_robin(
        GAME, ["me=greedy", "you=random", "random"], PAIR, out=folder / "texts", store=folder / "s.sqlite"
    )
    assert set(out.tables.agents) == {"me", "you", "random"}
    assert {name for record in out.records for name in record.agents} == {"me", "you", "random"}
    mapped = {"you": "random", "me": "greedy", "random": "random"}
    round_robin(GAME, mapped, PAIR, out=folder / "mapping")
    for name in ("run.json", "games.jsonl", "ratings.csv"):
        assert (folder / "texts" / name).read_bytes() == (folder / "mapping" / name).read_bytes()
    assert "me" in (folder / "texts" / "report.md").read_text(encoding="utf-8")
    settings = json.loads((folder / "texts" / "run.json").read_text(encoding="utf-8"))
    assert settings["specs"] == {"me": "greedy", "you": "random"}
    assert settings["identities"]["me"] == identity("greedy", GAME)
    plain = round_robin(GAME, ["greedy", "random"], PAIR, out=folder / "plain")
    assert "specs" not in json.loads((plain.out / "run.json").read_text(encoding="utf-8"))
    with Store(folder / "s.sqlite", create=False) as store:
        assert dict(store.settings()[0].agents)["me"] == identity("greedy", GAME)


def test_a_bot_of_the_current_folder_has_an_identity_before_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot_of_the_folder.py").write_text("class Bot: ...", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    assert identity("bot_of_the_folder:Bot") == digest(b"class Bot: ...")


def test_a_run_goes_on_under_its_names_and_by_identities(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        source = "from arena_bots import First as Bot\n" + ("" if name != "three" else "# another source\n")
        (folder / f"{name}_bots.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    first = round_robin(GAME, ["me=one_bots:Bot", "random"], PAIR, out=folder / "run")
    assert first.played == 4
    moved = round_robin(GAME, ["me=two_bots:Bot", "random"], PAIR, out=folder / "run")
    assert (moved.played, moved.records) == (0, first.records)
    with fails(RunError, parameter="identity of me"):
        round_robin(GAME, ["me=three_bots:Bot", "random"], PAIR, out=folder / "run")
    with fails(RunError, fields=("agents",)):
        round_robin(GAME, ["you=one_bots:Bot", "random"], PAIR, out=folder / "run")
    grown = round_robin(GAME, ["me=one_bots:Bot", "random", "last=arena_bots:Last"], PAIR, out=folder / "run")
    assert grown.played == 8
