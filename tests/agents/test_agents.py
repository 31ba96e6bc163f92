"""The agents' protocol, the loop that plays games, random and policy agents, and specs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from every_game import after_openings, generator
from refusals import fails, refused
from torch import Tensor
from toy_games import Race, Sealed, TwoPartRace

import cellgames
from cellgames import InputError
from cellgames.agents import AnyAgent, BaseAgent, Played, PolicyAgent, load, moves, play, random_openings, select
from cellgames.agents.playouts import RandomAgent, random_actions
from cellgames.envs.core import Game, IllegalActionError, State, seeds

TORUS = cellgames.make("torus-v0", size=3)


class First(BaseAgent):
    """Plays the first legal action, and keeps what it was given."""

    def __init__(self, name: str = "first") -> None:
        super().__init__(name)
        self.started: list[tuple[int, int]] = []
        self.asked: list[tuple[Any, ...]] = []

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.started = list(zip(env_ids.tolist(), players.tolist(), strict=True))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.asked.append((observation, action_mask, env_ids))
        return action_mask.int().argmax(1)


class Last(First):
    """Plays the last legal action."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        super().act(observation, action_mask, env_ids, generator)
        return action_mask.shape[1] - 1 - action_mask.flip(1).int().argmax(1)


class Searcher(BaseAgent):
    """Plays the first legal action of a state."""

    game: Game

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.game = game

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.state = state
        return self.game.legal_actions(state).int().argmax(1)


class Fixed(BaseAgent):
    """Gives the same thing, whatever it is asked."""

    def __init__(self, answer: Any) -> None:
        super().__init__("fixed")
        self.answer = answer

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Any:
        return self.answer


def run(agents: Sequence[AnyAgent], seats: Sequence[Sequence[int]], game: Game = TORUS, **options: Any) -> Played:
    chances = [generator(number) for number in range(len(agents))]
    return play(game, agents, torch.tensor(seats), seeds(0, len(seats)), chances, **options)


def test_agents_sit_where_seats_say_and_are_asked_once_a_turn_about_their_envs_that_go_on() -> None:
    first, last = First(), Last()
    played = run([first, last], [[0, 1], [1, 0], [0, 0]])
    assert first.started == [(0, 0), (1, 1), (2, 0), (2, 1)]
    assert last.started == [(0, 1), (1, 0)]
    assert played.actions[:2].tolist() == [[0, 17, 0], [17, 0, 1]]
    assert [env_ids.tolist() for *_, env_ids in first.asked[:2]] == [[0, 2], [1, 2]]
    turns = played.turns.tolist()
    assert len(set(turns)) > 1, "expected games of different lengths, for the test's sake"
    for env_id in range(3):
        asked = sum(env_id in env_ids for agent in (first, last) for *_, env_ids in agent.asked)
        assert asked == turns[env_id]
        assert (played.actions[: turns[env_id], env_id] >= 0).all()
        assert (played.actions[turns[env_id] :, env_id] == -1).all()
    assert len(first.asked) + len(last.asked) <= 2 * max(turns)
    assert played.actions.shape == (max(turns), 3)
    assert played.state.done.all()


def test_openings_are_forced_then_agents_go_on() -> None:
    opening = torch.tensor([[5, 6, 7], [8, -1, -1], [-1, -1, -1]])
    played = run([First(), Last()], [[0, 1]] * 3, opening=opening)
    assert played.actions[:4].t().tolist() == [[5, 6, 7, 17], [8, 17, 0, 16], [0, 17, 1, 16]]
    assert TORUS.observe(run([First()], [[0, 0]], opening=opening[:1]).state, 0)[0, 0, 1, 2] == 1


def test_simultaneous_games_ask_for_every_seat_once_with_its_own_observation() -> None:
    game = Sealed()
    first, last = First(), RandomAgent()
    played = run(
        [last, PolicyAgent(lambda seen: [int(m.argmax()) for m in seen["action_mask"]])], [[0, 1, 1]] * 2, game
    )
    assert played.actions.shape == (3, 2, 3, 2)
    assert played.actions[0, :, 1:].eq(torch.tensor([0, 2])).all()  # the first card; no guess in round 0
    assert (played.actions[1, :, 1:] == torch.tensor([1, 0])).all()
    assert played.turns.tolist() == [3, 3]

    class Two(First):
        def act(self, *arguments: Any) -> Tensor:
            super().act(*arguments)
            return random_actions(arguments[1], game.info.action_nvec, arguments[3])

    first = Two()
    run([first, last], [[0, 1, 0], [1, 1, 1], [1, 0, 0]], game)
    observation, mask, env_ids = first.asked[0]
    assert env_ids.tolist() == [0, 0, 2, 2]
    state = game.init(seeds(0, 3))
    for row, (env_id, seat) in enumerate([(0, 0), (0, 2), (2, 1), (2, 2)]):
        assert torch.equal(observation[row], game.observe(state, seat)[env_id])
        assert torch.equal(mask[row], game.legal_actions(state)[env_id, seat])
    assert len(moves(game, played, 0)[0].split()) == 3
    assert moves(game, played, 0)[0].split()[1:] == ["0/none", "0/none"]


@pytest.mark.parametrize("game", [TORUS, Sealed(), Race(), TwoPartRace()], ids=lambda game: game.id)
def test_random_openings_leave_games_unfinished(game: Game) -> None:
    plies = 8 if game is TORUS else 2
    opening = random_openings(game, 40, plies, generator(3))
    assert opening.shape[:2] == (40, plies)
    assert torch.equal(opening, random_openings(game, 40, plies, generator(3)))
    assert len(opening.unique(dim=0)) > 5
    if not game.info.stochastic:
        assert not after_openings(game, 40, plies, 3)[0].done.any()


def test_what_an_agent_does_to_its_arguments_changes_no_game() -> None:
    class Vandal(First):
        def act(self, observation: Tensor, action_mask: Tensor, *rest: Any) -> Tensor:
            chosen = action_mask.int().argmax(1)
            observation.zero_()
            action_mask.fill_(True)
            return chosen

    class Cheat(Vandal):
        def act(self, observation: Tensor, action_mask: Tensor, *rest: Any) -> Tensor:
            super().act(observation, action_mask, *rest)
            return torch.zeros(len(action_mask), dtype=torch.int64)

    assert torch.equal(run([Vandal()], [[0, 0]]).actions, run([First()], [[0, 0]]).actions)
    with fails(IllegalActionError, cause="cell a1 is taken"):
        run([Cheat()], [[0, 0]])


def test_search_agents_get_states_in_games_with_perfect_information_only() -> None:
    searcher = Searcher("searcher")
    assert torch.equal(run([searcher], [[0, 0]]).actions, run([First()], [[0, 0]]).actions)
    with refused("agent 'searcher'", "toy-sealed-v0"):
        run([searcher], [[0, 0, 0]], Sealed())

    class Both(Searcher, First):
        pass

    both = Both("both")
    run([both], [[0, 0]])
    assert not both.asked

    with refused("agent", "object"):
        run([object()], [[0, 0]])  # type: ignore[list-item]  # on purpose


def test_search_agents_do_not_learn_the_dice_to_come() -> None:
    searcher = Searcher("searcher")
    game = Race()
    env_seeds = seeds(0, 4)
    state = game.init(env_seeds)
    searcher.start(game, state.current_player, torch.arange(4))
    select(searcher, game, state, torch.arange(4), generator())
    assert not torch.isin(searcher.state.seed, env_seeds).any()
    assert torch.equal(state.seed, env_seeds)


NOT_DENSE = "must give a dense tensor with numbers in memory, got"


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        (torch.tensor([3, 4]), {"action": 4, "player": "white", "env_id": 5, "where": "agent 'fixed': torus-v0"}),
        (torch.tensor([18, 3]), {"action": 18, "env_id": 2, "cause": "expected a number from 0 to 17"}),
        (torch.tensor([-1, 3]), {"action": -1}),
        (torch.tensor([1.0, 2.0]), {"cause": "must give whole numbers, got torch.float32"}),
        (torch.tensor([1]), {"cause": "must give one action a game, [2], got [1]"}),
        (torch.tensor([[1], [2]]), {"cause": "must give one action a game, [2], got [2, 1]"}),
        (torch.zeros(1).long().expand(10**12), {"cause": "must give one action a game, [2], got [1000000000000]"}),
        (torch.zeros(2).long().to("meta"), {"cause": f"{NOT_DENSE} a meta tensor"}),
        (torch.zeros(2).to_sparse(), {"cause": f"{NOT_DENSE} torch.sparse_coo"}),
        ([1, 2], {"parameter": "agent 'fixed'"}),
    ],
)
def test_an_agents_bad_answer_is_explained(answer: Any, fields: dict[str, Any]) -> None:
    state = TORUS.step(TORUS.init(seeds(0, 6)), torch.full((6,), 4))
    with fails(InputError, **fields):
        select(Fixed(answer), TORUS, state, torch.tensor([2, 5]), generator())


def test_a_policy_gets_one_pettingzoo_observation_after_the_other() -> None:
    given = []

    def policy(seen: dict[str, Any]) -> np.int64:
        given.append(seen)
        seen["observation"][:] = 0  # its own to change
        return np.int64(seen["action_mask"].argmax())

    agent = PolicyAgent(policy)
    assert agent.name == "policy"
    played = run([agent], [[0, 0]] * 2)
    assert torch.equal(played.actions, run([First()], [[0, 0]] * 2).actions)
    assert given[0]["observation"].shape == (5, 3, 3)
    assert given[0]["observation"].dtype == np.int8
    assert given[0]["action_mask"].dtype == np.int8
    assert given[0]["action_mask"].shape == (18,)


@pytest.mark.parametrize(
    ("spec", "got", "fields"),
    [
        ("greddy", "'greddy'", {"parameter": "agent", "cause": "did you mean 'greedy'?"}),
        ("", "''", {"parameter": "agent"}),
        ("rollout", "nothing", {"parameter": "rollout:N"}),
        *((f"rollout:{text}", repr(text), {"parameter": "rollout:N"}) for text in ("", "0", "many")),
        ("random:3", "'3'", {"parameter": "agent 'random'"}),
        ("no_such_bots:Bot", "", {"parameter": "agent 'no_such_bots:Bot'"}),
        ("no_such.bots:Bot", "", {"parameter": "agent 'no_such.bots:Bot'"}),
        ("cellgames.agents.base:BaseAgnet", "'BaseAgnet'", {"cause": "did you mean 'BaseAgent'?"}),
        ("cellgames.agents.base:BaseAgent", "BaseAgent", {"expected": "the method act (or act_on_state)"}),
        ("math:floor:2", "floor", {"expected": "a class before the second colon"}),
        ("cellgames.agents.playouts:RolloutAgent", "RolloutAgent", {"expected": "a class that takes no arguments"}),
    ],
)
def test_a_bad_spec_is_explained(spec: str, got: str, fields: dict[str, str]) -> None:
    with fails(InputError, got=got, **fields):
        load(spec)


@pytest.mark.parametrize("spec", ["greedy", "rollout:4"])
def test_agents_refuse_games_they_cannot_play_when_loaded_and_when_started(spec: str) -> None:
    game = Sealed()
    with refused(f"agent '{spec}'", "toy-sealed-v0"):
        load(spec, game)
    with refused(f"agent '{spec}'", "toy-sealed-v0"):
        run([load(spec)], [[0, 0, 0]], game)


BOTS = """
from cellgames.agents import BaseAgent

class Corner(BaseAgent):
    def __init__(self, text="none"):
        self.text = text
    def act(self, observation, action_mask, env_ids, generator):
        return action_mask.int().argmax(1)

def policy(seen):
    return int(seen["action_mask"].argmax())

made = Corner("made")
"""


def test_ones_own_agents_are_found_by_import_path_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    module = f"bots_of_{tmp_path.name}"
    Path(f"{module}.py").write_text(BOTS)
    for spec, text in {"Corner": "none", "Corner:some:text": "some:text", "made": "made"}.items():
        agent: Any = load(f"{module}:{spec}", TORUS)
        assert agent.name == f"{module}:{spec}"
        assert agent.text == text
        assert run([agent], [[0, 0]]).actions[0, 0] == 0
    policy = load(f"{module}:policy")
    assert isinstance(policy, PolicyAgent)
    assert policy.name == f"{module}:policy"
    assert run([policy], [[0, 0]]).actions[0, 0] == 0
