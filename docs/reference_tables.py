"""Tables of the reference that are made from the code when the site is built: `<!-- table: NAME -->` on a page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import cache

from cellgames.agents.agent_specs import AGENTS
from cellgames.arena.play.match_options import FreeForAllOptions, LadderOptions, RoundRobinOptions
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.teams import TeamOptions
from cellgames.cli.main import groups, parser
from cellgames.envs import registry
from cellgames.lab.evolution.evolve_options import EvolveOptions
from cellgames.lab.populations.exploit_options import ExploitOptions
from cellgames.lab.populations.league_options import LeagueOptions
from cellgames.runs.run_folder import TIMING
from cellgames.training.arguments import ALGORITHMS, all_options, presets
from cellgames.training.runs.logs import RUN_METRICS, TIMING_METRICS, eval_metrics
from cellgames.utils.options import Option, Options

__all__ = ["tables"]


@cache
def tables() -> dict[str, str]:
    """Return all tables by name, in Markdown."""
    return {
        "round robin options": _options(RoundRobinOptions),
        "free-for-all options": _options(FreeForAllOptions),
        "ladder options": _options(LadderOptions),
        "season options": _options(SeasonOptions),
        "team options": _options(TeamOptions),
        "commands": _commands(),
        "exploit options": _options(ExploitOptions),
        "league options": _options(LeagueOptions),
        "evolve options": _options(EvolveOptions),
        "settings": _settings(),
        "presets": _presets(),
        "metrics": _metrics(),
        "shipped weights": _weights(),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---" for _ in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def _commands() -> str:
    """Every command with its usage and the first sentence of its description."""
    (commands,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    helps = {name: text for _, names, _ in groups() for name, (_, text) in names.items()}
    rows = []
    for name, command in commands.choices.items():
        usage = (command.usage or "").removeprefix("cellgames ").removesuffix("[options]").strip()
        rows.append((f"`cellgames {usage}`", helps[name]))
    return _table(("command", ""), rows)


def _options(kind: type[Options]) -> str:
    return _table(("option", "default", ""), [_row(option, option.help) for option in kind.options()])


def _row(option: Option, help: str) -> tuple[str, str, str]:
    default = option.default_text if option.kind is bool else f"`{option.default}`" if option.default_text else ""
    return f"`{option.name}`", default, help.replace("|", r"\|")


def _settings() -> str:
    """Every setting once, in the order of the algorithms."""
    rows = []
    for users in all_options().values():
        first = next(iter(users.values()))
        only = "" if len(users) == len(ALGORITHMS) else f" (only {', '.join(users)})"
        name, default, help = _row(first, first.help + only)
        others = [f"{user} `{other.default}`" for user, other in users.items() if other.default != first.default]
        rows.append((name, ", ".join((default, *others)), help))
    return _table(("option", "default", ""), rows)


def _presets() -> str:
    rows = [
        (
            entry.algorithm,
            game + "".join(f", {name} {value}" for name, value in entry.parameters.items()),
            ", ".join(f"`{name}` {value}" for name, value in entry.values.items()),
        )
        for algorithm in ALGORITHMS
        for game, entry in presets()
        if entry.algorithm == algorithm
    ]
    return _table(("algorithm", "game", "instead of the defaults"), rows)


def _metrics() -> str:
    """Those of every run, of an evaluation opponent, and of each algorithm; explained once."""
    rows = [(f"`{name}`", "run", text) for name, text in RUN_METRICS.items()]
    rows += [(f"`{name}` (in `{TIMING}`)", "run", text) for name, text in TIMING_METRICS.items()]
    rows += [(f"`{name}`", "against", text) for name, text in eval_metrics("greedy").items()]
    algorithms: dict[tuple[str, str], list[str]] = {}
    for algorithm, entry in ALGORITHMS.items():
        for metric, text in entry.learner.METRICS.items():
            algorithms.setdefault((metric, text), []).append(algorithm)
    for (metric, text), names in algorithms.items():
        only = "" if len(names) == len(ALGORITHMS) else f" (only {', '.join(names)})"
        rows.append((f"`{metric}`", "learning", text + only))
    return _table(("column", "group in TensorBoard", ""), rows)


def _weights() -> str:
    """Return the games that the shipped weights play."""
    ids = {entry.usage: entry.ids_with_weights for entry in AGENTS.values() if entry.weights is not None}
    rows = [
        (f"`{id}`", *("yes" if id in (found or ()) else "no" for found in ids.values())) for id in registry.REGISTRY
    ]
    return _table(("game", *(f"`{usage.partition('[')[0]}`" for usage in ids)), rows)
