"""Random legal play in other libraries, one contestant a process: `python -m benchmarks.core.peers NAME`.

Every contestant plays uniformly random legal moves and starts a new game when one ends; what differs is said
in its docstring. The games are those nearest to Torus that each library has: Hex on 11 x 11 (121 cells, some
107 moves a random game) and Connect Four (42 cells, some 21 moves).

The packages are imported by the functions that measure them: a missing one raises ModuleNotFoundError there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from random import Random
from typing import Any

from benchmarks.measurement import Measurement, aec_moves_per_second, serve, timed

__all__ = ["PEERS", "openspiel_hex_python", "openspiel_hex_rollouts", "pettingzoo_connect_four", "pgx_hex"]

HEX = "hex(board_size=11)"
LENGTH_GAMES = 2_000  # games whose mean length converts rollouts to moves: standard error 0.2 %
ROLLOUTS_PER_CALL = 500
MOVES_PER_CALL = 2**17  # of the batched loop: a call of a good part of a second, so its overhead is nothing
PGX_BATCHES = (256, 4096, 16384)


def openspiel_hex_python(seconds: float, seed: int = 0) -> Measurement:
    """OpenSpiel's Hex stepped from Python: `legal_actions`, a random choice, `apply_action`; one thread.

    No observation is asked for. Whole games are played, and the new state that starts each is paid for.
    """
    moves, elapsed = timed(_hex_game(seed), seconds)
    return Measurement("openspiel_hex_python", "open_spiel", version("open_spiel"), 1, "moves", moves, elapsed)


def openspiel_hex_rollouts(seconds: float, seed: int = 0) -> Measurement:
    """OpenSpiel's Hex played to the end inside C++, `ROLLOUTS_PER_CALL` games a call from Python; one thread.

    The games are those of `RandomRolloutEvaluator`, which Python may construct but not call. So it is called
    by `MCTSBot.mcts_search` with a budget of one simulation from the empty board: that one evaluates the root
    and expands nothing, which is checked. The lengths of these games stay inside: moves are rollouts times
    the mean length of `LENGTH_GAMES` games of the same random play, played in Python beforehand.
    """
    import pyspiel

    play_in_python = _hex_game(seed)
    mean_length = sum(play_in_python() for _ in range(LENGTH_GAMES)) / LENGTH_GAMES

    game = pyspiel.load_game(HEX)
    empty_board = game.new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS_PER_CALL, seed)
    bot = pyspiel.MCTSBot(
        game,
        evaluator,
        uct_c=1.0,
        max_simulations=1,
        max_memory_mb=100,
        solve=False,
        seed=seed,
        verbose=False,
    )

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
    moves = round(rollouts * mean_length)
    return Measurement("openspiel_hex_rollouts", "open_spiel", version("open_spiel"), 1, "moves", moves, elapsed)


def _hex_game(seed: int) -> Callable[[], int]:
    """A function that plays one random game of Hex in OpenSpiel and returns its moves."""
    import pyspiel

    game = pyspiel.load_game(HEX)
    choice = Random(seed).choice

    def play() -> int:
        state = game.new_initial_state()
        moves = 0
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
            moves += 1
        return moves

    play()
    return play


def pgx_hex(seconds: float, batch: int, tuned: bool = False, seed: int = 0) -> Measurement:
    """Pgx's Hex on the CPU, `batch` games in one compiled loop, with as many threads as XLA takes.

    A step draws an action for each game, plays it, computes the observation (`Env.step` always does) and
    resets the games that ended: every game makes a move in every step. The first call, which compiles, is
    left out. The 122nd action is the swap, legal for the second move only.

    tuned: False draws with `jax.random.categorical` over the mask and resets with Pgx's `auto_reset`, as
        users would. True is the fastest we found with the public API: the k-th legal action by a prefix sum
        (one random number a game, not one for each of 122 actions), and finished games replaced by one ready
        initial state, which fixes who begins. Compare batched environments with the faster of the two.
    """
    os.environ["JAX_PLATFORMS"] = "cpu"  # read when jax is imported; a JAX built for GPUs would prefer one
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("hex")
    steps = max(1, MOVES_PER_CALL // batch)

    def standard(state: Any, key: Any) -> Any:
        draw, reset = jax.random.split(key)
        action = jax.random.categorical(draw, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
        return jax.vmap(auto_reset(env.step, env.init))(state, action, jax.random.split(reset, batch))

    def by_rank(state: Any, key: Any) -> Any:
        rank = jnp.cumsum(state.legal_action_mask, axis=1, dtype=jnp.int32)  # [B, A], legal actions up to here
        drawn = (jax.random.uniform(key, (batch, 1)) * rank[:, -1:]).astype(jnp.int32)
        state = jax.vmap(env.step)(state, jnp.argmax(rank > drawn, axis=1))
        done = state.terminated

        def renew(new: Any, old: Any) -> Any:
            return jnp.where(done.reshape((batch,) + (1,) * new.ndim), new, old)

        return jax.tree_util.tree_map(renew, initial, state)

    step = by_rank if tuned else standard

    def body(_: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carry
        key, now = jax.random.split(key)
        return step(state, now), key

    advance = jax.jit(lambda carry: jax.lax.fori_loop(0, steps, body, carry), donate_argnums=0)
    key = jax.random.PRNGKey(seed)
    initial = env.init(key)
    carry = (jax.vmap(env.init)(jax.random.split(key, batch)), key)

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(advance(carry))
        return steps * batch

    play()
    moves, elapsed = timed(play, seconds)
    return Measurement(
        f"pgx_hex_{batch}{'_tuned' if tuned else ''}",
        "pgx",
        f"{version('pgx')} (jax {version('jax')})",
        batch,
        "moves",
        moves,
        elapsed,
    )


def pettingzoo_connect_four(seconds: float, seed: int = 0) -> Measurement:
    """PettingZoo's connect_four_v3 as `env()` wraps it, through the AEC loop; one game, one thread.

    The game imports pygame, which draws nothing without a render mode.
    """
    import pettingzoo

    moves, elapsed = aec_moves_per_second(partial(pettingzoo.make, "aec", "classic/connect_four-v3"), seconds, seed)
    return Measurement("pettingzoo_connect_four", "pettingzoo", version("pettingzoo"), 1, "moves", moves, elapsed)


PEERS: dict[str, Callable[[float], Measurement]] = {
    "openspiel_hex_python": openspiel_hex_python,
    "openspiel_hex_rollouts": openspiel_hex_rollouts,
    **{f"pgx_hex_{batch}": partial(pgx_hex, batch=batch) for batch in PGX_BATCHES},
    **{f"pgx_hex_{batch}_tuned": partial(pgx_hex, batch=batch, tuned=True) for batch in PGX_BATCHES},
    "pettingzoo_connect_four": pettingzoo_connect_four,
}


if __name__ == "__main__":
    sys.exit(serve(PEERS))
