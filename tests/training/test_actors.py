"""Self-play by actors, on a stand-in for Ray in this process: their orders, how rollouts are joined, and refusals."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from every_game import GAMES
from refusals import refused
from training_runs import SMALL, equal, network_for, tiny

import cellgames
from cellgames.agents.networks.networks import Network
from cellgames.cluster.connection import ClusterError
from cellgames.envs.core import Game
from cellgames.runs.run_folder import RunError
from cellgames.training import PPOArguments, train
from cellgames.training.runs.checkpoints import FAILURE
from cellgames.training.selfplay import actors
from cellgames.training.selfplay.actors import ActorPlay, make_play
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.training.selfplay.opponent_mix import Opponents, parse_mix
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay

GAME = cellgames.make("torus-v0", size=2)
CPU = torch.device("cpu")
STEPS = 6


@pytest.fixture(autouse=True)
def _threads() -> Any:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)  # actors play by one


class RayError(Exception):
    """An actor, or what it made, is gone."""


class RayTaskError(RayError):
    """An actor raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Handle:
    """An actor that does what it is told at once; a `dead` one is gone."""

    def __init__(self, actor: Any) -> None:
        self.actor, self.dead = actor, False
        self.orders: list[tuple[Any, Any]] = []
        self.play = SimpleNamespace(remote=self._play)

    def _play(self, order: Any, weights: Any) -> Any:
        self.orders.append((order, weights))
        try:
            return self.actor.play(order, weights)
        except Exception as error:
            return RayTaskError(error)


class Cluster:
    """Stands for the module `ray`; references are the values."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, cores: int) -> None:
        self.cores, self.open = cores, True
        self.handles: list[Handle] = []

    def put(self, value: Any) -> Any:
        return value

    def get(self, what: Any) -> Any:
        if isinstance(what, list):
            if any(handle.dead for handle in self.handles):
                raise RayError("the worker died\nand more lines")
            if wrong := [part for part in what if isinstance(part, Exception)]:
                raise wrong[0]
        return what

    def remote(self, **options: Any) -> Any:
        assert options == {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 3}
        return lambda kind: SimpleNamespace(remote=lambda *told: self._new(kind(*told)))

    def _new(self, actor: Any) -> Handle:
        self.handles.append(Handle(actor))
        return self.handles[-1]

    def kill(self, handle: Handle) -> None:
        handle.dead = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cores}

    def is_initialized(self) -> bool:
        return self.open


def acting(patch: pytest.MonkeyPatch, cores: int = 2) -> Cluster:
    """Actors are of this cluster from now on."""
    cluster = Cluster(cores)

    @contextmanager
    def connected(address: str, cores: int) -> Iterator[Cluster]:
        yield cluster
        cluster.open = False

    patch.setattr(actors, "connected", connected)
    patch.setattr(actors, "load_ray", lambda: cluster)
    patch.setattr(actors, "packed", pickle.dumps)
    return cluster


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return acting(monkeypatch)


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


def test_a_restart_forgets_what_was_played_ahead(cluster: Cluster, tmp_path: Path) -> None:
    learner, other = Learner(tmp_path / "a", lag=2), Learner(tmp_path / "b", lag=0)
    learner.play.restart(1)
    learner.play.collect(STEPS)
    for play in (learner.play, other.play):
        play.restart(2)
    for _ in range(3):
        assert alike(learner.play.collect(STEPS), other.play.collect(STEPS))


def test_results_against_snapshots_reach_the_pool_and_to_the_actors(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, opponents="pool=0.7,random=0.3")
    learner.play.restart(3)
    scores, games = 0.0, 0
    for number in range(1, 6):
        pool = learner.pool.state_dict()
        ended = learner.play.collect(12).ended
        assert all(handle.orders[-1][0].members == pool for handle in cluster.handles)
        met = {opponent: result for opponent, result in ended.results.items() if opponent > 0}  # 0 is `random`
        scores, games = scores + sum(r[0] for r in met.values()), games + sum(r[1] for r in met.values())
        learner.learn()
        learner.pool.add(learner.network, 100 * number)
    assert games > 20
    assert 0.9 * games < sum(member.games for member in learner.pool.members) <= games  # older ones fade
    assert sum(member.score for member in learner.pool.members) == pytest.approx(scores, rel=0.1)
    assert len({member.win_rate for member in learner.pool.members}) > 2


def rows(learner: Learner) -> int:
    """Envs of the next rollout, after learning."""
    learner.learn()
    return learner.play.collect(STEPS).log_prob.shape[1]


def test_an_actor_that_was_started_again_begins_new_games_with_all_snapshots(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, opponents="self=0.5,pool=0.5")
    learner.play.restart(1)
    assert rows(learner) == 6
    old = cluster.handles[0].actor
    cluster.handles[0].actor = actors.Actor(*old._launch)  # as Ray makes one again
    learner.play._processes[0] += 1
    assert rows(learner) == 6
    assert learner.warnings == ["an actor died and began new games; the run cannot be repeated exactly"]
    assert cluster.handles[0].actor._pool._loaded.keys() == old._pool._loaded.keys()


def test_a_cluster_that_fails_ends_the_run(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    learner.play.restart(1)
    cluster.handles[1].dead = True
    with pytest.raises(ClusterError, match=r"the Ray cluster failed: the worker died; .*the same command continues"):
        rows(learner)


def test_a_run_whose_opponent_fails_in_an_actor_keeps_where(cluster: Cluster, tmp_path: Path) -> None:
    asked = tiny(actors=2, opponents="self=0.5,arena_bots:Broken=0.5")
    with pytest.raises(
        RunError, match=r"opponent arena_bots:Broken failed in the games of training: ZeroDivisionError"
    ):
        train(asked, tmp_path / "run")
    assert 'arena_bots.py", line' in (tmp_path / "run" / FAILURE).read_text()


def test_more_actors_than_cores_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = acting(monkeypatch, cores=1)
    message = "2 actors, but the cluster has 1 core; ask for actors=1 or start more machines"
    with pytest.raises(ClusterError, match=message):
        train(tiny(actors=2), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert not cluster.handles
    assert not cluster.open


@pytest.mark.parametrize(
    ("settings", "parameter", "got"),
    [
        ({"actors": 3}, "num_envs", "16 for 3"),
        ({"ray": "auto"}, "ray", "'auto' without actors"),
        ({"lag": 2}, "lag", "2 without actors"),
        ({"actors": -1}, "actors", "-1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], parameter: str, got: str) -> None:
    with refused(parameter, got):
        tiny(**settings)


def test_actors_end_with_the_run(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the run fails."""

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cellgames.training.ppo.ppo_learner.PPOLearner.iterate", fail)
    with pytest.raises(KeyboardInterrupt):
        train(tiny(actors=2), tmp_path / "run")
    assert len(cluster.handles) == 2
    assert all(handle.dead for handle in cluster.handles)
    assert not cluster.open
