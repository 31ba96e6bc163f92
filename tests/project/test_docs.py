"""The pages are run, and what they say of games, commands and results comes from these."""

from __future__ import annotations

import argparse
import ast
import importlib
import itertools
import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from arena_runs import EXTRAS, PLOTS, block
from paths import ROOT
from public_api import MODULES, PACKAGES, names
from refusals import refused
from slow import slow_except

import cellgames
from cellgames.cli import main as cli
from cellgames.envs import Space, registry
from cellgames.envs.registry import REGISTRY, make
from cellgames.training.arguments import ALGORITHMS

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
GAMES = sorted(id for id, entry in REGISTRY.items() if entry.entry_point.startswith("cellgames.envs."))
RUN = {"extending.md", "policies.md"}  # pages whose commands are run, not only parsed
LONG = {f"{name}.md" for name in ("arena", "data", "evolution", "extending", "policies", "populations")}  # much play
NEEDS = {  # libraries without which a page is not run
    "data.md": ("pandas",),
    "datasets.md": ("pyarrow",),
    "other_games.md": ("pyspiel", "pygame"),
    "policies.md": ("stable_baselines3", "torchrl"),
}


every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
every_game = pytest.mark.parametrize("id", GAMES)

_FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, title and text of every fenced block, in order."""
    found = []
    for language, rest, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', rest)
        found.append((language, title[1] if title else "", text))
    return found


def commands(text: str) -> list[list[str]]:
    """Command lines of a block, as words; continued lines are joined, comments and all else dropped."""
    lines = text.replace("\\\n", " ").splitlines()
    return [
        shlex.split(line, comments=True) for line in lines if re.match(r"(\S*/)?(cellgames|make|python|export) ", line)
    ]


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In a folder with one game's file; games and modules that a page brings are gone afterwards."""
    import gymnasium
    import pettingzoo

    before = {*sys.modules}
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "games" / "treblecross.py", tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv(registry.VARIABLE, "")  # a command with a module in front of the game's id names it there
    with patch.dict(REGISTRY), patch.dict(gymnasium.registry), patch.dict(pettingzoo.aec_registry):
        yield
    for name in [name for name in sys.modules if name not in before]:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize(
    "page", slow_except([page for page in PAGES if page.name not in LONG], PAGES), ids=lambda page: page.name
)
@pytest.mark.usefixtures("clean")
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python blocks in one namespace, in order; those with a title are files, written into the current folder."""
    block(monkeypatch, *PLOTS, *EXTRAS)
    for library in NEEDS.get(page.name, ()):
        pytest.importorskip(library)
    namespace: dict[str, object] = {"__name__": "page"}
    for language, title, text in blocks(page):
        if language == "python" and title:
            (tmp_path / title).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, page.name, "exec"), namespace)
        elif page.name in RUN and not language:
            for program, *words in commands(text):
                if program == "export":
                    monkeypatch.setenv(*words[0].split("="))
                    registry.load_plugins()  # as a new process does
                    continue
                assert program == "cellgames", program
                assert cli.main([*words, *(["--quiet"] if words[0] not in ("play", "list", "replay") else [])]) == 0, (
                    words
                )


def accepted(words: list[str]) -> bool:
    """Return True if the command line takes these words; modules in front of games, as on pages, are left out."""
    with suppress(SystemExit):
        return bool(cli.parser(words[0]).parse_args([re.sub(r"^\w+:(?=[a-z0-9-]+-v\d)", "", word) for word in words]))
    return words[-1:] == ["--help"]


def taken_by_script(file: Path, words: list[str]) -> bool:
    """Whether a script's function `parser` takes these words; it runs alone, as what the script imports takes long."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "parser"]
    namespace: dict[str, Any] = {"argparse": argparse, "Path": Path, "ALGORITHMS": ALGORITHMS}
    exec(compile(ast.Module([function], []), file.name, "exec"), namespace)
    with suppress(SystemExit):
        return bool(namespace["parser"]().parse_args(words))
    return False


def check_command(words: list[str]) -> None:
    """Parse what calls this package, and look whether the rest is there."""
    program, *rest = words
    if program.rpartition("/")[2] == "cellgames":
        assert accepted(rest), f"refused: {shlex.join(words)}"
    elif program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(rest) <= {*targets}, words
    elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks"):
        path = ROOT / words[2].replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), words
    elif program == "python" and rest[0].endswith(".py"):
        assert taken_by_script(ROOT / rest[0], rest[1:]), f"refused: {shlex.join(words)}"


@pytest.mark.usefixtures("clean")
@every_page
def test_commands_are_accepted(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for language, _, text in blocks(page):
        if not language:
            for words in commands(text):
                check_command(words)
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for inline in re.findall(r"`(cellgames [a-z-]+[^`]*|python -m benchmarks[^`]*|make [a-z]+)`", prose):
        words = inline.split()
        if words[0] != "cellgames":
            check_command(words)
            continue
        capsys.readouterr()
        with pytest.raises(SystemExit):
            cli.parser(words[1]).parse_args([words[1], "--help"])
        usage = capsys.readouterr().out
        assert usage.startswith(f"usage: cellgames {words[1]}"), inline
        for option in re.findall(r"--[a-z-]+", inline):
            assert re.search(rf"{option}\b", usage) or option == "--help", inline


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs/tutorials").glob("*.md"))], ids=lambda page: page.name)
def test_links_and_pictures_exist(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if target.startswith("http"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
            assert anchor in map(slug, headings), f"{target}#{anchor}"


def slug(heading: str) -> str:
    """The anchor of a heading, on GitHub and on the site alike."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def page_of(id: str) -> str:
    return page(game_of(id).rsplit("-v", 1)[0].replace("-", "_"))


def game_of(id: str) -> str:
    """The id of the game of which `id` may be a preset."""
    return make(id).id


PAGED = sorted({game_of(id) for id in GAMES})
every_paged_game = pytest.mark.parametrize("id", PAGED)


def section(text: str, heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, heading
    return found[1]


def rows(text: str, first: str) -> list[list[str]]:
    """Cells of the table whose head begins with `first`, without the head."""
    found = re.search(rf"^\| {first} \|.*\n\|[-:| ]+\|\n((?:\|.*\n?)+)", text, re.MULTILINE)
    assert found is not None, first
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].strip().splitlines()]


def facts(id: str) -> str:
    """The table of spaces and facts on a game's page."""
    game = cellgames.make(id)
    info = game.info

    def space(space: Space) -> str:
        return f"{str(space.dtype).removeprefix('torch.')} {list(space.shape)}, {space.low:g} to {space.high:g}"

    table = {
        "players": ", ".join(info.players),
        "moves": "all at once" if info.simultaneous else "in turn",
        "information": "perfect" if info.perfect_information else "hidden",
        "chance": "yes" if info.stochastic else "none",
        "zero-sum": "yes" if info.zero_sum else "no",
        "longest game": f"{info.max_turns} turns",
        "actions": " x ".join(map(str, info.action_nvec)),
        "observation": space(info.observation),
        "`state()`": space(info.board),
        "reward of a step": "{:g} to {:g}".format(*info.reward_range),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in table.items())])


@every_paged_game
def test_facts_on_a_games_page_are_the_games(id: str) -> None:
    found = re.search(rf"<!-- facts: {id} -->\n\n(.*?)\n\n<!-- end of facts -->", page_of(id), re.DOTALL)
    assert found is not None
    assert found[1] == facts(id)


@every_paged_game
def test_options_on_a_games_page_are_the_registrys(id: str) -> None:
    """Names in order, defaults of the game and of its small preset, and limits that are the game's own."""
    small = id.replace("-v0", "-small-v0")
    text = section(page_of(id), "Options")
    assert f"`{small}`" in text
    table = rows(text, "option")
    large, preset = REGISTRY[id].defaults, REGISTRY[small].defaults
    assert [row[:3] for row in table] == [[f"`{name}`", f"`{large[name]}`", f"`{preset[name]}`"] for name in large]
    for name, limits in [(row[0].strip("`"), row[3]) for row in table]:
        if found := re.search(r"([\d,]+) to ([\d,]+)", limits):
            low, high = (int(number.replace(",", "")) for number in found.groups())
            for beyond in (low - 1, high + 1):
                with refused(name):
                    make(id, **{name: (beyond,) if name == "flip_rounds" else beyond})
        elif names := re.findall(r"`(\w+)`", limits):
            for value in names:
                assert make(id, **{name: {"true": True, "false": False}.get(value, value)})
            with refused(name):
                make(id, **{name: "nonsense"})
        else:
            assert re.search("at least|between|less than|numbers", limits), limits


def planes(cell: str, parameters: dict[str, Any]) -> list[int]:
    """Numbers of the planes that a row's first cell names, such as `1, 2` or `22 to 21 + players`."""
    numbers: list[int] = []
    for part in cell.split(","):
        ends = [eval(end, {"__builtins__": {}}, parameters) for end in part.split(" to ")]
        numbers += range(ends[0], ends[-1] + 1)
    return numbers


@every_game
def test_every_plane_of_the_observation_has_its_row(id: str) -> None:
    """For a preset, and for games with more or fewer players, whose planes depend on them."""
    from cellgames.envs.grid_adaptation_talk import words

    more: dict[str, dict[str, Any]] = {"toroidal-cup-v0": {"teams": 4}, "grid-adaptation-v0": {"players": 3}}
    for change in ({}, more.get(game_of(id), {})):
        game = make(id, **change)
        table = rows(section(page_of(id), "Observation"), "plane")
        names = dict(game.parameters)
        if getattr(game, "talk", "none") != "none":  # whose planes follow those of the base game
            table += rows(page("grid_adaptation_talk"), "plane")
            names["n"] = words.num_planes(game) - 1  # type: ignore[arg-type]
        if names.get("terrain"):
            table += rows(page("cloth_of_gold_wild"), "wild plane")
        numbers = list(itertools.chain(*(planes(row[0], names) for row in table)))
        assert numbers == list(range(game.info.observation.shape[0]))
        assert all(row[1] and row[2] for row in table), "every plane has a name and a meaning"


@every_paged_game
def test_infos_on_a_games_page_are_the_games(id: str) -> None:
    from cellgames.envs.core import seeds

    game = make(id)
    text = section(page_of(id), "Spaces")
    assert [name for name in game.infos(game.init(seeds(0, 1)), 0) if f"`{name}`" not in text] == []


def test_speeds_in_the_readme_are_those_of_the_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    read = {file.stem: json.loads(file.read_text("utf-8")) for file in (ROOT / "results/benchmarks").glob("*.json")}
    exact = [float(row["median"]) for table in read.values() for row in table.get("rows", ()) if "contestant" in row]
    ways = [row[way] for row in read["limit"]["rows"] for way in ("one", "two") if row[way]]
    exact += [way[whose] for way in ways for whose in ("ours", "limit")]
    known = {f"{float(f'{number:.{digits}g}'):,.0f}" for number in exact for digits in (2, 3)}
    quoted = re.findall(r"(?<=\| )\d{1,3}(?:,\d{3})+(?= \|)", section(text, "Speed"))
    assert len(quoted) > 20
    assert {*quoted} - {"4,096"} <= known  # a size of batches


def test_the_page_on_installing_has_every_extra_and_its_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "dev"}
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    table = {row[0].strip("`"): row[2] for row in rows(page, "extra")}
    assert table.keys() == extras.keys()
    for extra, needs in extras.items():
        own = [match.group() for need in needs if (match := re.match(r"(?!cellgames)[\w-]+", need))]
        others = [f"and `{name}`" for need in needs for name in re.findall(r"^cellgames\[(\w+)\]$", need)]
        assert table[extra] == ", ".join([*own, *others])
    assert f"cellgames-{project['version']}-cp311-abi3-linux_x86_64.whl" in page
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert f"needs Python {', '.join(versions[:-1])} or {versions[-1]}." in page


def test_the_start_page_has_every_game() -> None:
    table = rows((ROOT / "docs/index.md").read_text(encoding="utf-8"), "game")
    assert sorted(id for row in table for id in re.findall(r"`([^`]+)`", row[1])) == GAMES


def test_the_reference_has_every_table_that_is_made_from_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    tables: dict[str, str] = importlib.import_module("reference_tables").tables()
    page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^<!-- table: (.+) -->$", page, re.MULTILINE)) == sorted(tables)
    assert all(table.count("\n| `") > 1 or table.count("\n| ppo") for table in tables.values())


def test_pages_and_examples_import_public_names_only() -> None:
    known = {f"{module}.{name}" for module in (*PACKAGES, *MODULES) for name in names(module)} | {*PACKAGES, *MODULES}
    sources = [(page.name, text) for page in PAGES for language, _, text in blocks(page) if language == "python"]
    sources += [(file.name, file.read_text(encoding="utf-8")) for file in (ROOT / "examples").glob("*.py")]
    found = set()
    for place, text in sources:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "cellgames":
                found |= {(place, f"{node.module}.{alias.name}") for alias in node.names}
    versions = {f"cellgames.envs.{id.replace('-', '_')}" for id in GAMES}
    assert {(place, name) for place, name in found if name not in known and name not in versions} == set()
    assert len(found) > 80
