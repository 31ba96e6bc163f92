"""Self-play by actors, on a stand-in for Ray in this process: their orders, and how rollouts are joined."""

from __future__ import annotations

import copy
import pickle
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from every_game import GAMES
from native_code import threads
from training_runs import SMALL, equal, network_for

import cellgames
from cellgames.agents.networks.networks import Network
from cellgames.envs.core import Game
from cellgames.training import PPOArguments
from cellgames.training.selfplay import actors
from cellgames.training.selfplay.actors import ActorPlay, make_play
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.training.selfplay.opponents import Opponents, Pool, parse_mix
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay

GAME = cellgames.make("torus-v0", size=2)
CPU = torch.device("cpu")
STEPS = 6


@pytest.fixture(autouse=True)
def _threads() -> Any:
    with threads(torch.get_num_threads()):  # actors play by one
        yield


class Handle:
    """An actor that does what it is told at once."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.orders: list[tuple[Any, Any]] = []
        self.play = SimpleNamespace(remote=self._play)

    def _play(self, order: Any, weights: Any) -> Any:
        self.orders.append((order, weights))
        return self.actor.play(order, weights)


class Cluster:
    """Stands for the module `ray`; references are the values."""

    exceptions = SimpleNamespace(RayError=OSError, RayTaskError=OSError)

    def __init__(self) -> None:
        self.handles: list[Handle] = []

    def put(self, value: Any) -> Any:
        return value

    def get(self, what: Any) -> Any:
        return what

    def remote(self, **options: Any) -> Any:
        assert options == {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 3}
        return lambda kind: SimpleNamespace(remote=lambda *told: self._new(kind(*told)))

    def _new(self, actor: Any) -> Handle:
        self.handles.append(Handle(actor))
        return self.handles[-1]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Actors are of this cluster from now on."""
    cluster = Cluster()
    monkeypatch.setattr(actors, "connected", lambda address, cores: nullcontext())
    monkeypatch.setattr(actors, "load_ray", lambda: cluster)
    monkeypatch.setattr(actors, "packed", pickle.dumps)
    return cluster


def here(
    game: Game, arguments: PPOArguments, network: Network, pool: Pool, num_envs: int, device: torch.device
) -> SelfPlay:
    return SelfPlay(game, network, Opponents(game, parse_mix(arguments.opponents), pool, device), num_envs, device)


class Learner:
    """Whose games are played: a network, a pool, and what was warned of."""

    def __init__(self, folder: Path, game: Game = GAME, **changes: Any) -> None:
        settings = {"actors": 2, "lag": 0, "num_envs": 6, "opponents": "self", "checkpoint_every": 100, **changes}
        for name in ("channels", "layers"):
            settings[name] = getattr(SMALL, name)
        self.arguments = PPOArguments.fitted(game, eval_opponents=("random",), **settings)
        self.network, self.warnings = network_for(game, kind="policy"), list[str]()
        self.pool = Pool(folder / "pool")
        self.pool.add(self.network, 0)
        play = make_play(here, game, self.arguments, self.network, self.pool, CPU, self.warnings.append)
        assert isinstance(play, ActorPlay)
        play.start()
        self.play: ActorPlay[Rollout] = play

    def learn(self) -> None:
        """Something or other."""
        for weight in self.network.parameters():
            weight.data += 0.01


def alike(one: Rollout, other: Rollout, rows: slice = slice(None)) -> bool:
    """Whether these rows of a rollout are all of another one."""
    return all(equal(value[:, rows], vars(other)[name]) for name, value in vars(one).items() if name != "ended")


@pytest.mark.parametrize("id", ["torus-small-v0", "grid-adaptation-small-v0", "toy-two-part-race-v0"])
def test_rows_of_actors_stand_side_by_side(id: str, cluster: Cluster, tmp_path: Path) -> None:
    """Each actor plays what one process with its seed and its part of the environments plays."""
    game = GAMES[id]
    learner = Learner(tmp_path, game, opponents="self=0.5,random=0.5")
    learner.play.restart(5)
    alone = []
    for seed in (5, derive(derive(5, Purpose.GAMES, 1), Purpose.GAMES, 0)):
        network, pool = copy.deepcopy(learner.network), Pool(tmp_path / "other")
        alone.append(here(game, learner.arguments, network, pool, 3, CPU))
        alone[-1].restart(seed)
    for _ in range(2):
        joined = learner.play.collect(STEPS)
        parts = [play.collect(STEPS) for play in alone]
        rows = parts[0].log_prob.shape[1]
        assert joined.log_prob.shape == (STEPS, 2 * rows)
        for number, part in enumerate(parts):
            assert alike(joined, part, slice(number * rows, (number + 1) * rows))
        assert joined.ended.games == sum(part.ended.games for part in parts)
        assert joined.ended.turns == sum(part.ended.turns for part in parts)
        for opponent, (score, games) in joined.ended.results.items():
            results = [part.ended.results.get(opponent, (0.0, 0)) for part in parts]
            assert (score, games) == pytest.approx(tuple(map(sum, zip(*results, strict=True))))


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_actors_play_with_the_newest_weights_but_for_the_lag(lag: int, cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, lag=lag, checkpoint_every=6)
    made: list[Network] = []
    for seed in (1, 2):
        learner.play.restart(seed)
        start = len(made)
        for _ in range(6):
            made.append(copy.deepcopy(learner.network))
            learner.play.collect(STEPS)
            learner.learn()
        # As many orders as iterations: what is played ahead of a restart would be lost.
        for handle in cluster.handles:
            orders = handle.orders[start:]
            assert len(orders) == 6
            for number, (order, weights) in enumerate(orders):
                newest = made[start + max(0, number - lag)].state_dict()
                assert equal(dict(weights), dict(newest))
                assert (order.seed, order.restart) == (handle.orders[start][0].seed, seed)
