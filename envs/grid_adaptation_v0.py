"""Grid Adaptation for PettingZoo: `grid_adaptation_v0.parallel_env()`, from `cellgames.envs`.

Grid Adaptation is a game by pseudonam (Genius Game 4, Main Match 6); Life is John Horton Conway's.
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, parallel_env = of_module("grid-adaptation-v0")
