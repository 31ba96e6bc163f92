"""Files that hold agents: their names, the weights that come with the package, and champions.

A champion is small JSON with a game, its parameters and designs that each game reads itself. Importing this imports no
torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cellgames.envs import registry
from cellgames.plugins import GamePlugin
from cellgames.utils.errors import InputError, located, shown
from cellgames.utils.extras import install

if TYPE_CHECKING:
    from cellgames.envs.core import Game

G = TypeVar("G", bound="Game[Any]")

MIXTURE_FILE = "mixture.json"
"""The name of the file in a league's folder that says who plays how often."""

WEIGHTS_SUFFIX = ".safetensors"
"""The end of the name of a file by `saved.save_network`."""

WEIGHTS_FILE = f"agent{WEIGHTS_SUFFIX}"
"""The name of the agent's file in the folder of a training run."""

CHAMPION_FILE = "champion.json"
"""The name of the champion's file in the folder of an evolution."""

MODEL_SUFFIX = ".zip"
"""The end of the name of a model that Stable-Baselines3 saved."""

SAMPLE = ":sample"
"""The text after such a name that lets the agent draw its actions."""


FORMAT = 1
_MOST_BYTES = 1 << 22


def to_text(game: str, parameters: Mapping[str, Any], designs: Sequence[Mapping[str, Any]]) -> str:
    """Return the content of a file, one design a line; `designs` are as in the file."""
    head = {"champion": FORMAT, "game": game, "parameters": dict(parameters)}
    lines = ",\n".join(json.dumps(design) for design in designs)
    return f'{json.dumps(head)[:-1]}, "designs": [\n{lines}\n]}}\n'


def read_champion_data(path: Path, kind: type[G]) -> tuple[G, list[Any]]:
    """Return the game of a champion, of this class, and its designs, at least one; a `ValueError` names faults."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        data = json.loads(content) if len(content) <= _MOST_BYTES else None
    except OSError as error:
        raise InputError(path, "the champion.json of `cellgames evolve`", error.strerror) from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or "champion" not in data:
        raise InputError(path, "the champion.json of `cellgames evolve`", "something else")
    if data["champion"] != FORMAT:
        raise InputError(path, f"a champion of format {FORMAT}", shown(data["champion"]))
    game, parameters, designs = (data.get(name) for name in ("game", "parameters", "designs"))
    if not (isinstance(game, str) and isinstance(parameters, dict) and isinstance(designs, list) and designs):
        raise InputError(path, "a game, parameters and a list of designs", cause="is the file damaged?")
    if game != kind.id:
        raise InputError(path, f"a champion of {kind.id}", f"one of {game}")
    try:
        return kind(**parameters), designs
    except (TypeError, ValueError) as error:
        raise located(error, path) from None


def check_weight(where: str, weight: object) -> float:
    """Return the weight of a design; `where` begins the message of the `ValueError` for anything else."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
        raise InputError(where, "a weight above 0", shown(weight))
    return float(weight)


WEIGHTS = Path(__file__).parents[1] / "weights"
"""The weights that come with the package and play without search."""

SEARCH_WEIGHTS = WEIGHTS / "search"
"""The same, to evaluate positions in a tree search."""


def ids_with_weights(folder: Path | None = None) -> tuple[str, ...]:
    """Return the ids of the games that the weights in a folder play, in the order of lists; needs the extra `trained`.

    Those of `WEIGHTS`, the default, also play games that extend one that they serve (`GamePlugin.search`). With them
    come the games whose plugins list another agent as `trained`.
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


def nearest_id(game: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id under which fewest parameters of a game differ from the defaults, and those parameters."""
    if (registered := registry.REGISTRY.get(game)) is None:
        return game, dict(parameters)
    alike = (spec for spec in registry.REGISTRY.values() if spec.plugin.id == registered.plugin.id)
    found = ((spec.id, differences(parameters, spec.defaults)) for spec in alike)
    return min(found, key=lambda pair: (len(pair[1]), pair[0] != game))


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
