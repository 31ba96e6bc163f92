"""Seeds of competitions that nobody knows before the end: commit and reveal.

All chance of a run follows from its seed: the openings, the seats, the hidden information of games and their dice. Who
knows the seed beforehand can prepare for them. With `secret_seed` the operating system draws the seed. The run shows
its SHA-256 at the start (the commitment) and the seed itself when it is over, so everybody can check that nobody chose
the seed to suit the outcome. Until then the seed is in a file of the run's folder that its owner alone can read, from
which a killed run continues.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from cellgames.utils.files import replacing
from cellgames.utils.foreign_text import shown
from cellgames.utils.options import Options, option

from .run_folder import COMMITMENT, START_OVER, RunError, RunFolder, RunKind

SECRET_FILE = ".secret_seed"
"""The file in the folder of a run that holds the digits of its seed."""

_BITS = 128
_MOST = 100  # bytes of the file


@dataclass(frozen=True, kw_only=True)
class SecretSeed(Options):
    """The option of a run in which the seed is drawn and stays secret until the end."""

    secret_seed: bool = option(
        False, "draw the seed, show its SHA-256 at the start and the seed itself only at the end"
    )


O = TypeVar("O", bound=SecretSeed)  # noqa: E741  # options


def commitment(seed: int) -> str:
    """Return the SHA-256 of the seed's decimal digits, in hexadecimal digits."""
    return hashlib.sha256(str(seed).encode()).hexdigest()


def with_seed(options: O, folder: Path | None, kind: RunKind, say: Callable[[str], None]) -> O:
    """Return the options with the run's secret seed; those of a run without one come back as they are.

    The seed of the run that the folder holds is taken if that run is continued; else one is drawn and written.

    Args:
        options: options of the run.
        folder: folder of the run, created if necessary; None for a run that keeps nothing.
        kind: kind of the run.
        say: gets a line with the commitment.

    Raises:
        ValueError: the options have a seed of the user's, too.
        RunError: the folder holds something else, or a run without a secret seed, or cannot be used.
    """
    if not options.secret_seed:
        return options
    if (given := vars(options)["seed"]) != vars(type(options)())["seed"]:
        raise ValueError(f"a secret seed is drawn, so none can be given: leave out seed (--seed), got {shown(given)}")
    seed = secrets.randbits(_BITS) if folder is None else _drawn(options, folder, kind)
    kept = "" if folder is None else f"; it is in {folder / SECRET_FILE} until the end, which its owner alone can read"
    say(f"the SHA-256 of the secret seed is {commitment(seed)}{kept}")
    return replace(options, seed=seed)  # type: ignore[call-arg]  # every subclass has it


def revealed_line(seed: int) -> str:
    """Return the announcement of a finished run's secret seed."""
    return f"the secret seed was {seed}; its SHA-256 is {commitment(seed)}, as it was shown at the start"


def covered(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a run as its file has them until the end: with the commitment in the place of the seed."""
    return {**settings, "seed": None, COMMITMENT: commitment(settings["seed"])}


def is_revealed(settings: Mapping[str, Any]) -> bool:
    """Return True if these settings of a run with a secret seed hold the seed."""
    return COMMITMENT in settings and isinstance(settings.get("seed"), int)


def _drawn(options: SecretSeed, folder: Path, kind: RunKind) -> int:
    """Return the seed of the run that the folder holds and that is continued, else a new one, which is written."""
    with RunFolder(folder, kind) as run:
        # What cannot be continued is over when its file is there.
        if vars(options).get("resume", not run.file.exists()):
            if (held := _held(run)) is not None:
                return held
            if run.file.exists():
                raise RunError(f"{folder} holds a run without a secret seed; {START_OVER}", [COMMITMENT])
        seed = secrets.randbits(_BITS)
        with replacing(folder / SECRET_FILE) as part:
            part.touch(mode=0o600)
            part.write_text(str(seed))
    return seed


def _held(run: RunFolder) -> int | None:
    """Return the seed of the run that the folder holds, None for none."""
    path = run.path / SECRET_FILE
    try:
        with path.open("rb") as file:
            text = file.read(_MOST).decode(errors="replace")
    except FileNotFoundError:
        found = run.read() or {}
        return int(found["seed"]) if is_revealed(found) else None
    if not (text.isascii() and text.isdecimal()):
        raise RunError(f"{path}: expected the digits of a seed, got {shown(text)}; {START_OVER}")
    return int(text)
