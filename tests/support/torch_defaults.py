"""Play and training under the defaults of torch that a program may have set: `python torch_defaults.py float64 PART`.

Prints what was played and learned, so that the texts of processes with other defaults can be compared.
"""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from processes import environment

import cellgames

DEFAULTS = {
    "float32": lambda: None,
    "float64": lambda: torch.set_default_dtype(torch.float64),
    "meta": lambda: torch.set_default_device("meta"),  # where nothing can be read: another default device fails at once
}
"""Defaults by name; `float32` leaves them as they are."""

AGENTS: dict[str, tuple[dict[str, Any], str]] = {
    "torus-v0": ({"size": 3}, "random greedy rollout:8 mcts:8 gumbel:4 trained perfect"),
    "grid-adaptation-v0": ({"size": 5, "players": 3, "rounds": 2, "flip_rounds": (2,)}, "greedy rollout:8 mcts:4"),
    "toroidal-cup-small-v0": ({"max_generations": 50}, "greedy rollout:4 mcts:4 champion"),
    "cloth-of-gold-small-v0": ({"max_rounds": 2, "generations": 3}, "greedy rollout:4 mcts:4"),
}
"""Parameters and agents by game."""


def digest(value: Any) -> str:
    """Return a text that tells tensors by dtype, device, shape and bytes."""
    if isinstance(value, torch.Tensor):
        content = value.detach().contiguous().numpy().tobytes() if value.device.type == "cpu" else b""
        return f"{value.dtype} {value.device} {list(value.shape)} {hashlib.sha256(content).hexdigest()[:12]}"
    if isinstance(value, dict):
        return str({name: digest(item) for name, item in value.items()})
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.tolist()}"
    return str([*map(digest, value)]) if isinstance(value, list | tuple) else repr(value)


def games() -> Iterator[Any]:
    """Yield steps of every registered game and of the toys, and positions as text and back."""
    from every_game import GAMES, seen

    for name, game in GAMES.items():
        vector = game.vector(5, seed=3, compile="never")
        random = torch.Generator().manual_seed(1)
        for _ in range(min(30, game.info.max_turns // 2 + 3)):
            moved = vector.step_random(random)
        state, position = vector.state, game.state_to_string(vector.state[0])
        yield name, [moved.actions, moved.rewards, moved.terminated], [*state.tensors()], seen(game, state)
        yield position, [*game.string_to_state(position).tensors()], repr(state), str(state[0])


def agents() -> Iterator[Any]:
    """Yield games of agents."""
    from cellgames.agents import load
    from cellgames.agents.play_loop import play
    from cellgames.envs.core import seeds

    for id, (parameters, specs) in AGENTS.items():
        game = cellgames.make(id, **parameters)
        players = game.info.num_players
        seats = torch.arange(players, device="cpu").expand(2, players)
        for spec in specs.split():
            seated = [load(name, game) for name in (spec, *["random"] * (players - 1))]
            generators = [torch.Generator().manual_seed(seat) for seat in range(players)]
            yield id, spec, [*vars(play(game, seated, seats, seeds(5, 2), generators)).values()]


def adapters() -> Iterator[Any]:
    """Yield what learners of other libraries see in their first steps."""
    from cellgames.envs import torus_v0
    from cellgames.envs.adapters.gymnasium_env import SeatEnv
    from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
    from cellgames.envs.adapters.sb3 import SeatVecEnv
    from cellgames.envs.adapters.torchrl import TorchRLGame

    game = cellgames.make("torus-v0", size=3)
    single, vector, learner = SeatEnv(game), SeatVectorEnv(game, 3), SeatVecEnv(game, 3)
    learner.seed(5)
    yield single.reset(seed=5), vector.reset(seed=5), learner.reset()
    yield single.step(np.argmax(single.action_masks())), learner.step(learner.action_masks().argmax(1))
    several = torus_v0.env(size=3)
    several.reset(seed=5)
    several.step(int(np.argmax(several.last()[0]["action_mask"])))
    yield several.last()
    yield sorted(TorchRLGame(game, 3, seed=5).reset().flatten_keys(".").items())


def training() -> Iterator[Any]:
    """Yield the network and the generator of a tiny run of each algorithm."""
    from cellgames.training import AlphaZeroArguments, PlacementArguments, PPOArguments, TurnArguments, train

    tiny: dict[str, Any] = {"channels": 4, "layers": 1, "eval_games": 2, "eval_opponents": ("random",), "threads": 1}
    tiny |= {"num_envs": 8, "device": "cpu"}
    short: dict[str, Any] = {"total_steps": 64, "num_steps": 8, "minibatch_size": 32}
    torus, cloth = cellgames.make("torus-v0", size=2), cellgames.make("cloth-of-gold-small-v0")
    cup = cellgames.make("toroidal-cup-small-v0", max_generations=50)
    for arguments in (
        PPOArguments.fitted(torus, **tiny, **short, opponents="self=0.5,pool=0.5"),
        AlphaZeroArguments.fitted(torus, **tiny, **short, num_simulations=4),
        TurnArguments.fitted(cloth, **tiny, total_steps=20),
        PlacementArguments.fitted(cup, **tiny, total_steps=100, minibatch_size=16, placements=6, generations=0),
    ):
        with tempfile.TemporaryDirectory() as folder:
            train(arguments, folder)
            saved = torch.load(Path(folder) / "checkpoint.pt", weights_only=True)["learner"]
            yield arguments.algorithm, saved["network"], saved["generator"]


PARTS = {part.__name__: part for part in (games, agents, adapters, training)}
"""The parts that are printed, by name."""


def check(script: str, part: str) -> None:
    """See that a script which ends in `main` prints the same of a part under all defaults, each in a new process.

    What is made once and kept would hide what other defaults make of it.
    """
    words = [sys.executable, "-W", "ignore", script]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*words, name, part], env=environment(), **pipes) for name in DEFAULTS]
    texts = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(DEFAULTS), texts
    played = [out for out, _ in texts]
    assert played[0].count("\n") > 2
    assert played[1:] == played[:1] * (len(DEFAULTS) - 1)


def main(parts: Mapping[str, Callable[[], Iterator[Any]]]) -> None:
    """Print a part under the defaults, whose names were typed."""
    if sys.argv[2] == "adapters":
        importlib.import_module("torchrl.envs")  # which computes with numbers when it is imported
    DEFAULTS[sys.argv[1]]()
    print("\n".join(map(digest, parts[sys.argv[2]]())))


if __name__ == "__main__":
    main(PARTS)
