"""`champion` in the Toroidal Cup: arrangements that an evolution found, adapted to what the others place.

Letters: `L` games, `D` designs, `K` stamps of the game, `S` shapes of the longest design, `R` shapes that are left,
`C` candidates, `G` guesses, `P` teams, `A` actions.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, Seats, draw_seeds, must_start, reaching
from cellgames.agents.networks.file_names import CHAMPION_FILE
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.dealing import PLACEABLE
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.patterns.stamps import ORIENTATIONS

from .bands import Band, Ints, band_of
from .champion_files import ChampionFile, CupDesign, read_champion, shipped_champion

__all__ = ["ToroidalCupChampion"]

_BANDS = 4  # for how long Life is watched before the last shape, in generations for each column of a band, as `greedy`
_MET = 4  # guesses before the last shape
_EARLIER = (1 / 16, 1 / 8)  # games before the last shape, as shares of those for it; for the last but one
_ROUNDS = 4  # of halving for the last shape, of about as many games each
_ANYWHERE = 2  # one of so many candidates for the last shape goes anywhere
_AT_ONCE = 2048  # games, which bounds the memory
_NEAR = 2  # steps of the lattice by which a shape is moved at most
_MOVED, _TURNED = 0.4, 0.2  # chances of changes; else a shape goes anywhere


class ToroidalCupChampion(GameAgent[ToroidalCup]):
    """An agent that plays a design for the shapes it is dealt, and changes what is left of it as the others appear.

    The design is drawn anew for each game, and shifted down at random. The shape to place and the number of shapes
    left tell which task it is; where several patterns begin so, it is the one with a single kind of shape. A placement
    that is illegal gives way to the nearest legal one. On boards of another size than the designs' the placements
    keep their relative places.

    For the second half of its shapes it tries variations of its plan, with one or two of the shapes that are left
    moved, turned or put elsewhere. Life runs a while from each whole arrangement, against the same few guesses of what
    the others will add, and the plan with the largest mean lead is kept.

    For the last shape games are played to the end, because the lead after a while tells less then. The worse half of
    the placements goes, and the rest meet twice as many new guesses, three times in all (sequential halving); the
    placement that wins most is played. With `games=0` the agent is the design alone.

    Args:
        path: a champion.json of `cellgames evolve`, or a folder with one; None for the champion of the package.
        name: as in `Agent`.
        games: games of Life for the last placement, about; an eighth as many for the last but one, and a sixteenth
            for those before.
    """

    plays = ToroidalCup

    def __init__(self, path: Path | None = None, name: str = "champion", *, games: int = 4096) -> None:
        super().__init__(name)
        if games < 0:
            raise ValueError(f"expected a number of games from 0, got {games}")
        self.games = games
        self._file = None if path is None else read_champion(path / CHAMPION_FILE if path.is_dir() else path)
        self._seats = Seats()
        self._begun = torch.zeros(
            (0, 0), dtype=torch.int64, device="cpu"
        )  # [envs, P], shapes at the beginning, 0 before
        self._plans: dict[tuple[int, int], Ints] = {}  # by env and seat, [K, S]

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        assert isinstance(game, ToroidalCup)  # says `super`
        known = {design.pattern for design in self._champion(game).designs}
        if missing := [pattern for pattern in game.patterns if not self._serving(game, pattern)]:
            have = ", ".join(sorted(known))
            raise ValueError(f"agent {self.name!r} has no design for {', '.join(missing)}; it has some for {have}")

    def _champion(self, game: ToroidalCup) -> ChampionFile:
        return self._file or read_champion(shipped_champion(game.id, game.parameters))

    def _serving(self, game: ToroidalCup, pattern: str) -> list[CupDesign]:
        """Return the designs that can place the shapes of a pattern."""
        stamps = set(PLACEABLE[pattern].stamps)
        return [one for one in self._champion(game).designs if one.pattern == pattern and stamps <= set(one.placements)]

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        before = self._game
        super().start(game, players, env_ids)
        if before != game or self._begun.device != env_ids.device:
            self._prepare()
            self._begun = torch.zeros((0, self.game.teams), dtype=torch.int64, device=env_ids.device)
            self._plans.clear()
        self._seats.start(game, players, env_ids)
        self._begun = reaching(self._begun, env_ids)
        self._begun[env_ids, players] = 0

    def _prepare(self) -> None:
        """Write down all designs as actions of the game."""
        game, lattice = self.game, self.game.lattice
        champion = self._champion(game)
        made = ToroidalCup(**champion.parameters).lattice
        self._designs = [one for pattern in game.patterns for one in self._serving(game, pattern)]
        self._actions: list[Ints] = []  # [K, S] each
        for design in self._designs:
            actions = np.zeros((len(game.stamps), design.shapes), dtype=np.int64)
            for stamp in set(design.placements) & set(game.stamps):
                row, col, turn = np.array(design.placements[stamp]).T
                down = _scaled((row - made.stride // 2) // made.stride, made.down, lattice.down)
                right = _scaled((col - made.stride // 2) // made.stride, made.across, lattice.across)
                actions[game.stamps.index(stamp)] = (down * lattice.across + right) * ORIENTATIONS + turn % ORIENTATIONS
            self._actions.append(actions)
        self._steps = lattice.down if lattice.down * lattice.stride == lattice.rows else 1
        self._watched = dataclasses.replace(game, max_generations=min(game.max_generations, _BANDS * lattice.band))

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose a placement for each row, int64 [L]."""
        if self._game is None:
            raise must_start(self)
        seats = self._seats.of(env_ids)
        self._begun = reaching(self._begun, env_ids)
        left = observation[:, -1, 0, 0].long()
        kinds = self.game.stamp_seen(observation).tolist()
        draws = [np.random.default_rng(seed) for seed in draw_seeds(len(env_ids), generator).tolist()]
        new = self._begun[env_ids, seats] == 0
        keys = list(zip(env_ids.tolist(), seats.tolist(), strict=True))
        for row in new.nonzero().squeeze(1).tolist():
            self._plans[keys[row]] = self._plan(kinds[row], int(left[row]), draws[row])
        self._begun[env_ids, seats] = torch.where(new, left, self._begun[env_ids, seats])
        slots = (self._begun[env_ids, seats] - left).tolist()
        for row, (key, slot) in enumerate(zip(keys, slots, strict=True)):
            self._answer(observation[row], key, kinds[row], slot, draws[row])
        wanted = np.array([self._plans[key][kind, slot] for key, kind, slot in zip(keys, kinds, slots, strict=True)])
        mask = action_mask.cpu().numpy()
        illegal = np.flatnonzero(~mask[np.arange(len(wanted)), wanted])
        if len(illegal):
            wanted[illegal] = self._band.nearest(wanted[illegal], mask[illegal])
        return torch.from_numpy(wanted).to(action_mask.device)

    @property
    def _band(self) -> Band:
        return band_of(self.game.lattice, self.game.stamps)

    # --- designs --------------------------------------------------------------------------------------------------

    def _plan(self, kind: int, count: int, draw: np.random.Generator) -> Ints:
        """Return the plan of a game that begins with a shape of this kind, `count` shapes in all: int64 [K, count]."""
        name = self.game.stamps[kind]
        serving = [number for number, one in enumerate(self._designs) if name in PLACEABLE[one.pattern].stamps]

        def worse(number: int) -> tuple[int, int, int]:
            design = self._designs[number]
            gap = design.shapes - count
            # Patterns of one kind of shape first: what they always have is rare in a mixed one.
            return abs(gap) * (gap != 0), int(gap < 0), len(design.placements)

        least = min(map(worse, serving))
        group = [number for number in serving if worse(number) == least]
        weights = np.array([self._designs[number].weight for number in group])
        actions = self._actions[group[int(draw.choice(len(group), p=weights / weights.sum()))]]
        actions = np.tile(actions, -(-count // actions.shape[1]))[:, :count]
        return self._moved(actions, int(draw.integers(self._steps)), 0)

    def _moved(self, actions: Ints, down: Ints | int, right: Ints | int) -> Ints:
        """Return actions so many steps of the lattice further down and right; rows wrap."""
        lattice = self.game.lattice
        position, turn = np.divmod(actions, ORIENTATIONS)
        row, col = np.divmod(position, lattice.across)
        col = np.clip(col + right, 0, lattice.across - 1)
        return np.asarray(((row + down) % lattice.down * lattice.across + col) * ORIENTATIONS + turn, dtype=np.int64)

    # --- answers --------------------------------------------------------------------------------------------------

    def _answer(
        self, observation: Tensor, key: tuple[int, int], kind: int, slot: int, draw: np.random.Generator
    ) -> None:
        """Change what is left of a plan if that is worth more; most candidates are tried for the last shape.

        The shapes to come, one's own and the others', are taken to be like the one to place.
        """
        plan = self._plans[key]
        left = plan.shape[1] - slot
        if not slot or 2 * left > plan.shape[1] or not self.games:
            return
        rest, seat = plan[:, slot:], key[1]
        rounds = self._last_rounds() if left == 1 else [(max(1, round(self.games * _EARLIER[left == 2]) // _MET), _MET)]
        tries = self._tries(rest, rounds[0][0], draw)
        guesses = self._guesses(observation, seat, kind, (sum(met for _, met in rounds), left), draw)
        boards = self._boards(observation, seat, 0, kind, tries[:, kind])
        worth = np.zeros((len(tries), 0))
        for some, met in rounds:
            best = np.argsort(-worth.sum(1), kind="stable")[:some]  # the plan before is first among equals
            tries, boards, worth = tries[best], boards[best], worth[best]
            worth = np.concatenate((worth, self._worth(boards, guesses[:met], seat, left == 1)), 1)
            guesses = guesses[met:]
        plan[:, slot:] = tries[int(worth.sum(1).argmax())]

    def _last_rounds(self) -> list[tuple[int, int]]:
        """Return the candidates and the new guesses of each round of halving."""
        share = max(1, self.games // (_ROUNDS + 1))
        candidates = max(1, share // max(1, round(math.sqrt(self.games) / 16)))
        left = [-(-candidates // 2**number) for number in range(_ROUNDS)]
        return [(some, max(1, share // some)) for some in left]

    def _tries(self, rest: Ints, count: int, draw: np.random.Generator) -> Ints:
        """Return a plan and variations of it, int64 [C, K, R]."""
        tries = [rest, *(self._varied(rest, draw) for _ in range(count - 1))]
        if rest.shape[1] == 1:
            anywhere = count // _ANYWHERE
            actions = draw.choice(
                self.game.lattice.actions, size=min(anywhere, self.game.lattice.actions), replace=False
            )
            tries[count - len(actions) :] = [np.full_like(rest, action) for action in actions]
        return np.stack(tries)

    def _guesses(
        self, observation: Tensor, seat: int, kind: int, shape: tuple[int, int], draw: np.random.Generator
    ) -> npt.NDArray[np.int8]:
        """Return whole arrangements of the others by random placements of some shape [G, R]: int8 [G, rows, cols]."""
        start = np.zeros((shape[0], self.game.rows, self.game.cols), dtype=np.int8)
        for place in range(1, self.game.teams):
            wanted = draw.integers(self.game.lattice.actions, size=shape)
            start |= self._boards(observation, seat, place, kind, wanted)  # cells are of one team each, as bands are
        return start

    def _boards(self, observation: Tensor, seat: int, place: int, kind: int, wanted: Ints) -> npt.NDArray[np.int8]:
        """Return whole arrangements of one team, int8 [C, rows, cols], by plans, int64 [C, R].

        Args:
            observation: of the team in `seat`.
            seat: whose view it is.
            place: of the team around the torus, the one in `seat` first.
            kind: of all shapes to come.
            wanted: the plans.
        """
        game, lattice = self.game, self.game.lattice
        team = (seat + place) % game.teams
        # Of a board that bands do not fill, the columns at the end belong to nobody.
        columns = ((team - seat) * lattice.band % game.cols + np.arange(lattice.band)) % game.cols
        before = observation[place].bool().cpu().numpy()[:, columns].reshape(1, -1)
        live, _ = self._band.place(wanted, np.full(wanted.shape, kind), np.repeat(before, len(wanted), 0))
        start = np.zeros((len(wanted), game.rows, game.cols), dtype=np.int8)
        cells = live.reshape(len(wanted), lattice.rows, lattice.band)
        start[..., team * lattice.band : (team + 1) * lattice.band] = (team + 1) * cells
        return start

    def _worth(
        self, boards: npt.NDArray[np.int8], guesses: npt.NDArray[np.int8], seat: int, whole: bool
    ) -> npt.NDArray[np.float64]:
        """Return the results of whole games, or leads after a while, of all boards by all guesses: float64 [C, G]."""
        game = self.game if whole else self._watched
        starts = torch.from_numpy((boards[:, None] | guesses[None]).reshape(-1, game.rows, game.cols))
        live = torch.cat([game.life(some).scores for some in starts.split(_AT_ONCE)]).double()
        others = live.clone()
        others[:, seat] = -1
        lead = (live[:, seat] - others.amax(1)) / live.sum(1).clamp(min=1)
        return (lead.sign() if whole else lead).view(len(boards), len(guesses)).numpy()

    def _varied(self, plan: Ints, draw: np.random.Generator) -> Ints:
        """Return a plan [K, R] with one or two shapes changed."""
        changed = plan.copy()
        left = plan.shape[1]
        for slot in draw.choice(left, size=min(left, int(draw.integers(1, 3))), replace=False):
            way = draw.random()
            if way < _MOVED:
                down, right = draw.integers(-_NEAR, _NEAR + 1, size=2)
                changed[:, slot] = self._moved(changed[:, slot], int(down), int(right))
            elif way < _MOVED + _TURNED:
                changed[:, slot] += draw.integers(ORIENTATIONS) - changed[:, slot] % ORIENTATIONS
            else:
                changed[:, slot] = draw.integers(self.game.lattice.actions)
        return changed


def _scaled(place: Ints, made: int, now: int) -> Ints:
    """Return places on a lattice of another size, at the same share of its length."""
    if made == now:
        return place % made
    return np.rint(place * (now - 1) / max(1, made - 1)).astype(np.int64) % now
