"""Torus for PettingZoo: `from cellgames.envs import torus_v0; env = torus_v0.env(size=8)`.

Torus is a game by Mark Steere; it descends from ZeN, or NZ, by Bill Taylor.
"""

from .adapters.pettingzoo_aec import of_module

env, raw_env, __getattr__ = of_module("torus-v0")
