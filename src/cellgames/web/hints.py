"""Hints for people who play: a move that an agent suggests, and its value in words."""

from __future__ import annotations

from typing import NamedTuple

import torch

from cellgames.agents.loading import load
from cellgames.agents.selection import select
from cellgames.arena.analyse.search_analysis import Analysis, analyse, default_agent
from cellgames.envs import registry
from cellgames.envs.core import Game, State

_IN_LIFE = "gumbel:16"
"""The search by the values of whole turns: each of its simulations takes many generations of Life."""

_WORDS = (
    (0.95, "you are winning"),
    (0.75, "you are far ahead"),
    (0.6, "you are ahead"),
    (0.4, "the game is even"),
    (0.25, "you are behind"),
    (0.05, "you are far behind"),
    (0.0, "you are losing"),
)


class Hint(NamedTuple):
    """A suggested move: the sentence that names it, and its number; None where an action has several parts."""

    words: str
    action: int | None


def hint(game: Game, state: State, seat: int) -> Hint:
    """Return a suggestion for a seat that is to act in an unfinished game, a batch of one.

    A search suggests where it can see the whole position. Elsewhere `greedy` does, which sees what the seat sees.
    """
    found = searched(game, state)
    return _from_greedy(game, state, seat) if found is None else _text(found)


def searched(game: Game, state: State) -> Analysis | None:
    """Return a quick search of a position; None where none can see the whole of it, or play the game."""
    if game.info.simultaneous or not game.info.perfect_information:
        return None
    living = "turns" in registry.plugin_of(game).networks
    try:
        return analyse(game, state, load(_IN_LIFE, game) if living else default_agent(game))
    except (ValueError, ImportError):  # a game that no search plays, no weights, or nothing that reads them
        return None


def _text(found: Analysis) -> Hint:
    chance = found.win_chance
    words = next(words for least, words in _WORDS if chance >= least)
    line = " ".join(move.name for move in found.line[1:6])
    expected = f" It expects {line} next." if line else ""
    text = f"{found.agent} suggests {found.chosen}: {words}, your chance to win is {100 * chance:.0f} %.{expected}"
    return Hint(text, next(move.action for move in found.moves if move.name == found.chosen))


def _from_greedy(game: Game, state: State, seat: int) -> Hint:
    try:
        agent = load("greedy", game)
    except ValueError:
        return Hint(f"There are no hints in {game.info.title}: it has no agent that could give them.", None)
    env_ids, seats = torch.zeros(1, dtype=torch.int64, device="cpu"), torch.tensor([seat], device="cpu")
    agent.start(game, seats, env_ids)
    chosen = select(agent, game, state, env_ids, torch.Generator().manual_seed(0), seats)[0]
    action = game.info.ravel_action(parts := chosen.reshape(-1).tolist())
    words = game.action_in_words(state, seat, action)
    text = f"greedy suggests {words}. It looks one move ahead and gives no chance to win."
    return Hint(text, action if len(parts) == 1 else None)
