"""Torus, Hex and Y: their rules, agents, networks, training options, readers and views."""

from __future__ import annotations

from typing import Any

from .plugin import MASKABLE_PPO, GamePlugin, TrainingPreset, files, small


def _presets(search: str) -> tuple[TrainingPreset, ...]:
    """Return training options; any network beats `random` at once, so others are the opponents of evaluations."""
    opponents = {"eval_opponents": ("rollout:64", search, "greedy")}
    return (
        TrainingPreset("ppo", {**opponents, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**opponents, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**opponents, **MASKABLE_PPO}),
    )


_SEARCH = {
    "native_uct": "cellgames.agents.connection.native_trees:simulate",
    "native_gumbel": "cellgames.agents.connection.native_trees:simulate_gumbel",
    "solve": "cellgames.agents.solving.prover:solve",
}

TORUS = GamePlugin(
    id="torus-v0",
    game="cellgames.envs.torus.game:Torus",
    summary="Torus by Mark Steere: connect around a torus of octagons and squares",
    parameters={"size": 8},
    variants={"torus-small-v0": small("Torus", {"size": 5})},
    agents={
        "greedy": "cellgames.agents.torus.greedy:TorusGreedy",
        "perfect": "cellgames.agents.solving.perfect:PerfectAgent",
    },
    networks={"policy": "cellgames.agents.torus.network:TorusNetwork"},
    transfer_parameters=("size",),
    search={**_SEARCH, "prover": "cellgames.agents.torus.proof_search:TorusSearch"},
    presets=_presets("mcts:100"),
    reader="cellgames.arena.analyse.stones_reader:TorusReader",
    view="cellgames.web.views.stones_view:TorusView",
    texts=files("black_and_white", "torus"),
)

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
        **_SEARCH,
        "prover": "cellgames.agents.connection.proof_search:ConnectionSearch",
        "look": "cellgames.agents.connection.proof_search:look",
        "trained": "cellgames.agents.solving.perfect:AdvisedAgent",
    },
    "presets": _presets("mcts:30"),
}

HEX = GamePlugin(
    id="hex-v0",
    game="cellgames.envs.connection.game:Hex",
    summary="Hex by Piet Hein and John Nash: connect two opposite sides",
    parameters={"size": 11, "tiling": "hexagons", "swap": True},
    variants={"hex-small-v0": small("Hex", {"size": 5})},
    texts=files("black_and_white", "hex"),
    **_SHARED,
)

Y = GamePlugin(
    id="y-v0",
    game="cellgames.envs.connection.game:Y",
    summary="Y by Claude Shannon, Charles Titus and Craige Schensted: connect three sides",
    parameters={"size": 13, "tiling": "hexagons", "swap": True},
    variants={"y-small-v0": small("Y", {"size": 6})},
    texts=files("black_and_white", "y"),
    **_SHARED,
)
