"""Y for PettingZoo: `from cellgames.envs import y_v0; env = y_v0.env(size=13)`.

Y was invented by Claude Shannon (1950s), and by Charles Titus and Craige Schensted (1953).
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, __getattr__ = of_module("y-v0")
