"""`cellgames doctor`: what this installation has, and what it lacks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from importlib import metadata
from typing import Any

from cellgames.cli.console import print_columns
from cellgames.cli.shared_options import add_command, add_json
from cellgames.utils.extras import install
from cellgames.utils.hardware import cpu_model
from cellgames.utils.version import __version__

_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra == ['\"]([\w-]+)['\"]")
_OWN = ("dev", "docs", "peers")  # extras for those who work on the package


def add(commands: Any) -> None:
    """Add the command."""
    about = "Show what this installation has and lacks: versions, devices, native kernels, extras."
    add_json(add_command(commands, "doctor", "", _run, about, ("", "--json")))


def missing_packages() -> dict[str, list[str]]:
    """Return by extra the packages that are not installed."""
    missing: dict[str, list[str]] = {}
    for line in metadata.requires("cellgames") or []:
        if (found := _REQUIREMENT.match(line)) is None or found[1] == "cellgames" or found[2] in _OWN:
            continue
        absent = missing.setdefault(found[2], [])
        try:
            metadata.version(found[1])
        except metadata.PackageNotFoundError:
            absent.append(found[1])
    return missing


def _run(arguments: argparse.Namespace) -> int:
    import torch

    from cellgames.envs.kernels.compiling import compiler_found
    from cellgames.envs.native import status

    native = status()
    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    facts = {
        "cellgames": __version__,
        "Python": platform.python_version(),
        "system": platform.platform(),
        "processor": f"{cpu_model()}, {os.cpu_count()} cores",
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
        "CUDA": ", ".join(devices) or "no device",
        "native kernels": native.problem or f"used, from {native.path}",
        "C++ compiler": "found" if compiler_found("cpu") else "none: steps run eagerly where no native kernel exists",
    }
    missing = missing_packages()
    if arguments.json:
        print(json.dumps(facts | {"missing packages by extra": missing}, indent=2))
        return 0
    print_columns(list(facts.items()))
    print("\nExtras")
    print_columns(
        [(extra, f"lacks {', '.join(absent)}" if absent else "installed") for extra, absent in missing.items()]
    )
    if any(missing.values()):
        print(f"\nTo install one: {install(next(extra for extra in missing if missing[extra]))}")
    return 0
