"""`rollout:N`, flat Monte Carlo with sequential halving, and `amaf:N`, which values all actions of a playout.

Both play games in turns with perfect information, `rollout:N` also simultaneous ones with a determinization.

Letters: `L` games to move in, `C` candidate actions (arms), `X` playouts, `N` playouts a game, `A` actions.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve
from cellgames.utils.errors import check_at_least

from .playouts import MAX_BATCH, PlayoutAgent, affordable, at_once, best_arm, finish, lots


class RolloutAgent(PlayoutAgent):
    """An agent that plays the action that does best in random playouts.

    `playouts` in all are spent on each move. Candidates are drawn at random from the legal actions. Their number is the
    largest that can be tried in every round of halving, `candidates` at most. In each round the candidates left share
    an equal part of the playouts, and the worse half goes (Karnin, Koren, Somekh: "Almost optimal exploration
    in multi-armed bandits", ICML 2013; here results of earlier rounds are kept). A win counts 1, a draw 1/2;
    ties are broken by the generator. A single candidate is played without playouts.

    Where information is hidden, playouts start from a determinization of the observation (`GamePlugin.search`).
    Where all act at once, the others' next actions are random like all later ones.
    """

    determinizes: ClassVar[bool] = True
    memoryless = True

    def __init__(self, playouts: int, *, candidates: int = 64, name: str | None = None) -> None:
        check_at_least(1, playouts=playouts, candidates=candidates)
        super().__init__(name if name is not None else f"rollout:{playouts}", playouts)
        self.candidates = affordable(playouts, candidates)

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
        for some in torch.split(arms, min(MAX_BATCH, at_once(game))):
            rows = some // actions.shape[1]
            games, seat, chosen = state[rows], seats[rows, None], actions.flatten()[some]
            if game.info.simultaneous:
                chosen = game.random_actions(games, generator).scatter(1, seat, chosen[:, None])
            games = game.step(games, chosen, checked=False)
            outcome = finish(game, games, generator).gather(1, seat).squeeze(1)
            sums.index_add_(0, some, (outcome + 1).float() / 2)
        return sums.view_as(actions)


class AmafAgent(PlayoutAgent):
    """An agent that plays the action that matters most: the mover does better where it, not another, plays it.

    From each position `playouts` random games are played. An action's value is the mover's mean result in
    those in which the mover plays it at any time, less that in those in which somebody else does (Bruegmann,
    "Monte Carlo Go", 1993; Bouzy and Helmstetter, "Monte-Carlo Go developments", 2003). So one playout says
    something about every cell, which suits games in which a cell is worth much the same whenever it is taken,
    connection games above all. Ties are broken by the generator.
    """

    def __init__(self, playouts: int, *, name: str | None = None) -> None:
        check_at_least(1, playouts=playouts)
        super().__init__(name if name is not None else f"amaf:{playouts}", playouts)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        game = self.game
        mask = game.legal_actions(state)
        # [2, L * A] for the mover's own playouts and the others'.
        value, seen = torch.zeros((2, 2, mask.numel()), device=state.device, dtype=torch.float32)
        rows = torch.arange(len(state), device=state.device).repeat_interleave(self.playouts)
        for some in torch.split(rows, MAX_BATCH):
            self._sample(game, state, some, mask.shape[1], value, seen, generator)
        # One win in two is taken for granted, so that an action never seen has the value 1/2.
        own, others = ((value + 0.5) / (seen + 1)).view(2, *mask.shape)
        worth = (own - others).masked_fill(~mask, -2)
        return lots(mask, generator).masked_fill(worth < worth.amax(1, keepdim=True), -1).argmax(1)

    @staticmethod
    def _sample(
        game: Game,
        state: State,
        rows: Tensor,
        width: int,
        value: Tensor,
        seen: Tensor,
        generator: torch.Generator,
    ) -> None:
        """Run one playout from each game of `rows` [X], added to value and seen [2, L * A]."""
        games = state[rows]
        mover = games.current_player
        played = torch.zeros((2, len(rows), width), dtype=torch.bool, device=state.device)

        def record(places: Tensor, players: Tensor, actions: Tensor) -> None:
            played[(players != mover[places]).long(), places, actions] = True

        outcome = finish(game, games, generator, record).gather(1, mover[:, None])
        result = (outcome + 1).float() / 2
        # Exact in float32, whatever the order of the sums: halves of whole numbers.
        for side, marks in enumerate(played.float()):
            seen[side].view(-1, width).index_add_(0, rows, marks)
            value[side].view(-1, width).index_add_(0, rows, marks * result)
