"""The core that all games share: the contract, states, chance, vectorized stepping, drawing."""

from .chance import seeds
from .errors import GameError, IllegalActionError
from .game import Game
from .info import DRAW, LOSS, WIN, GameInfo, Space
from .solo import Solo
from .state import State
from .vector import Positions, Transition, Vector

__all__ = [
    "DRAW",
    "LOSS",
    "WIN",
    "Game",
    "GameError",
    "GameInfo",
    "IllegalActionError",
    "Positions",
    "Solo",
    "Space",
    "State",
    "Transition",
    "Vector",
    "seeds",
]
