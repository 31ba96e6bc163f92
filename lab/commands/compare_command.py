"""`cellgames compare`: settings of training compared over several seeds, with a test of each difference.

What needs numpy is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from cellgames.cli.console import print_table
from cellgames.cli.shared_options import add_command, add_json

_TEXT = (
    "Compare training runs over their seeds. Runs of `cellgames train` whose settings differ by the seed alone are a\n"
    "group. Each pair of groups is compared by the scores of the last evaluation, and by their means over all\n"
    "evaluations: the difference with its 95 % interval (Welch), and the p-value of a permutation test. With four\n"
    "seeds each p can reach 0.03, with three no less than 0.1."
)
_EXAMPLES = ("runs/a* runs/b*", "results/train/*seed=* --json")


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "compare", "RUN RUN [RUN ...] ", _run, _TEXT, _EXAMPLES)
    command.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="a folder of `cellgames train`")
    add_json(command)


def _run(arguments: argparse.Namespace) -> int:
    import numpy as np

    from cellgames.lab.comparison import COLUMNS, compare_groups, read_groups
    from cellgames.utils.report.model import people_table, row_data

    groups = read_groups(arguments.runs)
    rows = compare_groups(groups, np.random.default_rng(0))
    if arguments.json:
        found = [{"name": group.name, "seeds": list(group.seeds)} for group in groups]
        print(json.dumps({"groups": found, "differences": [row_data(COLUMNS, row) for row in rows]}, indent=1))
        return 0
    for group in groups:
        print(f"{group.name}: {len(group.seeds)} runs, seeds {', '.join(map(str, group.seeds))}")
    print()
    print_table(people_table(COLUMNS, rows))
    tests = f"{len(rows)} tests" if len(rows) > 1 else "one test"
    print(f"\nScores and differences in %. p is that of {tests}, not corrected for their number.")
    return 0
