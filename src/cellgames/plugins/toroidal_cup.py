"""Toroidal Cup: its rules, agents, networks, training options, readers and page."""

from __future__ import annotations

from .plugin import GamePlugin, Page, Prompt, Setting, TextColours, TrainingPreset, Variant
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
        "toroidal-cup-small-v0": Variant(
            "The Toroidal Cup, small enough to train on a laptop",
            {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 1000},
        )
    },
    agents={
        "champion": "cellgames.agents.toroidal_cup.champion:ToroidalCupChampion",
        "greedy": "cellgames.agents.toroidal_cup.greedy:ToroidalCupGreedy",
        "mcts": "cellgames.agents.toroidal_cup.placement_search:CupSearch",
    },
    networks={
        "policy": "cellgames.agents.toroidal_cup.network:CupNetwork",
        "placements": "cellgames.agents.toroidal_cup.network:PlacementValues",
    },
    determinize="cellgames.agents.toroidal_cup.determinization:determinize",
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
    reader="cellgames.arena.analyse.toroidal_cup_reader:CupReader",
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
        lesson="cellgames.web.lessons.toroidal_cup_lesson:TOROIDAL_CUP",
        people=("Team {}",),
        goals=("Arrange your shapes so that, when Life has settled, more live cells have your colour than any other.",),
    ),
    colours=TextColours(
        row=r"([.1-8]+)",
        signs={
            "1+": "bold red",
            "2+": "bold cyan",
            "3+": "bold yellow",
            "4+": "bold green",
            "5+": "bold magenta",
            "6+": "bold blue",
            "7+": "bold bright_red",
            "8+": "bold",
        },
    ),
    prompt=Prompt(
        rules=(
            "Teams arrange shapes on a torus: the right edge is joined to the left one, and the bottom to the top. "
            "Every team has a band of columns, all of one width, the first team the leftmost. In each step all teams "
            "place their next shape at the same time, inside their own band and not on their own cells.",
            "After the last shape Conway's Life runs: an empty cell with exactly three live neighbours of eight comes "
            "alive in the colour of most of them; a live cell with two or three stays alive and takes the colour of "
            "most of its neighbours (with survivors=keep it keeps its own); every other cell dies. Where colours tie, "
            "the place of the cell decides.",
            "When the shares of the teams no longer change, or one team alone is left, the team with most live cells "
            "wins.",
        ),
        position="A digit is a live cell of the team with that number, and a dot an empty cell. On wide boards one "
        "sign stands for a block of cells: the team with most of them. The line of your team says which shapes you "
        "place, the next one first.",
        moves="A move is r6c10/3: the centre of the shape lies in row 6 and column 10 of your own band, both counted "
        "from 0 at its upper left corner, and the shape has orientation 3 of 0 to 7 (0 to 3 are quarter turns, and 4 "
        "to 7 the same of its mirror image).",
    ),
)
