"""Cloth of Gold: its rules, agents, networks, training options, readers and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Prompt, Setting, TextColours, TrainingPreset, Variant
from .shared import LIFE_RULE, MASKABLE_PPO, SLOW_GAME

__all__ = ["CLOTH_OF_GOLD"]

_WILD = {"terrain": True, "weather": True, "perks": True, "territory": "hull"}

CLOTH_OF_GOLD = GamePlugin(
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
        "cloth-of-gold-small-v0": Variant(
            "Cloth of Gold, small enough to train on a laptop", {"height": 32, "width": 32, "generations": 24}
        ),
        "cloth-of-gold-wild-v0": Variant(
            "Cloth of Gold with terrain, weather, perks, borders and wildlife", {**_WILD, "wildlife": (6, 2, 2)}
        ),
        "cloth-of-gold-wild-small-v0": Variant(
            "wild Cloth of Gold, small enough to train on a laptop",
            {"height": 32, "width": 32, "generations": 24, **_WILD, "wildlife": (3, 1, 1)},
        ),
    },
    agents={
        "champion": "cellgames.agents.cloth_of_gold.opening_champion:ClothChampion",
        "greedy": "cellgames.agents.cloth_of_gold.greedy:ClothGreedy",
        "gumbel": "cellgames.agents.cloth_of_gold.turn_search:TurnGumbel",
        "mcts": "cellgames.agents.cloth_of_gold.turn_search:TurnUCT",
        "random": "cellgames.agents.cloth_of_gold.turns:ClothRandom",
        "rollout": "cellgames.agents.cloth_of_gold.rollout:ClothRollout",
    },
    networks={
        "policy": "cellgames.agents.cloth_of_gold.network:ClothNetwork",
        "turns": "cellgames.agents.cloth_of_gold.values:ClothValues",
    },
    transfer_parameters=("height", "width", "generations"),
    improver="cellgames.agents.cloth_of_gold.turn_improver:TurnImprover",
    playout="cellgames.agents.cloth_of_gold.rollout:finish_turns",
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
    reader="cellgames.arena.analyse.cloth_of_gold_reader:ClothReader",
    page=Page(
        view="cellgames.web.views.cloth_of_gold_view:ClothView",
        rules=(
            "In turn both players place up to ten units, at least one where that is possible; then Life runs for a "
            "round of generations. Before the first round both place once without Life after it.",
            "A unit goes on an empty cell of your own territory (near your units) that is not also your opponent's, "
            "and not directly beside (left, right, above, below) an opponent's unit. With no unit on the board you may "
            "start anywhere but beside the opponent's units.",
            LIFE_RULE,
            "A newborn belongs to the side with more of its three parents. A unit that would live on with more "
            "opponents than friends around it is killed instead: its cell is blocked, as a rule for one generation, "
            "and can bear nothing in that time.",
            "After the second round and every later one, who leads in units wins, unless that lead has grown since the "
            "round before. When both have equally many, both lose. After the last round the lead decides.",
            "Where the setting is extinction, who has no unit left after a round has lost instead.",
            "In wild games no unit goes, is born or stays in water. Rain lifts the water, dry weather lowers it; in "
            "storms lightning empties 3 x 3 cells and sets forest on fire, and units die on burning cells.",
            "In wild games still lifes earn something for the next turn: every 4 blocks or beehives one more unit, "
            "every 2 loaves a wider border, tubs and ponds wards around them, every 2 boats or ships a bolt, which "
            "empties 3 x 3 cells. They count twice on forest, and nothing on rock or burnt ground.",
            "In wild games borders run around groups of your units. Grazers flee from units and can be tamed by two "
            "units of one player; hunters kill all units around them, guards do so when units come near. Four units "
            "kill them.",
        ),
        settings=(
            Setting("height", "Rows", 8, 128),
            Setting("width", "Columns", 8, 128),
            Setting("generations", "Generations a round", 1, 500),
            Setting("max_units", "Units a turn", 1, 20),
            Setting("max_rounds", "Rounds at most", 1, 50),
            Setting("win_rule", "Who wins", choices=("score", "extinction")),
            Setting("initial_placement", "Units are placed before the first round"),
            Setting("neutral_births", "Three neutral neighbours make a neutral cell"),
            Setting("terrain", "Terrain: water, rock and forest"),
            Setting("weather", "Weather: rain, storm, lightning and fire (needs terrain)"),
            Setting("perks", "Perks: still lifes earn units, reach, wards and bolts"),
            Setting("combinations", "Combinations: sets of still lifes earn more (needs perks)"),
        ),
        lesson="cellgames.web.lessons.cloth_of_gold_lesson:CLOTH_OF_GOLD",
        people=("Player A", "Player B"),
        goals=("Have more units than your opponent after a round in which your lead does not grow any more.",),
    ),
    colours=TextColours(
        row=r" *\d+ ([^\d\s]+)",
        signs={
            "[Aa]": "bold red",
            "[Bb]": "bold cyan",
            "-+": "red",
            r"\|+": "cyan",
            r"\++": "dim",
            "[ox]": "bold yellow",
            "~+": "blue",
            "f+": "green",
            r"\*": "bold bright_red",
            "[GHUw]": "bold magenta",
        },
    ),
    prompt=Prompt(
        rules=(
            "Two players, a and b, place units on a board with edges, on which Conway's Life then runs. In each round "
            "a places up to a number of units, then b does, and Life runs for a number of generations. If an initial "
            "placement is played, both place once before the first round, without Life after it.",
            "A turn consists of several moves: each places one unit, and the move end ends the turn. At least one unit "
            "must be placed where that is possible. Choosing a unit of this turn again takes it back.",
            "A unit goes on an empty cell in your own territory, which is every cell nearer than the radius to one of "
            "your units. The cell may not be in the opponent's territory, nor on or directly beside (left, right, "
            "above, below) a unit of the opponent. While you have no unit, territory does not matter.",
            "Life: an empty cell with exactly three live neighbours of eight gets a unit of the side that has more of "
            "them, if one has. A unit with two or three live neighbours stays, but it is killed, and its cell blocked "
            "for a time, if more of them are the opponent's than its own side's. All other units vanish. So a single "
            "unit or a pair dies; a block of 2 x 2 stays for ever, and a row of three turns for ever.",
            "After each round from the second on (the parameter first_verdict) the player with more units wins, unless "
            "that lead has grown since the round before. If both have equally many, both lose. After the last round "
            "the lead decides. With win_rule=extinction a player without units loses instead.",
            "If terrain is true, no unit is placed, born or stays in water (~). If weather is true, rain lifts the "
            "water and puts fires out, dry weather lowers it, and in a storm lightning empties 3 x 3 cells and "
            "lights forest (f). Fire (*) spreads to forest beside it; units on it die. Rock (^) does not burn.",
            "If perks is true, each player's still lifes are counted after a round: every 4 points of blocks and "
            "beehives give one more unit in the next turn, every 2 points of loaves widen the territory by 1, tubs "
            "and ponds ward the cells within 2 of them, and every 2 points of boats and ships give a bolt, of which "
            "at most 3 are kept. A bolt empties the 3 x 3 around a cell, except cells warded for the opponent. A "
            "still life earns 1 point, 2 on forest, 0 with a cell on rock or burnt ground (,). If combinations is "
            "true, a set of one still life for each of the four gives one more point of supply, reach and bolts, and "
            "wards reach 1 further for a set, 2 for more.",
            "Neutral cells (o) with two or three live neighbours go over to the side that has more of them, unless "
            "neutral_stance is defensive or aggressive. Aggressive ones kill units with two or three live neighbours "
            "most of which are neutral, and an empty cell with three, two or more of them neutral, becomes neutral.",
            "If territory is hull, your territory is every cell near the hulls of your clusters of units. Animals: G "
            "grazers flee units, and two or more units of one player alone tame one, which gives a point of supply; "
            "H hunters go to units and kill all in their 3 x 3; U guards do so if a unit comes within 3. Four units "
            "in reach kill a hunter or guard.",
        ),
        position="The lines above the board give the units, the territories and what is left of the turn. A and B are "
        "units, small letters those of this turn, o is neutral, x is killed; - is territory of A, | of B, + of both.",
        moves="A move is r12c34, the cell in row 12 and column 34, both counted from 0, or end, which ends the turn. "
        "If perks is true, bolt-r12c34 casts a bolt at that cell.",
    ),
)
