"""Values of all placements in the Toroidal Cup, from games that differ in one placement.

Native code plays tens of thousands of games of Life a second, far more than a network can learn from. So each game of
self-play is played many times more, with another placement of one team in one step while all else stays as it was,
and the network learns how each of them would have ended (counterfactual returns of all actions, as in Monte Carlo
policy iteration). It plays a softmax of what it expects, and so improves the policy that it learns from: games are
played by policies from uniform to its own. In games against other agents these place the shapes of half of the teams,
and only placements of the others are replaced: the network learns a best response.

Letters: `B` games (environments), `P` teams, `X` placements to learn from, `C` other placements tried, `N` cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import gumbel
from cellgames.agents.toroidal_cup.network import SHARPNESS, PlacementValues
from cellgames.envs.core import Game, State
from cellgames.envs.core.seating import Seating
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.training.arguments import Arguments, PlacementArguments
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponents import POOL, Opponents, parse_mix
from cellgames.training.selfplay.updates import anneal, descend, explained_variance, means, minibatches
from cellgames.utils.errors import InputError, shown

_TEMPERED = (0.0, 0.25, 0.5, 1.0)  # factors of the logits by which a team of a training game plays
_SHORT = 4  # steps of a game up to which the placements of all teams are replaced; in longer ones one team's a step


@dataclass(frozen=True)
class _Step:
    """One step of the training games."""

    observation: Tensor  # [B, P, ...], what each team sees
    mask: Tensor  # bool [B, P, A], the legal placements
    logits: Tensor  # float [B, P, A], the network's
    stamp: Tensor  # int64 [B, P], the shapes to place
    cells: Tensor  # bool [B, P, N], the cells of the shapes that were placed; none where a game was over
    live: Tensor  # bool [B], the game was not over
    own: Tensor  # bool [B, P], the learner's teams, in games that were not over


@dataclass(frozen=True)
class _Examples:
    """Placements to learn from."""

    observation: Tensor  # [X, ...]
    actions: Tensor  # int64 [X, C], the placements that were tried
    target: Tensor  # float [X, C], 0 to 1: the team's share of the lead, 1/2 where all are level
    weight: Tensor  # float [X, C], 0 for placements that later ones of the team would have overlapped, else 1


class PlacementLearner(Learner):
    """The learner of `placement-values`. Its agent draws placements from the network's policy."""

    arguments: PlacementArguments
    game: ToroidalCup
    network: PlacementValues
    sample = True

    METRICS: ClassVar[Mapping[str, str]] = {
        "value_loss": "cross entropy of the expected share of the lead, from 0 to 1, in nats; 0.693 knows nothing",
        "explained_variance": "share of the variance of the value targets that the values explain; 1 is perfect",
        "grad_norm": "norm of the gradient before it is cut to `max_grad_norm`",
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, PlacementArguments)  # `ALGORITHMS` pairs them
        if not isinstance(game, ToroidalCup):
            raise InputError("game", f"a game of {ToroidalCup.id}", game.id, "ppo learns every game")
        mix = parse_mix(arguments.opponents)
        if POOL in mix:
            cause = f"{arguments.algorithm} keeps no results against snapshots"
            raise InputError("opponents", "itself and agents, but no pool", shown(arguments.opponents), cause)
        super().__init__(game, arguments, folder, device, kind=PlacementValues.kind)
        self._opponents = Opponents(game, mix, self.pool, device)
        longest = min(game.max_generations, arguments.generations or game.max_generations)
        self._watched = dataclasses.replace(game, max_generations=longest)
        self._unwatched = dataclasses.replace(game, max_generations=1)
        rate, decay = arguments.learning_rate, arguments.weight_decay
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=decay)

    @override
    def restart(self, seed: int) -> None:
        self._draws = torch.Generator().manual_seed(seed)

    @override
    def games_state(self) -> dict[str, Any]:
        return {"draws": self._draws.get_state()}  # games end in the iteration in which they begin

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        self._draws = torch.Generator()
        self._draws.set_state(state["draws"].cpu())

    @override
    def iterate(self, progress: float) -> Iteration:
        h = self.arguments
        anneal(self.optimizer, h.learning_rate, progress)
        steps = self._play()
        found = self._examples(steps)
        rows = len(found.target)
        order = minibatches(rows, h.minibatch_size, h.num_epochs, self.generator, self.device)
        values = means([self._learn(found, places) for places in order], len(self.METRICS))
        turns = sum(int(step.live.sum()) for step in steps)
        return Iteration(rows, h.num_envs, turns, dict(zip(self.METRICS, values, strict=True)))

    @torch.no_grad()
    def _play(self) -> list[_Step]:
        """Play a game in every environment, without Life, and return its steps."""
        game, count = self.game, self.arguments.num_envs
        self.network.eval()
        state = game.init(draw_seeds(count, self._draws, self.device))
        which = torch.randint(len(_TEMPERED), (count, game.teams, 1), generator=self._draws, device="cpu")
        tempered = torch.tensor(_TEMPERED, dtype=torch.float32, device="cpu")[which].to(self.device)
        band = torch.arange(game.teams, device=self.device)[:, None] * game.lattice.band
        seating, steps = self._seated(), []
        while not state.done.all():
            live, mask, stamp = ~state.done, game.legal_actions(state), state.queue[:, :, 0].long().clamp(min=0)
            seen = torch.stack([game.observe(state, seat) for seat in range(game.teams)], 1)
            logits = self.network(seen.flatten(0, 1))[0].view(mask.shape)
            wish = (logits * tempered).masked_fill(~mask, -torch.inf)
            actions = (wish + gumbel(wish, self._draws)).argmax(2)
            env_ids, seats = seating.to_move(state, live)
            if len(env_ids):
                ask = partial(self._ask, state)
                actions[env_ids, seats] = seating.ask(env_ids, seats, ask)
            cells = self._cells(stamp, actions, band) & live[:, None, None]
            steps.append(_Step(seen, mask, logits, stamp, cells, live, live[:, None] & (seating.seats < 0)))
            state = self._unwatched.step(state, actions, checked=False)
        return steps

    def _seated(self) -> Seating:
        """Return the player of each team in new games: the learner, -1, has half of them in games against an agent."""
        game, count = self.game, self.arguments.num_envs
        seating = Seating(game, torch.full((count, game.teams), -1, device=self.device))
        if not self._opponents.agents:
            return seating
        rivals = torch.tensor(self._opponents.draw(count, self._draws), device="cpu")
        order = torch.rand((count, game.teams), generator=self._draws, dtype=torch.float32, device="cpu").argsort(1)
        seats = torch.where(order < max(1, game.teams // 2), -1, rivals[:, None]).to(self.device)
        seating.deal(torch.arange(count, device=self.device), seats, self._opponents.start)
        return seating

    def _ask(self, state: State, number: int, env_ids: Tensor, seats: Tensor) -> Tensor:
        """Return the placements of an opponent."""
        return self._opponents.pick(number, state, env_ids, seats, self._draws)

    def _cells(self, stamp: Tensor, actions: Tensor, band: Tensor | int) -> Tensor:
        """Return the cells of placed shapes, int64 [..., K] both: bool [..., K, N]."""
        game = self.game
        row, col = placement.footprint(game.lattice, game.stamps, stamp, actions)
        empty = torch.zeros((*actions.shape, game.rows * game.cols), dtype=torch.bool, device=self.device)
        return empty.scatter(-1, row * game.cols + (band + col) % game.cols, True)

    def _examples(self, steps: list[_Step]) -> _Examples:
        """Return the results of other placements in the games."""
        teams, parts = self.game.teams, list[_Examples]()
        for number in range(len(steps)):
            drawn = int(torch.randint(teams, (), generator=self._draws, device="cpu"))
            seats = range(teams) if len(steps) <= _SHORT else [drawn]
            parts += [self._replaced(steps, number, seat) for seat in seats]
        return _Examples(*(torch.cat(field) for field in zip(*(vars(part).values() for part in parts), strict=True)))

    def _replaced(self, steps: list[_Step], number: int, seat: int) -> _Examples:
        """Return the results of other placements of one team in one step."""
        game, step = self.game, steps[number]
        rows = step.own[:, seat].nonzero().squeeze(1)
        mask, stamp = step.mask[rows, seat], step.stamp[rows, seat]
        uniform = torch.zeros_like(step.logits[rows, seat])
        half = self.arguments.placements // 2
        likely = self._drawn(step.logits[rows, seat], mask, half)
        actions = torch.cat((likely, self._drawn(uniform, mask, self.arguments.placements - half)), 1)
        cells = self._cells(stamp[:, None].expand_as(actions), actions, seat * game.lattice.band)  # [X, C, N]
        nothing = torch.zeros_like(cells[:, 0])
        earlier, later = nothing, nothing
        for other, one in enumerate(steps):
            if other < number:
                earlier = earlier | one.cells[rows, seat]
            elif other > number:
                later = later | one.cells[rows, seat]
        board = (cells | (earlier | later)[:, None]).to(torch.int8) * (seat + 1)
        for team in range(game.teams):
            if team != seat:
                theirs = torch.stack([one.cells[rows, team] for one in steps]).any(0)
                board += theirs[:, None].to(torch.int8) * (team + 1)
        live = self._watched.life(board.view(-1, game.rows, game.cols)).scores.float()
        own = live[:, seat]
        rival = live.index_fill(1, torch.tensor([seat], device=self.device), -1.0).amax(1)
        share = 0.5 + 0.5 * (own - rival) / live.sum(1).clamp(min=1.0)
        fits = mask.gather(1, actions) & ~(cells & later[:, None]).any(2)
        return _Examples(step.observation[rows, seat], actions, share.view(actions.shape), fits.float())

    def _drawn(self, logits: Tensor, mask: Tensor, count: int) -> Tensor:
        """Return different placements, drawn by logits, int64 [X, count]; not legal where there are fewer."""
        noisy = logits + gumbel(logits, self._draws)
        return noisy.masked_fill(~mask, -torch.inf).topk(min(count, mask.shape[1]), 1).indices

    def _learn(self, found: _Examples, places: Tensor) -> tuple[float, float, float]:
        """Take one step of the optimizer; return the loss, the explained variance and the norm of the gradient."""
        self.network.train()
        actions, target, weight = found.actions[places], found.target[places], found.weight[places]
        expected = self.network(found.observation[places])[0].gather(1, actions) / SHARPNESS
        loss = functional.binary_cross_entropy_with_logits(expected, target, weight, reduction="sum")
        loss = loss / weight.sum().clamp(min=1.0)
        grad_norm = descend(self.optimizer, self.network, loss, self.arguments.max_grad_norm)
        known = weight > 0
        explained = explained_variance(target[known] - expected.detach().sigmoid()[known], target[known])
        return float(loss.detach()), explained, grad_norm
