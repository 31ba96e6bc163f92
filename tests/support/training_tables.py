"""The tables of docs/training.md, made from the code; `python tests/support/training_tables.py` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from paths import ROOT

from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.presets import presets
from cellgames.training.runs.logs import RUN_METRICS, eval_metrics
from cellgames.utils.options import Option

PAGE = ROOT / "docs" / "training.md"


def tables() -> dict[str, str]:
    """By name, in Markdown."""
    return {"settings": _settings(), "presets": _presets(), "metrics": _metrics()}


def marked(name: str, table: str) -> str:
    """A table as it stands on the page, between its marks."""
    return f"<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---" for _ in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def _settings() -> str:
    """Every setting once, in the order of the algorithms."""
    known: dict[str, Option] = {}
    users: dict[str, list[str]] = {}
    for name, algorithm in ALGORITHMS.items():
        for option in algorithm.arguments.options():
            known.setdefault(option.name, option)
            users.setdefault(option.name, []).append(name)
    rows = [
        (
            f"`{name}`",
            _value(option.default),
            option.help + ("" if len(users[name]) == len(ALGORITHMS) else f" (only {', '.join(users[name])})"),
        )
        for name, option in known.items()
    ]
    return _table(("setting", "default", ""), rows)


def _value(value: object) -> str:
    if value in ("", ()):
        return ""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"`{value}`"


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
    rows += [(f"`{name}`", "against", text) for name, text in eval_metrics("greedy").items()]
    algorithms: dict[tuple[str, str], list[str]] = {}
    for algorithm, entry in ALGORITHMS.items():
        for metric, text in entry.learner.METRICS.items():
            algorithms.setdefault((metric, text), []).append(algorithm)
    for (metric, text), names in algorithms.items():
        only = "" if len(names) == len(ALGORITHMS) else f" (only {', '.join(names)})"
        rows.append((f"`{metric}`", "learning", text + only))
    return _table(("column", "group in TensorBoard", ""), rows)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, table in tables().items():
        found = re.search(marked(name, "(.*?)"), page, re.DOTALL)
        assert found is not None, f"{PAGE} has no marks for {name}"
        page = page[: found.start()] + marked(name, table) + page[found.end() :]
    PAGE.write_text(page, encoding="utf-8")
