"""A bot that foresees last placements of the Toroidal Cup: `python -m benchmarks.agents.cup_prediction SPEC ...`.

It plays like the agent that it meets until the last step. There it asks a copy of that agent several times what it
would place in the other seat, lets Life run to the end for each of these placements and each of its own candidates,
and plays the best one. An agent that always places the same is beaten almost always, one that mixes is not.

Letters: `L` rows, `C` candidates, `D` draws of the other's placement.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import cellgames
from cellgames.agents.base import AnyAgent, GameAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.agents.toroidal_cup.determinization import determinize
from cellgames.envs.core import seeds
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.utils.statistics import wilson_interval

__all__ = ["Foresight", "main", "score"]


class Foresight(GameAgent[ToroidalCup]):
    """An agent that plays a best response to draws of another agent's last placement, in games of two teams.

    Args:
        asked: the agent that it foresees, a copy of its own.
        draws: how often that agent is asked.
        candidates: own placements that are tried.
    """

    plays = ToroidalCup

    def __init__(self, asked: AnyAgent, *, draws: int = 16, candidates: int = 64) -> None:
        super().__init__("foresight")
        self.asked: Any = asked
        self.draws, self.candidates = draws, candidates

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose a placement for each row, int64 [L]."""
        game, seats = self.game, self.seats.of(env_ids)
        state = determinize(game, observation, seats)
        chosen = self._place(observation, action_mask, seats, generator)
        last = game.is_last_turn(state).nonzero().squeeze(1)
        if len(last) == 0:
            return chosen
        state, own = state[last], seats[last]
        many = torch.arange(len(last)).repeat_interleave(self.draws)
        other = (1 - own)[many]
        seen, mask = game.observe(state[many], other), game.legal_actions(state)[many, other]
        theirs = self._place(seen, mask, other, generator).view(len(last), 1, self.draws)
        lots = torch.rand(action_mask[last].shape, generator=generator)
        drawn = lots.masked_fill(~action_mask[last], -1.0).topk(min(self.candidates, lots.shape[1]), 1)
        mine = drawn.indices.where(drawn.values >= 0, drawn.indices[:, :1])  # [L, C]
        shape = (*mine.shape, self.draws)
        first = (own == 0)[:, None, None].expand(shape)
        own_action, other_action = mine[:, :, None].expand(shape), theirs.expand(shape)
        ordered = (torch.where(first, own_action, other_action), torch.where(first, other_action, own_action))
        joint = torch.stack(ordered, 3)
        rows = torch.arange(len(last)).repeat_interleave(mine.shape[1] * self.draws)
        ends = game.step(state[rows], joint.flatten(0, 2), checked=False)
        result = game.outcome(ends).gather(1, own[rows, None]).float().view(shape).mean(2)
        chosen[last] = mine.gather(1, result.argmax(1, keepdim=True)).squeeze(1)
        return chosen

    def _place(self, seen: Tensor, mask: Tensor, seats: Tensor, generator: torch.Generator) -> Tensor:
        """Return what the foreseen agent places, int64 [L]; each row is a game of its own to it."""
        rows = torch.arange(len(seats))
        self.asked.start(self.game, seats, rows)
        chosen: Tensor = self.asked.act(seen, mask, rows, generator)
        return chosen


def score(game: ToroidalCup, spec: str, games: int, seed: int = 0, draws: int = 16) -> float:
    """Return the points that `Foresight` gets of all games against an agent, a draw 1/2, with seats exchanged."""
    agents = [Foresight(load(spec, game), draws=draws), load(spec, game)]
    seats = torch.tensor([[0, 1], [1, 0]] * (games // 2))
    generators = [torch.Generator().manual_seed(seed + number) for number in (1, 2)]
    played = play(game, agents, seats, seeds(seed, len(seats)), generators)
    points = (game.outcome(played.state).float() + 1) / 2
    return float(points[seats == 0].mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the score of the bot against each agent."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("agents", nargs="+", metavar="SPEC")
    parser.add_argument("--game", default="toroidal-cup-small-v0")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--draws", type=int, default=16)
    options = parser.parse_args(arguments)
    game = cellgames.make(options.game)
    assert isinstance(game, ToroidalCup)
    for spec in options.agents:
        found = score(game, spec, options.games, draws=options.draws)
        low, high = wilson_interval(found, options.games)
        print(f"{spec}: foresight scores {100 * found:.1f} % ({100 * low:.1f} to {100 * high:.1f})")


if __name__ == "__main__":
    main()
