"""The pages are run, and what they say of a game comes from the game."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cellgames
from cellgames.envs.core import Space
from cellgames.envs.registry import REGISTRY, make

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page in one namespace, in order."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page.name, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def facts(id: str) -> str:
    """The table of facts on a game's page."""
    game = cellgames.make(id)
    info = game.info

    def space(space: Space) -> str:
        return f"{str(space.dtype).removeprefix('torch.')} {list(space.shape)}, {space.low:g} to {space.high:g}"

    rows = {
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
        "parameters": ", ".join(f"{name} = {value}" for name, value in game.parameters.items()),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())])


@pytest.mark.parametrize("id", sorted({make(id).id for id in REGISTRY}))
def test_facts_on_a_games_page_are_the_games(id: str) -> None:
    page = (ROOT / "docs" / f"{id.rsplit('-v', 1)[0].replace('-', '_')}.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- facts: {id} -->\n\n(.*?)\n\n<!-- end of facts -->", page, re.DOTALL)
    assert found is not None
    assert found[1] == facts(id)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_placeholder_is_left(page: Path) -> None:
    assert not re.search(r"^[A-Z-]{6,}$", page.read_text(encoding="utf-8"), re.MULTILINE)
