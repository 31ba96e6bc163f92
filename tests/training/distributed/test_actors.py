"""Self-play by actors, on a cluster that is none: what they are sent, how it is joined, and who is left out."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from acting_cluster import Cluster, RayError, acting
from every_game import GAMES
from training_runs import SMALL, equal, network_for, tiny

import cellgames
from cellgames.agents.forfeits import AgentError
from cellgames.agents.networks.networks import Network
from cellgames.cluster.connection import Build, ClusterError
from cellgames.envs.core import Game
from cellgames.runs.run_folder import RunError
from cellgames.training import PPOArguments, train
from cellgames.training.runs.checkpoints import FAILURE
from cellgames.training.selfplay.actors import MAX_DEATHS, START_TIMEOUT, TIMEOUT, ActorPlay, make_play
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


# ---------------------------------------------------------------- what is played


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
                assert equal({name: torch.from_numpy(value) for name, value in weights.items()}, dict(newest))
                assert (order.seed is not None) == (number == 0)


def test_a_restart_forgets_what_was_played_ahead(cluster: Cluster, tmp_path: Path) -> None:
    learner, other = Learner(tmp_path / "a", lag=2), Learner(tmp_path / "b", lag=0)
    learner.play.restart(1)
    learner.play.collect(STEPS)
    for play in (learner.play, other.play):
        play.restart(2)
    for _ in range(3):
        assert alike(learner.play.collect(STEPS), other.play.collect(STEPS))


# ---------------------------------------------------------------- snapshots


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


def test_weights_of_snapshots_are_sent_once(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, opponents="self=0.5,pool=0.5", lag=1)
    learner.pool.limit = 2
    learner.play.restart(3)
    for number in range(1, 5):
        learner.play.collect(STEPS)
        learner.learn()
        learner.pool.add(learner.network, 100 * number)
    for handle in cluster.handles:
        sent = [file for order, _ in handle.orders for file in order.snapshots]
        assert sent == sorted(set(sent))
        assert len(sent) == 4
        known = handle.actor._pool
        for member in known.members:
            agent, kept = known.agent(member, "cpu"), learner.pool
            if member.file in {other.file for other in kept.members}:
                assert equal(agent.network.state_dict(), kept.agent(member, "cpu").network.state_dict())  # type: ignore[union-attr]  # of a policy
        assert len(known._loaded) == 2
    assert len(learner.play._snapshots) == 2


def test_without_snapshots_none_are_sent(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    learner.play.restart(3)
    learner.play.collect(STEPS)
    assert all(not order.members and not order.snapshots for handle in cluster.handles for order, _ in handle.orders)


# ---------------------------------------------------------------- who is silent, and who is gone


def rows(learner: Learner) -> int:
    """Envs of the next rollout, after learning."""
    learner.learn()
    return learner.play.collect(STEPS).log_prob.shape[1]


@pytest.mark.parametrize("lag", [0, 1])
@pytest.mark.parametrize("played", [True, False])
def test_who_does_not_answer_is_replaced(played: bool, lag: int, cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, lag=lag)
    learner.play.restart(1)
    if played:
        assert rows(learner) == 6
    cluster.handles[1].stuck, began = True, cluster.now
    assert rows(learner) == 6
    timeout = TIMEOUT if played else START_TIMEOUT  # machines start, packages are imported
    assert cluster.now - began == pytest.approx(timeout, rel=0.15)
    assert cluster.handles[1].dead
    (warning,) = learner.warnings
    assert warning.startswith("actor 1 has not answered for ")
    assert rows(learner) == 6
    assert len(cluster.handles) == 3


def test_who_plays_is_waited_for_however_long_it_takes(cluster: Cluster, tmp_path: Path) -> None:
    """Also where nobody has played yet, so that nobody knows how long it takes."""
    learner = Learner(tmp_path)
    learner.play.restart(1)
    for handle in cluster.handles:
        handle.busy = True
    wait = cluster.wait

    def wait_and_finish(*args: Any, **kwargs: Any) -> Any:
        for place, handle in enumerate(cluster.handles):
            handle.busy = cluster.now < 1000 * (1 + place)
        return wait(*args, **kwargs)

    cluster.wait = wait_and_finish  # type: ignore[method-assign]
    assert rows(learner) == 6
    assert cluster.now == pytest.approx(2000, abs=2)
    assert not learner.warnings
    assert len(cluster.handles) == 2


def test_who_answers_again_in_time_is_not_ended(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    learner.play.restart(1)
    assert rows(learner) == 6
    cluster.handles[0].stuck, began, wait = True, cluster.now, cluster.wait

    def wait_and_wake(*args: Any, **kwargs: Any) -> Any:
        cluster.handles[0].stuck = cluster.now < began + 0.8 * TIMEOUT
        return wait(*args, **kwargs)

    cluster.wait = wait_and_wake  # type: ignore[method-assign]
    assert rows(learner) == 6
    assert not learner.warnings
    assert len(cluster.handles) == 2


def test_one_who_dies_is_replaced_and_its_games_are_new(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, opponents="self=0.5,pool=0.5", lag=1)
    learner.play.restart(1)
    assert rows(learner) == 6
    cluster.handles[0].dead = True
    assert rows(learner) == 6
    assert learner.warnings == ["actor 0 died (the worker died); another one takes its place"]
    assert rows(learner) == 6
    first, _, another = cluster.handles
    order, weights = another.orders[0]
    assert order.seed not in (None, first.orders[0][0].seed)
    assert list(order.snapshots) == [learner.pool.members[0].file]
    assert all((weights[name] != value).all() for name, value in first.orders[0][1].items())
    learner.play.restart(2)
    rows(learner)
    assert another.orders[-2][0].seed == 2  # as if nobody had died


def test_one_who_dies_again_and_again_is_given_up_until_games_start_over(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    learner.play.restart(1)
    assert rows(learner) == 6
    cluster.handles[0].dead = cluster.stillborn = True
    for _ in range(2):
        assert rows(learner) == 3
    assert learner.warnings[-1] == (
        f"actor 0 died (the worker died), {MAX_DEATHS} times in a row; it is given up until games start over"
    )
    assert len(learner.warnings) == MAX_DEATHS
    cluster.stillborn = False
    cluster.cores = 0
    learner.play.restart(2)
    assert rows(learner) == 3, "without a free core there is none to wait for"
    cluster.cores = 2
    learner.play.restart(3)
    assert rows(learner) == 6


def test_if_all_are_given_up_there_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    learner.play.restart(1)
    cluster.stillborn = True
    for handle in cluster.handles:
        handle.dead = True
    with pytest.raises(ClusterError, match=r"all actors were given up; the last one died \(the worker died\)\. Do its"):
        rows(learner)
    assert len(cluster.handles) == 2 * MAX_DEATHS


def test_a_cluster_that_fails_ends_the_run(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: Any) -> None:
        raise RayError("no room for objects\nand more lines")

    learner = Learner(tmp_path)
    learner.play.restart(1)
    monkeypatch.setattr(cluster, "put", fail)
    with pytest.raises(ClusterError, match="the Ray cluster failed: no room for objects; the same command continues"):
        rows(learner)


# ---------------------------------------------------------------- refusals


def test_what_an_actor_raises_comes_out(cluster: Cluster, tmp_path: Path) -> None:
    learner = Learner(tmp_path, opponents="self=0.5,arena_bots:Broken=0.5")
    learner.play.restart(1)
    with pytest.raises(AgentError, match=r"agent 'arena_bots:Broken' failed: ZeroDivisionError: the bot's own fault"):
        rows(learner)


def test_a_run_whose_opponent_fails_in_an_actor_keeps_where(cluster: Cluster, tmp_path: Path) -> None:
    asked = tiny(actors=2, opponents="self=0.5,arena_bots:Broken=0.5")
    with pytest.raises(
        RunError, match=r"opponent arena_bots:Broken failed in the games of training: ZeroDivisionError"
    ):
        train(asked, tmp_path / "run")
    assert 'arena_bots.py", line' in (tmp_path / "run" / FAILURE).read_text()


def test_actors_of_another_build_are_refused(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellgames.training.selfplay.actors.build", lambda: Build("0.0.1", "1.0", "2.7"))
    learner = Learner(tmp_path)
    learner.play.restart(1)
    with pytest.raises(ClusterError, match=r"has other versions .*cellgames: expected 0\.0\.1, got"):
        rows(learner)


def test_more_actors_than_cores_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = acting(monkeypatch, cores=1)
    message = "2 actors, but the cluster has 1 core; ask for actors=1 or start more machines"
    with pytest.raises(ClusterError, match=message):
        train(tiny(actors=2), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert not cluster.handles
    assert not cluster.open


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"actors": 3},
            "num_envs must be a multiple of actors, who share them alike; got 16 environments for 3 actors, try 18",
        ),
        ({"ray": "auto"}, "ray is where actors play, and there are none; got ray='auto', try actors=4"),
        ({"lag": 2}, "lag is how far actors are ahead, and there are none; got lag=2, try actors=4"),
        ({"actors": -1}, "actors must be a whole number of at least 0, got -1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny(**settings)


def test_without_ray_there_are_no_actors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'clusters need Ray: pip install "cellgames\[ray\]"'):
        train(tiny(actors=2), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "refused",
    [{"opponents": "nobody"}, {"eval_opponents": ("rnadom",)}, {"clip_range": 0.1}],
    ids=" ".join,
)
def test_what_is_cheap_to_refuse_is_refused_before_there_is_a_cluster(
    refused: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "other"
    if "clip_range" in refused:
        folder = train(tiny(total_steps=1), tmp_path / "run").out
    monkeypatch.setattr("cellgames.training.selfplay.actors.connected", pytest.fail)
    with pytest.raises(ValueError, match=r"nobody|rnadom|clip_range: expected 0\.2, got 0\.1"):
        train(tiny(actors=2, **refused), folder)
    assert not (tmp_path / "other").exists()


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
