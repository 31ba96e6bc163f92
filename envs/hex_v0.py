"""Hex for PettingZoo: `from cellgames.envs import hex_v0; env = hex_v0.env(size=11)`.

Hex was invented by Piet Hein (1942) and by John Nash (1948).
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, __getattr__ = of_module("hex-v0")
