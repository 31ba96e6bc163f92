"""Grid Adaptation once more, slowly and plainly (lists, strings, loops), to test the fast rules against.

It shares no code with what it checks. A board is a list of rows; a cell is `NO_TILE` or a sequence, 0 to 7, whose
digits are taken from its three binary characters. Written from the rules of pseudonam's match and its clarifications.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

NO_TILE = -1
TILES, RESERVE, FLIP, BUY, VOTE = (0, 1, 2), 3, 4, 5, 6  # components of an action

Cell = tuple[int, int]
Board = list[list[int]]
Action = Sequence[int]  # seven whole numbers


def drawn(text: str) -> Board:
    """The board of rows of sequences, with dots for no tile; blank lines and indent do not count."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return [[NO_TILE if mark == "." else int(mark) for mark in line] for line in lines]


def empty(size: int) -> Board:
    """A board without tiles."""
    return [[NO_TILE] * size for _ in range(size)]


def digits(sequence: int) -> str:
    """The three digits, the most significant first."""
    return format(sequence, "03b")


def matching(first: int, second: int) -> int:
    """In how many positions two sequences have the same digit."""
    return sum(a == b for a, b in zip(digits(first), digits(second), strict=True))


def majority(parents: Sequence[int]) -> int:
    """The sequence of a tile formed by three others, digit by digit."""
    columns = zip(*map(digits, parents), strict=True)
    return int("".join("1" if column.count("1") >= 2 else "0" for column in columns), 2)


def neighbours(board: Board, row: int, col: int) -> list[int]:
    """The tiles around a cell; nothing lies beyond the edge."""
    size = len(board)
    return [
        board[r][c]
        for r in (row - 1, row, row + 1)
        for c in (col - 1, col, col + 1)
        if (r, c) != (row, col) and 0 <= r < size and 0 <= c < size and board[r][c] != NO_TILE
    ]


def generation(board: Board) -> Board:
    """All cells at once."""
    after = empty(len(board))
    for row, line in enumerate(board):
        for col, tile in enumerate(line):
            around = neighbours(board, row, col)
            if tile == NO_TILE and len(around) == 3:
                after[row][col] = majority(around)
            elif tile != NO_TILE and len(around) in (2, 3):
                after[row][col] = tile
    return after


@dataclass
class ReferenceMatch:
    """One match in progress, changed by its steps. The parameters are those of the game, with the rules' defaults.

    sequences: of every player; drawn by the game, so given here.
    held:      reserve tiles of every player.
    bought:    extra ones so far.
    placed:    the spaces on which tiles were placed in the last step.
    public:    what each of the eight sequences would have earned in the last round.
    round:     the round to play; the voting step comes after the last one; of a match that is over, the last played.
    tied:      among whom the vote is; empty where none is held.
    lot:       among whom chance chose the Elimination Candidate; empty where it had no part.
    """

    size: int = 15
    players: int = 8
    rounds: int = 8
    first_tiles: int = 3
    starting_garnets: int = 2
    reserves: int = 3
    flip_rounds: tuple[int, ...] = (4, 7)
    reward_scheme: str = "score"
    garnet_value: float = 0.1

    sequences: list[int] = field(default_factory=list)
    board: Board = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    garnets: list[int] = field(default_factory=list)
    bought: list[int] = field(default_factory=list)
    placed: set[Cell] = field(default_factory=set)
    public: list[int] = field(default_factory=lambda: [0] * 8)
    round: int = 1
    turn: int = 0
    tied: set[int] = field(default_factory=set)
    tokens: list[int] = field(default_factory=list)
    candidate: int = -1
    lot: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False

    def __post_init__(self) -> None:
        players = self.players
        self.sequences = list(self.sequences) or list(range(players))
        self.board = [list(row) for row in self.board] or empty(self.size)
        self.held = list(self.held) or [self.reserves] * players
        self.garnets = list(self.garnets) or [self.starting_garnets] * players
        for name in ("points", "bought", "tokens"):
            setattr(self, name, list(getattr(self, name)) or [0] * players)
        self.rewards = [0.0] * players

    @property
    def none(self) -> tuple[int, ...]:
        """What stands for nothing in each component."""
        cells = self.size * self.size
        return (cells, cells, cells, cells, 0, 0, self.players)

    @property
    def voting(self) -> bool:
        return bool(self.tied) and not self.terminated

    # --- what is legal

    def free(self) -> set[int]:
        """The spaces without a tile, as numbers of a tile component."""
        board = self.board
        return {r * self.size + c for r in range(self.size) for c in range(self.size) if board[r][c] == NO_TILE}

    def price(self, player: int) -> int:
        """Of the next extra reserve tile: 2, 4, 8, ..."""
        return 2 << int(self.bought[player])

    def can_buy(self, player: int) -> bool:
        return self.garnets[player] >= self.price(player)

    def slots(self) -> int:
        """How many tiles everybody submits in this round."""
        return self.first_tiles if self.round == 1 else 1

    def legal(self, player: int) -> list[set[int]]:
        """The legal choices of every component; none at all once the match is over."""
        if self.terminated:
            return [set() for _ in self.none]
        choices = [{nothing} for nothing in self.none]
        if self.voting:
            if self.tokens[player]:
                choices[VOTE] = self.tied - {player}  # two at least are tied
            return choices
        free = self.free()
        for slot in TILES[: self.slots()]:
            choices[slot] = free or choices[slot]
        if self.held[player] or self.can_buy(player):
            choices[RESERVE] = choices[RESERVE] | free
        if self.round in self.flip_rounds:
            choices[FLIP] = {0, 1, 2, 3}
        if self.can_buy(player):
            choices[BUY] = {0, 1}
        return choices

    # --- what is played

    def step(self, actions: Sequence[Action], choose: Callable[[list[int]], int]) -> None:
        """One round, or the vote; a match that is over stays as it is, with zero rewards.

        Args:
            actions: seven numbers of every player. "None" is taken everywhere: what it stands for is forfeited.
            choose: draws one of several players who are tied to the last.
        """
        self.rewards = [0.0] * self.players
        if self.terminated:
            return
        for player, action in enumerate(actions):
            for component, (choice, legal) in enumerate(zip(action, self.legal(player), strict=True)):
                if choice not in legal and choice != self.none[component]:
                    raise ValueError(f"player {player}, component {component}: {choice} is illegal")
        self.turn += 1
        self.placed = set()
        if self.voting:
            self._vote([action[VOTE] for action in actions], choose)
        else:
            self._play_round(actions, choose)
        if self.terminated and self.reward_scheme == "outcome":
            for player in range(self.players):
                gained = self.garnets[player] - self.starting_garnets
                reward = self.tokens[player] + self.garnet_value * gained
                self.rewards[player] = reward - 1 if player == self.candidate else reward

    def _play_round(self, actions: Sequence[Action], choose: Callable[[list[int]], int]) -> None:
        for player, action in enumerate(actions):
            self._flip(player, action[FLIP])
        named: dict[int, set[int]] = {}
        for player, action in enumerate(actions):
            for space in self._submitted(player, action):
                named.setdefault(space, set()).add(player)
        alone = {divmod(space, self.size): who.pop() for space, who in named.items() if len(who) == 1}
        for (row, col), player in alone.items():
            self.board[row][col] = self.sequences[player]
        self.placed = set(alone)
        self.board = generation(self.board)
        self._score()
        if self.round == self.rounds:
            self._end(choose)
        else:
            self.round += 1

    def _flip(self, player: int, digit: int) -> None:
        """The digit of value 1, 2 or 4, for 1, 2 and 3."""
        if digit:
            own = list(digits(self.sequences[player]))
            own[-digit] = "0" if own[-digit] == "1" else "1"
            self.sequences[player] = int("".join(own), 2)

    def _submitted(self, player: int, action: Action) -> list[int]:
        """The spaces that a player names, after it has bought and spent what it takes."""
        reserve = action[RESERVE] != self.none[RESERVE]
        if action[BUY] or (reserve and not self.held[player]):
            self.garnets[player] -= self.price(player)
            self.bought[player] += 1
            self.held[player] += 1
        self.held[player] -= reserve
        components = (*TILES, RESERVE)
        return [action[component] for component in components if action[component] != self.none[component]]

    def _score(self) -> None:
        tiles = [tile for row in self.board for tile in row if tile != NO_TILE]
        self.public = [sum(matching(tile, sequence) for tile in tiles) for sequence in range(8)]
        earned = [sum(matching(tile, sequence) for tile in tiles) for sequence in self.sequences]
        for player, points in enumerate(earned):
            self.points[player] += points
            if self.reward_scheme == "score":
                others = [other for seat, other in enumerate(earned) if seat != player]
                self.rewards[player] = points - sum(others) / len(others)
            elif self.reward_scheme == "public":
                self.rewards[player] = points - sum(self.public) / 8

    def _end(self, choose: Callable[[list[int]], int]) -> None:
        most, fewest = max(self.points), min(self.points)
        first = [player for player, points in enumerate(self.points) if points == most]
        last = [player for player, points in enumerate(self.points) if points == fewest]
        if len(first) <= 3:
            for player in first:
                self.tokens[player] = 2 if len(first) == 1 else 1
        for player, points in enumerate(self.points):
            while points >= 200:
                self.garnets[player] += 1
                points -= 50
        if len(last) == 1:
            self.candidate = last[0]
        elif not any(self.tokens):
            self._draw_lot(last, choose)
        else:
            self.tied = set(last)
            self.round += 1
        self.terminated = self.candidate >= 0

    def _vote(self, votes: list[int], choose: Callable[[list[int]], int]) -> None:
        voters = {player: [seat for seat, vote in enumerate(votes) if vote == player] for player in sorted(self.tied)}
        most = max(map(len, voters.values()))
        leading = {player: sum(self.garnets[v] for v in who) for player, who in voters.items() if len(who) == most}
        richest = [player for player, garnets in leading.items() if garnets == max(leading.values())]
        if len(richest) == 1:
            self.candidate = richest[0]
        else:
            self._draw_lot(richest, choose)
        self.terminated = True

    def _draw_lot(self, among: list[int], choose: Callable[[list[int]], int]) -> None:
        self.lot = among
        self.candidate = choose(among)
        if self.candidate not in among:
            raise ValueError(f"expected one of the players {among}, got {self.candidate}")

    # --- what is told

    @property
    def outcome(self) -> list[int]:
        """1 for those who won a token, -1 for the candidate, 0 for others and before the end."""
        if not self.terminated:
            return [0] * self.players
        return [-1 if p == self.candidate else 1 if self.tokens[p] else 0 for p in range(self.players)]

    def infos(self, player: int) -> dict[str, int | list[int]]:
        """What a player is told beside the observation."""
        unknown = [-1] * self.players
        return {
            "score": self.points[player],
            "sequence": self.sequences[player],
            "reserves": self.held[player],
            "garnets": self.garnets[player],
            "points": self.points if self.terminated else unknown,
            "tokens": self.tokens if self.terminated else unknown,
            "final_garnets": self.garnets if self.terminated else unknown,
            "candidate": self.candidate,
        }


def random_actions(match: ReferenceMatch, rng: random.Random) -> list[list[int]]:
    """Legal actions of all: they gather in one region, build on what stands, and often want the same space."""
    if match.terminated:
        return [list(match.none)] * match.players
    free = sorted(match.free())
    popular = rng.choice(free) if free else 0
    close = [cell for cell in free if neighbours(match.board, *divmod(cell, match.size))]
    centre = [cell for cell in free if all(abs(x - match.size // 2) < 4 for x in divmod(cell, match.size))]

    def space(choices: set[int]) -> int:
        wanted = rng.choices([[popular], close, centre, free], (1, 6, 2, 1))[0]
        return rng.choice([cell for cell in wanted if cell in choices] or sorted(choices))

    actions: list[list[int]] = []
    for player in range(match.players):
        legal = match.legal(player)
        action = [space(legal[slot]) for slot in TILES]
        nothing = match.none[RESERVE]
        action.append(space(legal[RESERVE] - {nothing} or {nothing}) if rng.random() < 0.6 else nothing)
        action += [rng.choice(sorted(legal[component])) for component in (FLIP, BUY, VOTE)]
        actions.append(action)
    return actions
