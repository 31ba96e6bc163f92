"""Hex and Y: their rules, agents, networks, training options, reader and view."""

from __future__ import annotations

from typing import Any

from .plugin import MASKABLE_PPO, GamePlugin, TrainingPreset, Variant, files

_EVAL = {"eval_opponents": ("rollout:64", "mcts:30", "greedy")}  # any network beats `random` at once

_SHARED: dict[str, Any] = {
    "agents": {
        "greedy": "cellgames.agents.connection.greedy:ConnectionGreedy",
        "perfect": "cellgames.agents.solving.perfect:PerfectAgent",
    },
    "networks": {"policy": "cellgames.agents.connection.network:ConnectionNetwork"},
    "transfer_parameters": ("size", "swap"),
    "reader": "cellgames.arena.analyse.stones_reader:ConnectionReader",
    "view": "cellgames.web.views.stones_view:ConnectionView",
    "search": {
        "native_uct": "cellgames.agents.connection.native_trees:simulate",
        "solve": "cellgames.agents.solving.prover:solve",
        "prover": "cellgames.agents.connection.proof_search:ConnectionSearch",
    },
    "presets": (
        TrainingPreset("ppo", {**_EVAL, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**_EVAL, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**_EVAL, **MASKABLE_PPO}),
    ),
}

HEX = GamePlugin(
    id="hex-v0",
    game="cellgames.envs.connection.game:Hex",
    summary="Hex by Piet Hein and John Nash: connect two opposite sides",
    parameters={"size": 11, "tiling": "hexagons", "swap": True},
    variants={"hex-small-v0": Variant("Hex, small enough to train on a laptop", {"size": 5})},
    texts=files("black_and_white", "hex"),
    **_SHARED,
)

Y = GamePlugin(
    id="y-v0",
    game="cellgames.envs.connection.game:Y",
    summary="Y by Claude Shannon, Charles Titus and Craige Schensted: connect three sides",
    parameters={"size": 13, "tiling": "hexagons", "swap": True},
    variants={"y-small-v0": Variant("Y, small enough to train on a laptop", {"size": 6})},
    texts=files("black_and_white", "y"),
    **_SHARED,
)
