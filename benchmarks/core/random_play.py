"""Moves a second of the loop that learners run, ours and other libraries': `python -m benchmarks.core.random_play`.

Every contestant observes, chooses a uniformly random legal move, plays it, and starts a new game when one ends, on one
core, by processor time. Hex on 11 x 11 is the game that all have: 121 cells and the swap, some 107 moves a random game.
The choice is made by what each library offers or, where it offers nothing, by NumPy.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.harness import Benchmark, Row, Work, aec_moves, timed

WARM_UP = 300  # steps, so that the envs are in all stages of a game
HEX = "hex(board_size=11)"
LENGTH_GAMES = 2_000  # games whose mean length converts rollouts to moves: standard error 0.2 %
ROLLOUTS_PER_CALL = 500
MOVES_PER_CALL = 2**16  # of the loop in JAX: a call of a good part of a second, so its overhead is nothing


def on_one_core(measure: Callable[..., Work], seconds: float, *arguments: Any, **named: Any) -> Work:
    """Measure on one core; the seconds are those of the processor."""
    os.environ["JAX_PLATFORMS"] = "cpu"  # read when JAX is imported; a JAX built for GPUs would prefer one
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return measure(seconds, *arguments, **named)


def ours(seconds: float, game: str, num_envs: int, *, observe: bool = True, native: bool = True, **given: Any) -> Work:
    """Measure `Vector.step_random`, with the mask and, as int8, what the player to move sees."""
    import torch

    import cellgames
    from cellgames.envs.native import without_native

    torch.set_num_threads(1)
    with contextlib.nullcontext() if native else without_native():
        dtype = torch.int8 if observe else None
        vector = cellgames.make(game, **given).vector(
            num_envs, seed=0, reuse_buffers=True, observe=dtype, compile="auto" if native else "never"
        )
        generator = torch.Generator().manual_seed(0)

        def play(steps: int = 20) -> int:
            for _ in range(steps):
                vector.step_random(generator)
                vector.legal_actions  # noqa: B018  # the mask is one of the outputs
                if observe:
                    vector.observation  # noqa: B018  # and so is this
            return steps * num_envs

        play(WARM_UP)
        return timed(play, seconds, time.process_time)


def envpool_hex(seconds: float, num_envs: int) -> Work:
    """Measure EnvPool's Hex in C++, a port of Pgx's, which observes for both players."""
    import envpool

    env = envpool.make("Hex-v1", env_type="gymnasium", num_envs=num_envs, num_threads=1, seed=0)
    uniform = np.random.default_rng(0).random
    _, info = env.reset()

    def play(steps: int = 20) -> int:
        nonlocal info
        for _ in range(steps):
            rank = info["legal_action_mask"].cumsum(1)
            *_, info = env.step((rank > (uniform(num_envs) * rank[:, -1]).astype(rank.dtype)[:, None]).argmax(1))
        return steps * num_envs

    play(WARM_UP)
    return timed(play, seconds, time.process_time)


def torus_aec(seconds: float) -> Work:
    """Measure `torus_v0.env()` in the loop that PettingZoo's own environment is measured with."""
    from cellgames.envs import torus_v0

    return aec_moves(seconds, partial(torus_v0.env, size=8))


def pettingzoo_connect_four(seconds: float) -> Work:
    """Measure PettingZoo's connect_four_v3 as `env()` wraps it; it imports pygame, which draws nothing here."""
    import pettingzoo

    return aec_moves(seconds, partial(pettingzoo.make, "aec", "classic/connect_four-v3"))


def openspiel_python(seconds: float) -> Work:
    """Measure OpenSpiel's Hex stepped from Python: `observation_tensor`, `legal_actions`, a choice, `apply_action`.

    Whole games are played, and the new state that starts each is paid for.
    """
    return timed(_hex_game(observe=True), seconds, time.process_time)


def openspiel_rollouts(seconds: float) -> Work:
    """Measure OpenSpiel's Hex played to the end inside C++, `ROLLOUTS_PER_CALL` games a call from Python.

    The games are those of `RandomRolloutEvaluator`, which Python may construct but not call. So it is called by
    `MCTSBot.mcts_search` with a budget of one simulation from the empty board: that one evaluates the root and expands
    nothing, which is checked. Moves are rollouts times the mean length of `LENGTH_GAMES` games of the same random play,
    played in Python beforehand.
    """
    import pyspiel

    play_in_python = _hex_game()
    mean_length = sum(play_in_python() for _ in range(LENGTH_GAMES)) / LENGTH_GAMES
    game = pyspiel.load_game(HEX)
    empty_board = game.new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS_PER_CALL, 0)
    limits = {"uct_c": 1.0, "max_simulations": 1, "max_memory_mb": 100}
    bot = pyspiel.MCTSBot(game, evaluator, **limits, solve=False, seed=0, verbose=False)

    def play() -> int:
        root = bot.mcts_search(empty_board)
        if root.explore_count != 1 or root.children:
            raise RuntimeError(
                f"expected 1 evaluation and 0 children, got {root.explore_count} and {len(root.children)}; "
                "this version of OpenSpiel searches differently, so rollouts can't be counted this way"
            )
        return ROLLOUTS_PER_CALL

    play()
    rollouts, elapsed = timed(play, seconds, time.process_time)
    return round(rollouts * mean_length), elapsed


def _hex_game(*, observe: bool = False) -> Callable[[], int]:
    """Return a function that plays one random game of Hex in OpenSpiel and returns its moves."""
    import pyspiel

    game, choice = pyspiel.load_game(HEX), Random(0).choice

    def play() -> int:
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal():
            if observe:
                np.asarray(state.observation_tensor(), dtype=np.float32)
            state.apply_action(choice(state.legal_actions()))
            moves += 1
        return moves

    play()
    return play


def pgx_hex(seconds: float, num_envs: int) -> Work:
    """Measure Pgx's Hex on the CPU, `num_envs` games in one compiled loop.

    A step draws an action for each game, plays it, computes the observation (`Env.step` always does) and resets the
    games that ended. The first call, which compiles, is left out. The 122nd action is the swap, legal for the second
    move only.

    It is the fastest that we found with the public API: the k-th legal action by a prefix sum (one random number a
    game, not one for each of 122 actions), and finished games replaced by one ready initial state, which fixes who
    begins. `jax.random.categorical` over the mask and Pgx's `auto_reset` are slower.
    """
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("hex")
    steps = max(1, MOVES_PER_CALL // num_envs)

    def step(state: Any, key: Any) -> Any:
        rank = jnp.cumsum(state.legal_action_mask, axis=1, dtype=jnp.int32)  # [B, A], legal actions up to here
        drawn = (jax.random.uniform(key, (num_envs, 1)) * rank[:, -1:]).astype(jnp.int32)
        state = jax.vmap(env.step)(state, jnp.argmax(rank > drawn, axis=1))
        done = state.terminated

        def renew(new: Any, old: Any) -> Any:
            return jnp.where(done.reshape((num_envs,) + (1,) * new.ndim), new, old)

        return jax.tree_util.tree_map(renew, initial, state)

    def body(_: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carry
        key, now = jax.random.split(key)
        return step(state, now), key

    advance = jax.jit(lambda carry: jax.lax.fori_loop(0, steps, body, carry), donate_argnums=0)
    key = jax.random.PRNGKey(0)
    initial = env.init(key)
    carry = (jax.vmap(env.init)(jax.random.split(key, num_envs)), key)

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(advance(carry))
        return steps * num_envs

    play()
    return timed(play, seconds, time.process_time)


BATCHES = (1, 256, 4096)


def _row(
    name: str, about: str, measure: Callable[..., Work], package: str, *more: str, batch: int = 1, **how: Any
) -> Row:
    rival = how.pop("rival", "")
    measured = partial(on_one_core, measure, **how)
    return Row(name, about, measured, batch=batch, rival=rival, packages=(package, *more))


def _ours(name: str, about: str, num_envs: int, rival: str = "", **how: Any) -> Row:
    return _row(
        f"{name}_{num_envs}", about, ours, "cellgames", "torch", batch=num_envs, rival=rival, num_envs=num_envs, **how
    )


_FOUR = "pettingzoo_connect_four"
_HEX: dict[str, Any] = {"game": "hex-v0", "size": 11}
_SEEN = "observation, choice, step, mask, new games"

RANDOM_PLAY = Benchmark(
    "Random legal play with observations: moves a second of one core",
    "benchmarks.core.random_play",
    Path("results/benchmarks/random_play.md"),
    (
        *(_ours("torus", f"Torus n = 8: {_SEEN}", batch, game="torus-v0", size=8) for batch in BATCHES),
        *(_ours("hex", f"Hex 11 x 11: {_SEEN}", batch, rival=f"envpool_hex_{batch}", **_HEX) for batch in BATCHES),
        *(_ours("y", f"Y 13: {_SEEN}", batch, game="y-v0", size=13) for batch in BATCHES),
        _ours("hex_torch", f"Hex 11 x 11 in torch, without native code: {_SEEN}", 4096, native=False, **_HEX),
        _ours("hex_unseen", "Hex 11 x 11: choice, step, mask, new games", 4096, observe=False, **_HEX),
        *(
            _row(f"{name}_{batch}", f"Hex 11 x 11, {about}: {_SEEN}", measure, *packages, batch=batch, num_envs=batch)
            for name, about, measure, packages in (
                ("envpool_hex", "C++, choice by NumPy", envpool_hex, ("envpool",)),
                ("pgx_hex", "one jitted loop in JAX", pgx_hex, ("pgx", "jax")),
            )
            for batch in BATCHES
        ),
        _row("openspiel_hex", f"Hex 11 x 11, C++ stepped from Python: {_SEEN}", openspiel_python, "open_spiel"),
        _row("openspiel_hex_rollouts", "Hex 11 x 11 in C++: choice, step", openspiel_rollouts, "open_spiel"),
        _row("torus_aec", "Torus n = 8 through PettingZoo's loop", torus_aec, "cellgames", "torch", rival=_FOUR),
        _row(_FOUR, "connect_four_v3 through PettingZoo's loop", pettingzoo_connect_four, "pettingzoo"),
    ),
)

if __name__ == "__main__":
    sys.exit(RANDOM_PLAY.main())
