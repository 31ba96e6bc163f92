"""The core that all games share: the contract, states, chance, vectorized stepping, drawing."""

from .chance import seeds as seeds
from .choosing import sample_actions as sample_actions
from .inputs import IllegalActionError as IllegalActionError
from .game import Game as Game
from .info import DRAW as DRAW, LOSS as LOSS, WIN as WIN, GameInfo as GameInfo, Space as Space
from .solo import Solo as Solo
from .state import State as State
from .vector import Positions as Positions, Transition as Transition, Vector as Vector
