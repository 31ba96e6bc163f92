"""Agents of the Toroidal Cup: positions out of observations, greedy, and rollouts where all act at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from every_game import ask, generator, play
from refusals import refused
from torch import Tensor
from toy_games import random_actions

import cellgames
from cellgames.agents import load
from cellgames.agents import play as play_agents
from cellgames.agents.agent_specs import file_of
from cellgames.agents.loading import identity
from cellgames.agents.networks.agent_files import to_text
from cellgames.agents.playouts import RolloutAgent
from cellgames.agents.toroidal_cup.champion import CHAMPIONS, ToroidalCupChampion, read_champion
from cellgames.agents.toroidal_cup.greedy import CupSearch, ToroidalCupGreedy, determinize
from cellgames.envs.core import State, seeds
from cellgames.envs.toroidal_cup.game import ToroidalCup

SMALL = ToroidalCup(12, 24, pattern="randys", shapes=2, max_generations=30)
MIXED = ToroidalCup(24, 60, pattern="donutmethuselahs", shapes=4, max_generations=10)
THREE = ToroidalCup(12, 50, 3, "randys", shapes=2, survivors="keep", max_generations=20)  # 2 columns are nobody's
ANY = cellgames.make("toroidal-cup-v0", cols=160, shapes=2, max_generations=6)
GAMES = pytest.mark.parametrize("game", [SMALL, MIXED, THREE, ANY], ids=["small", "mixed", "three", "any"])


@GAMES
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_imagined_game_looks_as_the_true_one_does_and_has_its_board(game: ToroidalCup, steps: int) -> None:
    state = play(game, game.init(seeds(2, 20)), min(steps, game.info.max_turns - 1))
    state = state[~state.done]
    seats = torch.arange(len(state)) % game.teams
    seen = game.observe(state, seats)
    imagined = determinize(game, seen, seats)
    assert torch.equal(game.observe(imagined, seats), seen)
    assert torch.equal(imagined.start, state.start)
    assert torch.equal(imagined.board, state.board)
    assert torch.equal(imagined.scores, state.scores)
    rows = torch.arange(len(state))
    assert torch.equal(game.legal_actions(imagined)[rows, seats], game.legal_actions(state)[rows, seats])
    assert game.legal_actions(imagined).any(2).all(), "whatever is guessed finds a place"
    if game.pattern == "randys":  # all shapes are alike, so the guess is right
        assert torch.equal(imagined.queue, state.queue)


DRAWN = """
........................
......1.................
....111.................
.....1..................
........................
........................
........................
........................
........................
..............2.........
.............222........
...............2........
"""


def drawn() -> Any:
    """`DRAWN`, with a shape to come for each team."""
    rle = "".join(f"{row.replace('1', 'A').replace('2', 'B')}$" for row in DRAWN.split()).rstrip("$")
    return SMALL.string_to_state(f"randys 1 {rle}! rpentomino/rpentomino")


def leads(game: ToroidalCup, state: Any, seat: int, others: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The legal actions of a seat, [C], and its lead after each of them beside each of `others`, [C, G].

    Others are int64 [G, P], by default all that is legal for a second team; leads are over the best other team, in
    shares of the live cells.
    """
    own, *rest = (game.legal_actions(state)[0, i].nonzero().squeeze(1) for i in (seat, 1 - seat))
    others = rest[0][:, None].expand(-1, 2) if others is None else others
    joint = others.expand(len(own), -1, -1).clone()
    joint[:, :, seat] = own[:, None]
    flat = joint.flatten(0, 1)
    live = game.step(state[torch.zeros(len(flat), dtype=torch.int64)], flat).scores.double()
    rival = live[:, [i for i in range(game.teams) if i != seat]].amax(1)
    lead = (live[:, seat] - rival) / live.sum(1).clamp(min=1)
    return own, lead.view(joint.shape[:2])


@pytest.mark.parametrize("seat", [0, 1])
def test_they_find_placements_that_are_good_against_all_that_the_other_may_do(seat: int) -> None:
    state = drawn()
    own, lead = leads(SMALL, state, seat)
    worth, result = lead.mean(1), lead.sign().mean(1)
    assert worth.min() < -0.5, "for the test's sake: some placements kill one's own cells"
    assert worth.quantile(0.75) < worth.max() - 0.1
    chosen = ask(ToroidalCupGreedy(candidates=len(own), guesses=24), SMALL, state, seat)
    assert float(worth[own == chosen]) > worth.max() - 0.1
    chosen = ask(CupSearch(4000, answered=0), SMALL, state, seat)
    assert float(worth[own == chosen]) > worth.quantile(0.9)
    chosen = ask(RolloutAgent(600), SMALL, state, seat)
    assert float(result[own == chosen]) > result.quantile(0.75)


@pytest.mark.parametrize(
    "game", [ToroidalCup(12, 30, pattern="randys", stride=3, shapes=2, max_generations=40), THREE], ids=["two", "three"]
)
def test_greedy_finds_the_best_answer_to_what_it_guesses(game: ToroidalCup, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it simulates the very game: teams in their places, ties of colours as the numbers say, the best rival."""
    state = play(game, game.init(seeds(0, 1)), 1)
    guesses = random_actions(game, state[torch.zeros(4, dtype=torch.int64)], generator(1))
    agent = ToroidalCupGreedy(candidates=game.info.num_actions, guesses=4)
    monkeypatch.setattr("cellgames.agents.toroidal_cup.greedy.random_placements", lambda *_: guesses[None])
    for seat in range(game.teams):
        own, lead = leads(game, state, seat, guesses)
        worth = lead.mean(1)
        best = own[worth > worth.max() - 1e-9]
        assert len(best) < 5
        assert int(ask(agent, game, state, seat)) in best.tolist()


def test_last_placements_are_mixed_and_earlier_ones_are_the_best_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rock, paper and scissors, and a move that loses: a third each if all games are answered, in whichever game."""
    wins = torch.tensor([[0, -1, 1], [1, 0, -1], [-1, 1, 0.25], [-1, -1, -1]], dtype=torch.float64)
    agent = CupSearch(12, answered=1.0)

    def known(game: Any, state: State, seats: Tensor, mask: Tensor, seeds: Tensor) -> tuple[Tensor, Tensor]:
        return mask.nonzero()[:, 1].view(len(state), -1)[:, :4], wins.expand(len(state), -1, -1)

    monkeypatch.setattr(agent, "_survivors", known)
    first = SMALL.init(seeds(0, 900))
    legal = SMALL.legal_actions(first)[0, 0].nonzero().flatten()
    assert (ask(agent, SMALL, first, 0) == legal[2]).all()
    last = SMALL.step(first, legal[[0, 0]].expand(900, 2))
    legal = SMALL.legal_actions(last)[0, 1].nonzero().flatten()
    chosen = ask(agent, SMALL, last, 1)
    shares = [float((chosen == action).float().mean()) for action in legal[:4]]
    assert all(0.2 < share < 0.5 for share in shares[:3])
    assert sum(shares[:3]) > 0.99
    assert torch.equal(ask(agent, SMALL, last[:5], 1), chosen[:5]), "a move depends on its row alone"
    agent.answered = 0.0
    assert (ask(agent, SMALL, last, 1) == legal[2]).all(), "nobody answers: the best mean"


GAME = ToroidalCup(rows=12, cols=32, pattern="randys", shapes=2, max_generations=60)
DESIGN: dict[str, Any] = {"pattern": "randys", "shapes": 2, "weight": 1, "placements": {"rpentomino": "r2c2/0 r6c10/3"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "champion.json"
    file.write_text(to_text(GAME.id, GAME.parameters, [DESIGN]), encoding="utf-8")
    return file


def games(game: ToroidalCup, agent: Any, count: int = 8) -> Any:
    seats = torch.zeros(count, game.teams, dtype=torch.int64)
    return play_agents(game, [agent], seats, seeds(3, count), [torch.Generator().manual_seed(1)]).state


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
        {"rows": 26, "cols": 60, "shapes": 5, "stride": 3},
        {"rows": 20, "cols": 100, "shapes": 3, "teams": 4, "stride": 2},
        {"rows": 12, "cols": 106, "shapes": 2, "teams": 4},
    ],
)
def test_it_is_legal_on_boards_of_every_size(path: Path, parameters: dict[str, int]) -> None:
    game = ToroidalCup(pattern="randys", max_generations=8, **parameters)  # type: ignore[arg-type]  # all whole
    assert bool(games(game, ToroidalCupChampion(path, games=10), 2).done.all())


def test_answers_are_better_than_the_design_alone(path: Path) -> None:
    """Against a team that stands still, the last placement is changed so that Life gives more."""
    alone, answering = (ToroidalCupChampion(path, games=count) for count in (0, 320))
    count = 20
    seats = torch.tensor([[0, 1], [1, 0]] * (count // 2))
    played = play_agents(
        GAME, [alone, answering], seats, seeds(5, count), [torch.Generator().manual_seed(n) for n in (1, 2)]
    )
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
    ("content", "place", "got"),
    [
        ("", "", None),
        ("[" * 100_000, "", None),
        ('{"champion": 2}', "", "2"),
        ('{"champion": 1, "game": "toroidal-cup-v0", "parameters": {}, "designs": []}', "", ""),
        ({"shapes": 3}, ", design 1", ""),
        ({"weight": 0}, ", design 1", "0"),
        ({"pattern": 7}, ", design 1", "7, 2"),
        ({"placements": {"rpentomino": "r2c2 r6c10/3"}}, ", design 1", ""),
    ],
)
def test_damaged_files_are_refused(path: Path, content: str | dict[str, Any], place: str, got: str | None) -> None:
    text = content if isinstance(content, str) else to_text(GAME.id, GAME.parameters, [{**DESIGN, **content}])
    path.write_text(text, encoding="utf-8")
    with refused(f"{path}{place}", got):
        load(f"champion:{path}", GAME)


def test_the_shipped_champions_play_their_presets() -> None:
    files = sorted(CHAMPIONS.glob("*.json"))
    assert [file.stem for file in files] == ["toroidal-cup-small-v0", "toroidal-cup-v0"]
    _, designs = read_champion(files[1])
    assert len({(design.pattern, design.shapes) for design in designs}) == 15
    assert json.loads(files[1].read_text(encoding="utf-8"))["parameters"] == dict(ToroidalCup().parameters)
    agent = ToroidalCupChampion(games=0)
    for game in (ToroidalCup(max_generations=1), ToroidalCup(pattern="randys", rows=24, cols=48, shapes=3)):
        agent.start(game, torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
        assert bool(games(game, agent, 6).done.all())
