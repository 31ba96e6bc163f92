"""Games for OpenSpiel: the library's own tests, and its algorithms against the package's rules and solver."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from processes import python
from refusals import refused

import cellgames
from cellgames.agents.solving import proof_search
from cellgames.envs.core import Game

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python.algorithms import minimax
from open_spiel.python.observation import make_observation

from cellgames.envs.adapters import openspiel
from cellgames.envs.adapters.openspiel import OpenSpielGame

CLOTH = {"height": 8, "width": 8, "generations": 3, "max_units": 1, "max_rounds": 2, "radius": 2}
TINY = [
    cellgames.make("torus-v0", size=2),
    cellgames.make("torus-v0", size=3),
    cellgames.make("cloth-of-gold-v0", **CLOTH, neutral_density=0.1),
]


@pytest.mark.parametrize("game", TINY, ids=["torus2", "torus3", "cloth"])
def test_openspiels_own_simulations(game: Game) -> None:
    """They check actions, returns, observations, copies, and that text brings games and states back."""
    pyspiel.random_sim_test(OpenSpielGame(game), 2, True, False)


@pytest.mark.parametrize("game", TINY, ids=["torus2", "torus3", "cloth"])
def test_a_game_runs_as_in_the_core(game: Game) -> None:
    theirs, state = OpenSpielGame(game, seed=5), game.init(torch.tensor([5]))
    at = theirs.new_initial_state()
    view, rng = make_observation(theirs), np.random.default_rng(0)
    while not bool(state.done):
        player = int(state.current_player)
        legal = game.legal_actions(state)[0].nonzero().flatten().tolist()
        assert (at.current_player(), at.legal_actions()) == (player, legal)
        assert str(at) == game.state_to_string(state)
        view.set_from(at, player)
        assert np.array_equal(view.dict["observation"], game.observe(state, player)[0].numpy())
        copy, text = at.clone(), str(at)
        action = int(rng.choice(legal))
        at.apply_action(action)
        assert str(copy) == text
        state = game.step(state, torch.tensor([action]))
    assert at.is_terminal()
    assert at.returns() == game.outcome(state)[0].tolist()


def test_playthroughs_name_the_games() -> None:
    openspiel.register()
    assert "cellgames_cloth_of_gold_small_v0" in pyspiel.registered_names()
    wild = pyspiel.load_game("cellgames_cloth_of_gold_wild_small_v0(height=12,wildlife=1x0x2)")
    assert (wild.rules.height, wild.rules.wildlife) == (12, (1, 0, 2))
    actions = [0, 1, 2, 3]
    from open_spiel.python.algorithms import generate_playthrough  # which takes a second

    played = [generate_playthrough.playthrough("cellgames_torus_v0(size=2)", actions, seed=1) for _ in range(2)]
    assert played[0] == played[1]
    assert "a1" in played[0]


def test_minimax_agrees_with_the_solver() -> None:
    game = cellgames.make("torus-v0", size=2)
    for line in ("../.. ../.. b", "x./.. ../.. w", "xo/.. ../.. b", "xx/.o ../.. w", "x./o. .x/.. w", "xo/.. ox/.. b"):
        state = game.string_to_state(line)
        value, _ = minimax.alpha_beta_search(OpenSpielGame(game, position=line))
        assert value == int(proof_search(game).solve(state)), line  # for the player to move


def test_positions_survive_openspiels_text() -> None:
    game = cellgames.make("cloth-of-gold-v0", **CLOTH | {"max_units": 2})
    state = game.step(game.init(torch.tensor([0])), torch.tensor([9]))
    state = game.step(state, torch.tensor([10]))
    line = game.state_to_string(state)  # it has a comma, which divides parameters there
    again = pyspiel.load_game(str(OpenSpielGame(game, position=line)))
    assert str(again.new_initial_state()) == line


def test_what_cannot_be_played_is_refused() -> None:
    with refused("game", where="grid-adaptation-v0"):
        OpenSpielGame("grid-adaptation-v0")
    with refused("position", "'xx/xx oo/oo b'"):
        OpenSpielGame(cellgames.make("torus-v0", size=2), position="xx/xx oo/oo b")
    openspiel.register()
    with refused("size", "99"):
        pyspiel.load_game("cellgames_torus_v0(size=99)")


@pytest.mark.parametrize("action", [3, -2, 18, 1 << 40])
def test_an_illegal_action_is_refused_and_changes_nothing(action: int) -> None:
    state = OpenSpielGame(cellgames.make("torus-v0", size=3)).new_initial_state()
    state.apply_action(3)
    before, history = str(state), state.history()
    with pytest.raises(pyspiel.SpielError):
        state.apply_action(action)
    assert (str(state), state.history()) == (before, history)


@pytest.mark.slow
def test_python_ends_well() -> None:
    """OpenSpiel frees what it knows of Python after Python's end."""
    code = "from cellgames.envs.adapters import openspiel; openspiel.register(); openspiel.OpenSpielGame('torus-v0')"
    assert python("-c", code).returncode == 0
