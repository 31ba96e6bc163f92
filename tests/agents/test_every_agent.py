"""What every agent with a name must do in every game that it plays: legal moves, by what its seat sees, row by row."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from every_game import ask, generator, play
from slow import slow_except
from twins import twin

import cellgames
from cellgames.agents import acting, load, select
from cellgames.agents import play as play_agents
from cellgames.envs.core import Game, seeds
from cellgames.training import compare

TURNS = {"height": 10, "width": 12, "generations": 2, "max_units": 2, "max_rounds": 2, "radius": 4}
GAMES: dict[str, Game] = {
    "torus": cellgames.make("torus-v0", size=3),
    "hex": cellgames.make("hex-v0", size=4),
    "y": cellgames.make("y-v0", size=3, tiling="octagons"),
    "cloth": cellgames.make("cloth-of-gold-v0", **TURNS),
    "cloth, extinction": cellgames.make(
        "cloth-of-gold-v0", **TURNS | {"height": 8, "max_units": 4, "shaping": 0.5, "win_rule": "extinction"}
    ),
    "cloth, neutrals": cellgames.make(
        "cloth-of-gold-v0",
        **TURNS | {"neutral_density": 0.2, "neutral_births": True, "initial_placement": False, "first_verdict": 1},
    ),
    "cloth, wild": cellgames.make("cloth-of-gold-wild-small-v0", height=20, width=20, generations=4, max_rounds=2),
    "grid": cellgames.make("grid-adaptation-v0", size=7, players=4, rounds=4, flip_rounds=(2, 3)),
    "grid, bare": cellgames.make(
        "grid-adaptation-v0", size=5, players=2, rounds=3, first_tiles=1, reserves=0, starting_garnets=0
    ),
    "grid, crowded": cellgames.make("grid-adaptation-v0", size=5, players=8, rounds=3, reserves=9),
    "cup": cellgames.make("toroidal-cup-v0", rows=12, cols=32, pattern="randys", shapes=2, max_generations=30),
    "cup, mixed": cellgames.make(
        "toroidal-cup-v0", rows=24, cols=60, pattern="donutmethuselahs", shapes=4, max_generations=10
    ),
    "cup, three": cellgames.make(
        "toroidal-cup-v0", rows=12, cols=50, teams=3, pattern="randys", shapes=2, survivors="keep", max_generations=20
    ),
}
BASES = ("torus", "y", "cloth", "grid", "cup")
PAIRS = {f"{spec}-{name}": (spec, game) for spec in ("greedy", "rollout:2", "mcts:4") for name, game in GAMES.items()}
PAIRS |= {f"random-{name}": ("random", GAMES[name]) for name in BASES}
QUICK = [
    *(f"greedy-{name}" for name in GAMES),
    *(f"{spec}-{name}" for spec in ("random", "rollout:2") for name in BASES),
]
QUICK += [f"mcts:4-{name}" for name in ("torus", "hex", "grid, bare", "cup, three")]
every_pair = pytest.mark.parametrize(("spec", "game"), slow_except(QUICK, PAIRS.values(), PAIRS))


def midway(game: Game, num_envs: int) -> Any:
    state = play(game, game.init(seeds(1, num_envs)), max(1, game.info.max_turns // 4))
    return state[~state.done]


@every_pair
def test_it_plays_whole_legal_games_in_one_seat_and_in_all(spec: str, game: Game) -> None:
    """`play` refuses what is illegal."""
    players = game.info.num_players
    seats = torch.tensor([[0] * players, [0, *[1] * (players - 1)], [1, *[0] * (players - 1)]])
    agents = [load(spec, game), load("random", game)]
    assert agents[0].name == acting(agents[0], game).name == spec
    lots = (1, 1) if spec == "greedy" else (1, 1, 2)
    runs = [play_agents(game, agents, seats, seeds(4, 3), [generator(seed), generator(9)]) for seed in lots]
    assert all(run.state.done.all() for run in runs)
    assert torch.equal(runs[0].actions, runs[1].actions), "the same generators, the same games"
    assert spec == "greedy" or not torch.equal(runs[0].actions[:3], runs[-1].actions[:3])


@every_pair
def test_what_a_seat_does_not_see_changes_no_action(spec: str, game: Game) -> None:
    state, seat = midway(game, 6), game.info.num_players - 1
    agent = load(spec, game)
    assert torch.equal(ask(agent, game, twin(game, state, seat), seat), ask(agent, game, state, seat))


@every_pair
def test_it_goes_on_from_the_middle_in_envs_that_are_not_started_again(spec: str, game: Game) -> None:
    state, agent = midway(game, 4), load(spec, game)
    rows = torch.arange(len(state))
    players = rows % game.info.num_players if game.info.simultaneous else state.current_player
    agent.start(game, players, rows)
    agent.start(game, players[:1], rows[:1])
    for _ in range(3):
        going = (~state.done).nonzero().squeeze(1)
        if len(going) == 0:
            break
        actions = game.random_actions(state, generator())
        if game.info.simultaneous:
            actions[going, players[going]] = select(agent, game, state, going, generator(), players[going])
        else:
            actions[going] = select(agent, game, state, going, generator())
        state = game.step(state, actions)


TOWN = cellgames.make("grid-adaptation-v0", size=11, players=6, rounds=4, flip_rounds=(3, 4))
SHORT = cellgames.make("toroidal-cup-v0", rows=20, cols=60, pattern="donutpi", shapes=2, max_generations=32)
SMALL_PIECES: dict[str, tuple[str, Any]] = {
    "cloth": ("cloth_of_gold.greedy._WORLDS", 5000),
    "grid": ("grid_adaptation.greedy._BOARDS", 1),
    "cup, mixed": ("toroidal_cup.greedy.at_once", lambda game: 1),
}


@pytest.mark.parametrize("name", SMALL_PIECES)
def test_greedys_action_depends_on_its_row_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is memory for some rows at a time only; twins have chances of their own."""
    game, agent = GAMES[name], load("greedy", GAMES[name])
    state = midway(game, 6)
    whole = ask(agent, game, state, 1)
    assert torch.equal(ask(agent, game, state[:2], 1), whole[:2])
    monkeypatch.setattr(f"cellgames.agents.{SMALL_PIECES[name][0]}", SMALL_PIECES[name][1])
    assert torch.equal(ask(agent, game, state, 1), whole)
    assert len(ask(agent, game, state[[0] * 20], 1).unique(dim=0)) > 2


@pytest.mark.parametrize(
    ("spec", "other", "game", "games", "share"),
    [
        ("greedy", "random", cellgames.make("torus-v0", size=4), 120, 0.96),
        ("greedy", "random", cellgames.make("torus-v0", size=5), 120, 0.96),
        ("rollout:64", "random", cellgames.make("torus-v0", size=4), 60, 0.85),
        ("greedy", "random", cellgames.make("hex-small-v0"), 40, 0.94),
        ("greedy", "random", cellgames.make("y-small-v0"), 40, 0.94),
        ("greedy", "random", cellgames.make("cloth-of-gold-small-v0"), 8, 0.74),
        ("greedy", "random", TOWN, 8, 0.7),
        ("rollout:8", "random", TOWN, 4, 0.7),
        ("greedy", "random", SHORT, 60, 0.69),
        ("rollout:32", "random", SHORT, 60, 0.69),
    ],
)
def test_it_is_ahead_of_a_weaker_one(spec: str, other: str, game: Game, games: int, share: float) -> None:
    assert compare(game, load(spec, game), load(other, game), games, seed=1).ahead > share


@pytest.mark.parametrize("id", [id for id in cellgames.games() if "small" not in id])
@pytest.mark.parametrize("spec", ["greedy", "rollout:2"])
def test_it_plays_the_full_size(id: str, spec: str) -> None:
    game = cellgames.make(id)
    assert len(ask(load(spec, game), game, game.init(seeds(0, 1)), 0)) == 1
