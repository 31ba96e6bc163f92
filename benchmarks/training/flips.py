"""What flips are worth in Grid Adaptation: `python -m benchmarks.training.flips`.

`greedy`, and two mixtures of it with `random`, play against `random`: one flips at random, the other one only flips as
`greedy` does. The page goes to results/studies/learning/flips.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

import cellgames
from benchmarks.pages import head, parser_of, typed_command, write_page
from cellgames.agents.base import BaseAgent
from cellgames.agents.loading import load
from cellgames.arena.play import evaluation
from cellgames.arena.play.match_options import MatchOptions
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.state import FLIP

OUT = Path("results/studies/learning/flips.md")
GAME = "grid-adaptation-small-v0"


class MixedAgent(BaseAgent):
    """An agent that flips as one agent does, and does all else as another one."""

    def __init__(self, flips: str, rest: str) -> None:
        super().__init__(f"{rest}, flips of {flips}")
        game = cellgames.make(GAME)
        self._flips, self._rest = load(flips, game), load(rest, game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        for agent in (self._flips, self._rest):
            agent.start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]."""
        asked: list[Any] = [self._flips, self._rest]
        flips, actions = (agent.act(observation, action_mask, env_ids, generator) for agent in asked)
        actions[:, FLIP] = flips[:, FLIP]
        return actions  # type: ignore[no-any-return]


def main() -> None:
    """Measure, and write the page."""
    parser = parser_of("benchmarks.training.flips", __doc__, OUT, seed=True)
    parser.add_argument("--games", type=int, default=1000, metavar="N", help="of each match, even (default 1000)")
    options, game = parser.parse_args(), cellgames.make(GAME)
    rows: list[evaluation.Row] = []
    for flips, rest in (("greedy", "greedy"), ("random", "greedy"), ("greedy", "random")):
        agent = MixedAgent(flips, rest)
        agents = {agent.name: agent, "random": load("random", game)}
        match = MatchOptions(games=options.games, seed=options.seed, opening_plies=0)
        records = evaluation.play_evaluation(game, agents, match, progress=True)
        rows.append({"against": "random", "agent": agent.name, **evaluation.evaluate(game, records, agent.name)})
    command = typed_command("benchmarks.training.flips", None)
    text = f"`{command}`: {options.games} games each of `{GAME}`, in half of the seats, seed {options.seed}."
    write_page(
        options.out,
        "What flips are worth in Grid Adaptation",
        (text, evaluation.table(rows)),
        {**head(command), "rows": rows},
    )


if __name__ == "__main__":
    main()
