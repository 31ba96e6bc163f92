"""Probes of networks: how well each layer tells a quantity of positions of games that the probe was not fitted on.

A position's features in a layer are the mean and the maximum of each channel over the board. The controls are a
network of the same size with random weights, and labels that were shuffled between positions.

Letters: `L` positions, `F` features, `C` channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from cellgames.agents.connection import greedy as connection_distance
from cellgames.agents.connection.walks import CLOSED
from cellgames.agents.networks.blocks import Trunk, convolve, pooled
from cellgames.agents.networks.networks import Network, make_network
from cellgames.agents.torus import greedy as torus_distance
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game, State
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.torus.game import Torus
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError
from cellgames.utils.statistics import percentile_interval

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

POSITIONS = 3000
"""Positions that probes are fitted and tested on, at most."""

GAMES = 200
"""Games that are played where none are given."""

OBSERVATION = "observation"
"""The name of the layer in front of all others: what the network is given."""

_BATCH = 512
_HELD_OUT = 3  # every third game
_RESAMPLES = 1000
_LEAST = 20  # positions of both parts, and games held out


@dataclass(frozen=True)
class ProbeResult:
    """The accuracy of a probe on held-out games.

    Attributes:
        network: Name of the network.
        layer: Name of the layer.
        target: Name of the quantity.
        accuracy: Share of positions whose class is told.
        low: Lower bound of a 95 % interval over games.
        high: Upper bound.
        shuffled: Accuracy of a probe that was fitted to shuffled labels.
        untrained: Accuracy of a probe of the same layer with random weights.
        majority: Accuracy of the most frequent class.
    """

    network: str
    layer: str
    target: str
    accuracy: float
    low: float
    high: float
    shuffled: float
    untrained: float
    majority: float


@dataclass(frozen=True)
class Probing:
    """The results of probes.

    Attributes:
        game: The game with its parameters.
        networks: Their names, in order.
        layers: Their names, from the observation on.
        targets: Names of the quantities.
        positions: Number of positions, in all.
        games: Number of games, in all.
        results: One for each network, target and layer.
    """

    game: Game
    networks: tuple[str, ...]
    layers: tuple[str, ...]
    targets: tuple[str, ...]
    positions: int
    games: int
    results: tuple[ProbeResult, ...]

    def result(self, network: str, layer: str, target: str) -> ProbeResult:
        """Return one result."""
        wanted = (network, layer, target)
        return next(found for found in self.results if (found.network, found.layer, found.target) == wanted)


@dataclass(frozen=True)
class _Positions:
    """Observations, [L, ...], the game of each position, int64 [L], and the classes of each target."""

    seen: Tensor
    groups: Ints
    labels: dict[str, Ints]


def probe_networks(
    game: Game,
    networks: Mapping[str, Network],
    records: Sequence[Record],
    *,
    positions: int = POSITIONS,
    seed: int = 0,
    step: Callable[[str], None] = lambda name: None,
) -> Probing:
    """Probe all layers of networks for the quantities of their game (`targets_of`).

    Args:
        game: The game that the networks play.
        networks: By name, such as the checkpoints of a run.
        records: Games from which positions come; every third one is held out.
        positions: Number of positions, at most.
        seed: Seed that all random draws follow from.
        step: Called with the name of each network before its work begins.

    Raises:
        ValueError: Too few positions or games, or a network without convolutions of the board or fully connected
            layers.
    """
    targets = targets_of(game)
    drawn = _draw(game, targets, records, positions, seed)
    chance = np.random.default_rng(derive(seed, "held out"))
    order = chance.permutation(len(records))
    held_out = order[drawn.groups] % _HELD_OUT == 0
    if len(np.unique(drawn.groups[held_out])) < _LEAST or (~held_out).sum() < _LEAST:
        raise InputError(
            "records",
            f"positions of at least {_HELD_OUT * _LEAST} games, a third of them held out",
            f"{len(drawn.seen)} positions of {len(np.unique(drawn.groups))} games",
            "give or play more games",
        )
    known: dict[Any, dict[str, Numbers]] = {}
    results: list[ProbeResult] = []
    layers: tuple[str, ...] = ()
    for name, network in networks.items():
        step(name)
        features = layers_of(network, drawn.seen)
        layers = tuple(features)
        shape = (network.size, network.kind)
        if shape not in known:
            known[shape] = layers_of(_untrained(game, network, seed), drawn.seen)
        results += [
            _probe(name, layer, target, (features[layer], known[shape][layer]), drawn, held_out, seed)
            for target in targets
            for layer in layers
        ]
    return Probing(
        game, tuple(networks), layers, tuple(t.name for t in targets), len(drawn.seen), len(records), tuple(results)
    )


def _draw(game: Game, targets: Sequence[Target], records: Sequence[Record], positions: int, seed: int) -> _Positions:
    """Draw equally many positions of each game; of simultaneous games one seat each."""
    chance = np.random.default_rng(derive(seed, "positions"))
    each = max(1, positions // max(1, len(records)))
    seen: list[Tensor] = []
    groups: list[int] = []
    labels: dict[str, list[int]] = {target.name: [] for target in targets}
    for number, record in enumerate(records):
        states = replay(record)
        going = len(states) - bool(states[-1].done)
        for ply in sorted(chance.permutation(going)[:each].tolist()):
            state = states[ply]
            seat = int(chance.integers(game.info.num_players)) if game.info.simultaneous else int(state.current_player)
            seen.append(game.observe(state, seat))
            groups.append(number)
            for target in targets:
                labels[target.name].append(target.label(game, states, ply, seat))
    if not seen:
        raise InputError("records", "games with positions", "none")
    return _Positions(torch.cat(seen), np.array(groups), {name: np.array(classes) for name, classes in labels.items()})


def _untrained(game: Game, network: Network, seed: int) -> Network:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "untrained") % (1 << 63))
        return make_network(game, network.size, network.kind)


def _probe(
    network: str,
    layer: str,
    target: Target,
    features: tuple[Numbers, Numbers],
    drawn: _Positions,
    held_out: npt.NDArray[np.bool_],
    seed: int,
) -> ProbeResult:
    """Return the result for one layer, given its features with the network's own weights and with random ones."""
    labels, count = drawn.labels[target.name], len(target.classes)
    train, test = ~held_out & (labels >= 0), held_out & (labels >= 0)
    if not train.any() or not test.any():
        raise InputError("records", f"positions with a {target.name}", "none")

    def right(inputs: Numbers, classes: Ints) -> npt.NDArray[np.bool_]:
        probe = fit_probe(inputs[train], classes, drawn.groups[train], count)
        found: npt.NDArray[np.bool_] = probe.classes(inputs[test]) == labels[test]
        return found

    chance = np.random.default_rng(derive(seed, "shuffled", target.name))
    told = right(features[0], labels[train])
    low, high = _interval(told, drawn.groups[test], seed)
    most = np.bincount(labels[train], minlength=count).argmax()
    return ProbeResult(
        network,
        layer,
        target.name,
        float(told.mean()),
        low,
        high,
        float(right(features[0], chance.permutation(labels[train])).mean()),
        float(right(features[1], labels[train]).mean()),
        float((labels[test] == most).mean()),
    )


def _interval(told: npt.NDArray[np.bool_], groups: Ints, seed: int) -> tuple[float, float]:
    """Return a 95 % interval by resampling games."""
    _, number = np.unique(groups, return_inverse=True)
    total, hits = np.bincount(number).astype(float), np.bincount(number, told)
    chance = np.random.default_rng(derive(seed, "resamples"))
    weights = chance.multinomial(len(total), np.full(len(total), 1 / len(total)), _RESAMPLES)
    low, high = percentile_interval((weights @ hits) / np.maximum(weights @ total, 1))
    return float(low), float(high)


# ---------------------------------------------------------------- layers


@torch.no_grad()
def layers_of(network: Network, observations: Tensor) -> dict[str, Numbers]:
    """Return the features of positions in each layer of a network, float64 [L, F], by the layer's name.

    The first is the observation. Of convolutions they are mean and maximum of each channel over the board, of fully
    connected trunks the layer's outputs.

    Raises:
        ValueError: The network has neither.
    """
    network.eval()
    parts: list[dict[str, Tensor]] = []
    for some in observations.split(_BATCH):
        kept: dict[str, Tensor] = {OBSERVATION: _flat(some.float())}
        with _kept_layers(network, kept):
            network.forward(some)
        parts.append(kept)
    if len(parts[0]) == 1:
        raise InputError("network", "a network with convolutions or a trunk of layers", type(network).__name__)
    return {name: torch.cat([part[name] for part in parts]).double().numpy() for name in parts[0]}


def _flat(values: Tensor) -> Tensor:
    return pooled(values) if values.ndim == 4 else values.flatten(1)


@contextmanager
def _kept_layers(network: Network, kept: dict[str, Tensor]) -> Iterator[None]:
    """Keep the features of each layer while the network runs."""

    def of_convolutions(trunk: Any, arguments: tuple[Any, ...]) -> None:
        planes, added = arguments[0], arguments[1] if len(arguments) > 1 else None
        layers = [trunk.first, *trunk.layers]
        for last in range(1, len(layers) + 1):  # native code runs all layers in one call
            weights, biases = [[getattr(one, name) for one in layers[:last]] for name in ("weight", "bias")]
            kept[f"layer {last}"] = pooled(convolve(planes, added, weights, biases, trunk.wrap))

    trunks = [module for module in network.modules() if isinstance(module, Trunk)]
    handles = [trunk.register_forward_pre_hook(of_convolutions) for trunk in trunks]
    own = getattr(network, "trunk", None)
    if not trunks and isinstance(own, nn.Sequential):
        linear = [module for module in own if isinstance(module, nn.ReLU)]
        for number, module in enumerate(linear, 1):

            def of_outputs(_: Any, __: Any, output: Tensor, name: str = f"layer {number}") -> None:
                kept[name] = output

            handles.append(module.register_forward_hook(of_outputs))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


PENALTIES = (1e-2, 1.0, 1e2)
"""Weights of the penalty that are tried on a part of the training games."""

_FOLDS = 4


@dataclass(frozen=True)
class Probe:
    """A fitted probe.

    Attributes:
        mean: float64 [F], of the features.
        scale: float64 [F], their standard deviation.
        weights: float64 [F + 1, K]; the last row is the bias.
    """

    mean: Numbers
    scale: Numbers
    weights: Numbers

    def classes(self, features: Numbers) -> Ints:
        """Return the class with the largest sum for each position, int64 [L]."""
        found: Ints = (_with_bias((features - self.mean) / self.scale) @ self.weights).argmax(1)
        return found


def fit_probe(features: Numbers, labels: Ints, groups: Ints, count: int) -> Probe:
    """Return a probe; its penalty is the one that does best on games left out of the fit.

    Args:
        features: float64 [L, F].
        labels: int64 [L], from 0 to `count` - 1.
        groups: int64 [L], the game of each position: no game is on both sides of a split.
        count: `K`.
    """
    mean, scale = features.mean(0), features.std(0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    inputs = _with_bias((features - mean) / scale)
    targets = np.eye(count)[labels]
    fold = groups % _FOLDS
    right = [0.0] * len(PENALTIES)
    for part in range(_FOLDS):
        train = fold != part
        if train.all() or not train.any():
            continue
        for place, weights in enumerate(_ridge(inputs[train], targets[train])):
            right[place] += float(((inputs[~train] @ weights).argmax(1) == labels[~train]).sum())
    best = max(range(len(PENALTIES)), key=lambda place: (right[place], place))
    return Probe(mean, scale, _ridge(inputs, targets)[best])


def _with_bias(inputs: Numbers) -> Numbers:
    return np.concatenate((inputs, np.ones((len(inputs), 1))), 1)


def _ridge(inputs: Numbers, targets: Numbers) -> list[Numbers]:
    """Return the weights for each of `PENALTIES`."""
    values, vectors = np.linalg.eigh(inputs.T @ inputs)
    projected = vectors.T @ (inputs.T @ targets)
    return [vectors @ (projected / (np.maximum(values, 0)[:, None] + penalty)) for penalty in PENALTIES]


_FARTHEST = 5  # stones to win that are told apart
_MOST_EXTRA = 4
_AHEAD = 2  # rounds
_SEQUENCES = 8
_NEIGHBOURS = 3  # other players who differ in one digit, so many or more

Label = Callable[[Game, Sequence[State], int, int], int]


@dataclass(frozen=True)
class Target:
    """A quantity of a position.

    Attributes:
        name: In tables.
        classes: Names of its classes.
        label: Function of a game, the states of a record, the number of one of them and a seat to the class; -1 where
            no class fits.
    """

    name: str
    classes: tuple[str, ...]
    label: Label


def targets_of(game: Game) -> tuple[Target, ...]:
    """Return the targets of a game; every game has its outcome."""
    outcome = Target("outcome", ("loss", "draw", "win"), _outcome)
    if isinstance(game, Torus):
        extra = (*map(str, range(_MOST_EXTRA)), f"{_MOST_EXTRA} or more")
        return Target("extra stones for a helix", extra, _winding), *_distances(torus_distance.stones_to_win), outcome
    if isinstance(game, ConnectionGame):
        return *_distances(partial(connection_distance.stones_to_win, game)), outcome
    if isinstance(game, ClothOfGold):
        ahead = Target(f"more territory in {_AHEAD} rounds", ("no", "yes"), _territory)
        return ahead, Target("more units now", ("no", "yes"), _units), outcome
    if isinstance(game, GridAdaptation):
        names = tuple(f"{number:03b}" for number in range(_SEQUENCES))
        near = (*map(str, range(_NEIGHBOURS)), f"{_NEIGHBOURS} or more")
        return (
            Target("digits in which the next player differs", names, _unlike),
            Target("others who differ in one digit", near, _neighbours),
            Target("own sequence", names, _own),
            outcome,
        )
    return (outcome,)


def _outcome(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    return int(game.outcome(states[-1])[0, seat]) + 1 if bool(states[-1].done) else -1


def _winding(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return the stones that the mover's shortest helix needs beyond those of its shortest straight path."""
    costs = torus_distance.cycle_costs(game.observe(states[number], seat))[0][0]
    straight, helix = (int(part.min()) for part in costs.chunk(2))
    return -1 if straight >= CLOSED else min(max(helix - straight, 0), _MOST_EXTRA)


def _distances(stones_to_win: Callable[[Tensor], Tensor]) -> tuple[Target, Target]:
    """Return the stones that the player and the opponent still need, by a function of observations."""
    far = (*map(str, range(1, _FARTHEST)), f"{_FARTHEST} or more")

    def label(whose: int, game: Game, states: Sequence[State], number: int, seat: int) -> int:
        stones = int(stones_to_win(game.observe(states[number], seat))[0, whose])
        return min(max(stones, 1), _FARTHEST) - 1

    own, opponent = (partial(label, whose) for whose in range(2))
    return Target("own stones to win", far, own), Target("opponent's stones to win", far, opponent)


def _territory(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return the class after two more rounds; -1 where the record ends before."""
    now: Any = states[number]
    later: Any = next((state for state in states[number:] if int(state.round) >= int(now.round) + _AHEAD), None)  # type: ignore[attr-defined]
    if later is None:
        return -1
    assert isinstance(game, ClothOfGold)
    own, other = (int(game.territories(later)[0, side].sum()) for side in (seat, 1 - seat))
    return int(own > other)


def _units(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    return int(state.live[0, seat] > state.live[0, 1 - seat])


def _own(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    return int(state.sequence[0, seat])


def _unlike(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    """Return the class of the next player; relative, since networks see digits by whether they match one's own."""
    return _own(game, states, number, (seat + 1) % game.info.num_players) ^ _own(game, states, number, seat)


def _neighbours(game: Game, states: Sequence[State], number: int, seat: int) -> int:
    state: Any = states[number]
    held: list[int] = state.sequence[0].tolist()
    unlike = [sequence ^ held[seat] for sequence in held]
    return min(sum(digits.bit_count() == 1 for digits in unlike), _NEIGHBOURS)
