"""Ctrl-C and SIGTERM in a run of training: what is kept, and that the run goes on as if it had not been stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from learner_play import same
from slow import slow_except
from training_runs import content

import cellgames
from cellgames.training import ALGORITHMS, Arguments, train
from cellgames.training.runs import run
from cellgames.training.runs.checkpoints import CHECKPOINT, Checkpoint, steps_kept
from cellgames.training.runs.interrupts import Interrupts, Stopped

SHARED = {
    **{"num_envs": 8, "num_steps": 6, "num_epochs": 2, "minibatch_size": 16, "channels": 4, "layers": 1},
    **{"eval_every": 2, "eval_games": 2, "eval_opponents": ("random",), "checkpoint_every": 5, "snapshot_every": 1},
    **{"pool_limit": 2, "threads": 1, "device": "cpu"},
}
GRID = {"size": 6, "rounds": 2, "flip_rounds": ()}
CUP = {"rows": 12, "cols": 24, "pattern": "randys", "shapes": 2, "max_generations": 30}
CLOTH = {"height": 16, "width": 16, "generations": 8}
CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "ppo": ("ppo", "torus-v0", {"size": 2}, {"opponents": "self=0.3,pool=0.4,greedy=0.3", "total_steps": 190}),
    "ppo, all at once": (
        *("ppo", "grid-adaptation-small-v0", GRID),
        {"opponents": "self=0.3,pool=0.4,greedy=0.3", "num_envs": 4, "total_steps": 210},
    ),
    "alphazero": (
        *("alphazero", "torus-v0", {"size": 2}),
        {"opponents": "self=0.5,pool=0.3,random=0.2", "num_simulations": 4, "buffer_size": 60, "total_steps": 130},
    ),
    "alphazero, several sizes": (
        *("alphazero", "torus-v0", {"size": 2}),
        {"variants": ("size=3",), "opponents": "self", "num_simulations": 4, "buffer_size": 60, "total_steps": 220},
    ),
    "alphazero, plans": (
        *("alphazero", "grid-adaptation-small-v0", {**GRID, "rounds": 4}),
        {"num_envs": 4, "num_simulations": 4, "buffer_size": 60, "opponents": "self", "total_steps": 210},
    ),
    "alphazero, whole turns": (
        *("alphazero", "cloth-of-gold-v0", {**CLOTH, "max_units": 4}),
        {"num_simulations": 2, "max_num_considered_actions": 2, "opponents": "self", "total_steps": 12},
    ),
    "turn-values": (
        *("turn-values", "cloth-of-gold-v0", CLOTH),
        {"opponents": "self=0.4,pool=0.3,greedy=0.3", "candidates": 4, "total_steps": 150},
    ),
    "placement-values": (
        *("placement-values", "toroidal-cup-v0", CUP),
        {"placements": 6, "generations": 0, "opponents": "self", "total_steps": 100},
    ),
    "maskable-ppo": (
        *("maskable-ppo", "torus-v0", {"size": 2}),
        {"opponents": "self=0.4,pool=0.3,random=0.3", "total_steps": 300},
    ),
}


@pytest.fixture(autouse=True)
def _usual_handlers() -> Iterator[None]:
    """Those of a new process, also where shells ignore Ctrl-C: in background jobs. Children inherit that."""
    before = {
        number: signal.signal(number, usual)
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def arguments_of(case: str, **changes: Any) -> Arguments:
    algorithm, game, parameters, settings = CASES[case]
    values = {**SHARED, **settings, **changes}
    return ALGORITHMS[algorithm].arguments.fitted(cellgames.make(game, **parameters), **values)


def signalling(patch: pytest.MonkeyPatch, owner: Any, name: str, number: int, call: int) -> None:
    """Let a function raise a signal before it does its work, in the call of this number; 0 is every call."""
    original, count = getattr(owner, name), 0

    def signals(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if call in (0, count):
            signal.raise_signal(number)
        return original(*args, **kwargs)

    patch.setattr(owner, name, signals)


@pytest.mark.parametrize("case", slow_except(["ppo"], CASES))
def test_a_run_that_is_interrupted_in_every_iteration_ends_like_one_that_is_not(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_of(case)
    whole = train(arguments, tmp_path / "whole")
    learner, stops = ALGORITHMS[arguments.algorithm].learner, list[Stopped]()
    with monkeypatch.context() as patch:
        signalling(patch, learner, "iterate", signal.SIGINT, 0)
        while not stops or stops[-1].steps < whole.steps:
            with pytest.raises(Stopped) as stopped:
                train(arguments, tmp_path / "parts")
            stops.append(stopped.value)
            assert steps_kept(tmp_path / "parts") == stops[-1].steps
    assert len(stops) == whole.history[-1]["iteration"]
    assert all(stop.exact and stop.signal == signal.SIGINT for stop in stops)
    assert train(arguments, tmp_path / "parts").before == whole.steps  # the last evaluation is made up for
    assert same(content(tmp_path / "parts"), content(tmp_path / "whole"))


@pytest.mark.parametrize(
    ("owner", "name", "call", "number"),
    [(run, "compare", 3, signal.SIGINT), (Checkpoint, "write", 2, signal.SIGTERM)],
)
def test_a_run_that_is_interrupted_in_an_evaluation_or_as_it_writes_ends_alike(
    owner: Any, name: str, call: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluation after the checkpoint, and the checkpoint after five iterations."""
    arguments = arguments_of("ppo", eval_every=1 if owner is run else 2)
    train(arguments, tmp_path / "whole")
    with monkeypatch.context() as patch:
        signalling(patch, owner, name, number, call)
        with pytest.raises(Stopped) as stopped:
            train(arguments, tmp_path / "parts")
    kept = torch.load(tmp_path / "parts" / CHECKPOINT, weights_only=True)
    assert kept["at"]["iteration"] == (2 if owner is run else 5)
    assert kept["at"]["steps"] == stopped.value.steps > 0
    assert stopped.value.signal == number
    assert [line["iteration"] for line in kept["at"]["history"]] == ([0, 1] if owner is run else [0, 2, 4])
    train(arguments, tmp_path / "parts")
    assert same(content(tmp_path / "parts"), content(tmp_path / "whole"))


def test_a_signal_after_the_last_iteration_stops_what_would_follow(tmp_path: Path) -> None:
    arguments = arguments_of("ppo")
    whole = train(arguments, tmp_path / "whole")

    def report(progress: Any) -> None:
        if progress.steps == whole.steps:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Stopped) as stopped:
        train(arguments, tmp_path / "parts", report=report)
    assert stopped.value.steps == whole.steps
    assert same(content(tmp_path / "parts"), content(tmp_path / "whole"))


@pytest.mark.parametrize("opponent", ["mcts:4", "weights"])
def test_a_run_that_must_be_exact_ends_alike_whatever_its_opponents_remember(
    opponent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games against files of weights, such as members of a league, are kept; those against `mcts` start over."""
    if opponent == "weights":
        opponent = str(train(arguments_of("ppo", total_steps=20), tmp_path / "opponent").agent)
    arguments = arguments_of("ppo", opponents=f"self=0.5,{opponent}=0.5", total_steps=80, checkpoint_every=3)
    train(arguments, tmp_path / "whole")
    with monkeypatch.context() as patch:
        signalling(patch, ALGORITHMS["ppo"].learner, "iterate", signal.SIGINT, 2)
        with pytest.raises(Stopped) as stopped:
            train(arguments, tmp_path / "parts", exact=True)
    assert stopped.value.exact
    assert (stopped.value.steps == 0) == opponent.startswith("mcts")
    assert steps_kept(tmp_path / "parts") == stopped.value.steps
    train(arguments, tmp_path / "parts", exact=True)
    assert same(content(tmp_path / "parts"), content(tmp_path / "whole"))


def test_handlers_are_put_back_and_those_of_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: mine.append(number))
    interrupts = Interrupts(lambda number: None)
    try:
        with interrupts:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            assert (mine, interrupts.received) == ([signal.SIGTERM], signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is before
