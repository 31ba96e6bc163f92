"""Networks as files: weights as safetensors, and with them what they are for and where they come from."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError
from cellgames.utils.extras import install
from cellgames.utils.files import write_atomic
from cellgames.utils.foreign_text import MOST_SHOWN, clipped, shown
from cellgames.utils.version import __version__

from .networks import Network, Size, make_network

FORMAT = 1
"""Of the text beside the weights; raised when older files can no longer be read."""

_FIELDS = {"game": str, "parameters": dict, "kind": str, "size": dict, "sample": bool, "made": dict}
"""Of that text, with what they hold."""

_DIGEST = "sha256"
"""The field of a digest of the other fields and of the weights; files of the first versions have none."""


class Saved(NamedTuple):
    """A network from a file.

    Attributes:
        network: on the CPU.
        about: `game`, `parameters`, `kind`, `size`; `sample`, whether it should play by chance; `made`, what made it.
    """

    network: Network
    about: dict[str, Any]


def save_network(path: Path, network: Network, *, sample: bool = False, made: Mapping[str, Any] | None = None) -> None:
    """Write weights, whole or not at all.

    Args:
        path: ends in `.safetensors`.
        network: on any device.
        sample: True if it should play by chance.
        made: origin of the weights, as JSON holds it: command, seed, steps, machine.
    """
    save = check_installed().torch.save
    game = network.game
    about = {"format": FORMAT, "cellgames": __version__, "game": game.id, "parameters": game.parameters}
    about |= {
        "kind": network.kind,
        "size": dataclasses.asdict(network.size),
        "sample": sample,
        "made": dict(made or {}),
    }
    weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    about[_DIGEST] = _digest(about, weights)
    write_atomic(path, save(weights, metadata={"about": json.dumps(about)}))


def read_about(path: Path) -> dict[str, Any]:
    """Return the entries of a file about itself; see `Saved`.

    Raises:
        ValueError: not a file of `save_network`'s, or of another format; or it has changed since it was written.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the entries of a file about itself, and its weights; it raises the errors of `read_about`."""
    library = check_installed()
    try:
        with library.safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except FileNotFoundError:
        raise InputError(path, "a file of weights", "none") from None
    except Exception as error:  # the library's own kinds of error, which say little
        raise InputError(path, "a file of weights (.safetensors)", f"something else: {error}") from error
    if "about" not in metadata:
        raise ValueError(f"{path}: these weights do not say what game they play; were they saved by cellgames?")
    try:
        about = json.loads(metadata["about"])
    except ValueError as error:
        raise InputError(path, "JSON beside the weights", f"something else: {error}") from None
    if not isinstance(about, dict):
        raise InputError(path, "an object of JSON beside the weights", type(about).__name__)
    if about.get("format") != FORMAT:
        got = f"{shown(about.get('format'))} of cellgames {clipped(str(about.get('cellgames')), MOST_SHOWN)}"
        raise InputError(path, f"weights of format {FORMAT}", got, f"this is cellgames {__version__}")
    for name, kind in _FIELDS.items():
        if not isinstance(about.get(name), kind):
            raise InputError(path, f"{name} beside the weights, a {kind.__name__}", shown(about.get(name)))
    if unknown := sorted(about.keys() - _FIELDS.keys() - {"format", "cellgames", _DIGEST}):
        raise InputError(path, "no other facts beside the weights", shown(unknown[0]), cause="is the file damaged?")
    if (expected := about.pop(_DIGEST, None)) is not None and expected != _digest(about, weights):
        raise ValueError(f"{path}: the weights or what is beside them have changed since they were written")
    return about, weights


def _digest(about: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """Return a digest of weights on the CPU, their names, dtypes and shapes, and what is beside them."""
    hashed = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, value in sorted(weights.items()):
        hashed.update(f"\n{name} {value.dtype} {list(value.shape)}\n".encode())
        hashed.update(value.flatten().view(torch.uint8).numpy().data)
    return hashed.hexdigest()


def load_network(path: Path, game: Game | None = None) -> Saved:
    """Return the network in a file, ready to play.

    Args:
        path: a file by `save_network`.
        game: the game to play; by default the game that it learned. Weights of many networks serve other parameters
            of the same game (`Network.check_game`).

    Raises:
        ValueError: see `read_about`; the weights do not serve this game; or they fit no network of this version.
    """
    about, weights = _read(path)
    try:
        network = _new(about, game)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {clipped(str(error))}") from error
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        misfit = f"{path}: the weights do not fit this version's network for {about['game']}"
        raise ValueError(f"{misfit}: {clipped(str(error))}") from error
    for name, value in network.state_dict().items():
        if weights[name].is_complex() or not value.isfinite().all():
            raise InputError(path, "weights that are finite real numbers", f"others in {shown(name)}")
    return Saved(network.eval(), about)


def _new(about: Mapping[str, Any], game: Game | None) -> Network:
    """Return a new network such as the file's."""
    learned = registry.make(about["game"], **about["parameters"])
    size = Size(**about["size"])
    with torch.random.fork_rng(devices=[]):  # what it starts with is thrown away
        network = make_network(learned, size, about["kind"])
        if game is None or game == learned:
            return network
        network.check_game(game)
        return make_network(game, size, about["kind"])


def check_installed() -> Any:
    """Return the library that saves and reads weights; an `ImportError` names the extra that it needs."""
    try:
        import safetensors
        import safetensors.torch
    except ImportError as error:
        raise ImportError(f"weights need safetensors: {install('trained')} ({error})") from error
    return safetensors
