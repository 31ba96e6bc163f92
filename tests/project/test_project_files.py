"""Files that other programs read agree with pyproject.toml: workflows, hooks, citation, changelog, issue templates."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import Any

import pytest
from paths import ROOT

import cellgames
from cellgames.envs.registry import REGISTRY

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which comes with mkdocstrings: pip install 'cellgames[docs]'")

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(name: str) -> dict[Any, Any]:
    loaded = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("name", ["tests", "release"])
def test_workflows_install_extras_and_files_that_exist(name: str) -> None:
    text = (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
    for extras in re.findall(r"-e ['\"]\.\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    for path in re.findall(r"[\w./-]+\.(?:py|txt|yml|toml|md)\b", text):
        assert (ROOT / path).is_file() or (ROOT / ".github/workflows" / path).is_file(), path


def test_the_citation_is_of_this_version() -> None:
    citation = load("CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert citation["keywords"] == PROJECT["keywords"]


def test_the_changelog_has_this_version_below_what_is_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    dated = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", section) for section in sections[1:]]
    assert all(dated)
    found = [(tuple(map(int, match[1].split("."))), match[2]) for match in dated if match]
    assert ".".join(map(str, found[0][0])) == PROJECT["version"]
    assert all(later > earlier for later, earlier in pairwise(found))
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


def test_the_bug_form_offers_every_game() -> None:
    form = load(".github/ISSUE_TEMPLATE/bug.yml")
    offered = next(field for field in form["body"] if field["id"] == "game")["attributes"]["options"]
    assert {cellgames.make(id).info.title for id in REGISTRY} <= set(offered)
