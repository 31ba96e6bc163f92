"""The Toroidal Cup for PettingZoo: `toroidal_cup_v0.parallel_env()`, from `cellgames.envs`.

The Cup and its patterns are golly.life's (golly-splorts); Life is John Horton Conway's.
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, parallel_env = of_module("toroidal-cup-v0")
