"""Torus: its rules, agents, networks, training options, reader and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Setting, TrainingPreset, Variant
from .shared import MASKABLE_PPO

__all__ = ["TORUS"]

_EVAL = {"eval_opponents": ("rollout:64", "greedy")}  # any network beats `random` at once

TORUS = GamePlugin(
    id="torus-v0",
    game="cellgames.envs.torus.game:Torus",
    summary="Torus by Mark Steere: connect around a torus of octagons and squares",
    parameters={"size": 8},
    variants={"torus-small-v0": Variant("Torus, small enough to train on a laptop", {"size": 5})},
    agents={
        "greedy": "cellgames.agents.torus.greedy:TorusGreedy",
        "perfect": "cellgames.agents.torus.perfect:TorusPerfect",
    },
    networks={"policy": "cellgames.agents.torus.network:TorusNetwork"},
    transfer_parameters=("size",),
    native_uct="cellgames.agents.torus.native_uct:simulate",
    native_gumbel="cellgames.agents.torus.native_gumbel:simulate",
    presets=(
        TrainingPreset("ppo", {**_EVAL, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**_EVAL, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**_EVAL, **MASKABLE_PPO}),
    ),
    reader="cellgames.arena.insight.readers.torus_reader:TorusReader",
    page=Page(
        view="cellgames.web.views.torus_view:TorusView",
        rules=(
            "Black and White take turns; a move puts a stone on any free cell, octagon or square. No passes, no draws.",
            "The board is a torus: it goes on beyond every edge. Drag it to look across the seam.",
            "Black wins with a closed path that runs around vertically, or around both ways at once, sloping down to "
            "the right. White wins with one that runs around horizontally, or both ways sloping up to the right.",
            "Whoever closes a path of the own kind wins at once; closing only the other one's kind wins for nobody.",
        ),
        settings=(Setting("size", "Board size", 2, 16),),
    ),
)
