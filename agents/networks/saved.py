"""Networks as files, weights as safetensors and what they are for, and agents from files, shipped or your own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, ByGame
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve
from cellgames.utils.errors import MOST_SHOWN, InputError, clipped, located, shown
from cellgames.utils.extras import install
from cellgames.utils.files import write_atomic
from cellgames.utils.version import __version__

from .agent_files import (
    SEARCH_WEIGHTS,
    WEIGHTS,
    WEIGHTS_FILE,
    differences,
    ids_with_weights,
    in_folder,
    nearest_id,
    serves,
    serves_in,
)
from .networks import Network, NetworkAgent, Size, make_network

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
        raise InputError(path, "the game beside the weights", "none", "were they saved by cellgames?")
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
        raise InputError(path, "weights and their about as they were written", "others", "is the file damaged?")
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
        raise located(error, path) from error
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        expected = f"weights that fit this version's network for {about['game']}"
        raise InputError(path, expected, "others", clipped(str(error))) from error
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


_NEAR = 0.5  # of `trained`, so that no stored line of moves beats it again and again; it costs it no strength


class WeightsAgent(ByGame):
    """An agent that plays by the network in a file, on the device of the games.

    The file and the network's shapes are known when there is a game. Where no file serves the game, but one serves the
    game that it extends, that network may play (`GamePlugin.search`). A game whose plugin lists an agent under this
    name has that agent, and no weights.

    Its argument `find` returns the file for a game; it raises a `ValueError` without one. A game's `hook` of that name,
    if it has one, makes the agent that plays by asking the network's (`GamePlugin.search`).
    """

    def __init__(self, name: str, find: Callable[[Game], Path], hook: str = "") -> None:
        self._network: Network | None = None

        def make(game: Game) -> AnyAgent:
            if (listed := plugin_of(game).agents.get(name)) is not None:
                return resolve(listed)()  # type: ignore[no-any-return]
            try:
                self._network, about = load_network(find(game), game)
            except ValueError:
                simpler = plugin_of(game).hook("simpler")
                if simpler is None:
                    raise
                own = {name: value for name, value in game.parameters.items() if name not in game.added_parameters}
                return simpler(make(registry.make(game.id, **own)))  # type: ignore[no-any-return]
            agent = self._network.agent(self.name, sample=about["sample"])
            if hook and isinstance(agent, NetworkAgent) and agent.share == 1:
                agent.share = _NEAR
            asking = plugin_of(game).hook(hook)
            return agent if asking is None else asking(agent)

        super().__init__(name, make)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        agent = self.playing(game)
        if self._network is not None:
            self._network.to(env_ids.device)
        agent.start(game, players, env_ids)


def trained() -> WeightsAgent:
    """Return the trained agent that comes with the package, whatever the game."""
    return WeightsAgent("trained", shipped, hook="trained")


def search_network(game: Game, path: Path | None = None, kind: str = Network.kind) -> Network:
    """Return the network for a tree search of a game: of a file, or of a run's folder; by default a shipped one.

    Raises:
        ValueError: no network of this kind serves this game, or the file does not fit it.
    """
    if path is None:
        path = shipped(game, SEARCH_WEIGHTS)
    elif path.is_dir():
        path = path / WEIGHTS_FILE
    network = load_network(path, game).network
    if network.kind != kind:
        raise InputError(path, f"a network of kind {kind!r} for a search", shown(network.kind))
    return network


def shipped(game: Game, folder: Path | None = None) -> Path:
    """Return the file of shipped weights that play a game: those trained on it, else the nearest that serve it.

    Of two that are equally near, it is the one trained on the larger board: situations that a small board does not
    hold, such as long races, cannot be learned there. On Torus of size 4 the weights of size 5 lose a tenth of the
    number of won positions that those of size 3 lose.

    Args:
        game: game to be played.
        folder: folder of the weights; by default `WEIGHTS`.

    Raises:
        ValueError: no weights serve; the message says for which settings there are some and why these do not serve; or
            a file is damaged, and the message names it.
    """
    folder = folder or WEIGHTS
    abouts = {path: read_about(path) for path in in_folder(folder)}
    found = {
        path: about["parameters"]
        for path, about in abouts.items()
        if about["game"] == game.id and serves_in(folder, path, about)
    }
    exact = json.loads(json.dumps(game.parameters))
    if exact_paths := [path for path, parameters in found.items() if parameters == exact]:
        load_network(exact_paths[0], game)
        return exact_paths[0]
    reasons = []
    sizes = {path: sum(x for x in own.values() if isinstance(x, int | float)) for path, own in found.items()}
    for path in sorted(found, key=lambda path: (_distance(found[path], exact), -sizes[path])):
        try:
            load_network(path, game)
        except ValueError as error:
            apart = _listed(differences(found[path], exact)) or "its defaults"
            reasons.append(apart if not serves(plugin_of(game), found[path], exact) else f"{apart} ({error})")
        else:
            return path
    there = f"there are some for {'; '.join(reasons)}" if found else f"there are none for {game.id} yet"
    raise _refusal(game, there, folder)


def _refusal(game: Game, there: str, folder: Path) -> InputError:
    """Return an error that says why there are no weights for a game, which games have some, and how to make others."""
    ids = ", ".join(ids_with_weights(folder)) or "none"
    id, changed = nearest_id(game.id, game.parameters)
    name = f"{id} with {_listed(changed)}" if changed else id
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in changed.items()}
    words = "".join(f" --param {shlex.quote(f'{name}={text}')}" for name, text in texts.items())
    use = "gumbel:N:FOLDER searches by" if folder == SEARCH_WEIGHTS else "an agent is"
    cause = f"{there}; `cellgames train {id}{words}` makes some, and {use} the folder of that run"
    return InputError("trained weights", f"a game with weights ({ids})", name, cause)


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _distance(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the distance between the parameters of two games; whatever is no number is 0 or 1 apart."""
    numbers, pairs = int | float, [(value, one.get(name)) for name, value in other.items()]
    return sum(abs(a - b) if isinstance(a, numbers) and isinstance(b, numbers) else a != b for a, b in pairs)
