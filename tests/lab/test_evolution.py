"""Evolution of designs: that evaluations are real games, that runs survive anything, and that they find something."""

from __future__ import annotations

import dataclasses
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from arena_runs import InLine
from paths import CUP_DATA
from refusals import fails, refused
from run_suite import different_files

from cellgames import lab
from cellgames.cli.main import main
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.torus.game import Torus
from cellgames.lab import EvolveOptions
from cellgames.lab.evolution import design_space
from cellgames.lab.evolution.cup_space import CupSpace, cup_spaces, read_starts
from cellgames.lab.evolution.design_space import Ints
from cellgames.runs.run_folder import RunError

pytestmark = pytest.mark.skipif(find_spec("ribs") is None, reason="needs pyribs, which takes seconds to import")

GAME = ToroidalCup(rows=12, cols=32, pattern="randys", shapes=2, max_generations=150)
TINY = EvolveOptions(
    rounds=2, iterations=2, batch=16, screen=4, matches=8, agents=("random",), pool=8, cells=4, games=4
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evolution") / "whole"
    lab.evolve(GAME, TINY, out)
    return out


def test_workers_change_no_byte(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design_space, "_TOGETHER", 64)
    lab.evolve(GAME, TINY, tmp_path, workers=(workers := InLine()))
    assert workers.given > 6
    assert different_files(whole, tmp_path) == []


def played_in_the_game(space: CupSpace, design: Ints, other: Ints, seed: int) -> list[list[float]]:
    """Scores of both orders of two designs in the environment's own steps."""
    game, found = space.game, []
    for pair in ((design, other), (other, design)):
        state = game.init(torch.tensor([seed]))
        while not bool(state.done):
            slot = int(state.turn)
            kinds = state.queue[0, :, 0].tolist()
            plans = [one.reshape(space.count, space.kinds)[slot, kind] for one, kind in zip(pair, kinds, strict=True)]
            state = game.step(state, torch.tensor([plans]))
        found.append(state.scores[0].tolist())
    return found


def test_an_evaluation_is_the_game_itself() -> None:
    """Designs are legal as they are, and the native evaluation gives the points of the environment, in both seats."""
    (space,) = cup_spaces(GAME)
    generator = np.random.default_rng(5)
    designs = space.random(4, generator)
    designs = np.concatenate((designs, space.vary(designs, designs[::-1], generator)))
    duels = space.champion_pool(designs[0], 2, generator)
    found = space.play(designs[1:], duels)
    for number, design in enumerate(designs[1:]):
        first, second = played_in_the_game(space, design, designs[0], 1)
        leads = [(first[0] - first[1]) / max(1, sum(first)), (second[1] - second[0]) / max(1, sum(second))]
        assert found.lead[number].tolist() == leads
        assert found.points[number].tolist() == [(1 + np.sign(lead)) / 2 for lead in leads]


def test_families_are_the_patterns_and_their_numbers_of_shapes() -> None:
    names = [space.name for space in cup_spaces(ToroidalCup())]
    assert names[:3] == ["crabdonuts", "randys", "donutmethuselahs-4"]
    assert len(names) == len(set(names)) == 15
    from cellgames.lab.evolution.family import FamilyRun

    space = next(space for space in cup_spaces(ToroidalCup()) if space.name == "donutmethuselahs-6")
    family = FamilyRun(space, dataclasses.replace(TINY, iterations=15), {})
    assert (space.sharing, family.iterations) == (5, 3)
    deals = space.deals(20, np.random.default_rng(0))
    assert deals.shape == (20, 2, 6)
    assert len(np.unique(deals)) == 6
    with refused("teams"):
        cup_spaces(ToroidalCup(rows=24, cols=96, pattern="randys", shapes=3, teams=4))


@pytest.mark.skipif(not CUP_DATA.exists(), reason="published games are not here")
def test_published_starts_are_opponents() -> None:
    spaces = {space.name: space for space in cup_spaces(ToroidalCup())}
    found = read_starts(CUP_DATA, spaces["donutpi"])
    assert len(found) > 20
    points = spaces["donutpi"].play(spaces["donutpi"].random(2, np.random.default_rng(0)), found).points
    assert 0 < points.mean() < 1
    assert not len(read_starts(CUP_DATA, spaces["donutmethuselahs-4"]))


def test_evolution_beats_random_designs() -> None:
    from cellgames.lab.evolution.family import FamilyRun

    (space,) = cup_spaces(GAME)
    options = dataclasses.replace(TINY, rounds=1, iterations=6, matches=24, screen=16)
    family = FamilyRun(space, options, {"random": space.pool("random", 64, 1)})
    for _ in family.run():
        pass
    best = np.array(family.mixture[0]["design"])[None]
    fresh = space.draw(space.pool("random", 200, 77), 200, np.random.default_rng(8))
    generator = np.random.default_rng(9)
    assert space.play(best, fresh).points.mean() > space.play(space.random(40, generator), fresh).points.mean() + 0.1


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"measures": ("spread",)}, ("measures", "1")),
        ({"games": 3}, ("games", "3")),
        ({"rounds": 0}, ("rounds", "0")),
        ({"agents": ()}, ("agents", "none")),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], refusal: tuple[str, ...]) -> None:
    with refused(*refusal):
        dataclasses.replace(TINY, **options)  # type: ignore[arg-type]  # wrong on purpose


def test_other_games_measures_and_agents_are_refused(tmp_path: Path) -> None:
    with refused("game", "torus-v0"):
        lab.evolve(Torus(3), TINY, tmp_path / "run")
    with refused("measures", "'speeed'"):
        lab.evolve(GAME, dataclasses.replace(TINY, measures=("speeed", "seam")), tmp_path / "run")
    with refused("agent", "'gredy'"):
        lab.evolve(GAME, dataclasses.replace(TINY, agents=("gredy",)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_damaged_opponents_are_refused_by_the_name_of_their_file(whole: Path, tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    path = sorted((folder / "opponents").iterdir())[0]
    path.write_bytes(content)
    with fails(RunError, parameter=str(path)):
        lab.evolve(GAME, TINY, folder)


def test_the_command_writes_a_champion_that_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["evolve", "toroidal-cup-v0", "--out", str(out), "--quiet", "--agents", "random", "--rounds", "1"]
    for name, value in GAME.parameters.items():
        if value is not None:
            words += ["--param", f"{name}={value}"]
    numbers = {"iterations": 1, "batch": 8, "screen": 4, "matches": 4, "pool": 4, "cells": 3, "games": 2}
    words += [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "champion.json" in shown
    for name in ("report.md", "archives.png", "fitness.png", "champion.json"):
        assert (out / name).stat().st_size > 100
    assert main(["replay", str(out)]) == 0
    assert main([*words, "--seed", "1"]) == 2
    assert "expected this evolution, got another; seed: expected 0, got 1" in capsys.readouterr().err
