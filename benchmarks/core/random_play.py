"""Moves a second of random legal play, ours and other libraries': `python -m benchmarks.core.random_play`.

All play uniformly random legal moves and start a new game when one ends. A batched move of ours draws an action from
the packed mask, plays it, detects the win, starts ended games over and writes the bool mask of the new positions. The
others' games are those nearest to Torus that each library has: Hex on 11 x 11 (121 cells, some 107 moves a random game)
and Connect Four (42 cells, some 21 moves).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.harness import Benchmark, Row, Work, aec_moves, timed

SIZE = 8
WARM_UP = 300  # steps, so that the envs are in all stages of a game
HEX = "hex(board_size=11)"
LENGTH_GAMES = 2_000  # games whose mean length converts rollouts to moves: standard error 0.2 %
ROLLOUTS_PER_CALL = 500
MOVES_PER_CALL = 2**17  # of the batched loop: a call of a good part of a second, so its overhead is nothing


def torus(seconds: float, num_envs: int, *, compiled: bool = True, observe: bool = False) -> Work:
    """Measure `Vector.step_random`, a block of steps at a time."""
    import torch

    import cellgames

    game = cellgames.make("torus-v0", size=SIZE)
    vector = game.vector(num_envs, seed=0, compile="always" if compiled else "never", reuse_buffers=True)
    generator = torch.Generator().manual_seed(0)
    see = torch.compile(game.observe, dynamic=False) if observe and compiled else game.observe

    def play(steps: int = 20) -> int:
        for _ in range(steps):
            vector.step_random(generator)
            if observe:
                see(vector.state, vector.state.current_player)
        return steps * num_envs

    play(WARM_UP)
    return timed(play, seconds)


def torus_aec(seconds: float) -> Work:
    """Measure `torus_v0.env()` in the loop that PettingZoo's own environment is measured with."""
    from cellgames.envs import torus_v0

    return aec_moves(seconds, partial(torus_v0.env, size=SIZE))


def pettingzoo_connect_four(seconds: float) -> Work:
    """Measure PettingZoo's connect_four_v3 as `env()` wraps it; it imports pygame, which draws nothing here."""
    import pettingzoo

    return aec_moves(seconds, partial(pettingzoo.make, "aec", "classic/connect_four-v3"))


def openspiel_python(seconds: float) -> Work:
    """Measure OpenSpiel's Hex stepped from Python: `legal_actions`, a random choice, `apply_action`.

    No observation is asked for. Whole games are played, and the new state that starts each is paid for.
    """
    return timed(_hex_game(), seconds)


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
    rollouts, elapsed = timed(play, seconds)
    return round(rollouts * mean_length), elapsed


def _hex_game() -> Callable[[], int]:
    """Return a function that plays one random game of Hex in OpenSpiel and returns its moves."""
    import pyspiel

    game, choice = pyspiel.load_game(HEX), Random(0).choice

    def play() -> int:
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
            moves += 1
        return moves

    play()
    return play


def pgx_hex(seconds: float, batch: int) -> Work:
    """Measure Pgx's Hex on the CPU, `batch` games in one compiled loop, with as many threads as XLA takes.

    A step draws an action for each game, plays it, computes the observation (`Env.step` always does) and resets the
    games that ended. The first call, which compiles, is left out. The 122nd action is the swap, legal for the second
    move only.

    It is the fastest that we found with the public API: the k-th legal action by a prefix sum (one random number a
    game, not one for each of 122 actions), and finished games replaced by one ready initial state, which fixes who
    begins. `jax.random.categorical` over the mask and Pgx's `auto_reset` are slower.
    """
    os.environ["JAX_PLATFORMS"] = "cpu"  # read when jax is imported; a JAX built for GPUs would prefer one
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("hex")
    steps = max(1, MOVES_PER_CALL // batch)

    def step(state: Any, key: Any) -> Any:
        rank = jnp.cumsum(state.legal_action_mask, axis=1, dtype=jnp.int32)  # [B, A], legal actions up to here
        drawn = (jax.random.uniform(key, (batch, 1)) * rank[:, -1:]).astype(jnp.int32)
        state = jax.vmap(env.step)(state, jnp.argmax(rank > drawn, axis=1))
        done = state.terminated

        def renew(new: Any, old: Any) -> Any:
            return jnp.where(done.reshape((batch,) + (1,) * new.ndim), new, old)

        return jax.tree_util.tree_map(renew, initial, state)

    def body(_: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carry
        key, now = jax.random.split(key)
        return step(state, now), key

    advance = jax.jit(lambda carry: jax.lax.fori_loop(0, steps, body, carry), donate_argnums=0)
    key = jax.random.PRNGKey(0)
    initial = env.init(key)
    carry = (jax.vmap(env.init)(jax.random.split(key, batch)), key)

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(advance(carry))
        return steps * batch

    play()
    return timed(play, seconds)


_TORUS = "Torus n = 8: draw, step, win detection, auto-reset, bool mask; "
_PGX = "Hex 11x11 on the CPU, step with observation and auto-reset in one jitted loop, XLA's threads; "


def _batched(name: str, num_envs: int, about: str, rival: str, **how: bool) -> Row:
    return Row(name, _TORUS + about, partial(torus, num_envs=num_envs, **how), batch=num_envs, rival=rival)


def _pgx(batch: int) -> Row:
    about = _PGX + "k-th legal action, cheap reset"
    return Row(f"pgx_hex_{batch}_tuned", about, partial(pgx_hex, batch=batch), batch=batch, packages=("pgx", "jax"))


RANDOM_PLAY = Benchmark(
    "Random legal play: moves a second",
    "benchmarks.core.random_play",
    Path("results/benchmarks/random_play.md"),
    (
        _batched("torus_4096", 4096, "compiled, all cores", "pgx_hex_4096_tuned"),
        _batched("torus_16384", 16384, "compiled, all cores", "pgx_hex_16384_tuned"),
        _batched(
            "torus_4096_observed", 4096, "and the observation; compiled, all cores", "pgx_hex_4096_tuned", observe=True
        ),
        _batched("torus_4096_eager", 4096, "no compiler", "openspiel_hex_rollouts", compiled=False),
        _batched("torus_16384_eager", 16384, "no compiler", "openspiel_hex_rollouts", compiled=False),
        Row(
            "torus_aec",
            "Torus n = 8 through the AEC loop with observation and mask, one thread",
            torus_aec,
            rival="pettingzoo_connect_four",
        ),
        Row(
            "pettingzoo_connect_four",
            "connect_four_v3 through the AEC loop with observation and mask, one thread",
            pettingzoo_connect_four,
            packages=("pettingzoo",),
        ),
        Row(
            "openspiel_hex_python",
            "Hex 11x11 stepped from Python, no observation, one thread",
            openspiel_python,
            packages=("open_spiel",),
        ),
        Row(
            "openspiel_hex_rollouts",
            "Hex 11x11, whole rollouts inside C++, no observation, one thread",
            openspiel_rollouts,
            packages=("open_spiel",),
        ),
        *(_pgx(batch) for batch in (256, 4096, 16384)),
    ),
)

if __name__ == "__main__":
    sys.exit(RANDOM_PLAY.main())
