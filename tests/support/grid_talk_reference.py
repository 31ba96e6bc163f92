"""Grid Adaptation with talk once more, slowly and plainly, written from the rule sheet alone.

A match is a diary: every talk step is a page, a list of letters (sender, receiver, word). In public the receiver is
`ALL`. The rounds between are those of `ReferenceMatch`. Players know the letters that they wrote or got.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grid_adaptation_reference import FLIP, Action, ReferenceMatch, matching, random_actions

ALL = -1
Letter = tuple[int, int, int]


@dataclass
class TalkMatch:
    """A match with talk, "public" or "private": `talk_steps` before each round, with `words` beside silence.

    The pages of letters are kept as they were sent and as they arrived.
    """

    match: ReferenceMatch
    talk: str
    words: int
    talk_steps: int
    promises: str = "none"
    written: list[list[Letter]] = field(default_factory=list)
    delivered: list[list[Letter]] = field(default_factory=list)

    @property
    def talking(self) -> bool:
        """Return True if words are due: each of the rounds begins with so many talk steps."""
        if self.match.terminated or self.match.round > self.match.rounds:
            return False
        return len(self.written) < self.match.round * self.talk_steps

    def receivers(self, sender: int) -> list[int]:
        if self.talk == "public":
            return [ALL]
        return [seat for seat in range(self.match.players) if seat != sender]

    def promised(self, player: int) -> int:
        """Return a player's public word of the last talk step before a round, less 1; -1 before the first."""
        whole = len(self.written) // self.talk_steps * self.talk_steps
        return self.written[whole - 1][player][2] - 1 if whole else -1

    def ally(self, player: int) -> int:
        """Return the seat of a player's ally, or its own: two who name each other, or neighbours without promises."""
        seat = self.promised(player) if self.promises == "ally" else player + (-1 if player % 2 else 1)
        mutual = self.promises != "ally" or (0 <= seat < self.match.players and self.promised(seat) == player)
        return seat if mutual else player

    def legal(self, player: int) -> list[set[int]]:
        """Return the legal choices of every component of a player's action."""
        silence, everything = {0}, set(range(self.words + 1))
        said = [everything if self.talking else silence for _ in self.receivers(player)]
        legal = [{choice} for choice in self.match.none] if self.talking else self.match.legal(player)
        if self.promises == "sequence" and self.promised(player) in range(8):
            own, goal = self.match.sequences[player], self.promised(player)
            near = {flip: matching(own ^ (0, 1, 2, 4)[flip], goal) for flip in legal[FLIP]}
            legal[FLIP] = {flip for flip in near if near[flip] == max(near.values())}
        return [*legal, *said]

    def step(
        self,
        actions: Sequence[Action],
        choose: Callable[[list[int]], int],
        deliver: Callable[[list[Letter]], list[Letter]],
    ) -> None:
        """Play a step; `deliver` gives the letters of a page as they arrive."""
        if not self.talking:
            self.match.step([action[:7] for action in actions], choose)
            return
        page = []
        for sender, action in enumerate(actions):
            for receiver, word in zip(self.receivers(sender), action[7:], strict=True):
                page.append((sender, receiver, word))
        self.written.append(page)
        self.delivered.append(deliver(page))
        self.match.turn += 1
        self.match.rewards = [0.0] * self.match.players
        self.match.placed = set()

    def heard(self, player: int, page: list[Letter]) -> dict[int, int]:
        """Return the words that reached a player on a page, by sender."""
        return {sender: word for sender, receiver, word in page if sender != player and receiver in (ALL, player)}

    def history(self, player: int) -> list[list[int]]:
        """Return for each talk step what a player heard of each other seat, then what it said; None to come."""
        pages = []
        for sent, arrived in zip(self.written, self.delivered, strict=True):
            heard = self.heard(player, arrived)
            said = [word for sender, _, word in sent if sender == player]
            pages.append([heard[seat] for seat in range(self.match.players) if seat != player] + said)
        return pages


def random_talk(one: TalkMatch, rng: random.Random) -> list[list[int]]:
    """Return legal actions of all players."""
    actions, nothing = [], [one.match.none] * one.match.players
    for player, played in enumerate(nothing if one.talking else random_actions(one.match, rng)):
        action = [*played, *(rng.randint(0, one.words) if one.talking else 0 for _ in one.receivers(player))]
        if one.promises == "sequence" and one.legal(player)[FLIP]:
            action[FLIP] = rng.choice(sorted(one.legal(player)[FLIP]))
        actions.append(action)
    return actions
