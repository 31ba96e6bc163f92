"""The agents that come with the package: they load, say where they come from, and win."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from benchmarks.agents.truth import sample

import cellgames
from cellgames.agents import load
from cellgames.agents.networks.saved import read_about
from cellgames.agents.networks.trained import SEARCH_WEIGHTS, WEIGHTS, search_network, shipped
from cellgames.agents.selection import select
from cellgames.agents.torus.solver import solver
from cellgames.arena.play.evaluation import evaluate, play_evaluation
from cellgames.arena.play.match_options import MatchOptions

SHIPPED = sorted(WEIGHTS.glob("*.safetensors"))
FOR_SEARCH = sorted(SEARCH_WEIGHTS.glob("*.safetensors"))

AT_LEAST = {
    "torus-small-v0": (20, 0.9),
    "grid-adaptation-v0": (2, 0.85),
    "cloth-of-gold-small-v0": (8, 0.85),
    "toroidal-cup-small-v0": (60, 0.5),
}
"""Games of a match against random play, and what they should score at least: less than they do on average."""


def test_every_game_has_a_trained_agent() -> None:
    games = {read_about(path)["game"] for path in SHIPPED}
    assert games == {cellgames.make(id).id for id in cellgames.games()}


@pytest.mark.parametrize("path", [*SHIPPED, *FOR_SEARCH], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_weights_are_small_and_say_where_they_come_from(path: Path) -> None:
    assert path.stat().st_size < 2_000_000
    about = read_about(path)
    made = about["made"]
    game = cellgames.make(about["game"], **about["parameters"])
    assert shipped(game, path.parent) == path
    assert made["command"].startswith("cellgames train ")
    assert f"--algo {made['algorithm']}" in made["command"] or made["algorithm"] == "ppo"
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


def test_searches_take_the_weights_of_the_nearest_size() -> None:
    assert [path.stem for path in FOR_SEARCH] == [f"torus-v0.size={size}" for size in (3, 5, 8)]
    for size, nearest in ((2, 3), (5, 5), (6, 5), (7, 8), (12, 8)):
        game = cellgames.make("torus-v0", size=size)
        assert shipped(game, SEARCH_WEIGHTS).stem == f"torus-v0.size={nearest}"
        assert search_network(game).game == game
    with pytest.raises(ValueError, match="kind 'policy' for a search, got 'turns'"):
        search_network(cellgames.make("cloth-of-gold-small-v0"), shipped(cellgames.make("cloth-of-gold-small-v0")))


def test_gumbel_search_keeps_what_is_won() -> None:
    game = cellgames.make("torus-v0", size=3)
    agent = load("gumbel:64", game)
    state, env_ids = sample(100, 1), torch.arange(100)
    agent.start(game, state.current_player, env_ids)
    moves = select(agent, game, state, env_ids, torch.Generator().manual_seed(0))
    assert solver(3).winning_moves(state).gather(1, moves[:, None]).float().mean() >= 0.97


def test_torus_weights_play_other_sizes() -> None:
    game = cellgames.make("torus-v0", size=4)
    agents = {name: load(name, game) for name in ("trained", "random")}
    assert evaluate(game, play_evaluation(game, agents, MatchOptions(games=10)), "trained")["score"] >= 0.8


def test_a_setting_without_weights_says_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"no trained weights for .*there are some for .*rows=24"):
        load("trained", cellgames.make("toroidal-cup-small-v0", rows=32))
