"""Toroidal Cup: its rules, agents, networks, training options, readers and view."""

from __future__ import annotations

from .plugin import MASKABLE_PPO, SAMPLED, SLOW_GAME, GamePlugin, TrainingPreset, files, small

_VALUES = {"learning_rate": 3e-3, "layers": 2, "eval_games": 200, "eval_every": 25, "checkpoint_every": 25}

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
        "toroidal-cup-small-v0": small(
            "The Toroidal Cup",
            {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 1000},
        )
    },
    agents={
        "champion": "cellgames.agents.toroidal_cup.champion:ToroidalCupChampion",
        "greedy": "cellgames.agents.toroidal_cup.greedy:ToroidalCupGreedy",
        "mcts": "cellgames.agents.toroidal_cup.greedy:CupSearch",
        "trained": "cellgames.agents.toroidal_cup.champion:ToroidalCupChampion",  # beats what networks have learned
    },
    networks={
        "policy": "cellgames.agents.toroidal_cup.network:CupNetwork",
        "placements": "cellgames.agents.toroidal_cup.network:PlacementValues",
    },
    search={"determinize": "cellgames.agents.toroidal_cup.greedy:determinize"},
    algorithm="placement-values",
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
        TrainingPreset("placement-values", {**{"generations": 560, "num_envs": 64}, **_VALUES}),
        TrainingPreset("placement-values", {"generations": 200, "num_envs": 192}, {"rows": 24, "cols": 48}),
        TrainingPreset(
            "alphazero",
            {
                **{"num_envs": 32, "num_steps": 8, "num_epochs": 2, "buffer_size": 4096, "random_plies": 0},
                **{"num_simulations": 32, "eval_games": 40},
            },
        ),
    ),
    reader="cellgames.arena.analyse.life_readers:CupReader",
    view="cellgames.web.views.toroidal_cup_view:CupView",
    texts=files("toroidal_cup"),
)
