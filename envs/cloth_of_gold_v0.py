"""Cloth of Gold for PettingZoo: `from cellgames.envs import cloth_of_gold_v0; env = cloth_of_gold_v0.env()`.

Cloth of Gold is a game by Adam Murray; Life is John Horton Conway's.
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, __getattr__ = of_module("cloth-of-gold-v0")
