"""The layout of the package: which folder may import which, how long rooms are, and how functions are written.

`LAYERS` states the order of the folders once; CONTRIBUTING.md explains it.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import networkx  # type: ignore[import-untyped]  # it has no types of its own
from paths import ROOT

LAYERS = """
    plugins
    utils
    runs
    envs.native
    envs.boards
    envs.core
    envs.stones
    envs.torus | envs.connection | envs.cloth_of_gold | envs.grid_adaptation | envs.toroidal_cup | envs.foreign
    envs.grid_adaptation_talk | envs.cloth_of_gold_wild
    envs
    envs.adapters
    envs.torus_v0 | envs.hex_v0 | envs.y_v0 | envs.cloth_of_gold_v0 | envs.grid_adaptation_v0 | envs.toroidal_cup_v0
    agents
    agents.networks
    agents.playouts
    agents.search
    agents.simultaneous
    agents.solving
    agents.connection
    agents.torus | agents.cloth_of_gold | agents.grid_adaptation | agents.toroidal_cup
    agents.grid_adaptation_talk
    agents.programs | agents.language_models
    agents.agent_specs
    agents.loading
    agents.agent_opponent | agents.mixed
    training
    training.selfplay
    training.ppo
    training.alphazero | training.turn_values | training.placement_values | training.maskable
    training.runs
    arena
    arena.records
    arena.records.store
    arena.formats
    arena.stats
    arena.report
    arena.play
    arena.season
    arena.analyse
    arena.ladder
    web.views
    web
    web.routes
    cli
    lab.populations | lab.life | lab.datasets | lab.solving
    lab.evolution | lab.interventions | lab.talk
    lab
    lab.commands
"""
"""Folders and modules, from bottom to top. Each imports from lower lines only, and nothing from others in its line.

A folder stands for all that is in it, but for what has a line of its own.
"""

LIST = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]

APART = ("training", "arena")
"""The arena and training do not import each other."""

MOST_LINES = {
    "envs": 18_491,
    "agents": 13_304,  # swaps of GTP engines, and bounded files in a sandbox
    "training": 4_026,
    "arena": 10_346,
    "src": 11_614,
    "lab": 13_481,  # equal mixtures of a league are valued once
    "tests": 32_877,
    "tests/lab": 3_585,
    "benchmarks": 4_951,
}
"""Lines of Python in each room, at most."""

MOST_PARAMETERS = 8
MOST_VAGUE = 10
VAGUE = re.compile(
    r"\A(What|Whom?|Which|Whether|How|Where|When|Why|Of)\b"  # the rest of a sentence that the name began
    r"|\A(Return|Yield) (what|where|how|whether|who|which|by how)\b"
    r"|\b(is|are|was|were) none\b|\bsee there\b|\b(so|as) many\b"
    r"|^\s+\w+: of ",  # an entry of Args or Attributes without its noun
    re.MULTILINE,
)


@cache
def files() -> dict[str, PurePosixPath]:
    """Return the product files by the names of their modules, without `cellgames.`; "" is the package itself."""
    listed = subprocess.run(LIST, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    found = {}
    for path in map(PurePosixPath, listed):
        if path.parts[:2] == ("lab", "studies"):
            continue  # scripts, as those of benchmarks/
        if path.parts[0] in ("agents", "arena", "envs", "lab", "training", "src") and (ROOT / path).is_file():
            parts = path.with_suffix("").parts[2 if path.parts[0] == "src" else 0 :]
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((ROOT / files()[module]).read_text(encoding="utf-8"))


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node, without those that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case) and not typing:
            yield child
            yield from executed(child)


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports, those that its functions import included."""
    package = ["cellgames", *module.split(".")][: None if files()[module].name == "__init__.py" else -1]
    found = set()
    for node in executed(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if _known(name) else base for name in names}
    return frozenset(name.removeprefix("cellgames").lstrip(".") for name in found if _known(name)) - {module}


def _known(name: str) -> bool:
    return name == "cellgames" or (name.startswith("cellgames.") and name.removeprefix("cellgames.") in files())


@cache
def layer(module: str) -> tuple[int, str]:
    """Return the number of the line of `LAYERS` that a module belongs to, and its name there."""
    lines = [[name.strip() for name in line.split("|")] for line in LAYERS.split("\n") if line.strip()]
    numbers = {name: number for number, line in enumerate(lines) for name in line}
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        if (name := ".".join(parts[:end])) in numbers:
            return numbers[name], name
    return len(lines), ""  # the package itself, which people import


def definitions(kinds: tuple[type[ast.AST], ...]) -> Iterator[tuple[str, ast.AST]]:
    for module in files():
        for node in ast.walk(tree(module)):
            if isinstance(node, kinds):
                yield module, node


def test_layers_are_all_there() -> None:
    names = LAYERS.replace("|", " ").split()
    assert len(set(names)) == len(names)
    assert set(names) <= files().keys()
    assert [module for module in files() if not layer(module)[1]] == ["", "__main__"]


def test_contributing_lists_the_packages_in_this_order() -> None:
    listed = re.findall(
        r"^\d+\. `(\w+)`(?: \(in|:)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert listed == list(dict.fromkeys(name.split(".")[0] for name in LAYERS.split() if name != "|"))


def test_imports_go_down() -> None:
    found = set()
    for module in files():
        (here, own), top = layer(module), module.split(".")[0]
        for other in imports(module):
            there, name = layer(other)
            apart = top in APART and other.split(".")[0] in APART and other.split(".")[0] != top
            if there > here or (there == here and name != own) or apart:
                found.add(f"{module} -> {other or 'cellgames'}")
    assert not found


def test_no_modules_import_each_other() -> None:
    graph = networkx.DiGraph((module, other) for module in files() for other in imports(module))
    circles = [found for found in networkx.strongly_connected_components(graph) if len(found) > 1]
    assert not circles


def test_modules_state_their_names_once() -> None:
    """`__all__` is for packages, for modules of which a part is public, and for those that pass on names."""
    lists = {
        module
        for module, node in definitions((ast.Assign,))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    }
    public = {"arena.analyse.search_analysis", "runs.workers"}
    passing = {"lab.life.score_flows", "training.maskable.sb3_import"}
    assert {module for module in lists if files()[module].name != "__init__.py"} == public | passing


def test_rooms_do_not_grow() -> None:
    """Budgets fall with every change that makes a room smaller; a line that raises one says why."""
    listed = subprocess.run(LIST, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    lines = Counter[str]()
    for path in map(PurePosixPath, listed):
        room = "tests/lab" if path.parts[:2] == ("tests", "lab") else path.parts[0]
        if room in MOST_LINES and (ROOT / path).is_file():
            lines[room] += (ROOT / path).read_text(encoding="utf-8").count("\n")
    assert not {room: number for room, number in lines.items() if number > MOST_LINES[room]}


def test_public_functions_have_few_parameters() -> None:
    found = set()
    for module, node in definitions((ast.FunctionDef, ast.AsyncFunctionDef)):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        public = not node.name.startswith("_") or node.name == "__init__"
        if public and len(names) - (names[:1] in (["self"], ["cls"])) > MOST_PARAMETERS:
            found.add(f"{module}.{node.name}")
    assert not found


def test_errors_say_in_fields_what_is_wrong() -> None:
    """They are kinds of `InputError`; only an unknown option of a class is a `TypeError`, as Python has it."""
    raised = [(module, ast.unparse(node)) for module, node in definitions((ast.Raise,))]
    assert [module for module, text in raised if text.startswith(("raise ValueError(", "raise TypeError("))] == [
        "utils.options"
    ]


def test_docstrings_name_the_things_they_speak_of() -> None:
    """A clause in place of a noun, such as "Return what the learner gets.", is no description."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        f"{module}: {match.group().strip()!r} in {text.splitlines()[0]!r}"
        for module, node in definitions(documented)
        if isinstance(node, documented) and (text := ast.get_docstring(node)) and (match := VAGUE.search(text))
    ]
    assert len(found) <= MOST_VAGUE, "\n".join(found)
