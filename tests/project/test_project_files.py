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

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which comes with mkdocs: pip install 'cellgames[docs]'")

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [
    found[1] for text in PROJECT["classifiers"] if (found := re.fullmatch(r"Programming .* Python :: (3\.\d+)", text))
]
CONSTRAINTS = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


def load(name: str) -> dict[Any, Any]:
    loaded = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def jobs(name: str) -> dict[str, Any]:
    workflow = load(f".github/workflows/{name}.yml")
    assert workflow["permissions"] == {"contents": "read"}
    found = workflow["jobs"]
    assert isinstance(found, dict)
    return found


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


# ---------------------------------------------------------------- workflows


def test_lint_types_and_tests_run_with_every_supported_python() -> None:
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    found = jobs("tests")
    for name in ("types", "tests"):
        assert found[name]["strategy"]["matrix"]["python"] == PYTHONS
        assert not found[name]["strategy"]["fail-fast"]
    assert found["tests"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert found["types"]["strategy"]["matrix"]["platform"] == ["linux", "darwin", "win32"]
    assert "ruff check ." in commands(found["lint"])
    assert "ruff format --check ." in commands(found["lint"])
    assert "mypy --platform" in commands(found["types"])
    assert "-m pytest" in commands(found["tests"])
    assert "mkdocs build --strict" in commands(found["docs"])
    assert "tests/support/check_distributions.py dist" in commands(found["distributions"])


@pytest.mark.parametrize("name", ["tests", "release"])
def test_workflows_install_extras_and_files_that_exist(name: str) -> None:
    text = (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
    for extras in re.findall(r"-e ['\"]\.\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    for path in re.findall(r"[\w./-]+\.(?:py|txt|yml|toml|md)\b", text):
        assert (ROOT / path).is_file() or (ROOT / ".github/workflows" / path).is_file(), path


def test_publishing_needs_the_tests_and_stores_no_token() -> None:
    found = jobs("release")
    assert load(".github/workflows/release.yml")[True]["push"] == {"tags": ["v*"]}  # YAML reads `on` as true
    assert found["publish"]["needs"] == ["tests", "wheels"]
    assert found["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert found["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    uploads = [step["with"]["name"] for job in jobs("tests").values() for step in job["steps"] if "upload" in str(step)]
    downloads = [step["with"] for step in found["publish"]["steps"] if "download" in str(step)]
    assert downloads[0]["name"] in uploads
    assert found["wheels"]["steps"][-1]["with"]["name"].startswith(downloads[1]["pattern"].removesuffix("*"))


# ---------------------------------------------------------------- hooks


def test_hooks_use_the_tools_of_the_constraints() -> None:
    repositories = {entry["repo"]: entry for entry in load(".pre-commit-config.yaml")["repos"]}
    ruff = repositories["https://github.com/astral-sh/ruff-pre-commit"]
    assert ruff["rev"] == f"v{CONSTRAINTS['ruff']}"
    assert [hook["id"] for hook in ruff["hooks"]] == ["ruff-check", "ruff-format"]
    assert [hook["entry"] for hook in repositories["local"]["hooks"]] == ["mypy"]


# ---------------------------------------------------------------- versions


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


# ---------------------------------------------------------------- issues


@pytest.mark.parametrize("name", ["bug", "feature", "game"])
def test_issue_templates_are_forms_with_unique_ids(name: str) -> None:
    form = load(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_the_bug_form_offers_every_game() -> None:
    form = load(".github/ISSUE_TEMPLATE/bug.yml")
    offered = next(field for field in form["body"] if field["id"] == "game")["attributes"]["options"]
    assert {cellgames.make(id).info.title for id in REGISTRY} <= set(offered)
