"""Greedy Grid Adaptation: the plan that leads most in the generations to come, against guesses of what the others do.

Letters: `L` games, `C` plans, `G` guesses, `P` players, `W` words of a board (see `boards.packedboards`), `N` spaces.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds
from cellgames.envs.core import Game, chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, RESERVE, SLOTS, VOTE
from cellgames.utils.errors import check_at_least

from .beliefs import History
from .decoding import Seen, seen
from .lookahead import ILLEGAL, Others, base_of, shapes_at, tiles_on, tried, weighted

_SEQUENCES, _SHAPE, _TIE = range(chance.USER + 10, chance.USER + 13)
_BOARDS = 1 << 15  # to look at together, which bounds the memory
_TIES = 16  # bits of lots that decide between plans of equal worth

_FIRST, _LATER, _FLIPS = (5, 4, 3, 2), (5, 4), (5, 4, 3)  # weights of generations: in round 1, later, and for flips


@dataclass(frozen=True)
class Plans:
    """The plans of `L` games.

    Attributes:
        actions: [L, C, 7] int64, without a vote.
        worth: [L, C] int64, comparable within a row; `ILLEGAL` for actions that are not legal.
        flips: [L, 4] float32, digits that match more, in every guess and generation, after each flip; 0 where none is
            allowed.
        scale: worth of one more digit that matches in every guess and generation.
    """

    actions: Tensor
    worth: Tensor
    flips: Tensor
    scale: int


@dataclass(frozen=True)
class _Outset:
    """Boards on which one's own tiles are to be tried out, with those of the others: [W, L, G] each."""

    flips: Tensor  # [L, 4] int64, worth of each flip
    tiles: Tensor  # with those of the others
    matches: Sequence[Tensor]  # for each digit where it is one's own, after the flip
    barred: Tensor  # spaces where no tile can land, as they have one already, or as several others have named them


def nothing(game: GridAdaptation, num_envs: int, device: torch.device) -> Tensor:
    """Return actions in which nothing is done, int64 [L, 7]."""
    actions = torch.zeros(num_envs, len(game.info.action_nvec), dtype=torch.int64, device=device)
    actions[:, SLOTS], actions[:, VOTE] = game.spaces, game.players
    return actions


@dataclass(frozen=True)
class Planner:
    """A lookahead of a few generations, from guesses at what all others do in this round.

    A plan is worth by how much digits that match outnumber those that do not in the generations to come. So it is
    compared with all other sequences, and what all of them profit from alike is worth nothing.

    Attributes:
        others: how they are guessed to play; their sequences are in any order.
        guesses: `G`.
        shapes: to draw for round 1, if several tiles are placed in it.
    """

    others: Others
    guesses: int = 8
    shapes: int = 64

    @property
    def game(self) -> GridAdaptation:
        """Return the rules."""
        return self.others.game

    def plans(self, seen: Seen, seeds: Tensor, others: Tensor | None = None, more: Tensor | None = None) -> Plans:
        """Return the plans of some players.

        Args:
            seen: views of the players, in rounds, not in the voting step; all in round 1 or all later.
            seeds: int64 [L], seeds of the guesses; a row's plans depend on its own seed alone.
            others: int64 [L, G, P - 1], the others' sequences in each guess; by default all but one's own in any order.
            more: int64 [L, X, 7], legal actions whose spaces are to be the last plans, with the flip of the others.
        """
        first = self.game.first_tiles > 1 and bool((seen.round == 1).any())
        plans = self.shapes if first else self.game.spaces
        more = nothing(self.game, len(seen), seeds.device)[:, None][:, :0] if more is None else more
        if others is None:
            lots = chance.draw(seeds[:, None], _SEQUENCES, torch.arange(self.guesses * 7, device=seeds.device))
            order = lots.view(len(seen), self.guesses, 7).argsort(2)[:, :, : self.game.players - 1]
            others = seen.sequence[:, None, None] ^ (order + 1)  # they differ in other digits each
        rows = torch.arange(len(seen), device=seeds.device).split(max(1, _BOARDS // (self.guesses * plans)))
        found = [self._plans(first, seen[some], seeds[some], others[some], more[some]) for some in rows]
        parts = zip(*((part.actions, part.worth, part.flips) for part in found), strict=True)
        actions, worth, flips = map(torch.cat, parts)
        return Plans(actions, worth, flips, found[0].scale)

    def _plans(self, first: bool, seen: Seen, seeds: Tensor, others: Tensor, more: Tensor) -> Plans:
        """Return the plans of some players, in round 1 (`first`) or later; the other arguments are those of `plans`."""
        outset = self._outset(seen, seeds, others)
        make, weights, ties = (self._first_plans, _FIRST, 0) if first else (self._later_plans, _LATER, _TIES)
        actions, worth = make(seen, seeds, outset)
        further = more.clone()
        actions[:, :, FLIP] = further[:, :, FLIP] = outset.flips.argmax(1)[:, None]
        if more.shape[1]:
            own = tiles_on(self.game.grid, further[:, :, SLOTS])
            worth = torch.cat((worth, self._worth(seen, outset, own, weights) << ties), 1)
        flips = outset.flips / (self.guesses * sum(_FLIPS))
        return Plans(torch.cat((actions, further), 1), worth, flips, self.guesses * sum(weights) << ties)

    def _later_plans(self, seen: Seen, seeds: Tensor, outset: _Outset) -> tuple[Tensor, Tensor]:
        """Return all spaces for the tile; and the best of them with all others for a reserve tile."""
        none, grid = self.game.spaces, self.game.grid
        spaces = torch.arange(none, device=seeds.device)
        free = ~grid.unpack(seen.planes[0]).flatten(1)
        lots = chance.draw(seeds[:, None], _TIE, spaces) & ((1 << _TIES) - 1)

        def ranked(own: Tensor, legal: Tensor) -> Tensor:
            """Return the worth of boards with own tiles; equal ones in a random order."""
            worth = self._worth(seen, outset, own, _LATER)
            return ((worth << _TIES) | lots).where(legal, ILLEGAL)

        singles = tiles_on(grid, spaces[:, None])[:, None]  # [W, 1, N]
        alone = ranked(singles, free)
        best = alone.argmax(1)
        beside = free & (spaces != best[:, None]) & _spare(seen)[:, None]
        pairs = ranked(singles | tiles_on(grid, best[:, None, None]), beside)
        some = free.any(1)
        actions = nothing(self.game, len(seen), seeds.device)[:, None].repeat(1, 2 * none, 1)
        actions[:, :none, 0] = spaces
        actions[:, none:, 0], actions[:, none:, RESERVE] = best[:, None], spaces
        actions[:, :, 0] = actions[:, :, 0].where(some[:, None], none)
        worth = torch.cat((alone, pairs), 1)
        worth[:, 0] = worth[:, 0].where(some, 0)  # "none", where nothing else is left
        return actions, worth

    def _first_plans(self, seen: Seen, seeds: Tensor, outset: _Outset) -> tuple[Tensor, Tensor]:
        """Return random shapes, with a reserve tile where there is one."""
        game, num_envs, number = self.game, len(seen), self.game.first_tiles
        counter = torch.arange(3 * self.shapes, device=seeds.device).view(self.shapes, 3)
        lots = chance.draw(seeds[:, None, None], _SHAPE, counter)
        without = torch.nn.functional.pad(shapes_at(game.size, number, lots), (0, 1), value=game.spaces)
        spaces = torch.where(_spare(seen)[:, None, None], shapes_at(game.size, number + 1, lots), without)
        # On boards that do not begin empty: a tile lies where there is room, a reserve tile is kept.
        free = torch.nn.functional.pad(~game.grid.unpack(seen.planes[0]).flatten(1), (0, 1), value=True)
        legal = free.gather(1, spaces.flatten(1)).view_as(spaces)
        room, kept = free.int().argmax(1)[:, None, None], torch.arange(number + 1, device=seeds.device) >= number
        spaces = spaces.where(legal, torch.where(kept, game.spaces, room))
        actions = nothing(game, num_envs, seeds.device)[:, None].repeat(1, self.shapes, 1)
        actions[:, :, :number], actions[:, :, RESERVE] = spaces[:, :, :number], spaces[:, :, number]
        return actions, self._worth(seen, outset, tiles_on(game.grid, spaces), _FIRST)

    def _outset(self, seen: Seen, seeds: Tensor, others: Tensor) -> _Outset:
        """Guess what the others place, and return the boards."""
        differs = others ^ seen.sequence[:, None, None]
        spaces = self.others.spaces(seen, others, seeds)
        tiles, *matches = (plane[..., None] for plane in (seen.planes[0], *seen.matches()))
        named = tiles_on(self.game.grid, spaces).unbind(-1)  # [W, L, G] for each player
        barred = functools.reduce(torch.bitwise_or, named, tiles)
        for seat, own in enumerate(rules.land(~tiles, named)):
            tiles, barred = tiles | own, barred & ~own
            same = [-((differs[:, :, seat] & value) == 0).long() for value in rules.DIGITS]
            matches = [match | (own & mask) for match, mask in zip(matches, same, strict=True)]
        flips = self._flips(seen, tiles, matches)
        flip = flips.argmax(1)
        turned = [-(flip == 3 - place).long()[:, None] for place in range(len(rules.DIGITS))]
        matches = [match ^ (tiles & mask) for match, mask in zip(matches, turned, strict=True)]
        return _Outset(flips, tiles, matches, barred)

    def _flips(self, seen: Seen, tiles: Tensor, matches: Sequence[Tensor]) -> Tensor:
        """Return the digits that match more in the generations to come after each flip, int64 [L, 4]."""
        if not seen.flips.any():
            return seen.sequence.new_zeros(len(seen), 4)
        none, left = tiles.new_zeros(len(tiles), 1, 1), self.game.rounds + 1 - seen.round
        found = tried(base_of(tiles, matches), none, self.game.size, len(_FLIPS))
        apart = [weighted(found[:, [digit]], _FLIPS, left) for digit in range(len(rules.DIGITS))]
        # A digit that is turned matches wherever it did not, now and later; flip 1 turns the last one.
        turned = [torch.zeros_like(apart[0]), *(-2 * digit for digit in reversed(apart))]
        return torch.cat(turned, 1).where(seen.flips[:, None], 0)

    def _worth(self, seen: Seen, outset: _Outset, own: Tensor, weights: tuple[int, ...]) -> Tensor:
        """Return the worth with tiles of one's own on boards [W, L or 1, C], summed over guesses: int64 [L, C]."""
        base, left = base_of(outset.tiles, outset.matches, outset.barred), self.game.rounds + 1 - seen.round
        return weighted(tried(base, own, self.game.size, len(weights)), weights, left)


def _spare(seen: Seen) -> Tensor:
    """Return True where a reserve tile can be placed, one that is held or one that is bought: bool [L]."""
    return (seen.reserves > 0) | (seen.garnets >= seen.price)


_BALLOT = chance.USER + 30


class GridPlayer(GameAgent[GridAdaptation]):
    """A base class of agents for Grid Adaptation: it votes at random, and `choose` decides in rounds.

    In steps that an extension of the game adds it does nothing. It plans against guesses at what the others do.

    Attributes:
        planner: that of the game that was started.
    """

    plays = GridAdaptation
    planner: Planner

    def __init__(self, name: str | None = None, guesses: int = 8, shapes: int = 64) -> None:
        super().__init__(name)
        check_at_least(1, guesses=guesses)
        self._guesses, self._shapes = guesses, shapes

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self.planner = Planner(self.others(self.game.base), self._guesses, self._shapes)

    def others(self, game: GridAdaptation) -> Others:
        """Return the model of how all others play."""
        return Others(game)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]; chance comes from a seed of each row."""
        game = self.game.base
        view, players = seen(game, observation), self.seats.of(env_ids)
        seeds = draw_seeds(len(env_ids), generator, observation.device)
        actions = nothing(self.game, len(view), observation.device)
        ballot = action_mask[:, : game.info.num_actions][:, -game.info.action_nvec[VOTE] :]
        lots = chance.draw(seeds, _BALLOT, torch.zeros_like(seeds)) & 0x7FFFFFFF
        actions[:, VOTE] = chance.random_legal(ballot, lots)
        for rows in view.rounds():
            chosen = self.choose(view[rows], players[rows], env_ids[rows], seeds[rows], generator)
            actions[rows, : chosen.shape[1]] = chosen
        return actions

    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        """Return actions without votes, int64 [L, 7], in the same round of each game, from the views of seats, [L].

        What is to depend on a row alone uses its seed, int64 [L]; the generator may be consumed, too.
        """
        raise NotImplementedError


class RememberingPlayer(GridPlayer):
    """A base class of agents that remember what they have seen in all rounds of a match."""

    history: History  # of the games in progress

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        before = self._game
        super().start(game, players, env_ids)
        if game != before:
            self.history = History(self.game.base)
        self.history.start(players, env_ids)


class GridGreedy(GridPlayer):
    """An agent that plays the plan of `Planner` that is worth most."""

    name = "greedy"
    memoryless = True

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        plans = self.planner.plans(view, seeds)
        return plans.actions[torch.arange(len(view), device=seeds.device), plans.worth.argmax(1)]
