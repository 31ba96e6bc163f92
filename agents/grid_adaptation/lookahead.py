"""Lookahead over many boards of Grid Adaptation, for players who try out spaces, and models of the others' placements.

Instead of the digits of sequences boards hold where they match a player's own: the rules ask for nothing but majorities
of digits, so they hold for matches as well.

Letters: `L` games, `G` guesses of each, `C` tiles or sets of tiles to try out, `O` players whose tiles are guessed, `T`
tiles of a round, `K` choices, `W` words of a board (see `boards.packedboards`), `N` spaces of a board.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.boards.rle import orientations, parse_cells
from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.native import Library, Operator, pointer
from cellgames.envs.native.native_library import threads
from cellgames.envs.native.operators import table

from .decoding import Seen

ILLEGAL = -(1 << 60)
"""Less than any worth: of what cannot be played."""

_WORK_OF_A_THREAD = 1 << 15  # generations of single boards that take several times as long as starting a thread


def tiles_on(grid: PackedGrid, spaces: Tensor) -> Tensor:
    """Return boards [W, ...] with tiles on spaces, int64 [..., K]; `N` names none."""
    singles = _singles(grid, spaces.device)
    return functools.reduce(torch.bitwise_or, (singles[:, space] for space in spaces.unbind(-1)))


def base_of(tiles: Tensor, matches: Sequence[Tensor], barred: Tensor | None = None) -> Tensor:
    """Return boards for `tried`, int64 [5, W, L, G], of tiles, and of each digit where it is the player's own.

    All are [W, L, G], or [W, L] for a single one of each game; `barred` are spaces where no tile of the player's own
    can land, by default those with tiles.
    """
    base = torch.stack((tiles, *matches, tiles if barred is None else barred))
    return base if base.ndim == 4 else base[..., None]


@Operator
def tried(base: Tensor, own: Tensor, size: int, generations: int) -> Tensor:
    """Return matching minus mismatching tiles per generation and digit.

    The sum over the digits is 2 * points - 3 * tiles, in proportion to the lead over the mean of all eight sequences.
    For a sequence that differs from the player's own in some digits, theirs count the other way round.

    Args:
        base: boards before the player's own tiles land, int64 [5, W, L, G], see `base_of`.
        own: boards of own tiles to try out, int64 [W, L or 1, C]. One on a tile that is not barred takes it away, for
            somebody else has named the space.
        size: rows of the boards, which are square.
        generations: number of generations.

    Returns:
        int32 [generations, digits, L, C], summed over the guesses.
    """
    grid = PackedGrid(size, size)
    tiles, *matches, barred = base[..., None].unbind()  # [W, L, G, 1]
    own = own[:, :, None] & ~barred
    tiles = tiles ^ own
    matches = [(match | own) & tiles for match in matches]
    found = []
    for _ in range(generations):
        tiles, matches = rules.generation(grid, tiles.flatten(1), [match.flatten(1) for match in matches])
        count = grid.count(tiles)
        found += [2 * grid.count(match) - count for match in matches]
    shape = (generations, len(matches), *base.shape[2:], own.shape[-1])
    return torch.stack(found).view(shape).sum(3).int()


def weighted(found: Tensor, weights: Sequence[int], left: Tensor) -> Tensor:
    """Return weighted sums of the results of `tried` over generations and digits, int64 [L, C].

    The match ends after `left`, int64 [L], generations; those after it count nothing.
    """
    place = torch.arange(len(weights), device=left.device)[:, None]
    counts = torch.tensor(weights, device=left.device)[:, None] * (left > place)
    return (found.sum(1) * counts[:, :, None]).sum(0)


@tried.native
def _native_tried(native: Library, base: Tensor, own: Tensor, size: int, generations: int) -> Tensor:
    """Return `tried`."""
    _, words, rows, guesses = base.shape
    _, own_rows, candidates = own.shape
    if len(base) != 5 or own_rows not in (1, rows) or words != len(own) or words != PackedGrid(size, size).words:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    out = torch.empty((generations, 3, rows, candidates), dtype=torch.int32, device="cpu")
    number = threads(rows * guesses * candidates * generations, _WORK_OF_A_THREAD)
    numbers = (ctypes.c_int64 * 7)(size, rows, own_rows, guesses, candidates, generations, number)
    base, own = base.contiguous(), own.contiguous()
    addresses = pointer(base, torch.int64), pointer(own, torch.int64), pointer(out, torch.int32)
    native.cellgames_grid_adaptation_trials(numbers, *addresses)
    return out


@table
def _singles(grid: PackedGrid, device: torch.device) -> Tensor:
    """Return int64 [W, N + 1]: a board for each space with a tile there, and an empty one."""
    spaces = grid.rows * grid.cols
    cells = torch.eye(spaces + 1, spaces, device=device, dtype=torch.float32)
    return grid.pack(cells.view(-1, grid.rows, grid.cols))


_SPACE, _RESERVE = range(chance.USER + 20, chance.USER + 22)

# By number of tiles. Those of four led most, of all that fit in 4 x 4 spaces, in matches that went on at random.
_SHAPES: dict[int, Sequence[str]] = {
    1: ("o",),
    2: ("oo", "o./.o"),
    3: ("oo/o.", "ooo", "oo./..o", "o.o/.o."),
    4: (
        *("oo./..o/..o", ".o./o.o/.o.", "oo./o../..o", "ooo./..../...o", "oo../.o../...o", "oo./o.o", "o..o/.o../.o.."),
        *("o.../.o.o/..o.", "oooo", "ooo/.o.", "oo/oo"),
    ),
}


@dataclass(frozen=True)
class Others:
    """A model of players who name spaces at random.

    Attributes:
        game: the rules.
        reserve_chance: probability of playing a reserve tile.
    """

    game: GridAdaptation
    reserve_chance: float = 0.5

    def spaces(self, seen: Seen, sequence: Tensor, seeds: Tensor) -> Tensor:
        """Return the spaces that they name, int64 [L, G, O, T], reserve tiles last; `N` names none.

        A space may have a tile on it already. The boards, [L], are all in round 1 or none of them; the sequences of
        those who place tiles are int64 [L, G, O], and a row depends on its own seed alone, int64 [L] or [L, G].
        """
        game, shape = self.game, sequence.shape
        first = game.first_tiles > 1 and bool((seen.round == 1).any())
        seeds = seeds.view(len(seen), -1, 1)
        counter = torch.arange(4 * shape[1] * shape[2], device=seeds.device).view(*shape[1:], 4)
        lots = chance.draw(seeds[..., None], _SPACE, counter)
        spaces = self._at_first(lots) if first else self._later(seen, sequence, lots)
        played = (chance.draw(seeds, _RESERVE, counter[..., 0]) & 0xFFFF) < self.reserve_chance * 0x10000
        spaces[..., -1] = spaces[..., -1].where(played, game.spaces)
        return spaces

    def _at_first(self, lots: Tensor) -> Tensor:
        """Return spaces of round 1, int64 [L, G, O, T], for draws [L, G, O, 4]."""
        return chance.uniform_int(lots[..., : self.game.first_tiles + 1], self.game.spaces)

    def _later(self, seen: Seen, sequence: Tensor, lots: Tensor) -> Tensor:
        """Return two spaces for each, int64 [L, G, O, 2], for draws [L, G, O, 4]."""
        return chance.uniform_int(lots[..., :2], self.game.spaces)


@dataclass(frozen=True)
class KeenOthers(Others):
    """A model of players who look ahead themselves, without regard to what the others do.

    In round 1 each places a random shape, if several tiles are placed in it. Later half of all tiles go to a space that
    is among the best for the player's sequence, to better ones more often: to the one of rank `choices` * u ** 2, u
    uniform from 0 to 1. The other half go anywhere, as players do who keep away from where others want to go.

    Attributes:
        keen: share of the former tiles.
        weights: weights of the generations that they look at, as in `weighted`.
        choices: `K`, the best spaces for a sequence, which its players choose from.
    """

    keen: float = 0.5
    weights: tuple[int, ...] = (5, 4)
    choices: int = 16

    def _at_first(self, lots: Tensor) -> Tensor:
        return shapes_at(self.game.size, self.game.first_tiles + 1, lots[..., :3])

    def _later(self, seen: Seen, sequence: Tensor, lots: Tensor) -> Tensor:
        best = self.wishes(seen)
        own = best.gather(1, sequence.flatten(1)[:, :, None].expand(-1, -1, best.shape[2]))
        share, wanted = lots[..., :2] & 0xFFFF, (lots[..., 2:] & 0xFFFF) < self.keen * 0x10000
        wished = own.view(*sequence.shape, -1).gather(3, (best.shape[2] * share * share) >> 32)
        return torch.where(wanted, wished, chance.uniform_int(lots[..., :2] >> 16, self.game.spaces))

    def wishes(self, seen: Seen) -> Tensor:
        """Return the best spaces for each of the eight sequences, best first, int64 [L, 8, K].

        The best one again where fewer are free, `N` where none is.
        """
        game, tiles, *digits = self.game, *seen.planes
        grid, spaces = game.grid, torch.arange(game.spaces, device=tiles.device)
        own, left = tiles_on(grid, spaces[:, None])[:, None], game.rounds + 1 - seen.round
        # A digit's future depends on the tiles and on this digit of one's own, be it 0 or 1, but on no other digit.
        both = [
            tried(base_of(tiles, matches), own, game.size, len(self.weights))
            for matches in ([tiles & ~digit for digit in digits], digits)
        ]
        apart = [[weighted(one[:, [digit]], self.weights, left) for one in both] for digit in range(len(digits))]
        held = [[int(sequence & value != 0) for value in rules.DIGITS] for sequence in range(8)]
        sums = [torch.stack([apart[digit][it] for digit, it in enumerate(its)]).sum(0) for its in held]
        worth = torch.stack(sums, 1)  # [L, 8, N]
        free = ~grid.unpack(seen.planes[0]).flatten(1)
        worth = worth.where(free[:, None], ILLEGAL)
        best = worth.topk(min(self.choices, game.spaces), 2)
        found = best.indices.where(best.values > ILLEGAL, best.indices[:, :, :1])
        return found.where(free.any(1)[:, None, None], game.spaces)


@table
def placements(number: int, device: torch.device) -> Tensor:
    """Return the shapes of `number` tiles, turned and reflected in all ways: rows and columns, int64 [X, number, 2]."""
    found = {form for shape in _SHAPES[number] for form in orientations(parse_cells(shape))}
    return torch.tensor(sorted(found), device=device)


def shapes_at(size: int, number: int, lots: Tensor) -> Tensor:
    """Return the spaces of random shapes at random places of a board, int64 [..., number], for draws [..., 3]."""
    cells = placements(number, lots.device)
    shape = cells[chance.uniform_int(lots[..., 0], len(cells))]  # [..., number, 2]
    room = size - shape.amax(-2)  # how far the shape may be moved
    moved = shape + chance.uniform_int(lots[..., 1:], room).unsqueeze(-2)
    return moved[..., 0] * size + moved[..., 1]
