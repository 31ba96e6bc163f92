"""Games on a device and on the CPU, step by step: the same states, masks, rewards and actions in every bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

import cellgames
from cellgames.agents.search import GumbelSearch, NetworkEvaluator, PlayoutEvaluator, Search, UCTSearch
from cellgames.envs.boards.life import Life
from cellgames.envs.core import Game, seeds
from cellgames.envs.native.operators import Compile
from cellgames.envs.registry import REGISTRY
from cellgames.envs.toroidal_cup import PATTERNS, arrange, simulate

from .lines import Line, equal

AGREE = 0.9  # of searches' visits: sums of floating-point numbers differ in their last bits


class _Playouts(PlayoutEvaluator):
    """Random playouts by torch code on every device; native code would draw other random numbers."""


def _same(here: Tensor, there: Tensor) -> bool:
    return here.dtype == there.dtype and torch.equal(here, there.to(here.device))


def play(game: Game, device: torch.device, num_envs: int, steps: int, compile: Compile) -> bool:
    """Play some random steps on the CPU and on a device; return False where anything differs."""
    here, there = game.vector(num_envs, seed=1), game.vector(num_envs, seed=1, device=device, compile=compile)
    generators = [torch.Generator().manual_seed(2) for _ in range(2)]
    for _ in range(steps):
        results = [vector.step_random(generator) for vector, generator in zip((here, there), generators, strict=True)]
        pairs = [
            *((getattr(results[0], name), getattr(results[1], name)) for name in _names(results[0])),
            *((getattr(here.state, name), getattr(there.state, name)) for name in _names(here.state)),
            (here.legal_actions, there.legal_actions),
        ]
        if not all(_same(*pair) for pair in pairs):
            return False
    return True


def _names(fields: object) -> list[str]:
    return [field.name for field in dataclasses.fields(fields)]  # type: ignore[arg-type]  # a dataclass


def games(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield a line for each game of the suite, and for steps that are compiled for the device."""
    num_envs = 8 if small else 256
    for name in sorted(REGISTRY):
        steps = 20 if small else 300
        same = play(cellgames.make(name), device, num_envs, steps, "never")
        yield equal(f"{name}: {steps} random steps of {num_envs} games", same)
    for name in ("torus-v0",) if not small else ():
        same = play(cellgames.make(name), device, 4096, 300, "always")
        yield equal(f"{name}: 300 random steps of 4,096 games, compiled", same)


def boards(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for Life and for whole games of the Toroidal Cup."""
    number = 8 if small else 512
    for wrap in (True, False):
        cells = torch.rand((number, 64, 64), generator=torch.Generator().manual_seed(0)) < 0.35
        found = []
        for where in (torch.device("cpu"), device):
            life = Life(64, 64, number, wrap=wrap, device=where)
            life.load(cells)
            life.advance(25)
            found.append(life.cells())
        edges = "tori" if wrap else "finite boards"
        yield equal(f"Life: 25 generations of {number} {edges} of 64 x 64", _same(*found))
    generator, patterns = np.random.default_rng(0), list(PATTERNS)
    number = 2 if small else 200
    starts = [arrange(patterns[game % len(patterns)], generator) for game in range(number)]
    here, there = simulate(starts), simulate(starts, device=device)
    columns = ("scores", "generations", "winner", "truncated", "board")
    same = all(_same(getattr(here, name), getattr(there, name)) for name in columns)
    yield equal(f"Toroidal Cup: {number} whole games", same)


def searches(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for searches by playouts and by a network: most of them have the same visits."""
    from cellgames.agents.networks.networks import make_network

    game, number, simulations = cellgames.make("torus-small-v0"), 8 if small else 256, 20 if small else 100
    state = game.init(seeds(0, number))
    torch.manual_seed(0)
    networks = [make_network(game) for _ in range(2)]
    networks[1].load_state_dict(networks[0].state_dict())
    networks[1].to(device)
    with torch.no_grad():
        uct = UCTSearch(game, simulations, evaluator=_Playouts(1))
        pairs: dict[str, list[Search]] = {
            "UCT with a playout each": [uct, uct],
            "Gumbel with a network": [GumbelSearch(game, NetworkEvaluator(net), simulations) for net in networks],
        }
        for what, pair in pairs.items():
            here, there = (
                search.run(state.to(where), torch.Generator().manual_seed(3)).visits.cpu()
                for search, where in zip(pair, (torch.device("cpu"), device), strict=True)
            )
            part = float((here == there).all(1).float().mean())
            line = f"{part:.0%} of {number} searches of {simulations} simulations have the same visits"
            yield Line(what, line, passed=part >= AGREE)
