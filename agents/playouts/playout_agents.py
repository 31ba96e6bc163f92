"""`rollout:N`, flat Monte Carlo with sequential halving.

It plays games in turns with perfect information, and simultaneous ones with a determinization.

Letters: `L` games to move in, `C` candidate actions (arms), `X` playouts, `N` playouts a game, `A` actions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, refuse
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve
from cellgames.utils.errors import check_at_least

from .playouts import affordable, at_once, best_arm, finish, lots
from .random_agent import has_compound_turns


class RolloutAgent(GameAgent):
    """An agent that plays the action that does best in random playouts.

    `playouts` in all are spent on each move. Candidates are drawn at random from the legal actions. Their number is the
    largest that can be tried in every round of halving, `candidates` at most. In each round the candidates left share
    an equal part of the playouts, and the worse half goes (Karnin, Koren, Somekh: "Almost optimal exploration
    in multi-armed bandits", ICML 2013; here results of earlier rounds are kept). A win counts 1, a draw 1/2;
    ties are broken by the generator. A single candidate is played without playouts.

    Where information is hidden, playouts start from a determinization of the observation (`GamePlugin.search`).
    Where all act at once, the others' next actions are random like all later ones.
    """

    memoryless = True

    def __init__(self, playouts: int, *, candidates: int = 64, name: str | None = None) -> None:
        check_at_least(1, playouts=playouts, candidates=candidates)
        super().__init__(name if name is not None else f"rollout:{playouts}")
        self.playouts, self.candidates = playouts, affordable(playouts, candidates)

    @override
    def check_game(self, game: Game) -> None:
        obstacles = list(game.info.search_obstacles)
        if game.info.perfect_information or plugin_of(game).search.get("determinize") is not None:
            obstacles = ["an action has several components"] * (len(game.info.action_nvec) > 1)
        refuse(self, game, obstacles + ["random actions make no turns"] * has_compound_turns(game))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        game, seats = self.game, self.seats.of(env_ids)
        state: State = resolve(plugin_of(game).search["determinize"])(game, observation, seats)
        return self._search(state, seats, action_mask, generator)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        mask, seats = self.game.legal_actions(state), state.current_player
        if self.game.info.simultaneous:
            seats = self.seats.of(env_ids)
            mask = mask[torch.arange(len(mask), device=mask.device), seats]
        return self._search(state, seats, mask, generator)

    def _search(self, state: State, seats: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return an action for each of `seats`, int64 [L], out of its mask, bool [L, A]."""
        count = mask.sum(1).clamp(max=self.candidates)  # [L], candidates of each game
        width = int(count.max()) if len(count) else 0
        actions = lots(mask, generator).where(mask, -1.0).topk(width, dim=1).indices  # [L, C]

        def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
            return self._try(state, seats, actions.gather(1, arms), pulls, generator)

        return actions.gather(1, best_arm(count, width, self.playouts, attempt, generator)[:, None]).squeeze(1)

    def _try(self, state: State, seats: Tensor, actions: Tensor, pulls: Tensor, generator: torch.Generator) -> Tensor:
        """Return the value summed over `pulls` playouts of each candidate, float32 [L, C]."""
        game = self.game
        sums = torch.zeros(actions.numel(), device=state.device, dtype=torch.float32)
        arms = torch.arange(len(sums), device=state.device).repeat_interleave(pulls.flatten())  # [X]
        for some in torch.split(arms, at_once(game)):
            rows = some // actions.shape[1]
            games, seat, chosen = state[rows], seats[rows, None], actions.flatten()[some]
            if game.info.simultaneous:
                chosen = game.random_actions(games, generator).scatter(1, seat, chosen[:, None])
            games = game.step(games, chosen, checked=False)
            outcome = finish(game, games, generator).gather(1, seat).squeeze(1)
            sums.index_add_(0, some, (outcome + 1).float() / 2)
        return sums.view_as(actions)
