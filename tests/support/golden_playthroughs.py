"""Whole games as plain text: what players see, may do and get, move by move.

    python tests/support/golden_playthroughs.py            # write tests/golden/*.txt anew, then read the diff

`test_core_contract.py` compares. A difference means that a game behaves differently: a new version, or a bug.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from paths import ROOT
from torch import Tensor

import cellgames
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.chance import random_bits, random_legal

FOLDER = ROOT / "tests" / "golden"

# One short game for every class of game in the registry: small enough that a person reads the file.
PARAMETERS: dict[str, dict[str, Any]] = {
    "torus-v0": {"size": 3},
    "hex-v0": {"size": 4},
    "y-v0": {"size": 4, "tiling": "octagons"},
    "grid-adaptation-v0": {"size": 5, "players": 2, "rounds": 3, "flip_rounds": (2,)},
    "toroidal-cup-v0": {"rows": 12, "cols": 24, "pattern": "donutmethuselahs", "shapes": 2, "max_generations": 500},
    "cloth-of-gold-v0": {
        **{"height": 8, "width": 8, "generations": 2, "max_units": 2, "max_rounds": 2, "radius": 4},
        "neutral_density": 0.2,
    },
}


def grid(planes: Tensor) -> Iterator[str]:
    """Planes [C, H, W] side by side, `.` for 0."""
    for row in range(planes.shape[1]):
        yield "   ".join(" ".join("." if x == 0 else f"{x:g}" for x in plane[row].tolist()) for plane in planes)


def turn(game: Game, state: State, player: int, legal: Tensor, random: torch.Generator) -> tuple[list[str], Tensor]:
    """What a player sees, may do (bool [A]) and does, as lines; and the action, int64 [1]."""
    name, lines, parts = game.info.players[player], [], []
    for component, mask in enumerate(legal.split(list(game.info.action_nvec))):
        names = [game.choice_to_string(component, choice) for choice in mask.nonzero().flatten().tolist()]
        lines.append(f"legal ({len(names)}): {' '.join(names)}")
        parts.append(random_legal(mask[None], random_bits(1, random)))
    played = " ".join(game.choice_to_string(component, int(part)) for component, part in enumerate(parts))
    action = torch.cat(parts) if len(parts) > 1 else parts[0]
    return [f"{name} sees:", *grid(game.observe(state, player)[0]), *lines, f"{name} plays {played}"], action


def playthrough(id: str, seed: int = 0) -> str:
    """A random game as text; in simultaneous ones all seats of a step one after the other."""
    game = cellgames.make(id, **PARAMETERS[id])
    info, generator = game.info, torch.Generator().manual_seed(seed)
    lines = [f"game: {id} {game.parameters}", "", *(f"{k}: {v}" for k, v in vars(info).items()), ""]
    state = game.init(seeds(seed, 1))
    while True:
        lines += [f"--- turn {int(state.turn)}", game.text(state), f"position: {game.state_to_string(state)}"]
        lines += [f"rewards: {state.rewards[0].tolist()}   scores: {state.scores[0].tolist()}"]
        if state.done.all():
            break
        players = list(range(info.num_players)) if info.simultaneous else [int(state.current_player)]
        legal, chosen = game.legal_actions(state).view(len(players), -1), []
        for player, mask in zip(players, legal, strict=True):
            shown, action = turn(game, state, player, mask, generator)
            lines += shown
            chosen.append(action)
        lines.append("")
        state = game.step(state, torch.cat(chosen).view(1, *info.action_shape))
    numbers = {name: value[0].tolist() for name, value in game.infos(state, 0).items() if name != "score"}
    numbers |= game.summary(state)
    lines += [f"{name}: {value}" for name, value in numbers.items()] + ["truncated"] * bool(state.truncated.all())
    return "\n".join([*lines, f"outcome: {game.outcome(state)[0].tolist()}", ""])


def path(id: str) -> Path:
    """Where the playthrough of a game lies."""
    return FOLDER / f"{id}.txt"


if __name__ == "__main__":
    for game_id in PARAMETERS:
        path(game_id).write_text(playthrough(game_id), encoding="utf-8")
        print("wrote", path(game_id), file=sys.stderr)
