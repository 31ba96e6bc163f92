"""The games as other libraries expect them: one module an interface, no rule inside.

Importing this package adds the games to PettingZoo's and Gymnasium's registries, as `cellgames/torus-v0` and so on; it
imports neither torch nor a game.
"""

from .registration import register

__all__ = ["register"]

register()
