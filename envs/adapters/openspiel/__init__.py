"""The games for OpenSpiel: `pyspiel.Game` for games in turns with perfect information.

It needs the extra `openspiel`.
"""

from .openspiel_game import OpenSpielGame as OpenSpielGame, OpenSpielState as OpenSpielState, register as register
