"""The games for OpenSpiel: `pyspiel.Game` for games in turns with perfect information.

It needs the extra `openspiel`.
"""

from .openspiel_game import OpenSpielGame, OpenSpielState, register

__all__ = ["OpenSpielGame", "OpenSpielState", "register"]
