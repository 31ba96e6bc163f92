"""The agents that come with the package: they load, say where they come from, and win."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_bots import First
from benchmarks.agents.truth import sample
from paths import ROOT
from refusals import refused

import cellgames
from cellgames.agents import AGENTS, load, read_about, save_network, shipped
from cellgames.agents.networks.agent_files import SEARCH_WEIGHTS, WEIGHTS, ids_with_weights
from cellgames.agents.networks.networks import NetworkAgent, Size, make_network
from cellgames.arena import MatchOptions, evaluate, match, play_evaluation
from cellgames.cli.main import main, parser
from cellgames.cli.shared_options import make_game
from cellgames.envs.registry import plugin_of
from cellgames.web.catalog import offered

SHIPPED = sorted(WEIGHTS.glob("*.safetensors"))
FOR_SEARCH = sorted(SEARCH_WEIGHTS.glob("*.safetensors"))

(_CHOICES,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
COMMANDS: list[argparse.ArgumentParser] = [*_CHOICES.choices.values()]

AT_LEAST = {
    "torus-small-v0": (20, 0.9),
    "hex-small-v0": (20, 0.9),
    "y-small-v0": (20, 0.9),
    "grid-adaptation-v0": (2, 0.85),
    "cloth-of-gold-small-v0": (4, 0.75),
    "cloth-of-gold-v0": (2, 0.85),
    "toroidal-cup-small-v0": (4, 0.5),
}
"""Games of a match against random play, and what they should score at least: less than they do on average."""


@pytest.mark.parametrize("spec", ["trained", "gumbel:4"])
def test_ids_with_weights_are_those_that_load(spec: str) -> None:
    def loads(id: str) -> bool:
        try:
            load(spec, cellgames.make(id))
        except ValueError:
            return False
        return True

    ids = AGENTS[spec.partition(":")[0]].ids_with_weights
    assert ids == tuple(id for id in cellgames.games() if loads(id))
    assert ids


def test_lists_offer_trained_where_there_are_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = {agent["spec"]: agent for agent in json.loads(capsys.readouterr().out)["agents"]}
    assert {spec for spec, agent in listed.items() if "games" in agent} == {"trained", "gumbel:N[:FILE]"}
    assert listed["trained"]["games"] == [*ids_with_weights()]
    for id in cellgames.games():
        offers = {offer["name"] for offer in offered(cellgames.make(id), {})}
        assert ("trained" in offers) == (id in ids_with_weights())


def test_examples_ask_for_agents_that_the_game_has() -> None:
    lines = [line.strip() for command in COMMANDS for line in command.format_help().splitlines()]
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        lines += re.findall(r"^(?:\S*/)?(cellgames .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    checked = 0
    for line in lines:
        words = shlex.split(line, comments=True) if line.startswith("cellgames ") else []
        if not any(word == "trained" or re.fullmatch(r"gumbel:\d+", word) for word in words):
            continue
        given = parser().parse_args(words[1:])
        if getattr(given, "game", None) is None or given.game not in cellgames.games():
            continue
        game = make_game(given)
        for word in words:
            if word == "trained" or re.fullmatch(r"gumbel:\d+", word):
                load(word, game)
                checked += 1
    assert checked > 10


def test_trained_for_a_game_without_weights_says_which_have_some_and_how_to_train() -> None:
    with refused("trained weights", "cloth-of-gold-small-v0 with radius=5") as caught:
        load("trained", cellgames.make("cloth-of-gold-small-v0", radius=5))
    assert all(id in str(caught.value) for id in ids_with_weights())
    assert "`cellgames train cloth-of-gold-small-v0 --param radius=5`" in str(caught.value)


def test_networks_that_learned_with_a_search_serve_it_unless_the_game_has_others() -> None:
    assert shipped(cellgames.make("hex-small-v0"), SEARCH_WEIGHTS).parent == WEIGHTS
    assert shipped(cellgames.make("torus-small-v0"), SEARCH_WEIGHTS).parent == SEARCH_WEIGHTS  # both learned with one
    with refused("trained weights", "grid-adaptation-small-v0"):
        shipped(cellgames.make("grid-adaptation-small-v0"), SEARCH_WEIGHTS)


@pytest.mark.parametrize("path", [*SHIPPED, *FOR_SEARCH], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_weights_are_small_and_say_where_they_come_from(path: Path) -> None:
    assert path.stat().st_size < 2_000_000
    about = read_about(path)
    made = about["made"]
    game = cellgames.make(about["game"], **about["parameters"])
    assert shipped(game, path.parent) == path
    assert made["command"].startswith("cellgames train ")
    assert f"--algo {made['algorithm']}" in made["command"] or made["algorithm"] in ("ppo", plugin_of(game).algorithm)
    assert made["steps"] > 10_000
    assert {"seed", "seconds", "machine"} <= made.keys()
    assert {"cpu", "torch"} <= made["machine"].keys()


@pytest.mark.parametrize("id", AT_LEAST)
def test_trained_wins_its_smoke_match(id: str) -> None:
    game = cellgames.make(id)
    games, least = AT_LEAST[id]
    agents = {name: load(name, game) for name in ("trained", "random")}
    records = play_evaluation(game, agents, MatchOptions(games=games, opening_plies=0))
    assert evaluate(game, records, "trained")["score"] >= least


@pytest.mark.parametrize("spec", ["trained", "gumbel:8"])
@pytest.mark.parametrize("id", ["hex-small-v0", "y-small-v0"])
def test_weights_that_learned_with_the_swap_play_without_it(spec: str, id: str) -> None:
    game = cellgames.make(id, swap=False)
    agents = {name: load(name, game) for name in (spec, "random")}
    records = play_evaluation(game, agents, MatchOptions(games=20, opening_plies=0))
    assert evaluate(game, records, spec)["score"] >= 0.9


def test_weights_that_learned_without_the_swap_do_not_play_with_it(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    save_network(file, make_network(cellgames.make("hex-v0", size=3, swap=False), Size(4, 1)))
    with refused("game", where=str(file)):
        load(file, cellgames.make("hex-v0", size=3))


def test_trained_varies_its_games_so_that_no_stored_line_beats_it_again_and_again() -> None:
    """Against an agent that always does the same; with equal moves there would be a game for each seat."""
    played = match(cellgames.make("hex-v0", size=7), "trained", First("first"), MatchOptions(games=12, opening_plies=0))
    assert played.tally.distinct > 4


def test_trained_plays_alike_after_a_half_turn() -> None:
    game = cellgames.make("torus-v0", size=3)
    agent: Any = load("trained", game)
    agent, state = agent.playing(game), sample(100, 1).state
    seen, mask = game.observe(state, state.current_player), game.legal_actions(state)
    numbers = torch.stack((mask.float(), agent.policy(seen, mask).probabilities()), 1)
    turned, moved = game.transform(seen, numbers, torch.full((100,), 2 * 3 * 3))
    again = agent.policy(turned, moved[:, 0] > 0).probabilities()
    assert torch.allclose(again, moved[:, 1], atol=1e-4)
    assert not torch.allclose(NetworkAgent.policy(agent, seen, mask).probabilities(), numbers[:, 1], atol=1e-2)
