"""A bot that foresees last placements of the Toroidal Cup: `python -m cellgames.lab.studies.cup_prediction SPEC ...`.

It plays like the agent that it meets until the last step. There it asks copies of that agent, which have seen the
game, for their placements in the other seat. It lets Life run to the end for each of these placements and each of its
own candidates, and plays the best one. An agent that always places the same is beaten almost always, one that mixes is
not.

Letters: `L` rows, `C` candidates, `D` draws of the other's placement.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

import cellgames
from cellgames.agents.base import AnyAgent, GameAgent
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play
from cellgames.agents.toroidal_cup.greedy import determinize
from cellgames.envs.core import Game, seeds
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.utils.statistics import wilson_interval


class Foresight(GameAgent[ToroidalCup]):
    """An agent that plays a best response to draws of another agent's last placement, in games of two teams.

    Args:
        asked: the agent that it foresees, of its own: it plays its games, and copies of them in the other seat.
        draws: copies of each game.
        candidates: own placements that are tried.
    """

    plays = ToroidalCup

    def __init__(self, asked: AnyAgent, *, draws: int = 16, candidates: int = 64) -> None:
        super().__init__("foresight")
        self.asked: Any = asked
        self.draws, self.candidates = draws, candidates

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self.asked.start(game, players, self._ids(env_ids)[:, 0].contiguous())
        self.asked.start(game, (1 - players).repeat_interleave(self.draws), self._ids(env_ids)[:, 1:].flatten())

    def _ids(self, env_ids: Tensor) -> Tensor:
        """Return games of the asked agent, int64 [L, 1 + D]: in the first it plays this seat, else the other one."""
        return env_ids[:, None] * (1 + self.draws) + torch.arange(1 + self.draws)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose a placement for each row, int64 [L]."""
        game, seats, ids = self.game, self.seats.of(env_ids), self._ids(env_ids)
        state = determinize(game, observation, seats)
        chosen: Tensor = self.asked.act(observation, action_mask, ids[:, 0].contiguous(), generator)
        last = game.is_last_turn(state).nonzero().squeeze(1)
        # Copies of an agent with a memory see the whole game.
        met = last if getattr(self.asked, "memoryless", False) else torch.arange(len(state))
        if len(met) == 0:
            return chosen
        many = met.repeat_interleave(self.draws)
        other = (1 - seats)[many]
        seen, mask = game.observe(state[many], other), game.legal_actions(state)[many, other]
        theirs = self.asked.act(seen, mask, ids[met, 1:].flatten(), generator).view(len(met), 1, self.draws)
        if len(last) == 0:
            return chosen
        state, own, theirs = state[last], seats[last], theirs[torch.isin(met, last)]
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
