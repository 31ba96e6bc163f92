"""Agents in wild Cloth of Gold: bolts, dice of their own, and whole games of legal moves."""

from __future__ import annotations

import pytest
import torch

import cellgames
from cellgames.agents.cloth_of_gold.greedy import ClothGreedy, best_bolts
from cellgames.agents.cloth_of_gold.network import ClothEvaluator, ClothValues
from cellgames.agents.cloth_of_gold.rollout import ClothRollout
from cellgames.agents.cloth_of_gold.turns import ClothRandom, TurnAgent, random_turns
from cellgames.agents.networks.networks import Size
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild.state import WildState, wild
from cellgames.envs.core import seeds

SMALL = {"height": 20, "width": 20, "generations": 8, "max_rounds": 2}


def make() -> ClothOfGold:
    game = cellgames.make("cloth-of-gold-wild-small-v0", **SMALL)
    assert isinstance(game, ClothOfGold)
    return game


def later(game: ClothOfGold, num_envs: int, turns: int) -> WildState:
    """Games after some random turns, in which both players have two bolts."""
    state = game.init(seeds(3, num_envs))
    for turn in range(turns):
        state = game.play_turn(state, random_turns(game, state, seeds(turn, num_envs), 1).squeeze(1))
    games = wild(state)
    return games.replace(spells=torch.full_like(games.spells, 2))


def agents(game: ClothOfGold) -> list[TurnAgent]:
    torch.manual_seed(0)
    evaluator = ClothEvaluator(ClothValues(game, Size(channels=8, layers=1)), candidates=6, considered=3)
    return [ClothRandom(), ClothGreedy(candidates=4), ClothRollout(8), evaluator]


@pytest.mark.parametrize("number", range(4), ids=["random", "greedy", "rollout", "values"])
def test_agents_throw_dice_of_their_own_and_play_legal_moves(number: int) -> None:
    game, moves = make(), []
    for shift in (0, 1):
        agent = agents(game)[number]
        state: ClothState = later(game, 6, 3)
        state = state.replace(seed=state.seed + shift)  # other rain, fire and lightning to come
        env_ids, generator = torch.arange(6), torch.Generator().manual_seed(1)
        agent.start(game, state.current_player, env_ids)
        actions = agent.act_on_state(state, env_ids, generator)
        game.check(state, actions)
        moves.append(actions.tolist())
        while not state.done.all():
            state = game.step(state, actions)  # which checks that they are legal
            actions = agent.act_on_state(state, env_ids, generator)
    assert moves[0] == moves[1]


def test_bolts_fall_where_the_opponent_loses_most_and_not_without_reason() -> None:
    game = make()
    line = game.state_to_string(game.init(seeds(0, 1)))
    start = line.index("ground:")
    board = "5$10.2B$10.2B$2.2A$2.2A"
    ground = "20M$" * 19 + "20M"  # plain everywhere
    parts = [f"move:a turn:70 round:2 acts:0 score:+0 placed:- board:{board}! ground:{ground}!"]
    parts += [part for part in line[start:].split(" ")[1:] if not part.startswith(("spells", "animals"))]
    text = " ".join([*parts, "spells:1,1", "animals:-,-,-,-,-"])
    state = game.string_to_state(text)
    chosen = int(best_bolts(game, state, seeds(4, 1)))
    assert divmod(chosen, 20) in {(r, c) for r in (5, 6) for c in (10, 11)}
    after = game.step(state, torch.tensor([game.cells + chosen]))
    assert after.live.tolist() == [[4, 0]]
    assert int(best_bolts(game, after, seeds(4, 1))) == -1  # no bolt is left
    alone = game.string_to_state(text.replace("10.2B$10.2B", "$"))
    assert int(best_bolts(game, alone, seeds(4, 1))) == -1  # nothing to hit
