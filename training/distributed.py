"""Data-parallel training by torch.distributed: several processes that learn as one, each on a device of its own.

Every process (rank) plays its part of the environments, and all take the same steps of the optimizer together: the
gradient of a step is that of the minibatches of all ranks, as if they were one (Goyal et al., "Accurate, large
minibatch SGD", 2017, section 3). So weights are equal everywhere in every bit, and only what is played differs.

    torchrun --nproc-per-node=4 -m cellgames train torus-v0 ...

starts four processes on one machine and passes their ranks by environment variables. `joined_group` reads these, or
uses an existing process group. Only rank 0 reads and writes the folder of the run.
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

from cellgames.runs.run_folder import RunError
from cellgames.utils.foreign_text import shown

from .arguments import Arguments
from .machine import choose_device

__all__ = [
    "ALONE",
    "ElsewhereError",
    "Group",
    "GroupError",
    "joined_group",
    "launched",
    "mean_over",
    "pack",
    "split_envs",
    "unpack",
]

TIMEOUT = timedelta(minutes=30)
"""Timeout of waiting for other processes; an evaluation may take minutes. Gloo notices a dead process at once."""
LEARNING_TIMEOUT = timedelta(minutes=5)
"""Timeout of a sum on CUDA devices, where nothing else may show that another process died."""

A = TypeVar("A", bound=Arguments)


class GroupError(RunError):
    """An error that ends the work of all processes of a run; the message says why and what to do."""


class ElsewhereError(RunError):
    """An error of another process of the run, which reports it itself."""


class Group:
    """A process and the processes that learn with it. All of them call the methods in the same order.

    Args:
        rank: number of this process, from 0.
        world: number of processes; with 1 the methods do nothing.

    Attributes:
        first: True for rank 0, which keeps the folder.
    """

    def __init__(self, rank: int = 0, world: int = 1) -> None:
        self.rank, self.world = rank, world
        self.first = rank == 0
        # Weights and gradients go by the default group, all else through memory of the CPU.
        self._control = None
        if world > 1 and distributed.get_backend() != "gloo":
            self._control = distributed.new_group(backend="gloo", timeout=TIMEOUT)

    # ------------------------------------------------------------ learning

    def normalize(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        """Normalize numbers by the mean and the standard deviation over all processes.

        Returns:
            The normalized numbers, and the weight of a mean over those of this process: the mean over processes of
            weighted means is the mean over all numbers.
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

    def mean_weight(self, count: int, device: torch.device) -> Tensor | float:
        """Return the weight of a mean over `count` numbers of this process; see `normalize`."""
        if self.world == 1:
            return 1.0
        total = torch.tensor(float(count), device=device)
        self._sum(total)
        return count * self.world / total.clamp(min=1)

    def average_gradients(self, network: nn.Module) -> None:
        """Replace all gradients by their means over processes; a missing gradient counts as zero.

        This is a single sum over all weights. `DistributedDataParallel` would send some gradients while it computes
        others, which matters for networks a thousand times as large. It would have to be called in the network's
        place, and here a process may have nothing to learn from in a step in which others have.
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

    def broadcast(self, network: nn.Module) -> None:
        """Give the network of every process the weights of rank 0."""
        if self.world == 1:
            return
        with torch.no_grad(), _in_touch():
            for weight in network.state_dict().values():
                sent = weight.contiguous()  # images' weights lie channels last
                distributed.broadcast(sent, 0)
                weight.copy_(sent)

    def check_equal(self, network: nn.Module, also: object) -> None:
        """Raise a `GroupError` unless all processes have bit-equal weights.

        Args:
            network: whose weights are compared.
            also: another object, whose `repr` must be equal too.
        """
        if self.world == 1:
            return
        digest = hashlib.sha256(repr(also).encode())
        for weight in network.state_dict().values():
            digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
        digests = self.all_gather(digest.hexdigest())
        if wrong := [rank for rank, other in enumerate(digests) if other != digests[0]]:
            raise GroupError(
                f"weights or snapshots of process {wrong[0]} differ from those of process 0, which must not be; are "
                "all devices of one kind, and all versions of torch the same? What was learned since the last "
                "checkpoint is lost; the same command goes on from there"
            )

    # ------------------------------------------------------------ communication

    def all_gather(self, value: Any) -> list[Any]:
        """Return the values of all processes by rank; for small values without tensors."""
        if self.world == 1:
            return [value]
        found: list[Any] = [None] * self.world
        with _in_touch():
            distributed.all_gather_object(found, value, group=self._control)
        return found

    def gather(self, value: bytes) -> list[bytes]:
        """Return the values of all processes by rank, in rank 0; others get nothing."""
        if self.world == 1:
            return [value]
        found: list[Any] | None = [b""] * self.world if self.first else None
        with _in_touch():
            distributed.gather_object(value, found, group=self._control)
        return found or []

    def scatter(self, values: Sequence[bytes]) -> bytes:
        """Return the value for this process, out of those that rank 0 gives by rank; others give nothing."""
        if self.world == 1:
            return values[0]
        found: list[Any] = [None]
        with _in_touch():
            distributed.scatter_object_list(found, list(values) if self.first else None, group=self._control)
        dealt: bytes = found[0]
        return dealt

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Run a block that fails in all processes if it fails in one; the block must not communicate.

        Raises:
            ElsewhereError: the block failed in another process; or here, but in the same way in rank 0.
        """
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            if self.world == 1:
                raise
            failure = error
        failures = self.all_gather(None if failure is None else str(failure) or type(failure).__name__)
        if failure is not None and (self.first or failures[0] != failures[self.rank]):  # else rank 0 says the same
            raise failure
        for rank, text in enumerate(failures):
            if text is not None:
                raise ElsewhereError(f"process {rank} of the run: {text}")

    def _sum(self, values: Tensor) -> None:
        """Sum in place over all processes, with the same bits everywhere."""
        with _in_touch():
            distributed.all_reduce(values)


ALONE = Group()
"""The group of a process that learns by itself."""


_SOURCE = re.compile(r"\[?[\w./-]*/[\w.-]+\.(?:cc|cpp|cu|h|hpp):\d+[\],]?\s*")  # places in torch's own source


@contextmanager
def _in_touch() -> Iterator[None]:
    """Turn errors of torch.distributed into a `GroupError`: another process is gone."""
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
    """Return the rank and the number of processes: of the process group, else by torchrun's environment variables.

    Raises:
        ValueError: the environment variables make no sense.
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
        raise ValueError(f"expected a whole number in the environment variable {name}, got {shown(text)}") from None


@contextmanager
def joined_group(device: str) -> Iterator[tuple[Group, torch.device]]:
    """Join the processes that learn together; a process group that is started here ends with the block.

    Args:
        device: as `machine.choose_device` takes it; each process on a machine gets a CUDA device of its own.

    Yields:
        The group, and the device of this process.

    Raises:
        ValueError: this machine has no such device, or not one for each process; see `launched`.
        ElsewhereError: another process on this machine has no device either, and reports it.
        GroupError: the other processes do not answer.
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
            group.all_gather(None)  # nobody leaves while others still listen
    finally:
        if not there:
            distributed.destroy_process_group()


def _own_device(name: str, local_rank: int) -> torch.device:
    """Return the device of this process; of several without one, the first on a machine reports it."""
    if local_rank > 0:
        try:
            choose_device(name, local_rank - 1)
        except ValueError as error:
            raise ElsewhereError(f"process {local_rank - 1} of this machine: {error}") from None
    return choose_device(name, local_rank)


_begun = itertools.count()


def _begin(backend: str, device: torch.device | None) -> None:
    """Start the default process group by the environment variables."""
    from torch.distributed.rendezvous import rendezvous

    store, rank, world = next(rendezvous("env://", timeout=TIMEOUT))
    # What torchrun keeps there outlives a group, and processes that it restarts (--max-restarts); the next group
    # would look for where others were before.
    prefix = f"cellgames {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')} {next(_begun)}"
    store = distributed.PrefixStore(prefix, store)  # type: ignore[attr-defined]  # torch lists few
    patience = TIMEOUT if backend == "gloo" else LEARNING_TIMEOUT
    distributed.init_process_group(
        backend, store=store, rank=rank, world_size=world, timeout=patience, device_id=device
    )


@contextmanager
def _current(device: torch.device) -> Iterator[None]:
    """Make the device the current CUDA device, as NCCL needs it; restore the one before."""
    if device.type != "cuda":
        yield
        return
    before = torch.cuda.current_device()
    torch.cuda.set_device(device)
    try:
        yield
    finally:
        torch.cuda.set_device(before)


def split_envs(arguments: A, world: int, **shares: Any) -> A:
    """Return the arguments of each of several processes, which share the environments.

    Args:
        arguments: of the run.
        world: number of processes.
        shares: other settings with values for each process.

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


# ---------------------------------------------------------------- serialization


def pack(value: Any) -> bytes:
    """Serialize tensors, numbers and strings in containers."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def unpack(data: bytes, device: torch.device | str) -> Any:
    """Return what `pack` serialized, with its tensors on the device."""
    return torch.load(io.BytesIO(data), map_location=device, weights_only=True)


def mean_over(group: Group, values: Iterable[float]) -> list[float]:
    """Return the mean of each value over the processes in which it is not NaN; NaN if it is NaN in all."""
    if group.world == 1:
        return list(values)
    table = torch.tensor(group.all_gather(list(values)), dtype=torch.float64, device="cpu")
    return [float(mean) for mean in table.nanmean(0)]
