"""Evolution of first turns in Cloth of Gold: real games, runs that are the same again, and a champion that plays."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from refusals import fails, refused

import cellgames
from cellgames import lab
from cellgames.agents import load, play
from cellgames.agents.cloth_of_gold.first_turns import CHAMPIONS, ClothChampion, read_openings
from cellgames.agents.networks.agent_files import to_text
from cellgames.cli.main import main
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.core import seeds
from cellgames.lab import EvolveOptions
from cellgames.lab.evolution.cloth_space import ClothSpace
from cellgames.utils.errors import InputError

pytestmark = pytest.mark.skipif(find_spec("ribs") is None, reason="needs pyribs, which takes seconds to import")

GAME = ClothOfGold(height=20, width=20, generations=12, max_rounds=4)
TINY = EvolveOptions(rounds=2, iterations=1, batch=8, screen=4, matches=4, agents=("random",), pool=4, cells=3, games=4)
DESIGN = {"turn": "r9c9 r9c10 r10c9 r10c10 / r14c9 r14c10 r14c11", "weight": 1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evolution") / "whole"
    lab.evolve(GAME, TINY, out)
    return out


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "champion.json"
    file.write_text(to_text(GAME.id, GAME.parameters, [DESIGN]), encoding="utf-8")
    return file


def test_designs_and_their_variations_are_legal_first_turns() -> None:
    space, generator = ClothSpace(GAME), np.random.default_rng(1)
    designs = space.random(16, generator)
    children = space.vary(designs, designs[::-1], generator)
    assert (children != designs).any()
    measures = space.describe(children)
    assert measures.shape == (16, len(space.measures))
    assert np.isfinite(measures).all()
    for design in np.concatenate((designs, children)):
        state = GAME.init(torch.tensor([0]))
        for word in str(space.to_data(design)["turn"]).replace("/", " ").split():
            state = GAME.step(state, torch.tensor([GAME.string_to_action(word)]))  # or it raises
        assert int(state.live[0, 0]) == round(space.describe(design[None])[0, 1] * GAME.max_units)


def test_an_evaluation_is_the_game_itself(path: Path) -> None:
    """Points of a design against a former champion are those of agents, whose later turns are the same here."""
    game = ClothOfGold(height=20, width=20, generations=12, max_rounds=1, first_verdict=1, initial_placement=False)
    space = ClothSpace(game)
    one, other = space.random(2, np.random.default_rng(4))
    found = space.play(one[None], space.champion_pool(other, 8, np.random.default_rng(0)))
    agents = []
    for number, design in enumerate((one, other)):
        file = path.with_name(f"{number}.json")
        file.write_text(to_text(game.id, game.parameters, [{**space.to_data(design), "weight": 1}]), encoding="utf-8")
        agents.append(ClothChampion(file))
    seats = torch.tensor([[0, 1], [1, 0]])
    state = play(game, agents, seats, seeds(3, 2), [torch.Generator().manual_seed(n) for n in (1, 2)]).state
    result = (1 + game.outcome(state).double()) / 2
    # The world and the answer turn together, so the result does not depend on how the first design is turned.
    assert found.points[0, ::2].tolist() == [float(result[0, 0])] * 4
    assert found.points[0, 1::2].tolist() == [float(result[1, 1])] * 4


def test_agents_that_do_not_decide_on_whole_turns_are_refused(tmp_path: Path) -> None:
    with refused("starts", str(tmp_path)):
        lab.evolve(GAME, dataclasses.replace(TINY, starts=str(tmp_path)), tmp_path / "run")
    with refused("agents", "one"):
        ClothSpace(GAME)._started("one", object())
    assert not (tmp_path / "run").exists()


def test_the_command_writes_a_champion_that_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["evolve", "cloth-of-gold-small-v0", "--out", str(out), "--quiet", "--agents", "random", "--rounds", "1"]
    words += ["--param", "height=16", "--param", "width=20", "--param", "max_rounds=3"]
    numbers = {"iterations": 1, "batch": 8, "screen": 0, "matches": 4, "pool": 4, "cells": 3, "games": 2}
    words += [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    assert main(words) == 0
    assert "points in % in whole games against the agents, which see it and answer" in capsys.readouterr().out
    for name in ("report.md", "archives.png", "fitness.png", "champion.json"):
        assert (out / name).stat().st_size > 100
    assert main(["replay", str(out)]) == 0
    assert main([*words, "--agents", "champion"]) == 2
    assert "champion: expected a game for which the package has one" in capsys.readouterr().err


def test_the_champion_opens_by_its_design_and_goes_on_as_greedy(path: Path) -> None:
    game = ClothOfGold(height=24, width=24, generations=12, max_rounds=2)
    agent = ClothChampion(path)
    agent.start(game, torch.zeros(8, dtype=torch.int64), torch.arange(8))
    state, generator = game.init(seeds(1, 8)), torch.Generator().manual_seed(1)
    while int(state.current_player[0]) == 0:
        actions = agent.act_on_state(state, torch.arange(8), generator)
        state = game.step(state, actions)
    assert state.live[:, 0].tolist() == [7] * 8
    boards = game.board(state)
    assert bool((boards[:, 11:13, 11:13] == 1).all())  # the block, moved with the middle
    assert len({tuple(board.flatten().tolist()) for board in boards}) > 1  # the blinker, on any side
    table = torch.zeros(8, 2, dtype=torch.int64)
    whole = play(game, [agent], table, seeds(3, 8), [generator]).state
    assert bool(whole.done.all())


def test_the_shipped_champion_plays_its_world() -> None:
    game = cellgames.make("cloth-of-gold-small-v0")
    table = torch.zeros(4, 2, dtype=torch.int64)
    agents, generators = [load("champion", game)], [torch.Generator().manual_seed(1)]
    assert bool(play(game, agents, table, seeds(3, 4), generators).state.done.all())
    (file,) = CHAMPIONS.glob("*.json")
    made, designs = read_openings(file)
    assert made == game
    assert sum(one.weight for one in designs) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("change", "got"),
    [
        ({"turn": "r9c9 r9c99"}, "'r9c99'"),
        *(({"turn": turn}, "") for turn in ("r9c9 / ", "r9c9 r9c9", 3)),
        ({"weight": -1}, "-1"),
    ],
)
def test_damaged_files_are_named(path: Path, change: dict[str, object], got: str) -> None:
    path.write_text(to_text(GAME.id, GAME.parameters, [{**DESIGN, **change}]), encoding="utf-8")
    with fails(InputError, got=got):
        read_openings(path)


def test_champions_of_other_games_and_worlds_are_refused(path: Path) -> None:
    path.write_text(to_text("toroidal-cup-v0", {}, [DESIGN]), encoding="utf-8")
    with refused(str(path), "one of toroidal-cup-v0"):
        load(f"champion:{path}", GAME)
    path.write_text(to_text(GAME.id, {"height": 2}, [DESIGN]), encoding="utf-8")
    with refused("height"):
        read_openings(path)
