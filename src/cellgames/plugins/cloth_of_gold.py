"""Cloth of Gold: its rules, agents, networks, training options, readers and view."""

from __future__ import annotations

from dataclasses import replace

from .plugin import MASKABLE_PPO, SLOW_GAME, GamePlugin, TrainingPreset, Variant, files, small

_SMALL = {"height": 32, "width": 32, "generations": 24}
_WILD = {"terrain": True, "weather": True, "perks": True, "territory": "hull"}

_BASE = GamePlugin(
    id="cloth-of-gold-v0",
    game="cellgames.envs.cloth_of_gold.game:ClothOfGold",
    summary="Cloth of Gold by Adam Murray: feed a Game of Life by hand, round by round",
    parameters={
        "height": 100,
        "width": 100,
        "generations": 168,
        "max_units": 10,
        "max_rounds": 20,
        "radius": 8,
        "initial_placement": True,
        "first_verdict": 2,
        "neutral_births": False,
        "neutral_density": 0.0,
        "win_rule": "score",
        "shaping": 0.0,
    },
    variants={
        "cloth-of-gold-small-v0": small("Cloth of Gold", _SMALL),
        "cloth-of-gold-fair-v0": Variant("Cloth of Gold in which lots say who places first", {"order": "drawn"}),
        "cloth-of-gold-fair-small-v0": small("fair Cloth of Gold", {**_SMALL, "order": "drawn"}),
    },
    agents={
        "champion": "cellgames.agents.cloth_of_gold.first_turns:ClothChampion",
        "greedy": "cellgames.agents.cloth_of_gold.greedy:ClothGreedy",
        "gumbel": "cellgames.agents.cloth_of_gold.turn_search:TurnGumbel",
        "mcts": "cellgames.agents.cloth_of_gold.turn_search:TurnUCT",
        "random": "cellgames.agents.cloth_of_gold.turns:ClothRandom",
        "rollout": "cellgames.agents.cloth_of_gold.greedy:ClothRollout",
    },
    networks={
        "policy": "cellgames.agents.cloth_of_gold.network:ClothNetwork",
        "turns": "cellgames.agents.cloth_of_gold.network:ClothValues",
    },
    transfer_parameters=("height", "width", "generations", "order"),
    search={
        "improver": "cellgames.agents.cloth_of_gold.turn_search:TurnImprover",
        "playout": "cellgames.agents.cloth_of_gold.greedy:finish_turns",
        "trained": "cellgames.agents.cloth_of_gold.network:ClothForesight",
        "chooser": "cellgames.agents.cloth_of_gold.turn_choices:TurnChooser",
        "winning_turn": "cellgames.agents.cloth_of_gold.greedy:winning_turn",
    },
    algorithm="turn-values",
    presets=(
        TrainingPreset(
            "ppo",
            {
                **SLOW_GAME,
                **{"num_epochs": 1, "minibatch_size": 2048, "learning_rate": 7e-4, "ent_coef": 0.01},
                "checkpoint_every": 30,
            },
        ),
        TrainingPreset("maskable-ppo", {**MASKABLE_PPO, **SLOW_GAME, "checkpoint_every": 30}),
        TrainingPreset(
            "alphazero",
            {
                **{"num_envs": 64, "num_steps": 96, "num_epochs": 2, "minibatch_size": 32, "learning_rate": 1e-3},
                **{"buffer_size": 4096, "random_plies": 0, "gae_lambda": 0.9, "opponents": "self=0.5,greedy=0.5"},
                **{"eval_games": 40, "eval_every": 10, "checkpoint_every": 10},
            },
        ),
        TrainingPreset(
            "alphazero",
            {"num_envs": 8, "minibatch_size": 16, "buffer_size": 512},
            parameters={"height": 100, "width": 100, "generations": 168},
        ),
        TrainingPreset(
            "turn-values",
            {
                **{"num_envs": 64, "num_steps": 16, "minibatch_size": 256},
                **{"learning_rate": 1e-3, "gae_lambda": 0.9, "num_epochs": 2},
                **{"opponents": "greedy=0.8,self=0.2", "eval_games": 60, "eval_every": 10, "checkpoint_every": 20},
            },
        ),
        TrainingPreset(
            "turn-values",
            {"candidates": 48, "considered": 8, "minibatch_size": 128},
            parameters={"height": 100, "width": 100, "generations": 168},
        ),
    ),
    reader="cellgames.arena.analyse.life_readers:ClothReader",
    view="cellgames.web.views.cloth_of_gold_view:ClothView",
    texts=files("cloth_of_gold"),
)

CLOTH_OF_GOLD_WILD = replace(
    _BASE,
    transfer_parameters=(*_BASE.transfer_parameters, "wildlife"),
    game="cellgames.envs.cloth_of_gold_wild.game:ClothOfGoldWild",
    variants={
        "cloth-of-gold-wild-v0": Variant(
            "Cloth of Gold with terrain, weather, perks, borders and wildlife", {**_WILD, "wildlife": (6, 2, 2)}
        ),
        "cloth-of-gold-wild-small-v0": small("wild Cloth of Gold", {**_SMALL, **_WILD, "wildlife": (3, 1, 1)}),
    },
    view="cellgames.web.views.cloth_of_gold_view:WildClothView",
    texts=files("cloth_of_gold", "cloth_of_gold_wild"),
)

CLOTH_OF_GOLD = replace(_BASE, extension=CLOTH_OF_GOLD_WILD)
