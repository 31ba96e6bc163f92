"""Several processes that learn as one, each on a device of its own: data-parallel training by torch.distributed.

Every process (rank) plays its part of the environments, and all take the same steps of the optimizer together: the
gradient of a step is that of the minibatches of all ranks, as if they were one (Goyal et al., "Accurate, large
minibatch SGD", 2017, section 3). So weights are equal everywhere in every bit, and only what is played differs.

    torchrun --nproc-per-node=4 -m cellgames train torus-v0 ...

begins four of them on one machine and tells each its rank by environment variables; `joined` reads these, or uses the
process group that is there. Rank 0 alone reads and writes the folder of the run.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from cellgames.utils.run_folders import RunError

from .arguments import Arguments
from .machine import choose_device

__all__ = [
    "ALONE",
    "ElsewhereError",
    "Group",
    "GroupError",
    "divided",
    "joined",
    "launched",
    "mean_over",
    "pack",
    "unpack",
]

TIMEOUT = timedelta(minutes=30)
"""Of waiting for others; an evaluation may take minutes. By gloo a process that has died is noticed at once."""
LEARNING_TIMEOUT = timedelta(minutes=5)
"""Of a sum on CUDA devices, before which all have met; there the death of another may show by nothing else."""

A = TypeVar("A", bound=Arguments)


class GroupError(RunError):
    """Processes that learned together cannot go on; the message says why and what to do."""


class ElsewhereError(RunError):
    """Another process was asked for something that it cannot do, and has said so."""


class Group:
    """A process and those that learn with it. All of them call the methods in the same order.

    Args:
        rank: of this process, from 0.
        world: how many they are; alone everything here is as if it were not there.

    Attributes:
        first: rank 0, which keeps the folder.
    """

    def __init__(self, rank: int = 0, world: int = 1) -> None:
        self.rank, self.world = rank, world
        self.first = rank == 0
        # Weights and gradients go by the default group, all else through memory of the CPU.
        self._control = None
        if world > 1 and distributed.get_backend() != "gloo":
            self._control = distributed.new_group(backend="gloo", timeout=TIMEOUT)

    # ------------------------------------------------------------ learning

    def standard(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        """Numbers less their mean, over their deviation, both taken over the numbers of all processes.

        Returns:
            Them, and the weight of a mean over this process's ones: the mean over processes of weighted means is the
            mean over all numbers.
        """
        if self.world == 1:
            return (x - x.mean()) / (x.std(correction=0) + 1e-8), 1.0
        wide = x.double()
        sums = torch.stack((wide.new_tensor(float(len(x))), wide.sum(), wide.square().sum()))
        self._sum(sums)
        count = sums[0].clamp(min=1)
        mean, square = sums[1] / count, sums[2] / count
        deviation = (square - mean.square()).clamp(min=0).sqrt()
        return ((wide - mean) / (deviation + 1e-8)).to(x.dtype), (len(x) * self.world / count).to(x.dtype)

    def weight(self, count: int, device: torch.device) -> Tensor | float:
        """Of a mean over so many numbers of this process; see `standard`."""
        if self.world == 1:
            return 1.0
        total = torch.tensor(float(count), device=device)
        self._sum(total)
        return count * self.world / total.clamp(min=1)

    def average_gradients(self, network: nn.Module) -> None:
        """Give all processes the mean of their gradients; where there is none it counts as zero.

        One sum over all of them in a row. `DistributedDataParallel` would send some while others are computed, which
        matters for networks a thousand times as large, and wants to be called in the network's place; and here a
        process may have nothing to learn from in a step in which others have.
        """
        if self.world == 1:
            return
        weights = list(network.parameters())
        for weight in weights:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
        flat = torch.cat([weight.grad.reshape(-1) for weight in weights if weight.grad is not None])
        self._sum(flat)
        flat /= self.world
        for weight, part in zip(weights, flat.split([weight.numel() for weight in weights]), strict=True):
            weight.grad.copy_(part.view(weight.shape))  # type: ignore[union-attr]  # it has one by now

    def spread(self, network: nn.Module) -> None:
        """Give all processes the weights of rank 0."""
        if self.world == 1:
            return
        with torch.no_grad(), _in_touch():
            for weight in network.state_dict().values():
                sent = weight.contiguous()  # images' weights lie channels last
                distributed.broadcast(sent, 0)
                weight.copy_(sent)

    def check_equal(self, network: nn.Module, also: object) -> None:
        """Raise a `GroupError` unless all have the same weights, bit by bit, and the same of something else.

        Args:
            network: whose weights.
            also: whose `repr` is compared.
        """
        if self.world == 1:
            return
        digest = hashlib.sha256(repr(also).encode())
        for weight in network.state_dict().values():
            digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
        digests = self.exchange(digest.hexdigest())
        if wrong := [rank for rank, other in enumerate(digests) if other != digests[0]]:
            raise GroupError(
                f"weights or snapshots of process {wrong[0]} differ from those of process 0, which must not be; are "
                "all devices of one kind, and all versions of torch the same? What was learned since the last "
                "checkpoint is lost; the same command goes on from there"
            )

    # ------------------------------------------------------------ talking

    def exchange(self, value: Any) -> list[Any]:
        """What all processes give, by rank; small values without tensors."""
        if self.world == 1:
            return [value]
        found: list[Any] = [None] * self.world
        with _in_touch():
            distributed.all_gather_object(found, value, group=self._control)
        return found

    def gather(self, value: bytes) -> list[bytes]:
        """What all processes give, by rank; to rank 0, others get nothing."""
        if self.world == 1:
            return [value]
        found: list[Any] | None = [b""] * self.world if self.first else None
        with _in_touch():
            distributed.gather_object(value, found, group=self._control)
        return found or []

    def deal(self, values: Sequence[bytes]) -> bytes:
        """One value for each process, by rank; rank 0 gives them, others nothing."""
        if self.world == 1:
            return values[0]
        found: list[Any] = [None]
        with _in_touch():
            distributed.scatter_object_list(found, list(values) if self.first else None, group=self._control)
        dealt: bytes = found[0]
        return dealt

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """A block that fails in all processes if it fails in one. Nothing is said between processes within.

        Raises:
            ElsewhereError: it did not fail here, or rank 0 fails in the same way.
        """
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            if self.world == 1:
                raise
            failure = error
        failures = self.exchange(None if failure is None else str(failure) or type(failure).__name__)
        if failure is not None and (self.first or failures[0] != failures[self.rank]):  # else rank 0 says the same
            raise failure
        for rank, text in enumerate(failures):
            if text is not None:
                raise ElsewhereError(f"process {rank} of the run: {text}")

    def _sum(self, values: Tensor) -> None:
        """In place, over all processes, the same bits everywhere."""
        with _in_touch():
            distributed.all_reduce(values)


ALONE = Group()
"""One process that learns by itself."""


_SOURCE = re.compile(r"\[?[\w./-]*/[\w.-]+\.(?:cc|cpp|cu|h|hpp):\d+[\],]?\s*")  # places in torch's own source


@contextmanager
def _in_touch() -> Iterator[None]:
    """What fails within does so because another process is gone."""
    try:
        yield
    except RuntimeError as error:
        said = " ".join(_SOURCE.sub("", str(error)).split())
        raise GroupError(
            "lost touch with the other processes of the run; start all of them anew by the same command, which goes on "
            f"from the last checkpoint ({said[:120]})"
        ) from error


# ---------------------------------------------------------------- joining


def launched() -> tuple[int, int]:
    """Rank and number of the processes that learn together: of the process group, else as torchrun says.

    Raises:
        ValueError: its environment variables make no sense.
    """
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    world = _number("WORLD_SIZE", 1)
    if world == 1:
        return 0, 1
    rank = _number("RANK", -1)
    if not 0 <= rank < world:
        raise ValueError(
            f"the environment says WORLD_SIZE={world} and RANK={os.environ.get('RANK')}; expected a rank below it, as "
            "torchrun sets both"
        )
    return rank, world


def _number(name: str, usual: int) -> int:
    text = os.environ.get(name, str(usual))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number in the environment variable {name}, got {text!r}") from None


@contextmanager
def joined(device: str) -> Iterator[tuple[Group, torch.device]]:
    """The processes that learn together, and this one's device; a group that is started here ends with the block.

    Args:
        device: as `machine.choose_device` takes it; of CUDA's each process on a machine has one of its own.

    Raises:
        ValueError: no such device here, or none for each process; see `launched`.
        ElsewhereError: another process on this machine has no such device either, and says so.
        GroupError: the others do not answer.
    """
    rank, world = launched()
    if world == 1:
        yield ALONE, choose_device(device)
        return
    if not distributed.is_available():
        raise ValueError(
            f"{world} processes need torch.distributed, which this build of torch lacks; start one process"
        )
    there = distributed.is_initialized()
    here = _own_device(device, _number("LOCAL_RANK", rank % max(1, torch.cuda.device_count())))
    cuda = here.type == "cuda"
    if there and not cuda and distributed.get_backend() == "nccl":
        raise ValueError("a process group by NCCL learns on CUDA devices only; start it with gloo for device=cpu")
    if not there:
        with _in_touch():
            _begin("nccl" if cuda else "gloo", here if cuda else None)
    try:
        with _current(here):
            group = Group(rank, world)
            yield group, here
            group.exchange(None)  # nobody leaves while others still listen
    finally:
        if not there:
            distributed.destroy_process_group()


def _own_device(name: str, local_rank: int) -> torch.device:
    """See `machine.choose_device`; of several processes without one, the first on a machine says so."""
    if local_rank > 0:
        try:
            choose_device(name, local_rank - 1)
        except ValueError as error:
            raise ElsewhereError(f"process {local_rank - 1} of this machine: {error}") from None
    return choose_device(name, local_rank)


_begun = itertools.count()


def _begin(backend: str, device: torch.device | None) -> None:
    """The default process group, where the environment says that the others are."""
    from torch.distributed.rendezvous import rendezvous

    store, rank, world = next(rendezvous("env://", timeout=TIMEOUT))
    # What torchrun keeps there outlives a group, and processes that it begins anew (--max-restarts); the next group
    # would look for where others were before.
    prefix = f"cellgames {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')} {next(_begun)}"
    store = distributed.PrefixStore(prefix, store)  # type: ignore[attr-defined]  # torch lists few
    patience = TIMEOUT if backend == "gloo" else LEARNING_TIMEOUT
    distributed.init_process_group(
        backend, store=store, rank=rank, world_size=world, timeout=patience, device_id=device
    )


@contextmanager
def _current(device: torch.device) -> Iterator[None]:
    """The device as the one that `cuda` without a number means, which NCCL wants."""
    if device.type != "cuda":
        yield
        return
    before = torch.cuda.current_device()
    torch.cuda.set_device(device)
    try:
        yield
    finally:
        torch.cuda.set_device(before)


def divided(arguments: A, world: int, **shares: Any) -> A:
    """The part of each of several processes: so many of the environments.

    Args:
        arguments: of the run.
        world: how many processes.
        shares: other settings that are the processes' own.

    Raises:
        ValueError: the environments are not a multiple of the processes.
    """
    if getattr(arguments, "actors", 0):
        raise ValueError(
            f"actors play for one learner, but {world} processes learn together; ask for actors=0 or start one process"
        )
    if arguments.num_envs % world:
        raise ValueError(
            f"num_envs must be a multiple of the {world} processes that share them, got {arguments.num_envs}"
        )
    return dataclasses.replace(arguments, num_envs=arguments.num_envs // world, **shares)


# ---------------------------------------------------------------- what travels


def pack(value: Any) -> bytes:
    """Tensors, numbers and strings in containers; tensors come back on any device."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def unpack(data: bytes, device: torch.device | str) -> Any:
    """The inverse of `pack`; tensors on the device."""
    return torch.load(io.BytesIO(data), map_location=device, weights_only=True)


def mean_over(group: Group, values: Iterable[float]) -> list[float]:
    """Of each value the mean over processes, of those where it is a number; NaN if it is none anywhere."""
    if group.world == 1:
        return list(values)
    table = torch.tensor(group.exchange(list(values)), dtype=torch.float64)
    return [float(mean) for mean in table.nanmean(0)]
