"""`cellgames list`, games and agents, and `cellgames doctor`, what this installation has and lacks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from importlib import metadata
from typing import Any

from cellgames.agents.agent_specs import AGENTS, AgentSpec
from cellgames.agents.networks.agent_files import MODEL_SUFFIX, WEIGHTS_SUFFIX
from cellgames.cli.console import print_columns, print_next
from cellgames.cli.shared_options import add_command, add_json
from cellgames.envs import registry
from cellgames.utils.extras import install
from cellgames.utils.hardware import cpu_model
from cellgames.utils.version import __version__


def add_list(commands: Any) -> None:
    """Add `list`."""
    add_json(add_command(commands, "list", "", _list, "Show all games and agents.", ("", "--json")))


def _list(arguments: argparse.Namespace) -> int:
    specs = registry.REGISTRY.values()
    games = [{"id": spec.id, "summary": spec.summary, "parameters": dict(spec.defaults)} for spec in specs]
    agents = [_described(spec) for spec in AGENTS.values()]
    more = {
        f"FILE{WEIGHTS_SUFFIX}": "what `cellgames train` made",
        f"FILE{MODEL_SUFFIX}": "a model of Stable-Baselines3; FILE.zip:sample draws its actions",
        "module:Name": "your own, by import path",
    }
    agents += [{"spec": spec, "summary": summary} for spec, summary in more.items()]
    if arguments.json:
        print(json.dumps({"version": __version__, "games": games, "agents": agents}, indent=2))
        return 0
    print("Games")
    settings = [[f"{name}={value}" for name, value in spec.defaults.items()] for spec in specs]
    print_columns([(spec.id, "; ".join([spec.summary, *own])) for spec, own in zip(specs, settings, strict=True)])
    print("  Parameters are set by --param NAME=VALUE, such as --param size=5.\n\nAgents")
    for agent in agents:
        if "games" in agent:
            agent["summary"] += f": {', '.join(agent['games'])}"
    print_columns([(agent["spec"], agent["summary"]) for agent in agents])
    print()
    print_next(("play torus-v0 --agents greedy", ""))
    return 0


def _described(spec: AgentSpec) -> dict[str, Any]:
    """Return an agent as JSON: `spec`, `summary`, and `games` if its shipped weights play only some of them."""
    found: dict[str, Any] = {"spec": spec.usage, "summary": spec.summary}
    try:
        ids = spec.ids_with_weights
    except ImportError as error:
        return found | {"summary": f"{spec.summary}; {error}"}
    return found if ids is None else found | {"games": list(ids)}


_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra == ['\"]([\w-]+)['\"]")
_OWN = ("dev", "docs", "peers")  # extras for those who work on the package


def add_doctor(commands: Any) -> None:
    """Add `doctor`."""
    about = "Show what this installation has and lacks: versions, devices, native kernels, extras."
    add_json(add_command(commands, "doctor", "", _doctor, about, ("", "--json")))


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


def _doctor(arguments: argparse.Namespace) -> int:
    import torch

    from cellgames.envs.native import status
    from cellgames.envs.native.operators import compiler_found

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
    lacks = {extra: f"lacks {', '.join(absent)}" if absent else "installed" for extra, absent in missing.items()}
    print_columns(list(lacks.items()))
    if any(missing.values()):
        print(f"\nTo install one: {install(next(extra for extra in missing if missing[extra]))}")
    return 0
