"""Self-play by actors on a real cluster: it is what one process plays, it is killed and continued, and it learns."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from training_runs import block_extras, content, equal, tiny

import cellgames
from cellgames.cluster import ClusterError, connected
from cellgames.training import Finished, PPOArguments, Progress, train
from cellgames.training.actors import ActorPlay
from cellgames.training.alphazero_arguments import AlphaZeroArguments
from cellgames.training.selfplay import Rollout

pytest.importorskip("ray")
pytestmark = pytest.mark.ray


@pytest.fixture(autouse=True)
def _no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    block_extras(partial(monkeypatch.setitem, sys.modules))


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """One for all tests, which runs use since it is there."""
    with connected(cores=2):
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A tiny run with two actors, who play ahead, that nobody disturbs."""
    with pytest.MonkeyPatch.context() as patch:
        block_extras(partial(patch.setitem, sys.modules))
        return train(tiny(actors=2, lag=1), tmp_path_factory.mktemp("whole"))


def tiny_zero(**changes: Any) -> AlphaZeroArguments:
    settings: dict[str, Any] = {
        **{"steps": 100, "lanes": 8, "horizon": 8, "minibatch": 32, "channels": 4, "layers": 1, "simulations": 4},
        **{"snapshot_every": 2, "evaluate_every": 9, "checkpoint_every": 2, "games": 4, "yardsticks": ("random",)},
        **{"opponents": "self=0.5,pool=0.5", "buffer": 80, "threads": 1, "device": "cpu"},
    }
    return AlphaZeroArguments.fitted(cellgames.make("torus-v0", size=2), **{**settings, **changes})


def pid(play: ActorPlay[Any], place: int) -> int:
    """Of an actor's process; waits until it has played what it was asked for."""
    handle = play._members[place].handle
    return int(play._ray.get(handle.__ray_call__.remote(lambda actor: os.getpid())))


def disturbed(patch: pytest.MonkeyPatch, disturb: Callable[[ActorPlay[Any], int], None]) -> list[int]:
    """Before each rollout, counted from 0, something is done to those who play; its rows are told."""
    collect, rows = ActorPlay.collect, list[int]()

    def spied(play: ActorPlay[Rollout], steps: int) -> Rollout:
        disturb(play, len(rows))
        rollout = collect(play, steps)
        rows.append(rollout.likely.shape[1])
        return rollout

    patch.setattr(ActorPlay, "collect", spied)
    return rows


# ---------------------------------------------------------------- the same everywhere


@pytest.mark.parametrize("arguments", [tiny, tiny_zero])
def test_one_actor_in_step_is_one_process(arguments: Callable[..., Any], tmp_path: Path) -> None:
    """Bit by bit: what it plays, whom it meets, and what is learned."""
    train(arguments(), tmp_path / "here")
    train(arguments(actors=1), tmp_path / "there")
    here, there = content(tmp_path / "here"), content(tmp_path / "there")
    assert equal(here["learner"], there["learner"])
    assert equal(here["past selves"], there["past selves"])
    assert any(member["games"] for member in here["learner"]["pool"])


def test_a_run_with_actors_that_was_stopped_ends_like_one_that_was_not(whole: Finished, tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.steps > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tiny(actors=2, lag=1), tmp_path, report=stop)
    assert 0 < train(tiny(actors=2, lag=1), tmp_path).before < 300
    assert equal(content(tmp_path), content(whole.out))


# ---------------------------------------------------------------- trouble


def test_a_run_survives_the_death_of_an_actor_and_the_silence_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellgames.training.actors.PATIENCE", 1.0)
    monkeypatch.setattr("cellgames.training.actors.LOST", 1000.0)
    silent: list[int] = []

    def disturb(play: ActorPlay[Any], number: int) -> None:
        if number == 1:
            silent.append(pid(play, 1))
            os.kill(silent[0], signal.SIGSTOP)
        elif number == 4:
            os.kill(silent[0], signal.SIGCONT)
            os.kill(pid(play, 0), signal.SIGKILL)

    rows, warnings = disturbed(monkeypatch, disturb), list[str]()
    finished = train(tiny(actors=2, lag=1, steps=1500, checkpoint_every=100), tmp_path, warn=warnings.append)
    assert finished.steps >= 1500
    told = [line for line in warnings if line.startswith("actor")]
    assert "actor 1 has not answered for 1 s; its games are left out until it does" in told
    (death,) = (line for line in told if line.startswith("actor 0 died"))
    assert death.endswith("; another one takes its place")
    assert rows[0] == rows[1] == 16  # the second was played before, while the learner learned
    assert 8 in rows
    assert set(rows) <= {8, 16, 24, 32}


def test_what_an_actor_raises_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"actor 0 failed: ZeroDivisionError: the bot's own fault"):
        train(tiny(actors=1, opponents="self=0.5,arena_bots:Broken=0.5"), tmp_path)


# ---------------------------------------------------------------- learning


def test_two_actors_and_a_learner_learn_to_beat_random_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar of one process (`test_training_runs`); the actors have ended afterwards."""
    actors: list[int] = []

    def note(play: ActorPlay[Any], number: int) -> None:
        if number == 1:
            actors.extend(pid(play, place) for place in (0, 1))

    disturbed(monkeypatch, note)
    settings = {"lanes": 64, "horizon": 18, "epochs": 3, "minibatch": 256, "learning_rate": 3e-3, "channels": 16}
    arguments = PPOArguments.fitted(
        cellgames.make("torus-v0", size=3),
        **{"steps": 11_000, "layers": 1, "sample": True, "threads": 1, "device": "cpu", "games": 200, "actors": 2},
        yardsticks=("random",),
        evaluate_every=100,
        **settings,
    )
    finished = train(arguments, tmp_path)
    assert finished.history[-1]["random"] > 0.8
    assert len(set(actors)) == 2
    assert all(_gone(process) for process in actors)


def _gone(process: int) -> bool:
    """Within 10 s."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
