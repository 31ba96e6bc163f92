"""Torus: its rules, agents, networks, training options, reader and view."""

from __future__ import annotations

from .plugin import MASKABLE_PPO, GamePlugin, TrainingPreset, Variant, files

_EVAL = {"eval_opponents": ("rollout:64", "mcts:100", "greedy")}  # any network beats `random` at once

TORUS = GamePlugin(
    id="torus-v0",
    game="cellgames.envs.torus.game:Torus",
    summary="Torus by Mark Steere: connect around a torus of octagons and squares",
    parameters={"size": 8},
    variants={"torus-small-v0": Variant("Torus, small enough to train on a laptop", {"size": 5})},
    agents={
        "greedy": "cellgames.agents.torus.greedy:TorusGreedy",
        "perfect": "cellgames.agents.solving.perfect:PerfectAgent",
    },
    networks={"policy": "cellgames.agents.torus.network:TorusNetwork"},
    transfer_parameters=("size",),
    search={
        "native_uct": "cellgames.agents.connection.native_trees:simulate",
        "native_gumbel": "cellgames.agents.connection.native_trees:simulate_gumbel",
        "solve": "cellgames.agents.solving.prover:solve",
        "prover": "cellgames.agents.torus.proof_search:TorusSearch",
    },
    presets=(
        TrainingPreset("ppo", {**_EVAL, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**_EVAL, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**_EVAL, **MASKABLE_PPO}),
    ),
    reader="cellgames.arena.analyse.stones_reader:TorusReader",
    view="cellgames.web.views.stones_view:TorusView",
    texts=files("black_and_white", "torus"),
)
