"""Behaviour: positions out of records, what agents say of them, and how far they are apart."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from arena_bots import First, Last
from refusals import fails, refused
from strategy_records import played
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.agents import AnyAgent, BaseAgent, load
from cellgames.agents.playouts import RandomAgent
from cellgames.arena.records.replays import ReplayError, replay
from cellgames.envs.core import Game
from cellgames.lab.populations.behaviour import Behaviour, compare, embed, sections, to_data
from cellgames.lab.populations.queries import ask, draw_positions

TORUS: Game = cellgames.make("torus-v0", size=3)
GAMES = played(TORUS, ["random", "greedy"], 20)
CLOTH = cellgames.make("cloth-of-gold-v0", height=16, width=16, generations=4, max_rounds=3)
CUP = cellgames.make("toroidal-cup-small-v0", max_generations=20)
GRID = cellgames.make("grid-adaptation-small-v0", rounds=3)


class Coin(BaseAgent):
    """The first legal action with a chance, else the last one."""

    def __init__(self, chance: float) -> None:
        super().__init__(f"coin {chance}")
        self.chance = chance

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        first = torch.rand(len(env_ids), generator=generator) < self.chance
        last = action_mask.shape[1] - 1 - action_mask.flip(1).int().argmax(dim=1)
        return torch.where(first, action_mask.int().argmax(dim=1), last)


def behaviour(game: Game, agents: dict[str, Any], records: Any, **asking: Any) -> Behaviour:
    return compare(game, agents, draw_positions(game, records, asking.pop("positions", 40), 0), **asking)


def test_positions_are_those_of_the_games_and_none_comes_twice() -> None:
    found = draw_positions(TORUS, GAMES, 60, 3)
    pairs = list(zip(found.records, found.plies, strict=True))
    assert len(found) == len(set(pairs)) == 60
    for env_id in (0, 17, 59):
        state = replay(GAMES[pairs[env_id][0]])[pairs[env_id][1]]
        assert found.state[env_id].equal(state)
        assert found.players[env_id] == state.current_player[0]
    assert not found.state.done.any()


def test_where_turns_are_several_actions_positions_are_those_where_they_begin() -> None:
    records = played(CLOTH, ["random"], 3)
    found = draw_positions(CLOTH, records, 10_000, 0)
    state: Any = found.state
    assert (state.acts == 0).all()
    assert len(found) == sum(record.moves.count("end") for record in records)


def test_a_record_that_does_not_reproduce_is_named() -> None:
    wrong = dataclasses.replace(GAMES[0], moves=(GAMES[0].moves[0], *GAMES[0].moves[:1], *GAMES[0].moves[2:]))
    with fails(ReplayError, parameter="game 2"):
        draw_positions(TORUS, [GAMES[1], wrong], 10_000, 0)
    with refused("records", "none"):
        draw_positions(TORUS, [dataclasses.replace(GAMES[0], opening=len(GAMES[0].moves))], 5, 0)


@pytest.mark.parametrize(("game", "kind"), [(TORUS, "policy"), (CUP, "policy"), (CUP, "placements")])
@pytest.mark.parametrize("sample", [True, False])
def test_networks_tell_the_chances_by_which_they_play(game: Game, kind: str, sample: bool) -> None:
    """Some agents play by another policy than their network's: sharper ones, and means over symmetries."""
    positions = draw_positions(game, played(game, ["random"], 6), 4, 0)
    network: Any = network_for(game, kind=kind)
    network.policy.weight.data *= 10  # so that a sharper policy is another one
    agent = network.agent("net", sample=sample)
    answers, count = ask(game, agent, positions, 2, 0), 2000 if sample else 1
    assert answers.exact
    seen, mask = game.observe(positions.state, positions.players), game.legal_actions(positions.state)
    if game.info.simultaneous:
        mask = mask[torch.arange(len(mask)), positions.players]
    rows = torch.arange(len(mask)).repeat_interleave(count)
    actions = agent.act(seen[rows], mask[rows], rows, torch.Generator().manual_seed(0))
    drawn = torch.nn.functional.one_hot(actions, mask.shape[1]).view(len(mask), count, -1).double().mean(1)
    assert (drawn - answers.shares[0]).abs().max() < (0.05 if sample else 1e-6)


def test_an_agent_has_no_distance_to_itself_and_others_have() -> None:
    agents = {
        "first": First(),
        "again": First(),
        "last": Last(),
        "random": RandomAgent(),
        "greedy": load("greedy", TORUS),
    }
    found = behaviour(TORUS, agents, GAMES)
    place = {name: number for number, name in enumerate(found.agents)}
    distance = found.distance
    assert np.diagonal(distance).tolist() == [0] * 5
    assert np.array_equal(distance, distance.T)
    assert distance[place["first"], place["again"]] == 0
    # They agree where a single action is legal.
    alone = (TORUS.legal_actions(draw_positions(TORUS, GAMES, 40, 0).state).sum(1) == 1).double().mean()
    assert distance[place["first"], place["last"]] == pytest.approx(1 - float(alone))
    assert distance[place["random"], place["greedy"]] > 0.3
    assert (found.low <= distance + 1e-9).all()
    assert (distance <= found.high + 1e-9).all()


def test_the_distance_from_chance_is_known_exactly_and_sampling_finds_it() -> None:
    found = behaviour(TORUS, {"random": RandomAgent(), "first": First()}, GAMES, draws=64)
    legal = TORUS.legal_actions(draw_positions(TORUS, GAMES, 40, 0).state).sum(1).double()
    assert found.distance[0, 1] == pytest.approx(float((1 - 1 / legal).mean()), abs=0.05)
    assert found.agreement[0, 1] == pytest.approx(float((1 / legal).mean()), abs=1e-6)
    assert found.entropy[0] == pytest.approx(float(legal.log().mean()))
    assert math.isnan(found.entropy[1])


def test_noise_of_sampling_is_taken_out() -> None:
    """Two agents of the same chances look alike though their samples differ, others as far apart as they are."""
    fair, same, other = Coin(0.5), Coin(0.5), Coin(0.9)
    found = behaviour(TORUS, {"a": fair, "b": same, "c": other}, GAMES, positions=100, draws=16)
    assert found.noise[0] > 0.1
    assert found.distance[0, 1] < 0.05
    assert found.low[0, 1] == 0
    assert 0.25 < found.distance[0, 2] < 0.45  # 0.4, but where there is no choice


def test_where_samples_tell_nothing_the_distance_is_not_known() -> None:
    wide = cellgames.make("torus-v0", size=16)
    records = played(wide, ["random"], 1)

    class Chance(RandomAgent):
        """Does not tell its chances."""

    found = behaviour(wide, {"a": Chance(), "b": Chance()}, records, positions=5, draws=1)
    assert np.isnan(found.distance[0, 1])
    assert to_data(found)["distance"] == [[0, None], [None, 0]]


def test_an_action_of_several_components_counts_slots_of_one_kind_together() -> None:
    records = played(GRID, ["random"], 6)
    positions = draw_positions(GRID, records, 20, 0)
    answers = ask(GRID, load("greedy", GRID), positions, 2, 0)
    assert answers.widths == (82, 4, 2, 5)
    sums = torch.stack([part.sum(2) for part in answers.shares.split(list(answers.widths), 2)], 2)
    assert torch.allclose(sums, torch.ones_like(sums))
    state: Any = positions.state
    first = state.round == 1
    assert (answers.weights[first, 1] == 0).all()
    assert (answers.weights[:, 0] == 1).any()
    assert (answers.weights[state.round <= GRID.parameters["rounds"], 3] == 0).all()


def test_places_in_the_plane_keep_distances_that_fit_in_it() -> None:
    points = np.array([[0, 0], [3, 0], [0, 4], [-3, -4]], dtype=np.float64) / 10
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    places, kept = embed(distance)
    assert np.allclose(np.linalg.norm(places[:, None] - places[None], axis=2), distance)
    assert kept == pytest.approx(1)


def test_the_section_names_the_nearest_and_the_farthest() -> None:
    agents: dict[str, AnyAgent] = {"first": First(), "again": First(), "last": Last()}
    (found,) = sections(TORUS, agents, GAMES, positions=30)
    assert "nearest first and again (0.0 %" in found.text
    assert [row[:2] for row in found.tables[0].rows][-1] == ("first", "again")
    assert not sections(TORUS, {"first": First()}, GAMES)
