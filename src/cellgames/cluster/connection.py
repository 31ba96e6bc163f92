"""The connection to a Ray cluster, which is joined or started for as long as it is needed.

Ray (Moritz et al., "Ray: a distributed framework for emerging AI applications", OSDI 2018) is an extra. Importing this
imports neither Ray nor torch.
"""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import platform
import re
import signal
import site
import socket
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cellgames.runs.comparing import differences
from cellgames.runs.run_folder import hidden, run_folder
from cellgames.utils.foreign_text import shown
from cellgames.utils.version import __version__

LOCAL = "local"
"""The address of a cluster that is started on this machine, and ended with the work."""

_ANSWER_S = 5.0  # within which whoever is at an address answers


class ClusterError(ValueError):
    """A cluster that cannot be used, or work that failed on it; the message says why and what to do."""


def load_ray() -> Any:
    """Return the module `ray`.

    Raises:
        ImportError: it is not installed; the message names the extra.
    """
    # Ray reports its use to its makers unless told otherwise; whoever wants that may set it.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return importlib.import_module("ray")  # its types are of little help
    except ImportError as error:
        raise ImportError(f'clusters need Ray: pip install "cellgames[ray]" ({error})') from error


def build() -> dict[str, str]:
    """Return the versions on which results may depend besides settings, without parts of torch's such as +cpu."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"cellgames": __version__, "torch": version("torch").partition("+")[0], "python": python}


@dataclass(frozen=True)
class Place:
    """The process that gives work: its versions, and the folders in which it finds what is not installed.

    Attributes:
        versions: see `build`.
        folder: folder that it works in.
        modules: folders of modules.
        run: the folder of the run, which is hidden from sandboxed agents; None outside of one.
    """

    versions: Mapping[str, str]
    folder: str
    modules: Sequence[str]
    run: Path | None = None

    @classmethod
    def here(cls) -> Place:
        """Return the place of this process."""
        run = run_folder()
        return cls(build(), os.getcwd(), module_folders(), None if run is None else run.resolve())

    def enter(self) -> None:
        """Use these folders in this process, a worker's, as far as this machine has them.

        Raises:
            ClusterError: this process has other versions.
        """
        if wrong := differences(self.versions, build()):
            raise ClusterError(
                f"the worker on {platform.node()} has other versions than the process that asks it: {wrong}; results "
                "might differ, so install the same ones on every machine of the cluster"
            )
        if os.path.isdir(self.folder):
            os.chdir(self.folder)
        if self.run is not None:
            hidden.add(self.run)
        sys.path += [place for place in self.modules if place not in sys.path and os.path.isdir(place)]


def module_folders() -> list[str]:
    """Return the folders in which this process looks for modules, without those of Python and of installed packages."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    libs = {Path(os.path.abspath(path)) for path in [*paths, *site.getsitepackages(), site.getusersitepackages()]}
    places = dict.fromkeys(os.path.abspath(folder) for folder in sys.path)
    return [place for place in places if os.path.isdir(place) and libs.isdisjoint((Path(place), *Path(place).parents))]


def packed(thing: Any) -> bytes:
    """Pickle as Ray does, which takes classes and functions of scripts and prompts, too."""
    load_ray()
    return bytes(importlib.import_module("ray.cloudpickle").dumps(thing))


def unpacked(data: bytes) -> Any:
    """Return the object that `packed` pickled."""
    return pickle.loads(data)


@contextmanager
def connected(address: str = LOCAL, cores: int | None = None) -> Iterator[Any]:
    """Yield Ray, connected to a cluster; a connection that this process already has is used and left open.

    A handler of SIGTERM stays; without one, `end_in_order` is set for as long as this lasts.

    Args:
        address: `LOCAL`, `auto` for the cluster on this machine, or HOST:PORT of one started by `ray start`.
        cores: cores of a cluster started here; None for all of the machine.

    Raises:
        ClusterError: nobody answers at the address, or the cluster there cannot be joined.
        ImportError: Ray is not installed.
    """
    ray = load_ray()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {}
    if address == LOCAL:
        options = {"num_cpus": cores, "include_dashboard": False}
        if "RAY_worker_niceness" not in os.environ:
            # Workers as busy as this process would be: Ray's niceness of 15 makes them wait for all other programs.
            options["_system_config"] = {"worker_niceness": 0}
    # Ray puts a handler of its own in the place of any other, for good.
    before = signal.getsignal(signal.SIGTERM)
    main = threading.current_thread() is threading.main_thread() and before is not None
    try:
        try:
            at = os.environ.get("RAY_ADDRESS", address) if address == "auto" else address  # as Ray does
            if at not in (LOCAL, "auto"):
                _refuse_silent(at)
            ray.init(at, log_to_driver=False, logging_level=logging.ERROR, configure_logging=True, **options)
        except Exception as error:  # of many kinds: no cluster, another version of Ray or of Python
            how = "started here" if address == LOCAL else f"joined at {shown(address)}"
            said = " ".join(str(error).split()) or type(error).__name__
            raise ClusterError(f"no Ray cluster could be {how}: {said}") from error
        if main:
            signal.signal(signal.SIGTERM, end_in_order if before == signal.SIG_DFL else before)
        yield ray
    finally:
        ray.shutdown()
        if main:
            signal.signal(signal.SIGTERM, before)


def end_in_order(number: int, frame: object) -> None:
    """End the program on SIGTERM, but Ray's processes before it.

    It is the handler of a program with none of its own, while connected. Others, such as that of a run of training,
    may take its place.
    """
    sys.exit(128 + number)


def is_address(text: str) -> bool:
    """Return True if the text has the form of an address that `connected` takes."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):([0-9]{1,5})", text)
    return text in (LOCAL, "auto") or (found is not None and 0 < int(found[2]) < 1 << 16)


def _refuse_silent(address: str) -> None:
    """Raise a `ClusterError` unless somebody answers at HOST:PORT; Ray itself would wait for long."""
    if not is_address(address):
        raise ClusterError(f"expected `auto` or HOST:PORT, such as 192.168.0.10:6379, got {shown(address)}")
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_S).close()
    except OSError as error:
        raise ClusterError(
            f"nobody answers ({error.strerror or error}); was `ray start --head` run there, and is the port open?"
        ) from error
