"""`cellgames list`: games and agents."""

from __future__ import annotations

import argparse
import json
from typing import Any

from cellgames.agents.agent_specs import AGENTS, AgentSpec
from cellgames.agents.networks.agent_files import MODEL_SUFFIX, WEIGHTS_SUFFIX
from cellgames.cli.console import print_columns, print_next
from cellgames.cli.shared_options import add_command, add_json
from cellgames.envs import registry
from cellgames.utils.version import __version__


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "list", "", _run, "Show all games and agents.", ("", "--json"))
    add_json(command)


def _run(arguments: argparse.Namespace) -> int:
    games = [
        {"id": spec.id, "summary": spec.summary, "parameters": dict(spec.defaults)}
        for spec in registry.REGISTRY.values()
    ]
    agents = [_described(spec) for spec in AGENTS.values()]
    agents.append({"spec": f"FILE{WEIGHTS_SUFFIX}", "summary": "what `cellgames train` made"})
    agents.append(
        {"spec": f"FILE{MODEL_SUFFIX}", "summary": "a model of Stable-Baselines3; FILE.zip:sample draws its actions"}
    )
    agents.append({"spec": "module:Name", "summary": "your own, by import path"})
    if arguments.json:
        print(json.dumps({"version": __version__, "games": games, "agents": agents}, indent=2))
        return 0
    print("Games")
    lines = [
        (spec.id, "; ".join([spec.summary, *(f"{name}={value}" for name, value in spec.defaults.items())]))
        for spec in registry.REGISTRY.values()
    ]
    print_columns(lines)
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
