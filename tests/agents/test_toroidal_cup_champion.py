"""`champion` in the Toroidal Cup: legal everywhere, true to its designs, and clear about damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from cellgames.agents.agent_specs import file_of
from cellgames.agents.loading import identity, load
from cellgames.agents.networks.agent_files import to_text
from cellgames.agents.play_loop import play
from cellgames.agents.toroidal_cup.champion import CHAMPIONS, ToroidalCupChampion, read_champion
from cellgames.envs.core import seeds
from cellgames.envs.toroidal_cup.game import ToroidalCup

GAME = ToroidalCup(rows=12, cols=32, pattern="randys", shapes=2, max_generations=60)
DESIGN: dict[str, Any] = {"pattern": "randys", "shapes": 2, "weight": 1, "placements": {"rpentomino": "r2c2/0 r6c10/3"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "champion.json"
    file.write_text(to_text(GAME.id, GAME.parameters, [DESIGN]), encoding="utf-8")
    return file


def games(game: ToroidalCup, agent: Any, count: int = 8) -> Any:
    seats = torch.zeros(count, game.teams, dtype=torch.int64)
    return play(game, [agent], seats, seeds(3, count), [torch.Generator().manual_seed(1)]).state


def test_alone_it_places_its_design_shifted_down(path: Path) -> None:
    state = games(GAME, ToroidalCupChampion(path, games=0))
    assert bool(state.done.all())
    plain = torch.zeros(12, 16, dtype=torch.bool)
    # r-pentominoes at r2c2/0 and r6c10/3: .oo oo. .o. and the same turned by 270 degrees
    for row, col in ((1, 2), (1, 3), (2, 1), (2, 2), (3, 2), (5, 10), (6, 9), (6, 10), (6, 11), (7, 10)):
        plain[row, col] = True
    own = state.start[:, :, :16] == 1
    cells = own.sum((1, 2))
    assert cells.tolist() == [10] * 8
    columns = {tuple(own[game].any(0).nonzero().flatten().tolist()) for game in range(8)}
    assert columns == {(1, 2, 3, 9, 10, 11)}
    rows = {tuple(own[game, :, :4].any(1).nonzero().flatten().tolist()) for game in range(8)}
    assert len(rows) > 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"rows": 12, "cols": 32, "shapes": 2},
        {"rows": 24, "cols": 48, "shapes": 3},
        {"rows": 26, "cols": 60, "shapes": 5, "stride": 3},
        {"rows": 20, "cols": 100, "shapes": 3, "teams": 4, "stride": 2},
        {"rows": 12, "cols": 106, "shapes": 2, "teams": 4},
    ],
)
def test_it_is_legal_on_boards_of_every_size(path: Path, parameters: dict[str, int]) -> None:
    game = ToroidalCup(pattern="randys", max_generations=40, **parameters)  # type: ignore[arg-type]  # all whole
    assert bool(games(game, ToroidalCupChampion(path, games=30), 4).done.all())


def test_answers_are_better_than_the_design_alone(path: Path) -> None:
    """Against a team that stands still, the last placement is changed so that Life gives more."""
    alone, answering = (ToroidalCupChampion(path, f"c{count}", games=count) for count in (0, 320))
    count = 40
    seats = torch.tensor([[0, 1], [1, 0]] * (count // 2))
    played = play(GAME, [alone, answering], seats, seeds(5, count), [torch.Generator().manual_seed(n) for n in (1, 2)])
    leads = played.state.scores[:, 0] - played.state.scores[:, 1]
    better = torch.where(seats[:, 0] == 1, leads, -leads)
    assert float((better > 0).float().mean() + 0.5 * (better == 0).float().mean()) > 0.55


def test_specs_name_files_and_folders(path: Path) -> None:
    for spec in (f"champion:{path}", f"champion:{path.parent}"):
        found = file_of(spec)
        assert found is not None
        assert found.path == path
        assert found.before == "champion:"
        agent = load(spec, GAME)
        assert agent.name == spec
        before = identity(spec, GAME)
        assert len(before) == 16
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert identity(spec, GAME) != before
    assert file_of("champion") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected the champion.json of `cellgames evolve`"),
        ("[" * 100_000, "expected the champion.json"),
        ('{"champion": 2}', "expected a champion of format 1, got 2"),
        ('{"champion": 1, "game": "toroidal-cup-v0", "parameters": {}, "designs": []}', "is the file damaged"),
        ({"shapes": 3}, "design 1: expected 3 placements such as r6c10/3"),
        ({"weight": 0}, "design 1: expected a weight above 0, got 0"),
        ({"pattern": 7}, "design 1: expected a pattern and a number of shapes"),
        ({"placements": {"rpentomino": "r2c2 r6c10/3"}}, "design 1: expected 2 placements"),
        ({"placements": {"rpentomino": 5}}, "is the file damaged"),
    ],
)
def test_damaged_files_are_refused(path: Path, content: str | dict[str, Any], message: str) -> None:
    text = content if isinstance(content, str) else to_text(GAME.id, GAME.parameters, [{**DESIGN, **content}])
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load(f"champion:{path}", GAME)


def test_the_shipped_champions_play_their_presets() -> None:
    files = sorted(CHAMPIONS.glob("*.json"))
    assert [file.stem for file in files] == ["toroidal-cup-small-v0", "toroidal-cup-v0"]
    real = read_champion(files[1])
    assert len({(design.pattern, design.shapes) for design in real.designs}) == 15
    assert json.loads(files[1].read_text(encoding="utf-8"))["parameters"] == dict(ToroidalCup().parameters)
    agent = ToroidalCupChampion(games=0)
    for game in (ToroidalCup(max_generations=1), ToroidalCup(pattern="randys", rows=24, cols=48, shapes=3)):
        agent.start(game, torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
        assert bool(games(game, agent, 6).done.all())
