"""The rules of a series of Grid Adaptation matches, apart from the matches themselves.

The Elimination Candidate of a match leaves. The others play the next one, with the garnets that they hold. Between two
matches Tokens of Life may be given away. A Token counts as won by the player who won it, whoever holds it: "being given
a ToL does not count as winning it". docs/grid_adaptation.md lists what the sheet leaves open.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cellgames.utils.errors import InputError


@dataclass(frozen=True)
class Contestant:
    """A player of a series, between two matches.

    Attributes:
        name: name of the player.
        garnets: held.
        won: Tokens of Life won.
        given: Tokens given to others.
        received: Tokens got from others; they do not count as won.
        points: points of all matches.
        left: number of the match after which the player left, 0 for one who stays.
    """

    name: str
    garnets: int
    won: int = 0
    given: int = 0
    received: int = 0
    points: float = 0
    left: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of Life that the player holds."""
        return self.won - self.given + self.received


@dataclass(frozen=True)
class Gift:
    """Tokens of Life that a player gives to another one.

    Attributes:
        giver: name of a player of the match.
        receiver: name of a player who stays.
        tokens: number of tokens, 1 or more.
    """

    giver: str
    receiver: str
    tokens: int = 1


@dataclass(frozen=True)
class MatchEnd:
    """A match that is over; numbers are by seat.

    Attributes:
        number: number of the match, from 1.
        players: names.
        held: garnets at its start.
        points: points of each player.
        tokens: Tokens of Life won.
        garnets: garnets after rewards.
        leaving: seats of those who leave: the Elimination Candidate, or those who forfeited.
        contestants: all players of the series by name, with what they hold after the match, before gifts.
        gifts: gifts of Tokens, after it.
    """

    number: int
    players: tuple[str, ...]
    held: tuple[int, ...]
    points: tuple[float, ...]
    tokens: tuple[int, ...]
    garnets: tuple[int, ...]
    leaving: tuple[int, ...]
    contestants: Mapping[str, Contestant] = field(default_factory=dict)
    gifts: tuple[Gift, ...] = ()

    @property
    def staying(self) -> tuple[str, ...]:
        """Return the players of the next match, by seat."""
        return tuple(name for seat, name in enumerate(self.players) if seat not in self.leaving)


@dataclass(frozen=True)
class Series:
    """A series that is over.

    Attributes:
        number: from 1.
        matches: in their order.
        order: the players, best first.
    """

    number: int
    matches: tuple[MatchEnd, ...]
    order: tuple[Contestant, ...]


Givers: TypeAlias = Callable[[MatchEnd, random.Random], Sequence[Gift]]
"""Decides about gifts after a match; a generator of its own is drawn for each match."""


def _second_token(end: MatchEnd, chance: random.Random) -> Sequence[Gift]:
    """Return the gift of a player who won two Tokens: one goes to the best other player who stays."""
    for seat, giver in enumerate(end.players):
        others = [name for name in end.staying if name != giver]
        if end.tokens[seat] == 2 and others:
            return (Gift(giver, max(others, key=lambda name: end.points[end.players.index(name)])),)
    return ()


def _random_gifts(end: MatchEnd, chance: random.Random) -> Sequence[Gift]:
    """Return gifts of Tokens just won, each with an even chance, to any other player who stays."""
    gifts: list[Gift] = []
    for seat, giver in enumerate(end.players):
        others = [name for name in end.staying if name != giver]
        given = sum(chance.random() < 0.5 for _ in range(end.tokens[seat] if others else 0))
        gifts += (Gift(giver, chance.choice(others)) for _ in range(given))
    return gifts


GIVERS: dict[str, Givers] = {"none": lambda end, chance: (), "second": _second_token, "random": _random_gifts}
"""Ways to give Tokens away, by name: nobody does; who wins two gives one to the best other player; at random."""


def agents_gifts(agents: Mapping[str, object]) -> Givers:
    """Return gifts that agents decide about.

    An agent that gives has a method `give_tokens(end, player, chance)`, which returns the number of Tokens for each
    receiver by name. All others give nothing. Agents are given by the names of their players.
    """

    def give(end: MatchEnd, chance: random.Random) -> Sequence[Gift]:
        gifts: list[Gift] = []
        for player in end.players:
            decide: Any = getattr(agents[player], "give_tokens", None)
            if decide is not None:
                wanted = decide(end, player, chance)
                gifts += [Gift(player, str(receiver), int(tokens)) for receiver, tokens in wanted.items() if tokens]
        return gifts

    return give


def after_match(
    contestants: Mapping[str, Contestant], end: MatchEnd, give: Givers, chance: random.Random
) -> tuple[dict[str, Contestant], MatchEnd]:
    """Return all players after a match and its gifts, and the match with them.

    Args:
        contestants: by name, before the match.
        end: end of the match, without contestants and gifts.
        give: decides about gifts.
        chance: for it.

    Raises:
        ValueError: a gift of Tokens that the giver does not hold, to oneself, or to somebody who does not stay.
    """
    now = dict(contestants)
    for seat, name in enumerate(end.players):
        now[name] = replace(
            now[name],
            garnets=end.garnets[seat],
            won=now[name].won + end.tokens[seat],
            points=now[name].points + end.points[seat],
            left=end.number if seat in end.leaving else 0,
        )
    end = replace(end, contestants=dict(now))
    end = replace(end, gifts=tuple(give(end, chance)))
    for gift in end.gifts:
        held = now[gift.giver].tokens if gift.giver in end.players else 0
        if gift.tokens < 1 or gift.tokens > held or gift.giver == gift.receiver or gift.receiver not in end.staying:
            raise InputError(
                f"match {end.number}",
                "a gift of Tokens that a player holds to another one who stays",
                f"{gift.tokens} of {gift.giver} (who holds {held}) to {gift.receiver}",
            )
        now[gift.giver] = replace(now[gift.giver], given=now[gift.giver].given + gift.tokens)
        now[gift.receiver] = replace(now[gift.receiver], received=now[gift.receiver].received + gift.tokens)
    return now, end


def final_order(contestants: Mapping[str, Contestant], chance: random.Random) -> list[Contestant]:
    """Return the players of a series that is over, best first.

    Who stays is ahead of those who left, and who left later ahead of those who left earlier. Those who stay, or left at
    the same time, are in the order of Tokens won, garnets and points of all matches; then lots decide.
    """
    lots = {name: chance.random() for name in sorted(contestants)}

    def merit(one: Contestant) -> tuple[float, ...]:
        return one.left or math.inf, one.won, one.garnets, one.points, lots[one.name]

    return sorted(contestants.values(), key=merit, reverse=True)
