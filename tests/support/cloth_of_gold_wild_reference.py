"""A slow, plain reference of the wild options of Cloth of Gold, written from their rules.

It shares no code with what it checks: random bits are Threefry on Python integers, heights stay heights, still lifes
are groups found by flood fill, hulls are checked cell by cell, and animals look at the board with their own eyes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cloth_of_gold_reference import EMPTY, KILLED, NEUTRAL, Cell, ReferenceGame, cells_of, generation, random_bits
from groups import groups
from numpy.typing import NDArray

KINDS = ("calm", "dry", "rain", "storm")
CHANCES = {"calm": (96, 64, 64, 32), "dry": (64, 112, 32, 48), "rain": (80, 32, 112, 32), "storm": (96, 32, 96, 32)}
PATTERNS = {
    "block": "xx xx",
    "beehive": ".xx. x..x .xx.",
    "loaf": ".xx. x..x .x.x ..x.",
    "boat": "xx. x.x .x.",
    "ship": "xx. x.x .xx",
    "tub": ".x. x.x .x.",
    "pond": ".xx. x..x x..x .xx.",
}
HEIGHTS, MOISTURE, ANIMALS, NOISE, ROUNDS = 17, 18, 19, 20, 21
WEATHER, STRIKES, FIRE, REGROWTH = 16, 17, 18, 19
LATTICE = 4096


def random_byte(seed: int, purpose: int, counter: int) -> int:
    return random_bits(seed, purpose, counter) % 256


def random_below(bits: int, high: int) -> int:
    return (bits % (1 << 32)) * high >> 32


def value_noise(seed: int, purpose: int, first: int, period: int, size: tuple[int, int], cell: Cell) -> int:
    """One octave at one cell."""
    across = (size[1] - 1) // period + 2
    (up, down), (left, right) = (divmod(x, period) for x in cell)
    down, right = down * 256 // period, right * 256 // period
    total = 0
    for row, by_row in ((up, 256 - down), (up + 1, down)):
        for col, by_col in ((left, 256 - right), (left + 1, right)):
            total += random_byte(seed, purpose, first + row * across + col) * by_row * by_col
    return total // 65536


def noise_map(seed: int, purpose: int, size: tuple[int, int]) -> list[list[int]]:
    rows, cols = size
    heights = [[0] * cols for _ in range(rows)]
    for index in range((rows * cols + 1) // 2):
        cell = divmod(index, cols)
        octaves = [value_noise(seed, purpose, n * LATTICE, p, size, cell) for n, p in enumerate((32, 16, 8))]
        height = (4 * octaves[0] + 2 * octaves[1] + octaves[2]) // 7
        heights[cell[0]][cell[1]] = heights[rows - 1 - cell[0]][cols - 1 - cell[1]] = height
    low, high = min(map(min, heights)), max(map(max, heights))
    return [[(height - low) * 255 // max(high - low, 1) for height in row] for row in heights]


def forms_of(pattern: str) -> set[frozenset[Cell]]:
    """A pattern turned and mirrored, each form with its least row and column 0."""
    picture = np.array([[mark == "x" for mark in line] for line in pattern.split()])
    turned = [np.rot90(picture, quarter) for quarter in range(4)]
    pictures = [*turned, *map(np.fliplr, turned)]
    return {frozenset((int(r), int(c)) for r, c in np.argwhere(one)) for one in pictures}


FORMS = {kind: forms_of(pattern) for kind, pattern in PATTERNS.items()}


def chebyshev(one: Cell, other: Cell) -> int:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def within(cell: Cell, cells: set[Cell], most: int) -> set[Cell]:
    return {other for other in cells if chebyshev(cell, other) <= most}


@dataclass
class WildReference(ReferenceGame):
    """One game in progress with wild options."""

    terrain: bool = False
    weather: bool = False
    perks: bool = False
    territory_kind: str = "field"
    buffer: int = 4
    wildlife: tuple[int, int, int] = (0, 0, 0)
    combinations: bool = False

    sky: str = "calm"
    level: int = 64
    burning: dict[Cell, int] = field(default_factory=dict)
    burnt: set[Cell] = field(default_factory=set)
    lives: list[list[int]] = field(default_factory=lambda: [[0] * 7, [0] * 7])
    wards: list[set[Cell]] = field(default_factory=lambda: [set(), set()])
    supply: list[int] = field(default_factory=lambda: [0, 0])
    reach: list[int] = field(default_factory=lambda: [0, 0])
    spells: list[int] = field(default_factory=lambda: [0, 0])
    animals: list[Cell | None] = field(default_factory=list)
    grounds: dict[int, tuple[set[Cell], set[Cell], set[Cell]]] = field(default_factory=dict)  # by level
    fields: dict[Any, NDArray[np.bool_]] = field(default_factory=dict)  # territories that have been worked out

    def __post_init__(self) -> None:
        super().__post_init__()
        size = (self.height, self.width)
        self.cells = [(r, c) for r in range(self.height) for c in range(self.width)]
        if self.terrain:
            self.heights = noise_map(self.seed, HEIGHTS, size)
            self.moisture = noise_map(self.seed, MOISTURE, size)
            for r, c in self.water():
                assert self.board[r][c] == EMPTY
        kinds = ("grazer",) * self.wildlife[0] + ("hunter",) * self.wildlife[1] + ("guard",) * self.wildlife[2]
        self.kinds = kinds
        for number in range(len(kinds)):
            free = [x for x in self.cells if self.at(x) == EMPTY and x not in self.water() and x not in self.animals]
            place = random_below(random_bits(self.seed, ANIMALS, number), len(free))
            self.animals.append(free[place] if free else None)

    def at(self, cell: Cell) -> int:
        return self.board[cell[0]][cell[1]]

    # --- terrain

    def water(self) -> set[Cell]:
        return self._ground()[0]

    def rock(self) -> set[Cell]:
        return self._ground()[1]

    def wood(self) -> set[Cell]:
        """Forest, burnt or not."""
        return self._ground()[2]

    def _ground(self) -> tuple[set[Cell], set[Cell], set[Cell]]:
        if not self.terrain:
            return set(), set(), set()
        if self.level not in self.grounds:
            water = {(r, c) for r, c in self.cells if self.heights[r][c] < self.level}
            rock = {(r, c) for r, c in self.cells if self.heights[r][c] >= 208}
            moist = {(r, c) for r, c in self.cells if self.moisture[r][c] >= 140}
            self.grounds[self.level] = (water, rock, moist - water - rock)
        return self.grounds[self.level]

    # --- territory

    def territory(self, player: int) -> NDArray[np.bool_]:
        key = (player, self.reach[player], *cells_of(self.board, player + 1))
        if key not in self.fields:
            self.fields[key] = self._territory(player)
        return self.fields[key]

    def _territory(self, player: int) -> NDArray[np.bool_]:
        wider = self.reach[player]
        if self.territory_kind == "field":
            self.radius += wider
            found = super().territory(player)
            self.radius -= wider
            return found
        found = np.zeros((self.height, self.width), bool)
        far = self.buffer + wider
        square = range(-far, far + 1)
        disk = [(down, right) for down in square for right in square if np.hypot(down, right) <= far]
        clusters = groups(cells_of(self.board, player + 1), lambda cell, left: within(cell, left, 4))
        for r, c in {cell for group in clusters for cell in self.hull(group)}:
            for down, right in disk:
                if 0 <= r + down < self.height and 0 <= c + right < self.width:
                    found[r + down, c + right] = True
        return found

    def hull(self, group: list[Cell]) -> list[Cell]:
        ways = [(u, v) for u in range(-2, 3) for v in range(-2, 3) if np.gcd(u, v) == 1]
        assert len(ways) == 16
        most = {way: max(way[0] * r + way[1] * c for r, c in group) for way in ways}
        rows, cols = ([cell[axis] for cell in group] for axis in (0, 1))
        box = [(r, c) for r in range(min(rows), max(rows) + 1) for c in range(min(cols), max(cols) + 1)]
        return [(r, c) for r, c in box if all(u * r + v * c <= most[u, v] for u, v in ways)]

    # --- turns

    @property
    def whole(self) -> int:
        """Units of a turn of the mover."""
        return min(self.max_units + self.supply[self.player] // 4, 2 * self.max_units)

    @property
    def end_turn(self) -> int:
        return self.height * self.width * (2 if self.perks else 1)

    def open_cells(self) -> set[int]:
        return super().open_cells() - {r * self.width + c for r, c in self.water()}

    def legal(self) -> set[int]:
        bolts = self.perks and self.spells[self.player] and self.acts < 2 * self.whole and not self.done
        return super().legal() | set(range(self.height * self.width, self.end_turn) if bolts else ())

    def _place_or_take_back(self, cell: Cell) -> None:
        row, col = cell
        if row >= self.height:
            self._bolt((row - self.height, col))
            return
        super()._place_or_take_back(cell)

    def _bolt(self, cell: Cell) -> None:
        self.acts += 1
        self.spells[self.player] -= 1
        for r, c in self.cells:
            if chebyshev((r, c), cell) <= 1 and (r, c) not in self.wards[1 - self.player]:
                self.board[r][c] = EMPTY
                self.placed -= {(r, c)}

    # --- rounds

    def _begin_round(self) -> None:
        super()._begin_round()
        if self.weather and self.round > 1:
            lot, upto = random_byte(self._round_seed(), WEATHER, 0), 0
            for kind, chance in zip(KINDS, CHANCES[self.sky], strict=True):
                upto += chance
                if lot < upto:
                    self.sky = kind
                    break

    def _round_seed(self) -> int:
        return random_bits(self.seed, ROUNDS, self.round)

    def _play_round(self) -> None:
        seed, size = self._round_seed(), self.height * self.width
        if self.weather:
            if self.sky == "rain":
                self.level = min(self.level + 8, 96)
            elif self.sky == "dry":
                self.level = max(self.level - 8, 48)
            elif self.level != 64:
                self.level += 8 if self.level < 64 else -8
            out = {cell for cell in self.burning if self.sky == "rain" or cell in self.water()}
            self.burnt |= out
            self.burning = {cell: left for cell, left in self.burning.items() if cell not in out}
            if self.sky == "rain":
                for cell in sorted(self.burnt & self.wood()):
                    if random_byte(seed, REGROWTH, cell[0] * self.width + cell[1]) < 64:
                        self.burnt.remove(cell)
        strikes: list[tuple[int, Cell]] = []
        if self.sky == "storm":
            for number in range(6):
                when = 1 + random_below(random_bits(seed, STRIKES, 2 * number), self.generations)
                where = random_below(random_bits(seed, STRIKES, 2 * number + 1), size)
                strikes.append((when, divmod(where, self.width)))
        tamed = [0, 0]
        water, wood = self.water(), self.wood()
        for number in range(1, self.generations + 1):
            self._live()
            self._clear(water)
            for _, struck in [strike for strike in strikes if strike[0] == number]:
                around = {cell for cell in self.cells if chebyshev(cell, struck) <= 1}
                self._clear(around)
                for cell in (around & wood) - self.burnt - set(self.burning):
                    self.burning[cell] = 4
            self._burn(seed, number, wood)
            if number % 4 == 0:
                self._let_animals_act((self.round - 1) * (self.generations // 4) + number // 4 - 1, tamed)
        if self.perks:
            self._count(wood, tamed)

    def _clear(self, cells: set[Cell]) -> None:
        for r, c in cells:
            self.board[r][c] = EMPTY

    def _live(self) -> None:
        before = self.board
        after = generation(before, self.neutral_births, self.neutral_stance)
        for player in (0, 1):
            for r, c in self.wards[player]:
                if before[r][c] == player + 1 and after[r][c] == KILLED:
                    after[r][c] = player + 1
        self.board = after

    def _burn(self, seed: int, number: int, wood: set[Cell]) -> None:
        if not self.burning:
            return
        hot, caught = set(self.burning), set()
        chance = 96 if self.sky == "dry" else 48
        for r, c in wood - hot - self.burnt:
            beside = {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} & hot
            counter = (number * self.height + r) * self.width + c
            if beside and random_byte(seed, FIRE, counter) < chance:
                caught.add((r, c))
        for cell in hot:
            self.burning[cell] -= 1
        self.burnt |= {cell for cell, left in self.burning.items() if left == 0}
        self.burning = {cell: left for cell, left in self.burning.items() if left} | dict.fromkeys(caught, 4)
        for cell in hot | caught:
            state = self.at(cell)
            if state == NEUTRAL or (state in (1, 2) and cell not in self.wards[state - 1]):
                self._clear({cell})

    # --- animals

    def _let_animals_act(self, move: int, tamed: list[int]) -> None:
        water = self.water()
        for number, kind in enumerate(self.kinds):
            place = self.animals[number]
            if place is None:
                continue
            units = [cell for cell in self.cells if self.at(cell) in (1, 2)]

            def far(cell: Cell, units: list[Cell] = units) -> int:
                return min((chebyshev(cell, unit) for unit in units), default=99)

            hunting = kind == "hunter" or (kind == "guard" and far(place) <= 3)
            best = None
            for cell in self.cells:
                if chebyshev(cell, place) > 1 or cell in water or cell in self.burning:
                    continue
                if any(cell == other for n, other in enumerate(self.animals) if n != number):
                    continue
                size = (self.height, self.width)
                worth = value_noise(self.seed, NOISE, move // 8 * LATTICE, 16, size, cell)
                worth += 64 * min(far(cell), 6) if kind == "grazer" else -64 * min(far(cell), 12) * hunting
                if best is None or worth > best[0]:
                    best = (worth, cell)
            self.animals[number] = place = best[1] if best else place
            near = [[cell for cell in units if chebyshev(cell, place) <= 1 and self.at(cell) == p] for p in (1, 2)]
            if kind == "grazer":
                for player in (0, 1):
                    if len(near[player]) >= 2 and not near[1 - player]:
                        tamed[player] += 1
                        self.animals[number] = None
            elif hunting and len(near[0]) + len(near[1]) >= 4:
                self.animals[number] = None
            elif hunting:
                self._clear({*near[0], *near[1]})

    # --- perks

    def _count(self, wood: set[Cell], tamed: list[int]) -> None:
        points = [dict.fromkeys(PATTERNS, 0) for _ in range(2)]
        earning = [dict.fromkeys(PATTERNS, 0) for _ in range(2)]
        warding: list[list[list[Cell]]] = [[], []]
        self.lives, self.wards = [[0] * 7, [0] * 7], [set(), set()]
        living = [cell for cell in self.cells if self.at(cell) in (1, 2, NEUTRAL)]
        for group in groups(living, lambda cell, left: within(cell, left, 1)):
            owners = {self.at(cell) for cell in group}
            top, first = min(r for r, _ in group), min(c for _, c in group)
            form = frozenset((r - top, c - first) for r, c in group)
            for index, kind in enumerate(PATTERNS):
                if form in FORMS[kind] and owners in ({1}, {2}):
                    player = owners.pop() - 1
                    self.lives[player][index] += 1
                    barren = any(cell in self.burnt or cell in self.rock() for cell in group)
                    worth = 0 if barren else 2 if all(cell in wood for cell in group) else 1
                    points[player][kind] += worth
                    earning[player][kind] += worth > 0
                    if kind in ("tub", "pond") and worth:
                        warding[player].append(group)
                    break
        for player, earned in enumerate(points):
            some, sets = earning[player], 0
            while self.combinations and all(
                sum(some[kind] for kind in kinds.split()) > sets
                for kinds in ("block beehive", "loaf", "tub pond", "boat ship")
            ):
                sets += 1
            for group in warding[player]:
                far = 2 + min(sets, 2)
                self.wards[player] |= {x for x in self.cells if any(chebyshev(x, cell) <= far for cell in group)}
            self.supply[player] = earned["block"] + earned["beehive"] + sets + tamed[player]
            self.reach[player] = min((earned["loaf"] + sets) // 2, 4)
            self.spells[player] = min(self.spells[player] + (earned["boat"] + earned["ship"] + sets) // 2, 3)

    # --- what is seen

    def infos(self, player: int) -> dict[str, Any]:
        found: dict[str, Any] = dict(super().infos(player))
        if self.weather:
            found |= {"weather": KINDS.index(self.sky), "level": self.level}
        if self.perks:
            found |= {"supply": self.supply, "reach": self.reach, "spells": self.spells, "still_lifes": self.lives}
        if sum(self.wildlife):
            found["animals"] = [
                sum(place is not None for place, kind in zip(self.animals, self.kinds, strict=True) if kind == name)
                for name in ("grazer", "hunter", "guard")
            ]
        return found

    def observe(self, player: int) -> NDArray[np.int16]:
        cells: list[set[Cell]] = []
        numbers: list[int] = []
        if self.terrain:
            cells += [self.water(), self.wood() - self.burnt, self.rock()]
        if self.weather:
            cells += [set(self.burning), self.burnt]
            numbers += [*(int(self.sky == kind) for kind in KINDS), self.level]
        if self.perks:
            cells += [self.wards[player], self.wards[1 - player]]
            for pair in (self.supply, self.reach, self.spells):
                numbers += [pair[player], pair[1 - player]]
        if sum(self.wildlife):
            for name in ("grazer", "hunter", "guard"):
                of = zip(self.animals, self.kinds, strict=True)
                cells.append({place for place, kind in of if kind == name and place is not None})
        planes = np.zeros((len(cells) + len(numbers), self.height, self.width), np.int16)
        for plane, marked in zip(planes, cells, strict=False):
            for cell in marked:
                plane[cell] = 1
        for plane, number in zip(planes[len(cells) :], numbers, strict=True):
            plane[:] = number
        return np.concatenate([super().observe(player), planes])
