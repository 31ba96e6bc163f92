"""Grid Adaptation: its rules, agents, networks, training options, readers and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Setting, TrainingPreset, Variant
from .shared import LIFE_RULE, MASKABLE_PPO, SAMPLED

__all__ = ["GRID_ADAPTATION"]

GRID_ADAPTATION = GamePlugin(
    id="grid-adaptation-v0",
    game="cellgames.envs.grid_adaptation.game:GridAdaptation",
    summary="Grid Adaptation by pseudonam: Life whose tiles carry the players' secret sequences",
    simultaneous=True,
    parameters={
        "size": 15,
        "players": 8,
        "rounds": 8,
        "first_tiles": 3,
        "starting_garnets": 2,
        "reserves": 3,
        "flip_rounds": (4, 7),
        "reward_scheme": "score",
        "garnet_value": 0.1,
    },
    variants={
        "grid-adaptation-small-v0": Variant(
            "Grid Adaptation, small enough to train on a laptop",
            {"size": 9, "players": 4, "rounds": 6, "flip_rounds": (3, 5)},
        )
    },
    agents={
        "greedy": "cellgames.agents.grid_adaptation.greedy:GridGreedy",
        "rollout": "cellgames.agents.grid_adaptation.rollout:GridRollout",
    },
    networks={"policy": "cellgames.agents.grid_adaptation.network:GridNetwork"},
    presets=(
        TrainingPreset(
            "ppo",
            {
                **SAMPLED,
                **{"num_envs": 64, "num_steps": 18, "num_epochs": 2},
                **{"minibatch_size": 1024, "learning_rate": 1e-3, "ent_coef": 0.003},
                **{"opponents": "self=0.4,greedy=0.6", "eval_games": 60, "eval_every": 10},
                "checkpoint_every": 20,
            },
        ),
        TrainingPreset("maskable-ppo", {**MASKABLE_PPO, **SAMPLED, "eval_games": 40}),
    ),
    reader="cellgames.arena.insight.readers.grid_adaptation_reader:GridReader",
    life="cellgames.arena.insight.over_time.life_stats:GRID_ADAPTATION",
    sections=("cellgames.arena.insight.over_time.score_flows:sections",),
    page=Page(
        view="cellgames.web.views.grid_adaptation_view:GridView",
        rules=(
            "Every player has a secret sequence of three digits. All at once, each names spaces for tiles: three in "
            "round 1, one later, and at most one reserve tile. A space that several players name stays empty, and "
            "their tiles are spent.",
            "Tiles carry your sequence. Then one generation of Life runs; a newborn gets each digit from the majority "
            "of its three parents.",
            LIFE_RULE,
            "You score, for every tile on the board, whoever placed it, the digits in which it equals your sequence.",
            "In some rounds you may flip one digit. Garnets buy one more reserve tile a round, each at twice the price "
            "of the one before. The fewest points in the end make the Elimination Candidate; those with a Token of "
            "Life, which up to three players in first place have won, vote on a tie.",
        ),
        settings=(
            Setting("size", "Board size", 5, 19),
            Setting("players", "Players", 2, 8),
            Setting("rounds", "Rounds", 1, 20),
        ),
    ),
)
