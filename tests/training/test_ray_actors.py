"""Self-play by actors on a real cluster: it is what one process plays, it is killed and continued, and it learns."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import KILL, KILLED
from ray_clusters import alive, driver, patient
from slow import slow_except
from training_runs import LEARNS, block_extras, content, equal, tiny

import cellgames
from cellgames.cluster.connection import connected
from cellgames.training import Finished, PPOArguments, Progress, train
from cellgames.training.arguments import AlphaZeroArguments
from cellgames.training.selfplay.actors import ActorPlay
from cellgames.training.selfplay.rollouts import Rollout

pytest.importorskip("ray")
pytestmark = pytest.mark.ray


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """One for all tests, which runs use since it is there."""
    with connected(cores=2):
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A tiny run with two actors, who play ahead, that nobody disturbs."""
    return train(tiny(actors=2, lag=1), tmp_path_factory.mktemp("whole"))


def tiny_zero(**changes: Any) -> AlphaZeroArguments:
    settings: dict[str, Any] = {
        **{"total_steps": 100, "num_envs": 8, "num_steps": 8, "minibatch_size": 32},
        **{"channels": 4, "layers": 1, "num_simulations": 4},
        **{"snapshot_every": 2, "eval_every": 9, "checkpoint_every": 2, "eval_games": 4, "eval_opponents": ("random",)},
        **{"opponents": "self=0.5,pool=0.5", "buffer_size": 80, "threads": 1, "device": "cpu"},
    }
    return AlphaZeroArguments.fitted(cellgames.make("torus-v0", size=2), **{**settings, **changes})


def pid(play: ActorPlay[Any], place: int) -> int:
    """Of an actor's process; waits until it has played what it was asked for."""
    handle = play._actors[place]
    return int(play._ray.get(handle.__ray_call__.remote(lambda actor: os.getpid())))


def disturbed(patch: pytest.MonkeyPatch, disturb: Callable[[ActorPlay[Any], int], None]) -> list[int]:
    """Before each rollout, counted from 0, something is done to those who play; its rows are returned."""
    collect, rows = ActorPlay.collect, list[int]()

    def spied(play: ActorPlay[Rollout], steps: int) -> Rollout:
        disturb(play, len(rows))
        rollout = collect(play, steps)
        rows.append(rollout.log_prob.shape[1])
        return rollout

    patch.setattr(ActorPlay, "collect", spied)
    return rows


@pytest.mark.parametrize("arguments", slow_except([tiny], [tiny, tiny_zero]))
def test_one_actor_in_step_is_one_process(arguments: Callable[..., Any], tmp_path: Path) -> None:
    """Bit by bit: what it plays, whom it meets, and what is learned."""
    train(arguments(), tmp_path / "here")
    train(arguments(actors=1), tmp_path / "there")
    here, there = content(tmp_path / "here"), content(tmp_path / "there")
    assert equal(here["learner"], there["learner"])
    assert equal(here["snapshots"], there["snapshots"])
    assert any(member["games"] for member in here["learner"]["pool"])


def train_until_killed(folder: str, address: str) -> None:
    """The same run as `whole` in a process that dies on the way, after it has reported the processes of its actors."""
    block_extras(sys.modules.__setitem__)

    def tell(play: ActorPlay[Any], number: int) -> None:
        if number == 1:
            print(*(pid(play, place) for place in (0, 1)), flush=True)

    def die(progress: Progress) -> None:
        if progress.steps > 300:
            os.kill(os.getpid(), KILL)

    with pytest.MonkeyPatch.context() as patch:
        disturbed(patch, tell)
        train(tiny(actors=2, lag=1, ray=address), folder, report=die)


@pytest.mark.slow
def test_a_run_with_actors_that_was_killed_ends_like_one_that_was_not(whole: Finished, tmp_path: Path) -> None:
    with connected() as ray:
        address = ray.get_runtime_context().gcs_address
    script = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_ray_actors; "
    script += "test_ray_actors.train_until_killed(*sys.argv[1:])"
    with driver(script, tmp_path, address) as killed:
        out, error = killed.communicate(timeout=120)
    assert killed.returncode == KILLED, error
    assert len(actors := {int(word) for word in out.split()}) == 2
    assert 0 < train(tiny(actors=2, lag=1), tmp_path).before < 300
    assert equal(content(tmp_path), content(whole.out))
    assert all(_gone(actor) for actor in actors)


@pytest.mark.slow
def test_ppo_learns_to_beat_random_play_though_an_actor_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar of one process (`test_training_runs`); the actors have ended afterwards."""
    actors: list[int] = []

    def disturb(play: ActorPlay[Any], number: int) -> None:
        if number == 4:
            actors.extend(pid(play, place) for place in (0, 1))
            os.kill(actors[0], KILL)

    rows, warnings = disturbed(monkeypatch, disturb), list[str]()
    arguments = PPOArguments.fitted(cellgames.make("torus-v0", size=3), actors=2, **LEARNS)
    finished = train(arguments, tmp_path, warn=warnings.append)
    assert finished.history[-1]["random"] > 0.8
    assert [line for line in warnings if "an actor died" in line]
    assert set(rows) == {64}
    assert all(_gone(process) for process in actors)


def _gone(process: int) -> bool:
    return bool(patient(lambda: not alive({process: "an actor"})))
