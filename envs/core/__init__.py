"""What all games share: the contract, chance, vectorized stepping, drawing."""

from .chance import seeds
from .game import DRAW, LOSS, WIN, Game, GameInfo, Space
from .solo import Solo
from .state import State
from .vector import Transition, Vector

__all__ = [
    "DRAW",
    "LOSS",
    "WIN",
    "Game",
    "GameInfo",
    "Solo",
    "Space",
    "State",
    "Transition",
    "Vector",
    "seeds",
]
