"""Names of agents: those that users give, and those that mean another agent in each game."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_bots import First, Last
from every_game import GAMES, ask, generator
from refusals import fails, refused
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, load, select
from cellgames.agents.agent_specs import MOST_NAME, AgentSpec, by_name, matched, split_name, wrapped
from cellgames.agents.base import acting, takes_states
from cellgames.agents.loading import identities, identity
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import RoundRobinOptions, Store, round_robin
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.registry import REGISTRY
from cellgames.runs.run_folder import RunError

GAME = cellgames.make("torus-v0", size=2)
PAIR = RoundRobinOptions(games=4, gif=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["me", "v2.1-b_c+d", "été7", "n" * MOST_NAME])
@pytest.mark.parametrize(
    "spec", ["greedy", "rollout:64", "results/seed=0/agent.safetensors", "my_bots:Bot:a=1", "is.zip:sample"]
)
def test_texts_with_a_name(name: str, spec: str) -> None:
    assert split_name(f"{name}={spec}") == (name, spec)


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


MEANING = ("greedy", "trained", "human", "x.safetensors", "x.zip")


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "-x", "_x", "a\tb", "a\x1b[31mb", "a,b", "a|b", "n" * (MOST_NAME + 1), *MEANING]
)
def test_bad_names_are_explained(name: str) -> None:
    for take in (split_name, load):
        with refused("name"):
            take(f"{name}=random")
    with refused("name") as error:
        by_name({name: First("other")})
    assert len(str(error.value)) < 400
    assert str(error.value).isprintable()


def test_lists_and_mappings() -> None:
    first, last = First("first"), Last("last")
    assert by_name(["me=greedy", "random", first]) == {"me": "greedy", "random": "random", "first": first}
    assert by_name({"b": first, "a": "greedy", "random": "random"}) == {"b": first, "a": "greedy", "random": "random"}
    assert list(by_name({"b": first, "a": "greedy"})) == ["b", "a"]
    assert by_name({"my bot": First("my bot")}).keys() == {"my bot"}  # its own name
    assert by_name([Path("a.zip")]) == by_name({"a.zip": Path("a.zip")}) == {"a.zip": "a.zip"}
    with refused("agents", "more than one me"):
        by_name(["me=greedy", "me=random"])
    with refused("agents", "one for a and b"):
        by_name({"a": last, "b": last})


def test_a_loaded_agent_has_its_name_and_keeps_its_identity() -> None:
    for text in ("me=greedy", "me=rollout:4", "me=trained", "me=arena_bots:First"):
        spec, agent = text.removeprefix("me="), load(text, GAME)
        assert agent.name == "me"
        assert identity(text, GAME) == identity(spec, GAME) == identity(agent, GAME)
        assert identities([text], GAME) == identities(by_name({"me": spec}), GAME) == {"me": identity(spec, GAME)}
    with refused("agent", "'greddy'"):
        load("me=greddy", GAME)


def test_a_pattern_of_files_is_an_agent_for_each(folder: Path) -> None:
    for name in ("seed 1", "seed 2"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "model.zip").touch()
    one, two = (str(Path("runs", name, "model.zip")) for name in ("seed 1", "seed 2"))
    assert matched("new=runs/*/model.zip") == [f"new-seed-1={one}", f"new-seed-2={two}"]
    assert matched("new=runs/seed 1/m*.zip") == [f"new-model={one}"]
    assert matched("runs/*/model.zip") == [one, two]
    for text in ("rollout:4", "me=greedy", "llm:model?limit=3", "exec:./bot *"):
        assert matched(text) == [text]
    with refused("agent", "runs/*/none.zip"):
        matched("new=runs/*/none.zip")


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


CLOTH, TORUS = GAMES["cloth-of-gold-v0"], GAMES["torus-v0"]
CUP = cellgames.make("toroidal-cup-small-v0", max_generations=10)


class LastOfTorus(BaseAgent):
    """Plays the last legal action of a position; plays Torus only."""

    def check_game(self, game: Game) -> None:
        if game.id != TORUS.id:
            raise ValueError(f"last plays {TORUS.id}, got {game.id}")

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        mask = TORUS.legal_actions(state)
        return mask.shape[1] - 1 - mask.flip(1).int().argmax(1)


LAST = f"{__name__}:LastOfTorus"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the plugins of the games above list agents named "mine"."""
    ids = {"cloth": CLOTH.id, "torus": TORUS.id, "cup": CUP.id}

    def listed(**kinds: str) -> None:
        for name, kind in kinds.items():
            spec = REGISTRY[ids[name]]
            plugin = replace(spec.plugin, agents={"mine": kind})
            monkeypatch.setitem(REGISTRY, ids[name], replace(spec, plugin=plugin))

    return listed


def test_it_is_the_agent_of_the_table_until_another_game_is_asked_for(listed: Callable[..., None]) -> None:
    listed(torus=LAST, cup="arena_bots:First")
    agent: Any = AgentSpec("mine", "", by_game=True).make(None)
    torus = agent.playing(TORUS)
    assert type(torus).__name__ == "LastOfTorus"
    assert agent.playing(cellgames.make("torus-v0", **TORUS.parameters)) is torus
    cup = agent.playing(CUP)
    assert type(cup).__name__ == "First"
    assert torus.name == cup.name == "mine"
    assert agent.playing(TORUS) is not torus, "its memory was of other games"
    smaller = agent.playing(cellgames.make("torus-v0", size=3))
    assert smaller is not torus
    assert type(smaller).__name__ == "LastOfTorus"


def test_games_without_an_entry_get_the_default_or_are_refused(listed: Callable[..., None]) -> None:
    listed(torus=LAST)
    agent: Any = AgentSpec("mine", "", "arena_bots:First", by_game=True).make(None)
    assert type(agent.playing(CUP)) is First
    assert agent.playing(CUP).name == "mine"
    listed(torus=LAST, cloth="arena_bots:First")
    strict: Any = AgentSpec("mine", "", by_game=True).make(None)
    for check in (strict.playing, strict.check_game, lambda game: takes_states(strict, game)):
        with refused("agent 'mine'", CUP.id):
            check(CUP)


def test_it_is_asked_as_its_agent_is(listed: Callable[..., None]) -> None:
    """By states where that one gets them, and in other games by observations."""
    listed(torus=LAST, cup="arena_bots:First", cloth="arena_bots:First")
    agent: Any = AgentSpec("mine", "", by_game=True).make(None)
    assert takes_states(agent, TORUS)
    assert not takes_states(agent, CUP)
    assert not takes_states(agent, CLOTH)
    assert acting(agent, TORUS) is agent.playing(TORUS)
    plain = RandomAgent()
    assert acting(plain, TORUS) is plain
    state = TORUS.init(seeds(0, 3))
    assert select(agent, TORUS, state, torch.tensor([0, 2]), generator()).tolist() == [TORUS.info.num_actions - 1] * 2
    state = CLOTH.init(seeds(0, 3))
    assert select(agent, CLOTH, state, torch.tensor([1]), generator()).tolist() == [0]


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_a_mixture_plays_its_share_at_random_and_asks_for_the_rest(share: float) -> None:
    rows, state = torch.arange(1000), TORUS.init(seeds(0, 1000))
    made: Any = load(f"mixed:{share}:arena_bots:First", TORUS)
    made.start(TORUS, state.current_player, rows)
    mask = TORUS.legal_actions(state)
    chosen = made.act(TORUS.observe(state, 0), mask, rows, generator(1))
    assert abs(float((chosen == 0).float().mean()) - (1 - share + share / mask.shape[1])) < 0.04


def test_a_mixture_may_be_asked_by_states() -> None:
    game = cellgames.make("torus-v0", size=2)
    state, made = game.init(seeds(0, 40)), load("mixed:0.5:perfect", game)
    assert takes_states(made, game)
    chosen = ask(made, game, state, seed=1)
    assert (chosen < 4).sum() > 20 > (chosen >= 4).sum() > 0, "octagons win, and squares lose"


def test_mixtures_have_names_and_identities_and_refuse_what_they_cannot_mix() -> None:
    assert load("mixed:0.3:greedy", TORUS).name == "mixed:0.3:greedy"
    assert identity("mixed:0.3:arena_bots:First") == identity("arena_bots:First")
    assert wrapped("mixed:.3:arena_bots:First", "isolated") == "isolated:mixed:.3:arena_bots:First"
    assert wrapped("mixed:.3:greedy", "isolated") == "mixed:.3:greedy"
    for text in ("mixed:greedy", "mixed:2:greedy", "mixed:0.3:", "mixed"):
        with refused("mixed:SHARE:AGENT"):
            load(text, TORUS)
    with refused("mixed:SHARE:AGENT", "First"):
        load("mixed:0.3:arena_bots:First", CLOTH)
