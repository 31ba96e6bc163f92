"""The function that a Ray worker runs for each piece of work. Importing this imports neither Ray nor torch."""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cellgames.utils import last_call

from .connection import Build, ClusterError, Place, refuse_other_build, unpacked

__all__ = ["DEATHS", "KEPT", "LOST", "MOST_SAID", "Answer", "Caution", "do_piece"]

DEATHS = 4
"""Workers that may die at one piece before it is given up."""

KEPT = 4
"""Works that are kept ready: by the process that gives them, and by each worker."""

LOST = "the connection to the cluster was lost; what is finished is kept, run the command again"
"""An error that is no piece's fault."""

MOST_SAID = 500
"""Characters of an error."""

_MOST_WARNINGS = 20  # different ones of a piece


class Caution(NamedTuple):
    """A warning, as `warnings.warn_explicit` takes it."""

    message: str
    category: type[Warning]
    filename: str
    lineno: int


class Answer(NamedTuple):
    """The answer of a worker to a piece of work.

    Attributes:
        result: pickled; None if the piece failed.
        error: one line.
        refused: whether the worker says so itself, with all there is to say (`ClusterError`).
        trace: where it failed.
        machine: its name.
        warned: what it warned of, once each.
    """

    result: bytes | None
    error: str
    refused: bool
    trace: str
    machine: str
    warned: list[Caution]


_ready: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()  # what works gave, by the number of their object


def do_piece(versions: Mapping[str, str], place: Place, number: str, work: list[Any], item: bytes) -> Answer:
    """Do a piece; `work` holds the reference of the object with that number."""
    warned: set[Caution] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # Python itself would remember each of them
        warnings.showwarning = _noted(warned)
        result, error, refused, trace = None, "", False, ""
        try:
            refuse_other_build(Build(**versions))
            place.enter()
            # Ray sets this only where nobody has.
            os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            do = _started(number, work)
            piece = unpacked(item)
            with _noted_calls(number, item), last_call.during(str(piece)):
                result = pickle.dumps(do(piece), protocol=5)
        except (Exception, SystemExit) as fault:  # a piece may not end its worker
            error, refused, trace = _said(fault), isinstance(fault, ClusterError), traceback.format_exc()
    return Answer(result, error, refused, trace, platform.node(), sorted(warned, key=_where))


@contextmanager
def _noted_calls(number: str, item: bytes) -> Iterator[None]:
    """Keep a note of the agent that is asked, on this machine, and refuse a piece in which one ended too many workers.

    A worker that dies can say nothing, and Ray starts its piece again in another one. That one finds the note.

    Raises:
        ClusterError: calls of one agent ended the workers before.
    """
    name = f"cellgames-{hashlib.sha256(number.encode() + item).hexdigest()[:32]}"
    folder = Path(tempfile.gettempdir()) / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
            raise PermissionError
    except OSError:  # without notes
        yield
        return
    try:
        if (found := last_call.ended_in(folder)) is not None and (times := found.counts[found.agent]) >= DEATHS - 1:
            raise ClusterError(
                f"{times} workers ended, one after the other, while {found.agent} was asked for {found.call}; leave "
                "this agent out"
            )
        with last_call.kept_in(folder, lambda line: None):
            yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(number: str, work: list[Any]) -> Callable[[Any], Any]:
    """Return the function that does the pieces of a work; start the work if this is its first piece here."""
    if number not in _ready:
        import ray

        try:
            data = ray.get(work[0])
        except ray.exceptions.RayError as error:  # whoever gave the work has gone
            raise ClusterError(LOST) from error
        _ready[number] = unpacked(data).start()
        if (torch := sys.modules.get("torch")) is not None:
            torch.set_num_threads(1)
        while len(_ready) > KEPT:
            _ready.popitem(last=False)
    _ready.move_to_end(number)
    return _ready[number]


def _said(fault: BaseException) -> str:
    """Return an error as one line; a mistake of the user goes without its type."""
    said = " ".join(str(fault).split())
    line = said if said and isinstance(fault, ValueError) else f"{type(fault).__name__}: {said}".removesuffix(": ")
    return line if len(line) <= MOST_SAID else line[: MOST_SAID - 3] + "..."


def _noted(warned: set[Caution]) -> Callable[..., None]:
    """Return a function for `warnings.showwarning` that keeps the first warnings, of types that are builtin."""

    def note(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        if len(warned) < _MOST_WARNINGS:
            known = next(kind for kind in category.__mro__ if kind.__module__ == "builtins")
            warned.add(Caution(str(message), known, filename, lineno))

    return note


def _where(one: Caution) -> tuple[str, int, str]:
    return one.filename, one.lineno, one.message
