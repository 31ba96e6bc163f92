"""Games of other libraries: the contract, tournaments that go on and replay, agents, and names that are refused."""

from __future__ import annotations

import json
import pickle
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from command import Command
from PIL import Image
from refusals import refused

import cellgames
from cellgames import InputError
from cellgames.arena import RoundRobinOptions, round_robin
from cellgames.cli.main import main
from cellgames.envs import Game, check_game, registry, seeds
from cellgames.envs.core.drawing import Bitmap, to_svg
from cellgames.envs.core.raster import to_png
from cellgames.envs.core.vector import put_positions
from cellgames.envs.foreign.game import ForeignGame

TICTACTOE = "pettingzoo:pettingzoo.classic.tictactoe_v3"
OPENSPIEL = [*("tic_tac_toe", "goofspiel(num_cards=4,imp_info=True)", "leduc_poker", "pig(winscore=10)")]

PARALLEL = """
import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

class Matching(ParallelEnv):
    metadata = {"name": "matching_v0"}
    possible_agents = ["even", "odd", "third"]
    def observation_space(self, agent): return Box(-1, 9, (2,), np.float32)
    def action_space(self, agent): return Discrete(3)
    def reset(self, seed=None, options=None):
        self.agents, self.turn, self.chance = self.possible_agents[:], 0, np.random.default_rng(seed)
        return self._seen(), {a: {} for a in self.agents}
    def _seen(self): return {a: np.array([self.turn, self.chance.integers(9)], np.float32) for a in self.agents}
    def step(self, actions):
        self.turn += 1
        total = sum(actions.values())
        rewards = {a: float(total % 3 == i) for i, a in enumerate(self.possible_agents) if a in self.agents}
        over = {a: self.turn == 3 or (a == "third" and self.turn == 2) for a in self.agents}
        playing, self.agents = self.agents, [a for a in self.agents if not over[a]]
        seen = {a: np.array([self.turn, 0], np.float32) for a in playing}
        return seen, rewards, over, {a: False for a in playing}, {a: {} for a in playing}

def env(): return Matching()
"""


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Other tests know only the games of the suite."""
    monkeypatch.setenv(registry.VARIABLE, "")
    before = dict(registry.REGISTRY)
    yield
    registry.REGISTRY.clear()
    registry.REGISTRY.update(before)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a parallel environment of one's own."""
    (tmp_path / "my_env.py").write_text(PARALLEL)
    monkeypatch.chdir(tmp_path)
    return "my_env.py:env"


def openspiel(name: str) -> Game:
    pytest.importorskip("pyspiel")
    return cellgames.make(f"openspiel:{name}", max_turns=40)


@pytest.mark.parametrize(
    ("needed", "name", "turns"),
    [
        *(("pyspiel", f"openspiel:{name}", 40) for name in OPENSPIEL),
        *(
            pytest.param("pgx", f"pgx:{name}", 40, marks=pytest.mark.slow)
            for name in ("tic_tac_toe", "kuhn_poker", "backgammon")
        ),
        ("pygame", TICTACTOE, 9),
        ("pygame", "pettingzoo:pettingzoo.classic.rps_v2", 4),
    ],
)
def test_games_of_other_libraries_keep_the_contract(needed: str, name: str, turns: int) -> None:
    pytest.importorskip(needed)
    check_game(cellgames.make(name, max_turns=turns), max_steps=turns)


def test_environments_of_ones_own_keep_the_contract_and_play_as_they_do(own: str) -> None:
    game = cellgames.make(own, max_turns=12)
    check_game(game, max_steps=12)
    state = game.init(seeds(4, 2))
    for actions in ([[1, 0, 0], [2, 2, 2]], [[1, 0, 0], [2, 2, 2]], [[1, 0, 0], [2, 1, 0]]):  # the third is out by then
        state = game.step(state, torch.tensor(actions))
    assert state.done.all()
    assert state.scores.tolist() == [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0]]
    assert game.outcome(state).tolist() == [[-1, 1, -1], [1, -1, -1]]


def test_results_are_those_of_the_library() -> None:
    """Random games of both, move for move."""
    import pyspiel

    game = openspiel("tic_tac_toe")
    state, generator = game.init(seeds(1, 8)), torch.Generator().manual_seed(1)
    theirs = [pyspiel.load_game("tic_tac_toe").new_initial_state() for _ in range(8)]
    while not state.done.all():
        legal = game.legal_actions(state)
        for row, one in enumerate(theirs):
            assert one.is_terminal() or legal[row].nonzero().flatten().tolist() == one.legal_actions()
        actions = game.random_actions(state, generator)
        for row, one in enumerate(theirs):
            if not one.is_terminal():
                one.apply_action(int(actions[row]))
        state = game.step(state, actions)
    assert state.scores.tolist() == [one.returns() for one in theirs]
    assert game.text(state[0]) == str(theirs[0]).rstrip()


def test_the_command_plays_and_replays_a_game_of_pettingzoo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pygame")
    words = ["--games", "2", "--opening-plies", "1", "--out", str(tmp_path / "run"), "--no-store", "--no-gif"]
    assert main(["round-robin", TICTACTOE, "--agents", "random", "mcts:4", *words]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["game"] == TICTACTOE
    capsys.readouterr()
    assert main(["replay", str(tmp_path / "run")]) == 0
    assert "All 2 games were played again" in capsys.readouterr().out


def test_a_position_is_drawn_by_its_own_environment() -> None:
    pytest.importorskip("pygame")
    from pettingzoo.classic import tictactoe_v3

    game, theirs = cellgames.make(TICTACTOE), tictactoe_v3.env(render_mode="rgb_array")
    state, pixels = game.init(seeds(1, 1)), []
    theirs.reset()
    for action in (4, 0, 8):
        theirs.step(action)
        state = game.step(state, torch.tensor([action]))
        (shape,) = game.draw(state).shapes
        assert isinstance(shape, Bitmap)
        pixels.append(theirs.render())
        assert (shape.rows, shape.cols, shape.rgb) == (*pixels[-1].shape[:2], pixels[-1].tobytes())
    assert game.draw(game.init(seeds(1, 1))) != game.draw(state)
    with Image.open(BytesIO(to_png(game.draw(state), 1000 / 480))) as drawn:
        assert (abs(np.asarray(drawn).astype(int) - pixels[-1]) < 32).mean() > 0.99
    data = to_svg(game.draw(state)).partition("base64,")[2].partition('"')[0]
    with Image.open(BytesIO(b64decode(data))) as drawn:
        assert (np.asarray(drawn) == pixels[-1]).all()


def test_a_command_checks_a_game(own: str, command: Command) -> None:
    out = command(f"check-game {own} --turns 3 --quiet --param max_turns=9")
    assert "my_env.py:env: 3 players, all at once, 3 actions" in out
    assert out.endswith(f" round-robin {own} --param max_turns=9 --agents random other=random\n")
    assert command(f"rules {own}").endswith(f" play {own} --agents random\n")
    Path("wrong.py").write_text(PARALLEL.replace("total = sum(actions.values())", "total = 1 // (2 - self.turn)"))
    assert "wrong.py, line 17, in step: ZeroDivisionError" in command.both("check-game wrong.py:env --quiet", code=1)[1]
    with refused("game", "wrong.py"):
        cellgames.make("wrong.py")
    Path("leaves.py").write_text("raise SystemExit")
    Path("nothing.py").write_text("def env(): return 5")
    for name, said in {"leaves.py:env": "SystemExit", "leaves:a-v0": "SystemExit", "nothing.py:env": "got int"}.items():
        assert said in command.refused(f"check-game {name}")


@pytest.mark.parametrize("name", ["pig(winscore=10)", "backgammon"])
def test_a_position_is_its_seed_and_its_actions_also_in_an_env_of_another_seed(name: str) -> None:
    game = openspiel(name)
    assert isinstance(game, ForeignGame)
    assert pickle.loads(pickle.dumps(game)) == game
    state = game.init(seeds(7, 1))
    for _ in range(3):
        state = game.step(state, game.random_actions(state, torch.Generator().manual_seed(2)))
    line, text, seen = game.state_to_string(state), game.text(state), game.observe(state, 0)
    again, put = game.string_to_state(line), put_positions(game.init(seeds(9, 1)), torch.tensor([0]), state)
    assert again.equal(state)
    assert put.seed.tolist() == seeds(9, 1).tolist()  # of the games that follow in the env
    game._live.clear()  # they are played again from their start
    for other in (again, put):
        assert (game.state_to_string(other), game.text(other)) == (line, text)
        assert torch.equal(game.observe(other, 0), seen)
    with refused("position", "'[1,9999]'"):
        game.string_to_state("[1,9999]")


@pytest.mark.parametrize("name", ["kuhn_poker", "pig(winscore=10)"])
def test_searches_refuse_what_is_hidden_and_dice_that_they_would_foresee(name: str, tmp_path: Path) -> None:
    with refused("agent 'mcts:4'"):
        round_robin(openspiel(name), ["random", "mcts:4"], RoundRobinOptions(games=2), out=tmp_path)


@pytest.mark.parametrize(
    "name", ["openspiel:no_such_game", "pettingzoo:no.such.module", "nothing.py:env", "pettingzoo:json"]
)
def test_what_cannot_be_found_is_refused(name: str) -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(InputError):
        cellgames.make(name)


def test_names_in_records_import_no_files(own: str) -> None:
    with refused("game", None):
        registry.make(f"{own}_2")
