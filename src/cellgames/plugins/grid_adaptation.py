"""Grid Adaptation: its rules, agents, networks, training options, readers and view."""

from __future__ import annotations

from dataclasses import replace

from .plugin import MASKABLE_PPO, SAMPLED, GamePlugin, TrainingPreset, Variant, files, small

_SMALL = {"size": 9, "players": 4, "rounds": 6, "flip_rounds": (3, 5)}

_BASE = GamePlugin(
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
    variants={"grid-adaptation-small-v0": small("Grid Adaptation", _SMALL)},
    agents={
        "greedy": "cellgames.agents.grid_adaptation.greedy:GridGreedy",
        "rollout": "cellgames.agents.grid_adaptation.rollout:GridRollout",
        "mcts": "cellgames.agents.grid_adaptation.joint_moves:GridSearch",
    },
    networks={"policy": "cellgames.agents.grid_adaptation.network:GridNetwork"},
    search={
        "improver": "cellgames.agents.grid_adaptation.joint_moves:PlanImprover",
        "chooser": "cellgames.agents.grid_adaptation.plan_choices:PlanChooser",
        "trained": "cellgames.agents.grid_adaptation.foresight:ForesightAgent",
    },
    transfer_parameters=("size", "players", "rounds", "first_tiles", "starting_garnets", "reserves", "flip_rounds"),
    presets=(
        TrainingPreset(
            "ppo",
            {
                **SAMPLED,
                **{"num_envs": 64, "num_steps": 18, "num_epochs": 2},
                **{"minibatch_size": 1024, "learning_rate": 1e-3, "ent_coef": 0.003},
                **{"opponents": "self=0.4,greedy=0.6", "eval_games": 60, "eval_every": 10, "checkpoint_every": 20},
            },
        ),
        TrainingPreset("maskable-ppo", {**MASKABLE_PPO, **SAMPLED, "eval_games": 40}),
        TrainingPreset(
            "alphazero",
            {
                **SAMPLED,
                **{"num_envs": 32, "num_steps": 18, "num_epochs": 2, "learning_rate": 1e-3, "buffer_size": 10_000},
                **{"num_simulations": 48, "max_num_considered_actions": 16, "random_plies": 0},
                **{"eval_games": 60, "eval_every": 5, "checkpoint_every": 5},
            },
        ),
    ),
    reader="cellgames.arena.analyse.life_readers:GridReader",
    view="cellgames.web.views.grid_adaptation_view:GridView",
    texts=files("grid_adaptation"),
)

GRID_ADAPTATION_TALK = replace(
    _BASE,
    game="cellgames.envs.grid_adaptation_talk.game:GridAdaptationTalk",
    variants={
        "grid-adaptation-talk-v0": Variant(
            "Grid Adaptation with a word of each player before every round", {"talk": "public"}
        ),
        "grid-adaptation-talk-small-v0": small("Grid Adaptation with talk", {**_SMALL, "talk": "public"}),
    },
    networks={"policy": "cellgames.agents.grid_adaptation_talk.network:TalkNetwork"},
    search={**_BASE.search, "simpler": "cellgames.agents.grid_adaptation_talk.network:SilentAgent"},
    transfer_parameters=(*_BASE.transfer_parameters, "scramble", "mute"),
    view="cellgames.web.views.grid_adaptation_view:TalkView",
    texts=files("grid_adaptation", "grid_adaptation_talk"),
)

GRID_ADAPTATION = replace(_BASE, extension=GRID_ADAPTATION_TALK)
