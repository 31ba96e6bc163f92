"""Grid Adaptation: its rules, agents, networks, training options, readers and page."""

from __future__ import annotations

from dataclasses import replace

from .plugin import GamePlugin, Page, Prompt, Setting, TextColours, TrainingPreset, Variant
from .shared import LIFE_RULE, MASKABLE_PPO, SAMPLED

__all__ = ["GRID_ADAPTATION", "GRID_ADAPTATION_TALK"]

_STYLES = ("bold", *(f"bold {hue}" for hue in ("red", "green", "yellow", "blue", "magenta", "cyan", "bright_red")))

_PAGE = Page(
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
    lesson="cellgames.web.lessons.grid_adaptation_lesson:GRID_ADAPTATION",
    people=("Player {}",),
    goals=(
        "Earn the most points: after each round every tile on the board pays you a point for each digit that it "
        "shares with your secret sequence.",
    ),
)

_PROMPT = Prompt(
    rules=(
        "Every player has a secret sequence of three digits 0 or 1, and all choose at the same time. In each round "
        "a player names a free space for a tile (three spaces in the first round), and may name one more for a "
        "reserve tile. A space that two or more players name stays empty, and the tiles are spent. A placed tile "
        "carries its owner's sequence.",
        "Then one generation of Life runs on a board with edges: an empty space with exactly three neighbours of "
        "eight gets a tile, each digit of which is that of the majority of the three; a tile with two or three "
        "neighbours stays as it is; every other tile vanishes.",
        "After it each player scores for every tile on the board, whoever placed it, the number of digits in which "
        "it equals the own sequence. Everybody sees the board, and what each sequence would have earned.",
        "In the rounds of the parameter flip_rounds a player may flip one digit of the own sequence. In each round "
        "one reserve tile may be bought for garnets: 2, then 4, then 8 and so on.",
        "After the last round most points win Tokens of Life, and 200 points earn a garnet, as do each 50 more. "
        "The fewest points make the Elimination Candidate; if several tie, the holders of Tokens vote on one of "
        "them in a last step.",
    ),
    position="A number from 0 to 7 on the board is a tile: its sequence read as a binary number, so 5 is 101. A "
    "tile that was born has a + behind it, a placed one an apostrophe; x is one that died, and a dot is a free "
    "space. In the table, ? is what you may not know.",
    moves="A move names spaces by row and column, counted from 0, and then what else you do, in this order: "
    "r7c7 places a tile; r7c7,r7c8,r8c7 places three in the first round; +r2c2 adds the reserve tile; /flip:100 "
    "flips the first digit; /buy buys a reserve tile; /vote:3 votes for the player in seat 3. Examples: r3c4, "
    "r3c4+r2c2/buy, r3c4/flip:001, none/vote:1. Parts that you do not use are left out. none alone does nothing.",
)

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
    variants={
        "grid-adaptation-small-v0": Variant(
            "Grid Adaptation, small enough to train on a laptop",
            {"size": 9, "players": 4, "rounds": 6, "flip_rounds": (3, 5)},
        ),
    },
    agents={
        "greedy": "cellgames.agents.grid_adaptation.greedy:GridGreedy",
        "rollout": "cellgames.agents.grid_adaptation.rollout:GridRollout",
        "mcts": "cellgames.agents.grid_adaptation.joint_moves:GridSearch",
    },
    networks={"policy": "cellgames.agents.grid_adaptation.network:GridNetwork"},
    improver="cellgames.agents.grid_adaptation.plan_improver:PlanImprover",
    transfer_parameters=("size", "players", "rounds", "first_tiles", "starting_garnets", "reserves", "flip_rounds"),
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
    reader="cellgames.arena.analyse.grid_adaptation_reader:GridReader",
    sections=("cellgames.lab.life.score_flows:sections",),
    page=_PAGE,
    colours=TextColours(
        row=r" *\d+ ([.x0-7][.x0-7'+ ]*)",
        signs={str(sequence): style for sequence, style in enumerate(_STYLES)} | {"x": "dim"},
    ),
    prompt=_PROMPT,
)

GRID_ADAPTATION_TALK = replace(
    _BASE,
    game="cellgames.envs.grid_adaptation_talk.game:GridAdaptationTalk",
    variants={
        "grid-adaptation-talk-v0": Variant(
            "Grid Adaptation with a word of each player before every round", {"talk": "public"}
        ),
        "grid-adaptation-talk-small-v0": Variant(
            "Grid Adaptation with talk, small enough to train on a laptop",
            {"size": 9, "players": 4, "rounds": 6, "flip_rounds": (3, 5), "talk": "public"},
        ),
    },
    networks={"policy": "cellgames.agents.grid_adaptation_talk.network:TalkNetwork"},
    simpler="cellgames.agents.grid_adaptation_talk.silent:SilentAgent",
    transfer_parameters=(*_BASE.transfer_parameters, "scramble", "mute"),
    sections=(*_BASE.sections, "cellgames.lab.talk.talk_section:sections"),
    asked_sections=("cellgames.lab.talk.talk_section:asked_sections",),
    page=replace(
        _PAGE,
        view="cellgames.web.views.grid_adaptation_talk_view:TalkView",
        rules=(
            *_PAGE.rules,
            "All say words at once before each round, an option of this package's own: a number to all or to each "
            "player, or silence. Words mean what players make of them, and bind nobody.",
        ),
        settings=(
            *_PAGE.settings,
            Setting("scramble", "Words are dealt out anew, so that they say nothing"),
            Setting("mute", "Words do not arrive"),
        ),
    ),
    prompt=replace(
        _PROMPT,
        rules=(
            *_PROMPT.rules,
            "Each round begins with talk_steps steps in which all players only say words, at the same time: numbers "
            "from 1 to words, or 0 for silence. If the parameter talk is public, a word goes to all; if it is private, "
            "one goes to each other player. Words mean what players make of them, and bind nobody.",
        ),
        moves=f"{_PROMPT.moves} In a talk step a move is none, for silence, or none/say:5 for word 5 in public; "
        "in private a word for each other player in the order of seats, such as none/say:5,0,2.",
    ),
)

GRID_ADAPTATION = replace(_BASE, extension=GRID_ADAPTATION_TALK)
