"""Hex and Y: their rules, agents, networks, training options, reader and page."""

from __future__ import annotations

from typing import Any

from .plugin import GamePlugin, Page, Prompt, Setting, TrainingPreset, Variant
from .shared import BLACK_AND_WHITE, MASKABLE_PPO

__all__ = ["HEX", "Y"]

_EVAL = {"eval_opponents": ("rollout:64", "greedy")}  # any network beats `random` at once

_SHARED: dict[str, Any] = {
    "agents": {"greedy": "cellgames.agents.connection.greedy:ConnectionGreedy"},
    "networks": {"policy": "cellgames.agents.connection.network:ConnectionNetwork"},
    "transfer_parameters": ("size",),
    "reader": "cellgames.arena.analyse.connection_reader:ConnectionReader",
    "native_uct": "cellgames.agents.connection.native_uct:simulate",
    "presets": (
        TrainingPreset("ppo", {**_EVAL, "layers": 4, "ent_coef": 0.01}),
        TrainingPreset("alphazero", {**_EVAL, "layers": 4, "num_envs": 256, "num_epochs": 2}),
        TrainingPreset("maskable-ppo", {**_EVAL, **MASKABLE_PPO}),
    ),
}

_POSITION = (
    "Columns have letters and rows numbers. A dot is a free cell, x is Black, o is White, and brackets mark the last "
    "stone. On hexagons each row stands half a cell further to the right than the one above, so a cell touches the two "
    "beside it, the ones right above and to the upper right, and the ones right below and to the lower left. With "
    "tiling=octagons the squares, free ones as commas, stand between the rows of octagons; an octagon touches the "
    "octagons above, below, left and right and the squares at its corners."
)
_MOVES = (
    "A move is the name of a free cell, such as c4 for column c and row 4; c4+ is the square at the lower right corner "
    "of octagon c4. Where it is legal, swap-pieces takes over the first stone."
)

_VIEW = "cellgames.web.views.connection_view:ConnectionView"
_SETTINGS = (
    Setting("size", "Board size", 2, 22),
    Setting("tiling", "Cells", choices=("hexagons", "octagons")),
    Setting("swap", "White may take over the first stone (swap)"),
)

HEX = GamePlugin(
    id="hex-v0",
    game="cellgames.envs.connection.hex:Hex",
    summary="Hex by Piet Hein and John Nash: connect two opposite sides",
    parameters={"size": 11, "tiling": "hexagons", "swap": True},
    variants={"hex-small-v0": Variant("Hex, small enough to train on a laptop", {"size": 5})},
    page=Page(
        view=_VIEW,
        rules=(
            "Black and White take turns; a move puts a stone on any free cell. No passes, no draws.",
            "Black connects the dark sides, top and bottom, by a group of touching stones; White the light ones.",
            "In place of its first move White may take over Black's first stone. It then stands mirrored: row and "
            "column change places.",
        ),
        settings=_SETTINGS,
        lesson="cellgames.web.lessons.hex_and_y_lesson:HEX",
        people=("Black", "White"),
        goals=(
            "Connect the top and the bottom side by a chain of black stones.",
            "Connect the left and the right side by a chain of white stones.",
        ),
    ),
    colours=BLACK_AND_WHITE,
    prompt=Prompt(
        rules=(
            "The board is a rhombus of hexagons, with as many rows as columns. Black moves first. Each turn a player "
            "puts one stone on a free cell. Nobody may pass, stones never move, and no game is drawn.",
            "Black wins with a group of touching stones that connects the top row with the bottom row, White with one "
            "that connects the leftmost column with the rightmost column.",
            "If swapping is allowed, White may swap in place of its first move: Black's stone is removed, and a white "
            "stone stands on the cell with its row and column exchanged. Then Black moves.",
        ),
        position=_POSITION,
        moves=_MOVES,
    ),
    **_SHARED,
)

Y = GamePlugin(
    id="y-v0",
    game="cellgames.envs.connection.y:Y",
    summary="Y by Claude Shannon, Charles Titus and Craige Schensted: connect three sides",
    parameters={"size": 13, "tiling": "hexagons", "swap": True},
    variants={"y-small-v0": Variant("Y, small enough to train on a laptop", {"size": 6})},
    page=Page(
        view=_VIEW,
        rules=(
            "Black and White take turns; a move puts a stone on any free cell. No passes, no draws.",
            "Whoever has a group of touching stones that touches all three sides wins. A corner belongs to two sides.",
            "In place of its first move White may take over Black's first stone where it stands.",
        ),
        settings=_SETTINGS,
        lesson="cellgames.web.lessons.hex_and_y_lesson:Y",
        people=("Black", "White"),
        goals=("Connect all three sides by one chain of your stones.",),
    ),
    colours=BLACK_AND_WHITE,
    prompt=Prompt(
        rules=(
            "The board is a triangle of hexagons: each row is one cell shorter than the one above. Its sides are the "
            "top row, the first cells of all rows, and the last cells of all rows. Black moves first. Each turn a "
            "player puts one stone on a free cell. Nobody may pass, stones never move, and no game is drawn.",
            "A player wins with a group of touching stones that touches all three sides. A corner belongs to two.",
            "If swapping is allowed, White may swap in place of its first move: Black's stone becomes White's. Then "
            "Black moves.",
        ),
        position=_POSITION,
        moves=_MOVES,
    ),
    **_SHARED,
)
