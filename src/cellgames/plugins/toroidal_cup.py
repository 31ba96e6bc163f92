"""Toroidal Cup: its rules, agents, networks, training options, readers and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Setting, TrainingPreset, Variant
from .shared import LIFE_RULE, MASKABLE_PPO, SAMPLED, SLOW_GAME

__all__ = ["TOROIDAL_CUP"]

_PATTERNS = (
    "random",
    "randys",
    "donutpi",
    "donutmethuselahs",
    "donutcore",
    "crabdonuts",
    "quadjustyna",
    "donutmultums",
)

TOROIDAL_CUP = GamePlugin(
    id="toroidal-cup-v0",
    game="cellgames.envs.toroidal_cup.game:ToroidalCup",
    summary="The Toroidal Cup of golly.life: arrange shapes, then Life in the teams' colours decides",
    simultaneous=True,
    parameters={
        "rows": 40,
        "cols": 280,
        "teams": 2,
        "pattern": "random",
        "stride": 4,
        "shapes": None,
        "survivors": "recolour",
        "tolerance": 1e-12,
        "max_generations": 10_000,
    },
    variants={
        "toroidal-cup-small-v0": Variant(
            "The Toroidal Cup, small enough to train on a laptop",
            {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 1000},
        )
    },
    agents={"greedy": "cellgames.agents.toroidal_cup.greedy:ToroidalCupGreedy"},
    networks={"policy": "cellgames.agents.toroidal_cup.network:CupNetwork"},
    determinize="cellgames.agents.toroidal_cup.determinization:determinize",
    presets=(
        TrainingPreset(
            "ppo",
            {
                **{"num_envs": 1024, "num_steps": 6},
                **{"num_epochs": 2, "minibatch_size": 2048, "learning_rate": 3e-3},
                **{"ent_coef": 0.0, "channels": 16, "layers": 2, "opponents": "self=0.7,random=0.3"},
                **{"eval_games": 400, "eval_every": 5, "checkpoint_every": 20},
            },
            {"rows": 24, "cols": 48},
        ),
        TrainingPreset("maskable-ppo", {**MASKABLE_PPO, **SAMPLED, **SLOW_GAME}),
    ),
    reader="cellgames.arena.insight.readers.toroidal_cup_reader:CupReader",
    life="cellgames.arena.insight.over_time.life_stats:TOROIDAL_CUP",
    page=Page(
        view="cellgames.web.views.toroidal_cup_view:CupView",
        rules=(
            "All teams place their next shape at once, each in its own band of the torus, turned and mirrored as they "
            "like, not on their own cells.",
            "After the last shape Life runs, in colours, on a board that goes on beyond every edge.",
            LIFE_RULE,
            "A newborn takes the majority colour of its parents, a survivor that of its neighbours; where colours tie, "
            "the cell's place decides.",
            "When the shares of the teams have settled, or one team alone is left, the team with most live cells wins.",
        ),
        settings=(
            Setting("rows", "Rows", 8, 80, 2),
            Setting("cols", "Columns", 16, 320, 2),
            Setting("teams", "Teams", 2, 8),
            Setting("pattern", "Shapes from", choices=_PATTERNS),
            Setting("shapes", "Shapes a team at most", 1, 16),
            Setting("max_generations", "Generations at most", 1, 10_000),
        ),
    ),
)
