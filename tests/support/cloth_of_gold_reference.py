"""A slow, plain reference of Cloth of Gold (Adam Murray), to test the fast rules against.

It shares no code with what it checks. A board is a list of rows of states; the fields of territory are added up unit
by unit. Players are 0 (a) and 1 (b), and the units of player p are cells of state p + 1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

EMPTY, A, B, NEUTRAL, KILLED = range(5)
MARKS = ".abcd"

MASK = (1 << 32) - 1

Cell = tuple[int, int]
Board = list[list[int]]


def random_bits(seed: int, purpose: int, counter: int) -> int:
    """63 bits: Threefry-2x32 with 20 rounds (Salmon et al. 2011), high word first, without its top bit."""
    low, high = seed & MASK, (seed >> 32) & MASK
    keys = (low, high, low ^ high ^ 0x1BD11BDA)
    x, y = (counter + low) & MASK, (purpose + high) & MASK
    for block in range(5):
        for turn in (13, 15, 26, 6) if block % 2 == 0 else (17, 29, 16, 24):
            x = (x + y) & MASK
            y = ((y << turn | y >> (32 - turn)) & MASK) ^ x
        x = (x + keys[(block + 1) % 3]) & MASK
        y = (y + keys[(block + 2) % 3] + block + 1) & MASK
    return (y & 0x7FFFFFFF) << 32 | x


def drawn(text: str) -> Board:
    """The board of rows of `MARKS`; blank lines and indent do not count."""
    return [[MARKS.index(mark) for mark in line.strip()] for line in text.split("\n") if line.strip()]


def cells_of(board: Board, state: int) -> list[Cell]:
    """The cells of one state."""
    return [(r, c) for r, row in enumerate(board) for c, cell in enumerate(row) if cell == state]


def count(board: Board, state: int) -> int:
    """How many cells are of one state."""
    return sum(row.count(state) for row in board)


def random_world(rows: int, cols: int, rng: random.Random, weights: tuple[float, ...] = (5, 2, 2, 1, 1)) -> Board:
    """A board of random cells, with weights of the five states."""
    return [rng.choices(range(5), weights, k=cols) for _ in range(rows)]


def next_state(cell: int, a: int, b: int, c: int, births: bool = False, stance: str = "passive") -> int:
    """A cell's next state, of its state and its live neighbours of each kind: the table of the rules."""
    n = a + b + c
    if stance == "aggressive":
        if cell == EMPTY and n == 3 and c >= 2:
            return NEUTRAL
        if cell in (A, B) and n in (2, 3) and c > max(a, b):
            return KILLED
    if cell == NEUTRAL and stance != "passive" and n in (2, 3):
        return NEUTRAL
    if cell == EMPTY:
        if births and (a, b, c) == (0, 0, 3):
            return NEUTRAL
        if n != 3 or a == b:
            return EMPTY
        return A if a > b else B
    if n < 2 or n > 3:
        return EMPTY
    if cell == A:
        return A if a >= b else KILLED
    if cell == B:
        return B if b >= a else KILLED
    if cell == NEUTRAL:
        return NEUTRAL if a == b else A if a > b else B
    return KILLED if a == b == 0 else EMPTY


def generation(board: Board, births: bool = False, stance: str = "passive") -> Board:
    """All cells at once; nothing lies beyond the edge."""
    rows, cols = len(board), len(board[0])
    around = [[[0] * 5 for _ in range(cols)] for _ in range(rows)]
    for r in range(rows):
        for c in range(cols):
            if board[r][c] == EMPTY:
                continue
            for row in range(max(r - 1, 0), min(r + 2, rows)):
                for col in range(max(c - 1, 0), min(c + 2, cols)):
                    if (row, col) != (r, c):
                        around[row][col][board[r][c]] += 1
    return [
        [next_state(cell, n[A], n[B], n[NEUTRAL], births, stance) for cell, n in zip(*lines, strict=True)]
        for lines in zip(board, around, strict=True)
    ]


def later(board: Board, generations: int, births: bool = False, stance: str = "passive") -> Board:
    """The board after some generations."""
    for _ in range(generations):
        board = generation(board, births, stance)
    return board


def distances(board: Board, player: int) -> NDArray[np.float64]:
    """[units, rows, cols], the Euclidean distance from each of the player's units to each cell."""
    rows, cols = len(board), len(board[0])
    units = np.array(cells_of(board, player + 1)).reshape(-1, 2, 1, 1)
    places = np.stack(np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij"))
    far: NDArray[np.float64] = np.sqrt(((units - places) ** 2).sum(1))
    return far


@dataclass
class ReferenceGame:
    """One game in progress, changed by its steps. The parameters are those of the game, with the rules' defaults.

    neutral_density plays no part: the neutrals of the start stand on `board`, where it is given.

    round:   0 while the initial populations are placed, then 1, 2 and so on; of a game that is over, the last.
    spent:   units placed in this turn, those that a bolt of a wild game has hit included.
    history: after the initial placement (zeros without one) and after each round: units a, b, territory a, b,
        contested cells, killed cells.
    """

    height: int = 100
    width: int = 100
    generations: int = 168
    max_units: int = 10
    max_rounds: int = 20
    radius: int = 8
    initial_placement: bool = True
    first_verdict: int = 2
    neutral_births: bool = False
    neutral_density: float = 0.0
    win_rule: str = "score"
    shaping: float = 0.0
    neutral_stance: str = "passive"
    order: str = "fixed"

    seed: int = 0
    board: Board = field(default_factory=list)
    player: int = 0
    first: int = 0
    placed: set[Cell] = field(default_factory=set)
    spent: int = 0
    acts: int = 0
    turn: int = 0
    rewards: list[float] = field(default_factory=lambda: [0.0, 0.0])
    scores: list[int] = field(default_factory=lambda: [0, 0])
    outcome: list[int] = field(default_factory=lambda: [0, 0])
    terminated: bool = False
    truncated: bool = False
    history: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.board = [list(row) for row in self.board] or [[EMPTY] * self.width for _ in range(self.height)]
        self.round = 0 if self.initial_placement else 1
        if not self.initial_placement:
            self.history.append([0] * 6)
        self._begin_round()

    def _begin_round(self) -> None:
        lot = random_bits(self.seed, 22, self.round) % 2
        paired = (0, 1, 1, 0)[self.round % 4]
        self.player = self.first = {"fixed": 0, "alternate": self.round % 2, "paired": paired, "drawn": lot}[self.order]

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated

    @property
    def end_turn(self) -> int:
        return self.height * self.width

    @property
    def whole(self) -> int:
        """Units of a turn of the mover."""
        return self.max_units

    @property
    def left(self) -> int:
        """Units that the mover may still place in this turn."""
        return self.whole - self.spent

    def live(self) -> list[int]:
        """Units on the board, by player."""
        return [count(self.board, player + 1) for player in (0, 1)]

    def territory(self, player: int) -> NDArray[np.bool_]:
        """[rows, cols], where a player's field is stronger than 1.0: units add 2.0 at distances below the radius."""
        strong: NDArray[np.bool_] = np.where(distances(self.board, player) < self.radius, 2.0, 0.0).sum(0) > 1.0
        return strong

    # --- what is legal

    def open_cells(self) -> set[int]:
        """Where the mover's next unit could stand, as the board is."""
        allowed = (np.array(self.board) == EMPTY) & ~(distances(self.board, 1 - self.player) <= 1).any(0)
        if self.live()[self.player]:
            allowed &= self.territory(self.player) & ~self.territory(1 - self.player)
        return {int(cell) for cell in np.flatnonzero(allowed)}

    def legal(self) -> set[int]:
        """The actions that are legal; none once the game is over."""
        if self.done:
            return set()
        spots, many = self.open_cells(), self.acts >= 2 * self.whole
        actions: set[int] = set()
        if self.left and not (many and self.spent):
            actions |= spots
        if not many:
            actions |= {r * self.width + c for r, c in self.placed}
        if self.spent or not spots:
            actions.add(self.end_turn)
        return actions

    # --- what is played

    def step(self, action: int) -> None:
        """One action; a game that is over stays as it is, with zero rewards."""
        self.rewards = [0.0, 0.0]
        if self.done:
            return
        if action not in self.legal():
            raise ValueError(f"expected a legal action, got {action}")
        before = self.live()
        self.turn += 1
        if action == self.end_turn:
            self._end_turn()
        else:
            self._place_or_take_back(divmod(action, self.width))
        after = self.live()
        change = (after[0] - before[0]) - (after[1] - before[1])
        for player, sign in ((0, 1), (1, -1)):
            self.rewards[player] = self.outcome[player] + self.shaping * sign * change / (self.height * self.width)

    def _place_or_take_back(self, cell: Cell) -> None:
        row, col = cell
        self.board[row][col] = EMPTY if cell in self.placed else self.player + 1
        self.spent += -1 if cell in self.placed else 1
        self.placed ^= {cell}
        self.acts += 1

    def _end_turn(self) -> None:
        self.placed, self.spent, self.acts = set(), 0, 0
        self.player = 1 - self.player
        if self.player != self.first:
            return
        if self.round > 0:
            self._play_round()
        before = self.scores
        a, b = self.live()
        own = [self.territory(player) for player in (0, 1)]
        contested, killed = int((own[0] & own[1]).sum()), count(self.board, KILLED)
        self.history.append([a, b, int(own[0].sum()), int(own[1].sum()), contested, killed])
        self.scores = [a - b, b - a]
        if self.round > 0:
            self._judge(before)
        if not self.done:
            self.round += 1
            self._begin_round()

    def _play_round(self) -> None:
        self.board = later(self.board, self.generations, self.neutral_births, self.neutral_stance)

    def _judge(self, before: list[int]) -> None:
        losers = self._losers(before)
        self.terminated = bool(losers)
        if not losers and self.round == self.max_rounds:
            self.truncated = True
            losers = [player for player in (0, 1) if self.scores[player] <= 0]
        if losers:
            self.outcome = [-1 if player in losers else 1 for player in (0, 1)]

    def _losers(self, before: list[int]) -> list[int]:
        """Who has lost by the verdict of this round; none if the game goes on."""
        if self.win_rule == "extinction":
            return [player for player in (0, 1) if self.live()[player] == 0]
        if self.round < self.first_verdict:
            return []
        if self.scores == [0, 0]:
            return [0, 1]
        if before[1] <= self.scores[1] <= 0:
            return [1]
        if before[0] <= self.scores[0] <= 0:
            return [0]
        return []

    # --- what is seen

    def infos(self, player: int) -> dict[str, int | list[int]]:
        """What a player is told beside the observation."""
        own = [self.territory(p) for p in (0, 1)]
        return {
            "score": self.scores[player],
            "units": self.live(),
            "territory": [int(cells.sum()) for cells in own],
            "killed": count(self.board, KILLED),
            "contested": int((own[0] & own[1]).sum()),
            "round": self.round,
        }

    def observe(self, player: int) -> NDArray[np.int16]:
        """int16 [11, rows, cols]."""
        board, placed = np.array(self.board), np.zeros((self.height, self.width), bool)
        for cell in self.placed:
            placed[cell] = True
        planes = [board == player + 1, board == 2 - player, board == NEUTRAL, board == KILLED, placed]
        planes += [self.territory(player), self.territory(1 - player)]
        numbers = [
            self.left,
            self.round,
            max(-(1 << 15), min((1 << 15) - 1, self.scores[player])),
            int(player == self.first),
        ]
        return np.stack([*planes, *(np.full_like(board, number) for number in numbers)]).astype(np.int16)


def random_action(game: ReferenceGame, rng: random.Random) -> int:
    """A legal action: ends the turn once in four times, likes to build on its units, now and then takes one back."""
    legal = game.legal()
    if game.end_turn in legal and (len(legal) == 1 or rng.random() < 0.25):
        return game.end_turn
    cells = sorted(legal - {game.end_turn})
    near: NDArray[np.bool_] = np.any(distances(game.board, game.player) < 2, axis=0)  # its own units among them
    close = [cell for cell in cells if near[divmod(cell, game.width)]]
    return rng.choice(close if close and rng.random() < 0.6 else cells)
