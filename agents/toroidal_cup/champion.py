"""`champion` in the Toroidal Cup: arrangements that an evolution found, adapted to what the others place.

    {
      "champion": 1,
      "game": "toroidal-cup-v0",
      "parameters": {"rows": 40, "cols": 280, ...},
      "designs": [
        {"pattern": "randys", "shapes": 8, "weight": 1.0, "placements": {"rpentomino": "r6c10/3 r10c22/0 ..."}}
      ]
    }

is a champion's file. A design has a placement for each of its shapes, in the order in which they are placed, and for
each stamp that the shape may be.

Letters: `L` games, `D` designs, `K` stamps of the game, `S` shapes of the longest design, `R` shapes that are left,
`C` candidates, `G` guesses, `P` teams, `A` actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds
from cellgames.agents.networks.agent_files import CHAMPION_FILE, check_weight, read_champion_data
from cellgames.agents.simultaneous import solve_matrix
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.dealing import PLACEABLE
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.notation import string_to_placement
from cellgames.envs.toroidal_cup.patterns.stamps import ORIENTATIONS
from cellgames.utils.errors import InputError, check_at_least, shown

from .bands import Ints, band_of

CHAMPIONS = Path(__file__).parent / "champions"
"""The files that come with the package."""

_MOST_SHAPES = 1000

Placement = tuple[int, int, int]


@dataclass(frozen=True)
class CupDesign:
    """An arrangement for one pattern and number of shapes.

    Attributes:
        pattern: pattern whose shapes it places.
        shapes: number of shapes of a team.
        weight: relative frequency of its play, beside other designs for the same task; above 0.
        placements: row and column of the centre in the band and orientation, by stamp and in order of the shapes.
    """

    pattern: str
    shapes: int
    weight: float
    placements: Mapping[str, Sequence[Placement]]


def read_champion(path: Path) -> tuple[ToroidalCup, tuple[CupDesign, ...]]:
    """Return the game for which a champion was made, and its designs; a `ValueError` names faults of the file."""
    game, designs = read_champion_data(path, ToroidalCup)
    try:
        return game, tuple(_design(path, number, one) for number, one in enumerate(designs, 1))
    except (KeyError, TypeError, AttributeError):
        raise InputError(path, "a game, parameters and a list of designs", cause="is the file damaged?") from None


def _design(path: Path, number: int, data: Mapping[str, Any]) -> CupDesign:
    pattern, shapes, weight = data["pattern"], data["shapes"], data["weight"]
    where = f"{path}, design {number}"
    if not isinstance(pattern, str) or type(shapes) is not int or not 1 <= shapes <= _MOST_SHAPES:
        raise InputError(where, "a pattern and a number of shapes", f"{shown(pattern)}, {shown(shapes)}")
    weight = check_weight(where, weight)
    placements = {
        stamp: [string_to_placement(word) for word in text.split()] for stamp, text in data["placements"].items()
    }
    if not placements or any(len(every) != shapes or None in every for every in placements.values()):
        raise InputError(where, f"{shapes} placements such as r6c10/3 for each stamp")
    return CupDesign(pattern, shapes, weight, {s: tuple(e for e in every if e) for s, every in placements.items()})


def shipped_champion(game: ToroidalCup) -> tuple[ToroidalCup, tuple[CupDesign, ...]]:
    """Return the champion of the package that was made on the same board, else on the real one."""

    def fit(champion: tuple[ToroidalCup, tuple[CupDesign, ...]]) -> tuple[int, int]:
        made, designs = champion
        alike = sum(getattr(made, name) == getattr(game, name) for name in ("rows", "cols", "teams", "stride"))
        return alike, len({design.pattern for design in designs})

    return max(map(read_champion, sorted(CHAMPIONS.glob("*.json"))), key=fit)


_CELLS = 23_000_000  # of all games for the last shape; on the real board these are 2,053 games
_MOST = 8192  # games by default; on small boards more find no better placement
_EARLIER = (1 / 8, 1 / 4)  # games before the last shape, as shares of those for it; for the last but one
_ROUNDS = 5  # of halving, of about as many games each
_FIRST = 2  # guesses in the first round
_ANSWERED = 0.1  # of the games, in which the others answer the mixed strategy for the last placement
_ITERATIONS = 200  # of regret matching
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
    moved, turned or put elsewhere; for the last shape also placements anywhere. Whole games are played against guesses
    of the others' shapes. The worse half of the candidates goes, and the rest meet twice the number of new guesses,
    four times in all (sequential halving). Before the last shape the plan that wins most is kept.

    The last placement is drawn from a restricted Nash response of the candidates that are left, as in `CupSearch`: in
    a tenth of the games the others know the mixed strategy, and answer it.

    Args:
        path: a champion.json of `cellgames evolve`, or a folder with one; None for the champion of the package.
        games: games of Life for the last placement, about; a quarter of them for the last but one, and an eighth for
            those before. With 0 the agent is the design alone. By default 8,192, or fewer on boards of more than 2,807
            cells: 2,053 on the real one.
    """

    name = "champion"
    plays = ToroidalCup

    def __init__(self, path: Path | None = None, *, games: int | None = None) -> None:
        super().__init__()
        check_at_least(0, games=games or 0)
        self.games = games
        self._file = None if path is None else read_champion(path / CHAMPION_FILE if path.is_dir() else path)
        self._plans: dict[tuple[int, int], Ints] = {}  # by env and seat, [K, shapes of the whole game]

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        assert isinstance(game, ToroidalCup)  # says `super`
        _, designs = self._file or shipped_champion(game)
        if missing := [pattern for pattern in game.patterns if not _serving(designs, pattern)]:
            have = ", ".join(sorted({design.pattern for design in designs}))
            raise InputError(f"agent {self.name!r}", f"a game with patterns that it knows ({have})", ", ".join(missing))

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        before = self._game
        super().start(game, players, env_ids)
        if before != game:
            self._prepare()
            self._plans.clear()
        for key in zip(env_ids.tolist(), players.tolist(), strict=True):
            self._plans.pop(key, None)

    def _prepare(self) -> None:
        """Write down all designs as actions of the game."""
        game, lattice = self.game, self.game.lattice
        self._band = band_of(lattice, game.stamps)
        champion, designs = self._file or shipped_champion(game)
        made = champion.lattice
        self._designs = [one for pattern in game.patterns for one in _serving(designs, pattern)]
        self._actions: list[Ints] = []  # [K, S] each
        for design in self._designs:
            actions = np.zeros((len(game.stamps), design.shapes), dtype=np.int64)
            for stamp in set(design.placements) & set(game.stamps):
                row, col, turn = np.array(design.placements[stamp]).T
                down = _scaled((row - made.stride // 2) // made.stride, made.down, lattice.down)
                right = _scaled((col - made.stride // 2) // made.stride, made.across, lattice.across)
                actions[game.stamps.index(stamp)] = lattice.joined(down, right, turn % ORIENTATIONS)
            self._actions.append(actions)
        self._steps = lattice.down if lattice.down * lattice.stride == lattice.rows else 1
        self._games = min(_MOST, _CELLS // (game.rows * game.cols)) if self.games is None else self.games

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose a placement for each row, int64 [L]."""
        game, seats, left = self.game, self.seats.of(env_ids), observation[:, -1, 0, 0].long().tolist()
        kinds, dice = game.stamp_seen(observation).tolist(), draw_seeds(len(env_ids), generator).tolist()
        wanted = np.zeros(len(left), dtype=np.int64)
        for row, key in enumerate(zip(env_ids.tolist(), seats.tolist(), strict=True)):
            draw = np.random.default_rng(dice[row])
            if key not in self._plans:
                self._plans[key] = self._plan(kinds[row], left[row], draw)
            slot = self._plans[key].shape[1] - left[row]
            self._answer(observation[row], key, kinds[row], slot, draw)
            wanted[row] = self._plans[key][kinds[row], slot]
        mask = action_mask.cpu().numpy()
        illegal = np.flatnonzero(~mask[np.arange(len(wanted)), wanted])
        if len(illegal):
            wanted[illegal] = self._band.nearest(wanted[illegal], mask[illegal])
        return torch.from_numpy(wanted).to(action_mask.device)

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
        """Shift actions by steps of the lattice down and right; rows wrap."""
        lattice = self.game.lattice
        row, col, turn = lattice.parts(actions)
        return lattice.joined((row + down) % lattice.down, np.clip(col + right, 0, lattice.across - 1), turn)

    def _answer(
        self, observation: Tensor, key: tuple[int, int], kind: int, slot: int, draw: np.random.Generator
    ) -> None:
        """Change what is left of a plan if that is worth more; shapes to come are taken to be like the one to place."""
        plan = self._plans[key]
        left = plan.shape[1] - slot
        if not slot or 2 * left > plan.shape[1] or not self._games:
            return
        rest, seat = plan[:, slot:], key[1]
        share = max(1, round(self._games * (1 if left == 1 else _EARLIER[left == 2])) // _ROUNDS)
        tries = self._tries(rest, kind, max(1, share // _FIRST), draw)
        some = [-(-len(tries) // 2**number) for number in range(_ROUNDS)]
        new = [max(1, share // candidates) for candidates in some]
        guesses = np.split(self._guesses(observation, seat, kind, (sum(new), left), draw), np.cumsum(new)[:-1])
        boards = self._boards(observation, seat, 0, kind, tries[:, kind])
        results = np.zeros((len(tries), 0))
        for candidates, met in zip(some, guesses, strict=True):
            best = np.argsort(-results.sum(1), kind="stable")[:candidates]  # the plan before is first among equals
            tries, boards, results = tries[best], boards[best], results[best]
            results = np.concatenate((results, self._results(boards, met, seat)), 1)
        plan[:, slot:] = tries[self._drawn(results, draw) if left == 1 else int(results.sum(1).argmax())]

    def _drawn(self, results: npt.NDArray[np.float64], draw: np.random.Generator) -> int:
        """Return the number of a row of results [C, G], drawn from the mixed strategy."""
        payoff = torch.from_numpy(_ANSWERED * results + (1 - _ANSWERED) * results.mean(1, keepdims=True))[None]
        shares = solve_matrix(payoff, _ITERATIONS)[0][0].double().numpy()
        return int(draw.choice(len(shares), p=shares / shares.sum()))

    def _tries(self, rest: Ints, kind: int, count: int, draw: np.random.Generator) -> Ints:
        """Return a plan and different variations of it, int64 [C, K, R], at most `count`."""
        tries = [rest, *(self._varied(rest, draw) for _ in range(count - 1))]
        if rest.shape[1] == 1:  # half of them go anywhere
            anywhere = draw.permutation(self.game.lattice.actions)
            tries = [*tries[: -(-count // 2)], *(np.full_like(rest, action) for action in anywhere)]
        wanted = np.stack([plan[kind] for plan in tries])
        return np.stack(tries)[np.sort(np.unique(wanted, axis=0, return_index=True)[1])[:count]]

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
        """Return arrangements, int8 [C, rows, cols], of the team `place` places after `seat` by plans, int64 [C, R]."""
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

    def _results(
        self, boards: npt.NDArray[np.int8], guesses: npt.NDArray[np.int8], seat: int
    ) -> npt.NDArray[np.float64]:
        """Return the results of whole games, 1, 0 or -1, of all boards by all guesses: float64 [C, G]."""
        starts = torch.from_numpy((boards[:, None] | guesses[None]).reshape(-1, self.game.rows, self.game.cols))
        live = torch.cat([self.game.life(some).scores for some in starts.split(_AT_ONCE)])
        others = live.clone()
        others[:, seat] = -1
        lead = live[:, seat] - others.amax(1)
        return lead.sign().double().view(len(boards), len(guesses)).numpy()

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


def _serving(designs: Sequence[CupDesign], pattern: str) -> list[CupDesign]:
    """Return the designs that can place the shapes of a pattern."""
    stamps = set(PLACEABLE[pattern].stamps)
    return [one for one in designs if one.pattern == pattern and stamps <= set(one.placements)]


def _scaled(place: Ints, made: int, now: int) -> Ints:
    """Return places on a lattice of another size, at the same share of its length."""
    return np.rint(place * (now - 1) / max(1, made - 1)).astype(np.int64) % now
