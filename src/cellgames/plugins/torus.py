"""Torus: its rules, agents, networks, training options, reader and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Prompt, Setting, TrainingPreset, Variant
from .shared import BLACK_AND_WHITE, MASKABLE_PPO

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
    solve="cellgames.agents.torus.root_solver:solve",
    presets=(
        TrainingPreset("ppo", {**_EVAL, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**_EVAL, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**_EVAL, **MASKABLE_PPO}),
    ),
    reader="cellgames.arena.analyse.torus_reader:TorusReader",
    page=Page(
        view="cellgames.web.views.torus_view:TorusView",
        rules=(
            "Black and White take turns; a move puts a stone on any free cell, octagon or square. No passes, no draws.",
            "The board is a torus: it goes on beyond every edge. On the page, drag it to look across the seam.",
            "Black wins with a closed path that runs around vertically, or around both ways at once, sloping down to "
            "the right. White wins with one that runs around horizontally, or both ways sloping up to the right.",
            "Whoever closes a path of the own kind wins at once; closing only the other one's kind wins for nobody.",
        ),
        settings=(Setting("size", "Board size", 2, 16),),
        lesson="cellgames.web.lessons.torus_lesson:TORUS",
        people=("Black", "White"),
        goals=(
            "Close a chain of black stones that runs around the board from top to bottom, straight or "
            "sloping down to the right.",
            "Close a chain of white stones that runs around the board from left to right, straight or "
            "sloping up to the right.",
        ),
    ),
    colours=BLACK_AND_WHITE,
    prompt=Prompt(
        rules=(
            "The board is a torus of octagons and squares: as many rows as columns of octagons, and a square at every "
            "corner where four octagons meet. The right edge is joined to the left one, and the bottom to the top. An "
            "octagon touches the octagons above, below, left and right of it and the squares at its four corners; a "
            "square touches these four octagons only.",
            "Black moves first. Each turn a player puts one stone on any free cell. Nobody may pass, stones never "
            "move, and no game is drawn.",
            "Count for a closed path of touching stones of one colour how often it winds around the torus: h times to "
            "the right and v times down. Black wins with h = 0 and v not 0 (around vertically), or with h and v both "
            "positive or both negative (sloping down to the right). White wins with v = 0 and h not 0 (around "
            "horizontally), or with one of h and v positive and the other negative (sloping up to the right).",
            "Who completes a path of the own kind wins at once. Completing a path of the other player's kind only "
            "wins for nobody, but such a path makes it easier: together with a path that is not parallel to it, it "
            "counts as paths of all kinds.",
        ),
        position="Columns have letters and rows numbers. Between two rows of octagons stands the row of squares at "
        "their lower right corners, where a comma is a free square; a dot is a free octagon. x is Black, o is White, "
        "and brackets mark the last stone.",
        moves="A move is the name of a free cell: c4 is the octagon in column c and row 4, and c4+ is the square at "
        "its lower right corner, between c4, d4, c5 and d5.",
    ),
)
