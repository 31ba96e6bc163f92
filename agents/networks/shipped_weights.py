"""The weights that come with the package, and the games that they play. Importing this imports no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellgames.envs import registry
from cellgames.plugins import GamePlugin
from cellgames.utils.extras import install

WEIGHTS = Path(__file__).parents[1] / "weights"
"""The weights that come with the package and play without search."""

SEARCH_WEIGHTS = WEIGHTS / "search"
"""The same, to evaluate positions in a tree search."""


def ids_with_weights(folder: Path | None = None) -> tuple[str, ...]:
    """Return the ids of the games that the weights in a folder play, in the order of lists.

    Those of `WEIGHTS` also play games that extend one that they serve (`GamePlugin.search`). With them come the games
    whose plugins list another agent as `trained`.

    Args:
        folder: `WEIGHTS`, the default, or `SEARCH_WEIGHTS`.

    Raises:
        ImportError: the extra `trained` is missing.
    """
    learned = _learned(WEIGHTS if folder is None else folder)

    def plays(entry: registry.GameSpec) -> bool:
        if folder in (None, WEIGHTS) and "trained" in entry.plugin.agents:
            return True
        played = [entry.defaults]
        if folder in (None, WEIGHTS) and entry.plugin.search.get("simpler") is not None:
            played.append({name: entry.defaults[name] for name in entry.plugin.parameters})
        return any(
            game == entry.plugin.id and serves(entry.plugin, parameters, each)
            for game, parameters in learned
            for each in played
        )

    return tuple(id for id, entry in registry.REGISTRY.items() if plays(entry))


def in_folder(folder: Path) -> list[Path]:
    """Return the files of weights that may serve as those of a folder; `serves_in` says which do."""
    others = WEIGHTS.glob("*.safetensors") if folder == SEARCH_WEIGHTS else ()
    return sorted([*folder.glob("*.safetensors"), *others])


def serves_in(folder: Path, path: Path, about: Mapping[str, Any]) -> bool:
    """Return True if a file lies in a folder, or its network, described by `about`, serves with and without search.

    Networks that value turns do, and those that learned with a search, unless a game has others in `SEARCH_WEIGHTS`.
    """
    if path.parent == folder:
        return True
    searches = about["kind"] == "turns" or about["made"].get("algorithm") == "alphazero"
    return searches and not any(folder.glob(f"{about['game']}.*"))


def serves(plugin: GamePlugin, learned: Mapping[str, Any], played: Mapping[str, Any]) -> bool:
    """Return True if weights of a game with the parameters `learned` play it with the parameters `played`."""
    changed = differences(learned, played).keys() | differences(played, learned).keys()
    return changed <= set(plugin.transfer_parameters)


def differences(learned: Mapping[str, Any], played: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `learned` that differ from those of `played`; lists equal tuples, as JSON has none."""
    other = json.loads(json.dumps(dict(played)))
    return {name: value for name, value in json.loads(json.dumps(dict(learned))).items() if value != other.get(name)}


def _learned(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the game and the parameters of each file of a folder; damaged files are left to those who load them."""
    try:
        import safetensors  # noqa: F401  # which loads them
    except ImportError as error:
        raise ImportError(f"weights need safetensors: {install('trained')} ({error})") from error
    found = []
    for path in in_folder(folder):
        try:
            with path.open("rb") as file:  # safetensors would import NumPy for this
                size = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(min(size, path.stat().st_size)))
            about = json.loads(header["__metadata__"]["about"])
            if serves_in(folder, path, about):
                found.append((about["game"], about["parameters"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found
