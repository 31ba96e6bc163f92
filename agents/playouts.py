"""Random agents: `random`, and `rollout:N`, flat Monte Carlo with sequential halving; the playouts of a search, too.

Playouts from many positions run at once, through the game's contract alone. Sequential halving keeps the results of
earlier rounds (Karnin, Koren, Somekh: "Almost optimal exploration in multi-armed bandits", ICML 2013).

Letters: `X` playouts, `P` players, `A` actions; `L` bandits or games to move in, `C` arms of each (candidate actions).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game, State, chance
from cellgames.envs.core.state import S
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import check_at_least

from .base import BaseAgent, GameAgent, draw_seeds, refuse


def random_actions(mask: Tensor, nvec: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return uniformly random actions out of a mask, each component for itself: int64 [L], or [L, K] for K > 1.

    The mask is bool [L, A] with A the sum of `nvec`; components stand one after the other.
    """
    bits = torch.stack([chance.random_bits(len(mask), generator, mask.device) for _ in nvec], 1)
    parts = chance.random_parts(mask, nvec, bits)
    return parts.squeeze(1) if len(nvec) == 1 else parts


def has_compound_turns(game: Game) -> bool:
    """Return True if a turn is several actions, so that uniformly random actions make no sensible turns."""
    return "random" in plugin_of(game).agents


class RandomAgent(BaseAgent):
    """An agent that plays uniformly at random over the mask, in every game."""

    name = "random"
    memoryless = True
    _nvec: tuple[int, ...] | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._nvec = game.info.action_nvec

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose random actions; without a `start` before, an action is taken to have one component."""
        return random_actions(action_mask, self._nvec or action_mask.shape[1:], generator)


def best_arm(
    count: Tensor, width: int, trials: int, attempt: Callable[[Tensor, Tensor], Tensor], generator: torch.Generator
) -> Tensor:
    """Return the arm of each bandit that did best, int64 [L], of its first `count`, int64 [L], at least 1, of `width`.

    In each round the arms left share an equal part of the trials, and the worse half goes. Ties are broken by the
    generator. A single arm is taken without a trial. `attempt` is called with arms and how often to try them, int64
    [L, C] both; it gives the sums of what came of it, float [L, C], each trial from 0 to 1.
    """
    places = torch.arange(width, device=count.device)
    arms = places.expand(len(count), -1)
    value, tried = (torch.zeros(arms.shape, device=count.device, dtype=torch.float32) for _ in range(2))
    for share, left in _rounds(count, trials):
        pulls = (share // left)[:, None] + (places < (share % left)[:, None])
        pulls = torch.where(places < left[:, None], pulls, 0)
        value += attempt(arms, pulls)
        tried += pulls
        # Best first, then those not tried yet; whoever went, and places without an arm, last.
        mean = torch.where(tried > 0, value / tried.clamp(min=1), -0.5)
        mean = torch.where(places < left[:, None], mean, -1.0)
        shuffled = lots(mean, generator).argsort(dim=1)  # so that equal ones come in random order
        order = shuffled.gather(1, mean.gather(1, shuffled).argsort(dim=1, descending=True, stable=True))
        arms, value, tried = (part.gather(1, order) for part in (arms, value, tried))
    return arms[:, 0]


def summed(together: int, trial: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return an `attempt` for `best_arm` that sums what comes of single trials, asked for `together` at a time.

    `trial` is called with bandits and arms, int64 [X] both, and returns what came of each, float [X], from 0 to 1.
    """

    def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
        sums = torch.zeros(arms.numel(), device=arms.device, dtype=torch.float32)
        for some in torch.arange(len(sums), device=arms.device).repeat_interleave(pulls.flatten()).split(together):
            sums.index_add_(0, some, trial(some // arms.shape[1], arms.flatten()[some]))
        return sums.view_as(arms)

    return attempt


def affordable(playouts: int, limit: int) -> int:
    """Return the most candidates that all get a playout in the first round and are halved until one is left."""
    candidates = 1
    while candidates < limit and (candidates + 1) * math.ceil(math.log2(candidates + 1)) <= playouts:
        candidates += 1
    return candidates


def _rounds(count: Tensor, playouts: int) -> list[tuple[Tensor, Tensor]]:
    """Return playouts to spend and candidates left in each round, int64 [L] both; the first sum to `playouts`."""
    needed = torch.zeros_like(count)  # ceil(log2(count)) rounds, in whole numbers
    for doubling in range(int(count.max()).bit_length() if len(count) else 0):
        needed += count > 1 << doubling
    rounds, left = [], count
    for index in range(int(needed.max()) if len(needed) else 0):
        parts = needed.clamp(min=1)
        share = playouts * (index + 1) // parts - playouts * index // parts
        rounds.append((torch.where(index < needed, share, 0), left))
        left = (left + 1) // 2
    return rounds


def lots(like: Tensor, generator: torch.Generator) -> Tensor:
    """Return random float32 of the shape of `like`, uniform from 0 to 1."""
    return torch.rand(like.shape, generator=generator, device=generator.device, dtype=torch.float32).to(like.device)


MAX_BATCH = 4096
"""The number of playouts to run at once: more would leave the cache, fewer are call overhead."""

_CELLS = 1 << 24  # of boards and masks together, which bounds the memory in games with large ones
_CANDIDATES = 64  # of `rollout:N`, at most
_FINISHED_SHARE = 8  # finished games are dropped when they are one in so many


def at_once(game: Game) -> int:
    """Return the number of games to play at the same time: `MAX_BATCH`, or fewer where boards or masks are large."""
    info = game.info
    cells = math.prod(info.board.shape) + info.num_players * info.num_actions
    return min(MAX_BATCH, max(1, _CELLS // cells))


def finish(game: Game, state: State, generator: torch.Generator) -> Tensor:
    """Play all games to their end, uniformly at random; finished ones are dropped and cost nothing.

    Where a game knows how that ends without playing (`Game.random_outcome`), it is asked. In games of chance each gets
    dice of its own.

    Returns:
        int8 [X, P], `Game.outcome`.
    """
    if (known := game.random_outcome(state, generator)) is not None:
        return known
    if game.info.stochastic:
        state = state.replace(seed=draw_seeds(len(state), generator, state.device))

    def turn(state: State, places: Tensor) -> State:
        actions = game.random_actions(state, generator)
        after: State = game.step(state, actions, checked=False)
        return after

    return play_out(game, state, turn)


def play_out(game: Game, state: S, turn: Callable[[S, Tensor], S]) -> Tensor:
    """Play all games to their end, and return `Game.outcome`, int8 [X, P]; finished ones are dropped and cost nothing.

    `turn` plays on in games, finished ones among them; it also gets their places in `state`, int64 [R].
    """
    places = torch.arange(len(state), device=state.device)
    outcomes = torch.zeros((len(state), game.info.num_players), dtype=torch.int8, device=state.device)
    while True:
        done = state.done
        if int(done.sum()) * _FINISHED_SHARE >= len(state):
            ended, running = done.nonzero().squeeze(1), (~done).nonzero().squeeze(1)
            outcomes[places[ended]] = game.outcome(state[ended])
            if len(running) == 0:
                return outcomes
            state, places = state[running], places[running]
        state = turn(state, places)


def outcomes(game: Game, state: State, generator: torch.Generator) -> Tensor:
    """Return the outcomes of games that are played on at random, int8 [X, P], as `Game.outcome` has them.

    The playouts are those of the game's plugin (`GamePlugin.search`), or of `finish`.
    """
    return (plugin_of(game).hook("playout") or finish)(game, state, generator)


class RolloutAgent(GameAgent):
    """An agent that plays the action that does best in random playouts.

    `playouts` in all are spent on each move. Candidates are drawn at random from the legal actions. Their number is the
    largest that can be tried in every round of halving, 64 at most. In each round the candidates left share an equal
    part of the playouts, and the worse half goes (`best_arm`). A win counts 1, a draw 1/2; ties are broken by the
    generator. A single candidate is played without playouts.

    Where information is hidden, playouts start from a determinization of the observation (`GamePlugin.search`).
    Where all act at once, the others' next actions are random like all later ones.
    """

    memoryless = True

    def __init__(self, playouts: int) -> None:
        check_at_least(1, playouts=playouts)
        super().__init__(f"rollout:{playouts}")
        self.playouts, self.candidates = playouts, affordable(playouts, _CANDIDATES)

    @override
    def check_game(self, game: Game) -> None:
        obstacles = list(game.info.search_obstacles)
        if game.info.perfect_information or plugin_of(game).search.get("determinize") is not None:
            obstacles = ["an action has several components"] * (len(game.info.action_nvec) > 1)
        refuse(self, game, obstacles + ["random actions make no turns"] * has_compound_turns(game))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        state: State = plugin_of(self.game).hook("determinize")(self.game, observation, self.seats.of(env_ids))
        return self.act_on_state(state, env_ids, generator)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        game, mask, seats = self.game, self.game.legal_actions(state), state.current_player
        if game.info.simultaneous:
            seats = self.seats.of(env_ids)
            mask = mask[torch.arange(len(mask), device=mask.device), seats]
        count = mask.sum(1).clamp(max=self.candidates)  # [L], candidates of each game
        width = int(count.max()) if len(count) else 0
        actions = lots(mask, generator).where(mask, -1.0).topk(width, dim=1).indices  # [L, C]

        def trial(rows: Tensor, arms: Tensor) -> Tensor:
            games, seat, chosen = state[rows], seats[rows, None], actions[rows, arms]
            if game.info.simultaneous:
                chosen = game.random_actions(games, generator).scatter(1, seat, chosen[:, None])
            games = game.step(games, chosen, checked=False)
            return (finish(game, games, generator).gather(1, seat).squeeze(1) + 1).float() / 2

        best = best_arm(count, width, self.playouts, summed(at_once(game), trial), generator)
        return actions.gather(1, best[:, None]).squeeze(1)
